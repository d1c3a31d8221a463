import { QUIET, claim, escapeText } from "../shared/markup.js";
import { sayLog, chance } from "./candidates.js";
import { listed, marked, worded } from "../shared/words.js";

// The tree of a beam search, as a list that is indented: branches fold by a click, or by the arrow keys.

const PLACES = ["", marked("1st of the beam"), marked("2nd of the beam"), marked("3rd of the beam"), marked("4th of the beam"), marked("5th of the beam")];
const MARKS = { kept: "●", way: "", left: "○", dropped: "×" };

const stateOf = ({ state, rank, finished }) => {
  const words = { kept: worded(PLACES[rank]), way: "", left: worded("left behind"), dropped: worded("dropped") }[state];
  return listed([words, finished ? worded("finished") : ""].filter(Boolean));
};

export class BeamTree {
  constructor() {
    this.el = document.createElement("div");
    this.el.className = "dx-tree";
    this.el.setAttribute("role", "tree");
    this.el.setAttribute("aria-label", worded("sentences of the beam search"));
    this.turned = new Map(); // what the learner has folded and unfolded
    this.active = "";
    this.el.addEventListener("click", (event) => {
      const row = event.target.closest("[data-key]");
      if (row) this.toggle(row.dataset.key);
    });
    this.el.addEventListener("focusin", (event) => this.activate(event.target.closest("[data-key]")));
    this.el.addEventListener("keydown", (event) => this.pressKey(event));
  }

  /** What is left behind is folded, unless the learner wants it otherwise. */
  isFolded({ key, state }) {
    return this.turned.get(key) ?? state === "left";
  }

  get rows() {
    return [...this.el.children];
  }

  /** nodes: as beam_tree.py makes them, each after its parent. */
  show(nodes, words) {
    this.words = words;
    this.nodes = nodes.map((node) => ({ ...node, children: [] }));
    for (const node of this.nodes) {
      const above = this.nodes[node.parent];
      node.key = `${above?.key ?? ""}/${node.word}`;
      above?.children.push(node);
    }
    this.indent = Math.min(20, 200 / Math.max(...this.nodes.map((node) => node.level), 1));
    this.draw();
  }

  /** Scroll the best of the beam into view. */
  reveal(box) {
    const best = this.el.querySelector('[data-rank="1"]');
    if (!best) return;
    const [outer, inner] = [box.getBoundingClientRect(), best.getBoundingClientRect()];
    if (inner.top < outer.top + 30 || inner.bottom > outer.bottom) box.scrollTop += inner.top - (outer.top + outer.bottom) / 2;
  }

  draw() {
    const held = this.el.contains(document.activeElement);
    const lines = [];
    const walk = (siblings) => siblings.forEach((node, i) => {
      lines.push(this.line(node, i + 1, siblings.length));
      if (!this.isFolded(node)) walk(node.children);
    });
    walk(this.nodes.filter((node) => node.parent < 0));
    this.el.innerHTML = lines.join("");
    const row = this.rows.find((each) => each.dataset.key === this.active) ?? this.rows[0];
    if (row) this.activate(row);
    if (held) row?.focus();
  }

  line(node, place, of) {
    const { children, level, key, state, log_prob, score } = node;
    const word = escapeText(this.words[node.word]);
    const folded = this.isFolded(node);
    const says = stateOf(node);
    const sign = children.length ? (folded ? "▸" : "▾") : "";
    const numbers = [chance(Math.exp(log_prob)), sayLog(log_prob), sayLog(score)];
    const [probability, log, points] = numbers;
    const said = worded("{word}: probability {probability}, log {log}, score {score}", { word: this.words[node.word], probability, log, score: points });
    const label = listed([said, ...(says ? [says] : [])]);
    return `<div role="treeitem" class="dx-${state}" data-key="${key}" data-score="${score}" data-rank="${node.rank}" tabindex="-1" aria-level="${level}" aria-posinset="${place}" aria-setsize="${of}"
      ${children.length ? `aria-expanded="${!folded}"` : ""} aria-label="${escapeText(label)}" ${QUIET}>` +
      `<span class="dx-word" style="padding-left:${(level - 1) * this.indent}px"><i>${sign}</i><b title="${word}">${word}</b></span>` +
      numbers.map((text) => `<span>${text}</span>`).join("") + `<em>${MARKS[state]} ${says}</em></div>`;
  }

  toggle(key) {
    const node = this.nodes.find((each) => each.key === key);
    if (!node.children.length) return;
    this.turned.set(key, !this.isFolded(node));
    this.draw();
  }

  activate(row) {
    if (!row) return;
    for (const each of this.rows) each.tabIndex = each === row ? 0 : -1;
    this.active = row.dataset.key;
  }

  pressKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const node = this.nodes.find((each) => each.key === this.active);
    const at = this.rows.findIndex((row) => row.dataset.key === this.active);
    const go = (i) => this.rows[Math.min(Math.max(i, 0), this.rows.length - 1)].focus();
    const open = node?.children.length && !this.isFolded(node);
    const acts = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(this.rows.length - 1),
      ArrowRight: () => (open ? go(at + 1) : this.toggle(node.key)),
      ArrowLeft: () => (open ? this.toggle(node.key) : node.parent >= 0 && go(this.rows.findIndex((row) => row.dataset.key === this.nodes[node.parent].key))),
      Enter: () => this.toggle(node.key),
      " ": () => this.toggle(node.key),
    };
    if (!node || !(event.key in acts)) return;
    claim(event);
    acts[event.key]();
  }
}
