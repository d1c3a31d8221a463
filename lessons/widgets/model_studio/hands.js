import { CROSS } from "../shared/constants.js";

// Changes: what they are called, what is the same, and how Python writes them.

const PARTS = { self_attn: "self-attention", cross_attn: CROSS, feed_forward: "feed-forward" };
const FIELDS = ["at", "head", "query", "key", "side", "token", "other", "word"];

/** The name of one place, or of all that a pattern stands for. */
export function placeName(at) {
  const [stack, layer, part] = at.split(".");
  const name = PARTS[part] ?? "all";
  return layer === "*" ? `all ${stack} ${name}` : `${stack} ${layer} ${name}`;
}

const isSet = (x) => x !== undefined && x !== null;
const identity = (change) => JSON.stringify(["kind", ...FIELDS].map((name) => change[name] ?? null));
export const isSameChange = (one, other) => identity(one) === identity(other);
export const without = (changes, change) => changes.filter((each) => !isSameChange(each, change));
export const isOn = (changes, change) => changes.some((each) => each.on && isSameChange(each, change));

/** On, if it is not; away, if it is. */
export function flip(changes, change) {
  const rest = without(changes, change);
  return isOn(changes, change) ? rest : [...rest, { ...change, on: true }];
}

const quote = (tokens, i) => (tokens[i] === undefined ? `token ${i} (not in this sentence)` : `“${tokens[i]}”`);
const everywhere = ({ at }) => (isSet(at) ? ` in ${placeName(at)}` : "");
const inHead = ({ at, head }) => `${placeName(at)}${isSet(head) ? `, head ${head}` : ""}`;
const sideOfKeys = (at) => (at.startsWith("encoder") || at.endsWith("cross_attn") ? "src" : "tgt");
const glance = (change, tokens, verb) =>
  `${quote(tokens[change.at.startsWith("encoder") ? "src" : "tgt"], change.query)} ${verb} ${quote(tokens[sideOfKeys(change.at)], change.key)} in ${inHead(change)}`;
const SIDE_NAMES = { src: "source", tgt: "translation" };

const SAID = {
  block: (change, tokens) => glance(change, tokens, "may not look at"),
  allow: (change, tokens) => glance(change, tokens, "may look at"),
  hide: ({ side, token }, tokens) => `nobody sees ${quote(tokens[side], token)}`,
  drop_causal: (change) => `no causal mask${everywhere(change)}`,
  drop_padding: (change) => `no padding mask${everywhere(change)}`,
  silence: (change) => `silent: ${inHead(change)}`,
  cut: ({ at }) => `cut: ${placeName(at)}`,
  drop_positions: ({ side }) => `no positions${isSet(side) ? ` in the ${SIDE_NAMES[side]}` : ""}`,
  swap_positions: ({ side, token, other }, tokens) => `${quote(tokens[side], token)} and ${quote(tokens[side], other)} swap positions`,
  force: ({ token, word }, tokens, words) => `word ${token} must be “${words[word]}”`,
};

/** A change in words. tokens: {src, tgt}; words: of the target. */
export const sayChange = (change, tokens, words) => SAID[change.kind](change, tokens, words);

const writeChange = (change) => {
  const options = FIELDS.filter((name) => isSet(change[name])).map((name) => `, ${name}=${JSON.stringify(change[name])}`);
  return `    Change(${JSON.stringify(change.kind)}${options.join("")}),\n`;
};

/** Python that makes these changes and prints the same translation. */
export function writeProgram(sentence, changes, { head, longest }) {
  const list = changes.length ? `[\n${changes.map(writeChange).join("")}]` : "[]";
  return `from lessons.evaluation import translate\nfrom lessons.interventions import Change, intervene\n${head}changes = ${list}\n` +
    `with intervene(model, changes):\n    print(translate(model, [${JSON.stringify(sentence)}], task, max_len=${longest})[0])\n`;
}
