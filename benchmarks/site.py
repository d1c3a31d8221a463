"""How soon the site is there on a slow computer: from the click on a link until MaskStudio has answered.

On this machine, with a processor that Chromium slows down four times, and nothing in the browser's cache.
"""

import statistics
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks import report
from tests.browser.lab import find_browser, open_browser
from tools.site.build import build

SLOWER = 4
ROUNDS = 5  # of which the median counts
PAINT_GOAL, ANSWER_GOAL = 1000, 1500  # milliseconds
# Toggles a cell of the mask as soon as it is there, and notes when the weights have changed on the screen.
TOGGLE = """(() => {
    const weight = () => document.querySelector('[data-part="weights"] [data-at="2,0"]')?.textContent;
    let before;
    const look = () => {
        const cell = document.querySelector('.course-widget[data-alive] [data-part="allowed"] [data-at="2,1"]');
        if (before === undefined && cell && weight()) {
            before = weight();
            cell.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, button: 0, buttons: 1}));
            window.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));
        } else if (before !== undefined && weight() !== before) {
            window.answered = Date.now();
            return;
        }
        requestAnimationFrame(look);
    };
    look();
})()"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def visit(browser: Browser, home: str) -> tuple[float, float]:
    """Milliseconds until the front page paints something, and from the click on its link until MaskStudio answers."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{home}start.html")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.add_init_script(TOGGLE)
    clicked = page.locator('a[href="index.html"]').first.evaluate("link => { link.click(); return Date.now(); }")
    answered = page.wait_for_function("() => window.answered").json_value()
    painted = page.wait_for_function(PAINTED).json_value()
    page.close()
    return painted, answered - clicked


def measure(browser: Browser, home: str, *, smoke: bool = False) -> None:
    times = [visit(browser, home) for _ in range(1 if smoke else ROUNDS)]
    painted, answered = (statistics.median(column) for column in zip(*times))
    report("first paint of the front page", painted, "ms", PAINT_GOAL)
    report("click on its link to MaskStudio's answer", answered, "ms", ANSWER_GOAL)


def main(*, smoke: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        target = Path(folder) / "site"
        build(target)
        with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=target)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser = open_browser(playwright, find_browser())
            measure(browser, f"http://127.0.0.1:{server.server_port}/", smoke=smoke)
            browser.close()
            server.shutdown()
