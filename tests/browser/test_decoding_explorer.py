"""DecodingExplorer alone in a browser: its probabilities beside torch's, the candidates, the tree, mouse and keys."""

import random

import pytest
import torch
from playwright.sync_api import expect

from lessons.decoding import Cached, Table, distribution
from lessons.language_model import LanguageModel, LanguageModelConfig, Reader
from lessons.pretrained import load_translator
from lessons.vocabulary import Vocabulary
from lessons.widgets import DecodingExplorer
from tests.browser import bare
from tests.browser.accessible import told, violations
from tests.browser.test_every_widget import DARK

CASES = 200
FILES = ("file:", "data:")
DISTRIBUTE = """async cases => {
    const { distribute, orderOf } = await import("./decoding_explorer/candidates.js");
    const { readNumber } = await import("./shared/numbers.js");
    return cases.map(([logits, options]) => {
        const numbers = Float64Array.from(logits, readNumber);
        const { model, after } = distribute(numbers, orderOf(numbers), options);
        return [[...model], [...after]];
    });
}"""
ROWS = """() => [...document.querySelectorAll('[data-part="list"] [data-id]')].map(
    row => [Number(row.dataset.id), Number(row.dataset.model), Number(row.dataset.after)])"""
TREE = """() => [...document.querySelectorAll('[role="treeitem"]')].map(
    row => [row.querySelector("b").textContent, Number(row.ariaLevel), Number(row.dataset.score)])"""


def deliver(page, explorer):
    bare.deliver(page, explorer)
    page.evaluate("frame()")


def press(page, explorer, name):
    page.locator(f'[data-part="{name}"]').click()
    deliver(page, explorer)


def set_slider(page, name, value):
    """By what the browser does when a slider moves, and one frame."""
    page.evaluate(
        "([name, value]) => new Promise(done => { const slider = document.querySelector(`[data-part=${name}]`);"
        "slider.value = value; slider.dispatchEvent(new Event('input')); requestAnimationFrame(done); })",
        [name, value],
    )


def words_of(page):
    return page.locator('[data-part="sentence"] li b').all_inner_texts()[1:]


def random_table(size, seed=0):
    vocab = Vocabulary([f"w{i}" for i in range(size - 4)])

    def next_word(read):
        generator = torch.Generator().manual_seed(hash((seed, read)) % 2**40)
        scores = 2 * torch.randn(size, generator=generator, dtype=torch.double)
        scores[[0, 1, 3]] = -torch.inf
        return scores.softmax(-1).tolist()

    return lambda: Table(next_word), vocab


# --- numbers ---------------------------------------------------------------------------------------------------


def draw_case(case, chance):
    size = [1, 2, 2000][case] if case < 3 else chance.choice([1, 2, 5, 17, 60])
    logits = chance.choice([1, 5, 40]) * torch.randn(size, dtype=torch.double)
    if chance.random() < 0.4:
        logits = logits.round()  # many that are equal
    if chance.random() < 0.4:
        logits[torch.rand(size) < 0.3] = -torch.inf
    if logits.max() == -torch.inf:
        logits[chance.randrange(size)] = 0.0
    options = {"temperature": chance.randint(1, 30) / 10}
    options["top_k"] = chance.choice([0, 1, 2, 5, size, 3 * size])
    options["top_p"] = chance.choice([1, 0.01, 0.5, 0.83, 0.99])
    return logits, options


def test_the_browser_computes_what_distribution_computes(page):
    chance = random.Random(0)
    torch.manual_seed(0)
    cases = [draw_case(case, chance) for case in range(CASES)]
    sent = [[[str(x) if x == -torch.inf else x for x in logits.tolist()], options] for logits, options in cases]
    for (logits, options), (model, after) in zip(cases, page.evaluate(DISTRIBUTE, sent)):
        cut = {"top_k": options["top_k"] or None, "top_p": options["top_p"] if options["top_p"] < 1 else None}
        right = distribution(logits, temperature=options["temperature"], **cut)
        torch.testing.assert_close(torch.tensor(model, dtype=torch.double), logits.softmax(-1), rtol=0, atol=1e-6)
        torch.testing.assert_close(torch.tensor(after, dtype=torch.double), right, rtol=0, atol=1e-6, msg=str(options))


def test_on_a_phone_no_head_runs_into_the_next(page):
    bare.show(page, DecodingExplorer())
    page.set_viewport_size({"width": 390, "height": 844})
    heads = page.locator(".dx-heads span").filter(visible=True).all()
    assert heads
    for head in heads:
        assert head.evaluate("head => head.scrollWidth <= head.clientWidth"), head.inner_text()


def test_drawn_candidates_are_the_likeliest(page):
    explorer = DecodingExplorer(*random_table(300), method="sampling", chosen=[7, 9])
    bare.show(page, explorer)
    chance = random.Random(1)
    for _ in range(20):
        set_slider(page, "temperature", chance.randint(2, 30))
        set_slider(page, "top_k", chance.choice([0, 3, 8, 30]))
        set_slider(page, "top_p", chance.choice([30, 71, 93, 100]))
        deliver(page, explorer)
        model, after = explorer.logits.softmax(-1), explorer.probabilities
        rows = page.evaluate(ROWS)
        likeliest = model.sort(descending=True, stable=True).indices[:10].tolist()
        assert [row[0] for row in rows[:10]] == likeliest
        assert rows[10:] == [] or rows[10][0] == explorer.next_word
        for word, ours, theirs in rows:
            assert ours == pytest.approx(model[word].item(), abs=1e-6)
            assert theirs == pytest.approx(after[word].item(), abs=1e-6)
        chosen = page.locator(".dx-next")
        expect(chosen).to_have_count(1)
        assert int(chosen.get_attribute("data-id")) == explorer.next_word
        word, numbers = explorer.vocab.words[explorer.next_word], chosen.locator("span").all_inner_texts()
        label = f"{word}: {numbers[-2]} by the model, {numbers[-1]} with the options, drawn by seed 0"
        expect(chosen).to_have_attribute("aria-label", label)


def test_a_slider_is_answered_within_one_frame_and_without_python(page):
    explorer = DecodingExplorer()
    bare.show(page, explorer)
    set_slider(page, "temperature", 5)
    expected = distribution(explorer.logits, temperature=0.5)
    assert [row[2] for row in page.evaluate(ROWS)] == pytest.approx(expected[[4, 5, 6]].tolist(), abs=1e-6)
    assert explorer.temperature == 1.0
    deliver(page, explorer)
    assert explorer.temperature == 0.5
    set_slider(page, "top_k", 2)
    expect(page.locator('[data-id="6"]')).to_have_attribute("aria-label", "you: 0.10 by the model, cut by top-k")
    set_slider(page, "top_p", 55)
    expect(page.locator('[data-id="5"]')).to_have_attribute("aria-label", "thank: 0.40 by the model, cut by top-p")
    expect(page.locator('[data-part="rest"]')).to_have_text("2 of 3 tokens are cut; 4 tokens have probability 0.")
    deliver(page, explorer)
    assert (explorer.top_k, explorer.top_p) == (2, 0.55)
    assert explorer.probabilities.tolist() == [0, 0, 0, 0, 1, 0, 0]


def test_a_word_on_the_edge_of_top_p_falls_as_in_python(page):
    for numbers in ([0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.7, 0.1, 0.1, 0.1], [0.25] * 4):
        vocab = Vocabulary("abcd"[: len(numbers)])
        for percent in (20, 25, 40, 50, 70, 75, 80, 90):
            table = lambda: Table(lambda read: [0, 0, 0, 0, *numbers])  # noqa: B023, E731
            explorer = DecodingExplorer(table, vocab, method="sampling", top_p=percent / 100)
            bare.show(page, explorer)
            drawn = {word: after for word, _, after in page.evaluate(ROWS)}
            for word, p in enumerate(explorer.probabilities.tolist()):
                assert drawn.get(word, 0.0) == pytest.approx(p, abs=1e-6), (numbers, percent)


def test_what_python_has_counted_decides(page):
    code = """async known => {
        const { distribute, orderOf } = await import("./decoding_explorer/candidates.js");
        const logits = [0.5, 0.3, 0.2].map(Math.log);
        return distribute(logits, orderOf(logits), { temperature: 1, top_k: 0, top_p: 0.8 }, known).kept;
    }"""
    assert [page.evaluate(code, known) for known in (2, 3, 9)] == [2, 3, 3]


# --- word by word ----------------------------------------------------------------------------------------------


def test_buttons_and_keys_write_and_take_back(page):
    explorer = DecodingExplorer()
    bare.show(page, explorer)
    back = page.get_by_role("button", name="Back")
    expect(back).to_have_attribute("aria-disabled", "true")
    press(page, explorer, "step")
    assert words_of(page) == ["thanks"]
    press(page, explorer, "end")
    assert words_of(page) == ["thanks", "<eos>"]
    expect(page.locator('[data-part="product"]')).to_have_text(
        "Its probability by the model: 0.50 × 0.36 = 0.18; its log: −1.71."
    )
    expect(page.locator('[data-part="next"]')).to_be_hidden()
    expect(page.get_by_role("button", name="Step")).to_have_attribute("aria-disabled", "true")
    page.locator('[data-part="step"]').click(force=True)
    assert page.evaluate("model.sent") == []
    page.keyboard.press("PageUp")
    deliver(page, explorer)
    assert words_of(page) == ["thanks"]
    press(page, explorer, "again")
    assert words_of(page) == explorer.chosen == []
    page.locator('[data-part="list"] button').first.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    deliver(page, explorer)
    assert words_of(page) == ["thanks", "<eos>"]
    expect(back).to_be_focused()  # the candidates are gone


def test_a_candidate_is_taken_by_click_and_by_enter(page):
    explorer = DecodingExplorer()
    bare.show(page, explorer)
    page.locator('[data-id="5"]').dblclick()  # the second click comes before Python has said what follows
    page.evaluate("frame()")
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "true")
    deliver(page, explorer)
    expect(page.locator(".lw")).to_have_attribute("aria-busy", "false")
    assert explorer.chosen == [5] and explorer.own == {0}
    expect(page.locator('[data-part="sentence"] .dx-own')).to_have_text("thank 0.40 your choice", use_inner_text=True)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    deliver(page, explorer)
    assert explorer.sentence == ["thank", "you"]
    assert page.locator('[data-part="list"] [tabindex="0"]').count() == 1


def test_the_focus_stays_in_a_list_that_gets_shorter(page):
    explorer = DecodingExplorer(chosen=[5])
    bare.show(page, explorer)
    page.locator('[data-part="list"] button').last.focus()
    page.keyboard.press("PageUp")
    deliver(page, explorer)
    expect(page.locator('[data-part="list"] button')).to_have_count(3)
    expect(page.locator('[data-part="list"] button').last).to_be_focused()


def test_a_word_that_is_drawn_but_unlikely_has_a_row(page):
    explorer = DecodingExplorer(*random_table(300), method="sampling", temperature=3.0)
    ranks = explorer.logits.sort(descending=True).indices.tolist()
    explorer.seed = next(
        s for s in range(100) if [setattr(explorer, "seed", s), ranks.index(explorer.next_word)][1] > 30
    )
    bare.show(page, explorer)
    rows = page.evaluate(ROWS)
    assert len(rows) == 11 and rows[-1][0] == explorer.next_word
    expect(page.locator(".dx-next em")).to_have_text(f"drawn by seed {explorer.seed}")
    others = page.locator('[data-part="rest"]').inner_text()
    assert others.startswith("286 other tokens: ") and others.endswith("; 3 tokens have probability 0.")


def test_what_python_refuses_is_said(page):
    def next_word(read):
        return {}[read] if read[-1] == 5 else [0, 0, 0, 0, 0.6, 0.4]

    explorer = DecodingExplorer(lambda: Table(next_word), Vocabulary("ab"))
    bare.show(page, explorer)
    page.locator('[data-id="5"]').click()
    deliver(page, explorer)
    expect(page.locator('[data-part="warning"]')).to_contain_text("the decoder raised KeyError")
    page.evaluate("model.set('chosen', [])")  # as Python puts back what it refuses
    press(page, explorer, "step")
    expect(page.locator('[data-part="warning"]')).to_be_empty()
    assert words_of(page) == ["a"]


# --- the beam --------------------------------------------------------------------------------------------------


def test_the_tree_of_the_lesson(page):
    explorer = DecodingExplorer()
    bare.show(page, explorer)
    page.locator('[data-part="method"]').select_option("beam")
    deliver(page, explorer)
    expect(page.locator('[data-part="untouched"]')).to_contain_text("No tokens yet")
    for _ in range(3):
        press(page, explorer, "step")
    rows = page.locator('[role="treeitem"]')
    assert rows.evaluate_all("rows => rows.map(row => row.ariaLabel)") == [
        "thanks: probability 0.50, log −0.69, score −0.69",
        "<eos>: probability 0.18, log −1.71, score −1.47, 2nd of the beam, finished",
        "you: probability 0.15, log −1.90, score −1.63, dropped",
        "thanks: probability 0.10, log −2.30, score −1.97, dropped",
        "thank: probability 0.40, log −0.92, score −0.92",
        "you: probability 0.38, log −0.97, score −0.83",
        "<eos>: probability 0.34, log −1.07, score −0.80, 1st of the beam, finished",
        "thanks: probability 0.02, log −4.19, score −3.14, dropped",
        "you: probability 0.01, log −4.47, score −3.36, dropped",
        "you: probability 0.10, log −2.30, score −2.30, dropped",
    ]
    best = "thank you <eos>: probability 0.34, its log −1.07, score −0.80"
    expect(page.locator('[data-part="best"]')).to_have_text(best)
    expect(page.locator('[data-part="greedy"]')).to_have_text("thanks <eos>: probability 0.18, its log −1.71")
    expect(page.get_by_role("button", name="To the end")).to_have_attribute("aria-disabled", "true")


def test_branches_fold_by_keys_and_by_mouse(page):
    explorer = DecodingExplorer(method="beam", depth=3)
    bare.show(page, explorer)
    rows = page.locator('[role="treeitem"]')
    rows.first.focus()
    for key, count, focused in [
        ("ArrowLeft", 7, 0),
        ("ArrowDown", 7, 1),
        ("ArrowRight", 7, 2),
        ("ArrowLeft", 4, 2),
        ("ArrowLeft", 4, 1),
        ("Enter", 3, 1),
        ("End", 3, 2),
        ("Home", 3, 0),
        ("Space", 6, 0),
        ("ArrowUp", 6, 0),
    ]:
        page.keyboard.press(key)
        expect(rows).to_have_count(count)
        expect(rows.nth(focused)).to_be_focused()
    expect(rows.nth(0)).to_have_attribute("aria-expanded", "true")
    expect(rows.nth(4)).to_have_attribute("aria-expanded", "false")
    rows.nth(4).click()
    expect(rows).to_have_count(7)
    assert page.locator('[role="treeitem"][tabindex="0"]').count() == 1
    page.keyboard.press("PageUp")
    deliver(page, explorer)
    assert explorer.depth == 2
    expect(rows.nth(4)).to_be_focused()


def test_every_node_of_a_search_is_drawn_and_what_is_left_behind_is_folded(page):
    explorer = DecodingExplorer(*random_table(40), method="beam", width=4, length_penalty=0.7, max_len=9, depth=9)
    bare.show(page, explorer)
    nodes = explorer.shown["nodes"]
    assert (
        page.locator('.dx-left[aria-expanded="false"]').count()
        and not page.locator('.dx-left[aria-expanded="true"]').count()
    )
    while page.locator('[aria-expanded="false"]').count():
        page.locator('[aria-expanded="false"]').first.click()
    drawn = sorted(page.evaluate(TREE))
    right = sorted([explorer.vocab.words[node["word"]], node["level"], node["score"]] for node in nodes)
    assert drawn == right and {node["state"] for node in nodes} == {"kept", "way", "left", "dropped"}


def test_the_sliders_of_the_beam(page):
    explorer = DecodingExplorer(method="beam", depth=3)
    bare.show(page, explorer)
    set_slider(page, "width", 1)
    set_slider(page, "length_penalty", 0)
    deliver(page, explorer)
    assert (explorer.width, explorer.length_penalty, explorer.depth) == (1, 0.0, 2)
    expect(page.locator('[data-part="best"]')).to_contain_text(
        "thanks <eos>: probability 0.18, its log −1.71, score −1.71"
    )
    expect(page.locator('[data-part="about"]')).to_contain_text("A beam of 1 is greedy")


# --- for everybody ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_method(page, theme):
    if theme == "dark":
        page.add_style_tag(content=DARK)
    for explorer in (
        DecodingExplorer(method="sampling", chosen=[5], top_k=3, top_p=0.6),
        DecodingExplorer(chosen=[5, 6, 2]),
        DecodingExplorer(method="beam"),
        DecodingExplorer(*random_table(40), method="beam", width=4, max_len=6, depth=6),
    ):
        bare.show(page, explorer)
        page.evaluate("frame()")
        found = violations(page, theme)
        assert not found, told(found)


@pytest.mark.parametrize("width", [1300, 700])
def test_nothing_is_cut_off(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    for explorer in (DecodingExplorer(method="sampling", top_k=2), DecodingExplorer(method="beam", depth=3)):
        bare.show(page, explorer)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for note in page.locator("em:visible").all():
            assert note.evaluate("note => note.scrollWidth <= note.clientWidth"), note.inner_text()


# --- without Python --------------------------------------------------------------------------------------------


def test_the_page_of_a_model_is_alive_as_a_file(browser, tmp_path):
    model, task = load_translator()
    src = torch.tensor([task.encode("They go.")])
    explorer = DecodingExplorer(
        lambda: Cached(model, src), task.tgt_vocab, join="".join, chosen=[task.tgt_vocab.bos_id]
    )
    path = tmp_path / "explorer.html"
    path.write_text(explorer.to_html(), encoding="utf-8")
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url[:5] not in FILES else None)
    page.goto(path.as_uri())
    own = page.locator(".dx-own")
    expect(own).to_have_count(1)
    page.locator('[data-part="step"]').click()
    explorer.step()
    expect(page.locator('[data-part="sentence"] b')).to_have_text(["begin", *explorer.sentence])
    expect(own).to_have_count(1)
    page.locator('[data-part="again"]').click()
    expect(own).to_have_count(0)
    page.locator('[data-part="method"]').select_option("sampling")
    expect(page.locator('[data-part="about"]')).to_contain_text(
        "in JupyterLab, where Python draws, it draws other words"
    )
    set_slider(page, "temperature", 30)
    drawn = set()
    for seed in (1, 2, 3, 4, 1):
        set_slider(page, "seed", seed)
        page.locator('[data-part="end"]').click()
        expect(page.locator('[data-part="place"]')).to_contain_text("finished")
        drawn.add("".join(words_of(page)))
        page.locator('[data-part="again"]').click()
    assert len(drawn) == 4
    expect(page.locator('[data-part="warning"]')).to_be_empty()
    page.close()
    assert complaints == []


def test_the_page_of_a_language_model_is_alive_as_a_file(browser, tmp_path):
    vocab = Vocabulary(list("abcdefgh"))
    sizes = {"vocabulary": len(vocab), "d_model": 12, "num_layers": 2, "num_heads": 2, "d_ff": 16, "max_len": 12}
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(**sizes, window=3))
    explorer = DecodingExplorer(lambda: Reader(model), vocab, max_len=9)
    path = tmp_path / "explorer.html"
    path.write_text(explorer.to_html(), encoding="utf-8")
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.locator('[data-part="end"]').click()
    explorer.to_the_end()
    expect(page.locator('[data-part="sentence"] b')).to_have_text(["begin", *explorer.sentence])
    page.locator('[data-part="back"]').click()
    expect(page.locator('[data-part="sentence"] b')).to_have_text(["begin", *explorer.sentence[:-1]])
    page.close()
    assert complaints == []


def test_a_page_says_what_its_model_refuses(browser):
    vocab = Vocabulary(list("abcdefgh"))
    sizes = {"vocabulary": len(vocab), "d_model": 12, "num_layers": 1, "num_heads": 2, "d_ff": 16, "max_len": 3}
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(**sizes, positions="learned"))
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(DecodingExplorer(lambda: Reader(model), vocab, max_len=9, chosen=[4, 5]).to_html())
    for press in ("step", "end"):
        page.locator(f'[data-part="{press}"]').click()
        expect(page.locator('[data-part="warning"]')).to_contain_text("expected positions below max_len = 3")
        expect(page.locator('[data-part="sentence"] b')).to_have_count(3)
    page.locator('[data-part="back"]').click()
    expect(page.locator('[data-part="warning"]')).to_be_empty()
    expect(page.locator('[data-part="sentence"] b')).to_have_count(2)
    page.close()
    assert complaints == []
