import { View, asWidget, button, slider } from "../shared/parts.js";
import { copy, copyButton } from "../shared/copying.js";
import { ARROWS, QUIET, claim, escapeText, focusOf, isComposing } from "../shared/markup.js";
import { formatNumber } from "../shared/numbers.js";
import { HIGHEST, HISTORY, LOWEST, MOST_CHANGES } from "./constants.js";
import { flip, isOn, isSameChange, placeName, sayChange, without, writeProgram } from "./hands.js";
import { sayPlace } from "./layout.js";
import { ModelMap } from "./map.js";
import { idsOf, nearWords, splitText, textOf } from "./sentence.js";
import { Thinking, spread } from "./thinking.js";
import { Zoom } from "./zoom.js";
import { SENTENCES, listed, marked, worded } from "../shared/words.js";

// ModelStudio: the sentence and the hands on the left, the map and the zoom on the right. All is computed here; Python
// is told afterwards. Where there is less room, the style sheet puts the hands above, and below them either the map or
// the zoom.

const CANDIDATES = 6;
const FEWER = 4; // the same, where there is less room
const FIRST = ["not"]; // a token to begin with, if the sentence has it
const ROWS = ["source", "written", "bars", "hands", "changes"]; // of buttons: Tab reaches one of each, the arrow keys the others
const SCOPES = { head: marked("this head only"), layer: marked("all heads here"), everywhere: marked("all heads, all layers") };
const scopes = () => `<select data-part="scope" aria-label="${worded("where the mask changes")}" ${QUIET}>${Object.entries(SCOPES)
  .map(([value, name]) => `<option value="${value}">${worded(name)}</option>`).join("")}</select>`;
const KEYS = [
  marked("Tab goes to the next part. The arrow keys move within it: among buttons, on the map, in a grid."),
  marked("Enter presses a button; on a cell of the mask, it blocks or allows it."),
  marked("Ctrl+Z undoes a step, Ctrl+Y does it again."),
  marked("Esc ends the tour, goes back from a head to the map, or closes this list."),
];
const frame = () => `
  <div class="ms">
    <div class="ms-left">
      <label class="ms-sentence"><span class="ms-title">${worded("Your sentence")}</span>
        <input type="text" data-part="sentence" spellcheck="false" autocomplete="off" ${QUIET}></label>
      <div class="ms-tokens" data-part="source" role="toolbar" aria-label="${worded("tokens of the sentence")}"></div>
      <div class="ms-tools" data-part="tools"></div>
      <section class="ms-result" aria-label="${worded("translation")}">
        <p class="ms-title">${worded("The model writes")}</p>
        <div class="ms-tokens ms-written" data-part="written" role="toolbar" aria-label="${worded("words of the translation")}"></div>
        <span data-part="hide-word"></span>
        <p class="ms-before" data-part="before"></p>
      </section>
      <section class="ms-next" aria-label="${worded("next word")}">
        <div class="ms-nexthead"><p class="ms-title" data-part="next-title"></p>${slider("temperature", worded("temperature"), LOWEST, HIGHEST, 0.1)}</div>
        <div role="toolbar" aria-orientation="vertical" aria-label="${worded("likely words")}"><ol data-part="bars"></ol></div>
      </section>
      <section class="ms-hands" aria-label="${worded("change the model")}"><p class="ms-title">${worded("Change the model")}</p>
        <div class="ms-tools" data-part="hands" role="toolbar" aria-label="${worded("parts of the model")}"></div></section>
      <section class="ms-changes" aria-label="${worded("your changes")}">
        <div class="ms-changehead"><p class="ms-title" data-part="count"></p>${button("undo", worded("Undo"))}${button("redo", worded("Redo"))}${button("reset", worded("Reset"))}</div>
        <div role="toolbar" aria-label="${worded("changes, on or off")}"><ul data-part="changes"></ul></div>
      </section>
      <p class="lw-warning" data-part="warning" role="status"></p>
      <p class="lw-aloud" data-part="told" role="status"></p>
      <div class="ms-foot"><details data-part="code"><summary ${QUIET}>${worded("The same in Python")}</summary><div class="ms-code">${copyButton()}<pre tabindex="0" role="region" aria-label="Python" ${QUIET}></pre></div></details>
        <details data-part="keys"><summary ${QUIET}>${worded("Keyboard")}</summary><ul>${KEYS.map((key) => `<li>${worded(key)}</li>`).join("")}</ul></details></div>
    </div>
    <div class="ms-views" role="group" aria-label="${worded("what is shown below")}"><button type="button" data-part="outside" ${QUIET}>${worded("The whole model")}</button><button
      type="button" data-part="inside" ${QUIET}></button></div>
    <div class="ms-right"><div class="ms-map" data-part="map"></div>
      <div class="ms-zoom"><div class="ms-heads" data-part="heads" role="group" aria-label="${worded("head")}"></div><label class="ms-scope">${worded("Change the mask in {what}", { what: scopes() })}</label>
      <div data-part="zoom"></div></div></div>
  </div>`;

class ModelStudioView extends View {
  static TRAITS = ["sentence", "changes", "place", "head", "station", "history", "future", "step", "temperature", "tokens"];
  static frame = frame;

  make() {
    const about = this.model.get("about");
    this.about = about;
    this.thinking = new Thinking(about, this.model.get("weights"), this.model.get("draft"));
    this.map = new ModelMap(this.find("map"), {
      about,
      onChoose: (place, head) => {
        this.commit({ place, head: head ?? this.model.get("head") });
        this.look(true, "inside");
      },
      onStation: (station) => this.commit({ station }),
    });
    this.zoom = new Zoom(this.find("zoom"), { onToggle: (cell) => this.toggleCell(cell) });
    const input = this.find("sentence");
    input.addEventListener("input", () => this.type(input.value));
    input.addEventListener("change", () => this.keepSentence());
    for (const name of ["undo", "redo"]) this.find(name).addEventListener("click", () => this.move(name));
    this.find("reset").addEventListener("click", () => this.change([]));
    this.root.addEventListener("click", (event) => this.act(event.target.closest("[data-do]")));
    this.root.addEventListener("keydown", (event) => this.pressKey(event));
    this.find("outside").addEventListener("click", () => this.look(false));
    this.find("inside").addEventListener("click", () => this.look(true));
    this.look(false);
    this.find("tools").addEventListener("change", ({ target }) => {
      this.other = Number(target.value);
      this.schedule();
    });
    this.find("code").addEventListener("toggle", () => this.schedule());
    this.find("code").querySelector("button").addEventListener("click", ({ target }) => copy(target, target.parentElement.querySelector("pre")));
    for (const [one, other] of [["code", "keys"], ["keys", "code"]]) // they open over the same place
      this.find(one).firstElementChild.addEventListener("click", () => (this.find(other).open = false));
    for (const [name, key] of [["undo", "Z"], ["redo", "Y"]]) this.find(name).setAttribute("aria-keyshortcuts", `Control+${key}`);
    this.root.addEventListener("focusin", ({ target }) => this.followFocus(target));
    this.shown = {};
  }

  stop() {
    cancelAnimationFrame(this.later);
    this.map.stop?.();
    this.zoom.stop?.();
    super.stop();
  }

  /** Into the chosen head or block, or out of it. What gets the focus is read aloud: a part, or the map. */
  look(isInside, focus) {
    this.isInside = isInside;
    this.root.firstElementChild.classList.toggle("ms-look-inside", isInside);
    this.find("outside").setAttribute("aria-pressed", String(!isInside));
    this.find("inside").setAttribute("aria-pressed", String(isInside));
    if (!focus || !this.find("inside").checkVisibility()) return; // both are seen
    this.redraw();
    if (focus === "map") this.map.focus();
    else this.find(focus).focus({ preventScroll: true });
  }

  /** The Tab key comes back to where the focus was; what has the focus is in view, however narrow the page becomes. */
  followFocus(target) {
    const row = target.closest('[role="toolbar"]');
    if (row) this.rove(row);
    for (const [part, isInside] of [["zoom", true], ["map", false]])
      if (this.isInside !== isInside && this.find(part).contains(target)) this.look(isInside);
  }

  /** Of a row of buttons, the Tab key reaches the one with the focus, or else the one that is pressed. */
  rove(row) {
    const buttons = [...row.querySelectorAll("button")];
    const one = [focusOf(row), row.querySelector('[aria-pressed="true"]'), buttons[0]].find((button) => buttons.includes(button));
    for (const button of buttons) button.tabIndex = button === one ? 0 : -1;
  }

  // From the learner

  pressKey(event) {
    if (isComposing(event)) return;
    const row = event.target.closest('[role="toolbar"]');
    if (row && this.moveIn(row, event)) return claim(event);
    const list = event.target.closest("details[open]");
    if (list && event.key === "Escape") {
      claim(event);
      list.open = false;
      return list.firstElementChild.focus();
    }
    const isLeaving = event.key === "Escape" && this.isInside && event.target.closest(".ms-zoom, .ms-views");
    if (isLeaving && this.find("outside").checkVisibility()) {
      claim(event);
      return this.look(false, "map");
    }
    const isTyping = event.target === this.find("sentence");
    if (isTyping && event.key === "Enter") {
      claim(event); // else JupyterLab handles Enter before the field reports its change
      this.keepSentence();
    }
    const { key } = event;
    if (isTyping || !(event.ctrlKey || event.metaKey) || !["z", "y"].includes(key.toLowerCase())) return;
    claim(event);
    this.move(key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo");
  }

  /** With the arrow keys along a row of buttons; whether it was such a key. */
  moveIn(row, event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const buttons = seenButtons(row);
    const here = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = event.key === "Home" ? 0 : event.key === "End" ? last : ARROWS[event.key] && here + ARROWS[event.key][0] + ARROWS[event.key][1];
    if (to === undefined) return false;
    buttons[Math.min(Math.max(to, 0), last)].focus();
    return true;
  }

  /** While it is typed it is translated; it is kept when it is done. */
  type(text) {
    this.typed = text;
    this.schedule();
  }

  keepSentence() {
    const { typed } = this;
    if (typed === undefined) return;
    this.typed = undefined;
    const problem = this.problemOf(splitText(typed, this.about));
    if (typed !== this.model.get("sentence") && !problem) this.step({ sentence: typed });
    else this.schedule();
  }

  problemOf(tokens) {
    const { longest } = this.about;
    if (!tokens || (tokens.length >= 1 && tokens.length <= longest)) return "";
    if (!tokens.length) return worded("Type a sentence.");
    return worded("The sentence has {count} tokens; the model is shown at most {most}.", { count: tokens.length, most: longest });
  }

  /** Why Python refuses what it was told stays until it is told something else. */
  receive({ problem }) {
    if (problem) this.refusal = problem;
  }

  commit(changes) {
    this.refusal = undefined;
    super.commit(changes);
  }

  /** One step that can be undone. */
  step(changes) {
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, this.model.get(name)]));
    this.model.set("history", [...this.model.get("history"), before].slice(-HISTORY));
    this.model.set("future", []);
    this.commit(changes);
  }

  change(changes) {
    if (changes.length > MOST_CHANGES) return this.say(worded("There are {most} changes already: remove one first.", { most: MOST_CHANGES }));
    if (JSON.stringify(changes) !== JSON.stringify(this.model.get("changes"))) this.step({ changes });
  }

  /** Undo, redo: Python does the same. */
  move(name) {
    const [from, to] = name === "undo" ? ["history", "future"] : ["future", "history"];
    const steps = this.model.get(from);
    if (!steps.length) return;
    const last = steps.at(-1);
    const back = Object.fromEntries(Object.keys(last).map((trait) => [trait, this.model.get(trait)]));
    this.typed = this.refusal = undefined;
    for (const [trait, value] of Object.entries({ ...last, [from]: steps.slice(0, -1), [to]: [...this.model.get(to), back] })) this.model.set(trait, value);
    this.model.send({ ask: name, done: true });
    this.schedule();
  }

  act(element) {
    if (!element || element.getAttribute("aria-disabled") === "true") return;
    const what = JSON.parse(element.dataset.do);
    const changes = this.model.get("changes");
    if (what.choose !== undefined) [this.chosen, this.other] = [what.choose, undefined];
    else if (what.step !== undefined) return this.commit({ step: what.step });
    else if (what.head !== undefined) return this.commit({ head: what.head });
    else if (what.flip) return this.change(flip(changes, what.flip));
    else if (what.force) return this.force(what.force);
    else if (what.remove) return this.change(without(changes, what.remove));
    else if (what.switch)
      return this.change(changes.map((each) => (isSameChange(each, what.switch) ? { ...each, on: !each.on } : each)));
    this.schedule();
  }

  /** One word of the translation; the same again gives it free. */
  force(change) {
    const changes = this.model.get("changes");
    const rest = changes.filter(({ kind, token }) => kind !== "force" || token !== change.token);
    this.change(isOn(changes, change) ? rest : [...rest, { ...change, on: true }]);
  }

  toggleCell({ place, head, query, key, allow }) {
    const scope = this.find("scope").value;
    const cell = { at: scope === "everywhere" ? place.replace(/\d+/, "*") : place, query, key, ...(scope === "head" ? { head } : {}) };
    const [wanted, opposite] = (allow ? ["allow", "block"] : ["block", "allow"]).map((kind) => ({ kind, ...cell }));
    const changes = this.model.get("changes");
    this.change(isOn(changes, opposite) ? without(changes, opposite) : [...without(changes, wanted), { ...wanted, on: true }]);
  }

  // To the learner

  draw(state) {
    const isOneSeen = this.find("inside").checkVisibility(); // asked first: later the answer costs a layout
    const tokens = this.tokensOf(state);
    if (!tokens) return this.say(worded("Waiting for Python, which splits this sentence into tokens …"));
    const changes = state.changes.filter(({ on }) => on).map(({ on: _, ...change }) => change);
    const ids = idsOf(tokens, this.about);
    const key = JSON.stringify([ids, changes]);
    if (key !== this.computed) {
      this.computed = key;
      this.result = this.thinking.think(ids, changes);
    }
    const { result, about } = this;
    const names = { src: tokens, tgt: result.tgt.map((id) => about.words.tgt[id]) };
    const drawn = { ...state, names, result, active: changes };
    this.drawSentence(drawn);
    this.drawWritten(drawn);
    this.drawNext(drawn);
    this.drawHands(drawn);
    this.drawChanges(drawn);
    this.tell(drawn);
    const { now, before } = result;
    const { place, head, station } = state;
    const views = [
      () => this.map.draw({ now, before, tokens: names, place, head, station, changes: state.changes }),
      () => this.zoom.draw({ now, before, tokens: names, place, head }),
    ];
    const [seen, other] = this.isInside ? views.reverse() : views;
    seen();
    cancelAnimationFrame(this.later);
    if (isOneSeen) this.later = requestAnimationFrame(other); // what nobody sees waits for the next frame
    else other();
    this.drawViews(state);
  }

  /** A step is read aloud: what the model writes, and whether that is what it wrote before. */
  tell({ sentence, changes, active, result }) {
    if (this.typed !== undefined) return;
    const step = JSON.stringify([sentence, changes]);
    const written = textOf(result.written.ids.slice(1), this.about) || worded("nothing");
    if (this.told && this.told.step !== step) {
      const said = { count: active.length, written };
      this.write("told", written === this.told.written ? worded("Changes: {count}. The model still writes: {written}", said) : worded("Changes: {count}. The model now writes: {written}", said));
    }
    this.told = { step, written };
  }

  drawViews({ place, head }) {
    const isAttention = place.endsWith("attn");
    const chosen = isAttention ? worded("{place}, head {head}", { place: sayPlace(place), head }) : place && sayPlace(place);
    this.write("inside", place ? worded("Inside: {place}", { place: chosen }) : worded("Inside: choose a head in the map"));
    const heads = isAttention ? Array.from({ length: this.about.config.num_heads }, (_, i) => i) : [];
    this.put("heads", heads.map((i) => press({ head: i }, String(i), { pressed: i === head, label: worded("head {head}", { head: i }) })).join(""));
  }

  /** What is being typed, if it can be read; else what is kept. Tells what is wrong with it. */
  tokensOf({ sentence, tokens }) {
    const typed = this.typed === undefined ? null : splitText(this.typed, this.about);
    const problem = this.problemOf(typed);
    const read = typed && !problem ? typed : splitText(sentence, this.about) ?? tokens;
    this.say(listed([this.refusal, problem, ...this.unknownIn(read)].filter(Boolean), SENTENCES));
    return read;
  }

  unknownIn(tokens) {
    const known = this.about.words.src.slice(4); // without <pad>, <bos>, <eos>, <unk>
    const strange = [...new Set(tokens)].filter((token) => !known.includes(token));
    if (strange.join() !== this.strange) {
      this.strange = strange.join();
      this.unknown = strange.map((word) => {
        const near = nearWords(word, known);
        return near.length ? worded("The model doesn't know “{word}”; near: {near}.", { word, near: listed(near) }) : worded("The model doesn't know “{word}”.", { word });
      });
    }
    return this.unknown;
  }

  /** Only if it is other HTML than before, and in the same elements. The focus stays with what the button does. */
  put(name, html) {
    if (this.shown[name] === html) return;
    this.shown[name] = html;
    const part = this.find(name);
    const held = part.contains(focusOf(part)) ? focusOf(part) : null;
    const doing = held?.dataset.do;
    const wanted = document.createElement("div");
    wanted.innerHTML = html;
    adopt(part, wanted);
    if (held && !(held.checkVisibility() && held.dataset.do === doing)) {
      const buttons = seenButtons(part);
      const next = buttons.find((button) => button.dataset.do === doing) ?? (held.checkVisibility() ? held : buttons.at(-1) ?? this.find("undo"));
      next.focus({ preventScroll: true });
    }
    if (ROWS.includes(name)) this.rove(part);
  }

  drawSentence({ sentence, names, changes, active }) {
    const input = this.find("sentence");
    if (this.typed === undefined && input.value !== sentence) input.value = sentence;
    const { src } = names;
    if (this.chosen === undefined || this.chosen >= src.length) this.chosen = Math.max(src.findIndex((token) => FIRST.includes(token)), 0);
    const { chosen } = this;
    const hidden = (i) => isOn(changes, { kind: "hide", side: "src", token: i });
    const known = (token) => this.about.words.src.includes(token);
    this.put("source", src.map((token, i) => press({ choose: i }, escapeText(token), {
      kind: `ms-token${hidden(i) ? " ms-hidden" : ""}${known(token) ? "" : " ms-unknown"}`, pressed: i === chosen,
      label: listed([`${i}: ${token}`, ...(hidden(i) ? [worded("hidden")] : []), ...(known(token) ? [] : [worded("unknown")])]),
    })).join(""));
    const hide = { kind: "hide", side: "src", token: chosen };
    const title = worded("No token may attend to it.");
    const hasPositions = Boolean(this.about.config.positions) && src.length > 1;
    this.put("tools", flipper(changes, hide, worded("Hide “{token}”", { token: escapeText(src[chosen]) }), { kind: active.length ? "" : "ms-first", title }) +
      (hasPositions ? this.swapper(src, changes) : ""));
    if (hasPositions) this.find("tools").querySelector("select").value = this.other;
  }

  /** A button that swaps the positions of the chosen token and of another, which a menu chooses: at first the next. */
  swapper(src, changes) {
    const { chosen } = this;
    if (this.other === undefined || this.other === chosen || this.other >= src.length) this.other = chosen + 1 < src.length ? chosen + 1 : chosen - 1;
    const [token, other] = [chosen, this.other].sort((a, b) => a - b);
    const options = src.map((text, i) => (i === chosen ? "" : `<option value="${i}">${escapeText(text)}</option>`));
    return `<span class="ms-swap">${flipper(changes, { kind: "swap_positions", side: "src", token, other }, worded("Swap positions with"),
      { label: worded("Swap positions with “{token}”", { token: src[this.other] }), title: worded("Each of the two gets the other's position.") })}<select aria-label="${worded("the other token")}" ${QUIET}>${options.join("")}</select></span>`;
  }

  drawWritten({ result, step, names, changes }) {
    const { about } = this;
    const [now, old] = [result.written.ids.slice(1), result.untouched.ids.slice(1)];
    const same = String(now) === String(old);
    const kept = commonOf(now, old);
    this.place = Math.min(step, names.tgt.length - 1);
    this.put("written", now.map((id, i) => press({ step: i }, `${kept.has(i) ? "" : `<i aria-hidden="true">≠</i>`}${escapeText(about.words.tgt[id])}`, {
      kind: `ms-word${kept.has(i) ? "" : " ms-new"}${id === about.eos ? " ms-end" : ""}`, pressed: i === this.place,
      label: listed([worded("word {number}: {word}", { number: i + 1, word: about.words.tgt[id] }), ...(kept.has(i) ? [] : [worded("changed")])]),
    })).join(""));
    const read = this.place + 1;
    this.put("hide-word", flipper(changes, { kind: "hide", side: "tgt", token: read }, worded("Hide “{token}”", { token: escapeText(about.words.tgt[now[this.place]]) }),
      { disabled: read >= names.tgt.length, title: worded("No token after it may attend to it.") }));
    const text = textOf(old, about);
    this.put("before", same ? "" : `<span>${worded("before<span class=ms-more> your changes</span>")}</span> ${escapeText(text) || worded("nothing")}`);
    this.find("before").classList.toggle("ms-none", same);
  }

  drawNext({ result, names, changes, temperature }) {
    const row = this.place;
    const { words } = this.about;
    const now = spread(result.now.logits, row, temperature);
    const before = result.before === result.now ? now : spread(result.before.logits, row, temperature);
    const top = [...now.keys()].sort((a, b) => now[b] - now[a] || before[b] - before[a]).slice(0, CANDIDATES); // a forced word has it all
    const chosen = result.written.ids[row + 1];
    if (!top.includes(chosen)) top[top.length - 1] = chosen;
    const old = [...before.keys()].reduce((best, id) => (before[id] > before[best] ? id : best), 0);
    if (!top.includes(old)) top[top.length - (top.at(-1) === chosen ? 2 : 1)] = old;
    this.write("next-title", row ? worded("After “{token}”", { token: names.tgt[row] }) : worded("The first word"));
    const most = top.reduce((best, id) => (Math.abs(now[id] - before[id]) > Math.abs(now[best] - before[best]) ? id : best), top[0]);
    const moved = Math.abs(now[most] - before[most]) >= 0.005;
    const others = top.filter((id) => id !== chosen && id !== old);
    const spare = others.slice(FEWER - top.length + others.length);
    this.put("bars", top.map((id) => {
      const force = { kind: "force", token: row + 1, word: id };
      const forced = isOn(changes, force);
      const was = Math.abs(now[id] - before[id]) >= 0.005;
      const [percent, without] = [percentOf(now[id]), percentOf(before[id])];
      const chance = was ? worded("{percent} ({without} without your changes)", { percent, without }) : percent;
      const label = worded("{word}: {said}. Force this word", { word: words.tgt[id], said: listed([chance, ...(forced ? [worded("forced")] : [])]) });
      return `<li class="${spare.includes(id) ? "ms-spare" : ""}">${press({ force }, `<span class="ms-name">${forced ? "● " : ""}${escapeText(words.tgt[id])}</span>` +
        `<span class="ms-bar"><b style="width:${(100 * now[id]).toFixed(1)}%"></b>${was ? `<u style="left:${(100 * before[id]).toFixed(1)}%"></u>` : ""}</span>` +
        `<span class="ms-share">${moved && id === most ? "≠ " : ""}${percentOf(now[id])}</span>`, { kind: "ms-candidate", pressed: forced, label, title: forced ? worded("Don't force this word any more") : worded("Force this word") })}</li>`;
    }).join(""));
  }

  drawHands({ changes, place, head }) {
    const { config } = this.about;
    const everywhere = [
      [{ kind: "cut", at: "decoder.*.cross_attn" }, worded("Cut all cross-attention"), worded("The decoder no longer sees your sentence.")],
      [{ kind: "drop_causal" }, worded("No causal mask"), worded("A word of the translation may attend to the words after it.")],
      [{ kind: "drop_padding" }, worded("No padding mask"), worded("Padding may be attended to. One sentence alone has none, so nothing changes.")],
    ];
    if (config.positions) everywhere.push([{ kind: "drop_positions" }, worded("No positions"), worded("No token carries its position: the encoder no longer knows the order of its tokens.")]);
    if (place.endsWith("attn")) everywhere.unshift([{ kind: "silence", at: place, head }, worded("Silence head {head}", { head }), worded("The output of this head becomes 0.")]);
    if (place) everywhere.unshift([{ kind: "cut", at: place }, worded("Cut {place}", { place: placeName(place) }), worded("It adds nothing to the vectors that pass by it.")]);
    this.put("hands", everywhere.map(([change, text, title]) => flipper(changes, change, text, { title })).join(""));
    this.root.querySelector(".ms-scope").hidden = !place.endsWith("attn");
  }

  drawChanges({ changes, names, history, future, active, sentence }) {
    const count = changes.length;
    const said = { active: active.length, count };
    this.write("count", !count ? worded("Your changes") : active.length < count ? worded("Your changes: {active} of {count} on", said) : worded("Your changes: {count}", said));
    this.put("changes", count ? changes.toReversed().map(({ on, ...change }) => { // the newest is seen first
      const what = sayChange(change, names, this.about.words.tgt);
      return `<li class="${on ? "" : "ms-off"}">${press({ switch: change }, `<i aria-hidden="true">${on ? "✓" : ""}</i>${escapeText(what)}`, { kind: "ms-switch", pressed: on, label: on ? worded("{change}: on", { change: what }) : worded("{change}: off", { change: what }) })}` +
        `${press({ remove: change }, "×", { kind: "ms-remove", label: worded("remove: {change}", { change: what }) })}</li>`;
    }).join("") : `<li class="ms-none">${worded("None yet: this is the model as it was trained. <span class=ms-more>Hide a token, click a cell of the mask, or choose another next word, and read the translation.</span>")}</li>`);
    for (const [name, can] of [["undo", history.length], ["redo", future.length], ["reset", count]])
      this.find(name).setAttribute("aria-disabled", String(!can));
    const code = this.find("code");
    if (code.open) this.writeCode(writeProgram(sentence, active, this.about));
  }

  writeCode(program) {
    const pre = this.find("code").querySelector("pre");
    if (pre.textContent !== program) pre.textContent = program;
  }
}

const percentOf = (x) => (Number.isNaN(x) ? "NaN" : x > 0 && x < 0.001 ? "< 0.1 %" : `${formatNumber(100 * x, x < 0.1 ? 1 : 0)} %`);

/** Where there is less room, some of the words are not seen. */
const seenButtons = (row) => [...row.querySelectorAll("button")].filter((button) => button.checkVisibility());

/** Make the children of an element what the children of another one are. */
function adopt(element, wanted) {
  const all = [...wanted.childNodes];
  all.forEach((next, i) => {
    const child = element.childNodes[i];
    if (!child) element.append(next);
    else if (child.nodeName !== next.nodeName) child.replaceWith(next);
    else if (next.nodeType === Node.TEXT_NODE) child.data = next.data;
    else {
      for (const { name } of [...child.attributes]) if (!next.hasAttribute(name)) child.removeAttribute(name);
      for (const { name, value } of next.attributes) if (child.getAttribute(name) !== value) child.setAttribute(name, value);
      adopt(child, next);
    }
  });
  while (element.childNodes.length > all.length) element.lastChild.remove();
}

/** A button that does something. */
const press = (what, content, { kind = "", pressed, label, title }) =>
  `<button type="button" class="${kind}" data-do="${escapeText(JSON.stringify(what))}"${pressed === undefined ? "" : ` aria-pressed="${pressed}"`}` +
  `${title ? ` title="${title}"` : ""} aria-label="${escapeText(label)}" ${QUIET}>${content}</button>`;

/** A button that makes a change, or takes it back. */
const flipper = (changes, change, text, { kind = "", title, label, disabled = false }) =>
  `<button type="button" class="ms-flip ${kind}" title="${title}"${label ? ` aria-label="${escapeText(label)}"` : ""}${disabled ? ` aria-disabled="true"` : ""} data-do="${escapeText(JSON.stringify({ flip: change }))}" aria-pressed="${isOn(changes, change)}" ${QUIET}>${text}</button>`;

/** The places of `now` whose words are a longest common part of both. */
function commonOf(now, old) {
  const length = now.map(() => old.map(() => 0));
  const at = (i, j) => length[i]?.[j] ?? 0;
  for (let i = now.length - 1; i >= 0; i--)
    for (let j = old.length - 1; j >= 0; j--) length[i][j] = now[i] === old[j] ? 1 + at(i + 1, j + 1) : Math.max(at(i + 1, j), at(i, j + 1));
  const found = new Set();
  for (let i = 0, j = 0; i < now.length && j < old.length; ) {
    if (now[i] === old[j]) found.add(i++) && j++;
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}

export default asWidget(ModelStudioView);
