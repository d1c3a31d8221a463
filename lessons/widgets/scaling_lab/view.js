import { formatNumber } from "../shared/numbers.js";
import { QUIET } from "../shared/markup.js";
import { View, asWidget, button, checkbox, joined, slider } from "../shared/parts.js";
import { LINE_NAMES, MAX_KEYS, NUM_QUERIES } from "./constants.js";
import { curveChart, fewDigits, histogram, percent, weightBars } from "./charts.js";
import { Products, deviation, measure, sizeOf, sizesFor } from "./scaling.js";
import { SEMICOLON, counted, listed, marked, worded } from "../shared/words.js";

// ScalingLab: one query in grids, all queries in charts. The sliders of d and of the temperature move by powers of two.

const TEMPERATURES = [0.125, 0.25, 0.5, 1, 2, 4, 8];
const [FLOOR, DECADES] = [1e-4, 5]; // of the gradient's chart

const steps = (name, label) =>
  `<label>${label}<span class="lw-slider"><input type="range" data-part="${name}" min="0" max="1" step="1" ${QUIET}>` +
  `<output data-part="${name}-shown"></output></span></label>`;
const tile = (name, label) => `<div class="sl-tile"><div>${label}</div><div class="sl-number" data-part="${name}"></div></div>`;
const chart = (name, label) => `<section class="hg-panel sl-panel"><h4>${label}</h4><div data-part="${name}"></div></section>`;
const [ROOMY, ALL_HIGH, ROW_HIGH] = [8, 192, 12]; // with more keys, the rows share this height

/** Width and height of a cell; where a number has no room, the color says it. */
const cellFor = (keys) => (keys <= ROOMY ? undefined : [keys <= 10 ? Math.floor(300 / keys) : 18, Math.max(Math.floor(ALL_HIGH / keys), ROW_HIGH)]);
const HINT = marked("Point at a cell, or move with the arrow keys, to read what it says.");
const frame = () => `
  <div class="lw-bar">${steps("d", worded("d, the head dimension"))}${checkbox("scaled", worded("divide by √d"))}${steps("temperature", worded("temperature"))}
    ${slider("num_keys", worded("keys"), 1, MAX_KEYS, 1)}${slider("query", worded("query shown"), 0, NUM_QUERIES - 1, 1)}${button("again", worded("Another draw"))}</div>
  <p class="sl-formula" data-part="formula"></p>
  <div class="lw-stage sl-query"><div data-part="scores"></div>${joined("→", "weights")}<section class="hg-panel"><h4>${worded("as bars <small>┊ even</small>")}</h4><div data-part="bars"></div></section>
    ${joined("→", "jacobian")}
  <div class="sl-tiles">${tile("entropy", worded("entropy of the weights"))}${tile("largest", worded("largest weight"))}
    ${tile("by-scores", worded("size of ∂weights/∂scores"))}${tile("by-query", worded("size of the gradient, ∂weights/∂q"))}</div></div>
  <p class="lw-readout" data-part="readout">${worded(HINT)}</p>
  <p class="lw-warning" data-part="warning" role="status"></p>
  <div class="lw-stage sl-charts">${chart("histogram", `<span data-part="histogram-title"></span>`)}
    ${chart("entropies", worded("mean entropy (nats)"))}${chart("gradients", worded("median size of the gradient"))}</div>
  <div class="lw-foot"><p class="lw-legend"><span><svg width="34" height="12" class="sl-chart" aria-hidden="true"><g class="sl-plain"><path d="M0 6h34"/><rect x="14" y="3" width="6" height="6"/></g></svg>${worded(LINE_NAMES.false)}</span>
    <span><svg width="34" height="12" class="sl-chart" aria-hidden="true"><g class="sl-scaled"><path d="M0 6h34"/><circle cx="17" cy="6" r="3.4"/></g></svg>${worded(LINE_NAMES.true)}</span>
    <span><svg width="20" height="16" class="sl-chart" aria-hidden="true"><circle class="sl-ring" cx="10" cy="8" r="6.5"/></svg>${worded("now")}</span>
    <span>${worded("▽ △ off the chart")}</span></p>
  <p class="lw-readout" data-part="stuck"></p>
  <details><summary ${QUIET}>${worded("The numbers of the curves")}</summary><div class="sl-scroll" data-part="table" role="region" aria-label="${worded("The numbers of the curves")}" tabindex="0" ${QUIET}></div></details></div>`;

class Lab extends View {
  static TRAITS = ["own", "d", "num_keys", "scaled", "temperature", "query", "seed"];
  static frame = frame;

  make() {
    this.products = new Products();
    const column = { rowAxis: worded("key"), columnAxis: worded("column"), leastWidth: 48 };
    this.grids = {
      scores: this.grid("scores", { title: worded("scores"), tone: "scores", ...column }),
      weights: this.grid("weights", { title: worded("weights"), tone: "weights", shared: MAX_KEYS, ...column }),
      jacobian: this.grid("jacobian", { title: worded("∂weights/∂scores"), tone: "values", rowAxis: worded("weight"), columnAxis: worded("score") }),
    };
    this.find("d").addEventListener("input", (event) => this.commit({ d: this.sizes[Number(event.target.value)] }));
    this.find("temperature").addEventListener("input", (event) =>
      this.commit({ temperature: TEMPERATURES[Number(event.target.value)] }));
    this.find("again").addEventListener("click", () => this.commit({ seed: (this.model.get("seed") + 1) % 2 ** 31 }));
  }

  draw(state) {
    this.drawn = measure(state, this.products);
    this.drawControls(state, this.drawn);
    this.drawFormula(state, this.drawn);
    this.drawQuery(state, this.drawn);
    this.drawTiles(this.drawn);
    this.drawCharts(state, this.drawn);
  }

  // Controls

  drawControls(state, { d, query, limits, weights }) {
    this.sizes = sizesFor(1, limits.d);
    const nearest = (values, x) => values.reduce((best, y, i) => (Math.abs(Math.log(y / x)) < Math.abs(Math.log(values[best] / x)) ? i : best), 0);
    this.placeSlider("d", this.sizes.length - 1, nearest(this.sizes, d), String(d));
    this.placeSlider("temperature", TEMPERATURES.length - 1, nearest(TEMPERATURES, state.temperature), String(state.temperature));
    this.placeSlider("num_keys", limits.num_keys, weights.length, String(weights.length));
    this.placeSlider("query", limits.num_queries - 1, query, String(query));
    this.find("again").disabled = Boolean(state.own);
  }

  placeSlider(name, most, value, text) {
    const input = this.find(name);
    input.max = most;
    input.value = value;
    input.setAttribute("aria-valuetext", text);
    this.find(`${name}-shown`).textContent = text;
  }

  drawFormula({ scaled, temperature }, { d, divisor }) {
    const parts = [...(scaled ? [`√${d}`] : []), ...(temperature === 1 ? [] : [String(temperature)])];
    const number = formatNumber(divisor, Number.isInteger(divisor) ? 0 : 2);
    const factors = parts.length > 1 ? `(${parts.join(" × ")})` : parts[0];
    const result = scaled ? ` = q·k / ${number}` : "";
    this.write("formula", parts.length ? worded("scores = {product}", { product: `q·k / ${factors}${result}` }) : worded("scores = q·k, not divided"));
  }

  // One query

  drawQuery({ scaled }, { query, scores, weights, jacobian }) {
    const rows = weights.map((_, i) => `k${i}`);
    const size = cellFor(rows.length);
    const column = (numbers) => ({ rows, size, columns: [`q${query}`], values: numbers.map((x) => [x]) });
    this.grids.scores.show(column(scores));
    this.grids.weights.show({ ...column(weights), note: "" });
    this.grids.jacobian.show({ rows, columns: rows, size, values: jacobian, bound: 0.25 });
    const bars = this.find("bars");
    bars.style.paddingTop = `${this.grids.weights.top}px`;
    bars.innerHTML = weightBars(weights, this.grids.weights.height, scaled);
  }

  drawTiles({ entropy, weights, jacobian, gradient }) {
    const most = Math.log(weights.length);
    const relative = weights.length > 1 ? worded("{percent} of ln {keys} = {most}", { percent: percent(entropy / most), keys: weights.length, most: formatNumber(most) }) : worded("there is one key only");
    this.tile("entropy", entropy, worded("{entropy} nats", { entropy: formatNumber(entropy) }), listed([relative, worded("{entropy} bits", { entropy: formatNumber(entropy / Math.LN2) })], SEMICOLON));
    const top = weights.indexOf(Math.max(...weights));
    this.tile("largest", weights[top], formatNumber(weights[top]), `k${top}`);
    const entries = jacobian.flat();
    const size = sizeOf(entries);
    this.tile("by-scores", size, fewDigits(size), worded("largest entry {number}", { number: fewDigits(Math.max(...entries.map(Math.abs))) }));
    this.tile("by-query", gradient, fewDigits(gradient), worded("how far the weights move if q moves a little"));
  }

  /** value: the number in full; shown: as it is written, with words behind it. */
  tile(name, value, shown, words) {
    const part = this.find(name);
    part.dataset.value = String(value);
    part.innerHTML = "<b></b><span></span>";
    part.firstChild.textContent = shown;
    part.lastChild.textContent = words;
  }

  /** Frame the same key in all grids, and say what a cell says. */
  point(part, r, c) {
    const { grids, drawn } = this;
    grids.scores.point(r, null);
    grids.weights.point(r, null);
    grids.jacobian.point(r, part === "jacobian" ? c : null);
    if (r === null) return this.write("readout", worded(HINT));
    const said = { r, c, score: formatNumber(drawn.scores[r]), weight: formatNumber(drawn.weights[r], 4), moved: formatNumber(drawn.jacobian[r][c], 4) };
    this.write("readout", part !== "jacobian" ? worded("k{r}: score {score} → weight {weight}.", said) :
      worded("k{r}: score {score} → weight {weight}. A little more score for k{c} moves this weight by {moved} times as much.", said));
  }

  // All queries

  drawCharts({ scaled }, { d, at, all, sizes, curves, weights, numQueries }) {
    const spread = deviation(all);
    const said = { scores: counted("{count} score", "{count} scores", all.length), queries: counted("{count} query", "{count} queries", numQueries) };
    this.write("histogram-title", worded("{scores} of {queries}; √d = {root}", { ...said, root: formatNumber(Math.sqrt(d)) }));
    this.find("histogram").innerHTML = histogram(all, scaled, spread);
    const line = (name) => ({ false: curves.false.map((x) => x[name]), true: curves.true.map((x) => x[name]) });
    const most = Math.log(weights.length);
    const entropy = { name: worded("Mean entropy in nats"), axis: (x) => (most ? Math.min(x / most, 1) : 0),
      ticks: most ? [[0, "0"], [most / 2, formatNumber(most / 2)], [most, formatNumber(most)]] : [[0, "0"]] };
    const gradient = { name: worded("Median size of the gradient"), axis: (x) => Math.log10(x / FLOOR) / DECADES,
      ticks: [0.0001, 0.001, 0.01, 0.1, 1, 10].map((x) => [x, String(x)]) };
    this.find("entropies").innerHTML = curveChart(entropy, sizes, at, scaled, line("entropy"));
    this.find("gradients").innerHTML = curveChart(gradient, sizes, at, scaled, line("gradient"));
    this.write("stuck", worded("Queries that give over 99 % to a single key: {percent}.", { percent: percent(curves[scaled][at].stuck) }));
    this.drawTable(sizes, at, curves);
  }

  drawTable(sizes, at, curves) {
    const rows = [["entropy", worded("mean entropy"), fewDigits], ["gradient", worded("median gradient"), fewDigits], ["stuck", worded("over 99 % to one key"), percent]];
    const cells = (kind, name, say) => sizes.map((_, i) => `<td${i === at ? ' class="sl-here"' : ""} data-value="${curves[kind][i][name]}">${say(curves[kind][i][name])}</td>`).join("");
    const lines = rows.flatMap(([name, title, say]) =>
      [false, true].map((kind) => `<tr><th scope="row">${listed([title, worded(LINE_NAMES[kind])])}</th>${cells(kind, name, say)}</tr>`));
    const heads = sizes.map((d, i) => `<th scope="col"${i === at ? ' class="sl-here"' : ""}>${d}</th>`).join("");
    this.find("table").innerHTML = `<table class="sl-table"><tr><th scope="col">d</th>${heads}</tr>${lines.join("")}</table>`;
  }
}

export default asWidget(Lab);
