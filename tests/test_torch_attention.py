"""lessons.torch_attention beside torch.nn.MultiheadAttention: values, gradients, state dict, and what it refuses."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.torch_attention import (
    MultiheadAttentionByHand,
    attention_weights,
    in_projection,
    merge_masks,
    to_additive,
)

# Every size is different: B 2, L 5, S 7, E 12, H 3, d 4, kdim 9, vdim 10.
B, L, S, E, H = 2, 5, 7, 12, 3
SETTINGS = {
    "as by default": {},
    "no bias": {"bias": False},
    "kdim and vdim": {"kdim": 9, "vdim": 10},
    "vdim alone, no bias": {"vdim": 10, "bias": False},
    "add_bias_kv": {"add_bias_kv": True},
    "add_zero_attn": {"add_zero_attn": True},
    "both": {"add_bias_kv": True, "add_zero_attn": True},
    "batch_first": {"batch_first": True},
    "all at once": {"kdim": 9, "vdim": 10, "batch_first": True, "add_bias_kv": True, "add_zero_attn": True},
}
MASKS = ["none", "bool 2-D", "bool 3-D", "float 2-D", "float 3-D"]
PADDING = ["none", "bool", "float"]
OF_ONE_KIND = [(mask, kind) for mask in MASKS for kind in PADDING if "none" in (mask, kind) or mask.startswith(kind)]

every_setting = pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
every_mask = pytest.mark.parametrize("mask", MASKS)
every_padding = pytest.mark.parametrize("padding", PADDING)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def pair(dtype=torch.float64, **options):
    """Ours and torch's, with the same numbers drawn for each parameter."""
    ours, theirs = MultiheadAttentionByHand(E, H, **options), nn.MultiheadAttention(E, H, **options)
    for x in theirs.parameters():
        nn.init.normal_(x, std=0.5)
    ours.load_state_dict(theirs.state_dict())
    return ours.to(dtype), theirs.to(dtype)


def draw(dtype=torch.float64, kdim=E, vdim=E, batch_first=False, **others):
    inputs = [torch.randn(length, B, size, dtype=dtype) for length, size in ((L, E), (S, kdim), (S, vdim))]
    return [(x.transpose(0, 1) if batch_first else x).detach().requires_grad_() for x in inputs]


def draw_mask(kind, dtype=torch.float64):
    """None, bool with True = blocked, or float with a bias and -inf; the first key is open to all."""
    if kind == "none":
        return None
    shape = {"2-D": (L, S), "3-D": (B * H, L, S)}.get(kind.split()[-1], (B, S))
    blocked = torch.rand(shape) < 0.4
    blocked[..., 0] = False
    return blocked if kind.startswith("bool") else torch.randn(shape, dtype=dtype).masked_fill(blocked, -torch.inf)


def assert_same(ours, theirs, inputs, **arguments):
    """Outputs and weights, and the gradients of the inputs and of each parameter by its name."""
    mine, right = ours(*inputs, **arguments), theirs(*inputs, **arguments)
    assert_near(mine, right)
    gradients = [torch.linspace(-1, 2, x.numel(), dtype=x.dtype).view_as(x) for x in right if x is not None]
    found = []
    for module, results in ((ours, mine), (theirs, right)):
        names, parameters = zip(*module.named_parameters())
        wanted = [x for x in results if x is not None]
        values = torch.autograd.grad(wanted, [*inputs, *parameters], gradients)
        found.append(dict(zip((*range(len(inputs)), *names), values)))
    assert_near(*found)


def assert_near(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.one_of(5)
@every_setting
@pytest.mark.parametrize(("mask", "padding"), OF_ONE_KIND)
def test_values_and_gradients(options, mask, padding):
    arguments = {"attn_mask": draw_mask(mask), "key_padding_mask": draw_mask(padding)}
    assert_same(*pair(**options), draw(**options), **arguments)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("train", [True, False])
def test_what_is_returned(need_weights, average, train):
    ours, theirs = pair()
    arguments = {"need_weights": need_weights, "average_attn_weights": average, "attn_mask": draw_mask("bool 2-D")}
    assert_same(ours.train(train), theirs.train(train), draw(), **arguments)
    weights = ours(*draw(), **arguments)[1]
    assert (weights is None) != need_weights
    assert weights is None or weights.shape == ((B, L, S) if average else (B, H, L, S))


@every_setting
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("padding", [torch.arange(S) > 4, None], ids=["padding", "none"])
def test_without_a_batch(options, average, padding):
    blocked = draw_mask("bool 3-D")[:H]
    query, key, value = draw(**{**options, "batch_first": False})
    inputs = [x[:, 0].detach().requires_grad_() for x in (query, key, value)]
    arguments = {"attn_mask": blocked, "key_padding_mask": padding, "average_attn_weights": average}
    assert_same(*pair(**options), inputs, **arguments)


def test_a_batch_of_one_is_a_batch():
    assert_same(*pair(), [x[:, :1].detach().requires_grad_() for x in draw()])


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("padding", ["none", "bool"])
def test_the_hint_is_causal(need_weights, padding):
    arguments = {"attn_mask": torch.ones(L, S).triu(1).bool(), "key_padding_mask": draw_mask(padding)}
    assert_same(*pair(), draw(), need_weights=need_weights, is_causal=True, **arguments)


@every_setting
def test_fast_path(options):
    """In evaluation, without gradients, with an even number of heads torch goes another way."""
    ours, theirs = MultiheadAttentionByHand(E, 4, **options), nn.MultiheadAttention(E, 4, **options)
    ours.load_state_dict(theirs.state_dict())
    query, key, value = draw(torch.float32, **options)
    inputs = [query] * 3 if "vdim" not in options else [query, key, value]
    keys = L if "vdim" not in options else S
    blocked = torch.ones(L, keys).triu(1).bool()
    with torch.no_grad():
        mine, right = (module.eval()(*inputs, attn_mask=blocked) for module in (ours, theirs))
    torch.testing.assert_close(mine, right)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_other_precision(dtype):
    ours, theirs = pair(dtype, add_zero_attn=True)
    inputs, masks = draw(dtype), {"attn_mask": draw_mask("bool 2-D"), "key_padding_mask": draw_mask("bool")}
    mine, right = ours(*inputs, **masks), theirs(*inputs, **masks)
    assert [x.dtype for x in mine] == [dtype, dtype]
    torch.testing.assert_close(mine, right, rtol=2e-2, atol=2e-2)


def test_dropout_falls_on_the_weights_in_training_alone():
    ours, theirs = pair(dropout=0.5)
    inputs = draw()
    torch.manual_seed(1)
    mine = ours(*inputs, average_attn_weights=False)
    torch.manual_seed(1)
    assert_near(mine, theirs(*inputs, average_attn_weights=False))
    assert not mine[1].all()
    assert_same(ours.eval(), theirs.eval(), inputs)


@every_setting
def test_the_same_parameters(options):
    torch.manual_seed(3)
    ours = MultiheadAttentionByHand(E, H, **options).state_dict()
    torch.manual_seed(3)
    theirs = nn.MultiheadAttention(E, H, **options).state_dict()
    assert set(ours) == set(theirs)
    for name, x in theirs.items():
        assert torch.equal(ours[name], x), name


def test_a_query_that_may_look_at_nothing_gets_nan_as_step_by_step():
    ours, theirs = pair()
    nothing = torch.zeros(L, S, dtype=torch.bool)
    nothing[1] = True
    mine, right = (module(*draw(), attn_mask=nothing)[0] for module in (ours, theirs))
    assert mine[1].isnan().all() and right[1].isnan().all()
    assert mine[[0, 2, 3, 4]].isfinite().all()


def test_the_callers_tensors_stay_as_they_are():
    ours, _ = pair(add_bias_kv=True, add_zero_attn=True)
    given = [x.detach() for x in draw()] + [draw_mask("float 3-D"), draw_mask("float")]
    before = [x.clone() for x in given]
    ours(*given[:3], attn_mask=given[3], key_padding_mask=given[4])
    assert all(torch.equal(a, b) for a, b in zip(given, before))


def test_in_projection():
    query, key, value = draw()
    weight, bias = torch.randn(3 * E, E, dtype=torch.float64), torch.randn(3 * E, dtype=torch.float64)
    parts = in_projection(query, key, value, weight, bias)
    for i, (x, part) in enumerate(zip((query, key, value), parts)):
        assert_near(part, F.linear(x, weight, bias)[..., i * E : (i + 1) * E])
    assert_near(in_projection(query, key, value, weight, None)[2], value @ weight[2 * E :].T)


@every_mask
@every_padding
def test_merge_masks(mask, padding):
    attn, keys = draw_mask(mask), draw_mask(padding)
    merged = merge_masks(attn, keys, H, torch.float64)
    if attn is None and keys is None:
        assert merged is None
        return
    for row in range(B * H):
        expected = torch.zeros(L, S, dtype=torch.float64)
        if attn is not None:
            expected = expected + to_additive(attn if attn.dim() == 2 else attn[row], torch.float64)
        if keys is not None:
            expected = expected + to_additive(keys[row // H], torch.float64)
        assert torch.equal(merged.expand(B * H, L, S)[row], expected)


def test_to_additive():
    blocked = torch.tensor([False, True])
    assert to_additive(blocked, torch.float16).tolist() == [0.0, -torch.inf]
    assert to_additive(blocked, torch.float16).dtype == torch.float16
    bias = torch.tensor([0.5, -torch.inf])
    assert to_additive(bias, torch.float16) is bias


def test_attention_weights():
    q, k, mask = torch.randn(6, 5, 4), torch.randn(6, 7, 4), to_additive(draw_mask("bool 3-D"), torch.float32)
    eye = torch.eye(7).expand(6, 7, 7)
    torch.testing.assert_close(attention_weights(q, k, mask), F.scaled_dot_product_attention(q, k, eye, mask))
    torch.testing.assert_close(attention_weights(q, k, None), F.scaled_dot_product_attention(q, k, eye))


REFUSED_SETTINGS = [
    ({"embed_dim": 10}, "embed_dim is 10; expected a multiple of num_heads = 3"),
    ({"embed_dim": 0}, "embed_dim is 0; expected a whole number, 1 or more"),
    ({"num_heads": -1}, "num_heads is -1; expected a whole number, 1 or more"),
    ({"kdim": 0}, "kdim is 0; expected a whole number, 1 or more"),
    ({"vdim": -2}, "vdim is -2; expected a whole number, 1 or more"),
    ({"dropout": 1.5}, "dropout is 1.5; expected a fraction from 0 to 1"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED_SETTINGS)
def test_settings_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MultiheadAttentionByHand(**{"embed_dim": E, "num_heads": H, **options})


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize(("length", "batch", "keys"), [(L, 0, S), (0, B, S), (L, B, 0), (0, B, 0)])
def test_empty_inputs_are_those_of_torch(length, batch, keys, batch_first):
    inputs = [torch.randn(size, batch, E, dtype=torch.float64) for size in (length, keys, keys)]
    inputs = [x.transpose(0, 1) for x in inputs] if batch_first else inputs
    for ours, theirs in zip(*(module(*inputs) for module in pair(batch_first=batch_first))):
        assert ours.shape == theirs.shape
        assert_near(ours, theirs)


def test_all_may_be_dropped_as_in_torch():
    assert_near(*(module(*draw())[0] for module in pair(dropout=1.0)))


REFUSED_INPUTS = [
    ({"query": (L, B, 11)}, r"query has shape \(5, 2, 11\) as \(length, B, features\); expected 12 features"),
    ({"key": (S, B, 13)}, r"key has shape \(7, 2, 13\) .*; expected 12 features"),
    ({"key": (S, E)}, r"key has shape \(7, 12\) .*; expected 12 features"),
    ({"value": (S, B, 14)}, r"value has shape \(7, 2, 14\) .*; expected 12 features"),
    ({"value": (6, B, E)}, r"value \(6, 2, 12\), .*; expected one batch size, and as many values as keys"),
    ({"query": (L, 3, E)}, r"query \(5, 3, 12\), .*; expected one batch size, and as many values as keys"),
]


@pytest.mark.parametrize(("shapes", "message"), REFUSED_INPUTS)
def test_inputs_that_are_refused(shapes, message):
    inputs = {"query": (L, B, E), "key": (S, B, E), "value": (S, B, E), **shapes}
    with pytest.raises(ValueError, match=message):
        MultiheadAttentionByHand(E, H)(**{name: torch.randn(shape) for name, shape in inputs.items()})


REFUSED_MASKS = [
    ({"attn_mask": torch.zeros(S, L).bool()}, r"attn_mask has shape \(7, 5\); expected \(5, 7\) or \(6, 5, 7\)"),
    ({"attn_mask": torch.zeros(B, L, S).bool()}, r"attn_mask has shape \(2, 5, 7\); expected \(5, 7\) or \(6, 5, 7\)"),
    ({"key_padding_mask": torch.zeros(S, B).bool()}, r"key_padding_mask has shape \(7, 2\); expected \(2, 7\)"),
    ({"attn_mask": torch.zeros(L, S).long()}, "attn_mask is a tensor of torch.int64; expected bool, True = blocked"),
    (
        {"key_padding_mask": torch.zeros(B, S).double()},
        "key_padding_mask is a tensor of torch.float64; .*torch.float32",
    ),
    ({"is_causal": True}, r"^attn_mask is None and .*; expected the causal mask that is_causal promises$"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED_MASKS)
def test_masks_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultiheadAttentionByHand(E, H)(*draw(torch.float32), **arguments)


def test_to_additive_refuses_whole_numbers():
    with pytest.raises(ValueError, match=r"blocked is a tensor of torch.int64; expected a bool tensor"):
        to_additive(torch.zeros(2, 3).long(), torch.float32)
