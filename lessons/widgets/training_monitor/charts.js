import { formatNumber } from "../shared/numbers.js";
import { escapeText, svgLine, svgText, tenth } from "../shared/markup.js";
import { worded } from "../shared/words.js";

// The charts of TrainingMonitor, as SVG in text: the loss, and what was measured, over the same steps.

const [LEFT, RIGHT, TOP, BELOW] = [52, 16, 14, 38];
export const SIGNS = [
  (x, y) => `<circle cx="${x}" cy="${y}" r="4"/>`,
  (x, y) => `<rect x="${x - 3.5}" y="${y - 3.5}" width="7" height="7"/>`,
  (x, y) => `<path d="M${x - 4.5} ${y + 4}h9l-4.5 -8.5z"/>`,
  (x, y) => `<path d="M${x} ${y - 5}l5 5l-5 5l-5 -5z"/>`,
  (x, y) => `<path d="M${x - 4.5} ${y - 4}h9l-4.5 8.5z"/>`,
  (x, y) => `<path d="M${x - 5} ${y}h10M${x} ${y - 5}v10"/>`,
];

/** A loss or a rate, in few characters. */
export function say(x) {
  if (!Number.isFinite(x) || x === 0) return formatNumber(x);
  const size = Math.abs(x);
  if (size < 0.0001) return x.toExponential(1).replace(/-/g, "−");
  return formatNumber(x, size < 0.01 ? 5 : size < 0.1 ? 4 : size < 10 ? 3 : 1);
}

/** About `count` round numbers from low to high. */
export function roundTicks(low, high, count = 6) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((x) => x * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** 1, 2 and 5 times each power of ten; where they are many, the powers alone, or some of them. */
export function logTicks(low, high) {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const stride = Math.ceil((to - from) / 8);
  const factors = to - from <= 2 ? [1, 2, 5] : [1];
  const all = [];
  for (let power = from; power <= to; power += stride)
    for (const factor of factors) all.push(Number((factor * 10 ** power).toPrecision(12)));
  return all.filter((x) => x >= low * 0.999 && x <= high * 1.001);
}

/** From steps and losses to places. What a scale can't show is beyond its edge: over 1 or under 0. */
export function lossScale(losses, log) {
  const finite = losses.filter((x) => Number.isFinite(x) && (!log || x > 0));
  const most = finite.length ? Math.max(...finite) : 1;
  const least = finite.length ? Math.min(...finite) : log ? 0.1 : 0;
  if (log) {
    const [low, high] = [least / 1.15, most * 1.15];
    const fraction = (x) => (x > 0 ? Math.log(x / low) / Math.log(high / low) : -1);
    return { fraction: (x) => (Number.isNaN(x) ? 2 : fraction(x)), ticks: logTicks(low, high) };
  }
  const low = Math.min(0, least);
  const high = most > low ? most + 0.04 * (most - low) : low + 1;
  return { fraction: (x) => (Number.isNaN(x) ? 2 : (x - low) / (high - low)), ticks: roundTicks(low, high) };
}

/** Where things are in a chart of this size whose steps go up to `far`. */
export function plan(wide, high, far) {
  const [right, bottom] = [wide - RIGHT, high - BELOW];
  return {
    wide, high, far, right, bottom,
    x: (step) => tenth(LEFT + ((right - LEFT) * step) / far),
    y: (fraction) => tenth(bottom - (bottom - TOP) * Math.min(Math.max(fraction, 0), 1)),
    step: (x) => ((x - LEFT) / (right - LEFT)) * far,
  };
}

function axes({ wide, high, far, right, bottom, x, y }, ticks, name) {
  const across = roundTicks(0, far, wide < 420 ? 4 : 8).filter(Number.isInteger);
  return ticks.map(([fraction, label, value]) =>
    svgLine(LEFT, y(fraction), right, y(fraction), "tm-rule", ` data-tick="${value}"`) + svgText(LEFT - 7, y(fraction) + 4, label, "end")).join("") +
    across.map((step) => svgLine(x(step), bottom, x(step), bottom + 4, "tm-axis", ` data-step-tick="${step}"`) + svgText(x(step), bottom + 17, String(step))).join("") +
    svgLine(LEFT, bottom, right, bottom, "tm-axis") + svgLine(LEFT, TOP, LEFT, bottom, "tm-axis") +
    svgText((LEFT + right) / 2, high - 4, worded("step")) +
    svgText(13, (TOP + bottom) / 2, name, "middle", ` transform="rotate(-90 13 ${(TOP + bottom) / 2})"`);
}

const picture = ({ wide, high }, body) =>
  `<svg class="tm-chart" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" aria-hidden="true">${body}</svg>`;

/** The loss; points [step, loss]; at: the index of the point that is read out. */
export function lossChart(where, points, at, log) {
  const { x, y } = where;
  const scale = lossScale(points.map((point) => point[1]), log);
  const runs = [[]];
  const marks = points.map(([step, loss], i) => {
    const fraction = scale.fraction(loss);
    const [px, py] = [x(step), y(fraction)];
    const data = `data-step="${step}" data-value="${loss}"`;
    if (fraction >= 0 && fraction <= 1) runs.at(-1).push(`${px},${py}`);
    else if (runs.at(-1).length) runs.push([]);
    if (Number.isNaN(loss)) return `<path class="tm-odd" d="M${px - 4} ${py - 4}l8 8m0 -8l-8 8" ${data}/>`;
    if (fraction > 1) return `<path class="tm-odd" d="M${px - 4} ${py + 7}h8l-4 -7z" ${data}/>`;
    if (fraction < 0) return `<path class="tm-odd" d="M${px - 4} ${py - 7}h8l-4 7z" ${data}/>`;
    return `<circle cx="${px}" cy="${py}" r="1.6" ${data}/>`;
  });
  const curve = runs.map((run) => (run.length > 1 ? `<polyline points="${run.join(" ")}"/>` : "")).join("");
  const ticks = scale.ticks.map((value) => [scale.fraction(value), tickText(value), value]);
  const empty = points.length ? "" : svgText((LEFT + where.right) / 2, (TOP + where.bottom) / 2, worded("The curve starts with the first step."));
  return picture(where, axes(where, ticks, worded("loss")) + `<g class="tm-loss">${curve}${marks.join("")}</g>${empty}` +
    (points.length ? pointer(where, points[at], scale) : ""));
}

const tickText = (x) => (Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(0).replace("+", "") : String(x)).replace("-", "−");

function pointer(where, [step, loss], scale) {
  const [px, py] = [where.x(step), where.y(scale.fraction(loss))];
  return svgLine(px, TOP, px, where.bottom, "tm-now") + `<circle class="tm-ring" cx="${px}" cy="${py}" r="6"/>`;
}

/** What was measured, from 0 to 1: a list of [name, points [step, value]]. */
export function measureChart(where, all, step) {
  const { x, y, bottom } = where;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => [value, String(value), value]);
  const lines = all.map(([name, points], i) => {
    const places = points.map(([s, value]) => [x(s), y(value)]);
    const curve = places.length > 1 ? `<polyline points="${places.map((place) => place.join(",")).join(" ")}"/>` : "";
    const marks = points.map(([s, value], k) => `<g data-step="${s}" data-value="${value}">${SIGNS[i](...places[k])}</g>`);
    return `<g class="tm-measure tm-measure-${i}" data-name="${escapeText(name)}">${curve}${marks.join("")}</g>`;
  });
  const now = step === null ? "" : svgLine(x(step), TOP, x(step), bottom, "tm-now");
  return picture(where, axes(where, ticks, worded("fraction")) + now + lines.join(""));
}
