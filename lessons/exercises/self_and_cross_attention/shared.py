"""What the exercises of lesson 04 share."""

import torch
from torch import Tensor


def in_full(mask, shape: tuple[int, ...]):
    """The mask in full, if it has four axes that broadcast to `shape`; else as it is."""
    broadcasts = isinstance(mask, Tensor) and mask.dim() == 4 and all(a in (1, b) for a, b in zip(mask.shape, shape))
    return mask.expand(shape) if broadcasts else mask


def ids(generator, rows: int, columns: int, pad_id: int) -> Tensor:
    """Ids from 0 to 9, all but pad_id itself, with padding of different lengths at the end of each row."""
    drawn = torch.randint(0, 9, (rows, columns), generator=generator)
    drawn[drawn >= pad_id] += 1
    for row in range(rows):
        drawn[row, columns - (row + 1) % columns :] = pad_id
    return drawn
