"""The computation of FunctionLab: a function compared with the reference, and its leaks."""

import base64
import io
import warnings
from contextlib import redirect_stdout
from typing import Any

import torch
from torch import Tensor

from lessons.attention import attend
from lessons.probes import DRAWS, influence
from lessons.widgets.function_lab.trials import Plug, place, prepare, read_result, say_error, try_out
from lessons.wording import SENTENCES, counted, listed, worded

TOLERANCE = 1e-5  # a larger difference isn't rounding; relative for numbers beyond 1


class Experiment:
    """One function with one mask: called at once, compared, and searched for leaks on request.

    inputs: q (Q, d), k (K, d), v (K, d_v). allowed (Q, K) bool, True = may attend.
    """

    def __init__(self, plug: Plug, inputs: dict[str, Tensor], allowed: Tensor):
        self.plug, self.inputs, self.allowed = plug, inputs, allowed
        self.reference_output, self.reference = refer(**inputs, allowed=allowed)
        self.trial = try_out(plug, prepare(**inputs, allowed=allowed))
        self.moved: Tensor | None = None  # bool (T, T), as `influence` gives it
        self._why_not = self._obstacle()

    def pairs(self) -> list[tuple[str, Tensor, Tensor]]:
        """What can be compared: name, the function's tensor, the reference's tensor."""
        pairs = (
            ("weights", self.trial.weights, self.reference),
            ("output", self.trial.output, self.reference_output),
        )
        return [(name, mine, right) for name, mine, right in pairs if mine is not None]

    @property
    def notes(self) -> list[str]:
        """Remarks, apart from the numbers."""
        if "allowed" in self.plug.takes:
            return [*self.trial.notes]
        return [
            *self.trial.notes,
            worded("{name} does not take `allowed`: it cannot know your clicks.", name=self.plug.title),
        ]

    # Leaks

    def _obstacle(self) -> str:
        if self.trial.problem:
            return worded("Nothing to examine yet: the function gives no result.")
        if self.allowed.size(0) != self.allowed.size(1):
            return worded("Not examined: the detector needs as many queries as keys.")
        return ""

    @property
    def waits(self) -> bool:
        """Whether `look` could not finish yet."""
        return self.moved is None and not self._why_not

    def look(self, seconds: float = torch.inf) -> None:
        """Run the detector once, unless it would take longer."""
        calls = DRAWS * 3 * (len(self.allowed) + 1)
        if self.waits and self.trial.seconds * calls <= seconds:
            try:
                self.moved = find_moves(self.plug, **self.inputs, allowed=self.allowed)
            except (Exception, SystemExit, KeyboardInterrupt) as error:
                self._why_not = worded(
                    "Not examined: with changed tokens it stops. {problem}", problem=say_error(error)
                )

    @property
    def leaks(self) -> list[tuple[int, int]]:
        """The pairs (i, j) in which output i moves with token j, which it may not see."""
        if self.moved is None:
            return []
        return [(i, j) for i, j in (self.moved & hidden_pairs(self.allowed)).nonzero().tolist()]

    @property
    def verdict(self) -> str:
        """What the detector says."""
        if self.moved is None:
            return self._why_not or worded("Not examined yet: this function is slow. Press “Look for leaks”.")
        hidden = int(hidden_pairs(self.allowed).sum())
        if not hidden:
            return worded("Nothing can leak here: this mask hides no token from another.")
        if not self.leaks:
            return worded(
                "No leak found in {draws} draws: no output moved when a token that it may not see was changed.",
                draws=DRAWS,
            )
        (i, j), *_ = self.leaks
        return worded(
            "A leak: output {i} moves when token {j}, which it may not see, is changed. "
            "In all, {count} of {total} hidden pairs leak.",
            i=i,
            j=j,
            count=len(self.leaks),
            total=hidden,
        )

    # For the browser

    def result(self) -> dict[str, Any]:
        """All that the browser can't compute."""
        shapes = self.plug.shapes(prepare(**self.inputs, allowed=self.allowed))
        result: dict[str, Any] = {
            "chosen": self.plug.name,
            "mask": bits(self.allowed),
            "called": shapes,
            "problem": self.trial.problem,
            "notes": listed(self.notes, SENTENCES),
            "printed": self.trial.printed,
            "verdict": self.verdict,
            "moved": None if self.moved is None else pack_bits(self.moved),
            "waits": self.waits,
        }
        for name, mine, right in self.pairs():
            difference, differ = compare(mine, right)
            said = say_difference(name, difference, differ)
            result[name] = {"numbers": pack(mine), "differ": pack_bits(differ), "said": said}
        return result


def refer(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """Output and weights of the reference."""
    output, weights = attend(q, k, v, allowed)
    assert weights is not None  # they are asked for by default
    return output, weights


def compare(mine: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """The difference, 0 where both are the same infinity or NaN; and a bool tensor, True where it exceeds rounding."""
    mine, right = mine.double(), right.double()
    same = (mine == right) | (mine.isnan() & right.isnan())
    difference = (mine - right).masked_fill(same, 0.0)
    rounding = (difference.abs() <= TOLERANCE * right.abs().clamp(min=1.0)) & difference.isfinite()
    return difference, ~(same | rounding)


def say_difference(name: str, difference: Tensor, differ: Tensor) -> str:
    """How many cells differ, and where the largest difference is."""
    count, total = int(differ.sum()), differ.numel()
    if not count:
        return worded("The same in all {total} cells, up to rounding.", total=total)
    size = difference.abs().masked_fill(~differ, -1.0).nan_to_num(nan=torch.inf)
    row, column = divmod(int(size.argmax()), differ.size(1))
    most = float(difference[row, column])
    said = {"total": total, "most": signed(most), "place": place(name, row, column)}
    if most == most:
        return counted(
            "{count} of {total} cells differs; the largest difference is {most}, at {place}.",
            "{count} of {total} cells differ; the largest difference is {most}, at {place}.",
            count,
            **said,
        )
    return counted(
        "{count} of {total} cells differs; there is NaN at {place}.",
        "{count} of {total} cells differ; there is NaN at {place}.",
        count,
        **said,
    )


def signed(x: float) -> str:
    """A difference in two digits, with its sign."""
    return f"{x:+.2g}".replace("-", "−").replace("inf", "∞")


def find_moves(plug: Plug, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    """bool (T, T): [i, j] is True where output i moves when token j is changed: its rows of q, k and v.

    The output of a function that gives only weights is weights × v.
    """
    sizes = [q.size(1), k.size(1), v.size(1)]

    def output_of(x: Tensor) -> Tensor:
        q, k, v = x.split(sizes, dim=1)
        inputs = prepare(q, k, v, allowed.clone())
        weights, output = read_result(plug, plug({name: x.clone() for name, x in inputs.items()}), inputs)
        if output is None and weights is not None:
            output = weights @ inputs["v"].to(weights.dtype)
        assert output is not None  # read_result gives one of them
        return output

    with redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
        return influence(output_of, torch.cat([q, k, v], dim=1))


def hidden_pairs(allowed: Tensor) -> Tensor:
    """bool (T, T), True where output i must not depend on token j; on its own token it may: that asks the question."""
    return ~allowed & ~torch.eye(len(allowed), dtype=torch.bool)


def pack(numbers: Tensor) -> str:
    """As 32-bit floats in base64: a third of the size of text."""
    return base64.b64encode(numbers.float().contiguous().numpy().astype("<f4").tobytes()).decode()


def bits(table: Tensor) -> str:
    """A table of bools, row by row, one character 0 or 1 each."""
    return "".join("1" if x else "0" for x in table.flatten().tolist())


def pack_bits(table: Tensor) -> str:
    """The same as one hexadecimal number: a quarter of the size."""
    return f"{int(bits(table), 2):x}"
