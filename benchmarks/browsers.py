"""How fast MaskStudio answers in Firefox and in WebKit, the engine of Safari, on a page without a kernel.

Painted means: from the pointer's press to the first moment after the frame that shows the change. Next to it, how long
the same page takes to paint a heading in another color. WebKitGTK composes a page by a graphics card, which a machine
without one emulates: it is measured without that, too, and only this has a goal.
"""

import os
import statistics
from unittest.mock import patch

from playwright.sync_api import sync_playwright

from benchmarks import report
from benchmarks.widgets import CLICK, ROUNDS, WARM_UP, cell
from lessons.widgets import MaskStudio
from tests.browser import bare
from tests.browser.visitors import PACKAGES, Visitor, find_path, open_visitor

WAYS = (  # browser, its name, whether the goal counts, variables of the environment
    ("firefox", "Firefox", True, {}),
    ("webkit", "WebKit", True, {"WEBKIT_DISABLE_COMPOSITING_MODE": "1"}),
    ("webkit", "WebKit, composing", False, {}),
)
SIZE, GOAL = 12, 50  # tokens, milliseconds
SHOW = """([style, name, state]) => {
    document.getElementById("style").textContent = style;
    return show(name, state).then(() => true);
}"""
# A heading that is pressed like a cell, and has another color at once.
CONTROL = """() => {
    const heading = document.querySelector("h1");
    heading.addEventListener("pointerdown", () => {
        heading.dataset.value = heading.dataset.value === "red" ? "green" : "red";
        heading.style.background = heading.dataset.value;
    });
}"""


def paint_time(visitor: Visitor, target: str, watched: str, *, smoke: bool) -> float:
    """Median milliseconds from the press on `target` to the frame that shows another value of `watched`."""
    return statistics.median(visitor.evaluate(CLICK, [target, watched, *((1, 0) if smoke else (ROUNDS, WARM_UP))]))


def measure(visitor: Visitor, where: str, address: str, *, judged: bool = True, smoke: bool = False) -> None:
    studio = MaskStudio(SIZE, SIZE)
    visitor.goto(address)
    visitor.wait_until("() => Boolean(window.show)")
    visitor.evaluate(SHOW, [studio._css, bare.module(studio), bare.state(studio)])
    visitor.evaluate(CONTROL)
    name = f"MaskStudio {SIZE}×{SIZE}, toggle to painted in {where}"
    took = paint_time(visitor, cell("allowed", 1, 0), cell("weights", 1, 0), smoke=smoke)
    control = paint_time(visitor, "h1", "h1", smoke=smoke)
    if judged:
        report(name, took, "ms", GOAL)
    else:
        print(f"{name:<56} {took:7.2f} ms")
    print(f"{'  the color of a heading, there':<56} {control:7.2f} ms", flush=True)


def main(*, smoke: bool = False) -> None:
    with sync_playwright() as playwright, bare.serve() as address:
        for name, where, judged, settings in WAYS:
            path = find_path(name)
            if not path:
                print(f"no {name} found, and not measured; on Debian: `sudo apt install {PACKAGES[name]}`")
                continue
            with patch.dict(os.environ, settings), open_visitor(name, path, playwright) as visitor:
                measure(visitor, where, address, judged=judged, smoke=smoke)
