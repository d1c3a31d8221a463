import { readNumber } from "../shared/numbers.js";
import { DEALT, NOT_BACK, NO_COPY, STRAIGHT } from "./constants.js";
import { contiguous, indexOf, laidOut, permute, reshape, viewAs } from "./strided.js";

// The same computation as in splitting.py, on strided tensors. What travels are ids: the place of each
// number in the memory of x, which tells its home.

/** The right way, from x to joined, and the wrong way that is chosen; null where torch raises. */
export function followHeads({ batch: B, length: T, num_heads: H, head_dim: d, compare }) {
  const D = H * d;
  const x = laidOut(Array.from({ length: B * T * D }, (_, id) => id), [B, T, D]);
  const swap = (tensor) => permute(tensor, [0, 2, 1, 3]);
  const cut = viewAs(x, [B, T, H, d]);
  const heads = swap(cut);
  const computed = contiguous(heads);
  const back = swap(computed);
  const wrong = {
    [STRAIGHT]: () => viewAs(x, [B, H, T, d]),
    [DEALT]: () => permute(viewAs(x, [B, T, d, H]), [0, 3, 1, 2]),
    [NOT_BACK]: () => reshape(computed, [B, T, D]),
    [NO_COPY]: () => viewAs(back, [B, T, D]),
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
