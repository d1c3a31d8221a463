"""Charts: functions that take arrays and return Axes. Nothing here depends on a model."""

from lessons.plots.curves import plot_bars, plot_curves, plot_histograms
from lessons.plots.fonts import use_chinese_font
from lessons.plots.heatmaps import plot_mask, plot_matrix, plot_scores, plot_weights

use_chinese_font()

__all__ = [
    "plot_bars",
    "plot_curves",
    "plot_histograms",
    "plot_mask",
    "plot_matrix",
    "plot_scores",
    "plot_weights",
]
