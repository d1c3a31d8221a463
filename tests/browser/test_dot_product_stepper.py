"""DotProductStepper alone in a browser: its numbers and words against Python, mouse, keyboard and marks."""

import math
import random

import pytest
import torch
from playwright.sync_api import expect

from lessons.widgets import DotProductStepper
from lessons.widgets.dot_product_stepper import steps
from tests.browser import bare

CASES = 200
LAST = len(steps.TITLES) - 1
READ = """() => {
    const read = part => [...document.querySelectorAll(`[data-part="${part}"] .hg-row`)].slice(1).map(
        row => [...row.querySelectorAll(".hg-cell")].map(cell => cell.dataset.value));
    const list = document.querySelectorAll(".ds-steps button");
    return { table: read("table"), bench: read("bench"),
        numbers: [...list].map(x => x.querySelector(".ds-numbers").textContent),
        text: [...list].map(x => x.querySelector(".ds-text").textContent).join(""),
        status: document.querySelector("[role=status]").textContent };
}"""
WORDS = {"Infinity": math.inf, "-Infinity": -math.inf}
# At its step, and at the last one.
CASE = f"""async () => {{
    const read = {READ};
    const first = read();
    model.set("step", {LAST});
    await null;
    return [first, read()];
}}"""
STEP_BY_STEP = "step => { model.set('step', step); return frame(); }"


@pytest.fixture
def shown(page):
    """The example with a causal mask, at its first step."""
    bare.show(page, DotProductStepper(allowed=torch.ones(4, 4).tril().bool()))
    return page


def tensor(rows):
    return torch.tensor([[WORDS.get(x) or float(x) for x in row] for row in rows], dtype=torch.float64)


def random_stepper(index):
    chance = random.Random(index)
    most = 1 if not index else 6 if index % 8 else 12
    queries, keys, size, values = (chance.randint(1, most) for _ in range(4))
    generator = torch.Generator().manual_seed(index)
    double = {"generator": generator, "dtype": torch.float64}
    q, k, v = (torch.randn(*shape, **double) for shape in [(queries, size), (keys, size), (keys, values)])
    if index % 5 == 0:
        k *= 400  # e to the power does not fit
    if index % 3 == 0:
        for matrix in (q, k, v):
            place = tuple(chance.randrange(length) for length in matrix.shape)
            matrix[place] = chance.choice([math.inf, -math.inf, math.nan, 1e6, 0.0, -1e-9])
    allowed = torch.rand(queries, keys, generator=generator) < 0.7
    row, column = chance.randrange(queries), chance.randrange(keys)
    if index % 4 == 1:
        allowed[row] = False
    allowed = None if index % 4 == 2 else allowed
    tokens = [chance.choice(["a", "two words", '<b>&"', "a token that is long"]) for _ in range(queries)]
    options = {"query_tokens": tokens, "row": row, "column": column, "scaled": index % 7 > 0}
    return DotProductStepper(q, k, v, allowed, step=index % LAST, **options)


def test_numbers_are_those_of_torch_and_words_those_of_python(page):
    found = {"NaN": 0, "infinite": 0, "empty": 0}
    widgets = list(map(random_stepper, range(CASES)))
    for index, (widget, both) in enumerate(zip(widgets, bare.draw_each(page, widgets, CASE), strict=True)):
        tables = [widget.scores, widget.scaled_scores, widget.masked, widget.exponentials, *[widget.weights] * 3]
        said = widget.steps()
        for step, drawn in zip((widget.step, LAST), both, strict=True):
            widget.step = step
            label = f"case {index}, step {step}, {widget!r}"
            for part, expected in {"table": tables[step], "bench": widget.panels()[1].values}.items():
                close = torch.allclose(tensor(drawn[part]), expected.double(), rtol=1e-6, atol=1e-6, equal_nan=True)
                assert close, f"{label}, {part}"
            assert drawn["numbers"][: step + 1] == [line[2] for line in said[: step + 1]], label
            assert drawn["text"] == said[step][1], label
            assert drawn["status"] == widget.note(), label
        found["NaN"] += int(widget.weights.isnan().any())
        found["infinite"] += int(widget.exponentials.isinf().any())
        found["empty"] += len(widget.empty_rows)
    assert min(found.values()) > 10, found


def test_numbers_are_written_as_in_python(page):
    chance = random.Random(0)
    given = [chance.uniform(-10, 10) * 10 ** chance.randint(-8, 8) for _ in range(2000)]
    given += [n / 16 for n in range(-64, 64)] + [n / 10 * (m / 10) for n in range(30) for m in range(30)]
    written = page.evaluate(
        "given => import('./dot_product_stepper/steps.js').then(({ short }) => given.map(short))", given
    )
    assert written == [steps.short(x) for x in given]


def sent(page):
    return page.evaluate("model.sent.map(message => message.set)")


def present(page):
    page.evaluate("frame()")
    return page.evaluate("model.get('step')")


def test_a_click_chooses_a_cell(shown):
    bare.cell(shown, "table", 2, 1).click()
    shown.evaluate("frame()")
    assert sent(shown) == [{"row": 2, "column": 1}]
    expect(bare.cell(shown, "table", 2, 1)).to_have_attribute("aria-selected", "true")
    assert shown.locator("[aria-selected]").count() == 1
    expect(shown.locator(".ds-present")).to_contain_text("Multiply the query of “sat” and the key of “cat”")
    bare.cell(shown, "bench", 1, 1).click()
    bare.cell(shown, "table", 2, 1).click()
    assert len(sent(shown)) == 1


def test_arrow_keys_choose_a_cell(shown):
    shown.locator('[data-part="table"] [tabindex="0"]').focus()
    for key in ["ArrowUp", "ArrowLeft", "Home", "Control+End"]:
        shown.keyboard.press(key)
    places = [(0, 3), (0, 2), (0, 0), (3, 3)]
    assert sent(shown) == [{"row": row, "column": column} for row, column in places]
    shown.evaluate("frame()")
    expect(bare.cell(shown, "table", 3, 3)).to_be_focused()
    expect(bare.cell(shown, "table", 3, 3)).to_have_attribute("aria-selected", "true")


def test_the_chosen_row_and_column_are_framed(shown):
    places = """part => [...document.querySelectorAll(`[data-part='${part}'] .hg-band`)].map(
        band => band.hidden ? null : band.className.includes("across") ? band.style.top : band.style.left)"""
    top, left = shown.evaluate(places, "table")
    assert top and left
    bare.cell(shown, "table", 2, 3).click()
    bare.cell(shown, "table", 2, 1).hover()
    shown.evaluate("frame()")
    now = shown.evaluate(places, "table")
    assert now[0] != top and now[1] == left
    shown.evaluate(STEP_BY_STEP, 4)
    assert [place is None for place in shown.evaluate(places, "bench")] == [True, False]  # the key's column
    shown.evaluate(STEP_BY_STEP, LAST)
    assert [place is None for place in shown.evaluate(places, "bench")] == [False, True]  # the output


def test_pointing_alone_chooses_nothing(shown):
    bare.cell(shown, "table", 2, 2).hover()
    shown.evaluate("frame()")
    assert sent(shown) == []
    expect(bare.cell(shown, "table", 1, 3)).to_have_attribute("aria-selected", "true")


def test_python_chooses_a_cell(shown):
    for name, place in {"row": (0, 3), "column": (0, 2)}.items():
        shown.evaluate(
            "([name, index]) => { model.set(name, index); return frame(); }", [name, place[name == "column"]]
        )
        expect(bare.cell(shown, "table", *place)).to_have_attribute("aria-selected", "true")
        expect(bare.cell(shown, "table", *place)).to_have_attribute("tabindex", "0")


def test_buttons_step_and_stop_at_the_ends(shown):
    back, following = (shown.locator(f'[data-part="{name}"]') for name in ("back", "next"))
    expect(back).to_have_attribute("aria-disabled", "true")
    back.click(force=True)  # does nothing, and keeps the focus
    assert sent(shown) == []
    for _ in range(LAST + 3):
        following.click(force=True)
    assert present(shown) == LAST and len(sent(shown)) == LAST
    expect(following).to_be_focused()
    expect(following).to_have_attribute("aria-disabled", "true")
    expect(shown.locator('[data-part="place"]')).to_have_text("step 7 of 7")
    back.click()
    assert present(shown) == LAST - 1


def test_keys_step(shown):
    shown.locator('[data-part="next"]').focus()
    for key, step in {"End": LAST, "Home": 0, "PageDown": 1, "Enter": 2, "PageUp": 1}.items():
        shown.keyboard.press(key)
        assert present(shown) == step, key
    shown.locator(".ds-present").focus()
    ways = [("ArrowDown", 2), ("ArrowRight", 3), ("ArrowUp", 2), ("ArrowLeft", 1), ("End", LAST), ("PageDown", LAST)]
    for key, step in ways:
        shown.keyboard.press(key)
        assert present(shown) == step, key
        expect(shown.locator(f'[data-step="{step}"]')).to_be_focused()
    bare.cell(shown, "table", 1, 3).focus()
    shown.keyboard.press("PageUp")
    assert present(shown) == LAST - 1
    expect(bare.cell(shown, "table", 1, 3)).to_be_focused()
    shown.keyboard.press("Home")
    assert present(shown) == LAST - 1 and shown.evaluate("model.get('column')") == 0


def test_a_click_in_the_list_goes_there(shown):
    shown.locator('[data-step="4"]').click()
    assert present(shown) == 4
    assert shown.locator("ol.ds-steps > li").count() == LAST + 1
    assert shown.locator("[aria-current]").count() == 1
    expect(shown.locator('[data-step="4"]')).to_have_attribute("aria-current", "step")
    assert shown.locator(".ds-steps [tabindex='0']").count() == 1


def test_the_present_step_is_marked_without_color(shown):
    before = "index => getComputedStyle(document.querySelector(`[data-step='${index}']`), '::before').content"
    assert "▸" in shown.evaluate(before, 0) and "▸" not in shown.evaluate(before, 1)
    expect(shown.locator('[data-step="0"] .ds-text')).not_to_be_empty()
    expect(shown.locator('[data-step="1"] .ds-text')).to_be_empty()


def test_what_is_to_come_is_not_told(shown):
    expect(shown.locator('[data-step="1"] .ds-numbers')).to_have_text("score / √d")
    shown.keyboard.press("Tab")
    shown.locator('[data-part="next"]').click()
    shown.evaluate("frame()")
    expect(shown.locator('[data-step="1"] .ds-numbers')).to_have_text("5 / √3 = 2.887")


def test_scaling_can_be_switched_off(shown):
    shown.evaluate(STEP_BY_STEP, 1)
    shown.locator('[data-part="scaled"]').click()
    shown.evaluate("frame()")
    assert sent(shown) == [{"scaled": False}]
    expect(bare.cell(shown, "table", 1, 3)).to_have_text("5.00")
    expect(shown.locator('[data-part="table"] h4')).to_have_text("scores, not scaled")


def test_the_whole_table_follows_and_says_what_it_shows(shown):
    marks = {
        0: ("scores = q kᵀ", "5.00", "query 1 “cat”, key 3 “down”: score 5.00"),
        1: ("scores / √3", "2.89", "query 1 “cat”, key 3 “down”: score 2.89"),
        2: ("masked scores", "−∞", "query 1 “cat”, key 3 “down”: blocked, score −∞"),
        3: ("e to the power", "×0", "query 1 “cat”, key 3 “down”: blocked, e to the power −∞ is 0"),
        4: ("weights", "×", "query 1 “cat”, key 3 “down”: blocked, weight 0"),
        6: ("weights", "×", "query 1 “cat”, key 3 “down”: blocked, weight 0"),
    }
    for step, (title, text, label) in marks.items():
        shown.evaluate(STEP_BY_STEP, step)
        assert bare.cell(shown, "table", 1, 3).text_content() == text
        expect(bare.cell(shown, "table", 1, 3)).to_have_attribute("aria-label", label)
        expect(bare.cell(shown, "table", 1, 3)).to_have_attribute("aria-selected", "true")
        expect(shown.get_by_role("grid", name=title, exact=True)).to_have_count(1)
    expect(bare.cell(shown, "bench", 4, 0)).to_have_attribute("aria-label", "row 4 “output”, feature 0 “0”: 1.72")


def test_no_number_is_cut_off(page):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (30 * torch.randn(12, 12, generator=generator) for _ in range(3))
    bare.show(page, DotProductStepper(q, k / 30, v, step=2))
    cut = """() => [...document.querySelectorAll(".hg-cell span")].filter(
        span => span.getBoundingClientRect().width > span.parentElement.getBoundingClientRect().width).length"""
    for step in (0, 2, LAST):
        page.evaluate(STEP_BY_STEP, step)
        assert page.evaluate(cut) == 0


def test_two_views_of_one_model_show_the_same(shown):
    shown.evaluate("""async () => {
        const { render } = (await import("./dot_product_stepper/view.js")).default;
        const second = document.createElement("div");
        second.id = "second";
        document.body.append(second);
        render({ model, el: second });
    }""")
    shown.locator("#here").locator('[data-part="next"]').click()
    expect(shown.locator('#second [data-part="place"]')).to_have_text("step 2 of 7")
