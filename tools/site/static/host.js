import { Alone } from "./widgets/alone.js";

// Widgets on a page without a kernel: their models know what Python would have computed.

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

/** Put the widget into an element; what is large comes only now. */
async function bringToLife(place, live) {
  const told = JSON.parse(place.querySelector("script").textContent);
  const at = (file) => new URL(`widgets/${file}`, import.meta.url);
  const [{ default: widget }, ...texts] = await Promise.all([import(at(`${told.widget}.js`)),
    ...Object.values(told.files).map((file) => fetch(at(file)).then((answer) => answer.text()))]);
  Object.keys(told.files).forEach((name, i) => (told.state[name] = texts[i]));
  widget.render({ model: new Alone(told, FOLLOWS[told.widget]), el: live });
  place.dataset.alive = "";
}

async function replacePicture(place) {
  const live = document.createElement("div");
  await bringToLife(place, live);
  place.querySelector(".course-picture").replaceWith(live);
}

/** In a dialog that has the whole window; closed, it keeps its state. */
function openWhenAsked(place) {
  let dialog;
  place.querySelector("button").addEventListener("click", async () => {
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.className = "course-dialog";
      dialog.setAttribute("aria-label", place.getAttribute("aria-label"));
      dialog.innerHTML = `<form method="dialog"><button aria-label="close">×</button></form><div></div>`;
      place.append(dialog);
      dialog.showModal();
      await bringToLife(place, dialog.lastElementChild);
    } else dialog.showModal();
  });
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    replacePicture(target);
  }
}, { rootMargin: "800px" });
for (const place of document.querySelectorAll(".course-widget")) place.matches(".course-waits") ? openWhenAsked(place) : seen.observe(place);

/** A table that is wider than the page scrolls by keyboard, too. */
const reachable = (table) => { if (table.scrollWidth > table.clientWidth) table.tabIndex = 0; };
document.querySelectorAll(".table-wrapper").forEach(reachable);
