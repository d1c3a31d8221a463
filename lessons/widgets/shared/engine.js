import { activate, addTensors, anglesOf, attendHeads, joinHeads, layerNorm, linear, makeTensor, matrixOf, readHalves, rotatePairs, sinusoidsOf, splitHeads } from "./tensors.js";

// The forward pass of lessons.transformer.Transformer in eval mode, one sentence at a time, with the changes of
// lessons.interventions: a change has the same fields, and without one that is None, or undefined, the same meaning.

/**
 * config: that of the model, with what follows from it and its dtype, "float16" or "float32". index: of each name in the
 * model's state, the place of its first number and its shape. bytes: the numbers. weights.py packs all three.
 */
export function readModel(config, index, bytes) {
  const view = ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes);
  const buffer = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  const numbers = config.dtype === "float16" ? readHalves(new Uint16Array(buffer)) : new Float32Array(buffer);
  const read = ([name, [offset, ...shape]]) => [name, makeTensor(shape, numbers.subarray(offset, offset + shape.reduce((a, b) => a * b, 1)))];
  return { config, weights: Object.fromEntries(Object.entries(index).map(read)) };
}

/** The names of all attentions and feed-forward networks, from the input to the output. */
export function places({ config }) {
  const stack = (part, depth, names) => Array.from({ length: depth }, (_, layer) => names.map((name) => `${part}.${layer}.${name}`)).flat();
  return [
    ...stack("encoder", config.num_layers, ["self_attn", "feed_forward"]),
    ...stack("decoder", config.decoder_depth, ["self_attn", "cross_attn", "feed_forward"]),
  ];
}

/**
 * src, tgt: ids, tgt from BOS on. Returns { logits (T, V), streams, places }: the residual stream { name, data, shape }
 * after the embeddings, each sublayer and the last norms; of each attention scores (scaled, before the mask), allowed
 * and weights (H, Q, K), q, k, v (rotated, if positions are rotary) and heads (H, length, d), and output (length, D); of
 * each feed-forward network hidden and output.
 */
export function run(model, src, tgt, changes = []) {
  const found = nothingYet();
  const logits = new Pass(model, src, changes, tgt.length, found).decode(tgt, 0);
  return { logits, ...found };
}

/**
 * The most likely next token, until EOS or maxLength tokens after BOS: { ids, logits: one (V,) a step, found }.
 * draft: ids that may well come out, such as those before one more change. One pass reads them all, and what the model
 * would have written itself is kept. found: if that was all of them, what `run` returns for it.
 */
export function greedy(model, src, changes, { bos, eos, maxLength, draft = [] }) {
  const pass = new Pass(model, src, changes, maxLength, draft.length ? nothingYet() : null);
  const [ids, logits] = [[bos], []];
  const isOver = () => ids.length > 1 && (ids.at(-1) === eos || ids.length > maxLength);
  const write = (next) => {
    logits.push(next);
    ids.push(next.reduce((best, logit, id, all) => (logit > all[best] ? id : best), 0));
  };
  if (draft.length && !pass.looksAhead) {
    const read = pass.decode(draft.slice(0, -1), 0);
    const count = read.shape[1];
    while (!isOver() && logits.length < draft.length - 1 && ids.at(-1) === draft[logits.length])
      write(read.data.subarray(logits.length * count, (logits.length + 1) * count));
    if (isOver() && String(ids) === String(draft)) return { ids, logits, found: { logits: read, ...pass.found } };
  }
  pass.found = null;
  while (!isOver()) {
    const { data, shape } = pass.decode(ids, pass.looksAhead ? 0 : ids.length - 1);
    write(data.slice(-shape[1]));
  }
  return { ids, logits };
}

/** Reads token by token, as lessons.decoding.Cached does: keys and values are kept. */
export class Reader {
  /** pass: a Pass, or a TextPass. */
  constructor(pass) {
    Object.assign(this, { pass, ids: [], logits: [] });
  }

  /** The logits (V,) after each of these ids, BOS first. It forgets what differs, and reads only what is new. */
  after(ids) {
    const differs = ids.findIndex((id, i) => id !== this.ids[i]);
    if (differs < 0) return this.logits.slice(0, ids.length);
    const { data, shape: [rows, count] } = this.pass.decode(ids, differs);
    const read = Array.from({ length: rows }, (_, row) => data.subarray(row * count, (row + 1) * count));
    this.logits = [...this.logits.slice(0, differs), ...read];
    this.ids = [...ids];
    return [...this.logits];
  }
}

const nothingYet = () => ({ streams: [], places: {} });

/** Whether a pattern of Python's fnmatch, with *, ? and [...], names this place. */
export const matches = (at, place) => new RegExp(`^${at.replace(/[.+^${}()|\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".").replaceAll("[!", "[^")}$`).test(place);

const isCausalIn = (place) => /^decoder.*self_attn$/.test(place);

/** Refuses a change at places where it can't be, as `intervene` does. */
function checkPlaces(all, changes) {
  const can = { cut: () => true, drop_causal: isCausalIn };
  for (const { kind, at } of changes) {
    if (at == null || all.some((place) => matches(at, place) && (can[kind] ?? ((each) => each.endsWith("attn")))(place))) continue;
    const wanted = kind === "drop_causal" ? "decoder.*.self_attn" : all.join(", ");
    throw new RangeError(`at is '${at}'; expected a place where '${kind}' is possible in this model: ${wanted}`);
  }
}

/** What the changes make of one place. */
function ruleOf(place, changes) {
  const here = changes.filter(({ at }) => at == null || matches(at, place));
  const has = (name) => here.some(({ kind }) => kind === name);
  const [part] = place.split(".");
  const isCausal = isCausalIn(place);
  const cells = here.filter(({ kind }) => ["block", "allow", "hide"].includes(kind));
  return {
    side: part === "encoder" ? "src" : "tgt",
    keySide: isCausal ? "tgt" : "src",
    causal: isCausal && !has("drop_causal"),
    padding: !has("drop_padding"),
    cells,
    silent: here.filter(({ kind }) => kind === "silence").map(({ head }) => head),
    cut: has("cut"),
    looksAhead: isCausal && (has("drop_causal") || cells.some(({ kind, query, key }) => kind === "allow" && key > query)),
  };
}

/** One source sentence, and the target as far as it is known; `decode` remembers keys and values. */
export class Pass {
  /** room: the most target tokens. found: what `run` returns, or null. */
  constructor(model, src, changes, room, found = null) {
    Object.assign(this, { ...model, changes, found, kept: {}, ids: { src }, order: {}, room: { src: src.length, tgt: room } });
    const all = places(model);
    checkPlaces(all, changes);
    this.rules = Object.fromEntries(all.map((place) => [place, ruleOf(place, changes)]));
    const moves = changes.some(({ kind, side }) => kind === "swap_positions" && side === "tgt");
    /** Whether a later token can change what comes before it: then nothing of it can be kept. */
    this.looksAhead = moves || Object.values(this.rules).some((rule) => rule.looksAhead);
    this.memory = this.encode(model);
  }

  /** The model keeps what its encoder has computed until it is asked for something else: most changes don't reach it. */
  encode(model) {
    const isFar = ({ kind, at, side }) => kind === "force" || at?.startsWith("decoder") || side === "tgt";
    const key = JSON.stringify([this.ids.src, this.changes.filter((change) => !isFar(change))]);
    if (model.encoded?.key !== key) {
      const wanted = this.found;
      this.found = nothingYet();
      model.encoded = { key, memory: this.stack("encoder", this.embed("src", 0), 0), ...this.found };
      this.found = wanted;
    }
    this.found?.streams.push(...model.encoded.streams);
    Object.assign(this.found?.places ?? {}, model.encoded.places);
    return model.encoded.memory;
  }

  /** The logits after each token of tgt from `start` on; those before were decoded earlier. */
  decode(tgt, start) {
    this.ids.tgt = tgt;
    const logits = this.linear("out_proj", this.stack("decoder", this.embed("tgt", start), start));
    const count = logits.shape[1];
    for (const { kind, token, word } of this.changes) {
      if (kind !== "force" || token <= start || token > tgt.length) continue;
      const row = token - 1 - start; // token t is predicted from the tokens before it
      logits.data.fill(-Infinity, row * count, (row + 1) * count)[row * count + word] = 0;
    }
    return logits;
  }

  stack(part, x, start) {
    for (const place of Object.keys(this.rules)) if (place.startsWith(part)) x = this.sublayer(place, x, start);
    return this.config.ends_in_norm ? this.note(`${part}.norm`, this.norm(`${part}.norm`, x)) : x;
  }

  sublayer(place, x, start) {
    const { norm_first } = this.config;
    const name = place.replace(".", ".layers.");
    const inner = norm_first ? this.norm(`${name}_residual.norm`, x) : x;
    const result = place.endsWith("feed_forward") ? this.feedForward(name, inner) : this.attention(place, name, inner, start);
    if (this.rules[place].cut) result.output.data.fill(0);
    if (this.found) this.found.places[place] = result;
    const sum = addTensors(x, result.output);
    return this.note(place, norm_first ? sum : this.norm(`${name}_residual.norm`, sum));
  }

  feedForward(name, x) {
    const hidden = activate(this.linear(`${name}.linear1`, x), this.config.activation);
    return { hidden, output: this.linear(`${name}.linear2`, hidden) };
  }

  attention(place, name, x, start) {
    const heads = this.config.num_heads;
    const rule = this.rules[place];
    const rows = this.linear(`${name}.q_proj`, x);
    if (rule.side === rule.keySide) this.rotate(rows, rule.side, start);
    const q = splitHeads(rows, heads);
    const [k, v] = this.keysAndValues(place, name, x, start);
    const allowed = this.allowed(rule, start, rows.shape[0]);
    const found = attendHeads(q, k, v, allowed);
    for (const head of rule.silent) matrixOf(found.heads, head).data.fill(0);
    return { ...found, allowed, q, k, v, output: this.linear(`${name}.out_proj`, joinHeads(found.heads)) };
  }

  /** Those of all keys so far, (H, K, d). Those of the memory are computed once, those of x are added to the earlier ones. */
  keysAndValues(place, name, x, start) {
    const { side, keySide } = this.rules[place];
    const project = (source) => [this.linear(`${name}.k_proj`, source), this.linear(`${name}.v_proj`, source)];
    const split = (each) => splitHeads(each, this.config.num_heads);
    if (side !== keySide) return (this.kept[place] ??= project(this.memory).map(split));
    const [k, v] = project(x);
    this.rotate(k, side, start);
    const kept = (this.kept[place] ??= [k, v].map(({ shape }) => makeTensor([this.room[side], shape[1]])));
    return [k, v].map(({ data, shape: [, width] }, i) => {
      const count = this.ids[side].length;
      kept[i].data.set(data, start * width);
      return split(makeTensor([count, width], kept[i].data.subarray(0, count * width)));
    });
  }

  /** (H, Q, K), 1 = may attend; `start` is the position of the first query. */
  allowed({ keySide, causal, padding, cells }, start, queries) {
    const heads = this.config.num_heads;
    const ids = this.ids[keySide];
    const keys = ids.length;
    const data = new Uint8Array(heads * queries * keys);
    const pad = this.config[`${keySide}_pad_id`];
    const set = (head, query, key, value) => { data[(head * queries + query) * keys + key] = value; };
    for (let head = 0; head < heads; head++)
      for (let query = 0; query < queries; query++)
        for (let key = 0; key < keys; key++) set(head, query, key, (!padding || ids[key] !== pad) && (!causal || key <= start + query));
    for (const change of cells) {
      const isHidden = change.kind === "hide";
      const key = isHidden ? change.token : change.key;
      if (key >= keys || (isHidden && change.side !== keySide)) continue;
      for (let head = 0; head < heads; head++)
        for (let query = 0; query < queries; query++)
          if (isHidden || ((change.head ?? head) === head && change.query === start + query)) set(head, query, key, change.kind === "allow");
    }
    return makeTensor([heads, queries, keys], data);
  }

  /** The vectors of the tokens from `start` on, with their positions. */
  embed(side, start) {
    const { d_model, max_len, positions } = this.config;
    const ids = this.ids[side];
    const isAdded = positions === "sinusoids" || positions === "learned";
    if (isAdded && ids.length > max_len) throw new RangeError(`${side} has ${ids.length} tokens; expected at most max_len = ${max_len}`);
    this.order[side] = this.orderOf(side, ids.length);
    const x = makeTensor([ids.length - start, d_model]);
    const table = this.weights[`${side}_embedding.tokens.weight`].data;
    for (let row = 0; row < x.shape[0]; row++) {
      const vector = table.subarray(ids[start + row] * d_model, (ids[start + row] + 1) * d_model);
      const position = isAdded ? this.order[side]?.[start + row] : undefined;
      const added = position === undefined ? null : this.position(side, position);
      for (let i = 0; i < d_model; i++) x.data[row * d_model + i] = vector[i] * Math.sqrt(d_model) + (added ? added[i] : 0);
    }
    return this.note(`${side}_embedding`, x);
  }

  /** The vector of a position. */
  position(side, position) {
    const { d_model, positions } = this.config;
    if (positions === "sinusoids") return sinusoidsOf(position, d_model);
    return this.weights[`${side}_embedding.positions.table`].data.subarray(position * d_model, (position + 1) * d_model);
  }

  /** The position of each token, or null without positions. */
  orderOf(side, length) {
    const moves = this.changes.filter((change) => change.kind.endsWith("_positions") && (change.side ?? side) === side);
    if (moves.some(({ kind }) => kind === "drop_positions")) return null;
    const order = Array.from({ length }, (_, i) => i);
    for (const { token, other } of moves)
      if (Math.max(token, other) < length) [order[token], order[other]] = [order[other], order[token]];
    return order;
  }

  rotate(x, side, start) {
    const [order, heads] = [this.order[side], this.config.num_heads];
    if (this.config.positions !== "rotary" || !order) return;
    rotatePairs(x, order.slice(start).map((position) => anglesOf(position, x.shape[1] / heads).map(Math.fround)), heads);
  }

  linear(name, x) {
    return linear(x, this.weights[`${name}.weight`], this.weights[`${name}.bias`]);
  }

  norm(name, x) {
    return layerNorm(x, this.weights[`${name}.weight`], this.weights[`${name}.bias`]);
  }

  /** Notes the residual stream. */
  note(name, x) {
    this.found?.streams.push({ name, ...x });
    return x;
  }
}
