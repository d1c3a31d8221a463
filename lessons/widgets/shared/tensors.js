// Arithmetic of tensors, { data: Float32Array, shape }: float32 as in torch, with sums in double precision.

const EPSILON = 1e-5; // of torch.nn.LayerNorm

export const makeTensor = (shape, data = new Float32Array(shape.reduce((a, b) => a * b, 1))) => ({ data, shape });

/** x (T, in), weight (out, in), bias (out,) -> (T, out). Rows go in pairs, and meet four of the weight at a time. */
export function linear({ data: x, shape: [rows, width] }, { data: w, shape: [count] }, { data: bias }) {
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

export const addTensors = (x, y) => makeTensor(x.shape, x.data.map((number, i) => number + y.data[i]));

/** LayerNorm of each row of x (T, D). */
export function layerNorm(x, weight, bias) {
  const [rows, width] = x.shape;
  const y = makeTensor(x.shape);
  for (let row = 0; row < rows; row++) {
    const numbers = x.data.subarray(row * width, (row + 1) * width);
    let mean = 0;
    for (const number of numbers) mean += number / width;
    let variance = 0;
    for (const number of numbers) variance += (number - mean) ** 2 / width;
    const scale = 1 / Math.sqrt(variance + EPSILON);
    for (let i = 0; i < width; i++) y.data[row * width + i] = (numbers[i] - mean) * scale * weight.data[i] + bias.data[i];
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
};

export const activate = (x, activation) => makeTensor(x.shape, x.data.map(ACTIVATIONS[activation]));

/** The angles of a position: position / 10000^(2i / size) for i = 0, 1, … */
const anglesOf = (position, size) => Array.from({ length: Math.ceil(size / 2) }, (_, i) => position * 10000 ** ((-2 * i) / size));

/** Row `position` of the sinusoids: sines and cosines alternate. If size is odd, there is one cosine more. */
export const sinusoidsOf = (position, size) => anglesOf(position, size).flatMap((angle) => [Math.sin(angle), Math.cos(angle)]);

/** Rotates each pair of features in every head of x (T, H · d), in place; order: the position of each row. */
export function rotatePairs(x, order, heads) {
  const width = x.shape[1];
  const size = width / heads;
  order.forEach((position, row) => {
    const angles = anglesOf(position, size).map(Math.fround);
    const [cosines, sines] = [angles.map(Math.cos), angles.map(Math.sin)];
    for (let i = 0; i < width; i += 2) {
      const at = row * width + i;
      const pair = (i % size) / 2;
      const [one, other] = [x.data[at], x.data[at + 1]];
      x.data[at] = one * cosines[pair] - other * sines[pair];
      x.data[at + 1] = one * sines[pair] + other * cosines[pair];
    }
  });
}

/**
 * Attention of all heads: q (Q, H · d), k (K, H · d), v (K, H · d_v), allowed (H, Q, K), 1 = may attend. A query with no
 * allowed key has weights of 0. scores and weights (H, Q, K), mixed (Q, H · d_v).
 */
export function attendHeads({ data: q, shape: [queries, width] }, { data: k }, { data: v, shape: [keys, valueWidth] }, allowed, heads) {
  const [size, valueSize] = [width / heads, valueWidth / heads];
  const root = Math.sqrt(size);
  const [scores, weights] = [makeTensor(allowed.shape), makeTensor(allowed.shape)];
  const mixed = makeTensor([queries, valueWidth]);
  const sums = new Float64Array(valueSize);
  for (let head = 0; head < heads; head++) {
    for (let query = 0; query < queries; query++) {
      const at = (head * queries + query) * keys;
      const row = scores.data.subarray(at, at + keys);
      const may = allowed.data.subarray(at, at + keys);
      const from = query * width + head * size;
      let most = -Infinity;
      for (let key = 0; key < keys; key++) {
        const other = key * width + head * size;
        let sum = 0;
        for (let f = 0; f < size; f++) sum += q[from + f] * k[other + f];
        row[key] = sum / root;
        if (may[key] && row[key] > most) most = row[key];
      }
      const powers = row.map((score, key) => (may[key] ? Math.exp(score - most) : 0));
      const total = powers.reduce((sum, power) => sum + power, 0);
      sums.fill(0);
      for (let key = 0; key < keys; key++) {
        if (!may[key]) continue;
        const weight = (weights.data[at + key] = powers[key] / total);
        const other = key * valueWidth + head * valueSize;
        for (let f = 0; f < valueSize; f++) sums[f] += weight * v[other + f];
      }
      mixed.data.set(sums, query * valueWidth + head * valueSize);
    }
  }
  return { scores, weights, mixed };
}

/** (T, H · d) -> (H, T, d) */
export function splitHeads(x, heads) {
  const [rows, width] = x.shape;
  const size = width / heads;
  const y = makeTensor([heads, rows, size]);
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const from = row * width + head * size;
      y.data.set(x.data.subarray(from, from + size), (head * rows + row) * size);
    }
  return y;
}

/** Numbers of 16 bits as float32. */
export function readHalves(halves) {
  return Float32Array.from(halves, (bits) => {
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  });
}
