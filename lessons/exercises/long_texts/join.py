"""Lesson 17, my_join: two blocks of a softmax as one."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.tiled import read_block


def join_blocks(
    highest_a: Tensor, total_a: Tensor, summed_a: Tensor, highest_b: Tensor, total_b: Tensor, summed_b: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """highest and total (Q, 1), summed (Q, d_v), of block a and of block b -> the same three for both blocks."""
    highest = torch.maximum(highest_a, highest_b)
    base = highest.masked_fill(highest == -torch.inf, 0.0)  # -inf - -inf would be NaN
    scale_a = (highest_a - base).exp()
    scale_b = (highest_b - base).exp()
    total = scale_a * total_a + scale_b * total_b
    summed = scale_a * summed_a + scale_b * summed_b
    return highest, total, summed


def _join_cases(generator) -> list[Case]:
    def case(queries, keys, d_v, about="", scale=1.0, blocked=()):
        """blocked: pairs of a block and a query that may attend to none of its keys."""
        inputs = {}
        for block, name in enumerate("ab"):
            scores = scale * numbers(generator, queries, keys)
            for row in (query for which, query in blocked if which == block):
                scores[row] = -torch.inf
            read = read_block(scores, numbers(generator, keys, d_v))
            inputs |= {f"highest_{name}": read.highest, f"total_{name}": read.total, f"summed_{name}": read.summed}
        return Case(inputs, about)

    return [
        case(3, 4, 2),
        case(6, 3, 4, scale=3.0),
        case(4, 2, 3, "scores up to ±10,000", scale=3000.0),
        case(3, 4, 5, "query 0 may attend to no key of block a, query 1 to none of block b", blocked=[(0, 0), (1, 1)]),
        case(3, 2, 4, "query 1 may attend to no key of either block", blocked=[(0, 1), (1, 1)]),
    ]


def _the_higher_block(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
    first = highest_a >= highest_b
    total, summed = torch.where(first, total_a, total_b), torch.where(first, summed_a, summed_b)
    return torch.maximum(highest_a, highest_b), total, summed


SCALE_A, SCALE_B = "(highest_a - base).exp()", "(highest_b - base).exp()"
TOTAL, SUMMED = "scale_a * total_a + scale_b * total_b", "scale_a * summed_a + scale_b * summed_b"

joining = Exercise(
    lesson="17",
    name="my_join",
    reference=join_blocks,
    cases=_join_cases,
    outputs=("highest", "total", "summed"),
    mistakes=[
        Mistake(
            edited(join_blocks, (SCALE_A, "torch.ones_like(highest_a)"), (SCALE_B, "torch.ones_like(highest_b)")),
            "You added the sums as they are. Each was measured from the highest score of its own block: bring both to "
            "the highest of the two first, by exp(highest_a − highest) and exp(highest_b − highest).",
        ),
        Mistake(
            edited(join_blocks, SUMMED, "summed_a + summed_b"),
            "The totals are right, but summed was added as it is. It has the same factors e^(score − highest) in it, "
            "so it needs the same two scales.",
        ),
        Mistake(
            edited(join_blocks, TOTAL, "total_a + total_b"),
            "summed is right, but the totals were added as they are. They need the same two scales.",
        ),
        Mistake(
            edited(join_blocks, SCALE_B, "torch.ones_like(highest_b)"),
            "Only block a is scaled. That is right where block b has the higher score. Where block a has it, block b "
            "must be scaled.",
        ),
        Mistake(
            edited(join_blocks, SCALE_A, "torch.ones_like(highest_a)"),
            "Only block b is scaled. That is right where block a has the higher score. Where block b has it, block a "
            "must be scaled.",
        ),
        Mistake(
            edited(join_blocks, (SCALE_A, "(base - highest_a).exp()"), (SCALE_B, "(base - highest_b).exp()")),
            "Your scales grow where they should shrink: the exponent is the block's own highest score minus the common "
            "one, which is 0 or negative.",
        ),
        Mistake(
            edited(join_blocks, (SCALE_A, SCALE_B), (SCALE_B, SCALE_A)),
            "The two scales are swapped: block a got the scale of block b.",
        ),
        Mistake(
            edited(join_blocks, "torch.maximum", "torch.minimum"),
            "You measure from the lower of the two highest scores. Then a power can overflow: take the higher one.",
        ),
        Mistake(
            edited(join_blocks, "highest = torch.maximum(highest_a, highest_b)", "highest = highest_a + highest_b"),
            "The highest score of both blocks is the larger of the two, not their sum.",
        ),
        Mistake(
            edited(join_blocks, "torch.maximum(", "max("),
            "Python's max, or an if, compares two numbers. Here each query has a highest score of its own: "
            "torch.maximum.",
        ),
        Mistake(
            _the_higher_block,
            "You kept the block with the higher score and dropped the other. Its keys still count: its sums are "
            "scaled, then added.",
        ),
        Mistake(
            edited(join_blocks, "torch.maximum(highest_a, highest_b)", "highest_a"),
            "You measure everything from the highest score of block a. Where block b has a higher one, its scale is "
            "above 1, and it can overflow.",
        ),
        Mistake(
            edited(join_blocks, SUMMED, "scale_a * summed_a / total_a + scale_b * summed_b / total_b"),
            "You divided each summed by its own total. Then a block with many high scores counts no more than one with "
            "few. Keep the plain sums.",
        ),
        Mistake(
            edited(
                join_blocks,
                "highest = torch.maximum(highest_a, highest_b)",
                "highest = torch.maximum(highest_a, highest_b).max().expand_as(highest_a)",
            ),
            "You took one highest score for all queries. Each query has its own row of scores, and its own highest.",
        ),
        Mistake(
            edited(join_blocks, "highest == -torch.inf, 0.0", "highest == -torch.inf, -torch.inf"),
            "A query that may attend to no key of either block: both of its highest scores are −∞, and −∞ − (−∞) is "
            "NaN. Subtract 0 there.",
            seen_in="query 1 may attend to no key of either block",
        ),
        Mistake(
            edited(join_blocks, "return highest, total, summed", "return highest, total, summed / total"),
            "You divided by the total already. Keep the plain sums: more blocks may follow, and they are added. The "
            "division comes once, at the end.",
        ),
        Mistake(
            edited(join_blocks, (SCALE_A, "highest_a.exp()"), (SCALE_B, "highest_b.exp()")),
            "You brought both blocks to 0 instead of the highest score: e^score overflows where scores are large.",
        ),
        Mistake(
            edited(join_blocks, (SCALE_A, "(highest_a - base)"), (SCALE_B, "(highest_b - base)")),
            "You multiplied by the difference of the scores. The sums contain e^(score − highest), so the scale is e "
            "to the power of the difference.",
        ),
        Mistake(
            edited(join_blocks, "return highest, total, summed", "return base, total, summed"),
            "highest is 0 where no key is allowed. Use 0 for the subtraction only, and return −∞: a later block may "
            "have scores below 0, and its highest must win.",
            seen_in="query 1 may attend to no key of either block",
        ),
    ],
    hints=[
        "total_a is Σ e^(score − highest_a). Which factor makes it Σ e^(score − highest)?",
        "e^(score − highest) = e^(score − highest_a) · e^(highest_a − highest). The same factor is right for summed_a.",
        "−∞ − (−∞) is NaN: subtract highest.masked_fill(highest == -torch.inf, 0.0), and still return highest.",
    ],
    solution="""
        def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
            highest = torch.maximum(highest_a, highest_b)
            base = highest.masked_fill(highest == -torch.inf, 0.0)
            scale_a, scale_b = (highest_a - base).exp(), (highest_b - base).exp()
            total = scale_a * total_a + scale_b * total_b
            summed = scale_a * summed_a + scale_b * summed_b
            return highest, total, summed
    """,
    in_package="lessons.tiled.join",
)
