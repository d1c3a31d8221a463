import { inRows, readFloats } from "../shared/numbers.js";
import { QUIET, claim, escapeText, focusOf } from "../shared/markup.js";
import { View, asWidget, button } from "../shared/parts.js";
import { marked, worded } from "../shared/words.js";

// ShapeTour: the stops of a batch on its way through the model, and the tensor at the present one.

const SIZES = {
  B: marked("{count} sentences"), S: marked("{count} source tokens"), T: marked("{count} target tokens"),
  D: marked("{count} features"), H: marked("{count} heads"), V: marked("{count} tokens of the vocabulary"),
};
const SIDES = { encoder: marked("encoder"), decoder: marked("decoder") };
const frame = () => `
  <div class="lw-bar st-bar">${button("back", worded("◂ Back"))}${button("next", worded("Next ▸"))}<span data-part="place"></span>
    <label>${worded("sentence")}<select data-part="sentence" ${QUIET}></select></label>
    <label data-part="heads">${worded("head")}<select data-part="head" ${QUIET}></select></label></div>
  <div class="st-stage"><nav class="st-way" aria-label="${worded("the way through the model")}" data-part="way"></nav>
    <section class="st-stop"><h4 data-part="name"></h4><p class="st-shape" data-part="shape"></p>
      <pre class="st-code" data-part="code"></pre><p data-part="text"></p><div class="st-grid" data-part="grid"></div></section></div>
  <p class="lw-readout">${worded("Page Down and Page Up, or the arrow keys on a stop, go on and back; Home and End go to the ends.")}</p>
  <p class="lw-warning" data-part="warning" role="status"></p>`;

class Tour extends View {
  static TRAITS = ["step", "sentence", "head", "sizes", "way", "shown"];
  static frame = frame;

  make() {
    this.find("back").addEventListener("click", () => this.go(this.model.get("step") - 1));
    this.find("next").addEventListener("click", () => this.go(this.model.get("step") + 1));
    for (const name of ["sentence", "head"])
      this.find(name).addEventListener("change", (event) => this.commit({ [name]: Number(event.target.value) }));
    this.find("way").addEventListener("click", (event) => {
      const step = event.target.closest("[data-step]")?.dataset.step;
      if (step !== undefined) this.go(Number(step));
    });
    this.root.addEventListener("keydown", (event) => this.pressKey(event));
  }

  go(step) {
    const to = Math.min(Math.max(step, 0), this.model.get("way").length - 1);
    if (to !== this.model.get("step")) this.commit({ step: to });
  }

  pressKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const step = this.model.get("step");
    const listed = Boolean(event.target.closest("[data-step]"));
    const ways = { PageDown: step + 1, PageUp: step - 1 };
    if (listed) Object.assign(ways, { ArrowDown: step + 1, ArrowRight: step + 1, ArrowUp: step - 1, ArrowLeft: step - 1, Home: 0, End: Infinity });
    if (!(event.key in ways)) return;
    claim(event);
    this.go(ways[event.key]);
    if (listed) this.find("way").querySelector(`[data-step="${this.model.get("step")}"]`).focus();
  }

  draw(state) {
    this.drawWay(state);
    const [name, side, axes, shape, code, text] = state.way[state.step];
    this.write("place", worded("stop {stop} of {count}", { stop: state.step + 1, count: state.way.length }));
    this.write("name", worded("{where}: {what}", { where: worded(SIDES[side]), what: name }));
    const letters = axes.split(" ");
    const sizes = letters.map((x, i) => worded(SIZES[x], { count: shape[i] })).join(" × ");
    this.write("shape", worded("{where}: {what}", { where: `(${letters.join(", ")}) = (${shape.join(", ")})`, what: sizes }));
    this.write("code", code);
    this.write("text", text);
    for (const [part, at] of [["back", 0], ["next", state.way.length - 1]])
      this.find(part).setAttribute("aria-disabled", String(state.step === at));
    this.drawChoices(state, axes);
    const here = JSON.stringify([state.step, state.sentence, state.head]) === JSON.stringify(state.shown.at);
    this.root.setAttribute("aria-busy", String(!here));
    if (here && state.shown !== this.painted) this.drawTensor(state.shown, name);
  }

  drawWay({ way, step }) {
    const nav = this.find("way");
    if (!nav.children.length) {
      const stops = (side) => way.map(([name, its, , shape], i) => its !== side ? "" :
        `<li><button type="button" data-step="${i}" tabindex="-1" ${QUIET}><b>${escapeText(name)}</b> <span>(${shape.join(", ")})</span></button></li>`).join("");
      nav.innerHTML = ["encoder", "decoder"].map((side) => `<section><h4>${worded(SIDES[side])}</h4><ol>${stops(side)}</ol></section>`).join("");
    }
    for (const stop of nav.querySelectorAll("[data-step]")) {
      const present = Number(stop.dataset.step) === step;
      if (present) stop.setAttribute("aria-current", "step");
      else stop.removeAttribute("aria-current");
      stop.tabIndex = present ? 0 : -1;
    }
  }

  drawChoices({ sizes, sentence, head }, axes) {
    [["sentence", sizes[0], sentence], ["head", sizes[1], head]].forEach(([name, count, value]) => {
      const select = this.find(name);
      if (select.length !== count) select.innerHTML = Array.from({ length: count }, (_, i) => `<option>${i}</option>`).join("");
      select.value = String(value);
    });
    const heads = this.find("heads");
    const hasHeads = axes.includes("H");
    if (!hasHeads && heads.contains(focusOf(heads))) this.find("sentence").focus();
    heads.hidden = !hasHeads;
  }

  drawTensor(shown, name) {
    this.painted = shown;
    const values = inRows(readFloats(shown.data), shown.rows.length);
    const [rowAxis, columnAxis] = shown.axes;
    const isHeld = this.tensor?.grid.contains(focusOf(this.root));
    const kind = `${shown.tone} ${rowAxis} ${columnAxis}`;
    if (kind !== this.kind) {
      this.find("grid").replaceChildren();
      this.tensor = this.grid("grid", { title: name, tone: shown.tone, rowAxis, columnAxis, sums: shown.tone === "weights" });
      this.kind = kind;
    }
    const sums = [...readFloats(shown.sums)].map((total) => ({ total, empty: false }));
    const axes = { rowAxis, columnAxis };
    const note = shown.more ? worded("The first of them; rows: {rowAxis}, columns: {columnAxis}", axes) : worded("rows: {rowAxis}, columns: {columnAxis}", axes);
    this.tensor.show({ rows: shown.rows, columns: shown.columns, values, sums, note, title: name });
    if (isHeld) this.tensor.current.focus({ preventScroll: true });
  }

  point(part, r, c) {
    this.tensor.point(r, c);
  }
}

export default asWidget(Tour);
