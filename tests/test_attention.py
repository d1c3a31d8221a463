"""lessons.attention against torch's functional attention and nn.MultiheadAttention, and against plain loops."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import (
    MultiHeadAttention,
    attend,
    join_heads,
    masked_softmax,
    set_key_size,
    split_heads,
)
from lessons.masks import allowed_to_additive, allowed_to_blocked, causal, combine, padding_from_lengths

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 2e-2}
RULES = ["none", "causal", "causal with offset", "padding", "padding & causal", "random", "random with empty rows"]
EMPTY = [1, 4]

every_rule = pytest.mark.parametrize("rule", RULES)
every_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
every_lead = pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
both_paths = pytest.mark.parametrize("need_weights", [True, False])


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def draw_mask(rule, lead, queries=5, keys=7):
    lengths = padding_from_lengths([4, 7, 2][: lead[0]] if lead else [4], max_len=keys)
    padding = lengths.view(*lead[:1], *[1] * len(lead), keys)
    random = torch.rand(*lead, queries, keys) < 0.5
    random[..., 2] = True
    if rule == "random with empty rows":
        random[..., EMPTY, :] = False
    return {
        "none": None,
        "causal": causal(keys),
        "causal with offset": causal(queries, offset=keys - queries),
        "padding": padding,
        "padding & causal": combine(padding, causal(queries, offset=keys - queries)),
    }.get(rule, random)


def draw(rule="none", lead=(2, 3), dtype=torch.float64):
    """q, k and v that need gradients, and a mask: 5 queries (7 for a square mask), 7 keys, d 11, d_v 6."""
    sizes = (7 if rule == "causal" else 5, 11), (7, 11), (7, 6)
    q, k, v = (torch.randn(*lead, *size, dtype=dtype, requires_grad=True) for size in sizes)
    return q, k, v, draw_mask(rule, lead)


def with_gradients(output, inputs):
    """The output, and the gradients of a weighted sum of it, whose weights are the same in every call."""
    weights = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return [output, *torch.autograd.grad((output * weights).sum(), inputs)]


def assert_near(ours, theirs, tolerance):
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.one_of(5)
@every_rule
@every_dtype
@every_lead
@both_paths
def test_attend_is_torch_attention_in_values_and_gradients(rule, dtype, lead, need_weights):
    *qkv, allowed = draw(rule, lead, dtype)
    ours = with_gradients(attend(*qkv, allowed, need_weights=need_weights)[0], qkv)
    theirs = with_gradients(F.scaled_dot_product_attention(*qkv, attn_mask=allowed), qkv)
    assert_near(ours, theirs, TOLERANCE[dtype])


@every_rule
@both_paths
def test_attend_is_a_loop_over_queries_and_the_keys_they_may_look_at(rule, need_weights):
    q, k, v, allowed = draw(rule, lead=())
    keep = torch.ones(len(q), len(k), dtype=torch.bool) if allowed is None else allowed.expand(len(q), len(k))
    rows = [(k[keys] @ query / math.sqrt(11)).softmax(0) @ v[keys] for query, keys in zip(q, keep)]
    ours = with_gradients(attend(q, k, v, allowed, need_weights=need_weights)[0], (q, k, v))
    theirs = with_gradients(torch.stack(rows), (q, k, v))
    assert_near(ours, theirs, 1e-12)


@every_dtype
@every_lead
@both_paths
def test_a_query_without_keys_gives_zeros_and_harms_no_gradient(dtype, lead, need_weights):
    *qkv, allowed = draw("random with empty rows", lead, dtype)
    output, weights = attend(*qkv, allowed, need_weights=need_weights)
    assert not output[..., EMPTY, :].any()
    assert not need_weights or not weights[..., EMPTY, :].any()
    gradients = torch.autograd.grad(output.sum(), qkv)
    assert all(tensor.isfinite().all() for tensor in (output, *gradients))
    assert not gradients[0][..., EMPTY, :].any()


@both_paths
def test_scores_are_scaled_before_they_can_overflow(need_weights):
    x, v = torch.full((3, 64), 70.0, dtype=torch.float16), torch.randn(3, 5, dtype=torch.float16)
    output = attend(x, x, v, need_weights=need_weights)[0]  # 64 · 70² is more than float16 can hold
    assert_near(output, v.mean(0).expand(3, 5), TOLERANCE[torch.float16])


@every_rule
@every_lead
def test_each_row_of_weights_sums_to_one_and_blocked_keys_get_nothing(rule, lead):
    *qkv, allowed = draw(rule, lead)
    weights = attend(*qkv, allowed)[1]
    assert weights.shape == (*lead, qkv[0].size(-2), 7)
    blocked = torch.tensor(False) if allowed is None else ~allowed
    assert not weights[blocked.expand_as(weights)].any()
    total = torch.ones(weights.shape[:-1], dtype=torch.float64)
    if rule == "random with empty rows":
        total[..., EMPTY] = 0
    torch.testing.assert_close(weights.sum(-1), total)


def test_masked_softmax_is_softmax_over_the_allowed_keys_alone():
    scores, allowed = torch.randn(3, 5, 7), draw_mask("random with empty rows", (3,))
    before = scores.clone()
    ours = masked_softmax(scores, allowed)
    torch.testing.assert_close(scores, before)
    theirs = torch.zeros(3, 5, 7)
    for b in range(3):
        for query in range(5):
            theirs[b, query, allowed[b, query]] = scores[b, query, allowed[b, query]].softmax(0)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("low", [-1e4, -1e30])
def test_a_blocked_key_gets_nothing_however_bad_the_others_are(low):
    weights = masked_softmax(torch.tensor([[low, 0.0, low]]), torch.tensor([[True, False, True]]))
    torch.testing.assert_close(weights, torch.tensor([[0.5, 0.0, 0.5]]))


@both_paths
def test_leading_axes_broadcast(need_weights):
    q, k, v = torch.randn(2, 1, 5, 11), torch.randn(3, 7, 11), torch.randn(7, 6)
    allowed = draw_mask("random", (3,))
    ours = attend(q, k, v, allowed, need_weights=need_weights)[0]
    assert ours.shape == (2, 3, 5, 6)
    for b in range(2):
        for h in range(3):
            theirs = F.scaled_dot_product_attention(q[b, 0], k[h], v, attn_mask=allowed[h])
            torch.testing.assert_close(ours[b, h], theirs)


@both_paths
def test_a_mask_may_have_the_leading_axes_of_the_values(need_weights):
    q, k, v = torch.randn(5, 11), torch.randn(7, 11), torch.randn(3, 7, 6)
    allowed = draw_mask("random", (3,))
    ours = attend(q, k, v, allowed, need_weights=need_weights)[0]
    theirs = [F.scaled_dot_product_attention(q, k, v[b], attn_mask=allowed[b]) for b in range(3)]
    torch.testing.assert_close(ours, torch.stack(theirs))


def test_weights_come_only_when_they_are_asked_for():
    *qkv, allowed = draw("random")
    assert attend(*qkv, allowed, need_weights=False)[1] is None
    assert attend(*qkv, allowed)[1].shape == (2, 3, 5, 7)


def test_gradcheck_with_an_empty_row():
    *qkv, allowed = draw("random with empty rows", lead=(2,))
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, allowed), qkv)


@both_paths
def test_attend_changes_none_of_its_arguments(need_weights):
    arguments = [None if x is None else x.detach() for x in draw("random with empty rows")]
    before = [x.clone() for x in arguments]
    attend(*arguments, need_weights=need_weights)
    torch.testing.assert_close(arguments, before)


@both_paths
def test_dropout_drops_its_share_and_scales_up_the_rest(need_weights):
    q, k, v = torch.randn(300, 11), torch.randn(70, 11), torch.eye(70)  # with these values, the output is the weights
    weights = attend(q, k, v)[1]
    output = attend(q, k, v, dropout=0.3, need_weights=need_weights)[0]
    kept = output != 0
    assert abs(kept.double().mean() - 0.7) < 0.02
    torch.testing.assert_close(output[kept], weights[kept] / 0.7)
    assert abs(output.sum(-1).mean() - 1) < 0.02


def test_the_weights_are_those_before_dropout():
    *qkv, allowed = draw("random with empty rows")
    ours, theirs = attend(*qkv, allowed, dropout=0.3), attend(*qkv, allowed)
    torch.testing.assert_close(ours[1], theirs[1])
    assert not torch.allclose(ours[0], theirs[0])


@both_paths
@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        (((11,), (7, 11), (7, 6)), {}, r"q has shape \(11,\); expected at least two axes"),
        (((5, 11), (11,), (7, 6)), {}, r"k has shape \(11,\); expected at least two axes"),
        (((5, 11), (7, 11), ()), {}, r"v has shape \(\); expected at least two axes"),
        (((2, 5, 11), (2, 7, 6), (7, 6)), {}, "q has 11 features and k has 6; expected the same number"),
        (((5, 11), (7, 11), (5, 6)), {}, "there are 7 keys and 5 values; expected one value for each key"),
        (((5, 11), (7, 11), (7, 6)), {"dropout": -0.1}, "dropout is -0.1; expected a fraction from 0"),
        (((5, 11), (7, 11), (7, 6)), {"dropout": 1.0}, "dropout is 1.0; expected a fraction from 0"),
        (
            ((5, 11), (7, 11), (7, 6)),
            {"allowed": torch.ones(5, 7)},
            "allowed is a tensor of torch.float32; expected a bool tensor, True = may attend",
        ),
        (
            ((2, 3, 5, 11), (3, 7, 11), (7, 6)),
            {"allowed": torch.ones(7, 5, dtype=torch.bool)},
            r"allowed has shape \(7, 5\); expected one that broadcasts to \(2, 3, 5, 7\)",
        ),
        (
            ((5, 11), (7, 11), (7, 6)),
            {"allowed": torch.ones(2, 5, 7, dtype=torch.bool)},
            r"\(2, 5, 7\); expected one that broadcasts to \(5, 7\), whose last two axes are queries and keys$",
        ),
    ],
)
def test_attend_refuses_arguments_that_do_not_fit(sizes, options, message, need_weights):
    q, k, v = (torch.ones(size) for size in sizes)
    with pytest.raises(ValueError, match=message):
        attend(q, k, v, need_weights=need_weights, **options)


@both_paths
@pytest.mark.parametrize("lead", [((2,), (3,), ()), ((2,), (2,), (3,)), ((), (2,), (3,))])
def test_attend_refuses_leading_axes_that_do_not_broadcast(lead, need_weights):
    q, k, v = (torch.ones(*axes, *size) for axes, size in zip(lead, ((5, 11), (7, 11), (7, 6))))
    with pytest.raises(ValueError, match=r"^q \(.*\), k .*, v .*: expected leading axes .* that broadcast together$"):
        attend(q, k, v, causal(5, offset=2), need_weights=need_weights)


# --- MultiHeadAttention ---------------------------------------------------------------------------------------


def pair(dropout=0.0, bias=True, key_dim=None, value_dim=None):
    """Ours and torch's with the same weights: 3 heads, d_model 12."""
    ours = MultiHeadAttention(12, 3, dropout=dropout, bias=bias, key_dim=key_dim, value_dim=value_dim).double()
    theirs = nn.MultiheadAttention(12, 3, dropout, bias, kdim=key_dim, vdim=value_dim, batch_first=True).double()
    theirs.load_state_dict(in_torch_names(dict(ours.named_parameters()), theirs))
    return ours, theirs


def in_torch_names(ours, theirs):
    """Our parameters, or their gradients, joined as nn.MultiheadAttention joins them."""
    joined = {name: x for name, x in ours.items() if name.startswith("out_proj")}
    separate = [ours[f"{x}_proj.weight"] for x in "qkv"]
    if theirs.in_proj_weight is None:
        joined.update(zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), separate))
    else:
        joined["in_proj_weight"] = torch.cat(separate)
    if theirs.in_proj_bias is not None:
        joined["in_proj_bias"] = torch.cat([ours[f"{x}_proj.bias"] for x in "qkv"])
    return joined


def compare(modules, inputs, allowed=None, need_weights=True, **torch_masks):
    """Output and weights of both modules; with gradients of inputs and parameters where these are recorded."""
    ours, theirs = modules
    our_output, our_weights = ours(*inputs, allowed=allowed, need_weights=need_weights)
    their_output, their_weights = theirs(*inputs, need_weights=need_weights, average_attn_weights=False, **torch_masks)
    assert_near(our_output, their_output, 1e-10)
    assert (our_weights is None) == (not need_weights)
    if need_weights:
        assert_near(our_weights, their_weights, 1e-10)
    if torch.is_grad_enabled():
        our_named, their_named = dict(ours.named_parameters()), dict(theirs.named_parameters())
        our_gradients = with_gradients(our_output, [*inputs, *our_named.values()])
        their_gradients = with_gradients(their_output, [*inputs, *their_named.values()])
        assert_near(our_gradients[: 1 + len(inputs)], their_gradients[: 1 + len(inputs)], 1e-10)
        our_named = in_torch_names(dict(zip(our_named, our_gradients[1 + len(inputs) :])), theirs)
        their_named = dict(zip(their_named, their_gradients[1 + len(inputs) :]))
        assert_near(our_named, their_named, 1e-10)


def tensors(*sizes):
    return [torch.randn(*size, dtype=torch.float64, requires_grad=True) for size in sizes]


LENGTHS = [4, 7]


def torch_masks(rule):
    """A rule over 5 queries and 7 keys for 2 sentences and 3 heads: as ours, and as the arguments of torch."""
    time, padded = causal(5, offset=2), padding_from_lengths(LENGTHS)
    each_head = draw_mask("random", (2, 3))
    key_padding_mask = torch.arange(7) >= torch.tensor(LENGTHS)[:, None]
    return {
        "none": (None, {}),
        "causal": (time, {"attn_mask": allowed_to_blocked(time)}),
        "causal, additive": (time, {"attn_mask": allowed_to_additive(time, dtype=torch.float64)}),
        "padding": (padded, {"key_padding_mask": key_padding_mask}),
        "padding, converted": (padded, {"key_padding_mask": allowed_to_blocked(padded)[:, 0, 0]}),
        "padding & causal": (
            combine(padded, time),
            {"attn_mask": allowed_to_blocked(time), "key_padding_mask": key_padding_mask},
        ),
        "each head its own": (each_head, {"attn_mask": allowed_to_blocked(each_head).flatten(0, 1)}),
    }[rule]


@pytest.mark.one_of(5)
@pytest.mark.parametrize(
    "rule",
    ["none", "causal", "causal, additive", "padding", "padding, converted", "padding & causal", "each head its own"],
)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("train", [True, False])
@both_paths
def test_cross_attention_is_that_of_torch(rule, bias, train, need_weights):
    modules = [module.train(train) for module in pair(bias=bias)]
    allowed, theirs = torch_masks(rule)
    compare(modules, tensors((2, 5, 12), (2, 7, 12), (2, 7, 12)), allowed, need_weights, **theirs)


@pytest.mark.parametrize(("key_dim", "value_dim"), [(8, 10), (8, None), (None, 10)])
@both_paths
def test_keys_and_values_of_other_sizes_are_those_of_torch(key_dim, value_dim, need_weights):
    inputs = tensors((2, 5, 12), (2, 7, key_dim or 12), (2, 7, value_dim or 12))
    allowed, theirs = torch_masks("padding & causal")
    compare(pair(key_dim=key_dim, value_dim=value_dim), inputs, allowed, need_weights, **theirs)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("gradients", [True, False])  # torch has a fast path for eval without gradients
@both_paths
def test_self_attention_is_that_of_torch(train, gradients, need_weights):
    modules = [module.train(train) for module in pair()]
    (x,) = tensors((2, 7, 12))
    allowed = padding_from_lengths(LENGTHS)
    with torch.set_grad_enabled(gradients):
        blocked = allowed_to_blocked(allowed)[:, 0, 0]
        compare(modules, [x, x, x], allowed, need_weights, key_padding_mask=blocked)


def test_key_and_value_when_they_are_left_out():
    module = MultiHeadAttention(12, 3)
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    torch.testing.assert_close(module(x), module(x, x, x))
    torch.testing.assert_close(module(x, memory), module(x, memory, memory))


def heads_one_by_one(module, query, key, value, allowed):
    """The same module, where each head is computed by itself with its slice of the weights."""
    d = module.head_dim
    output, all_weights = module.out_proj.bias, []
    for h in range(module.num_heads):
        own = slice(h * d, (h + 1) * d)
        q, k, v = (
            x @ layer.weight[own].T + layer.bias[own]
            for x, layer in ((query, module.q_proj), (key, module.k_proj), (value, module.v_proj))
        )
        scores = (q @ k.mT / math.sqrt(d)).masked_fill(~allowed[:, h], -torch.inf)
        weights = scores.softmax(-1).nan_to_num(0.0)
        output = output + weights @ v @ module.out_proj.weight[:, own].T
        all_weights.append(weights)
    return output, torch.stack(all_weights, dim=1)


@pytest.mark.parametrize(("head_dim", "out_dim"), [(None, None), (5, None), (None, 11), (5, 11)])
@pytest.mark.parametrize("rule", ["random", "random with empty rows"])
@both_paths
def test_heads_are_computed_one_by_one(head_dim, out_dim, rule, need_weights):
    module = MultiHeadAttention(12, 3, head_dim=head_dim, out_dim=out_dim, key_dim=8, value_dim=10).double()
    inputs = tensors((2, 5, 12), (2, 7, 8), (2, 7, 10))
    allowed = draw_mask(rule, (2, 3))
    output, weights = module(*inputs, allowed, need_weights=need_weights)
    their_output, their_weights = heads_one_by_one(module, *inputs, allowed)
    assert module.head_dim == (head_dim or 4)
    assert output.shape == (2, 5, out_dim or 12)
    assert_near(output, their_output, 1e-12)
    if need_weights:
        assert weights.shape == (2, 3, 5, 7)
        assert_near(weights, their_weights, 1e-12)


@both_paths
def test_a_query_without_keys_gets_the_bias_alone(need_weights):
    module = MultiHeadAttention(12, 3).double()
    (x,) = tensors((2, 5, 12))
    allowed = torch.ones(5, 5, dtype=torch.bool)
    allowed[EMPTY] = False
    output = module(x, allowed=allowed, need_weights=need_weights)[0]
    theirs = module.out_proj.bias.expand(2, len(EMPTY), 12)
    torch.testing.assert_close(output[:, EMPTY], theirs)
    gradients = torch.autograd.grad(output.sum(), [x, *module.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_heads_are_split_and_joined_in_order():
    x = torch.randn(2, 5, 21)
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 7)
    for h in range(3):
        torch.testing.assert_close(heads[:, h], x[:, :, 7 * h : 7 * h + 7])
    torch.testing.assert_close(join_heads(heads), x)


def test_dropout_acts_in_training_only():
    module = MultiHeadAttention(12, 3, dropout=0.5)
    without = MultiHeadAttention(12, 3)
    without.load_state_dict(module.state_dict())
    x = torch.randn(2, 5, 12)
    for need_weights in (True, False):
        theirs = without(x, need_weights=need_weights)
        torch.testing.assert_close(module.eval()(x, need_weights=need_weights), theirs)
        ours = module.train()(x, need_weights=need_weights)
        assert not torch.allclose(ours[0], theirs[0])
        torch.testing.assert_close(ours[1], theirs[1])


def test_the_names_of_the_parameters():
    names = {f"{layer}_proj.{kind}" for layer in ("q", "k", "v", "out") for kind in ("weight", "bias")}
    assert set(MultiHeadAttention(12, 3).state_dict()) == names
    assert set(MultiHeadAttention(12, 3, bias=False).state_dict()) == {name for name in names if "weight" in name}


@both_paths
def test_with_a_causal_mask_no_output_depends_on_a_later_token(need_weights):
    module = MultiHeadAttention(12, 3).double()
    x = torch.randn(2, 7, 12, dtype=torch.float64)
    before = module(x, allowed=causal(7), need_weights=need_weights)[0]
    for t in range(6):
        changed = x.clone()
        changed[:, t + 1] += 1
        after = module(changed, allowed=causal(7), need_weights=need_weights)[0]
        assert_near(after[:, : t + 1], before[:, : t + 1], 1e-14)
        assert not torch.isclose(after[:, t + 1 :], before[:, t + 1 :]).all(-1).any()


@both_paths
def test_padding_moves_nothing(need_weights):
    module = MultiHeadAttention(12, 3).double()
    query, memory = torch.randn(2, 5, 12, dtype=torch.float64), torch.randn(2, 7, 12, dtype=torch.float64)
    allowed = padding_from_lengths(LENGTHS)
    before = module(query, memory, allowed=allowed, need_weights=need_weights)
    memory[0, 4:] = 1e3
    assert_near(module(query, memory, allowed=allowed, need_weights=need_weights), before, 1e-14)
    memory[0, 3] = 1e3
    assert not torch.allclose(module(query, memory, allowed=allowed, need_weights=need_weights)[0], before[0])


@both_paths
def test_sentences_of_one_batch_do_not_influence_each_other(need_weights):
    module = MultiHeadAttention(12, 3).double()
    x = torch.randn(2, 7, 12, dtype=torch.float64)
    allowed = combine(padding_from_lengths(LENGTHS), causal(7))
    together = module(x, allowed=allowed, need_weights=need_weights)[0]
    for b, length in enumerate(LENGTHS):
        alone = module(x[b : b + 1, :length], allowed=causal(length), need_weights=need_weights)[0]
        assert_near(together[b : b + 1, :length], alone, 1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"d_model": 12, "num_heads": 0}, "num_heads is 0; expected a whole number, 1 or more"),
        ({"d_model": 12, "num_heads": 5}, "d_model is 12; expected a multiple of num_heads = 5, or a head_dim"),
        ({"d_model": 12, "num_heads": 3, "dropout": 1.0}, "dropout is 1.0; expected a fraction from 0"),
        ({"d_model": 12, "num_heads": 3, "dropout": -0.5}, "dropout is -0.5; expected a fraction from 0"),
    ],
)
def test_multi_head_attention_refuses_bad_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(**arguments)


@pytest.mark.parametrize(
    ("sizes", "mask", "message"),
    [
        (((5, 12), (2, 7, 8), (2, 7, 10)), None, r"query has shape \(5, 12\); expected \(B, length, 12\)"),
        (((2, 5, 8), (2, 7, 8), (2, 7, 10)), None, r"query has shape \(2, 5, 8\); expected \(B, length, 12\)"),
        (((2, 5, 12), (2, 7, 12), (2, 7, 10)), None, r"key has shape \(2, 7, 12\); expected \(B, length, 8\)"),
        (((2, 5, 12), (2, 7, 8), (2, 7, 8)), None, r"value has shape \(2, 7, 8\); expected \(B, length, 10\)"),
        (
            ((2, 5, 12), (3, 7, 8), (3, 7, 10)),
            None,
            r"query \(2, 5, 12\), key \(3, 7, 8\), value \(3, 7, 10\); expected one batch size",
        ),
        (((2, 5, 12), (2, 7, 8), (3, 7, 10)), None, "expected one batch size, and as many values as keys"),
        (((2, 5, 12), (2, 7, 8), (2, 5, 10)), None, "expected one batch size, and as many values as keys"),
        (((2, 5, 12), (2, 7, 8), (2, 7, 10)), (2, 5, 7), r"allowed has shape \(2, 5, 7\); expected \(Q, K\) or four"),
        (((2, 5, 12), (2, 7, 8), (2, 7, 10)), (7,), r"allowed has shape \(7,\); expected \(Q, K\) or four axes"),
        (((2, 5, 12), (2, 7, 8), (2, 7, 10)), (2, 5, 7), r"; for one mask per sentence pass allowed\[:, None\]$"),
        (((2, 5, 12), (2, 7, 8), (2, 7, 10)), (7, 5), r"\(7, 5\); expected one that broadcasts to \(2, 3, 5, 7\)"),
    ],
)
def test_multi_head_attention_refuses_inputs_that_do_not_fit(sizes, mask, message):
    module = MultiHeadAttention(12, 3, key_dim=8, value_dim=10)
    allowed = None if mask is None else torch.ones(mask, dtype=torch.bool)
    with pytest.raises(ValueError, match=message):
        module(*(torch.ones(size) for size in sizes), allowed)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: split_heads(torch.ones(5, 12), 3), r"x has shape \(5, 12\); expected \(B, T, a multiple of num_heads"),
        (lambda: split_heads(torch.ones(2, 5, 12), 7), r"x has shape \(2, 5, 12\); expected .* num_heads = 7\)"),
        (lambda: join_heads(torch.ones(2, 5, 12)), r"x has shape \(2, 5, 12\); expected \(B, H, T, d\)"),
    ],
)
def test_heads_of_another_shape_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        function()


@pytest.mark.parametrize("size", ["d_model", "num_heads", "head_dim", "key_dim", "value_dim", "out_dim"])
@pytest.mark.parametrize("value", [0, -1])
def test_sizes_below_one_are_refused(size, value):
    with pytest.raises(ValueError, match=f"{size} is {value}; expected a whole number, 1 or more"):
        MultiHeadAttention(**{"d_model": 6, "num_heads": 2, size: value})


def test_split_heads_refuses_no_heads():
    with pytest.raises(ValueError, match="num_heads is 0; expected a whole number, 1 or more"):
        split_heads(torch.ones(2, 3, 4), 0)


def test_set_key_size_changes_queries_and_keys_alone():
    model = nn.ModuleList([MultiHeadAttention(12, 3), MultiHeadAttention(12, 3, bias=False)])
    values = [layer.v_proj.weight for layer in model]
    set_key_size(model, 2)
    for layer, v in zip(model, values):
        assert layer.q_proj.weight.shape == layer.k_proj.weight.shape == (6, 12)
        assert layer.v_proj.weight is v
        output, weights = layer(torch.randn(2, 5, 12))
        assert output.shape == (2, 5, 12) and weights.shape == (2, 3, 5, 5)
    assert model[0].k_proj.bias.tolist() == [0.0] * 6 and model[1].k_proj.bias is None


def test_set_key_size_keeps_the_dtype():
    layer = MultiHeadAttention(12, 3).double()
    set_key_size(layer, 2)
    assert layer.q_proj.weight.dtype == layer.k_proj.weight.dtype == torch.float64


def test_errors_of_set_key_size():
    with pytest.raises(ValueError, match="size is 0; expected a whole number, 1 or more"):
        set_key_size(MultiHeadAttention(4, 2), 0)
    with pytest.raises(ValueError, match=r"^model has rotary positions, made for the old size; expected one without$"):
        set_key_size(MultiHeadAttention(4, 2, rotary=nn.Identity()), 2)


def test_a_list_is_no_mask():
    q = torch.ones(2, 3)
    with pytest.raises(ValueError, match="allowed is a list; expected a bool tensor"):
        attend(q, q, q, [[True, False], [True, True]])
    with pytest.raises(ValueError, match="allowed is a list; expected a bool tensor"):
        MultiHeadAttention(3, 1)(q[None], allowed=[[True, False], [True, True]])
