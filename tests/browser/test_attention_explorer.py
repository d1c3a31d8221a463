"""AttentionExplorer alone in a browser: numbers and lines as Python has them, mouse, keyboard, many tokens."""

import math
import random

import pytest
import torch
from playwright.sync_api import expect

from lessons.widgets import AttentionExplorer
from tests.browser import bare

CASES = 200
READ = """() => [...document.querySelectorAll('[data-part="grid"] .hg-row')].slice(1).map(
    row => [...row.querySelectorAll(".hg-cell")].map(cell => cell.dataset.value))"""
LINES = "() => [...document.querySelectorAll('.ax-lines line')].map(line => ({...line.dataset}))"
CASE = f"() => [{READ}, {LINES}].map(read => read())"
WORDS = {"Infinity": math.inf, "-Infinity": -math.inf}


def shown(page, widget):
    bare.show(page, widget)
    return page


def deliver(page, widget):
    bare.deliver(page, widget)
    page.evaluate("frame()")


def random_explorer(index):
    chance = random.Random(index)
    sizes = [(1, 1, 1), (2, 1, 32), (1, 32, 32)]
    heads, queries, keys = sizes[index] if index < 3 else (chance.randint(1, 5), *chance.choices(range(1, 13), k=2))
    generator = torch.Generator().manual_seed(index)
    weights = (3 * torch.randn(heads, queries, keys, generator=generator)).softmax(dim=-1)
    if index % 4 == 0:
        special = torch.tensor([math.nan, math.inf, -0.5, 2.0, 0.0])  # −inf is refused
        drawn = special[torch.randint(5, weights.shape, generator=generator)]
        weights = torch.where(torch.rand(weights.shape, generator=generator) < 0.1, drawn, weights)
    tokens = [chance.choice(["a", "<b>&", '"', "<pad>", "longer than most"]) for _ in range(max(queries, keys))]
    widget = AttentionExplorer(weights, query_tokens=tokens[:queries], key_tokens=tokens[:keys])
    widget.head = index % (widget.maps["heads"] + 1) - 1
    widget.query = index % len(widget.query_tokens)
    return widget


def test_drawn_numbers_are_those_of_torch(page):
    widgets = list(map(random_explorer, range(CASES)))
    for index, (widget, (rows, lines)) in enumerate(zip(widgets, bare.draw_each(page, widgets, CASE), strict=True)):
        drawn = torch.tensor([[WORDS.get(x) or float(x) for x in row] for row in rows])
        assert torch.allclose(drawn, widget.weights, rtol=1e-6, atol=1e-6, equal_nan=True), f"case {index}"
        row = widget.weights[widget.query]
        lines = {int(line["key"]): float(line["value"]) for line in lines}
        assert set(lines) == set((row >= 0.02).nonzero()[:, 0].tolist()), f"case {index}"
        assert all(math.isclose(w, float(row[k]), rel_tol=1e-6) for k, w in lines.items())


def test_small_maps_change_the_head_by_mouse_and_keys(page):
    widget = AttentionExplorer()
    heads = shown(page, widget).get_by_role("radio")
    expect(heads).to_have_count(5)
    expect(heads.nth(1)).to_have_attribute("aria-checked", "true")
    heads.nth(3).click()
    deliver(page, widget)
    assert widget.head == 2
    expect(page.locator('[data-part="grid"] h4')).to_have_text("layer 0, head 2")
    for key, head in [
        ("ArrowRight", 3),
        ("ArrowRight", 3),
        ("Home", -1),
        ("ArrowLeft", -1),
        ("1", 1),
        ("9", 3),
        ("ArrowUp", 2),
    ]:
        page.keyboard.press(key)
        deliver(page, widget)
        assert widget.head == head, key
        expect(heads.nth(head + 1)).to_be_focused()
    assert widget.head == 2


def test_layers_sentences_and_hidden_tokens(page):
    weights = torch.rand(3, 2, 2, 4, 4, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    widget = AttentionExplorer(weights, [["a", "b", "c", "<pad>"], ["x", "y", "z", "<pad>"]])
    shown(page, widget).locator('[role="radio"]').nth(1).focus()
    page.keyboard.press("PageDown")
    page.evaluate("frame()")
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "true")
    deliver(page, widget)
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "false")
    assert widget.layer == 1
    page.locator('[data-part="layer"]').select_option("layer 2")
    page.locator('[data-part="sentence"]').select_option("1")
    page.get_by_label("hide special tokens").check()
    deliver(page, widget)
    assert (widget.layer, widget.sentence, widget.hide_special) == (2, 1, True)
    expect(page.locator('[aria-label="queries"] [role="option"]')).to_have_text(["x", "y", "z"])
    drawn = torch.tensor([[float(x) for x in row] for row in page.evaluate(READ)])
    torch.testing.assert_close(drawn, weights[2, 1, 0, :3, :3])


def test_a_token_shows_its_lines_and_a_click_keeps_them(page):
    widget = AttentionExplorer(
        torch.tensor([[0.9, 0.09, 0.01], [0.2, 0.3, 0.5]]), query_tokens=["q", "r"], key_tokens=["x", "y", "z"]
    )
    queries, keys = shown(page, widget).locator('[aria-label="queries"]'), page.locator('[aria-label="keys"]')
    assert len(page.evaluate(LINES)) == 5  # of all, but for the one of 0.01
    queries.get_by_text("q").hover()
    assert [(line["query"], line["key"]) for line in page.evaluate(LINES)] == [("0", "0"), ("0", "1")]
    expect(page.locator('[data-part="readout"]')).to_have_text("Query 0 “q” looks at 0 “x” 0.9000, 1 “y” 0.0900.")
    keys.get_by_text("z").hover()
    assert [(line["query"], line["key"]) for line in page.evaluate(LINES)] == [("1", "2")]
    expect(page.locator('[data-part="readout"]')).to_have_text("Key 2 “z” gets attention from 1 “r” 0.5000.")
    queries.get_by_text("r").click()
    page.mouse.move(5, 5)
    deliver(page, widget)
    assert widget.query == 1
    assert {line["query"] for line in page.evaluate(LINES)} == {"1"}
    queries.get_by_text("r").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    deliver(page, widget)
    assert widget.query == 0
    page.keyboard.press("ArrowRight")
    expect(keys.get_by_text("x")).to_be_focused()
    page.keyboard.press("End")
    expect(keys.get_by_text("z")).to_be_focused()


@pytest.mark.parametrize(
    "weights, said",
    [
        ([0.5, math.nan, 0.1, 0.2, 0.9, 0.7, 0.3], "4 “4” 0.9000, 5 “5” 0.7000, 0 “0” 0.5000, 6 “6” 0.3000"),
        ([math.nan, math.nan, 0.1, 0.2, 0.5, 0.9], "5 “5” 0.9000, 4 “4” 0.5000, 3 “3” 0.2000, 2 “2” 0.1000"),
    ],
)
def test_a_key_names_the_queries_that_look_most_at_it_whatever_has_nan(page, weights, said):
    widget = AttentionExplorer(torch.tensor(weights)[:, None], key_tokens=["x"])
    shown(page, widget).locator('[aria-label="keys"]').get_by_text("x").hover()
    expect(page.locator('[data-part="readout"]')).to_have_text(f"Key 0 “x” gets attention from {said}.")


def test_many_tokens_stay_fluid(page):
    weights = [
        torch.rand(1, 12, 128, 128, generator=torch.Generator().manual_seed(i)).softmax(dim=-1) for i in range(12)
    ]
    widget = AttentionExplorer(weights)
    shown(page, widget)
    canvas = page.locator('[data-part="large"] canvas')
    canvas.focus()
    for key in ["ArrowDown", "ArrowRight", "ArrowRight"]:
        page.keyboard.press(key)
    expect(canvas).to_have_attribute(
        "aria-label", f"layer 0, head 0, 128 × 128 weights; query 1 “1”, key 2 “2”: weight {widget.weights[1, 2]:.4f}"
    )
    page.keyboard.press("Control+End")
    expect(canvas).to_have_attribute(
        "aria-label",
        f"layer 0, head 0, 128 × 128 weights; query 127 “127”, key 127 “127”: weight {widget.weights[127, 127]:.4f}",
    )
    for head in range(12):
        page.get_by_role("radio").nth(head + 1).click()
        deliver(page, widget)
    assert widget.head == 11
    expect(canvas).to_have_attribute(
        "aria-label",
        f"layer 0, head 11, 128 × 128 weights; query 127 “127”, key 127 “127”: weight {widget.weights[127, 127]:.4f}",
    )
    assert page.evaluate("document.querySelectorAll('*').length") < 1000


def test_the_large_map_has_the_colors_of_its_weights(page):
    weights = torch.zeros(40, 50)
    weights[3, 7] = 1.0
    widget = AttentionExplorer(weights)
    shown(page, widget)
    canvas = page.locator('[data-part="large"] canvas')
    data = canvas.evaluate("canvas => [...canvas.getContext('2d').getImageData(0, 0, 50, 40).data]")
    pixels = torch.tensor(data).view(40, 50, 4)
    assert pixels[3, 7].tolist() == [0xFE, 0xE8, 0x38, 255]
    assert pixels[7, 3].tolist() == [0x00, 0x22, 0x4E, 255]
