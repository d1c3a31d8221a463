import { ALLOWED, INFINITE, SIGNED } from "../shared/constants.js";
import { formatNumber, inRows, readFloats, readMatrix, sumOf } from "../shared/numbers.js";
import { QUIET, QUIET_NAME, claim, escapeText, focusOf } from "../shared/markup.js";
import { VISIBLE, mixColor } from "../shared/palette.js";
import { fillWeights, mix } from "../shared/attention.js";
import { TONES } from "../shared/tones.js";
import { View, asWidget, button, choice, joined } from "../shared/parts.js";
import { SENTENCES, listed, marked, worded } from "../shared/words.js";
import { EXAMPLES, HISTORY } from "./constants.js";

// FunctionLab, built from grids. The learner's function runs in Python: a click is sent there and its result
// comes back. The reference is computed here, from the mask that the result belongs to.

const SOON = 300; // milliseconds
const PALE = mixColor(SIGNED, 0.5);

/** With its sign, also where only the further decimals are not 0. */
const signed = (x, decimals = 2) =>
  `${x > 0 ? "+" : x < 0 ? "−" : ""}${formatNumber(Math.abs(x), decimals)}`;
/** The same for a sentence, in which a small number has room. */
const signedInWords = (x) => (x && Math.abs(x) < 0.001 ? `${x > 0 ? "+" : "−"}${Math.abs(x).toExponential(1).replace("-", "−")}` : signed(x, 4));

Object.assign(TONES, {
  difference: (x, differs, { most }) => {
    if (!differs) return { text: "=", ground: PALE, say: worded("the same") };
    const look = { mark: "≠", text: signed(x), say: worded("differs by {difference}", { difference: signedInWords(x) }) };
    if (Number.isNaN(x)) return { ...look, kind: "nan" };
    return Number.isFinite(x) ? { ...look, ground: mixColor(SIGNED, 0.5 + x / (2.5 * most)) } : { ...look, kind: "infinite" };
  },
  moves: (x, hidden) => {
    if (x && hidden) return { mark: "↕", text: worded("leak"), ground: VISIBLE, leak: true, say: worded("moves, though it may not see it: a leak") };
    if (x) return { mark: "↕", text: "", ground: VISIBLE, say: worded("moves") };
    if (hidden) return { mark: "×", text: "", kind: "crossed", say: worded("does not move, and may not see it") };
    return { text: "–", ground: PALE, say: worded("does not move, though it may see it") };
  },
});

const flip = (mask, places) => {
  const cells = [...mask];
  for (const i of places) cells[i] = cells[i] === "1" ? "0" : "1";
  return cells.join("");
};
/** A table of 0 and 1 from a text. */
const table = (text, rows) => inRows(text, rows).map((row) => row.map(Number));
/** The same from one hexadecimal number. */
const unpackBits = (text, rows, columns) => table(BigInt(`0x${text}`).toString(2).padStart(rows * columns, "0"), rows);

/** a − b; 0 where both are the same infinity or NaN. */
const subtract = (a, b, differ) =>
  a.map((row, r) => row.map((x, c) => (differ[r][c] || Number.isFinite(x - b[r][c]) ? x - b[r][c] : 0)));

const POINT = marked("Point at a cell, or move with the arrow keys; in the mask, Space changes a cell, Ctrl+Z undoes it.");
const frame = () => `
  <div class="lw-bar">${choice("chosen", worded("the function"), [])}
    <div class="fl-presets" role="group" aria-label="${worded("masks to choose")}"><span aria-hidden="true">${worded("a mask to start from")}</span><div data-part="presets"></div></div></div>
  <div class="lw-stage"><div data-part="allowed"></div>
    <div class="lw-join fl-result" data-part="moves-join"><i aria-hidden="true">→</i><div data-part="moves"></div></div>
    <section class="fl-verdict"><div class="lw-bar">${button("undo", worded("Undo"))}${button("reset", worded("Reset"))}</div><p class="fl-call">${worded("It is called with {inputs}", { inputs: `<code data-part="called"></code>` })}</p><h4>${worded("the leak detector")}</h4><p data-part="verdict" tabindex="-1" ${QUIET}></p>${button("look", worded("Look for leaks"))}</section></div>
  <p class="lw-warning" data-part="warning" role="status"></p>
  <p class="fl-printed" data-part="printed" hidden></p>
  <div class="lw-stage fl-result"><div data-part="weights"></div>${joined("−", "reference")}${joined("=", "difference")}</div>
  <div class="lw-stage fl-result" data-part="outputs"><div data-part="output"></div>${joined("−", "right")}${joined("=", "gap")}</div>
  <p class="lw-readout" data-part="readout">${worded(POINT)}</p>
  <div class="lw-legend"><span><span class="hg-cell" style="background:${VISIBLE};color:#000"><b>↕</b></span>${worded("moves")}</span>
    <span><span class="hg-cell hg-crossed"><b>×</b></span>${worded("blocked")}</span>
    <span><span class="hg-cell hg-leak"></span>${worded("blocked, but it still counts")}</span>
    <span><span class="hg-cell" style="background:${PALE};color:#000">=</span>${worded("the same")}</span>
    <span><span class="hg-cell" style="background:${mixColor(SIGNED, 0.75)};color:#000"><b>≠</b></span>${worded("differs by more than rounding")}</span></div>`;

class Laboratory extends View {
  static TRAITS = ["tokens", "key_tokens", "presets", "start", "names", "chosen", "mask", "history", "result", "scores", "values"];
  static frame = frame;

  make() {
    this.painting = [];
    const feature = { columnAxis: worded("feature") };
    this.grids = {
      allowed: this.grid("allowed", { title: worded("the mask"), tone: "mask", onPaint: (cells, done) => this.paint(cells, done) }),
      moves: this.grid("moves", { title: worded("which outputs move"), tone: "moves", rowAxis: worded("output"), columnAxis: worded("token changed") }),
      weights: this.grid("weights", { title: worded("the function's weights"), tone: "weights", sums: true }),
      reference: this.grid("reference", { title: worded("the reference's weights"), tone: "weights", shared: 5 }),
      difference: this.grid("difference", { title: worded("difference of weights"), tone: "difference", shared: 5 }),
      output: this.grid("output", { title: worded("the function's output"), tone: "values", ...feature }),
      right: this.grid("right", { title: worded("the reference's output"), tone: "values", ...feature }),
      gap: this.grid("gap", { title: worded("difference of output"), tone: "difference", ...feature }),
    };
    const presets = Object.entries(this.model.get("presets")).map(([name, mask]) => {
      const element = document.createElement("button");
      Object.assign(element, { type: "button", textContent: worded(name) });
      element.dataset.mask = mask;
      element.setAttribute(QUIET_NAME, "true");
      element.addEventListener("click", () => this.change(mask));
      return element;
    });
    this.find("presets").replaceChildren(...presets);
    this.find("undo").addEventListener("click", () => this.undo());
    this.find("reset").addEventListener("click", () => this.change(this.model.get("start")));
    this.find("look").addEventListener("click", () => this.model.send({ ask: "leaks" }));
    this.root.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key.toLowerCase() !== "z") return;
      claim(event);
      this.undo();
    });
  }

  // From the learner

  change(mask) {
    const now = this.model.get("mask");
    const step = [...mask].flatMap((x, i) => (x === now[i] ? [] : [i]));
    if (step.length) this.commit({ mask, history: [...this.model.get("history"), step].slice(-HISTORY) });
  }

  undo() {
    const history = this.model.get("history");
    if (history.length) this.commit({ mask: flip(this.model.get("mask"), history.at(-1)), history: history.slice(0, -1) });
  }

  paint(cells, done) {
    this.painting = done ? [] : cells;
    if (done) this.change(this.turned(cells));
    else this.schedule();
  }

  /** The mask with some cells inverted. */
  turned(cells) {
    const mask = [...this.model.get("mask")];
    const columns = this.model.get("key_tokens").length;
    for (const [q, k] of cells) mask[q * columns + k] = mask[q * columns + k] === "1" ? "0" : "1";
    return mask.join("");
  }

  // To the learner

  draw(state) {
    this.drawControls(state);
    const mask = this.turned(this.painting);
    const allowed = table(mask, state.tokens.length);
    const count = sumOf(allowed.flat());
    const note = worded("{count} of {total} pairs may attend. Click or drag to change it.", { count, total: mask.length });
    const { grids } = this;
    grids.allowed.show({ rows: state.tokens, columns: state.key_tokens, values: allowed, convention: ALLOWED, note });
    const { result } = state;
    const fresh = result.mask === mask && result.chosen === state.chosen;
    this.root.setAttribute("aria-busy", String(!fresh));
    if (result.mask && result !== this.shown) this.drawResult(state, result);
    this.showWaiting(!fresh);
    if (fresh) this.write("verdict", result.verdict);
    const look = this.find("look");
    const waits = fresh && result.waits;
    if (!waits && focusOf(look) === look) this.find("verdict").focus();
    look.hidden = !waits;
  }

  /** An answer that takes long is waited for visibly; what comes at once is not painted twice. */
  showWaiting(isWaiting) {
    if (isWaiting) {
      this.waiting ??= setTimeout(() => {
        this.root.classList.add("fl-waiting");
        this.write("verdict", worded("Waiting for Python …"));
      }, SOON);
    } else {
      clearTimeout(this.waiting);
      this.waiting = undefined;
      this.root.classList.remove("fl-waiting");
    }
  }

  drawControls({ names, chosen, mask, start, history }) {
    const select = this.find("chosen");
    if (JSON.stringify(names) !== this.names) {
      this.names = JSON.stringify(names);
      select.innerHTML = names.map((name) => `<option value="${escapeText(name)}">${escapeText(EXAMPLES.includes(name) ? worded(name) : name)}</option>`).join("");
    }
    select.value = chosen;
    for (const element of this.find("presets").children) element.setAttribute("aria-pressed", String(element.dataset.mask === mask));
    this.find("undo").setAttribute("aria-disabled", String(!history.length));
    this.find("reset").setAttribute("aria-disabled", String(mask === start));
  }

  drawResult(state, result) {
    this.shown = result;
    const { tokens: rows, key_tokens: columns } = state;
    const values = readMatrix(state.values);
    const allowed = table(result.mask, rows.length);
    const blocked = allowed.map((row) => row.map((x) => !x));
    const reference = readMatrix(state.scores).map((row, q) => fillWeights(row, allowed[q], INFINITE));
    const right = reference.map((row) => mix(row, values));
    const moved = result.moved && unpackBits(result.moved, rows.length, rows.length);
    this.drawn = { rows, columns, allowed, reference, right, moved };
    this.write("called", result.called);
    this.say(listed([result.problem, result.notes].filter(Boolean), SENTENCES));
    this.write("printed", result.printed && worded("It printed: {text}", { text: result.printed }));
    this.find("printed").hidden = !result.printed;
    this.find("moves-join").hidden = !moved;
    this.find("outputs").hidden = !result.output;
    const hidden = blocked.map((row, i) => row.map((x, j) => x && !(i === j && moved?.[i][j]))); // its own token is the query
    if (moved) this.grids.moves.show({ rows, columns, values: moved, blocked: hidden, note: worded("A row: an output. A column: the token that was changed.") });
    this.drawPair("weights", "reference", "difference", result.weights, { rows, columns, blocked, allowed, expected: reference });
    const features = values[0].map((_, i) => String(i));
    this.drawPair("output", "right", "gap", result.output, { rows, columns: features, expected: right });
  }

  /** What the function gives − what the reference gives = their difference. */
  drawPair(mine, right, gap, given, { rows, columns, blocked, allowed, expected }) {
    this.find(mine).hidden = !given;
    this.find(gap).parentElement.hidden = !given;
    this.find(right).previousElementSibling.hidden = !given;
    const note = given ? "" : worded("The function returned nothing to compare with these.");
    this.grids[right].show({ rows, columns, values: expected, blocked, note });
    if (!given) return;
    const values = inRows(readFloats(given.numbers), rows.length);
    const sums = allowed && values.map((row, q) => ({ total: sumOf(row), empty: !allowed[q].some(Boolean) }));
    this.grids[mine].show({ rows, columns, values, blocked, sums });
    const differ = unpackBits(given.differ, rows.length, columns.length);
    const difference = subtract(values, expected, differ);
    const most = mine === "weights" ? 1 : Math.max(1e-5, ...difference.flat().map(Math.abs).filter(Number.isFinite));
    this.grids[gap].show({ rows, columns, values: difference, blocked: differ, most, note: given.said });
    this.drawn[mine] = values;
    this.drawn[gap] = difference;
  }

  /** Frame the same query and key everywhere, and say what is there. */
  point(part, r, c) {
    const ofOutput = ["output", "right", "gap"].includes(part);
    for (const [name, grid] of Object.entries(this.grids)) {
      if (!grid.rows) continue;
      grid.point(r, ["output", "right", "gap"].includes(name) === ofOutput ? c : null);
    }
    this.write("readout", r === null || !this.drawn ? worded(POINT) : this.read(part, ofOutput, r, c));
  }

  read(part, ofOutput, r, c) {
    const { rows, columns, allowed, moved } = this.drawn;
    const said = { r, row: rows[r], c, column: columns[c] };
    if (!ofOutput && c >= columns.length) return worded("Query {r} “{row}”: the sum of its weights.", said);
    if (part === "moves") {
      const { say } = TONES.moves(moved[r][c], this.grids.moves.hidden[r][c]);
      return worded("Output {r} “{row}”, when token {c} “{column}” is changed: {what}.", { ...said, what: say });
    }
    const [mine, right, gap] = ofOutput ? ["output", "right", "gap"] : ["weights", "reference", "difference"];
    const place = ofOutput ? worded("Query {r} “{row}”, feature {c}", said)
      : allowed[r][c] ? worded("Query {r} “{row}” may attend to key {c} “{column}”", said)
        : worded("Query {r} “{row}” may not attend to key {c} “{column}”", said);
    const numbers = { place, expected: formatNumber(this.drawn[right][r][c], 4) };
    if (!this.drawn[mine]) return worded("{place}: the reference gives {expected}.", numbers);
    Object.assign(numbers, { found: formatNumber(this.drawn[mine][r][c], 4), difference: signedInWords(this.drawn[gap][r][c]) });
    return worded("{place}: the function gives {found}, the reference {expected}, difference {difference}.", numbers);
  }
}

export default asWidget(Laboratory);
