import { formatNumber } from "../shared/numbers.js";
import { ARROWS, QUIET, claim, escapeText, focusOf } from "../shared/markup.js";
import { compare, effects, likeliest } from "./differences.js";
import { STACKS, SUBLAYER_NAMES, arrange, memoryPath, sayPlace, sidesOf, sublayersOf } from "./layout.js";
import { Painter } from "./paint.js";
import { stations } from "./tour.js";
import { listed, marked, worded } from "../shared/words.js";

// The map of the whole model. Its pictures are on one canvas; whatever can be pointed at or chosen is a button over it.

const HEIGHT = 400;
const CARD = 250; // the least width that the card needs beside the encoder
const MOTION = 900; // milliseconds
const SHOWN = 0.3; // of the greatest change: a smaller one has no sign
const PAUSE = 4000; // between two stations, while the tour plays by itself
const WELCOME = marked("Each row is a token, on its way from left to right. Point at one to follow it; choose a head or a block to look inside.");
const TOKENS = { src: marked("source token {i}: {token}"), tgt: marked("target token {i}: {token}") };
const FOLLOWED = { src: marked("source “{token}”"), tgt: marked("target “{token}”") };

const percent = (x) => `${formatNumber(100 * x, 0)} %`;
const pixels = ({ x, y, w, h }) => `left:${x}px;top:${y}px;width:${w}px;height:${h}px`;
const pressable = (kind, box, data, content = "") =>
  `<button type="button" class="mm-${kind}" style="${pixels(box)}" tabindex="-1" ${data} ${QUIET}>${content}</button>`;

const shell = () => `
  <div class="mm-scroll"><div class="mm-field" role="group" aria-label="${worded("map of the model")}"></div></div>
  <section class="mm-card" aria-label="${worded("tour")}">
    <div role="status"><p class="mm-head"><b></b><span class="mm-shape"></span></p><p class="mm-caption"></p></div>
    <div class="mm-steps"><button type="button" data-step="start" ${QUIET}>${worded("Take the tour")}</button>
      <button type="button" data-step="back" ${QUIET}>${worded("Back")}</button><button type="button" data-step="next" ${QUIET}>${worded("Next")}</button>
      <button type="button" data-step="play" ${QUIET}>${worded("Play")}</button><span class="mm-count"></span><button type="button" data-step="end" ${QUIET}>${worded("End")}</button></div>
    <p class="mm-readout" aria-live="polite"></p>
    <ul class="mm-legend"><li><i class="mm-vector"></i>${worded("a vector")}</li><li><i class="mm-way"></i>${worded("attention: the thicker, the more")}</li>
      <li><i class="mm-unit"></i>${worded("active units")}</li><li><i class="mm-sign">≠</i>${worded("changed, {sign}most", { sign: `<i class="mm-sign mm-top">≠</i>` })}</li></ul>
  </section>`;

export class ModelMap {
  /** onChoose(place, head): a block or a head was chosen. onStation(i): the tour goes there; −1 ends it. */
  constructor(el, { about, onChoose, onStation }) {
    Object.assign(this, { about, onChoose, onStation });
    this.places = sublayersOf(about.config).map(({ place }) => place);
    this.stations = stations(about);
    this.el = document.createElement("div");
    this.el.className = "mm";
    this.el.innerHTML = shell();
    el.append(this.el);
    this.field = this.el.querySelector(".mm-field");
    this.card = this.el.querySelector(".mm-card");
    this.active = 0;
    this.listen();
    this.watch = new ResizeObserver(([{ contentRect: { width } }]) => {
      if (width === this.width) return;
      this.width = width;
      this.resized = requestAnimationFrame(() => this.state && this.draw(this.state)); // not now: Safari complains of it
    });
    this.watch.observe(this.el);
    this.theme = new MutationObserver(() => {
      const { accent, line } = this.colors ?? {};
      this.readColors();
      if (this.state && (accent !== this.colors.accent || line !== this.colors.line)) this.paint();
    });
    for (const one of [document.body, document.documentElement]) this.theme.observe(one, { attributes: true });
  }

  /** When the theme or the width changes, and not with every picture: the answer costs time. */
  readColors() {
    const style = getComputedStyle(this.field);
    this.colors = { accent: style.getPropertyValue("--lw-accent").trim() || "#1976d2", line: style.color };
    this.height = parseInt(style.getPropertyValue("--mm-height")) || HEIGHT;
  }

  stop() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.movement);
    this.watch.disconnect();
    cancelAnimationFrame(this.resized);
    this.theme.disconnect();
    this.el.remove();
  }

  draw(state) {
    const came = state.station !== this.station;
    this.station = state.station;
    this.state = state;
    for (const name of ["follow", "kept"]) {
      const one = this[name];
      if (one && one.index >= state.tokens[one.side].length) this[name] = null;
    }
    this.build(state.tokens);
    this.changed = state.now === this.compared?.[0] && state.before === this.compared[1] ? this.changed : compare(state.now, state.before);
    this.compared = [state.now, state.before];
    this.painter.load(state.now);
    this.drawTokens();
    this.drawBlocks();
    this.drawWords();
    this.drawCard();
    if (came) this.arrive();
    else this.paint();
    this.say();
  }

  /** To what is looked into, or else to where the focus was. */
  focus() {
    const { place, head } = this.state;
    (this.find.get(`${place} ${head}`) ?? this.find.get(place) ?? this.buttons[this.active]).focus({ preventScroll: true });
  }

  /** Everything of which only the sizes matter; once for each of them. */
  build({ src, tgt }) {
    this.width ??= this.el.getBoundingClientRect().width; // asked once: the answer costs a layout
    const longest = Math.max(...[...src, ...tgt].map((token) => [...token].reduce((sum, c) => sum + (c > "\u2e80" ? 11 : 6.1), 0)));
    const labels = Math.min(Math.max(Math.ceil(longest) + 12, 36), 84);
    const key = [src.length, tgt.length, labels, this.width].join();
    if (key === this.key) return;
    this.key = key;
    this.worded = null;
    if (this.width !== this.readAt) this.readColors();
    this.readAt = this.width;
    const { config } = this.about;
    const layout = arrange(config, { src: src.length, tgt: tgt.length }, labels, this.width || 820, this.height);
    this.layout = layout;
    this.el.classList.toggle("mm-beside", this.width - layout.lanes.src.right >= CARD && layout.width <= this.width);
    this.card.style.left = this.el.classList.contains("mm-beside") ? `${layout.lanes.src.right + 22}px` : "";
    this.field.style.cssText = `width:${layout.width}px;height:${layout.height}px;--mm-row:${layout.rowHeight}px;--mm-under:${layout.under}px`;
    const active = this.buttons?.[this.active]?.dataset.id;
    const isHeld = this.field.contains(focusOf(this.field));
    const boxes = layout.layers.map((box) => `<div class="mm-layer" style="${pixels(box)}">${worded("{stack} layer {layer}", { stack: worded(STACKS[box.side === "src" ? "encoder" : "decoder"]), layer: box.layer })}</div>`);
    this.field.innerHTML = boxes.join("") +
      `<svg class="mm-memory" width="${layout.width}" height="${layout.height}" aria-hidden="true"><path d="${memoryPath(layout)}"/></svg>` +
      `<canvas aria-hidden="true"></canvas>` + layout.parts.map((part) => this.buttonsOf(part, layout)).join("");
    this.painter = new Painter(this.field.querySelector("canvas"));
    this.painter.arrange(layout, config);
    this.buttons = [...this.field.querySelectorAll("button")];
    this.find = new Map(this.buttons.map((button) => [button.dataset.id, button]));
    const same = this.buttons.indexOf(this.find.get(active));
    this.activate(same >= 0 ? same : Math.min(this.active, this.buttons.length - 1));
    if (isHeld) this.buttons[this.active].focus({ preventScroll: true });
  }

  buttonsOf(part, { rowHeight, lanes, under }) {
    const { id, kind, side, x, y, w, h } = part;
    const station = this.stations.findIndex(({ place }) => place === id);
    if (kind === "tokens") {
      return Array.from({ length: lanes[side].rows }, (_, i) =>
        pressable("token", { x, y: y + i * rowHeight, w, h: rowHeight }, `data-id="${side} ${i}" data-token="${side} ${i}"`)).join("");
    }
    const open = `data-id="${id}" data-side="${side}"`;
    if (kind === "strip" && station < 0) return "";
    const name = kind === "strip" ? (id.includes("embedding") ? worded("embed") : side === "src" ? worded("memory") : worded("end")) : worded(SUBLAYER_NAMES[id.split(".")[2]] ?? marked("next word"));
    const wide = kind === "strip" || kind === "feed_forward";
    const label = `<span class="mm-name${id.startsWith("after") ? " mm-low" : wide ? " mm-narrow" : ""}" aria-hidden="true">${name.replace("-f", "-<br>f")}</span>` + `<i class="mm-sign" aria-hidden="true"></i>`;
    const box = { x: x - (kind === "strip" ? 3 : 0), y, w: w + (kind === "strip" ? 6 : 0), h };
    const whole = pressable(`block mm-is-${kind}`, { ...box, h: h + under }, `${open} ${part.place ? `data-place="${id}"` : `data-station="${station}"`}`, label);
    const heads = (part.heads ?? []).map(({ x: left, y: top, size }, head) =>
      pressable("thumb", { x: left, y: top, w: size, h: size }, `data-id="${id} ${head}" data-place="${id}" data-head="${head}"`, `<i class="mm-sign" aria-hidden="true"></i>`));
    const words = kind === "logits" ? `<ol class="mm-words" style="${pixels({ x, y, w, h })}" aria-hidden="true"></ol>` : "";
    return whole + heads.join("") + words;
  }

  // What is said about each part, by its name, its classes and a sign

  drawTokens() {
    const { tokens, changes } = this.state;
    const { hidden, moved, forced } = (this.effects = effects(changes, this.places));
    for (const side of ["src", "tgt"]) {
      tokens[side].forEach((token, i) => {
        const marks = [hidden.has(`${side} ${i}`) && worded("hidden from all"), (moved.has(`${side} ${i}`)) && worded("position swapped"), side === "tgt" && forced.has(i) && worded("forced")].filter(Boolean);
        const sign = hidden.has(`${side} ${i}`) ? "×" : moved.has(`${side} ${i}`) ? "⇅" : marks.length ? "!" : "";
        this.show(`${side} ${i}`, { name: listed([worded(TOKENS[side], { i, token }), ...marks]), crossed: hidden.has(`${side} ${i}`), text: `${sign}${token}` });
      });
    }
  }

  drawBlocks() {
    const { now, place, head } = this.state;
    const { cut, silenced, noCausal, noPadding, edited, moved } = this.effects;
    const most = Math.max(0, ...this.changed.values());
    for (const { id, kind, side, heads } of this.layout.parts) {
      if (kind === "strip" && this.find.has(id)) {
        const off = id.endsWith("embedding") && moved.has(side);
        this.show(id, { name: listed([this.stations.find((station) => station.place === id).title, ...(off ? [worded("without positions")] : [])]), sign: off ? "×" : "" });
      }
      if (kind !== "attention" && kind !== "feed_forward") continue;
      const said = [sayPlace(id)];
      if (cut.has(id)) said.push(worded("cut"));
      if (noCausal.has(id)) said.push(worded("causal mask off"));
      if (noPadding.has(id)) said.push(worded("padding mask off"));
      if (edited.has(id)) said.push(worded("mask edited"));
      const [isNotCausal, seesPadding] = [noCausal.has(id), noPadding.has(id)];
      const signs = isNotCausal && seesPadding ? worded("causal, padding off") : isNotCausal ? worded("causal off") : seesPadding ? worded("padding off") : "";
      if (kind === "feed_forward") {
        const { data } = now.places[id].hidden;
        let active = 0;
        for (const x of data) if (x > 0) active++;
        said.push(worded("{percent} of its units active", { percent: percent(active / data.length) }));
        this.show(id, { name: listed([...said, ...this.wordsOf(id, "units", most)]), chosen: id === place, crossed: cut.has(id), sign: this.signOf(id, most), most: this.changed.get(id) === most });
        continue;
      }
      const changed = heads.filter((_, i) => this.changed.has(`${id} ${i}`)).length;
      if (changed) said.push(worded("{changed} of {count} heads changed", { changed, count: heads.length }));
      this.show(id, { name: listed(said), chosen: id === place, crossed: cut.has(id), sign: signs });
      heads.forEach((_, i) => {
        const key = `${id} ${i}`;
        const more = [silenced.has(key) && worded("silenced"), (edited.has(key) || edited.has(id)) && worded("mask edited")].filter(Boolean);
        this.show(key, { name: listed([worded("{place}, head {head}", { place: sayPlace(id), head: i }), ...more, ...this.wordsOf(key, "weights", most)]),
          chosen: id === place && i === head, crossed: silenced.has(key), sign: this.signOf(key, most), most: this.changed.get(key) === most });
      });
    }
  }

  signOf(key, most) {
    const by = this.changed.get(key) ?? 0;
    return by < SHOWN * most || !by ? "" : "≠";
  }

  wordsOf(key, what, most) {
    const by = this.changed.get(key);
    if (!by) return [];
    if (what === "units") return [by === most ? worded("changed most: units by up to {by}", { by: percent(by) }) : worded("changed: units by up to {by}", { by: percent(by) })];
    return [by === most ? worded("changed most: weights by up to {by}", { by: formatNumber(by) }) : worded("changed: weights by up to {by}", { by: formatNumber(by) })];
  }

  drawWords() {
    const { now, before, tokens } = this.state;
    if (now === this.worded?.[0] && before === this.worded[1]) return;
    this.worded = [now, before];
    this.marked = undefined;
    const list = this.field.querySelector(".mm-words");
    const old = before && before !== now ? likeliest(before.logits) : [];
    this.next = likeliest(now.logits);
    const name = (i) => this.about.words.tgt[i];
    let changed = 0;
    list.innerHTML = this.next.map(({ word, probability }, i) => {
      const was = old[i] && old[i].word !== word ? name(old[i].word) : null;
      changed += was !== null;
      return `<li><span class="mm-bar" style="--mm-p:${Math.round(100 * (probability || 0))}%"></span>` +
        `<span>${was === null ? "" : "<b>≠</b>"}${escapeText(name(word))}${was === null ? "" : ` <s>${escapeText(was)}</s>`}</span></li>`;
    }).join("");
    const { word, probability } = this.next.at(-1);
    const said = [worded("next words; after {token}: {word}, {percent}", { token: tokens.tgt.at(-1), word: name(word), percent: percent(probability) })];
    if (changed) said.push(worded("{changed} of {count} changed", { changed, count: this.next.length }));
    this.show("logits", { name: listed(said), sign: "" });
  }

  /** Set what differs from what is there: to touch the document is what costs. */
  show(id, { name, text, sign, chosen, crossed = false, most = false }) {
    const button = this.find.get(id);
    const stamp = [name, text, sign, chosen, crossed].join("|");
    if (button.stamp === stamp) return;
    button.stamp = stamp;
    button.setAttribute("aria-label", name);
    button.title = name;
    if (chosen !== undefined) button.setAttribute("aria-pressed", String(chosen));
    button.classList.toggle("mm-crossed", crossed);
    button.classList.toggle("mm-most", most);
    if (text !== undefined) button.textContent = text;
    else button.querySelector(".mm-sign").textContent = sign;
  }

  // The tour

  drawCard() {
    const { station, tokens, now } = this.state;
    const here = this.stations[station];
    const write = (name, text) => {
      const element = this.card.querySelector(name);
      if (element.textContent !== text) element.textContent = text;
    };
    write(".mm-head b", here ? here.title : worded("The whole model"));
    write(".mm-shape", here ? here.shape(now) : "");
    write(".mm-caption", here ? here.caption(tokens, now, this.effects) : worded(WELCOME));
    write(".mm-count", here ? worded("{number} of {count}", { number: station + 1, count: this.stations.length }) : "");
    for (const button of this.card.querySelectorAll("[data-step]")) {
      const { step } = button.dataset;
      button.hidden = (step === "start") === Boolean(here);
      if (step === "back") button.setAttribute("aria-disabled", String(station <= 0));
      if (step === "next") button.setAttribute("aria-disabled", String(station === this.stations.length - 1));
      if (step === "play") button.textContent = this.timer ? worded("Pause") : worded("Play");
      if (step === this.wanted && !button.hidden) {
        this.wanted = null;
        button.focus({ preventScroll: true });
      }
    }
  }

  step(name) {
    const { station } = this.state;
    const last = this.stations.length - 1;
    if (name === "play") return this.timer ? this.pause() : this.play();
    this.pause();
    const to = { start: 0, back: Math.max(station - 1, 0), next: Math.min(station + 1, last), end: -1 }[name];
    this.wanted = { start: "next", end: "start" }[name] ?? name;
    if (to === station) this.drawCard();
    else this.onStation(to);
  }

  play() {
    const advance = () => {
      const { station } = this.state;
      if (station < 0 || station >= this.stations.length - 1) return this.pause();
      this.timer = setTimeout(advance, PAUSE);
      this.onStation(station + 1);
    };
    const again = this.state.station === this.stations.length - 1;
    this.timer = setTimeout(advance, again ? PAUSE : 0);
    if (again) this.onStation(0);
    this.drawCard();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.drawCard();
  }

  /** At a station: into view, and its data moves in. */
  arrive() {
    cancelAnimationFrame(this.movement);
    const lit = this.litPart();
    if (lit && this.layout.width > this.width) {
      const scroll = this.field.parentElement;
      scroll.scrollLeft = lit.x - (this.width - lit.w) / 2;
      scroll.scrollTop = lit.y - 40;
    }
    if (!lit || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.paint();
    const start = performance.now();
    const move = (time) => {
      this.moved = Math.min(Math.max((time - start) / MOTION, 0), 1);
      this.paint();
      if (this.moved < 1) this.movement = requestAnimationFrame(move);
    };
    this.moved = 0;
    move(start);
  }

  litPart() {
    return this.layout.parts.find(({ id }) => id === this.stations[this.state.station]?.place);
  }

  // The canvas, and the line that says what is pointed at

  paint() {
    const { place, head } = this.state;
    const { colors } = this;
    this.painter.paint({ follow: this.follow ?? this.kept, peek: this.peek ?? (place ? { place, head } : null), lit: this.litPart()?.id, moved: this.moved ?? 1 }, colors);
    const followed = this.follow ?? this.kept;
    if (this.marked !== followed) {
      this.marked = followed;
      this.markTokens(followed);
    }
  }

  /** The token that is followed, and how much the tokens of the other side have to do with it. */
  markTokens(followed) {
    const { tokens } = this.state;
    const is = (one, side, i) => Boolean(one) && one.side === side && one.index === i;
    for (const side of ["src", "tgt"]) {
      tokens[side].forEach((_, i) => {
        const button = this.find.get(`${side} ${i}`);
        button.classList.toggle("mm-followed", is(followed, side, i));
        button.setAttribute("aria-pressed", String(is(this.kept, side, i)));
        const tie = !followed || followed.side === side ? 0 : this.tie(...(side === "src" ? [followed.index, i] : [i, followed.index]));
        button.style.setProperty("--mm-tie", `${Math.round(60 * tie)}%`);
      });
    }
    const rows = this.field.querySelector(".mm-words");
    rows.classList.toggle("mm-some", Boolean(followed));
    [...rows.children].forEach((row, i) => row.classList.toggle("mm-one", is(followed, "tgt", i)));
  }

  /** The greatest cross-attention of any layer, averaged over the heads. */
  tie(query, key) {
    const ties = this.places.filter((place) => place.endsWith("cross_attn")).map((place) => {
      const { data, shape: [heads, queries, keys] } = this.state.now.places[place].weights;
      let sum = 0;
      for (let head = 0; head < heads; head++) sum += data[(head * queries + query) * keys + key];
      return sum / heads;
    });
    return Math.max(...ties);
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.paint();
      this.say();
    });
  }

  say() {
    const text = this.readout();
    const element = this.card.querySelector(".mm-readout");
    if (element.textContent !== text) element.textContent = text;
    this.card.querySelector(".mm-legend").hidden = text !== "" || this.state.station >= 0;
  }

  readout() {
    const { tokens, now, place, head } = this.state;
    const follow = this.follow ?? this.kept;
    const there = this.peek?.place ?? this.over ?? place;
    const one = this.peek ?? (there === place ? { place, head } : {});
    if (!follow) return this.peek ? worded("The lines of {place}, head {head}, alone.", { place: sayPlace(this.peek.place), head: this.peek.head }) : "";
    const { side, index } = follow;
    const name = worded(FOLLOWED[side], { token: tokens[side][index] });
    if (this.over === "logits" && side === "tgt") {
      const { word, probability } = this.next[index];
      return worded("After {name}: “{word}”, {percent}.", { name, word: this.about.words.tgt[word], percent: percent(probability) });
    }
    const alone = worded("Following {name}, token {index}. Go to an attention to see where it looks.", { name, index });
    if (!now.places[there]?.weights) return alone;
    const [querySide, keySide] = sidesOf(there);
    const { weights: { data, shape: [heads, queries, keys] } } = now.places[there];
    const asQuery = side === querySide;
    if (!asQuery && side !== keySide) return alone;
    const some = one.head === undefined ? [...Array(heads).keys()] : [one.head];
    const others = tokens[asQuery ? keySide : querySide];
    const found = others.map((token, i) => {
      const at = asQuery ? index * keys + i : i * keys + index;
      return [some.reduce((sum, h) => sum + data[h * queries * keys + at], 0) / some.length, token];
    }).sort((a, b) => b[0] - a[0]).filter(([x]) => x >= 0.01).slice(0, 3);
    const list = listed(found.map(([x, token]) => `“${token}” ${formatNumber(x)}`)) || worded("no token");
    const said = { head: one.head, name, list };
    if (one.head === undefined) return asQuery ? worded("{name} looks at {list}.", said) : worded("{name} is looked at by {list}.", said);
    return asQuery ? worded("Head {head}: {name} looks at {list}.", said) : worded("Head {head}: {name} is looked at by {list}.", said);
  }

  // From the learner

  listen() {
    this.field.addEventListener("pointermove", (event) => this.point(event));
    this.field.addEventListener("pointerleave", () => this.leave());
    this.field.addEventListener("focusin", ({ target }) => {
      this.activate(this.buttons.indexOf(target));
      this.aim(target);
    });
    this.field.addEventListener("focusout", () => this.leave());
    this.field.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      button.focus({ preventScroll: true });
      this.choose(button.dataset);
    });
    this.field.addEventListener("keydown", (event) => this.pressKey(event));
    this.card.addEventListener("click", (event) => {
      const step = event.target.closest("[data-step]")?.dataset.step;
      if (step) this.step(step);
    });
    this.card.addEventListener("keydown", (event) => {
      const name = { ArrowLeft: "back", ArrowUp: "back", ArrowRight: "next", ArrowDown: "next", Escape: "end" }[event.key];
      if (!name || this.state.station < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
      claim(event);
      this.step(name);
    });
  }

  choose({ token, place, head, station }) {
    if (token) {
      const [side, index] = token.split(" ");
      const same = this.kept?.side === side && this.kept.index === Number(index);
      this.kept = same ? null : { side, index: Number(index) };
      this.marked = undefined;
      this.schedule();
    } else if (place) this.onChoose(place, head === undefined ? (place === this.state.place ? this.state.head : 0) : Number(head));
    else this.onStation(Number(station));
  }

  /** The token, the block and the head under the pointer. */
  point(event) {
    const button = event.target.closest?.("button");
    const box = this.field.getBoundingClientRect();
    const y = event.clientY - box.top;
    const x = event.clientX - box.left;
    const { lanes, rowHeight } = this.layout;
    const side = y >= lanes.tgt.top - 4 ? "tgt" : "src";
    const index = Math.floor((y - lanes[side].top) / rowHeight);
    const inRow = index >= 0 && index < lanes[side].rows && x < lanes[side].right;
    this.aim(button, inRow ? { side, index } : null);
  }

  aim(button, follow) {
    const { token, place, head, id } = button?.dataset ?? {};
    if (token) {
      const [side, index] = token.split(" ");
      follow = { side, index: Number(index) };
    }
    this.follow = follow ?? null;
    this.peek = head === undefined ? null : { place, head: Number(head) };
    this.over = place ?? id ?? null;
    this.schedule();
  }

  leave() {
    this.follow = this.peek = this.over = null;
    if (this.state) this.schedule();
  }

  /** The one button that the Tab key reaches. */
  activate(index) {
    if (index < 0) return;
    this.buttons[this.active]?.setAttribute("tabindex", "-1");
    this.active = index;
    this.buttons[index].setAttribute("tabindex", "0");
  }

  pressKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { key } = event;
    if (ARROWS[key]) this.nearest(ARROWS[key])?.focus();
    else if (key === "Home") this.buttons[0].focus();
    else if (key === "End") this.buttons.at(-1).focus();
    else if (key === "Escape" && this.kept) {
      this.kept = null;
      this.marked = undefined;
      this.schedule();
    } else return;
    claim(event);
  }

  /** The button that is next in a direction, [down, right]: nearness across counts three times. */
  nearest([down, right]) {
    const middle = ({ offsetLeft, offsetTop, offsetWidth, offsetHeight }) => [offsetLeft + offsetWidth / 2, offsetTop + offsetHeight / 2];
    const here = this.buttons[this.active];
    const [x, y] = middle(here);
    let [best, least] = [null, Infinity];
    for (const button of this.buttons) {
      if (button === here) continue;
      const [dx, dy] = [middle(button)[0] - x, middle(button)[1] - y];
      const [along, across] = right ? [dx * right, Math.abs(dy)] : [dy * down, Math.abs(dx)];
      if (along > 1 && along + 3 * across < least) [best, least] = [button, along + 3 * across];
    }
    return best;
  }
}
