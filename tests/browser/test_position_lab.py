"""PositionLab alone in a browser: what it draws beside what torch computes, by mouse and by keyboard."""

import random

import torch
from playwright.sync_api import expect

from lessons.widgets import PositionLab
from tests.browser import bare

CASES = 200
TABLE = """() => [...document.querySelectorAll('[data-part="table"] .hg-row')].slice(1).map(
    row => [...row.querySelectorAll(".hg-cell")].map(cell => Number(cell.dataset.value)))"""
CURVE = "() => [...document.querySelectorAll('[data-part=curve] [data-position]')].map(x => Number(x.dataset.value))"
ARROWS = "() => [...document.querySelectorAll('[data-part=arrows] g')].map(x => [x.dataset.x, x.dataset.y].map(Number))"
CASE = f"() => [{TABLE}, {CURVE}, {ARROWS}].map(read => read())"


def random_labs():
    chance = random.Random(0)
    for case in range(CASES):
        count, size = [(2, 2), (32, 24), (3, 3)][case] if case < 3 else (chance.randint(2, 32), chance.randint(2, 24))
        first, second = chance.randrange(count), chance.randrange(count)
        base, pair = chance.choice([10, 100, 1000, 10000]), chance.randrange(size // 2)
        yield PositionLab(count, size, base, first=first, second=second, pair=pair)


def test_drawn_numbers_are_those_of_torch(page):
    labs = list(random_labs())
    for lab, drawn in zip(labs, bare.draw_each(page, labs, CASE), strict=True):
        for found, right in zip(drawn, (lab.table, lab.products, lab.arrows), strict=True):
            found = torch.tensor(found, dtype=torch.float64)
            torch.testing.assert_close(found, right, rtol=1e-6, atol=1e-6, msg=repr(lab))


def set_slider(page, name, key, times):
    page.locator(f'[data-part="{name}"]').focus()
    for _ in range(times):
        page.keyboard.press(key)


def test_a_click_or_space_chooses_the_second_position_and_the_pair(page):
    lab = PositionLab()
    bare.show(page, lab)
    bare.cell(page, "table", 9, 5).click()
    bare.deliver(page, lab)
    assert (lab.first, lab.second, lab.pair) == (2, 9, 2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    bare.deliver(page, lab)
    assert lab.second == 10
    expect(page.locator('[data-part="readout"]')).to_contain_text(
        f"Positions 2 and 10, 8 apart: dot product {lab.product:.4f}"
    )


def test_sliders_by_keyboard_and_a_smaller_table(page):
    lab = PositionLab(second=15, pair=3)
    bare.show(page, lab)
    set_slider(page, "num_positions", "ArrowLeft", 6)
    set_slider(page, "d_model", "ArrowLeft", 3)
    page.locator('[data-part="base"]').select_option("100")
    bare.deliver(page, lab)
    page.evaluate("frame()")
    assert (lab.num_positions, lab.d_model, lab.base, lab.second, lab.pair) == (10, 5, 100, 9, 1)
    expect(page.locator('[data-part="readout"]')).to_contain_text("With an odd D")
    drawn = torch.tensor(page.evaluate(TABLE), dtype=torch.float64)
    torch.testing.assert_close(drawn, lab.table)


def test_charts_are_said_in_words(page):
    lab = PositionLab()
    bare.show(page, lab)
    expect(page.locator('[data-part="curve"] svg')).to_have_attribute(
        "aria-label", f"Dot product of position 2 with every position; with position 5 it is {lab.product:.2f}."
    )
    expect(page.locator('[data-part="arrows"] svg')).to_have_attribute(
        "aria-label", "Pair 0: a query at position 2 and a key at position 5, both rotated; 172 degrees between them."
    )
