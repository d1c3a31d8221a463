import { sumOf } from "../shared/numbers.js";
import { softmax } from "../shared/attention.js";
import { MAX_FEATURES, MAX_KEYS, NUM_QUERIES, STUCK } from "./constants.js";

// The same computation as in scaling.py: random queries and keys, weights, entropy and gradient.

function scramble(x) {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The features of a query (vector 0) or of one of its keys (1, 2, …). */
function drawVector(seed, query, vector) {
  const numbers = new Float64Array(MAX_FEATURES);
  const start = scramble(seed);
  const first = (query * (1 + MAX_KEYS) + vector) * MAX_FEATURES;
  for (let i = 0; i < MAX_FEATURES; i += 2) {
    const radius = Math.sqrt(-2 * Math.log((scramble((first + i) ^ start) + 1) / 2 ** 32));
    const angle = (2 * Math.PI * scramble((first + i + 1) ^ start)) / 2 ** 32;
    numbers[i] = radius * Math.cos(angle);
    numbers[i + 1] = radius * Math.sin(angle);
  }
  return numbers;
}

export const limitsOf = (own) =>
  own ? { d: own[0][0].length, num_keys: own[1].length, num_queries: own[0].length }
    : { d: MAX_FEATURES, num_keys: MAX_KEYS, num_queries: NUM_QUERIES };

/** Powers of two up to the greatest size, that size, and the present one. */
export function sizesFor(d, most) {
  const sizes = new Set([d, most]);
  for (let size = 1; size <= most; size *= 2) sizes.add(size);
  return [...sizes].sort((a, b) => a - b);
}

/** The products of the first features of two vectors, for each of the sizes. */
function multiplyBySize(a, b, sizes) {
  let sum = 0;
  let i = 0;
  return sizes.map((size) => {
    for (; i < size; i++) sum += a[i] * b[i];
    return sum;
  });
}

/** All products that the curves need: they change with the vectors and the sizes, not with scale and temperature. */
export class Products {
  constructor() {
    this.drawn = new Map();
  }

  /** Make sure that the products belong to this state. */
  fit({ own, seed, d, num_keys }) {
    const { d: most, num_queries } = limitsOf(own);
    const sizes = sizesFor(d, most);
    if (own !== this.own || seed !== this.seed) this.drawn.clear();
    else if (num_keys === this.numKeys && String(sizes) === String(this.sizes)) return;
    Object.assign(this, { own, seed, sizes, numKeys: num_keys, queries: [], temperature: null });
    for (let n = 0; n < num_queries; n++) {
      const [q, ...keys] = Array.from({ length: 1 + num_keys }, (_, vector) => this.vector(n, vector));
      const scores = keys.map((key) => multiplyBySize(q, key, sizes));
      const pairs = keys.map((one, i) => keys.slice(0, i + 1).map((other) => multiplyBySize(one, other, sizes)));
      this.queries.push({ scores, pairs });
    }
  }

  vector(query, vector) {
    if (this.own) return vector ? this.own[1][vector - 1] : this.own[0][query];
    const place = query * (1 + MAX_KEYS) + vector;
    if (!this.drawn.has(place)) this.drawn.set(place, drawVector(this.seed, query, vector));
    return this.drawn.get(place);
  }

  /** q·k of one query with each of its keys, for the size of this number. */
  scores(query, at) {
    return this.queries[query].scores.map((bySize) => bySize[at]);
  }

  /** By scaled: a summary for each size. Kept until the temperature changes. */
  curves(temperature) {
    if (temperature !== this.temperature) {
      const curve = (scaled) => this.sizes.map((d, at) => summarize(this, at, divisorOf(d, scaled, temperature)));
      this.drawnCurves = { false: curve(false), true: curve(true) };
      this.temperature = temperature;
    }
    return this.drawnCurves;
  }

  /** k·k of two of its keys. */
  pair(query, i, j, at) {
    return this.queries[query].pairs[Math.max(i, j)][Math.min(i, j)][at];
  }
}

const divisorOf = (d, scaled, temperature) => (scaled ? Math.sqrt(d) : 1) * temperature;

/** In nats. A weight of 0 counts as 0. */
export const spreadOf = (weights) => weights.reduce((sum, w) => (w > 0 ? sum - w * Math.log(w) : sum), 0);

/** How each weight changes with each score: diag(w) − w wᵀ. */
export const byScores = (weights) => weights.map((w, i) => weights.map((other, j) => (i === j ? w : 0) - w * other));

export const sizeOf = (numbers) => Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0));

/**
 * The size of ∂weights/∂q, from products alone: weight i moves by w_i (k_i − average key) / divisor. All keys are taken
 * relative to the one with the largest weight, near which the average lies: so no digit is lost.
 */
export function gradientSize(weights, divisor, products, query, at) {
  const top = weights.indexOf(Math.max(...weights));
  const pair = (i, j) => products.pair(query, i, j, at);
  const relative = weights.map((_, i) => weights.map((_, j) => pair(i, j) - pair(i, top) - (pair(j, top) - pair(top, top))));
  const withAverage = relative.map((row) => row.reduce((sum, x, j) => sum + x * weights[j], 0));
  const average = withAverage.reduce((sum, x, i) => sum + x * weights[i], 0);
  const squares = weights.map((w, i) => w ** 2 * Math.max(relative[i][i] - 2 * withAverage[i] + average, 0));
  return Math.sqrt(sumOf(squares)) / divisor;
}

/** As torch's median: of an even number, the lower one of the middle two. */
const medianOf = (numbers) => numbers.sort((a, b) => a - b)[(numbers.length - 1) >> 1];

/** The mean entropy of all queries, their median gradient, and the fraction that gives over 99 % to a single key. */
function summarize(products, at, divisor) {
  const weights = products.queries.map((_, n) => softmax(products.scores(n, at).map((x) => x / divisor)));
  const mean = (numbers) => sumOf(numbers) / numbers.length;
  return {
    entropy: mean(weights.map(spreadOf)),
    gradient: medianOf(weights.map((row, n) => gradientSize(row, divisor, products, n, at))),
    stuck: mean(weights.map((row) => Number(Math.max(...row) > STUCK))),
  };
}

/** All that is drawn. */
export function measure(state, products) {
  const limits = limitsOf(state.own);
  const least = (name, most) => Math.min(state[name], most); // while Python has not yet fitted them to new vectors
  const [d, num_keys, query] = [least("d", limits.d), least("num_keys", limits.num_keys), least("query", limits.num_queries - 1)];
  products.fit({ ...state, d, num_keys });
  const { sizes } = products;
  const at = sizes.indexOf(d);
  const divisor = divisorOf(d, state.scaled, state.temperature);
  const raw = products.queries.flatMap((_, n) => products.scores(n, at));
  const scores = products.scores(query, at).map((x) => x / divisor);
  const weights = softmax(scores);
  return {
    d, query, divisor, limits, sizes, at, scores, weights, numQueries: limits.num_queries,
    all: raw.map((x) => x / divisor),
    entropy: spreadOf(weights),
    jacobian: byScores(weights),
    gradient: gradientSize(weights, divisor, products, query, at),
    curves: products.curves(state.temperature),
  };
}

/** Of numbers as they are, about their mean. */
export function deviation(numbers) {
  const mean = sumOf(numbers) / numbers.length;
  return Math.sqrt(numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length);
}
