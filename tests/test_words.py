"""What notebooks print and draw with the package, in another language."""

import re

import matplotlib.pyplot as plt
import pytest
import torch

from lessons import display, environment, mask_arguments, wording
from lessons.plots import plot_curves, plot_histograms, plot_mask, plot_matrix, plot_scores, plot_weights
from lessons.plots.describe import describe
from lessons.pretrained import MISSING, MissingModelError, when_installed
from lessons.probes import leaks
from lessons.tasks import Dates, Numerals, Reversal, Translation
from tests.foreign import english, speak_foreign

pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font")  # where there is no Chinese font


@pytest.fixture(autouse=True)
def foreign(monkeypatch):
    speak_foreign(monkeypatch)
    plt.switch_backend("agg")
    yield
    plt.close("all")


X = torch.tensor([[0.5, 0.5], [1.0, 0.0]])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_matrix(X),
        lambda: plot_scores(X),
        lambda: plot_weights(X),
        lambda: plot_mask(X > 0),
        lambda: plot_histograms({"中": X.flatten()}),
        lambda: plot_curves([1, 2], {"中": [1, 2]}, xlabel="中", ylabel="中", log="xy"),
    ],
)
def test_figures(draw):
    ax = draw()
    assert english(describe(ax)) <= {"PuOr", "cividis"}  # names of color maps
    assert english(repr(display.show(ax, alt="中"))) <= {"PuOr", "cividis"}


def test_tables_and_measured_figures():
    assert english(repr(display.show_measured("中", ["中"], [[1]]))) == set()
    assert english(repr(display.show(plot_matrix(X), alt="中", measured=True))) == set()


def test_printed_sentences(capsys):
    display.check_same((X, X), (X, X))
    with when_installed():
        raise MissingModelError(MISSING)
    print(leaks(lambda x: x, torch.randn(3, 2)))
    assert english(re.sub(r"e-\d+", "", capsys.readouterr().out)) == set()


def test_the_environment(capsys):
    environment.check_environment()
    assert english(capsys.readouterr().out) == set()
    told = environment.problems((3, 9), {"torch": "2.0", "numpy": None}, {"torch": "1.0", "numpy": None})
    assert len(told) == 3 and english(re.sub(r"torch|numpy|/\S+", "", " ".join(told))) == set()


@pytest.mark.parametrize("task", [Dates, Numerals, Reversal, Translation])
def test_what_a_task_leaves_out(task):
    assert len(english(task().unseen)) <= 2  # an example
    wording.use("en")
    assert len(english(task().unseen)) > 10


def test_the_table_of_masks():
    asked = mask_arguments.MaskArgument("by hand, with −1e9", "", lambda q, k, m: q)
    answers = [(asked, mask_arguments.Answer("may attend", "a function of (b, h, q, k)", "bool", "0"))]
    assert english(mask_arguments.as_table(answers)) == {"bool"}
