import { QUIET, escapeText } from "./markup.js";
import { worded } from "./words.js";

// A button that copies code, and says so, also to a screen reader.

const SAID_FOR = 1500; // milliseconds

/** label: what a screen reader calls it, if there are several. */
export const copyButton = (label = worded("Copy")) =>
  `<button type="button" class="lw-copy" aria-label="${escapeText(label)}" ${QUIET}>${worded("Copy")}</button><span class="lw-aloud" role="status"></span>`;

/** Copy what an element says; where the browser gives no clipboard, select it. */
export async function copy(button, element) {
  let said = worded("Copied");
  try {
    await navigator.clipboard.writeText(element.textContent);
  } catch {
    getSelection().selectAllChildren(element);
    said = worded("Selected: press Ctrl+C (on a Mac ⌘C)");
  }
  const aloud = button.nextElementSibling;
  button.textContent = aloud.textContent = said;
  setTimeout(() => {
    button.textContent = worded("Copy");
    aloud.textContent = "";
  }, SAID_FOR);
}
