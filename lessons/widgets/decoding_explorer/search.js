import { orderOf } from "./candidates.js";

// Beam search, and its tree, as lessons/decoding/search.py and beam_tree.py have them.

/** The logarithms of the softmax. */
export function logSoftmax(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const log = most + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - most), 0));
  return Float64Array.from(logits, (x) => x - log);
}

/** The steps of a search, { kept, dropped }, computed one by one. logProbsAfter(ids): those of the next token. */
export class BeamSearch {
  constructor(logProbsAfter, { bos, eos, longest, width, length_penalty }) {
    Object.assign(this, { logProbsAfter, eos, longest, width, length_penalty, steps: [] });
    this.kept = [{ ids: [bos], log_prob: 0, score: 0, finished: false, parent: 0 }];
  }

  get ended() {
    return this.steps.length === this.longest || this.kept.every(({ finished }) => finished);
  }

  /** The first `depth` steps, or all if there are fewer. */
  upTo(depth) {
    while (this.steps.length < depth && !this.ended) this.advance();
    return this.steps.slice(0, depth);
  }

  advance() {
    const places = this.kept.map((hypothesis, parent) => ({ ...hypothesis, parent }));
    const done = places.filter(({ finished }) => finished);
    const candidates = [...done, ...places.filter(({ finished }) => !finished).flatMap((each) => this.extend(each))];
    candidates.sort((a, b) => b.score - a.score);
    this.kept = candidates.slice(0, this.width);
    this.steps.push({ kept: this.kept, dropped: candidates.slice(this.width, 2 * this.width) });
  }

  /** The most likely extensions of a hypothesis by one token. */
  extend({ ids, log_prob, parent }) {
    const logProbs = this.logProbsAfter(ids);
    const likely = orderOf(logProbs).slice(0, 2 * this.width).filter((id) => logProbs[id] > -Infinity);
    return likely.map((id) => {
      const total = log_prob + logProbs[id];
      const score = total / ((5 + ids.length) / 6) ** this.length_penalty; // BOS doesn't count, the new token does
      return { ids: [...ids, id], log_prob: total, score, finished: id === this.eos, parent };
    });
  }
}

/** The nodes of the tree, each after its parent. */
export function growTree(steps) {
  const nodes = [];
  let places = [-1]; // the node of each place in the beam
  for (const { kept, dropped } of steps) {
    const before = places;
    places = [];
    [...kept, ...dropped].forEach(({ ids, log_prob, score, finished, parent }, i) => {
      const isKept = i < kept.length;
      let place = before[parent];
      if (place < 0 || !nodes[place].finished) { // a finished one adds no token
        const level = ids.length - 1;
        nodes.push({ word: ids.at(-1), parent: place, level, log_prob, score, finished, state: isKept ? "left" : "dropped", rank: 0 });
        place = nodes.length - 1;
      }
      if (isKept) places.push(place);
    });
  }
  if (!steps.length) return nodes;
  places.forEach((place, i) => {
    Object.assign(nodes[place], { state: "kept", rank: i + 1 });
    for (let above = nodes[place].parent; above >= 0; above = nodes[above].parent) nodes[above].state = "way";
  });
  return nodes;
}
