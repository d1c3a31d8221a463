import { matches } from "../shared/engine.js";

// What changed between two results of `run`, and what the changes have done to the parts of the map.

const NOTICED = 0.02; // a smaller difference is no change

/** The greatest difference of two (…, R, C) within the rows and columns that both have; scale: of which it is a fraction. */
function greatest(now, before, leading, scale) {
  const [rows, columns] = now.shape.slice(-2);
  const [oldRows, oldColumns] = before.shape.slice(-2);
  let [most, size] = [0, 0];
  for (let r = 0; r < Math.min(rows, oldRows); r++) {
    for (let c = 0; c < Math.min(columns, oldColumns); c++) {
      const [x, y] = [now.data[(leading * rows + r) * columns + c], before.data[(leading * oldRows + r) * oldColumns + c]];
      if (Math.abs(x - y) > most) most = Math.abs(x - y);
      if (scale && Math.abs(y) > size) size = Math.abs(y);
    }
  }
  return scale ? most / (size || 1) : most;
}

/**
 * By how much each head (weights), feed-forward network (units, as a fraction of the largest) and the next words
 * (probabilities) changed: a Map from "place head", "place" and "logits". What changed less than noticed is left out.
 */
export function compare(now, before) {
  const found = new Map();
  const note = (key, most) => { if (most >= NOTICED) found.set(key, most); };
  if (!before || before === now) return found;
  for (const [place, { weights, hidden }] of Object.entries(now.places)) {
    const old = before.places[place];
    if (hidden) note(place, greatest(hidden, old.hidden, 0, true));
    else for (let head = 0; head < weights.shape[0]; head++) note(`${place} ${head}`, greatest(weights, old.weights, head, false));
  }
  return found;
}

/** The word of each row that is most probable, and its probability. */
export function likeliest({ data, shape: [rows, words] }) {
  return Array.from({ length: rows }, (_, r) => {
    const row = data.subarray(r * words, (r + 1) * words);
    let best = 0;
    for (let i = 1; i < words; i++) if (row[i] > row[best]) best = i;
    let sum = 0;
    for (let i = 0; i < words; i++) sum += Math.exp(row[i] - row[best]);
    return { word: best, probability: row[best] === -Infinity ? NaN : 1 / sum };
  });
}

/** What the changes that are on do: sets of places that are cut, heads that are silenced, and so on. */
export function effects(changes, places) {
  const found = { cut: new Set(), silenced: new Set(), noCausal: new Set(), noPadding: new Set(), hidden: new Set(),
    moved: new Set(), forced: new Set(), edited: new Set() };
  const kinds = { cut: "cut", drop_causal: "noCausal", drop_padding: "noPadding", block: "edited", allow: "edited" };
  for (const { kind, at, head, side, token, other, on = true } of changes) {
    if (!on) continue;
    const here = places.filter((place) => (at ?? null) === null || matches(at, place));
    if (kind === "silence") for (const place of here) found.silenced.add(`${place} ${head}`);
    else if (kind === "hide") found.hidden.add(`${side} ${token}`);
    else if (kind === "swap_positions") for (const one of [token, other]) found.moved.add(`${side} ${one}`);
    else if (kind === "drop_positions") for (const one of side ? [side] : ["src", "tgt"]) found.moved.add(one);
    else if (kind === "force") found.forced.add(token);
    else for (const place of here) {
      if (kind !== "cut" && place.endsWith("feed_forward")) continue;
      if (kind === "drop_causal" && !/^decoder.*self_attn$/.test(place)) continue;
      found[kinds[kind]].add(head === undefined || head === null ? place : `${place} ${head}`);
    }
  }
  return found;
}
