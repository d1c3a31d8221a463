"""PositionLab without a browser: its numbers are those of lessons.positions, and of the formulas."""

import math
import re

import pytest
import torch

from lessons.plots.describe import describe
from lessons.positions import sinusoids
from lessons.widgets import PositionLab


@pytest.mark.parametrize("size", [(16, 8), (2, 2), (32, 24), (7, 5)])
@pytest.mark.parametrize("base", [10, 10000])
def test_the_table_is_that_of_the_package(size, base):
    lab = PositionLab(*size, base=base, first=0, second=1)
    torch.testing.assert_close(lab.table.float(), sinusoids(*size, base=base))
    torch.testing.assert_close(lab.products, lab.table @ lab.table[0])
    assert math.isclose(lab.product, float(lab.table[0] @ lab.table[1]))


def test_the_product_depends_on_the_distance_alone():
    lab = PositionLab(first=1, second=4)
    before = lab.product
    lab.first, lab.second = 9, 12
    assert math.isclose(lab.product, before)


def test_arrows_are_turned_by_their_positions():
    lab = PositionLab(first=3, second=5, pair=1)
    turned = [[math.cos(t / 10), math.sin(t / 10)] for t in (3, 5)]
    torch.testing.assert_close(lab.arrows, torch.tensor(turned, dtype=torch.float64))


def test_a_smaller_table_keeps_what_fits():
    lab = PositionLab(first=2, second=15, pair=3)
    lab.num_positions, lab.d_model = 6, 5
    assert (lab.first, lab.second, lab.pair) == (2, 5, 1)


BAD = {
    "positions": (lambda: PositionLab(1), "num_positions is 1; expected a whole number from 2 to 32"),
    "d_model": (lambda: PositionLab(d_model=25), "d_model is 25; expected a whole number from 2 to 24"),
    "base": (lambda: PositionLab(base=7), "base is 7; expected one of 10, 100, 1000, 10000"),
    "first": (lambda: setattr(PositionLab(), "first", 16), "first is 16; expected a whole number from 0 to 15"),
    "second": (lambda: PositionLab(second=-1), "second is -1; expected a whole number from 0 to 15"),
    "pair": (lambda: setattr(PositionLab(), "pair", 4), "pair is 4; expected a whole number from 0 to 3"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_words_and_figure():
    lab = PositionLab(first=0, second=1)
    assert repr(lab) == "PositionLab: 16 positions × 8 features, base 10000; positions 0 and 1: dot product 3.54"
    assert lab.lines()[1] == (
        "pair 0, rotated by rotary positions: the key is 57° ahead of the query, their dot product is 0.54"
    )
    table, curve = lab.figure().axes
    assert describe(table).startswith("sinusoids(16, 8), base 10000")
    assert "with position 0" in describe(curve)
