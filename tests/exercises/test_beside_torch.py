"""The combinations in which the drop-in of lesson 13 is run beside torch, and how is said what goes wrong in which."""

import pytest
import torch
from torch import nn

from lessons.exercises.inside_torch_attention import drop_in
from lessons.exercises.inside_torch_attention.accounts import where_wrong
from lessons.exercises.inside_torch_attention.beside_torch import BORROWED, call_beside
from lessons.exercises.inside_torch_attention.combinations import CHOICES, PLAIN, changed, combinations
from lessons.torch_attention import MultiheadAttentionByHand


def test_combinations():
    choices = combinations()
    assert len(choices) >= 200
    assert len({tuple(choice.values()) for choice in choices}) == len(choices)
    for name, values in CHOICES.items():
        assert {choice[name] for choice in choices} == set(values)
    assert choices == combinations.__wrapped__()
    for choice in choices:
        if choice["attn_mask"] and choice["key_padding_mask"]:
            assert choice["attn_mask"].startswith(choice["key_padding_mask"])
        assert list(choice) == list(PLAIN)
    assert PLAIN in choices
    assert sum(len(changed(choice)) == 1 for choice in choices) == sum(len(values) - 1 for values in CHOICES.values())


def test_no_row_is_empty():
    for choice in combinations():
        output, weights = call_beside(nn.MultiheadAttention, *choice.values())
        assert output.isfinite().all(), choice
        assert weights is None or weights.isfinite().all(), choice


ACCOUNTS = {
    "exactly where key_padding_mask is given.": lambda c: c["key_padding_mask"] is not None,
    "exactly where key_padding_mask is float.": lambda c: c["key_padding_mask"] == "float",
    "exactly where bias=False.": lambda c: not c["bias"],
    "exactly where batch_first=True.": lambda c: c["axes"] == "batch_first",
    "exactly where batch_first=False.": lambda c: c["axes"] != "batch_first",
    "exactly where query, key and value are the same, or kdim and vdim are given.": lambda c: (
        c["inputs"] != "cross-attention"
    ),
    "exactly where kdim and vdim are given.": lambda c: c["inputs"] == "kdim and vdim",
    "exactly where attn_mask is given and average_attn_weights=False.": lambda c: (
        c["attn_mask"] is not None and not c["average_attn_weights"]
    ),
    "exactly where a mask is given and a key is appended (add_bias_kv or add_zero_attn).": lambda c: (
        bool(c["attn_mask"] or c["key_padding_mask"]) and (c["add_bias_kv"] or c["add_zero_attn"])
    ),
    "exactly where attn_mask is given, or bias=False.": lambda c: bool(c["attn_mask"]) or not c["bias"],
    "exactly where kdim and vdim are given, or batch_first=True or the inputs have no batch, or add_bias_kv=True.": (
        lambda c: c["inputs"] == "kdim and vdim" or c["axes"] != "sequence first" or c["add_bias_kv"]
    ),
    "always where bias=False; and sometimes elsewhere.": lambda c: (
        not c["bias"] or bool(c["add_bias_kv"] and c["attn_mask"])
    ),
    "256 of 256 combinations of arguments: whatever they are.": lambda c: True,
}


@pytest.mark.parametrize("account", ACCOUNTS)
def test_where_it_goes_wrong(account):
    choices = combinations()
    said = where_wrong(choices, [ACCOUNTS[account](choice) for choice in choices])
    assert said.endswith(account)


def test_no_exact_account():
    choices = combinations()
    wrong = [choice["bias"] for choice in choices]
    wrong[wrong.index(True)] = False
    assert where_wrong(choices, wrong).endswith("only where bias=True, but not everywhere there.")
    torch.manual_seed(0)
    assert where_wrong(choices, (torch.rand(len(choices)) < 0.5).tolist()).endswith("of every kind.")


def test_dropout_in_training_leaves_the_bias_of_the_last_projection():
    output, weights = call_beside(nn.MultiheadAttention, *(PLAIN | {"mode": "training, dropout"}).values())
    assert (output == output[0, 0]).all()
    assert not weights.any()


@pytest.mark.parametrize("case", drop_in.draw(), ids=lambda case: case.about or case.describe())
def test_the_reference_does_as_torch_does(case):
    mine, theirs = drop_in.run(MultiheadAttentionByHand, case), drop_in.run(nn.MultiheadAttention, case)
    assert mine.error is None and theirs.error is None
    assert mine.same_as(theirs)


def test_gradients_are_compared():
    choice = PLAIN | {"mode": "evaluation, gradients", "inputs": "cross-attention", "attn_mask": "float (L, S)"}
    results = call_beside(nn.MultiheadAttention, *choice.values())
    assert len(results) == 2 + 4 + 4  # output and weights; query, key, value and mask; four parameters
    assert all(gradient.any() for gradient in results[2:])


class Subclass(nn.MultiheadAttention):
    def forward(self, *inputs, **arguments):
        return super().forward(*inputs, **arguments)


class OnlyItsParameters(nn.MultiheadAttention):
    forward = MultiheadAttentionByHand.forward
    project, append = MultiheadAttentionByHand.project, MultiheadAttentionByHand.append
    heads_first, join = MultiheadAttentionByHand.heads_first, MultiheadAttentionByHand.join

    @property
    def sizes(self):
        return self.embed_dim, self.kdim, self.vdim


class HeadsBeforeSentences(MultiheadAttentionByHand):
    """The weights that it returns, not those that it uses, are in the wrong order."""

    def forward(self, *inputs, **arguments):
        output, weights = super().forward(*inputs, **arguments | {"average_attn_weights": False})
        if weights is None:
            return output, None
        heads_first = weights.reshape(weights.shape[1:2] + weights.shape[:1] + weights.shape[2:]).transpose(0, 1)
        return output, heads_first.mean(dim=1) if arguments.get("average_attn_weights", True) else heads_first


def test_what_is_right_up_to_the_output_is_not_called_wrong_from_the_start(few_combinations):
    message = drop_in.check(HeadsBeforeSentences).message
    assert "Right: output." in message
    assert "The tensor of all heads' weights differs: the numbers are the right ones, in other places." in message
    assert "first step" not in message


@pytest.mark.parametrize("candidate", [nn.MultiheadAttention, Subclass])
def test_torchs_own_module_is_not_an_answer(candidate, few_combinations):
    report = drop_in.check(candidate)
    assert report.verdict == "Not yet"
    assert BORROWED in report.message


def test_torchs_parameters_are_allowed(few_combinations):
    assert drop_in.check(OnlyItsParameters).passed


class Unlearned(MultiheadAttentionByHand):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.out_proj.weight.requires_grad_(False)


class Spoiling(MultiheadAttentionByHand):
    def forward(self, query, *others, **arguments):
        results = super().forward(query, *others, **arguments)
        query *= 2
        return results


class Detached(MultiheadAttentionByHand):
    def project(self, query, key, value):
        return super().project(query, key.detach(), value)


class DetachedWeights(MultiheadAttentionByHand):
    def forward(self, *inputs, **arguments):
        output, weights = super().forward(*inputs, **arguments)
        return output, weights if weights is None else weights.detach()


@pytest.mark.parametrize(
    ("candidate", "story"),
    [
        (Unlearned, "not an nn.Parameter, so training would never change it: out_proj.weight"),
        (Spoiling, "forward changed query, which belongs to the caller"),
        (Detached, "The numbers are right, but their gradients are not"),
        (DetachedWeights, "The numbers are right, but their gradients are not"),
    ],
)
def test_what_the_values_do_not_show(candidate, story, few_combinations):
    assert story in drop_in.check(candidate).message
