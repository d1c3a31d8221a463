"""lessons.masks: the rules themselves, and the converters against what torch does with each convention."""

import math
import random
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from lessons.attention import attend
from lessons.masks import (
    additive_to_allowed,
    additive_to_blocked,
    allowed_to_additive,
    allowed_to_blocked,
    blocked_to_additive,
    blocked_to_allowed,
    causal,
    chunked,
    combine,
    local_and_global,
    packed,
    padding,
    padding_from_lengths,
    prefix_causal,
    sliding_window,
    strided,
    tree,
    window_with_sinks,
)
from lessons.tiled import tiled_attention

INF = math.inf
ALLOWED = torch.tensor([[True, False, True], [False, False, False], [True, True, True], [False, True, False]])
BLOCKED = torch.tensor([[False, True, False], [True, True, True], [False, False, False], [True, False, True]])
ADDITIVE = torch.tensor([[0.0, -INF, 0.0], [-INF, -INF, -INF], [0.0, 0.0, 0.0], [-INF, 0.0, -INF]])
CONVERTERS = {
    "allowed_to_blocked": (allowed_to_blocked, ALLOWED, BLOCKED),
    "blocked_to_allowed": (blocked_to_allowed, BLOCKED, ALLOWED),
    "allowed_to_additive": (allowed_to_additive, ALLOWED, ADDITIVE),
    "additive_to_allowed": (additive_to_allowed, ADDITIVE, ALLOWED),
    "blocked_to_additive": (blocked_to_additive, BLOCKED, ADDITIVE),
    "additive_to_blocked": (additive_to_blocked, ADDITIVE, BLOCKED),
}
every_converter = pytest.mark.parametrize(("convert", "given", "theirs"), CONVERTERS.values(), ids=CONVERTERS)


@pytest.mark.parametrize(("queries", "offset"), [(0, 0), (1, 0), (5, 0), (5, 2), (1, 7), (0, 3)])
def test_causal_lets_a_query_see_itself_and_what_came_before(queries, offset):
    ours = causal(queries, offset=offset)
    theirs = torch.empty(queries, offset + queries, dtype=torch.bool)
    for query in range(queries):
        for key in range(offset + queries):
            theirs[query, key] = key in range(offset + query + 1)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("offset", [1, 2, 7])
def test_causal_with_cached_keys_is_the_end_of_the_whole_mask(offset):
    torch.testing.assert_close(causal(3, offset=offset), causal(3 + offset)[-3:])


def test_masks_are_made_on_the_device_that_is_asked_for():
    assert causal(5, device="meta").device.type == "meta"
    assert allowed_to_additive(causal(5, device="meta")).device.type == "meta"


def test_causal_is_the_mask_that_torch_means_by_is_causal():
    q, k, v = torch.randn(3, 2, 5, 7).unbind()
    ours = F.scaled_dot_product_attention(q, k, v, attn_mask=causal(5))
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("pad_id", [0, 3, -1])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_padding_allows_every_id_but_pad_id(pad_id, dtype):
    ids = torch.tensor([[0, 3, -1, 7, 3], [5, 0, 0, -1, -1]], dtype=dtype)
    ours = padding(ids, pad_id=pad_id)
    theirs = torch.empty(2, 1, 1, 5, dtype=torch.bool)
    for sentence in range(2):
        for key in range(5):
            theirs[sentence, 0, 0, key] = ids[sentence, key].item() != pad_id
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("max_len", [None, 7, 11])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_padding_from_lengths_allows_the_first_keys(max_len, as_tensor):
    lengths = [2, 7, 0]
    num_keys = max_len or 7
    ours = padding_from_lengths(torch.tensor(lengths) if as_tensor else lengths, max_len=max_len)
    theirs = torch.empty(3, 1, 1, num_keys, dtype=torch.bool)
    for sentence, length in enumerate(lengths):
        for key in range(num_keys):
            theirs[sentence, 0, 0, key] = key in range(length)
    torch.testing.assert_close(ours, theirs)


def test_empty_sentences_have_no_keys():
    assert padding_from_lengths([0, 0], max_len=0).shape == (2, 1, 1, 0)


def test_ids_and_their_lengths_give_the_same_padding():
    ids = torch.tensor([[5, 6, 9, 9, 9], [5, 6, 7, 5, 6], [6, 9, 9, 9, 9]])
    torch.testing.assert_close(padding(ids, pad_id=9), padding_from_lengths([2, 5, 1]))


def test_combine_allows_what_every_rule_allows():
    rules = padding_from_lengths([5, 2, 4]), causal(5), torch.rand(3, 2, 1, 5) < 0.7
    ours = combine(rules[0], None, *rules[1:])
    assert ours.shape == (3, 2, 5, 5)
    for place in torch.cartesian_prod(*map(torch.arange, ours.shape)).tolist():
        b, h, q, k = place
        theirs = rules[0][b, 0, 0, k] and rules[1][q, k] and rules[2][b, h, 0, k]
        assert ours[b, h, q, k] == theirs, place


def test_combine_of_a_single_rule_is_that_rule():
    torch.testing.assert_close(combine(None, causal(3), None), causal(3))


def test_combine_of_no_rule_is_none():
    assert combine() is None
    assert combine(None, None) is None


@every_converter
def test_each_converter_against_masks_written_by_hand(convert, given, theirs):
    torch.testing.assert_close(convert(given), theirs)
    torch.testing.assert_close(convert(given[:, None, :, None]), theirs[:, None, :, None])


@every_converter
def test_converters_leave_their_argument_alone(convert, given, theirs):
    argument = given.clone()
    convert(argument)
    torch.testing.assert_close(argument, given)


@pytest.mark.parametrize("there", CONVERTERS)
def test_there_and_back_gives_the_same_mask(there):
    back = "_to_".join(reversed(there.split("_to_")))
    given = CONVERTERS[there][1]
    torch.testing.assert_close(CONVERTERS[back][0](CONVERTERS[there][0](given)), given)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["allowed_to_additive", "blocked_to_additive"])
def test_an_additive_mask_has_the_dtype_that_is_asked_for(name, dtype):
    convert, given, theirs = CONVERTERS[name]
    torch.testing.assert_close(convert(given, dtype=dtype), theirs.to(dtype))


@pytest.fixture
def attention():
    """q, k, v, a mask without empty rows, and the outputs: each query computed from the keys it may attend to."""
    torch.manual_seed(0)
    q, k, v = torch.randn(5, 6), torch.randn(7, 6), torch.randn(7, 6)
    allowed = torch.rand(5, 7) < 0.5
    allowed[:, 2] = True
    rows = [(k[keep] @ query / math.sqrt(6)).softmax(0) @ v[keep] for query, keep in zip(q, allowed)]
    return q, k, v, allowed, torch.stack(rows)


@pytest.mark.parametrize("convert", [lambda allowed: allowed, allowed_to_additive])
def test_functional_attention_reads_allowed_and_additive_as_we_do(attention, convert):
    q, k, v, allowed, theirs = attention
    ours = F.scaled_dot_product_attention(q, k, v, attn_mask=convert(allowed))
    torch.testing.assert_close(ours, theirs)


def identity_attention():
    """nn.MultiheadAttention with one head whose projections change nothing."""
    module = nn.MultiheadAttention(6, 1, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(6).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(6))
    return module


@pytest.mark.parametrize("convert", [allowed_to_blocked, allowed_to_additive])
def test_the_torch_module_reads_blocked_and_additive_as_we_do(attention, convert):
    q, k, v, allowed, theirs = attention
    ours = identity_attention()(q[None], k[None], v[None], attn_mask=convert(allowed))[0][0]
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("convert", [allowed_to_blocked, allowed_to_additive])
def test_the_torch_module_reads_our_padding_as_key_padding_mask(attention, convert):
    q, k, v, *_ = attention
    allowed = padding_from_lengths([3, 7], max_len=7)
    x = [tensor.expand(2, -1, -1) for tensor in (q, k, v)]
    ours = identity_attention()(*x, key_padding_mask=convert(allowed)[:, 0, 0])[0]
    theirs = [(q @ k[:n].T / math.sqrt(6)).softmax(-1) @ v[:n] for n in (3, 7)]
    torch.testing.assert_close(ours, torch.stack(theirs))


@pytest.mark.parametrize("convert", [allowed_to_blocked, blocked_to_allowed, allowed_to_additive, blocked_to_additive])
@pytest.mark.parametrize("bad", [ALLOWED.float(), ALLOWED.long(), ALLOWED.tolist(), None])
def test_a_bool_mask_that_is_none_is_refused(convert, bad):
    name = convert.__name__.split("_")[0]
    kind = f"a tensor of {bad.dtype}" if isinstance(bad, torch.Tensor) else f"a {type(bad).__name__}"
    meaning = {"allowed": "True = may attend", "blocked": "True = may not attend"}[name]
    # blocked_to_additive is blocked_to_allowed first, so its message speaks of `blocked`
    with pytest.raises(ValueError, match=f"^{name} is {kind}; expected a bool tensor, {meaning}$"):
        convert(bad)


@pytest.mark.parametrize("convert", [additive_to_allowed, additive_to_blocked])
class TestBadAdditiveMasks:
    @pytest.mark.parametrize("strange", ["-1e+09", "-1", "0.5", "nan", "inf"])
    def test_a_number_other_than_zero_and_minus_infinity(self, convert, strange):
        additive = ADDITIVE.clone()
        additive[2, 1] = float(strange)
        with pytest.raises(ValueError, match=f"^additive contains {strange.replace('+', '.')}; expected only 0 an"):
            convert(additive)

    @pytest.mark.parametrize("bad", [ALLOWED, ALLOWED.long(), ADDITIVE.tolist()])
    def test_no_floats(self, convert, bad):
        kind = f"a tensor of {bad.dtype}" if isinstance(bad, torch.Tensor) else "a list"
        with pytest.raises(ValueError, match=f"^additive is {kind}; expected a float tensor of 0 and -inf"):
            convert(bad)


@pytest.mark.parametrize("convert", [allowed_to_additive, blocked_to_additive])
def test_an_additive_mask_of_integers_is_refused(convert):
    with pytest.raises(ValueError, match=r"^dtype is torch.int32; expected a floating-point type"):
        convert(ALLOWED, dtype=torch.int32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_queries": -2}, "num_queries is -2; expected a whole number, 0 or more"),
        ({"num_queries": 3, "offset": -1}, "offset is -1; expected a whole number, 0 or more"),
    ],
)
def test_causal_refuses_negative_numbers(arguments, message):
    with pytest.raises(ValueError, match=message):
        causal(**arguments)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.ones(2, 3), "ids is a tensor of torch.float32; expected a tensor of integers"),
        (torch.ones(2, 3, dtype=torch.bool), "ids is a tensor of torch.bool; expected a tensor of integers"),
        ([[5, 6, 0]], "ids is a list; expected a tensor of integers"),
        (torch.tensor([5, 6, 0]), r"ids has shape \(3,\); expected \(B, K\)"),
        (torch.ones(2, 3, 5, dtype=torch.long), r"ids has shape \(2, 3, 5\); expected \(B, K\)"),
    ],
)
def test_padding_refuses_what_is_no_batch_of_ids(ids, message):
    with pytest.raises(ValueError, match=message):
        padding(ids, pad_id=0)


@pytest.mark.parametrize(
    ("lengths", "max_len", "message"),
    [
        ([3, 8, 2], 7, r"lengths is \[3, 8, 2\]; expected each from 0 to max_len = 7"),
        ([3, -1], None, r"lengths is \[3, -1\]; expected each from 0 to max_len = 3"),
        ([], None, r"lengths is \[\]; expected a list of one or more integers"),
        ([2.0, 3.0], None, r"lengths is \[2.0, 3.0\]; expected a list of one or more integers"),
        ([True, False], None, r"lengths is \[True, False\]; expected a list of one or more integers"),
        ([[2], [3]], None, r"lengths is \[\[2\], \[3\]\]; expected a list of one or more integers"),
        (3, None, r"lengths is 3; expected a list of one or more integers"),
    ],
)
def test_padding_from_lengths_refuses_bad_lengths(lengths, max_len, message):
    with pytest.raises(ValueError, match=message):
        padding_from_lengths(lengths, max_len=max_len)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ((causal(3), causal(3).float()), "a rule is a tensor of torch.float32; expected a bool tensor"),
        ((causal(3).long(),), "a rule is a tensor of torch.int64; expected a bool tensor"),
        ((True, causal(3)), "a rule is a bool; expected a bool tensor, True = may attend"),
        ((causal(3), causal(2)), r"the rules have shapes \(3, 3\), \(2, 2\); expected shapes that broadcast"),
    ],
)
def test_combine_refuses_bad_rules(rules, message):
    with pytest.raises(ValueError, match=message):
        combine(*rules)


@pytest.mark.parametrize("lengths", ["ab", [[1, 2], [3]], [1.5], torch.tensor([1 + 2j])])
def test_lengths_that_are_no_integers_are_refused(lengths):
    with pytest.raises(ValueError, match=r"lengths is .*; expected a list of one or more integers"):
        padding_from_lengths(lengths)


def test_other_numbers_that_are_no_integers_are_refused():
    with pytest.raises(ValueError, match=r"num_queries is 2.5; expected a whole number"):
        causal(2.5)
    with pytest.raises(ValueError, match=r"offset is 0.5; expected a whole number"):
        causal(2, offset=0.5)
    with pytest.raises(ValueError, match=r"ids is a tensor of torch.complex64"):
        padding(torch.tensor([[1 + 2j]]), pad_id=0)
    with pytest.raises(ValueError, match=r"dtype is float32; expected a floating-point type"):
        allowed_to_additive(causal(2), dtype="float32")


def document(lengths, position):
    return sum(position >= sum(lengths[: i + 1]) for i in range(len(lengths)))


PARENTS = [-1, 0, 0, 1, 2, 2, 4]
DESCENDANTS = {(query, key) for query, key in enumerate(PARENTS) if key >= 0}
for _ in PARENTS:
    DESCENDANTS |= {(query, above) for query, key in DESCENDANTS for below, above in DESCENDANTS if key == below}


def is_below(offset):
    """The rule of `tree` in a table, because FlexAttention asks with tensors of any place."""
    table = torch.zeros(offset + 7, offset + 7, dtype=torch.bool)
    for query in range(7):
        for key in range(7):
            table[offset + query, offset + key] = query == key or (query, key) in DESCENDANTS
    return lambda query, key: (key < offset) | table[query, key]


# Each rule at 7 queries, and what FlexAttention's mask_mod says of the places of one query and one key in the text.
RULES = {
    "causal": (lambda o: causal(7, offset=o), lambda o: lambda q, k: k <= q),
    "sliding_window": (lambda o: sliding_window(7, 3, offset=o), lambda o: lambda q, k: q - k < 3),
    "window_with_sinks": (
        lambda o: window_with_sinks(7, 2, 1, offset=o),
        lambda o: lambda q, k: (q - k < 2) | (k == 0),
    ),
    "prefix_causal": (lambda o: prefix_causal(7, 4, offset=o), lambda o: lambda q, k: (k < 4) | (k <= q)),
    "packed": (
        lambda o: packed([o, 3, 0, 4], offset=o),
        lambda o: lambda q, k: document([o, 3, 4], q) == document([o, 3, 4], k),
    ),
    "local_and_global": (
        lambda o: local_and_global(7, 2, 3, offset=o),
        lambda o: lambda q, k: ((k - q < 2) & (q - k < 2)) | (q < 3) | (k < 3),
    ),
    "strided": (lambda o: strided(7, 3, offset=o), lambda o: lambda q, k: q % 3 == k % 3),
    "chunked": (lambda o: chunked(7, 4, offset=o), lambda o: lambda q, k: q - q % 4 == k - k % 4),
    "tree": (lambda o: tree(PARENTS, offset=o), is_below),
}


@pytest.mark.one_of(5)
@pytest.mark.parametrize("offset", [0, 1, 5])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_a_rule_is_the_same_in_the_course_in_sdpa_and_in_flex_attention(rule, offset):
    ours, theirs = RULES[rule]
    allowed, asked = ours(offset), theirs(offset)
    places = [[asked(torch.tensor(q), torch.tensor(k)) for k in range(offset + 7)] for q in range(offset, offset + 7)]
    assert torch.equal(allowed, torch.tensor(places))

    generator = torch.Generator().manual_seed(offset)
    real = torch.rand(2, offset + 7, generator=generator) < 0.4  # the others are padding: some queries have no key
    real[1] = False
    q, k, v = (torch.randn(2, 3, n, 4, generator=generator) for n in (7, offset + 7, offset + 7))
    block_mask = create_block_mask(
        lambda b, h, i, j: asked(i + offset, j) & real[b, j], 2, None, 7, offset + 7, device="cpu"
    )
    allowed = allowed & real[:, None, None, :]
    found, weights = attend(q, k, v, allowed)
    assert (weights.sum(-1)[1] == 0).all()
    for other in (
        attend(q, k, v, allowed, need_weights=False)[0],
        F.scaled_dot_product_attention(q, k, v, attn_mask=allowed),
        flex_attention(q, k, v, block_mask=block_mask),
        tiled_attention(q, k, v, allowed, query_block=3, key_block=2),
    ):
        torch.testing.assert_close(other, found, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    "rule",
    [
        partial(sliding_window, 7, 3),
        partial(window_with_sinks, 7, 2, 1),
        partial(prefix_causal, 7, 4),
        partial(packed, [3, 0, 4]),
        partial(local_and_global, 7, 2, 3),
        partial(strided, 7, 3),
        partial(chunked, 7, 4),
        partial(tree, PARENTS),
    ],
    ids=lambda rule: rule.func.__name__,
)
def test_without_an_offset_the_first_query_is_the_first_token(rule):
    assert torch.equal(rule(), rule(offset=0))


def draw_sizes(seed):
    draw = random.Random(seed)
    return draw.randrange(0, 9), draw.randrange(0, 7), draw.randrange(1, 6), draw.randrange(0, 5)


@pytest.mark.parametrize("seed", range(10))
def test_a_rule_with_cached_keys_is_the_end_of_the_whole_rule(seed):
    queries, offset, size, few = draw_sizes(seed)
    for rule in (
        lambda n, o: sliding_window(n, size, offset=o),
        lambda n, o: window_with_sinks(n, size, few, offset=o),
        lambda n, o: prefix_causal(n, few, offset=o),
        lambda n, o: packed([few, 0, queries + offset], offset=o + few)[:, few:],
        lambda n, o: local_and_global(n, size, few, offset=o),
        lambda n, o: strided(n, size, offset=o),
        lambda n, o: chunked(n, size, offset=o),
    ):
        assert torch.equal(rule(queries, offset), rule(offset + queries, 0)[offset:])


def test_the_last_keys_of_each_query():
    assert sliding_window(3, 2, offset=1).int().tolist() == [[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]]
    both = sliding_window(3, 2, offset=1) & causal(3, offset=1)
    assert both.int().tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert sliding_window(0, 2).shape == (0, 0)


def test_a_stride_in_a_window_is_a_dilated_window():
    both = causal(6) & sliding_window(6, 2 * 2) & strided(6, 2)
    assert both[5].int().tolist() == [0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_rules_of_today_are_made_on_the_device_that_is_asked_for(device):
    for allowed in (
        sliding_window(5, 2, device=device),
        window_with_sinks(5, 2, 1, device=device),
        prefix_causal(5, 2, device=device),
        packed([2, 3], device=device),
        local_and_global(5, 2, 1, device=device),
        strided(5, 2, device=device),
        chunked(5, 2, device=device),
        tree([-1, 0], device=device),
    ):
        assert (allowed.device.type, allowed.dtype) == (device, torch.bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sliding_window(3, 0), "window is 0; expected a whole number, 1 or more"),
        (lambda: sliding_window(-1, 2), "num_queries is -1; expected a whole number, 0 or more"),
        (lambda: window_with_sinks(3, 2, -1), "sinks is -1; expected a whole number, 0 or more"),
        (lambda: window_with_sinks(3, 2, 1, offset=-1), "offset is -1; expected a whole number, 0 or more"),
        (lambda: prefix_causal(3, 1.0), r"prefix is 1\.0; expected a whole number, 0 or more"),
        (lambda: packed(3), "lengths is a int; expected a list of whole numbers"),
        (lambda: packed(torch.tensor([3])), "lengths is a tensor of torch.int64; expected a list of whole numbers"),
        (lambda: packed([2, -1]), r"lengths\[1\] is -1; expected a whole number, 0 or more"),
        (lambda: packed([2, 1], offset=4), "offset is 4; expected a whole number from 0 to 3"),
        (lambda: local_and_global(3, 0, 1), "window is 0; expected a whole number, 1 or more"),
        (lambda: local_and_global(3, 1, -1), "global_tokens is -1; expected a whole number, 0 or more"),
        (lambda: strided(3, 0), "stride is 0; expected a whole number, 1 or more"),
        (lambda: chunked(3, True), "chunk is True; expected a whole number, 1 or more"),
        (lambda: tree("01"), "parents is a str; expected a list of whole numbers"),
        (lambda: tree([-1, 1]), r"parents\[1\] is 1; expected a whole number from -1 to 0"),
        (lambda: tree([-1], offset=-2), "offset is -2; expected a whole number, 0 or more"),
    ],
)
def test_a_bad_argument_of_a_rule_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
