"""Whatever holds numbers, as an array."""

from typing import Any

import numpy as np


def as_array(values: Any) -> np.ndarray:
    """A tensor of any kind, on any device, with or without gradients, or anything that NumPy takes."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() and values.itemsize < 4 else values
    return np.asarray(values)
