"""ModelStudio in a bare page: each hand, by mouse and keyboard, against torch; and its page, opened as a file."""

import difflib
import itertools
import json
import re

import pytest
import torch
from playwright.sync_api import expect

from lessons.config import TransformerConfig
from lessons.interventions import Change, intervene
from lessons.tasks import Numerals
from lessons.transformer import Transformer
from lessons.widgets import ModelStudio
from tests.browser import bare
from tests.browser.accessible import told, violations

SENTENCES = ["“Don’t” go, Tom's dog!", "I drink tea.", "tom’s  tea's a's  x?", "Ünder 3 näive_words.", "", "the 's"]
LOGITS = """([ids, changes]) => import("./model_studio/thinking.js").then(({ Thinking }) => {
    const { now } = new Thinking(model.get("about"), model.get("weights")).think(ids, changes);
    return [now.logits.shape, [...now.logits.data]]; })"""
NOT_IN_LEFT = '[data-part="hands"] button:has-text("{}")'
# What is done, and the change that it makes.
HANDS = {
    "hide": ('[data-part="tools"] button >> nth=0', Change("hide", side="src", token=3)),
    "swap": ('[data-part="tools"] button >> nth=1', Change("swap_positions", side="src", token=3, other=4)),
    "hide a word": ('[data-part="hide-word"] button', Change("hide", side="tgt", token=3)),
    "cut": (NOT_IN_LEFT.format("Cut decoder 1"), Change("cut", at="decoder.1.cross_attn")),
    "silence": (NOT_IN_LEFT.format("Silence"), Change("silence", at="decoder.1.cross_attn", head=0)),
    "cut all": (NOT_IN_LEFT.format("Cut all"), Change("cut", at="decoder.*.cross_attn")),
    "causal": (NOT_IN_LEFT.format("causal"), Change("drop_causal")),
    "padding": (NOT_IN_LEFT.format("padding"), Change("drop_padding")),
    "positions": (NOT_IN_LEFT.format("No positions"), Change("drop_positions")),
    "force": ('[data-part="bars"] button >> nth=1', None),
    "cell": ('[data-part="zoom"] [aria-label^="mask"] [data-at="2,3"]', None),
}


@pytest.fixture(scope="module")
def studio():
    return ModelStudio()


@pytest.fixture
def shown(page, studio):
    start = {"changes": [], "history": [], "future": [], "place": "decoder.1.cross_attn", "head": 0}
    studio._restore(**start, sentence=ModelStudio().sentence, step=2, temperature=1.0)
    page.set_viewport_size({"width": 1280, "height": 720})
    bare.show(page, studio)
    return page


def written(page):
    """The words of the translation."""
    words = page.locator('[data-part="written"] button').all()
    return [re.sub(r"^word \d+: |, changed$", "", word.get_attribute("aria-label")) for word in words]


def agree(page, studio):
    """The browser's translation, logits and candidates are torch's."""
    bare.deliver(page, studio)
    ids = studio.task.encode(studio.sentence)
    words = written(page)
    assert "".join(word for word in words if word != "<eos>") == studio.translation
    tgt = [studio.task.tgt_vocab.bos_id, *studio.task.tgt_vocab.encode(words)][:-1]
    with intervene(studio.model, studio.active), torch.no_grad():
        logits = studio.model(torch.tensor([ids]), torch.tensor([tgt]))[0][0]
    changes = [{name: value for name, value in each.items() if name != "on"} for each in studio.changes]
    shape, numbers = page.evaluate(LOGITS, [ids, changes])
    finite = logits.isfinite()
    theirs = torch.tensor([float("-inf") if x is None else x for x in numbers]).view(shape)
    torch.testing.assert_close(theirs[finite], logits[finite], atol=1e-4, rtol=0)
    row = min(studio.step, len(tgt) - 1)
    best = logits[row].softmax(-1).max().item()
    share = page.locator('[data-part="bars"] button').first.get_attribute("aria-label")
    assert f": {100 * best:.0f} %" in share or best < 0.1


@pytest.mark.parametrize("hand", HANDS)
def test_each_hand_does_what_torch_does(shown, studio, hand):
    selector, change = HANDS[hand]
    shown.locator(selector).click()
    shown.evaluate("frame()")
    agree(shown, studio)
    assert len(studio.active) == 1 and (change is None or studio.active == [change])
    shown.locator(".ms-remove").click()
    shown.evaluate("frame()")
    agree(shown, studio)
    assert studio.changes == []


def test_a_change_is_switched_off_and_undone_by_keys(shown, studio):
    shown.locator('[data-part="tools"] button').first.press("Enter")
    expect(shown.locator('[data-part="before"]')).to_contain_text(studio.untouched)
    shown.locator(".ms-switch").press("Space")
    expect(shown.locator('[data-part="before"]')).to_have_text("")
    expect(shown.locator(".ms-switch")).to_have_attribute("aria-pressed", "false")
    bare.deliver(shown, studio)
    assert [each["on"] for each in studio.changes] == [False]
    for key, count in [("Control+z", 1), ("Control+z", 0), ("Control+y", 1)]:
        shown.locator('[data-part="source"] button').first.press(key)
        shown.evaluate("frame()")
        bare.deliver(shown, studio)
        assert len(studio.changes) == count
    agree(shown, studio)


def test_the_focus_stays_though_the_translation_is_shorter(shown):
    """In the mask, on the map and among the words, after undo and redo as well."""
    shown.locator(HANDS["cut all"][0]).click()  # 6 words in place of 10
    cell = shown.locator(HANDS["cell"][0])
    token = shown.locator('.mm-field [data-id="src 2"]')
    hand = shown.locator(HANDS["cut"][0])
    keys = itertools.cycle(["Control+z", "Control+y"])
    for one in (cell, cell, token, token, hand, hand):
        one.focus()
        shown.keyboard.press(next(keys))
        shown.evaluate("frame()")
        expect(one).to_be_focused()
    shown.keyboard.press("Control+z")
    shown.locator(".ms-word").last.focus()
    shown.keyboard.press("Control+y")
    expect(shown.locator(".ms-word")).to_have_count(6)
    expect(shown.locator(".ms-word").last).to_be_focused()


def test_a_change_is_taken_away_and_the_focus_goes_to_what_is_left(shown):
    for hand in ("hide", "causal"):
        shown.locator(HANDS[hand][0]).click()
    remove = shown.locator(".ms-remove")
    expect(remove).to_have_count(2)
    remove.last.press("Enter")
    expect(remove).to_have_count(1)
    expect(remove).to_be_focused()
    shown.keyboard.press("Enter")
    expect(remove).to_have_count(0)
    expect(shown.locator('[data-part="undo"]')).to_be_focused()


def test_a_forced_word_keeps_the_focus_and_the_others_stay_to_choose_from(shown, studio):
    names = lambda: [bar.get_attribute("aria-label").split(":")[0] for bar in shown.locator(".ms-candidate").all()]  # noqa: E731
    before = names()
    shown.locator(".ms-candidate").nth(2).press("Enter")
    forced = shown.locator('.ms-candidate[aria-pressed="true"]')
    expect(forced).to_be_focused()
    assert set(names()) == set(before) and names()[0] == before[2]
    shown.keyboard.press("Enter")
    expect(forced).to_have_count(0)
    expect(shown.locator(".ms-candidate").nth(2)).to_be_focused()
    bare.deliver(shown, studio)
    assert studio.changes == [] and names() == before


def test_a_change_of_a_special_token_is_named_as_it_is_written(shown, studio):
    studio.changes = [
        Change("force", token=3, word=studio.task.tgt_vocab.eos_id),
        Change("block", at="decoder.0.self_attn", query=0, key=0),
    ]
    bare.show(shown, studio)
    looks = "“<bos>” may not look at “<bos>” in decoder 0 self-attention"
    for name in (looks, "word 3 must be “<eos>”"):
        for said in (f"{name}: on", f"remove: {name}"):
            expect(shown.get_by_role("button", name=said, exact=True)).to_have_count(1)


ROWS = {"source": 10, "written": 9, "bars": 6, "hands": 6, "changes": 4}


def test_each_row_of_buttons_is_one_tab_stop(shown):
    """The arrow keys go from one button to the next, and the Tab key comes back to where the focus was."""
    for hand in ("hide", "causal"):
        shown.locator(HANDS[hand][0]).click()
    for part, count in ROWS.items():
        buttons = shown.locator(f'[data-part="{part}"] button')
        expect(buttons).to_have_count(count)
        for key, index in [("Home", 0), ("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("End", count - 1)]:
            buttons.locator("xpath=self::*[@tabindex=0]").press(key)
            expect(buttons.nth(index)).to_be_focused()
        shown.keyboard.press("ArrowRight")
        expect(buttons.last).to_be_focused()
        shown.keyboard.press("Tab")
        expect(shown.locator(f'[data-part="{part}"] :focus')).to_have_count(0)
        shown.keyboard.press("Shift+Tab")
        expect(buttons.last).to_be_focused()


def test_what_a_step_does_to_the_translation_is_read_aloud(shown, studio):
    told = shown.locator('[data-part="told"]')
    expect(told).to_have_attribute("role", "status")
    expect(told).to_have_text("")
    shown.locator(HANDS["hide"][0]).click()
    bare.deliver(shown, studio)
    expect(told).to_have_text(f"Changes: 1. The model now writes: {studio.translation}")
    assert studio.translation != studio.untouched
    shown.locator(HANDS["padding"][0]).click()
    expect(told).to_have_text(f"Changes: 2. The model still writes: {studio.translation}")
    shown.keyboard.press("Control+z")
    shown.keyboard.press("Control+z")
    expect(told).to_have_text(f"Changes: 0. The model now writes: {studio.untouched}")
    shown.locator('[data-part="sentence"]').fill("I drink tea.")
    expect(shown.locator('[data-part="source"] button')).to_have_count(4)
    expect(told).to_contain_text(studio.untouched)  # not with each letter
    shown.keyboard.press("Enter")
    bare.deliver(shown, studio)
    expect(told).to_have_text(f"Changes: 0. The model now writes: {studio.translation}")


def test_the_keys_are_listed(shown):
    keys, code = (shown.locator(f'[data-part="{part}"]') for part in ("keys", "code"))
    code.locator("summary").press("Enter")
    keys.locator("summary").press("Enter")
    expect(keys.locator("ul")).to_be_in_viewport(ratio=1)
    expect(keys).to_contain_text("Ctrl+Z")
    expect(code).not_to_have_attribute("open", "")
    shown.keyboard.press("Escape")
    expect(keys).not_to_have_attribute("open", "")
    expect(keys.locator("summary")).to_be_focused()


def test_where_the_focus_is_stays_in_view_when_the_page_becomes_narrow(shown):
    """As it does when the page is zoomed in."""
    cell = shown.locator(HANDS["cell"][0])
    for part in (cell, shown.locator('.mm-field [data-id="src 2"]')):
        small(shown, 1280)
        part.focus()
        small(shown, 848)
        expect(part).to_be_focused()
        expect(part).to_be_visible()


def test_any_two_tokens_swap_their_positions(shown, studio):
    swap, menu = shown.locator(".ms-swap button"), shown.locator(".ms-swap select")
    assert menu.locator("option").all_inner_texts() == [token for token in studio.tokens if token != "not"]
    menu.select_option("teacher")
    expect(swap).to_have_accessible_name("Swap positions with “teacher”")
    swap.click()
    shown.evaluate("frame()")
    agree(shown, studio)
    assert studio.active == [Change("swap_positions", side="src", token=1, other=3)]
    shown.get_by_role("button", name="1: teacher", exact=True).click()
    expect(swap).to_have_accessible_name("Swap positions with “will”")
    menu.select_option("not")
    expect(swap).to_have_attribute("aria-pressed", "true")


def test_what_nothing_reads_is_not_hidden(shown, studio):
    """The last word is written, and no token comes after it."""
    shown.locator(".ms-word").last.click()
    hide = shown.locator('[data-part="hide-word"] button')
    expect(hide).to_have_attribute("aria-disabled", "true")
    hide.dispatch_event("click")
    bare.deliver(shown, studio)
    assert studio.changes == []


def test_a_hand_used_again_takes_its_change_back_and_a_new_change_ends_redo(shown, studio):
    hide = shown.locator('[data-part="tools"] button').first
    redo = shown.locator('[data-part="redo"]')
    for pressed in ("true", "false"):
        hide.click()
        expect(hide).to_have_attribute("aria-pressed", pressed)
    shown.locator('[data-part="undo"]').click()
    expect(redo).to_have_attribute("aria-disabled", "false")
    shown.locator(HANDS["causal"][0]).click()
    expect(redo).to_have_attribute("aria-disabled", "true")


def test_the_mask_changes_as_far_as_one_wants(shown, studio):
    for scope, expected in [
        ("head", {"at": "decoder.1.cross_attn", "head": 0}),
        ("layer", {"at": "decoder.1.cross_attn"}),
        ("everywhere", {"at": "decoder.*.cross_attn"}),
    ]:
        shown.locator('[data-part="scope"]').select_option(scope)
        cell = shown.locator('[data-part="zoom"] [aria-label^="mask"] [data-at="2,3"]')
        cell.click()
        shown.evaluate("frame()")
        bare.deliver(shown, studio)
        assert studio.active == [Change("block", query=2, key=3, **expected)]
        agree(shown, studio)
        cell.click()
        shown.evaluate("frame()")
        bare.deliver(shown, studio)
        assert studio.changes == []


def test_a_mask_that_goes_away_under_the_pointer_changes_nothing(shown, studio):
    shown.locator(HANDS["cell"][0]).hover()
    shown.mouse.down()
    shown.evaluate("model.set('place', 'decoder.1.feed_forward'), frame()")
    shown.mouse.up()
    bare.deliver(shown, studio)
    assert studio.changes == []


def test_a_sentence_is_translated_while_it_is_typed_and_kept_when_it_is_done(shown, studio):
    field = shown.locator('[data-part="sentence"]')
    field.fill("I drink tea.")
    expect(shown.locator('[data-part="source"] button').first).to_have_text("I")
    assert shown.evaluate("model.sent.length") == 0
    field.press("Enter")
    bare.deliver(shown, studio)
    assert studio.sentence == "I drink tea."
    agree(shown, studio)
    field.fill("I drink teaa.")
    warning = shown.locator('[data-part="warning"]')
    expect(warning).to_have_text("The model doesn't know “teaa”; near: tea, teach.")
    field.fill(" ")
    expect(warning).to_have_text("Type a sentence.")
    field.press("Enter")
    bare.deliver(shown, studio)
    assert studio.sentence == "I drink tea."


@pytest.mark.parametrize("leave", ["another sentence", "undo"])
def test_why_python_refuses_a_sentence_is_said_until_the_next_step(page, leave):
    """Only Python can split the sentences of this task. Both still have the same past."""
    task = Numerals()
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 16, "dropout": 0.0}
    config = TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), **sizes)
    studio = ModelStudio(Transformer(config).eval(), task, sentence="three")
    studio.sentence = "four"
    bare.show(page, studio)
    field, warning = (page.locator(f'[data-part="{part}"]') for part in ("sentence", "warning"))
    field.fill(" ")
    field.press("Enter")
    bare.deliver(page, studio)
    page.evaluate("frame()")
    expect(warning).to_have_text("sentence is ' ', 0 tokens; expected 1 to 32")
    expect(field).to_have_value("four")
    if leave == "undo":
        page.locator('[data-part="undo"]').click()
    else:
        field.fill("three")
        field.press("Enter")
    page.evaluate("frame()")
    expect(warning).to_have_text("")
    expect(field).to_have_value("three")
    bare.deliver(page, studio)
    assert studio.sentence == "three"
    steps = page.evaluate("['history', 'future'].map(name => model.get(name).length)")
    assert steps == [len(studio.history), len(studio.future)]


@pytest.mark.parametrize("ends", bare.ENDS_COMPOSITION)
def test_the_enter_that_ends_a_composition_does_not_end_the_sentence(shown, ends):
    field = shown.locator('[data-part="sentence"]')
    field.fill("The tea cher drinks tea.")
    field.dispatch_event("keydown", {"key": "Enter", **ends})
    assert shown.evaluate("model.sent") == []
    field.press("Enter")
    assert shown.evaluate("model.sent") == [{"set": {"sentence": "The tea cher drinks tea."}}]


def test_what_is_typed_is_never_html(shown, studio):
    sentence = '<img src="typed" onerror=alert(1)> &lt;b id=typed>'
    shown.locator('[data-part="sentence"]').fill(sentence)
    expect(shown.locator('[data-part="warning"]')).to_contain_text("“onerror”")
    tokens = shown.locator('[data-part="source"] button')
    words = studio.words_of(sentence)
    expect(tokens).to_have_text(words)
    labels = [token.get_attribute("aria-label") for token in tokens.all()]
    assert [label.partition(": ")[2].partition(",")[0] for label in labels] == words
    expect(shown.locator('[id="typed"], [src="typed"]')).to_have_count(0)


def test_sentences_are_split_and_words_likened_as_by_python(shown, studio):
    found = shown.evaluate(
        """texts => import("./model_studio/sentence.js").then(({ splitText }) =>
            texts.map(text => splitText(text, model.get("about"))))""",
        SENTENCES,
    )
    assert found == [studio.words_of(text) for text in SENTENCES]
    known = studio.task.src_vocab.words[4:]
    strange = [word[:-2] + word[-1:] + "e" for word in known[::9]]
    near = shown.evaluate(
        """([words, known]) => import("./model_studio/sentence.js").then(({ nearWords }) =>
            words.map(word => nearWords(word, known)))""",
        [strange, known],
    )
    assert near == [difflib.get_close_matches(word, known, 3, 0.6) for word in strange]


def test_it_writes_the_same_python(shown, studio):
    studio_changes = [HANDS[name][1] for name in ("hide", "swap", "silence")]
    studio.changes = studio_changes
    bare.show(shown, studio)
    shown.locator('[data-part="code"] summary').click()
    expect(shown.locator('[data-part="code"] pre')).to_have_text(studio.code())


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_its_python_is_copied_or_else_selected(shown, studio, has_clipboard):
    bare.give_clipboard(shown, has_clipboard)
    code = shown.locator('[data-part="code"]')
    code.locator("summary").press("Enter")
    expect(code.locator("pre")).to_contain_text("import")
    expect(code.locator(".lw-copy")).to_be_in_viewport(ratio=1)
    said = "Copied" if has_clipboard else "Selected: press Ctrl+C (on a Mac ⌘C)"
    assert bare.press_copy(shown, code.locator(".lw-copy")) == [[said, said], ["Copy", ""]]
    assert shown.evaluate("window.copied ?? getSelection().toString()").strip() == studio.code().strip()


def test_a_message_is_small_and_the_picture_comes_within_two_frames(shown):
    changed = shown.evaluate("""async () => {
        document.querySelector('[data-part="tools"] button').click();
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        return document.querySelector('[data-part="before"]').textContent; }""")
    assert changed
    assert all(len(json.dumps(message)) <= 1000 for message in shown.evaluate("model.sent"))


# Frame by frame after a change, whether the map and the zoom are other ones than before it.
FRAMES = """() => {
    const frames = [];
    window.requestAnimationFrame = (draw) => frames.push(draw);
    const look = () => [".ms-map", ".ms-zoom"].map(part => document.querySelector(part).innerHTML);
    const before = look();
    document.querySelector('[data-part="hands"] button:last-child').click();
    const found = [];
    while (frames.length) {
        for (const draw of frames.splice(0)) draw();
        found.push(look().map((html, i) => html !== before[i]));
    }
    return found;
}"""


@pytest.mark.parametrize("width, part", [(1280, "outside"), (848, "outside"), (848, "inside")])
def test_what_is_not_seen_is_drawn_in_the_next_frame(shown, width, part):
    small(shown, width)
    shown.locator(f'[data-part="{part}"]').dispatch_event("click")
    first, *_, last = shown.evaluate(FRAMES) * 2
    assert first == [width == 1280 or part == "outside", width == 1280 or part == "inside"]
    assert last == [True, True]


# How often the map is made, in an element that comes into the page later, as in JupyterLab.
MADE = """async () => {
    const { default: widget } = await import("./model_studio/view.js");
    const el = document.createElement("div");
    let count = 0;
    new MutationObserver(all => {
        count += all.filter(({ target, addedNodes }) => target.className === "mm-field" && addedNodes.length).length;
    }).observe(el, { childList: true, subtree: true });
    const stop = widget.render({ model, el });
    document.getElementById("here").append(el);
    for (let i = 0; i < 3; i++) await frame();
    stop();
    el.remove();
    return count;
}"""


@pytest.mark.parametrize("width", ["900px", "87.3%"])
def test_the_map_is_made_once_for_the_width_that_it_has(shown, width):
    shown.evaluate("width => { document.getElementById('here').style.width = width; }", width)
    assert shown.evaluate(MADE) == 1


def small(page, width, height=599):
    """As an output in a notebook of this size."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("document.body.style.margin = 0; document.querySelectorAll('h1, h2, h3').forEach(e => e.remove())")
    page.evaluate("frame()")


@pytest.mark.parametrize("width, height", [(1280, 720), (848, 599), (1110, 599), (768, 1024), (390, 844)])
def test_it_fits(shown, width, height):
    """The sentence, the translation and the hands, with the map and the zoom, or, on a small screen, one of them."""
    small(shown, width, height)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    left, right = (shown.locator(part).bounding_box() for part in (".ms-sentence", ".ms-right"))
    is_wide, is_phone = width >= 1180, width < 600
    assert (right["x"] > left["x"] + left["width"]) == is_wide
    if not is_phone:
        assert shown.locator(".lw").bounding_box()["height"] <= height
        assert shown.evaluate("document.querySelector('.mm-scroll').scrollWidth") <= right["width"]
    for is_inside in (False, True):
        for part in (".ms-sentence", ".ms-written", ".ms-hands", ".ms-changes", '[data-part="code"]'):
            assert shown.locator(part).is_visible(), part
        assert shown.locator(".ms-candidate:visible").count() == (6 if is_wide or is_phone else 4)
        assert shown.locator(".ms-map").is_visible() == (is_wide or is_phone or not is_inside)
        assert shown.locator(".ms-zoom").is_visible() == (is_wide or is_phone or is_inside)
        assert shown.locator(".ms-views").is_visible() == (not is_wide and not is_phone)
        shown.locator('.mm-field [data-id="decoder.1.cross_attn 2"]').dispatch_event("click")


MANY = [
    Change("hide", side="src", token=3),
    Change("silence", at="decoder.1.cross_attn", head=0),
    Change("block", at="decoder.1.cross_attn", head=1, query=2, key=3),
    Change("drop_padding"),
    Change("block", at="decoder.1.cross_attn", head=2, query=2, key=3),
]


@pytest.mark.parametrize("width, height", [(1280, 720), (848, 599), (390, 844)])
def test_however_many_changes_there_are_nothing_moves(shown, studio, width, height):
    """What is below stays where it is, the newest change is seen, and all of it fits."""
    places = []
    for count in range(len(MANY) + 1):
        studio.changes = MANY[:count]
        bare.show(shown, studio)
        small(shown, width, height)
        places.append(shown.locator(".ms-right").bounding_box()["y"])
        assert width < 600 or shown.locator(".lw").bounding_box()["height"] <= height
    assert len(set(places)) == 1
    expect(shown.locator(".ms-switch").first).to_contain_text("head 2")
    expect(shown.locator(".ms-switch").first).to_be_in_viewport(ratio=0.9)


def test_at_200_percent_nothing_sticks_out(shown):
    """1280 × 720, twice as large."""
    small(shown, 640, 360)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 640
    for part in (".ms-left", ".ms-next", ".ms-nexthead", ".ms-sentence", ".ms-changes"):
        assert shown.locator(part).evaluate("part => part.scrollWidth <= part.clientWidth"), part
    assert shown.locator(".lw").bounding_box()["height"] <= 800


def test_on_a_phone_a_finger_meets_a_cell_and_the_translation_stays_in_view(shown):
    small(shown, 390, 844)
    cell = shown.locator(HANDS["cell"][0])
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box["width"] >= 24 and box["height"] >= 24
    for part in (".ms-written", ".mz-sum"):
        expect(shown.locator(part)).to_be_in_viewport(ratio=1)
    cell.click()
    expect(shown.locator(".ms-remove")).to_have_count(1)


def test_what_a_finger_taps_stays_read_out_until_the_focus_goes(touched, studio):
    """A number of a vector, and a cell."""
    studio._restore(changes=[], place="decoder.1.cross_attn", head=0)
    bare.show(touched, studio)
    q = touched.locator('.mz-strip canvas[aria-label^="q"]')
    box = q.bounding_box()
    q.tap(position={"x": 2.5 * box["width"] / 16, "y": box["height"] - 2})
    said = touched.locator(".mz-sum")
    expect(said).to_contain_text("q of “。”, feature 2: ")
    touched.locator('[data-part="zoom"] [aria-label^="weights"] [data-at="2,3"]').tap()
    expect(said).to_contain_text("Weight of “not” for “明天”: ")
    touched.evaluate("document.activeElement.blur()")
    expect(said).to_contain_text("Point at a cell")


def test_where_there_is_less_room_one_goes_into_a_head_and_back_by_keys(shown, studio):
    small(shown, 848)
    head = shown.locator('.mm-field [data-id="decoder.0.cross_attn 2"]')
    inside, outside = shown.locator('[data-part="inside"]'), shown.locator('[data-part="outside"]')
    head.press("Enter")
    expect(inside).to_be_focused()
    expect(inside).to_have_text("Inside: decoder layer 0, cross-attention, head 2")
    expect(inside).to_have_attribute("aria-pressed", "true")
    expect(head).not_to_be_visible()
    shown.locator(".ms-heads button").nth(1).press("Enter")
    expect(inside).to_have_text("Inside: decoder layer 0, cross-attention, head 1")
    shown.locator(HANDS["cell"][0]).click()
    bare.deliver(shown, studio)
    assert studio.active == [Change("block", at="decoder.0.cross_attn", head=1, query=2, key=3)]
    shown.keyboard.press("Escape")
    expect(shown.locator('.mm-field [data-id="decoder.0.cross_attn 1"]')).to_be_focused()
    expect(outside).to_have_attribute("aria-pressed", "true")
    expect(shown.locator(".ms-zoom")).not_to_be_visible()
    inside.press("Enter")
    expect(shown.locator(".ms-zoom")).to_be_visible()
    outside.press("Space")
    expect(shown.locator('[data-part="zoom"] [role="grid"]').first).not_to_be_visible()
    small(shown, 1280)
    head.click()
    expect(head).to_be_focused()


def test_the_arrow_keys_reach_each_of_the_few_words_and_no_other(shown, studio):
    """With a word in front of which some are left out."""
    studio.changes = [Change("force", token=3, word=studio.task.tgt_vocab.words.index("茶"))]
    bare.show(shown, studio)
    small(shown, 848)
    seen = shown.locator(".ms-candidate:visible")
    expect(seen).to_have_count(4)
    seen.first.focus()
    for i in (1, 2, 3, 3):
        shown.keyboard.press("ArrowDown")
        expect(seen.nth(i)).to_be_focused()
    for key, place in (("Home", seen.first), ("End", seen.last)):
        shown.keyboard.press(key)
        expect(place).to_be_focused()


def test_the_focus_stays_among_the_few_words(shown):
    """Though its own is no longer one of them."""
    small(shown, 848)
    shown.locator(HANDS["cut"][0]).click()
    shown.evaluate("frame()")
    shown.locator(".ms-candidate:visible").last.focus()
    shown.keyboard.press("Control+z")
    shown.evaluate("frame()")
    expect(shown.locator(".ms-candidate:focus")).to_be_visible()


def test_axe_finds_nothing_where_there_is_less_room(shown):
    small(shown, 848)
    for part in ("outside", "inside"):
        shown.locator(f'[data-part="{part}"]').click()
        found = violations(shown, context=".lw")
        assert not found, told(found)


def test_what_is_written_is_among_the_few_words(shown, studio):
    """Whatever else is left out where there is less room."""
    studio.changes = [Change("force", token=3, word=studio.task.tgt_vocab.words.index("茶"))]
    bare.show(shown, studio)
    small(shown, 848)
    names = [word.get_attribute("aria-label") for word in shown.locator(".ms-candidate:visible").all()]
    assert len(names) == 4 and any(name.startswith("茶: ") for name in names)
    assert any(name.startswith("不: ") for name in names)


def test_its_page_is_alive_as_a_file(browser, studio, tmp_path):
    path = tmp_path / "studio.html"
    path.write_text(ModelStudio(changes=[HANDS["hide"][1]]).to_html(), encoding="utf-8")
    page = browser.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: complaints.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
    )
    page.goto(path.as_uri())
    expect(page.locator('[data-part="before"]')).to_contain_text("老师明天不会在学校喝茶。")
    page.locator(".ms-remove").click()
    expect(page.locator('[data-part="before"]')).to_have_text("")
    page.locator('[data-part="undo"]').click()
    expect(page.locator(".ms-remove")).to_have_count(1)
    page.close()
    assert complaints == []
