import { readDoubles } from "../shared/numbers.js";
import { QUIET, claim } from "../shared/markup.js";
import { View, asWidget, button, choice, slider } from "../shared/parts.js";
import { BEAM, DECIDES, GREEDY, LIMITS, MAX_WIDTH, METHODS, SAMPLING } from "./constants.js";
import { BeamTree } from "./beam_tree.js";
import { Candidates, distribute, drawWords, multiplied, orderOf, sayLog, chance } from "./candidates.js";
import { Writer } from "./writer.js";
import { SEMICOLON, SENTENCES, counted, listed, marked, worded } from "../shared/words.js";

// DecodingExplorer: the controls redraw the candidates at once; each step is Python's, or, where there is none, the writer's.

const SCALES = { temperature: 10, top_p: 100, length_penalty: 10 }; // their sliders count in tenths or hundredths
const MOST_K = 50; // of the slider; code may set more
const WAYS = { step: marked("Step ▸"), back: marked("◂ Back"), end: marked("To the end"), again: marked("Start again") };
const scaled = (name, label) => {
  const [low, high] = LIMITS[name].map((x) => Math.round(x * SCALES[name]));
  return `<label>${label}<span class="lw-slider"><input type="range" data-part="${name}" min="${low}" max="${high}" step="1" ${QUIET}><output data-part="${name}-shown"></output></span></label>`;
};
const frame = () => `
  <div class="lw-bar">${choice("method", worded("method"), METHODS)}
    <div class="lw-bar dx-group" data-part="by-words">${scaled("temperature", worded("temperature"))}${slider("top_k", "top-k", 0, MOST_K, 1)}${scaled("top_p", "top-p")}
      <span data-part="by-draws">${slider("seed", worded("seed"), 0, 99, 1)}</span></div>
    <div class="lw-bar dx-group" data-part="by-beam">${slider("width", worded("width of the beam"), 1, MAX_WIDTH, 1)}${scaled("length_penalty", worded("length penalty"))}</div></div>
  <div class="lw-bar dx-buttons">${["back", "step", "end", "again"].map((name) => button(name, worded(WAYS[name]))).join("")}<span data-part="place"></span></div>
  <p class="lw-readout dx-about" data-part="about"></p>
  <div data-part="writing"><h4>${worded("The sentence so far")}</h4><ol class="dx-words" data-part="sentence" aria-label="${worded("the sentence so far")}"></ol>
    <p class="dx-product" data-part="product"></p>
    <h4 data-part="heading">${worded("The next word")}</h4>
    <div data-part="next"><div class="dx-heads" aria-hidden="true"><span></span><span>${worded("word")}</span><span></span><span><i class="dx-key"></i>${worded("the model’s")}</span><span><i class="dx-key dx-solid"></i>${worded("with the options")}</span><span></span></div>
      <div data-part="list"></div><p class="dx-rest" data-part="rest"></p></div></div>
  <div data-part="searching"><h4>${worded("The search so far")}</h4>
    <p class="lw-readout" data-part="untouched"></p>
    <div data-part="searched"><div class="dx-scroll" data-part="scroll"><div class="dx-treeheads" aria-hidden="true"><span>${worded("word")}</span><span>${worded("probability")}</span><span>${worded("its log")}</span><span>${worded("score")}</span><span></span></div><div data-part="tree"></div></div>
    <p class="lw-legend"><span>${worded("● in the beam now")}</span><span>${worded("○ left behind: was kept, nothing of it is")}</span><span>${worded("× dropped: never kept; the best of these are drawn")}</span><span>${worded("▾ ▸ a click, Enter, or the arrow keys fold and unfold")}</span></p></div>
    <div class="dx-tiles"><section><h4 data-part="best-title"></h4><p data-part="best"></p></section><section><h4>${worded("greedy, for comparison")}</h4><p data-part="greedy"></p></section></div></div>
  <p class="lw-readout" data-part="readout"></p>
  <p class="lw-warning" data-part="warning" role="status"></p>`;

const alike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

class Decoding extends View {
  static TRAITS = ["method", "temperature", "top_k", "top_p", "width", "length_penalty", "seed", "chosen", "depth", "words", "shown", "choice"];
  static frame = frame;

  make() {
    const weights = this.model.get("weights");
    if (weights) {
      this.writer = new Writer(this.model.get("about"), weights, this.state());
      const followed = this.writer.follow(this.state(), {}, false);
      for (const [name, value] of Object.entries(followed)) this.model.set(name, value);
    }
    this.list = new Candidates((id) => this.take(id));
    this.tree = new BeamTree();
    this.find("list").append(this.list.el);
    this.find("tree").append(this.tree.el);
    for (const [name, scale] of Object.entries(SCALES))
      this.find(name).addEventListener("input", (event) => this.commit({ [name]: Number(event.target.value) / scale }));
    for (const name of Object.keys(WAYS)) this.find(name).addEventListener("click", () => this.act(name));
    this.root.addEventListener("keydown", (event) => this.pressKey(event));
  }

  // From the learner

  act(name) {
    if (this.find(name).getAttribute("aria-disabled") === "true") return;
    if (this.writer) this.attempt(() => this.commit(this.writer.act(name, this.state()), false));
    else this.model.send({ ask: name });
  }

  /** The learner's own choice, once it is known what follows the words so far. */
  take(id) {
    const { chosen, shown } = this.state();
    if (shown.logits && alike(chosen, shown.chosen)) this.commit({ chosen: [...chosen, id] });
  }

  /** isOwn: new tokens are the learner's, not the method's. */
  commit(changes, isOwn = true) {
    this.say("");
    this.attempt(() => super.commit(this.writer ? this.writer.follow(this.state(), changes, isOwn) : changes));
  }

  /** What the model refuses, such as a text longer than its max_len, is said. */
  attempt(act) {
    try {
      act();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.say(error.message);
    }
  }

  receive(message) {
    if (message.done) this.say("");
  }

  pressKey(event) {
    const name = { PageDown: "step", PageUp: "back" }[event.key];
    if (!name || event.target.matches("input, select") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    claim(event);
    this.act(name);
  }

  // To the learner

  draw(state) {
    this.drawControls(state);
    const { shown } = state;
    const beams = state.method === BEAM;
    const here = beams ? alike(shown.beam, [state.width, state.length_penalty, state.depth]) : alike(shown.chosen, state.chosen);
    this.root.setAttribute("aria-busy", String(!here));
    if (beams !== Boolean(shown.nodes)) return;
    this.find("writing").hidden = beams;
    this.find("searching").hidden = !beams;
    if (beams) this.drawBeam(state);
    else this.drawWriting(state);
  }

  drawControls(state) {
    const { method, top_k, words } = state;
    this.find("by-words").hidden = method === BEAM;
    this.find("by-draws").hidden = method !== SAMPLING;
    this.find("by-beam").hidden = method !== BEAM;
    this.find("top_k").max = Math.min(MOST_K, words.length);
    this.find("top_k").value = top_k;
    const texts = { top_k: top_k ? counted("{count} word", "{count} words", top_k) : worded("off") };
    for (const [name, scale] of Object.entries(SCALES)) {
      this.find(name).value = Math.round(state[name] * scale);
      texts[name] = name === "top_p" && state.top_p === 1 ? worded("off") : String(state[name]);
    }
    for (const [name, text] of Object.entries(texts)) {
      this.write(`${name}-shown`, text);
      this.find(name).setAttribute("aria-valuetext", text);
    }
    this.write("about", this.about(state));
  }

  about({ method, width, length_penalty, seed }) {
    if (method === GREEDY) return worded("Greedy takes the most likely token at each step. Temperature, top-k and top-p change the probabilities, but not which token is the most likely.");
    if (method === SAMPLING) return listed([
      worded("Sampling draws the next token: one with probability 0.30 comes up about 30 times in 100."),
      worded("Temperature divides the logits; top-k keeps the k most likely tokens, top-p the most likely ones that together reach p."),
      this.writer ? worded("Seed {seed} always draws the same; in JupyterLab, where Python draws, it draws other words.", { seed }) : worded("Seed {seed} always draws the same.", { seed }),
    ], SENTENCES);
    const best = width === 1 ? worded("A beam of 1 is greedy: only the best sentence is kept.") : worded("The {width} best sentences go on, at each step, and all others are dropped.", { width });
    const score = length_penalty === 0 ? worded("Best means the highest score; score = log-probability.")
      : length_penalty === 1 ? worded("Best means the highest score; score = log-probability ÷ ((5 + length) / 6).")
        : worded("Best means the highest score; score = log-probability ÷ ((5 + length) / 6) to the power {penalty}.", { penalty: length_penalty });
    return listed([best, score], SENTENCES);
  }

  disable(atStart, atEnd) {
    for (const [name, off] of Object.entries({ step: atEnd, end: atEnd, back: atStart, again: atStart })) this.find(name).setAttribute("aria-disabled", String(off));
  }

  // Word by word

  drawWriting(state) {
    const { shown, words } = state;
    const { chosen, logits } = shown;
    const count = chosen.length;
    this.disable(count === 0, logits === null);
    this.write("place", listed([counted("{count} word", "{count} words", count), ...(logits === null ? [worded("finished")] : [])]));
    if (shown !== this.drawnWords) {
      drawWords(this.find("sentence"), words, shown);
      this.write("product", count ? multiplied(shown.probabilities) : worded("No tokens yet."));
      this.logits = logits && readDoubles(logits);
      this.order = logits && orderOf(this.logits);
      this.drawnWords = shown;
    }
    this.write("heading", logits !== null ? worded("The next word") : shown.full ? worded("No token follows: there are {count}, the maximum.", { count }) : worded("No token follows EOS."));
    if (logits === null && this.find("next").contains(document.activeElement)) this.find("back").focus();
    this.find("next").hidden = logits === null;
    if (logits !== null) this.drawCandidates(state);
    this.write("readout", logits === null ? worded("Page Up goes back one token.") :
      worded("Click a token, or press Enter on it, to take it instead of the method’s choice; the arrow keys move, Page Down steps, Page Up goes back."));
  }

  drawCandidates(state) {
    const { words, choice: made, method } = state;
    const order = this.order;
    const settled = DECIDES.every((name) => alike(made[name], state[name]));
    const next = settled || (method === GREEDY && made.method === GREEDY && alike(made.chosen, state.chosen)) ? made.next : null;
    const why = method === GREEDY ? worded("greedy’s choice") : worded("drawn by seed {seed}", { seed: state.seed });
    const found = distribute(this.logits, order, state, settled ? made.kept : null);
    const { drawn, possible, cut } = this.list.show({ words, order, ...found, next, why });
    const impossible = words.length - possible;
    const sum = (numbers) => chance(order.reduce((total, id) => (drawn.includes(id) ? total : total + numbers[id]), 0));
    const left = { count: possible - drawn.length, model: sum(found.model), after: sum(found.after) };
    const others = left.count > 0 ? [worded("{count} other tokens: {model} by the model, {after} with the options", left)] : [];
    if (cut) others.push(counted("{count} of {possible} tokens is cut", "{count} of {possible} tokens are cut", cut, { possible }));
    if (impossible) others.push(counted("{count} token has probability 0", "{count} tokens have probability 0", impossible));
    this.write("rest", others.length ? worded("{text}.", { text: listed(others, SEMICOLON) }) : "");
  }

  // The beam

  drawBeam({ shown, words }) {
    const { nodes, best, greedy, ended } = shown;
    const at = shown.beam[2];
    this.disable(at === 0, ended);
    this.write("place", listed([counted("{count} step", "{count} steps", at), ...(ended ? [worded("finished")] : [])]));
    this.find("searched").hidden = at === 0;
    this.write("untouched", at ? "" : worded("No tokens yet. Step starts with the most likely first tokens."));
    if (shown !== this.drawnBeam) {
      this.tree.show(nodes, words);
      this.tree.reveal(this.find("scroll"));
    }
    this.drawnBeam = shown;
    const said = ({ text, log_prob, score }) => ({ text, probability: chance(Math.exp(log_prob)), log: sayLog(log_prob), score: score === undefined ? "" : sayLog(score) });
    this.write("best-title", ended ? worded("the beam’s best") : worded("the beam’s best so far"));
    this.write("best", best ? worded("{text}: probability {probability}, its log {log}, score {score}", said(best)) : worded("nothing yet"));
    this.write("greedy", worded("{text}: probability {probability}, its log {log}", said(greedy)));
    this.write("readout", worded("Page Down steps, Page Up goes back."));
  }
}

export default asWidget(Decoding);
