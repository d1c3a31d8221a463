import { WEIGHTS } from "../shared/constants.js";
import { formatNumber } from "../shared/numbers.js";
import { QUIET, claim, escapeText } from "../shared/markup.js";
import { channels, mixColor } from "../shared/palette.js";
import { worded } from "../shared/words.js";

// The pictures of AttentionExplorer: small maps, a large one where there are too many cells for a grid, and lines.

export const LEAST_LINE = 0.02;
const MOST_LINES = 400; // up to this many cells, all lines are drawn at once
const SHADES = Array.from({ length: 256 }, (_, i) => mixColor(WEIGHTS, i / 255));
const CHANNELS = SHADES.map(channels);

/** Paint bytes (0 to 255) as a map on a canvas of one pixel a cell. NaN must have been made 0. */
export function paintMap(canvas, bytes, rows, columns) {
  Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  bytes.forEach((byte, i) => image.data.set([...CHANNELS[byte], 255], 4 * i));
  context.putImageData(image, 0, 0);
}

/** A map of many cells: one canvas with a cursor, which the arrow keys move. onPoint(row, column). */
export class LargeMap {
  constructor(onPoint) {
    this.onPoint = onPoint;
    this.el = document.createElement("div");
    this.el.className = "hg-panel ax-large";
    this.el.innerHTML = `<h4></h4><div class="ax-map"><canvas tabindex="0" role="img" ${QUIET}></canvas>` +
      `<div class="ax-cursor" aria-hidden="true"></div></div><p class="hg-note"></p>`;
    [this.heading, , this.legend] = this.el.children;
    [this.canvas, this.cursor] = this.el.children[1].children;
    this.at = [0, 0];
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerdown", (event) => this.hover(event));
    this.canvas.addEventListener("keydown", (event) => this.pressKey(event));
    this.canvas.addEventListener("focus", () => this.go(...this.at));
  }

  show(title, rows, columns, weights) {
    Object.assign(this, { title, rows, columns, weights });
    const clipped = weights.map((x) => (Number.isNaN(x) ? 0 : Math.min(Math.max(x, 0), 1)));
    const top = clipped.reduce((a, b) => Math.max(a, b), 0) || 1;
    const bytes = Uint8Array.from(clipped, (x) => Math.round((255 * x) / top));
    this.heading.textContent = title;
    this.legend.textContent = worded("The brightest cell has the weight {weight}.", { weight: formatNumber(top, 4) });
    paintMap(this.canvas, bytes, rows.length, columns.length);
    this.size = Math.max(4, Math.floor(460 / Math.max(rows.length, columns.length)));
    this.canvas.style.width = `${this.size * columns.length}px`;
    this.canvas.style.height = `${this.size * rows.length}px`;
    this.at = [Math.min(this.at[0], rows.length - 1), Math.min(this.at[1], columns.length - 1)];
    this.mark();
  }

  say() {
    const [r, c] = this.at;
    const weight = formatNumber(this.weights[r * this.columns.length + c], 4);
    return worded("query {r} “{row}”, key {c} “{column}”: weight {weight}", { r, row: this.rows[r], c, column: this.columns[c], weight });
  }

  mark() {
    const [r, c] = this.at;
    Object.assign(this.cursor.style, { top: `${r * this.size}px`, left: `${c * this.size}px`, width: `${this.size}px`, height: `${this.size}px` });
    this.canvas.setAttribute("aria-label", worded("{title}, {rows} × {columns} weights; {where}", { title: this.title, rows: this.rows.length, columns: this.columns.length, where: this.say() }));
  }

  go(r, c) {
    this.at = [Math.min(Math.max(r, 0), this.rows.length - 1), Math.min(Math.max(c, 0), this.columns.length - 1)];
    this.mark();
    this.onPoint(...this.at);
  }

  hover(event) {
    this.go(Math.floor(event.offsetY / this.size), Math.floor(event.offsetX / this.size));
  }

  pressKey(event) {
    const [r, c] = this.at;
    const far = event.ctrlKey || event.metaKey;
    const ways = {
      ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
      Home: [far ? 0 : r, 0], End: [far ? Infinity : r, Infinity],
    };
    if (!ways[event.key] || event.altKey) return;
    claim(event);
    this.go(...ways[event.key]);
  }
}

/** Two columns of tokens, and lines from the chosen one. onChoose(side, index, pinned). */
export class Lines {
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.el = document.createElement("div");
    this.el.className = "ax-lines";
    this.el.innerHTML = `<div role="listbox" aria-label="${worded("queries")}" data-side="0"></div>
      <svg aria-hidden="true"></svg><div role="listbox" aria-label="${worded("keys")}" data-side="1"></div>`;
    const [queries, svg, keys] = this.el.children;
    Object.assign(this, { boxes: [queries, keys], svg });
    const at = (event) => {
      const item = event.target.closest("[data-index]");
      return item ? [Number(item.parentElement.dataset.side), Number(item.dataset.index)] : null;
    };
    this.el.addEventListener("pointerover", (event) => at(event) && this.onChoose(...at(event), false));
    this.el.addEventListener("focusin", (event) => at(event) && this.onChoose(...at(event), false));
    this.el.addEventListener("pointerleave", () => this.onChoose(null));
    this.el.addEventListener("focusout", () => this.onChoose(null));
    this.el.addEventListener("click", (event) => at(event) && this.onChoose(...at(event), true));
    this.el.addEventListener("keydown", (event) => this.pressKey(event, at(event)));
  }

  show(rows, columns) {
    const sides = JSON.stringify([rows, columns]);
    if (sides === this.sides) return;
    this.sides = sides;
    [rows, columns].forEach((tokens, side) => {
      const box = this.boxes[side];
      const item = (token, i) =>
        `<div role="option" aria-selected="false" tabindex="${i ? -1 : 0}" data-index="${i}" title="${escapeText(token)}" ${QUIET}>${escapeText(token)}</div>`;
      box.innerHTML = tokens.map(item).join("");
    });
    this.svg.style.height = `${18 * Math.max(rows.length, columns.length)}px`;
  }

  /** Lines of one query (side 0) or key (side 1): weights is what it has with each of the other side. */
  draw(side, index, weights) {
    this.mark(side, index);
    const lines = [...weights].map((w, i) => (side === 0 ? this.line(w, index, i) : this.line(w, i, index)));
    this.svg.innerHTML = lines.join("");
  }

  /** The lines of all queries, where they can still be told apart; weights row by row. */
  drawAll(weights) {
    this.mark(null, null);
    const [rows, columns] = this.boxes.map((box) => box.children.length);
    const few = rows * columns <= MOST_LINES;
    this.svg.innerHTML = few ? [...weights].map((w, i) => this.line(w, Math.floor(i / columns), i % columns)).join("") : "";
  }

  line(w, query, key) {
    if (!(w >= LEAST_LINE)) return "";
    const [from, to] = [18 * query + 9, 18 * key + 9];
    return `<line x1="2" x2="118" y1="${from}" y2="${to}" data-query="${query}" data-key="${key}" data-value="${w}" stroke-width="${Math.max(0.5, 7 * Math.min(w, 1))}"/>`;
  }

  mark(side, index) {
    for (const box of this.boxes)
      for (const item of box.children) {
        const chosen = Number(box.dataset.side) === side && Number(item.dataset.index) === index;
        if (chosen !== (item.getAttribute("aria-selected") === "true")) item.setAttribute("aria-selected", String(chosen));
      }
  }

  pressKey(event, place) {
    if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
    const [side, i] = place;
    const items = this.boxes[side].children;
    const last = items.length - 1;
    const ways = { ArrowUp: i - 1, ArrowDown: i + 1, Home: 0, End: last };
    if (event.key === " " || event.key === "Enter") this.onChoose(side, i, true);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const other = this.boxes[event.key === "ArrowLeft" ? 0 : 1].children;
      this.focusOn(other[Math.min(i, other.length - 1)]);
    } else if (event.key in ways) this.focusOn(items[Math.min(Math.max(ways[event.key], 0), last)]);
    else return;
    claim(event);
  }

  focusOn(item) {
    for (const one of item.parentElement.children) one.tabIndex = one === item ? 0 : -1;
    item.focus();
  }
}
