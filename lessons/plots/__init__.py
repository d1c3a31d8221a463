"""Pictures: arrays in, Axes out. Nothing here knows a model."""

from lessons.plots.curves import plot_bars, plot_curves, plot_histograms
from lessons.plots.heatmaps import plot_mask, plot_matrix, plot_scores, plot_weights

__all__ = [
    "plot_bars",
    "plot_curves",
    "plot_histograms",
    "plot_mask",
    "plot_matrix",
    "plot_scores",
    "plot_weights",
]
