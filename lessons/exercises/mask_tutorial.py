"""Exercises of 10_mask_tutorial: the masks of a whole model, joined, converted, and asked what their True means."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons import masks
from lessons.exercises.engine import Case, Exercise, Mistake, numbers
from lessons.probes import influence, true_lets_look


def _ids(generator: torch.Generator, rows: int, columns: int, pad_id: int, *, front: bool = False) -> Tensor:
    """Ids from 0 to 9, all but pad_id itself, with padding of different lengths at the end or in front of each row."""
    ids = torch.randint(0, 9, (rows, columns), generator=generator)
    ids[ids >= pad_id] += 1
    for row in range(rows):
        ids[row, columns - row % columns :] = pad_id
    return ids.flip(1) if front else ids


rows_of_t2 = Exercise(
    name="my_rows",
    reference=lambda: [[True, True, False, False, False], [True, True, True, False, False]],
    cases=lambda generator: [Case({})],
    outputs=("the two rows",),
    solution=(
        "self:  t1 and t2, not the future, and not PAD: [True, True, False, False, False]\n"
        "cross: s1, s2 and s3, all words of the source: [True, True, True, False, False]",
    ),
    mistakes=[
        Mistake(
            lambda: [[False, False, True, True, True], [False, False, False, True, True]],
            "Each value is turned around: this is what is blocked. Here True means: may look.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [True, True, False, False, False]],
            "The row of self-attention is right. But cross-attention is not causal: the whole source is known before "
            "the first word of the target is written.",
        ),
        Mistake(
            lambda: [[True, True, True, True, False], [True, True, True, False, False]],
            "The row of cross-attention is right. In self-attention you hid the padding, but not the future: t3 and "
            "t4 come after t2.",
        ),
        Mistake(
            lambda: [[True, True, True, False, False], [True, True, True, False, False]],
            "The row of cross-attention is right. In self-attention t3 comes after t2, so that t2 may not see it.",
        ),
        Mistake(
            lambda: [[True, False, False, False, False], [True, True, True, False, False]],
            "Almost: t2 may look at itself, too. What is hidden is what comes after it.",
        ),
        Mistake(
            lambda: [[False, True, False, False, False], [True, True, True, False, False]],
            "t2 may look at itself, and also at what came before it: t1.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [True, True, True, True, True]],
            "The row of self-attention is right. In cross-attention the keys are the source, and two of its five "
            "tokens are padding.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [True, True, True, True, False]],
            "In cross-attention the keys are the source, which has three words. Four words has the target.",
        ),
        Mistake(
            lambda: [[True, True, True, False, False], [True, True, False, False, False]],
            "The two rows are exchanged: the first is self-attention, whose keys are the target.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [False, False, False, True, True]],
            "One of the two rows says what may be looked at, the other what may not. Here True means: may look.",
            also=(lambda: [[False, False, True, True, True], [True, True, True, False, False]],),
        ),
        Mistake(
            lambda: [[True, True, True, True, False], [True, True, True, True, False]],
            "In both rows you hid the padding of the target, and nothing else. In self-attention the future is hidden, "
            "too; in cross-attention the keys are the source.",
        ),
    ],
    hints=[
        "Who are the keys? In self-attention t1 … t4 and one PAD, in cross-attention s1, s2, s3 and two PADs.",
        "Self-attention obeys two rules, no padding and no future. Cross-attention obeys one.",
    ],
)


def target_mask(ids: Tensor, pad_id: int) -> Tensor:
    """The mask of the decoder's self-attention: ids (B, T) -> bool (B, 1, T, T), True = may look."""
    return masks.causal(ids.size(1)) & masks.padding(ids, pad_id=pad_id)


def _real(ids: Tensor, pad_id: int) -> Tensor:
    return (ids != pad_id)[:, None, None, :]


target_hidden = Exercise(
    name="my_target_mask",
    reference=target_mask,
    cases=lambda generator: [
        Case({"ids": _ids(generator, 2, 4, 9), "pad_id": 9}),
        Case({"ids": _ids(generator, 3, 5, 2), "pad_id": 2}),
        Case({"ids": _ids(generator, 3, 3, 4), "pad_id": 4}),
        Case({"ids": _ids(generator, 2, 5, 7, front=True), "pad_id": 7}, about="padding in front of the words"),
    ],
    outputs=("allowed",),
    solution=(target_mask, masks.causal, masks.padding),
    mistakes=[
        Mistake(
            lambda ids, pad: ~target_mask(ids, pad),
            "Right, but for the meaning of True: yours says what is blocked. In this course True means: may look.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) | _real(ids, pad),
            "You joined the rules by |, so that a key is visible where any rule allows it: the future, if it is no "
            "padding. Both rules must allow it.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)).expand(ids.size(0), 1, -1, -1),
            "The future is hidden, the padding is not.",
            seen_in="padding in front of the words",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)),
            "That is the rule about the future alone, (T, T): the padding, which is another one for each sentence, "
            "is not in it.",
        ),
        Mistake(
            lambda ids, pad: _real(ids, pad),
            "That is the rule about padding alone, (B, 1, 1, T): each token still sees the future.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & _real(ids, pad).mT,
            "The padding lies on the axis of the queries: a padded query may look at nothing, and words may look at "
            "padding. Put it on the axis of the keys.",
        ),
        Mistake(
            lambda ids, pad: target_mask(ids, pad) & _real(ids, pad).mT,
            "Keys are right. But you also blocked padding as a query: its row has nothing to look at, and gives NaN in "
            "much code.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & _real(ids, 0),
            "You compared with 0. Padding has the id that the caller says: pad_id.",
        ),
        Mistake(
            lambda ids, pad: (masks.causal(ids.size(1)) & _real(ids, pad))[:, 0],
            "The truth values are right, but the axis of the heads is missing: (B, T, T) would meet scores "
            "(B, H, T, T) with the batch where the heads are.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)).mT & _real(ids, pad),
            "The triangle lies the other way: each token sees what comes after it, and not what came before.",
        ),
        Mistake(
            lambda ids, pad: torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).tril(-1) & _real(ids, pad),
            "The diagonal is missing: a token may look at itself.",
        ),
        Mistake(
            lambda ids, pad: torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).tril(1) & _real(ids, pad),
            "One diagonal too many is open: each token sees the one after it.",
        ),
        Mistake(
            lambda ids, pad: ~masks.causal(ids.size(1)) & _real(ids, pad),
            "Each token sees the future, and nothing else. That triangle says what is blocked.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & ~_real(ids, pad),
            "The triangle is right, but of its keys only the padding is open. For which ids is == True, for which !=?",
        ),
        Mistake(
            lambda ids, pad: torch.ones(ids.size(1), ids.size(1)).tril() & _real(ids, pad),
            "torch.ones gives floats, and & is for True and False: torch.ones(…, dtype=torch.bool), or .bool().",
            also=(lambda ids, pad: _real(ids, pad) & torch.ones(ids.size(1), ids.size(1)).tril(),),
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & (ids != pad),
            "The padding is (B, T), and meets the triangle (T, T) with the sentences where the queries are. With as "
            "many sentences as tokens there is not even an error. Two axes of size 1 belong in between.",
            also=(lambda ids, pad: (ids != pad) & masks.causal(ids.size(1)),),
        ),
    ],
    hints=[
        "Two rules: no key in the future, (T, T), and no key that is padding, (B, 1, 1, T).",
        "Both must allow it. Which sign joins them, & or |?",
        "The rest is broadcasting: (T, T) meets (B, 1, 1, T), and gives (B, 1, T, T).",
    ],
)


def one_mask(key_padding_mask: Tensor, attn_mask: Tensor) -> Tensor:
    """(B, K) and (Q, K), True = blocked, as nn.MultiheadAttention takes them -> bool (B, 1, Q, K), True = may look."""
    blocked = key_padding_mask[:, None, None, :] | attn_mask
    return ~blocked


def _blocked(generator: torch.Generator, *shape: int) -> Tensor:
    """A bool mask of which some is True, and neither the first nor the last column throughout."""
    mask = torch.rand(*shape, generator=generator) < 0.4
    mask[0, -1], mask[-1, 0] = True, False
    return mask


both_joined = Exercise(
    name="my_one_mask",
    reference=one_mask,
    cases=lambda generator: [
        Case({"key_padding_mask": _blocked(generator, b, k), "attn_mask": _blocked(generator, q, k)})
        for b, q, k in [(2, 3, 4), (3, 2, 5), (3, 3, 3)]
    ],
    outputs=("allowed",),
    mistakes=[
        Mistake(
            lambda padding, mask: padding[:, None, None, :] | mask,
            "Joined rightly, but True still means blocked. F.scaled_dot_product_attention would show exactly what is "
            "to be hidden. Turn it around with ~.",
        ),
        Mistake(
            lambda padding, mask: ~(padding[:, None, None, :] & mask),
            "You block only what both masks block. One of them is enough: blocked masks are joined by |.",
            also=(lambda padding, mask: ~padding[:, None, None, :] | ~mask,),
        ),
        Mistake(
            lambda padding, mask: padding[:, None, None, :] & mask,
            "These are the pairs that both masks block, and True means blocked. Two things are turned around: what "
            "joins blocked masks, and what True means at the end.",
        ),
        Mistake(
            lambda padding, mask: padding[:, None, None, :] & ~mask,
            "attn_mask is turned around, key_padding_mask is not: both say by True what is blocked.",
            also=(lambda padding, mask: padding[:, None, None, :] | ~mask,),
        ),
        Mistake(
            lambda padding, mask: ~padding[:, None, None, :] & mask,
            "key_padding_mask is turned around, attn_mask is not: both say by True what is blocked.",
            also=(lambda padding, mask: ~padding[:, None, None, :] | mask,),
        ),
        Mistake(
            lambda padding, mask: (~padding)[:, None, None, :].expand(-1, 1, mask.size(0), -1),
            "key_padding_mask is in it, attn_mask is not.",
            also=(lambda padding, mask: ~padding[:, None, None, :],),
        ),
        Mistake(
            lambda padding, mask: (~mask).expand(padding.size(0), 1, -1, -1),
            "attn_mask is in it, key_padding_mask is not.",
            also=(lambda padding, mask: ~mask, lambda padding, mask: (~mask)[None, None]),
        ),
        Mistake(
            lambda padding, mask: (~padding[:, None, None, :] & ~mask)[:, 0],
            "The truth values are right, but the axis of the heads is missing: expected (B, 1, Q, K).",
        ),
        Mistake(
            lambda padding, mask: ~(padding[:, None, :, None] | mask),
            "The padding lies on the axis of the queries. It is about keys: (B, 1, 1, K).",
        ),
        Mistake(
            lambda padding, mask: ~(padding | mask),
            "(B, K) and (Q, K) were joined as they are, so that sentences meet queries. Where there are as many of the "
            "one as of the other there is not even an error. First make (B, 1, 1, K) of the padding.",
            also=(lambda padding, mask: ~(mask | padding),),
        ),
    ],
    hints=[
        "Bring key_padding_mask to four axes first: (B, 1, 1, K). attn_mask (Q, K) broadcasts by itself.",
        "A pair is blocked if the one mask blocks it or the other. Which sign is that?",
        "At the end, turn it around: ~ makes of blocked what is allowed.",
    ],
)


def _filled(allowed: Tensor, dtype: torch.dtype, number: float) -> Tensor:
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, number)


def additive(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """bool, True = may look -> 0 where it may look, -inf where it may not; same shape, of the given dtype."""
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -torch.inf)


def _right_dtype(case: Case, results: tuple) -> str | None:
    got, wanted = results[0].dtype, case.inputs["dtype"]
    if got == wanted:
        return None
    return f"Kind of float: the mask is {got}; expected {wanted}, the type that was asked for."


def _additive_cases(generator: torch.Generator) -> list[Case]:
    some = [torch.rand(*shape, generator=generator) > 0.4 for shape in [(2, 3), (2, 1, 3, 4), (3, 3)]]
    empty_row = torch.tensor([[True, False, True], [False, False, False]])
    return [
        Case({"allowed": some[0], "dtype": torch.float32}),
        Case({"allowed": some[1], "dtype": torch.float32}),
        Case({"allowed": empty_row, "dtype": torch.float32}, about="a query that may look at nothing"),
        Case({"allowed": some[1], "dtype": torch.float16}, about="half precision"),
        Case({"allowed": some[2], "dtype": torch.float64}, about="double precision"),
    ]


made_additive = Exercise(
    name="my_additive",
    reference=additive,
    cases=_additive_cases,
    outputs=("additive",),
    laws=[_right_dtype],
    solution=(additive, masks.allowed_to_additive),
    mistakes=[
        Mistake(
            lambda allowed, dtype: torch.zeros(allowed.shape, dtype=dtype).masked_fill(allowed, -torch.inf),
            "Turned around: what may look is hidden. masked_fill fills where its mask is True.",
            also=(lambda allowed, dtype: allowed.to(dtype) * -1e9,),
        ),
        Mistake(
            lambda allowed, dtype: _filled(allowed, dtype, -1e9),
            "-1e9 is large, but not infinite: a row of nothing but -1e9 becomes an even share of what is hidden. And "
            "in half precision, whose largest number is 65504, it does not even fit.",
            also=(
                lambda allowed, dtype: (1 - allowed.to(dtype)) * -1e9,
                lambda allowed, dtype: torch.where(allowed, 0.0, -1e9).to(dtype),
            ),
        ),
        Mistake(
            lambda allowed, dtype: _filled(allowed, dtype, torch.finfo(dtype).min),
            "The smallest number of the type fits, but it is a number: a row of nothing else becomes an even share of "
            "what is hidden, and a bias added to it may overflow. -inf is what you want.",
        ),
        Mistake(
            lambda allowed, dtype: _filled(allowed, dtype, -1e4),
            "-1e4 fits half precision, but it is a number like others: a row of nothing else becomes an even share of "
            "what is hidden.",
        ),
        Mistake(
            lambda allowed, dtype: (~allowed).to(dtype) * -torch.inf,
            "0 times -inf is NaN, not 0. Fill, or choose by torch.where.",
            also=(lambda allowed, dtype: allowed.to(dtype) * -torch.inf,),
        ),
        Mistake(
            lambda allowed, dtype: torch.zeros(allowed.shape, dtype=dtype),
            "All zeros: nothing is blocked. If you called masked_fill: it returns a new tensor, and keeps the old one.",
        ),
        Mistake(
            lambda allowed, dtype: allowed.to(dtype),
            "These are 1 and 0. Added to the scores they nudge, and block nothing. e^s must become 0: which s is that?",
        ),
        Mistake(
            lambda allowed, dtype: (~allowed).to(dtype),
            "These are 0 and 1. Added to the scores, the 1 makes the hidden keys even heavier. It must be -inf.",
        ),
        Mistake(
            lambda allowed, dtype: torch.ones(allowed.shape, dtype=dtype).masked_fill(~allowed, -torch.inf),
            "-inf is in the right places, but what may look gets 1. It is added to the scores, so that it should "
            "change nothing: 0.",
        ),
    ],
    hints=[
        "Begin with zeros of the right shape and dtype.",
        "Then fill in -inf where allowed is False: masked_fill(~allowed, …).",
        "float('-inf') and torch.inf fit every floating-point type. -1e9 does not.",
    ],
)


def _library(*, true_looks: bool, fill: float, empty: float | None):
    """An attention whose mask has the given meaning, and that makes `empty` of a row with nothing to look at."""

    def attention(x: Tensor, mask: Tensor) -> Tensor:
        hidden = ~mask if true_looks else mask
        weights = (x @ x.mT).masked_fill(hidden, fill).softmax(dim=-1)
        if empty is not None:
            weights = weights.masked_fill(hidden.all(dim=-1, keepdim=True), empty)
        return weights @ x

    gives = "0" if empty == 0.0 else "NaN" if fill == -torch.inf else "an_even_share"
    attention.__name__ = f"where_True_{'looks' if true_looks else 'blocks'}_and_an_empty_row_gives_{gives}"
    return attention


def _fused(x: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=mask)[0]


def _as_tensor(candidate, attention, x):
    """True and False of Python count as well."""
    answer = candidate(attention, x)
    return answer if answer is None or isinstance(answer, Tensor | str) else torch.as_tensor(answer)


def _all(x: Tensor, value: bool) -> Tensor:
    return torch.full((len(x), len(x)), value)


meaning_found = Exercise(
    name="my_true_means_look",
    reference=true_lets_look,
    cases=lambda generator: [
        Case({"attention": attention, "x": numbers(generator, tokens, 3)})
        for attention, tokens in [
            (_fused, 4),
            (_library(true_looks=False, fill=-torch.inf, empty=None), 5),
            (_library(true_looks=True, fill=-torch.inf, empty=None), 3),
            (_library(true_looks=False, fill=-torch.inf, empty=0.0), 4),
            (_library(true_looks=True, fill=-1e9, empty=None), 5),
            (_library(true_looks=False, fill=-1e9, empty=None), 3),
        ]
    ],
    outputs=("the answer",),
    call=_as_tensor,
    solution=(true_lets_look, influence),
    mistakes=[
        Mistake(
            lambda attention, x: not true_lets_look(attention, x),
            "Turned around. If an output moves with a token whose pair is True, True means look; if it moves with a "
            "token whose pair is False, it means blocked.",
        ),
        Mistake(
            lambda attention, x: not attention(x, _all(x, True)).isnan().any().item(),
            "You took NaN as the sign of a row that is blocked throughout. Not every library gives NaN there: some "
            "give 0, some an even share. Change a token, and see whether the output moves.",
        ),
        Mistake(
            lambda attention, x: not (attention(x, _all(x, True)) == 0).all().item(),
            "Your answer is right only where a row that is blocked throughout gives 0. Some libraries give NaN there, "
            "some an even share. Leave each query that you watch one key at least.",
        ),
        Mistake(
            lambda attention, x: attention(x, _all(x, False)).isnan().any().item(),
            "You asked for NaN where all is False. That tells only if an empty row gives NaN; in some libraries it "
            "gives 0, in some an even share. Change a token, and see whether the output moves.",
        ),
        Mistake(
            lambda attention, x: True,
            "You answer True whatever the library. Did you compare all outputs, or that of the token itself which you "
            "changed? It is a query, too, and its own output always moves. Compare output 0, and change another token.",
        ),
        Mistake(
            lambda attention, x: False,
            "You answer False whatever the library. If you compared all outputs at once, they always differ: the token "
            "that you changed is a query, too, and its own output moves. Compare output 0 alone.",
        ),
    ],
    hints=[
        "Make a mask in which a single pair is True: query 0 and the last key.",
        "Call the attention with x, and with a copy of x in which the last token is changed. Has output 0 moved?",
        "influence(lambda tokens: attention(tokens, mask), x) does this for each token: look at [0, -1].",
    ],
)


def torch_masks(src: Tensor, tgt: Tensor, src_pad_id: int, tgt_pad_id: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """src (B, S), tgt (B, T) -> what nn.Transformer is to be told, True = blocked."""
    src_key_padding_mask = src == src_pad_id  # (B, S)
    tgt_mask = ~masks.causal(tgt.size(1))  # (T, T)
    tgt_key_padding_mask = tgt == tgt_pad_id  # (B, T)
    memory_key_padding_mask = src_key_padding_mask  # the memory has the source's padding
    return src_key_padding_mask, tgt_mask, tgt_key_padding_mask, memory_key_padding_mask


def _told(source=lambda m: m, future=lambda m: m, target=lambda m: m, memory=lambda m: m):
    """What nn.Transformer is told, with some of the four changed."""

    def wrong(src, tgt, src_pad_id, tgt_pad_id):
        right = torch_masks(src, tgt, src_pad_id, tgt_pad_id)
        return tuple(change(mask) for change, mask in zip((source, future, target, memory), right))

    return wrong


def _with_axes(mask: Tensor) -> Tensor:
    return mask[:, None, None, :]


def _wrong_side(src, tgt, src_pad_id, tgt_pad_id):
    source, future, target, _ = torch_masks(src, tgt, src_pad_id, tgt_pad_id)
    return source, future, target, target


def _one_pad_id(src, tgt, src_pad_id, tgt_pad_id):
    return torch_masks(src, tgt, src_pad_id, src_pad_id)


def _target_pad_in_source(src, tgt, src_pad_id, tgt_pad_id):
    return torch_masks(src, tgt, tgt_pad_id, tgt_pad_id)


def _target_pad_in_memory(src, tgt, src_pad_id, tgt_pad_id):
    return *torch_masks(src, tgt, src_pad_id, tgt_pad_id)[:3], src == tgt_pad_id


def _pad_id_0(src, tgt, src_pad_id, tgt_pad_id):
    return torch_masks(src, tgt, 0, 0)


for_torch = Exercise(
    name="my_torch_masks",
    reference=torch_masks,
    cases=lambda generator: [
        Case({"src": _ids(generator, b, s, sp), "tgt": _ids(generator, b, t, tp), "src_pad_id": sp, "tgt_pad_id": tp})
        for b, s, t, sp, tp in [(2, 3, 4, 1, 3), (3, 5, 6, 7, 2), (4, 4, 4, 5, 6)]
    ],
    outputs=("src_key_padding_mask", "tgt_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
    mistakes=[
        Mistake(
            _told(*[torch.logical_not] * 4),
            "All four are turned around: nn.Transformer blocks where its masks are True.",
        ),
        Mistake(
            _told(future=torch.logical_not),
            "The padding is right, but tgt_mask is the triangle that may look. In nn.Transformer True blocks: the "
            "model would see the future, and nothing else.",
        ),
        Mistake(
            _told(torch.logical_not, lambda m: m, torch.logical_not, torch.logical_not),
            "tgt_mask is right, but the padding masks say by True what is a word. In nn.Transformer True blocks: only "
            "the padding would be seen.",
        ),
        Mistake(
            _wrong_side,
            "memory_key_padding_mask is about the keys of cross-attention. They are the memory, which has the "
            "source's length and the source's padding.",
        ),
        Mistake(
            _one_pad_id,
            "You looked for the source's padding id in the target. It is another language, with another vocabulary.",
        ),
        Mistake(
            _pad_id_0,
            "You compared with 0. Padding has the ids that the caller says: src_pad_id and tgt_pad_id.",
        ),
        Mistake(
            _told(source=torch.logical_not),
            "One of the padding masks is turned around. All three are True where there is padding.",
            also=(_told(target=torch.logical_not), _told(memory=torch.logical_not)),
        ),
        Mistake(
            _told(future=lambda m: m.mT),
            "tgt_mask blocks what came before, and shows the future: the triangle lies the other way.",
        ),
        Mistake(
            _told(future=lambda m: m.triu(2)),
            "tgt_mask leaves one diagonal too many open: each token sees the one after it.",
        ),
        Mistake(
            _target_pad_in_source,
            "You looked for the target's padding id in the source. Each side has its own.",
            also=(_target_pad_in_memory,),
        ),
        Mistake(
            _told(future=lambda m: m | torch.eye(len(m), dtype=torch.bool)),
            "tgt_mask blocks the diagonal, too: a token may look at itself. triu needs diagonal=1.",
        ),
        Mistake(
            _told(future=torch.zeros_like),
            "tgt_mask blocks nothing: the decoder sees the future.",
        ),
        Mistake(
            _told(memory=torch.zeros_like),
            "memory_key_padding_mask blocks nothing. nn.Transformer does not take it over from "
            "src_key_padding_mask: the decoder looks at the source's padding until you tell it once more.",
        ),
        Mistake(
            _told(_with_axes, lambda m: m, _with_axes, _with_axes),
            "The truth values are right, but nn.Transformer adds the axes itself: its padding masks are (B, K).",
        ),
    ],
    hints=[
        "True = blocked: a padding mask is True where the id is the padding.",
        "tgt_mask is the same for all sentences, (T, T): True above the diagonal.",
        "memory_key_padding_mask: whose are the keys in cross-attention?",
    ],
)


def keys_only(query_ids: Tensor, key_ids: Tensor, query_pad_id: int, key_pad_id: int) -> Tensor:
    """query_ids (B, Q), key_ids (B, K) -> bool, broadcasts to (B, 1, Q, K): nobody may look at padding."""
    return masks.padding(key_ids, pad_id=key_pad_id)


def _sides(queries: Tensor, keys: Tensor, query_pad: int, key_pad: int) -> tuple[Tensor, Tensor]:
    return (queries != query_pad)[:, None, :, None], (keys != key_pad)[:, None, None, :]


def _shipped(queries, keys, query_pad, key_pad):
    query_real, key_real = _sides(queries, keys, query_pad, key_pad)
    return query_real & key_real


def _either(queries, keys, query_pad, key_pad):
    query_real, key_real = _sides(queries, keys, query_pad, key_pad)
    return query_real | key_real


def _queries_only(queries, keys, query_pad, key_pad):
    return _sides(queries, keys, query_pad, key_pad)[0]


def _padding_sees_all(queries, keys, query_pad, key_pad):
    query_real, key_real = _sides(queries, keys, query_pad, key_pad)
    return key_real | ~query_real


def _padding_sees_itself(queries, keys, query_pad, key_pad):
    allowed = _shipped(queries, keys, query_pad, key_pad)
    return allowed | torch.eye(queries.size(1), keys.size(1), dtype=torch.bool)


def _expanded(candidate, query_ids, key_ids, query_pad_id, key_pad_id):
    """One row for all queries and a row for each mean the same, and both are right."""
    mask = candidate(query_ids, key_ids, query_pad_id, key_pad_id)
    shape = (query_ids.size(0), 1, query_ids.size(1), key_ids.size(1))
    broadcasts = isinstance(mask, Tensor) and mask.dim() == 4 and all(a in (1, b) for a, b in zip(mask.shape, shape))
    return mask.expand(shape) if broadcasts else mask


tidy_mask = Exercise(
    name="mended_padding",
    reference=keys_only,
    cases=lambda generator: [
        Case(
            {
                "query_ids": _ids(generator, b, q, qp),
                "key_ids": _ids(generator, b, k, kp).flip(0),
                "query_pad_id": qp,
                "key_pad_id": kp,
            }
        )
        for b, q, k, qp, kp in [(3, 6, 5, 7, 2), (2, 3, 4, 1, 3), (4, 4, 4, 5, 5)]
    ],
    outputs=("allowed",),
    call=_expanded,
    solution=(keys_only, masks.padding),
    mistakes=[
        Mistake(
            _shipped,
            "The bug is still there. A symptom: in some rows nothing may be looked at, and their softmax is NaN.",
        ),
        Mistake(
            _either,
            "No row is empty now, but words look at padding: | makes a key visible if the query is a word.",
        ),
        Mistake(
            _queries_only,
            "You kept the wrong one of the two: padded queries have nothing to look at, and words look at padding.",
        ),
        Mistake(
            _padding_sees_all,
            "That mends the symptom: no row is empty any more. But now padded queries look at everything, padding "
            "too. Nobody needs their output; the simplest is not to ask who the query is.",
        ),
        Mistake(
            _padding_sees_itself,
            "You opened the diagonal, so that padding sees itself. That fits self-attention alone; in cross-attention "
            "query i and key i are different words, or padding. It is simpler not to ask who the query is.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: torch.ones(len(keys), 1, queries.size(1), keys.size(1)).bool(),
            "No row is empty now, because nothing is hidden at all: words look at padding.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: ~keys_only(queries, keys, query_pad, key_pad),
            "Keys only, that is right. But True and False are exchanged: now all look at padding alone.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: keys_only(queries, keys, query_pad, query_pad),
            "Keys only, that is right. But their padding has the id key_pad_id.",
        ),
    ],
    hints=[
        "Print the mask for query_ids with one PAD at the end. What may that query look at?",
        "What is the softmax of a row that is blocked throughout? And what becomes of it in the next layer?",
        "Does anybody need to know whether the query is padding?",
    ],
)


def causal_with_cache(num_queries: int, num_keys: int) -> Tensor:
    """The last num_queries of num_keys tokens ask -> bool (Q, K), True = may look."""
    query = torch.arange(num_keys - num_queries, num_keys)  # where each query stands among the keys
    return torch.arange(num_keys) <= query[:, None]


def _triangle(num_queries: int, num_keys: int, diagonal: int) -> Tensor:
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(diagonal)


bug_hunt = Exercise(
    name="mended_causal",
    reference=causal_with_cache,
    cases=lambda generator: [
        Case({"num_queries": q, "num_keys": k}) for q, k in [(4, 11), (1, 4), (4, 4), (3, 4), (2, 5)]
    ],
    outputs=("allowed",),
    solution=(causal_with_cache, masks.causal),
    mistakes=[
        Mistake(
            lambda q, k: _triangle(q, k, 0),
            "The bug is still there. A symptom: the last of 11 tokens sees only 4 of them.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, k - q + 1),
            "Almost: each query sees one key too many, that of the token after it.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, k - q - 1),
            "Almost: no query sees itself.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, q - k),
            "The triangle moved the wrong way: now the queries see even less. Which diagonal is the upper one?",
        ),
        Mistake(
            lambda q, k: torch.ones(q, k, dtype=torch.bool),
            "Now all is open. For a single new token that is right; of several, the first sees those that come after.",
        ),
        Mistake(
            lambda q, k: torch.cat([torch.zeros(q, k - q, dtype=torch.bool), _triangle(q, q, 0)], dim=1),
            "The triangle stands in the right place, but the cache is hidden: the new tokens see one another alone.",
        ),
        Mistake(
            lambda q, k: _triangle(k, k, 0),
            "That is the mask of all the tokens, (K, K). Only the last num_queries of them ask: which rows are theirs?",
        ),
        Mistake(
            lambda q, k: ~_triangle(q, k, k - q),
            "The triangle stands in the right place, but True and False are exchanged. Here True means: may look.",
        ),
    ],
    hints=[
        "Print the mask for 2 queries and 5 keys. At which place in the sentence does query 0 stand?",
        "Query i stands at place num_keys - num_queries + i, and may look at the keys up to that place.",
        "tril(diagonal=…) moves the triangle to the right. By how many places?",
    ],
)
