"""The site: built once, then every page without a request to elsewhere, every link, and the widgets alive."""

import re
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import ThreadingHTTPServer
from urllib.parse import quote, unquote, urldefrag

import pytest
from playwright.sync_api import expect

from benchmarks import site as benchmark
from lessons.masks import causal
from lessons.widgets import MaskStudio
from tests.browser import PATIENCE
from tests.browser.accessible import told, violations
from tests.browser.visitors import PACKAGES
from tests.browser.work import ON_THE_SITE, operate
from tests.notebooks.cells import NOTEBOOKS, ROOT
from tools.site import alive

FIRST_VIEW = 300_000  # bytes that the front page loads before anybody scrolls or clicks
HEAVIEST = 1_500_000  # bytes of a page, with all that it loads
LOADED = "() => performance.getEntriesByType('resource').map(entry => entry.name)"
SCALES = {"temperature": 10, "top_p": 100, "length_penalty": 10}  # of the sliders
TURN = """([selector, value]) => {
    const control = document.querySelector(selector);
    if (!control) return;
    control.value = value;
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind));
}"""
SAYS = """([selector, texts]) =>
    [...document.querySelectorAll(selector)].map((each) => each.textContent).join(" ") === texts.join(" ")"""
STARTS = "([selector, text]) => document.querySelector(selector).textContent.startsWith(text)"
KEPT = """place => [...document.querySelectorAll(`${place} [data-rank]:not([data-rank="0"])`)]
    .sort((a, b) => a.dataset.rank - b.dataset.rank)
    .map((row) => [row.querySelector("b").textContent, Number(row.dataset.score)])"""
AFTER = """place => [...document.querySelectorAll(`${place} [data-id]`)].map(
    row => [Number(row.dataset.id), Number(row.dataset.after)])"""
SEVERE = {"serious", "critical"}
# What is about colors, and the slowest of the rules whose violations are moderate.
SLOW_RULES = {rule: {"enabled": False} for rule in ("color-contrast", "link-in-text-block", "region")}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("build") / "site"
    subprocess.run([sys.executable, "-m", "tools.site", target], cwd=ROOT, check=True)  # fails if Sphinx warns
    return target


@pytest.fixture(scope="module")
def home(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(benchmark.Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def visitor(browser, home):
    """A page of the browser; what it asks for from elsewhere, and what it complains of, is collected."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    page.elsewhere, page.complaints, page.received = [], [], []
    page.on("request", lambda request: page.elsewhere.append(request.url) if is_elsewhere(request.url, home) else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" else None)
    page.on("response", lambda response: page.received.append(response))
    yield page
    page.close()
    assert page.elsewhere == [] and page.complaints == []


def is_elsewhere(url, home):
    return not url.startswith((home, "data:", "blob:"))


class Targets(HTMLParser):
    """What a page links to or loads, and the places in it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places, self.without_alt = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "shortcut icon"):
            self.loads.append(given["href"])
        if tag == "img" and not given.get("alt", "").strip():
            self.without_alt.append(given.get("src"))


@pytest.fixture(scope="module")
def pages(site):
    return {path: Targets(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_lesson_has_its_page_and_each_of_its_figures(site):
    for name, notebook in NOTEBOOKS.items():
        text = (site / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        figures = [output for output in outputs if "image/png" in output.get("data", {})]
        assert len(re.findall(rf"_static/figures/{name}-", text)) == len(figures)


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site, pages):
    for path, page in pages.items():
        for target in page.links + page.loads:
            if target.startswith(("http:", "https:", "mailto:")):
                assert target in page.links, f"{path.name} loads {target}"
                continue
            if target.startswith("data:"):
                continue
            file, place = urldefrag(target)
            found = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
            assert found.exists(), f"{path.name} links to {target}"
            if place and found in pages:
                assert unquote(place) in pages[found].places, f"{path.name} links to {target}"


def test_each_page_has_a_counterpart_in_every_language_and_leads_to_it(site):
    english = {path.relative_to(site) for path in site.rglob("*.html") if "zh_CN" not in path.parts}
    assert {path.relative_to(site / "zh_CN") for path in (site / "zh_CN").rglob("*.html")} == english
    for page in english:
        for folder, language, other, tag in [(site, "en", "zh_CN", "zh-CN"), (site / "zh_CN", "zh-CN", "", "en")]:
            text = (folder / page).read_text(encoding="utf-8")
            assert f'lang="{language}"' in text.partition("<head>")[0]
            if "course-languages" in text:
                (link,) = re.findall(rf'<a href="([^"]+)" lang="{tag}" hreflang="{tag}">', text)
                assert (folder / page.parent / link).resolve() == site / other / page
    assert sum("course-languages" in (site / page).read_text(encoding="utf-8") for page in english) >= 40


def test_a_chinese_page_has_chinese_hints_and_says_what_to_type(visitor, home):
    visitor.goto(f"{home}zh_CN/notebooks/06_embeddings_and_positions.html")
    assert "嵌入" in visitor.locator("h1").first.inner_text()
    visitor.locator(".course-work summary").click()
    assert visitor.locator("#work-on-this").inner_text() == "make lab LESSON=06 LESSONS_LANG=zh_CN"
    assert re.search("[\u4e00-\u9fff]{2}", visitor.locator("details details p").first.text_content())


def test_every_picture_has_alternative_text(pages):
    assert {path.name: page.without_alt for path, page in pages.items() if page.without_alt} == {}


def test_no_formula_needs_a_script(site):
    lesson = (site / "notebooks" / "02_scaled_dot_product.html").read_text(encoding="utf-8")
    assert lesson.count("<math") > 5 and "mathjax" not in "".join(Targets(lesson).loads).lower()


def test_what_answers_a_prediction_is_folded(visitor, home):
    visitor.goto(f"{home}notebooks/03_masked_attention.html")
    folded = visitor.locator("details.hide")
    assert folded.count() > 3
    assert folded.evaluate_all("all => all.every(one => !one.open)")


def test_the_front_page_opens_with_a_mask_that_answers(visitor, home):
    visitor.goto(home)
    expect(visitor.locator(".course-widget[data-alive]")).to_have_count(1)
    weights = visitor.locator('[data-part="weights"] [data-at="2,0"]')
    expect(weights).not_to_have_text("0.00")
    before = weights.text_content()
    visitor.locator('[data-part="allowed"] [data-at="2,1"]').click()
    expect(weights).not_to_have_text(before)
    visitor.keyboard.press("Control+z")
    expect(weights).to_have_text(before)
    assert sum(len(response.body()) for response in visitor.received) <= FIRST_VIEW


def test_the_front_page_opens_with_a_model_that_starts_when_asked(visitor, home):
    visitor.goto(home)
    place = visitor.get_by_role("group", name="ModelStudio", exact=True)
    expect(place.locator("img")).to_be_visible()
    visitor.wait_for_load_state("networkidle")
    assert not any("model_studio" in response.url and "webp" not in response.url for response in visitor.received)
    place.get_by_role("button").click()
    dialog = visitor.get_by_role("dialog", name="ModelStudio")
    expect(dialog.locator(".ms-word")).to_have_count(9)
    dialog.locator('[data-part="reset"]').click()
    expect(dialog.locator(".ms-word")).to_have_count(10)
    assert (
        visitor.evaluate(
            "[innerWidth, innerHeight].join() === '1280,720' && document.querySelector('dialog').scrollHeight"
        )
        <= 720
    )
    visitor.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    place.get_by_role("button").click()
    expect(dialog.locator(".ms-word")).to_have_count(10)
    dialog.get_by_role("button", name="close").click()
    expect(dialog).to_be_hidden()


def test_widgets_that_live_are_dark_where_the_page_is(visitor, home):
    visitor.emulate_media(color_scheme="dark")
    visitor.goto(home)
    visitor.get_by_role("group", name="ModelStudio", exact=True).get_by_role("button").click()
    expect(visitor.locator("dialog .ms-word")).to_have_count(9)
    expect(visitor.locator("[data-alive] .hg-cell").first).to_be_attached()
    for part in ("dialog", "dialog .lw", ".course-widget:not(.course-waits)[data-alive]"):
        colors = visitor.locator(part).first.evaluate(
            "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
        )
        assert colors == ["rgb(17, 17, 17)", "rgb(255, 255, 255)"], part
    found = violations(visitor, "dark", context="dialog", preload=False)
    assert not found, told(found)


def test_its_numbers_are_those_of_python(visitor, home):
    visitor.goto(home)
    expect(visitor.locator(".course-widget[data-alive]")).to_have_count(1)
    studio = MaskStudio()
    assert studio.allowed[:4, :4].equal(causal(4))
    for q in range(4):
        for k in range(q + 1):
            cell = visitor.locator(f'[data-part="weights"] [data-at="{q},{k}"]')
            expect(cell).to_have_text(f"{studio.weights[q, k]:.2f}")


def test_another_sentence_gets_new_scores(visitor, home):
    visitor.goto(home)
    expect(visitor.locator(".course-widget[data-alive]")).to_have_count(1)
    target = visitor.locator('[data-part="target"]')
    target.fill("one two three four five six seven")
    target.press("Enter")
    expect(visitor.locator('[data-part="weights"] [data-at="6,6"]')).to_be_visible()
    expect(visitor.get_by_text("Waiting for Python")).to_have_count(0)


def test_what_a_visitor_types_is_never_html(visitor, home):
    word = "<img/src=typed/onerror=alert(1)>"
    made = visitor.locator('img[src^="typed"]')
    visitor.goto(home)
    expect(visitor.locator(".course-widget[data-alive]")).to_have_count(1)
    target = visitor.locator('[data-part="target"]')
    target.fill(f"one {word} three")
    target.press("Enter")
    expect(visitor.locator('[data-part="weights"] [data-at="2,2"]')).to_be_visible()
    assert made.count() == 0
    expect(visitor.locator('[data-part="weights"]')).to_contain_text(word[:9])


@pytest.mark.parametrize(("query", "found"), [("<input name=mask>", True), ("<img src=typed onerror=alert(1)>", False)])
def test_what_a_visitor_searches_for_is_never_html(visitor, home, query, found):
    visitor.goto(f"{home}search.html?q={quote(query)}")
    expect(visitor.locator(".search-summary")).to_have_text(re.compile("finished" if found else "did not match"))
    assert visitor.locator('input[name="mask"], img[src="typed"]').count() == 0


def test_every_widget_of_the_gallery_lives(visitor, home):
    visitor.goto(f"{home}widgets.html")
    places = visitor.locator(".course-widget")
    expect(places).to_have_count(len(alive.ALIVE))
    for number in range(len(alive.ALIVE)):
        places.nth(number).scroll_into_view_if_needed()
        expect(places.nth(number)).to_have_attribute("data-alive", "")


def test_what_python_would_compute_is_there(visitor, home):
    visitor.goto(f"{home}widgets.html")
    tour = visitor.get_by_role("group", name="ShapeTour")
    tour.scroll_into_view_if_needed()
    expect(tour).to_have_attribute("data-alive", "")
    for stop in range(2, 5):
        tour.locator('[data-part="next"]').click()
        expect(tour.locator('[data-part="place"]')).to_contain_text(f"stop {stop} of")
    heads = visitor.get_by_role("group", name="AttentionExplorer")
    heads.scroll_into_view_if_needed()
    expect(heads).to_have_attribute("data-alive", "")
    heads.locator("[data-head]").nth(2).click()
    expect(heads.locator('[data-head][aria-pressed="true"], [data-head][aria-checked="true"]').first).to_be_visible()


def test_what_needs_python_says_so(visitor, home):
    visitor.goto(home)
    expect(visitor.locator(".course-widget[data-alive]")).to_have_count(1)
    visitor.locator('[data-part="code"] summary').click()
    expect(visitor.get_by_text("This page has no Python.")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["index.html", "zh_CN/index.html", "widgets.html", "notebooks/02_scaled_dot_product.html"]
)
def test_a_page_is_accessible(visitor, home, name, theme):
    visitor.emulate_media(color_scheme=theme)
    visitor.goto(f"{home}{name}")
    visitor.wait_for_load_state("networkidle")
    assert [one["id"] for one in violations(visitor, theme, preload=False) if one["impact"] in SEVERE] == []


@pytest.mark.one_of(3)
@pytest.mark.parametrize("third", range(3))
def test_every_page_is_accessible(visitor, site, home, third):
    """Without its colors, which are the same on all pages and take most of the time."""
    english = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if "zh_CN" not in path.parts)
    wrong = {}
    for name in english[third::3]:
        visitor.goto(f"{home}{name}")
        found = violations(visitor, preload=False, selectors=False, rules=SLOW_RULES)
        wrong[name] = told([each for each in found if each["impact"] in SEVERE])
    assert {name: texts for name, texts in wrong.items() if texts} == {}


def test_a_lesson_says_what_to_type_to_work_on_it(visitor, home):
    visitor.goto(f"{home}notebooks/03_masked_attention.html")
    command = visitor.get_by_text("make lab LESSON=03")
    expect(command).to_be_hidden()
    visitor.locator("summary", has_text="Work on this in JupyterLab").click()
    expect(command).to_be_visible()


def test_paper_gets_the_lesson_alone(visitor, home):
    visitor.emulate_media(media="print")
    visitor.goto(f"{home}notebooks/03_masked_attention.html")
    for part in (".sidebar-drawer", ".toc-drawer", ".mobile-header"):
        expect(visitor.locator(part)).to_be_hidden()
    expect(visitor.get_by_role("heading", level=1)).to_be_visible()


def test_the_benchmark_finds_its_way(browser, home, capsys):
    benchmark.measure(browser, home, smoke=True)
    assert "MaskStudio's answer" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["index.html", "widgets.html", "notebooks/03_masked_attention.html"])
def test_a_phone_scrolls_in_one_direction(visitor, home, name):
    visitor.set_viewport_size({"width": 390, "height": 844})
    visitor.goto(f"{home}{name}")
    visitor.wait_for_load_state("networkidle")
    assert visitor.evaluate("document.documentElement.scrollWidth") <= 390


def test_pages_are_light(site, pages):
    for path, page in pages.items():
        files = {path, *((path.parent / unquote(load.partition("?")[0])).resolve() for load in page.loads)}
        weight = sum(file.stat().st_size for file in files if file.is_file())
        assert weight <= HEAVIEST, (path.name, weight)


in_each_browser = pytest.mark.parametrize("any_browser", PACKAGES, indirect=True)


def assert_content(visitor, home):
    assert [url for url in visitor.evaluate(LOADED) if is_elsewhere(url, home)] == []
    assert visitor.complaints() == []


@in_each_browser
def test_the_front_page_answers_in_each_browser(any_browser, home):
    any_browser.goto(home)
    any_browser.wait_for(".course-widget[data-alive]")
    any_browser.click('[data-part="allowed"] [data-at="2,1"]')
    any_browser.wait_for('[data-part="weights"] [data-at="2,1"][data-value="0"]')
    assert_content(any_browser, home)


@in_each_browser
def test_a_lesson_unfolds_in_each_browser(any_browser, home):
    any_browser.goto(f"{home}notebooks/03_masked_attention.html")
    any_browser.wait_for("math")
    any_browser.click("details.hide summary")
    any_browser.wait_for("details.hide[open]")
    assert_content(any_browser, home)


@in_each_browser
def test_every_widget_of_the_gallery_is_operated_in_each_browser(any_browser, home):
    any_browser.goto(f"{home}widgets.html")
    for name in alive.ALIVE:
        place = f'.course-widget[aria-label="{name}"]'
        any_browser.wait_for(place)
        any_browser.evaluate("place => document.querySelector(place).scrollIntoView()", place)
        any_browser.wait_for(f"{place}[data-alive] .lw")
        operate(any_browser, name, place, ON_THE_SITE)
    assert_content(any_browser, home)


@in_each_browser
def test_the_translator_decodes_as_in_torch_in_each_browser(any_browser, home):
    any_browser.goto(f"{home}widgets.html")
    place = '.course-widget[aria-label="DecodingExplorer"]'
    any_browser.wait_for(place)
    any_browser.evaluate("place => document.querySelector(place).scrollIntoView()", place)
    any_browser.wait_for(f"{place}[data-alive] .lw")
    explorer = alive.example("DecodingExplorer")

    def turn(**traits):
        """Move sliders, and wait until the page shows the last of them."""
        for name, value in traits.items():
            setattr(explorer, name, value)
            control, text = f'{place} [data-part="{name}"]', f"{value:g}" if name != "method" else value
            any_browser.evaluate(TURN, [control, f"{value * SCALES.get(name, 1):g}" if name != "method" else value])
        if name != "method":
            any_browser.wait_for(f'{place} [data-part="{name}-shown"]', text)

    any_browser.click(f'{place} [data-part="end"]')
    explorer.to_the_end()
    any_browser.wait_until(SAYS, [f'{place} [data-part="sentence"] b', ["begin", *explorer.sentence]])
    turn(method="beam")
    any_browser.wait_for(f'{place} [data-part="untouched"]')
    any_browser.click(f'{place} [data-part="end"]')
    explorer.to_the_end()
    for options in ({"width": 5, "length_penalty": 2}, {"width": 4, "length_penalty": 0}):
        turn(**options)
        best = explorer.shown["best"]
        any_browser.wait_until(STARTS, [f'{place} [data-part="best"]', f"{best['text']}: probability"])
        kept = [[explorer.vocab.words[each.ids[-1]], each.score] for each in explorer.steps[-1].kept]
        for (word, score), (right, expected) in zip(any_browser.evaluate(KEPT, place), kept, strict=True):
            assert word == right and abs(score - expected) < 1e-4
    explorer.method, explorer.chosen = "sampling", explorer.chosen[:1]
    turn(method="sampling")
    any_browser.click(f'{place} [data-part="again"]')
    any_browser.wait_for(f'{place} [data-part="list"]')
    any_browser.click(f'{place} [data-part="list"] [data-id="{explorer.chosen[0]}"]')
    any_browser.wait_for(f'{place} [data-part="place"]', "1 word")
    turn(top_k=6, top_p=0.8, temperature=2.5)
    rows = any_browser.evaluate(AFTER, place)
    assert len(rows) == 10 and sum(after > 0 for _, after in rows) == 3
    for word, after in rows:
        assert abs(explorer.probabilities[word].item() - after) < 1e-4
    assert_content(any_browser, home)
