"""Exercises of 13_inside_torch_attention: the steps of nn.MultiheadAttention, and a drop-in that is run beside it.

attn_mask and key_padding_mask have torch's meaning here: a bool mask says by True what is blocked, a float mask is
added to the scores.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons.exercises.beside_torch import (
    PLAIN,
    Choice,
    DropIn,
    call_beside,
    some_bias,
    some_blocked,
    some_padding,
)
from lessons.exercises.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one
from lessons.torch_attention import (
    MultiheadAttentionByHand,
    attention_weights,
    in_projection,
    merge_masks,
    to_additive,
)


def _packed_of(query, key, value, weight, bias, *, order=(0, 1, 2), biases=None, inputs=None, interleaved=False):
    """The projection, with the matrices in another order or packed otherwise, other biases, or other inputs."""
    size = weight.size(1)
    matrices = weight.unflatten(0, (size, 3)).unbind(1) if interleaved else weight.chunk(3)
    shifts = (None, None, None)
    if bias is not None:
        shifts = bias.view(size, 3).unbind(1) if interleaved else bias.chunk(3)
    triples = zip(inputs or (query, key, value), order, biases or order)
    return tuple(F.linear(x, matrices[i], shifts[j]) for x, i, j in triples)


def _in_cases(generator: torch.Generator) -> list[Case]:
    def case(length, keys, batch, size, bias=True, **options):
        return Case(
            {
                "query": numbers(generator, length, batch, size),
                "key": numbers(generator, keys, batch, size),
                "value": numbers(generator, keys, batch, size),
                "weight": numbers(generator, 3 * size, size),
                "bias": numbers(generator, 3 * size) if bias else None,
            },
            **options,
        )

    return [
        case(2, 4, 3, 5),
        case(3, 3, 3, 4),
        case(2, 4, 3, 6, bias=False, about="no bias"),
        case(2, 3, 1, 4, about="gradients", gradients=True),
    ]


projection = Exercise(
    name="my_in_projection",
    reference=in_projection,
    cases=_in_cases,
    outputs=("q", "k", "v"),
    mistakes=[
        Mistake(
            lambda query, key, value, w, b: F.linear(query, w, b).chunk(3, dim=-1),
            "You projected the query by all three matrices at once. That is right in self-attention alone; here key "
            "and value are other tensors.",
        ),
        Mistake(
            lambda query, key, value, w, b: _packed_of(query, key, value, w, b, inputs=(query, key, key)),
            "The value is made from key. Most callers hand over the same tensor twice, so that it goes unnoticed; but "
            "value is an argument of its own.",
        ),
        Mistake(
            lambda query, key, value, w, b: _packed_of(query, key, value, w, b, order=(0, 2, 1)),
            "The matrices of k and v are exchanged. The packing has the order q, k, v.",
        ),
        Mistake(
            lambda query, key, value, w, b: _packed_of(query, key, value, w, b, order=(2, 1, 0)),
            "The matrices of q and v are exchanged. The packing has the order q, k, v, from the top.",
        ),
        Mistake(
            lambda query, key, value, w, b: _packed_of(query, key, value, w, b, interleaved=True),
            "You dealt the rows out in turn, one to q, one to k, one to v. Some published models are packed so; here "
            "the first E rows are q's, the next E are k's, the last E are v's.",
        ),
        Mistake(
            lambda query, key, value, w, b: tuple(
                x @ m + c
                for x, m, c in zip(
                    (query, key, value), w.chunk(3), (0.0, 0.0, 0.0) if b is None else b.chunk(3), strict=True
                )
            ),
            "You multiplied by the matrices as they lie. torch stores a matrix as (out, in), so that it is x @ W.T: "
            "each row of the packed weight makes one feature. As the three are square, no error says so.",
        ),
        Mistake(
            lambda query, key, value, w, b: in_projection(query, key, value, w, None),
            "The bias is missing. It is packed in the same way as the weight: 3E numbers.",
        ),
        Mistake(
            lambda query, key, value, w, b: _packed_of(query, key, value, w, b, biases=(0, 0, 0)),
            "All three got the first third of the bias. It is packed like the weight: q's, then k's, then v's.",
        ),
    ],
    hints=[
        "weight.chunk(3) gives three matrices (E, E), from the top: for q, for k, for v.",
        "F.linear(x, w, b) is x @ w.T + b, and takes b = None.",
        "The bias is packed in the same way, if there is one: bias.chunk(3).",
    ],
)


def _three_axes(candidate, attn_mask, key_padding_mask, num_heads):
    """(L, S) and (1, L, S) broadcast alike, and one row for all queries is as good as a row for each."""
    mask = candidate(attn_mask, key_padding_mask, num_heads)
    if not isinstance(mask, Tensor) or mask.dim() not in (2, 3) or (attn_mask is None and key_padding_mask is None):
        return mask
    batch = None if key_padding_mask is None else key_padding_mask.size(0) * num_heads
    wanted = (
        batch or (attn_mask.size(0) if attn_mask.dim() == 3 else 1),
        1 if attn_mask is None else attn_mask.size(-2),
        (attn_mask if key_padding_mask is None else key_padding_mask).size(-1),
    )
    shape = (1, *mask.shape) if mask.dim() == 2 else tuple(mask.shape)
    return mask.expand(wanted) if all(a in (1, b) for a, b in zip(shape, wanted)) else mask


def _plain(mask: Tensor) -> Tensor:
    return to_additive(mask, torch.float32)


def _each_for_all_heads(row: Tensor, num_heads: int) -> Tensor:
    return row.repeat_interleave(num_heads, dim=0)


def _merged(attn=_plain, padding=_plain, join=torch.add, heads=_each_for_all_heads):
    """Merging with some of its steps changed."""

    def wrong(attn_mask, key_padding_mask, num_heads):
        merged = None if attn_mask is None else attn(attn_mask)
        if key_padding_mask is None:
            return merged
        rows = heads(padding(key_padding_mask)[:, None], num_heads)  # (B·H, 1, S)
        return rows if merged is None else join(merged, rows)

    return wrong


def _inverted(mask: Tensor) -> Tensor:
    return ~mask if mask.dtype == torch.bool else mask


def _turned(mask: Tensor) -> Tensor:
    return _plain(_inverted(mask))


def _ones(mask: Tensor) -> Tensor:
    return mask.float()


def _finite(mask: Tensor) -> Tensor:
    return mask * -1e9 if mask.dtype == torch.bool else mask


def _times_inf(mask: Tensor) -> Tensor:
    return mask * -torch.inf if mask.dtype == torch.bool else mask


def _unless_zero(mask: Tensor) -> Tensor:
    return _plain(mask != 0)


def _replaced(attn_mask, key_padding_mask, num_heads):
    return merge_masks(None if key_padding_mask is not None else attn_mask, key_padding_mask, num_heads)


def _attn_only(attn_mask, key_padding_mask, num_heads):
    return merge_masks(attn_mask, None if attn_mask is not None else key_padding_mask, num_heads)


def _padding_as_queries(attn_mask, key_padding_mask, num_heads):
    if attn_mask is None or key_padding_mask is None:
        return merge_masks(attn_mask, key_padding_mask, num_heads)
    column = to_additive(key_padding_mask, torch.float32)[:, :, None].repeat_interleave(num_heads, dim=0)
    return to_additive(attn_mask, torch.float32) + column


def _merge_cases(generator: torch.Generator) -> list[Case]:
    b, h, length, keys = 2, 3, 4, 5

    def case(attn, padding, num_heads=h, about=""):
        return Case({"attn_mask": attn, "key_padding_mask": padding, "num_heads": num_heads}, about=about)

    return [
        case(some_blocked(generator, length, keys), some_padding(b, keys)),
        case(some_blocked(generator, b * h, length, keys), some_padding(b, keys)),
        case(some_blocked(generator, 4, 4), some_padding(4, 4), num_heads=4),
        case(None, some_padding(b, keys), about="key_padding_mask alone"),
        case(some_blocked(generator, length, keys), None, about="attn_mask alone, (L, S)"),
        case(some_blocked(generator, b * h, length, keys), None, about="attn_mask alone, (B·H, L, S)"),
        case(
            some_bias(generator, length, keys),
            some_padding(b, keys),
            about="a float attn_mask that holds more than 0 and -inf",
        ),
        case(some_bias(generator, b * h, length, keys), some_bias(generator, b, keys), about="both masks are float"),
        case(None, None, about="no mask at all"),
    ]


merging = Exercise(
    name="my_merge_masks",
    reference=merge_masks,
    cases=_merge_cases,
    outputs=("the additive mask",),
    call=_three_axes,
    solution=(to_additive, merge_masks),
    mistakes=[
        Mistake(
            _merged(heads=lambda rows, h: rows.repeat(h, 1, 1)),
            "The rows of the padding are in the order H·B: sentence 0, sentence 1, sentence 0, sentence 1 … The q that "
            "they meet are in the order B·H, sentence 0 for each of its heads first. So a sentence is given the "
            "padding of its neighbour. View as (B, 1, 1, S), expand over the heads, reshape.",
            also=(_merged(heads=lambda rows, h: rows.expand(h, *rows.shape).flatten(0, 1)),),
        ),
        Mistake(
            _merged(padding=_turned),
            "key_padding_mask is turned around: the words are blocked and the padding is open. In "
            "nn.MultiheadAttention True means blocked.",
        ),
        Mistake(
            _merged(attn=_turned),
            "attn_mask is turned around. In nn.MultiheadAttention True means blocked, the opposite of "
            "F.scaled_dot_product_attention.",
        ),
        Mistake(
            _merged(attn=_turned, padding=_turned),
            "Both masks are turned around: you took True for may look, as F.scaled_dot_product_attention does. In "
            "nn.MultiheadAttention it means blocked.",
        ),
        Mistake(
            _merged(join=torch.maximum),
            "Where only one of the masks blocks, your result does not. One reason to hide is enough: masks in which "
            "True is blocked are joined by |, additive ones are added.",
        ),
        Mistake(
            _merged(join=torch.mul),
            "You multiplied the masks. Additive masks hold 0 for what may look, and 0 times -inf is NaN. Add them.",
        ),
        Mistake(
            _merged(join=torch.minimum),
            "Where both masks are float and hold a bias, you kept the smaller number alone. Additive masks are added.",
            seen_in="both masks are float",
        ),
        Mistake(
            _merged(padding=_times_inf, attn=_times_inf),
            "The mask was multiplied by -inf: True becomes -inf, but False is 0, and 0 times -inf is NaN. Begin with "
            "zeros and fill in -inf where the mask is True.",
        ),
        Mistake(
            _merged(padding=_ones, attn=_ones),
            "True became 1. Added to the scores, it makes what should be hidden heavier. It must be -inf: .float() is "
            "not the way to it.",
        ),
        Mistake(
            _merged(padding=_finite, attn=_finite),
            "-1e9 is not -inf: a row with nothing else becomes an even share of all that is hidden, and half precision "
            "cannot hold it.",
        ),
        Mistake(
            _merged(attn=_unless_zero),
            "A float attn_mask was read as if it were bool, so that whatever is not 0 blocks. A float mask is added to "
            "the scores as it is: it may hold a bias.",
            seen_in="a float attn_mask that holds more than 0 and -inf",
        ),
        Mistake(
            _merged(padding=_unless_zero),
            "A float key_padding_mask was read as if it were bool, so that whatever is not 0 blocks. Float masks are "
            "added as they are.",
            seen_in="both masks are float",
        ),
        Mistake(
            _merged(attn=_unless_zero, padding=_unless_zero),
            "Float masks were read as if they were bool, so that whatever is not 0 blocks. Float masks are added to "
            "the scores as they are: they may hold a bias.",
            seen_in="a float attn_mask that holds more than 0 and -inf",
        ),
        Mistake(
            _replaced,
            "Where key_padding_mask is given, attn_mask is lost: you put the one in the place of the other.",
        ),
        Mistake(
            _attn_only,
            "Where attn_mask is given, key_padding_mask is lost.",
        ),
        Mistake(
            _padding_as_queries,
            "Where both are given, the padding lies on the axis of the queries, (B·H, S, 1). It is about keys: "
            "(B·H, 1, S).",
        ),
        Mistake(
            _merged(heads=lambda rows, h: rows),
            "The padding is (B, 1, S), once for each sentence. Meeting (B·H, L, S) it needs a row for each head of "
            "each sentence: B·H of them.",
        ),
    ],
    hints=[
        "Four cases: no mask, one of them, the other, both. Turn each mask that is bool into 0 and -inf first.",
        "key_padding_mask: view as (B, 1, 1, S), expand to (B, H, 1, S), reshape to (B·H, 1, S).",
        "attn_mask (L, S) broadcasts by itself, (B·H, L, S) fits as it is. Additive masks are joined by adding.",
    ],
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.size(-1))


def _plus(scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores if mask is None else scores + mask


def _weights_multiplied(q, k, mask):
    scores = _scores(q, k)
    return (scores if mask is None else scores * mask).softmax(dim=-1)


def _zero_afterwards(q, k, mask):
    weights = _scores(q, k).softmax(dim=-1)
    return weights if mask is None else weights.masked_fill(mask == -torch.inf, 0.0)


def _bias_lost(q, k, mask):
    scores = _scores(q, k)
    return (scores if mask is None else scores.masked_fill(mask == -torch.inf, -torch.inf)).softmax(dim=-1)


def _read_as_bool(q, k, mask):
    scores = _scores(q, k)
    return (scores if mask is None else scores.masked_fill(mask != 0, -torch.inf)).softmax(dim=-1)


def _overflowing(q, k, mask):
    exponentials = _plus(_scores(q, k), mask).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def _mask_afterwards(q, k, mask):
    return _plus(_scores(q, k).softmax(dim=-1), mask)


def _weights_cases(generator: torch.Generator) -> list[Case]:
    def case(heads, length, keys, d, mask, **options):
        return Case(
            {"q": numbers(generator, heads, length, d), "k": numbers(generator, heads, keys, d), "mask": mask},
            **options,
        )

    def hidden(*shape):
        return to_additive(some_blocked(generator, *shape), torch.float32)

    large = case(2, 3, 4, 3, hidden(2, 3, 4), about="scores of a hundred and more")
    large.inputs["q"] *= 100
    return [
        case(6, 3, 4, 2, hidden(6, 3, 4)),
        case(4, 4, 4, 4, hidden(4, 4, 4)),
        case(6, 3, 4, 5, hidden(1, 3, 4), about="one mask for all heads"),
        case(6, 3, 4, 5, hidden(6, 1, 4), about="padding alone: one row of the mask for all queries"),
        case(6, 3, 4, 2, None, about="no mask"),
        case(6, 3, 4, 3, 2 * numbers(generator, 6, 3, 4), about="a mask that holds a bias"),
        case(2, 3, 4, 3, hidden(2, 3, 4), about="gradients", gradients=True),
        large,
    ]


weighing = Exercise(
    name="my_weights",
    reference=attention_weights,
    cases=_weights_cases,
    outputs=("weights",),
    laws=[rows_sum_to_one()],
    mistakes=[
        Mistake(
            _weights_multiplied,
            "You multiplied the mask in. Then what may look, 0, wipes out its score, and -inf times a score that is "
            "negative is +inf, whose softmax is NaN. baddbmm adds: b-add-bmm.",
        ),
        Mistake(
            lambda q, k, mask: _plus(q @ k.mT, mask).softmax(dim=-1),
            "The scores are not divided by the square root of head_dim.",
        ),
        Mistake(
            lambda q, k, mask: _plus(q @ k.mT / q.size(-1), mask).softmax(dim=-1),
            "You divided by head_dim. It is its square root that keeps the scores near 1 in size.",
        ),
        Mistake(
            lambda q, k, mask: (_plus(q @ k.mT, mask) / math.sqrt(q.size(-1))).softmax(dim=-1),
            "You divided after the mask was added, so that the mask is divided too. For -inf it makes no difference, "
            "for a bias it does. Divide q first, as torch does.",
            seen_in="a mask that holds a bias",
        ),
        Mistake(
            lambda q, k, mask: _plus(_scores(q, k), mask).softmax(dim=-2),
            "The softmax runs over the queries. Each query shares out its weight among the keys: the last axis.",
        ),
        Mistake(
            lambda q, k, mask: _scores(q, k).softmax(dim=-1),
            "The mask is not used: what should be hidden has weight.",
        ),
        Mistake(
            _zero_afterwards,
            "You set weights to 0 after the softmax. What was hidden has taken part in the sum, so that the rows no "
            "longer sum to 1. The mask is added before.",
        ),
        Mistake(
            _bias_lost,
            "What the mask blocks is hidden, but its other numbers are lost. It is added to the scores, before the "
            "softmax: it may hold a bias.",
            seen_in="a mask that holds a bias",
        ),
        Mistake(
            _read_as_bool,
            "The mask was read as if it were bool, so that whatever is not 0 blocks. It is additive: each of its "
            "numbers is added to a score.",
            seen_in="a mask that holds a bias",
        ),
        Mistake(
            _overflowing,
            "The exponential of a large score is inf, and inf / inf is NaN. Subtract each row's largest score first, "
            "or call softmax, which does so.",
            seen_in="scores of a hundred and more",
        ),
        Mistake(
            _mask_afterwards,
            "The mask is added to the weights, after the softmax: they become -inf. It is added to the scores.",
        ),
        Mistake(
            lambda q, k, mask: _plus(_scores(q, k), None if mask is None else -mask).softmax(dim=-1),
            "You subtracted the mask: minus -inf is +inf. It is added.",
        ),
        Mistake(
            lambda q, k, mask: (_scores(q, k) + (0 if mask is None else mask != 0)).softmax(dim=-1),
            "The mask was made bool before it was added, so that it counts 1 where it should count -inf.",
        ),
    ],
    hints=[
        "Divide q by the square root of its last size.",
        "torch.baddbmm(mask, q, k.mT) is mask + q kᵀ, for each of the B·H at once. Without a mask it is torch.bmm.",
        "Then softmax over the keys, the last axis.",
    ],
)


HALVES = ("float64", "bfloat16", "float16")


def _drop_in_cases(generator: torch.Generator) -> list[Case]:
    def case(about="", **chosen):
        return Choice(PLAIN | chosen, about=about)

    both = {"attn_mask": "bool (L, S)", "key_padding_mask": "bool"}
    return [
        case(),
        case(inputs="cross-attention"),
        case(inputs="kdim and vdim"),
        case("batch_first", axes="batch_first", inputs="cross-attention"),
        case("no batch", axes="no batch", inputs="cross-attention", key_padding_mask="bool"),
        case("key_padding_mask", key_padding_mask="bool"),
        case("attn_mask", attn_mask="bool (L, S)"),
        case("attn_mask (B·H, L, S) and key_padding_mask", attn_mask="bool (B·H, L, S)", key_padding_mask="bool"),
        case("float masks", inputs="cross-attention", attn_mask="float (L, S)", key_padding_mask="float"),
        case("average_attn_weights=False", average_attn_weights=False),
        case("need_weights=False", need_weights=False, inputs="cross-attention"),
        case("bias=False", bias=False),
        case("add_bias_kv", add_bias_kv=True, **both),
        case("add_zero_attn", add_zero_attn=True, **both),
        case("add_bias_kv and add_zero_attn", add_bias_kv=True, add_zero_attn=True, average_attn_weights=False),
        case("is_causal=True beside a causal attn_mask", mode="evaluation, is_causal", need_weights=False),
        case("is_causal=True, and padding", mode="evaluation, is_causal", key_padding_mask="bool"),
        case("dropout=1.0 in training", mode="training, dropout"),
        case("dropout=1.0 in training, and need_weights=False", mode="training, dropout", need_weights=False),
        case("dropout=1.0 in evaluation", mode="evaluation, dropout"),
        case("dropout=1.0 in evaluation, and need_weights=False", mode="evaluation, dropout", need_weights=False),
        case(
            "inputs without a batch, in a module with batch_first=True", mode="evaluation, batch_first", axes="no batch"
        ),
        case("other sizes: embed_dim 20, num_heads 5", mode="evaluation, other sizes", **both),
        case("one sentence, one query", mode="evaluation, one query", inputs="cross-attention", **both),
        case("all arguments by position, in torch's order", mode="evaluation, by position", bias=False, **both),
        case("a second call of the same module", mode="evaluation, second call", add_bias_kv=True, **both),
        case("gradients", mode="evaluation, gradients", inputs="cross-attention", attn_mask="float (L, S)"),
        *(case(f"module and inputs in {dtype}", mode=f"evaluation, {dtype}", **both) for dtype in HALVES),
    ]


class _Forwarded(MultiheadAttentionByHand):
    """Calls the right forward, with some arguments changed."""

    def change(self, arguments: dict) -> None:
        pass

    def forward(self, *inputs, **arguments):
        order = ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask", "average_attn_weights")
        arguments = {"attn_mask": None, "key_padding_mask": None} | dict(zip(order, inputs)) | arguments
        self.change(arguments)
        return super().forward(**arguments)


class _PerHead(_Forwarded):
    def change(self, arguments):
        arguments["average_attn_weights"] = False


class _AlwaysAveraged(_Forwarded):
    def change(self, arguments):
        arguments["average_attn_weights"] = True


class _AlwaysWeights(_Forwarded):
    def change(self, arguments):
        arguments["need_weights"] = True


class _PaddingTurned(_Forwarded):
    def change(self, arguments):
        if (mask := arguments["key_padding_mask"]) is not None:
            arguments["key_padding_mask"] = _inverted(mask)


class _AttnTurned(_Forwarded):
    def change(self, arguments):
        if (mask := arguments["attn_mask"]) is not None:
            arguments["attn_mask"] = _inverted(mask)


class _PaddingIgnored(_Forwarded):
    def change(self, arguments):
        arguments["key_padding_mask"] = None


class _AttnIgnored(_Forwarded):
    def change(self, arguments):
        arguments["attn_mask"] = None


class _AttnReplaced(_Forwarded):
    def change(self, arguments):
        if arguments["key_padding_mask"] is not None:
            arguments["attn_mask"] = None


class _FloatAsBool(_Forwarded):
    def change(self, arguments):
        for name in ("attn_mask", "key_padding_mask"):
            if (mask := arguments[name]) is not None:
                arguments[name] = mask != 0


class _CausalAlone(_Forwarded):
    def change(self, arguments):
        if arguments.get("is_causal"):
            arguments["key_padding_mask"] = None


class _HeadsTimesBatch(_Forwarded):
    def change(self, arguments):
        padding = arguments["key_padding_mask"]
        if padding is not None and padding.dim() == 2:
            merge = _merged(heads=lambda rows, num_heads: rows.repeat(num_heads, 1, 1))
            query = arguments["query"]
            mask = merge(arguments["attn_mask"], padding, self.num_heads).to(query.dtype)
            arguments["attn_mask"] = mask.expand(-1, query.size(1 if self.batch_first else 0), -1)
            arguments["key_padding_mask"] = None


class _ValueFromKey(MultiheadAttentionByHand):
    def project(self, query, key, value):
        return super().project(query, key, key)


class _BatchFirstIgnored(_Forwarded):
    def change(self, arguments):
        self.batch_first = False


class _NoZero(_Forwarded):
    def change(self, arguments):
        self.add_zero_attn = False


class _NoBiasKv(_Forwarded):
    def change(self, arguments):
        self.bias_k = None


class _NoOutProjection(_Forwarded):
    def change(self, arguments):
        self.out_proj = nn.Identity()


class _NoDropout(_Forwarded):
    def change(self, arguments):
        self.dropout = 0.0


class _DropoutAlways(_Forwarded):
    def change(self, arguments):
        self.training = True


class _DropoutOnlyInside(MultiheadAttentionByHand):
    def forward(self, *inputs, **arguments):
        output, _ = super().forward(*inputs, **arguments)
        self.dropout = 0.0
        return output, super().forward(*inputs, **arguments)[1]


class _DropoutOnOutput(MultiheadAttentionByHand):
    def forward(self, *inputs, **arguments):
        share, self.dropout = self.dropout, 0.0
        output, weights = super().forward(*inputs, **arguments)
        return F.dropout(output, share, self.training), weights


class _AppendedHidden(MultiheadAttentionByHand):
    def append(self, k, v, mask):
        keys = len(k)
        k, v, mask = super().append(k, v, mask)
        if mask is not None:
            mask[..., keys:] = -torch.inf
        return k, v, mask


class _ZeroFirst(MultiheadAttentionByHand):
    def append(self, k, v, mask):
        more = int(self.bias_k is not None) + int(self.add_zero_attn)
        k, v, mask = super().append(k, v, mask)
        if more == 2:
            k, v = (torch.cat([x[:-2], x[-1:], x[-2:-1]]) for x in (k, v))
        return k, v, mask


class _Scrambled(MultiheadAttentionByHand):
    def heads_first(self, x):
        return x.reshape(x.size(1) * self.num_heads, len(x), -1)


class _ScrambledBatchFirst(MultiheadAttentionByHand):
    def heads_first(self, x):
        return x.transpose(0, 1).reshape(x.size(1) * self.num_heads, len(x), -1)


class _JoinedAtOnce(MultiheadAttentionByHand):
    def join(self, heads):
        return heads.reshape(heads.size(1), -1, self.sizes[0])


class _JoinedAtOnceBatchFirst(MultiheadAttentionByHand):
    def join(self, heads):
        return heads.reshape(-1, heads.size(1), self.sizes[0]).transpose(0, 1)


class _WrongRoot(MultiheadAttentionByHand):
    def project(self, query, key, value):
        q, k, v = super().project(query, key, value)
        return q / math.sqrt(self.num_heads), k, v


class _NotScaled(MultiheadAttentionByHand):
    def project(self, query, key, value):
        q, k, v = super().project(query, key, value)
        return q * math.sqrt(q.size(-1) / self.num_heads), k, v


class _BiasUnused(MultiheadAttentionByHand):
    def project(self, query, key, value):
        self.in_proj_bias = None
        return super().project(query, key, value)


drop_in = DropIn(
    name="MyMultiheadAttention",
    reference=MultiheadAttentionByHand,
    cases=_drop_in_cases,
    call=call_beside,
    outputs=("output", "weights"),
    solution=(to_additive, merge_masks, in_projection, attention_weights, MultiheadAttentionByHand),
    mistakes=[
        Mistake(
            _PerHead,
            "The weights come for each head, whatever average_attn_weights says. It is True unless the caller says "
            "otherwise: the mean over the heads, (B, L, S).",
        ),
        Mistake(
            _AlwaysAveraged,
            "The weights are always averaged over the heads. With average_attn_weights=False the caller wants all of "
            "them: (B, H, L, S).",
            seen_in="average_attn_weights=False",
        ),
        Mistake(
            _AlwaysWeights,
            "You return weights even where need_weights=False. Then the second result is None.",
            seen_in="need_weights=False",
        ),
        Mistake(
            _PaddingTurned,
            "key_padding_mask is turned around: True means blocked, the key is padding.",
            seen_in="key_padding_mask",
        ),
        Mistake(
            _AttnTurned,
            "attn_mask is turned around: in nn.MultiheadAttention True means blocked, the opposite of "
            "F.scaled_dot_product_attention.",
            seen_in="attn_mask",
        ),
        Mistake(_PaddingIgnored, "key_padding_mask is not used.", seen_in="key_padding_mask"),
        Mistake(_AttnIgnored, "attn_mask is not used.", seen_in="attn_mask"),
        Mistake(
            _AttnReplaced,
            "Given both masks, you use key_padding_mask alone. They are merged: what either blocks is blocked.",
            seen_in="attn_mask (B·H, L, S) and key_padding_mask",
        ),
        Mistake(
            _FloatAsBool,
            "A float mask was read as if it were bool, so that whatever is not 0 blocks. Float masks are added to the "
            "scores as they are: they may hold a bias.",
            seen_in="float masks",
        ),
        Mistake(
            _CausalAlone,
            "With is_causal=True, key_padding_mask is no longer used. is_causal only says of attn_mask what kind of "
            "mask it is: both masks are still to be obeyed.",
            seen_in="is_causal=True, and padding",
        ),
        Mistake(
            _HeadsTimesBatch,
            "The rows of key_padding_mask are in the order H·B, the heads of q and k in the order B·H: a sentence is "
            "given its neighbour's padding. repeat lays the whole batch down again and again; expand over an axis "
            "behind B, or repeat_interleave, keeps the heads of a sentence together.",
            seen_in="key_padding_mask",
        ),
        Mistake(
            _ValueFromKey,
            "v is made from key. value is an argument of its own, and may have another size: vdim.",
        ),
        Mistake(
            _BatchFirstIgnored,
            "batch_first=True is not obeyed: then the inputs are (B, L, E), and so is the output.",
            seen_in="batch_first",
        ),
        Mistake(
            _NoZero,
            "add_zero_attn is not obeyed: a key and a value of zeros are appended, and the masks get a column more.",
            seen_in="add_zero_attn",
        ),
        Mistake(
            _NoBiasKv,
            "add_bias_kv is not obeyed: bias_k and bias_v are there, but no key and no value is appended.",
            seen_in="add_bias_kv",
        ),
        Mistake(
            _AppendedHidden,
            "What was appended is hidden by your mask: its new columns hold -inf. They get 0, or False: all may look.",
            seen_in="add_bias_kv",
        ),
        Mistake(
            _ZeroFirst,
            "With both, add_zero_attn came before add_bias_kv. torch appends bias_k first; the last two columns of the "
            "weights are exchanged.",
            seen_in="add_bias_kv and add_zero_attn",
        ),
        Mistake(_NoOutProjection, "The heads are joined, but the last projection, out_proj, is missing."),
        Mistake(
            _Scrambled,
            "Tokens are scrambled among the heads: (S, B, E) was read as (B·H, S, d) in one step. View as (S, B·H, d), "
            "then exchange the first two axes.",
        ),
        Mistake(
            _ScrambledBatchFirst,
            "Tokens are scrambled among the heads: (B, S, E) was read as (B, H, S, d) in one step. Each token's E "
            "features are cut first, (B, S, H, d); then the axes of tokens and heads are exchanged.",
        ),
        Mistake(
            _JoinedAtOnce,
            "The heads are joined without exchanging the axes back: in a reshape straight from (B·H, L, d) to "
            "(L, B, E) a row takes its features from several tokens. Exchange first, (L, B·H, d), then reshape.",
            also=(_JoinedAtOnceBatchFirst,),
        ),
        Mistake(
            _WrongRoot,
            "You divided by the square root of embed_dim. It is that of head_dim: q has been cut into heads.",
        ),
        Mistake(_NotScaled, "The scores are not divided by the square root of head_dim."),
        Mistake(_BiasUnused, "in_proj_bias is there, and is not added to q, k and v."),
        Mistake(
            _NoDropout,
            "There is no dropout in training. It falls on the weights, after the softmax.",
            seen_in="dropout=1.0 in training",
        ),
        Mistake(
            _DropoutOnOutput,
            "Your dropout falls on the output. torch's falls on the weights, after the softmax and before the values.",
            seen_in="dropout=1.0 in training",
        ),
        Mistake(
            _DropoutAlways,
            "Dropout is on in evaluation too: hand self.training to F.dropout.",
            seen_in="dropout=1.0 in evaluation",
        ),
        Mistake(
            _DropoutOnlyInside,
            "The output is right, and your weights are those before dropout. torch returns them as they are after it. "
            "That is no beauty of torch's, but a drop-in does the same.",
            seen_in="dropout=1.0 in training",
        ),
    ],
    hints=[
        "Parameters: in_proj_weight (3E, E), or q_proj_weight (E, E), k_proj_weight (E, kdim), v_proj_weight (E, vdim) "
        "if kdim or vdim differs from E; in_proj_bias (3E); out_proj, an nn.Linear; bias_k and bias_v (1, 1, E).",
        "Bring the inputs to (L, B, E) first, whatever the caller has, and turn the output back at the end.",
        "Then the steps of this lesson, in order: project, append, heads first, merge the masks, weights, dropout, "
        "bmm, join, out_proj. Your functions from above may be called.",
        "The check says in which combinations of arguments it goes wrong: look at what they have in common.",
    ],
)


def sentence_mask(blocked: Tensor, num_heads: int) -> Tensor:
    """blocked (B, L, S), True = blocked, one mask for each sentence -> attn_mask (B·H, L, S)."""
    return blocked.repeat_interleave(num_heads, dim=0)


def _expanded_behind(blocked: Tensor, num_heads: int) -> Tensor:
    batch, length, keys = blocked.shape
    return blocked.reshape(batch, length, 1, keys).expand(-1, -1, num_heads, -1).reshape(-1, length, keys)


bug_hunt = Exercise(
    name="mended_mask",
    reference=sentence_mask,
    cases=lambda generator: [
        Case({"blocked": some_blocked(generator, batch, length, keys), "num_heads": heads})
        for batch, heads, length, keys in [(2, 3, 4, 5), (4, 2, 3, 6), (3, 3, 3, 3)]
    ],
    outputs=("attn_mask",),
    mistakes=[
        Mistake(
            lambda blocked, h: blocked.repeat(h, 1, 1),
            "The bug is still there. A symptom: with two sentences in the batch, change only what is blocked for the "
            "second, and the output for the first changes.",
        ),
        Mistake(
            lambda blocked, h: ~blocked.repeat(h, 1, 1),
            "The bug is still there, and now True and False are exchanged as well. nn.MultiheadAttention blocks where "
            "its mask is True: that part was right.",
        ),
        Mistake(
            lambda blocked, h: ~sentence_mask(blocked, h),
            "The bug is gone. But nn.MultiheadAttention blocks where attn_mask is True, and you turned it around.",
        ),
        Mistake(
            lambda blocked, h: blocked,
            "These are B masks; the module wants B·H, one for each head of each sentence.",
        ),
        Mistake(
            lambda blocked, h: blocked.any(dim=0),
            "One mask for all sentences: now each is given the blocks of all the others. Each sentence has its own.",
        ),
        Mistake(
            lambda blocked, h: blocked.unsqueeze(1).expand(-1, h, -1, -1),
            "The order is right, but nn.MultiheadAttention knows no four axes: reshape (B, H, L, S) to (B·H, L, S).",
        ),
        Mistake(
            lambda blocked, h: sentence_mask(blocked, h).float(),
            "True became 1. A float mask is added to the scores: 1 blocks nothing. Leave it bool.",
        ),
        Mistake(
            _expanded_behind,
            "The axis of the heads belongs right behind that of the sentences: (B, H, L, S). You put it behind the "
            "queries, so that rows of queries and heads are mixed.",
        ),
    ],
    hints=[
        "Try it with two sentences and two heads: which sentence does each of the four rows of the mask belong to?",
        "The module counts sentence 0 for all of its heads, then sentence 1.",
        "repeat lays down the whole again; repeat_interleave repeats each row on the spot.",
    ],
)
