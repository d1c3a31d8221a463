import { SIGNED, WEIGHTS } from "../shared/constants.js";
import { ARROWS, QUIET, claim, escapeText } from "../shared/markup.js";
import { formatNumber } from "../shared/numbers.js";
import { channels, mixColor } from "../shared/palette.js";
import { worded } from "../shared/words.js";

// Vectors of tokens as one picture, a row for each, with a cursor that the pointer and the arrow keys move.

const TINTS = { signed: SIGNED, positive: WEIGHTS };
const tint = (stops) => Array.from({ length: 256 }, (_, i) => channels(mixColor(stops, i / 255)));

export class Strip {
  /** title; tone: "signed" or "positive"; feature: what a column is; onPoint(row, column), or (null, null). */
  constructor({ title, tone, feature, onPoint }) {
    Object.assign(this, { title, feature, onPoint, tone, shades: tint(TINTS[tone]), at: [0, 0] });
    this.el = document.createElement("section");
    this.el.className = "hg-panel mz-strip";
    this.el.innerHTML = `<h4></h4><div class="mz-body"><div class="mz-names" aria-hidden="true"></div>` +
      `<canvas role="img" tabindex="0" ${QUIET}></canvas><div class="mz-cursor" aria-hidden="true" hidden></div></div><p class="hg-note"></p>`;
    this.canvas = this.el.querySelector("canvas");
    this.cursor = this.el.querySelector(".mz-cursor");
    const away = () => this.onPoint(null, null);
    const point = (event) => this.go(event.offsetY / this.rowHeight, event.offsetX / this.step);
    this.canvas.addEventListener("pointermove", point);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.focus({ preventScroll: true });
      point(event);
    });
    this.canvas.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch") away(); // a finger that is lifted leaves it the focus
    });
    this.canvas.addEventListener("focus", () => this.go(...this.at));
    this.canvas.addEventListener("blur", away);
    this.canvas.addEventListener("keydown", (event) => {
      const way = ARROWS[event.key];
      if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
      claim(event);
      this.go(this.at[0] + way[0], this.at[1] + way[1]);
    });
  }

  /** matrix: {data, shape: [rows, columns]}; top: pixels over the rows; named: whether the rows' names are shown. */
  show({ matrix, rows, rowHeight, width, top, named, title = this.title, note = "" }) {
    const { data, shape: [count, columns] } = matrix;
    Object.assign(this, { matrix, rows, rowHeight, step: width / columns });
    this.title = title;
    this.write("h4", title);
    this.write(".hg-note", note);
    const names = named ? rows.map((row) => `<span title="${escapeText(row)}">${escapeText(row)}</span>`).join("") : "";
    const box = this.el.querySelector(".mz-names");
    if (box.innerHTML !== names) box.innerHTML = names;
    box.hidden = !named;
    const size = [rowHeight, top, width, columns, count].join();
    if (size !== this.size) {
      this.size = size;
      this.el.style.cssText = `--mz-row:${rowHeight}px;--mz-top:${top}px`;
      Object.assign(this.canvas, { width: columns, height: count });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${count * rowHeight}px` });
    }
    const bound = data.reduce((most, x) => (Math.abs(x) < Infinity ? Math.max(most, Math.abs(x)) : most), 0) || 1;
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(columns, count);
    const fraction = this.tone === "signed" ? (x) => 0.5 + x / (2 * bound) : (x) => x / bound;
    for (let i = 0; i < data.length; i++) {
      const [r, g, b] = this.shades[Math.min(Math.max(Math.round(255 * fraction(data[i])) || 0, 0), 255)];
      image.data[4 * i] = r;
      image.data[4 * i + 1] = g;
      image.data[4 * i + 2] = b;
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    this.at = [Math.min(this.at[0], count - 1), Math.min(this.at[1], columns - 1)];
    this.label();
  }

  write(name, text) {
    const element = this.el.querySelector(name);
    if (element.textContent !== text) element.textContent = text;
  }

  label() {
    const [r, c] = this.at;
    const { data, shape: [count, columns] } = this.matrix;
    const where = { title: this.title, rows: count, columns, r, row: this.rows[r], feature: this.feature, c };
    const number = formatNumber(data[r * columns + c]);
    this.canvas.setAttribute("aria-label", worded("{title}, {rows} × {columns}; {r} “{row}”, {feature} {c}: {number}", { ...where, number }));
  }

  go(row, column) {
    const [rows, columns] = this.matrix.shape;
    this.at = [[row, rows], [column, columns]].map(([x, count]) => Math.min(Math.max(Math.floor(x), 0), count - 1));
    this.label();
    this.onPoint(...this.at);
  }

  /** Frame a row, and a cell of it, or nothing (null). */
  mark(row, column = null) {
    this.cursor.hidden = row === null || row >= this.matrix.shape[0];
    if (this.cursor.hidden) return;
    const { offsetLeft, offsetTop } = this.canvas;
    const [left, width] = column === null ? [0, this.step * this.matrix.shape[1]] : [column * this.step, this.step];
    this.cursor.style.cssText = `left:${offsetLeft + left}px;top:${offsetTop + row * this.rowHeight}px;width:${width}px;height:${this.rowHeight}px`;
  }
}
