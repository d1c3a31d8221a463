"""How an exercise is checked: run, compare with the reference, and say in the learner's terms what went wrong.

A wrong result is first compared with the known mistakes, each of them a wrong implementation with a hint: the one
that gives the same wrong result is named. For any other mistake, the first property that it breaks is named.
"""

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from lessons import progress
from lessons.checking import limit, running, state
from lessons.checking.comparing import (
    NOT_POSSIBLE,
    equal,
    first_place,
    is_tensor,
    untouched,
    where_it_differs,
    wrong_form,
    wrong_number,
)
from lessons.checking.edits import actual
from lessons.checking.errors import meaning
from lessons.checking.relations import related, spread, whole_multiples
from lessons.checking.reports import Hints, Report, shortened, show
from lessons.checking.running import Case, Outcome, is_unattempted, line_that_raised
from lessons.checking.stages import Step, first_difference
from lessons.wording import SEMICOLON, SENTENCES, language, listed, worded, worded_in_lesson

SMALL = 40  # tensors up to this many numbers are shown in full


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

    @property
    def name(self) -> str:
        """The first sentence of the hint, or as many as make forty characters: what an overview calls the mistake."""
        sentences = re.match(r".{40,}?[.?!](?=\s|$)", self.hint, re.DOTALL)
        return sentences.group() if sentences else self.hint


@dataclass(frozen=True)
class Exercise:
    """A task, its reference, and everything that can be said about a wrong answer.

    lesson: the number of its lesson, "03"; without one, no progress is kept.
    name: what the learner's function (or answer) is called in the notebook.
    reference: gives the right result. What the learner writes is called in the same way, through `call`.
    cases: draws the inputs, from the smallest; every size differs, but for one case in which swapped axes run. In one
        of them an axis of the result has size 1, so that a squeeze is found.
    laws: what every right result obeys: (case, results) -> what is broken, or None.
    outputs: the names of the results.
    solution: the smallest right answer, as a cell that is pasted over the stub: at most 88 characters wide, of nothing
        but what the lesson has imported by then. in_package: where the package has it, "lessons.masks.causal".
    stages: for a whole of several steps: like `call`, but its first argument is a function record(name, value), and it
        records the steps in their order. Where a mistake is not known, the first step that differs is named.
    parts: for a count: the sizes of what it adds up, by name. Where a mistake is not known, the parts of which there
        are too many or too few are named, if there are more cases than parts.
    """

    name: str
    reference: Any
    cases: Callable[[torch.Generator], list[Case]]
    mistakes: Sequence[Mistake]
    hints: Sequence[str]
    laws: Sequence[Callable[[Case, tuple], str | None]] = ()
    outputs: Sequence[str] = ("the result",)
    solution: str = ""
    in_package: str = ""
    lesson: str = ""
    call: Callable[..., Any] = lambda candidate, *inputs: candidate(*inputs)
    stages: Callable[..., Any] | None = None
    parts: Callable[..., dict[str, int]] | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def check(self, candidate: Any) -> Report:
        """Say whether `candidate`, a function (or class, or answer) of the learner's, is right, and if not, why.

        Whatever it does, there is a report, and torch is as it was before.
        """
        report = self._report(actual(candidate))
        if self.lesson and report.verdict in progress.VERDICTS:
            named = report.mistake.name if isinstance(report.mistake, Mistake) else ""
            progress.record(self.lesson, self.name, report.verdict, named)
        return report

    def best(self, candidate: Any) -> Any:
        """What the lesson uses from here on: `candidate` if it is right, else the reference. A printed line says which.

        No progress is kept.
        """
        if self._report(actual(candidate)).passed:
            print(worded("{name}: using yours.", name=self.name))
            return candidate
        print(worded("{name}: using the package's, until yours passes its check.", name=self.name))
        return self.reference

    def _report(self, candidate: Any) -> Report:
        with state.neutral():
            try:
                return self._judge(candidate)
            except limit.TooLong as stop:
                return Report("Not yet", self._stopped(stop, candidate))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                story = worded(
                    "What {name} gives cannot be compared with what is expected ({error}).",
                    name=self.name,
                    error=type(error).__name__,
                )
                return Report("Not yet", story)

    def _judge(self, candidate: Any) -> Report:
        cases = self._cases()
        if is_unattempted(candidate):
            story = worded("Write {name} in the cell above, run it, and run this one again.", name=self.name)
            return Report("Not attempted", story)
        if cases[0].inputs and not callable(candidate):
            story = worded(
                "{name} is a {type}; expected a function: def {name}(…).",
                name=self.name,
                type=type(candidate).__name__,
            )
            return Report("Not yet", story)
        if not cases[0].inputs and isinstance(candidate, str):
            story = worded("{name} is text. Leave out the quotation marks.", name=self.name)
            return Report("Not yet", story)
        if not cases[0].inputs and (text := _first_text(candidate)) is not None:
            story = worded(
                "{name} contains text, {text}; expected numbers, or True and False.",
                name=self.name,
                text=shortened(repr(text)),
            )
            return Report("Not yet", story)
        want = [self._outcome(None, i) for i in range(len(cases))]
        got, altered = self.try_out(candidate, cases, want)
        note = "".join(
            "\n" + worded("Your code changed {setting}. It was put back.", setting=setting) for setting in altered
        )
        if isinstance(got[0].error, NotImplementedError) and "raise NotImplementedError" in line_that_raised(
            got[0].error, candidate
        ):
            story = worded("{name} raises NotImplementedError: write your code in its place.", name=self.name)
            return Report("Not attempted", story)
        wrong = [i for i in range(len(cases)) if self._is_wrong(cases[i], got[i], want[i])]
        if not wrong:
            return Report("Right", self._praise(cases) + self._borrowed(candidate, cases) + note)
        mistake = self._known(got, cases, wrong)
        shown = next((i for i in wrong if mistake and cases[i].about == mistake.seen_in), wrong[0])
        story = self._said(mistake.hint) if mistake else self._unforeseen(candidate, cases, got, want, wrong)
        if (error := got[shown].error) is not None:
            raised = worded("It raised {error}: {text}", error=type(error).__name__, text=got[shown].error_text)
            line = line_that_raised(error, candidate)
            meant = meaning(got[shown].error_text) if line and not mistake else ""
            story += "\n".join(("", *filter(None, (raised + line, meant))))
        if about := cases[shown].about:
            story += "\n" + worded("It goes wrong here: {about}.", about=self._said(about))
        if not mistake and len(wrong) < len(cases):
            right = len(cases) - len(wrong)
            story += "\n" + worded(
                "For {right} of the {total} inputs that were tried, it is right.", right=right, total=len(cases)
            )
        return Report("Not yet", story + note, self._evidence(cases[shown], got[shown], want[shown]), mistake)

    def _is_wrong(self, case: Case, got: Outcome, want: Outcome) -> bool:
        return got.error is not None or not got.same_as(want) or any(law(case, got.results) for law in self.laws)

    def help(self) -> Hints:
        """The hints, folded; the solution unfolds last."""
        return Hints([*map(self._said, self.hints)], inspect.cleandoc(self.solution), self.in_package)

    def texts(self) -> list[str]:
        """All that it says to a learner, for the catalogs in other languages."""
        said = [*self.hints, *(mistake.hint for mistake in self.mistakes), *self.outputs]
        if self.parts:
            said += self.parts(*self.draw()[0].inputs.values())
        return [*said, *(case.about for case in self.draw() if case.about)]

    def _said(self, text: str) -> str:
        """A text of this exercise, in the current language."""
        return worded_in_lesson(self.lesson, text)

    @property
    def _outputs(self) -> list[str]:
        """The names of the results, as a report says them."""
        return [*map(self._said, self.outputs)]

    def draw(self) -> list[Case]:
        return self.cases(torch.Generator().manual_seed(0))

    def run(self, candidate: Any, case: Case, like: Outcome | None = None) -> Outcome:
        """One call, on copies of the inputs."""
        return running.run(self.call, actual(candidate), case, len(self.outputs), like)

    def try_out(
        self, candidate: Any, cases: Sequence[Case], want: Sequence[Outcome]
    ) -> tuple[list[Outcome], list[str]]:
        """What a learner's answer gives within the time limit; and what it changed in torch, which is put back."""
        state.remember_functions()
        try:
            got = limit.limited(lambda: [self.run(candidate, case, like) for case, like in zip(cases, want)])
        finally:
            replaced = state.put_functions_back()
        return got, list(dict.fromkeys([*(setting for outcome in got for setting in outcome.settings), *replaced]))

    def _cases(self) -> list[Case]:
        if "cases" not in self._kept:
            self._kept["cases"] = self.draw()
        return self._kept["cases"]

    def _outcome(self, mistake: tuple[int, int] | None, number: int) -> Outcome:
        """What a known mistake, in one of its ways, or else the reference gives in one case; run once, and kept."""
        key = language(), mistake, number  # in which the text of an error may be
        if key not in self._kept:
            wrong = self.mistakes[mistake[0]] if mistake else None
            candidate = (wrong.wrong, *wrong.also)[mistake[1]] if wrong and mistake else self.reference
            outcome = self.run(candidate, self._cases()[number])
            error = outcome.error and outcome.error.with_traceback(None)  # which keeps all its frames alive
            self._kept[key] = replace(outcome, error=error)
        return self._kept[key]

    def _known(self, got: list[Outcome], cases: list[Case], wrong: list[int]) -> Mistake | None:
        """The mistake that gives what was got: in all cases, or else the only one that does in the ordinary ones."""
        ordinary = [i for i, case in enumerate(cases) if not case.about]
        special = [i for i, case in enumerate(cases) if case.about]
        partly: list[Mistake] = []
        for number, mistake in enumerate(self.mistakes):
            for way in range(1 + len(mistake.also)):

                def agrees(i: int, known: tuple[int, int] = (number, way)) -> bool:
                    return got[i].same_as(self._outcome(known, i))

                if all(map(agrees, ordinary)):
                    if all(map(agrees, special)):
                        return mistake
                    if set(ordinary) & set(wrong) and mistake not in partly:
                        partly.append(mistake)
        return partly[0] if len(partly) == 1 else None

    def _stopped(self, stop: limit.TooLong, candidate: Any) -> str:
        story = worded(
            "{name} was stopped after {seconds:g} seconds; the right answer takes milliseconds. "
            "Does a loop in it never end?",
            name=self.name,
            seconds=limit.SECONDS,
        )
        return story + line_that_raised(stop, candidate)

    def _borrowed(self, candidate: Any, cases: Sequence[Case]) -> str:
        """A kind word for a learner whose code hands the work to the reference."""
        reference = running.code_of(self.reference)
        called = candidate is self.reference

        def watch(frame: FrameType, event: str, argument: Any) -> None:
            nonlocal called
            called = called or frame.f_code is reference

        if cases[0].inputs and reference is not None and not called and sys.getprofile() is None:
            sys.setprofile(watch)
            try:
                self.try_out(candidate, cases[:1], [Outcome()])
            finally:
                sys.setprofile(None)
        if not called:
            return ""
        return "\n" + worded(
            "That is the reference itself, so of course it agrees. You learn more from steps of your own."
        )

    def _unforeseen(
        self, candidate: Any, cases: list[Case], got: list[Outcome], want: list[Outcome], wrong: list[int]
    ) -> str:
        """What to say about a mistake that is not known."""
        first = wrong[0]
        told: list[str | None] = [self._first_broken(cases[first], got[first], want[first])]
        results = replace(got[first], gradients=want[first].gradients, changed=want[first].changed)
        if cases[first].inputs and not results.same_as(want[first]):
            relations = self._related(cases[first], [(got[i], want[i]) for i in wrong])
            told.append(self._right_ones(got[first], want[first]))
            told.append(self._miscounted(cases, got, want))
            told.append(self._random(candidate, cases[first], got[first], want[first]))
            told.append(self._without_effect(candidate, cases[first], got[first]))
            told += relations or [self._first_stage(candidate, cases[first]) or self._spread(got[first], want[first])]
        return "\n".join(story for story in told if story)

    def _random(self, candidate: Any, case: Case, got: Outcome, want: Outcome) -> str | None:
        """Whether my result is another one with other random numbers, and only then, though the right one isn't."""

        def after_others(function: Any, *inputs: Any) -> Any:
            state.draw_random_numbers()
            return self.call(function, *inputs)

        again = replace(self, call=after_others)
        large = any(is_tensor(x) and x.numel() > running.LARGE for x in got.results)
        if large or got.error is not None or not again.run(self.reference, case).same_as(want):
            return None
        (other,), _ = again.try_out(candidate, [case], [want])
        (same,), _ = self.try_out(candidate, [case], [want])
        if other.error is not None or all(map(untouched, got.results, other.results)):
            return None
        if same.error is not None or not all(map(untouched, got.results, same.results)):
            return None
        return worded(
            "With other random numbers your result is another: something in it is random, such as dropout, or the "
            "weights of a new layer."
        )

    def _without_effect(self, candidate: Any, case: Case, got: Outcome) -> str | None:
        """Which arguments my results do not depend on, though the right ones do."""
        if got.error is not None or len(got.results) != len(self.outputs):
            return None
        parameters = inspect.signature(actual(self.reference)).parameters
        names = [name for name in case.inputs if name in parameters]
        changed = [case.inputs | {name: running.altered_copy(case.inputs[name])} for name in names]
        cases = [*map(Case, [case.inputs, *changed])]
        wants = [self.run(self.reference, each) for each in cases]
        mine, _ = self.try_out(candidate, cases, wants)
        idle = [
            name
            for name, one, right in zip(names, mine[1:], wants[1:])
            if one.gives(mine[0], alike=untouched) and right.gives(wants[0]) is False
        ]
        if not idle:
            return None
        return worded("Your result is the same with other values of {names}; it should not be.", names=listed(idle))

    def _related(self, case: Case, outcomes: list[tuple[Outcome, Outcome]]) -> list[str]:
        """How the first result that is wrong relates to the right one."""
        mine, right = outcomes[0]
        place = self._first_wrong(mine, right)
        if place is None:
            return []
        others = _unchanged(case)
        results = zip(self._outputs, right.results)
        others |= {
            worded("what is expected as {name}", name=name): x for i, (name, x) in enumerate(results) if i != place
        }
        pairs = [
            (mine.results[place], right.results[place])
            for mine, right in outcomes
            if self._first_wrong(mine, right) == place
        ]
        story = related(pairs, others)
        if story and len(self.outputs) > 1:
            story = story.replace(worded("Yours is"), worded("Your {name} is", name=self._outputs[place]), 1)
        return [story] if story else []

    def _right_ones(self, got: Outcome, want: Outcome) -> str | None:
        """Which of several results are right."""
        if got.error is not None or len(got.results) != len(want.results) or len(self.outputs) == 1:
            return None
        named = [name for name, mine, right in zip(self._outputs, got.results, want.results) if equal(mine, right)]
        return worded("Right: {names}.", names=listed(named)) if named else None

    def _first_wrong(self, got: Outcome, want: Outcome) -> int | None:
        """The place of the first result that is a tensor, and not the right one."""
        if got.error is not None or len(got.results) != len(want.results):
            return None
        for place, (mine, right) in enumerate(zip(got.results, want.results)):
            if not equal(mine, right):
                return place if is_tensor(mine) and is_tensor(right) else None
        return None

    def _spread(self, got: Outcome, want: Outcome) -> str | None:
        place = self._first_wrong(got, want)
        return None if place is None else spread(got.results[place], want.results[place])

    def _miscounted(self, cases: list[Case], got: list[Outcome], want: list[Outcome]) -> str | None:
        """Of which parts a count has too many or too few."""
        if self.parts is None or not all(is_tensor(outcome.results[0]) for outcome in got if not outcome.error):
            return None
        sizes = [self.parts(*case.inputs.values()) for case in cases]
        off = [int(mine.results[0]) - int(right.results[0]) for mine, right in zip(got, want) if not mine.error]
        times = whole_multiples([[*each.values()] for each in sizes], off) if len(off) == len(cases) else None
        return listed(
            [
                worded("{count} × {part} too many.", count=count, part=self._said(part))
                if count > 0
                else worded("{count} × {part} too few.", count=-count, part=self._said(part))
                for part, count in zip(sizes[0], times or [])
                if count
            ],
            SENTENCES,
        )

    def _first_stage(self, candidate: Any, case: Case) -> str | None:
        """For a whole of several steps: the first that differs."""
        if self.stages is None:
            return None
        mine, right = self._steps(candidate, case), self._steps(self.reference, case)
        return first_difference(mine, right, _unchanged(case))

    def _steps(self, candidate: Any, case: Case) -> list[Step]:
        stages, steps = self.stages, []

        def watched(function: Any, *inputs: Any) -> Any:
            return stages(lambda name, value: steps.append((name, value)), function, *inputs) if stages else None

        replace(self, call=watched).try_out(candidate, [case], [Outcome()])
        return steps

    def _first_broken(self, case: Case, got: Outcome, want: Outcome) -> str:
        if not case.inputs:
            return worded("That is not it. Work it out on paper once more, or unfold a hint.")
        if got.returned:
            return worded("{name} ran to its end, but its result cannot be used.", name=self.name)
        if got.error is not None:
            return worded("{name} could not be run to its end.", name=self.name)
        if len(got.results) != len(want.results):
            return wrong_number(self.name, got.results, self._outputs)
        for name, mine, right in zip(self._outputs, got.results, want.results):
            if story := wrong_form(name, mine, right):
                return story
        for law in self.laws:
            if story := law(case, got.results):
                return story
        if got.changed:
            return worded(
                "The results aside, your code changed its argument {name}. Work on a copy: x = x - 1 makes a new "
                "tensor, x -= 1 changes the old one. Before y[…] = …, write y = x.clone(): y = x is only a second name "
                "for the same tensor.",
                name=got.changed[0],
            )
        for name, mine, right in zip(self._outputs, got.results, want.results):
            if not equal(mine, right):
                return where_it_differs(name, mine, right)
        if NOT_POSSIBLE in got.gradients:
            return worded(
                "The numbers are right, but torch cannot take gradients. Most often, a tensor was changed in place "
                "after it had been used: write w = w / s instead of w /= s, and masked_fill or torch.where instead of "
                "w[…] = …."
            )
        return self._wrong_gradient(case, got, want)

    def _wrong_gradient(self, case: Case, got: Outcome, want: Outcome) -> str:
        names = [name for name, x in case.inputs.items() if is_tensor(x) and x.is_floating_point()]
        for name, mine, right in zip(names, got.gradients, want.gradients):
            if is_tensor(mine) and is_tensor(right) and mine.any() and not equal(mine, right):
                story = worded(
                    "The numbers are right, but their gradients are not: a step has another gradient, or one "
                    "of several ways back was cut, for example by float(…) or .item()."
                )
                where = where_it_differs(worded("The gradient of {name}", name=name), mine, right)
                return listed([story, where], SENTENCES)
        return worded(
            "The numbers are right, but their gradients are not: something cut the way back to the inputs, such as "
            ".item(), .tolist(), .numpy(), .detach(), float(…), torch.no_grad() or torch.tensor(…)."
        )

    def _evidence(self, case: Case, got: Outcome, want: Outcome) -> str:
        lines = [worded("Seen with {inputs}.", inputs=case.describe())] if case.inputs else []
        tensors = {name: x for name, x in case.inputs.items() if isinstance(x, Tensor)}
        if sum(x.numel() for x in tensors.values()) <= SMALL:
            lines += [f"{name} =\n{show(x)}" for name, x in tensors.items()]
        if got.error is None and len(got.results) == len(want.results) and case.inputs:
            for name, mine, right in zip(self._outputs, got.results, want.results):
                shown = is_tensor(mine) and is_tensor(right)
                if shown and max(mine.numel(), right.numel()) <= SMALL and not equal(mine, right):
                    lines += [worded("{name}, yours:", name=name), show(mine)]
                    lines += [worded("{name}, expected:", name=name), show(right)]
        return "\n".join(lines)

    def _praise(self, cases: list[Case]) -> str:
        if not cases[0].inputs:
            return worded("That is the answer.")
        if special := dict.fromkeys(self._said(case.about) for case in cases if case.about):
            return worded(
                "Compared with the reference on {count} inputs; among them: {special}.",
                count=len(cases),
                special=listed(special, SEMICOLON),
            )
        return worded("Compared with the reference on {count} inputs of different sizes.", count=len(cases))


def _unchanged(case: Case) -> dict[str, Any]:
    """The inputs, as a report says what came out as it went in."""
    return {worded("`{name}`, unchanged", name=name): x for name, x in case.inputs.items()}


def _first_text(answer: Any) -> str | None:
    """The first text in a list, or in the lists in it."""
    if type(answer) is str:
        return answer
    parts = answer if type(answer) in (list, tuple) else ()
    return next((text for text in map(_first_text, parts) if text is not None), None)


def numbers(generator: torch.Generator, *shape: int) -> Tensor:
    """Numbers drawn from a normal distribution."""
    return torch.randn(*shape, generator=generator)


def small_numbers(generator: torch.Generator, *shape: int) -> Tensor:
    """Whole numbers from -2 to 3, as floats: to be checked on paper."""
    return torch.randint(-2, 4, shape, generator=generator).float()


def rows_sum_to_one(place: int = 0) -> Callable[[Case, tuple], str | None]:
    """The law that each row of weights sums to 1; `place` is that of the weights among the results.

    A row in which the case's mask, `allowed`, leaves no key is not asked about.
    """

    def law(case: Case, results: tuple) -> str | None:
        sums = results[place].detach().double().sum(dim=-1)
        off = (sums - 1).abs() > 2e-2
        if (allowed := case.inputs.get("allowed")) is not None:
            off &= allowed.any(dim=-1)
        if not off.any():
            return None
        return worded(
            "Sums: row {place} of your weights sums to {sum:.4g}; each row must sum to 1.",
            place=first_place(off),
            sum=sums[off][0].item(),
        )

    return law
