"""Each widget in Chinese: what it says is Chinese, nothing sticks out, and axe finds nothing."""

import re

import pytest

from lessons import widgets, wording
from tests.browser import bare
from tests.browser.accessible import told, violations
from tests.browser.test_every_widget import ALONE, ROOM, SIZE
from tests.widgets.samples import SAMPLES
from tools.translation.catalogs import of_package

GAP_OR_TAG = re.compile(r"(\{\w+\}|<[^>]*>)")
TOKENS = (
    "the teacher will not drink tea at school tomorrow cat saw dog sat down is asleep now black sleeps "
    "le chat noir dort thanks thank you <bos> <eos> <pad>"
)
# What stays as it is: tokens, what Python calls True, and the names of arguments.
DATA = re.compile(rf"(\d+: |[qkv] )?({TOKENS.replace(' ', '|')})|True|False|top-[kp]|num_heads H|head_dim d")
LATIN = """() => {
    const found = [];
    const all = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT;
    const walk = document.createTreeWalker(document.querySelector(".lw"), all);
    for (let node = walk.currentNode; node; node = walk.nextNode()) {
        const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
        if (element.closest("pre, code")) continue;
        const read = ["aria-label", "aria-valuetext", "title"].map((name) => element.getAttribute(name) ?? "");
        found.push(...(node === element ? read : [node.data]));
    }
    return [...new Set(found)].filter((text) => /[A-Za-z]{2}/.test(text) && !/[\\u3400-\\u9fff]/.test(text));
}"""


def in_chinese(message):
    """About as long as a translation: a character or two for each word; gaps and tags stay."""
    parts = GAP_OR_TAG.split(message)
    words = [re.sub(r"[A-Za-z’']+ ?", lambda word: "中文"[: 1 + (len(word[0]) > 4)], part) for part in parts[::2]]
    return "".join(part for pair in zip(words, [*parts[1::2], ""]) for part in pair)


@pytest.fixture(scope="module", autouse=True)
def chinese():
    """The catalog; what it lacks is made up. Gives the translations that have no Chinese, as of “logits”."""
    real = wording._catalog
    messages = [(message, message) if isinstance(message, str) else message for _, message in of_package()]
    made_up = {one: in_chinese(many) for one, many in messages}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wording, "_catalog", lambda language, part: made_up | real(language, part))
        wording.use("zh_CN")
        yield {text for text in real("zh_CN", wording.PACKAGE).values() if not re.search("[\u3400-\u9fff]", text)}
    wording.use("en")


@pytest.fixture
def in_latin(page, chinese):
    return lambda: [text for text in page.evaluate(LATIN) if not DATA.fullmatch(text) and text not in chinese]


@pytest.mark.parametrize("make", SAMPLES.values(), ids=SAMPLES)
def test_it_speaks_chinese_and_fits(page, make, in_latin):
    page.add_style_tag(content=ALONE)
    page.set_viewport_size(ROOM)
    bare.show(page, make())
    page.evaluate("frame()")
    assert page.locator(".lw").get_attribute("lang") == "zh-CN"
    assert in_latin() == []
    height, wide = page.evaluate(SIZE)
    assert not wide and height <= ROOM["height"]
    assert not (found := violations(page, context=".lw")), told(found)
    for cell in page.locator('.lw [tabindex="0"]').locator("visible=true").all():
        cell.focus()
        page.evaluate("frame()")
        assert in_latin() == []


def test_what_explore_gives_is_read_as_chinese(page):
    shown = widgets.explore(lambda x: x, x=(0, 2))._shown
    page.evaluate("state => show('function_explorer', state)", bare.state(shown))
    assert page.locator(".lw").get_attribute("lang") == "zh-CN"


def test_a_page_of_a_widget_alone_speaks_chinese(page, in_latin):
    page.set_content(widgets.ModelStudio().to_html())
    page.wait_for_selector(".lw")
    assert page.locator("html").get_attribute("lang") == page.locator(".lw").get_attribute("lang") == "zh-CN"
    assert in_latin() == []
