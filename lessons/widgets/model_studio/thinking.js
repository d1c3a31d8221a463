import { greedy, readModel, run } from "../shared/engine.js";
import { readBytes } from "../shared/numbers.js";

/** The model in the browser, which computes a sentence with the changes and without, and remembers the last results. */
export class Thinking {
  constructor(about, weights) {
    this.about = about;
    this.model = readModel(about.config, about.index, readBytes(weights));
    this.untouched = { key: null };
  }

  /** ids: of the source. changes: those that are on. `now` and `before` read the same tokens. */
  think(ids, changes) {
    const { bos, eos, longest: maxLength } = this.about;
    const key = ids.join();
    if (this.untouched.key !== key) this.untouched = { key, ...greedy(this.model, ids, [], { bos, eos, maxLength }) };
    const { untouched } = this;
    const written = changes.length ? greedy(this.model, ids, changes, { bos, eos, maxLength }) : untouched;
    const tgt = written.ids.slice(0, -1);
    const now = run(this.model, ids, tgt, changes);
    return { written, untouched, tgt, now, before: changes.length ? run(this.model, ids, tgt, []) : now };
  }
}

/** The probabilities of a row of logits at a temperature. */
export function spread({ data, shape: [, count] }, row, temperature) {
  const logits = data.subarray(row * count, (row + 1) * count);
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = Float64Array.from(logits, (x) => Math.exp((x - most) / temperature));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / sum);
}
