"""Constants of several widgets, shared by Python and JavaScript: names in capitals are constants on both sides."""

import matplotlib
from matplotlib.colors import to_hex

from lessons.plots import heatmaps
from lessons.wording import marked

ENCODER, DECODER, CROSS = KINDS = (
    marked("encoder self-attention"),
    marked("decoder self-attention"),
    marked("cross-attention"),
)
ALLOWED, BLOCKED, ADDITIVE = CONVENTIONS = (
    marked("True = may attend"),
    marked("True = blocked"),
    marked("additive 0, −∞"),
)
INFINITE, BILLION, BEFORE, AFTER = FILLS = (
    "−∞",
    "−1e9",
    marked("0 before the softmax"),
    marked("0 after the softmax"),
)
MAX_TOKENS = 64


def _stops(name: str) -> list[str]:
    """Thirteen colors of a color map, between which the browser mixes."""
    return [to_hex(matplotlib.colormaps[name](i / 12)) for i in range(13)]


WEIGHTS, SIGNED = _stops(heatmaps.WEIGHTS), _stops(heatmaps.SIGNED)
HEADS = ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00"]  # all take black ink
