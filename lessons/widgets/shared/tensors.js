// Arithmetic of tensors, { data: Float32Array, shape }: float32 as in torch, with sums in double precision.

export const makeTensor = (shape, data = new Float32Array(shape.reduce((a, b) => a * b, 1))) => ({ data, shape });

/** x (T, in), weight (out, in), bias (out,), or none -> (T, out). Rows go in pairs, and meet four of the weight at a time. */
export function linear({ data: x, shape: [rows, width] }, { data: w, shape: [count] }, { data: bias } = makeTensor([count])) {
  const y = new Float32Array(rows * count);
  const paired = rows - (rows % 2);
  for (let i = 0; i < count; i += 4) {
    const j = Math.min(i + 1, count - 1); // at the end, one is computed again
    const k = Math.min(i + 2, count - 1);
    const l = Math.min(i + 3, count - 1);
    const wi = i * width;
    const wj = j * width;
    const wk = k * width;
    const wl = l * width;
    for (let row = 0; row < paired; row += 2) {
      const from = row * width;
      const below = from + width;
      let i0 = bias[i], j0 = bias[j], k0 = bias[k], l0 = bias[l];
      let i1 = i0, j1 = j0, k1 = k0, l1 = l0;
      for (let f = 0; f < width; f++) {
        const x0 = x[from + f], x1 = x[below + f];
        const ci = w[wi + f], cj = w[wj + f], ck = w[wk + f], cl = w[wl + f];
        i0 += x0 * ci; j0 += x0 * cj; k0 += x0 * ck; l0 += x0 * cl;
        i1 += x1 * ci; j1 += x1 * cj; k1 += x1 * ck; l1 += x1 * cl;
      }
      const to = row * count;
      const under = to + count;
      y[to + i] = i0; y[to + j] = j0; y[to + k] = k0; y[to + l] = l0;
      y[under + i] = i1; y[under + j] = j1; y[under + k] = k1; y[under + l] = l1;
    }
    if (paired === rows) continue;
    const from = paired * width;
    const to = paired * count;
    let i0 = bias[i], j0 = bias[j], k0 = bias[k], l0 = bias[l];
    for (let f = 0; f < width; f++) {
      const x0 = x[from + f];
      i0 += x0 * w[wi + f]; j0 += x0 * w[wj + f]; k0 += x0 * w[wk + f]; l0 += x0 * w[wl + f];
    }
    y[to + i] = i0; y[to + j] = j0; y[to + k] = k0; y[to + l] = l0;
  }
  return makeTensor([rows, count], y);
}

export function addTensors({ data: x, shape }, { data: y }) {
  const sum = makeTensor(shape);
  for (let i = 0; i < x.length; i++) sum.data[i] = x[i] + y[i];
  return sum;
}

/** LayerNorm of each row of x (T, D); bias (D,), or none. */
export function layerNorm(x, weight, { data: bias } = makeTensor(weight.shape), epsilon = 1e-5) {
  const [rows, width] = x.shape;
  const y = makeTensor(x.shape);
  for (let row = 0; row < rows; row++) {
    const numbers = x.data.subarray(row * width, (row + 1) * width);
    let mean = 0;
    for (const number of numbers) mean += number / width;
    let variance = 0;
    for (const number of numbers) variance += (number - mean) ** 2 / width;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let i = 0; i < width; i++) y.data[row * width + i] = (numbers[i] - mean) * scale * weight.data[i] + bias[i];
  }
  return y;
}

/** RMSNorm of each row of x (T, D). */
export function rmsNorm(x, weight, epsilon) {
  const [rows, width] = x.shape;
  const y = makeTensor(x.shape);
  for (let row = 0; row < rows; row++) {
    const numbers = x.data.subarray(row * width, (row + 1) * width);
    let meanSquare = 0;
    for (const number of numbers) meanSquare += number ** 2 / width;
    const scale = 1 / Math.sqrt(meanSquare + epsilon);
    for (let i = 0; i < width; i++) y.data[row * width + i] = numbers[i] * scale * weight.data[i];
  }
  return y;
}

/** At most 1.5e-7 off: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26. */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - tail * Math.exp(-x * x));
}

const ACTIVATIONS = {
  relu: (x) => (x < 0 ? 0 : x), // NaN stays NaN
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x / (1 + Math.exp(-x)),
};

export function activate({ data: x, shape }, activation) {
  const act = ACTIVATIONS[activation];
  const y = makeTensor(shape);
  for (let i = 0; i < x.length; i++) y.data[i] = act(x[i]);
  return y;
}

/** The angles of a position: position / base^(2i / size) for i = 0, 1, … */
export const anglesOf = (position, size, base = 10000) => Array.from({ length: Math.ceil(size / 2) }, (_, i) => position * base ** ((-2 * i) / size));

/** Row `position` of the sinusoids: sines and cosines alternate. If size is odd, there is one cosine more. */
export const sinusoidsOf = (position, size) => anglesOf(position, size).flatMap((angle) => [Math.sin(angle), Math.cos(angle)]);

/**
 * Rotates each pair of features in every head of x (T, H · d), in place; angles: those of the d / 2 pairs, for each row.
 * Neighbors are a pair, or, with halves, features i and i + d / 2.
 */
export function rotatePairs(x, angles, heads, halves = false) {
  const width = x.shape[1];
  const size = width / heads;
  const [step, apart] = halves ? [1, size / 2] : [2, 1];
  angles.forEach((ofRow, row) => {
    const [cosines, sines] = [ofRow.map(Math.cos), ofRow.map(Math.sin)];
    for (let head = row * width; head < (row + 1) * width; head += size)
      for (let pair = 0; pair < size / 2; pair++) {
        const at = head + pair * step;
        const [one, other] = [x.data[at], x.data[at + apart]];
        x.data[at] = one * cosines[pair] - other * sines[pair];
        x.data[at + apart] = one * sines[pair] + other * cosines[pair];
      }
  });
}

/** Matrix `i` of x (H, T, d), as (T, d). */
export const matrixOf = ({ data, shape: [, rows, width] }, i) => makeTensor([rows, width], data.subarray(i * rows * width, (i + 1) * rows * width));

/** Writes weights (Q, K) times values (K, d) to mixed (Q, d). */
function mixValues({ data: weights, shape: [queries, keys] }, { data: values, shape: [, size] }, { data: mixed }) {
  const sums = new Float64Array(size);
  for (let query = 0; query < queries; query++) {
    sums.fill(0);
    for (let key = 0; key < keys; key++) {
      const weight = weights[query * keys + key];
      if (weight !== 0) for (let i = 0; i < size; i++) sums[i] += weight * values[key * size + i];
    }
    mixed.set(sums, query * size);
  }
}

/** Writes the softmax of each row of scores (Q, K) to weights. A query with no allowed key has weights of 0. */
function maskedSoftmax({ data: scores, shape: [queries, keys] }, { data: allowed }, { data: weights }) {
  for (let from = 0; from < queries * keys; from += keys) {
    let most = -Infinity;
    for (let i = from; i < from + keys; i++) if (allowed[i] && scores[i] > most) most = scores[i];
    let sum = 0;
    for (let i = from; i < from + keys; i++) if (allowed[i]) sum += weights[i] = Math.exp(scores[i] - most);
    for (let i = from; i < from + keys; i++) if (allowed[i]) weights[i] /= sum;
  }
}

/**
 * Attention of each head: q (H, Q, d), k (H_kv, K, d), v (H_kv, K, d_v), allowed (H, Q, K), 1 = may attend; H / H_kv
 * neighboring heads use the same keys and values. Returns scores and weights (H, Q, K), and heads (H, Q, d_v).
 */
export function attendHeads(q, k, v, allowed) {
  const [count, queries, size] = q.shape;
  const [scores, weights] = [makeTensor(allowed.shape), makeTensor(allowed.shape)];
  const heads = makeTensor([count, queries, v.shape[2]]);
  const scaled = makeTensor(q.shape, q.data.map((x) => x / Math.sqrt(size)));
  const group = count / k.shape[0];
  for (let i = 0; i < count; i++) {
    const shared = Math.floor(i / group);
    const [ofScores, ofWeights] = [matrixOf(scores, i), matrixOf(weights, i)];
    ofScores.data.set(linear(matrixOf(scaled, i), matrixOf(k, shared)).data);
    maskedSoftmax(ofScores, matrixOf(allowed, i), ofWeights);
    mixValues(ofWeights, matrixOf(v, shared), matrixOf(heads, i));
  }
  return { scores, weights, heads };
}

/** (T, H · d) -> (H, T, d) */
export function splitHeads({ data, shape: [rows, width] }, heads) {
  const size = width / heads;
  const y = makeTensor([heads, rows, size]);
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const from = row * width + head * size;
      y.data.set(data.subarray(from, from + size), (head * rows + row) * size);
    }
  return y;
}

/** (H, T, d) -> (T, H · d) */
export function joinHeads({ data, shape: [heads, rows, size] }) {
  const y = makeTensor([rows, heads * size]);
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const from = (head * rows + row) * size;
      y.data.set(data.subarray(from, from + size), (row * heads + head) * size);
    }
  return y;
}

/** Between two neighboring numbers of 16 bits with this exponent. */
const STEPS = Float64Array.from({ length: 32 }, (_, exponent) => (exponent === 31 ? Infinity : 2 ** (Math.max(exponent, 1) - 25)));

/** Numbers of 16 bits, none of them NaN, as float32. A loop: a whole model is read before its first picture. */
export function readHalves(halves) {
  const numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) {
    const exponent = (halves[i] >> 10) & 31;
    const size = STEPS[exponent] * ((exponent ? 1024 : 0) + (halves[i] & 1023));
    numbers[i] = halves[i] >> 15 ? -size : size;
  }
  return numbers;
}
