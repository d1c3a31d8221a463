"""What a check says, word for word, on exercises small enough to see through."""

import linecache
import random
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from lessons.checking.engine import Case, Exercise, Mistake, is_unattempted, rows_sum_to_one
from lessons.checking.reports import number, show

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
ZERO = "a row of zeros"


def cases(generator):
    return [
        Case({"x": X}),
        Case({"x": torch.randn(3, 3, generator=generator)}),
        Case({"x": torch.zeros(1, 2)}, about=ZERO),
        Case({"x": X[:1]}, about="gradients", gradients=True),
    ]


def shares(x):
    """Each row divided by its sum; a row of zeros stays."""
    total = x.sum(dim=1, keepdim=True)
    return x / torch.where(total == 0, torch.ones_like(total), total)


def my_shares(x):
    return x / x.sum(dim=1, keepdim=True).masked_fill(x.sum(dim=1, keepdim=True) == 0, 1)


toy = Exercise(
    name="my_shares",
    reference=shares,
    cases=cases,
    mistakes=[
        Mistake(lambda x: x / x.sum(dim=0), "columns", also=(lambda x: x / x.sum(dim=-2, keepdim=True),)),
        Mistake(lambda x: x / x.sum(dim=1, keepdim=True), "zeros", seen_in=ZERO),
        Mistake(lambda x: x.reshape(7), "seven"),
    ],
    hints=["first <hint>", "second"],
    solution="""
        def my_shares(x):
            return x / x.sum(dim=1, keepdim=True)
    """,
    in_package="lessons.decoding.distribution",
)
EVIDENCE = """Seen with x (2, 3).
x =
[[1., 2., 3.],
 [4., 5., 6.]]
the result, yours:
{yours}
the result, expected:
[[0.1667, 0.3333, 0.5000],
 [0.2667, 0.3333, 0.4000]]"""


@pytest.fixture(autouse=True)
def four_decimals():
    torch.set_printoptions(profile="default")


def cell(text, name="my_shares"):
    """A function as a notebook makes it: its source can be quoted."""
    filename = f"<cell {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"torch": torch, "shares": shares}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def test_right():
    assert (
        repr(toy.check(my_shares))
        == "Right. Compared with the reference on 4 inputs; among them: a row of zeros; gradients."
    )
    plain = Exercise("twice", lambda x: 2 * x, lambda g: [Case({"x": X}), Case({"x": X.T})], [], [])
    assert repr(plain.check(lambda x: x + x)) == "Right. Compared with the reference on 2 inputs of different sizes."
    twins = Exercise(
        "twice", lambda x: 2 * x, lambda g: [Case({"x": X}, about="rows"), Case({"x": X.T}, "rows")], [], []
    )
    assert twins.check(lambda x: x + x).message == "Compared with the reference on 2 inputs; among them: rows."


def test_a_wrong_value_nobody_foresaw():
    report = toy.check(lambda x: shares(x).round(decimals=1))
    assert report.message == (
        "Values: the result differs in 4 of 6 places, first at [0, 0]: yours 0.2, expected 0.1667.\n"
        "It is right throughout only in column 2.\nFor 1 of the 4 inputs that were tried, it is right."
    )
    assert report.mistake is None
    assert report.evidence == EVIDENCE.format(yours="[[0.2000, 0.3000, 0.5000],\n [0.3000, 0.3000, 0.4000]]")


def test_a_single_number_has_no_place():
    largest = Exercise("largest", lambda x: x.max(), lambda g: [Case({"x": X})], [], [], outputs=("the largest",))
    message = largest.check(lambda x: x.max() - 0.5).message
    assert message.startswith("Values: the largest differs: yours 5.5, expected 6.")


def test_arguments_without_effect_are_named():
    def scaled(x, scale, shift, negative):
        return (-x if negative else x) * scale + shift

    def draw(generator):
        return [Case({"x": X, "scale": 2.0, "shift": X.sum(0), "negative": False, "unused": 1.0})]

    def call(f, x, scale, shift, negative, unused):
        return f(x, scale, shift, negative)

    exercise = Exercise("f", scaled, draw, [], [], call=call)
    for candidate, named in [
        (lambda x, scale, shift, negative: x.square() * scale, "shift, negative"),
        (lambda x, scale, shift, negative: shift.expand(2, 3), "x, scale, negative"),
        (lambda x, scale, shift, negative: torch.ones(3), "x, scale, shift, negative"),
    ]:
        assert (
            f"\nYour result is the same with other values of {named}; it should not be."
            in exercise.check(candidate).message
        )
    for candidate in [
        lambda x, scale, shift, negative: (-x if negative else x) * scale * shift,
        lambda x, scale, shift, negative: [x],
        lambda x, scale, shift, negative: (x, x),
        lambda x, scale, shift, negative: x @ shift[:1],
        lambda x, scale, shift, negative: (x - x) / (x - x),
        lambda x, scale, shift, negative: 1000 + 0.001 * ((-x if negative else x) * scale + shift),
    ]:
        assert "is the same with other values" not in exercise.check(candidate).message
    nothing = Exercise("f", lambda x: None, lambda generator: [Case({"x": X})], [], [])
    assert "is the same with other values" not in nothing.check(lambda x: torch.ones(2)).message


@pytest.mark.parametrize("draw", [lambda: torch.rand(1), random.random, np.random.rand])
def test_what_is_random_is_named(draw):
    random_too = "With other random numbers your result is another"
    assert random_too in toy.check(lambda x: x + float(draw())).message
    assert random_too not in toy.check(lambda x: x + 0 * float(draw())).message
    calls = []
    assert random_too not in toy.check(lambda x: x + len(calls.append(x) or calls)).message
    drawn = replace(toy, call=lambda f, x: f(x) + float(draw()))
    assert random_too not in drawn.check(lambda x: x + 1).message


def test_numbers_that_look_alike_get_more_digits():
    message = toy.check(lambda x: shares(x) * 1.0002).message
    yours, expected = re.search(r"yours (\S+), expected (\S+)\.\n", message).groups()
    assert yours != expected


@pytest.mark.parametrize("way", [0, 1])
def test_a_known_mistake_is_named_in_each_of_its_ways(way):
    mistake = toy.mistakes[0]
    report = toy.check((mistake.wrong, *mistake.also)[way])
    assert repr(report) == "Not yet. columns\n" + EVIDENCE.format(
        yours="[[0.2000, 0.2857, 0.3333],\n [0.8000, 0.7143, 0.6667]]"
    )
    assert report.mistake is mistake


def test_a_mistake_that_agrees_in_the_ordinary_cases_is_named():
    def columns_or_nothing(x):
        return x / x.sum(dim=0) if len(x) > 1 else x + 1

    assert toy.check(columns_or_nothing).message.startswith("columns")


def test_a_mistake_is_not_named_where_the_learner_is_right():
    def right_for_the_first(x):
        return shares(x) if x.shape == X.shape else x / x.sum(dim=0)

    report = toy.check(right_for_the_first)
    assert report.mistake is None
    assert report.evidence.startswith("Seen with x (3, 3)")


def test_two_mistakes_that_fit_in_part_are_not_named():
    two = Exercise(
        "f",
        lambda x: x,
        lambda g: [Case({"x": X}), Case({"x": X.T}, about="turned"), Case({"x": -X}, about="negative")],
        [
            Mistake(lambda x: x + 1 if x.shape == X.shape else x, "one"),
            Mistake(lambda x: x + 1 if len(x) == 2 else 2 * x, "two"),
        ],
        [],
    )
    assert two.check(lambda x: x + 1).mistake is None


def test_the_case_that_a_hint_speaks_of_is_shown():
    report = toy.check(toy.mistakes[1].wrong)
    assert repr(report) == (
        "Not yet. zeros\nIt goes wrong here: a row of zeros.\nSeen with x (1, 2).\nx =\n[[0., 0.]]\n"
        "the result, yours:\n[[nan, nan]]\nthe result, expected:\n[[0., 0.]]"
    )


def test_an_exception_is_shown_with_the_line_and_the_input():
    report = toy.check(cell("def my_shares(x):\n    y = x @ x\n    return y\n"))
    assert "my_shares could not be run to its end.\nIt raised RuntimeError: mat1 and mat2" in report.message
    assert "\nin line 2 of your cell: y = x @ x\nThe shapes there: x (2, 3).\n" in report.message
    assert report.evidence.startswith("Seen with x (2, 3).")


@pytest.mark.parametrize(
    ("line", "shapes"),
    [
        ("return x + x_y + x.T", "\nThe shapes there: x (2, 3), x_y (3, 2)."),
        ("return x_y.x + scale", "\nThe shapes there: x_y (3, 2)."),
        ("return scale.reshape(7)", ""),
    ],
)
def test_the_shapes_in_the_line_that_raised(line, shapes):
    text = f"def my_shares(x):\n    x_y, scale = x.T, torch.tensor(2.0)\n    {line}\n"
    message = toy.check(cell(text)).message
    assert f"in line 3 of your cell: {line}{shapes}\n" in message + "\n"
    assert ("The shapes there" in message) == bool(shapes)


@pytest.mark.parametrize(("result", "raised"), [("x", "IndexError"), ("[x, x.tolist()]", "AttributeError")])
def test_a_result_of_no_use_did_not_stop_the_function(result, raised):
    def call(candidate, x):
        return candidate(x)[1].exp()

    pair = Exercise("my_pair", lambda x: [x, x[0]], lambda g: [Case({"x": X[:1]})], [], [], call=call)
    message = pair.check(cell(f"def my_pair(x):\n    return {result}\n", "my_pair")).message
    assert message.startswith(f"my_pair ran to its end, but its result cannot be used.\nIt raised {raised}: ")
    message = pair.check(cell("def my_pair(x):\n    return x[3]\n", "my_pair")).message
    assert message.startswith("my_pair could not be run to its end.\nIt raised IndexError: ")


def test_what_is_too_large_to_compare_is_not_computed_again():
    assert "random" not in toy.check(lambda x: torch.rand(()).expand(10**4, 10**4)).message


def test_the_innermost_line_of_the_cell_is_quoted():
    text = "def helper(x):\n    return x.reshape(100)\n\n\ndef my_shares(x):\n    return helper(x)\n"
    assert "in line 2 of your cell: return x.reshape(100)\n" in toy.check(cell(text)).message


def test_no_line_of_another_file_is_quoted():
    assert "of your cell" not in toy.check(torch.linalg.inv).message


def test_an_exception_is_named_by_its_text():
    assert toy.check(lambda x: x.reshape(7)).mistake is toy.mistakes[2]
    assert toy.check(lambda x: x.reshape(8)).mistake is None


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (lambda x: [x].clear(), "None: the result is None; does your function end with `return`"),
        (lambda x: shares(x).tolist(), "Type: the result is a list; expected a tensor."),
        (lambda x: shares(x)[None], "Shape: the result is (1, 2, 3); expected (2, 3)."),
        (lambda x: shares(x) > 0.3, "Kind of number: the result holds True and False (torch.bool); expected floats"),
        (lambda x: shares(x).to(torch.complex64), "Kind of number: the result holds complex numbers"),
        (
            lambda x: shares(x).to_sparse(),
            "my_shares ran to its end, but its result cannot be used.\nIt raised TypeError: the result is not",
        ),
        (
            lambda x: shares(x).to("meta"),
            "my_shares ran to its end, but its result cannot be used.\n"
            "It raised TypeError: the result is on meta; expected the CPU, as the inputs",
        ),
        (lambda x: shares(x) * torch.nan, "NaN: the result has it in 6 of 6 places, first at [0, 0]."),
        (lambda: X, "my_shares could not be run to its end.\nIt raised TypeError"),
        (lambda x: shares(x.add_(1e-6)), "The results aside, your code changed its argument x."),
        (lambda x: shares(x.detach()), "The numbers are right, but their gradients are not"),
        (lambda x: shares(x).exp().sub_(0).log(), "The numbers are right, but torch cannot take gradients"),
    ],
)
def test_each_property_that_can_be_broken(candidate, message):
    assert toy.check(candidate).message.startswith(message), toy.check(candidate)


def test_a_law_is_asked_even_where_the_numbers_agree():
    lawful = Exercise("f", lambda x: x, lambda g: [Case({"x": X})], [], [], laws=[lambda case, results: "never enough"])
    assert lawful.check(lambda x: x.clone()).message == "never enough"


def test_the_law_of_rows():
    law = rows_sum_to_one(1)
    fine = torch.full((2, 4), 0.25)
    assert law(Case({}), (None, fine)) is None
    too_much = torch.stack([fine[0], fine[0] * 1.1])
    assert law(Case({}), (None, too_much)) == "Sums: row [1] of your weights sums to 1.1; each row must sum to 1."


def test_the_law_of_rows_leaves_out_a_row_without_a_key():
    law = rows_sum_to_one()
    weights = torch.tensor([[[0.5, 0.5], [0.0, 0.0]]])
    assert law(Case({"allowed": torch.tensor([[True], [False]])}), (weights,)) is None
    assert "row [0, 1]" in law(Case({"allowed": torch.tensor([[True], [True]])}), (weights,))
    assert "row [0, 1]" in law(Case({"allowed": None}), (weights,))


def test_several_results():
    pair = Exercise("f", lambda x: (x, 2 * x), lambda g: [Case({"x": X})], [], [], outputs=("one", "two"))
    assert pair.check(lambda x: [x, x + x]).passed
    assert pair.check(lambda x: x).message == "f returned one thing; expected 2: one, two."
    assert pair.check(lambda x: (x, x, x)).message == "f returned 3 things; expected 2: one, two."
    assert pair.check(lambda x: [x].clear()).message == "f returned None. Does it end with `return`?"
    assert pair.check(lambda x: ...).verdict == "Not attempted"
    assert pair.check(lambda x: (x, ...)).message.startswith("two is still `...`: that part is not written yet.")
    for lazy in (lambda x: (y * x for y in (1, 2)), lambda x: map(x.mul, (1, 2))):
        assert "which computes nothing until it is asked; expected 2 things: one, two." in pair.check(lazy).message
    report = pair.check(lambda x: (x, x))
    assert report.message.startswith("Values: two differs in 6 of 6 places")
    assert "one, yours" not in report.evidence
    assert report.message.endswith("\nRight: one.\nYour two is `x`, unchanged.")
    assert pair.check(lambda x: (2 * x, x)).message.endswith("\nYour one is what is expected as two.")


def test_a_result_that_is_none_at_times():
    weights_at_times = Exercise(
        name="f",
        reference=lambda x, wanted: (x, x if wanted else None),
        cases=lambda generator: [Case({"x": X, "wanted": False}), Case({"x": X, "wanted": True})],
        outputs=("output", "weights"),
        mistakes=[],
        hints=["one", "two"],
    )
    assert weights_at_times.check(weights_at_times.reference).passed
    report = weights_at_times.check(lambda x, wanted: (x, x))
    assert report.message.startswith("None: weights is a Tensor; expected None.")
    assert "weights, yours" not in report.evidence
    report = weights_at_times.check(lambda x, wanted: (x, None))
    assert report.message.startswith("None: weights is None; does your function end with `return`")


def test_an_answer():
    answer = Exercise("n", lambda: 7.0, lambda g: [Case({})], [Mistake(lambda: 8.0, "eight")], [])
    assert repr(answer.check(7)) == "Right. That is the answer."
    assert repr(answer.check(8)) == "Not yet. eight"
    assert repr(answer.check(9)) == "Not yet. That is not it. Work it out on paper once more, or unfold a hint."
    assert repr(answer.check([7, ("B", "T")])) == "Not yet. n contains text, 'B'; expected numbers, or True and False."
    assert repr(answer.check(...)) == "Not attempted. Write n in the cell above, run it, and run this one again."


def test_large_inputs_are_named_and_not_shown():
    large = Exercise("f", lambda x: x, lambda g: [Case({"x": torch.ones(9, 9)})], [], [])
    assert large.check(lambda x: x + 1).evidence == "Seen with x (9, 9)."


def test_no_function():
    assert toy.check(X).message == "my_shares is a Tensor; expected a function: def my_shares(…)."


def stub_with_docstring(x):
    """Nothing yet."""


def stub_with_pass(x):
    pass


def stub_with_dots(x): ...


def stub_with_return(x):
    return


class StubClass(nn.Module):
    def forward(self, x): ...


@pytest.mark.parametrize(
    "stub", [stub_with_docstring, stub_with_pass, stub_with_dots, stub_with_return, StubClass, None, ...]
)
def test_stubs(stub):
    assert is_unattempted(stub)


def test_what_is_no_stub():
    class Misspelt(nn.Module):
        def foward(self, x):
            return x

    for attempt in (lambda x: x, lambda x: 0, Misspelt, X, 0, print, nn.Linear):
        assert not is_unattempted(attempt)


def test_not_implemented_counts_as_not_attempted_only_in_the_learners_own_code():
    assert toy.check(cell("def my_shares(x):\n    raise NotImplementedError\n")).verdict == "Not attempted"

    inside = cell("def my_shares(x):\n    return torch.nn.Module()(x)\n")
    assert toy.check(inside).verdict == "Not yet"

    class Empty(nn.Module):
        pass

    modules = Exercise("M", nn.Identity, lambda g: [Case({"x": X})], [], [], call=lambda module, x: module()(x))
    assert modules.check(nn.Identity).passed
    assert modules.check(Empty).verdict == "Not yet"


def test_exit_is_caught_and_an_interrupt_is_not():
    def leave(x):
        raise SystemExit

    def interrupt(x):
        raise KeyboardInterrupt

    assert "It raised SystemExit" in toy.check(leave).message
    with pytest.raises(KeyboardInterrupt):
        toy.check(interrupt)


def test_the_lesson_uses_an_answer_that_is_right_and_else_the_reference(capsys, monkeypatch):
    monkeypatch.setattr("lessons.progress.record", lambda *said: pytest.fail("that was no attempt"))
    for_a_lesson = replace(toy, lesson="03")
    assert for_a_lesson.best(my_shares) is my_shares
    assert for_a_lesson.best(lambda x: x) is shares
    assert for_a_lesson.best(...) is shares
    until = "my_shares: using the package's, until yours passes its check.\n"
    assert capsys.readouterr().out == "my_shares: using yours.\n" + 2 * until


def test_the_same_inputs_at_each_check():
    first, second = (torch.cat([case.inputs["x"].flatten() for case in toy.draw()]) for _ in range(2))
    assert torch.equal(first, second)


def test_html():
    report = toy.check(cell('def my_shares(x):\n    raise ValueError("<b>")\n'))
    page = report._repr_html_()
    assert "<b>" not in page
    assert page.startswith('<div\n style="border-left: 4px solid #D55E00;')
    assert "<strong>Not yet.</strong> my_shares could not be run" in page
    assert page.endswith("</pre></div>")
    assert "#0072B2" in toy.check(my_shares)._repr_html_()
    assert "#888888" in toy.check(...)._repr_html_()


def test_hints_lie_within_each_other_and_the_solution_innermost():
    hints = toy.help()
    page = hints._repr_html_()
    link = '<a href="../lessons/decoding/sampling.py">lessons.decoding.distribution</a>'
    parts = ("Hint 1", "first &lt;hint&gt;", "Hint 2", "second", "Solution", ">my_shares</span>(x):\n", link)
    order = [page.index(part) for part in parts]
    assert order == sorted(order)
    assert page.endswith("</details></details></details>")
    assert repr(hints) == "2 hints and the solution, folded away: each opens the way to the next."


def test_markup_in_evidence_and_solution_is_escaped():
    marked = Exercise("f", lambda x, note: x, lambda g: [Case({"x": X, "note": "<i>"})], [], ["one"], solution="a < b")
    assert "&lt;i&gt;" in marked.check(lambda x, note: x + 1)._repr_html_()
    assert "a &lt; b" in marked.help()._repr_html_()


def test_emphasis_and_code_in_what_is_said():
    said = Exercise(
        "f", lambda x: x, lambda g: [Case({"x": X})], [], ["the *last* key: `k[-1]`, not 2 * a * b or a*b*c"]
    )
    assert "the <em>last</em> key: <code>k[-1]</code>, not 2 * a * b or a*b*c" in said.help()._repr_html_()


def test_fewer_digits_are_refused_and_more_are_welcome():
    report = toy.check(lambda x: shares(x).half())
    assert report.message.startswith("Kind of number: the result is in torch.float16, and has lost digits; expected")
    assert not toy.check(lambda x: shares(x).half().float()).passed
    assert toy.check(lambda x: shares(x.double())).passed


def test_an_answer_may_be_a_list_of_rows():
    rows = Exercise("rows", lambda: [[1, 0], [0, 1]], lambda g: [Case({})], [], [])
    assert rows.check([torch.tensor([1, 0]), torch.tensor([0, 1])]).passed


def test_nothing_is_shown_as_minus_zero():
    assert show(torch.tensor([-0.00001, -1.0])) == "[ 0., -1.]"
    assert number(torch.tensor(-0.0), torch.tensor(-1.0)) == "0"


def test_the_line_of_a_class_is_quoted():
    text = "class Twice(torch.nn.Module):\n    def forward(self, x):\n        return x.reshape(100)\n"
    modules = Exercise("Twice", nn.Identity, lambda g: [Case({"x": X})], [], [], call=lambda module, x: module()(x))
    message = modules.check(cell(text, "Twice")).message
    assert "in line 3 of your cell: return x.reshape(100)\nThe shapes there: x (2, 3).\n" in message
