"""DotProductStepper without a browser: its numbers against torch, what its steps say, its pictures."""

import math
import re

import pytest
import torch

from lessons.attention import attend
from lessons.plots.describe import describe
from lessons.widgets import DotProductStepper
from lessons.widgets.dot_product_stepper import steps

Q, K, D, D_V = 3, 5, 2, 4
CAUSAL = torch.tensor([[False] * 5, [True, True, False, False, False], [True] * 5])


def stepper(**options):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(*size, generator=generator) for size in [(Q, D), (K, D), (K, D_V)])
    return DotProductStepper(q, k, v, **options)


def test_alone_it_is_the_example_of_lesson_01():
    widget = DotProductStepper()
    assert widget.query_tokens == widget.key_tokens == ["the", "cat", "sat", "down"]
    assert (widget.row, widget.column, widget.step, widget.scaled, widget.allowed) == (1, 3, 0, True, None)
    assert widget.scores.tolist() == [[1, 4, 3, 7], [2, 3, 3, 5], [1, 1, 2, 2], [3, 3, 4, 5]]
    assert [round(x, 3) for x in widget.output[1].tolist()] == [1.370, 1.455, 0.272]


@pytest.mark.parametrize("allowed", [None, CAUSAL], ids=["no mask", "mask"])
def test_weights_and_output_are_those_of_attend(allowed):
    widget = stepper(allowed=allowed)
    output, weights = attend(widget.q.double(), widget.k.double(), widget.v.double(), allowed)
    torch.testing.assert_close(widget.weights, weights, rtol=0, atol=1e-6)
    torch.testing.assert_close(widget.output, output, rtol=0, atol=1e-6)
    assert widget.empty_rows == ([] if allowed is None else [0])


def test_each_step_follows_from_the_one_before():
    widget = stepper(allowed=CAUSAL)
    torch.testing.assert_close(widget.scores.float(), widget.q @ widget.k.T)
    torch.testing.assert_close(widget.scaled_scores, widget.scores / math.sqrt(D))
    assert torch.equal(widget.masked == -torch.inf, ~CAUSAL)
    torch.testing.assert_close(widget.masked[CAUSAL], widget.scaled_scores[CAUSAL])
    torch.testing.assert_close(widget.exponentials, widget.masked.exp())
    shares = widget.exponentials[1:] / widget.exponentials[1:].sum(dim=-1, keepdim=True)
    torch.testing.assert_close(widget.weights[1:], shares)


def test_without_scaling_the_scores_stay():
    widget = stepper(scaled=False)
    assert torch.equal(widget.scaled_scores, widget.scores)
    torch.testing.assert_close(widget.weights, widget.scores.softmax(dim=-1))
    assert widget.steps()[1][1:] == (
        "The division by √d is switched off: the score stays as it is.",
        f"stays {steps.short(widget.scores[0, 0].item())}",
    )


def test_single_precision_means_what_was_written():
    widget = DotProductStepper([[0.1]], [[0.2]], [[0.3]])
    assert widget.q.dtype == torch.float32
    assert widget.scores.item() == 0.1 * 0.2
    assert DotProductStepper([[1]], [[2]], [[3]]).steps()[0][2] == "1·2 = 2"


def numbers(widget):
    return [step[2] for step in widget.steps()]


def test_steps_of_the_example():
    widget = DotProductStepper()
    assert [title for title, _, _ in widget.steps()] == list(steps.TITLES)
    assert numbers(widget) == [
        "1·2 + 1·0 + 1·3 = 5",
        "5 / √3 = 2.887",
        "stays 2.887",
        "e^2.887 = 17.935",
        "17.935 / (3.173 + 5.652 + 5.652 + 17.935) = 17.935 / 32.412 = 0.553",
        "0.553 × (1, 2, 0) = (0.553, 1.107, 0)",
        "(0.294, 0, 0.098) + (0.174, 0.174, 0) + (0.349, 0.174, 0.174) + (0.553, 1.107, 0) = (1.370, 1.455, 0.272)",
    ]
    assert "the query of “cat” and the key of “down”" in widget.steps()[0][1]


def test_steps_of_a_blocked_cell():
    widget = DotProductStepper(allowed=[[True] * 4, [True, True, False, False], [True] * 4, [True] * 4])
    assert numbers(widget)[2:6] == [
        "blocked: 2.887 becomes −∞",
        "e^−∞ = 0",
        "0 / (3.173 + 5.652 + 0 + 0) = 0 / 8.825 = 0",
        "0 × (1, 2, 0) = (0, 0, 0)",
    ]
    assert widget.steps()[5][1] == "The weight is 0, so the value of “down” adds nothing."
    widget.column = 1
    assert numbers(widget)[2] == "may attend: stays 1.732"


def test_a_query_that_may_look_at_nothing():
    widget = stepper(allowed=CAUSAL)
    assert (widget.weights[0] == 0).all() and (widget.output[0] == 0).all()
    said = widget.steps()
    assert said[4][1:] == (
        "“0” may attend to nothing. 0 / 0 is NaN, so all its weights are set to 0.",
        "0 / 0: set to 0",
    )
    assert said[6][1] == "“0” may attend to nothing: every contribution is 0, and so is the output."
    assert widget.note() == "May attend to nothing: query 0 “0”. The weights are 0, and so is the output."
    widget.v = torch.full((K, D_V), torch.nan)
    assert widget.note().endswith("The weights are 0, yet the output is not: 0 × ∞ and 0 × NaN are NaN.")
    assert widget.steps()[6][1].startswith("Add up the contributions")
    assert widget.steps()[5][1].startswith("A weight of 0 does not hide")
    assert stepper().note() == ""


@pytest.mark.parametrize(
    ("score", "other", "begins"),
    [
        (math.nan, 1.0, "A score of this row is NaN."),
        (1.0, math.nan, "A score of this row is NaN."),
        (math.inf, 1.0, "A score of this row is ∞."),
        (1.0, math.inf, "A score of this row is ∞."),
        (-math.inf, -math.inf, "Every allowed score of “0” is −∞."),
    ],
)
def test_a_row_that_becomes_nan_says_why(score, other, begins):
    widget = DotProductStepper([[1.0]], [[score], [other]], [[1.0], [2.0]])
    assert widget.weights.isnan().all()
    assert widget.steps()[4][1].startswith(begins)
    assert widget.steps()[4][2] == "NaN"


@pytest.mark.parametrize(("largest", "power"), [(800.0, "∞"), (-800.0, "0")])
def test_where_e_to_the_power_does_not_fit_the_weights_are_right(largest, power):
    widget = DotProductStepper([[1.0]], [[largest], [largest - 1]], [[1.0], [2.0]])
    torch.testing.assert_close(widget.weights, torch.tensor([[0.0, -1.0]], dtype=torch.float64).softmax(-1))
    _, text, said = widget.steps()[4]
    assert f"subtracts the row's largest score, {steps.short(largest)}, from all" in text
    assert said == "1 / (1 + 0.368) = 1 / 1.368 = 0.731"
    _, text, said = widget.steps()[3]
    assert f"for a float: it becomes {power}." in text
    widget.step = 4
    assert widget.panels()[1].rows == ["e^(s−max)", "weight"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (5.0, "5"),
        (0.5, "0.5"),
        (100.0, "100"),
        (2.88675, "2.887"),
        (2.9999, "3.000"),
        (-0.0, "0"),
        (-1.25, "−1.25"),
        (0.0625, "0.063"),
        (0.1 + 0.2, "0.3"),
        (0.0049, "0.0049"),
        (0.00034, "3.4e−4"),
        (1234567.0, "1.2e6"),
        (9.99e-5, "1.0e−4"),
        (1e-12, "1.0e−12"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_are_short_and_say_when_they_are_rounded(number, text):
    assert steps.short(number) == text


def test_tokens_stay_on_one_line_and_short():
    assert steps.quote("a\n b") == "“a b”"
    assert steps.quote("w" * 13) == f"“{'w' * 11}…”"


X = torch.ones(2, 3)
BAD = {
    "one alone": (lambda: DotProductStepper(X), "k is None; expected q, k and v, or none of them"),
    "q axes": (lambda: DotProductStepper(X[0], X, X), "q has shape (3,); expected (Q, d), each from 1 to 12"),
    "k size": (lambda: DotProductStepper(X, torch.ones(13, 3), X), "k has shape (13, 3); expected (K, d), each from"),
    "v size": (lambda: DotProductStepper(X, X, torch.ones(2, 0)), "v has shape (2, 0); expected (K, d_v), each from 1"),
    "numbers": (lambda: DotProductStepper("ab", X, X), "q is 'ab'; expected a matrix of numbers"),
    "features": (lambda: DotProductStepper(X, torch.ones(2, 4), X), "q has 3 features and k has 4; expected the same"),
    "values": (lambda: DotProductStepper(X, X, torch.ones(3, 3)), "there are 2 keys and 3 values; expected one value"),
    "other size": (
        lambda: setattr(stepper(), "q", X),
        "q has shape (2, 3); expected (3, 2): the sizes",
    ),
    "allowed": (lambda: stepper(allowed="x"), "allowed is 'x'; expected bool of shape (3, 5), True = may attend"),
    "not bool": (
        lambda: stepper(allowed=torch.ones(3, 5)),
        "allowed is a tensor of torch.float32; expected bool",
    ),
    "allowed shape": (
        lambda: stepper(allowed=CAUSAL.T),
        "allowed has shape (5, 3); expected (3, 5), queries × keys",
    ),
    "tokens": (lambda: stepper(query_tokens="a b"), "query_tokens is 'a b', 2 tokens; expected 3"),
    "key tokens": (lambda: stepper(key_tokens=[1]), "key_tokens is [1]; expected a text, a list of tokens or a number"),
    "row": (lambda: stepper(row=3), "row is 3; expected a whole number from 0 to 2"),
    "column": (lambda: stepper(column=-1), "column is -1; expected a whole number from 0 to 4"),
    "step": (lambda: setattr(stepper(), "step", 7), "step is 7; expected a whole number from 0 to 6"),
    "scaled": (lambda: setattr(stepper(), "scaled", 1), "scaled is 1; expected True or False"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_what_the_browser_sends_arrives():
    widget = stepper(allowed=CAUSAL)
    widget._receive(widget, {"set": {"row": 2, "column": 4, "step": 3, "scaled": False}}, [])
    assert (widget.row, widget.column, widget.step, widget.scaled) == (2, 4, 3, False)


def test_state_travels_there_and_back():
    widget = stepper(allowed=CAUSAL, query_tokens="a b c", key_tokens=["<b>", "&", '"', "d", "e"])
    state = {name: value for name, value in widget.get_state().items() if name in DotProductStepper.class_trait_names()}
    before = widget.steps()
    widget.set_state({name: state[name] for name in ("q", "k", "v", "allowed", "query_tokens", "key_tokens")})
    assert widget.steps() == before and torch.equal(widget.allowed, CAUSAL)


# Pictures


def test_figure_shows_the_table_at_the_present_step():
    widget = DotProductStepper(allowed=torch.ones(4, 4).tril().bool())
    seen = []
    for step in range(len(steps.TITLES)):
        widget.step = step
        seen.append([describe(ax) for ax in widget.figure().axes])
    titles = ["scores = q kᵀ", "scores / √3", "masked scores", "e to the power", "weights", "weights", "weights"]
    assert [table.partition(" | ")[0] for table, _ in seen] == titles
    assert "cat: 2.00  3.00  3.00  5.00" in seen[0][0]
    assert "cat: 1.15  1.73  −∞  −∞" in seen[2][0]
    assert "cat: 0.36  0.64  ×  ×" in seen[4][0]
    assert "product: 2.00  0.00  3.00" in seen[0][1]
    assert "weight: 0.36  0.64  0.00  0.00  1.00" in seen[4][1]
    assert "output: 1.72  0.64  0.36" in seen[6][1]


def test_stored_picture_lists_the_steps_so_far():
    widget = DotProductStepper()
    widget.step = 1
    for picture in (widget._repr_mimebundle_()[0]["text/html"], widget.to_html()):
        assert picture.count("<li>") == 2
        assert "<li>scale: 5 / √3 = 2.887</li>" in picture
        assert picture.count("<table>") == 2


@pytest.mark.one_of(5)
@pytest.mark.parametrize("size", [1, 2, 11, 12])
@pytest.mark.parametrize("step", range(7))
def test_stored_picture_stays_small(size, step):
    x = torch.randn(size, size, generator=torch.Generator().manual_seed(0))
    widget = DotProductStepper(x, x, x, step=step, query_tokens=["<" * 500] * size)
    picture = widget._repr_mimebundle_()[0]["text/html"]
    assert len(picture.encode()) <= 20_000
    assert "<table>" in picture


def test_text_is_a_short_description():
    widget = DotProductStepper()
    expected = "DotProductStepper: 4 queries × 4 keys, d = 3; query 1 “cat”, key 3 “down”; step 2 of 7, scale: "
    widget.step = 1
    assert repr(widget) == expected + "5 / √3 = 2.887"
