"""HeadSplitter's JavaScript in a bare page: its tensors against torch's, its marks, mouse and keyboard."""

import random

import pytest
import torch
from playwright.sync_api import expect

from lessons.widgets import HeadSplitter
from lessons.widgets.head_splitter import splitting
from lessons.widgets.head_splitter.constants import ERROR, NO_COPY
from lessons.widgets.pictures import format_whole
from tests.browser import bare

CASES = 200
CASE = """state => {
    const { way, wrong } = splitting.followHeads(state);
    const cells = part => [...document.querySelectorAll(`[data-part="${part}"] [data-at]`)];
    const tensors = [...way, ...(wrong ? [wrong] : [])].map(tensor => ({
        shape: tensor.shape, strides: tensor.strides, contiguous: strided.isContiguous(tensor),
        read: strided.readAll(tensor), memory: way.findIndex(other => other.storage === tensor.storage) }));
    const odd = cells("wrong").map(cell => cell.classList.contains("hs-odd"));
    return [tensors, odd, cells("after").map(cell => [...cell.children].map(part => part.textContent))]; }"""
DRAWN = """part => [...document.querySelectorAll(`[data-part="${part}"] [data-at]`)].map(cell => ({
    text: cell.querySelector("b").textContent, mark: cell.querySelector("i").textContent,
    label: cell.getAttribute("aria-label"), odd: cell.classList.contains("hs-odd") }))"""
FRAMED = """() => [...document.querySelectorAll(".hs-framed")].map(cell =>
    [cell.closest(".hs-panel").querySelector("h4").textContent.split(/[:←]/)[0].trim(), Number(cell.dataset.at)])"""
VIEWS = """cases => cases.map(([shape, strides, wanted]) =>
    strided.viewAs({ storage: null, shape, strides }, wanted)?.strides ?? null)"""


@pytest.fixture
def page(page):
    for name in ("strided", "splitting"):
        page.evaluate("async name => { window[name] = await import(`./head_splitter/${name}.js`); }", name)
    return page


def drawn(page, part):
    return page.evaluate(DRAWN, part)


def random_splitter(chance):
    while True:
        sizes = [chance.randint(1, most) for most in (3, 6, 8, 4)]
        if torch.Size(sizes).numel() <= 200:
            break
    x = None
    if chance.random() < 0.3:
        x = torch.randn(sizes[0], sizes[1], sizes[2] * sizes[3], generator=torch.Generator().manual_seed(0))
        x.flatten()[:3] = torch.tensor([torch.inf, -torch.inf, torch.nan])[: x.numel()]
    state = {"compare": chance.choice(list(splitting.WRONG_CODE)), "step": chance.randrange(6)}
    return HeadSplitter(*sizes, x=x, **state)


def test_drawn_tensors_are_those_of_torch(page):
    chance = random.Random(0)
    errors = 0
    widgets = [random_splitter(chance) for _ in range(CASES)]
    for case, (widget, drawn) in enumerate(zip(widgets, bare.draw_each(page, widgets, CASE), strict=True)):
        found, odd, cells = drawn
        label = f"case {case}, {widget!r}"
        places = torch.arange(widget.numbers.numel()).view(widget.numbers.shape)
        expected = [step.tensor for step in splitting.follow(places, widget.num_heads)]
        wrong = splitting.go_wrong(widget.compare, places, widget.num_heads)
        if isinstance(wrong, RuntimeError):
            errors += 1
            assert odd == [], label
            assert f"RuntimeError: {wrong}" == ERROR
        else:
            expected.append(wrong)
            assert odd == widget.misplaced().flatten().tolist(), label
        assert len(found) == len(expected)
        memory = [tensor.untyped_storage().data_ptr() for tensor in expected[:6]]
        assert [ours["memory"] for ours in found[:6]] == [memory.index(place) for place in memory], label
        for ours, theirs in zip(found, expected):
            assert (ours["shape"], ours["strides"]) == (list(theirs.shape), list(theirs.stride())), label
            assert ours["read"] == theirs.flatten().tolist(), label
            assert ours["contiguous"] == theirs.is_contiguous(), label
        tensor = widget.steps()[widget.step].tensor
        texts = list(map(format_whole, tensor.flatten().tolist()))
        marks = [f"h{head}" for head in widget._homes(expected[widget.step].flatten()).head.tolist()]
        assert cells == [list(pair) for pair in zip(texts, marks)], label
    assert errors > 10


def test_a_view_is_possible_where_torch_says_so(page):
    chance = random.Random(1)
    cases, expected = [], []
    while len(cases) < 500:
        shape = [chance.choice([1, 2, 3, 4, 6]) for _ in range(chance.randint(1, 4))]
        tensor = torch.zeros(shape).permute(chance.sample(range(len(shape)), len(shape)))
        other = [chance.choice([1, 2, 3, 4, 6, 8, 12]) for _ in range(chance.randint(1, 4))]
        wanted = other if torch.Size(other).numel() == tensor.numel() else chance.sample(shape, len(shape))
        cases.append([list(tensor.shape), list(tensor.stride()), wanted])
        try:
            expected.append(list(tensor.view(wanted).stride()))
        except RuntimeError:
            expected.append(None)
    assert page.evaluate(VIEWS, cases) == expected
    assert 50 < expected.count(None) < 450


@pytest.fixture
def shown(page):
    bare.show(page, HeadSplitter())
    return page


def at(page, part, i):
    return page.locator(f'[data-part="{part}"] [data-at="{i}"]')


def state(page, name):
    page.evaluate("frame()")
    return page.evaluate("name => model.get(name)", name)


def test_one_number_is_framed_in_every_picture_and_in_memory(shown):
    at(shown, "after", 18).hover()
    assert shown.evaluate(FRAMED) == [
        ["before", 15],
        ["step 3", 18],
        ["instead of step 3", 15],
        ["memory of x, cut, heads", 15],
    ]
    expect(shown.locator('[data-part="readout"]')).to_have_text(
        "heads[0, 1, 2, 0] is 23, the number of token 2, head 1, feature 0. Storage place: 0·24 + 1·3 + 2·6 + 0·1 = 15."
    )
    at(shown, "wrong", 3).hover()
    expect(shown.locator('[data-part="readout"]')).to_have_text(
        "heads[0, 0, 1, 0] is 3, the number of token 0, head 1, feature 0. In the wrong head and at the wrong token: "
        "here belongs 10, of token 1, head 0, feature 0. Storage place: 0·24 + 0·12 + 1·3 + 0·1 = 3."
    )
    shown.mouse.move(0, 0)
    assert shown.evaluate(FRAMED) == []


def test_a_click_pins_a_number_through_all_steps(shown):
    at(shown, "after", 18).click()
    assert state(shown, "pinned") == 15
    shown.mouse.move(0, 0)
    shown.evaluate("document.activeElement.blur()")
    for _ in range(3):
        shown.locator('[data-part="next"]').click()
    shown.evaluate("frame()")
    framed = dict(shown.evaluate(FRAMED))
    assert framed["step 6"] == 15 and framed["memory of computed, back"] == 18
    assert shown.locator('[data-part="readout"]').inner_text().startswith("Pinned: joined[0, 2, 3] is 23")
    assert shown.locator('.hs-framed[aria-selected="true"]').count() == len(framed)
    at(shown, "after", 15).click()
    assert state(shown, "pinned") is None


def test_keys_walk_pin_and_take_steps(shown):
    at(shown, "after", 0).focus()
    expected = {"ArrowRight": 1, "ArrowDown": 4, "End": 5, "ArrowUp": 2, "Home": 0, "Control+End": 23, "ArrowLeft": 22}
    for key, place in expected.items():
        shown.keyboard.press(key)
        assert shown.evaluate("document.activeElement.dataset.at") == str(place), key
    shown.keyboard.press("Control+Home")
    for _ in range(3):
        shown.keyboard.press("ArrowRight")
    assert shown.evaluate("document.activeElement.dataset.at") == "12"  # over the edge, into head 1
    shown.keyboard.press("Space")
    assert state(shown, "pinned") == 3
    shown.keyboard.press("PageUp")
    assert state(shown, "step") == 1
    assert shown.evaluate("document.activeElement.dataset.at") == "3"  # the focus stays with its number
    for _ in range(7):
        shown.keyboard.press("PageDown")
    assert state(shown, "step") == 5
    shown.keyboard.press("Escape")
    assert state(shown, "pinned") is None


def test_the_focus_stays_in_the_widget_though_a_button_or_a_picture_goes(shown):
    for name, last in (("next", 5), ("back", 0)):
        button = shown.locator(f'[data-part="{name}"]')
        button.focus()
        for _ in range(6):
            shown.keyboard.press("Enter")
            shown.evaluate("frame()")
        assert state(shown, "step") == last
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_be_focused()
    present = shown.locator('[aria-current="step"]')
    shown.get_by_role("button", name="Compare with step 3").press("Enter")
    assert state(shown, "step") == 2
    expect(present).to_be_focused()
    shown.keyboard.press("PageUp")
    assert state(shown, "step") == 1
    at(shown, "before", 5).focus()
    shown.keyboard.press("PageUp")
    assert state(shown, "step") == 0
    expect(present).to_be_focused()


def test_labels_say_index_home_and_what_is_wrong(shown):
    labels = [cell["label"] for cell in drawn(shown, "wrong")]
    assert labels[0] == "batch 0, head 0, token 0, feature 0: 0, home token 0, head 0, feature 0"
    assert labels[3].endswith(": 3, home token 0, head 1, feature 0, in the wrong head and at the wrong token")
    assert [cell["mark"] for cell in drawn(shown, "wrong")[:4]] == ["h0", "h0", "h0", "h1 ×"]
    assert [cell["text"] for cell in drawn(shown, "memories")][:7] == ["0", "1", "2", "3", "4", "5", "10"]


@pytest.mark.parametrize("name", splitting.WRONG_CODE)
def test_the_count_is_that_of_python(page, name):
    widget = HeadSplitter(2, 3, 4, 2, compare=name, step=5)
    bare.show(page, widget)
    note = page.locator('[data-part="wrong"] .hg-note').inner_text()
    if name == NO_COPY:
        assert "T·d = 6 places" in note
        expect(page.locator('[data-part="wrong"] .hs-facts')).to_contain_text(
            "RuntimeError: view size is not compatible"
        )
        return
    tally = widget.tally()
    assert f"{tally['out of place']} of 48 numbers are out of place" in note
    for words in ("in the wrong head", "at the wrong token"):
        assert (f"{tally[words]} {words}" in note) == (tally[words] > 0)


def test_with_one_head_each_wrong_way_is_right(page):
    bare.show(page, HeadSplitter(num_heads=1))
    for name in splitting.WRONG_CODE:
        page.locator('[data-part="compare"]').select_option(name)
        page.evaluate("frame()")
        assert "0 of 12 numbers are out of place" in page.locator('[data-part="wrong"] .hg-note').inner_text()


def test_choosing_a_wrong_way_shows_the_step_that_it_replaces(shown):
    shown.locator('[data-part="compare"]').select_option("join without transposing back")
    assert shown.evaluate("model.sent.at(-1).set") == {"compare": "join without transposing back", "step": 5}
    shown.locator('[data-step="0"]').click()
    shown.evaluate("frame()")
    expect(shown.locator('[data-part="before"]')).to_be_hidden()
    shown.get_by_role("button", name="Compare with step 6").click()
    assert state(shown, "step") == 5
    expect(shown.locator('[data-part="beside"]')).to_be_hidden()


def test_too_many_numbers_are_refused_in_words(shown):
    shown.evaluate("model.set('length', 6); model.set('num_heads', 8); frame()")
    slider = shown.locator('[data-part="head_dim"]')
    slider.fill("4")
    slider = shown.locator('[data-part="batch"]')
    slider.fill("2")
    shown.evaluate("frame()")
    expect(shown.locator('[data-part="warning"]')).to_contain_text("2 · 6 · 8 · 4 = 384 numbers; at most 200")
    assert state(shown, "batch") == 1 and slider.input_value() == "1"
    shown.locator('[data-part="length"]').fill("3")
    shown.evaluate("frame()")
    expect(shown.locator('[data-part="warning"]')).to_be_empty()


def test_memory_is_copied_only_where_a_view_cannot_do_it(shown):
    titles = {}
    for step in range(6):
        shown.evaluate("step => { model.set('step', step); return frame(); }", step)
        titles[step] = [t.split(" ←")[0] for t in shown.locator('[data-part="memories"] h4:visible').all_inner_texts()]
    first, second, third = "memory of x, cut, heads", "memory of computed, back", "memory of joined"
    assert titles == {
        0: [first],
        1: [first],
        2: [first],
        3: [first, second],
        4: [first, second],
        5: [first, second, third],
    }


def test_cells_can_name_their_home(shown):
    shown.locator('[data-part="labels"]').select_option("homes")
    shown.evaluate("frame()")
    assert [(cell["text"], cell["mark"]) for cell in drawn(shown, "wrong")[3:5]] == [
        ("t0", "h1 f0 ×"),
        ("t0", "h1 f1 ×"),
    ]
