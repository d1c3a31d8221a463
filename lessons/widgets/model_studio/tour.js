import { IS_CUT } from "./hands.js";
import { STACKS, SUBLAYER_NAMES, sublayersOf } from "./layout.js";
import { formatNumber } from "../shared/numbers.js";
import { counted, marked, worded } from "../shared/words.js";

// The stations of the tour, in the order in which data passes: at each one plain sentence, and the shape.

const shapeText = (letters, sizes) => `(${letters}) = (${sizes.join(", ")})`;
const quoted = (token) => `“${token}”`;

/** The greatest number of a row of weights, averaged over the heads, and where it is. */
function favorite({ data, shape: [heads, queries, keys] }, query) {
  const mean = Array.from({ length: keys }, (_, key) => {
    let sum = 0;
    for (let head = 0; head < heads; head++) sum += data[(head * queries + query) * keys + key];
    return sum / heads;
  });
  const most = Math.max(...mean);
  return [mean.indexOf(most), most];
}

const EMBEDDED = {
  src: {
    sinusoids: marked("Each token becomes a vector, plus the sinusoids of its position: a row of the strip."),
    learned: marked("Each token becomes a vector, plus a learned vector for its position: a row of the strip."),
    rotary: marked("Each token becomes a vector: a row of the strip. Positions come in later, when attention rotates queries and keys."),
    none: marked("Each token becomes a vector: a row of the strip."),
  },
  tgt: {
    sinusoids: marked("Each target token becomes a vector, plus the sinusoids of its position: a row of the strip."),
    learned: marked("Each target token becomes a vector, plus a learned vector for its position: a row of the strip."),
    rotary: marked("Each target token becomes a vector: a row of the strip. Positions come in later, when attention rotates queries and keys."),
    none: marked("Each target token becomes a vector: a row of the strip."),
  },
};

const ATTENTION = {
  encoder_self: marked("Each source token looks at all source tokens, including itself: {query} looks most at {key}, with a weight of {weight}."),
  decoder_self: marked("Each target token looks at those before it and at itself: {query} looks most at {key}, {weight}."),
  decoder_cross: marked("Here the two sentences meet: {query} of the target looks most at {key} of the source, {weight}."),
  changed: marked("With your changes, {query} looks most at {key}, with a weight of {weight}."),
};

const layerTitle = (stack, layer, kind) =>
  worded("{stack} layer {layer}: {part}", { stack: worded(STACKS[stack]), layer, part: worded(SUBLAYER_NAMES[kind]) });

/** Whether the changes allow or hide keys of a self-attention, for any head or query. side: of its tokens. */
const changesKeys = ({ noCausal, edited, hidden }, place, side) =>
  noCausal.has(place) || [...edited].some((one) => one.split(" ")[0] === place) || [...hidden].some((one) => one.startsWith(side));

function attentionStation({ place, stack, layer, kind }) {
  const cross = kind === "cross_attn";
  const [query, key] = [stack === "encoder" ? "src" : "tgt", stack === "encoder" || cross ? "src" : "tgt"];
  return {
    place,
    title: layerTitle(stack, layer, kind),
    caption(tokens, now, effects) {
      if (effects.cut.has(place)) return worded(IS_CUT);
      const { weights } = now.places[place];
      const last = weights.shape[1] - 1;
      const [best, most] = favorite(weights, last);
      if (most === 0) return worded("Nothing passes here: {query} may attend to no token.", { query: quoted(tokens[query][last]) });
      const said = { query: quoted(tokens[query][last]), key: quoted(tokens[key][best]), weight: formatNumber(most) };
      const rule = cross ? `${stack}_cross` : changesKeys(effects, place, key) ? "changed" : `${stack}_self`;
      return worded(ATTENTION[rule], said);
    },
    shape: (now) => shapeText(`${worded("heads")}, ${query === "src" ? "S" : "T"}, ${key === "src" ? "S" : "T"}`, now.places[place].weights.shape),
  };
}

function feedForwardStation({ place, stack, layer, kind }) {
  return {
    place,
    title: layerTitle(stack, layer, kind),
    caption(tokens, now, effects) {
      if (effects.cut.has(place)) return worded(IS_CUT);
      const { data } = now.places[place].hidden;
      const share = data.reduce((sum, x) => sum + (x > 0), 0) / data.length;
      return worded("Each token is processed alone, none looks at another; {percent} % of the hidden units are active: above 0.", { percent: Math.round(100 * share) });
    },
    shape: (now) => shapeText(`${stack === "encoder" ? "S" : "T"}, ${worded("units")}`, now.places[place].hidden.shape),
  };
}

const streamShape = (now, name, letter) => shapeText(`${letter}, D`, now.streams.find((stream) => stream.name === name).shape);

/**
 * caption(tokens, now, effects) and shape(now) are texts; tokens: {src, tgt}, now: what the engine's `run` returns,
 * effects: what the changes do.
 */
export function stations({ config }) {
  const all = sublayersOf(config).map((one) => (one.kind === "feed_forward" ? feedForwardStation(one) : attentionStation(one)));
  const depth = 2 * config.num_layers;
  const end = (stack, number) => (config.ends_in_norm ? `${stack}.norm` : `after ${stack}.${number - 1}.feed_forward`);
  const streamOf = (id) => id.replace("after ", "");
  const embedding = (side, letter) => ({
    place: `${side}_embedding`,
    title: side === "src" ? worded("source embedding") : worded("target embedding"),
    caption: (tokens, now, { moved }) => worded(EMBEDDED[side][moved.has(side) ? "none" : config.positions || "none"]),
    shape: (now) => streamShape(now, `${side}_embedding`, letter),
  });
  const memory = end("encoder", config.num_layers);
  const last = end("decoder", config.decoder_depth);
  return [
    { place: "src_tokens", title: worded("source tokens"), shape: (now) => shapeText("S", [now.streams[0].shape[0]]),
      caption: (tokens) => counted("The sentence enters as {count} token, each a number in the vocabulary.",
        "The sentence enters as {count} tokens, each a number in the vocabulary.", tokens.src.length) },
    embedding("src", "S"),
    ...all.slice(0, depth),
    { place: memory, title: worded("memory"), shape: (now) => streamShape(now, streamOf(memory), "S"),
      caption: () => worded("What the encoder has understood: a vector for each source token, computed once, read by every decoder layer.") },
    { place: "tgt_tokens", title: worded("target tokens"), shape: (now) => shapeText("T", [now.streams.find(({ name }) => name === "tgt_embedding").shape[0]]),
      caption: (tokens) => worded("What has been written so far, {token} last; the decoder finds the word after each.", { token: quoted(tokens.tgt.at(-1)) }) },
    embedding("tgt", "T"),
    ...all.slice(depth),
    { place: last, title: worded("end of the decoder"), shape: (now) => streamShape(now, streamOf(last), "T"),
      caption: () => worded("A vector for each target token: the scores of the next word are computed from it.") },
    { place: "logits", title: worded("next words"), shape: (now) => shapeText("T, V", now.logits.shape),
      caption: (tokens) => worded("Every word of the vocabulary gets a score; the softmax turns scores into probabilities. The last row: what comes after {token}.", { token: quoted(tokens.tgt.at(-1)) }) },
  ];
}
