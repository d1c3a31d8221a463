"""Lesson 11, my_shift: what the decoder reads, and what it must predict."""

from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.training.shared import PAD, ids


def shift(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """tgt (B, T), with BOS and EOS -> what the decoder reads and what it must predict, each (B, T - 1)"""
    return tgt[:, :-1], tgt[:, 1:]


def _tgt_cases(generator) -> list[Case]:
    def case(lengths, width):
        tgt = ids(generator, lengths, width, 9)
        tgt[:, 0] = 1
        for row, length in zip(tgt, lengths):
            row[length - 1] = 2
        return Case({"tgt": tgt})

    return [case([5], 5), case([6, 4], 6), case([4, 3, 5, 2], 5)]


shifting = Exercise(
    lesson="11",
    name="my_shift",
    reference=shift,
    cases=_tgt_cases,
    outputs=("inputs", "targets"),
    mistakes=[
        Mistake(
            lambda tgt: (tgt, tgt),
            "Nothing is shifted: at each position the decoder reads the very token that it must predict. It would "
            "learn to copy, reach a loss near 0, and generate nonsense.",
            also=[
                lambda tgt: (tgt[:, :-1], tgt[:, :-1]),
                lambda tgt: (tgt[:, 1:], tgt[:, 1:]),
                lambda tgt: (tgt[:, 1:-1],) * 2,
            ],
        ),
        Mistake(
            lambda tgt: (tgt[:, 1:], tgt[:, :-1]),
            "Shifted the wrong way: the decoder reads the token after the one that it must predict. The targets are "
            "the tokens that come later.",
        ),
        Mistake(
            lambda tgt: (tgt[:, :-2], tgt[:, 2:]),
            "Shifted twice: after BOS comes the first token, not the second.",
        ),
        Mistake(
            lambda tgt: (tgt[:-1], tgt[1:]),
            "You cut off a sentence, not a token: the first axis is the batch. The tokens are on the second.",
        ),
        Mistake(
            lambda tgt: (tgt, tgt[:, 1:]),
            "There is one more input than there are targets: after EOS there is nothing to predict.",
        ),
        Mistake(
            lambda tgt: (tgt[:, :-1], tgt),
            "There is one more target than there are inputs: BOS is never predicted.",
        ),
        Mistake(
            lambda tgt: (tgt, tgt.roll(-1, dims=1)),
            "roll brings BOS round to the end: at its last position the decoder would have to predict BOS. Cut off one "
            "token of each row instead.",
        ),
        Mistake(
            lambda tgt: (tgt[:, :-1].masked_fill(tgt[:, :-1] == 2, PAD), tgt[:, 1:]),
            "You replaced the EOS of shorter sentences in the inputs. It may stay: its target is padding, which the "
            "loss ignores. And the function isn't told which id EOS has.",
        ),
        Mistake(
            lambda tgt: (tgt[:, 1:-1], tgt[:, 2:]),
            "BOS is gone from the inputs: without it nothing comes before the first token.",
        ),
    ],
    hints=[
        "Write the two rows for <bos> a b <eos>, one below the other.",
        "Slices: all but the last, all but the first.",
    ],
    solution="""
        def my_shift(tgt):
            return tgt[:, :-1], tgt[:, 1:]
    """,
    in_package="lessons.training.shift",
)
