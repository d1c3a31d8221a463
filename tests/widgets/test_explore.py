"""explore: controls by ipywidgets' rules, results of every kind, errors with their line, nothing left open."""

import base64
import json
import struct
from html.parser import HTMLParser

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from lessons.display import show, show_measured
from lessons.plots import plot_curves, plot_matrix, plot_weights
from lessons.widgets import explore
from lessons.widgets.function_explorer.widget import Shown


@pytest.fixture(autouse=True)
def _figures():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def given_back(**values):
    return str(values)


def weights(d=16, scaled=True):
    """Four tokens look at each other."""
    q, k = torch.randn(2, 4, d, generator=torch.Generator().manual_seed(0))
    return (q @ k.T / (d**0.5 if scaled else 1)).softmax(dim=-1)


def shown(explorer):
    """The HTML of the last good result."""
    return explorer.children[-1].result


def bundle(explorer):
    return explorer._repr_mimebundle_()


def test_the_first_result_is_there_from_the_beginning(monkeypatch):
    opened, really_open = [], Shown.open
    monkeypatch.setattr(Shown, "open", lambda self: (opened.append(self.get_state()), really_open(self)))
    for function in (given_back, lambda x: x / 0):
        explore(function, x=(1, 5))
    good, bad = opened
    assert "3" in good["result"] and good["wording"]["language"] == "en"
    assert "division by zero" in bad["problem"]


# Controls


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [
        ((1, 256), ipywidgets.IntSlider, 128),
        ((0, 10, 5), ipywidgets.IntSlider, 5),
        ((0.0, 2.0), ipywidgets.FloatSlider, 1.0),
        (True, ipywidgets.Checkbox, True),
        (False, ipywidgets.Checkbox, False),
        (["a", "b"], ipywidgets.Dropdown, "a"),
        ({"one": 1, "two": 2}, ipywidgets.Dropdown, 1),
        ("le chat", ipywidgets.Text, "le chat"),
        (ipywidgets.FloatLogSlider(value=10), ipywidgets.FloatLogSlider, 10.0),
    ],
)
def test_the_kind_of_a_control_follows_ipywidgets(given, kind, value):
    explorer = explore(given_back, x=given)
    control = explorer.controls["x"]
    assert type(control) is kind and control.value == value and control.description == "x"
    assert repr(explorer) == f"explore: {explorer.call}\n{ {'x': value} }"


@pytest.mark.parametrize(
    ("given", "step", "shown"),
    [
        ((0.0, 2.0), 0.1, ".1f"),
        ((0.0, 0.01), 0.001, ".3f"),
        ((0.0, 500.0), 10, ".0f"),
        ((0.0, 1.0, 0.25), 0.25, ".1f"),
        ((0.0, 1.0, 0.05), 0.05, ".2f"),
    ],
)
def test_a_slider_of_floats_has_steps_and_digits_that_fit_its_range(given, step, shown):
    slider = explore(given_back, x=given).controls["x"]
    assert slider.step == pytest.approx(step) and slider.readout_format == shown


def test_a_default_is_where_its_control_starts_and_others_stay():
    def f(d=64, name="b", rate=0.5):
        return f"{d} {name} {rate}"

    explorer = explore(f, d=(1, 256), name=["a", "b"])
    assert explorer.call == "f(d=64, name='b')"
    assert repr(explorer) == "explore: f(d=64, name='b')\n64 b 0.5"


def test_zero_is_zero_wherever_the_steps_of_a_slider_begin():
    explorer = explore(given_back, x=(-1.0, 1.0))
    explorer.controls["x"].value = -5.6e-17
    assert repr(explorer) == "explore: given_back(x=0)\n{'x': 0.0}"


def f(d, scale=1):
    return d * scale


def g(d=300):
    return d


@pytest.mark.parametrize(
    ("function", "controls", "message"),
    [
        (f, {"d": 5}, r"d is 5; expected \(lowest, highest\), .*a list of choices"),
        (f, {"d": (1, "a")}, r"d is \(1, 'a'\); expected \(lowest, highest\)"),
        (f, {"d": (9, 1)}, r"d is \(9, 1\); expected \(lowest, highest\).*min"),
        (f, {"d": (1, 9, 0)}, r"d is \(1, 9, 0\); expected \(lowest, highest\).*step"),
        (f, {"d": []}, r"d is \[\]; expected \(lowest, highest\)"),
        (f, {"d": ()}, r"d is \(\); expected \(lowest, highest\)"),
        (f, {"d": None}, r"d is None; expected \(lowest, highest\)"),
        (f, {"d": (1, 9), "e": True}, r"e is True; expected a parameter of f\(d, scale\)"),
        (f, {"scale": (1, 9)}, r"d has no control; expected one, because f\(d, scale\) has no default for it"),
        (f, {}, "controls are missing; expected one or more"),
        (g, {"d": (1, 256)}, "d has the default 300; expected one that its control can show"),
        (g, {"d": [1, 2]}, "d has the default 300; expected one that its control can show"),
        ("f", {"d": (1, 9)}, "function is 'f'; expected a function"),
    ],
)
def test_a_control_that_does_not_fit_is_refused(function, controls, message):
    with pytest.raises(ValueError, match=message):
        explore(function, **controls)


def test_the_functions_parameters_may_have_any_name():
    assert repr(explore(given_back, function=True)) == "explore: given_back(function=True)\n{'function': True}"


# Results


def test_a_moved_control_calls_the_function():
    explorer = explore(weights, d=(1, 256), scaled=True)
    before = shown(explorer)
    explorer.controls["d"].value = 200
    assert explorer.call == "weights(d=200, scaled=True)" and "weights(d=200, scaled=True)" in shown(explorer)
    assert shown(explorer) != before
    explorer.controls["d"].value = 16
    assert shown(explorer) == before


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("two\nlines & <b>", "two\nlines & <b>"),
        (0.123456, "0.1235"),
        (-2.0, "−2"),
        (7, "7"),
        (True, "True"),
        (torch.tensor(0.123456), "0.1235"),
        (np.float32(0.5), "0.5"),
        (["le", "chat"], "['le', 'chat']"),
    ],
)
def test_texts_and_numbers(result, text):
    explorer = explore(lambda x: result, x=True)
    assert repr(explorer) == f"explore: <lambda>(x=True)\n{text}"
    data, _ = bundle(explorer)
    assert "image/png" not in data and "<b>" not in data["text/html"]
    assert data["text/html"].startswith("<div><p><code>&lt;lambda&gt;(x=True)</code></p><pre")


def test_a_tensor_is_a_heatmap():
    text = repr(explore(lambda x: torch.tensor([[1.0, -x], [0.5, 2.0]]), x=(1, 3)))
    assert "0: 1.00  −2.00\n1: 0.50  2.00\ncolors: PuOr" in text
    assert "0: 1.00  −2.00" in repr(explore(lambda x: np.array([1.0, -x]), x=(1, 3)))
    assert "1: 1  ×" in repr(explore(lambda x: torch.eye(2, dtype=torch.bool)[[0, 0]], x=True)).replace("0: 1", "")
    assert "0: 1.00  −2.00" in repr(explore(lambda x: torch.tensor([[[1.0, -x]]]), x=(1, 3)))


def test_a_large_tensor_is_a_heatmap_without_numbers():
    explorer = explore(lambda rows: torch.arange(64.0).repeat(rows, 1), rows=(1, 64))
    text = repr(explorer)
    assert "columns: 0                8 " in text and "0: 0.0  1.0  2.0" in text
    assert explorer._result.picture.width <= 9 * 96


@pytest.mark.parametrize("shape", [(2, 3, 4), (65, 2), (2, 65), (0, 3), (0,)])
def test_a_tensor_that_is_no_heatmap_is_refused(shape):
    explorer = explore(lambda x: torch.zeros(shape), x=True)
    assert f"It gives a tensor of shape {shape}; expected rows and columns, at most 64 of each." in explorer.problem


def figure_of(x):
    """A line."""
    return plot_curves([1, 2], {"line": [1, x]})


def test_figures_axes_and_pictures():
    axes = explore(figure_of, x=(1, 3))
    assert repr(axes).startswith("[Figure: The figure that figure_of(x=2) gives: A line.]\n")
    assert "line: (1, 1), (2, 2)" in repr(axes)
    assert "line: (1, 1), (2, 2)" in repr(explore(lambda x: figure_of(x).get_figure(), x=(1, 3)))
    picture = explore(lambda x: show(figure_of(x), alt="a line that rises"), x=(1, 3))
    assert repr(picture).startswith("[Figure: <lambda>(x=2): a line that rises]\n")
    forgotten = explore(lambda x: None if figure_of(x) else 0, x=(1, 3))
    assert "line: (1, 1), (2, 2)" in repr(forgotten)


def test_what_a_notebook_shows_as_html_is_shown():
    explorer = explore(lambda x: show_measured("seconds", ["n"], [[x]]), x=(1, 3))
    assert "<caption>seconds</caption>" in shown(explorer) and "[Table, measured here: seconds]" in repr(explorer)


def test_a_menu_may_have_words_for_what_has_none():
    explorer = explore(lambda f: f(torch.tensor(-2.0)), f={"relu": torch.relu, "abs": torch.abs})
    assert repr(explorer) == "explore: <lambda>(f=relu)\n0"
    explorer.controls["f"].value = torch.abs
    assert repr(explorer) == "explore: <lambda>(f=abs)\n2"


def test_what_it_prints_is_shown(capsys):
    def talks(x):
        print(f"x < {x}")
        return x if x > 1 else None

    explorer = explore(talks, x=(1, 3))
    assert repr(explorer) == "explore: talks(x=2)\n2\nx < 2"
    assert "x &lt; 2" in shown(explorer)
    explorer.controls["x"].value = 1
    assert repr(explorer) == "explore: talks(x=1)\nx < 1" and not explorer.problem
    assert capsys.readouterr().out == ""


def test_no_figure_stays_open():
    mine = plt.figure()

    def leaves(x):
        plt.figure()
        if x == 3:
            raise RuntimeError("stop")
        return figure_of(x)

    explorer = explore(leaves, x=(1, 3))
    for x in (1, 2, 3, 1):
        explorer.controls["x"].value = x
    assert plt.get_fignums() == [mine.number]


def test_every_call_starts_with_the_same_random_numbers():
    torch.manual_seed(3)
    expected = torch.randn(4)
    torch.manual_seed(3)
    explorer = explore(lambda x: torch.randn(4), x=(1, 9))
    first = shown(explorer)
    explorer.controls["x"].value = 7
    assert shown(explorer).replace("x=7", "x=5") == first
    assert torch.equal(torch.randn(4), expected)


# Errors


def fails(x):
    return f"one over {1 / (x - 2)}"


def test_after_an_error_the_last_good_result_stays():
    explorer = explore(fails, x=(1, 5))
    good = shown(explorer)
    explorer.controls["x"].value = 2
    assert explorer.problem == (
        "fails(x=2): ZeroDivisionError: division by zero. "
        f'Line {fails.__code__.co_firstlineno + 1} of your code: return f"one over {{1 / (x - 2)}}".'
    )
    assert shown(explorer) == good
    assert repr(explorer) == f"explore: fails(x=2)\n{explorer.problem}"
    explorer.controls["x"].value = 1
    assert explorer.problem == "" and "one over -1.0" in shown(explorer)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, NotImplementedError])
def test_no_exception_gets_through(error):
    def stops(x):
        raise error

    assert error.__name__ in explore(stops, x=True).problem


@pytest.mark.parametrize("nothing", [None, ...])
def test_nothing_is_explained(nothing):
    explorer = explore(lambda x: nothing, x=True)
    assert "It gives None: it isn't written yet, or it doesn't end with `return`." in explorer.problem
    assert "isn&#x27;t written yet" in bundle(explorer)[0]["text/html"]


# What is stored


class Images(HTMLParser):
    found = ()

    def handle_starttag(self, tag, attributes):
        self.found += (dict(attributes),) * (tag == "img")


@pytest.mark.parametrize("function", [weights, lambda d: figure_of(d), lambda d: plot_weights(weights(d))])
def test_the_stored_picture_is_small_and_always_the_same(function):
    (data, metadata), (again, _) = (bundle(explore(function, d=(1, 64))) for _ in range(2))
    assert data["image/png"] == again["image/png"] and data["text/plain"] == again["text/plain"]
    assert len(json.dumps(data).encode()) <= 20_000
    assert "application/vnd.jupyter.widget-view+json" in data and "text/html" not in data
    alt = metadata["image/png"]["alt"]
    assert "(d=" in alt and data["text/plain"].startswith(f"[Figure: {alt}]\n")


def test_the_stored_picture_has_the_call_above_it():
    explorer = explore(weights, d=(1, 64))
    above = explorer._result.picture
    data, _ = bundle(explorer)
    explorer.controls["d"].value = 33
    other, _ = bundle(explorer)
    assert png_size(data["image/png"])[1] == png_size(above.png)[1] + 36  # 0.3 inches of 120 dots
    assert data["image/png"] != other["image/png"]


def png_size(png):
    png = png if isinstance(png, bytes) else base64.b64decode(png)
    return struct.unpack(">II", png[16:24])


def test_a_learner_gets_html_with_the_call_and_the_picture(monkeypatch):
    monkeypatch.delenv("LESSONS_STORED_EDITION")
    explorer = explore(weights, d=(1, 64))
    data, _ = bundle(explorer)
    assert data["text/html"].startswith("<div><p><code>weights(d=16)</code></p><img ") and "image/png" not in data
    images = Images()
    images.feed(data["text/html"])
    assert images.found[0]["alt"] == "The numbers that weights(d=16) gives: Four tokens look at each other."


def test_matrices_of_the_plots_are_taken():
    assert "scores" in repr(explore(lambda x: plot_matrix([[x]], title="scores"), x=(1, 3)))
