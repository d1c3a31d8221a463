"""Lesson 15, my_operations: how many multiply-adds four kinds of layer take."""

import numpy as np
import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def operations(n: int, d: int, k: int) -> tuple[int, int, int, int]:
    """n tokens of d features -> multiply-adds of a self-attention, a recurrent, an LSTM and a convolutional layer.

    Self-attention: four projections, the scores and the weighted sum. Recurrent: W_x x + W_h h for each token.
    LSTM: four such pairs of matrices. Convolutional: for each token, a kernel over k tokens; the zero padding at both
    ends is multiplied, too.
    """
    attention = 4 * n * d**2 + n**2 * d + n**2 * d
    recurrent = 2 * n * d**2
    return attention, recurrent, 4 * recurrent, k * n * d**2


LAYERS = ("self-attention", "recurrent", "LSTM", "convolutional")


def _counts_of_layers(candidate, sizes):
    found = [candidate(*size) for size in sizes.tolist()]
    found = [list(row) if isinstance(row, torch.Tensor | np.ndarray) and row.ndim == 1 else row for row in found]
    if any(not isinstance(row, tuple | list) or len(row) != len(LAYERS) for row in found):
        return found[0] if isinstance(found[0], tuple) else (found[0],)
    return tuple(torch.tensor([float(x) for x in column]) for column in zip(*found))


def _size_cases(generator) -> list[Case]:
    return [
        Case({"n, d, k": torch.tensor([[4, 2, 3]])}),
        Case({"n, d, k": torch.tensor([[10, 16, 3], [100, 16, 5], [7, 64, 9]])}),
        Case({"n, d, k": torch.tensor([[70, 512, 31]])}, about="the paper's width"),
    ]


def _without_padding(n, d, k):
    inside = sum(0 <= place + step < n for place in range(n) for step in range(-(k // 2), k - k // 2))
    return *operations(n, d, k)[:3], inside * d**2


counting = Exercise(
    lesson="15",
    name="my_operations",
    reference=operations,
    cases=_size_cases,
    call=_counts_of_layers,
    outputs=LAYERS,
    mistakes=[
        Mistake(
            edited(operations, "recurrent, 4 * recurrent", "4 * recurrent, recurrent"),
            "The recurrent layer and the LSTM are swapped: the order is that of the cell above.",
        ),
        Mistake(
            lambda n, d, k: (13_440, 5_120, 20_480, 7_680),
            "Those are the numbers of the example. Compute them from n, d and k.",
        ),
        Mistake(
            edited(operations, "4 * n * d**2 + ", ""),
            "The four projections of the attention layer are missing. The paper's table leaves them out; the computer "
            "still has to multiply them.",
        ),
        Mistake(
            lambda n, d, k: (n**2 * d, n * d**2, 4 * n * d**2, k * n * d**2),
            "For attention and recurrence, those are the orders of growth in the paper's table. Count every product: "
            "four projections, scores and weighted sum in attention, two matrices in a recurrent layer.",
            also=[
                lambda n, d, k: (n**2 * d, n * d**2, n * d**2, k * n * d**2),
                lambda n, d, k: (n**2 * d, n * d**2, 8 * n * d**2, k * n * d**2),
            ],
        ),
        Mistake(
            edited(operations, "4 * n", "3 * n"),
            "Attention has four projections, not three: q, k, v and the output.",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "n**2 * d"),
            "Attention has two products with an n × n matrix: the scores, and then the weighted sum of the values.",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "2 * n * d**2"),
            "Your attention does not grow with the square of n. There is a score for each of n² pairs of tokens; how "
            "many multiply-adds does one score take?",
        ),
        Mistake(
            edited(operations, "4 * n * d**2 + n**2 * d + n**2 * d", "4 * n**2 * d + 2 * n * d**2"),
            "n and d are swapped in your attention. A projection takes n · d · d; the scores take n · d · n, and so "
            "does the weighted sum.",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "2 * n**2"),
            "A score is a dot product of two vectors of d features, not a single multiplication. In the weighted sum, "
            "each of the n · d results is a dot product of n numbers.",
        ),
        Mistake(
            edited(operations, ("= 2 * n", "= n"), ("4 * recurrent", "8 * recurrent")),
            "The recurrent layer has two matrices: one for the token, one for the previous state.",
            also=[edited(operations, "= 2 * n", "= n")],
        ),
        Mistake(
            edited(operations, "4 * recurrent", "2 * recurrent"),
            "You count four matrices in the LSTM. It has four pairs: in each, one for the token and one for the state.",
        ),
        Mistake(
            edited(operations, "4 * recurrent", "recurrent"),
            "Your LSTM costs as much as the plain recurrent layer. How many pairs of matrices does it have?",
        ),
        Mistake(
            edited(operations, "4 * recurrent", "3 * recurrent"),
            "Three pairs of matrices: that is a GRU, a smaller relative of the LSTM. The LSTM has four.",
        ),
        Mistake(
            edited(operations, "k * n * d**2", "k * n * d"),
            "You count the convolution as if each feature had its own kernel. Here every output feature reads all d "
            "features of k tokens.",
        ),
        Mistake(
            edited(operations, "k * n", "n"),
            "The width of the kernel is missing: each output reads k tokens.",
        ),
        Mistake(
            edited(operations, "k * n", "k**2 * n"),
            "k × k is a kernel for images. A sentence has one direction: the kernel covers k tokens.",
        ),
        Mistake(
            edited(operations, "k * n", "k * (n - k + 1)"),
            "Your convolution has no padding, so it gives fewer than n vectors. Here both ends are padded with zeros, "
            "and these are multiplied, too.",
        ),
        Mistake(
            _without_padding,
            "You leave out the products with the padding at both ends. Zeros are multiplied, too, so each of the n "
            "tokens takes k products.",
        ),
        Mistake(
            lambda n, d, k: tuple(2 * count for count in operations(n, d, k)),
            "All four are twice as large as expected: you count multiplications and additions separately (FLOPs). Here "
            "a multiply-add is one operation.",
        ),
        Mistake(
            lambda n, d, k: tuple(count // n for count in operations(n, d, k)),
            "That is the cost of one token. The layer reads n of them.",
        ),
        Mistake(
            edited(
                operations,
                "attention, recurrent, 4 * recurrent, k * n * d**2",
                "attention, recurrent, k * n * d**2, 4 * recurrent",
            ),
            "Your last two numbers are swapped: the LSTM comes before the convolution.",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "8 * n**2 * d"),
            "You multiplied by the number of heads. But a head has only d / num_heads features: all heads together "
            "take as much as a single one with d features.",
        ),
    ],
    hints=[
        "A matrix product (n × d) · (d × m) takes n·d·m multiply-adds.",
        "Attention: four products (n × d)·(d × d), one (n × d)·(d × n), one (n × n)·(n × d).",
    ],
    solution="""
        def my_operations(n, d, k):
            attention = 4 * n * d * d + 2 * n * n * d  # projections; scores, sum
            recurrent = 2 * n * d * d  # W_x x and W_h h for each token
            convolution = k * n * d * d
            return attention, recurrent, 4 * recurrent, convolution
    """,
)
