// What a widget says, in the current language. Python sends the messages that are not as in English.

let messages = new Map();

/**
 * wording: what Python says of the language, { language, messages: { English: translated } }. All views of a widget speak
 * as the one that was made last.
 */
export const speak = (wording) => {
  messages = new Map(Object.entries(wording?.messages ?? {}));
};

const pieces = new Map(); // of each message, split once: thousands of cells have a label

/** A message with its {gaps} filled. */
function fillIn(message, values) {
  if (!pieces.has(message)) pieces.set(message, message.split(/\{(\w+)\}/));
  const [first, ...rest] = pieces.get(message);
  let text = first;
  for (let i = 0; i < rest.length; i += 2) text += values[rest[i]] + rest[i + 1];
  return text;
}

/** A message in the current language, with its {gaps} filled. */
export function worded(message, values) {
  const text = messages.get(message) ?? message;
  return values ? fillIn(text, values) : text;
}

/** Of two messages, for 1 and for any other count, which is {count} in them. */
export const counted = (one, many, count, values) =>
  fillIn(messages.get(one) ?? (count === 1 ? one : many), { count, ...values });

/** The message as it is: it is marked for the catalog, and worded() is called where it is shown. */
export const marked = (message) => message;

export const COMMA = marked("{items}, {item}");
export const SEMICOLON = marked("{items}; {item}");
export const SENTENCES = marked("{items} {item}");

/** The items in a row; joined: how an item follows those before it. */
export const listed = (items, joined = COMMA) => [...items].reduce((row, item) => (row ? worded(joined, { items: row, item }) : item), "");
