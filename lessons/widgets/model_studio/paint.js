import { SIGNED, WEIGHTS } from "../shared/constants.js";
import { channels, mixColor } from "../shared/palette.js";
import { GAP } from "./layout.js";

// The pictures of the map. Numbers become pixels of one hidden canvas, and parts of it are drawn where they belong.

const ATLAS = 1024; // width of the hidden canvas
const BINS = 12; // columns of a strip
const UNITS = 32; // columns of a feed-forward network
const LEAST_RIBBON = 0.03;
const FADED = 0.16;
const RECEDED = 0.4;
const STEP = 8; // the way between two parts
const OVER = 6; // how far a ribbon can begin above its lane

const littleEndian = (stops) => Uint32Array.from({ length: 256 }, (_, i) => {
  const [r, g, b] = channels(mixColor(stops, i / 255));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
});
const BRIGHT = littleEndian(WEIGHTS);
const BY_SIGN = littleEndian(SIGNED);
const ACTIVE = Uint32Array.from({ length: 256 }, (_, i) => ((Math.round(24 + 231 * (i / 255) ** 0.7) << 24) | 0x6b8f1f) >>> 0); // a green, more or less
const NOT_ALLOWED = 0x5a808080; // a gray that is light on dark ground and dark on light
const byte = (fraction) => (fraction > 0 ? Math.min(Math.round(255 * fraction), 255) : 0); // NaN becomes 0

/** The number farthest from 0 in each of so many bins. */
function farthest(row, bins, into) {
  for (let b = 0; b < bins; b++) {
    const to = Math.max(Math.floor(((b + 1) * row.length) / bins), Math.floor((b * row.length) / bins) + 1);
    let most = 0;
    for (let i = Math.floor((b * row.length) / bins); i < to; i++) if (Math.abs(row[i]) > Math.abs(most)) most = row[i];
    into[b] = most;
  }
}

/** Each row of a matrix in at most so many pixels, of a palette from −most to most, or from 0 to most. */
function squeeze({ data, shape: [rows, columns] }, most, palette, paint) {
  const bins = Math.min(columns, most);
  const squeezed = new Float32Array(rows * bins);
  for (let r = 0; r < rows; r++) farthest(data.subarray(r * columns, (r + 1) * columns), bins, squeezed.subarray(r * bins, (r + 1) * bins));
  const bound = squeezed.reduce((bound, x) => (Math.abs(x) < Infinity ? Math.max(bound, Math.abs(x)) : bound), 0) || 1;
  const place = palette === BY_SIGN ? (x) => 0.5 + x / (2 * bound) : (x) => x / bound;
  squeezed.forEach((x, i) => paint(i % bins, Math.floor(i / bins), palette[byte(place(x))]));
}

/** Points on the way from a key to a query, at t from 0 to 1. */
const bend = (x1, y1, x2, y2) => {
  const middle = (x1 + x2) / 2;
  return { path: (context) => { context.moveTo(x1, y1); context.bezierCurveTo(middle, y1, middle, y2, x2, y2); },
    at: (t) => [(1 - t) ** 3 * x1 + 3 * t * (1 - t) * middle + t ** 3 * x2, ((1 - t) ** 3 + 3 * t * (1 - t) ** 2) * y1 + (3 * t ** 2 * (1 - t) + t ** 3) * y2] };
};
const fall = (x1, y1, x2, y2) => ({
  path: (context) => { context.moveTo(x1, y1); context.quadraticCurveTo(x1, y2, x2, y2); },
  at: (t) => [(1 - t) ** 2 * x1 + 2 * t * (1 - t) * x1 + t ** 2 * x2, (1 - t) ** 2 * y1 + (1 - (1 - t) ** 2) * y2],
});

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.hidden = document.createElement("canvas");
  }

  /** A new size. Every picture gets its place in the hidden canvas. */
  arrange(layout, config) {
    this.layout = layout;
    const { src, tgt } = layout.lanes;
    const rows = { src: src.rows, tgt: tgt.rows };
    this.pictures = new Map();
    let [x, y, tallest] = [0, 0, 0];
    const reserve = (key, w, h) => {
      if (x + w > ATLAS) [x, y, tallest] = [0, y + tallest, 0];
      this.pictures.set(key, { x, y, w, h });
      x += w;
      tallest = Math.max(tallest, h);
    };
    for (const { id, kind, side, stream, heads } of layout.parts) {
      if (stream) reserve(id, Math.min(config.d_model, BINS), rows[side]);
      else if (kind === "feed_forward") reserve(id, Math.min(config.d_ff, UNITS), rows[side]);
      else if (heads) heads.forEach((_, head) => reserve(`${id} ${head}`, id.endsWith("cross_attn") ? rows.src : rows[side], rows[side]));
    }
    Object.assign(this.hidden, { width: ATLAS, height: y + tallest });
    this.pixels = this.hidden.getContext("2d", { willReadFrequently: true });
    this.image = this.pixels.createImageData(ATLAS, y + tallest);
    this.words = new Uint32Array(this.image.data.buffer);
    const scale = Math.min(globalThis.devicePixelRatio || 1, Math.sqrt(8e6 / (layout.width * layout.height)));
    Object.assign(this.canvas, { width: Math.round(layout.width * scale), height: Math.round(layout.height * scale) });
    Object.assign(this.canvas.style, { width: `${layout.width}px`, height: `${layout.height}px` });
    this.scale = scale;
    this.numbers = new Map();
    this.changed = new Set();
    this.now = this.painted = null;
  }

  /** New numbers: what `run` returns. */
  load(now) {
    if (now === this.now) return;
    this.now = now;
    const streams = new Map(now.streams.map((stream) => [stream.name, stream]));
    for (const part of this.layout.parts) {
      const { id, kind, stream, place, heads } = part;
      const { weights, allowed, hidden } = now.places[place] ?? {};
      if (!this.isNew(id, [streams.get(stream), weights, allowed, hidden].filter(Boolean))) continue;
      this.changed.add(part);
      if (stream) this.fill(id, (paint) => squeeze(streams.get(stream), BINS, BY_SIGN, paint));
      else if (kind === "feed_forward") this.fill(id, (paint) => squeeze(hidden, UNITS, ACTIVE, paint));
      else if (heads) heads.forEach((_, head) => this.fill(`${id} ${head}`, (paint) => this.fillHead(now.places[place], head, paint)));
    }
    if (this.changed.size) this.pixels.putImageData(this.image, 0, 0);
  }

  /** Whether the numbers that a part shows are other ones than before: most changes leave most parts as they were. */
  isNew(id, tensors) {
    const before = this.numbers.get(id);
    this.numbers.set(id, tensors);
    return !before || tensors.some(({ data }, i) => data !== before[i].data && data.some((x, at) => !Object.is(x, before[i].data[at])));
  }

  fill(key, draw) {
    const { x, y } = this.pictures.get(key);
    draw((column, row, color) => { this.words[(y + row) * ATLAS + x + column] = color; });
  }

  fillHead({ weights, allowed }, head, paint) {
    const [, queries, keys] = weights.shape;
    const from = head * queries * keys;
    for (let i = 0; i < queries * keys; i++) {
      const weight = weights.data[from + i];
      paint(i % keys, Math.floor(i / keys), allowed.data[from + i] || weight > 0 ? BRIGHT[byte(weight)] : NOT_ALLOWED);
    }
  }

  /** view: follow {side, index}, peek {place, head} (whose ribbons alone are drawn), lit (the part that is), moved (0 to 1). */
  paint(view, colors) {
    const context = this.canvas.getContext("2d");
    this.context = context;
    this.view = view;
    this.colors = colors;
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.imageSmoothingEnabled = false;
    context.lineCap = "round";
    const { width, height, parts } = this.layout;
    const looks = JSON.stringify([view, colors]);
    if (looks === this.painted) for (const part of this.changed) this.paintWithin(this.regionOf(part));
    else this.paintWithin([0, 0, width, height]);
    this.painted = looks;
    this.changed.clear();
    if (view.lit && view.moved < 1) this.paintMotion(parts.find(({ id }) => id === view.lit));
    context.globalAlpha = 1;
  }

  /** The place of a part, [x, y, w, h], in whole points of the canvas: from the picture before it to the one after it. */
  regionOf({ side, x, w }) {
    const { lanes, under } = this.layout;
    const edges = [x - GAP, lanes[side].top - OVER, x + w + GAP, lanes[side].bottom + under];
    const [left, top, right, bottom] = edges.map((at) => Math.round(at * this.scale) / this.scale);
    return [left, top, right - left, bottom - top];
  }

  /** All that is seen there; a part's lines begin one step before it, and its ribbons end after it. */
  paintWithin(region) {
    const { context, layout: { parts }, view } = this;
    const [x, y, w, h] = region;
    context.save();
    context.beginPath();
    context.rect(...region);
    context.clip();
    context.clearRect(...region);
    for (const part of parts) {
      const [, top, , high] = this.regionOf(part);
      if (part.x - STEP > x + w || part.x + part.w + GAP < x || top >= y + h || top + high <= y) continue;
      this.base = view.lit && !view.follow && part.id !== view.lit && part.after !== view.lit ? RECEDED : 1;
      if (part.kind === "attention") this.paintAttention(part);
      else if (part.kind === "logits") this.paintStraight(part, [part.x - STEP, part.x]);
      else if (part.kind !== "tokens") this.paintRows(part);
    }
    context.restore();
  }

  isFollowed(side, row) {
    const { follow } = this.view;
    return !follow || (follow.side === side && follow.index === row);
  }

  /** How much of a row is seen: the others of the lane step back the most. */
  presence(side, row) {
    return this.base * (this.isFollowed(side, row) ? 1 : this.view.follow.side === side ? FADED : RECEDED);
  }

  /** A picture with a row for each token and a gap below it, in as few pieces as what is followed allows. */
  paintRows(part) {
    const { context, layout: { rowHeight }, view: { follow } } = this;
    const { x, y, w, h } = this.pictures.get(part.id);
    const edges = follow?.side === part.side ? [0, follow.index, follow.index + 1, h] : [0, h];
    const show = (from, to) => {
      context.globalAlpha = this.presence(part.side, from);
      context.drawImage(this.hidden, x, y + from, w, to - from, part.x, part.y + from * rowHeight, part.w, (to - from) * rowHeight);
    };
    edges.slice(1).forEach((to, i) => to > edges[i] && show(edges[i], to));
    for (let row = 1; row <= h; row++) context.clearRect(part.x, part.y + row * rowHeight - 1, part.w, 1);
    this.paintStraight(part, [part.x - STEP, part.x]);
  }

  /** The residual stream: one line a token. */
  paintStraight(part, [from, to]) {
    const { context, layout: { rowHeight, lanes }, colors } = this;
    context.lineWidth = 1;
    context.strokeStyle = colors.line;
    for (let row = 0; row < lanes[part.side].rows; row++) {
      context.globalAlpha = this.presence(part.side, row) * (this.view.follow && this.isFollowed(part.side, row) ? 1 : 0.4);
      const y = part.y + (row + 0.5) * rowHeight - 0.5;
      context.beginPath();
      context.moveTo(from, y);
      context.lineTo(to, y);
      context.stroke();
    }
  }

  /** The ways of an attention that carry enough: [way, weight, query, key]. */
  ribbons(part) {
    const { weights: { data, shape: [heads, queries, keys] } } = this.now.places[part.place];
    const { peek } = this.view;
    const only = peek?.place === part.place ? peek.head : null;
    const { rowHeight, lanes } = this.layout;
    const cross = part.place.endsWith("cross_attn");
    const middle = (row) => part.y + (row + 0.5) * rowHeight - 0.5;
    const found = [];
    for (let query = 0; query < queries; query++) {
      for (let key = 0; key < keys; key++) {
        let weight = 0;
        if (only !== null) weight = data[(only * queries + query) * keys + key];
        else for (let head = 0; head < heads; head++) weight += data[(head * queries + query) * keys + key] / heads;
        if (!(weight >= LEAST_RIBBON)) continue;
        const [x1, y1] = cross ? [part.x + ((key + 0.5) / lanes.src.rows) * part.w * 0.9, part.y - 2] : [part.x, middle(key)];
        found.push([(cross ? fall : bend)(x1, y1, part.x + part.w, middle(query)), weight, query, key]);
      }
    }
    return found;
  }

  paintAttention(part) {
    const { context, colors, view: { follow } } = this;
    const cross = part.place.endsWith("cross_attn");
    this.paintStraight(part, [part.x - STEP, part.x + part.w]);
    context.strokeStyle = colors.accent;
    for (const [way, weight, query, key] of this.ribbons(part)) {
      const keySide = cross ? "src" : part.side;
      const here = !follow || this.isFollowed(part.side, query) || (this.isFollowed(keySide, key) && follow.side === keySide);
      context.globalAlpha = this.base * (here ? 0.15 + 0.75 * weight : 0.04);
      context.lineWidth = 0.6 + 3.4 * weight;
      context.beginPath();
      way.path(context);
      context.stroke();
    }
    part.heads.forEach((box, head) => this.paintHead(part, box, head, cross));
  }

  paintHead(part, { x: left, y: top, size }, head, cross) {
    const { context, colors, view: { follow } } = this;
    const { x, y, w, h } = this.pictures.get(`${part.id} ${head}`);
    const concerned = !follow || follow.side === part.side || cross;
    context.globalAlpha = this.base * (concerned ? 1 : RECEDED);
    context.drawImage(this.hidden, x, y, w, h, left, top, size, size);
    if (!follow || !concerned) return;
    const isQuery = follow.side === part.side;
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    const [one, all] = [size / (isQuery ? h : w), size];
    if (isQuery) context.strokeRect(left - 0.5, top + follow.index * one - 0.5, all + 1, one + 1);
    else context.strokeRect(left + follow.index * one - 0.5, top - 0.5, one + 1, all + 1);
  }

  /** Data on its way into the part: a dot on each ribbon, or in each row. */
  paintMotion(part) {
    const { context, colors, layout: { rowHeight }, view: { moved } } = this;
    context.fillStyle = colors.accent;
    context.globalAlpha = Math.sin(Math.PI * Math.min(moved, 1)) ** 0.5;
    const dot = ([x, y], size) => {
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
    };
    if (part.kind === "attention") for (const [way, weight] of this.ribbons(part)) dot(way.at(moved), 1.2 + 2.2 * weight);
    else for (let row = 0; row < part.h / rowHeight; row++) dot([part.x - 8 + (part.w + 8) * moved, part.y + (row + 0.5) * rowHeight - 0.5], 2);
  }
}
