import { INFINITE } from "../shared/constants.js";
import { sumOf } from "../shared/numbers.js";
import { worded } from "../shared/words.js";
import { fillScores, fillWeights, mix } from "../shared/attention.js";
import { MOST_LETTERS, MOST_NUMBERS, NUMBERS, SAFE_POWER, SAYS } from "./constants.js";

// What DotProductStepper computes, and what its steps say: as in steps.py, in the same words.

/** Scores, masked scores, powers, weights and output of all queries. allowed: true = may attend; null = no mask. */
export function computeTable({ q, k, v, allowed, scaled }) {
  const root = scaled ? Math.sqrt(q[0].length) : 1;
  const scores = q.map((a) => k.map((b) => a.reduce((sum, x, i) => sum + x * b[i], 0)));
  const scaledScores = scores.map((row) => row.map((x) => x / root));
  const may = allowed ?? scores.map((row) => row.map(() => true));
  const masked = scaledScores.map((row, i) => fillScores(row, may[i], INFINITE));
  const powers = masked.map((row) => row.map(Math.exp));
  const weights = scaledScores.map((row, i) => fillWeights(row, may[i], INFINITE));
  return { scores, scaledScores, may, masked, powers, weights, output: weights.map((row) => mix(row, v)) };
}

/** e to the power of each score of a row, and what is subtracted from all of them first to avoid overflow. */
export function rowPowers(masked) {
  const most = Math.max(...masked);
  const shift = Math.abs(most) > SAFE_POWER && Number.isFinite(most) ? most : 0;
  return { powers: masked.map((x) => Math.exp(x - shift)), shift };
}

/** Three decimals, more for numbers near 0, without trailing zeros. */
export function short(number) {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const x = Number(number.toPrecision(10));
  const size = Math.abs(x);
  if (size && (size < 1e-3 || size >= 1e6)) return x.toExponential(1).replace("+", "").replace(/-/g, "−");
  const text = x.toFixed(size > 0 && size < 0.01 ? 4 : 3);
  const trimmed = Number(text) === x ? text.replace(/\.?0+$/, "") : text;
  return x ? trimmed.replace("-", "−") : "0";
}

export const vector = (numbers) => `(${numbers.map(short).join(", ")})`;

/** A token on one line, shortened if it is long, in quotes. */
export function quote(token) {
  const letters = [...token.replace(/[ \t\r\n]+/g, " ")];
  return `“${letters.length <= MOST_LETTERS ? letters.join("") : `${letters.slice(0, MOST_LETTERS - 1).join("")}…`}”`;
}

const factor = (x) => (x < 0 ? `(${short(x)})` : short(x));

/** Text and numbers of each step, for one query and one key. */
export function writeSteps(state, table) {
  const { row, column } = state;
  const cell = {
    ...state,
    query: quote(state.query_tokens[row]),
    key: quote(state.key_tokens[column]),
    score: table.scores[row][column],
    scaledScore: table.scaledScores[row][column],
    masked: table.masked[row],
    weights: table.weights[row],
    empty: !table.may[row].some(Boolean),
    contributions: state.v.map((value, key) => value.map((x) => table.weights[row][key] * x)),
    output: table.output[row],
  };
  return [sayProduct, sayScale, sayMask, sayPower, sayWeight, sayContribution, sayOutput].map((say) => say(cell));
}

function sayProduct({ query, key, q, k, row, column, score }) {
  const terms = q[row].map((x, i) => `${factor(x)}·${factor(k[column][i])}`).join(" + ");
  return { text: worded(SAYS.product, { query, key }), numbers: `${terms} = ${short(score)}` };
}

function sayScale({ q, scaled, score, scaledScore }) {
  if (!scaled) return { text: worded(SAYS["not scaled"]), numbers: worded(NUMBERS.stays, { score: short(score) }) };
  const size = q[0].length;
  return { text: worded(SAYS.scaled, { size }), numbers: `${short(score)} / √${size} = ${short(scaledScore)}` };
}

function sayMask({ query, key, allowed, row, column, scaledScore }) {
  const [name, number] = !allowed ? ["no mask", "stays"] : allowed[row][column] ? ["may attend", "may attend"] : ["blocked", "blocked"];
  return { text: worded(SAYS[name], { query, key }), numbers: worded(NUMBERS[number], { score: short(scaledScore) }) };
}

function sayPower({ masked, column }) {
  const score = masked[column];
  const power = Math.exp(score);
  let name = "power";
  if (!Number.isFinite(score)) name = "power of no number";
  else if (power === 0 || power === Infinity) name = power ? "power too large" : "power too small";
  return { text: worded(SAYS[name], { score: short(score), power: short(power) }), numbers: `e^${short(score)} = ${short(power)}` };
}

function sayWeight({ query, masked, weights, column, empty }) {
  if (empty) return { text: worded(SAYS["weight of nothing"], { query }), numbers: worded(NUMBERS.nothing) };
  if (Number.isNaN(weights[column])) return { text: worded(SAYS[whyNaN(masked)], { query }), numbers: "NaN" };
  const { powers, shift } = rowPowers(masked);
  const text = worded(SAYS[shift ? "weight shifted" : "weight"], { query, shift: short(shift) });
  const [part, total] = [short(powers[column]), short(sumOf(powers))];
  const sum = powers.length > 1 ? `${part} / (${powers.map(short).join(" + ")}) = ` : "";
  return { text, numbers: `${sum}${part} / ${total} = ${short(weights[column])}` };
}

function whyNaN(masked) {
  if (masked.some(Number.isNaN)) return "NaN among scores";
  return masked.includes(Infinity) ? "∞ among scores" : "all scores −∞";
}

function sayContribution({ key, v, weights, contributions, column }) {
  const weight = weights[column];
  let name = "contribution";
  if (weight === 0) name = v[column].every(Number.isFinite) ? "no contribution" : "value not hidden";
  return { text: worded(SAYS[name], { key }), numbers: `${short(weight)} × ${vector(v[column])} = ${vector(contributions[column])}` };
}

function sayOutput({ query, contributions, output, column, empty }) {
  const others = contributions.length - 1;
  const few = contributions.length * output.length <= MOST_NUMBERS;
  const parts = few ? contributions.map(vector).join(" + ") : worded(NUMBERS.more, { first: vector(contributions[column]), others });
  const nothing = empty && !output.some((x) => x !== 0);
  const text = worded(SAYS[nothing ? "output of nothing" : others ? "output" : "output of one"], { query });
  return { text, numbers: others ? `${parts} = ${vector(output)}` : vector(output) };
}
