"""Lesson 14, my_mean_pooling: one vector for each sentence, the mean of its tokens."""

import torch
import torch.nn.functional as F

from lessons import masks
from lessons.checking.comparing import first_place
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers
from lessons.pretrained import mean_pooling
from lessons.wording import worded


def _pooling_cases(generator) -> list[Case]:
    def case(lengths, d, draw=numbers, about="", gradients=False, left=False):
        real = masks.padding_from_lengths(lengths)[:, 0, 0]
        real = real.flip(-1) if left else real
        inputs = {"hidden": draw(generator, *real.shape, d), "real": real}
        return Case(inputs, about=about, gradients=gradients)

    return [
        case([3, 2], 2, small_numbers),
        case([5, 2, 4], 7),
        case([4, 3, 2, 1], 4),
        case([3, 3], 5, about="no padding at all"),
        case([2, 4, 1], 6, about="the padding is at the start of each sentence", left=True),
        case([4, 2, 3], 2, about="gradients", gradients=True),
        case([3], 5, about="a batch of one"),
    ]


def _length_one(case, results) -> str | None:
    lengths = results[0].detach().norm(dim=-1)
    off = (lengths - 1).abs() > 2e-2
    if not off.any():
        return None
    return worded(
        "Length: row {place} has the length {length:.3g}; each row must have length 1.",
        place=first_place(off),
        length=lengths[off][0].item(),
    )


_NOTHING_LEFT_IS_NAN = edited(mean_pooling, ".clamp(min=1)", "")  # 0 / 0, as learners write it


def _without_ends(hidden, real):
    """The first and the last token of each sentence left out, as if [CLS] and [SEP] didn't count."""
    place = real.cumsum(dim=1) * real  # 1, 2, … at the tokens, 0 at the padding
    return _NOTHING_LEFT_IS_NAN(hidden, (place > 1) & (place < real.sum(dim=1, keepdim=True)))


AS_IT_IS = ("F.normalize(mean, dim=-1)", "mean")
EACH_TOKEN = ("hidden.masked_fill", "F.normalize(hidden, dim=-1).masked_fill")
NOT_DIVIDED = ("kept.sum(dim=1) / count", "kept.sum(dim=1)")


pooling = Exercise(
    lesson="14",
    name="my_mean_pooling",
    reference=mean_pooling,
    cases=_pooling_cases,
    outputs=("the matrix of sentence vectors",),
    laws=(_length_one,),
    mistakes=[
        Mistake(
            edited(mean_pooling, "kept.sum(dim=1) / count", "hidden.mean(dim=1)"),
            "You counted the padding. A symptom: the vector of a sentence changes when a longer one is in the batch. "
            "real says which tokens count.",
        ),
        Mistake(
            lambda hidden, real: hidden.mean(dim=1),
            "Two things: you counted the padding, and the vectors do not have length 1.",
        ),
        Mistake(
            _without_ends,
            "You left out the first and the last token. [CLS] and [SEP] count, too.",
        ),
        Mistake(
            edited(mean_pooling, AS_IT_IS),
            "The means are right, but their length is not 1. Divide each by its norm; then a dot product is a cosine.",
        ),
        Mistake(
            edited(mean_pooling, AS_IT_IS, NOT_DIVIDED),
            "That is the sum of the tokens, and its length is not 1. Divide each vector by its norm.",
        ),
        Mistake(
            edited(mean_pooling, AS_IT_IS, ("kept.sum(dim=1) / count", "kept.mean(dim=1)")),
            "The padding is set to 0 but still counted when dividing, and the length is not 1. (After "
            "normalization it no longer matters what you divided the sum by.)",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden[:, 0], dim=-1),
            "That is the first token's vector, [CLS]. Other models are trained for that, this one for the mean.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden[:, -1], dim=-1),
            "That is only the last position. In a sentence that is padded at the end, it is padding.",
        ),
        Mistake(
            edited(mean_pooling, "~real", "real"),
            "That is the mean of the padding: real is True where there is a token.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden.masked_fill(~real[..., None], -torch.inf).amax(dim=1), dim=-1),
            "That is the largest value of each feature. Take the mean.",
            also=(lambda hidden, real: F.normalize(hidden.amax(dim=1), dim=-1),),
        ),
        Mistake(
            edited(mean_pooling, EACH_TOKEN, AS_IT_IS),
            "You scaled the tokens to length 1, not their mean. First take the mean, then scale it.",
            also=(
                edited(
                    mean_pooling,
                    EACH_TOKEN,
                    AS_IT_IS,
                    ("kept.sum(dim=1) / count", "kept.mean(dim=1)"),
                ),
                edited(mean_pooling, EACH_TOKEN, AS_IT_IS, NOT_DIVIDED),
            ),
        ),
        Mistake(
            edited(mean_pooling, EACH_TOKEN),
            "You scaled the tokens to length 1 before you took their mean. Take the mean of the tokens as they are; "
            "only the mean is scaled.",
        ),
        Mistake(
            edited(mean_pooling, "mean, dim=-1", "mean, dim=0"),
            "You divided by the norm of each feature over the batch: a sentence's vector changes with the others. "
            "Each vector has its own norm, along the last axis.",
            also=[edited(mean_pooling, "F.normalize(mean, dim=-1)", "mean / mean.norm(dim=0)")],
        ),
        Mistake(
            edited(mean_pooling, "F.normalize(mean, dim=-1)", "mean / mean.norm(dim=-1)"),
            "The norms are (B,). Next to (B, D), torch takes their axis for the features. Keep the axis: keepdim=True, "
            "or norms[:, None].",
        ),
        Mistake(
            edited(mean_pooling, ", keepdim=True", ""),
            "The token counts are (B,). Next to (B, D), torch takes their axis for the features. Keep the axis: "
            "keepdim=True, or counts[:, None].",
            also=[edited(mean_pooling, (", keepdim=True", ""), AS_IT_IS)],
        ),
        Mistake(
            edited(mean_pooling, "hidden.masked_fill(~real[..., None], 0.0)", "hidden * real"),
            "real is (B, S). Next to (B, S, D), torch takes its axes for tokens and features. It needs a last axis: "
            "real[..., None].",
            also=[edited(mean_pooling, "~real[..., None]", "~real")],
        ),
        Mistake(
            edited(mean_pooling, "F.normalize(mean, dim=-1)", "mean / mean.norm()"),
            "norm() without dim is one number for the whole batch. Each vector has its own: dim=-1, keepdim=True.",
        ),
        Mistake(
            edited(mean_pooling, "mean, dim", "mean, p=1.0, dim"),
            "You divided by the sum of the absolute values. The length is the square root of the sum of squares.",
        ),
        Mistake(
            edited(mean_pooling, "F.normalize(mean, dim=-1)", "mean / mean.square().sum(dim=-1, keepdim=True)"),
            "You divided by the squared length; the square root is missing.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(
                torch.stack([x[:n].mean(dim=0) for x, n in zip(hidden, real.sum(dim=1).tolist())]), dim=-1
            ),
            "You counted the tokens and took as many from the start. real says which ones they are, not only how many.",
            seen_in="the padding is at the start of each sentence",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden[real].mean(dim=0), dim=-1),
            "hidden[real] concatenates the tokens of all sentences: that gives one vector for the whole batch.",
        ),
    ],
    hints=[
        "Set the rows of padding to 0: hidden.masked_fill(~real[..., None], 0.0), or hidden * real[..., None].",
        "Sum over the tokens, axis 1, and divide by the number of real tokens of each sentence.",
        "vectors / vectors.norm(dim=-1, keepdim=True), or F.normalize(vectors, dim=-1).",
    ],
    solution="""
        def my_mean_pooling(hidden, real):
            kept = hidden.masked_fill(~real[..., None], 0.0)  # the rows of padding become 0
            mean = kept.sum(dim=1) / real.sum(dim=1, keepdim=True)
            return mean / mean.norm(dim=-1, keepdim=True)
    """,
    in_package="lessons.pretrained.mean_pooling",
)
