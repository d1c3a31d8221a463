import { ARROWS, QUIET_NAME, claim, escapeText, focusOf } from "../shared/markup.js";
import { countOf, indexOf, readAll } from "./strided.js";
import { listed, worded } from "../shared/words.js";

// A tensor as nested blocks: the last two axes are the rows and columns of a block, the axes before them its place.
// A tensor with one axis is one line of numbered places.

/**
 * Draws one tensor of ids, each id once. options: name, onPoint(name, i) when number i, in the order of reading, is
 * under the pointer or has the focus (null: none), and onPin(name, i) when it is clicked.
 */
export class Blocks {
  constructor(options) {
    Object.assign(this, options);
    this.el = document.createElement("section");
    this.el.className = "hs-panel";
    this.el.innerHTML = `<h4></h4><code></code><p class="hs-facts"></p><div class="hs-grid" role="grid"></div><p class="hg-note"></p>`;
    [this.title, this.code, this.facts, this.grid, this.note] = this.el.children;
    this.order = [];
    this.cells = [];
    this.listen();
  }

  /** tensor, axes: a name for each; look(i, id) -> {text, mark, ground, label, odd}; width of a cell; title, code, facts, note. */
  show({ tensor, axes, look, width, ...words }) {
    this.write(words);
    this.grid.setAttribute("aria-label", words.title);
    this.grid.setAttribute("aria-readonly", "true");
    this.grid.style.setProperty("--hs-w", `${width}px`);
    this.order = readAll(tensor);
    this.shape = tensor.shape;
    const html = this.build(tensor, axes, look);
    if (html === this.html) return;
    const held = this.grid.contains(focusOf(this.grid)) ? this.activeId : null;
    this.html = html;
    this.grid.innerHTML = html;
    this.cells = [...this.grid.querySelectorAll("[data-at]")];
    this.framed = null;
    this.activate(Math.max(this.order.indexOf(this.activeId), 0));
    if (held !== null) this.focus(this.order.indexOf(this.activeId)); // the focus stays with its number
  }

  write(words) {
    for (const part of ["title", "code", "facts", "note"])
      if (this[part].textContent !== (words[part] ?? "")) this[part].textContent = words[part] ?? "";
    for (const part of ["code", "facts"]) this[part].hidden = !words[part];
  }

  clear() {
    this.html = "";
    this.grid.innerHTML = "";
    [this.order, this.cells, this.framed] = [[], [], null];
  }

  build(tensor, axes, look) {
    const { shape } = tensor;
    const cell = (i) => {
      const { text, mark, ground, label, odd } = look(i, this.order[i]);
      return `<div class="hs-cell${odd ? " hs-odd" : ""}" role="gridcell" tabindex="-1" data-at="${i}" style="background:${ground}" ` +
        `aria-label="${escapeText(label)}" title="${escapeText(label)}"><b>${escapeText(text)}</b><i>${mark}${odd ? " ×" : ""}</i></div>`;
    };
    if (shape.length === 1) {
      const slots = this.order.map((_, i) => `<div class="hs-slot">${cell(i)}<span aria-hidden="true">${i}</span></div>`);
      return `<div class="hs-line" role="row">${slots.join("")}</div>`;
    }
    const [rows, columns] = shape.slice(-2);
    const [rowAxis, columnAxis] = axes.slice(-2);
    const nameOf = (axis, i) => worded("{axis} {i}", { axis: worded(axis), i });
    const columnName = (c) => (columnAxis === "feature" ? `f${c}` : String(c));
    const heads = Array.from({ length: columns }, (_, c) =>
      `<span class="hs-head" role="columnheader" aria-label="${nameOf(columnAxis, c)}">${columnName(c)}</span>`).join("");
    const line = (k, r) => `<div class="hs-row" role="row"><span class="hs-name" role="rowheader" aria-label="${nameOf(rowAxis, r)}">${rowAxis[0]}${r}</span>` +
      `${Array.from({ length: columns }, (_, c) => cell((k * rows + r) * columns + c)).join("")}</div>`;
    const block = (k, caption, label) => `<div class="hs-block" role="rowgroup" aria-label="${label}">` +
      `${caption ? `<div class="hs-caption" aria-hidden="true">${caption}</div>` : ""}` +
      `<div class="hs-row" role="row"><span class="hs-name" role="columnheader"><span class="hs-unseen">${worded(rowAxis)} ↓ ${worded(columnAxis)} →</span></span>${heads}</div>` +
      `${Array.from({ length: rows }, (_, r) => line(k, r)).join("")}</div>`;
    const batches = shape[0];
    const inner = countOf(shape.slice(1, -2));
    return Array.from({ length: batches }, (_, b) => {
      const batch = worded("batch {batch}", { batch: b });
      const name = batches > 1 ? batch : "";
      if (shape.length === 3) return block(b, name, batch);
      const blocks = Array.from({ length: inner }, (_, k) => block(b * inner + k, nameOf(axes[1], k), listed([batch, nameOf(axes[1], k)])));
      return `<div class="hs-batch">${name ? `<div class="hs-caption" aria-hidden="true">${name}</div>` : ""}<div class="hs-blocks">${blocks.join("")}</div></div>`;
    }).join("");
  }

  /** Frame this id, wherever it is here; or none (null). */
  frame(id, pinned) {
    this.framed?.classList.remove("hs-framed");
    this.framed?.removeAttribute("aria-selected");
    this.framed = id === null ? null : this.cells[this.order.indexOf(id)];
    this.framed?.classList.add("hs-framed");
    if (pinned) this.framed?.setAttribute("aria-selected", "true");
  }

  /** The one cell that the Tab key reaches. JupyterLab leaves the keys of a marked element alone. */
  activate(i) {
    this.current?.setAttribute("tabindex", "-1");
    this.current = this.cells[i];
    this.current.setAttribute("tabindex", "0");
    this.current.setAttribute(QUIET_NAME, "true");
    this.activeId = this.order[i];
  }

  focus(i) {
    this.activate(i);
    this.current.focus({ preventScroll: false });
  }

  listen() {
    const at = (event) => {
      const place = event.target.closest?.("[data-at]")?.dataset.at;
      return place === undefined ? null : Number(place);
    };
    const point = (event) => {
      if (at(event) !== null) this.onPoint(this.name, at(event));
    };
    for (const name of ["pointerover", "focusin"]) this.grid.addEventListener(name, point);
    for (const name of ["pointerleave", "focusout"]) this.grid.addEventListener(name, () => this.onPoint(this.name, null));
    this.grid.addEventListener("click", (event) => {
      if (at(event) === null) return;
      this.focus(at(event));
      this.onPin(this.name, at(event));
    });
    this.grid.addEventListener("keydown", (event) => this.pressKey(event));
  }

  pressKey(event) {
    if (event.altKey || !this.cells.length) return;
    const i = this.order.indexOf(this.activeId);
    const far = event.ctrlKey || event.metaKey;
    const columns = this.shape.at(-1);
    const start = i - (i % columns);
    if (ARROWS[event.key] && !far) this.focus(this.neighbor(i, ...ARROWS[event.key]));
    else if (event.key === "Home") this.focus(far ? 0 : start);
    else if (event.key === "End") this.focus(far ? this.order.length - 1 : start + columns - 1);
    else if ((event.key === " " || event.key === "Enter") && !event.shiftKey && !far) {
      if (!event.repeat) this.onPin(this.name, i);
    } else return;
    claim(event);
  }

  /** The cell beside cell i; over the edge of a block, in the next block. */
  neighbor(i, down, right) {
    const index = indexOf({ shape: this.shape }, i);
    const [columns, rows] = [this.shape.at(-1), this.shape.at(-2) ?? 1];
    const blocks = this.order.length / (rows * columns);
    let [block, row, column] = [Math.floor(i / (rows * columns)), (index.at(-2) ?? 0) * (this.shape.length > 1) + down, index.at(-1) + right];
    const step = row < 0 || column < 0 ? -1 : row >= rows || column >= columns ? 1 : 0;
    block += step;
    if (block < 0 || block >= blocks) return i;
    if (step) [row, column] = [(row + rows) % rows, (column + columns) % columns];
    return (block * rows + row) * columns + column;
  }
}
