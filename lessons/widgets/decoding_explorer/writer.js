import { Pass, Reader, readModel } from "../shared/engine.js";
import { TextPass } from "../shared/language_model.js";
import { readBytes, writeDoubles } from "../shared/numbers.js";
import { distribute, orderOf } from "./candidates.js";
import { BEAM, DECIDES, SAMPLING } from "./constants.js";
import { BeamSearch, growTree, logSoftmax } from "./search.js";

// What Python does for DecodingExplorer, where there is none: the model reads and writes here.

/** Number `place` of the numbers of a seed, uniform in [0, 1): mulberry32. */
export function drawUniform(seed, place) {
  const state = (seed + Math.imul(place + 1, 0x6d2b79f5)) | 0;
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}

export class Writer {
  /** What `DecodingExplorer.alone` returns, and the state to begin with. */
  constructor(about, weights, { words, shown }) {
    Object.assign(this, { about, words, own: shown.own ?? [], logProbs: new Map() });
    const model = readModel(about.config, about.index, readBytes(weights));
    this.reader = new Reader(about.src ? new Pass(model, about.src, [], about.longest) : new TextPass(model, about.longest));
  }

  /** The traits after a button. */
  act(name, state) {
    const { longest } = this.about;
    if (state.method === BEAM) {
      const depths = { step: state.depth + 1, back: state.depth - 1, end: longest, again: 0 };
      return { depth: Math.min(Math.max(depths[name], 0), longest) };
    }
    if (name === "again") return { chosen: [] };
    if (name === "back") return { chosen: state.chosen.slice(0, -1) };
    let { chosen } = state;
    do chosen = [...chosen, this.next({ ...state, chosen })]; while (name === "end" && !this.isFull(chosen));
    return { chosen };
  }

  /** The changes, and the traits that follow from them. isOwn: new tokens are the learner's, not the method's. */
  follow(before, changes, isOwn) {
    const state = { ...before, ...changes };
    const isNew = state.chosen.map((id, i) => id !== before.chosen[i]);
    const shared = isNew.includes(true) ? isNew.indexOf(true) : state.chosen.length;
    this.own = this.own.filter((i) => i < shared);
    if (isOwn) for (let i = shared; i < state.chosen.length; i++) this.own.push(i);
    return { ...changes, ...(state.method === BEAM ? this.searched(state) : this.written(state)) };
  }

  written(state) {
    const { chosen } = state;
    const isFull = this.isFull(chosen);
    const rows = this.logitsAfter(isFull ? chosen.slice(0, -1) : chosen);
    const probabilities = chosen.map((id, i) => Math.exp(logSoftmax(rows[i])[id]));
    const logits = isFull ? null : writeDoubles(rows.at(-1));
    const shown = { chosen, probabilities, own: this.own, logits, full: isFull && chosen.at(-1) !== this.about.eos };
    const decided = Object.fromEntries(DECIDES.map((name) => [name, state[name]]));
    return { shown, choice: { ...decided, next: isFull ? null : this.next(state), kept: null } };
  }

  searched({ width, length_penalty, depth: wanted }) {
    const steps = this.search({ width, length_penalty }).upTo(wanted);
    const depth = steps.length;
    const best = depth ? steps.at(-1).kept[0] : null;
    const { ids, log_prob } = this.search({ width: 1, length_penalty: 0 }).upTo(this.about.longest).at(-1).kept[0];
    const shown = {
      beam: [width, length_penalty, depth],
      nodes: growTree(steps),
      best: best && { text: this.say(best.ids.slice(1)), log_prob: best.log_prob, score: best.score },
      greedy: { text: this.say(ids.slice(1)), log_prob },
      ended: depth === this.about.longest || (depth > 0 && steps.at(-1).kept.every(({ finished }) => finished)),
    };
    return { depth, shown, choice: {} };
  }

  /** The token that greedy or sampling takes after `chosen`. */
  next({ method, chosen, seed, ...options }) {
    const logits = this.logitsAfter(chosen).at(-1);
    const order = orderOf(logits);
    if (method !== SAMPLING) return order[0];
    const { after, kept } = distribute(logits, order, options);
    let left = drawUniform(seed, chosen.length);
    return order.slice(0, kept).find((id) => (left -= after[id]) < 0) ?? order[0];
  }

  /** The logits after BOS, and after each token of `chosen`. */
  logitsAfter(chosen) {
    return this.reader.after([this.about.bos, ...chosen]).map((row) => Float64Array.from(row));
  }

  /** A search with these options; what its sentences share with those of others is read once. */
  search(options) {
    const logProbsAfter = (ids) => {
      const key = ids.join();
      if (!this.logProbs.has(key)) this.logProbs.set(key, logSoftmax(this.logitsAfter(ids.slice(1)).at(-1)));
      return this.logProbs.get(key);
    };
    return new BeamSearch(logProbsAfter, { ...this.about, ...options });
  }

  isFull(chosen) {
    return chosen.length === this.about.longest || chosen.at(-1) === this.about.eos;
  }

  /** The text, with EOS after it. */
  say(ids) {
    const { eos, pad, join } = this.about;
    const text = ids.filter((id) => id !== eos && id !== pad).map((id) => this.words[id]).join(join);
    return ids.includes(eos) ? `${text} ${this.words[eos]}`.trim() : text;
  }
}
