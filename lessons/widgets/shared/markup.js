// Pieces of HTML and SVG as text, and what the widgets do with keys.

export const escapeText = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** JupyterLab leaves the keys of an element that carries this alone. */
export const QUIET_NAME = "data-lm-suppress-shortcuts";
export const QUIET = `${QUIET_NAME}="true"`;

/** Down and right, by key. */
export const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** This key is ours: neither the page nor JupyterLab acts on it. */
export function claim(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** A key of an input method, such as the Enter that ends pinyin; in Safari only its code tells. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** What has the focus, in the document or the shadow tree of this element. */
export const focusOf = (element) => element.getRootNode().activeElement;

/** To a tenth of a pixel. */
export const tenth = (x) => Math.round(10 * x) / 10;
export const svgText = (x, y, content, anchor = "middle", more = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}"${more}>${escapeText(content)}</text>`;
export const svgLine = (x1, y1, x2, y2, kind, more = "") =>
  `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="${kind}"${more}/>`;
