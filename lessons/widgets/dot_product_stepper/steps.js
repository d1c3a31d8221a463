import { fillScores, fillWeights, mix } from "../shared/grid.js";

// What DotProductStepper computes, and what its steps say: word for word as in lessons/widgets/dot_product_steps.py.

export const TITLES = ["dot product", "scale", "mask", "e to the power", "weight", "contribution", "output"];
export const FORMULAS = ["q · k, feature by feature", "score / √d", "may look, or −∞", "e^score", "e^score / the row's sum",
  "weight × v", "the sum of all contributions"];
const MOST_NUMBERS = 20;
const SAFE_POWER = 700;

/** Scores, masked scores, powers, weights and output of all queries. allowed: true = may look; null = no mask. */
export function computeTable({ q, k, v, allowed, scaled }) {
  const root = scaled ? Math.sqrt(q[0].length) : 1;
  const scores = q.map((a) => k.map((b) => a.reduce((sum, x, i) => sum + x * b[i], 0)));
  const scaledScores = scores.map((row) => row.map((x) => x / root));
  const may = allowed ?? scores.map((row) => row.map(() => true));
  const masked = scaledScores.map((row, i) => fillScores(row, may[i], "−∞"));
  const powers = masked.map((row) => row.map(Math.exp));
  const weights = scaledScores.map((row, i) => fillWeights(row, may[i], "−∞"));
  return { scores, scaledScores, may, masked, powers, weights, output: weights.map((row) => mix(row, v)) };
}

/** e to the power of each of a row of scores, and what is subtracted from all of them first, so that they fit. */
export function rowPowers(masked) {
  const most = Math.max(...masked);
  const shift = Math.abs(most) > SAFE_POWER && Number.isFinite(most) ? most : 0;
  return { powers: masked.map((x) => Math.exp(x - shift)), shift };
}

/** Three decimals, more for what is near 0; a number that needs fewer is shown with fewer. */
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

/** A token on one line, cut where it is long, in quotation marks. */
export function quote(token) {
  const letters = [...token.replace(/[ \t\r\n]+/g, " ")];
  return `“${letters.length <= 12 ? letters.join("") : `${letters.slice(0, 11).join("")}…`}”`;
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
  const text = `Multiply the query of ${query} and the key of ${key} feature by feature, and add up: the score.`;
  return { text, numbers: `${terms} = ${short(score)}` };
}

function sayScale({ q, scaled, score, scaledScore }) {
  if (!scaled) return { text: "The division by √d is switched off: the score stays as it is.", numbers: `stays ${short(score)}` };
  const size = q[0].length;
  const text = `Divide by √d; d is ${size}, the number of features of a query or key.`;
  return { text, numbers: `${short(score)} / √${size} = ${short(scaledScore)}` };
}

function sayMask({ query, key, allowed, row, column, scaledScore }) {
  const score = short(scaledScore);
  if (!allowed) return { text: "There is no mask: every query may look at every key.", numbers: `stays ${score}` };
  if (allowed[row][column]) return { text: `${query} may look at ${key}: the score stays.`, numbers: `may look: stays ${score}` };
  const text = `${query} may not look at ${key}: −∞ takes the place of the score.`;
  return { text, numbers: `blocked: ${score} becomes −∞` };
}

function sayPower({ masked, column }) {
  const score = masked[column];
  const power = Math.exp(score);
  let text = "Raise e to it. The result is positive, and a larger score gives a larger result.";
  if (!Number.isFinite(score)) text = `e to the power ${short(score)} is ${short(power)}.`;
  else if (power === 0 || power === Infinity)
    text = `e to this power is too ${power ? "large" : "small"} for the computer, which makes it ${short(power)}.`;
  return { text, numbers: `e^${short(score)} = ${short(power)}` };
}

function sayWeight(cell) {
  const { query, masked, weights, column, empty } = cell;
  if (empty) {
    const text = `${query} may look at nothing. 0 / 0 is no number; all its weights are set to 0.`;
    return { text, numbers: "0 / 0: set to 0" };
  }
  if (Number.isNaN(weights[column])) return { text: whyNaN(cell), numbers: "NaN" };
  const { powers, shift } = rowPowers(masked);
  const text = shift
    ? "In this row, e to the power is too large or too small for the computer. So softmax subtracts the row's " +
      `largest score, ${short(shift)}, from all of them first, which changes no weight.`
    : `Divide by the sum of the row, so that the weights of ${query} sum to 1. ` +
      "(Code subtracts the row's largest score from all of them first: the weights are the same, nothing overflows.)";
  const [part, total] = [short(powers[column]), short(powers.reduce((a, b) => a + b, 0))];
  const sum = powers.length > 1 ? `${part} / (${powers.map(short).join(" + ")}) = ` : "";
  return { text, numbers: `${sum}${part} / ${total} = ${short(weights[column])}` };
}

function whyNaN({ query, masked }) {
  if (masked.some(Number.isNaN))
    return "A score of this row is NaN. So is the sum of the row, and every weight that is divided by it.";
  if (masked.includes(Infinity))
    return "A score of this row is ∞. Softmax subtracts the row's largest score from all of them first, " +
      "and ∞ − ∞ is NaN: so is the whole row.";
  return `Every score that ${query} may look at is −∞. 0 / 0 is NaN, and so is the whole row.`;
}

function sayContribution({ key, v, weights, contributions, column }) {
  const weight = weights[column];
  let text = `Take that share of the value of ${key}.`;
  if (weight === 0) {
    text = v[column].every(Number.isFinite)
      ? `Nothing is taken of the value of ${key}.`
      : "A weight of 0 does not hide a value that is no number: 0 × ∞ and 0 × NaN are NaN.";
  }
  return { text, numbers: `${short(weight)} × ${vector(v[column])} = ${vector(contributions[column])}` };
}

function sayOutput({ query, contributions, output, column, empty }) {
  const others = contributions.length - 1;
  const few = contributions.length * output.length <= MOST_NUMBERS;
  const parts = few ? contributions.map(vector).join(" + ") : `${vector(contributions[column])} + ${others} more`;
  let text = `Add up the contributions of all keys: the output of ${query}.`;
  if (!others) text = `There is no other key: its contribution is the output of ${query}.`;
  if (empty && !output.some((x) => x !== 0))
    text = `${query} may look at nothing: every contribution is 0, and so is the output.`;
  return { text, numbers: others ? `${parts} = ${vector(output)}` : vector(output) };
}
