"""Turns tensors and lists into NumPy arrays."""

from typing import Any

import numpy as np


def as_array(values: Any) -> np.ndarray:
    """A NumPy array from a tensor of any type, on any device, with or without gradients, or from a list."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() and values.itemsize < 4 else values
    return np.asarray(values)
