"""lessons.display: figures with words, source code, and equality that is shown."""

import base64
import io
import re
import struct
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure
from PIL import Image

from lessons.attention import attend
from lessons.display import Branch, check_same, show, show_measured, show_source
from lessons.plots import plot_matrix
from lessons.plots.pictures import COLORS, SHADES, Picture, draw, in_few_colors, take_picture, with_palette
from lessons.source import as_html
from lessons.vocabulary import Vocabulary

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def _figures():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def tag_of(picture):
    """The attributes of the one tag in the picture's html."""
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda name, attributes: tags.append((name, dict(attributes)))
    parser.handle_data = lambda data: pytest.fail(f"text beside the tag: {data!r}")
    parser.feed(picture.to_html())
    ((name, attributes),) = tags
    assert name == "img"
    return attributes


def test_a_picture_in_words():
    picture = show(plot_matrix([[0.25, -3.0]], title="scores"), alt="two numbers")
    assert repr(picture) == (
        "[Figure: two numbers]\nscores | ← tokens | features →\ncolumns: 0  1\n0: 0.25  −3.00\n"
        "colors: PuOr from -4.5 to 4.5"
    )


def test_a_picture_in_html():
    figure = plt.figure(figsize=(3, 2))
    picture = show(figure, alt="nothing")
    tag = tag_of(picture)
    assert tag["width"] == "288"  # 3 inches of 96 pixels
    kind, data = tag["src"].split(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) == picture.png
    assert struct.unpack(">II", picture.png[16:24]) == (360, 240)  # 3 and 2 inches of 120 dots


def test_the_alternative_text_is_escaped():
    alt = """ "<b>" & 'x' > y"""
    assert tag_of(show(plt.figure(), alt=alt))["alt"] == alt


def test_the_same_figure_gives_the_same_bytes():
    one, other = (show(plot_matrix([[1.0, 2.0]]), alt="twice") for _ in range(2))
    assert one == other
    assert b"Software" not in one.png


def test_a_figure_is_drawn_once(monkeypatch):
    drawn, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda figure, *rest: [drawn.append(figure), draw(figure, *rest)])
    show(plot_matrix([[1.0, 2.0]]), alt="two numbers")
    assert len(drawn) == 1


def test_areas_keep_their_color_and_edges_share_a_few():
    areas = np.tile(np.arange(10, 250, 30, dtype=np.uint8).repeat(16), (100, 1))
    edges = np.linspace(0, 255, areas.shape[1]).astype(np.uint8)  # each shade in one pixel
    drawn = np.vstack([areas, edges])
    kept = np.array(in_few_colors(Image.fromarray(drawn)).convert("L"))
    assert (kept[:-1] == areas).all()
    assert len(np.unique(kept)) == SHADES + len(np.unique(areas))
    assert np.abs(kept - drawn.astype(int)).max() <= 255 / (SHADES - 1)


def test_a_picture_is_made_small_unless_time_counts():
    picture = draw(plot_matrix(np.arange(144.0).reshape(12, 12)).figure)
    assert len(with_palette(picture)) < len(with_palette(picture, optimize=False))


def test_a_picture_has_at_most_so_many_colors():
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
    for most, png in [(COLORS, with_palette(noise)), (4, with_palette(noise, 4))]:
        assert len(Image.open(io.BytesIO(png)).getcolors()) <= most


def test_the_stored_edition_takes_time_for_smaller_pictures(monkeypatch):
    def size():
        return len(take_picture(plot_matrix(torch.randn(12, 12).tolist()).figure, "many numbers").png)

    torch.manual_seed(0)
    monkeypatch.setenv("LESSONS_STORED_EDITION", "1")
    stored = size()
    torch.manual_seed(0)
    monkeypatch.delenv("LESSONS_STORED_EDITION")
    assert stored < size()


def test_a_picture_tells_its_numbers_unless_they_were_measured():
    assert "0.25" in take_picture(plot_matrix([[0.25]]).figure, "a number").text
    assert take_picture(plot_matrix([[0.25]]).figure, "a number", measured=True).text == "measured here"


def test_a_learner_gets_html_and_the_stored_edition_a_png(monkeypatch):
    picture = show(plot_matrix([[1.0, 2.0]]), alt="two numbers")
    monkeypatch.delenv("LESSONS_STORED_EDITION")
    assert formatted(picture) == ({"text/html": picture.to_html(), "text/plain": repr(picture)}, {})
    monkeypatch.setenv("LESSONS_STORED_EDITION", "1")
    data, metadata = formatted(picture)
    assert data == {"image/png": base64.b64encode(picture.png).decode(), "text/plain": repr(picture)}
    assert metadata == {"image/png": {"alt": "two numbers", "width": picture.width}}


def formatted(picture):
    """What the kernel sends."""
    return DisplayFormatter().format(picture)


def test_a_picture_has_a_palette_with_a_true_white():
    picture = Image.open(io.BytesIO(show(plot_matrix(torch.randn(6, 6).cumsum(1).tolist()), alt="many colors").png))
    assert picture.mode == "P" and len(picture.getcolors()) <= 256
    assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("part", [lambda ax: ax, lambda ax: ax.figure])
def test_show_closes_the_figure_and_no_other(part):
    kept = plt.figure()
    show(part(plot_matrix([[1.0]])), alt="one number")
    assert plt.get_fignums() == [kept.number]


def test_a_figure_of_two_plots_is_told_from_left_to_right():
    figure, (left, right) = plt.subplots(1, 2)
    plot_matrix([[1.0]], ax=left, title="left")
    plot_matrix([[2.0]], ax=right, title="right")
    text = show(figure, alt="both").text
    assert re.search(r"left.*1\.00.*\nright.*2\.00", text, re.DOTALL)


def test_an_empty_place_at_the_end_of_a_figure_leaves_no_empty_line():
    figure, (left, right) = plt.subplots(1, 2)
    plot_matrix([[1.0]], ax=left)
    right.axis("off")
    assert not repr(show(figure, alt="one matrix")).endswith("\n")


def test_a_part_of_a_figure_is_shown_with_the_whole():
    left, right = plt.figure().subfigures(1, 2)
    plot_matrix([[1.0]], ax=left.subplots(), title="left")
    assert "left" in show(plot_matrix([[2.0]], ax=right.subplots(), title="right"), alt="both").text


def test_axes_without_a_figure_are_refused():
    ax = plt.figure().subplots()
    ax.remove()
    with pytest.raises(ValueError, match="drawn belongs to no figure; expected an Axes or a Figure"):
        show(ax, alt="nothing")


@pytest.mark.parametrize("alt", ["", " \n"])
def test_a_figure_without_alternative_text_is_refused(alt):
    with pytest.raises(ValueError, match="alt is empty; expected a sentence"):
        show(plt.figure(), alt=alt)


def test_show_source_is_the_code_of_the_package():
    source = show_source(attend, Vocabulary)
    first, second = source.text.split("\n\n\n")
    assert first.startswith("def attend(\n") and first.endswith("return output, weights")
    assert second.startswith("class Vocabulary:\n") and second.endswith("for i in ids]")
    assert repr(source) == source.text
    assert source._repr_html_() == as_html(source.text)


X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    ("mine", "theirs", "printed"),
    [
        (X, X.double() + 1e-7, "(2, 3)"),
        (X, X.tolist(), "(2, 3)"),
        (2.0, torch.tensor(2), "()"),
        ((X, X[0]), (X, X[0]), "(2, 3) and (3,)"),
        ((X, None), (X, None), "(2, 3)"),
        ([X, X[0]], (X, X[0]), "(2, 3) and (3,)"),
        (torch.tensor([NAN, INF]), torch.tensor([NAN, INF]), "(2,)"),
        (X.requires_grad_(), X.detach(), "(2, 3)"),
    ],
)
def test_check_same_prints_what_it_compared(capsys, mine, theirs, printed):
    check_same(mine, theirs)
    assert capsys.readouterr().out == f"the same: {printed}, to within 1e-05\n"


def test_check_same_with_another_tolerance(capsys):
    check_same(X, X + 0.01, tolerance=0.1)
    assert capsys.readouterr().out == "the same: (2, 3), to within 0.1\n"
    with pytest.raises(ValueError, match="not the same in 6 of 6 places"):
        check_same(X, X + 0.01, tolerance=1e-4)


def changed(place, value):
    other = X.detach().clone()
    other[place] = value
    return other


@pytest.mark.parametrize(
    ("mine", "theirs", "message"),
    [
        (X, X[:, :2], r"not the same: shape \(2, 3\) vs. \(2, 2\)"),
        (X, X.T, r"not the same: shape \(2, 3\) vs. \(3, 2\)"),
        (X[:1], X[0], r"not the same: shape \(1, 3\) vs. \(3,\)"),
        (X, changed((1, 2), 6.5), r"not the same in 1 of 6 places; first at \[1, 2\]: 6 vs. 6.5"),
        (X, changed(1, 0.0), r"not the same in 3 of 6 places; first at \[1, 0\]: 4 vs. 0"),
        (X, changed((0, 1), NAN), r"not the same in 1 of 6 places; first at \[0, 1\]: 2 vs. nan"),
        (X, changed((0, 1), INF), r"not the same in 1 of 6 places; first at \[0, 1\]: 2 vs. inf"),
        (1.0, 2.0, r"not the same in 1 of 1 places; first at \[\]: 1 vs. 2"),
        ((X, X[0]), (X, X[1]), r"not the same in 3 of 3 places; first at \[0\]: 1 vs. 4"),
        (torch.tensor([True, False]), torch.tensor([True, True]), r"in 1 of 2 places; first at \[1\]: 0 vs. 1"),
        (None, None, "mine and theirs contain no tensor; expected one or more"),
        ((None, None), (None, None), "mine and theirs contain no tensor; expected one or more"),
        ((X, X), (X,), "not the same: 2 tensors vs. 1"),
        (X, (X, X), "not the same: 1 tensors vs. 2"),
    ],
)
def test_check_same_says_what_differs(capsys, mine, theirs, message):
    with pytest.raises(ValueError, match=message):
        check_same(mine, theirs)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("mine", "theirs"), [(None, X), (X, None), ((X, None), (X, X)), ((X, X), (X, None))])
def test_none_beside_a_tensor_is_a_difference(mine, theirs):
    with pytest.raises(ValueError, match=r"not the same.*None"):
        check_same(mine, theirs)


def test_a_picture_cannot_be_changed():
    picture = show(plt.figure(), alt="fixed")
    assert isinstance(picture, Picture)
    with pytest.raises(AttributeError, match="alt"):
        picture.alt = "other"


def test_show_draws_the_figure_of_the_axes_given_though_another_is_current():
    expected = show(plot_matrix([[1.0, 2.0]], title="mine"), alt="mine")
    ax = plot_matrix([[1.0, 2.0]], title="mine")
    other = plt.figure()
    assert plt.gcf() is other
    assert show(ax, alt="mine") == expected
    assert plt.get_fignums() == [other.number]


@pytest.mark.parametrize(("mine", "theirs"), [(0.0, 1e-4), (1e-4, 0.0), (1e6, 1e6 + 100), (1.0, 1.0001)])
def test_check_same_tells_apart_what_is_not_the_same(mine, theirs):
    with pytest.raises(ValueError, match="not the same in 1 of 1 places"):
        check_same(torch.tensor([mine]), torch.tensor([theirs]))


@pytest.mark.parametrize(("mine", "theirs"), [(1e6, 1e6 + 1), (1e6 + 1, 1e6), (0.0, 9e-6), (1.0, 1.000009)])
def test_check_same_allows_for_rounding(capsys, mine, theirs):
    check_same(torch.tensor([mine]), torch.tensor([theirs]))
    assert capsys.readouterr().out == "the same: (1,), to within 1e-05\n"


def test_a_picture_is_white_behind():
    with plt.rc_context({"figure.facecolor": "black", "savefig.facecolor": "black"}):
        picture = show(plt.figure(figsize=(1, 1)), alt="nothing")
    pixels = Image.open(io.BytesIO(picture.png)).convert("RGB")
    assert pixels.size == (120, 120)
    assert pixels.getcolors() == [(120 * 120, (255, 255, 255))]


def test_what_was_measured_is_told_without_its_numbers():
    table = show_measured("More is more.", ["n", "seconds"], [[1, 0.25], ["<b>", 0.5]])
    assert repr(table) == "[Table, measured here: More is more.]"
    page = table._repr_html_()
    assert re.fullmatch(r'<div class="measured"><table>.*</table></div>', page)
    assert "<caption>More is more.</caption>" in page and "<td>0.25</td>" in page and "&lt;b&gt;" in page
    figure = show(plot_matrix([[1.25]]), alt="One number.", measured=True)
    assert repr(figure) == "[Figure: One number.]\nmeasured here"


def test_a_table_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="caption is empty; expected a sentence that says what the table shows"):
        show_measured(" ", ["n"], [[1]])
    with pytest.raises(ValueError, match=r"rows contains \[1, 2\]; expected 1 entries, one for each column"):
        show_measured("Much.", ["n"], [[1, 2]])


TREE = Branch("root", [Branch("left", [Branch("deep", [Branch("a < b")])]), Branch("right")])


def test_a_tree_is_indented_in_text():
    assert repr(TREE).splitlines() == ["root", "    left", "        deep", "            a < b", "    right"]
    assert repr(Branch("alone")) == "alone"


def test_a_tree_unfolds_and_its_first_levels_are_open():
    text = TREE._repr_html_()
    assert text.count("<details") == text.count("</details>") == 3
    assert [" open" in tag for tag in re.findall(r"<details[^>]*>", text)] == [True, True, False]
    assert "a &lt; b" in text
