"""What each library says about its mask, held against what its documentation says."""

import inspect

import pytest
import torch
from torch import nn

from lessons.attention import MultiHeadAttention
from lessons.mask_arguments import MaskArgument, as_table, ask, mask_arguments


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
    assert named["the same, self-attention, need_weights=False"] == {"attn_mask"}


def test_functions_let_attend_and_modules_block(answers):
    attends = {name for name, answer in answers.items() if answer.true_means == "may attend"}
    assert {library for library, _ in attends} == {
        "lessons",
        "F.scaled_dot_product_attention",
        "FlexAttention",
        "by hand, with −1e9",
    }
    assert len(answers) == 13


@pytest.mark.parametrize(
    ("library", "argument", "shape", "types"),
    [
        ("nn.MultiheadAttention", "attn_mask", "(Q, K), (B·H, Q, K)", "bool, float32"),
        ("nn.MultiheadAttention", "key_padding_mask", "(B, K)", "bool, float32"),
        ("FlexAttention", "mask_mod", "a function of (b, h, q, k)", "bool"),
        ("lessons", "allowed", "(Q, K), (B, 1, 1, K), (B, 1, Q, K), (B, H, Q, K)", "bool"),
    ],
)
def test_shapes_and_types(answers, library, argument, shape, types):
    assert answers[library, argument][1:3] == (shape, types)


@pytest.mark.parametrize(
    ("library", "argument", "empty"),
    [
        ("lessons", "allowed", "0"),
        ("F.scaled_dot_product_attention", "attn_mask", "0"),
        ("nn.MultiheadAttention", "attn_mask", "NaN"),
        ("nn.TransformerEncoder", "mask", "0; NaN under eval() and no_grad"),
        ("by hand, with −1e9", "", "equal weights for all hidden keys"),
    ],
)
def test_a_row_with_no_open_key(answers, library, argument, empty):
    assert answers[library, argument].empty_row == empty


def test_equal_answers_share_a_row(answers):
    asked = mask_arguments()[3]
    other = MaskArgument(asked.library, "another", asked.call)
    answer = answers[asked.library, asked.argument]
    table = as_table([(asked, answer), (other, answer), (other, answer._replace(type="int64"))])
    assert [line.split(" | ")[1] for line in table.splitlines()[2:]] == ["`attn_mask`, `another`", "`another`"]


def test_what_pays_no_attention_to_its_mask_is_refused():
    with pytest.raises(ValueError, match="masked or not"):
        ask(MaskArgument("deaf", "mask", lambda q, k, m: q + k.mean(dim=1, keepdim=True)))
