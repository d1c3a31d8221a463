import { HEADS } from "../shared/constants.js";
import { formatNumber } from "../shared/numbers.js";
import { QUIET, claim, escapeText, focusOf } from "../shared/markup.js";
import { View, asWidget, button, choice, slider } from "../shared/parts.js";
import { ERROR, HOMES, JOIN, LABELS, LETTERS, MOST, SIZES, WAY, WRONG } from "./constants.js";
import { Blocks } from "./blocks.js";
import { followHeads, homeOf, numbersOf } from "./splitting.js";
import { countOf, indexOf, isContiguous, laidOut, placeOf, readAll } from "./strided.js";
import { SENTENCES, listed, marked, worded } from "../shared/words.js";

// HeadSplitter: a tensor on its way into the heads and back, the wrong way next to it, and the memory below.

const HINT = marked("Point at a number, or use the arrow keys: it is framed everywhere. A click or Space pins it; Page Up and Down: steps.");

const spell = (x) => (Number.isInteger(x) && Math.abs(x) < 1e5 ? String(x).replace("-", "−") : formatNumber(x));
/** Too large for three pictures in a row. */
const isLarge = ({ length, num_heads, head_dim }) => num_heads * head_dim > 10 || length * num_heads > 16;
const tuple = (numbers) => `(${numbers.join(", ")})`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

const frame = () => `
  <div class="lw-bar hs-sizes">${slider("batch", worded("batch B"), 1, SIZES.batch, 1)}${slider("length", worded("length T"), 1, SIZES.length, 1)}
    ${slider("num_heads", "num_heads H", 1, SIZES.num_heads, 1)}${slider("head_dim", "head_dim d", 1, SIZES.head_dim, 1)}
    ${choice("labels", worded("in the cells"), LABELS)}${choice("compare", worded("wrong way to compare with"), Object.keys(WRONG))}</div>
  <div class="hs-steps"><div>${button("back", worded("◀ Back"))}${button("next", worded("Next ▶"))}</div><ol>${WAY.map((step, i) =>
    `<li><button type="button" data-step="${i}" ${QUIET}><span>${i + 1} ${worded(step.name)}</span><code>${escapeText(step.code.match(/\..*/)?.[0] ?? "(B, T, D)")}</code></button></li>`).join("")}</ol></div>
  <div class="lw-stage hs-stage" data-part="stage"><div data-part="before"></div><i data-part="sign" aria-hidden="true">→</i><div data-part="after"></div>
    <div class="hs-instead"><div data-part="wrong"></div>
      <button type="button" data-part="beside" ${QUIET}></button></div></div>
  <div class="hs-memories" data-part="memories"></div>
  <p class="lw-readout" data-part="readout"></p>
  <p class="lw-warning" data-part="warning" role="status"></p>
  <div class="lw-legend" data-part="legend"></div>`;

class Splitter extends View {
  static TRAITS = [...Object.keys(SIZES), "x", "compare", "step", "labels", "pinned"];
  static frame = frame;

  make() {
    this.refused = "";
    this.pointed = null;
    this.pictures = {};
    for (const name of ["before", "after", "wrong"]) this.picture(name, this.find(name));
    for (let i = 0; i < 3; i++) this.picture(`memory${i}`, this.find("memories"));
    this.find("back").addEventListener("click", () => this.go(-1));
    this.find("next").addEventListener("click", () => this.go(1));
    this.find("beside").addEventListener("click", () => this.commit({ step: WRONG[this.model.get("compare")].step }));
    this.root.querySelector(".hs-steps ol").addEventListener("click", (event) => {
      const step = event.target.closest("[data-step]")?.dataset.step;
      if (step) this.commit({ step: Number(step) });
    });
    this.root.addEventListener("keydown", (event) => this.pressKey(event));
  }

  picture(name, place) {
    this.pictures[name] = new Blocks({ name, onPoint: (...at) => this.point(...at), onPin: (...at) => this.pin(...at) });
    place.append(this.pictures[name].el);
  }

  // From the learner

  commit(changes) {
    this.refused = "";
    if (Object.keys(changes).some((name) => name in SIZES)) {
      const sizes = Object.keys(SIZES).map((name) => changes[name] ?? this.model.get(name));
      const count = countOf(sizes);
      if (count > MOST) {
        this.refused = worded("{sizes} = {count} numbers; at most {most} can be shown. Make another size smaller first.", { sizes: sizes.join(" · "), count, most: MOST });
        this.schedule();
        return;
      }
      changes = { ...changes, pinned: null };
    }
    if (changes.compare) changes = { ...changes, step: WRONG[changes.compare].step };
    super.commit(changes);
  }

  go(by) {
    const step = this.model.get("step") + by;
    if (step >= 0 && step < WAY.length) this.commit({ step });
  }

  pressKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === "PageDown") this.go(1);
    else if (event.key === "PageUp") this.go(-1);
    else if (event.key === "Escape" && this.model.get("pinned") !== null) this.commit({ pinned: null });
    else return;
    claim(event);
  }

  point(name, i) {
    this.pointed = i === null ? null : { name, i };
    if (!this.drawing) this.showPointed();
  }

  pin(name, i) {
    const id = this.pictures[name].order[i];
    this.commit({ pinned: id === this.model.get("pinned") ? null : id });
  }

  // To the learner

  draw(state) {
    this.drawing = true; // the focus may move with its number: what is pointed at is shown when all is drawn
    const hadFocus = this.hasFocus();
    this.drawAll(state, followHeads(state), numbersOf(state));
    if (hadFocus && !this.hasFocus()) this.root.querySelector('[aria-current="step"]').focus({ preventScroll: true });
    this.drawing = false;
    this.say(this.refused);
    this.showPointed();
  }

  /** Whether something here that is seen has the focus. */
  hasFocus() {
    const focus = focusOf(this.root);
    return this.root.contains(focus) && focus.checkVisibility();
  }

  drawAll(state, { way, wrong }, numbers) {
    const longest = Math.max(...numbers.map((x) => spell(x).length));
    const width = state.labels === HOMES ? 46 : Math.max(28, 8 * longest + 4);
    this.drawn = { state, way, wrong, numbers, width, tensors: {} };
    const { step } = state;
    this.find("back").setAttribute("aria-disabled", String(step === 0));
    this.find("next").setAttribute("aria-disabled", String(step === WAY.length - 1));
    for (const chip of this.root.querySelectorAll("[data-step]"))
      chip.setAttribute("aria-current", Number(chip.dataset.step) === step ? "step" : "false");
    this.find("stage").classList.toggle("hs-tall", isLarge(state));
    this.find("before").hidden = this.find("sign").hidden = step === 0;
    if (step > 0) this.drawTensor("before", way[step - 1], WAY[step - 1], { title: worded("before: {name}", { name: worded(WAY[step - 1].name) }) });
    else this.pictures.before.clear();
    const moved = step > 0 && way[step].storage !== way[step - 1].storage;
    const memory = step === 0 ? [] : [moved ? worded("The numbers are copied in memory.") : worded("No number moves in memory.")];
    const title = worded("step {step}: {name}", { step: step + 1, name: worded(WAY[step].name) });
    this.drawTensor("after", way[step], WAY[step], { title, note: listed([worded(WAY[step].about), ...memory], SENTENCES) });
    this.drawWrong();
    this.drawMemories();
    this.drawLegend(state);
  }

  drawTensor(name, tensor, { code, axes, variable }, words) {
    const { numbers, state, tensors } = this.drawn;
    tensors[name] = { tensor, axes, variable };
    const strides = tuple(tensor.strides);
    const facts = axes && `(${axes.map((axis) => LETTERS[axis]).join(", ")}) = ${tuple(tensor.shape)}\n` +
      (isContiguous(tensor) ? worded("strides {strides}, contiguous", { strides }) : worded("strides {strides}, not contiguous", { strides }));
    const look = (i, id) => {
      const { batch, token, head, feature } = homeOf(id, state);
      const first = state.batch > 1 ? `b${batch} ` : "";
      const [text, mark] = state.labels === HOMES
        ? [`${first}t${token}`, `h${head} f${feature}`] : [spell(numbers[id]), `h${head}`];
      const odd = name === "wrong" && this.expected(i) !== id;
      const where = axes ? listed(indexOf(tensor, i).map((x, axis) => worded("{axis} {i}", { axis: worded(axes[axis]), i: x }))) : worded("place {i}", { i });
      const home = worded("{where}: {number}, home {home}", { where, number: spell(numbers[id]), home: this.homeText(id) });
      const says = odd ? listed([home, this.oddText(i, id)]) : home;
      return { text, mark, ground: HEADS[head], label: says, odd };
    };
    this.pictures[name].show({ tensor, axes, look, code, facts, width: this.drawn.width, ...words });
  }

  /** The id that belongs where the wrong way has number i. */
  expected(i) {
    const { way, state } = this.drawn;
    const { storage, ...right } = way[WRONG[state.compare].step];
    return storage[placeOf(right, indexOf(right, i))];
  }

  homeText(id) {
    const home = homeOf(id, this.drawn.state);
    const text = worded("token {token}, head {head}, feature {feature}", home);
    return this.drawn.state.batch > 1 ? listed([worded("batch {batch}", home), text]) : text;
  }

  /** Whether the number with this id, which is number i of the wrong way, is in another head, and at another token. */
  isOdd(i, id) {
    const [home, here] = [homeOf(id, this.drawn.state), homeOf(this.expected(i), this.drawn.state)];
    return { inHead: home.head !== here.head, atToken: home.token !== here.token };
  }

  oddText(i, id) {
    const { inHead, atToken } = this.isOdd(i, id);
    if (inHead && atToken) return worded("in the wrong head and at the wrong token");
    return inHead ? worded("in the wrong head") : atToken ? worded("at the wrong token") : worded("at the wrong feature");
  }

  drawWrong() {
    const { state, wrong } = this.drawn;
    const { step, code } = WRONG[state.compare];
    const title = worded("instead of step {step}: {way}", { step: step + 1, way: worded(state.compare) });
    const beside = this.find("beside");
    beside.hidden = state.step === step;
    beside.textContent = worded("Compare with step {step}", { step: step + 1 });
    this.pictures.wrong.facts.classList.toggle("hs-error", !wrong);
    if (wrong) this.drawTensor("wrong", wrong, { ...WAY[step], code }, { title, note: this.tallyText(wrong) });
    else {
      const { length: T, head_dim: d } = state;
      this.pictures.wrong.clear();
      const note = worded("A token's features lie in runs of {d}, and from one head to the next it is T·d = {size} places in memory: no single stride leads through them. view never copies, so it gives up; reshape copies.", { d, size: T * d });
      this.pictures.wrong.write({ title, code, facts: ERROR, note });
    }
  }

  tallyText(wrong) {
    const { state } = this.drawn;
    const odd = readAll(wrong).flatMap((id, i) => (this.expected(i) === id ? [] : [this.isOdd(i, id)]));
    const count = countOf(wrong.shape);
    if (!odd.length) return worded("0 of {count} numbers are out of place: with these sizes, this way happens to be correct.", { count });
    const [heads, tokens] = ["inHead", "atToken"].map((kind) => odd.filter((one) => one[kind]).length);
    const kinds = [...(heads ? [worded("{heads} in the wrong head", { heads })] : []), ...(tokens ? [worded("{tokens} at the wrong token", { tokens })] : [])];
    const found = { odd: odd.length, count, kinds: listed(kinds) };
    const first = kinds.length ? worded("× {odd} of {count} numbers are out of place: {kinds}.", found) : worded("× {odd} of {count} numbers are out of place.", found);
    return listed([first, worded("The shape is that of step {step}, and no error is raised.", { step: WRONG[state.compare].step + 1 })], SENTENCES);
  }

  /** Each memory that a step up to here reads; view and transpose share one. */
  drawMemories() {
    const { state, way } = this.drawn;
    const last = Math.max(state.step, WRONG[state.compare].step === JOIN ? 3 : 0);
    const memories = [...new Set(way.slice(0, last + 1).map((tensor) => tensor.storage))];
    for (let i = 0; i < 3; i++) {
      const picture = this.pictures[`memory${i}`];
      const storage = memories[i];
      picture.el.hidden = !storage;
      if (!storage) {
        picture.clear();
        continue;
      }
      const readers = WAY.filter((_, s) => way[s].storage === storage).map((step) => step.variable);
      const isRead = way[state.step].storage === storage;
      const memory = worded("memory of {names}", { names: listed(readers) });
      const read = { memory, step: state.step + 1, strides: tuple(way[state.step].strides) };
      const title = isRead ? worded("{memory} ← read by step {step}, with strides {strides}", read) : memory;
      this.drawTensor(picture.name, laidOut(storage, [storage.length]), { variable: memory }, { title });
      picture.el.classList.toggle("hs-now", isRead);
    }
  }

  drawLegend({ num_heads }) {
    const heads = HEADS.slice(0, num_heads).map((ground, h) =>
      `<span><span class="hs-cell" style="background:${ground}"><i>h${h}</i></span>${worded("head {head}", { head: h })}</span>`);
    const html = `${heads.join("")}<span><span class="hs-cell hs-odd" style="background:#fff"><i>×</i></span>${worded("out of place")}</span>`;
    if (this.legend !== html) this.find("legend").innerHTML = this.legend = html;
  }

  /** Frame one number everywhere: the one pointed at, else the one that is pinned. */
  showPointed() {
    const { state, way } = this.drawn;
    const { pinned } = state;
    const at = this.pointed && this.pictures[this.pointed.name].order[this.pointed.i] !== undefined ? this.pointed : null;
    const id = at ? this.pictures[at.name].order[at.i] : pinned;
    for (const picture of Object.values(this.pictures)) picture.frame(id, id === pinned);
    const text = at ? this.readout(at) : pinned === null ? worded(HINT) : worded("Pinned: {what}", { what: this.readout({ name: "after", i: readAll(way[state.step]).indexOf(pinned) }) });
    this.write("readout", text);
  }

  readout({ name, i }) {
    const { numbers, tensors } = this.drawn;
    const { tensor, axes, variable } = tensors[name];
    const id = this.pictures[name].order[i];
    const home = this.homeText(id);
    if (!axes) return worded("Place {i} in the {memory}: {number}, the number of {home}.", { i, memory: variable, number: spell(numbers[id]), home });
    const index = indexOf(tensor, i);
    const sum = index.map((x, axis) => `${x}·${tensor.strides[axis]}`).join(" + ");
    const isOdd = name === "wrong" && this.expected(i) !== id;
    const here = isOdd && { number: spell(numbers[this.expected(i)]), home: this.homeText(this.expected(i)) };
    return listed([
      worded("{entry} is {number}, the number of {home}.", { entry: `${variable}[${index.join(", ")}]`, number: spell(numbers[id]), home }),
      ...(isOdd ? [worded("{what}: here belongs {number}, of {home}.", { what: capital(this.oddText(i, id)), ...here })] : []),
      worded("Storage place: {sum} = {place}.", { sum, place: placeOf(tensor, index) }),
    ], SENTENCES);
  }
}

export default asWidget(Splitter);
