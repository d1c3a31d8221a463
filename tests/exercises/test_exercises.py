"""The checker is proved: it accepts what is right, names each known mistake, and rejects what nobody foresaw."""

import copy
import importlib
import inspect
import pkgutil
import re
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

import lessons.exercises
from lessons.checking.engine import Exercise, is_unattempted
from lessons.exercises.inside_torch_attention import beside_torch
from lessons.exercises.inside_torch_attention.combinations import combinations
from tests import answers

MODULES = [
    importlib.import_module(f"lessons.exercises.{module.name}")
    for module in pkgutil.iter_modules(lessons.exercises.__path__)
]
EXERCISES = {
    f"{module.__name__.rsplit('.', 1)[1]}.{name}": exercise
    for module in MODULES
    for name, exercise in vars(module).items()
    if isinstance(exercise, Exercise)
}
FUNCTIONS = {name: exercise for name, exercise in EXERCISES.items() if exercise.draw()[0].inputs}
WRITTEN = {f"{lesson}-{name}": (lesson, name) for lesson, name in answers.ANSWERS}
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
every_function = pytest.mark.parametrize("exercise", FUNCTIONS.values(), ids=FUNCTIONS)
the_others = pytest.param("the others", marks=pytest.mark.thorough("three of four answers"))
parts = pytest.mark.parametrize("part", ["some", the_others])  # of what an exercise is tried with
every_written = pytest.mark.parametrize("key", WRITTEN.values(), ids=WRITTEN)


def test_a_lesson_has_three_exercises_and_each_of_them_four_known_mistakes():
    for module in MODULES:
        if not module.__name__.endswith("start_here"):  # one exercise, to show how a check answers
            assert sum(isinstance(thing, Exercise) for thing in vars(module).values()) >= 3, module.__name__
    for name, exercise in EXERCISES.items():
        assert len(exercise.mistakes) >= 4, name


def test_no_file_of_exercises_is_longer_than_a_few_screens():
    files = Path(lessons.exercises.__file__).parent.rglob("*.py")
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert lines and {name: count for name, count in lines.items() if count > 400} == {}


@every_exercise
def test_the_reference_passes(exercise):
    report = exercise.check(exercise.reference)
    assert report.passed, report


def part_of(things, part):
    """`some` are every fourth, from the first on."""
    return [thing for number, thing in enumerate(things) if (number % 4 == 0) == (part == "some")]


@pytest.mark.one_of(3)
@parts
@every_exercise
def test_each_known_mistake_is_named(exercise, part, few_combinations):
    for number, mistake in part_of([*enumerate(exercise.mistakes)], part):
        for way, wrong in enumerate((mistake.wrong, *mistake.also)):
            report = exercise.check(wrong)
            assert report.verdict == "Not yet", (number, way)
            assert report.mistake is mistake, (number, way, report)
            assert mistake.hint in repr(report), (number, way)
            if mistake.seen_in:
                assert f"It goes wrong here: {mistake.seen_in}." in report.message, (number, way)


@pytest.mark.thorough("runs every known mistake")
@every_exercise
def test_no_two_hints_can_be_confused(exercise):
    cases = range(len(exercise.draw()))
    outcomes = [[exercise._outcome((number, 0), i) for i in cases] for number in range(len(exercise.mistakes))]
    for i, mine in enumerate(outcomes):
        for j, theirs in enumerate(outcomes[:i]):
            same = all(a.same_as(b) for a, b in zip(mine, theirs))
            assert not same, f"mistakes {j} and {i} give the same results"
    assert len({mistake.hint for mistake in exercise.mistakes}) == len(exercise.mistakes)


@every_exercise
def test_exercise_has_hints_and_a_solution(exercise):
    hints = exercise.help()
    assert len(hints.texts) >= 2
    assert hints.solution
    assert max(map(len, hints.solution.splitlines())) <= 88, "broken in the middle of a word on a page of 1280 pixels"
    assert hints._repr_html_().count("<details") == len(hints.texts) + 1


def check_damaged(exercise, change, places=slice(1)):
    """Check what the reference gives, with its first result changed, or those at other places."""

    def call(candidate, *inputs):
        if inspect.unwrap(candidate) is not damage_me:
            return exercise.call(candidate, *inputs)
        result = exercise.call(exercise.reference, *inputs)
        results = [*result] if len(exercise.outputs) > 1 else [result]
        results[places] = map(change, results[places])
        return tuple(results) if len(results) > 1 else results[0]

    damaged = copy.copy(exercise)  # what was computed for the exercise is kept: to all others `call` does what it did
    object.__setattr__(damaged, "call", call)
    return damaged.check(damage_me)


def damage_me(*inputs):
    return inputs


def flip_one(x):
    """Another number in the last cell: the smallest wrong answer that there is."""
    x = x.detach().clone(memory_format=torch.contiguous_format)
    if x.dtype == torch.bool:
        x.view(-1)[-1] = ~x.view(-1)[-1]
    else:
        x.view(-1)[-1] = x.view(-1)[-1] * 1.02 + 1 if not x.is_floating_point() else x.view(-1)[-1] * 1.02 + 0.01
    return x


DAMAGE = {  # what is changed: how, and what is then said
    "one cell": (flip_one, "differs|must sum to 1|must not be attended to"),
    "one axis more": (lambda x: x[None], "Shape"),
    "another dtype": (lambda x: x.long() if x.dtype == torch.bool else x > 0, "Kind of number"),
    "None": (lambda x: None, "is None|returned None"),
    "a list": (lambda x: x.tolist(), "expected a tensor|expected [23]: "),
}


@pytest.mark.one_of(len(DAMAGE))
@pytest.mark.parametrize("damage", DAMAGE)
@every_function
def test_what_nobody_foresaw_is_rejected(exercise, damage, few_combinations):
    change, story = DAMAGE[damage]
    report = check_damaged(exercise, change)
    assert not report.passed
    if report.mistake is None:
        assert re.search(story, report.message), report


NEVER_ONE = {  # none of these results has an axis that a learner's code finds with size 1
    *("decoding.choosing", "decoding.judging", "decoding.repeating", "from_the_paper_to_llama.trimming"),  # vocabulary
    *("paper_results.ngrams", "training.schedule", "transformer.bug_hunt"),  # the check builds the axis
    "from_the_paper_to_llama.bug_hunt",  # matrices of weights
    "training.start_hunt",  # ids from BOS to EOS
}


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in NEVER_ONE])
def test_an_axis_of_size_one_stays(name, few_combinations):
    def squeezed(x):
        return x.squeeze() if isinstance(x, torch.Tensor) else x

    exercise = FUNCTIONS[name]
    has_axes = any(x.dim() for x in exercise._outcome(None, 0).results if isinstance(x, torch.Tensor))
    assert check_damaged(exercise, squeezed, slice(None)).passed != has_axes


@every_exercise
def test_unattempted(exercise):
    def stub(*args):
        """What the learner finds."""
        ...

    for nothing in (stub, None, ...):
        assert exercise.check(nothing).verdict == "Not attempted"


class Pretender:
    """torch crashes where it takes this for a tensor."""

    __class__ = torch.Tensor


@every_function
def test_what_pretends_to_be_a_tensor_is_refused(exercise, few_combinations):
    assert exercise.check(lambda *inputs, **options: Pretender()).verdict == "Not yet"


def test_an_attempt_that_returns_nothing_is_an_attempt():
    def forgot_to_return(q, k):
        q @ k.T

    assert not is_unattempted(forgot_to_return)


def written(module, name, text):
    """What a text gives that a learner may have typed into a cell, and the exercise that checks it."""
    exercise = next(e for key, e in EXERCISES.items() if key.startswith(f"{module}.") and e.name == name)
    return answers.run_cell((module, name), text)[name], exercise


def test_every_exercise_has_written_answers():
    keys = {(name.split(".")[0], exercise.name) for name, exercise in EXERCISES.items()}
    assert set(answers.RIGHT) == set(answers.WRONG) == keys


@pytest.mark.one_of(3)
@parts
@every_written
def test_every_right_way_is_accepted(key, part):
    for text in part_of(answers.RIGHT[key], part):
        candidate, exercise = written(*key, text)
        report = exercise.check(candidate)
        assert report.passed, (text, report)


def all_combinations():
    return patch.object(beside_torch, "combinations", combinations)


@pytest.mark.one_of(3)
@parts
@every_written
def test_a_wrong_way_gets_its_sentence(key, part, few_combinations):
    for text, phrase in part_of(answers.WRONG[key], part):
        candidate, exercise = written(*key, text)
        with all_combinations() if phrase.startswith("exactly where") else nullcontext():
            report = exercise.check(candidate)
        assert report.verdict == "Not yet", text
        assert phrase in report.message, (text, report)
