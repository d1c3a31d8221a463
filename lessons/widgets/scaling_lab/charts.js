import { formatNumber } from "../shared/numbers.js";
import { escapeText, svgLine, svgText, tenth } from "../shared/markup.js";
import { LINE_NAMES } from "./constants.js";
import { SEMICOLON, listed, worded } from "../shared/words.js";

// The charts of ScalingLab, as SVG in text. Lines differ by dash and marker, not by color alone; each chart says its numbers.

const WIDE = 270;
const HIGH = 138;
const [LEFT, RIGHT, TOP, BOTTOM] = [54, WIDE - 14, 16, HIGH - 38];
const REACH = 32; // the histogram goes from −32 to 32, always: so that growth can be seen

/** A number of any size, in few characters. */
export function fewDigits(x) {
  if (x !== 0 && Math.abs(x) < 0.00005) return worded("under 0.0001");
  return formatNumber(x, x !== 0 && Math.abs(x) < 0.1 ? 4 : 2);
}
export const percent = (fraction) => `${formatNumber(100 * fraction, fraction > 0 && fraction < 0.0995 ? 1 : 0)} %`;

const kindOf = (scaled) => (scaled ? "sl-scaled" : "sl-plain");
const svg = (label, body, wide = WIDE, high = HIGH) =>
  `<svg class="sl-chart" viewBox="0 0 ${wide} ${high}" role="img" aria-label="${escapeText(label)}">${body}</svg>`;
const axis = (title) => svgLine(LEFT, BOTTOM, RIGHT, BOTTOM, "sl-axis") + svgText((LEFT + RIGHT) / 2, HIGH - 4, title);

/** Scores in bars of width 1; scores beyond ±32 are counted at the sides. */
export function histogram(scores, scaled, deviation) {
  const counts = new Array(2 * REACH).fill(0);
  const out = { below: 0, above: 0 };
  for (const x of scores) {
    if (x < -REACH) out.below++;
    else if (x >= REACH) out.above++;
    else counts[Math.floor(x + REACH)]++;
  }
  const most = Math.max(...counts, 1);
  const top = TOP + 42;
  const step = (RIGHT - LEFT) / counts.length;
  const at = (x) => tenth(LEFT + (x + REACH) * step);
  const bars = counts.map((count, i) => {
    const height = ((BOTTOM - top) * count) / most;
    return count ? `<rect x="${tenth(LEFT + i * step)}" y="${tenth(BOTTOM - height)}" width="${tenth(step - 0.8)}" height="${tenth(height)}" data-value="${count}"/>` : "";
  });
  const ticks = [-32, -16, 0, 16, 32].map((x) => svgText(at(x), BOTTOM + 15, formatNumber(x, 0)));
  const [from, to] = [-deviation, deviation].map((x) => at(Math.min(Math.max(x, -REACH), REACH)));
  const ends = deviation <= REACH ? svgLine(from, TOP + 17, from, TOP + 27, "sl-mark") + svgLine(to, TOP + 17, to, TOP + 27, "sl-mark") : "";
  const bracket = svgLine(from, TOP + 22, to, TOP + 22, "sl-mark") + ends;
  const fraction = (count) => percent(count / scores.length);
  const sides = (out.below ? svgText(LEFT, TOP + 44, worded("◂ {percent} further out", { percent: fraction(out.below) }), "start") : "") +
    (out.above ? svgText(RIGHT, TOP + 44, worded("{percent} further out ▸", { percent: fraction(out.above) }), "end") : "");
  const within = [1, 4, 16, 32].map((x) => worded("{percent} within ±{x}", { percent: fraction(scores.filter((s) => Math.abs(s) <= x).length), x }));
  const label = worded("Histogram of {count} scores. Standard deviation {deviation}; {within}.", { count: scores.length, deviation: formatNumber(deviation), within: listed(within) });
  const body = `<g class="${kindOf(scaled)} sl-bars">${bars.join("")}</g>${bracket}${ticks.join("")}${sides}` +
    svgText((LEFT + RIGHT) / 2, TOP + 8, worded("± one standard deviation: {deviation}", { deviation: formatNumber(deviation) })) +
    svgLine(LEFT, top, LEFT, BOTTOM, "sl-axis") + svgText(LEFT - 6, top + 5, fraction(most), "end") + svgText(LEFT - 6, BOTTOM + 2, "0 %", "end") + axis(worded("score, as it goes into the softmax"));
  return svg(label, body);
}

const signs = {
  true: (x, y) => `<circle cx="${x}" cy="${y}" r="3.4"/>`,
  false: (x, y) => `<rect x="${x - 3}" y="${y - 3}" width="6" height="6"/>`,
  low: (x, y) => `<path d="M${x - 4} ${y - 7}h8l-4 7z"/>`,
  high: (x, y) => `<path d="M${x - 4} ${y + 7}h8l-4 -7z"/>`,
};

/**
 * Two curves against d, not scaled and divided by √d. chart: name, axis (its scale: value -> fraction of the height),
 * ticks ([value, text], …). What is off the chart is drawn at its edge, as ▽ or △.
 */
export function curveChart(chart, sizes, at, scaled, curves) {
  const far = Math.max(Math.log2(sizes.at(-1)), 1);
  const place = (d) => tenth(LEFT + 6 + ((RIGHT - LEFT - 12) * Math.log2(d)) / far);
  const height = (value) => tenth(BOTTOM - (BOTTOM - TOP) * Math.min(Math.max(chart.axis(value), 0), 1));
  const line = (kind) => {
    const points = sizes.map((d, i) => [place(d), height(curves[kind][i]), chart.axis(curves[kind][i])]);
    const marks = points.map(([x, y, fraction]) => signs[fraction < 0 ? "low" : fraction > 1 ? "high" : kind](x, y));
    return `<g class="${kindOf(kind === "true")}"><polyline points="${points.map(([x, y]) => `${x},${y}`).join(" ")}"/>${marks.join("")}</g>`;
  };
  const ticks = chart.ticks.map(([value, text]) => {
    const y = height(value);
    return svgLine(LEFT, y, RIGHT, y, "sl-rule") + svgText(LEFT - 6, y + 4, text, "end");
  });
  const named = sizes.filter((d) => Number.isInteger(Math.log2(d) / 2) || d === sizes.at(-1));
  const below = named.filter((d, i) => i === named.length - 1 || place(named.at(-1)) - place(d) > 26).map((d) => svgText(place(d), BOTTOM + 15, String(d)));
  const now = curves[scaled][at];
  const [x, y] = [place(sizes[at]), height(now)];
  const side = x > (LEFT + RIGHT) / 2 ? -1 : 1;
  const lift = y < TOP + 24 ? 20 : -10;
  const present = svgLine(x, TOP, x, BOTTOM, "sl-now") + `<circle class="sl-ring" cx="${x}" cy="${y}" r="7.5"/>` +
    svgText(x + side * 9, y + lift, fewDigits(now), side < 0 ? "end" : "start", ' class="sl-value"');
  const said = (kind) => listed(sizes.map((d, i) => worded("d {d}, {number}", { d, number: fewDigits(curves[kind][i]) })), SEMICOLON);
  const label = worded("{name} against d. not scaled: {plain}. divided by √d: {divided}. Now: d {d}, {line}, {number}.", {
    name: chart.name, plain: said(false), divided: said(true), d: sizes[at], line: worded(LINE_NAMES[scaled]), number: fewDigits(now),
  });
  return svg(label, ticks.join("") + below.join("") + axis(worded("d, the head dimension")) + line("false") + line("true") + present);
}

/** One bar for each key, as high as the rows of the grids next to it. */
export function weightBars(weights, rowHeight, scaled) {
  const wide = 84;
  const high = weights.length * rowHeight;
  const bars = weights.map((w, i) => `<rect x="0" y="${tenth((i + 0.21) * rowHeight)}" width="${tenth(wide * w)}" height="${tenth(0.58 * rowHeight)}"/>`);
  const even = tenth(wide / weights.length);
  const list = listed(weights.map((w, i) => `k${i} ${formatNumber(w)}`));
  const label = worded("Weights as bars: {list}. Dashed: the even weight, {even}.", { list, even: formatNumber(1 / weights.length) });
  const body = `<g class="${kindOf(scaled)} sl-bars">${bars.join("")}</g>${svgLine(0.5, 0, 0.5, high, "sl-axis")}${svgLine(even, 0, even, high, "sl-even")}`;
  return svg(label, body, wide + 2, high).replace("<svg ", `<svg width="${wide + 2}" height="${high}" `);
}
