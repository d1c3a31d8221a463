import { CAUSAL, CHUNKS, LOCAL, PACKED, PREFIX, SINK, START, STRIDED, TREE, WINDOW } from "./constants.js";

// The same rules as in patterns.py: may this query attend to this key? n is the size of the rule.

export const PATTERNS = {
  [CAUSAL]: (q, k) => k <= q,
  [WINDOW]: (q, k, n) => k <= q && k > q - n,
  [SINK]: (q, k, n) => k <= q && (k > q - n || k < 1),
  [PREFIX]: (q, k, n) => k <= q || k < n,
  [PACKED]: (q, k, n, inDocument) => k <= q && inDocument[q] === inDocument[k],
  [LOCAL]: (q, k, n) => Math.abs(q - k) < n || q < 1 || k < 1,
  [STRIDED]: (q, k, n) => k <= q && (q - k) % n === 0,
  [CHUNKS]: (q, k, n) => k <= q && Math.floor(q / n) === Math.floor(k / n),
  [TREE]: (q, k, n) => {
    while (q > k) q = Math.floor((q - 1) / n);
    return q === k;
  },
};

/** The document of each token: a number that grows where one begins. */
export function documents(tokens) {
  let document = 0;
  return tokens.map((token) => (document += Number(token === START)));
}
