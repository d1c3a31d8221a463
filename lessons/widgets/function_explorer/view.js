import { View, asWidget } from "../shared/parts.js";

const SLIDERS = ".noUi-handle:not([aria-label])";

/** `image.decode()` would wait for a frame, and a busy page may never draw one of what is not in it yet. */
const loaded = (image) => image.complete || new Promise((done) => { image.onload = image.onerror = done; });

/** The result below ipywidgets' own controls. */
class Shown extends View {
  static TRAITS = ["result", "problem"];
  static frame = () => `<p class="lw-warning" data-part="warning" role="alert"></p><div data-part="result"></div>`;

  make() {
    this.watcher = new MutationObserver(() => this.nameSliders());
    this.watchBox();
  }

  stop() {
    this.watcher.disconnect();
    cancelAnimationFrame(this.waiting);
    super.stop();
  }

  draw({ result, problem }) {
    this.say(problem);
    this.find("result").classList.toggle("fe-old", problem !== "");
    if (result !== this.wanted) this.show(result);
  }

  /** A picture takes the place of the one before when it is loaded: nothing flickers, and the newest wins. */
  async show(result) {
    this.wanted = result;
    const next = document.createElement("div");
    next.innerHTML = result;
    await Promise.all([...next.querySelectorAll("img")].map(loaded));
    if (result === this.wanted) this.find("result").replaceChildren(...next.childNodes);
  }

  /** The controls beside this view come when they like. */
  watchBox() {
    this.box = this.root.closest(".fe-box");
    if (!this.box) {
      this.waiting = requestAnimationFrame(() => this.watchBox());
      return;
    }
    this.nameSliders();
    this.watcher.observe(this.box, { childList: true, subtree: true });
  }

  /** ipywidgets leaves the handle of a slider without a name. */
  nameSliders() {
    for (const handle of this.box.querySelectorAll(SLIDERS))
      handle.setAttribute("aria-label", handle.closest(".widget-inline-hbox").querySelector("label").textContent);
  }
}

export default asWidget(Shown);
