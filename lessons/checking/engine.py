"""How an exercise is checked: run, compare with the reference, and say in the learner's terms what went wrong.

A wrong result is first held against the known mistakes, each of them a wrong implementation with a hint: the one
that gives the same wrong result is named. A mistake that nobody foresaw gets the first property that it breaks.
"""

import copy
import dis
import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lessons import progress
from lessons.checking.comparing import (
    NOT_POSSIBLE,
    equal,
    first_place,
    gradients_of,
    line_that_raised,
    untouched,
    where_it_differs,
    wrong_form,
    wrong_number,
)
from lessons.checking.edits import actual
from lessons.checking.reports import Hints, Report, brief, show

SMALL = 40  # tensors up to this many numbers are shown in full


@dataclass(frozen=True)
class Case:
    """One set of inputs. `about` says what is special about it; with `gradients`, these are compared too."""

    inputs: dict[str, Any]
    about: str = ""
    gradients: bool = False

    def describe(self) -> str:
        return ", ".join(f"{name} {brief(value)}" for name, value in self.inputs.items())


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation that people really write, and what to tell them.

    wrong: a function, class or answer like the reference, or an edit of it: edited(reference, "dim=-1", "dim=0").
    also: other ways of writing the same mistake. seen_in: the case that the hint speaks of, by its `about`.
    """

    wrong: Any
    hint: str
    also: Sequence[Any] = ()
    seen_in: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call gave: the results and their gradients, or the exception."""

    results: tuple[Any, ...] = ()
    gradients: tuple[Tensor | str | None, ...] = ()  # NOT_POSSIBLE where torch could not take them
    changed: tuple[str, ...] = ()  # the arguments that the call altered in place
    error: BaseException | None = None

    def same_as(self, other: "Outcome") -> bool:
        if self.error is not None or other.error is not None:
            return type(self.error) is type(other.error) and str(self.error) == str(other.error)
        return (
            len(self.results) == len(other.results)
            and self.changed == other.changed
            and all(map(equal, self.results, other.results))
            and all(map(equal, self.gradients, other.gradients))
        )


@dataclass(frozen=True)
class Exercise:
    """A task, its reference, and everything that can be said about a wrong answer.

    lesson: the number of its lesson, "03"; without one, no progress is kept.
    name: what the learner's function (or answer) is called in the notebook.
    reference: gives the right result. What the learner writes is called in the same way, through `call`.
    cases: draws the inputs, from the smallest; every size differs, but for one case in which swapped axes run.
    laws: what every right result obeys: (case, results) -> what is broken, or None.
    outputs: the names of the results.
    solution: what is shown as the solution: functions or classes by their source, or a text; else the reference.
    """

    name: str
    reference: Any
    cases: Callable[[torch.Generator], list[Case]]
    mistakes: Sequence[Mistake]
    hints: Sequence[str]
    laws: Sequence[Callable[[Case, tuple], str | None]] = ()
    outputs: Sequence[str] = ("the result",)
    solution: Sequence[Any] = field(default=())
    lesson: str = ""
    call: Callable[..., Any] = lambda candidate, *inputs: candidate(*inputs)
    _kept: dict[tuple[int, int], list[Outcome]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def check(self, candidate: Any) -> Report:
        """Say whether `candidate`, a function (or class, or answer) of the learner's, is right, and if not, why."""
        report = self._judge(candidate)
        if self.lesson and report.verdict in progress.VERDICTS:
            progress.record(self.lesson, self.name, report.verdict)
        return report

    def _judge(self, candidate: Any) -> Report:
        candidate, cases = actual(candidate), self.draw()
        if is_unattempted(candidate):
            return Report("Not attempted", f"Write {self.name} in the cell above, run it, and run this one again.")
        if cases[0].inputs and not callable(candidate):
            return Report(
                "Not yet", f"{self.name} is a {type(candidate).__name__}; expected a function: def {self.name}(…)."
            )
        got = [self.run(candidate, case) for case in cases]
        want = [self.run(self.reference, case) for case in cases]
        if isinstance(got[0].error, NotImplementedError) and "raise NotImplementedError" in line_that_raised(
            got[0].error, candidate
        ):
            return Report("Not attempted", f"{self.name} raises NotImplementedError: write your code in its place.")
        wrong = [i for i in range(len(cases)) if self._is_wrong(cases[i], got[i], want[i])]
        if not wrong:
            return Report("Right", self._praise(cases))
        mistake = self._known(got, cases, wrong)
        shown = next((i for i in wrong if mistake and cases[i].about == mistake.seen_in), wrong[0])
        story = mistake.hint if mistake else self._first_broken(cases[shown], got[shown], want[shown])
        if (error := got[shown].error) is not None:
            story += f"\nIt raised {type(error).__name__}: {error}{line_that_raised(error, candidate)}"
        if cases[shown].about:
            story += f"\nIt goes wrong here: {cases[shown].about}."
        return Report("Not yet", story, self._evidence(cases[shown], got[shown], want[shown]), mistake)

    def _is_wrong(self, case: Case, got: Outcome, want: Outcome) -> bool:
        return not got.same_as(want) or any(law(case, got.results) for law in self.laws)

    def help(self) -> Hints:
        """The hints, folded; the solution unfolds last."""
        shown = self.solution or (self.reference,)
        texts = [item if isinstance(item, str) else inspect.getsource(item).rstrip() for item in shown]
        return Hints(self.hints, "\n\n".join(texts))

    def draw(self) -> list[Case]:
        return self.cases(torch.Generator().manual_seed(0))

    def run(self, candidate: Any, case: Case) -> Outcome:
        """One call, on copies of the inputs."""
        inputs = copy.deepcopy(list(case.inputs.values()))
        if case.gradients:
            for tensor in _floats(inputs):
                tensor.requires_grad_()
        before = copy.deepcopy(inputs)
        candidate = actual(candidate)
        function = candidate if callable(candidate) else lambda: candidate
        try:
            with warnings.catch_warnings(action="ignore"):
                results = self._tidy(self.call(function, *inputs), plain=not case.inputs)
        except (Exception, SystemExit) as error:
            return Outcome(error=error)
        gradients = gradients_of(results, _floats(inputs)) if case.gradients else ()
        changed = [name for name, old, new in zip(case.inputs, before, inputs) if not untouched(old, new)]
        return Outcome(results, gradients, tuple(changed))

    def _tidy(self, result: Any, *, plain: bool) -> tuple[Any, ...]:
        if plain:
            rows = isinstance(result, list | tuple) and len(result) and all(isinstance(row, Tensor) for row in result)
            result = (torch.stack(result) if rows else torch.as_tensor(result)).double()
        results = tuple(result) if len(self.outputs) > 1 and isinstance(result, tuple | list) else (result,)
        for tensor in results:
            if isinstance(tensor, Tensor) and (tensor.layout != torch.strided or tensor.device.type == "meta"):
                raise TypeError("the result is not an ordinary tensor (sparse, nested or without data)")
        return results

    def _known(self, got: list[Outcome], cases: list[Case], wrong: list[int]) -> Mistake | None:
        """The mistake that gives what was got: in all cases, or else the only one that does in the ordinary ones."""
        ordinary = [i for i, case in enumerate(cases) if not case.about]
        partly = []
        for number, mistake in enumerate(self.mistakes):
            for way in range(1 + len(mistake.also)):
                agrees = [mine.same_as(theirs) for mine, theirs in zip(got, self._outcomes(number, way))]
                if all(agrees):
                    return mistake
                telling = set(ordinary) & set(wrong)
                if telling and all(agrees[i] for i in ordinary) and mistake not in partly:
                    partly.append(mistake)
        return partly[0] if len(partly) == 1 else None

    def _outcomes(self, number: int, way: int) -> list[Outcome]:
        """What one way of writing a known mistake gives in each case; run once, and kept."""
        if (number, way) not in self._kept:
            mistake = self.mistakes[number]
            wrong = (mistake.wrong, *mistake.also)[way]
            self._kept[number, way] = [self.run(wrong, case) for case in self.draw()]
        return self._kept[number, way]

    def _first_broken(self, case: Case, got: Outcome, want: Outcome) -> str:
        if not case.inputs:
            return "That is not it. Work it out on paper once more, or unfold a hint."
        if got.error is not None:
            return f"{self.name} could not be run to its end."
        if len(got.results) != len(want.results):
            return wrong_number(self.name, got.results, self.outputs)
        for name, mine, right in zip(self.outputs, got.results, want.results):
            if story := wrong_form(name, mine, right):
                return story
        for law in self.laws:
            if story := law(case, got.results):
                return story
        if got.changed:
            return (
                f"The results aside, your code changed its argument {got.changed[0]}. Work on a copy: x = x - 1 makes "
                "a new tensor, x -= 1 changes the old one; before x[…] = … take x.clone(), for y = x is no copy."
            )
        for name, mine, right in zip(self.outputs, got.results, want.results):
            if not equal(mine, right):
                return where_it_differs(name, mine, right)
        if NOT_POSSIBLE in got.gradients:
            return (
                "The numbers are right, but torch cannot take gradients: a tensor was changed in place after it had "
                "been used. Write w = w / s instead of w /= s, and masked_fill or torch.where instead of w[…] = …."
            )
        return (
            "The numbers are right, but their gradients are not: something cut the way back to the inputs, such as "
            ".item(), .tolist(), .numpy(), .detach(), torch.no_grad() or torch.tensor(…)."
        )

    def _evidence(self, case: Case, got: Outcome, want: Outcome) -> str:
        lines = [f"Seen with {case.describe()}."] if case.inputs else []
        tensors = {name: x for name, x in case.inputs.items() if isinstance(x, Tensor)}
        if sum(x.numel() for x in tensors.values()) <= SMALL:
            lines += [f"{name} =\n{show(x)}" for name, x in tensors.items()]
        if got.error is None and len(got.results) == len(want.results) and case.inputs:
            for name, mine, right in zip(self.outputs, got.results, want.results):
                shown = isinstance(mine, Tensor) and isinstance(right, Tensor)
                if shown and max(mine.numel(), right.numel()) <= SMALL and not equal(mine, right):
                    lines += [f"{name}, yours:\n{show(mine)}", f"{name}, expected:\n{show(right)}"]
        return "\n".join(lines)

    def _praise(self, cases: list[Case]) -> str:
        special = [case.about for case in cases if case.about]
        if not cases[0].inputs:
            return "That is the answer."
        plain = f"Compared with the reference on {len(cases)} inputs"
        return f"{plain}; among them: {'; '.join(special)}." if special else f"{plain} of different sizes."


def is_unattempted(candidate: Any) -> bool:
    """Whether the stub is still as it was: an answer that is `...` or None, or a function without a body."""
    if candidate is None or candidate is ...:
        return True
    body = getattr(candidate, "forward", candidate)
    code = getattr(body, "__code__", None)
    idle = {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "COPY_FREE_VARS"}
    steps = list(dis.get_instructions(code)) if code else []
    constants = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    return bool(steps) and {step.opname for step in steps} <= idle and constants[-1] in (None, ...)


def numbers(generator: torch.Generator, *shape: int) -> Tensor:
    """Numbers drawn from a normal distribution."""
    return torch.randn(*shape, generator=generator)


def small_numbers(generator: torch.Generator, *shape: int) -> Tensor:
    """Whole numbers from -2 to 3, as floats: to be checked on paper."""
    return torch.randint(-2, 4, shape, generator=generator).float()


def rows_sum_to_one(place: int = 0) -> Callable[[Case, tuple], str | None]:
    """The law that each row of weights sums to 1; `place` is that of the weights among the results."""

    def law(case: Case, results: tuple) -> str | None:
        sums = results[place].detach().double().sum(dim=-1)
        off = (sums - 1).abs() > 2e-2
        if not off.any():
            return None
        return (
            f"Sums: row {first_place(off)} of your weights sums to {sums[off][0].item():.4g}; each row must sum to 1."
        )

    return law


def _floats(inputs: Sequence[Any]) -> list[Tensor]:
    return [x for x in inputs if isinstance(x, Tensor) and x.is_floating_point()]
