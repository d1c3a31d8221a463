"""Curves, bars with error bars, histograms. Curves differ in marker and line style, not only in color."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from lessons._checks import positive
from lessons.plots.arrays import as_array
from lessons.wording import marked, worded

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")  # Okabe and Ito
DARK = "#222222"
MARKERS, LINES = "osD^vP", ("-", "--", "-.", ":", "-", "--")


def plot_curves(
    x: Sequence[float],
    curves: Mapping[str, Any],
    *,
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
    log: str = "",
) -> Axes:
    """One curve per name, with one value for each x. `log` names the logarithmic axes: "", "x", "y" or "xy"."""
    ax = ax or plt.subplots(figsize=(5.6, 3.4), layout="constrained")[1]
    for i, (name, y) in enumerate(curves.items()):
        y = _numbers(y)
        if y.shape != (len(x),):
            raise ValueError(f"curve {name!r} has shape {y.shape}; expected ({len(x)},), one point for each x")
        mark, line = MARKERS[i % 6], LINES[i % 6]
        ax.plot(list(x), y, label=name, color=COLORS[i % 6], linestyle=line, marker=mark, markersize=5)
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.set_xticks(list(x), labels=[f"{value:g}" for value in x])
    if "y" in log:
        ax.set_yscale("log")
    return _finish(ax, xlabel, ylabel, title)


def plot_bars(
    groups: Mapping[str, Sequence[float]],
    *,
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
) -> Axes:
    """One bar per name: the mean of its numbers, with a dot for each and an error bar of one standard deviation.

    A single number gets a bar without dot and error bar. Returns the Axes.
    """
    import seaborn as sns  # here, since it brings pandas: a kernel that draws nothing starts sooner

    ax = ax or plt.subplots(figsize=(5.6, 3.4), layout="constrained")[1]
    numbers = {name: _numbers(group).ravel() for name, group in groups.items()}
    several = {name: sample if len(sample) > 1 else [] for name, sample in numbers.items()}
    line = {"color": DARK, "linewidth": 1.2}
    sns.barplot(numbers, ax=ax, color=COLORS[0], alpha=0.55, width=0.6, errorbar="sd", capsize=0.2, err_kws=line)
    sns.swarmplot(several, ax=ax, color="white", edgecolor=DARK, linewidth=1.2, size=6)
    for i, sample in enumerate(numbers.values()):
        text = f"{sample.mean():.2f}" + (f" ± {sample.std(ddof=1):.2f}" if len(sample) > 1 else "")
        ax.annotate(text, (i, 0), xytext=(0, 6), textcoords="offset points", ha="center")
    return _finish(ax, xlabel, ylabel, title)


def plot_histograms(
    samples: Mapping[str, Any],
    *,
    ax: Axes | None = None,
    bins: int = 41,
    xlabel: str = "",
    ylabel: str = marked("fraction of the values"),
    title: str = "",
) -> Axes:
    """The distributions of several samples over the same bins, as outlines; the heights of one sample sum to 1."""
    ax = ax or plt.subplots(figsize=(5.6, 3.4), layout="constrained")[1]
    positive(bins=bins)
    if not samples:
        raise ValueError("samples is empty; expected at least one name with its numbers")
    numbers = {name: _numbers(sample).ravel() for name, sample in samples.items()}
    edges = np.histogram_bin_edges(np.concatenate(list(numbers.values())), bins=bins)
    for i, (name, sample) in enumerate(numbers.items()):
        fractions = np.histogram(sample, bins=edges)[0] / len(sample)
        ax.stairs(fractions, edges, label=name, color=COLORS[i % 6], linestyle=LINES[i % 6], linewidth=1.8)
    return _finish(ax, xlabel, worded(ylabel), title)


def _numbers(values: Any) -> np.ndarray:
    numbers = as_array(values).astype(float)
    if numbers.size == 0:
        raise ValueError("a name has no numbers; expected at least one number for each name")
    return numbers


def _finish(ax: Axes, xlabel: str, ylabel: str, title: str) -> Axes:
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.3)
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(frameon=False)
    return ax
