"""The widgets' JavaScript in a bare page, without Jupyter: a model that only keeps what it is told."""

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from lessons.widgets.front_end import source
from tests.browser import PATIENCE

WIDGETS = Path(__file__).resolve().parents[2] / "lessons" / "widgets"
VIEWPORT = {"width": 1300, "height": 1100}
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>widgets</title>
<link rel="icon" href="data:,"><style id="style"></style></head><body><main><h1>widgets</h1><h2>one</h2><h3>studio</h3>
<div id="here"></div></main>
<script type="module">
import * as palette from "./shared/palette.js";
import * as constants from "./shared/constants.js";
class Model {
  constructor(state) { this.state = state; this.handlers = {}; this.sent = []; }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; for (const f of this.handlers[`change:${name}`] ?? []) f(); }
  on(name, f) { (this.handlers[name] ??= []).push(f); }
  off(name, f) { this.handlers[name] = (this.handlers[name] ?? []).filter((g) => g !== f); }
  send(message) { this.sent.push(JSON.parse(JSON.stringify(message))); }
  tell(message) { for (const f of this.handlers["msg:custom"] ?? []) f(message); }
}
Object.assign(window, { palette, constants });
window.show = async (name, state) => {
  window.stop?.();
  window.model = new Model(state);
  const widget = (await import(`./${name}/view.js`)).default;
  window.stop = widget.render({ model: window.model, el: document.getElementById("here") });
};
window.frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
</script></body></html>"""
# How browsers tell the Enter that ends a composition, as in pinyin; Safari's comes when the composition is over.
ENDS_COMPOSITION = {"isComposing": True}, {"keyCode": 229}
OF_IPYWIDGETS = re.compile("_.*|layout|tabbable|tooltip|comm|keys|log")


class Handler(BaseHTTPRequestHandler):
    """The page, and the widgets' files; a browser asks once for each."""

    protocol_version = "HTTP/1.1"  # one connection for many files

    def do_GET(self):
        name = self.path.removeprefix("/")
        body = (PAGE if name == "page.html" else source(WIDGETS / name)).encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{TYPES[Path(name).suffix]}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serve():
    """The address of a server of the page, on a port that is free."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/page.html"
        server.shutdown()


NOTE = """button => {
    const aloud = button.nextElementSibling;
    window.noted = [];
    new MutationObserver(() => noted.push([button.textContent, aloud.textContent])).observe(aloud, { childList: true });
}"""


def press_copy(page, button):
    """What a button that copies says, and what is read aloud: then, and a moment later."""
    button.evaluate(NOTE)
    button.press("Enter")
    page.wait_for_function("noted.length === 2")
    return page.evaluate("noted")


def give_clipboard(page, has_one):
    """A clipboard that keeps its text in window.copied, or none, as on a page that comes without encryption."""
    clipboard = "{ writeText: async (text) => (window.copied = text) }" if has_one else "undefined"
    page.evaluate("delete window.copied")
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard}, configurable: true }})")


def open_page(browser):
    """A page to load() the widgets into; page.complaints collects errors and console errors."""
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(PATIENCE)
    page.complaints = []
    page.failed = False  # a test of it has
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda line: page.complaints.append(line.text) if line.type in ("error", "warning") else None)
    return page


def load(page, address):
    """A new document with `show(name, state)`, `model` and `frame()`; nothing is left of an earlier one."""
    page.set_viewport_size(VIEWPORT)
    page.mouse.move(0, 0)
    page.complaints.clear()
    page.goto(address)


def module(widget):
    """The name of a widget's folder."""
    return type(widget).__module__.split(".")[-2]


def state(widget):
    """What the browser has of a widget."""
    return {name: value for name, value in widget.get_state().items() if not OF_IPYWIDGETS.fullmatch(name)}


def show(page, widget):
    """Draw the state of a widget, as its view would."""
    page.evaluate("css => { document.getElementById('style').textContent = css; }", widget._css)
    page.evaluate("([name, state]) => show(name, state)", [module(widget), state(widget)])


# What waits for a frame is drawn as soon as this code waits.
DRAW_EACH = """async ([name, states]) => {
    window.requestAnimationFrame = (draw) => { queueMicrotask(draw); return 1; };
    const found = [];
    for (const state of JSON.parse(states)) {
        await show(name, state);
        found.push(await READ(state));
    }
    return JSON.stringify(found);
}"""


def draw_each(page, widgets, read):
    """Draw one widget after the other in one call, and return what the JavaScript function `read` finds for each."""
    states = json.dumps([state(widget) for widget in widgets], allow_nan=False)
    page.evaluate("css => { document.getElementById('style').textContent = css; }", widgets[0]._css)
    return json.loads(page.evaluate(DRAW_EACH.replace("READ", f"({read})"), [module(widgets[0]), states]))


def cell(page, part, row, column):
    return page.locator(f'[data-part="{part}"] [data-at="{row},{column}"]')


HEAR = """said => {
    for (const { state, content } of said)
        if (content) model.tell(content);
        else for (const [name, value] of Object.entries(state)) model.set(name, value);
}"""


def deliver(page, widget):
    """Give Python what the browser has sent, and the browser what Python sends, in this order."""
    said = []
    widget._send = lambda message, buffers=None: said.append(message)
    for message in page.evaluate("model.sent.splice(0)"):
        widget._receive(widget, message, [])
    del widget._send
    page.evaluate(HEAR, said)


# Many acts in one call: the page does them itself, where no real mouse or keyboard is needed. What waits for a frame
# is drawn after every fourth of them.
ACT = """async ([touchable, acts]) => {
    const { requestAnimationFrame } = window;
    window.requestAnimationFrame = (draw) => { queueMicrotask(draw); return 1; };
    for (const [i, [kind, what]] of acts.entries()) {
        if (kind === "key") {
            const [name, ...modifiers] = what.split("+").reverse();
            const how = { ctrlKey: modifiers.includes("Control"), shiftKey: modifiers.includes("Shift") };
            const key = name === "Space" ? " " : name;
            const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...how });
            document.activeElement.dispatchEvent(event);
        } else {
            const all = [...document.querySelectorAll(touchable)];
            const one = all[Math.floor(what * all.length)];
            one?.focus();
            one?.click();
        }
        if (i % 4 === 3) await null;
    }
    await null;
    window.requestAnimationFrame = requestAnimationFrame;
}"""


def act(page, chance, touchable, keys, count):
    """So many random acts: keys, and clicks on what can be touched; the last key is a real one."""
    acts = [
        ["key", chance.choice(keys)] if chance.random() < 0.55 else ["click", chance.random()] for _ in range(count)
    ]
    page.evaluate(ACT, [touchable, acts])
    page.keyboard.press(chance.choice(keys))


def drag(page, chance):
    """With the real mouse, from anywhere to anywhere."""
    page.mouse.move(chance.randrange(1300), chance.randrange(1100))
    page.mouse.down()
    page.mouse.move(chance.randrange(1300), chance.randrange(1100))
    page.mouse.up()
