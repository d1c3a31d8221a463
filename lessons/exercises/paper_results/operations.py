"""Lesson 15, my_operations: how many multiply-adds four kinds of layers take."""

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def operations(n: int, d: int, k: int) -> tuple[int, int, int, int]:
    """n words of d features -> the multiply-adds of a self-attention, a recurrent, an LSTM and a convolutional layer.

    Self-attention: its four projections, the scores and the weighted sum. Recurrent: W_x x + W_h h at each word.
    LSTM: four such pairs of matrices. Convolutional: at each word, a kernel over k words; outside the sentence it
    meets zeros, which are counted too.
    """
    attention = 4 * n * d**2 + n**2 * d + n**2 * d
    recurrent = 2 * n * d**2
    return attention, recurrent, 4 * recurrent, k * n * d**2


LAYERS = ("self-attention", "recurrent", "LSTM", "convolutional")


def _counts_of_layers(candidate, sizes):
    found = [candidate(*size) for size in sizes.tolist()]
    if any(not isinstance(row, tuple | list) or len(row) != len(LAYERS) for row in found):
        return found[0] if isinstance(found[0], tuple) else (found[0],)
    return tuple(torch.tensor([float(x) for x in column]) for column in zip(*found))


def _size_cases(generator) -> list[Case]:
    return [
        Case({"n, d, k": torch.tensor([[4, 2, 3]])}),
        Case({"n, d, k": torch.tensor([[10, 16, 3], [100, 16, 5], [7, 64, 9]])}),
        Case({"n, d, k": torch.tensor([[70, 512, 31]])}, about="the paper's width"),
    ]


counting = Exercise(
    lesson="15",
    name="my_operations",
    reference=operations,
    cases=_size_cases,
    call=_counts_of_layers,
    outputs=LAYERS,
    mistakes=[
        Mistake(
            edited(operations, "4 * n * d**2 + ", ""),
            "The four projections of the attention layer are missing. The paper's table leaves them out, too; a "
            "machine does not.",
        ),
        Mistake(
            lambda n, d, k: (n**2 * d, n * d**2, 4 * n * d**2, k * n * d**2),
            "Those are the orders of growth in the paper's table. Count every product: four projections, scores and "
            "weighted sum; and two matrices in a recurrent layer.",
            also=[
                lambda n, d, k: (n**2 * d, n * d**2, n * d**2, k * n * d**2),
                lambda n, d, k: (n**2 * d, n * d**2, 8 * n * d**2, k * n * d**2),
            ],
        ),
        Mistake(
            edited(operations, "4 * n", "3 * n"),
            "Attention has four projections, not three: q, k, v, and the one of the output.",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "n**2 * d"),
            "Attention multiplies twice with n × n: the scores, and then the weighted sum of the values.",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "2 * n * d**2"),
            "Your attention does not grow with the square of the sentence. There is a score for each of n² pairs of "
            "words; how many multiply-adds does one score take?",
        ),
        Mistake(
            edited(operations, "n**2 * d + n**2 * d", "2 * n**2"),
            "A score is a dot product of two vectors of d features, not one multiplication; and so is each number of "
            "the weighted sum one of n.",
        ),
        Mistake(
            edited(operations, ("= 2 * n", "= n"), ("4 * recurrent", "8 * recurrent")),
            "The recurrent layer has two matrices: one for the word, one for the state before it.",
            also=[edited(operations, "= 2 * n", "= n")],
        ),
        Mistake(
            edited(operations, "4 * recurrent", "2 * recurrent"),
            "Your LSTM has four matrices; it has four pairs: in each, one reads the word and one the state.",
        ),
        Mistake(
            edited(operations, "4 * recurrent", "recurrent"),
            "Your LSTM costs as much as the plain recurrent layer. How many pairs of matrices has it?",
        ),
        Mistake(
            edited(operations, "4 * recurrent", "3 * recurrent"),
            "Three pairs of matrices: that is a GRU, the LSTM's smaller sister. The LSTM has four.",
        ),
        Mistake(
            edited(operations, "k * n * d**2", "k * n * d"),
            "The convolution is counted as if each feature were on its own. Here every feature of the result reads "
            "all d features of k words.",
        ),
        Mistake(
            edited(operations, "k * n", "n"),
            "The width of the kernel is missing: k words are read for each word of the result.",
        ),
        Mistake(
            edited(operations, "k * n", "k**2 * n"),
            "k × k is the kernel of an image. A sentence has one direction: the kernel lies over k words.",
        ),
        Mistake(
            edited(operations, "k * n", "k * (n - k + 1)"),
            "The convolution stops before the kernel hangs over the end, and gives fewer than n vectors. Here there "
            "are zeros beyond the ends, and they are multiplied, too.",
        ),
        Mistake(
            lambda n, d, k: tuple(2 * count for count in operations(n, d, k)),
            "All are twice too many: you counted multiplications and additions apart (FLOPs). Here one multiply-add "
            "is one operation.",
        ),
        Mistake(
            lambda n, d, k: tuple(count // n for count in operations(n, d, k)),
            "That is the share of one word. The layer reads n of them.",
        ),
    ],
    hints=[
        "A matrix product (n × d) · (d × m) takes n·d·m multiply-adds.",
        "Attention: four products (n × d)·(d × d), one (n × d)·(d × n), one (n × n)·(n × d).",
    ],
)
