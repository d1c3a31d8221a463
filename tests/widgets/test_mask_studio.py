"""MaskStudio without a browser: its state, its pictures, and the code it writes."""

import json
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons import masks
from lessons.attention import masked_softmax
from lessons.plots.describe import describe
from lessons.widgets import MaskStudio
from lessons.widgets.mask_studio.snippets import HUGGING_FACE, MODULE, VARIABLES
from lessons.widgets.shared import constants

SOURCE, TARGET = "a b c d <pad> <pad>", ["x", "<pad>", "z"]
SOURCE_REAL = torch.tensor([True, True, True, True, False, False])
TARGET_REAL = torch.tensor([True, False, True])
RULES = {
    "encoder self-attention": SOURCE_REAL.expand(6, 6),
    "decoder self-attention": masks.causal(3) & TARGET_REAL,
    "cross-attention": SOURCE_REAL.expand(3, 6),
}
every_kind = pytest.mark.parametrize("kind", constants.KINDS)
every_fill = pytest.mark.parametrize("fill", constants.FILLS)


def studio(kind="decoder self-attention", **options):
    return MaskStudio(SOURCE, TARGET, kind=kind, **options)


def test_alone_it_is_a_lesson():
    widget = MaskStudio()
    assert widget.kind == "decoder self-attention"
    assert "<pad>" in widget.source and "<pad>" in widget.target
    assert widget.allowed.any(dim=-1).all() and not widget.allowed.all()
    torch.testing.assert_close(widget.weights, MaskStudio().weights)


def test_a_sentence_is_a_text_a_list_or_a_number():
    widget = MaskStudio("the cat <pad>", 4, kind="cross-attention")
    assert widget.source == ["the", "cat", "<pad>"]
    assert widget.target == ["0", "1", "2", "3"]
    widget.source = ["one word", "<pad>"]
    assert widget.source == ["one word", "<pad>"]
    assert widget.allowed.tolist() == [[True, False]] * 4


@every_kind
def test_each_kind_has_the_rules_of_lessons_masks(kind):
    torch.testing.assert_close(studio(kind).allowed, RULES[kind])


@every_kind
def test_clicks_are_turned_around_against_the_rules(kind):
    widget = studio(kind)
    widget.toggle(0, 2)
    widget.edits = [*widget.edits, [2, 0]]
    expected = RULES[kind].clone()
    for q, k in [(0, 2), (2, 0)]:
        expected[q, k] = ~expected[q, k]
    torch.testing.assert_close(widget.allowed, expected)
    widget.toggle(0, 2)
    assert widget.edits == [[2, 0]]


def test_undo_takes_back_one_step_after_the_other():
    widget = studio()
    steps = [[], [[0, 1]], [[0, 1], [1, 1], [2, 2]], [[1, 1], [2, 2]], []]
    widget.toggle(0, 1)
    widget.edits = [[0, 1], [2, 2], [1, 1]]
    widget.toggle(0, 1)
    widget.reset()
    for expected in reversed(steps):
        assert widget.edits == expected
        widget.undo()
    assert widget.edits == [] and widget.history == []


def test_setting_the_same_edits_again_is_no_step():
    widget = studio()
    widget.edits = [[0, 1], [1, 0]]
    widget.edits = [[1, 0], [0, 1]]
    assert len(widget.history) == 1


@pytest.mark.parametrize(
    ("convention", "convert"),
    [
        ("True = may attend", lambda allowed: allowed),
        ("True = blocked", masks.allowed_to_blocked),
        ("additive 0, −∞", masks.allowed_to_additive),
    ],
)
def test_a_convention_changes_the_numbers_and_not_the_meaning(convention, convert):
    widget = studio()
    widget.convention = convention
    torch.testing.assert_close(widget.mask(), convert(RULES[widget.kind]))
    torch.testing.assert_close(widget.allowed, RULES[widget.kind])


def by_torch(scores, allowed, fill):
    if fill == "0 after the softmax":
        return scores.softmax(-1) * allowed
    number = {"−∞": -torch.inf, "−1e9": -1e9, "0 before the softmax": 0.0}[fill]
    return torch.where(allowed, scores, number).softmax(-1)


@every_fill
@every_kind
def test_weights_and_output_are_those_of_torch(kind, fill):
    widget = studio(kind)
    widget.fill = fill
    expected = by_torch(widget.scores, widget.allowed, fill).nan_to_num(0.0)
    torch.testing.assert_close(widget.weights, expected)
    torch.testing.assert_close(widget.output, expected @ widget.values)


@pytest.mark.parametrize(
    ("fill", "row"),
    [
        ("−∞", [0.0, 0.0, 0.0]),
        ("−1e9", [1 / 3] * 3),
        ("0 before the softmax", [1 / 3] * 3),
        ("0 after the softmax", [0.0, 0.0, 0.0]),
    ],
)
def test_a_query_that_may_look_at_nothing(fill, row):
    widget = studio()
    widget.toggle(0, 0)
    widget.fill = fill
    torch.testing.assert_close(widget.weights[0], torch.tensor(row))
    assert widget.empty_rows == [0]
    assert repr(widget).endswith("may attend to nothing: query 0")


def test_what_the_warning_says_about_torch_is_true():
    allowed = torch.tensor([[False, False], [True, False]])
    x = torch.randn(1, 2, 4)
    assert (masked_softmax(torch.zeros(2, 2), allowed)[0] == 0).all()
    assert (F.scaled_dot_product_attention(x, x, x, attn_mask=allowed)[0, 0] == 0).all()
    output, weights = nn.MultiheadAttention(4, 1, batch_first=True)(x, x, x, attn_mask=~allowed)
    assert output[0, 0].isnan().all() and weights[0, 0].isnan().all()
    assert not output[0, 1].isnan().any()


def test_own_scores_and_values_are_used_and_come_back():
    scores, values = [[1.0, 2, 3], [0, 0, 0], [3, 2, 1]], torch.eye(3)
    widget = studio(scores=scores, values=values)
    torch.testing.assert_close(widget.scores, torch.tensor(scores))
    torch.testing.assert_close(widget.output, widget.weights)
    widget.kind = "encoder self-attention"
    assert widget.scores.shape == (6, 6) and widget.values.shape == (6, 3)
    widget.kind = "decoder self-attention"
    torch.testing.assert_close(widget.scores, torch.tensor(scores))
    torch.testing.assert_close(widget.values, values)


def test_another_size_drops_the_clicks_outside():
    widget = studio("encoder self-attention")
    widget.edits = [[0, 0], [5, 5]]
    widget.source = "a b"
    assert widget.edits == [[0, 0]] and widget.history == []
    assert widget.allowed.tolist() == [[False, True], [True, True]]


def test_infinity_and_nan_travel_as_text():
    widget = MaskStudio(2, 2, scores=[[0.25, -torch.inf], [torch.nan, torch.inf]])
    sent = widget.get_state("scores")["scores"]
    assert sent == [[0.25, "-inf"], ["nan", "inf"]]
    json.dumps(sent, allow_nan=False)
    widget.set_state({"scores": sent})
    assert str(widget.scores.tolist()) == "[[0.25, -inf], [nan, inf]]"


BAD = {
    "source": (lambda: MaskStudio(source=""), "source is '', 0 tokens; expected 1 to 64"),
    "target": (lambda: MaskStudio(target=65), "target is 65, over 64 tokens; expected 1 to 64"),
    "tokens": (lambda: MaskStudio(source=[1, 2]), "source is [1, 2]; expected a text, a list of tokens or a number"),
    "kind": (lambda: MaskStudio(kind="decoder"), "kind is 'decoder'; expected one of 'encoder self-attention', "),
    "scores": (lambda: studio(scores=[[1.0]]), "scores has shape (1, 1); expected (3, 3), queries × keys"),
    "matrix": (lambda: studio(scores="ab"), "scores is 'ab'; expected a matrix of numbers"),
    "values": (lambda: studio(values=torch.ones(4, 2)), "values has shape (4, 2); expected (3, d_v), keys × features"),
    "q": (lambda: studio().toggle(3, 0), "q is 3; expected a whole number from 0 to 2"),
    "k": (lambda: studio().toggle(0, True), "k is True; expected a whole number from 0 to 2"),
    "edits": (lambda: setattr(studio(), "edits", [1]), "edits is [1]; expected a list of pairs [query, key]"),
    "rule": (lambda: MaskStudio(rule="window"), "rule is 'window'; expected one of 'causal', 'sliding window', "),
    "size": (lambda: MaskStudio(size=17), "size is 17; expected a whole number from 1 to 16"),
    "fill": (lambda: setattr(studio(), "fill", 0), "fill is 0; expected one of '−∞', "),
    "convention": (
        lambda: setattr(studio(), "convention", "x"),
        "convention is 'x'; expected one of 'True = may attend'",
    ),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_names_can_be_typed_without_special_characters():
    widget = studio()
    widget.fill, widget.convention = "-1e9", "additive 0, -inf"
    assert (widget.fill, widget.convention) == ("−1e9", "additive 0, −∞")


# The browser


def test_what_the_browser_sends_arrives():
    widget = studio()
    widget._receive(widget, {"set": {"edits": [[0, 1]], "history": [[[0, 1]]]}}, [])
    assert widget.edits == [[0, 1]] and widget.history == [[[0, 1]]]
    widget._receive(widget, {"set": {"kind": "cross-attention"}}, [])
    assert widget.scores.shape == (3, 6)


def test_what_the_browser_sends_wrongly_is_answered(monkeypatch):
    widget, sent = studio(), []
    monkeypatch.setattr(widget, "_send", lambda message, buffers=None: sent.append(message))
    widget._receive(widget, {"set": {"edits": [[9, 9]]}}, [])
    assert {"method": "custom", "content": {"problem": "q is 9; expected a whole number from 0 to 2"}} in sent
    assert widget.edits == []
    widget._receive(widget, {"ask": "snippets"}, [])
    assert sent[-1]["content"] == {"snippets": widget.snippets()}


def test_clicks_are_not_sent_back(monkeypatch):
    widget, sent = studio(), []
    monkeypatch.setattr(widget, "_send", lambda message, buffers=None: sent.append(message))
    widget._receive(widget, {"set": {"edits": [[0, 1], [1, 0]], "history": [[[0, 1], [1, 0]]]}}, [])
    assert sent == []


# Code


TEXT, DOCUMENTS = "a b <bos> c d <pad>", [2, 4]
PATTERNS = {
    "causal": masks.causal(6),
    "sliding window": masks.causal(6) & masks.sliding_window(6, 2),
    "window with a sink": masks.causal(6) & masks.window_with_sinks(6, 2, 1),
    "prefix": masks.prefix_causal(6, 2),
    "packed documents": masks.causal(6) & masks.packed(DOCUMENTS),
    "local and global": masks.local_and_global(6, 2, 1),
    "strided": masks.causal(6) & masks.strided(6, 2),
    "chunks": masks.causal(6) & masks.chunked(6, 2),
    "tree of guesses": masks.tree([-1, 0, 0, 1, 1, 2]),
}


@pytest.mark.parametrize("rule", PATTERNS)
def test_each_rule_of_today_is_that_of_lessons_masks(rule):
    widget = MaskStudio(1, TEXT, rule=rule)
    torch.testing.assert_close(widget.rule_masks[rule], PATTERNS[rule])
    torch.testing.assert_close(widget.allowed, PATTERNS[rule] & torch.tensor([True] * 5 + [False]))
    assert (rule in repr(widget)) == (rule != "causal")


def test_another_size_and_another_sentence_are_another_rule():
    widget = MaskStudio(1, TEXT, rule="sliding window", size=3)
    torch.testing.assert_close(widget.rule_masks["sliding window"], masks.causal(6) & masks.sliding_window(6, 3))
    widget.target = "a b"
    assert widget.allowed.tolist() == [[True, False], [True, True]]
    widget.kind = "encoder self-attention"
    assert list(widget.rule_masks) == ["padding"] and "window" not in repr(widget)


@pytest.mark.parametrize("rule", PATTERNS)
@pytest.mark.parametrize("edits", [[], [[0, 1], [2, 2], [1, 0]]], ids=["rules", "clicks"])
@pytest.mark.parametrize("sentence", ["a b <bos> <pad>", "a b c"])
@every_kind
def test_each_snippet_runs_and_builds_this_mask(kind, sentence, edits, rule):
    widget = MaskStudio(sentence, sentence + " <pad>", kind=kind, rule=rule, size=3)
    widget.edits = edits
    snippets = widget.snippets()
    assert list(snippets) == list(VARIABLES)
    for name, code in snippets.items():
        space = {}
        exec(code, space)
        found = space[VARIABLES[name]]
        if name == HUGGING_FACE:
            assert found.tolist() == [[int(token != "<pad>") for token in widget.key_tokens]]
            assert ("your 3 clicks" in code) == bool(edits)
            decoder = kind == "decoder self-attention"
            assert ("adds the causal mask" in code) == (decoder and rule == "causal")
            assert ("rule is not in this mask" in code) == (decoder and rule != "causal")
        else:
            expected = ~widget.allowed if name == MODULE else widget.allowed
            torch.testing.assert_close(found, expected)


# Pictures


@pytest.mark.parametrize("size", [1, 5, 8, 9, 16, 17, 64])
def test_the_stored_picture_is_small_and_always_the_same(size):
    data, _ = MaskStudio(size, size)._repr_mimebundle_()
    again, _ = MaskStudio(size, size)._repr_mimebundle_()
    assert data["text/html"] == again["text/html"] and data["text/plain"] == again["text/plain"]
    assert "0x" not in data["text/html"] + data["text/plain"]
    assert len(data["text/html"].encode()) <= 20_000
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_stored_picture_shows_the_present_state():
    widget = studio()
    before = widget._repr_mimebundle_()[0]["text/html"]
    widget.toggle(0, 0)
    after = widget._repr_mimebundle_()[0]["text/html"]
    assert "May attend to nothing: query 0 “x”" in after and "0.00 ≠ 1" in after
    assert "May attend to nothing" not in before
    assert "<pad>" not in after and "&lt;pad&gt;" in after


def test_long_tokens_stay_small():
    widget = MaskStudio(["w" * 500] * 16, ["<" * 500] * 16, kind="cross-attention")
    assert len(widget._repr_mimebundle_()[0]["text/html"].encode()) <= 20_000


def test_text_is_a_short_description():
    widget = studio("cross-attention")
    widget.toggle(0, 0)
    expected = "MaskStudio: cross-attention, 3 queries × 6 keys, 11 of 18 pairs may attend, 1 click, fill −∞"
    assert repr(widget) == expected


def test_figure_is_drawn_by_the_plots_of_the_course():
    widget = studio()
    widget.fill = "0 before the softmax"
    text = [describe(ax) for ax in widget.figure().axes]
    assert text[0].startswith("mask (True = may attend)") and "x: 1  ×  ×" in text[0]
    assert text[2].count("×") == 0  # what is blocked has weights all the same
    assert len(text) == 4


def test_page_has_the_same_marks_and_says_them():
    widget = studio()
    widget.convention = "additive 0, -inf"
    page = widget.to_html()
    assert "<script" not in page
    assert page.count("<table>") == 4
    assert page.count("× −∞</td>") == int((~widget.allowed).sum())
    assert 'aria-label="query 0 “x”, key 1 “&lt;pad&gt;”: blocked, ×"' in page
    assert 'scope="row"' in page and 'scope="col"' in page
