// Tensors as torch has them: a run of numbers in memory, a shape, and strides that say how far to step along each axis.

export const countOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** A tensor that reads its memory in order. */
export const laidOut = (storage, shape) => ({ storage, shape, strides: shape.map((_, i) => countOf(shape.slice(i + 1))) });

/** The place in memory of the number with this index. */
export const placeOf = ({ strides }, index) => index.reduce((sum, i, axis) => sum + i * strides[axis], 0);

/** The index of the number that is read as number `i`. */
export function indexOf({ shape }, i) {
  return shape.map((length, axis) => Math.floor(i / countOf(shape.slice(axis + 1))) % length);
}

/** The numbers in the order in which the tensor reads them. */
export const readAll = (tensor) =>
  Array.from({ length: countOf(tensor.shape) }, (_, i) => tensor.storage[placeOf(tensor, indexOf(tensor, i))]);

export function isContiguous({ shape, strides }) {
  return shape.every((length, axis) => length === 1 || strides[axis] === countOf(shape.slice(axis + 1)));
}

export const permute = ({ storage, shape, strides }, axes) =>
  ({ storage, shape: axes.map((axis) => shape[axis]), strides: axes.map((axis) => strides[axis]) });

/** The same memory in another shape, or null where no strides can do it: axes merge only if one follows the other. */
export function viewAs({ storage, shape, strides }, wanted) {
  const found = wanted.map(() => 0);
  let to = wanted.length - 1;
  let base = strides.at(-1);
  let [old, made] = [1, 1]; // how many numbers the axes hold that belong together
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    old *= shape[axis];
    if (axis > 0 && (shape[axis - 1] === 1 || strides[axis - 1] === old * base)) continue;
    for (; to >= 0 && (made < old || wanted[to] === 1); to--) {
      found[to] = made * base;
      made *= wanted[to];
    }
    if (made !== old) return null;
    [old, made, base] = [1, 1, strides[axis - 1]];
  }
  return to < 0 ? { storage, shape: wanted, strides: found } : null;
}

export const contiguous = (tensor) => (isContiguous(tensor) ? tensor : laidOut(readAll(tensor), tensor.shape));
export const reshape = (tensor, shape) => viewAs(tensor, shape) ?? laidOut(readAll(tensor), shape);
