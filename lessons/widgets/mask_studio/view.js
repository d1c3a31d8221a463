import { AFTER, BEFORE, BILLION, CONVENTIONS, CROSS, DECODER, ENCODER, FILLS, INFINITE, KINDS, MAX_TOKENS } from "../shared/constants.js";
import { formatNumber, isOne, readMatrix, sumOf } from "../shared/numbers.js";
import { copy, copyButton } from "../shared/copying.js";
import { QUIET, claim, isComposing } from "../shared/markup.js";
import { VISIBLE } from "../shared/palette.js";
import { fillScores, fillWeights, mix } from "../shared/attention.js";
import { LOW, namesWidth } from "../shared/grid.js";
import { View, asWidget, button, choice, joined, slider } from "../shared/parts.js";
import { ADVICE, CAUSAL, HISTORY, MAX_SIZE, PACKED, PAD, RULES } from "./constants.js";
import { counted, listed, marked, worded } from "../shared/words.js";
import { PATTERNS, documents } from "./patterns.js";

// MaskStudio, built from grids. It computes the same as shared/rules.py, so that a click takes effect
// within one frame; Python is told afterwards.

const FILL_NOTES = {
  [INFINITE]: marked("Blocked scores become −∞: their weight is exactly 0."),
  [BILLION]: marked("Blocked scores become −1e9: the same, unless a whole row is blocked."),
  [BEFORE]: marked("Blocked scores become 0, and e⁰ is 1: blocked keys still get weight."),
  [AFTER]: marked("The softmax sees every score: blocked weights are set to 0 afterwards."),
};

/** The pairs that are in one list and not in the other, in order. */
function difference(one, other) {
  const text = (pairs) => new Set(pairs.map(String));
  const [a, b] = [text(one), text(other)];
  const odd = [...a].filter((x) => !b.has(x)).concat([...b].filter((x) => !a.has(x)));
  return odd.map((x) => x.split(",").map(Number)).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
}

/** All that is drawn, computed from the state; null while scores for a new size are on their way from Python. */
function compute(state, edits) {
  const { source, target, kind, rule, size, scores, values, fill } = state;
  const queries = kind === ENCODER ? source : target;
  const keys = kind === DECODER ? target : source;
  if (scores.length !== queries.length || scores[0].length !== keys.length || values.length !== keys.length) return null;
  const padding = queries.map(() => keys.map((token) => Number(token !== PAD)));
  const inDocument = documents(keys);
  const pattern = kind === DECODER ? queries.map((_, q) => keys.map((_, k) => Number(PATTERNS[rule](q, k, size, inDocument)))) : null;
  const allowed = padding.map((row, q) => row.map((x, k) => (pattern ? x & pattern[q][k] : x)));
  const clicks = queries.map(() => keys.map(() => NaN));
  for (const [q, k] of edits) if (allowed[q]?.[k] !== undefined) clicks[q][k] = allowed[q][k] ^= 1;
  const blocked = allowed.map((row) => row.map((x) => !x));
  const filled = scores.map((row, q) => fillScores(row, allowed[q], fill));
  const weights = scores.map((row, q) => fillWeights(row, allowed[q], fill));
  const sums = weights.map((row, q) => ({ total: sumOf(row), empty: !allowed[q].some(Boolean) }));
  const output = weights.map((row) => mix(row, values));
  return { queries, keys, padding, pattern, clicks, allowed, blocked, filled, weights, sums, output, values };
}

const TOGETHER = 5; // tokens: so many leave room for scores, weights, values and output in one line
const SMALLER = 8; // tokens: with so many, smaller cells do, where there is room
const [ROOM, HIGH, FEATURE] = [780, 120, 28]; // the least width for that; the height of all rows; the width of a feature

/** Sizes of the cells with which these tokens have two lines; nothing where they may wrap. */
function smallerCells(rows, columns, features, width) {
  const most = Math.max(rows.length, columns.length);
  if (most <= TOGETHER || most > SMALLER || width < ROOM) return {};
  const letters = Math.max(...columns.map((token) => Math.min(token.length, 10)));
  const height = Math.floor((HIGH - 7.4 * Math.max(letters - 5, 0)) / most); // the names of the columns stand upright
  const rest = namesWidth(rows, height < LOW) + namesWidth(columns, height < LOW) + 2 * FEATURE * features + 148; // 148: the sums, and the signs between
  const across = Math.max(Math.min(Math.floor((width - rest) / (2 * columns.length)), 36), 26);
  return { small: [14, height], mask: [Math.min(36, Math.floor(215 / columns.length)), height], numbers: [across, height], feature: [FEATURE, height] };
}
const HINT = marked("Point at a cell, or move with the arrow keys; Space changes the mask, Ctrl+Z undoes it.");
const sentence = (part) =>
  `<label class="lw-wide"><span data-part="${part}-role"></span><input type="text" data-part="${part}" spellcheck="false" ${QUIET}></label>`;
const frame = () => `
  <div class="lw-bar">${choice("kind", worded("attention"), KINDS)}${choice("rule", worded("rule"), RULES)}${slider("size", worded("its size"), 1, MAX_SIZE, 1)}${sentence("source")}${sentence("target")}</div>
  <div class="lw-stage"><div data-part="padding"></div>${joined("&amp;", "pattern")}${joined("+", "clicks")}${joined("→", "allowed")}
    <div class="mask-settings"><div class="lw-bar">${button("undo", worded("Undo"))}${button("reset", worded("Reset"))}</div>${choice("convention", worded("what the mask says"), CONVENTIONS)}
      ${choice("fill", worded("blocked scores become"), FILLS)}</div></div>
  <div class="lw-stage"><div data-part="filled"></div>${joined("→", "weights")}${joined("×", "values")}${joined("→", "output")}</div>
  <p class="lw-readout" data-part="readout">${worded(HINT)}</p>
  <p class="lw-warning" data-part="warning" role="status"></p>
  <div class="lw-foot"><div class="lw-legend"><span><span class="hg-cell" style="background:${VISIBLE}"></span>${worded("may attend")}</span>
    <span><span class="hg-cell hg-crossed"><b>×</b></span>${worded("blocked")}</span>
    <span><span class="hg-cell hg-infinite">−∞</span>${worded("hidden from the softmax")}</span>
    <span><span class="hg-cell hg-leak"></span>${worded("blocked, but it still counts")}</span></div>
  <details data-part="code"><summary ${QUIET}>${worded("The code that builds this mask")}</summary><div data-part="snippets"></div></details></div>`;

class Studio extends View {
  static TRAITS = ["source", "target", "kind", "rule", "size", "edits", "history", "convention", "fill", "scores", "values"];
  static frame = frame;

  make() {
    this.painting = [];
    this.grids = {
      padding: this.grid("padding", { title: worded("padding"), tone: "rule", small: true }),
      pattern: this.grid("pattern", { title: worded(CAUSAL), tone: "rule", small: true, shared: 7 }),
      clicks: this.grid("clicks", { title: worded("your clicks"), tone: "clicks", small: true, shared: 7 }),
      allowed: this.grid("allowed", { title: worded("the mask"), tone: "mask", shared: 7, onPaint: (cells, done) => this.paint(cells, done) }),
      filled: this.grid("filled", { title: worded("scores as filled"), tone: "scores" }),
      weights: this.grid("weights", { title: worded("weights"), tone: "weights", sums: true, shared: TOGETHER }),
      values: this.grid("values", { title: worded("values"), tone: "values", rowAxis: worded("key"), columnAxis: worded("feature") }),
      output: this.grid("output", { title: worded("output"), tone: "values", columnAxis: worded("feature"), shared: TOGETHER }),
    };
    for (const name of ["source", "target"])
      this.find(name).addEventListener("change", (event) => this.rename(name, event.target.value));
    this.find("undo").addEventListener("click", () => this.undo());
    this.find("reset").addEventListener("click", () => this.edit(this.model.get("edits")));
    this.find("code").addEventListener("toggle", () => this.askForCode());
    this.find("snippets").addEventListener("click", ({ target }) => {
      if (target.tagName === "BUTTON") copy(target, target.closest("section").querySelector("pre"));
    });
    this.root.addEventListener("keydown", (event) => this.pressKey(event));
    this.watch = new ResizeObserver(([{ contentRect: { width } }]) => {
      if (width === this.width) return;
      this.width = width;
      this.schedule();
    });
    this.watch.observe(this.root);
  }

  stop() {
    this.watch.disconnect();
    super.stop();
  }

  pressKey(event) {
    if (isComposing(event)) return;
    const typing = event.target.tagName === "INPUT";
    if (typing && event.key === "Enter") {
      claim(event); // else JupyterLab handles Enter before the field reports its change
      this.rename(event.target.dataset.part, event.target.value);
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing && !event.shiftKey) {
      claim(event);
      this.undo();
    }
  }

  // From the learner

  edit(step) {
    if (!step.length) return;
    const history = [...this.model.get("history"), step].slice(-HISTORY);
    this.commit({ edits: difference(this.model.get("edits"), step), history });
  }

  undo() {
    const history = this.model.get("history");
    if (!history.length) return;
    this.commit({ edits: difference(this.model.get("edits"), history.at(-1)), history: history.slice(0, -1) });
  }

  paint(cells, done) {
    this.painting = done ? [] : cells;
    if (done) this.edit(difference(cells, []));
    else this.schedule();
  }

  rename(name, text) {
    const tokens = text.split(/\s+/).filter(Boolean);
    if (tokens.join(" ") === this.model.get(name).join(" ")) return;
    if (tokens.length >= 1 && tokens.length <= MAX_TOKENS) this.commit({ [name]: tokens });
    else {
      const found = { count: tokens.length, most: MAX_TOKENS };
      this.say(name === "source" ? worded("The source has {count} tokens; it needs 1 to {most}.", found)
        : worded("The target has {count} tokens; it needs 1 to {most}.", found));
      this.find(name).value = this.model.get(name).join(" ");
    }
  }

  // To the learner

  draw(state) {
    if (state.scores !== this.given?.scores || state.values !== this.given?.values) {
      this.given = { scores: state.scores, values: state.values };
      this.numbers = { scores: readMatrix(state.scores), values: readMatrix(state.values) };
    }
    this.drawControls(state);
    const drawn = compute({ ...state, ...this.numbers }, difference(state.edits, this.painting));
    if (!drawn) return this.say(worded("Waiting for Python to send scores of the new size …"));
    this.drawn = drawn;
    this.drawGrids(state, drawn);
    this.drawWarning(drawn);
    this.askForCode();
  }

  drawControls(state) {
    for (const name of ["source", "target"]) {
      const input = this.find(name);
      if (input !== input.getRootNode().activeElement || !input.matches(":focus")) input.value = state[name].join(" ");
    }
    const roles = {
      [ENCODER]: [worded("source: queries and keys"), ""],
      [DECODER]: ["", worded("target: queries and keys")],
      [CROSS]: [worded("source: keys"), worded("target: queries")],
    };
    ["source", "target"].forEach((name, i) => {
      const role = roles[state.kind][i];
      this.write(`${name}-role`, role);
      this.find(name).parentElement.hidden = !role;
    });
    this.find("rule").parentElement.hidden = state.kind !== DECODER;
    this.find("size").closest("label").hidden = state.kind !== DECODER || [CAUSAL, PACKED].includes(state.rule);
    this.find("undo").setAttribute("aria-disabled", String(!state.history.length));
    this.find("reset").setAttribute("aria-disabled", String(!state.edits.length));
  }

  drawGrids(state, drawn) {
    const { grids } = this;
    const { queries: rows, keys: columns, blocked } = drawn;
    const features = drawn.values[0].map((_, i) => String(i));
    const count = sumOf(drawn.allowed.flat());
    const { small, mask, numbers, feature } = smallerCells(rows, columns, features.length, this.width ?? 0);
    const shared = numbers ? SMALLER : undefined;
    grids.padding.show({ rows, columns, size: small, values: drawn.padding });
    this.find("pattern").parentElement.hidden = !drawn.pattern;
    if (drawn.pattern) grids.pattern.show({ title: worded(state.rule), rows, columns, size: small, shared, values: drawn.pattern });
    grids.clicks.show({ rows, columns, size: small, shared, values: drawn.clicks });
    const note = worded("{count} of {total} pairs may attend. Click or drag to change it.", { count, total: rows.length * columns.length });
    grids.allowed.show({ rows, columns, size: mask, shared, values: drawn.allowed, convention: state.convention, note });
    const pairs = { rows, columns, size: numbers, blocked };
    grids.filled.show({ ...pairs, values: drawn.filled, note: worded(FILL_NOTES[state.fill]) });
    grids.weights.show({ ...pairs, shared, values: drawn.weights, sums: drawn.sums, note: sumNote(drawn) });
    const inOneLine = numbers || (rows.length <= TOGETHER && columns.length <= TOGETHER);
    const leastTop = inOneLine ? grids.filled.top : 0;
    grids.values.show({ rows: columns, columns: features, size: feature, values: drawn.values, leastTop });
    grids.output.show({ rows, columns: features, size: feature, shared, values: drawn.output, leastTop, note: worded("weights × values") });
  }

  drawWarning({ queries, sums }) {
    const empty = queries.map((token, q) => [q, token]).filter(([q]) => sums[q].empty);
    const said = { names: listed(empty.map(([q, token]) => `${q} “${token}”`)), advice: worded(ADVICE) };
    const text = counted("Query {names} may attend to nothing. {advice}", "Queries {names} may attend to nothing. {advice}", empty.length, said);
    this.say(empty.length ? text : "");
  }

  /** Frame the same query and key everywhere, and say what happens between them. */
  point(part, r, c) {
    const [q, k] = part === "values" ? [null, r] : part === "output" ? [r, null] : [r, c];
    for (const [name, grid] of Object.entries(this.grids)) {
      if (!grid.rows) continue;
      grid.point(name === "values" ? k : q, name === "values" || name === "output" ? null : k);
    }
    this.find("readout").textContent = r === null ? worded(HINT) : this.readout(q, k);
  }

  readout(q, k) {
    const { queries, keys, allowed, filled, weights, sums } = this.drawn;
    if (q === null) return worded("Key {k} “{key}”.", { k, key: keys[k] });
    const said = { q, query: queries[q], k, key: keys[k] };
    if (k === null || k >= keys.length) return worded("Query {q} “{query}”: its weights sum to {total}.", { ...said, total: formatNumber(sums[q].total) });
    Object.assign(said, { score: formatNumber(filled[q][k]), weight: formatNumber(weights[q][k], 4) });
    return allowed[q][k] ? worded("Query {q} “{query}” may attend to key {k} “{key}”: score {score} → weight {weight}.", said)
      : worded("Query {q} “{query}” may not attend to key {k} “{key}”: score {score} → weight {weight}.", said);
  }

  // Code

  askForCode() {
    if (!this.find("code").open) return;
    const wanted = JSON.stringify(["source", "target", "kind", "rule", "size", "edits"].map((name) => this.model.get(name)));
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    this.model.send({ ask: "snippets" });
  }

  receive(message) {
    if (!message.snippets) return;
    this.find("snippets").replaceChildren(...Object.entries(message.snippets).map(([name, code]) => {
      const item = document.createElement("section");
      item.className = "lw-code";
      item.innerHTML = `<header><span></span>${copyButton(worded("Copy the code for {name}", { name }))}</header><pre tabindex="0"></pre>`;
      item.querySelector("span").textContent = name;
      item.querySelector("pre").textContent = code;
      return item;
    }));
  }
}

function sumNote({ sums }) {
  const odd = sums.filter(({ total }) => !isOne(total)).length;
  if (!odd) return worded("Every row sums to 1.");
  return odd === 1 ? worded("One row does not sum to 1.") : worded("{count} rows do not sum to 1.", { count: odd });
}

export default asWidget(Studio);
