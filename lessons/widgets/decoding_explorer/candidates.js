import { QUIET, claim, escapeText } from "../shared/markup.js";
import { softmax } from "../shared/attention.js";
import { TOP } from "./constants.js";
import { listed, worded } from "../shared/words.js";

// The next word: the probabilities as `distribution` in lessons/decoding/sampling.py has them, and a list of the most likely ones.

/** A probability with two decimals, a small one with one digit. */
export function chance(p) {
  if (p >= 0.01 || p === 0) return p.toFixed(2);
  return p >= 1e-4 ? p.toPrecision(1) : p.toExponential(0).replace("-", "−");
}

/** All ids, the most likely first; of equal ones, that with the smaller id. */
export const orderOf = (logits) => Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a] || a - b);

const soft = (logits, temperature) => softmax(Float64Array.from(logits, (x) => x / temperature));

/**
 * model: the softmax of the logits; after: what is drawn by. The first byK in the order stay by top-k, the first kept
 * of them by top-p. known: how many stay as Python has counted them, because of tokens at the edge; or null.
 */
export function distribute(logits, order, { temperature, top_k, top_p }, known = null) {
  const after = soft(logits, temperature);
  const byK = top_k ? Math.min(top_k, order.length) : order.length;
  const normalize = (count) => {
    let sum = 0;
    for (let place = 0; place < count; place++) sum += after[order[place]];
    order.forEach((id, place) => { after[id] = place < count ? after[id] / sum : 0; });
  };
  if (byK < order.length) normalize(byK);
  let kept = byK;
  if (top_p < 1) {
    let before = 0;
    for (kept = 0; kept < byK && before < top_p; kept++) before += after[order[kept]];
    kept = Math.min(known ?? kept, byK);
    normalize(kept);
  }
  return { model: soft(logits, 1), after, byK, kept };
}

/** The list of candidates; onTake(id) when one is clicked. */
export class Candidates {
  constructor(onTake) {
    this.el = document.createElement("ol");
    this.el.className = "dx-list";
    this.el.setAttribute("aria-label", worded("candidates for the next word"));
    this.active = 0;
    this.el.addEventListener("click", (event) => {
      const row = event.target.closest("[data-id]");
      if (!row) return;
      this.activate(this.buttons.indexOf(row));
      onTake(Number(row.dataset.id));
    });
    this.el.addEventListener("focusin", (event) => this.activate(this.buttons.indexOf(event.target)));
    this.el.addEventListener("keydown", (event) => this.pressKey(event));
  }

  get buttons() {
    return [...this.el.querySelectorAll("button")];
  }

  /** next: the id that the method takes, or null; why: the text next to it. */
  show({ words, order, model, after, byK, kept, next, why }) {
    const possible = order.filter((id) => model[id] > 0 || id === next);
    const drawn = possible.slice(0, TOP);
    if (next !== null && !drawn.includes(next)) drawn.push(next);
    const place = new Map(order.map((id, i) => [id, i]));
    const cut = (id) => (place.get(id) >= byK ? worded("cut by top-k") : place.get(id) >= kept ? worded("cut by top-p") : "");
    this.resize(drawn.length);
    this.buttons.forEach((row, i) => this.paint(row, drawn[i], words[drawn[i]], model[drawn[i]], after[drawn[i]], cut(drawn[i]), drawn[i] === next ? why : ""));
    this.activate(Math.min(this.active, drawn.length - 1));
    return { drawn, possible: possible.length, cut: possible.filter((id) => cut(id)).length };
  }

  resize(count) {
    const held = this.el.contains(document.activeElement);
    while (this.el.children.length > count) this.el.lastChild.remove();
    while (this.el.children.length < count) {
      const row = document.createElement("li");
      row.innerHTML = `<button type="button" tabindex="-1" ${QUIET}><i></i><b></b><span class="dx-bars" aria-hidden="true"><span></span><span></span></span><span></span><span></span><em></em></button>`;
      this.el.append(row);
    }
    if (held && count && !this.el.contains(document.activeElement)) this.buttons[count - 1].focus();
  }

  paint(row, id, word, model, after, cut, why) {
    const [mark, name, bars, ours, theirs, note] = row.children;
    Object.assign(row.dataset, { id, model, after });
    row.className = cut ? "dx-cut" : why ? "dx-next" : "";
    mark.textContent = cut ? "×" : why ? "▸" : "";
    name.textContent = word;
    row.title = word;
    bars.children[0].style.width = `${100 * model}%`;
    bars.children[1].style.width = `${100 * after}%`;
    ours.textContent = chance(model);
    theirs.textContent = cut ? "×" : chance(after);
    note.textContent = cut || why;
    const [first, second] = [worded("{probability} by the model", { probability: chance(model) }), cut || worded("{probability} with the options", { probability: chance(after) })];
    row.setAttribute("aria-label", worded("{where}: {what}", { where: word, what: listed([first, second, ...(why ? [why] : [])]) }));
  }

  activate(index) {
    this.active = Math.max(index, 0);
    this.buttons.forEach((row, i) => { row.tabIndex = i === this.active ? 0 : -1; });
  }

  pressKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const last = this.el.children.length - 1;
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    claim(event);
    this.buttons[Math.min(Math.max(to, 0), last)].focus();
  }
}

/** The words so far, each with its probability. */
export function drawWords(list, words, { chosen, probabilities, own }) {
  const word = (id, i) => `<li class="${own.includes(i) ? "dx-own" : ""}"><b>${escapeText(words[id])}</b><span>${chance(probabilities[i])}</span>${own.includes(i) ? `<em>${worded("your choice")}</em>` : ""}</li>`;
  list.innerHTML = `<li class="dx-begin"><b>${worded("begin")}</b></li>${chosen.map(word).join("")}`;
}

/** The product of the words' probabilities, written out. */
export function multiplied(probabilities) {
  const product = probabilities.reduce((a, b) => a * b, 1);
  const log = probabilities.reduce((sum, p) => sum + Math.log(p), 0);
  const factors = probabilities.length > 1 && probabilities.length <= 6 ? `${probabilities.map(chance).join(" × ")} = ` : "";
  return worded("Its probability by the model: {product}; its log: {log}.", { product: factors + chance(product), log: sayLog(log) });
}

export const sayLog = (x) => (Number.isFinite(x) ? x.toFixed(2).replace(/^-(?!0\.00$)/, "−").replace("-", "") : "−∞");
