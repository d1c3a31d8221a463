"""ShapeTour alone in a browser: the numbers of every stop, mouse and keyboard."""

import torch
from playwright.sync_api import expect

from lessons.config import TransformerConfig
from lessons.transformer import Transformer
from lessons.widgets import ShapeTour
from tests.browser import bare

READ = """() => [...document.querySelectorAll('[data-part="grid"] .hg-row')].slice(1).map(
    row => [...row.querySelectorAll(".hg-cell")].map(cell => Number(cell.dataset.value)))"""


def deliver(page, tour):
    bare.deliver(page, tour)
    page.evaluate("frame()")


def test_every_stop_shows_the_tensor_of_the_model(page):
    tour = ShapeTour()
    bare.show(page, tour)
    for step, stop in enumerate(tour.stops):
        page.locator(f'[data-step="{step}"]').click()
        deliver(page, tour)
        for sentence in (1, 0):
            page.locator('[data-part="sentence"]').select_option(str(sentence))
            if stop.has_heads:
                page.locator('[data-part="head"]').select_option(str(sentence))
            deliver(page, tour)
            torch.testing.assert_close(
                torch.tensor(page.evaluate(READ), dtype=torch.float32), tour.matrix.float(), rtol=1e-6, atol=1e-6
            )
        shape = f"({', '.join(stop.axes.split())}) = ({', '.join(map(str, stop.tensor.shape))})"
        expect(page.locator('[data-part="shape"]')).to_contain_text(shape)
        expect(page.locator('[data-part="code"]')).to_have_text(stop.code)
        expect(page.locator(f'[data-step="{step}"]')).to_have_attribute("aria-current", "step")
        assert page.locator("[aria-current]").count() == 1


def test_on_a_phone_a_stop_is_seen_together_with_the_button_to_the_next(page):
    bare.show(page, ShapeTour())
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("document.querySelectorAll('h1, h2, h3').forEach(heading => heading.remove())")
    for part in ("next", "name", "grid"):
        expect(page.locator(f'[data-part="{part}"]')).to_be_in_viewport(ratio=1)


def test_keys_walk(page):
    tour = ShapeTour()
    bare.show(page, tour)
    page.locator('[data-step="0"]').focus()
    for key, step in [
        ("ArrowDown", 1),
        ("PageDown", 2),
        ("ArrowUp", 1),
        ("End", 17),
        ("PageDown", 17),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        page.keyboard.press(key)
        deliver(page, tour)
        assert tour.step == step, key
        expect(page.locator(f'[data-step="{step}"]')).to_be_focused()
    page.get_by_role("button", name="Next").click()
    page.evaluate("frame()")
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "true")
    deliver(page, tour)
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "false")
    assert tour.step == 1
    expect(page.locator('[data-part="place"]')).to_have_text("stop 2 of 18")
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("button", name="Back")).to_have_attribute("aria-disabled", "true")


def test_the_focus_stays_in_the_grid_though_the_next_tensor_is_of_another_kind(page):
    tour = ShapeTour()
    bare.show(page, tour)
    bare.cell(page, "grid", 0, 1).focus()
    for step in range(1, len(tour.stops)):
        page.keyboard.press("PageDown")
        deliver(page, tour)
        assert tour.step == step
        expect(page.locator('[data-part="grid"] :focus')).to_have_count(1)


def test_the_focus_stays_in_the_bar_though_a_stop_has_no_heads(page):
    tour = ShapeTour(step=2)
    bare.show(page, tour)
    page.locator('[data-part="head"]').focus()
    page.keyboard.press("PageUp")
    deliver(page, tour)
    expect(page.locator('[data-part="heads"]')).to_be_hidden()
    expect(page.locator('[data-part="sentence"]')).to_be_focused()


def test_ids_are_whole_and_weights_have_sums(page):
    tour = ShapeTour()
    bare.show(page, tour)
    expect(page.locator('[data-part="grid"] [data-at="0,0"]')).to_have_text(str(tour.stops[0].tensor[0, 0].item()))
    page.locator('[data-step="2"]').click()
    deliver(page, tour)
    expect(page.locator('[data-part="grid"] .hg-sum').first).to_have_text("1.00")
    expect(page.locator('[data-part="heads"]')).to_be_visible()


def test_the_sum_of_a_row_is_that_of_all_its_columns(page):
    config = TransformerConfig(8, 40, d_model=12, num_heads=3, num_layers=1, d_ff=8, dropout=0.0)
    ids = torch.tensor([[1, 2, 3]])
    tour = ShapeTour(Transformer(config).eval(), ids, ids)
    tour.step = len(tour.stops) - 1
    bare.show(page, tour)
    sums = page.locator('[data-part="grid"] .hg-sum')
    expect(sums).to_have_text(["1.00"] * 3)
    expect(sums.first).to_have_attribute("aria-label", "target 0 “1”, sum of the weights: 1.00")
