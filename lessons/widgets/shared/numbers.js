// Numbers as they come, as they are written, and sums of them.

const WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** JSON has no infinity and no NaN: they come as text. */
export const readNumber = (x) => (typeof x === "string" ? WORDS[x] : x);

/** Two decimals, with a true minus; very large numbers by their power of ten. */
export function formatNumber(x, decimals = 2) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (Math.abs(x) >= 1000) return x.toExponential(0).replace("+", "").replace(/-/g, "−");
  const text = x.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

export const readMatrix = (rows) => rows.map((row) => row.map(readNumber));

const readBuffer = (text) => readBytes(text).buffer;
/** From base64: bytes, or floats of 32 or 64 bits, as Python packs them. A loop: Uint8Array.from takes ten times as long. */
export function readBytes(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
export const readFloats = (text) => new Float32Array(readBuffer(text));
export const readDoubles = (text) => new Float64Array(readBuffer(text));
export const writeDoubles = (numbers) => btoa(Array.from(new Uint8Array(Float64Array.from(numbers).buffer), (byte) => String.fromCharCode(byte)).join(""));

/** A flat run of numbers in rows. */
export const inRows = (numbers, rows) => {
  const columns = numbers.length / rows;
  return Array.from({ length: rows }, (_, r) => [...numbers.slice(r * columns, (r + 1) * columns)]);
};

export const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0);
export const isOne = (sum) => Math.abs(sum - 1) < 1e-4;
