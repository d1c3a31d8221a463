"""HeadSplitter without a browser: where every number goes, by torch, and its pictures."""

import re

import pytest
import torch

from lessons.attention import attend, join_heads, split_heads
from lessons.plots.describe import describe
from lessons.widgets import HeadSplitter
from lessons.widgets.head_splitter import constants, splitting
from lessons.widgets.pictures import format_whole

B, T, H, d = 2, 3, 5, 4
D = H * d
WRONG = list(splitting.WRONG_CODE)


def splitter(**options):
    return HeadSplitter(B, T, H, d, **options)


def homes():
    """(B, T, H, d) numbers whose digits are batch, token, head and feature."""
    axes = torch.meshgrid(*(torch.arange(size) for size in (B, T, H, d)), indexing="ij")
    return sum(1000 // 10**i * axis for i, axis in enumerate(axes)).float()


def test_alone_it_is_a_lesson():
    widget = HeadSplitter()
    assert widget.numbers.shape == (1, 4, 6)
    assert widget.misplaced().any() and not widget.misplaced().all()


def test_numbers_are_those_of_lesson_05():
    telling = 10.0 * torch.arange(3)[:, None] + torch.arange(4)
    torch.testing.assert_close(HeadSplitter(1, 3, 2, 2).numbers[0], telling)


@pytest.mark.parametrize("sizes", [(3, 6, 2, 4), (3, 2, 8, 4), (1, 6, 8, 4), (1, 1, 1, 1)])
def test_no_number_is_there_twice(sizes):
    numbers = HeadSplitter(*sizes).numbers
    assert len(numbers.unique()) == numbers.numel()


def test_each_step_is_what_its_code_makes():
    widget = splitter()
    space = {"x": widget.numbers, "B": B, "T": T, "H": H, "d": d, "D": D}
    for name, code, tensor in widget.steps():
        if name == "x":
            found = eval(code, space)
        else:
            exec(code, space)
            found = space[code.split(" = ")[0]]
        torch.testing.assert_close(tensor, found, rtol=0, atol=0)
        assert tensor.stride() == found.stride() and tensor.is_contiguous() == found.is_contiguous()


def test_the_right_way_is_that_of_the_course():
    widget = splitter()
    x, _, heads, computed, _, joined = (step.tensor for step in widget.steps())
    assert torch.equal(heads, split_heads(x, H))
    assert torch.equal(joined, join_heads(computed)) and torch.equal(joined, x)


def test_contiguous_lays_the_numbers_as_attention_does():
    heads, computed = (splitter().steps()[i].tensor for i in (2, 3))
    output, _ = attend(heads, heads, heads)
    assert output.stride() == computed.stride() != heads.stride()


def test_a_view_shares_memory_and_a_copy_does_not():
    memory = [step.tensor.untyped_storage().data_ptr() for step in splitter().steps()]
    assert memory[0] == memory[1] == memory[2] != memory[3] == memory[4] != memory[5] != memory[0]


@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_way_is_what_its_code_makes(name):
    widget = splitter()
    space = {step.code.split(" = ")[0]: step.tensor for step in widget.steps()} | {
        "B": B,
        "T": T,
        "H": H,
        "d": d,
        "D": D,
    }
    found = widget.wrong(name)
    right = widget.steps()[splitting.INSTEAD_OF[name]]
    assert right.code.split(" = ")[0] == splitting.WRONG_CODE[name].split(" = ")[0]
    if name == constants.NO_COPY:
        with pytest.raises(RuntimeError) as raised:
            exec(splitting.WRONG_CODE[name], space)
        assert isinstance(found, RuntimeError) and str(found) == str(raised.value)
        return
    exec(splitting.WRONG_CODE[name], space)
    torch.testing.assert_close(found, space[splitting.WRONG_CODE[name].split(" = ")[0]], rtol=0, atol=0)
    assert found.shape == right.tensor.shape and not torch.equal(found, right.tensor)


@pytest.mark.parametrize("name", WRONG[:3])
def test_misplaced_are_the_numbers_from_another_home(name):
    widget = HeadSplitter(x=homes().reshape(B, T, D), num_heads=H)
    right, wrong = widget.steps()[splitting.INSTEAD_OF[name]].tensor, widget.wrong(name)
    assert torch.equal(widget.misplaced(name), right != wrong)
    assert widget.tally(name) == {
        "out of place": int((right != wrong).sum()),
        "in the wrong head": int((right // 10 % 10 != wrong // 10 % 10).sum()),
        "at the wrong token": int((right // 100 % 10 != wrong // 100 % 10).sum()),
    }
    assert widget.tally(name)["in the wrong head"] > 0


def test_equal_numbers_still_have_homes():
    widget = HeadSplitter(x=torch.zeros(B, T, D), num_heads=H)
    assert torch.equal(widget.misplaced(), splitter().misplaced())


def test_tokens_stay_where_they_are_if_only_features_are_dealt_out():
    assert splitter().tally(constants.DEALT)["at the wrong token"] == 0


@pytest.mark.parametrize("sizes", [(2, 4, 1, 3), (2, 1, 4, 3)], ids=["one head", "one token"])
def test_with_one_head_or_one_token_nothing_is_mixed_up(sizes):
    widget = HeadSplitter(*sizes)
    for name in (constants.STRAIGHT, constants.NOT_BACK, constants.NO_COPY):
        assert not widget.misplaced(name).any()


def test_own_numbers_bring_their_sizes():
    x = torch.randn(2, 6, 3, dtype=torch.float64).transpose(1, 2)
    widget = HeadSplitter(x=x, num_heads=3)
    assert (widget.batch, widget.length, widget.num_heads, widget.head_dim) == (2, 3, 3, 2)
    assert torch.equal(widget.numbers, x) and widget.numbers.is_contiguous()
    widget.length = 2
    assert torch.equal(widget.numbers, HeadSplitter(2, 2, 3, 2).numbers)
    widget.length = 3
    assert torch.equal(widget.numbers, x)
    widget.x = [[[1.0, torch.inf, torch.nan]]]
    assert (widget.batch, widget.length, widget.head_dim) == (1, 1, 1)
    widget.x = None
    assert widget.numbers.tolist() == [[[0, 1, 2]]]


def test_another_size_lets_the_pinned_number_go():
    widget = splitter(pinned=7)
    widget.head_dim = 3
    assert widget.pinned is None


BAD = {
    "batch": (lambda: HeadSplitter(batch=4), "batch is 4; expected a whole number from 1 to 3"),
    "length": (lambda: HeadSplitter(length=0), "length is 0; expected a whole number from 1 to 6"),
    "num_heads": (lambda: HeadSplitter(num_heads=2.0), "num_heads is 2.0; expected a whole number from 1 to 8"),
    "head_dim": (lambda: setattr(splitter(), "head_dim", 5), "head_dim is 5; expected a whole number from 1 to 4"),
    "all": (
        lambda: HeadSplitter(2, 6, 8, 4),
        "batch · length · num_heads · head_dim is 2 · 6 · 8 · 4 = 384 numbers; expected at most 200",
    ),
    "later": (
        lambda: setattr(splitter(), "length", 6),
        "head_dim is 2 · 6 · 5 · 4 = 240 numbers; expected at most 200",
    ),
    "x": (lambda: HeadSplitter(x="ab"), "x is 'ab'; expected a tensor (B, T, D)"),
    "axes": (
        lambda: HeadSplitter(x=torch.ones(3, 4)),
        "x has shape (3, 4); expected (B, T, a multiple of num_heads = 2)",
    ),
    "heads": (lambda: HeadSplitter(x=torch.ones(1, 2, 5)), "x has shape (1, 2, 5); expected (B, T, a multiple of"),
    "own": (
        lambda: HeadSplitter(x=torch.ones(1, 7, 2)),
        "x has shape (1, 7, 2); expected B from 1 to 3, T from 1 to 6",
    ),
    "empty": (lambda: HeadSplitter(x=torch.ones(1, 0, 2)), "x has shape (1, 0, 2); expected B from 1 to 3"),
    "large": (
        lambda: HeadSplitter(x=torch.ones(3, 6, 16), num_heads=4),
        "x has shape (3, 6, 16): 3 · 6 · 4 · 4 = 288 numbers; expected at most 200",
    ),
    "none": (lambda: HeadSplitter(x=torch.ones(1, 2, 4), num_heads=0), "num_heads is 0; expected a whole number from"),
    "step": (lambda: HeadSplitter(step=6), "step is 6; expected a whole number from 0 to 5"),
    "pinned": (lambda: HeadSplitter(pinned=24), "pinned is 24; expected a whole number from 0 to 23"),
    "compare": (lambda: HeadSplitter(compare="view"), "compare is 'view'; expected one of 'view in one step', "),
    "labels": (lambda: HeadSplitter(labels=""), "labels is ''; expected one of 'numbers', 'homes'"),
    "name": (lambda: splitter().wrong("view"), "name is 'view'; expected one of 'view in one step', "),
    "error": (
        lambda: splitter().misplaced("join by view"),
        "name is 'join by view'; expected a way that returns a tensor",
    ),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_sizes_that_fit_together_can_be_set_together():
    widget = HeadSplitter(3, 6, 2, 4)
    widget._receive(widget, {"set": {"batch": 1, "num_heads": 8, "pinned": None}}, [])
    assert widget.numbers.shape == (1, 6, 32)


# Pictures


@pytest.mark.one_of(3)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (1, 6, 8, 4), (3, 6, 2, 4), (3, 2, 8, 4)])
@pytest.mark.parametrize("labels", ["numbers", "homes"])
def test_the_stored_picture_is_small(sizes, labels):
    for step in range(6):
        picture = HeadSplitter(*sizes, step=step, labels=labels)._repr_mimebundle_()[0]["text/html"]
        assert "<table>" in picture and len(picture.encode()) <= 20_000


def test_text_is_a_short_description():
    expected = (
        "HeadSplitter: x (1, 4, 6), num_heads 2, head_dim 3; step 3, swap: (1, 2, 4, 3), strides (24, 3, 6, 1); "
        "view in one step: 18 out of place"
    )
    assert repr(HeadSplitter()) == expected
    assert repr(HeadSplitter(compare="join by view")).endswith("join by view: RuntimeError")


def test_figure_shows_each_number_with_its_head():
    text = [describe(ax) for ax in HeadSplitter(1, 2, 2, 2).figure().axes]
    assert text[0].splitlines()[:4] == [
        "x | ← batch, token | column →",
        "columns: 0  1  2  3",
        *text[0].splitlines()[2:4],
    ]
    assert text[0].splitlines()[2] == "b0 t0: 0 h0  1 h0  2 h1  3 h1"
    assert text[1].splitlines()[3] == "b0 h0 t1: 10 h0  11 h0"
    assert text[2].splitlines()[3] == "b0 h0 t1: × 2 h1  × 3 h1"


def test_page_says_what_is_out_of_place():
    widget = HeadSplitter(1, 2, 2, 2)
    page = widget.to_html()
    assert 'aria-label="b0 h0 t1, feature 0: 2 of head 1, out of place"' in page
    assert page.count(", out of place") == 2 * int(widget.misplaced().sum())  # in aria-label and in title
    assert "of 8 numbers 4 out of place, 4 in the wrong head, 4 at the wrong token." in page
    widget.compare = "join by view"
    assert "torch raises RuntimeError: view size is not compatible" in widget.to_html()


def test_axes_in_the_rows_follow_the_step():
    rows = [HeadSplitter(1, 2, 2, 1, step=step).panels()[-2 if step else 0].rows for step in range(6)]
    tokens, cut, split = ["b0 t0", "b0 t1"], ["b0 t0 h0", "b0 t0 h1", "b0 t1 h0", "b0 t1 h1"], "b0 h0 t0"
    assert rows[0] == rows[5] == tokens and rows[1] == rows[4] == cut
    assert rows[2][0] == rows[3][0] == split and rows[2][1] == "b0 h0 t1"


def test_numbers_are_spelled_as_short_as_they_can_be():
    numbers = [0.0, -0.0, -3.0, 12345.0, 100000.0, 0.126, torch.inf, -torch.inf, torch.nan]
    expected = ["0", "0", "−3", "12345", "1e5", "0.13", "∞", "−∞", "NaN"]
    assert [format_whole(number) for number in numbers] == expected
