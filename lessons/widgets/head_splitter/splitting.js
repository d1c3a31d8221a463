import { readNumber } from "../shared/grid.js";
import { contiguous, indexOf, laidOut, permute, reshape, viewAs } from "./strided.js";

// The same computation as in lessons/widgets/splitting.py, on strided tensors. What travels are ids: the place of each
// number in the memory of x, which tells its home.

export const SIZES = { batch: 3, length: 6, num_heads: 8, head_dim: 4 };
export const MOST = 200;
const TELLING = ["batch", "token", "column"];
const CUT = ["batch", "token", "head", "feature"];
const SPLIT = ["batch", "head", "token", "feature"];
export const LETTERS = { batch: "B", token: "T", head: "H", feature: "d", column: "D" };
export const WAY = [
  { name: "x", variable: "x", code: "x", axes: TELLING,
    about: "One row for each token; the colours and letters show which head each number will belong to." },
  { name: "cut", variable: "cut", code: "cut = x.view(B, T, H, d)", axes: CUT,
    about: "The last axis is cut in two: the heads are there, inside each token." },
  { name: "exchange", variable: "heads", code: "heads = cut.transpose(1, 2)", axes: SPLIT,
    about: "Axes 1 and 2 change places: now each head has its own block, a row for each token." },
  { name: "attend", variable: "computed", code: "computed = heads.contiguous()", axes: SPLIT,
    about: "Attention happens here, in each block by itself. Its output is new, head after head in memory; contiguous() stands for it, so that you can follow the numbers." },
  { name: "exchange back", variable: "back", code: "back = computed.transpose(1, 2)", axes: CUT,
    about: "Axes 1 and 2 change places again: the heads are inside each token." },
  { name: "join", variable: "joined", code: "joined = back.reshape(B, T, D)", axes: TELLING,
    about: "The heads of a token are laid side by side: the shape of x again." },
];
export const WRONG = {
  "view in one step": { step: 2, code: "heads = x.view(B, H, T, d)" },
  "cut as (d, H)": { step: 2, code: "heads = x.view(B, T, d, H).permute(0, 3, 1, 2)" },
  "join without exchanging back": { step: 5, code: "joined = computed.reshape(B, T, D)" },
  "join by view": { step: 5, code: "joined = computed.transpose(1, 2).view(B, T, D)" },
};

export const ERROR = "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans " +
  "across two contiguous subspaces). Use .reshape(...) instead.";

/** The right way, from x to joined, and the wrong way that is chosen; null where torch raises. */
export function followHeads({ batch: B, length: T, num_heads: H, head_dim: d, compare }) {
  const D = H * d;
  const x = laidOut(Array.from({ length: B * T * D }, (_, id) => id), [B, T, D]);
  const exchange = (tensor) => permute(tensor, [0, 2, 1, 3]);
  const cut = viewAs(x, [B, T, H, d]);
  const heads = exchange(cut);
  const computed = contiguous(heads);
  const back = exchange(computed);
  const wrong = {
    "view in one step": () => viewAs(x, [B, H, T, d]),
    "cut as (d, H)": () => permute(viewAs(x, [B, T, d, H]), [0, 3, 1, 2]),
    "join without exchanging back": () => reshape(computed, [B, T, D]),
    "join by view": () => viewAs(back, [B, T, D]),
  }[compare]();
  return { way: [x, cut, heads, computed, back, reshape(back, [B, T, D])], wrong };
}

/** Where the number with this id belongs. */
export function homeOf(id, { length: T, num_heads: H, head_dim: d }) {
  const [batch, token, column] = indexOf({ shape: [1 + id, T, H * d] }, id);
  return { batch, token, head: Math.floor(column / d), feature: column % d };
}

/** The numbers in the memory of x: your own where they fit, else numbers that tell where they come from. */
export function numbersOf({ batch: B, length: T, num_heads: H, head_dim: d, x }) {
  const D = H * d;
  if (x && x.length === B && x[0].length === T && x[0][0].length === D) return x.flat(2).map(readNumber);
  const base = D <= 10 ? 10 : 100;
  return Array.from({ length: B * T * D }, (_, id) => {
    const [batch, token, column] = indexOf({ shape: [B, T, D] }, id);
    return batch * 10 * base + token * base + column;
  });
}
