import { isOne, readMatrix, sumOf } from "../shared/numbers.js";
import { QUIET, claim, escapeText } from "../shared/markup.js";
import { SENTENCES, listed, marked, worded } from "../shared/words.js";
import { cellSize } from "../shared/grid.js";
import { View, asWidget, button, checkbox } from "../shared/parts.js";
import { ALSO_0, FORMULAS, NOT_0, TABLES, TITLES } from "./constants.js";
import { computeTable, quote, rowPowers, short, writeSteps } from "./steps.js";

// DotProductStepper: a table in which one cell is chosen, the numbers that go into it, and the steps one by one.

const LAST = TITLES.length - 1;
const HINT = marked("Choose a query and a key by a click in the table, or with the arrow keys there. Page Down and Page Up, or the arrow keys in the list, go from step to step; there, Home and End go to the first and the last. Numbers in the steps are rounded to three decimals, those in the tables to two; the computation uses all digits.");
const item = (title, i) =>
  `<li><button type="button" data-step="${i}" tabindex="-1" ${QUIET}><b>${worded(title)}</b> <span class="ds-numbers"></span>` +
  `<span class="ds-text"></span></button></li>`;
const frame = () => `
  <div class="ds-bar">${button("back", worded("◂ Back"))}${button("next", worded("Next ▸"))}<span data-part="place"></span>
    ${checkbox("scaled", worded("divide by √d"))}</div>
  <div class="ds-stage"><div data-part="table"></div><div data-part="bench"></div>
    <ol class="ds-steps" data-part="steps">${TITLES.map(item).join("")}</ol></div>
  <p class="lw-warning" data-part="warning" role="status"></p>
  <p class="lw-readout ds-hint">${worded(HINT)}</p>`;

/** What has been reached with numbers, what is to come in letters; powers raised. */
const typeset = (text) =>
  escapeText(text).replace(/e\^(\([^)]*\)|[^ ]+)/g, '<span class="ds-power">e<span class="ds-unseen">^</span><sup>$1</sup></span>');

class DotProductStepper extends View {
  static TRAITS = ["row", "column", "step", "scaled", "q", "k", "v", "allowed", "query_tokens", "key_tokens"];
  static frame = frame;

  make() {
    this.grids = {
      table: this.grid("table", { title: worded("scores"), tone: "scores" }),
      bench: this.grid("bench", { title: worded("features"), tone: "values", rowAxis: worded("row"), columnAxis: worded("feature") }),
    };
    this.items = [...this.find("steps").querySelectorAll("button")];
    this.find("table").addEventListener("focusin", (event) => this.choose(event.target.dataset.at));
    this.find("back").addEventListener("click", () => this.go(this.model.get("step") - 1));
    this.find("next").addEventListener("click", () => this.go(this.model.get("step") + 1));
    for (const one of this.items) one.addEventListener("click", () => this.go(Number(one.dataset.step)));
    this.root.addEventListener("keydown", (event) => this.pressKey(event));
  }

  // From the learner

  choose(place) {
    if (!place) return;
    const [row, column] = place.split(",").map(Number);
    if (row !== this.model.get("row") || column !== this.model.get("column")) this.commit({ row, column });
  }

  go(step) {
    const to = Math.min(Math.max(step, 0), LAST);
    if (to !== this.model.get("step")) this.commit({ step: to });
  }

  pressKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const step = this.model.get("step");
    const inList = this.items.includes(event.target);
    const ways = { PageDown: step + 1, PageUp: step - 1 };
    if (event.target.closest(".ds-bar, .ds-steps")) Object.assign(ways, { Home: 0, End: LAST });
    if (inList) Object.assign(ways, { ArrowDown: step + 1, ArrowRight: step + 1, ArrowUp: step - 1, ArrowLeft: step - 1 });
    if (!(event.key in ways)) return;
    claim(event);
    this.go(ways[event.key]);
    if (inList) this.items[this.model.get("step")].focus();
  }

  // To the learner

  draw(state) {
    const numbers = { ...state, q: readMatrix(state.q), k: readMatrix(state.k), v: readMatrix(state.v) };
    const table = computeTable(numbers);
    this.drawTable(numbers, table);
    this.drawBench(numbers, table);
    this.drawSteps(state.step, writeSteps(numbers, table));
    this.drawWarning(state, table);
  }

  drawTable(state, { scores, scaledScores, masked, powers, weights, may }) {
    const { row, column, step, query_tokens: rows, key_tokens: columns } = state;
    const scaled = state.scaled ? worded(TABLES.scaled, { size: state.q[0].length }) : worded(TABLES["not scaled"]);
    const [tone, title, values] = [
      ["scores", worded(TABLES.product), scores],
      ["scores", scaled, scaledScores],
      ["scores", worded(TABLES.masked), masked],
      ["powers", worded(TABLES.powers), powers],
      ["weights", worded(TABLES.weights), weights],
    ][Math.min(step, 4)];
    const blocked = step >= 2 ? may.map((line) => line.map((x) => !x)) : undefined;
    const grid = this.grids.table;
    grid.show({ rows, columns, values, blocked, title, tone, note: tableNote(state, step, weights) });
    grid.el.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
    if (grid.active[0] !== row || grid.active[1] !== column) grid.activate(row, column);
    grid.cell(row, column).setAttribute("aria-selected", "true");
    grid.point(row, column);
  }

  drawBench(state, table) {
    const bench = this.grids.bench;
    const { framed, ...shown } = benchOf(state, table);
    bench.columnAxis = shown.columnAxis;
    bench.show(shown);
    bench.point(...framed);
    const most = Math.max(state.q[0].length, state.v[0].length, state.k.length + 1);
    this.find("bench").style.minWidth = `min(100%, ${90 + most * cellSize(most)[0]}px)`;
  }

  drawSteps(step, said) {
    this.items.forEach((one, i) => {
      const present = i === step;
      const [numbers, text] = [one.querySelector(".ds-numbers"), one.querySelector(".ds-text")];
      const html = typeset(i <= step ? said[i].numbers : worded(FORMULAS[i]));
      if (numbers.shown !== html) numbers.innerHTML = numbers.shown = html;
      text.textContent = present ? said[i].text : "";
      one.tabIndex = present ? 0 : -1;
      one.className = i < step ? "ds-done" : present ? "ds-present" : "ds-later";
      if (present) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    });
    this.write("place", worded("step {step} of {count}", { step: step + 1, count: TITLES.length }));
    this.find("back").setAttribute("aria-disabled", String(step === 0));
    this.find("next").setAttribute("aria-disabled", String(step === LAST));
  }

  drawWarning({ query_tokens: tokens }, { may, output }) {
    const empty = tokens.map((_, q) => q).filter((q) => !may[q].some(Boolean));
    const names = listed(empty.map((q) => `${q} ${quote(tokens[q])}`));
    const all0 = empty.every((q) => output[q].every((x) => x === 0));
    this.say(empty.length ? worded(all0 ? ALSO_0 : NOT_0, { names }) : "");
  }
}

function tableNote({ query_tokens: rows, key_tokens: columns, row, column }, step, weights) {
  const place = worded("Framed: query {query}, key {key}.", { query: quote(rows[row]), key: quote(columns[column]) });
  const even = weights.every((line) => isOne(sumOf(line)));
  return step >= 4 && even ? listed([place, worded("Every row sums to 1.")], SENTENCES) : place;
}

/** What is computed with at this step, and which row and column of it are framed. */
function benchOf(state, table) {
  const { row, column, step, query_tokens: queries, key_tokens: keys, q, k, v } = state;
  const [query, key] = [quote(queries[row]), quote(keys[column])];
  const features = (length) => Array.from({ length }, (_, i) => String(i));
  if (step <= 2) {
    const values = [q[row], k[column], q[row].map((x, i) => x * k[column][i])];
    const rows = [`q ${queries[row]}`, `k ${keys[column]}`, worded("product")];
    const note = worded("A column is a feature. The products add up to the score, {score}.", { score: short(table.scores[row][column]) });
    return { title: worded("q of {query}, k of {key}", { query, key }), rows, columns: features(q[0].length), columnAxis: worded("feature"), values, note, framed: [2, null] };
  }
  if (step <= 4) return rowOfWeights(state, table);
  if (step === 5) {
    const values = [v[column], v[column].map((x) => x * table.weights[row][column])];
    const rows = [`v ${keys[column]}`, worded("× weight")];
    const note = worded("The weight is {weight}.", { weight: short(table.weights[row][column]) });
    return { title: worded("the value of {key}, times its weight", { key }), rows, columns: features(v[0].length), columnAxis: worded("feature"), values, note, framed: [1, null] };
  }
  const values = [...v.map((value, i) => value.map((x) => x * table.weights[row][i])), table.output[row]];
  const note = worded("A row for each key: its weight times its value. The last row is their sum.");
  return { title: worded("the contributions to {query}, and their sum", { query }), rows: [...keys, worded("output")], columns: features(v[0].length), columnAxis: worded("feature"), values, note, framed: [keys.length, null] };
}

function rowOfWeights({ row, column, step, query_tokens: queries, key_tokens: keys }, { masked, powers, weights }) {
  const shown = { title: worded("the row of {query}", { query: quote(queries[row]) }), columns: keys, columnAxis: worded("key"), framed: [null, column] };
  if (step === 3) return { ...shown, rows: [worded("score"), worded("e^score")], values: [masked[row], powers[row]] };
  const { powers: shifted, shift } = rowPowers(masked[row]);
  const withSum = (numbers) => [...numbers, sumOf(numbers)];
  const rows = [shift ? worded("e^(s−max)") : worded("e^score"), worded("weight")];
  const first = shift ? [worded("s−max: each score minus the largest, {shift}.", { shift: short(shift) })] : [];
  const note = listed([...first, worded("The lower row is the upper one, divided by its sum.")], SENTENCES);
  return { ...shown, rows, columns: [...keys, worded("sum")], values: [withSum(shifted), withSum(weights[row])], note };
}

export default asWidget(DotProductStepper);
