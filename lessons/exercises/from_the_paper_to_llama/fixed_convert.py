"""Lesson 16, fixed_convert: weights for one pairing of rotary positions, turned into weights for the other."""

from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def to_halves(w_q: Tensor, w_k: Tensor, num_heads: int, num_kv_heads: int) -> tuple[Tensor, Tensor]:
    """w_q (H · d, D), w_k (H_kv · d, D): in each head, rows 2i and 2i + 1 move to i and i + d / 2."""

    def reorder(weight, heads):
        pairs = weight.unflatten(0, (heads, -1, 2))  # (heads, d / 2, 2, D)
        return pairs.transpose(1, 2).flatten(0, 2)

    return reorder(w_q, num_heads), reorder(w_k, num_kv_heads)


def _convert_cases(generator) -> list[Case]:
    def case(heads, kv_heads, d, d_model, about=""):
        inputs = {
            "w_q": numbers(generator, heads * d, d_model),
            "w_k": numbers(generator, kv_heads * d, d_model),
            "num_heads": heads,
            "num_kv_heads": kv_heads,
        }
        return Case(inputs, about)

    return [
        case(2, 1, 8, 2),
        case(6, 2, 6, 3),
        case(8, 2, 8, 5),
        case(4, 2, 6, 3, "twice as many heads of queries as of keys, and two of keys"),
        case(3, 3, 4, 6, "as many heads of keys as of queries"),
        case(1, 1, 6, 6, "one head"),
    ]


Q, K = "reorder(w_q, num_heads)", "reorder(w_k, num_kv_heads)"

bug_hunt = Exercise(
    lesson="16",
    name="fixed_convert",
    reference=to_halves,
    cases=_convert_cases,
    outputs=("w_q", "w_k"),
    mistakes=[
        Mistake(
            edited(to_halves, K, "reorder(w_k, num_heads // num_kv_heads)"),
            "The bug is still there. A symptom: with 4 heads of queries and 2 of keys all is right, with 6 and 2 the "
            "keys are scrambled. No shape tells you.",
        ),
        Mistake(
            edited(to_halves, K, "reorder(w_k, num_heads)"),
            "Now the keys are split into as many heads as the queries have. They have fewer: no shape tells you, but "
            "with 2 heads of queries and 1 of keys the rows are scrambled.",
        ),
        Mistake(
            edited(to_halves, K, "w_k"),
            "The keys now stay as they were. They are rotated too, so their rows must move in the same way as those of "
            "the queries.",
        ),
        Mistake(
            edited(to_halves, (Q, "reorder(w_q, num_kv_heads)")),
            "Now the keys are right, and the queries are scrambled: they have num_heads heads.",
        ),
        Mistake(
            edited(to_halves, (Q, "reorder(w_q, 1)"), (K, "reorder(w_k, 1)")),
            "Rows move from one head to another. Each head has its own pairs: reorder within a head.",
        ),
        Mistake(
            edited(to_halves, (Q, "reorder(w_k, num_kv_heads)"), (K, "reorder(w_q, num_heads)")),
            "The two results are swapped: w_q comes first.",
        ),
        Mistake(
            edited(to_halves, "(heads, -1, 2)", "(heads, 2, -1)"),
            "This is the way back: it makes neighbors of halves. The first change of shape must split the rows of a "
            "head into d / 2 pairs of neighbors.",
        ),
        Mistake(
            edited(to_halves, ("(heads, -1, 2)", "(heads, 2, -1)"), (K, "reorder(w_k, num_heads // num_kv_heads)")),
            "You turned the direction around, and the bug is still there: look at the number of heads.",
        ),
        Mistake(
            edited(to_halves, ".transpose(1, 2)", ""),
            "Nothing moves: split and joined again. The transpose brings the first members of all pairs together.",
        ),
        Mistake(
            edited(
                to_halves,
                (Q, "reorder(w_q, num_heads // num_kv_heads)"),
                (K, "reorder(w_k, num_heads // num_kv_heads)"),
            ),
            "Now both are split by the number of query heads in a group. The rows are split into heads: num_heads for "
            "the queries, num_kv_heads for the keys.",
        ),
        Mistake(
            edited(to_halves, Q, "w_q"),
            "The queries now stay as they were. They are rotated, too: only the number of heads of the keys was wrong.",
        ),
        Mistake(
            edited(to_halves, K, "reorder(w_k, 1)"),
            "The keys are split as if they were one head, so rows move from one head to another. There are "
            "num_kv_heads of them.",
        ),
    ],
    hints=[
        "How many rows does w_k have, and how many heads? Compare with how the code splits them.",
        "Take num_heads = 6, num_kv_heads = 2 and d = 6: w_k has 12 rows, 6 for each head. How many does the code give "
        "each head?",
        "Keys have num_kv_heads heads.",
    ],
    solution="""
        def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
            def reorder(weight, heads):
                pairs = weight.unflatten(0, (heads, -1, 2))  # (heads, d / 2, 2, D)
                return pairs.transpose(1, 2).flatten(0, 2)

            return reorder(w_q, num_heads), reorder(w_k, num_kv_heads)
    """,
)
