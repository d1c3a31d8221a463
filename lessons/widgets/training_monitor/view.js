import { formatNumber, readMatrix, readNumber } from "../shared/numbers.js";
import { QUIET, claim, escapeText } from "../shared/markup.js";
import { View, asWidget, button, checkbox } from "../shared/parts.js";
import { LIVE, WAITING } from "./constants.js";
import { SIGNS, lossChart, measureChart, plan, say } from "./charts.js";
import { SENTENCES, listed, marked, worded } from "../shared/words.js";

// TrainingMonitor: the state comes from Python; here are the buttons, the charts and the point that is read out.

const HELP = marked("Pause waits after the current step; Stop ends there and keeps what the model has learned. If neither reacts while the cell runs, use Jupyter's button ■ (interrupt): the model then keeps its weights, and you can run the cell again.");
const MORE = marked("A click on the curve reads out that step; so do the arrow keys, Home and End once the curve has the focus. At its end the reading follows the run.");
const HINT = marked("Point at the curve, or move along it with the arrow keys, to read a step.");
const inWords = (name) => worded(name.replaceAll("_", " "));
const frame = () => `
  <div class="tm-head"><p class="tm-title"><b data-part="status" role="status"></b><span data-part="progress"></span></p>
    <div class="tm-done" data-part="done" role="progressbar" aria-label="${worded("steps done")}" aria-valuemin="0"><i></i></div>
    <div class="tm-buttons">${button("pause", worded("Pause"))}${button("stop", worded("Stop"))}</div></div>
  <p class="lw-warning" data-part="warning" role="status"></p>
  <p class="lw-warning" data-part="reason"></p>
  <p class="tm-latest" data-part="latest"></p>
  <div class="tm-stage"><div class="tm-charts" data-part="charts">
      <section class="hg-panel"><div class="tm-line"><h4>${worded("loss")}</h4>${checkbox("log_axis", worded("logarithmic axis"))}</div>
        <div class="tm-cursor" data-part="loss" role="slider" tabindex="0" ${QUIET}></div>
        <p class="tm-readout" data-part="readout"></p></section>
      <section class="hg-panel" data-part="measured"><h4>${worded("measured now and then")}</h4><p class="tm-legend" data-part="legend"></p>
        <div data-part="measures" role="img"></div></section></div>
    <div class="tm-weights" data-part="weights"></div></div>
  <details><summary ${QUIET}>${worded("Pausing, stopping, reading the curve")}</summary>
    <p class="tm-help">${worded(HELP)}</p><p class="tm-help">${worded(MORE)}</p></details>`;

class Monitor extends View {
  static TRAITS = ["total", "log_axis", "cursor", "digits", "paused", "stopping", "status", "reason", "earlier", "recent", "latest", "stride", "measured", "attention"];
  static frame = frame;

  make() {
    this.hover = null;
    this.grids = { weights: this.grid("weights", { title: worded("attention weights"), tone: "weights" }) };
    this.find("pause").addEventListener("click", () => this.press("pause", { paused: !this.model.get("paused") }));
    this.find("stop").addEventListener("click", () => this.press("stop", { stopping: true }));
    const chart = this.find("loss");
    chart.addEventListener("pointermove", (event) => this.hoverAt(event));
    chart.addEventListener("pointerleave", () => this.hoverAt(null));
    chart.addEventListener("click", (event) => this.moveTo(this.indexAt(event)));
    chart.addEventListener("keydown", (event) => this.pressKey(event));
    this.watcher = new ResizeObserver(() => this.schedule());
    this.watcher.observe(this.find("charts"));
  }

  stop() {
    this.watcher.disconnect();
    super.stop();
  }

  press(name, changes) {
    if (this.find(name).getAttribute("aria-disabled") !== "true") this.commit(changes);
  }

  draw(state) {
    this.points = [...state.earlier, ...state.recent].map(([step, loss, rate]) => [step, readNumber(loss), readNumber(rate)]);
    const latest = state.latest && [state.latest[0], readNumber(state.latest[1]), readNumber(state.latest[2])];
    if (latest && this.points.at(-1)?.[0] !== latest[0]) this.points.push(latest);
    this.drawHead(state, latest);
    this.drawCharts(state);
    this.drawWeights(state.attention);
  }

  // What is said

  drawHead({ status, reason, total, paused, stopping, measured }, latest) {
    const step = latest ? latest[0] : 0;
    const live = LIVE.includes(status);
    this.root.dataset.status = status;
    this.write("status", worded(status));
    const done = { step, total, percent: Math.floor((100 * step) / total) };
    if (latest) this.write("progress", total ? worded(", step {step} of {total}, {percent} % done", done) : worded(", step {step}", done));
    else this.write("progress", status !== WAITING ? "" : total ? worded(" for the first of {total} steps", done) : worded(" for the first step"));
    this.drawDone(step, total);
    this.find("pause").setAttribute("aria-disabled", String(!live && !paused));
    this.find("stop").setAttribute("aria-disabled", String(!live || stopping));
    this.write("pause", paused ? worded("Go on") : worded("Pause"));
    const named = worded(status);
    const why = worded("{status}: {reason}.", { status: named[0].toUpperCase() + named.slice(1), reason });
    this.write("reason", reason && why.replace(/([.!?…。])[.。]$/, "$1"));
    const numbers = Object.entries(measured).map(([name, points]) => `${inWords(name)} ${formatNumber(points.at(-1)[1])}`);
    const rate = latest && latest[2] !== null ? [worded("learning rate {rate}", { rate: say(latest[2]) })] : [];
    this.write("latest", latest ? worded("Latest: {what}", { what: listed([worded("loss {loss}", { loss: say(latest[1]) }), ...rate, ...numbers]) }) : "");
  }

  drawDone(step, total) {
    const bar = this.find("done");
    bar.hidden = !total;
    bar.setAttribute("aria-valuemax", total ?? 0);
    bar.setAttribute("aria-valuenow", step);
    bar.setAttribute("aria-valuetext", worded("step {step} of {count}", { step, count: total }));
    bar.firstChild.style.width = total ? `${(100 * step) / total}%` : "0";
  }

  sayPoint([step, loss, rate]) {
    const said = { step, loss: say(loss), rate: rate === null ? "" : say(rate) };
    return rate === null ? worded("step {step}: loss {loss}", said) : worded("step {step}: loss {loss}, learning rate {rate}", said);
  }

  // Charts

  drawCharts({ status, total, log_axis: log, cursor, measured, stride }) {
    const far = Math.max(total ?? 0, this.points.at(-1)?.[0] ?? 0, 1);
    const wide = Math.max(260, Math.floor(this.find("charts").clientWidth) || 640);
    this.where = plan(wide, 212, far);
    this.at = this.nearest(this.hover ?? cursor);
    const point = this.points[this.at];
    const chart = this.find("loss");
    chart.innerHTML = lossChart(this.where, this.points, this.at, log);
    const last = this.points.length - 1;
    const follows = cursor === null && this.hover === null;
    const quiet = follows && LIVE.includes(status); // else each step of the run would be read aloud
    const names = { "aria-label": this.title(log), "aria-valuemin": 0, "aria-valuemax": Math.max(last, 0), "aria-valuenow": Math.max(this.at, 0),
      "aria-valuetext": !point ? worded("no step yet") : quiet ? worded("the latest step") : this.sayPoint(point) };
    for (const [name, value] of Object.entries(names)) chart.setAttribute(name, value);
    const thinned = stride > 1 ? [worded("One step in {stride} is drawn.", { stride })] : [];
    const odd = chart.querySelector(".tm-odd") ? [worded("× is a loss of NaN, △ and ▽ a loss outside the axis.")] : [];
    const read = () => (follows ? worded(HINT) : worded("At {point}.", { point: this.sayPoint(point) }));
    this.write("readout", point ? listed([read(), ...thinned, ...odd], SENTENCES) : "");
    this.drawMeasured(measured, wide, far, point && !follows ? point[0] : null);
  }

  title(log) {
    const [first, last] = [this.points[0], this.points.at(-1)];
    const name = log ? worded("loss by step, logarithmic axis") : worded("loss by step");
    if (!first) return name;
    const ends = { from: say(first[1]), start: first[0], to: say(last[1]), end: last[0] };
    return listed([name, worded("from {from} at step {start} to {to} at step {end}", ends)]);
  }

  drawMeasured(measured, wide, far, step) {
    const all = Object.entries(measured);
    this.find("measured").hidden = !all.length;
    if (!all.length) return;
    const where = plan(wide, 160, far);
    const key = (i) => `<svg width="36" height="12" class="tm-chart" aria-hidden="true"><g class="tm-measure tm-measure-${i}"><polyline points="1,6 35,6"/>${SIGNS[i](18, 6)}</g></svg>`;
    this.find("legend").innerHTML = all.map(([name, points], i) =>
      `<span>${key(i)}${worded("{name} <b>{number}</b> at step {step}", { name: escapeText(inWords(name)), number: formatNumber(points.at(-1)[1]), step: points.at(-1)[0] })}</span>`).join("");
    this.find("measures").innerHTML = measureChart(where, all, step);
    const words = all.map(([name, points]) => {
      const list = listed(points.slice(-8).map(([step, x]) => worded("{number} at step {step}", { number: formatNumber(x), step })));
      return worded("{name}: {list}.", { name: inWords(name), list });
    });
    this.find("measures").setAttribute("aria-label", listed([worded("The latest measurements by step."), ...words], SENTENCES));
  }

  drawWeights(shown) {
    this.find("weights").hidden = !shown;
    if (!shown) return;
    const values = readMatrix(shown.values);
    this.grids.weights.show({ ...shown, values, title: worded("attention weights, step {step}", { step: shown.step }) });
  }

  point(part, r, c) {
    this.grids[part].point(r, c);
  }

  // The point that is read out

  /** The index of the point next to a step; null is the last one. */
  nearest(step) {
    const last = this.points.length - 1;
    if (step === null) return last;
    return this.points.reduce((best, point, i) => (Math.abs(point[0] - step) < Math.abs(this.points[best][0] - step) ? i : best), 0);
  }

  indexAt(event) {
    return this.nearest(this.where.step(event.clientX - this.find("loss").getBoundingClientRect().left));
  }

  hoverAt(event) {
    this.hover = event && this.points.length ? this.points[this.indexAt(event)][0] : null;
    this.schedule();
  }

  /** At the end it follows the run. */
  moveTo(index) {
    if (!this.points.length) return;
    const last = this.points.length - 1;
    this.hover = null;
    this.commit({ cursor: index >= last ? null : this.points[Math.max(index, 0)][0] });
  }

  pressKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const now = this.nearest(this.model.get("cursor"));
    const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, PageUp: now + 10, PageDown: now - 10, Home: 0, End: this.points.length - 1 }[event.key];
    if (to === undefined) return;
    claim(event);
    this.moveTo(to);
  }
}

export default asWidget(Monitor);
