"""Exercises of 03_masked_attention: rules, what is filled in, empty rows, and finding leaks."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons import masks
from lessons.attention import attend, masked_softmax
from lessons.exercises.engine import Case, Exercise, Mistake, numbers
from lessons.probes import influence


def causal(num_queries: int) -> Tensor:
    """Query i may look at keys 0 to i: bool (Q, Q), True = may look."""
    return masks.causal(num_queries)


future_hidden = Exercise(
    name="my_causal",
    reference=causal,
    cases=lambda generator: [
        Case({"num_queries": 3}),
        Case({"num_queries": 5}),
        Case({"num_queries": 1}, about="a single token, which may look at itself"),
    ],
    outputs=("allowed",),
    solution=(masks.causal,),
    mistakes=[
        Mistake(
            lambda n: ~masks.causal(n),
            "This is the mask with True and False exchanged: True where a query may not look. In this course True "
            "means: may look.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).tril(diagonal=-1),
            "The diagonal is missing: a token may not look at itself, and the first may look at nothing at all.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).tril(diagonal=1),
            "One too many: each query sees the token after it, the very one that it is to predict.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).triu(),
            "The triangle lies the other way: each query sees the future, and not the past. Rows are queries.",
        ),
        Mistake(
            lambda n: torch.ones(n, n).tril(),
            "The places are right, but these are the numbers 0 and 1. A mask is bool here: with numbers, ~ and & do "
            "not do what you need, and added to the scores they would block nothing. Use dtype=torch.bool.",
            also=(lambda n: torch.ones(n, n, dtype=torch.int64).tril(),),
        ),
        Mistake(
            lambda n: torch.zeros(n, n).masked_fill(~masks.causal(n), -torch.inf),
            "This is 0 where a query may look and -inf where it may not: numbers to be added to the scores. A bool "
            "mask is asked for, True = may look.",
        ),
        Mistake(
            lambda n: masks.causal(4),
            "It is (4, 4) whatever num_queries is. Build it from the argument: for 3 tokens it is (3, 3).",
        ),
        Mistake(
            lambda n: torch.eye(n, dtype=torch.bool),
            "Each token sees only itself. That is the identity; the past belongs to it, too.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool),
            "Everything is allowed. Nothing hides the future yet.",
        ),
    ],
    hints=[
        "Query i may look at key j if j ≤ i.",
        "torch.arange(n) as a row is the keys, as a column (add [:, None]) the queries. Compare them.",
        "Or: torch.ones(n, n, dtype=torch.bool), and cut off a triangle with tril or triu. Which one?",
    ],
)


def _mask_cases(generator) -> list[Case]:
    empty_row = torch.tensor([[True, False, True], [False, False, False]])
    empty_in_one = torch.ones(2, 3, 4, dtype=torch.bool)
    empty_in_one[1, 2] = False
    batch = masks.combine(masks.causal(5), masks.padding_from_lengths([5, 2])[:, 0])
    return [
        Case({"scores": numbers(generator, 2, 3), "allowed": torch.tensor([[True, False, True], [True, True, False]])}),
        Case({"scores": numbers(generator, 4, 4), "allowed": masks.causal(4)}),
        Case({"scores": numbers(generator, 2, 5, 5), "allowed": batch}, about="a batch axis in front"),
        Case(
            {"scores": torch.tensor([[0.5, 1.0, 200.0]]), "allowed": torch.tensor([[True, True, False]])},
            about="a blocked key with a very large score",
        ),
        Case(
            {"scores": torch.tensor([[0.0, 1.0, 2.0]]), "allowed": torch.tensor([[True, True, False]])},
            about="a score of exactly 0 that is allowed",
        ),
        Case(
            {
                "scores": torch.tensor([[1000.0, 999.0, 3.0], [-1000.0, -1001.0, 5.0]]),
                "allowed": torch.tensor([[True, True, False], [True, True, False]]),
            },
            about="allowed scores around 1000 and around -1000",
        ),
        Case(
            {"scores": torch.tensor([[-2e20, -3e20, 0.0]]), "allowed": torch.tensor([[True, True, False]])},
            about="allowed scores so low that most large negative numbers lie above them",
        ),
        Case({"scores": numbers(generator, 2, 3), "allowed": empty_row}, about="a query that may look at nothing"),
        Case(
            {"scores": numbers(generator, 2, 3, 4), "allowed": empty_in_one},
            about="a batch in which one query of one sentence may look at nothing",
        ),
        Case({"scores": numbers(generator, 3, 3), "allowed": masks.causal(3)}, about="gradients", gradients=True),
    ]


def _blocked_get_nothing(case: Case, results: tuple) -> str | None:
    allowed, (weights,) = case.inputs["allowed"], results
    leaked = (weights.detach() != 0) & ~allowed
    if not leaked.any():
        return None
    place = leaked.nonzero()[0].tolist()
    return f"Blocked: {place} may not be looked at, and has weight {weights[tuple(place)].item():.4g}; expected 0."


def _fill(value: float):
    return lambda scores, allowed: scores.masked_fill(~allowed, value).softmax(dim=-1)


def _fill_and_multiply(value: float):
    return lambda scores, allowed: scores.masked_fill(~allowed, value).softmax(dim=-1) * allowed


def _by_powers(scores, allowed, least=0.0):
    powers = scores.exp().masked_fill(~allowed, 0.0)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=least)


def _by_powers_times_mask(scores, allowed, least=0.0):
    powers = scores.exp() * allowed
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=least)


def _one_greatest_for_all(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    powers = (hidden - hidden.max()).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def _all_empty(scores, allowed):
    if allowed.any(dim=-1).all():
        return masked_softmax(scores, allowed)
    return torch.zeros_like(scores)


def _in_place(scores, allowed):
    return scores.detach().masked_fill_(~allowed, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


masked_weights = Exercise(
    name="my_masked_weights",
    reference=masked_softmax,
    cases=_mask_cases,
    outputs=("weights",),
    laws=[_blocked_get_nothing],
    mistakes=[
        Mistake(
            _fill(0.0),
            "You put 0 in the place of the blocked scores. 0 is a score like any other: e to the 0 is 1, so a "
            "blocked key still takes its share of the row. Which score gives e^s = 0?",
            also=(_fill_and_multiply(0.0),),
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1) * a,
            "You masked after the softmax. The blocked keys were in the sum by which each row is divided, so the rows "
            "no longer sum to 1. Mask the scores, before the softmax.",
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1) * a / (s.softmax(dim=-1) * a).sum(dim=-1, keepdim=True),
            "A blocked score that is much larger than the others still takes part: it leaves them weights of 0, and "
            "then there is nothing left to share out. (So it goes when you mask after the softmax and divide once "
            "more, which is right on paper.) Take it out before the softmax.",
            seen_in="a blocked key with a very large score",
            also=(
                lambda s, a: (s.softmax(-1) * a / (s.softmax(-1) * a).sum(-1, keepdim=True)).nan_to_num(0.0),
                lambda s, a: s.softmax(-1) * a / ((s.softmax(-1) * a).sum(-1, keepdim=True) + 1e-9),
                lambda s, a: s.softmax(-1) * a / (s.softmax(-1) * a).sum(-1, keepdim=True).clamp(min=1e-9),
            ),
        ),
        Mistake(
            _fill(-torch.inf),
            "Right, except for a query that may look at nothing: its row is all -inf, and the softmax makes NaN of "
            "it. Such a row must become 0.",
        ),
        Mistake(
            _fill(-1e9),
            "A large negative number such as -1e9, instead of -inf, hides the row that may look at nothing: all its "
            "scores are equal, so it attends evenly to what is blocked. Its weights must be 0.",
            seen_in="a query that may look at nothing",
            also=(_fill(-30.0), _fill(-1e4), _fill(-1e20), _fill(torch.finfo(torch.float32).min)),
        ),
        Mistake(
            _fill_and_multiply(-1e9),
            "A large negative number is not -inf: where the allowed scores are lower still, the blocked key takes the "
            "whole row, and setting it to 0 afterwards leaves an empty row. -inf lies below every number.",
            seen_in="allowed scores so low that most large negative numbers lie above them",
            also=(_fill_and_multiply(-30.0),),
        ),
        Mistake(
            _by_powers,
            "The formula is right, but e^1000 is too large for a float, and e^-1000 too small. Take the greatest "
            "allowed score of the row away first, as in lesson 02, or let softmax do it.",
            seen_in="allowed scores around 1000 and around -1000",
            also=(
                lambda s, a: _by_powers(s, a).nan_to_num(0.0),
                lambda s, a: _by_powers(s, a).masked_fill(~a, 0.0),
                lambda s, a: _by_powers(s, a, least=1e-9),
                _by_powers_times_mask,
                lambda s, a: _by_powers_times_mask(s, a).nan_to_num(0.0),
                lambda s, a: _by_powers_times_mask(s, a, least=1e-9),
            ),
        ),
        Mistake(
            _one_greatest_for_all,
            "You took away the greatest score of the whole table. A row whose scores lie far below it then becomes "
            "0 / 0. Take away each row's own greatest score: dim=-1.",
            seen_in="allowed scores around 1000 and around -1000",
            also=(lambda s, a: _one_greatest_for_all(s, a).nan_to_num(0.0),),
        ),
        Mistake(
            _all_empty,
            "One query that may look at nothing empties your whole table. Only its own row must become 0.",
            seen_in="a query that may look at nothing",
        ),
        Mistake(
            lambda s, a: s.masked_fill(~a, -torch.inf).softmax(dim=-1).masked_fill(~a.any(dim=-1), 0.0),
            "allowed.any(dim=-1) has one entry a query, (Q,), and lies along the keys when it meets the weights, "
            "(Q, K). keepdim=True makes it a column, (Q, 1).",
        ),
        Mistake(
            lambda s, a: s.masked_fill(~a, -torch.inf).softmax(-1).masked_fill(~a.all(dim=-1, keepdim=True), 0.0),
            "Every row in which anything is blocked comes out 0. Only a row in which *nothing* is allowed should: "
            "any, not all.",
        ),
        Mistake(
            lambda s, a: s.masked_fill(a, -torch.inf).softmax(dim=-1).nan_to_num(0.0),
            "You blocked what is allowed, and allowed what is blocked: True means may look.",
            also=(
                lambda s, a: s.masked_fill(a, -torch.inf).softmax(dim=-1),
                lambda s, a: s.masked_fill(a, -1e9).softmax(-1),
            ),
        ),
        Mistake(
            lambda s, a: s.masked_fill(~a, -torch.inf).softmax(dim=1).nan_to_num(0.0),
            "Right for a table, where axis 1 holds the keys. With a batch in front it holds the queries: dim=-1.",
            also=(lambda s, a: s.masked_fill(~a, -torch.inf).softmax(dim=1),),
        ),
        Mistake(
            lambda s, a: s.masked_fill(~a, -torch.inf).softmax(dim=-1).masked_fill(~a.any(dim=1, keepdim=True), 0.0),
            "Which queries may look at nothing? You asked along axis 1, which holds the keys of a table, but the "
            "queries of a batch. Ask along the last axis: allowed.any(dim=-1).",
        ),
        Mistake(
            lambda s, a: (s + (~a).float() * -torch.inf).softmax(dim=-1),
            "0 times -inf is NaN, not 0: so multiplying a mask of 0 and 1 by -inf spoils the allowed places as well. "
            "Use masked_fill, or torch.where.",
        ),
        Mistake(
            lambda s, a: s.masked_fill(~a, -torch.inf).softmax(dim=-2).nan_to_num(0.0),
            "Your columns sum to 1: the softmax runs over the queries. The keys are on the last axis.",
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1),
            "The mask is not used: these are the weights without one.",
        ),
        Mistake(
            lambda s, a: (s + a).softmax(dim=-1),
            "You added the mask to the scores: True counts as 1, and False as 0, so nothing is blocked, only "
            "nudged. An additive mask holds 0 and -inf.",
        ),
        Mistake(
            lambda s, a: (s * a).masked_fill(s * a == 0, -torch.inf).softmax(dim=-1).nan_to_num(0.0),
            "You took a score of 0 for a blocked one. A real score may be 0, too: ask the mask.",
            seen_in="a score of exactly 0 that is allowed",
        ),
        Mistake(
            _in_place,
            "Your function changed the scores that it was given: scores[~allowed] = … and masked_fill_ with a trailing "
            "underscore work in place. Whoever called it still needs them.",
        ),
    ],
    hints=[
        "Where allowed is False, the score must become one whose power of e is 0: scores.masked_fill(~allowed, …).",
        "Only after that, the softmax, over the keys.",
        "A row that is -inf throughout gives NaN. Which rows are these? allowed.any(dim=-1) knows.",
    ],
)


def padding_rule(ids: Tensor, pad_id: int) -> Tensor:
    """Nobody may look at padding: ids (B, K) -> bool (B, 1, 1, K), True = may look."""
    return masks.padding(ids, pad_id=pad_id)


def _padding_cases(generator) -> list[Case]:
    some = torch.tensor([[4, 5, 9, 9], [6, 7, 8, 5]])
    return [
        Case({"ids": some, "pad_id": 9}),
        Case({"ids": torch.tensor([[5, 4, 6], [2, 2, 7], [3, 2, 5]]), "pad_id": 2}),
        Case({"ids": torch.tensor([[3, 0, 2, 1, 1], [5, 1, 1, 1, 1], [2, 4, 6, 8, 1]]), "pad_id": 1}),
        Case({"ids": torch.tensor([[5, 6, 0]]), "pad_id": 0}),
    ]


def _by_counting(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1)
    return (torch.arange(ids.size(1)) < lengths[:, None])[:, None, None, :]


padding_hidden = Exercise(
    name="my_padding",
    reference=padding_rule,
    cases=_padding_cases,
    outputs=("allowed",),
    solution=(masks.padding,),
    mistakes=[
        Mistake(
            lambda ids, pad_id: (ids == pad_id)[:, None, None, :],
            "True and False are exchanged: you allow the padding, and block the words.",
        ),
        Mistake(
            lambda ids, pad_id: (ids != 0)[:, None, None, :],
            "You compared with 0, the id of padding in the vocabulary above. Elsewhere it is another: compare with "
            "the argument, pad_id.",
        ),
        Mistake(
            lambda ids, pad_id: (ids != pad_id)[:, None, :, None],
            "This blocks padding as a query: in (B, 1, Q, 1) the ids lie along the queries. The words could still "
            "look at padding, and a padded query would have nothing to look at. Put the ids on the axis of the keys.",
        ),
        Mistake(
            lambda ids, pad_id: (ids != pad_id)[:, None, None, :] & (ids != pad_id)[:, None, :, None],
            "This blocks padding as key, which is right, and as query, which is too much: the row of a padded query "
            "then has nothing to look at, and gives NaN in much code. Only the keys.",
        ),
        Mistake(
            lambda ids, pad_id: ids != pad_id,
            "The truth values are right, but their axes are (B, K). Against scores (B, H, Q, K) the axis B would "
            "meet Q: put two axes of size 1 in between.",
        ),
        Mistake(
            lambda ids, pad_id: (ids != pad_id)[:, None, :],
            "The truth values are right, but there is one axis too few: (B, 1, K) would meet heads with the batch. "
            "One axis of size 1 for the heads, one for the queries.",
        ),
        Mistake(
            lambda ids, pad_id: (ids != pad_id)[None, None],
            "The truth values are right, but the new axes stand in front: (1, 1, B, K). The sentences then lie on the "
            "axis of the queries. B stays first; the new axes go between B and K.",
        ),
        Mistake(
            lambda ids, pad_id: (ids != pad_id)[:, :, None, None],
            "The truth values are right, but the new axes stand at the end: (B, K, 1, 1). The keys are the last axis; "
            "the new axes go between B and K.",
        ),
        Mistake(
            _by_counting,
            "You counted the real tokens and took it that they come first. Padding may stand in front as well: compare "
            "each id with pad_id.",
        ),
    ],
    hints=[
        "Which ids are not padding? That is one comparison, of shape (B, K).",
        "Indexing with None adds an axis of size 1: mask[:, None, None, :].",
    ],
)


def _shift(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[:1]), x[:-1]])


def _causal_attention(x: Tensor) -> Tensor:
    return attend(x, x, x, masks.causal(x.size(0)))[0]


def _open_attention(x: Tensor) -> Tensor:
    return attend(x, x, x)[0]


def _peeks_one_ahead(x: Tensor) -> Tensor:
    allowed = torch.ones(x.size(0), x.size(0), dtype=torch.bool).tril(diagonal=1)
    return attend(x, x, x, allowed)[0]


def _adds_up(x: Tensor) -> Tensor:
    return x.cumsum(dim=0)


def _counts_down(x: Tensor) -> Tensor:
    return -x.cumsum(dim=0)


def _adds_up_one_feature(x: Tensor) -> Tensor:
    return torch.cat([x[:, :1].cumsum(dim=0), x[:, 1:]], dim=1)


def _adds_up_the_last_feature(x: Tensor) -> Tensor:
    return x[:, -1:].cumsum(dim=0)


def _adds_and_subtracts(x: Tensor) -> Tensor:
    total = x.cumsum(dim=0)
    return torch.cat([total, -total], dim=1)


def _adds_up_behind_zero(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[:, :1]), x.cumsum(dim=0)], dim=1)


def _adds_up_softly(x: Tensor) -> Tensor:
    return x + 1e-3 * x.cumsum(dim=0)


def leak_table(function, x: Tensor) -> Tensor:
    """bool (T, T): [i, j] is True where output i moves when token j is changed."""
    return influence(function, x)


def _detector(compare, change, *, rows_are_changes: bool = False):
    """A leak detector from its two halves, for the known mistakes."""

    def detect(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            columns.append(compare(function(change(x, j)), before, j))
        return torch.stack(columns, dim=0 if rows_are_changes else 1)

    return detect


def _changed(x: Tensor, j: int, by: float = 1.0) -> Tensor:
    y = x.clone()
    y[j] += by
    return y


def _changed_feature(x: Tensor, j: int, feature: int) -> Tensor:
    y = x.clone()
    y[j, feature] += 1.0
    return y


def _changed_column(x: Tensor, j: int) -> Tensor:
    y = x.clone()
    y[:, j] += 1.0
    return y


def _moved(after: Tensor, before: Tensor, j: int) -> Tensor:
    return ((after - before).abs() > 1e-5).any(dim=1)


leak_finder = Exercise(
    name="my_influence",
    reference=leak_table,
    cases=lambda generator: [
        Case({"function": function, "x": numbers(generator, tokens, 3)})
        for function, tokens in [
            (_causal_attention, 3),
            (_open_attention, 4),
            (_peeks_one_ahead, 5),
            (_shift, 4),
            (_adds_up, 6),
            (_counts_down, 3),
            (_adds_up_one_feature, 5),
            (_adds_up_the_last_feature, 4),
            (_adds_and_subtracts, 3),
            (_adds_up_behind_zero, 3),
            (_adds_up_softly, 4),
        ]
    ],
    outputs=("moved",),
    solution=(influence,),
    mistakes=[
        Mistake(
            _detector(_moved, _changed, rows_are_changes=True),
            "Your table is transposed: row i should belong to output i, column j to the token j that was changed.",
        ),
        Mistake(
            _detector(lambda after, before, j: (after - before > 1e-5).any(dim=1), _changed),
            "You missed the outputs that move down: after - before may be negative. Take the absolute value.",
        ),
        Mistake(
            _detector(lambda after, before, j: ((after - before).abs() > 1e-5).all(dim=1), _changed),
            "You counted an output as moved only if all its features moved. One is enough: any, not all.",
        ),
        Mistake(
            _detector(_moved, lambda x, j: torch.cat([_changed(x, j)[: j + 1], x[j + 1 :] + 1.0])),
            "You changed token j and all that come after it. Change one token at a time, and start each time from x.",
        ),
        Mistake(
            _detector(_moved, lambda x, j: torch.cat([x[: j + 1] + 1.0, x[j + 1 :]])),
            "You changed token j and all before it: the copy was not made anew. Start each time from x.",
        ),
        Mistake(
            _detector(_moved, lambda x, j: _changed_feature(x, j, 0)),
            "You changed only the first feature of token j. A function may look at another one: change them all.",
        ),
        Mistake(
            _detector(_moved, lambda x, j: _changed_feature(x, j, -1)),
            "You changed only the last feature of token j. A function may look at another one: change them all.",
        ),
        Mistake(
            _detector(lambda after, before, j: (after - before)[:, 0].abs() > 1e-5, _changed),
            "You compared only the first feature of the outputs. Any of them may move.",
        ),
        Mistake(
            _detector(lambda after, before, j: (after - before).sum(dim=1).abs() > 1e-5, _changed),
            "You added up the differences of an output's features: ups and downs cancel. Look at each by itself.",
            also=(_detector(lambda after, before, j: (after - before).mean(dim=1).abs() > 1e-5, _changed),),
        ),
        Mistake(
            _detector(lambda after, before, j: ~_moved(after, before, j), _changed),
            "True and False are exchanged: True should stand where an output moves.",
        ),
        Mistake(
            _detector(lambda after, before, j: _moved(after, before, j) & (torch.arange(len(before)) != j), _changed),
            "The diagonal is missing: that output i moves with token i is part of the table.",
        ),
        Mistake(
            _detector(_moved, _changed_column),
            "You changed feature j of every token: y[:, j] is a column. Token j is the row y[j].",
        ),
        Mistake(
            _detector(lambda after, before, j: ((after - before).abs() > 1e-5).any(dim=0), _changed),
            "You asked along axis 0, that of the outputs, whether anything moves. Ask for each output by itself, along "
            "its features: dim=-1.",
        ),
        Mistake(
            lambda function, x: torch.eye(len(x), dtype=torch.bool),
            "Only the diagonal is True: it is the tokens that you compared. Compare what the function gives for the "
            "changed copy with what it gives for x.",
        ),
        Mistake(
            lambda function, x: torch.zeros(len(x), len(x), dtype=torch.bool),
            "Nothing ever moves. Is the function called on the changed copy, and compared with what it gave for x?",
        ),
    ],
    hints=[
        "Call the function once on x itself. Then, for each token j, on a copy of x in which only row j is changed.",
        "Output i has moved if any of its features differs from before, up or down, by more than rounding.",
        "Each j gives one column of the table: torch.stack(columns, dim=1).",
    ],
)


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (..., T, d), k (..., T, d), v (..., T, d_v) -> output (..., T, d_v); no position sees a later one."""
    return attend(q, k, v, masks.causal(q.size(-2)))[0]


def _with_mask(mask):
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask(q.size(-2)))


def _shipped(q, k, v):
    hidden = torch.triu(torch.ones(q.size(-2), q.size(-2), dtype=torch.bool), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=hidden)


bug_hunt = Exercise(
    name="mended_attention",
    reference=causal_attention,
    cases=lambda generator: [
        Case({name: numbers(generator, *shape) for name, shape in zip("qkv", shapes)})
        for shapes in [((3, 2), (3, 2), (3, 4)), ((2, 5, 3), (2, 5, 3), (2, 5, 7)), ((1, 4), (1, 4), (1, 2))]
    ],
    outputs=("output",),
    solution=(causal_attention, attend),
    mistakes=[
        Mistake(
            _shipped,
            "The bug is still there. A symptom: change the last token, and the output of the first one moves.",
        ),
        Mistake(
            _with_mask(lambda n: torch.triu(torch.ones(n, n, dtype=torch.bool))),
            "Now each token sees itself and the future. It is the past that it may see.",
        ),
        Mistake(
            _with_mask(lambda n: torch.tril(torch.ones(n, n, dtype=torch.bool), diagonal=1)),
            "The triangle is the right one now, but one diagonal too many is left in it: each token still sees the "
            "one after it. (diagonal=1 was right for triu.)",
        ),
        Mistake(
            _with_mask(lambda n: torch.triu(torch.ones(n, n), diagonal=1)),
            "A float mask is added to the scores: 1 above the diagonal nudges the future up, and blocks nothing.",
        ),
        Mistake(
            _with_mask(lambda n: torch.triu(torch.ones(n, n), diagonal=1) * -torch.inf),
            "0 times -inf is NaN. Fill a table of zeros with -inf instead, or use a bool mask.",
        ),
        Mistake(
            _with_mask(lambda n: torch.tril(torch.ones(n, n, dtype=torch.bool), diagonal=-1)),
            "The triangle is the right one now, but the diagonal is missing: a token may look at itself.",
        ),
        Mistake(
            _with_mask(lambda n: torch.tril(torch.ones(n, n))),
            "A float mask is added to the scores: ones and zeros nudge them, and block nothing. Make it bool.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1).tril() @ v,
            "You masked after the softmax: the future took part in the sum of each row, so the rows sum to less than "
            "1, and it still leaks. Mask the scores.",
        ),
        Mistake(
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
            "Without any mask, every token sees every other, the future as well.",
        ),
        Mistake(
            lambda q, k, v: torch.tril(q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ v,
            "tril puts 0 in the place of the blocked scores, and a score of 0 still gets its share.",
        ),
    ],
    hints=[
        "Print the mask for 3 tokens. Which tokens are True in the first row?",
        "What does True mean in F.scaled_dot_product_attention? Its documentation says: takes part in attention.",
        "There are three ways out: turn the mask around with ~, build the other triangle, or say is_causal=True.",
    ],
)
