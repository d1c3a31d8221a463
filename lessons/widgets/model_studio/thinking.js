import { greedy, readModel, run } from "../shared/engine.js";
import { readBytes } from "../shared/numbers.js";

const REMEMBERED = 4; // targets of which the untouched model's numbers are kept

/**
 * The model in the browser, which computes a sentence with the changes and without, and remembers the last results.
 * draft: what the first translation will probably be; to check it takes one pass instead of one for each word.
 */
export class Thinking {
  constructor(about, weights, draft = []) {
    this.about = about;
    this.draft = draft;
    this.model = readModel(about.config, about.index, readBytes(weights));
  }

  /** ids: of the source. changes: those that are on. `now` and `before` read the same tokens. */
  think(ids, changes) {
    const { bos, eos, longest: maxLength } = this.about;
    const translate = (active, draft) => greedy(this.model, ids, active, { bos, eos, maxLength, draft });
    if (this.key !== ids.join()) {
      this.key = ids.join();
      const { found, ...untouched } = translate([], this.draft);
      this.draft = [];
      this.untouched = untouched;
      this.last = untouched.ids;
      this.kept = new Map(found ? [[untouched.ids.slice(0, -1).join(), found]] : []);
    }
    const { untouched } = this;
    const written = changes.length ? translate(changes, this.last) : untouched;
    this.last = written.ids;
    const tgt = written.ids.slice(0, -1);
    const before = this.withoutChanges(ids, tgt);
    const now = changes.length ? written.found ?? run(this.model, ids, tgt, changes) : before;
    return { written, untouched, tgt, now, before };
  }

  withoutChanges(ids, tgt) {
    const key = tgt.join();
    const found = this.kept.get(key) ?? run(this.model, ids, tgt, []);
    this.kept.delete(key);
    this.kept.set(key, found); // as the newest
    if (this.kept.size > REMEMBERED) this.kept.delete(this.kept.keys().next().value);
    return found;
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
