// Widgets on a page without a kernel. The model keeps what it is told, and knows what Python would have computed.

const NO_KERNEL = "This page has no Python. Open the lesson in JupyterLab for this.";

class Model {
  constructor({ widget, state, computed }) {
    this.widget = widget;
    this.state = state;
    this.computed = computed;
    this.handlers = {};
  }
  get(name) {
    return this.state[name];
  }
  set(name, value) {
    this.state[name] = value;
    this.tell(`change:${name}`);
  }
  on(name, handler) {
    (this.handlers[name] ??= []).push(handler);
  }
  off(name, handler) {
    this.handlers[name] = (this.handlers[name] ?? []).filter((known) => known !== handler);
  }
  tell(name, message) {
    for (const handler of this.handlers[name] ?? []) handler(message);
  }
  send(message) {
    if (message.ask) return this.tell("msg:custom", { problem: NO_KERNEL });
    const key = JSON.stringify(this.computed.of.map((name) => this.get(name)));
    const follows = { ...this.computed.values[key], ...FOLLOWS[this.widget]?.(this.state, message.set) };
    for (const [name, value] of Object.entries(follows)) this.set(name, value);
  }
}

/** Normally distributed numbers: where Python would draw new ones. */
const draw = (rows, columns) =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () =>
    Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())));

// What else follows from a change, by widget.
const FOLLOWS = {
  mask_studio({ kind, source, target, scores, values, edits }) {
    const queries = (kind.startsWith("encoder") ? source : target).length;
    const keys = (kind.startsWith("decoder") ? target : source).length;
    const inside = edits.filter(([q, k]) => q < queries && k < keys);
    if (scores.length === queries && scores[0].length === keys && values.length === keys) return {};
    return { scores: draw(queries, keys), values: draw(keys, values[0].length), edits: inside, history: [] };
  },
};

async function bringToLife(place) {
  const told = JSON.parse(place.querySelector("script").textContent);
  const { default: widget } = await import(new URL(`widgets/${told.widget}.js`, import.meta.url));
  const live = document.createElement("div");
  widget.render({ model: new Model(told), el: live });
  place.querySelector(".course-picture").replaceWith(live);
  place.dataset.alive = "";
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    bringToLife(target);
  }
}, { rootMargin: "800px" });
for (const place of document.querySelectorAll(".course-widget")) seen.observe(place);
