import { marked, worded } from "../shared/words.js";
import { STACKS, SUBLAYER_NAMES } from "./layout.js";

// Changes: what they are called, what is the same, and how Python writes them.

const FIELDS = ["at", "head", "query", "key", "side", "token", "other", "word"];

/** The name of one place, or of all that a pattern stands for. */
export function placeName(at) {
  const [stack, layer, part] = at.split(".");
  const said = { stack: worded(STACKS[stack] ?? stack), layer, part: worded(SUBLAYER_NAMES[part] ?? marked("all")) };
  return layer === "*" ? worded("all {stack} {part}", said) : worded("{stack} {layer} {part}", said);
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

const quote = (tokens, i) => (tokens[i] === undefined ? worded("token {i} (not in this sentence)", { i }) : `“${tokens[i]}”`);
const inHead = ({ at, head }) => (isSet(head) ? worded("{place}, head {head}", { place: placeName(at), head }) : placeName(at));
const sideOfKeys = (at) => (at.startsWith("encoder") || at.endsWith("cross_attn") ? "src" : "tgt");
const glance = (change, tokens) => ({
  query: quote(tokens[change.at.startsWith("encoder") ? "src" : "tgt"], change.query),
  key: quote(tokens[sideOfKeys(change.at)], change.key),
  place: inHead(change),
});

export const IS_CUT = marked("This sublayer is cut: its output is 0.");

const SAID = {
  block: (change, tokens) => worded("{query} may not look at {key} in {place}", glance(change, tokens)),
  allow: (change, tokens) => worded("{query} may look at {key} in {place}", glance(change, tokens)),
  hide: ({ side, token }, tokens) => worded("nobody sees {token}", { token: quote(tokens[side], token) }),
  drop_causal: ({ at }) => (isSet(at) ? worded("no causal mask in {place}", { place: placeName(at) }) : worded("no causal mask")),
  drop_padding: ({ at }) => (isSet(at) ? worded("no padding mask in {place}", { place: placeName(at) }) : worded("no padding mask")),
  silence: (change) => worded("silent: {place}", { place: inHead(change) }),
  cut: ({ at }) => worded("cut: {place}", { place: placeName(at) }),
  drop_positions: ({ side }) => (!isSet(side) ? worded("no positions") : side === "src" ? worded("no positions in the source") : worded("no positions in the translation")),
  swap_positions: ({ side, token, other }, tokens) =>
    worded("{one} and {other} swap positions", { one: quote(tokens[side], token), other: quote(tokens[side], other) }),
  force: ({ token, word }, tokens, words) => worded("word {token} must be “{word}”", { token, word: words[word] }),
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
