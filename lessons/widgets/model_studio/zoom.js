import { Grid } from "../shared/grid.js";
import { formatNumber, inRows, sumOf } from "../shared/numbers.js";
import { IS_CUT } from "./hands.js";
import { sayPlace, sidesOf } from "./layout.js";
import { Strip } from "./strip.js";
import { SENTENCES, listed, marked, worded } from "../shared/words.js";

// Inside one head, q · k → scores → mask → weights × v → output, and inside a feed-forward network.

const CELL = [12, 34];
const LINE = [12, 24]; // height of a row
const TALL = 160; // pixels for all rows
const FEATURES = 40; // width of q, k, v and output
const HEAD_ROOM = 54;
const SIGNS = 136; // width of the signs between them
const SIGN = 34; // one of them
const PHONE = 600; // a smaller width has one grid in a row, with cells for a finger
const TERMS = 4; // written out of each sum
const UNITS_SHOWN = 8;
const CHANGED = 0.02;
const HINTS = {
  attention: marked("Point at a cell: its sum is written out here. A click on a cell of the mask blocks or allows it."),
  feed_forward: marked("Point at a token: its most active units are on the right."),
  none: marked("Choose a head, or a feed-forward network, in the map: here you will see what it computes."),
};

const part = ({ data, shape: [, rows, columns] }, head) => ({ data: data.subarray(head * rows * columns, (head + 1) * rows * columns), shape: [rows, columns] });
const rowOf = ({ data, shape: [, columns] }, r) => data.subarray(r * columns, (r + 1) * columns);
const cellOf = ({ data, shape: [, columns] }, r, c) => data[r * columns + c];
const signed = (x) => (x < 0 ? `(${formatNumber(x)})` : formatNumber(x));

/** The largest terms of a sum in words, with the rest as one number. terms: [[text, value], …] */
function written(terms) {
  const sorted = [...terms].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const rest = sorted.slice(TERMS);
  const texts = sorted.slice(0, TERMS).map(([text]) => text);
  if (rest.length) texts.push(worded("{sum} from {count} more", { sum: signed(sumOf(rest.map(([, x]) => x))), count: rest.length }));
  return texts.join(" + ");
}

export class Zoom {
  /** onToggle({place, head, query, key, allow}): a click on a cell of the mask. */
  constructor(el, { onToggle }) {
    this.onToggle = onToggle;
    this.el = document.createElement("section");
    this.el.className = "mz";
    this.el.setAttribute("aria-label", worded("zoom"));
    this.el.innerHTML = `<p class="mz-head"><b></b><span></span></p><div class="mz-attention"></div>` +
      `<div class="mz-feed" hidden><div class="mz-units"></div><section><h4></h4><ol></ol></section></div><p class="mz-sum" aria-live="polite"></p>`;
    el.append(this.el);
    [this.head, this.attention, this.feed, this.sum] = this.el.children;
    this.makeAttention();
    this.units = new Strip({ title: worded("units"), tone: "positive", feature: worded("unit"), onPoint: (row) => this.pointUnits(row) });
    this.feed.querySelector(".mz-units").append(this.units.el);
    this.watch = new ResizeObserver(([{ contentRect: { width } }]) => {
      if (width === this.width) return;
      this.width = width;
      this.resized = requestAnimationFrame(() => this.state && this.draw(this.state)); // not now: Safari complains of it
    });
    this.watch.observe(this.el);
  }

  stop() {
    this.watch.disconnect();
    cancelAnimationFrame(this.resized);
    this.el.remove();
  }

  makeAttention() {
    const strip = (name, title) => new Strip({ title, tone: "signed", feature: worded("feature"), onPoint: (r, c) => this.point(name, r, c) });
    const grid = (name, options) => new Grid({ unnamed: true, headRoom: HEAD_ROOM, onPoint: (r, c) => this.point(name, r, c), ...options });
    this.parts = {
      q: strip("q", "q"),
      k: strip("k", "k"),
      scores: grid("scores", { title: worded("scores"), tone: "scores" }),
      mask: grid("mask", { title: worded("mask"), tone: "rule", onPaint: (cells, done) => done && this.toggle(cells) }),
      weights: grid("weights", { title: worded("weights"), tone: "weights" }),
      v: strip("v", "v"),
      output: strip("output", worded("output")),
    };
    const signs = { k: "·", scores: "→", mask: "→", weights: "→", v: "×", output: "→" };
    for (const [name, { el }] of Object.entries(this.parts)) {
      if (signs[name]) this.attention.insertAdjacentHTML("beforeend", `<i aria-hidden="true">${signs[name]}</i>`);
      this.attention.append(el);
    }
  }

  draw(state) {
    this.state = state;
    this.width ??= this.el.getBoundingClientRect().width; // asked once: the answer costs a layout
    const { place, now, tokens } = state;
    const kind = place.split(".")[2];
    this.attention.hidden = !kind || kind === "feed_forward";
    this.feed.hidden = kind !== "feed_forward";
    this.el.classList.toggle("mz-empty", !kind);
    if (!kind) {
      this.shown = null;
      return this.say("", "", worded(HINTS.none));
    }
    const [querySide, keySide] = sidesOf(place);
    this.queries = tokens[querySide];
    this.keys = tokens[keySide];
    if (kind === "feed_forward") this.drawUnits(now.places[place]);
    else this.drawAttention(now.places[place]);
  }

  say(title, shape, sum) {
    const [name, sizes] = this.head.children;
    if (name.textContent !== title) name.textContent = title;
    if (sizes.textContent !== shape) sizes.textContent = shape;
    if (this.sum.textContent !== sum) this.sum.textContent = sum;
  }

  title() {
    const { place, head } = this.state;
    return place.endsWith("feed_forward") ? sayPlace(place) : worded("{place}, head {head}", { place: sayPlace(place), head });
  }

  // Attention

  drawAttention(found) {
    const { place, before } = this.state;
    const head = Math.min(this.state.head, found.weights.shape[0] - 1);
    const take = (all) => Object.fromEntries(["q", "k", "v", "scores", "allowed", "weights", "heads"].map((name) => [name, part(all[name], head)]));
    this.shown = take(found);
    const old = before && before !== this.state.now ? take(before.places[place]) : null;
    this.old = old && String(old.weights.shape) === String(this.shown.weights.shape) ? old : null;
    const [queries, keys] = this.shown.weights.shape;
    const isPhone = this.width < PHONE;
    const rowHeight = isPhone ? LINE[1] : Math.round(Math.min(Math.max(TALL / Math.max(queries, keys), LINE[0]), LINE[1]));
    const names = (tokens) => Math.min(Math.max(...tokens.map((token) => token.length)) * 6.2 + 6, 64);
    const cross = this.queries !== this.keys;
    const rest = 4 * FEATURES + names(this.queries) + (cross ? names(this.keys) : 0) + SIGNS;
    const room = isPhone ? this.width - SIGN - names(this.queries) : ((this.width || 820) - rest) / 3;
    const across = Math.floor(Math.min(Math.max(room / keys, CELL[0]), CELL[1]));
    const { scores, mask, weights } = this.parts;
    const grids = (this.grids = { scores, mask, weights });
    for (const grid of Object.values(grids)) grid.unnamed = !isPhone;
    const values = (name) => inRows(this.shown[name].data, queries);
    const labels = { rows: this.queries, columns: this.keys, size: [across, rowHeight] };
    const blocked = values("allowed").map((row) => row.map((x) => !x));
    grids.scores.show({ ...labels, values: values("scores") });
    grids.mask.show({ ...labels, values: values("allowed").map((row) => row.map(Number)) });
    grids.weights.show({ ...labels, values: values("weights"), blocked });
    const top = grids.scores.top;
    const shared = { rowHeight, width: FEATURES, top };
    this.parts.q.show({ ...shared, matrix: this.shown.q, rows: this.queries, named: true });
    this.parts.k.show({ ...shared, matrix: this.shown.k, rows: this.keys, named: cross });
    this.parts.v.show({ ...shared, matrix: this.shown.v, rows: this.keys, named: false });
    this.parts.output.show({ ...shared, matrix: this.shown.heads, rows: this.queries, named: false, title: this.isSilent() ? worded("silenced") : worded("output") });
    this.markChanged();
    this.point(null, null, null);
  }

  /** A sign where a weight is another than without the changes. */
  markChanged() {
    const { grids: { weights }, old, shown } = this;
    for (let r = 0; r < this.queries.length; r++) {
      for (let c = 0; c < this.keys.length; c++) {
        const { classList } = weights.cell(r, c);
        const changed = Boolean(old) && Math.abs(cellOf(old.weights, r, c) - cellOf(shown.weights, r, c)) >= CHANGED;
        if (changed !== classList.contains("mz-changed")) classList.toggle("mz-changed", changed);
      }
    }
  }

  toggle(cells) {
    const { place, head } = this.state;
    if (this.shown) // else the attention went away under the pointer
      for (const [query, key] of cells) this.onToggle({ place, head, query, key, allow: !cellOf(this.shown.allowed, query, key) });
  }

  /** Frame the same query and key everywhere, and write the sum of the cell. */
  point(name, r, c) {
    if (!this.shown) return;
    const ofKey = name === "k" || name === "v";
    const [query, key] = name === null || r === null ? [null, null] : ofKey ? [null, r] : name === "q" || name === "output" ? [r, null] : [r, c];
    for (const grid of Object.values(this.grids)) grid.point(query, key);
    const feature = (strip) => (strip === name ? c : null);
    for (const strip of ["q", "output"]) this.parts[strip].mark(query, feature(strip));
    for (const strip of ["k", "v"]) this.parts[strip].mark(key, feature(strip));
    const [, queries, keys] = this.state.now.places[this.state.place].weights.shape;
    const size = this.shown.q.shape[1];
    const shape = worded("{queries} queries × {keys} keys, d = {size}", { queries, keys, size });
    this.say(this.title(), shape, r === null ? listed([...this.ifCut(), this.summary()], SENTENCES) : this.writeSum(name, r, c));
  }

  summary() {
    if (!this.old) return worded(HINTS.attention);
    const { weights } = this.shown;
    let [most, at] = [0, 0];
    weights.data.forEach((x, i) => {
      const by = Math.abs(x - this.old.weights.data[i]);
      if (by > most) [most, at] = [by, i];
    });
    if (most < CHANGED) return worded(HINTS.attention);
    const [r, c] = [Math.floor(at / weights.shape[1]), at % weights.shape[1]];
    return worded("◤ marks what changed, most of all the weight of “{key}” for “{query}”: {before} before, {now} now. {hint}", {
      key: this.keys[c], query: this.queries[r], before: formatNumber(this.old.weights.data[at]), now: formatNumber(weights.data[at]), hint: worded(HINTS.attention),
    });
  }

  writeSum(name, r, c) {
    const { q, k, v, scores, allowed, weights, heads } = this.shown;
    if (name === "q" || name === "k" || name === "v") {
      const token = (name === "q" ? this.queries : this.keys)[r];
      return worded("{name} of “{token}”, feature {c}: {number}", { name, token, c, number: formatNumber(cellOf(this.shown[name], r, c)) });
    }
    const query = `“${this.queries[r]}”`;
    if (name === "output") {
      const terms = this.keys.map((_, key) => [cellOf(weights, r, key), cellOf(v, key, c)]).filter(([w]) => w !== 0);
      const sum = terms.length ? written(terms.map(([w, x]) => [`${formatNumber(w)} × ${signed(x)}`, w * x])) : worded("no key, so");
      const said = { c, query, sum, number: formatNumber(cellOf(heads, r, c)) };
      return this.isSilent() ? worded("Feature {c} of the output for {query}: {sum} = {number}; the head is silenced", said)
        : worded("Feature {c} of the output for {query}: {sum} = {number}", said);
    }
    const key = `“${this.keys[c]}”`;
    const before = this.old && cellOf(this.old[name === "scores" ? "scores" : "weights"], r, c);
    const isChanged = this.old && Math.abs(before - cellOf(name === "scores" ? scores : weights, r, c)) >= CHANGED;
    const compared = (text) => (isChanged ? worded("{text} (before: {before})", { text, before: formatNumber(before) }) : text);
    if (name === "scores") {
      const [one, other] = [rowOf(q, r), rowOf(k, c)];
      const terms = written(Array.from(one, (x, i) => [`${signed(x)} × ${signed(other[i])}`, x * other[i]]));
      const said = { query, key, terms, size: q.shape[1], score: formatNumber(cellOf(scores, r, c)) };
      return compared(worded("Score of {query} for {key}: ({terms}) / √{size} = {score}", said));
    }
    const may = Boolean(cellOf(allowed, r, c));
    if (name === "mask") return may ? worded("{query} may attend to {key}. A click, or Enter, blocks it.", { query, key }) : worded("{query} may not attend to {key}. A click, or Enter, allows it.", { query, key });
    if (!may) return compared(worded("{query} may not attend to {key}: the score becomes −∞, the weight 0", { query, key }));
    const power = (x) => `e^${formatNumber(x).replace(/^−/, "−")}`;
    const open = this.keys.map((_, i) => i).filter((i) => cellOf(allowed, r, i));
    const others = open.filter((i) => i !== c).sort((a, b) => cellOf(scores, r, b) - cellOf(scores, r, a));
    const shown = others.slice(0, TERMS - 1).map((i) => power(cellOf(scores, r, i)));
    if (others.length >= TERMS) shown.push(worded("{count} more", { count: others.length - TERMS + 1 }));
    const top = power(cellOf(scores, r, c));
    const said = { key, query, top, terms: [top, ...shown].join(" + "), weight: formatNumber(cellOf(weights, r, c), 4) };
    return compared(worded("Weight of {key} for {query}: {top} / ({terms}) = {weight}", said));
  }

  /** What to say of a sublayer that is cut. */
  ifCut() {
    const { now, place } = this.state;
    return now.places[place].output.data.every((x) => x === 0) ? [worded(IS_CUT)] : [];
  }

  isSilent() {
    const { heads, weights } = this.shown;
    return heads.data.every((x) => x === 0) && weights.data.some((x) => x !== 0);
  }

  // Feed-forward

  drawUnits({ hidden }) {
    const { place, before, now } = this.state;
    const [count] = hidden.shape;
    this.shown = null;
    this.hidden = hidden;
    const old = before && before !== now ? before.places[place].hidden : null;
    this.oldHidden = old && old.shape[0] === count ? old : null;
    const rowHeight = Math.round(Math.min(Math.max(TALL / count, LINE[0]), LINE[1]));
    const width = Math.max(Math.min((this.width || 820) - 380, 512), 160);
    this.units.show({ matrix: hidden, rows: this.queries, rowHeight, width, top: 0, named: true, title: worded("{count} units of each token, after the activation", { count: hidden.shape[1] }) });
    this.token = Math.min(this.token ?? count - 1, count - 1);
    this.drawTop();
  }

  pointUnits(row) {
    if (row === null) return;
    this.token = row;
    this.drawTop();
  }

  drawTop() {
    const row = rowOf(this.hidden, this.token);
    const top = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, UNITS_SHOWN);
    const most = row[top[0]] || 1;
    const active = row.reduce((sum, x) => sum + (x > 0), 0);
    const token = `“${this.queries[this.token]}”`;
    const [heading, list] = this.feed.lastElementChild.children;
    heading.textContent = worded("Most active for {token}", { token });
    list.innerHTML = top.map((unit) => {
      const old = this.oldHidden ? rowOf(this.oldHidden, this.token)[unit] : row[unit];
      const changed = Math.abs(old - row[unit]) >= CHANGED;
      return `<li><span>${worded("unit {unit}", { unit })}</span><span class="mm-bar" style="--mm-p:${Math.max(Math.round((100 * row[unit]) / most), 0)}%"></span>` +
        `<span>${changed ? worded("{now} <b>≠</b> {before} before", { now: formatNumber(row[unit]), before: formatNumber(old) }) : formatNumber(row[unit])}</span></li>`;
    }).join("");
    this.units.mark(this.token);
    const said = worded("{active} of {count} units are active for {token}.", { active, count: row.length, token });
    this.say(this.title(), `${this.hidden.shape.join(" × ")}`, listed([...this.ifCut(), said, worded(HINTS.feed_forward)], SENTENCES));
  }
}
