"""What the learner reads: the report of a check, and hints that unfold."""

import html
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from lessons.source import as_html


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
        return "\n".join(part for part in (f"{self.verdict}. {self.message}", self.evidence) if part)

    def _repr_html_(self) -> str:
        color = {"Right": "#0072B2", "Not yet": "#D55E00", "Not attempted": "#888888"}[self.verdict]
        evidence = f"<pre>{html.escape(self.evidence)}</pre>" if self.evidence else ""
        return (
            f'<div\n style="border-left: 4px solid {color}; padding: 2px 12px; white-space: pre-wrap">'
            f"<strong>{self.verdict}.</strong> {_marked_up(self.message)}{evidence}</div>"
        )


@dataclass(frozen=True)
class Hints:
    """Hints that unfold one at a time, the solution last, and below it where the package has it."""

    texts: Sequence[str]
    solution: str
    in_package: str = ""

    def __repr__(self) -> str:
        return f"{len(self.texts)} hints and the solution, folded away: each opens the way to the next."

    def _repr_html_(self) -> str:
        link = _linked(self.in_package) if self.in_package else ""
        inner = _details("Solution", as_html(self.solution) + link)
        for number, text in reversed(list(enumerate(self.texts, start=1))):
            inner = _details(f"Hint {number}", f"<p>{_marked_up(text)}</p>{inner}")
        return inner


def _marked_up(text: str) -> str:
    """*emphasis* and `code` as HTML shows them; a product a * b stays as it is."""
    text = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"(?<![\w*>])\*([A-Za-z][^*\n<]*)(?<=\w)\*(?![\w*])", r"<em>\1</em>", text)


def _linked(in_package: str) -> str:
    """A link from a notebook to the file of a function or class of the package."""
    file = pkgutil.resolve_name(in_package).__module__.replace(".", "/")
    return f'<p>The package\'s version: <a href="../{file}.py">{in_package}</a></p>'


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
    short, other = f"{value.item():.4g}", f"{beside.item():.4g}"
    return short if short != other else f"{value.item():.8g}"
