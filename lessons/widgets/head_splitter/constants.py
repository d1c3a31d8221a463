"""Constants of HeadSplitter, shared by Python and JavaScript: sizes, the steps of the right way, the wrong ways."""

from typing import Any

import torch

from lessons.wording import marked

SIZES = {"batch": 3, "length": 6, "num_heads": 8, "head_dim": 4}  # the maximum of each
MOST = 200  # the most numbers that can be shown
LABELS = NUMBERS, HOMES = (marked("numbers"), marked("homes"))
LETTERS = {
    marked("batch"): "B",
    marked("token"): "T",
    marked("head"): "H",
    marked("feature"): "d",
    marked("column"): "D",
}

_TELLING = ("batch", "token", "column")
_CUT = ("batch", "token", "head", "feature")
_SPLIT = ("batch", "head", "token", "feature")
WAY: list[dict[str, Any]] = [
    {
        "name": "x",
        "variable": "x",
        "code": "x",
        "axes": _TELLING,
        "about": marked("One row for each token; the colors and letters show which head each number will belong to."),
    },
    {
        "name": marked("cut"),
        "variable": "cut",
        "code": "cut = x.view(B, T, H, d)",
        "axes": _CUT,
        "about": marked("The last axis is split in two: each token now has its heads."),
    },
    {
        "name": marked("swap"),
        "variable": "heads",
        "code": "heads = cut.transpose(1, 2)",
        "axes": _SPLIT,
        "about": marked("Axes 1 and 2 are swapped: now each head has its own block, with a row for each token."),
    },
    {
        "name": marked("attend"),
        "variable": "computed",
        "code": "computed = heads.contiguous()",
        "axes": _SPLIT,
        "about": marked(
            "Attention happens here, in each block separately. Its last product, weights @ v, is new memory, head "
            "after head; contiguous() stands in for it, so that you can follow the numbers."
        ),
    },
    {
        "name": marked("swap back"),
        "variable": "back",
        "code": "back = computed.transpose(1, 2)",
        "axes": _CUT,
        "about": marked("Axes 1 and 2 are swapped back: each token has its heads again."),
    },
    {
        "name": marked("join"),
        "variable": "joined",
        "code": "joined = back.reshape(B, T, D)",
        "axes": _TELLING,
        "about": marked("The heads of each token are concatenated: the shape of x again."),
    },
]
EXCHANGE, JOIN = 2, 5  # the steps that a wrong way replaces

STRAIGHT, DEALT, NOT_BACK, NO_COPY = (
    marked("view in one step"),
    marked("cut as (d, H)"),
    marked("join without transposing back"),
    marked("join by view"),
)
WRONG: dict[str, dict[str, Any]] = {
    STRAIGHT: {"step": EXCHANGE, "code": "heads = x.view(B, H, T, d)"},
    DEALT: {"step": EXCHANGE, "code": "heads = x.view(B, T, d, H).permute(0, 3, 1, 2)"},
    NOT_BACK: {"step": JOIN, "code": "joined = computed.reshape(B, T, D)"},
    NO_COPY: {"step": JOIN, "code": "joined = computed.transpose(1, 2).view(B, T, D)"},
}


def _say_error() -> str:
    """torch's error if no strides can make the view; it names no sizes."""
    try:
        torch.zeros(1, 2, 2, 2).transpose(1, 2).view(1, 2, 4)
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    return ""


ERROR = _say_error()
