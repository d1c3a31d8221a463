"""What the learner reads: the report of a check, and hints that unfold."""

import html
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from lessons.source import as_html
from lessons.wording import marked, worded

VERDICTS = {"Right": marked("Right."), "Not yet": marked("Not yet."), "Not attempted": marked("Not attempted.")}


@dataclass(frozen=True)
class Report:
    """What the learner reads."""

    verdict: Literal["Right", "Not yet", "Not attempted"]
    message: str
    evidence: str = ""
    mistake: object = None  # the known mistake that was named

    @property
    def passed(self) -> bool:
        return self.verdict == "Right"

    def __repr__(self) -> str:
        story = worded("{verdict} {message}", verdict=worded(VERDICTS[self.verdict]), message=self.message)
        return "\n".join(part for part in (story, self.evidence) if part)

    def _repr_html_(self) -> str:
        color = {"Right": "#0072B2", "Not yet": "#D55E00", "Not attempted": "#888888"}[self.verdict]
        evidence = f"<pre>{html.escape(self.evidence)}</pre>" if self.evidence else ""
        verdict = f"<strong>{worded(VERDICTS[self.verdict])}</strong>"
        story = worded("{verdict} {message}", verdict=verdict, message=_marked_up(self.message))
        return (
            f'<div\n style="border-left: 4px solid {color}; padding: 2px 12px; white-space: pre-wrap">'
            f"{story}{evidence}</div>"
        )


@dataclass(frozen=True)
class Hints:
    """Hints that unfold one at a time, the solution last, and below it where the package has it."""

    texts: Sequence[str]
    solution: str
    in_package: str = ""

    def __repr__(self) -> str:
        return worded(
            "{count} hints and the solution, folded away: each opens the way to the next.", count=len(self.texts)
        )

    def _repr_html_(self) -> str:
        link = _linked(self.in_package) if self.in_package else ""
        inner = _details(worded("Solution"), as_html(self.solution) + link)
        for number, text in reversed(list(enumerate(self.texts, start=1))):
            inner = _details(worded("Hint {number}", number=number), f"<p>{_marked_up(text)}</p>{inner}")
        return inner


def _marked_up(text: str) -> str:
    """*emphasis* and `code` as HTML shows them; a product a * b stays as it is."""
    text = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"(?<![\w*>])\*([A-Za-z][^*\n<]*)(?<=\w)\*(?![\w*])", r"<em>\1</em>", text)


def _linked(in_package: str) -> str:
    """A link from a notebook to the file of a function or class of the package."""
    file = pkgutil.resolve_name(in_package).__module__.replace(".", "/")
    link = f'<a href="../{file}.py">{in_package}</a>'
    return "<p>" + worded("The package's version: {link}", link=link) + "</p>"


def _details(summary: str, inside: str) -> str:
    return f'<details style="margin-left: 1em"><summary>{summary}</summary>{inside}</details>'


def show(tensor: Tensor) -> str:
    """Four decimals, and no -0."""
    shown = tensor.detach()
    if tensor.is_floating_point():
        shown = (shown.double().round(decimals=4) + 0.0).float()
    text = str(shown).removeprefix("tensor(").removesuffix(")")
    return text.replace("\n" + " " * len("tensor("), "\n")


def shortened(text: str, most: int = 600) -> str:
    """The text; of a long one, its beginning and its end."""
    text = str.__str__(text)  # of a kind of str that a learner wrote, the text alone
    return text if len(text) <= most else f"{text[: most - most // 4]} […] {text[-(most // 4) :]}"


def brief(value: Any) -> str:
    if isinstance(value, Tensor):
        return str(tuple(value.shape)) if value.dim() else number(value, value)
    return getattr(value, "__name__", None) or repr(value)


def number(value: Tensor, beside: Tensor) -> str:
    """The value, with enough digits to tell it from the other one."""
    if not value.is_floating_point():
        return str(value.item())
    mine, other = value.item() + 0.0, beside.item() + 0.0  # no -0
    short = f"{mine:.4g}"
    return short if short != f"{other:.4g}" else f"{mine:.8g}"
