"""Lesson 08, MyCausalMask: a mask that is made once, and moves with the model."""

from typing import Any

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.checking.calls import require_layer_class
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


class CausalMask(nn.Module):
    """The causal mask for up to max_len positions, as a buffer: it moves with the model, and is not saved."""

    mask: Tensor

    def __init__(self, max_len: int):
        super().__init__()
        self.register_buffer("mask", masks.causal(max_len), persistent=False)

    def forward(self, length: int) -> Tensor:
        """bool (length, length), True = may attend."""
        return self.mask[:length, :length]


def _examined(candidate: Any, max_len: int, length: int) -> tuple[Any, Tensor, Tensor, Tensor]:
    """The mask after a shorter one, whether it is on the module's device once that has moved, and how much is learned
    and saved."""
    require_layer_class(candidate, "MyCausalMask")
    module = candidate(max_len)
    module(1)
    mask = module(length)
    learned, saved = len(list(module.parameters())), len(module.state_dict())
    moved = module.to("meta")(length)
    on_its_device = isinstance(moved, Tensor) and moved.device.type == "meta"
    return mask, torch.tensor(on_its_device), torch.tensor(learned), torch.tensor(saved)


_AS_BUFFER = 'self.register_buffer("mask", masks.causal(max_len), persistent=False)'

moving_mask = Exercise(
    lesson="08",
    name="MyCausalMask",
    reference=CausalMask,
    cases=lambda generator: [Case({"max_len": m, "length": n}) for m, n in [(4, 3), (6, 6), (5, 1)]],
    call=_examined,
    outputs=(
        "mask",
        "whether it moves with the module",
        "the number of parameters",
        "the number of saved tensors",
    ),
    mistakes=[
        Mistake(
            edited(CausalMask, _AS_BUFFER, "self.mask = masks.causal(max_len)"),
            "The mask is right, but it stays on the CPU when the module moves: module.to(…) moves parameters and "
            "buffers, not plain attributes. On a GPU, the first attention that gets it would be an error. Register it "
            "as a buffer, and return a part of that.",
            also=(edited(CausalMask, "self.mask[:length, :length]", "masks.causal(length)"),),
        ),
        Mistake(
            edited(CausalMask, _AS_BUFFER, "self.mask = nn.Parameter(masks.causal(max_len), requires_grad=False)"),
            "The mask moves with the module, but as a parameter: it is listed in parameters(), counted, and saved. It "
            "is not learned: register it as a buffer.",
        ),
        Mistake(
            edited(CausalMask, ", persistent=False", ""),
            "The mask moves with the module, and is not learned. But it is saved with the weights: a model with "
            "another max_len could not load them. register_buffer has an option against that: persistent.",
        ),
        Mistake(
            edited(CausalMask, "self.mask[:length, :length]", "self.mask"),
            "You returned the mask of all max_len positions. Return its first `length` rows and columns.",
        ),
        Mistake(
            edited(CausalMask, "self.mask[:length, :length]", "self.mask[:length]"),
            "You cut the rows, but not the columns: the result is (length, max_len).",
        ),
        Mistake(
            edited(CausalMask, "self.mask[:length, :length]", "self.mask[:, :length]"),
            "You cut the columns, but not the rows: the result is (max_len, length).",
        ),
        Mistake(
            edited(
                CausalMask,
                "return self.mask[:length, :length]",
                "self.mask = self.mask[:length, :length]\n        return self.mask",
            ),
            "forward replaces the stored mask by the part that it cut out: after a small length, a larger one is not "
            "there any more. Return the part, and leave the stored mask as it is.",
        ),
        Mistake(
            edited(CausalMask, "masks.causal(max_len)", "masks.allowed_to_additive(masks.causal(max_len))"),
            "That is the additive form, 0 and −∞. The task asks for a bool mask, True = may attend.",
        ),
        Mistake(
            edited(CausalMask, "masks.causal(max_len)", "~masks.causal(max_len)"),
            "The mask is inverted. In this course, True means: may attend.",
        ),
        Mistake(
            edited(CausalMask, "masks.causal(max_len)", "masks.causal(max_len).tril(-1)"),
            "The diagonal is blocked, too. A position may attend to itself.",
        ),
        Mistake(
            edited(CausalMask, "masks.causal(max_len)", "masks.causal(max_len).mT.contiguous()"),
            "The triangle is transposed: each position attends to the later ones, not to the earlier ones.",
        ),
        Mistake(
            edited(CausalMask, "masks.causal(max_len)", "masks.causal(max_len).float()"),
            "The mask holds the numbers 0 and 1. A mask is bool here.",
        ),
        Mistake(
            edited(CausalMask, _AS_BUFFER, "self.mask = " + _AS_BUFFER),
            "register_buffer returns nothing. `self.mask = self.register_buffer(…)` first makes the buffer, and then "
            "puts None in its place. Call it alone: from then on, self.mask is there.",
        ),
        Mistake(
            edited(CausalMask, _AS_BUFFER, "self.register_buffer(masks.causal(max_len), persistent=False)"),
            'register_buffer needs a name as well, before the tensor: "mask" makes self.mask.',
        ),
    ],
    hints=[
        "self.register_buffer(name, tensor) makes self.name, which module.to(…) moves along.",
        "Read what register_buffer's third argument, persistent, does: help(nn.Module.register_buffer).",
        "forward cuts the first `length` rows and columns out of it.",
    ],
    solution="""
        class MyCausalMask(nn.Module):
            def __init__(self, max_len):
                super().__init__()
                # moves with the model, is not learned, and is not saved
                self.register_buffer("mask", masks.causal(max_len), persistent=False)

            def forward(self, length):
                return self.mask[:length, :length]
    """,
)
