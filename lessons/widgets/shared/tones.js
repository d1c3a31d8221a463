import { formatNumber } from "./numbers.js";
import { VISIBLE, mixColor } from "./palette.js";
import { worded } from "./words.js";
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
  rule: (x) => (x ? { text: "", ground: VISIBLE, say: worded("allowed") } : { ...CROSSED, say: worded("blocked") }),
  clicks: (x) => {
    if (Number.isNaN(x)) return { text: "", kind: "unchanged", say: worded("not clicked") };
    return x ? { mark: "+", ground: VISIBLE, say: worded("allowed by your click") } : { ...CROSSED, say: worded("blocked by your click") };
  },
  mask: (x, blocked, { convention, size }) => {
    const text = WRITTEN[convention][x ? 1 : 0];
    const short = size < 36 ? text.slice(0, text.startsWith("−") ? 2 : 1) : text;
    const say = x ? worded("may attend, {text}", { text }) : worded("blocked, {text}", { text });
    return x ? { text: short, ground: VISIBLE, say } : { ...CROSSED, text: short, say };
  },
  weights: (x, blocked) => {
    if (blocked && x === 0) return { ...CROSSED, say: worded("blocked, weight 0") };
    const look = special(x) ?? ordinary(x, mixColor(WEIGHTS, x));
    const say = blocked ? worded("blocked, yet weight {weight}", { weight: look.text }) : worded("weight {weight}", { weight: look.text });
    return { ...look, leak: blocked, say };
  },
  scores: (x, blocked, { bound }) => {
    const look = bySign(x, bound);
    const say = blocked ? worded("blocked, score {score}", { score: look.text }) : worded("score {score}", { score: look.text });
    return { ...look, leak: blocked && !look.kind, say };
  },
  powers: (x, blocked, { bound }) => {
    if (blocked && x === 0) return { ...CROSSED, text: "0", say: worded("blocked, e to the power −∞ is 0") };
    const look = bySign(x, bound);
    return { ...look, say: worded("e to the power: {power}", { power: look.text }) };
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
