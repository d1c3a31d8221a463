"""The widgets' JavaScript alone in a browser: its numbers against torch, its marks, mouse and keyboard."""

import json
import math
import random

import pytest
import torch
from playwright.sync_api import expect

from lessons.widgets import MaskStudio
from lessons.widgets.mask_studio.constants import RULES
from lessons.widgets.shared import constants, rules
from tests.browser import bare

CASES = 200
SIZES = [(1, 1), (1, 64), (64, 1), (64, 64)]
READ = """part => [...document.querySelectorAll(`[data-part="${part}"] .hg-row`)].slice(1).map(
    row => [...row.querySelectorAll(".hg-cell")].map(cell => cell.dataset.value))"""
WORDS = {"Infinity": math.inf, "-Infinity": -math.inf}


@pytest.fixture
def shown(page):
    """A studio of four tokens, the last of them padding, on the page."""
    bare.show(page, MaskStudio(target="a b c <pad>"))
    return page


def numbers(page, part):
    return tensor(page.evaluate(READ, part))


def tensor(rows):
    return torch.tensor([[WORDS.get(x) or float(x) for x in row] for row in rows], dtype=torch.float64)


def random_studio(index):
    chance = random.Random(index)
    num_source, num_target = SIZES[index] if index < len(SIZES) else (chance.randint(1, 12), chance.randint(1, 12))
    source, target = (
        [chance.choice(["<pad>", "a", "b", "c"]) for _ in range(count)] for count in (num_source, num_target)
    )
    kind = constants.CROSS if index < len(SIZES) else chance.choice(constants.KINDS)
    queries, keys = (len(side) for side in rules.queries_and_keys(source, target, kind))
    generator = torch.Generator().manual_seed(index)
    scores = 4 * torch.randn(queries, keys, generator=generator, dtype=torch.float64)
    if index % 3 == 0:
        special = torch.tensor([math.inf, -math.inf, math.nan, 1e6, -1e12, 0.0])[index % 6 :]
        places = torch.rand(queries, keys, generator=generator) < 0.1
        drawn = torch.randint(len(special), (queries, keys), generator=generator)
        scores = torch.where(places, special[drawn].double(), scores)
    values = torch.randn(keys, 3, generator=generator, dtype=torch.float64)
    target = [chance.choice([token, "<bos>"]) for token in target]
    rule, size = RULES[index % len(RULES)], chance.randint(1, 5)
    studio = MaskStudio(source, target, kind=kind, scores=scores, values=values, rule=rule, size=size)
    studio.edits = [[q, k] for q in range(queries) for k in range(keys) if chance.random() < 0.3]
    if index % 2:
        row = chance.randrange(queries)  # a query that may attend to nothing
        studio.edits = rules.difference(studio.edits, [[row, k] for k in studio.allowed[row].nonzero()[:, 0].tolist()])
        assert row in studio.empty_rows
    return studio


PARTS = ["filled", "weights", "output"]
# A case with every fill.
CASE = f"""async () => {{
    const read = {READ};
    const drawn = [];
    for (const fill of {json.dumps(constants.FILLS)}) {{
        model.set("fill", fill);
        await null;
        drawn.push({PARTS}.map(read));
    }}
    return [drawn, read("allowed")];
}}"""


def test_drawn_numbers_are_those_of_torch(page):
    compared = {"Infinity": 0, "NaN": 0}
    studios = list(map(random_studio, range(CASES)))
    for index, (studio, (drawn, mask)) in enumerate(zip(studios, bare.draw_each(page, studios, CASE), strict=True)):
        for fill, matrices in zip(constants.FILLS, drawn):
            studio.fill = fill
            for part, rows in zip(PARTS, matrices):
                matrix, expected = tensor(rows), getattr(studio, part).double()
                close = torch.allclose(matrix, expected, rtol=1e-6, atol=1e-6, equal_nan=True)
                assert close, f"case {index}, {studio!r}, {part}"
                compared["NaN"] += int(matrix.isnan().sum())
                compared["Infinity"] += int(matrix.isinf().sum())
        assert torch.equal(tensor(mask).bool(), studio.allowed)
    assert min(compared.values()) > 100


def allowed(page):
    return numbers(page, "allowed").bool().tolist()


def last_sent(page):
    return page.evaluate("model.sent.at(-1)?.set")


def test_a_click_turns_a_cell_around_and_tells_python(shown):
    bare.cell(shown, "allowed", 0, 2).click()
    shown.evaluate("frame()")
    assert allowed(shown)[0] == [True, False, True, False]
    assert last_sent(shown) == {"edits": [[0, 2]], "history": [[[0, 2]]]}
    bare.cell(shown, "allowed", 0, 2).click()
    assert last_sent(shown) == {"edits": [], "history": [[[0, 2]], [[0, 2]]]}


def test_other_grids_cannot_be_changed(shown):
    for part in ("padding", "clicks", "weights", "filled", "output"):
        bare.cell(shown, part, 0, 1).click()
        shown.keyboard.press("Space")
    assert last_sent(shown) is None


def drag(page, start, *stops):
    for i, place in enumerate([start, *stops]):
        box = bare.cell(page, "allowed", *place).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if i == 0:
            page.mouse.down()
    page.mouse.up()
    page.evaluate("frame()")


def test_a_stroke_paints_what_its_first_cell_becomes(shown):
    drag(shown, (0, 1), (0, 3), (2, 3))  # fast: (0, 2) and (1, 3) are only passed
    assert allowed(shown) == [
        [True] * 4,
        [True, True, False, True],
        [True, True, True, True],
        [True, True, True, False],
    ]
    assert last_sent(shown)["history"] == [[[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]]]
    drag(shown, (0, 0), (0, 2), (1, 2))  # (1, 2) is blocked already
    assert allowed(shown)[:2] == [[False, False, False, True], [True, True, False, True]]
    shown.get_by_role("button", name="Undo").click()
    shown.evaluate("frame()")
    assert allowed(shown)[0] == [True] * 4


def test_a_finger_that_scrolls_the_page_changes_nothing(shown):
    """The browser takes the pointer away as soon as it scrolls."""
    before = allowed(shown)
    bare.cell(shown, "allowed", 1, 0).hover()
    shown.mouse.down()
    shown.evaluate("dispatchEvent(new PointerEvent('pointercancel'))")
    shown.mouse.up()
    shown.evaluate("frame()")
    assert allowed(shown) == before
    assert shown.evaluate("model.get('edits')") == []


def test_keys_move_and_change(shown):
    bare.cell(shown, "allowed", 0, 0).focus()
    ways = [
        ("ArrowRight", (0, 1)), ("ArrowDown", (1, 1)), ("End", (1, 3)), ("ArrowRight", (1, 3)), ("Home", (1, 0)),
        ("ArrowLeft", (1, 0)), ("ArrowUp", (0, 0)), ("ArrowUp", (0, 0)), ("Control+End", (3, 3)),
        ("Control+Home", (0, 0)),
    ]  # fmt: skip
    for key, (row, column) in ways:
        shown.keyboard.press(key)
        expect(bare.cell(shown, "allowed", row, column)).to_be_focused()
        expect(bare.cell(shown, "allowed", row, column)).to_have_attribute("data-lm-suppress-shortcuts", "true")
    shown.keyboard.press("Space")
    shown.keyboard.press("ArrowRight")
    shown.keyboard.press("Enter")
    shown.evaluate("frame()")
    assert allowed(shown)[0] == [False, True, False, False]
    shown.keyboard.press("Control+z")
    shown.keyboard.press("Control+z")
    shown.keyboard.press("Control+z")
    shown.evaluate("frame()")
    assert allowed(shown)[0] == [True, False, False, False]
    assert last_sent(shown) == {"edits": [], "history": []}


def test_each_grid_is_one_tab_stop(shown):
    for grid in shown.locator('[role="grid"]').all():
        assert grid.locator('[tabindex="0"]').count() == 1
    bare.cell(shown, "allowed", 0, 0).focus()
    for _ in ("Undo", "Reset", "what the mask says", "blocked scores become", "scores as filled"):
        shown.keyboard.press("Tab")
    expect(bare.cell(shown, "filled", 0, 0)).to_be_focused()


def test_reset_can_be_undone(shown):
    drag(shown, (0, 1), (0, 3))
    shown.get_by_role("button", name="Reset").click()
    shown.evaluate("frame()")
    assert allowed(shown)[0] == [True, False, False, False]
    expect(shown.get_by_role("button", name="Reset")).to_have_attribute("aria-disabled", "true")
    shown.get_by_role("button", name="Undo").click()
    shown.evaluate("frame()")
    assert allowed(shown)[0] == [True] * 4


def test_a_button_that_can_do_no_more_keeps_the_focus(shown):
    bare.cell(shown, "allowed", 0, 1).click()
    for name in ("Reset", "Undo"):
        button = shown.get_by_role("button", name=name)
        button.focus()
        for _ in range(3):
            shown.keyboard.press("Enter")
            shown.evaluate("frame()")
            expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-disabled", "true")
    assert last_sent(shown) == {"edits": [], "history": []}


def test_each_cell_says_where_it_is_and_what_it_holds(shown):
    labels = {
        ("allowed", 1, 0): "query 1 “b”, key 0 “a”: may attend, True",
        ("allowed", 1, 3): "query 1 “b”, key 3 “<pad>”: blocked, False",
        ("filled", 1, 3): "query 1 “b”, key 3 “<pad>”: blocked, score −∞",
        ("weights", 0, 0): "query 0 “a”, key 0 “a”: weight 1.00",
        ("weights", 0, 1): "query 0 “a”, key 1 “b”: blocked, weight 0",
        ("weights", 0, 4): "query 0 “a”, sum of the weights: 1.00",
        ("clicks", 0, 0): "query 0 “a”, key 0 “a”: not clicked",
        ("padding", 0, 3): "query 0 “a”, key 3 “<pad>”: blocked",
    }
    for place, label in labels.items():
        expect(bare.cell(shown, *place)).to_have_attribute("aria-label", label)
    assert shown.locator('[role="gridcell"]:not([aria-label])').count() == 0
    bare.cell(shown, "allowed", 0, 0).click()
    empty = "query 0 “a”, sum of the weights: 0.00, this query may attend to nothing"
    expect(bare.cell(shown, "weights", 0, 4)).to_have_attribute("aria-label", empty)
    expect(shown.locator('[role="status"]')).to_contain_text("Query 0 “a” may attend to nothing.")
    expect(shown.locator('[role="status"]')).to_contain_text("nn.MultiheadAttention gives NaN, or an output")


def test_other_names_leave_what_a_new_grid_would_be(page):
    """The cells of a grid that has as many are used again."""
    html = "[...document.querySelectorAll('.hg-grid')].map(grid => grid.outerHTML.replaceAll(' style=\"\"', ''))"
    one, other = (
        MaskStudio(source, target, "cross-attention")
        for source, target in (("le <pad> noir", "a b c d <pad>"), ("<pad> & blanc", "e f g h i"))
    )
    bare.show(page, one)
    page.evaluate("cell => { cell.id = 'kept'; }", page.locator(".hg-cell").first.element_handle())
    page.evaluate(
        "state => Object.entries(state).forEach(([name, value]) => model.set(name, value))", bare.state(other)
    )
    page.evaluate("frame()")
    page.evaluate("document.getElementById('kept').removeAttribute('id')")
    renamed = page.evaluate(html)
    bare.show(page, other)
    assert renamed == page.evaluate(html)


def test_marks_are_never_a_color_alone(page):
    scores = [[math.nan, math.inf, -math.inf], [1.0, 2.0, 3.0], [-0.001, 1234.0, 0.5]]
    studio = MaskStudio(target=3, scores=scores)
    studio.edits = [[0, 1], [0, 2]]
    bare.show(page, studio)
    texts = [bare.cell(page, "filled", 0, k).inner_text() for k in range(3)]
    assert texts == ["NaN", "∞", "−∞"]
    assert bare.cell(page, "filled", 1, 2).inner_text() == "−∞"
    assert bare.cell(page, "weights", 1, 2).inner_text() == "×"
    assert [bare.cell(page, "filled", 2, k).inner_text() for k in range(3)] == ["0.00", "1e3", "0.50"]
    assert "×" in bare.cell(page, "allowed", 1, 2).inner_text()
    for convention, (hidden, seen) in {
        "True = may attend": ("False", "True"),
        "True = blocked": ("True", "False"),
        "additive 0, −∞": ("−∞", "0"),
    }.items():
        page.evaluate("name => { model.set('convention', name); return frame(); }", convention)
        assert bare.cell(page, "allowed", 1, 2).inner_text().split() == ["×", hidden]
        assert bare.cell(page, "allowed", 1, 1).inner_text() == seen


def test_colors_can_be_read(page):
    worst = page.evaluate("""() => {
        const light = (hex) => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
            .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
            .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
        let worst = 21;
        for (const stops of [constants.WEIGHTS, constants.SIGNED]) for (let i = 0; i <= 1000; i++) {
            const ground = palette.mixColor(stops, i / 1000);
            const [a, b] = [light(ground), light(palette.inkOn(ground))].sort((x, y) => y - x);
            worst = Math.min(worst, (a + 0.05) / (b + 0.05));
        }
        return worst;
    }""")
    assert worst >= 4.5


def test_the_same_query_and_key_are_framed_in_all_panels(shown):
    bare.cell(shown, "weights", 2, 1).hover()
    framed = "part => document.querySelectorAll(`[data-part='${part}'] .hg-band:not([hidden])`).length"
    assert [shown.evaluate(framed, part) for part in ("allowed", "filled", "weights", "values", "output")] == [
        2,
        2,
        2,
        1,
        1,
    ]
    expect(shown.locator('[data-part="readout"]')).to_contain_text("Query 2 “c” may attend to key 1 “b”")
    shown.mouse.move(0, 0)
    assert shown.evaluate(framed, "allowed") == 0


def test_what_a_finger_taps_stays_read_out_until_the_focus_goes(touched):
    bare.show(touched, MaskStudio(target="a b c <pad>"))
    readout = touched.locator('[data-part="readout"]')
    bare.cell(touched, "weights", 2, 1).tap()
    expect(readout).to_contain_text("Query 2 “c” may attend to key 1 “b”")
    expect(touched.locator('[data-part="weights"] .hg-across')).to_be_visible()
    touched.evaluate("document.activeElement.blur()")
    expect(readout).to_contain_text("Point at a cell")


def test_two_views_of_one_model_show_the_same(shown):
    shown.evaluate("""async () => {
        const { render } = (await import("./mask_studio/view.js")).default;
        const second = document.createElement("div");
        second.id = "second";
        document.body.append(second);
        render({ model, el: second });
    }""")
    shown.locator("#here").locator('[data-part="allowed"] [data-at="0,2"]').click()
    expect(shown.locator("#second").locator('[data-part="allowed"] [data-at="0,2"]')).to_have_attribute(
        "data-value", "1"
    )


def test_waits_for_scores_of_a_new_size(shown):
    box = shown.locator('[data-part="target"]')
    box.fill("a b c d e f")
    box.press("Enter")
    expect(shown.locator('[role="status"]')).to_contain_text("Waiting for Python")
    box.fill(" ")
    box.press("Enter")
    expect(shown.locator('[role="status"]')).to_contain_text("it needs 1 to 64")


@pytest.mark.parametrize("ends", bare.ENDS_COMPOSITION)
def test_the_enter_that_ends_a_composition_does_not_end_the_sentence(shown, ends):
    box = shown.locator('[data-part="target"]')
    box.fill("a b c tea cher")
    box.dispatch_event("keydown", {"key": "Enter", **ends})
    assert last_sent(shown) is None
    box.press("Enter")
    assert last_sent(shown)["target"] == ["a", "b", "c", "tea", "cher"]


def test_a_view_that_is_closed_lets_go(shown):
    shown.evaluate("stop()")
    assert shown.evaluate("Object.values(model.handlers).flat().length") == 0
    assert shown.locator(".lw").count() == 0
    shown.evaluate("window.stop = null")


def test_a_thousand_random_steps(page):
    chance = random.Random(0)
    studio = MaskStudio(7, 6)
    bare.show(page, studio)
    keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "Space", "Enter", "Control+z", "Tab"]
    touchable = (
        '[data-part="allowed"] [data-at], [data-part="clicks"] [data-at], [data-part="weights"] [data-at], .lw button'
    )
    options = [(name, value) for name in ("fill", "convention") for value in getattr(constants, f"{name.upper()}S")]
    for step in range(40):
        bare.act(page, chance, touchable, keys, 23)
        page.evaluate("([name, value]) => model.set(name, value)", chance.choice(options))
        if step % 4 == 0:
            row, column = chance.randrange(6), chance.randrange(6)
            bare.cell(page, chance.choice(["allowed", "filled", "weights"]), row, column).click(force=True)
            bare.drag(page, chance)
    page.evaluate("frame()")
    studio.edits = page.evaluate("model.get('edits')")
    studio.fill = page.evaluate("model.get('fill')")
    assert page.evaluate("model.sent.length") > 50
    assert torch.equal(numbers(page, "allowed").bool(), studio.allowed)
    torch.testing.assert_close(numbers(page, "weights").float(), studio.weights)
