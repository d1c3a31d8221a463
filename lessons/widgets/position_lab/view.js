import { formatNumber } from "../shared/numbers.js";
import { QUIET } from "../shared/markup.js";
import { View, asWidget, slider } from "../shared/parts.js";
import { SENTENCES, listed, worded } from "../shared/words.js";
import { BASES, LIMITS } from "./constants.js";

// PositionLab: the same sinusoids and angles as in lessons/positions.py, so that a slider is answered at once.

const [WIDE, TALL, EDGE] = [380, 190, 34];
const frame = () => `
  <div class="lw-bar">${slider("num_positions", worded("positions"), ...LIMITS.num_positions, 1)}${slider("d_model", worded("features D"), ...LIMITS.d_model, 1)}
    <label>${worded("base")}<select data-part="base" ${QUIET}>${BASES.map((x) => `<option>${x}</option>`).join("")}</select></label>
    ${slider("first", worded("first position"), 0, 15, 1)}${slider("second", worded("second position"), 0, 15, 1)}${slider("pair", worded("pair of features"), 0, 3, 1)}</div>
  <div class="lw-stage"><div data-part="table"></div>
    <div class="pl-side"><section class="hg-panel"><h4 data-part="curve-title"></h4><div data-part="curve"></div></section>
    <section class="hg-panel"><h4 data-part="arrows-title"></h4><div data-part="arrows"></div><p class="hg-note" data-part="arrows-note"></p></section></div></div>
  <p class="lw-readout" data-part="readout"></p>
  <p class="lw-warning" data-part="warning" role="status"></p>`;

const angleOf = (position, pair, { base, size }) => position / base ** ((2 * pair) / size);

/** Row t of the sinusoids. */
const rowOf = (t, { d_model, base }) => Array.from({ length: d_model }, (_, f) => {
  const angle = angleOf(t, Math.floor(f / 2), { base, size: d_model });
  return f % 2 ? Math.cos(angle) : Math.sin(angle);
});
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

class Positions extends View {
  static TRAITS = ["num_positions", "d_model", "base", "first", "second", "pair"];
  static frame = frame;

  make() {
    this.table = this.grid("table", { title: worded("sinusoids"), tone: "values", rowAxis: worded("position"), columnAxis: worded("feature") });
    this.find("base").addEventListener("change", (event) => this.commit({ base: Number(event.target.value) }));
    this.find("table").addEventListener("click", (event) => this.choose(event.target.closest("[data-at]")));
    this.find("table").addEventListener("keydown", (event) => {
      if (event.key === " " || event.key === "Enter") this.choose(event.target.closest("[data-at]"));
    }, true); // before the grid, which keeps these keys to itself
  }

  /** A click on a row: it becomes the second position; its column's pair is rotated. */
  choose(cell) {
    if (!cell) return;
    const [second, feature] = cell.dataset.at.split(",").map(Number);
    const pair = Math.min(Math.floor(feature / 2), Math.floor(this.model.get("d_model") / 2) - 1);
    this.commit({ second, pair });
  }

  commit(changes) {
    const now = { ...this.state(), ...changes };
    const fit = (x, most) => Math.min(x, most - 1);
    const fitted = { first: fit(now.first, now.num_positions), second: fit(now.second, now.num_positions), pair: fit(now.pair, Math.floor(now.d_model / 2)) };
    for (const [name, value] of Object.entries(fitted)) if (value !== now[name] || name in changes) changes[name] = value;
    super.commit(changes);
  }

  showControl(control, value) {
    const { num_positions, d_model } = this.state();
    const most = { first: num_positions - 1, second: num_positions - 1, pair: Math.floor(d_model / 2) - 1 }[control.dataset.part];
    if (most !== undefined) control.max = String(most);
    super.showControl(control, value);
  }

  draw(state) {
    this.find("base").value = String(state.base);
    const rows = Array.from({ length: state.num_positions }, (_, t) => rowOf(t, state));
    const names = (count) => Array.from({ length: count }, (_, i) => String(i));
    this.table.show({ rows: names(state.num_positions), columns: names(state.d_model), values: rows, bound: 1,
      title: worded("sinusoids({positions}, {features}), base {base}", { positions: state.num_positions, features: state.d_model, base: state.base }),
      note: worded("Click a row, or press Space on it: it becomes the second position.") });
    this.products = rows.map((row) => dot(row, rows[state.first]));
    this.drawCurve(state);
    this.drawArrows(state);
    this.table.point(state.second, 2 * state.pair);
  }

  drawCurve({ first, second, d_model }) {
    const most = Math.ceil(d_model / 2);
    const count = this.products.length;
    const x = (t) => EDGE + (t * (WIDE - 2 * EDGE)) / (count - 1);
    const y = (p) => TALL - 24 - ((p + most) / (2 * most)) * (TALL - 44);
    const points = this.products.map((p, t) => `${x(t).toFixed(1)},${y(p).toFixed(1)}`).join(" ");
    const marks = this.products.map((p, t) => `<circle cx="${x(t)}" cy="${y(p)}" r="3" data-position="${t}" data-value="${p}"/>`).join("");
    const p = this.products[second];
    const words = worded("Dot product of position {first} with every position; with position {second} it is {product}.", { first, second, product: formatNumber(p) });
    this.write("curve-title", worded("dot product with position {position}", { position: first }));
    this.find("curve").innerHTML = `<svg class="pl-chart" role="img" width="${WIDE}" height="${TALL}" aria-label="${words}">
      <line class="pl-zero" x1="${EDGE}" x2="${WIDE - EDGE}" y1="${y(0)}" y2="${y(0)}"/>
      <text x="${EDGE - 6}" y="${y(most) + 4}" text-anchor="end">${most}</text><text x="${EDGE - 6}" y="${y(0) + 4}" text-anchor="end">0</text>
      <text x="${EDGE - 6}" y="${y(-most) + 4}" text-anchor="end">−${most}</text>
      <text x="${x(0)}" y="${TALL - 6}" text-anchor="middle">0</text><text x="${x(count - 1)}" y="${TALL - 6}" text-anchor="middle">${count - 1}</text>
      <polyline points="${points}"/>${marks}<circle class="pl-ring" cx="${x(second)}" cy="${y(p)}" r="7"/>
      <text class="pl-strong" x="${Math.min(Math.max(x(second), 60), WIDE - 60)}" y="${Math.max(y(p) - 12, 12)}" text-anchor="middle">${formatNumber(p)}</text></svg>`;
    const apart = Math.abs(second - first);
    const hint = d_model % 2 ? worded("With an odd D the last sine has no cosine, and the product depends on the positions themselves, too.") :
      worded("Move both sliders by the same amount: it stays the same.");
    const said = worded("Positions {first} and {second}, {apart} apart: dot product {product}.", { first, second, apart, product: formatNumber(p, 4) });
    this.write("readout", listed([said, hint], SENTENCES));
  }

  drawArrows({ first, second, pair, base, d_model }) {
    const size = d_model - (d_model % 2);
    const [from, to] = [first, second].map((t) => angleOf(t, pair, { base, size }));
    const arrow = (angle, name, kind) => {
      const [cx, cy, r] = [110, 95, 74];
      const [ex, ey] = [cx + r * Math.cos(angle), cy - r * Math.sin(angle)];
      const [lx, ly] = [cx + (r + 13) * Math.cos(angle), cy - (r + 13) * Math.sin(angle)];
      return `<g class="${kind}" data-x="${Math.cos(angle)}" data-y="${Math.sin(angle)}"><line x1="${cx}" y1="${cy}" x2="${ex}" y2="${ey}" marker-end="url(#pl-head)"/>` +
        `<text x="${lx}" y="${ly + 4}" text-anchor="middle">${name}</text></g>`;
    };
    const score = Math.cos(to - from);
    const degrees = Math.round(((to - from) * 180) / Math.PI);
    const words = worded("Pair {pair}: a query at position {first} and a key at position {second}, both rotated; {degrees} degrees between them.", { pair, first, second, degrees });
    this.write("arrows-title", worded("rotary: pair {pair}, q at {first}, k at {second}", { pair, first, second }));
    this.find("arrows").innerHTML = `<svg class="pl-chart" role="img" width="220" height="190" aria-label="${words}">
      <defs><marker id="pl-head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z"/></marker></defs>
      <circle class="pl-round" cx="110" cy="95" r="74"/>${arrow(from, "q", "pl-q")}${arrow(to, "k", "pl-k")}</svg>`;
    this.write("arrows-note", worded("Both started as (1, 0). k is {degrees}° ahead of q; their dot product is {product}.", { degrees: String(degrees).replace("-", "−"), product: formatNumber(score) }));
  }

  point(part, r, c) {
    const { second, pair } = this.state();
    if (r === null) return this.table.point(second, 2 * pair);
    this.table.point(r, c);
  }
}

export default asWidget(Positions);
