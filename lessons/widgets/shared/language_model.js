import { activate, addTensors, anglesOf, attendHeads, joinHeads, layerNorm, linear, makeTensor, rmsNorm, rotatePairs, sinusoidsOf, splitHeads } from "./tensors.js";

// The forward pass of lessons.language_model.LanguageModel, one text at a time.

/** A text as far as it is known; `decode` remembers keys and values. */
export class TextPass {
  /** model: as `readModel` returns it. room: the most tokens. */
  constructor(model, room) {
    Object.assign(this, { ...model, room, kept: {} });
  }

  /** The logits after each of these ids from `start` on; those before were decoded earlier. */
  decode(ids, start) {
    let x = this.embed(ids, start);
    for (let layer = 0; layer < this.config.num_layers; layer++) {
      const [attention, feedForward] = [`layers.${layer}.attention`, `layers.${layer}.feed_forward`];
      x = addTensors(x, this.attention(attention, this.norm(`${attention}_norm`, x), start));
      x = addTensors(x, this.feedForward(feedForward, this.norm(`${feedForward}_norm`, x)));
    }
    return this.linear("out_proj", this.norm("norm", x));
  }

  /** The vectors of the tokens from `start` on, with their positions, unless these are rotary. */
  embed(ids, start) {
    const { d_model, max_len, positions } = this.config;
    const isAdded = positions !== "rotary";
    if (isAdded && ids.length > max_len) throw new RangeError(`ids goes up to position ${ids.length - 1}; expected positions below max_len = ${max_len}`);
    const scale = positions === "sinusoid" ? Math.sqrt(d_model) : 1;
    const x = makeTensor([ids.length - start, d_model]);
    for (let row = 0; row < x.shape[0]; row++) {
      const vector = this.rowOf("embedding.weight", ids[start + row]);
      const added = isAdded ? this.position(start + row) : null;
      for (let i = 0; i < d_model; i++) x.data[row * d_model + i] = vector[i] * scale + (added ? added[i] : 0);
    }
    return x;
  }

  /** The vector of a position. */
  position(position) {
    const { d_model, positions } = this.config;
    return positions === "sinusoid" ? sinusoidsOf(position, d_model) : this.rowOf("positions.table", position);
  }

  attention(name, x, start) {
    const { num_heads, kv_heads } = this.config;
    const [q, k, v] = ["q_proj", "k_proj", "v_proj"].map((part) => this.linear(`${name}.${part}`, x));
    const queries = this.placed(`${name}.query_norm`, q, num_heads, start);
    const [keys, values] = this.remember(name, this.placed(`${name}.key_norm`, k, kv_heads, start), v, start);
    const found = attendHeads(splitHeads(queries, num_heads), splitHeads(keys, kv_heads), splitHeads(values, kv_heads), this.allowed(start, x.shape[0]));
    return this.linear(`${name}.out_proj`, joinHeads(found.heads));
  }

  /** Queries or keys (T, H · d), normalized in each head and rotated, where the model does so. */
  placed(norm, x, heads, start) {
    const { head_size, norm_eps, positions, rotary_base, rotary_pairs } = this.config;
    const weight = this.weights[`${norm}.weight`];
    const y = weight ? makeTensor(x.shape, rmsNorm(makeTensor([x.shape[0] * heads, head_size], x.data), weight, norm_eps).data) : x;
    const angles = Array.from({ length: x.shape[0] }, (_, row) => anglesOf(start + row, head_size, rotary_base));
    if (positions === "rotary") rotatePairs(y, angles, heads, rotary_pairs === "halves");
    return y;
  }

  /** The keys and values of all tokens so far, (K, H_kv · d) each. */
  remember(name, k, v, start) {
    const width = k.shape[1];
    const kept = (this.kept[name] ??= [k, v].map(() => makeTensor([this.room, width])));
    const count = start + k.shape[0];
    return [k, v].map(({ data }, i) => {
      kept[i].data.set(data, start * width);
      return makeTensor([count, width], kept[i].data.subarray(0, count * width));
    });
  }

  /** (H, Q, K), 1 = may attend; `start` is the position of the first query. */
  allowed(start, queries) {
    const { num_heads, window } = this.config;
    const keys = start + queries;
    const allowed = makeTensor([num_heads, queries, keys], new Uint8Array(num_heads * queries * keys));
    for (let row = 0; row < num_heads * queries; row++) {
      const end = start + (row % queries) + 1;
      allowed.data.fill(1, row * keys + Math.max(0, end - (window ?? end)), row * keys + end);
    }
    return allowed;
  }

  feedForward(name, x) {
    const { feed_forward } = this.config;
    if (feed_forward !== "swiglu") return this.linear(`${name}.linear2`, activate(this.linear(`${name}.linear1`, x), feed_forward));
    const hidden = activate(this.linear(`${name}.gate_proj`, x), "silu");
    this.linear(`${name}.up_proj`, x).data.forEach((number, i) => { hidden.data[i] *= number; });
    return this.linear(`${name}.down_proj`, hidden);
  }

  linear(name, x) {
    return linear(x, this.weights[`${name}.weight`], this.weights[`${name}.bias`]);
  }

  norm(name, x) {
    const { norm, norm_eps } = this.config;
    const weight = this.weights[`${name}.weight`];
    return norm === "rms" ? rmsNorm(x, weight, norm_eps) : layerNorm(x, weight, this.weights[`${name}.bias`], norm_eps);
  }

  rowOf(name, row) {
    const { data, shape } = this.weights[name];
    return data.subarray(row * shape[1], (row + 1) * shape[1]);
  }
}
