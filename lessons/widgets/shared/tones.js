import { formatNumber } from "./numbers.js";
import { VISIBLE, mixColor } from "./palette.js";
import { ADDITIVE, ALLOWED, BLOCKED, SIGNED, WEIGHTS } from "./constants.js";

// A tone says what a number means, the text of its cell, and its colors. Bright means large, or visible.
// Blocked, infinite and NaN have their own symbols, never a color alone.

const CROSSED = { mark: "×", kind: "crossed" };
const ordinary = (x, ground) => ({ text: formatNumber(x), ground });
function special(x) {
  if (Number.isNaN(x)) return { text: "NaN", kind: "nan" };
  if (Math.abs(x) === Infinity || x <= -1e6) return { text: formatNumber(x), kind: "infinite" };
  return null;
}
/** A mask's cell, blocked and visible, in the words of a convention. */
const WRITTEN = { [ALLOWED]: ["False", "True"], [BLOCKED]: ["True", "False"], [ADDITIVE]: ["−∞", "0"] };

const bySign = (x, bound) => special(x) ?? ordinary(x, mixColor(SIGNED, 0.5 + x / (3 * bound)));

export const TONES = {
  rule: (x) => (x ? { text: "", ground: VISIBLE, say: "allowed" } : { ...CROSSED, say: "blocked" }),
  clicks: (x) => {
    if (Number.isNaN(x)) return { text: "", kind: "unchanged", say: "not clicked" };
    return x ? { mark: "+", ground: VISIBLE, say: "allowed by your click" } : { ...CROSSED, say: "blocked by your click" };
  },
  mask: (x, blocked, { convention, size }) => {
    const text = WRITTEN[convention][x ? 1 : 0];
    const short = size < 36 ? text.slice(0, text.startsWith("−") ? 2 : 1) : text;
    const say = `${x ? "may attend" : "blocked"}, ${text}`;
    return x ? { text: short, ground: VISIBLE, say } : { ...CROSSED, text: short, say };
  },
  weights: (x, blocked) => {
    if (blocked && x === 0) return { ...CROSSED, say: "blocked, weight 0" };
    const look = special(x) ?? ordinary(x, mixColor(WEIGHTS, x));
    return { ...look, leak: blocked, say: `${blocked ? "blocked, yet " : ""}weight ${look.text}` };
  },
  scores: (x, blocked, { bound }) => {
    const look = bySign(x, bound);
    return { ...look, leak: blocked && !look.kind, say: `${blocked ? "blocked, " : ""}score ${look.text}` };
  },
  powers: (x, blocked, { bound }) => {
    if (blocked && x === 0) return { ...CROSSED, text: "0", say: "blocked, e to the power −∞ is 0" };
    const look = bySign(x, bound);
    return { ...look, say: `e to the power: ${look.text}` };
  },
  values: (x, blocked, { bound }) => {
    const look = bySign(x, bound);
    return { ...look, say: look.text };
  },
  ids: (x) => ({ text: String(x), ground: "#e8e8ec", say: `id ${x}` }),
};

/** The greatest ordinary number, for the colors. */
export function boundOf(matrix) {
  let most = 0;
  for (const row of matrix) for (const x of row) if (Math.abs(x) < 1e6 && Math.abs(x) > most) most = Math.abs(x);
  return most || 1;
}
