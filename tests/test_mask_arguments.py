"""What each library says about its mask, held against what its documentation says."""

import inspect

import pytest
import torch
from torch import nn

from lessons.attention import MultiHeadAttention
from lessons.mask_arguments import Answer, B, D, H, K, MaskArgument, Q, as_table, ask, mask_arguments

ALONE = "the same, self-attention, need_weights=False"


@pytest.fixture(scope="module")
def answers():
    torch.manual_seed(0)
    return {(asked.library, asked.argument): ask(asked) for asked in mask_arguments()}


def test_each_module_has_the_arguments_that_the_table_names():
    named = {asked.library: set() for asked in mask_arguments()}
    for asked in mask_arguments():
        named[asked.library].add(asked.argument)
    for library in ("nn.MultiheadAttention", "nn.TransformerEncoder", "nn.TransformerDecoder"):
        taken = inspect.signature(getattr(nn, library.removeprefix("nn.")).forward).parameters
        assert named[library] == {name for name in taken if "mask" in name}
    assert named["lessons"] == {"allowed"} <= set(inspect.signature(MultiHeadAttention.forward).parameters)
    assert named[ALONE] == {"attn_mask"}


FOUR_AXES = "(Q, K), (B, 1, 1, K), (B, 1, Q, K), (B, H, Q, K)"
EACH_HEAD = "(Q, K), (B·H, Q, K)"
EITHER = "0; NaN under eval() and no_grad"
ANSWERS = {
    ("lessons", "allowed"): ("may attend", FOUR_AXES, "bool", "0"),
    ("F.scaled_dot_product_attention", "attn_mask"): ("may attend", FOUR_AXES, "bool, float32", "0"),
    ("FlexAttention", "mask_mod"): ("may attend", "a function of (b, h, q, k)", "bool", "0"),
    ("nn.MultiheadAttention", "attn_mask"): ("blocked", EACH_HEAD, "bool, float32", "NaN"),
    ("nn.MultiheadAttention", "key_padding_mask"): ("blocked", "(B, K)", "bool, float32", "NaN"),
    (ALONE, "attn_mask"): ("blocked", EACH_HEAD, "bool, float32", EITHER),
    ("nn.TransformerEncoder", "mask"): ("blocked", EACH_HEAD, "bool, float32", EITHER),
    ("nn.TransformerDecoder", "tgt_mask"): ("blocked", EACH_HEAD, "bool, float32", EITHER),
    ("nn.TransformerDecoder", "memory_mask"): ("blocked", EACH_HEAD, "bool, float32", "0"),
    ("nn.TransformerEncoder", "src_key_padding_mask"): ("blocked", "(B, K)", "bool, float32", EITHER),
    ("nn.TransformerDecoder", "tgt_key_padding_mask"): ("blocked", "(B, K)", "bool, float32", EITHER),
    ("nn.TransformerDecoder", "memory_key_padding_mask"): ("blocked", "(B, K)", "bool, float32", "0"),
    ("by hand, with −1e9", ""): ("may attend", FOUR_AXES, "bool", "equal weights for all hidden keys"),
}


def test_what_each_argument_answers(answers):
    assert answers == ANSWERS


def test_every_module_is_asked_in_training_and_in_evaluation():
    without = {asked.library for asked in mask_arguments() if asked.module is None}
    assert without == {"F.scaled_dot_product_attention", "FlexAttention", "by hand, with −1e9"}


@pytest.mark.parametrize("library", ["F.scaled_dot_product_attention", "FlexAttention", "by hand, with −1e9"])
def test_where_one_key_is_open_its_value_comes_out(library):
    (asked,) = (asked for asked in mask_arguments() if asked.library == library)
    key, opened = torch.randn(1, 3, D), torch.tensor([2, 0, 2, 1])
    output = asked.call(torch.randn(1, 4, D), key, torch.eye(3, dtype=torch.bool)[opened])
    torch.testing.assert_close(output, key[:, opened])


def test_masks_of_seven_shapes_are_tried():
    seen = []

    def call(query, key, mask):
        seen.append(tuple(mask.shape))
        return query if len(query) > 1 else mask.float() @ key

    answer = ask(MaskArgument("takes any shape", "mask", call))
    assert answer.shape == "(Q, K), (B, K), (B, Q, K), (B·H, Q, K), (B, 1, 1, K), (B, 1, Q, K), (B, H, Q, K)"
    shapes = {(Q, K), (B, K), (B, Q, K), (B * H, Q, K), (B, 1, 1, K), (B, 1, Q, K), (B, H, Q, K)}
    assert shapes == {shape for shape in seen if shape != (4, 4)}


def test_the_table_in_markdown():
    """Within a shape a line never breaks, between two it may: ~ is a space without a break."""
    named = MaskArgument("nn.MultiheadAttention", "attn_mask", torch.add)
    by_hand = MaskArgument("by hand, with −1e9", "", torch.add)
    answers = {asked: Answer(*ANSWERS[asked.library, asked.argument]) for asked in (named, by_hand)}
    assert as_table(answers.items()).replace("\u00a0", "~").splitlines() == [
        "|  | argument | True means | shape | type | a row with no open key gives |",
        "| --- | --- | --- | --- | --- | --- |",
        "| `nn.MultiheadAttention` | `attn_mask` | **blocked** | (Q,~K), (B·H,~Q,~K) | bool, float32 | NaN |",
        "| by hand, with −1e9 |  | **may attend** | (Q,~K), (B,~1,~1,~K), (B,~1,~Q,~K), (B,~H,~Q,~K) | bool | "
        "equal weights for all hidden keys |",
    ]


def test_equal_answers_share_a_row(answers):
    asked = mask_arguments()[3]
    other = MaskArgument(asked.library, "another", asked.call)
    answer = answers[asked.library, asked.argument]
    table = as_table([(asked, answer), (other, answer), (other, answer._replace(type="int64"))])
    assert [line.split(" | ")[1] for line in table.splitlines()[2:]] == ["`attn_mask`, `another`", "`another`"]


def test_what_pays_no_attention_to_its_mask_is_refused():
    with pytest.raises(ValueError, match="masked or not"):
        ask(MaskArgument("deaf", "mask", lambda q, k, m: q + k.mean(dim=1, keepdim=True)))
