"""ScalingLab's JavaScript in a bare page: its numbers against torch, its controls, labels and charts."""

import math
import random
import re

import pytest
import torch
from playwright.sync_api import expect

from lessons.widgets import ScalingLab
from tests.browser import bare

CASES = 200
NEW_PAIRS = 15  # so many of the cases draw queries and keys of their own: that takes long
COLUMN = """part => [...document.querySelectorAll(`[data-part="${part}"] .hg-cell`)].map(
    cell => Number(cell.dataset.value))"""
TILE = 'part => Number(document.querySelector(`[data-part="${part}"]`).dataset.value)'
TABLE = """() => [...document.querySelectorAll('[data-part="table"] tr')].slice(1).map(
    row => [...row.querySelectorAll("td")].map(cell => Number(cell.dataset.value)))"""
COLUMNS = ["scores", "weights", "jacobian"]
TILES = ["entropy", "largest", "by-scores", "by-query"]
CASE = f"""() => [{COLUMNS}.map({COLUMN}), {TILES}.map({TILE}), ({TABLE})(), document.querySelector(".lw").innerText]"""


@pytest.fixture
def shown(page):
    bare.show(page, ScalingLab(16, 4, scaled=False))
    return page


def random_lab(index):
    chance = random.Random(index)
    options = {"scaled": chance.random() < 0.5, "temperature": chance.choice([0.125, 0.25, 0.3, 0.5, 1, 2, 4, 8])}
    if index < NEW_PAIRS:
        d = chance.choice([1, 2, 3, 64, 100, 512, 1024])
        return ScalingLab(
            d, chance.choice([1, 2, 8, 16]), seed=chance.randrange(2**31), query=chance.randrange(100), **options
        )
    d, queries, keys = (chance.randint(1, most) for most in (33, 6, 16))
    generator = torch.Generator().manual_seed(index)
    size = chance.choice([0, 1e-3, 1, 1, 1, 30, 1e6]) if index > NEW_PAIRS else 1
    q, k = (torch.randn(rows, d, generator=generator).clamp(-1, 1) * size for rows in (queries, keys))
    if index % 3 == 0:
        k[-1] = k[0]  # two keys with the same score
    q = q if index % 2 else q.double()
    return ScalingLab(q=q, k=k.to(q.dtype), query=chance.randrange(queries), **options)


def close(drawn, expected, label):
    drawn, expected = (torch.as_tensor(x, dtype=torch.float64).flatten() for x in (drawn, expected))
    assert drawn.shape == expected.shape, label
    assert torch.allclose(drawn, expected, rtol=1e-6, atol=1e-6), f"{label}: {drawn} {expected}"


def test_drawn_numbers_are_those_of_torch(page):
    one_hot = 0
    labs = list(map(random_lab, range(CASES)))
    for index, (lab, (columns, tiles, table, text)) in enumerate(
        zip(labs, bare.draw_each(page, labs, CASE), strict=True)
    ):
        label = f"case {index}, {lab!r}"
        for name, drawn, expected in zip(COLUMNS, columns, (lab.scores, lab.weights, lab.jacobian), strict=True):
            close(drawn, expected, f"{label}, {name}")
        sizes = lab.entropy, lab.weights.max(), lab.jacobian.square().sum().sqrt(), lab.gradient_size
        for name, drawn, expected in zip(TILES, tiles, sizes, strict=True):
            close(drawn, expected, f"{label}, {name}")
        curves = [line for both in lab.curves().values() for line in both.values()]
        close(table[:4], curves[:4], f"{label}, curves")
        close(table[4:], curves[4:], f"{label}, stuck")
        one_hot += lab.weights.max().item() == 1 and lab.num_keys > 1
        assert not re.search(r"NaN|undefined|Infinity|−0\.00\b", text), label
    assert one_hot > 10


def test_the_histogram_counts_all_scores(page):
    lab = ScalingLab(1024, 16, scaled=False)
    bare.show(page, lab)
    counts = page.locator('[data-part="histogram"] rect').evaluate_all("all => all.map(x => Number(x.dataset.value))")
    inside = (lab.all_scores >= -32) & (lab.all_scores < 32)
    assert sum(counts) == int(inside.sum())
    drawn = page.locator('[data-part="histogram"]').inner_text()
    assert f"± one standard deviation: {lab.all_scores.std(correction=0):.2f}" in drawn
    for share, sign in ((lab.all_scores < -32, "◂"), (lab.all_scores >= 32, "▸")):
        assert f"{100 * share.double().mean():.0f} %" in drawn and sign in drawn
    assert "√d = 32.00" in page.locator('[data-part="histogram-title"]').inner_text()
    label = page.locator('[data-part="histogram"] svg').get_attribute("aria-label")
    assert f"{100 * (lab.all_scores.abs() <= 16).double().mean():.0f} % within ±16" in label


def last_sent(page):
    return page.evaluate("model.sent.at(-1)?.set")


def press(page, part, key):
    page.locator(f'[data-part="{part}"]').focus()
    page.keyboard.press(key)


def test_d_moves_by_powers_of_two(shown):
    press(shown, "d", "ArrowRight")
    assert last_sent(shown) == {"d": 32}
    shown.evaluate("frame()")
    expect(shown.locator('[data-part="d-shown"]')).to_have_text("32")
    close(shown.evaluate(COLUMN, "scores"), ScalingLab(32, 4, scaled=False).scores, "scores")
    for key, expected in (("End", 1024), ("Home", 1)):
        press(shown, "d", key)
        assert last_sent(shown) == {"d": expected}
        assert shown.locator('[data-part="d"]').evaluate("e => e.value") == {1024: "10", 1: "0"}[expected]
    shown.evaluate("frame()")
    assert shown.locator('[data-part="d"]').get_attribute("aria-valuetext") == "1"


def test_temperature_moves_by_powers_of_two(shown):
    press(shown, "temperature", "ArrowLeft")
    assert last_sent(shown) == {"temperature": 0.5}
    shown.evaluate("frame()")
    expect(shown.locator('[data-part="formula"]')).to_have_text("scores = q·k / 0.5")
    press(shown, "temperature", "End")
    assert last_sent(shown) == {"temperature": 8}
    shown.locator('[data-part="scaled"]').check()
    shown.evaluate("frame()")
    expect(shown.locator('[data-part="formula"]')).to_have_text("scores = q·k / (√16 × 8) = q·k / 32")
    lab = ScalingLab(16, 4, temperature=8)
    close(shown.evaluate(COLUMN, "weights"), lab.weights, "weights")
    close(shown.evaluate(TABLE)[0], lab.curves()["entropy"]["not scaled"], "curve")


def test_a_value_between_the_steps_is_kept_until_the_slider_is_moved(page):
    bare.show(page, ScalingLab(100, temperature=0.3))
    expect(page.locator('[data-part="d-shown"]')).to_have_text("100")
    expect(page.locator('[data-part="temperature-shown"]')).to_have_text("0.3")
    assert page.evaluate("model.sent") == []
    press(page, "d", "ArrowLeft")
    assert last_sent(page) == {"d": 64}


def test_each_control_answers_within_one_frame(shown):
    for part, key, trait in (
        ("d", "ArrowRight", "d"),
        ("num_keys", "ArrowRight", "num_keys"),
        ("query", "End", "query"),
    ):
        before = shown.evaluate(COLUMN, "scores")
        shown.locator(f'[data-part="{part}"]').focus()
        shown.keyboard.press(key)
        after = shown.evaluate(f"() => new Promise(done => requestAnimationFrame(() => done(({COLUMN})('scores'))))")
        assert trait in last_sent(shown) and before != after


def test_another_draw_is_another_seed(shown):
    widget = ScalingLab(16, 4, scaled=False)
    shown.get_by_role("button", name="Another draw").click()
    shown.evaluate("frame()")
    assert last_sent(shown) == {"seed": 2}
    bare.deliver(shown, widget)
    close(shown.evaluate(COLUMN, "scores"), widget.scores, "scores")


def test_own_vectors_limit_the_controls(page):
    widget = ScalingLab(512, 8, query=90)
    bare.show(page, widget)
    widget.use([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]], [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    for name, value in bare.state(widget).items():  # one after the other, as Jupyter sends them
        page.evaluate("([name, value]) => { model.set(name, value); return frame(); }", [name, value])
    assert page.locator('[data-part="again"]').is_disabled()
    for part, most in (("d", "2"), ("num_keys", "2"), ("query", "1")):
        assert page.locator(f'[data-part="{part}"]').get_attribute("max") == most
    close(page.evaluate(COLUMN, "scores"), widget.scores, "scores")
    press(page, "d", "Home")
    assert last_sent(page) == {"d": 1}
    widget.use()
    widget.query = 99
    for name, value in bare.state(widget).items():
        page.evaluate("([name, value]) => { model.set(name, value); return frame(); }", [name, value])
    assert page.locator('[data-part="query"]').evaluate("e => [e.max, e.value]") == ["99", "99"]
    close(page.evaluate(COLUMN, "scores"), widget.scores, "scores")


def test_cells_say_what_they_are_and_what_they_do(shown):
    lab = ScalingLab(16, 4, scaled=False)
    weight, moved = f"{lab.weights[2].item():.2f}", f"{lab.jacobian[2, 1].item():.4f}".replace("-", "−")
    cell = bare.cell(shown, "weights", 2, 0)
    assert cell.get_attribute("aria-label") == f"key 2 “k2”, column 0 “q0”: weight {weight}"
    cell = bare.cell(shown, "jacobian", 2, 1)
    assert cell.get_attribute("aria-label").startswith("weight 2 “k2”, score 1 “k1”: ")
    cell.hover()
    readout = shown.locator('[data-part="readout"]')
    expect(readout).to_contain_text(f"A little more score for k1 moves this weight by {moved} times as much.")
    expect(shown.locator('[data-part="scores"] .hg-across')).to_be_visible()
    bare.cell(shown, "scores", 0, 0).focus()
    shown.keyboard.press("ArrowDown")
    expect(readout).to_have_text(re.compile(r"k1: score .* → weight \d\.\d{4}\."))


def test_pictures_say_their_numbers(shown):
    lab = ScalingLab(16, 4, scaled=False)
    charts = shown.locator(".lw svg[role=img]")
    assert charts.count() == 4
    bars = shown.locator('[data-part="bars"] svg').get_attribute("aria-label")
    assert ", ".join(f"k{i} {w:.2f}" for i, w in enumerate(lab.weights.tolist())) in bars
    curves = lab.curves()
    label = shown.locator('[data-part="entropies"] svg').get_attribute("aria-label")
    for name, line in curves["entropy"].items():
        assert f"{name}: d 1, {line[0]:.2f}; d 2, {line[1]:.2f}" in label
    assert f"Now: d 16, not scaled, {curves['entropy']['not scaled'][4]:.2f}." in label


def test_lines_differ_by_more_than_color(shown):
    for chart in ("entropies", "gradients"):
        part = shown.locator(f'[data-part="{chart}"]')
        dashes = [
            part.locator(f".{kind} polyline").evaluate("e => getComputedStyle(e).strokeDasharray")
            for kind in ("sl-plain", "sl-scaled")
        ]
        assert dashes[0] != "none" and dashes[1] == "none"
        assert part.locator(".sl-scaled circle").count() >= 10 and part.locator(".sl-plain circle").count() == 0


def test_what_lies_off_the_chart_is_marked_at_its_edge(page):
    bare.show(page, ScalingLab(1024, scaled=False, temperature=0.125))
    part = page.locator('[data-part="gradients"]')
    line = ScalingLab(temperature=0.125).curves()["gradient"]["not scaled"]
    assert part.locator(".sl-plain path").count() == sum(x < 1e-4 for x in line) > 3
    expect(part.locator(".sl-value")).to_have_text("under 0.0001")


def test_no_number_is_cut_off(page):
    for options in ({"d": 1024, "num_keys": 16, "scaled": False, "temperature": 0.125}, {"d": 4}):
        bare.show(page, ScalingLab(**options))
        room = page.locator(".lw .hg-cell span").evaluate_all(
            "all => all.map(x => x.parentElement.getBoundingClientRect().width - x.getBoundingClientRect().width)"
        )
        assert min(room) > 1


def test_bars_stand_beside_their_cells(page):
    for count in (1, 8, 16):
        bare.show(page, ScalingLab(64, count))
        bars = page.locator('[data-part="bars"] rect').all()
        assert len(bars) == count
        for i in {0, count - 1}:
            bar, cell = bars[i].bounding_box(), bare.cell(page, "weights", i, 0).bounding_box()
            assert math.isclose(bar["y"] + bar["height"] / 2, cell["y"] + cell["height"] / 2, abs_tol=1.5)


def test_small_entries_of_the_jacobian_have_no_strong_color(page):
    bare.show(page, ScalingLab(2, q=[30.0, 0.0], k=[[1.0, 0.0], [0.0, 0.0]]))
    grounds = page.locator('[data-part="jacobian"] .hg-cell').evaluate_all(
        "all => all.map(x => x.style.backgroundColor)"
    )
    assert set(grounds) == {"rgb(246, 246, 247)"}


def test_what_the_lesson_promises_is_seen(page):
    bare.show(page, ScalingLab(1, scaled=False))
    text = page.locator(".lw")
    seen = []
    for _ in range(11):
        page.evaluate("frame()")
        largest = page.locator('[data-part="largest"]')
        seen.append((page.evaluate(TILE, "largest") > 0.99, largest.inner_text().split()[:2]))
        press(page, "d", "ArrowRight")
    page.evaluate("frame()")
    assert [over for over, _ in seen] == [False] * 8 + [True, False, True]
    assert seen[8][1][1] != seen[9][1][1] and seen[9][1][0] == "0.98"
    expect(text).to_contain_text("± one standard deviation: 31.69")
    expect(text).to_contain_text("Queries that give over 99 % to a single key: 80 %.")
    assert max(map(abs, page.evaluate(COLUMN, "jacobian"))) < 0.005
    page.locator('[data-part="scaled"]').check()
    for words in ("± one standard deviation: 0.99", "1.81 nats", "0.37"):
        expect(text).to_contain_text(words)
    for _ in range(4):
        press(page, "d", "ArrowLeft")
    page.evaluate("frame()")
    divided = page.evaluate(COLUMN, "weights")
    page.locator('[data-part="scaled"]').uncheck()
    press(page, "temperature", "End")
    page.evaluate("frame()")
    assert page.evaluate(COLUMN, "weights") == divided
    page.locator('[data-part="scaled"]').check()
    expect(text).to_contain_text("scores = q·k / (√64 × 8) = q·k / 64")
    expect(page.locator('[data-part="entropy"]')).to_contain_text("2.07 nats")
    expect(page.locator('[data-part="by-scores"]')).to_contain_text("0.33")
    expect(page.locator('[data-part="by-query"]')).to_contain_text("0.0430")
