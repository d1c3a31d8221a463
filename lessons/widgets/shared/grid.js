import { formatNumber, isOne } from "./numbers.js";
import { ARROWS, QUIET_NAME, claim, escapeText, focusOf } from "./markup.js";
import { inkOn } from "./palette.js";
import { worded } from "./words.js";
import { TONES, boundOf } from "./tones.js";

// A matrix as an accessible grid of cells: the part from which the widgets are built.

/** Width and height of a cell, for this number of columns. */
export function cellSize(columns, small) {
  if (small) return columns <= 8 ? [20, 24] : columns <= 16 ? [16, 16] : [6, 6];
  return columns <= 12 ? [36, 24] : columns <= 16 ? [34, 24] : columns <= 32 ? [16, 16] : [10, 10];
}

export const LOW = 20; // lower rows have smaller type
const longest = (names) => Math.max(...names.map((name) => Math.min(name.length, 10)));
/** Of the names of the rows, which are smaller where the rows are low. */
export const namesWidth = (names, low) => longest(names) * (low ? 7 : 7.4) + (low ? 10 : 12);

/**
 * Draws one matrix. options: title, note, tone (of TONES), rowAxis, columnAxis, small, sums, leastWidth (of a cell, in
 * pixels), unnamed (the rows have their names elsewhere), shared (up to so many rows,
 * the grid on its left names them, where both fit side by side), headRoom (the most pixels for the columns' names), and
 * the callbacks
 * onPoint(row, column) when a cell is under the pointer or has the focus, onPaint(cells, done) where it is editable:
 * cells [[row, column], …] to invert; done is true at the end of a stroke.
 */
export class Grid {
  constructor(options) {
    Object.assign(this, { rowAxis: worded("query"), columnAxis: worded("key") }, options);
    this.el = document.createElement("section");
    this.el.className = `hg-panel${this.small ? " hg-small" : ""}`;
    this.el.innerHTML = `<h4>${escapeText(this.title)}</h4><div class="hg-grid" role="grid"></div><p class="hg-note"></p>`;
    this.grid = this.el.querySelector(".hg-grid");
    this.active = [0, 0];
    this.listen();
  }

  /** data: rows, columns (labels), values (R × C), blocked (R × C or nothing), options of the tone; a new title, tone, size, shared or bound. */
  show({ rows, columns, values, blocked, sums, note = "", title = this.title, tone = this.tone, leastTop = 0, size, shared = this.shared, ...options }) {
    if (title !== this.title) this.entitle(title);
    const labels = JSON.stringify([rows, columns, leastTop, size, shared]);
    const whole = labels !== this.labels;
    if (whole) this.build(rows, columns, labels, leastTop, size, shared);
    this.tone = tone;
    const bound = options.bound ?? (["scores", "powers", "values"].includes(tone) ? boundOf(values) : 1);
    const settings = { ...options, tone, bound, size: this.width };
    const stamp = JSON.stringify(settings);
    const all = whole || stamp !== this.stamp;
    for (let r = 0; r < rows.length; r++) {
      for (let c = 0; c < columns.length; c++) {
        const value = values[r][c];
        const hidden = Boolean(blocked?.[r][c]);
        if (!all && Object.is(value, this.values[r][c]) && hidden === this.hidden[r][c]) continue;
        this.values[r][c] = value;
        this.hidden[r][c] = hidden;
        this.paint(r, c, value, TONES[tone](value, hidden, settings));
      }
    }
    if (this.sums) this.showSums(sums, whole);
    this.stamp = stamp;
    const element = this.el.querySelector(".hg-note");
    if (element.textContent !== note) element.textContent = note;
  }

  entitle(title) {
    this.title = title;
    this.el.querySelector("h4").textContent = title;
    this.grid.setAttribute("aria-label", title);
  }

  build(rows, columns, labels, leastTop, size, shared) {
    Object.assign(this, { labels, rows, columns });
    [this.width, this.height] = size ?? cellSize(Math.max(columns.length, this.small ? 0 : rows.length), this.small);
    this.width = Math.max(this.width, this.leastWidth ?? 0);
    this.across = columns.length + (this.sums ? 1 : 0);
    this.values = rows.map(() => []);
    this.hidden = rows.map(() => []);
    const dense = this.width < 12;
    const low = this.height < LOW;
    const upright = longest(columns) * 7.4 + 6 > this.width;
    this.left = this.unnamed ? 0 : dense ? 26 : namesWidth(rows, low);
    const room = dense ? 22 : upright ? longest(columns) * 7.4 + 8 : 22;
    this.top = Math.max(Math.min(room, this.headRoom ?? Infinity), leastTop);
    const place = { "--hg-w": this.width, "--hg-h": this.height, "--hg-left": this.left, "--hg-top": this.top };
    for (const [name, value] of Object.entries(place)) this.grid.style.setProperty(name, `${value}px`);
    this.grid.classList.toggle("hg-upright", upright && !dense);
    this.grid.classList.toggle("hg-coarse", this.width < 22 || Boolean(this.small));
    this.grid.classList.toggle("hg-dense", this.width < 12);
    this.grid.classList.toggle("hg-unnamed", Boolean(this.unnamed));
    this.grid.classList.toggle("hg-editable", Boolean(this.onPaint));
    this.grid.classList.toggle("hg-shared", rows.length <= shared);
    this.grid.classList.toggle("hg-low", low);
    this.grid.style.width = `calc(var(--hg-left) + ${columns.length * this.width + (this.sums ? (dense ? 18 : low ? 52 : 62) : 0)}px)`;
    const name = (text, i) => (dense ? (i % 8 ? "" : String(i)) : text);
    const shape = [rows.length, this.across, dense, this.rowAxis, this.columnAxis].join();
    const isHeld = this.grid.contains(focusOf(this.grid));
    if (shape === this.shape) this.rename(name);
    else this.fill(name, dense);
    this.shape = shape;
    this.grid.setAttribute("aria-label", this.title);
    this.grid.setAttribute("aria-readonly", String(!this.onPaint));
    const [r, c] = this.active;
    this.activate(Math.min(r, rows.length - 1), Math.min(c, this.across - 1));
    if (isHeld) this.current.focus({ preventScroll: true });
  }

  /** All rows and cells. name(text, i): what is written of a name. */
  fill(name, dense) {
    const { rows, columns } = this;
    const head = columns.map((text, c) =>
      `<div class="hg-head" role="columnheader" title="${escapeText(text)}"><span>${escapeText(name(text, c))}</span></div>`);
    const sum = this.sums ? `<div class="hg-head hg-sumhead" role="columnheader"><span>${dense ? "Σ" : worded("sum")}</span></div>` : "";
    const corner = `<div class="hg-corner" role="columnheader">${escapeText(`${this.rowAxis} ↓ ${this.columnAxis} →`)}</div>`;
    const cells = (r) => columns.map((_, c) => `<div class="hg-cell" role="gridcell" tabindex="-1" data-at="${r},${c}"><span></span></div>`);
    const last = (r) => (this.sums ? `<div class="hg-sum" role="gridcell" tabindex="-1" data-at="${r},${columns.length}"></div>` : "");
    this.grid.innerHTML = `<div class="hg-row hg-heads" role="row">${corner}${head.join("")}${sum}</div>` +
      rows.map((text, r) => `<div class="hg-row" role="row"><div class="hg-name" role="rowheader" title="${escapeText(text)}">` +
        `<span>${escapeText(name(text, r))}</span></div>${cells(r).join("")}${last(r)}</div>`).join("") +
      `<div class="hg-band hg-across" aria-hidden="true" hidden></div><div class="hg-band hg-down" aria-hidden="true" hidden></div>`;
    this.lines = [...this.grid.querySelectorAll(".hg-row")].slice(1).map((row) => [...row.children].slice(1));
  }

  /** As many rows and columns as before, under other names: a new grid costs four times as much. */
  rename(name) {
    const put = (element, text, i) => {
      element.title = text;
      element.firstChild.textContent = name(text, i);
    };
    const heads = [...this.grid.querySelectorAll(".hg-head")];
    this.columns.forEach((text, c) => put(heads[c], text, c));
    this.grid.querySelectorAll(".hg-name").forEach((element, r) => put(element, this.rows[r], r));
  }

  cell(r, c) {
    return this.lines[r][c];
  }

  where(r, c) {
    const names = { rowAxis: this.rowAxis, columnAxis: this.columnAxis, row: this.rows[r], column: this.columns[c] };
    return worded("{rowAxis} {r} “{row}”, {columnAxis} {c} “{column}”", { ...names, r, c });
  }

  paint(r, c, value, look) {
    const cell = this.cell(r, c);
    if (look.mark) cell.innerHTML = `<b>${look.mark}</b>${look.text ? `<i>${look.text}</i>` : ""}`;
    else if (cell.firstChild?.tagName === "SPAN") cell.firstChild.textContent = look.text; // much faster
    else cell.innerHTML = `<span>${look.text}</span>`;
    cell.dataset.value = String(value);
    cell.className = `hg-cell${look.kind ? ` hg-${look.kind}` : ""}${look.leak ? " hg-leak" : ""}`;
    cell.style.backgroundColor = look.kind ? "" : look.ground;
    cell.style.color = look.kind ? "" : inkOn(look.ground);
    cell.style.fontSize = look.mark ? "" : this.fit(look.text);
    const label = worded("{where}: {what}", { where: this.where(r, c), what: look.say });
    cell.setAttribute("aria-label", label);
    cell.title = label;
  }

  /** A smaller type where a number is too long for its cell. */
  fit(text) {
    const size = (this.width - 4) / (0.62 * text.length);
    return this.width >= 26 && size < 12 ? `${size.toFixed(1)}px` : "";
  }

  showSums(sums, whole) {
    sums.forEach(({ total, empty }, r) => {
      const cell = this.cell(r, this.columns.length);
      const key = `${total} ${empty}`;
      if (!whole && cell.dataset.key === key) return;
      const odd = !isOne(total);
      const dense = this.width < 12;
      cell.dataset.key = key;
      cell.dataset.value = String(total);
      cell.textContent = dense ? (odd ? "≠" : "") : `${formatNumber(total)}${odd ? " ≠ 1" : ""}`;
      cell.classList.toggle("hg-odd", odd);
      const said = { rowAxis: this.rowAxis, r, row: this.rows[r], total: formatNumber(total) };
      const label = empty ? worded("{rowAxis} {r} “{row}”, sum of the weights: {total}, this query may attend to nothing", said)
        : odd ? worded("{rowAxis} {r} “{row}”, sum of the weights: {total}, not 1", said)
          : worded("{rowAxis} {r} “{row}”, sum of the weights: {total}", said);
      cell.setAttribute("aria-label", label);
      cell.title = label;
    });
  }

  /** Frame a row and a column, or neither (null). */
  point(row, column) {
    const [across, down] = this.grid.querySelectorAll(".hg-band");
    across.hidden = !(row !== null && row < this.rows.length);
    down.hidden = !(column !== null && column < this.columns.length);
    if (!across.hidden) across.style.top = `${this.top + row * this.height}px`;
    if (!down.hidden) down.style.left = `calc(var(--hg-left) + ${column * this.width}px)`;
  }

  /** The one cell that the Tab key reaches. JupyterLab leaves the keys of a marked element alone. */
  activate(r, c) {
    this.current?.setAttribute("tabindex", "-1");
    this.current = this.cell(r, c);
    this.current.setAttribute("tabindex", "0");
    this.current.setAttribute(QUIET_NAME, "true");
    this.active = [r, c];
  }

  focus(r, c) {
    this.activate(r, c);
    this.current.focus({ preventScroll: false });
  }

  listen() {
    const at = (event) => event.target.closest?.("[data-at]")?.dataset.at.split(",").map(Number);
    this.grid.addEventListener("pointerdown", (event) => this.press(event, at(event)));
    this.grid.addEventListener("pointerover", (event) => {
      const place = at(event);
      if (!place) return;
      this.onPoint?.(...place);
      if (this.stroke && event.buttons & 1) this.strokeTo(...place);
    });
    this.grid.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch") this.onPoint?.(null, null); // a finger that is lifted leaves the cell its focus
    });
    this.grid.addEventListener("focusin", (event) => {
      const place = at(event);
      if (!place) return;
      this.activate(...place);
      this.onPoint?.(...place);
    });
    this.grid.addEventListener("focusout", () => this.onPoint?.(null, null));
    this.grid.addEventListener("keydown", (event) => this.pressKey(event));
  }

  press(event, place) {
    if (event.button !== 0 || !place) return;
    event.preventDefault(); // no text is selected
    this.focus(...place);
    if (!this.onPaint || place[1] >= this.columns.length) return;
    if (event.target.hasPointerCapture?.(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
    const [r, c] = place;
    this.stroke = { to: this.values[r][c] ? 0 : 1, last: place, cells: new Set() };
    this.strokeTo(r, c);
    const end = ({ type }) => {
      for (const name of ["pointerup", "pointercancel"]) window.removeEventListener(name, end, true);
      const cells = [...this.stroke.cells].map((text) => text.split(",").map(Number));
      this.stroke = null;
      const isDone = type === "pointerup"; // a finger that scrolls the page changes nothing
      this.onPaint(isDone ? cells : [], isDone);
    };
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, end, true);
  }

  /** Paint all cells on the way from the last one: a fast pointer leaves some out. */
  strokeTo(r, c) {
    const { last, to, cells } = this.stroke;
    const steps = Math.max(Math.abs(r - last[0]), Math.abs(c - last[1]), 1);
    for (let i = 0; i <= steps; i++) {
      const row = Math.round(last[0] + ((r - last[0]) * i) / steps);
      const column = Math.round(last[1] + ((c - last[1]) * i) / steps);
      if (column < this.columns.length && Number(this.values[row][column]) !== to) cells.add(`${row},${column}`);
    }
    this.stroke.last = [r, c];
    this.onPaint([...cells].map((text) => text.split(",").map(Number)), false);
  }

  pressKey(event) {
    if (event.altKey) return;
    const [r, c] = this.active;
    const fit = (x, count) => Math.min(Math.max(x, 0), count - 1);
    const step = ARROWS[event.key];
    const far = event.ctrlKey || event.metaKey;
    if (step && !far) this.focus(fit(r + step[0], this.rows.length), fit(c + step[1], this.across));
    else if (event.key === "Home") this.focus(far ? 0 : r, 0);
    else if (event.key === "End") this.focus(far ? this.rows.length - 1 : r, this.across - 1);
    else if ((event.key === " " || event.key === "Enter") && !event.shiftKey && !far) {
      if (this.onPaint && c < this.columns.length && !event.repeat) this.onPaint([[r, c]], true);
    } else return;
    claim(event);
  }
}
