import { formatNumber, inRows, readBytes, readFloats, sumOf } from "../shared/numbers.js";
import { QUIET, claim, escapeText } from "../shared/markup.js";
import { View, asWidget, checkbox } from "../shared/parts.js";
import { AVERAGE, AVERAGE_NAME } from "./constants.js";
import { LEAST_LINE, LargeMap, Lines, paintMap } from "./maps.js";
import { listed, marked, worded } from "../shared/words.js";

// AttentionExplorer: small maps of all heads, one head large, and lines. Python sends only what is shown.

const MANY = 6; // heads: with more, their words stand in lines
const FULL = 32; // up to this many rows and columns are drawn as a grid of cells
const [BESIDE, WIDE, NARROW] = [433, 12, 16]; // pixels for the columns beside the lines; up to so many have wide, or narrow, cells with numbers
const HINT = marked("Point at a cell or a token, or move there with the arrow keys; a click or Space on a query keeps its lines. In the small maps the arrow keys and the digits change the head, Page Up and Page Down the layer.");
/** The name of an attention, in the current language where it was not given one. */
const sayName = (name) => name.replace(/^layer (\d+)$/, (_, i) => worded("layer {i}", { i }));
const frame = () => `
  <div class="lw-bar"><label>${worded("layer")}<select data-part="layer" ${QUIET}></select></label>
    <label data-part="sentences">${worded("sentence")}<select data-part="sentence" ${QUIET}></select></label>
    ${checkbox("hide_special", worded("hide special tokens"))}</div>
  <div class="ax-heads" role="radiogroup" aria-label="${worded("heads")}" data-part="heads"></div>
  <p class="lw-readout ax-top" data-part="top"></p>
  <div class="lw-stage"><div data-part="grid"></div><div data-part="large"></div><section class="hg-panel"><h4 data-part="lines-title">${worded("who looks where")}</h4><div data-part="lines"></div>
    <p class="hg-note">${worded("The thicker a line, the larger the weight; below {least} there is none.", { least: LEAST_LINE })}</p></section></div>
  <p class="lw-readout" data-part="readout">${worded(HINT)}</p>
  <p class="lw-warning" data-part="warning" role="status"></p>`;

const same = (one, other, names) => names.every((name) => one[name] === other[name]);

class Explorer extends View {
  static TRAITS = ["names", "layer", "sentence", "head", "hide_special", "query", "maps", "shown"];
  static frame = frame;

  make() {
    this.weightsGrid = this.grid("grid", { title: worded("weights"), tone: "weights", sums: true });
    this.large = new LargeMap((r, c) => this.point("large", r, c));
    this.lines = new Lines((side, index, pinned) => this.choose(side, index, pinned));
    this.find("large").append(this.large.el);
    this.find("lines").append(this.lines.el);
    for (const name of ["layer", "sentence"])
      this.find(name).addEventListener("change", (event) => this.commit({ [name]: Number(event.target.value) }));
    this.find("heads").addEventListener("click", (event) => {
      const head = event.target.closest("[data-head]")?.dataset.head;
      if (head !== undefined) this.turnTo(Number(head));
    });
    this.find("heads").addEventListener("keydown", (event) => this.pressKey(event));
  }

  // From the learner

  turnTo(head) {
    if (head !== this.model.get("head")) this.commit({ head });
  }

  pressKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [head, layer] = [this.model.get("head"), this.model.get("layer")];
    const last = this.model.get("maps").heads - 1;
    const lastLayer = this.model.get("names").length - 1;
    const ways = { ArrowLeft: head - 1, ArrowUp: head - 1, ArrowRight: head + 1, ArrowDown: head + 1, Home: AVERAGE, End: last };
    const layers = { PageUp: layer - 1, PageDown: layer + 1 };
    if (event.key in ways) this.turnTo(Math.min(Math.max(ways[event.key], AVERAGE), last));
    else if (/^\d$/.test(event.key)) this.turnTo(Math.min(Number(event.key), last));
    else if (event.key in layers) {
      const to = Math.min(Math.max(layers[event.key], 0), lastLayer);
      if (to !== layer) this.commit({ layer: to });
    } else return;
    claim(event);
    this.find("heads").querySelector(`[data-head="${this.model.get("head")}"]`)?.focus();
  }

  /** A token under the pointer or with the focus; pinned by a click. side 0: a query, 1: a key, null: none. */
  choose(side, index, pinned) {
    this.chosen = side === null ? null : [side, index];
    if (pinned && side === 0) this.commit({ query: this.model.get("query") === index ? null : index });
    this.drawLines();
  }

  // To the learner

  draw(state) {
    this.drawChoices(state);
    if (state.maps !== this.mapped) this.drawHeads(state.maps);
    this.mapped = state.maps;
    this.markHead(state.head);
    const here = same(state, state.shown, ["layer", "sentence", "head", "hide_special"]);
    this.root.setAttribute("aria-busy", String(!here));
    if (state.shown === this.painted && state.query === this.kept) return;
    this.kept = state.query;
    if (state.shown !== this.painted) this.drawWeights(state);
    this.painted = state.shown;
    this.drawLines();
  }

  drawChoices({ names, maps, layer, sentence }) {
    const fill = (name, options, value) => {
      const select = this.find(name);
      const text = options.map((option, i) => `<option value="${i}">${escapeText(option)}</option>`).join("");
      if (select.dataset.options !== text) Object.assign(select, { innerHTML: text }).dataset.options = text;
      select.value = String(value);
    };
    fill("layer", names.map(sayName), layer);
    fill("sentence", Array.from({ length: maps.of }, (_, i) => String(i)), sentence);
    this.find("sentences").hidden = maps.of < 2;
  }

  drawHeads({ heads, size, data, words, top }) {
    this.write("top", worded("In the small maps the brightest cell has the weight {weight}.", { weight: formatNumber(top, 4) }));
    const bytes = readBytes(data);
    const [rows, columns] = size;
    const count = rows * columns;
    const box = this.find("heads");
    const all = Array.from({ length: heads + 1 }, (_, i) => i - 1);
    box.classList.toggle("ax-many", heads > MANY);
    if (box.children.length !== all.length) {
      box.innerHTML = all.map((head) => `<button type="button" role="radio" data-head="${head}" ${QUIET}><canvas aria-hidden="true"></canvas>` +
        `<b>${head === AVERAGE ? worded("average") : worded("head {head}", { head })}</b><span></span></button>`).join("");
    }
    all.forEach((head, i) => {
      paintMap(box.children[i].querySelector("canvas"), bytes.subarray(i * count, (i + 1) * count), rows, columns);
      box.children[i].querySelector("span").textContent = head === AVERAGE ? worded("of all heads") : words[head];
    });
  }

  markHead(head) {
    for (const button of this.find("heads").children) {
      const chosen = Number(button.dataset.head) === head;
      button.setAttribute("aria-checked", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
  }

  drawWeights({ names, shown }) {
    const { rows, columns } = shown;
    this.weights = readFloats(shown.weights);
    const head = shown.head === AVERAGE ? worded(AVERAGE_NAME) : worded("head {head}", { head: shown.head });
    const title = worded("{layer}, {head}", { layer: sayName(names[shown.layer]), head });
    const asGrid = Math.max(rows.length, columns.length) <= FULL;
    this.find("grid").hidden = !asGrid;
    this.find("large").hidden = asGrid;
    if (asGrid) {
      const values = inRows(this.weights, rows.length);
      const sums = values.map((row) => ({ total: sumOf(row), empty: false }));
      const count = Math.max(rows.length, columns.length);
      const size = count > WIDE && count <= NARROW ? [Math.floor(BESIDE / count), 18] : undefined;
      this.weightsGrid.show({ rows, columns, values, sums, title, size });
    } else this.large.show(title, rows, columns, this.weights);
    this.lines.show(rows, columns);
  }

  drawLines() {
    const { shown, query } = this.state();
    const { rows, columns } = shown;
    const kept = query !== null && query < rows.length ? [0, query] : null;
    const [side, index] = this.chosen ?? kept ?? [null, null];
    if (side === null || index >= (side ? columns : rows).length) {
      this.lines.drawAll(this.weights);
      return this.write("readout", worded(HINT));
    }
    const weights = side === 0
      ? this.weights.subarray(index * columns.length, (index + 1) * columns.length)
      : rows.map((_, r) => this.weights[r * columns.length + index]);
    this.lines.draw(side, index, weights);
    this.write("readout", this.inWords(side, index, weights, shown));
  }

  inWords(side, index, weights, { rows, columns }) {
    const others = side === 0 ? columns : rows;
    const best = [...weights].map((w, i) => [w, i]).filter(([w]) => w >= LEAST_LINE).sort((a, b) => b[0] - a[0]).slice(0, 4);
    const list = listed(best.map(([w, i]) => `${i} “${others[i]}” ${formatNumber(w, 4)}`)) || worded("nothing above the least");
    return side === 0 ? worded("Query {q} “{query}” looks at {list}.", { q: index, query: rows[index], list })
      : worded("Key {k} “{key}” gets attention from {list}.", { k: index, key: columns[index], list });
  }

  point(part, r, c) {
    if (part === "grid") this.weightsGrid.point(r, c);
    this.choose(r === null ? null : 0, r, false);
    if (r === null || c === null || c >= this.state().shown.columns.length) return;
    const { rows, columns } = this.state().shown;
    const said = { q: r, query: rows[r], k: c, key: columns[c], weight: formatNumber(this.weights[r * columns.length + c], 4) };
    this.write("readout", worded("Query {q} “{query}” gives key {k} “{key}” the weight {weight}.", said));
  }
}

export default asWidget(Explorer);
