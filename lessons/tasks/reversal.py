"""The smallest task that needs attention: a sequence of letters backwards."""

from string import ascii_lowercase

import torch
from torch import Tensor

from lessons._checks import whole
from lessons.tasks.task import HELD_OUT, SPACED, TRAIN, Batch, Task, check_draw
from lessons.vocabulary import Vocabulary
from lessons.wording import worded

STEP = 7  # in training no letter is followed by the one 7 places after it in the alphabet


class Reversal(Task):
    """a b c → c b a, of min_len to max_len letters."""

    def __init__(self, min_len: int = 2, max_len: int = 10):
        whole(2, min_len=min_len)
        whole(min_len, max_len=max_len)
        unseen = worded(
            "Two neighboring letters, the second {step} places after the first in the alphabet, which starts again "
            "after z: a h, b i, … z g. A held-out sequence has one such pair or more; a training sequence has none.",
            step=STEP,
        )
        letters = Vocabulary(ascii_lowercase)
        super().__init__("reversal", 1, unseen, (letters, letters), (SPACED, SPACED))
        self.min_len, self.max_len = min_len, max_len

    def batch(self, size: int, generator: torch.Generator, split: str = TRAIN) -> Batch:
        check_draw(size, split)
        lengths = torch.randint(self.min_len, self.max_len + 1, (size, 1), generator=generator)  # (B, 1)
        steps = self._steps(lengths, split, generator)  # (B, S)
        letters = steps.cumsum(dim=-1) % 26 + len(self.src_vocab) - 26  # the special tokens come first
        place = torch.arange(steps.size(1))  # (S,)
        src = letters.where(place < lengths, self.src_vocab.pad_id)
        backwards = src.gather(1, (lengths - 1 - place).clamp(min=0))  # (B, S)
        tgt = torch.full((size, steps.size(1) + 2), self.tgt_vocab.pad_id)  # (B, T), T = S + 2
        tgt[:, 0] = self.tgt_vocab.bos_id
        tgt[:, 1:-1] = backwards.where(place < lengths, self.tgt_vocab.pad_id)
        tgt.scatter_(1, lengths + 1, self.tgt_vocab.eos_id)
        return Batch(src, tgt)

    def _steps(self, lengths: Tensor, split: str, generator: torch.Generator) -> Tensor:
        """How many places each letter is after the previous one; the first letter is free. Returns (B, S)."""
        shape = len(lengths), int(lengths.max())
        steps = torch.randint(25, shape, generator=generator)
        steps += steps >= STEP  # any step but STEP
        steps[:, 0] = torch.randint(26, shape[:1], generator=generator)
        if split == HELD_OUT:
            where = torch.rand(len(lengths), 1, generator=generator) * (lengths - 1)  # (B, 1)
            steps.scatter_(1, where.long() + 1, STEP)
        return steps
