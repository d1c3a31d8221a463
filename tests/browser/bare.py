"""The widgets' JavaScript in a bare page, without Jupyter: a model that only keeps what it is told."""

from pathlib import Path

WIDGETS = Path(__file__).resolve().parents[2] / "lessons" / "widgets"
ADDRESS = "http://widgets.test"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>widgets</title>
<link rel="stylesheet" href="grid.css"></head><body><main><h1>widgets</h1><h2>one</h2><h3>studio</h3>
<div id="here"></div></main>
<script type="module">
import * as grid from "./grid.js";
import { render } from "./mask_studio.js";
class Model {
  constructor(state) { this.state = state; this.handlers = {}; this.sent = []; }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; for (const f of this.handlers[`change:${name}`] ?? []) f(); }
  on(name, f) { (this.handlers[name] ??= []).push(f); }
  off(name, f) { this.handlers[name] = (this.handlers[name] ?? []).filter((g) => g !== f); }
  send(message) { this.sent.push(JSON.parse(JSON.stringify(message))); }
  tell(message) { for (const f of this.handlers["msg:custom"] ?? []) f(message); }
}
window.grid = grid;
window.show = (state) => {
  window.stop?.();
  window.model = new Model(state);
  window.stop = render({ model: window.model, el: document.getElementById("here") });
};
window.frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
window.ready = true;
</script></body></html>"""
TRAITS = ["source", "target", "kind", "edits", "history", "convention", "fill", "scores", "values"]


def serve(route):
    name = route.request.url.removeprefix(f"{ADDRESS}/")
    body = PAGE if name == "page.html" else (WIDGETS / name).read_text(encoding="utf-8")
    route.fulfill(body=body, content_type=f"{TYPES[Path(name).suffix]}; charset=utf-8")


def open_page(browser, **options):
    """A page with `show(state)`, `model` and `frame()`; page.complaints collects errors and console errors."""
    page = browser.new_page(viewport={"width": 1300, "height": 1100}, **options)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda line: page.complaints.append(line.text) if line.type in ("error", "warning") else None)
    page.route(f"{ADDRESS}/*", serve)
    page.goto(f"{ADDRESS}/page.html")
    page.wait_for_function("window.ready")
    return page


def show(page, studio):
    """Draw the state of a MaskStudio, as its view would."""
    page.evaluate("state => show(state)", {name: studio.get_state(name)[name] for name in TRAITS})


def cell(page, part, row, column):
    return page.locator(f'[data-part="{part}"] [data-at="{row},{column}"]')
