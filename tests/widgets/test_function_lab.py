"""FunctionLab without a browser: what it calls, compares and says."""

import json
import re
import sys
import time

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lessons import masks
from lessons.attention import attend, masked_softmax
from lessons.plots.describe import describe
from lessons.widgets import FunctionLab
from lessons.widgets.function_lab import experiments
from lessons.widgets.function_lab import widget as function_lab
from lessons.widgets.function_lab.trials import plug_in, prepare, try_out

CAUSAL = masks.causal(5)
EMPTY = CAUSAL & (torch.arange(5) != 2)[:, None]


def right(scores, allowed):
    return masked_softmax(scores, allowed)


def after(scores, allowed):
    return scores.softmax(-1) * allowed


def billion(scores, allowed):
    return scores.masked_fill(~allowed, -1e9).softmax(-1)


def test_alone_it_is_a_lesson():
    lab = FunctionLab()
    assert torch.equal(lab.allowed, CAUSAL)
    assert lab.chosen.startswith("wrong: ") and lab.difference.abs().max() > 0.1 and lab.leaks
    for name in lab.names:
        lab.chosen = name
        assert not lab.problem
        assert (lab.difference.abs().max() > 1e-5) == name.startswith("wrong: "), name
        lab.mask = lab.presets["one empty row"]
        assert (lab.difference.abs().max() > 1e-5) == name.startswith("wrong"), name
        lab.reset()


@pytest.mark.parametrize("allowed", [CAUSAL, EMPTY, ~CAUSAL, torch.zeros(5, 5) == 1, torch.ones(5, 5) == 1])
def test_the_reference_is_that_of_torch(allowed):
    lab = FunctionLab(right, allowed=allowed)
    q, k, v = (lab.inputs[name] for name in "qkv")
    torch.testing.assert_close(lab.reference_output, F.scaled_dot_product_attention(q, k, v, attn_mask=allowed))
    torch.testing.assert_close(lab.reference @ v, lab.reference_output)
    torch.testing.assert_close(lab.inputs["scores"], q @ k.T / 2)
    assert lab.difference.abs().max() == 0


WAYS = {
    "scores": (right, {}, True, False),
    "two results": (lambda q, k, v, allowed: attend(q, k, v, allowed), {}, True, True),
    "attend itself": (attend, {}, True, True),
    "output": (lambda q, k, v, allowed: attend(q, k, v, allowed)[0], {}, False, True),
    "output and None": (lambda q, k, v, allowed: attend(q, k, v, allowed, need_weights=False), {}, False, True),
    "weights": (lambda q, k, v, allowed: attend(q, k, v, allowed)[1], {"gives": "weights"}, True, False),
    "no values": (lambda allowed, k, q: attend(q, k, k, allowed)[1], {}, True, False),
    "other names": (lambda s, a: masked_softmax(s, a), {"takes": ("scores", "allowed")}, True, False),
    "of torch": (F.scaled_dot_product_attention, {"takes": ["q", "k", "v", "allowed"]}, False, True),
    "more arguments": (lambda q, k, v, scale=1.0, allowed=None: attend(q, k, v, allowed), {}, True, True),
    "a module": (torch.nn.Softmax(dim=-1), {"takes": ["scores"]}, True, False),
}


@pytest.mark.parametrize(("function", "options", "weights", "output"), WAYS.values(), ids=WAYS)
def test_how_a_function_is_called(function, options, weights, output):
    allowed = torch.ones(5, 5, dtype=torch.bool) if isinstance(function, torch.nn.Module) else EMPTY
    lab = FunctionLab(function, allowed=allowed, **options)
    assert lab.problem == ""
    assert (lab.weights is not None, lab.output is not None) == (weights, output)
    for difference in (lab.difference, lab.output_difference):
        assert difference is None or difference.abs().max() < 1e-6
    assert lab.leaks == []


def test_differences_are_found_and_said():
    lab = FunctionLab(billion)
    assert lab.result["weights"]["said"] == "The same in all 25 cells, up to rounding."
    lab.allowed = EMPTY
    torch.testing.assert_close(lab.difference[2], torch.full((5,), 0.2, dtype=torch.float64))
    assert lab.result["weights"]["differ"] == f"{0b11111 << 10:x}"
    said = "5 of 25 cells differ; the largest difference is +0.2, at query 2, key 0."
    assert lab.result["weights"]["said"] == said
    lab.function = lambda scores, allowed: after(scores, allowed) + 2e-5 * F.one_hot(torch.tensor(3), 5)[:, None]
    lab.allowed = torch.ones(5, 5, dtype=torch.bool)
    said = "5 of 25 cells differ; the largest difference is +2e−05, at query 3, key "
    assert lab.result["weights"]["said"].startswith(said)


@pytest.mark.parametrize(
    ("mine", "differs"),
    [
        ([1.0, torch.nan, torch.inf, -torch.inf], [False, False, False, False]),
        ([1.000011, 0.0, -torch.inf, 3.0], [True, True, True, True]),
        ([1.000009, torch.inf, torch.nan, torch.inf], [False, True, True, True]),
    ],
)
def test_what_counts_as_different(mine, differs):
    difference, found = experiments.compare(
        torch.tensor([mine], dtype=torch.float64), torch.tensor([[1.0, torch.nan, torch.inf, -torch.inf]])
    )
    assert found[0].tolist() == differs
    assert [bool(x) for x in difference[0].abs() <= 1e-5] == [not x for x in differs]


def test_leaks_are_found():
    lab = FunctionLab(after)
    assert lab.leaks == [(i, j) for i in range(5) for j in range(i + 1, 5)]
    first = "A leak: output 0 moves when token 1, which it may not see, is changed. In all, 10 of 10 hidden pairs leak."
    assert lab.verdict == first
    lab.function = right
    assert lab.leaks == [] and torch.equal(lab.influence, CAUSAL)
    assert lab.verdict.startswith("No leak found in 6 draws: no output moved")
    lab.allowed = ~torch.eye(5, dtype=torch.bool)
    assert lab.leaks == [] and lab.influence.all(), "its own token is the query: that is no leak"
    lab.allowed = torch.ones(5, 5, dtype=torch.bool)
    assert lab.verdict.startswith("Nothing can leak here")
    lab.function = {"peeks": lambda q, k, v: attend(q, k, v, torch.ones(5, 5).tril(1) == 1)}
    lab.allowed = CAUSAL
    assert lab.leaks == [(i, i + 1) for i in range(4)]
    assert lab.notes == ["peeks does not take `allowed`: it cannot know your clicks."]


def test_a_slow_function_is_examined_when_asked(monkeypatch):
    monkeypatch.setattr(function_lab, "AT_ONCE", 0.0)
    monkeypatch.setattr(function_lab, "FOR_A_PICTURE", 0.0)
    lab = FunctionLab(after)
    assert lab.result["moved"] is None and lab.result["waits"]
    assert lab.result["verdict"] == "Not examined yet: this function is slow. Press “Look for leaks”."
    lab._receive(lab, {"ask": "leaks"}, [])
    assert lab.result["moved"] == f"{(1 << 25) - 1:x}" and not lab.result["waits"]
    lab.toggle(0, 1)
    assert lab.result["waits"]
    assert len(lab.leaks) == 9


def test_on_a_busy_machine_a_function_is_not_called_slow():
    def waits(scores, allowed):
        time.sleep(0.1)
        return after(scores, allowed)

    trial = try_out(plug_in("waits", waits), prepare(*torch.randn(3, 5, 4), CAUSAL))
    assert not trial.problem and trial.seconds < 0.1


def raises(q, k, v, allowed):
    return (q @ k).softmax(-1)


def helped(scores, allowed):
    return raises(scores, scores[:2], None, allowed)


def unwritten(scores, allowed):
    raise NotImplementedError


def in_place(scores, allowed):
    print("here", "x" * 500)
    scores[~allowed] = -torch.inf
    return scores.softmax(-1)


def leaves(scores, allowed):
    sys.exit("bye")


def once(scores, allowed, *, calls=[]):  # noqa: B006
    calls.append(1)
    return right(scores, allowed) if len(calls) == 1 else None


WRONG = {
    "none": (lambda scores, allowed: None, "your function gives None: it is not written yet, or does not end with"),
    "dots": (lambda scores, allowed: ..., "your function gives None: it is not written yet"),
    "unwritten": (unwritten, "unwritten raises NotImplementedError: it is not written yet. Line"),
    "raises": (raises, "raises raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (5x4 and 5x4). Line"),
    "line": (raises, "of your code: return (q @ k).softmax(-1). It was called with q (5, 4), k (5, 4), v (5, 3), all"),
    "helped": (helped, "of your code: return (q @ k).softmax(-1). It was called with scores (5, 5), allowed (5, 5)."),
    "exit": (leaves, "leaves raises SystemExit: bye. Line"),
    "numpy": (lambda scores: scores.numpy(), "gives a numpy.ndarray as its weights; expected a torch tensor."),
    "list": (lambda scores: [1, 2, 3], "gives 3 things; expected (output, weights), or one of them alone."),
    "nothing": (lambda scores: (None, scores), "gives None in the place of its output; expected (output, weights)."),
    "float": (lambda scores: 0.5, "gives a float as its weights; expected a torch tensor."),
    "shape": (lambda scores: scores[:2], "gives weights of shape (2, 5); expected (5, 5), (queries, keys)."),
    "output": (lambda q, k, v: q, "gives output of shape (5, 4); expected (5, 3), (queries, features of a value)."),
    "bool": (lambda scores, allowed: allowed, "gives weights of torch.bool; expected floats."),
    "sparse": (lambda scores: scores.to_sparse(), "no ordinary tensor"),
    "meta": (lambda scores: scores.to("meta"), "no ordinary tensor"),
    "once": (once, "Called a second time with the same inputs: once gives None"),
    "arguments": (lambda scores: scores.no_such_thing(), "AttributeError: 'Tensor' object has no attribute"),
}


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("function", "said"), WRONG.values(), ids=WRONG)
def test_what_goes_wrong_is_said_and_not_raised(function, said):
    lab = FunctionLab(function)
    assert said in lab.problem
    assert lab.result["problem"] == lab.problem and lab.note() == lab.problem
    assert lab.weights is lab.output is lab.difference is lab.influence is None and lab.leaks == []
    assert lab.verdict == "Nothing to examine yet: the function gives no result."
    assert repr(lab).endswith("no result")
    assert [panel.title for panel in lab.panels()] == ["the mask", "the reference's weights"]
    lab.function = right
    assert lab.problem == "" and lab.difference.abs().max() == 0


def test_an_interrupted_function_says_so():
    def endless(scores):
        raise KeyboardInterrupt

    assert FunctionLab(endless).problem.startswith("endless was interrupted. Line ")


def test_the_line_is_the_learners():
    lab = FunctionLab(raises)
    line = int(re.search(r"Line (\d+)", lab.problem).group(1))
    assert line == raises.__code__.co_firstlineno + 1


def test_printing_and_changes_in_place_are_noticed(capsys):
    lab = FunctionLab(in_place, allowed=EMPTY)
    assert lab.printed.startswith("here xxx") and len(lab.printed) == 240
    assert capsys.readouterr().out == ""
    place, nan = lab.notes
    assert place.startswith("It changed its input scores in place")
    assert nan == "NaN in 5 of 25 cells of the weights, first at query 2, key 0."
    assert lab.result["weights"]["said"] == "5 of 25 cells differ; there is NaN at query 2, key 0."
    assert not lab.inputs["scores"].isinf().any()


def test_warnings_are_shown():
    lab = FunctionLab(lambda scores, allowed: F.softmax(scores.masked_fill(~allowed, -torch.inf)))
    assert lab.notes[0].startswith("A warning: Implicit dimension choice for softmax")


def test_a_random_function_is_noticed_and_costs_no_random_numbers():
    torch.manual_seed(0)
    lab = FunctionLab(lambda scores, allowed: F.dropout(right(scores, allowed)))
    assert lab.notes == [
        "Two calls with the same inputs gave different results: it contains something random, such as dropout."
    ]
    assert lab.leaks == [] and lab.verdict.startswith("No leak found")
    after_lab = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(after_lab, torch.rand(1))


def test_gradients_and_other_kinds_of_numbers():
    weight = torch.eye(5, requires_grad=True)
    lab = FunctionLab(lambda scores, allowed: right(scores @ weight, allowed))
    assert not lab.weights.requires_grad and lab.difference.abs().max() < 1e-6
    lab.function = lambda scores, allowed: right(scores, allowed).double()
    assert lab.difference.abs().max() == 0
    lab.function = lambda scores, allowed: right(scores, allowed).bfloat16()
    assert 1e-5 < lab.difference.abs().max() < 1e-2 and lab.leaks == []


def test_several_functions_and_new_ones():
    lab = FunctionLab({"one": after, "two": right})
    assert lab.names == ["one", "two"] and lab.function is after
    lab.chosen = "two"
    assert lab.difference.abs().max() == 0
    lab.function = billion
    assert (lab.names, lab.chosen, lab.function) == (["billion"], "billion", billion)
    lab.function = {"billion": after}
    assert lab.difference.abs().max() > 0.1


def test_cross_attention_and_own_numbers():
    q, k, v = torch.randn(2, 3), torch.randn(4, 3), torch.full((4, 1), torch.inf)
    lab = FunctionLab(attend, q=q, k=k, v=v)
    assert lab.allowed.shape == (2, 4) and lab.allowed.all() and lab.tokens == ["0", "1"]
    torch.testing.assert_close(lab.weights, (q @ k.T / 3**0.5).softmax(-1))
    assert lab.verdict == "Not examined: the detector needs as many queries as keys."
    assert list(lab.presets) == ["everything", "one empty row"]


def test_presets_are_masks_of_the_course():
    lab = FunctionLab(right)
    real = torch.tensor([True] * 4 + [False])
    wanted = {"everything": torch.ones(5, 5) == 1, "causal": CAUSAL, "padding": real.expand(5, 5)}
    wanted |= {"causal & padding": CAUSAL & real, "one empty row": EMPTY}
    assert list(lab.presets) == list(wanted)
    for name, mask in wanted.items():
        lab.mask = lab.presets[name]
        assert torch.equal(lab.allowed, mask)


def test_undo_and_reset():
    lab = FunctionLab(right)
    steps = [lab.mask]
    lab.toggle(0, 1)
    steps.append(lab.mask)
    lab.allowed = EMPTY
    steps.append(lab.mask)
    lab.reset()
    for mask in reversed(steps):
        lab.undo()
        assert lab.mask == mask
    lab.undo()
    assert lab.mask == lab.start and lab.history == []
    for _ in range(20):
        lab.toggle(0, 0)
    assert len(lab.history) == 12


def test_an_update_is_small():
    lab = FunctionLab(lambda q, k, v, allowed: attend(q, k, v), tokens=12)
    for _ in range(12):
        lab.toggle(3, 2)
    assert lab.result["moved"] and len(json.dumps(lab.result).encode()) <= 1750
    assert len(json.dumps({"mask": lab.mask, "history": lab.history})) <= 400


BAD = {
    "function": (lambda: FunctionLab(3), "function is 3; expected a function, or a dict of functions by their names"),
    "empty": (lambda: FunctionLab({}), "function is an empty dict; expected a function, or a dict"),
    "in a dict": (lambda: FunctionLab({"f": None}), "function is None; expected a function, or a dict"),
    "later": (lambda: setattr(FunctionLab(), "function", "f"), "function is 'f'; expected a function, or a dict"),
    "names": (lambda: FunctionLab(lambda s, a: s), "function is your function(s, a); expected parameters among q, k,"),
    "no names": (lambda: FunctionLab(lambda: 1), "or else say which inputs it gets, in their order: takes=("),
    "builtin": (lambda: FunctionLab(F.scaled_dot_product_attention), "whose parameters cannot be read; say which"),
    "takes": (lambda: FunctionLab(right, takes="scores"), "takes is 'scores'; expected names among q, k, v, scores,"),
    "takes x": (lambda: FunctionLab(right, takes=["x"]), "takes is ['x']; expected names among"),
    "gives": (lambda: FunctionLab(right, gives="x"), "gives is 'x'; expected one of 'weights', 'output'"),
    "tokens": (lambda: FunctionLab(tokens=25), "tokens is 25, over 24 tokens; expected 1 to 24"),
    "text": (lambda: FunctionLab(tokens=""), "tokens is '', 0 tokens; expected 1 to 24"),
    "q": (lambda: FunctionLab(q=torch.ones(3, 2), tokens=4), "q has shape (3, 2); expected (4, 2), (Q, d)"),
    "k": (lambda: FunctionLab(q=torch.ones(3, 2), k=torch.ones(3, 4)), "k has shape (3, 4); expected (3, 2), (K, d)"),
    "v": (lambda: FunctionLab(v=torch.ones(5)), "v has shape (5,); expected two axes, (tokens, features)"),
    "allowed": (lambda: FunctionLab(allowed=torch.ones(5, 5)), "allowed holds torch.float32; expected bool, True ="),
    "size": (lambda: FunctionLab(allowed=masks.causal(3)), "allowed has shape (3, 3); expected (5, 5), queries × keys"),
    "kind": (lambda: FunctionLab(allowed="x"), "allowed is 'x'; expected a bool tensor, True = may attend"),
    "mask": (lambda: setattr(FunctionLab(), "mask", "10"), "mask is '10'; expected 25 characters, 1 = may attend"),
    "history": (lambda: setattr(FunctionLab(), "history", 1), "history is 1; expected a list of steps"),
    "chosen": (lambda: setattr(FunctionLab(right), "chosen", "x"), "chosen is 'x'; expected one of 'right'"),
    "result": (lambda: setattr(FunctionLab(), "result", {}), "result is {}; expected no one to set it"),
    "toggle": (lambda: FunctionLab().toggle(0, 5), "k is 5; expected a whole number from 0 to 4"),
    "question": (lambda: FunctionLab().answer("x"), "question is 'x'; expected one of 'leaks'"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


@pytest.mark.parametrize("size", [1, 2, 5, 12, 24])
def test_the_stored_picture_is_small(size):
    data, _ = FunctionLab(attend, tokens=size)._repr_mimebundle_()
    assert len(data["text/html"].encode()) <= 20_000


def test_text_and_figure():
    lab = FunctionLab(after)
    assert repr(lab) == ("FunctionLab: after; 5 queries × 5 keys, 15 of 25 may attend; 10 cells of the weights differ")
    titles = ["the mask", "which outputs move (1)", "the function's weights", "the reference's weights"]
    text = [describe(ax) for ax in lab.figure().axes]
    assert [one.split(" | ")[0] for one in text] == [*titles, "difference of weights"]
    assert text[1].startswith("which outputs move (1) | ← output | token changed →") and "the: 1.00  1.00" in text[1]
    page = lab.to_html()
    assert page.count("<table>") == 5 and "A leak: output 0 moves" in page
    assert np.isclose(float(lab.difference[1, 1]), -0.5656, atol=1e-3)
