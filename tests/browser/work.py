"""One list of what is done with each widget, by mouse and by keyboard, in every browser and on the site."""

from dataclasses import dataclass
from typing import NamedTuple


class Seen(NamedTuple):
    """An element that can be seen, and its text if that tells something."""

    selector: str
    says: str | None = None


@dataclass(frozen=True)
class Work:
    """What is done in a view, by CSS selectors, and what Python prints after it; the first element counts.

    answer: what a view has after the click, and shown after the keys, too.
    prepare: code that gives the widget something to show.
    """

    click: str
    answer: Seen
    clicked: str
    focus: str
    keys: tuple[str, ...]
    typed: str
    read: str
    shown: Seen
    prepare: str = ""


def cell(part, row, column):
    return f'[data-part="{part}"] [data-at="{row},{column}"]'


RUN = """from types import SimpleNamespace

for _ in widget.watch(SimpleNamespace(step=step, loss=1 / step) for step in range(1, 7)):
    pass
"""
TAB_STOPS = 60  # more than any widget has
WORK = {
    # First: of a widget that a busy page takes more than two seconds to load, anywidget loses what Python says later.
    "TrainingMonitor": Work(
        click='[data-part="log_axis"]',
        answer=Seen('[data-part="log_axis"]:checked'),
        clicked="True None",
        focus='[data-part="loss"]',
        keys=("ArrowLeft", "ArrowLeft"),
        typed="True 4",
        read="widget.log_axis, widget.cursor",
        shown=Seen('[data-part="loss"][aria-valuetext="step 4: loss 0.250"]'),
        prepare=RUN,
    ),
    "AttentionExplorer": Work(
        click='[data-head="2"]',
        answer=Seen('[data-head="2"][aria-checked="true"]'),
        clicked="2 None",
        focus='[aria-label="queries"] [role="option"]',
        keys=("ArrowDown", "Space"),
        typed="2 1",
        read="widget.head, widget.query",
        shown=Seen('[aria-label="queries"] [aria-selected="true"]', "cat"),
    ),
    "FunctionLab": Work(
        click=cell("allowed", 0, 1),
        answer=Seen(cell("allowed", 0, 1) + '[data-value="1"]'),
        clicked="True False",
        focus=cell("allowed", 0, 1),
        keys=("ArrowDown", "ArrowDown", "ArrowLeft", "Space"),
        typed="True True",
        read="widget.allowed[0, 1].item(), (~widget.allowed[2, 0]).item()",
        shown=Seen(cell("allowed", 2, 0) + '[data-value="0"]'),
    ),
    "MaskStudio": Work(
        click=cell("allowed", 1, 3),
        answer=Seen(cell("allowed", 1, 3) + '[data-value="1"]'),
        clicked="[[1, 3]]",
        focus=cell("allowed", 1, 3),
        keys=("ArrowDown", "Space", "ArrowLeft", "Enter"),
        typed="[[1, 3], [2, 2], [2, 3]]",
        read="widget.edits",
        shown=Seen(cell("allowed", 2, 2) + '[data-value="0"]'),
    ),
    "DecodingExplorer": Work(
        click='[data-part="step"]',
        answer=Seen('[data-part="sentence"] li:nth-child(2) b', "thanks"),
        clicked="['thanks'] set()",
        focus='[data-part="list"] [data-id]',
        keys=("ArrowDown", "Enter", "PageDown"),
        typed="['thanks', 'you', '<eos>'] {1}",
        read="widget.sentence, widget.own",
        shown=Seen('[data-part="sentence"] li:nth-child(4) b', "<eos>"),
    ),
    "DotProductStepper": Work(
        click='[data-part="next"]',
        answer=Seen('[data-step="1"][aria-current="step"]'),
        clicked="1 1 3",
        focus=cell("table", 1, 3),
        keys=("ArrowUp", "PageDown", "PageDown"),
        typed="3 0 3",
        read="widget.step, widget.row, widget.column",
        shown=Seen('[data-step="3"][aria-current="step"]'),
    ),
    "HeadSplitter": Work(
        click='[data-part="next"]',
        answer=Seen('[data-step="3"][aria-current="step"]'),
        clicked="3 2",
        focus='[data-part="num_heads"]',
        keys=("ArrowRight",),
        typed="3 3",
        read="widget.step, widget.num_heads",
        shown=Seen('[data-step="3"][aria-current="step"]'),
    ),
    "ModelStudio": Work(
        click='[data-part="tools"] button',
        answer=Seen('[data-part="before"]', "before your changes 老师明天不会在学校喝茶。"),
        clicked="老师明天会在学校喝茶。",
        focus='[data-part="tools"] button',
        keys=("Control+z", "Control+y", "Control+z"),
        typed="老师明天不会在学校喝茶。 [] 1",
        read="widget.translation, *([widget.changes, len(widget.future)] if widget.future else [])",
        shown=Seen('[data-part="changes"] li'),
    ),
    "PositionLab": Work(
        click=cell("table", 7, 3),
        answer=Seen('[data-part="arrows-title"]', "rotary: pair 1, q at 2, k at 7"),
        clicked="7 1 16",
        focus='[data-part="num_positions"]',
        keys=("ArrowRight", "ArrowRight"),
        typed="7 1 18",
        read="widget.second, widget.pair, widget.num_positions",
        shown=Seen('[data-part="num_positions-shown"]', "18"),
    ),
    "ScalingLab": Work(
        click='[data-part="scaled"]',
        answer=Seen('[data-part="formula"]', "scores = q·k, not divided"),
        clicked="64 False",
        focus='[data-part="d"]',
        keys=("ArrowRight", "ArrowRight"),
        typed="256 False",
        read="widget.d, widget.scaled",
        shown=Seen('[data-part="d-shown"]', "256"),
    ),
    "ShapeTour": Work(
        click='[data-part="next"]',
        answer=Seen('[data-step="1"][aria-current="step"]'),
        clicked="1 0",
        focus='[data-step="1"]',
        keys=("ArrowDown", "End"),
        typed="17 0",
        read="widget.step, widget.sentence",
        shown=Seen('[data-step="17"][aria-current="step"]'),
    ),
}


# Where there is no Python, the translator writes.
ON_THE_SITE = WORK | {
    "DecodingExplorer": Work(
        click='[data-part="step"]',
        answer=Seen('[data-part="sentence"] li:nth-child(2) b', "他们"),
        clicked="['他们'] set()",
        focus='[data-part="list"] [data-id]',
        keys=("ArrowDown", "Enter", "PageDown"),
        typed="['他们', '画', '了'] {1}",
        read="widget.sentence, widget.own",
        shown=Seen('[data-part="sentence"] li:nth-child(4) b', "了"),
    ),
}


LEFT = "within => !document.querySelector(within).contains(document.activeElement)"


def operate(visitor, name, within, works=WORK):
    """Do in any browser what is in the list, see each answer, and leave by Tab."""
    work = works[name]
    visitor.click(f"{within} {work.click}")
    visitor.wait_for(f"{within} {work.answer.selector}", work.answer.says)
    visitor.focus(f"{within} {work.focus}")
    for key in work.keys:
        visitor.press(key)
    visitor.wait_for(f"{within} {work.shown.selector}", work.shown.says)
    for _ in range(TAB_STOPS):
        visitor.press("Tab")
        if visitor.evaluate(LEFT, within):
            return
    raise AssertionError(f"Tab does not leave {name}")
