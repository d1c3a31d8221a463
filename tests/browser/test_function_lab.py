"""FunctionLab in a browser: what is drawn is what Python and torch say, and what is clicked gets there."""

import math
import random

import torch
from playwright.sync_api import expect

from lessons.attention import attend, masked_softmax
from lessons.widgets import FunctionLab
from lessons.widgets.function_lab import widget as function_lab
from tests.browser import bare

CASES = 200
SIZES = [(1, 1), (1, 24), (24, 1), (24, 24)]
READ = """part => [...document.querySelectorAll(`[data-part="${part}"] .hg-row`)].slice(1).map(
    row => [...row.querySelectorAll(".hg-cell")].map(cell => cell.dataset.value))"""
WORDS = {"Infinity": math.inf, "-Infinity": -math.inf}
MARKED = """part => [...document.querySelectorAll(`[data-part="${part}"] .hg-row`)].slice(1).map(
    row => [...row.querySelectorAll(".hg-cell")].map(cell => cell.querySelector("b")?.textContent === "≠"))"""
PARTS = ["weights", "output", "reference", "right", "difference", "gap", "moves", "allowed"]
CASE = f"""() => {{
    const [read, marked] = [{READ}, {MARKED}];
    return [Object.fromEntries({PARTS}.map(part => [part, read(part)])), [marked("difference"), marked("gap")]];
}}"""


def after(scores, allowed):
    return scores.softmax(-1).masked_fill(~allowed, 0.0)


def right(scores, allowed):
    return masked_softmax(scores, allowed)


def numbers(page, part):
    return tensor(page.evaluate(READ, part))


def tensor(rows):
    return torch.tensor([[WORDS.get(x) or float(x) for x in row] for row in rows], dtype=torch.float64)


def flip(widget, page):
    """Let Python answer what was clicked."""
    bare.deliver(page, widget)
    page.evaluate("frame()")


def random_lab(index):
    chance = random.Random(index)
    queries, keys = SIZES[index] if index < len(SIZES) else (chance.randint(1, 12), chance.randint(1, 12))
    if index % 2 and index >= len(SIZES):
        keys = queries
    generator = torch.Generator().manual_seed(index)
    q, k, v = (torch.randn(*shape, generator=generator) for shape in [(queries, 4), (keys, 4), (keys, 2)])
    allowed = torch.rand(queries, keys, generator=generator) < 0.6
    allowed[chance.randrange(queries)] = False
    if index % 5 == 0:
        v[chance.randrange(keys)] = chance.choice([math.inf, -math.inf, math.nan, 1e6])
    if index % 7 == 0:
        q[chance.randrange(queries)] = chance.choice([math.inf, math.nan])
    special = torch.tensor([math.inf, -math.inf, math.nan, 0.0, -0.5, 7.0])
    places = torch.rand(queries, keys, generator=generator) < 0.15
    noise = special[torch.randint(len(special), (queries, keys), generator=generator)]

    def function(q, k, v, allowed):
        output, weights = attend(q, k, v, allowed)
        return 1.5 * output + 1e-7, torch.where(places, noise, weights)

    return FunctionLab(function, q=q, k=k, v=v, allowed=allowed)


def test_drawn_numbers_are_those_of_torch(page):
    seen = {"NaN": 0, "infinite": 0, "moved": 0}
    labs = list(map(random_lab, range(CASES)))
    for index, (lab, (rows, marks)) in enumerate(zip(labs, bare.draw_each(page, labs, CASE), strict=True)):
        expected = {"weights": lab.weights, "output": lab.output, "reference": lab.reference}
        expected |= {"right": lab.reference_output, "difference": lab.difference, "gap": lab.output_difference}
        for part, matrix in expected.items():
            drawn = tensor(rows[part])
            label = f"case {index}, {lab!r}, {part}"
            assert torch.allclose(drawn, matrix.double(), rtol=1e-6, atol=1e-6, equal_nan=True), label
            seen["NaN"] += int(drawn.isnan().sum())
            seen["infinite"] += int(drawn.isinf().sum())
        for marked, name in zip(marks, ("weights", "output"), strict=True):
            bits = "".join(str(int(x)) for row in marked for x in row)
            assert int(bits, 2) == int(lab.result[name]["differ"], 16), index
        if lab.result["moved"]:
            assert torch.equal(tensor(rows["moves"]).bool(), lab.influence)
            seen["moved"] += 1
        assert torch.equal(tensor(rows["allowed"]).bool(), lab.allowed)
    assert min(seen.values()) > 50, seen


def test_a_click_goes_to_python_and_its_answer_comes_back(page):
    lab = FunctionLab(after)
    bare.show(page, lab)
    page.evaluate("window.later = []; window.setTimeout = (act) => later.push(act)")
    bare.cell(page, "allowed", 0, 1).click()
    page.evaluate("frame()")
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "true")
    expect(page.locator('[data-part="verdict"]')).to_have_text(lab.verdict)  # what comes at once replaces it
    page.evaluate("later.pop()()")
    expect(page.locator('[data-part="verdict"]')).to_have_text("Waiting for Python …")
    expect(page.locator(".lw")).to_have_class("lw fl-waiting")
    assert page.evaluate("model.sent") == [{"set": {"mask": "11" + lab.mask[2:], "history": [[1]]}}]
    flip(lab, page)
    assert lab.allowed[0].tolist() == [True, True, False, False, False]
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".lw")).to_have_class("lw")
    expect(page.locator('[data-part="verdict"]')).to_have_text(lab.verdict)
    assert "9 of 9 hidden pairs" in lab.verdict
    assert torch.allclose(numbers(page, "weights").float(), lab.weights)
    assert torch.allclose(numbers(page, "reference").float(), lab.reference)


def test_old_numbers_stay_together_until_the_new_ones_come(page):
    lab = FunctionLab(after)
    bare.show(page, lab)
    before = [numbers(page, part) for part in ("weights", "reference", "difference")]
    bare.cell(page, "allowed", 0, 3).click()
    page.evaluate("frame()")
    for part, old in zip(("weights", "reference", "difference"), before):
        assert torch.equal(numbers(page, part), old)
    assert numbers(page, "allowed")[0, 3] == 1


def test_presets_undo_and_reset(page):
    lab = FunctionLab(right)
    bare.show(page, lab)
    start = lab.allowed
    page.get_by_role("button", name="one empty row").click()
    flip(lab, page)
    assert not lab.allowed[2].any()
    pressed = page.locator('[data-part="presets"] [aria-pressed="true"]')
    expect(pressed).to_have_text("one empty row")
    box = [bare.cell(page, "allowed", *at).bounding_box() for at in ((2, 0), (2, 3))]
    page.mouse.move(box[0]["x"] + 5, box[0]["y"] + 5)
    page.mouse.down()
    page.mouse.move(box[1]["x"] + 5, box[1]["y"] + 5)
    page.mouse.up()
    flip(lab, page)
    assert lab.allowed[2].tolist() == [True] * 4 + [False] and len(lab.history) == 2
    expect(pressed).to_have_count(0)
    page.get_by_role("button", name="Reset").click()
    flip(lab, page)
    assert torch.equal(lab.allowed, start)
    bare.cell(page, "allowed", 0, 0).focus()
    for _ in range(2):
        page.keyboard.press("Control+z")
    flip(lab, page)
    assert not lab.allowed[2].any() and lab.allowed[3].any()
    page.get_by_role("button", name="Undo").press("Enter")
    flip(lab, page)
    assert torch.equal(lab.allowed, start)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    for name in ("Undo", "Reset"):
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")
        page.get_by_role("button", name=name).press("Enter")
    assert page.evaluate("model.sent") == []


def test_keys_change_the_mask_and_no_other_grid(page):
    lab = FunctionLab(right)
    bare.show(page, lab)
    bare.cell(page, "allowed", 0, 0).focus()
    for key in ("ArrowRight", "Space", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    flip(lab, page)
    assert lab.allowed[:2].tolist() == [[True, True, False, False, False], [True, False, False, False, False]]
    for part in ("moves", "weights", "reference", "difference"):
        bare.cell(page, part, 0, 1).click()
        page.keyboard.press("Space")
    assert page.evaluate("model.sent") == []


def test_another_function_is_chosen_and_a_new_one_arrives(page):
    lab = FunctionLab({"after <b>": after, "right": right})
    bare.show(page, lab)
    select = page.get_by_role("combobox")
    expect(select).to_have_value("after <b>")
    select.select_option("right")
    flip(lab, page)
    assert lab.chosen == "right" and numbers(page, "difference").abs().max() < 1e-6
    before = bare.state(lab)
    lab.function = {"mine": lambda scores, allowed: after(scores, allowed)}
    changed = {name: value for name, value in bare.state(lab).items() if value != before[name]}
    page.evaluate("changed => { for (const name in changed) model.set(name, changed[name]); }", changed)
    page.evaluate("frame()")
    assert select.locator("option").all_inner_texts() == ["mine"]
    expect(select).to_have_value("mine")
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "false")
    assert torch.allclose(numbers(page, "weights").float(), lab.weights)


def test_what_goes_wrong_is_shown(page):
    def wrong(scores, allowed):
        print("it is <i>printed</i>")
        return scores @ scores[:2]

    lab = FunctionLab({"wrong": wrong, "after": after})
    bare.show(page, lab)
    status = page.get_by_role("status")
    expect(status).to_contain_text("wrong raises RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    expect(status).to_contain_text("return scores @ scores[:2]. It was called with scores (5, 5), allowed (5, 5).")
    expect(page.locator('[data-part="printed"]')).to_have_text("It printed: it is <i>printed</i>")
    expect(page.locator('[data-part="printed"]')).to_be_visible()
    for part in ("weights", "difference", "moves", "output", "right"):
        expect(page.locator(f'[data-part="{part}"]')).to_be_hidden()
    expect(page.locator('[data-part="reference"]')).to_be_visible()
    page.get_by_role("combobox").select_option("after")
    flip(lab, page)
    expect(page.locator('[data-part="warning"]')).to_have_text("")
    expect(page.locator('[data-part="printed"]')).to_be_hidden()
    for part in ("weights", "difference", "moves"):
        expect(page.locator(f'[data-part="{part}"]')).to_be_visible()


def test_only_an_output(page):
    bare.show(page, FunctionLab(lambda q, k, v: attend(q, k, v)[0]))
    for part, seen in {"weights": False, "difference": False, "reference": True, "output": True, "gap": True}.items():
        expect(page.locator(f'[data-part="{part}"]')).to_be_visible(visible=seen)
    expect(page.get_by_role("status")).to_contain_text("it cannot know your clicks")


def test_a_slow_function_has_a_button(page, monkeypatch):
    monkeypatch.setattr(function_lab, "AT_ONCE", 0.0)
    monkeypatch.setattr(function_lab, "FOR_A_PICTURE", 0.0)
    lab = FunctionLab(after)
    bare.show(page, lab)
    expect(page.locator('[data-part="moves"]')).to_be_hidden()
    page.get_by_role("button", name="Look for leaks").press("Enter")
    flip(lab, page)
    expect(page.locator('[data-part="verdict"]')).to_contain_text("A leak: output 0 moves when token 1")
    expect(page.locator('[data-part="verdict"]')).to_be_focused()
    expect(page.locator('[data-part="moves"]')).to_be_visible()
    expect(page.get_by_role("button", name="Look for leaks")).to_be_hidden()


def test_each_cell_says_what_it_holds(page):
    allowed = torch.ones(5, 5, dtype=torch.bool).tril()
    allowed[2] = False

    def function(q, k, v, allowed):
        weights = attend(q, k, v, allowed)[1].index_fill(0, torch.tensor(2), torch.nan)
        return attend(q, k, v, allowed.roll(1, 0))[0], weights

    bare.show(page, FunctionLab(function, allowed=allowed))
    labels = {
        ("allowed", 0, 1): "query 0 “the”, key 1 “cat”: blocked, False",
        ("moves", 0, 1): "output 0 “the”, token changed 1 “cat”: moves, though it may not see it: a leak",
        ("moves", 0, 0): "output 0 “the”, token changed 0 “the”: moves",
        ("moves", 1, 1): "output 1 “cat”, token changed 1 “cat”: does not move, though it may see it",
        ("moves", 1, 2): "output 1 “cat”, token changed 2 “sat”: does not move, and may not see it",
        ("weights", 2, 0): "query 2 “sat”, key 0 “the”: blocked, yet weight NaN",
        ("difference", 2, 0): "query 2 “sat”, key 0 “the”: differs by NaN",
        ("difference", 0, 0): "query 0 “the”, key 0 “the”: the same",
        ("reference", 0, 0): "query 0 “the”, key 0 “the”: weight 1.00",
    }
    for place, label in labels.items():
        expect(bare.cell(page, *place)).to_have_attribute("aria-label", label)
    marks = {("moves", 0, 1): "↕leak", ("moves", 0, 0): "↕", ("moves", 1, 1): "–", ("moves", 1, 2): "×"}
    marks |= {("difference", 2, 0): "≠NaN", ("difference", 0, 0): "="}
    for place, mark in marks.items():
        assert bare.cell(page, *place).inner_text().replace("\n", "") == mark, place
    bare.cell(page, "moves", 0, 1).hover()
    readout = page.locator('[data-part="readout"]')
    expect(readout).to_contain_text("Output 0 “the”, when token 1 “cat” is changed: moves, though it may not see it")
    bare.cell(page, "difference", 1, 0).hover()
    expect(readout).to_contain_text("Query 1 “cat” may attend to key 0 “the”: the function gives 0.")
    bare.cell(page, "gap", 1, 2).hover()
    expect(readout).to_contain_text("Query 1 “cat”, feature 2: the function gives ")
    bare.cell(page, "weights", 1, 5).hover()
    expect(readout).to_contain_text("Query 1 “cat”: the sum of its weights.")


def test_that_an_output_moves_with_its_own_token_is_no_leak(page):
    allowed = ~torch.eye(5, dtype=torch.bool)
    allowed[2] = False
    bare.show(page, FunctionLab(right, allowed=allowed))
    own = [bare.cell(page, "moves", i, i) for i in range(5)]
    assert [cell.inner_text() for cell in own] == ["↕", "↕", "×", "↕", "↕"]
    assert page.locator('[data-part="moves"] .hg-leak').count() == 0
    expect(own[0]).to_have_attribute("aria-label", "output 0 “the”, token changed 0 “the”: moves")


def test_a_small_difference_keeps_its_sign_and_its_size(page):
    bare.show(page, FunctionLab(lambda scores, allowed: right(scores, allowed) - 3e-5 * allowed))
    assert bare.cell(page, "difference", 1, 0).inner_text().replace("\n", "") == "≠−0.00"
    label = "query 1 “cat”, key 0 “the”: differs by −3.0e−5"
    expect(bare.cell(page, "difference", 1, 0)).to_have_attribute("aria-label", label)


def test_two_views_of_one_model_show_the_same(page):
    lab = FunctionLab(after)
    bare.show(page, lab)
    page.evaluate("""async () => {
        const { render } = (await import("./function_lab/view.js")).default;
        const second = document.createElement("div");
        second.id = "second";
        document.body.append(second);
        render({ model, el: second });
    }""")
    page.locator("#here").locator('[data-part="allowed"] [data-at="0,2"]').click()
    flip(lab, page)
    second = page.locator("#second")
    expect(second.locator('[data-part="allowed"] [data-at="0,2"]')).to_have_attribute("data-value", "1")
    expect(second.locator('[data-part="verdict"]')).to_have_text(lab.verdict)
