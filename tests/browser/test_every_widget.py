"""What every widget owes in a browser: names for a screen reader, keys, contrast, and no exception at all."""

import random

import pytest
import torch

from lessons import widgets
from tests.browser import bare
from tests.browser.accessible import told, violations
from tests.widgets.samples import SAMPLES

STEPS = 1000
KEYS = [
    "ArrowUp",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "Home",
    "End",
    "Space",
    "Enter",
    "Control+z",
    "Tab",
    "Escape",
]
KEYS += ["PageUp", "PageDown", "Shift+Tab", "Control+Home", "Control+End", "a", "7"]
TOUCHABLE = ".lw [data-at], .lw button, .lw input, .lw select, .lw summary, .lw [tabindex]"
DARK = """:root { --jp-layout-color0: #111111; --jp-layout-color1: #212121; --jp-layout-color2: #424242;
  --jp-ui-font-color0: rgba(255, 255, 255, 1); --jp-border-color0: #757575; --jp-border-color2: #424242;
  --jp-brand-color1: #2196f3; } body { background: #111111; color: #fff; }"""

ROOM = {"width": 848, "height": 599}  # what JupyterLab leaves of 1280 × 720 to an output, beside its list of files
ALONE = "body { margin: 0; } h1, h2, h3 { display: none; }"
SIZE = """() => {
    const widget = document.querySelector(".lw");
    const parts = [...widget.querySelectorAll("div, section, p, ol, li, label, button")].filter(part =>
        part.clientWidth && !part.closest(".hg-grid, .mm-scroll, details:not([open])"));
    const wide = parts.filter(part => part.scrollWidth > part.clientWidth + 1).map(part => part.outerHTML.slice(0, 80));
    return [widget.offsetHeight, [...wide, ...(widget.scrollWidth > widget.clientWidth ? ["the whole"] : [])]];
}"""

every_widget = pytest.mark.parametrize("make", SAMPLES.values(), ids=SAMPLES)


@every_widget
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page, make, theme):
    if theme == "dark":
        page.add_style_tag(content=DARK)
    bare.show(page, make())
    for details in page.locator("details").all():
        details.evaluate("element => (element.open = true)")
    page.evaluate("frame()")
    found = violations(page, theme)
    assert not found, told(found)


def attentions(tokens):
    return widgets.AttentionExplorer({"layer": torch.eye(len(tokens)).expand(1, 12, -1, -1)}, tokens)


TOKENS = ["<bos>", "le", "chat", "dort", "sur", "mon", "tapis", "<pad>"]
FULLER = {
    "MaskStudio, 6 tokens": lambda: widgets.MaskStudio(6, 6),
    "MaskStudio, 8 tokens": lambda: widgets.MaskStudio(TOKENS, TOKENS),
    "MaskStudio, 8 and 7": lambda: widgets.MaskStudio("where is the station now ? <pad>", TOKENS, "cross-attention"),
    "AttentionExplorer, 12 heads": lambda: attentions([*TOKENS, *TOKENS[1:6]]),
    "ScalingLab, 10 keys": lambda: widgets.ScalingLab(num_keys=10),
    "ScalingLab, 16 keys": lambda: widgets.ScalingLab(num_keys=16),
}


def test_each_fits_a_small_screen_and_nothing_sticks_out(page):
    """Cause and effect are on one screen; at the width of a phone, everything stands in one column."""
    page.add_style_tag(content=ALONE)
    for name, make in (SAMPLES | FULLER).items():
        for width in (ROOM["width"], 390):
            page.set_viewport_size({**ROOM, "width": width})
            bare.show(page, make())
            page.evaluate("frame()")
            height, wide = page.evaluate(SIZE)
            assert not wide or name in FULLER, f"{name} at {width}"  # these scroll inside on a phone
            assert width < ROOM["width"] or height <= ROOM["height"], name


TOO_SMALL = """() => [...document.querySelectorAll(".lw :is(button, select, input, summary)")].filter(control => {
    const { width, height } = control.getBoundingClientRect();
    const isText = control.matches("[type=text]");
    return control.checkVisibility() && !control.closest(".mm-field") && (Math.min(width, height) < 24
        || (isText && parseFloat(getComputedStyle(control).fontSize) < 16));
}).map(control => control.outerHTML.slice(0, 80))"""


def test_a_finger_meets_each_control(touched):
    """And no field is so small that a phone zooms in to it."""
    touched.set_viewport_size({"width": 390, "height": 844})
    for name, make in SAMPLES.items():
        bare.show(touched, make())
        touched.evaluate("frame()")
        assert touched.evaluate(TOO_SMALL) == [], name


@every_widget
def test_each_grid_is_one_tab_stop_and_each_cell_says_what_it_is(page, make):
    bare.show(page, make())
    for grid in page.locator('[role="grid"]').all():
        if grid.locator('[role="gridcell"]').count():
            assert grid.locator('[tabindex="0"]').count() == 1
            assert grid.get_attribute("aria-label")
    assert page.locator('[role="gridcell"]:not([aria-label])').count() == 0


@every_widget
def test_jupyterlab_takes_no_key_away(page, make):
    bare.show(page, make())
    controls = page.locator(".lw select, .lw input, .lw button, .lw summary, .lw [tabindex='0']").all()
    assert controls
    for control in controls:
        assert control.get_attribute("data-lm-suppress-shortcuts") == "true", control.evaluate("e => e.outerHTML")


@every_widget
def test_a_click_focuses_what_safari_would_not(page, make):
    bare.show(page, make())
    page.evaluate("addEventListener('mousedown', event => event.preventDefault(), true)")
    for control in ["button:not([aria-disabled=true], :disabled)", "[type=checkbox]", "[type=range]", "summary"]:
        for element in page.locator(f".lw {control}").locator("visible=true").element_handles()[:1]:
            element.click()
            assert element.evaluate("element => element === document.activeElement"), control


@every_widget
def test_its_files_make_one_module(page, make):
    """JupyterLab gets them in one piece: no name may be taken twice."""
    made = page.evaluate(
        "code => import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })))"
        ".then(module => typeof module.default.render, String)",
        str(make()._esm),
    )
    assert made == "function"


@every_widget
def test_a_view_that_is_closed_lets_go(page, make):
    bare.show(page, make())
    page.evaluate("stop()")
    assert page.evaluate("Object.values(model.handlers).flat().length") == 0
    assert page.locator(".lw").count() == 0
    page.evaluate("window.stop = null")


@every_widget
def test_a_thousand_random_steps(page, make):
    """Whatever is done here raises nothing, neither in the browser nor in Python, which then has the same state."""
    widget = make()
    bare.show(page, widget)
    chance = random.Random(0)
    for step in range(STEPS // 25):
        bare.act(page, chance, TOUCHABLE, KEYS, 24)
        if step % 2:
            bare.drag(page, chance)
        bare.deliver(page, widget)
    bare.deliver(page, widget)
    page.evaluate("frame()")
    ours, theirs = bare.state(widget), page.evaluate("model.state")
    assert {name: theirs[name] for name in ours} == ours
