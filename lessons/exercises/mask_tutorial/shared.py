"""What the exercises of lesson 10 share."""

import torch
from torch import Tensor


def padded_ids(generator: torch.Generator, rows: int, columns: int, pad_id: int, *, front: bool = False) -> Tensor:
    """Ids from 0 to 9, all but pad_id itself, with padding of different lengths at the end or in front of each row."""
    ids = torch.randint(0, 9, (rows, columns), generator=generator)
    ids[ids >= pad_id] += 1
    for row in range(rows):
        ids[row, columns - row % columns :] = pad_id
    return ids.flip(1) if front else ids
