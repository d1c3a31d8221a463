"""How fast MaskStudio answers in Firefox and in WebKit, the engine of Safari, on a page without a kernel.

Painted means: from the pointer's press to the first moment after the frame that shows the change.
"""

import statistics

from playwright.sync_api import sync_playwright

from benchmarks import report
from benchmarks.widgets import CLICK, ROUNDS, WARM_UP, cell
from lessons.widgets import MaskStudio
from tests.browser import bare
from tests.browser.visitors import PACKAGES, Visitor, find_path, open_visitor

NAMES = {"firefox": "Firefox", "webkit": "WebKit"}
SIZE, GOAL = 12, 50  # tokens, milliseconds
SHOW = """([style, name, state]) => {
    document.getElementById("style").textContent = style;
    return show(name, state).then(() => true);
}"""


def measure(visitor: Visitor, name: str, address: str, *, smoke: bool = False) -> None:
    studio = MaskStudio(SIZE, SIZE)
    visitor.goto(address)
    visitor.wait_until("() => Boolean(window.show)")
    visitor.evaluate(SHOW, [studio._css, bare.module(studio), bare.state(studio)])
    clicks = [cell("allowed", 1, 0), cell("weights", 1, 0), *((1, 0) if smoke else (ROUNDS, WARM_UP))]
    took = statistics.median(visitor.evaluate(CLICK, clicks))
    report(f"MaskStudio {SIZE}×{SIZE}, toggle to painted in {NAMES[name]}", took, "ms", GOAL)


def main(*, smoke: bool = False) -> None:
    with sync_playwright() as playwright, bare.serve() as address:
        for name in NAMES:
            path = find_path(name)
            if not path:
                print(f"no {NAMES[name]} found, and not measured; on Debian: `sudo apt install {PACKAGES[name]}`")
                continue
            with open_visitor(name, path, playwright) as visitor:
                measure(visitor, name, address, smoke=smoke)
