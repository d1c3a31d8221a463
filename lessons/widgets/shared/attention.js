import { sumOf } from "./numbers.js";
import { AFTER, BEFORE, BILLION, INFINITE } from "./constants.js";

// Attention of one query, as in lessons/attention.py and lessons/widgets/shared/rules.py.

/** A row of scores as it goes into the softmax. allowed: 1 = may attend. */
export function fillScores(scores, allowed, fill) {
  if (fill === AFTER) return scores.slice();
  const number = { [INFINITE]: -Infinity, [BILLION]: -1e9, [BEFORE]: 0 }[fill];
  return scores.map((x, k) => (allowed[k] ? x : number));
}

export function softmax(row) {
  const most = Math.max(...row); // NaN if any is NaN, as in torch
  const powers = row.map((x) => Math.exp(x - most));
  const sum = sumOf(powers);
  return powers.map((x) => x / sum);
}

/** A row of weights; with −∞, a row with no allowed key is 0. */
export function fillWeights(scores, allowed, fill) {
  if (fill === INFINITE && !allowed.some(Boolean)) return scores.map(() => 0);
  const weights = softmax(fillScores(scores, allowed, fill));
  return fill === AFTER ? weights.map((x, k) => (allowed[k] ? x : 0)) : weights;
}

/** A row of weights times the values (K, d_v). */
export const mix = (weights, values) =>
  values[0].map((_, feature) => weights.reduce((sum, w, k) => sum + w * values[k][feature], 0));
