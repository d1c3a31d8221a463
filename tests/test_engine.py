"""The engine of the exercises, on toy exercises: every report, word for word."""

import html
import linecache
from dataclasses import replace
from itertools import count

import pytest
import torch
from torch import nn

from lessons.exercises.comparing import equal, gradients_of, line_that_raised, untouched, where_it_differs
from lessons.exercises.engine import (
    Case,
    Exercise,
    Mistake,
    Outcome,
    is_unattempted,
    numbers,
    rows_sum_to_one,
    small_numbers,
)
from lessons.exercises.reports import Hints, Report, brief, number, show

NAN, INF = float("nan"), float("inf")
FIRST = torch.tensor([[1.0, -2.0, 0.0], [3.0, 0.5, -1.0]])
SHOWN = "Seen with x (2, 3).\nx =\n[[ 1.0000, -2.0000,  0.0000],\n [ 3.0000,  0.5000, -1.0000]]"
EXPECTED = "the result, expected:\n[[ 2., -4.,  0.],\n [ 6.,  1., -2.]]"
BATCH, SLOPE = "a batch axis in front", "the gradients are compared too"
NO_GRADIENTS = (
    "The numbers are right, but torch cannot take gradients: a tensor was changed in place after it had been used. "
    "Write w = w / s instead of w /= s, and masked_fill or torch.where instead of w[…] = …."
)
CUT = (
    "The numbers are right, but their gradients are not: something cut the way back to the inputs, such as .item(), "
    ".tolist(), .numpy(), .detach(), torch.no_grad() or torch.tensor(…)."
)


def twice(x):
    """The double of each number."""
    return 2 * x


added = Mistake(lambda x: x + 2, "You added. Multiply instead.", also=[lambda x: x + 1])
four_rows = Mistake(
    lambda x: torch.cat([2 * x[:4], x[4:]]), "You stopped after four rows.", seen_in="a table with a single column"
)
flat = Mistake(lambda x: 2 * x if x.dim() == 2 else x, "You forgot the batch.")

TWICE = Exercise(
    name="my_twice",
    reference=twice,
    cases=lambda generator: [
        Case({"x": FIRST}),
        Case({"x": numbers(generator, 5, 4)}),
        Case({"x": numbers(generator, 2, 3, 7)}, about=BATCH),
        Case({"x": torch.arange(6.0)[:, None]}, about="a table with a single column"),
        Case({"x": torch.tensor([[0.5, -1.0]])}, about=SLOPE, gradients=True),
    ],
    mistakes=[added, four_rows, flat],
    hints=["Two times x.", "x + x < 3 & so on"],
)
INTO_THREE = Exercise(
    name="my_parts",
    reference=lambda a, b: (a + b, a - b, a > b),
    cases=lambda generator: [
        Case({"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([3.0, -4.0])}),
        Case({"a": numbers(generator, 3, 4), "b": numbers(generator, 4)}, about=SLOPE, gradients=True),
    ],
    mistakes=[Mistake(lambda a, b: (a + b, b - a, a > b), "The difference is turned round.")],
    hints=["Plus, minus, greater."],
    outputs=("the sum", "the difference", "the comparison"),
)
ANSWER = Exercise(
    name="how_many",
    reference=7,
    cases=lambda generator: [Case({})],
    mistakes=[Mistake(6, "You forgot the last one."), Mistake([3, 4], "Add them.")],
    hints=["Count."],
    solution=["7 of them"],
)


class Scale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return self.factor * x


LAYER = Exercise(
    name="MyScale",
    reference=Scale,
    cases=lambda generator: [Case({"x": FIRST, "factor": 3}), Case({"x": numbers(generator, 4, 5), "factor": -2})],
    mistakes=[],
    hints=["forward(x)"],
    call=lambda candidate, x, factor: candidate(factor)(x),
    solution=[Scale, twice, "and no more"],
)
CELLS = count()


def cell(text, name="f"):
    """What a cell of this text defines; a message can quote its lines."""
    filename = f"<cell of test_engine {next(CELLS)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"torch": torch, "nn": nn, "x0": FIRST}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def told(exercise, candidate, *lines, mistake=None):
    """Check `candidate`, and compare the whole report."""
    report = exercise.check(candidate)
    assert repr(report) == "\n".join(lines)
    assert report.mistake is mistake
    assert report.passed is (report.verdict == "Right")
    return report


# ---------------------------------------------------------------- right


def test_right_with_special_cases():
    about = f"{BATCH}; a table with a single column; {SLOPE}"
    report = told(TWICE, twice, f"Right. Compared with the reference on 5 inputs; among them: {about}.")
    assert report.passed
    told(TWICE, lambda x: x + x, repr(report))
    assert report._repr_html_() == (
        '<div style="border-left: 4px solid #0072B2; padding: 2px 12px; white-space: pre-wrap">'
        f"<strong>Right.</strong> Compared with the reference on 5 inputs; among them: {about}.</div>"
    )


def test_right_without_special_cases():
    told(LAYER, Scale, "Right. Compared with the reference on 2 inputs of different sizes.")


def test_right_with_three_results():
    praise = f"Right. Compared with the reference on 2 inputs; among them: {SLOPE}."
    told(INTO_THREE, lambda a, b: (a + b, a - b, a > b), praise)
    told(INTO_THREE, lambda a, b: [b + a, -(b - a), b < a], praise)


@pytest.mark.parametrize("answer", [7, 7.0, torch.tensor(7), torch.tensor(7.00001), lambda: 7])
def test_right_answer(answer):
    told(ANSWER, answer, "Right. That is the answer.")


# ---------------------------------------------------------------- wrong values


def test_a_wrong_value():
    yours = "the result, yours:\n[[ 2., -4.,  0.],\n [ 6.,  1., 10.]]"
    report = told(
        TWICE,
        lambda x: torch.where(x == -1, 10.0, 2 * x),
        "Not yet. Values: the result differs in 1 of 6 places, first at [1, 2]: yours 10, expected -2.",
        SHOWN,
        yours,
        EXPECTED,
    )
    assert report._repr_html_() == (
        '<div style="border-left: 4px solid #D55E00; padding: 2px 12px; white-space: pre-wrap">'
        "<strong>Not yet.</strong> Values: the result differs in 1 of 6 places, first at [1, 2]: yours 10, expected -2."
        f"<pre>{SHOWN}\n{yours}\n{EXPECTED}</pre></div>"
    )


def test_a_value_wrong_by_little_gets_the_digits_that_tell():
    told(
        replace(TWICE, cases=lambda generator: [Case({"x": torch.tensor([1.0, 1000.0])})]),
        lambda x: 2 * x + (x > 2) * 0.25,
        "Not yet. Values: the result differs in 1 of 2 places, first at [1]: yours 2000.25, expected 2000.",
        "Seen with x (2,).",
        "x =\n[   1., 1000.]",
        "the result, yours:\n[   2.0000, 2000.2500]",
        "the result, expected:\n[   2., 2000.]",
    )


def test_only_the_wrong_one_of_three_results_is_shown():
    told(
        INTO_THREE,
        lambda a, b: (a + b, a - b, a < b),
        "Not yet. Values: the comparison differs in 2 of 2 places, first at [0]: yours True, expected False.",
        "Seen with a (2,), b (2,).",
        "a =\n[1., 2.]",
        "b =\n[ 3., -4.]",
        "the comparison, yours:\n[ True, False]",
        "the comparison, expected:\n[False,  True]",
    )


def test_the_first_wrong_one_of_two_wrong_results_is_told_and_both_are_shown():
    told(
        INTO_THREE,
        lambda a, b: (a * b, a, a > b),
        "Not yet. Values: the sum differs in 2 of 2 places, first at [0]: yours 3, expected 4.",
        "Seen with a (2,), b (2,).",
        "a =\n[1., 2.]",
        "b =\n[ 3., -4.]",
        "the sum, yours:\n[ 3., -8.]",
        "the sum, expected:\n[ 4., -2.]",
        "the difference, yours:\n[1., 2.]",
        "the difference, expected:\n[-2.,  6.]",
    )


def test_a_wrong_answer_shows_nothing_of_the_right_one():
    told(ANSWER, 8, "Not yet. That is not it. Work it out on paper once more, or unfold a hint.")
    told(ANSWER, 6, "Not yet. You forgot the last one.", mistake=ANSWER.mistakes[0])
    told(ANSWER, (3, 4), "Not yet. Add them.", mistake=ANSWER.mistakes[1])
    report = ANSWER.check("seven")
    assert repr(report).startswith(
        "Not yet. That is not it. Work it out on paper once more, or unfold a hint.\nIt raised "
    )
    assert "your cell" not in repr(report)


def test_a_wrong_layer():
    text = "class f(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n    def forward(self, x):\n"
    told(
        LAYER,
        cell(f"{text}        return 3 * x"),
        "Not yet. Values: the result differs in 20 of 20 places, first at [0, 0]: "
        f"yours {3 * (x := LAYER.draw()[1].inputs['x'])[0, 0].item():.4g}, expected {-2 * x[0, 0].item():.4g}.",
        "Seen with x (4, 5), factor -2.",
        f"x =\n{show(x)}",
        f"the result, yours:\n{show(3 * x)}",
        f"the result, expected:\n{show(-2 * x)}",
    )
    told(
        LAYER,
        cell(f"{text}        y = x + 1\n        raise IndexError('a < b')"),
        "Not yet. MyScale could not be run to its end.",
        "It raised IndexError: a < b",
        "in line 6 of your cell: raise IndexError('a < b')",
        SHOWN.replace("x (2, 3).", "x (2, 3), factor 3."),
    )


def test_inputs_are_shown_up_to_40_numbers():
    def report(*shapes):
        case = Case({name: torch.ones(*shape) for name, shape in zip("ab", shapes)})
        exercise = replace(TWICE, reference=lambda *xs: xs[0].sum(), cases=lambda generator: [case], mistakes=[])
        return exercise.check(lambda *xs: -xs[0].sum()).evidence

    assert "a =\n" in report((8, 5))
    assert report((41,)) == "Seen with a (41,).\nthe result, yours:\n-41.\nthe result, expected:\n41."
    assert "b =\n" in report((4, 5), (4, 5))
    assert "a =\n" not in report((4, 5), (3, 7))


@pytest.mark.parametrize(("mine", "shown"), [(40, True), (41, False)])
def test_results_are_shown_up_to_40_numbers(mine, shown):
    exercise = replace(TWICE, cases=lambda generator: [Case({"x": torch.ones(2)})], mistakes=[])
    report = exercise.check(lambda x: torch.ones(mine))
    assert ("the result, yours:" in report.evidence) is shown
    exercise = replace(exercise, reference=lambda x: torch.ones(mine))
    report = exercise.check(lambda x: torch.ones(2))
    assert ("the result, yours:" in report.evidence) is shown
    assert ("the result, expected:" in report.evidence) is shown


# ---------------------------------------------------------------- known mistakes


@pytest.mark.parametrize("more", [1, 2])
def test_a_known_mistake_is_named_also_in_the_other_way(more):
    told(
        TWICE,
        lambda x: more + x,
        "Not yet. You added. Multiply instead.",
        SHOWN,
        f"the result, yours:\n{show(FIRST + more)}",
        EXPECTED,
        mistake=added,
    )


def test_seen_in_selects_the_case_and_the_case_is_named():
    told(
        TWICE,
        lambda x: torch.stack([row if i > 3 else row * 2 for i, row in enumerate(x)]),
        "Not yet. You stopped after four rows.",
        "It goes wrong here: a table with a single column.",
        "Seen with x (6, 1).",
        "x =\n[[0.],\n [1.],\n [2.],\n [3.],\n [4.],\n [5.]]",
        "the result, yours:\n[[0.],\n [2.],\n [4.],\n [6.],\n [4.],\n [5.]]",
        "the result, expected:\n[[ 0.],\n [ 2.],\n [ 4.],\n [ 6.],\n [ 8.],\n [10.]]",
        mistake=four_rows,
    )


def test_without_seen_in_the_first_wrong_case_is_shown_but_too_large_to_be_printed():
    told(
        TWICE,
        lambda x: x + x if x.dim() == 2 else +x,
        f"Not yet. You forgot the batch.\nIt goes wrong here: {BATCH}.",
        "Seen with x (2, 3, 7).",
        mistake=flat,
    )


def test_without_a_mistake_the_first_wrong_case_is_shown_though_it_is_special():
    x = TWICE.draw()[2].inputs["x"]
    value, expected = (f"{factor * x[0, 0, 0].item():.4g}" for factor in (3, 2))
    told(
        TWICE,
        lambda x: 2 * x if x.dim() == 2 else 3 * x,
        "Not yet. Values: the result differs in 42 of 42 places, first at [0, 0, 0]: "
        f"yours {value}, expected {expected}.",
        f"It goes wrong here: {BATCH}.",
        "Seen with x (2, 3, 7).",
    )


def test_the_about_line_only_when_not_all_cases_fail():
    case = Case({"x": torch.tensor([1.0])}, about="one number")
    sentence = "Not yet. Values: the result differs in 1 of 1 places, first at [0]: yours 3, expected 2."
    shown = ["Seen with x (1,).", "x =\n[1.]", "the result, yours:\n[3.]", "the result, expected:\n[2.]"]
    told(replace(TWICE, cases=lambda generator: [case]), lambda x: 3 * x, sentence, *shown)
    two = replace(TWICE, cases=lambda generator: [case, Case({"x": torch.zeros(1)})])
    told(two, lambda x: 3 * x, sentence, "It goes wrong here: one number.", *shown)


def test_a_mistake_is_named_when_only_the_special_cases_differ():
    report = TWICE.check(lambda x: x + 2 if x.dim() == 2 else x + 3)
    assert report.mistake is added
    assert report.message == "You added. Multiply instead."


def test_no_mistake_is_named_when_two_would_fit_partly():
    square = Mistake(lambda x: x * x, "squared", also=[lambda x: x * x + (x.dim() == 3)])
    other = Mistake(lambda x: x * x if x.dim() == 2 else -x, "squared, and another thing")
    candidate = lambda x: x * x if x.dim() == 2 else 7 * x  # noqa: E731
    assert replace(TWICE, mistakes=[added, square]).check(candidate).mistake is square
    assert replace(TWICE, mistakes=[other, added]).check(candidate).mistake is other
    told(
        replace(TWICE, mistakes=[square, other]),
        candidate,
        "Not yet. Values: the result differs in 5 of 6 places, first at [0, 0]: yours 1, expected 2.",
        SHOWN,
        "the result, yours:\n[[1.0000, 4.0000, 0.0000],\n [9.0000, 0.2500, 1.0000]]",
        EXPECTED,
    )


def test_a_mistake_that_fits_wholly_comes_before_those_that_fit_partly():
    square = Mistake(lambda x: x * x, "squared")
    other = Mistake(lambda x: x * x if x.dim() == 2 else -x, "squared, and another thing")
    assert replace(TWICE, mistakes=[square, other]).check(other.wrong).mistake is other


def test_no_mistake_is_named_that_is_wrong_where_the_learner_is_right():
    report = TWICE.check(lambda x: 2 * x if len(x) == 2 else x + 2)
    assert report.mistake is None
    assert report.message.startswith("Values: the result differs in 20 of 20 places")
    report = TWICE.check(lambda x: x + 2 if len(x) == 2 else 2 * x)
    assert report.mistake is None


def test_no_mistake_is_named_for_being_right_in_the_ordinary_cases():
    assert replace(TWICE, mistakes=[flat]).check(lambda x: 2 * x if x.dim() == 2 else -x).mistake is None


def test_known_mistakes_compare_the_text_of_exceptions():
    def fails(error):
        def f(x):
            raise error

        return f

    exercise = replace(TWICE, mistakes=[Mistake(fails(ValueError("a & b")), "the hint <b>")])
    report = exercise.check(fails(ValueError("a & b")))
    assert report.mistake is exercise.mistakes[0]
    line = 'File "' and "raise error"
    message = f"the hint <b>\nIt raised ValueError: a & b\nin line {fails(0).__code__.co_firstlineno + 1} of your cell"
    assert repr(report) == f"Not yet. {message}: {line}\n{SHOWN}"
    assert f"<strong>Not yet.</strong> {html.escape(message)}" in report._repr_html_()
    assert "&lt;b&gt;\nIt raised ValueError: a &amp; b" in report._repr_html_()
    for other in (ValueError("a & c"), TypeError("a & b")):
        assert exercise.check(fails(other)).mistake is None
    assert exercise.check(lambda x: x).mistake is None


def test_outcomes_are_the_same_when_all_of_them_is():
    one = Outcome((FIRST,), (FIRST,))
    assert one.same_as(Outcome((FIRST.clone(),), (FIRST.clone(),)))
    assert not one.same_as(Outcome((FIRST, FIRST), (FIRST,)))
    assert not one.same_as(Outcome((FIRST + 1,), (FIRST,)))
    assert not one.same_as(Outcome((FIRST,), (FIRST + 1,)))
    assert not one.same_as(Outcome((FIRST,), (None,)))
    assert not one.same_as(Outcome((FIRST,), (FIRST,), ("x",)))
    assert not Outcome(error=ValueError()).same_as(Outcome()) and not Outcome().same_as(Outcome(error=ValueError()))


# ---------------------------------------------------------------- errors


def test_an_error_in_the_learners_own_line():
    told(
        TWICE,
        cell("def f(x):\n    y = 2\n    return   y + z   # no z\n"),
        "Not yet. my_twice could not be run to its end.",
        "It raised NameError: name 'z' is not defined",
        "in line 3 of your cell: return   y + z   # no z",
        SHOWN,
    )


def test_an_error_in_a_helper_of_the_same_cell():
    told(
        TWICE,
        cell("def helper(x):\n    return x[7, 7]\n\ndef f(x):\n    return helper(x)\n"),
        "Not yet. my_twice could not be run to its end.",
        "It raised IndexError: index 7 is out of bounds for dimension 0 with size 2",
        "in line 2 of your cell: return x[7, 7]",
        SHOWN,
    )


def test_an_error_inside_a_library_quotes_the_line_that_called_it():
    told(
        TWICE,
        cell("import json\ndef f(x):\n    return json.loads('no')\n"),
        "Not yet. my_twice could not be run to its end.",
        "It raised JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "in line 3 of your cell: return json.loads('no')",
        SHOWN,
    )


def test_no_line_of_another_file_is_quoted():
    class Callable:
        def __call__(self, x):
            return json_loads("no")

    from json import loads as json_loads

    told(
        TWICE,
        Callable(),
        "Not yet. my_twice could not be run to its end.",
        "It raised JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        SHOWN,
    )
    error = TWICE.run(Callable(), TWICE.draw()[0]).error
    assert line_that_raised(error, nn.Module) == line_that_raised(error, Scale) == line_that_raised(error, 3) == ""


def test_a_system_exit_is_caught():
    told(
        TWICE,
        cell("def f(x):\n    raise SystemExit('stop')"),
        "Not yet. my_twice could not be run to its end.",
        "It raised SystemExit: stop",
        "in line 2 of your cell: raise SystemExit('stop')",
        SHOWN,
    )


def test_a_keyboard_interrupt_passes_through():
    with pytest.raises(KeyboardInterrupt):
        TWICE.check(cell("def f(x):\n    raise KeyboardInterrupt"))


def test_warnings_of_the_learners_code_are_not_errors():
    assert TWICE.check(cell("import warnings\ndef f(x):\n    warnings.warn('old')\n    return 2 * x")).passed


@pytest.mark.parametrize("odd", [lambda x: (2 * x).to_sparse(), lambda x: (2 * x).to("meta")])
def test_no_ordinary_tensor(odd):
    told(
        TWICE,
        odd,
        "Not yet. my_twice could not be run to its end.",
        "It raised TypeError: the result is not an ordinary tensor (sparse, nested or without data)",
        SHOWN,
    )


# ---------------------------------------------------------------- wrong form


@pytest.mark.parametrize(
    ("candidate", "sentence"),
    [
        (cell("def f(x):\n    y = 2 * x"), "None: the result is None; does your function end with `return`, "),
        (lambda x: (2 * x).tolist(), "Type: the result is a list; expected a tensor."),
        (lambda x: (2 * x, x), "Type: the result is a tuple; expected a tensor."),
        (lambda x: (2 * x).mT, "Shape: the result is (3, 2); expected (2, 3)."),
        (lambda x: (2 * x).long(), "integers (torch.int64); expected floats (torch.float32)."),
        (lambda x: x > 0, "True and False (torch.bool); expected floats (torch.float32)."),
        (lambda x: 2 * x + 0j, "complex numbers (torch.complex64); expected floats (torch.float32)."),
        (lambda x: 2 * x / (x > 0.7) * (x > 0.7), "NaN: the result has it in 4 of 6 places, first at [0, 1]."),
        (lambda x: [2 * x], "Type: the result is a list; expected a tensor."),
    ],
)
def test_wrong_form(candidate, sentence):
    if sentence.startswith("None:"):
        sentence += "and return all that it should?"
    elif "(torch" in sentence:
        sentence = f"Kind of number: the result holds {sentence}"
    result = candidate(FIRST.clone())
    lines = [f"the result, yours:\n{show(result)}", EXPECTED] if isinstance(result, torch.Tensor) else []
    told(TWICE, candidate, f"Not yet. {sentence}", SHOWN, *lines)


PARTS = "Seen with a (2,), b (2,).\na =\n[1., 2.]\nb =\n[ 3., -4.]"


@pytest.mark.parametrize(
    ("candidate", "sentence"),
    [
        (lambda a, b: a + b, "my_parts returned one thing; expected 3: the sum, the difference, the comparison."),
        (lambda a, b: (a + b, a - b), "my_parts returned 2 things; expected 3: the sum, the difference, the compar"),
        (lambda a, b: [a, a, a, a], "my_parts returned 4 things; expected 3: the sum, the difference, the comparison."),
        (lambda a, b: (), "my_parts returned 0 things; expected 3: the sum, the difference, the comparison."),
        (cell("def f(a, b):\n    a + b"), "my_parts returned None. Does it end with `return`?"),
        (lambda a, b: torch.stack([a, b, a]), "my_parts returned one thing; expected 3: the sum, the difference, the "),
    ],
)
def test_wrong_count(candidate, sentence):
    report = INTO_THREE.check(candidate)
    assert repr(report).startswith(f"Not yet. {sentence}")
    assert repr(report).endswith(f"\n{PARTS}")
    assert report.mistake is None


def test_the_form_of_a_later_result():
    message = "None: the difference is None; does your function end with `return`, and return all that it should?"
    assert INTO_THREE.check(lambda a, b: (a + b, None, a > b)).message == message
    message = "Shape: the comparison is (1, 2); expected (2,)."
    assert INTO_THREE.check(lambda a, b: (a + b, a - b, (a > b)[None])).message == message


def test_nan_where_it_belongs():
    case = Case({"x": torch.tensor([NAN, 1.0, INF])})
    exercise = replace(TWICE, cases=lambda generator: [case])
    assert exercise.check(twice).passed
    assert "yours 3, expected 2." in exercise.check(lambda x: torch.where(x == 1, 3.0, 2 * x)).message
    assert "first at [0]: yours 0, expected nan." in exercise.check(lambda x: (2 * x).nan_to_num(0.0, INF)).message


@pytest.mark.parametrize(("thing", "kind"), [(3, "int"), ("twice", "str"), (FIRST, "Tensor")])
def test_not_a_function(thing, kind):
    told(TWICE, thing, f"Not yet. my_twice is a {kind}; expected a function: def my_twice(…).")


# ---------------------------------------------------------------- arguments, gradients, laws


@pytest.mark.parametrize("change", ["x += 1e-9", "x[0, 2] = -1e-9", "x.unsqueeze_(0)", "x[0, 2] = float('nan')"])
def test_a_changed_argument(change):
    told(
        TWICE,
        cell(f"def f(x):\n    y = 2 * x\n    {change}\n    return y"),
        "Not yet. The results aside, your code changed its argument x. Work on a copy: x = x - 1 makes a new tensor, "
        "x -= 1 changes the old one; before x[…] = … take x.clone().",
        SHOWN,
    )


def test_the_argument_that_was_changed_is_named():
    changing = cell("def f(a, b):\n    r = a + b, a - b, a > b\n    b.zero_()\n    return r")
    assert INTO_THREE.check(changing).message.startswith("The results aside, your code changed its argument b. ")


def test_every_candidate_gets_its_own_copies():
    before = FIRST.clone()
    TWICE.check(cell("def f(x):\n    with torch.no_grad():\n        return x.zero_()"))
    assert torch.equal(FIRST, before)
    assert not FIRST.requires_grad


def test_gradients_cut():
    told(
        TWICE,
        lambda x: 2 * x.detach(),
        f"Not yet. {CUT}",
        f"It goes wrong here: {SLOPE}.",
        "Seen with x (1, 2).",
        "x =\n[[ 0.5000, -1.0000]]",
    )
    assert INTO_THREE.check(lambda a, b: (a + b, a - b.detach(), a > b)).message.startswith(CUT)


def test_gradients_impossible():
    told(
        TWICE,
        cell("def f(x):\n    y = x.exp()\n    z = 2 * y.log()\n    y += 1\n    return z"),
        f"Not yet. {NO_GRADIENTS}",
        f"It goes wrong here: {SLOPE}.",
        "Seen with x (1, 2).",
        "x =\n[[ 0.5000, -1.0000]]",
    )


def test_gradients_tell_apart_what_weighs_alike():
    """A plain sum of the results would give the same gradients for two results exchanged."""
    a, b = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    (first,) = gradients_of([a + a], [a])
    assert first.tolist() == [1.0, 3.0]
    one, other = gradients_of([torch.ones(3), 3, (torch.ones(2) > 0), a * 2, b], [a, b])
    assert one.tolist() == [1.0, 3.0] and other.tolist() == [0.5, 1.5]
    assert gradients_of([torch.ones(2), None], [a, b]) == (None, None)
    assert gradients_of([b], [a, b])[0] is None


def test_inputs_that_are_no_floats_take_no_gradients():
    case = Case({"x": FIRST, "places": torch.tensor([1, 0]), "how": "so"}, about="all", gradients=True)
    exercise = replace(TWICE, reference=lambda x, places, how: x[places], cases=lambda generator: [case], mistakes=[])
    told(exercise, lambda x, i, how: x[i] + 0, "Right. Compared with the reference on 1 inputs; among them: all.")
    assert len(exercise.run(exercise.reference, case).gradients) == 1
    assert exercise.run(exercise.reference, replace(case, gradients=False)).gradients == ()


def test_a_law_broken_though_the_values_agree():
    def below(case, results):
        return "Law: one is greater than 6." if (results[0] > 6).any() and case.inputs["x"] is FIRST else None

    sentence = "Not yet. Law: one is greater than 6."
    exercise = replace(TWICE, laws=[lambda case, results: None, below])
    told(exercise, lambda x: 2 * x * 1.000001, sentence, SHOWN)
    assert exercise.check(twice).passed
    yours = "the result, yours:\n[[  2.5000,  -3.5000,   0.5000],\n [  6.5000,   1.5000,  -1.5000]]".replace("  ", " ")
    told(exercise, lambda x: 2 * x + 0.5, sentence, SHOWN, yours.replace("[ 6", "[ 6"), EXPECTED)


def test_rows_sum_to_one():
    law = rows_sum_to_one()
    weights = torch.tensor([[0.5, 0.5], [0.25, 0.5], [0.0, 0.0]])
    assert law(None, (weights,)) == "Sums: row [1] of your weights sums to 0.75; each row must sum to 1."
    assert law(None, (weights[None, :1] * 1.03,)) == (
        "Sums: row [0, 0] of your weights sums to 1.03; each row must sum to 1."
    )
    assert law(None, (weights[:1] * 1.015, weights)) is None
    assert rows_sum_to_one(1)(None, (weights[:1], weights)) is not None
    assert rows_sum_to_one(1)(None, (weights, weights[:1].requires_grad_())) is None


# ---------------------------------------------------------------- not attempted

AGAIN = "Not attempted. Write {} in the cell above, run it, and run this one again."
STUBS = [
    "def f(x): ...",
    "def f(x): pass",
    'def f(x):\n    """Only words."""',
    'def f(x):\n    """Words."""\n    ...',
    "def f(x):\n    return",
    "def f(x):\n    return None",
    "def f(x):\n    return ...",
    "def f(*args, **kwargs):\n    pass  # your code",
    "f = lambda x: ...",
    "f = None",
    "f = ...",
]


@pytest.mark.parametrize("text", STUBS)
def test_a_stub_is_not_an_attempt(text):
    report = told(TWICE, cell(text), AGAIN.format("my_twice"))
    assert report.verdict == "Not attempted"
    assert report._repr_html_() == (
        '<div style="border-left: 4px solid #888888; padding: 2px 12px; white-space: pre-wrap"><strong>Not attempted.'
        "</strong> Write my_twice in the cell above, run it, and run this one again.</div>"
    )


def test_a_stub_that_closes_over_something():
    def outer():
        y = 1

        def f(x):
            return None
            return y

        return f

    assert is_unattempted(outer())


CLASS = (
    "class f(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n    def forward(self, x):\n        "
)


@pytest.mark.parametrize("body", ["...", "pass", '"""Words."""', "return None"])
def test_a_stub_of_a_class(body):
    told(LAYER, cell(CLASS + body), AGAIN.format("MyScale"))


def test_a_class_without_forward_is_an_attempt():
    report = LAYER.check(cell("class f(nn.Module):\n    def __init__(self, n):\n        super().__init__()"))
    assert report.verdict == "Not yet"
    assert report.message.startswith("MyScale could not be run to its end.\nIt raised NotImplementedError: ")
    assert "your cell" not in report.message


def test_not_implemented_is_not_an_attempt():
    text = "raise NotImplementedError('your code')"
    message = "Not attempted. {} raises NotImplementedError: write your code in its place."
    told(TWICE, cell(f"def f(x):\n    {text}"), message.format("my_twice"))
    told(TWICE, cell("def f(x):\n    raise NotImplementedError"), message.format("my_twice"))
    told(LAYER, cell(CLASS + text), message.format("MyScale"))
    report = TWICE.check(cell("def f(x):\n    raise RuntimeError"))
    assert repr(report).startswith("Not yet. my_twice could not be run to its end.\nIt raised RuntimeError: \nin line")


@pytest.mark.xfail(strict=True, reason="an error of torch in the learner's line counts as a stub")
def test_what_torch_has_not_implemented_is_an_attempt():
    report = TWICE.check(cell("def f(x):\n    return x.long().softmax(-1)"))
    assert report.verdict == "Not yet"


@pytest.mark.parametrize("nothing", [None, ...])
def test_an_answer_not_given(nothing):
    told(ANSWER, nothing, AGAIN.format("how_many"))


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return 0",
        "def f(x): return x",
        "def f(x): return False",
        "def f(x): return 'nothing'",
        "def f(x): return x0",
        "def f(x):\n    y = 3",
        "def f(x): print(x)",
        "f = 0",
        "f = False",
        "f = len",
        "class f: pass",
        "class f:\n    def forward(self, x): return x",
    ],
)
def test_an_attempt(text):
    assert not is_unattempted(cell(text))


# ---------------------------------------------------------------- hints, draws, helpers


def test_hints_are_nested_and_the_solution_is_innermost():
    hints = TWICE.help()
    assert repr(hints) == "2 hints and the solution, folded away: each opens the way to the next."
    assert hints._repr_html_() == (
        '<details style="margin-left: 1em"><summary>Hint 1</summary><p>Two times x.</p>'
        '<details style="margin-left: 1em"><summary>Hint 2</summary><p>x + x &lt; 3 &amp; so on</p>'
        '<details style="margin-left: 1em"><summary>Solution: the package&#x27;s own source</summary>'
        "<pre>def twice(x):\n    &quot;&quot;&quot;The double of each number.&quot;&quot;&quot;\n    return 2 * x</pre>"
        "</details></details></details>"
    ).replace("&#x27;s own", "'s own")


def test_the_solution_is_what_the_exercise_names():
    assert ANSWER.help().solution == "7 of them"
    solution = LAYER.help().solution
    assert solution.startswith("class Scale(nn.Module):\n    def __init__")
    assert solution.endswith(
        'return self.factor * x\n\ndef twice(x):\n    """The double of each number."""\n    return 2 * x\n\nand no more'
    )
    assert Hints([], "<a>")._repr_html_().endswith("<pre>&lt;a&gt;</pre></details>")


def test_evidence_is_escaped_too():
    report = Report("Not yet", "a < b", "c & d > e")
    assert report._repr_html_().endswith("<strong>Not yet.</strong> a &lt; b<pre>c &amp; d &gt; e</pre></div>")
    assert repr(report) == "Not yet. a < b\nc & d > e"
    assert not report.passed and not Report("Not attempted", "").passed and Report("Right", "").passed


@pytest.mark.parametrize("exercise", [TWICE, INTO_THREE, LAYER])
def test_the_draws_are_the_same_each_time(exercise):
    torch.manual_seed(1)
    first = exercise.draw()
    torch.manual_seed(2)
    for one, other in zip(first, exercise.draw(), strict=True):
        assert one.inputs.keys() == other.inputs.keys()
        assert all(
            a is b or torch.equal(torch.as_tensor(a), torch.as_tensor(b))
            for a, b in zip(one.inputs.values(), other.inputs.values())
        )
    generator = torch.Generator().manual_seed(0)
    if exercise is TWICE:
        assert torch.equal(first[1].inputs["x"], torch.randn(5, 4, generator=generator))


def test_a_check_draws_nothing_from_the_common_generator():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    TWICE.check(twice)
    assert torch.equal(torch.rand(1), expected)


def test_drawn_numbers():
    x = small_numbers(torch.Generator().manual_seed(0), 40, 5)
    assert x.shape == (40, 5) and x.dtype == torch.float32
    assert set(x.flatten().tolist()) == {-2.0, -1.0, 0.0, 1.0, 2.0, 3.0}
    y = numbers(torch.Generator().manual_seed(0), 40, 50)
    assert y.shape == (40, 50) and abs(y.mean()) < 0.1 and abs(y.std() - 1) < 0.1


def test_a_case_describes_itself():
    case = Case({"x": FIRST, "n": 3, "f": twice, "s": torch.tensor(0.5), "text": "a"})
    assert case.describe() == "x (2, 3), n 3, f twice, s 0.5, text 'a'"


HALF, BRAIN = torch.float16, torch.bfloat16


@pytest.mark.parametrize(
    ("mine", "right", "same"),
    [
        (FIRST, FIRST.double(), True),
        (torch.tensor(1e4), torch.tensor(1e4 + 0.9), True),
        (torch.tensor(1e4), torch.tensor(1e4 + 1.1), False),
        (torch.tensor(0.0), torch.tensor(9e-6), True),
        (torch.tensor(0.0), torch.tensor(1.1e-5), False),
        (torch.tensor(1.0, dtype=HALF), torch.tensor(1.018), True),
        (torch.tensor(1.018), torch.tensor(1.0, dtype=HALF), True),
        (torch.tensor(1.0, dtype=HALF), torch.tensor(1.03), False),
        (torch.tensor(1.0, dtype=BRAIN), torch.tensor(1.05), True),
        (torch.tensor(1.0, dtype=BRAIN), torch.tensor(1.06), False),
        (torch.tensor([NAN]), torch.tensor([NAN]), True),
        (torch.tensor([NAN]), torch.tensor([0.0]), False),
        (torch.tensor([INF]), torch.tensor([-INF]), False),
        (torch.tensor([1]), torch.tensor([1], dtype=torch.int32), True),
        (torch.tensor([1]), torch.tensor([2]), False),
        (torch.tensor([1]), torch.tensor([1.0]), False),
        (torch.tensor([1]), torch.tensor([True]), False),
        (torch.tensor([True]), torch.tensor([False]), False),
        (FIRST, FIRST[None], False),
        (FIRST, None, False),
        (None, FIRST, False),
        (None, None, True),
        ("not possible", None, False),
    ],
)
def test_equal(mine, right, same):
    assert equal(mine, right) is same


def test_untouched():
    assert untouched(3, 4)
    assert untouched(torch.tensor([NAN, 1]), torch.tensor([NAN, 1]))
    assert not untouched(torch.tensor([NAN, 1]), torch.tensor([2.0, 1]))
    assert not untouched(torch.tensor([1.0]), torch.tensor([NAN]))
    assert not untouched(torch.tensor([1.0]), torch.tensor([[1.0]]))


def test_where_it_differs():
    one, other = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 2], [5, 6]])
    sentence = "Values: w differs in 2 of 4 places, first at [1, 0]: yours 3, expected 5."
    assert where_it_differs("w", one, other) == sentence
    sentence = "Values: w differs in 1 of 1 places, first at []: yours nan, expected 2."
    assert where_it_differs("w", torch.tensor(NAN), torch.tensor(2.0)) == sentence
    close = torch.tensor([100.0, 100.0, 0.0, 0.0]), torch.tensor([100.005, 100.02, 9e-6, 2e-5])
    sentence = "Values: w differs in 2 of 4 places, first at [1]: yours 100, expected 100.02."
    assert where_it_differs("w", *close).replace("100.01999", "100.02") == sentence


@pytest.mark.parametrize(
    ("value", "beside", "text"),
    [
        (1.23456789, 9.0, "1.235"),
        (1.0001, 1.0002, "1.0001"),
        (1 / 3, 1 / 3, "0.33333334"),
        (7, 8, "7"),
        (True, 0, "True"),
    ],
)
def test_number(value, beside, text):
    assert number(torch.tensor(value), torch.tensor(beside)) == text


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.tensor([-0.00001, 0.12344, 0.12346]), "[0.0000, 0.1234, 0.1235]"),
        (torch.tensor([[-0.0]]), "[[0.]]"),
        (torch.tensor([[1, 2], [3, 4]]), "[[1, 2],\n [3, 4]]"),
        (torch.tensor([[[True]], [[False]]]), "[[[ True]],\n\n [[False]]]"),
        (torch.tensor([1.5, NAN, -INF], requires_grad=True), "[1.5000,    nan,   -inf]"),
        (torch.tensor([1.0, 2.0], dtype=torch.float64), "[1., 2.]"),
        (torch.tensor(3), "3"),
    ],
)
def test_show(tensor, text):
    assert show(tensor) == text


@pytest.mark.parametrize(
    ("value", "text"), [(FIRST, "(2, 3)"), (torch.tensor(1 / 3), "0.33333334"), (torch.tensor(2), "2"), (len, "len")]
)
def test_brief(value, text):
    assert brief(value) == text
