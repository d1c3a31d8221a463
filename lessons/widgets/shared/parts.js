import { QUIET, escapeText } from "./markup.js";
import { Grid } from "./grid.js";
import { speak, worded } from "./words.js";

// What every widget has: controls that are bound to traits, a place for grids, a readout, and a way to tell Python.

// Controls. Each is bound to the trait of its name: it shows it, and a change of the learner's sets it. The options of
// a choice are the values of the trait, worded where they are shown.

export const choice = (name, label, options) =>
  `<label>${label}<select data-part="${name}" data-trait ${QUIET}>${options.map((x) => `<option value="${escapeText(x)}">${escapeText(worded(x))}</option>`).join("")}</select></label>`;
export const slider = (name, label, low, high, step) =>
  `<label>${label}<span class="lw-slider"><input type="range" data-part="${name}" data-trait min="${low}" max="${high}" step="${step}" ${QUIET}>` +
  `<output data-part="${name}-shown"></output></span></label>`;
export const checkbox = (name, label) =>
  `<label class="lw-check"><input type="checkbox" data-part="${name}" data-trait ${QUIET}>${label}</label>`;
export const button = (name, label) => `<button type="button" data-part="${name}" ${QUIET}>${label}</button>`;
/** A place for a grid, with the sign that joins it to what is on its left. */
export const joined = (sign, name) => `<div class="lw-join"><i aria-hidden="true">${sign}</i><div data-part="${name}"></div></div>`;

/** In Safari a click gives these no focus: the keys that follow would go elsewhere. */
const takeFocus = (event) => event.target.closest("button, input, summary")?.focus({ preventScroll: true });

const readControl = (control) =>
  control.type === "checkbox" ? control.checked : control.type === "range" ? Number(control.value) : control.value;

/**
 * One view of a model. A subclass names its traits in `static TRAITS`, its HTML in `static frame()`, and has draw();
 * it may have make(), called once before the first draw(), and receive(message).
 */
export class View {
  constructor(model, el) {
    this.model = model;
    this.root = document.createElement("div");
    this.root.className = "lw";
    const wording = model.get("wording");
    speak(wording);
    this.root.lang = wording?.language ?? "en";
    this.root.innerHTML = this.constructor.frame();
    this.find = (name) => this.root.querySelector(`[data-part="${name}"]`);
    this.root.addEventListener("click", takeFocus, true); // before what the click does, as in other browsers
    this.controls = [...this.root.querySelectorAll("[data-trait]")];
    for (const control of this.controls)
      control.addEventListener(control.type === "range" ? "input" : "change", () =>
        this.commit({ [control.dataset.part]: readControl(control) }));
    this.onChange = () => this.schedule();
    this.onMessage = (message) => {
      if (message.problem) this.say(message.problem);
      if (message.isAlone) this.say(worded("This page has no Python. Open the lesson in JupyterLab for this."));
      this.receive?.(message);
    };
    for (const name of this.constructor.TRAITS) model.on(`change:${name}`, this.onChange);
    model.on("msg:custom", this.onMessage);
    this.make?.();
    el.append(this.root);
    if (this.root.isConnected) this.redraw();
    else this.schedule(); // JupyterLab puts it into the page in a moment: without a width it would be drawn twice
  }

  stop() {
    for (const name of this.constructor.TRAITS) this.model.off(`change:${name}`, this.onChange);
    this.model.off("msg:custom", this.onMessage);
    cancelAnimationFrame(this.frame);
    this.root.remove();
  }

  /** A grid in the part of this name; options as in Grid. */
  grid(name, options) {
    const grid = new Grid({ onPoint: (r, c) => this.point?.(name, r, c), ...options });
    this.find(name).append(grid.el);
    return grid;
  }

  /** Set it here at once, for all views, and tell Python. Messages, unlike saved changes, are never held back. */
  commit(changes) {
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.model.send({ set: changes });
    this.schedule();
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.redraw();
    });
  }

  redraw() {
    for (const control of this.controls) this.showControl(control, this.model.get(control.dataset.part));
    this.draw(this.state());
  }

  state() {
    return Object.fromEntries(this.constructor.TRAITS.map((name) => [name, this.model.get(name)]));
  }

  showControl(control, value) {
    if (control.type === "checkbox") control.checked = value;
    else if (control.value !== String(value)) control.value = value;
    if (control.type === "range") this.write(`${control.dataset.part}-shown`, String(value).replace("-", "−"));
  }

  /** The one line that is read aloud: warnings and errors. */
  say(text) {
    this.write("warning", text);
  }

  write(name, text) {
    const part = this.find(name);
    if (part.textContent !== text) part.textContent = text;
  }
}

/**
 * anywidget 0.11 gives up a model whose module is not there after two seconds, as on a busy page: it drops what Python
 * says, forever. When this runs, the module is there, so what Python says from now on goes to ipywidgets itself.
 */
function hearPython(model) {
  const wording = model.get("wording");
  let whole; // anywidget gives a part of the model; a listener gets the whole
  const keep = (changed) => (whole = changed);
  model.on("change:wording", keep);
  for (const said of [{ ...wording, language: null }, wording]) model.set("wording", said);
  model.off("change:wording", keep);
  const handle = whole?.comm?.jsServicesComm && Object.getPrototypeOf(Object.getPrototypeOf(whole))._handle_comm_msg;
  if (handle) whole.comm.on_msg(handle.bind(whole)); // else it hears in another way, or there is no Python
}

/** What anywidget wants of a module. */
export const asWidget = (Class) => ({
  initialize({ model }) {
    hearPython(model);
  },
  render({ model, el }) {
    const view = new Class(model, el);
    return () => view.stop();
  },
});
