"""Lesson 17, my_blocks: attention, with one block of keys at a time."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def attention_in_blocks(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    """q (Q, d), k (K, d), v (K, d_v) -> (Q, d_v), from the scores with `block` keys at a time."""
    highest = torch.full((len(q), 1), -torch.inf)
    total = torch.zeros(len(q), 1)
    summed = torch.zeros(len(q), v.size(-1))
    for start in range(0, len(k), block):
        keys, values = k[start : start + block], v[start : start + block]
        scores = q @ keys.T / math.sqrt(q.size(-1))  # (Q, block)
        new = torch.maximum(highest, scores.amax(dim=-1, keepdim=True))
        scale, powers = (highest - new).exp(), (scores - new).exp()
        total = scale * total + powers.sum(dim=-1, keepdim=True)
        summed = scale * summed + powers @ values
        highest = new
    return summed / total


class _Tables(TorchDispatchMode):
    """Watches whether a tensor with the scores of all keys is made, for all queries or for one.

    Those for all queries may also be (blocks, Q, block) or (blocks, block, Q).
    """

    def __init__(self, queries: int, keys: int, block: int):
        super().__init__()
        blocks = -(-keys // block)
        self.sizes = {(queries, keys), (keys, queries), (keys,), (1, keys), (keys, 1)}
        self.sizes |= {(blocks, queries, block), (blocks, block, queries)}
        self.made = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.is_floating_point():
            self.made = self.made or not self.sizes.isdisjoint({tuple(result.shape[-2:]), tuple(result.shape[-3:])})
        return result


def watched(candidate: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor, block: int) -> Any:
    """The result, and whether the scores of all keys were there at once. With blocks of one key, that can't be told."""
    with _Tables(len(q), len(k), block) as tables:
        output = candidate(q, k, v, block)
    return output, torch.tensor(tables.made and 1 < block < len(k))


def _block_cases(generator) -> list[Case]:
    def case(queries, keys, d, d_v, block, about="", shift=0.0):
        q, k, v = numbers(generator, queries, d), numbers(generator, keys, d), numbers(generator, keys, d_v)
        if shift:  # the first feature alone adds `shift` to each score
            q[:, 0], k[:, 0] = math.sqrt(d), shift
        return Case({"q": q, "k": k, "v": v, "block": block}, about)

    def large(queries, keys, d_v, block, about):
        """Whole numbers and d = 4: the scores are exact in whichever order they are computed."""
        q, k = (torch.randint(-70, 71, (n, 4), generator=generator).float() for n in (queries, keys))
        return Case({"q": q, "k": k, "v": numbers(generator, keys, d_v), "block": block}, about)

    return [
        case(2, 6, 3, 4, 3),
        case(3, 8, 2, 5, 3),
        case(6, 11, 5, 3, 4),
        case(4, 5, 3, 2, 9, "one block that is longer than the keys"),
        case(3, 7, 2, 4, 1, "blocks of one key"),
        large(3, 9, 2, 4, "scores of several thousand"),
        case(2, 7, 5, 4, 3, "all scores far below 0", shift=-300.0),
        case(1, 7, 2, 4, 3, "a single query"),
    ]


def _averaged(q, k, v, block):
    outputs = [attend(q, k[i : i + block], v[i : i + block])[0] for i in range(0, len(k), block)]
    return torch.stack(outputs).mean(dim=0)


def _added(q, k, v, block):
    outputs = [attend(q, k[i : i + block], v[i : i + block])[0] for i in range(0, len(k), block)]
    return torch.stack(outputs).sum(dim=0)


def _side_by_side(q, k, v, block):
    """Each block's own softmax, and all of them joined to one table."""
    scores = [q @ keys.T / math.sqrt(q.size(-1)) for keys in k.split(block)]
    return torch.cat([each.softmax(dim=-1) for each in scores], dim=-1) @ v


def _without_keepdim(q, k, v, block):
    highest, total, summed = torch.full((len(q),), -torch.inf), torch.zeros(len(q)), torch.zeros(len(q), v.size(-1))
    for keys, values in zip(k.split(block), v.split(block)):
        scores = q @ keys.T / math.sqrt(q.size(-1))
        new = torch.maximum(highest, scores.amax(dim=-1))
        scale, powers = (highest - new).exp(), (scores - new).exp()
        highest, total, summed = new, scale * total + powers.sum(dim=-1), scale * summed + powers @ values
    return summed / total


def _a_query_at_a_time(q, k, v, block):
    return torch.cat([attend(query, k, v)[0] for query in q.split(1)])


def _all_blocks_in_one_tensor(q, k, v, block):
    missing = -len(k) % block
    keys, values = (F.pad(each, (0, 0, 0, missing)).unflatten(0, (-1, block)) for each in (k, v))
    scores = q @ keys.mT / math.sqrt(q.size(-1))  # (blocks, Q, block)
    scores[-1, :, block - missing :] = -torch.inf
    powers = (scores - scores.amax(dim=(0, 2), keepdim=True)).exp()
    return (powers @ values).sum(dim=0) / powers.sum(dim=(0, 2))[:, None]


def _each_from_its_own_highest(q, k, v, block):
    total = summed = 0.0
    for keys, values in zip(k.split(block), v.split(block)):
        scores = q @ keys.T / math.sqrt(q.size(-1))
        powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        total, summed = total + powers.sum(dim=-1, keepdim=True), summed + powers @ values
    return summed / total


def _blocks_of_queries(q, k, v, block):
    return torch.cat([attend(part, k, v)[0] for part in q.split(block)])


TOTAL, SUMMED = "total = scale * total +", "summed = scale * summed +"

tiling = Exercise(
    lesson="17",
    name="my_blocks",
    reference=attention_in_blocks,
    call=watched,
    cases=_block_cases,
    outputs=("output", "memory"),
    mistakes=[
        Mistake(
            lambda q, k, v, block: attend(q, k, v)[0],
            "The numbers are right, but the scores of all keys were there at once, and that memory is what we want to "
            "save. Compute q @ keys.T for one block of keys at a time.",
            also=[_a_query_at_a_time, _all_blocks_in_one_tensor],
        ),
        Mistake(
            edited(attention_in_blocks, (TOTAL, "total = total +"), (SUMMED, "summed = summed +")),
            "The old sums are not scaled. When a block brings a higher score, what was summed before was measured from "
            "a lower one: multiply it by exp(highest − new).",
        ),
        Mistake(
            _each_from_its_own_highest,
            "Each block is measured from its own highest score, and the sums are added as they are. Bring both to the "
            "same one: the highest so far.",
        ),
        Mistake(
            edited(attention_in_blocks, TOTAL, "total = total +"),
            "summed is scaled when a higher score comes, total is not. Both contain e^(score − highest).",
        ),
        Mistake(
            edited(attention_in_blocks, SUMMED, "summed = summed +"),
            "total is scaled when a higher score comes, summed is not. Both contain e^(score − highest).",
        ),
        Mistake(
            _averaged,
            "You averaged the outputs of the blocks. A block with high scores must count more than one with low "
            "scores: each block's total says how much.",
        ),
        Mistake(
            _added,
            "You added the outputs of the blocks. Each is an average already: its weights sum to 1 in every block.",
        ),
        Mistake(
            _side_by_side,
            "Each block has a softmax of its own in your code, so a row of the joined weights sums to the number of "
            "blocks. And they are those of all keys at once, which is the memory that we want to save.",
        ),
        Mistake(
            _without_keepdim,
            "Your highest scores are (Q,). Next to (Q, block), torch takes their axis for the keys. Keep the axis, "
            "(Q, 1): keepdim=True, in the sum as well.",
        ),
        Mistake(
            edited(attention_in_blocks, "v[start : start + block]", "v"),
            "The keys are cut into blocks, the values aren't: each block of weights needs its own values.",
        ),
        Mistake(
            edited(attention_in_blocks, " / math.sqrt(q.size(-1))", ""),
            "The scores are not divided by √d.",
        ),
        Mistake(
            edited(attention_in_blocks, "range(0, len(k), block)", "range(0, len(k) - block + 1, block)"),
            "The keys at the end are missing: the last block may be shorter than the others.",
        ),
        Mistake(
            edited(attention_in_blocks, "return summed / total", "return summed"),
            "The division at the end is missing: summed / total.",
        ),
        Mistake(
            edited(attention_in_blocks, "        highest = new\n", ""),
            "highest stays at −∞, so the scale is always e^(−∞) = 0, and only the last block counts. Remember the new "
            "highest score at the end of the loop.",
        ),
        Mistake(
            edited(
                attention_in_blocks,
                ("new = torch.maximum(highest, scores.amax(dim=-1, keepdim=True))", "new = torch.zeros(len(q), 1)"),
                ("scale, powers = (highest - new).exp()", "scale, powers = 1.0"),
            ),
            "You took e^score without subtracting the highest score: it overflows from a score of 89 on, in float32.",
            seen_in="scores of several thousand",
        ),
        Mistake(
            edited(attention_in_blocks, "torch.full((len(q), 1), -torch.inf)", "torch.zeros(len(q), 1)"),
            "highest starts at 0. Where all scores are far below 0, all powers are 0, and 0 / 0 is NaN. Start at −∞.",
            seen_in="all scores far below 0",
        ),
        Mistake(
            edited(attention_in_blocks, "(highest - new).exp()", "(new - highest).exp()"),
            "Your scale grows where it should shrink: it is exp(highest − new), which is at most 1.",
        ),
        Mistake(
            edited(attention_in_blocks, "v[start : start + block]", "v[: min(block, len(k) - start)]"),
            "Each block of keys is used with the values of the first block. Key and value of a token go together.",
        ),
        Mistake(
            edited(
                attention_in_blocks,
                "torch.maximum(highest, scores.amax(dim=-1, keepdim=True))",
                "scores.amax(dim=-1, keepdim=True)",
            ),
            "You measure from the highest score of this block alone. If an earlier block had a higher one, its scale "
            "grows beyond 1 and can overflow: take the maximum of both.",
            seen_in="scores of several thousand",
        ),
        Mistake(
            edited(
                attention_in_blocks,
                "        highest = new\n",
                "        summed = summed / total\n        highest = new\n",
            ),
            "You divided in each round. Divide once, after the loop: the next block is added to the plain sums.",
            also=[
                edited(
                    attention_in_blocks,
                    ("        highest = new\n", "        summed = summed / total\n        highest = new\n"),
                    ("return summed / total", "return summed"),
                )
            ],
        ),
        Mistake(
            edited(attention_in_blocks, "scores.amax(dim=-1, keepdim=True)", "scores.max()"),
            "You took one highest score for all queries. A query whose scores are all far below it gets 0 / 0: take "
            "the highest score of each row.",
            seen_in="scores of several thousand",
        ),
        Mistake(
            edited(attention_in_blocks, "(scores - new).exp()", "(scores - scores.amax(dim=-1, keepdim=True)).exp()"),
            "The powers of a block are measured from its own highest score, the sums from the highest so far. Use the "
            "same one for both: exp(scores − new).",
        ),
        Mistake(
            edited(attention_in_blocks, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "You divided by d. Divide by its root.",
        ),
        Mistake(
            edited(attention_in_blocks, "range(0, len(k), block)", "range(0, block, block)"),
            "Only the first block of keys counts. Go through all of them.",
        ),
        Mistake(
            _blocks_of_queries,
            "You cut the queries into blocks. The keys must be cut as well: with one long block of queries, all scores "
            "are there at once.",
        ),
    ],
    hints=[
        "Keep three things from block to block: highest (Q, 1), total (Q, 1) and summed (Q, d_v). At first they are "
        "−∞, 0 and 0.",
        "For each block: its scores (Q, block), the new highest, and powers = (scores − new).exp(). What was there "
        "before is multiplied by exp(highest − new).",
        "total grows by powers.sum(dim=-1, keepdim=True), summed by powers @ values. At the end: summed / total.",
    ],
    solution="""
        def my_blocks(q, k, v, block):
            highest = torch.full((len(q), 1), -torch.inf)
            total, summed = torch.zeros(len(q), 1), torch.zeros(len(q), v.size(-1))
            for keys, values in zip(k.split(block), v.split(block)):
                scores = q @ keys.T / math.sqrt(q.size(-1))  # (Q, block)
                new = torch.maximum(highest, scores.amax(dim=-1, keepdim=True))
                scale, powers = (highest - new).exp(), (scores - new).exp()
                total = scale * total + powers.sum(dim=-1, keepdim=True)
                summed = scale * summed + powers @ values
                highest = new
            return summed / total
    """,
    in_package="lessons.tiled.tiled_attention",
)
