"""The pictures in images/ are what tools/diagrams.py draws, and anyone can read them."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lessons import wording
from tools.diagrams import DIAGRAMS, course_map
from tools.images import folder_of, is_drawn_from

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
READABLE = 4.5  # the contrast that WCAG 2 (level AA) asks of text


def drawn(name: str) -> ET.Element:
    return ET.fromstring(DIAGRAMS[name]())


def luminance(color: str) -> float:
    """The relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def covers(rect: ET.Element, text: ET.Element) -> bool:
    """True where the rectangle lies under the point at which the text is anchored."""
    x, y, left, top, width, height = (
        float(element.get(name))
        for element, names in ((text, ("x", "y")), (rect, ("x", "y", "width", "height")))
        for name in names
    )
    return left <= x <= left + width and top <= y <= top + height


every_language = pytest.mark.parametrize("language", wording.available())


@pytest.fixture
def speaking(language):
    """In this language, while the test runs."""
    wording.use(language)
    yield folder_of(language)
    wording.use(wording.ENGLISH)


@every_language
def test_images_holds_these_pictures_and_no_others(language):
    assert {path.stem for path in folder_of(language).glob("*.svg")} == set(DIAGRAMS)


@every_language
@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_file_is_what_the_function_draws(name, speaking):
    stored = (speaking / f"{name}.svg").read_bytes()
    assert stored == DIAGRAMS[name]().encode(), "run: make images"


@every_language
@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_picture_inside_notebooks_is_drawn_from_it(name, speaking):
    assert is_drawn_from(speaking / f"{name}.png", DIAGRAMS[name]()), "run: make images, then make notebooks"
    assert not is_drawn_from(speaking / f"{name}.png", DIAGRAMS[name]() + " ")


def test_each_language_has_its_own():
    wording.use("zh_CN")
    chinese = {name: draw() for name, draw in DIAGRAMS.items()}
    wording.use(wording.ENGLISH)
    assert all(re.search("[\u4e00-\u9fff]{4}", svg) for svg in chinese.values())
    assert all(svg != DIAGRAMS[name]() for name, svg in chinese.items())


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_picture_says_in_words_what_it_shows(name):
    root = drawn(name)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title.text and description.text
    assert root.get("aria-labelledby").split() == [title.get("id"), description.get("id")]


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_picture_refers_to_nothing_outside_itself(name):
    text, root = DIAGRAMS[name](), drawn(name)
    assert re.findall(r"\w+://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "defs", "marker", "g", "path", "rect", "text", "tspan")
    }
    names = {element.get("id") for element in root.iter()}
    links = re.findall(r"url\(([^)]*)\)", text)
    assert links and all(link.removeprefix("#") in names and link.startswith("#") for link in links)
    assert "href" not in text and not re.search(r"\son\w+=", text)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_every_text_stands_out_from_what_lies_under_it(name):
    rects, texts = [], []
    for element in drawn(name).iter():
        if element.tag == f"{SVG}rect":
            rects.append(element)
        elif element.tag == f"{SVG}text":
            under = [rect for rect in rects if covers(rect, element)][-1]
            texts.append("".join(element.itertext()))
            assert contrast(element.get("fill"), under.get("fill")) >= READABLE, texts[-1]
    assert len(texts) > 10


def lessons_on(picture: str) -> dict[str, ET.Element]:
    return {group.get("data-lesson"): group for group in ET.fromstring(picture).iterfind(f".//{SVG}g")}


def test_the_map_shows_the_lessons_that_have_a_notebook_as_ready_and_no_others():
    lessons = lessons_on(course_map())
    ready = {number for number, lesson in lessons.items() if "planned" not in lesson.itertext()}
    assert ready == {path.name[:2] for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}


def test_a_lesson_that_is_not_ready_has_a_dashed_outline_and_the_word_planned():
    ready = {"00", "07"}
    lessons = lessons_on(course_map(ready))
    assert list(sorted(lessons)) == [f"{i:02}" for i in range(19)]
    for number, lesson in lessons.items():
        planned = number not in ready
        assert ("planned" in lesson.itertext()) == planned
        assert (lesson.find(f"{SVG}rect").get("stroke-dasharray") is not None) == planned
    described = ET.fromstring(course_map(ready)).findtext(f"{SVG}desc")
    assert "07 Encoder," in described and "08 Decoder (planned)," in described
