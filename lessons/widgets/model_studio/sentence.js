import { LIKENESS, NEAR } from "./constants.js";

// From a text to tokens, as the task splits it, and from ids to a text.

const WORD = "[\\p{L}\\p{N}_]";
const ENGLISH = new RegExp(`('s(?!${WORD})|[^\\p{L}\\p{N}_\\s'])`, "gu");
const atBlanks = (text) => text.split(/[\s\x1c-\x1f\x85]+/).filter(Boolean);

const SPLIT = {
  characters: (text) => [...text],
  spaces: atBlanks,
  english(text, words) {
    const found = atBlanks(text.replaceAll("’", "'").replace(ENGLISH, " $1 "));
    if (found.length && !words.includes(found[0])) {
      const [first, ...rest] = found[0];
      found[0] = first.toLowerCase() + rest.join("");
    }
    return found;
  },
};

/** The tokens of a source sentence, or null where only Python can split it. */
export const splitText = (text, { split, words }) => SPLIT[split]?.(text, words.src) ?? null;

export const idsOf = (tokens, { words, unk }) => tokens.map((token) => {
  const id = words.src.indexOf(token);
  return id < 0 ? unk : id;
});

/** The text of generated ids: as Task.decode has it. */
export function textOf(ids, { words, join, bos, eos, config }) {
  const end = ids.indexOf(eos);
  const kept = (end < 0 ? ids : ids.slice(0, end)).filter((id) => id !== bos && id !== config.tgt_pad_id);
  return kept.map((id) => words.tgt[id]).join(join);
}

/** How many characters two texts share, in the order of both: as Python's difflib counts. */
function countShared(a, b) {
  let [most, i0, j0] = [0, 0, 0];
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < b.length; j++) {
      let n = 0;
      while (i + n < a.length && j + n < b.length && a[i + n] === b[j + n]) n++;
      if (n > most) [most, i0, j0] = [n, i, j];
    }
  if (!most) return 0;
  return most + countShared(a.slice(0, i0), b.slice(0, j0)) + countShared(a.slice(i0 + most), b.slice(j0 + most));
}

/** The known words that are most like this one. */
export const nearWords = (word, known) => known
  .map((other) => [(2 * countShared([...other], [...word])) / ([...other].length + [...word].length), other])
  .filter(([likeness]) => likeness >= LIKENESS)
  .sort(([a, one], [b, other]) => b - a || (one < other ? 1 : -1))
  .slice(0, NEAR)
  .map(([, other]) => other);
