import { SUBLAYER_NAMES, sublayersOf } from "./layout.js";
import { formatNumber } from "../shared/numbers.js";

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

const POSITIONS = {
  sinusoids: "plus the sinusoids of its position",
  learned: "plus a learned vector for its position",
  rotary: "without a position: attention will turn queries and keys by it",
};

const ATTENTION = {
  encoder_self: (q, k, w) => `Each source token looks at all others: ${q} looks most at ${k}, with a weight of ${w}.`,
  decoder_self: (q, k, w) => `Each target token looks at those before it and at itself: ${q} looks most at ${k}, ${w}.`,
  decoder_cross: (q, k, w) => `Here the two sentences meet: ${q} of the target looks most at ${k} of the source, ${w}.`,
};

function attentionStation({ place, stack, layer, kind }) {
  const cross = kind === "cross_attn";
  const [query, key] = [stack === "encoder" ? "src" : "tgt", stack === "encoder" || cross ? "src" : "tgt"];
  return {
    place,
    title: `${stack} layer ${layer}: ${SUBLAYER_NAMES[kind]}`,
    caption(tokens, now) {
      const { weights } = now.places[place];
      const last = weights.shape[1] - 1;
      const [best, most] = favorite(weights, last);
      if (most === 0) return `Nothing passes here: ${quoted(tokens[query][last])} may attend to no token.`;
      const say = ATTENTION[`${stack}_${cross ? "cross" : "self"}`];
      return say(quoted(tokens[query][last]), quoted(tokens[key][best]), formatNumber(most));
    },
    shape: (now) => shapeText(`heads, ${query === "src" ? "S" : "T"}, ${key === "src" ? "S" : "T"}`, now.places[place].weights.shape),
  };
}

function feedForwardStation({ place, stack, layer }) {
  return {
    place,
    title: `${stack} layer ${layer}: feed-forward`,
    caption(tokens, now) {
      const { data } = now.places[place].hidden;
      const share = data.reduce((sum, x) => sum + (x > 0), 0) / data.length;
      return `Each token is worked on alone, no token looks at another; ${Math.round(100 * share)} % of the units are active.`;
    },
    shape: (now) => shapeText(`${stack === "encoder" ? "S" : "T"}, units`, now.places[place].hidden.shape),
  };
}

const streamShape = (now, name, letter) => shapeText(`${letter}, D`, now.streams.find((stream) => stream.name === name).shape);

/** caption(tokens, now) and shape(now) are texts; tokens: {src, tgt}, now: what the engine's `run` returns. */
export function stations({ config }) {
  const all = sublayersOf(config).map((one) => (one.kind === "feed_forward" ? feedForwardStation(one) : attentionStation(one)));
  const depth = 2 * config.num_layers;
  const end = (stack, number) => (config.ends_in_norm ? `${stack}.norm` : `after ${stack}.${number - 1}.feed_forward`);
  const streamOf = (id) => id.replace("after ", "");
  const embedding = (side, letter, intro) => ({
    place: `${side}_embedding`,
    title: side === "src" ? "source embedding" : "target embedding",
    caption: () => `${intro} becomes a vector${config.positions ? `, ${POSITIONS[config.positions]}` : ""}: a row of the strip.`,
    shape: (now) => streamShape(now, `${side}_embedding`, letter),
  });
  const memory = end("encoder", config.num_layers);
  const last = end("decoder", config.decoder_depth);
  return [
    { place: "src_tokens", title: "source tokens", shape: (now) => shapeText("S", [now.streams[0].shape[0]]),
      caption: (tokens) => `The sentence enters as ${tokens.src.length} ${tokens.src.length === 1 ? "token" : "tokens"}, each a number in the vocabulary.` },
    embedding("src", "S", "Each token"),
    ...all.slice(0, depth),
    { place: memory, title: "memory", shape: (now) => streamShape(now, streamOf(memory), "S"),
      caption: () => "What the encoder has understood: a vector for each source token, computed once, read by every decoder layer." },
    { place: "tgt_tokens", title: "target tokens", shape: (now) => shapeText("T", [now.streams.find(({ name }) => name === "tgt_embedding").shape[0]]),
      caption: (tokens) => `What has been written so far, ${quoted(tokens.tgt.at(-1))} last; the decoder finds the word after each.` },
    embedding("tgt", "T", "Each target token"),
    ...all.slice(depth),
    { place: last, title: "end of the decoder", shape: (now) => streamShape(now, streamOf(last), "T"),
      caption: () => "A vector for each target token, in which the next word is now written." },
    { place: "logits", title: "next words", shape: (now) => shapeText("T, V", now.logits.shape),
      caption: (tokens) => `Every word of the vocabulary gets a score; the softmax makes probabilities of them: the last row is the word after ${quoted(tokens.tgt.at(-1))}.` },
  ];
}
