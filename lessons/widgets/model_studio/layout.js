import { CROSS } from "../shared/constants.js";
import { places } from "../shared/engine.js";
import { marked, worded } from "../shared/words.js";

// Where everything of the map is: two lanes, in which data flows from left to right and each token keeps its row.

const STRIP = 12; // width of a strip of vectors
export const GAP = 4;
const FEED = 32; // width of a feed-forward network
const WORDS_WIDTH = 100; // width of the next words
const MARGIN = 3;
const ABOVE = 16; // over the rows: the layer's name
const NAME = 15; // under the heads: the sublayer's name
const LABEL = 16; // under a strip: its name
const CORRIDOR = 18; // between the lanes: the memory's way
const ROW = [10, 18];
const BLOCK = [89, 150]; // width of an attention
const ROOMY = 108; // the same, where the map scrolls anyway
const TIGHT = 70; // the least width with two heads in a row
const MOST_IN_ROW = 4; // heads
const THUMB = [20, 34];
const BETWEEN = 3; // heads

const within = (x, [least, most]) => Math.min(Math.max(x, least), most);
const SUBLAYERS = { encoder: ["self_attn", "feed_forward"], decoder: ["self_attn", "cross_attn", "feed_forward"] };

/** The sublayers of the model, from the input to the output. */
export const sublayersOf = (config) => places({ config }).map((place) => {
  const [stack, layer, kind] = place.split(".");
  return { place, stack, layer, kind };
});

export const STACKS = { encoder: marked("encoder"), decoder: marked("decoder") };
export const SUBLAYER_NAMES = { self_attn: marked("self-attention"), cross_attn: CROSS, feed_forward: marked("feed-forward") };

/** A place, "decoder.0.cross_attn", in words. */
export function sayPlace(place) {
  const [stack, layer, kind] = place.split(".");
  return worded("{stack} layer {layer}, {part}", { stack: worded(STACKS[stack]), layer, part: worded(SUBLAYER_NAMES[kind]) });
}

/** The sides that the queries and the keys of an attention come from. */
export function sidesOf(place) {
  const side = place.startsWith("encoder") ? "src" : "tgt";
  return [side, place.endsWith("cross_attn") ? "src" : side];
}

/**
 * All parts of the map with their places in pixels, in the order in which data passes. lengths: {src, tgt}, in tokens;
 * labels: the width of the tokens' names; width, height: what there is, unless the map needs more and scrolls.
 */
export function arrange(config, lengths, labels, width, height) {
  const fixed = (stack, depth) => 2 * MARGIN + labels + 2 * GAP + STRIP + (config.ends_in_norm ? 3 * GAP + STRIP : 0) +
    depth * (SUBLAYERS[stack].length * (STRIP + 2 * GAP) + FEED + 2 * GAP) + (stack === "decoder" ? WORDS_WIDTH + 2 * GAP : 0);
  const room = (stack, depth) => (width - fixed(stack, depth)) / (depth * (SUBLAYERS[stack].length - 1));
  const most = Math.min(room("encoder", config.num_layers), room("decoder", config.decoder_depth));
  const isTight = TIGHT <= most && most < BLOCK[0] && config.num_heads > 2;
  const across = isTight ? 2 : Math.min(config.num_heads, MOST_IN_ROW);
  const down = Math.ceil(config.num_heads / across);
  const block = most < BLOCK[0] && !isTight ? ROOMY : Math.floor(Math.min(most, BLOCK[1]));
  const below = (height - CORRIDOR - ROW[0] * (lengths.src + lengths.tgt)) / 2 - ABOVE - BETWEEN - NAME; // for the heads
  const thumb = Math.min(Math.floor((block - BETWEEN * (across - 1)) / across), within(Math.floor(below / down) - BETWEEN, THUMB));
  const under = down * (thumb + BETWEEN) + BETWEEN + NAME;
  const rowHeight = within(Math.floor((height - CORRIDOR - 2 * (ABOVE + under)) / (lengths.src + lengths.tgt)), ROW);
  const lanes = {
    src: { top: ABOVE, rows: lengths.src },
    tgt: { top: 2 * ABOVE + lengths.src * rowHeight + under + CORRIDOR, rows: lengths.tgt },
  };
  const parts = [];
  const layers = [];

  for (const [side, stack, depth] of [["src", "encoder", config.num_layers], ["tgt", "decoder", config.decoder_depth]]) {
    const lane = lanes[side];
    lane.height = lane.rows * rowHeight;
    lane.bottom = lane.top + lane.height;
    let x = MARGIN;
    const put = (id, kind, w, more) => {
      parts.push({ id, kind, side, x, y: lane.top, w, h: lane.height, ...more });
      x += w + GAP;
    };
    put(`${side}_tokens`, "tokens", labels);
    put(`${side}_embedding`, "strip", STRIP, { stream: `${side}_embedding` });
    for (let layer = 0; layer < depth; layer++) {
      const left = x;
      x += GAP;
      for (const kind of SUBLAYERS[stack]) {
        const place = `${stack}.${layer}.${kind}`;
        if (kind === "feed_forward") put(place, kind, FEED, { place });
        else {
          const heads = Array.from({ length: config.num_heads }, (_, head) => ({
            x: x + (block - across * thumb - (across - 1) * BETWEEN) / 2 + (head % across) * (thumb + BETWEEN),
            y: lane.bottom + BETWEEN + 1 + Math.floor(head / across) * (thumb + BETWEEN), size: thumb,
          }));
          put(place, "attention", block, { place, heads });
        }
        put(`after ${place}`, "strip", STRIP, { stream: place, after: place });
      }
      layers.push({ side, layer, x: left, y: lane.top - ABOVE + 1, w: x - left, h: ABOVE + lane.height + under - 1 });
      x += GAP;
    }
    const last = parts.at(-1);
    if (config.ends_in_norm) put(`${stack}.norm`, "strip", STRIP, { stream: `${stack}.norm` });
    if (side === "src") lane.end = parts.at(-1);
    else put("logits", "logits", WORDS_WIDTH);
    lane.right = x;
    lane.last = last;
  }
  const deepest = lanes.tgt.bottom + under;
  return { parts, layers, lanes, rowHeight, thumb, under, width: Math.max(lanes.src.right, lanes.tgt.right) + MARGIN,
    height: deepest + 1, corridor: lanes.src.bottom + under + CORRIDOR / 2 };
}

/** The way of the memory: from the end of the encoder along the corridor, and down into each cross-attention. */
export function memoryPath({ parts, lanes, corridor }) {
  const { end } = lanes.src;
  const from = end.x + end.w / 2;
  const goals = parts.filter((part) => part.place?.endsWith("cross_attn")).map((part) => part.x + part.w / 2);
  const arrow = (x) => {
    const bottom = lanes.tgt.top - 3;
    return `M${x} ${corridor}V${bottom}M${x - 4} ${bottom - 5}l4 5l4 -5`;
  };
  return `M${from} ${lanes.src.bottom + LABEL}V${corridor}M${Math.min(from, ...goals)} ${corridor}H${Math.max(from, ...goals)}` + goals.map(arrow).join("");
}
