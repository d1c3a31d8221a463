"""lessons.plots: what is in the figure, and that its description in words tells figures apart."""

import re
import shutil
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib import font_manager
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle, StepPatch

from lessons import wording
from lessons.plots import (
    fonts,
    plot_bars,
    plot_curves,
    plot_histograms,
    plot_mask,
    plot_matrix,
    plot_scores,
    plot_weights,
)
from lessons.plots.curves import DARK
from lessons.plots.describe import describe
from lessons.plots.pictures import take_picture

NAN, INF = float("nan"), float("inf")
VALUES = [[0.25, -0.5, 1.0], [0.0, 0.75, -0.13]]
ALLOWED = torch.tensor([[True, False, True], [False, True, True]])
HEATMAPS = {plot_matrix: VALUES, plot_scores: VALUES, plot_weights: np.abs(VALUES), plot_mask: ALLOWED}
CURVES = {"ours": [1.0, 2.0, 4.0], "theirs": [3.0, 2.5, 0.5]}
GROUPS = {"ours": [1.0, 2.0, 6.0], "theirs": [4.0, 5.0]}
SAMPLES = {"ours": torch.arange(-5.0, 6.0), "theirs": torch.arange(-30.0, 31.0)}
OTHERS = {
    lambda values, **options: plot_curves([1, 2, 3], values, **options): CURVES,
    plot_bars: GROUPS,
    plot_histograms: SAMPLES,
}
HEATMAP_NAMES, OTHER_NAMES = ["matrix", "scores", "weights", "mask"], ["curves", "bars", "histograms"]
LOOKS = Path(__file__).with_name("looks")
SPECIAL = [[1.0, -INF, 2.0, -0.5], [NAN, -3.0, 0.25, INF], [-INF, 1.5, -0.1, 0.0]]
SEVEN = {f"curve {i}": [i + 1, 2 * i + 1, 1, 40 - i] for i in range(7)}
LOOK_OF = {
    "matrix": lambda: plot_matrix(SPECIAL, blocked=np.eye(3, 4, 1), rows=["a", "longer", "c"], title="a title"),
    "scores": lambda: plot_scores(VALUES, decimals=None, columns=["sentence", "with", "long"]),
    "weights": lambda: plot_weights(np.linspace(0, 1, 24).reshape(4, 6), decimals=1),
    "mask": lambda: plot_mask(ALLOWED, rows=["the", "cat"]),
    "curves": lambda: plot_curves([1, 2, 4, 16], SEVEN, xlabel="x", ylabel="y", title="a title", log="xy"),
    "bars": lambda: plot_bars({**GROUPS, "one": [2.5]}, xlabel="x", ylabel="y", title="a title"),
    "histograms": lambda: plot_histograms(SAMPLES, xlabel="x", title="a title"),
}
every_heatmap = pytest.mark.parametrize(("plot", "values"), HEATMAPS.items(), ids=HEATMAP_NAMES)
every_other = pytest.mark.parametrize(("plot", "values"), OTHERS.items(), ids=OTHER_NAMES)
every_plot = pytest.mark.parametrize(
    ("plot", "values"), (HEATMAPS | OTHERS).items(), ids=[*HEATMAP_NAMES, *OTHER_NAMES]
)


@pytest.fixture(autouse=True)
def _figures():
    plt.switch_backend("agg")
    plt.close("all")  # what another module's tests have left open
    yield
    plt.close("all")


def texts(ax):
    """The words in the cells: {(row, column): text}."""
    return {tuple(int(x) for x in reversed(cell.get_position())): cell.get_text() for cell in ax.texts}


def mesh(ax):
    (found,) = (collection for collection in ax.collections if isinstance(collection, QuadMesh))
    return found


def names(labels):
    return [label.get_text() for label in labels]


def brightness(color):
    return np.dot(to_rgb(color), (0.299, 0.587, 0.114))


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", LOOK_OF)
def test_a_plot_looks_as_it_did(name, tmp_path):
    stored, drawn = LOOKS / f"{name}.png", tmp_path / f"{name}.png"
    LOOK_OF[name]().figure.savefig(drawn, dpi=60, metadata={"Software": None})
    before, now = plt.imread(stored), plt.imread(drawn)
    same_size = before.shape == now.shape
    others = int((np.abs(before - now).max(axis=-1) > 0.1).sum()) if same_size else None
    assert same_size and others <= 5, f"{others} other pixels: look at {drawn}; if it is meant, copy it to {stored}"


@every_plot
def test_a_given_ax_is_drawn_on_and_no_other_figure_is_made(plot, values):
    figure, (left, right) = plt.subplots(1, 2)
    assert plt.gca() is right
    assert plot(values, ax=left) is left
    assert plt.get_fignums() == [figure.number]
    assert figure.axes == [left, right]
    assert left.has_data() and not right.has_data()


@every_plot
def test_without_ax_there_is_a_new_figure_each_time(plot, values):
    one, other = plot(values), plot(values)
    assert one.figure is not other.figure
    assert len(plt.get_fignums()) == 2


@every_plot
def test_a_plot_leaves_its_numbers_alone(plot, values):
    before = str(values)
    plot(values)
    assert str(values) == before


@pytest.mark.parametrize("as_type", [np.array, torch.tensor, lambda x: torch.tensor(x, requires_grad=True), list])
def test_the_number_of_each_cell_is_written_in_it(as_type):
    ours = texts(plot_matrix(as_type(VALUES)))
    assert ours == {(0, 0): "0.25", (0, 1): "−0.50", (0, 2): "1.00", (1, 0): "0.00", (1, 1): "0.75", (1, 2): "−0.13"}


def test_the_first_row_is_on_top():
    ax = plot_matrix(VALUES)
    assert ax.get_ylim() == (2, 0)
    assert ax.get_xlim() == (0, 3)
    np.testing.assert_array_equal(mesh(ax).get_array(), VALUES)


def test_what_is_drawn_on_top_does_not_move_a_matrix():
    ax = plot_matrix(VALUES)
    ax.plot([-1, 9], [-1, 9])
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 3), (2, 0))


@pytest.mark.parametrize(("decimals", "text"), [(0, "0"), (1, "−0.1"), (3, "−0.130")])
def test_the_number_of_decimals(decimals, text):
    assert texts(plot_matrix(VALUES, decimals=decimals))[1, 2] == text


@every_heatmap
def test_labels_are_numbers_unless_they_are_given(plot, values):
    ax = plot(values)
    assert names(ax.get_yticklabels()) == ["0", "1"]
    assert names(ax.get_xticklabels()) == ["0", "1", "2"]
    ax = plot(values, rows=["the", "cat"], columns="abc", title="a title")
    assert names(ax.get_yticklabels()) == ["the", "cat"]
    assert names(ax.get_xticklabels()) == ["a", "b", "c"]
    assert ax.get_title() == "a title"


@pytest.mark.parametrize(("name", "rotation"), [("a", 0), ("a very long name", 90)])
def test_names_of_columns_stand_upright_where_they_overlap(name, rotation):
    ax = plot_matrix(VALUES, columns=[name] * 3, rows=["a very long name"] * 2)
    assert [label.get_rotation() for label in ax.get_xticklabels()] == [rotation] * 3
    assert [label.get_rotation() for label in ax.get_yticklabels()] == [0, 0]


@pytest.mark.parametrize(
    ("plot", "title", "rows", "columns"),
    [
        (plot_matrix, "", "← tokens", "features →"),
        (plot_scores, "scores", "← queries", "keys →"),
        (plot_weights, "weights", "← queries", "keys →"),
        (plot_mask, "allowed", "← queries", "keys →"),
    ],
)
def test_the_names_of_the_axes(plot, title, rows, columns):
    ax = plot(HEATMAPS[plot])
    assert (ax.get_title(), ax.get_ylabel(), ax.get_xlabel()) == (title, rows, columns)
    ax = plot(HEATMAPS[plot], row_axis="words", column_axis="heads")
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("← words", "heads →")


@pytest.mark.parametrize("plot", [plot_matrix, plot_scores])
def test_the_colors_of_signed_numbers_are_symmetric(plot):
    ax = plot([[0.0, 2.0, -INF], [-4.0, 1.0, NAN]])
    low, high = mesh(ax).get_clim()
    assert low == -high and high >= 4
    colors = mesh(ax).to_rgba([-4.0, 0.0, 2.0])
    assert colors[0][0] > colors[0][2]  # orange: more red than blue
    assert min(colors[1]) > 0.95  # white
    assert colors[2][2] > colors[2][0]  # purple: more blue than red


def test_a_matrix_of_zeros_has_limits_too():
    low, high = mesh(plot_matrix([[0.0, 0.0]])).get_clim()
    assert (low, high) == (-1.5, 1.5)


@pytest.mark.parametrize("plot", [plot_weights, plot_mask])
def test_weights_and_masks_go_from_zero_dark_to_one_bright(plot):
    drawn = mesh(plot(HEATMAPS[plot]))
    assert drawn.get_clim() == (0, 1)
    shades = [brightness(drawn.to_rgba(x)[:3]) for x in (0.0, 0.5, 1.0)]
    assert shades[0] < 0.25 < shades[1] < 0.75 < shades[2]


@pytest.mark.parametrize("plot", [plot_matrix, plot_scores, plot_weights])
def test_limits_that_are_given(plot):
    assert mesh(plot(VALUES, limits=(-3, 7))).get_clim() == (-3, 7)


def marks(ax):
    """The marked cells: {(row, column): (text, hatch)}."""
    found = {(int(p.get_y()), int(p.get_x())): p.get_hatch() for p in ax.patches if isinstance(p, Rectangle)}
    return {cell: (texts(ax)[cell], hatch or "") for cell, hatch in found.items()}


def test_what_is_no_ordinary_number_has_a_mark_of_its_own():
    values = [[1.0, -INF, 2.0, -INF], [NAN, 3.0, 4.0, INF], [-INF, 5.0, 6.0, 7.0]]
    blocked = torch.zeros(3, 4, dtype=torch.bool)
    blocked[[0, 2], [3, 1]] = True
    ours = marks(plot_matrix(values, blocked=blocked))
    assert {cell: text for cell, (text, _) in ours.items()} == {
        (0, 1): "−∞",
        (0, 3): "×",
        (1, 0): "NaN",
        (1, 3): "+∞",
        (2, 0): "−∞",
        (2, 1): "×",
    }
    hatches = {text: hatch for text, hatch in ours.values()}
    assert len({hatches[text] for text in ("×", "−∞", "NaN")}) == 3


def test_a_mark_has_a_color_of_its_own_and_hides_the_number_below():
    ax = plot_matrix([[-INF, NAN, 0.25]], blocked=[[0, 0, 1]])
    faces = {p.get_facecolor() for p in ax.patches if isinstance(p, Rectangle)}
    assert len(faces) == 3
    assert mesh(ax).get_array().mask.all()
    assert names(ax.texts) == ["−∞", "NaN", "×"]


def test_a_mask_is_a_one_or_a_cross():
    ax = plot_mask(ALLOWED)
    assert texts(ax) == {(0, 0): "1", (0, 1): "×", (0, 2): "1", (1, 0): "×", (1, 1): "1", (1, 2): "1"}
    assert set(marks(ax)) == {(0, 1), (1, 0)}


def test_a_mask_may_be_numpy_or_a_list():
    for values in (ALLOWED.numpy(), ALLOWED.tolist()):
        assert texts(plot_mask(values)) == texts(plot_mask(ALLOWED))


@every_heatmap
@pytest.mark.parametrize("shape", [(3,), (2, 3, 5), (0, 3), (3, 0), ()])
def test_what_is_no_matrix_is_refused(plot, values, shape):
    name = {plot_mask: "allowed"}.get(plot, "values")
    with pytest.raises(ValueError, match=rf"{name} has shape \({', '.join(map(str, shape))},?\); expected a matrix"):
        plot(torch.ones(shape, dtype=torch.bool))


@every_heatmap
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": "abc"}, "rows contains 3 labels; expected 2"),
        ({"columns": "ab"}, "columns contains 2 labels; expected 3"),
        ({"blocked": torch.ones(3, 2)}, r"blocked has shape \(3, 2\); expected that of values, \(2, 3\)"),
        ({"blocked": torch.ones(3)}, r"blocked has shape \(3,\); expected a matrix"),
        ({"decimals": -1}, "decimals is -1; expected a whole number, 0 or more"),
    ],
)
def test_options_that_do_not_fit_are_refused(plot, values, options, message):
    with pytest.raises(ValueError, match=message):
        plot(values, **options)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_a_mask_of_numbers_is_refused(dtype):
    with pytest.raises(ValueError, match=f"allowed contains {dtype}; expected bool, True = may attend"):
        plot_mask(ALLOWED.to(getattr(torch, dtype)))


@every_other
def test_the_words_around_curves_bars_and_histograms_are_drawn_and_told(plot, values):
    ax = plot(values, xlabel="across", ylabel="up", title="above")
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("across", "up", "above")
    assert describe(ax).startswith("above | up | across\n")


@every_other
def test_no_word_is_drawn_that_was_not_given(plot, values):
    ax = plot(values)
    assert (ax.get_xlabel(), ax.get_title()) == ("", "")
    assert ax.get_ylabel() == ("fraction of the values" if plot is plot_histograms else "")


@pytest.mark.parametrize("plot", [plot for plot in OTHERS if plot is not plot_bars], ids=["curves", "histograms"])
def test_a_legend_where_there_is_more_than_one_name(plot):
    values = OTHERS[plot]
    assert names(plot(values).get_legend().get_texts()) == ["ours", "theirs"]
    assert plot({"ours": values["ours"]}).get_legend() is None


@every_other
def test_numbers_may_be_tensors_that_need_gradients(plot, values):
    tensors = {name: torch.tensor(numbers, requires_grad=True) for name, numbers in CURVES.items()}
    assert describe(plot(tensors)) == describe(plot(CURVES))


def test_curves_go_through_their_points():
    ax = plot_curves([1, 2, 3], CURVES)
    assert [line.get_label() for line in ax.get_lines()] == ["ours", "theirs"]
    for line, y in zip(ax.get_lines(), CURVES.values()):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([[1, 2, 3], y], axis=1))


def test_six_curves_differ_in_color_and_in_mark():
    lines = plot_curves([1, 2], {str(i): [i, i] for i in range(6)}).get_lines()
    assert len({line.get_color() for line in lines}) == 6
    assert len({line.get_marker() for line in lines}) == 6


def test_seven_curves_can_be_drawn():
    assert len(plot_curves([1, 2], {str(i): torch.ones(2) for i in range(7)}).get_lines()) == 7


@pytest.mark.parametrize(
    ("log", "scales"),
    [("", ("linear", "linear")), ("x", ("log", "linear")), ("y", ("linear", "log")), ("xy", ("log", "log"))],
)
def test_logarithmic_axes(log, scales):
    ax = plot_curves([1, 2, 3], CURVES, log=log)
    assert (ax.get_xscale(), ax.get_yscale()) == scales


def test_a_logarithmic_axis_marks_powers_of_two():
    ax = plot_curves([1, 2, 3], CURVES, log="x")
    assert ax.xaxis.get_transform().base == 2


def test_a_curve_of_another_length_is_refused():
    with pytest.raises(ValueError, match="curve 'short' has shape \\(2,\\); expected \\(3,\\), one point for each x"):
        plot_curves([1, 2, 3], {**CURVES, "short": [1, 2]})


def test_bars_show_the_mean_each_number_and_the_spread():
    ax = plot_bars(GROUPS)
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [bar.get_height() for bar in bars] == [3.0, 4.5]
    assert [note.get_text() for note in ax.texts] == ["3.00 ± 2.65", "4.50 ± 0.71"]
    assert names(ax.get_xticklabels()) == ["ours", "theirs"]
    dots = [sorted(dots.get_offsets()[:, 1]) for dots in ax.collections]
    assert dots == list(GROUPS.values())
    for error, numbers in zip(ax.get_lines(), GROUPS.values(), strict=True):
        low, high = np.nanmin(error.get_ydata()), np.nanmax(error.get_ydata())
        mean, spread = np.mean(numbers), np.std(numbers, ddof=1)
        np.testing.assert_allclose((low, high), (mean - spread, mean + spread))


def test_a_bar_of_one_number_has_no_spread():
    ax = plot_bars({"one": [2.5]})
    assert names(ax.texts) == ["2.50"]
    assert np.isnan([line.get_ydata() for line in ax.get_lines()]).all()
    assert all(len(dots.get_offsets()) == 0 for dots in ax.collections)


def test_each_number_of_a_bar_is_a_white_dot_with_a_dark_edge():
    (dots,) = (each for each in plot_bars({"a": [1.0, 2.0]}).collections if len(each.get_offsets()))
    np.testing.assert_allclose(dots.get_edgecolor()[0, :3], to_rgb(DARK))


def test_more_histograms_than_colors():
    ax = plot_histograms({f"sample {i}": [i, i + 1.0] for i in range(7)})
    assert len(ax.get_legend().get_texts()) == 7


def test_histograms_share_their_bins_and_each_sums_to_one():
    ax = plot_histograms(SAMPLES, bins=7)
    ours, theirs = (patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch))
    np.testing.assert_array_equal(ours.edges, theirs.edges)
    np.testing.assert_allclose(ours.edges, np.linspace(-30, 30, 8))
    for data, sample in ((ours, SAMPLES["ours"]), (theirs, SAMPLES["theirs"])):
        np.testing.assert_allclose(data.values, np.histogram(sample, data.edges)[0] / len(sample))
        np.testing.assert_allclose(data.values.sum(), 1)


def test_histograms_take_tensors_of_any_shape():
    one, other = (plot_histograms({"": x}).patches[0].get_data().values for x in (torch.eye(5), torch.eye(5).ravel()))
    np.testing.assert_array_equal(one, other)


# --- describe -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plot", [plot_matrix, plot_scores, plot_weights])
def test_a_change_in_one_cell_shows_in_its_line(plot):
    before = describe(plot(VALUES)).split("\n")[:-1]
    for (row, column), value in {(0, 0): 0.01, (0, 2): -INF, (1, 1): NAN, (1, 2): 0.01}.items():
        changed = np.array(VALUES)
        changed[row, column] += value
        after = describe(plot(changed)).split("\n")[:-1]
        assert differing(before, after) == [2 + row], (row, column, value)


def differing(before, after):
    return [i for i, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]


def test_a_change_in_a_mask_shows_in_its_line():
    before = describe(plot_mask(ALLOWED)).split("\n")
    for row, column in [(0, 0), (0, 1), (1, 2)]:
        changed = ALLOWED.clone()
        changed[row, column] ^= True
        assert differing(before, describe(plot_mask(changed)).split("\n")) == [2 + row], (row, column)


def test_a_heatmap_in_words():
    ax = plot_scores([[-INF, 0.5], [NAN, 2.0]], rows=["the", "cat"], columns="ab", blocked=[[0, 0], [0, 1]])
    assert describe(ax) == (
        "scores | ← queries | keys →\ncolumns: a  b\nthe: −∞  0.50\ncat: NaN  ×\ncolors: PuOr from -0.75 to 0.75"
    )


@every_heatmap
def test_each_word_around_a_heatmap_is_told(plot, values):
    ax = plot(values, rows="xy", columns="uvw", title="t", row_axis="r", column_axis="c", decimals=3)
    heading, columns, *lines, _ = describe(ax).split("\n")
    assert (heading, columns) == ("t | ← r | c →", "columns: u  v  w")
    for name, line in zip("xy", lines, strict=True):
        assert re.fullmatch(rf"{name}:(  ?(−?\d\.\d{{3}}|×)){{3}}", line), line


@every_other
def test_other_names_and_exchanged_numbers_are_told(plot, values):
    renamed = plot({"mine": values["ours"], "theirs": values["theirs"]})
    exchanged = plot({"ours": values["theirs"], "theirs": values["ours"]})
    assert len({describe(ax) for ax in (plot(values), renamed, exchanged)}) == 3


def test_curves_bars_and_histograms_in_words():
    curves = plot_curves([1, 2, 3], CURVES, xlabel="x", ylabel="y", title="t")
    assert describe(curves) == "t | y | x\nours: (1, 1), (2, 2), (3, 4)\ntheirs: (1, 3), (2, 2.5), (3, 0.5)"
    assert describe(plot_bars(GROUPS, title="t")) == "t\nours: 3.00 ± 2.65\ntheirs: 4.50 ± 0.71"
    assert describe(plot_histograms(SAMPLES, bins=61, title="t")) == (
        "t | fraction of the values\nours: mean 0.0, standard deviation 3.1\ntheirs: mean 0.0, standard deviation 17.3"
    )


@pytest.mark.parametrize("point", range(3))
def test_a_point_that_moves_is_told(point):
    moved, x = [1.0, 2.0, 4.0], [1.0, 2.0, 3.0]
    moved[point] += 0.1
    x[point] += 0.1
    drawn = plot_curves([1, 2, 3], CURVES), plot_curves([1, 2, 3], {**CURVES, "ours": moved}), plot_curves(x, CURVES)
    assert len(set(map(describe, drawn))) == 3


def test_a_bar_of_another_mean_is_told():
    assert describe(plot_bars({**GROUPS, "ours": [1.0, 2.0, 6.1]})) != describe(plot_bars(GROUPS))


def test_a_histogram_of_another_spread_or_mean_is_told():
    before = describe(plot_histograms({"ours": SAMPLES["ours"]}))
    assert describe(plot_histograms({"ours": SAMPLES["ours"] + 0.5})) != before
    assert describe(plot_histograms({"ours": SAMPLES["ours"] * 1.1})) != before


def test_a_histogram_on_the_other_side_of_zero_is_told():
    one, other = (describe(plot_histograms({"ours": sign * (SAMPLES["ours"] + 20)})) for sign in (1, -1))
    assert one != other


@pytest.mark.parametrize(("middle", "mean"), [(20, "20.0"), (-0.04, "0.0")])
def test_the_mean_of_a_histogram_in_words(middle, mean):
    described = describe(plot_histograms({"ours": SAMPLES["ours"] + middle}, bins=11))
    assert described.endswith(f"ours: mean {mean}, standard deviation 2.9")


def test_a_note_between_two_ticks_is_told_by_its_place():
    ax = plot_bars(GROUPS)
    ax.annotate("here", (0.5, 2.0))
    assert describe(ax).endswith("at (0.5, 2.0): here")


def test_a_logarithmic_axis_and_other_colors_are_told():
    plain, logarithmic = (describe(plot_curves([1, 2, 3], CURVES, xlabel="d", log=log)) for log in ("", "x"))
    assert logarithmic.startswith("d (logarithmic)\n")
    assert "logarithmic" not in plain
    assert describe(plot_matrix(VALUES, limits=(0, 1))) != describe(plot_matrix(VALUES, limits=(0, 2)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_drawn(dtype):
    assert texts(plot_matrix(torch.tensor([[0.5, 2.0]], dtype=dtype))) == {(0, 0): "0.50", (0, 1): "2.00"}


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot_bars({"a": []}), "a name has no numbers; expected at least one number for each name"),
        (lambda: plot_histograms({}), "samples is empty; expected at least one name with its numbers"),
        (lambda: plot_histograms({"a": []}), "a name has no numbers; expected at least one number for each name"),
    ],
)
def test_nothing_to_draw_is_refused(draw, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        draw()


@pytest.mark.parametrize("plot", [plot_matrix, plot_scores, plot_weights])
def test_numbers_stand_out_from_their_cells(plot):
    values = np.linspace(0, 1, 25).reshape(5, 5)
    ax = plot(values)
    for (row, column), ink in {
        tuple(int(x) for x in reversed(t.get_position())): t.get_color() for t in ax.texts
    }.items():
        cell = luminance(mesh(ax).to_rgba(values[row, column]))
        dark, light = sorted((cell, luminance(to_rgb(ink))))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (values[row, column], ink)


def luminance(color):
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_heatmap_without_numbers_is_told_by_its_colors():
    ax = plot_weights([[0.9, 0.1]], decimals=None)
    assert not ax.texts
    assert "0: 0.9  0.1" in describe(ax)


@pytest.fixture
def in_chinese(monkeypatch):
    monkeypatch.setattr(wording, "_now", "zh_CN")
    monkeypatch.setattr(wording, "_catalog", lambda name, part: {"queries": "查询", "keys": "键", "weights": "权重"})
    monkeypatch.setitem(plt.rcParams, "font.family", ["sans-serif"])
    fonts.say_if_missing.cache_clear()


def forget_fonts(monkeypatch):
    """As on a system without a font for Chinese."""
    installed = font_manager.fontManager.ttflist
    files = {font.fname for font in installed if font.name in fonts.CHINESE}
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [font for font in installed if font.fname not in files])


def test_labels_are_in_the_language_in_use(in_chinese):
    ax = plot_weights([[1.0]], columns=["the"])
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("权重", "键 →", "← 查询")
    assert plot_weights([[1.0]], title="mine").get_title() == "mine"


@pytest.mark.skipif(fonts.chinese_font() is None, reason="there is no font for Chinese")
def test_chinese_is_drawn_and_all_else_as_before(in_chinese, capsys):
    def drawn(text):
        figure = plt.figure(figsize=(2, 1))
        figure.text(0.1, 0.5, text)
        return take_picture(figure, "a text").png

    before = drawn("weights: −1")
    with pytest.warns(UserWarning, match="missing from font"):
        boxes = drawn("权重")
    fonts.use_chinese_font()
    fonts.use_chinese_font()
    assert plt.rcParams["font.family"] == ["sans-serif", fonts.chinese_font()]
    assert drawn("weights: −1") == before
    assert drawn("权重") != boxes
    assert capsys.readouterr().out == ""


def test_a_missing_font_is_said_once(in_chinese, monkeypatch, capsys):
    forget_fonts(monkeypatch)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    fonts.use_chinese_font()
    assert plt.rcParams["font.family"] == ["sans-serif"]
    for _ in range(2):
        take_picture(plt.figure(), "empty")
    assert capsys.readouterr().out.count("fonts-noto-cjk") == 1


@pytest.mark.skipif(fonts.chinese_font() is None, reason="there is no font for Chinese")
def test_a_font_that_was_installed_since_is_found(in_chinese, monkeypatch):
    forget_fonts(monkeypatch)
    fonts.use_chinese_font()
    assert plt.rcParams["font.family"] == ["sans-serif", fonts.chinese_font()]


def test_only_a_font_that_can_be_read_is_found(in_chinese, monkeypatch, tmp_path):
    """Whatever is installed: here a font of matplotlib's own is the one for Chinese."""
    monkeypatch.setattr(fonts, "CHINESE", ["DejaVu Serif"])
    forget_fonts(monkeypatch)
    broken, gone, new = (tmp_path / name for name in ("a_broken.ttf", "b_gone.ttf", "c_new.ttf"))
    broken.write_text("no font")
    shutil.copy(matplotlib.get_data_path() + "/fonts/ttf/DejaVuSerif.ttf", new)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(broken), str(gone), str(new)])
    for _ in range(2):
        fonts.use_chinese_font()
        assert plt.rcParams["font.family"] == ["sans-serif", "DejaVu Serif"]


def test_in_english_no_font_is_asked_for(monkeypatch, capsys):
    forget_fonts(monkeypatch)
    monkeypatch.setattr(font_manager, "findSystemFonts", None)
    fonts.use_chinese_font()
    fonts.say_if_missing.cache_clear()
    take_picture(plt.figure(), "empty")
    assert capsys.readouterr().out == ""
