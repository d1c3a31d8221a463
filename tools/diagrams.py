"""The pictures of the course: functions that each return the text of an SVG file.

A picture is boxes joined by arrows. Every coordinate is a pixel of a sheet WIDTH wide, x to the right and
y down. Words between boxes are shapes with named axes, (B, T, D). In a text, ``d_{v}`` sets a subscript and
``k^{T}`` a superscript; a line break starts a new line.
"""

import re
from collections.abc import Callable, Collection, Iterable
from html import escape
from itertools import pairwise
from typing import NamedTuple

from lessons.wording import worded

WIDTH = 960
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, QUIET, LINE = "#1b1f24", "#47505a", "#3f4752"
PANEL, BORDER = "#fcfcfa", "#c4c9cf"
LINE_HEIGHT = 1.3

# Tints of the Okabe-Ito colors, which stay apart for color-blind readers: (fill, edge).
COLORS = {
    "data": ("#ffffff", "#5b646e"),
    "learned": ("#fdeccb", "#a87400"),  # orange
    "product": ("#dceefa", "#0072b2"),  # blue
    "softmax": ("#d6f0e6", "#007a59"),  # bluish green
    "mask": ("#fbe1d3", "#b54f00"),  # vermilion
    "norm": ("#faf6c8", "#8c8400"),  # yellow
    "positions": ("#f6e4ef", "#a0527c"),  # reddish purple
    "plain": ("#e9ecef", "#5b646e"),
    "chip": (LINE, LINE),
    "group": ("#f1f3f5", "#c4c9cf"),
}

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle by its center and size, with its color and text; a note is a second line in lighter text."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    words: str = ""
    note: str = ""

    def left(self, y: float | None = None) -> Point:
        return self.x - self.width / 2, self.y if y is None else y

    def right(self, y: float | None = None) -> Point:
        return self.x + self.width / 2, self.y if y is None else y

    @property
    def top(self) -> Point:
        return self.x, self.y - self.height / 2

    @property
    def bottom(self) -> Point:
        return self.x, self.y + self.height / 2


# --- The drawing vocabulary: each function returns SVG text -------------------------------------------------


def _spans(line: str) -> str:
    """One line of text with _{...} lowered and ^{...} raised (by dy, which every browser knows)."""

    def shifted(match: re.Match[str]) -> str:
        dy = 4 if match[1] == "_" else -5
        return f'<tspan dy="{dy}" font-size="75%">{match[2]}</tspan><tspan dy="{-dy}">{match[3]}</tspan>'

    return re.sub(r"([_^])\{(\w+)\}([^_^]*)", shifted, escape(line, quote=False))


def _text(x: float, y: float, words: str, size: float = 15, anchor: str = "middle", **style: str) -> str:
    """Lines of text, in the current language; y is the middle of all the lines together."""
    return _written(x, y, worded(words), size, anchor, **style)


def _written(x: float, y: float, words: str, size: float, anchor: str, **style: str) -> str:
    lines = words.split("\n")
    first = y + size * (0.35 - LINE_HEIGHT * (len(lines) - 1) / 2)
    look = {"fill": INK, "font-weight": "400"} | {name.replace("_", "-"): v for name, v in style.items()}
    attributes = " ".join(f'{name}="{value}"' for name, value in look.items())
    return "\n".join(
        f'<text x="{x:g}" y="{first + i * size * LINE_HEIGHT:g}" font-size="{size:g}" '
        f'text-anchor="{anchor}" {attributes}>{_spans(line)}</text>'
        for i, line in enumerate(lines)
    )


def _quiet(x: float, y: float, words: str, anchor: str = "middle", size: float = 13) -> str:
    return _text(x, y, words, size, anchor, fill=QUIET)


def _frame(box: Box, radius: float = 6, dashes: str = "") -> str:
    """The rectangle of a box without its words."""
    fill, edge = COLORS[box.kind]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<rect x="{box.x - box.width / 2:g}" y="{box.y - box.height / 2:g}" width="{box.width:g}" '
        f'height="{box.height:g}" rx="{radius:g}" fill="{fill}" stroke="{edge}" stroke-width="1.5"{dashed}/>'
    )


def _box(box: Box) -> str:
    """A box with its words in the middle; data, unlike an operation, has round ends."""
    radius = box.height / 2 if box.kind == "data" else 6
    if not box.note:
        return _frame(box, radius) + "\n" + _text(box.x, box.y, box.words)
    lines = worded(box.words).count("\n") + 1, worded(box.note).count("\n") + 1
    heights = 15 * LINE_HEIGHT * lines[0], 13 * LINE_HEIGHT * lines[1]
    above, below = box.y - heights[1] / 2 - 2, box.y + heights[0] / 2 + 2
    return "\n".join([_frame(box, radius), _text(box.x, above, box.words), _quiet(box.x, below, box.note)])


def _chip(x: float, y: float, number: str) -> str:
    """The number of a lesson, white on dark."""
    words = _text(x, y, number, 12.5, fill="#ffffff", font_weight="700")
    return _frame(Box(x, y, 28, 20, "chip"), 5) + "\n" + words


def _line(*points: Point, dashes: str = "") -> str:
    """A line through the points, with an arrowhead at the last; _picture() names the marker."""
    path = "M" + " L".join(f"{x:g},{y:g}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.5"{dashed} marker-end="url(#head)"/>'


def _arrow(start: Point, end: Point, above: str = "", below: str = "") -> str:
    """A level arrow with words above and below its middle."""
    middle = (start[0] + end[0]) / 2
    parts = [_line(start, end)]
    parts += [_quiet(middle, start[1] - 13, above)] if above else []
    parts += [_quiet(middle, start[1] + 14, below)] if below else []
    return "\n".join(parts)


def _picture(name: str, height: float, title: str, description: str, parts: Iterable[str]) -> str:
    """The SVG file: a light panel, the title in its corner, and the parts in the order of drawing."""
    panel = (
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2:g}" rx="14" fill="{PANEL}" '
        f'stroke="{BORDER}" stroke-width="1.5"/>'
    )
    head = (
        f'<defs><marker id="{name}-head" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" '
        f'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,0.8 L10,5 L0,9.2 z" fill="{LINE}"/></marker></defs>'
    )
    body = "\n".join(parts).replace("url(#head)", f"url(#{name}-head)")
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" \
height="{height:g}" role="img" aria-labelledby="{name}-title {name}-desc" font-family="{FONT}">
<title id="{name}-title">{escape(worded(title))}</title>
<desc id="{name}-desc">{escape(worded(description))}</desc>
{head}
{panel}
{_text(28, 34, title, 18, "start", font_weight="700")}
{body}
</svg>
"""


# --- Scaled dot-product attention (section 3.2.1 of the paper) ----------------------------------------------


def _dot_product_boxes() -> dict[str, Box]:
    """The steps of attention from left to right; q, k and v each have a row of their own."""
    return {
        "q": Box(52, 144, 48, 36, "data", "q"),
        "k": Box(52, 216, 48, 36, "data", "k"),
        "v": Box(52, 312, 48, 36, "data", "v"),
        "scores": Box(172, 180, 88, 128, "product", "MatMul", "q · k^{T}"),
        "scale": Box(316, 180, 76, 68, "plain", "Scale", "× 1/√d"),
        "mask": Box(451, 180, 98, 88, "mask", "Mask", "not allowed\n→ −∞"),
        "softmax": Box(602, 180, 108, 68, "softmax", "Softmax", "over the keys"),
        "product": Box(762, 246, 88, 192, "product", "MatMul", "weights · v"),
        "output": Box(895, 246, 74, 36, "data", "output"),
        "allowed": Box(451, 90, 90, 32, "data", "allowed"),
    }


def _dot_product_arrows(box: dict[str, Box]) -> list[str]:
    return [
        _arrow(box["q"].right(), box["scores"].left(144), "(Q, d)"),
        _arrow(box["k"].right(), box["scores"].left(216), "(K, d)"),
        _arrow(box["scores"].right(), box["scale"].left(), "scores", "(Q, K)"),
        _arrow(box["scale"].right(), box["mask"].left(), "", "(Q, K)"),
        _arrow(box["mask"].right(), box["softmax"].left(), "", "(Q, K)"),
        _arrow(box["softmax"].right(), box["product"].left(180), "weights", "(Q, K)"),
        _arrow(box["product"].right(), box["output"].left(), "(Q, d_{v})"),
        _line(box["v"].right(), box["product"].left(312)),
        _quiet(102, 299, "(K, d_{v})"),
        _line(box["allowed"].bottom, box["mask"].top, dashes="4 3"),
        _quiet(460, 120, "(Q, K)", "start"),
        _quiet(504, 90, "optional", "start"),
    ]


def scaled_dot_product_attention() -> str:
    """Attention from q, k and v to the output, with the shape at each arrow."""
    box = _dot_product_boxes()
    names = _quiet(28, 374, "Q queries, K keys  ·  d numbers in each query and key, d_{v} in each value", "start")
    formula = _text(932, 34, "softmax(q k^{T} / √d) v", 15, "end")
    return _picture(
        "scaled-dot-product-attention",
        400,
        "Scaled dot-product attention",
        "q of shape (Q, d) is multiplied by k, (K, d), transposed. The scores, (Q, K), are divided by the "
        "square root of d; an optional mask, allowed, sets those that are not allowed to minus infinity; "
        "the softmax over the keys makes them weights, (Q, K). The weights are multiplied by v, (K, d_v), "
        "which gives the output, (Q, d_v).",
        [formula, *_dot_product_arrows(box), *map(_box, box.values()), names],
    )


# --- Multi-head attention (section 3.2.2) -------------------------------------------------------------------

HEAD_ROWS = {"query": 120, "key": 210, "value": 300}
LENGTHS = {"query": "Q", "key": "K", "value": "K"}


def _sheets(front: Box, count: int = 3, step: float = 8) -> tuple[list[str], Box]:
    """Copies of a box behind one another, and the hindmost."""
    boxes = [front._replace(x=front.x + i * step, y=front.y - i * step) for i in reversed(range(count))]
    return [*map(_frame, boxes[:-1]), _box(front)], boxes[0]


def _head_inputs(split: Box) -> list[str]:
    """query, key and value, each through its own projection to the box that splits them."""
    parts = []
    for word, y in HEAD_ROWS.items():
        given = Box(58, y, 60, 36, "data", word)
        projection = Box(180, y, 60, 48, "learned", f"{word[0]}_proj")
        parts += [
            _arrow(given.right(), projection.left(), f"(B, {LENGTHS[word]}, D)"),
            _arrow(projection.right(), split.left(y), f"(B, {LENGTHS[word]}, D)"),
            _box(given),
            _box(projection),
        ]
    return parts


def _heads(split: Box, join: Box) -> list[str]:
    """The split, attention in each head as a stack of sheets, and the join."""
    front = Box(461, 218, 106, 220, "product", "Scaled\ndot-product\nattention", "in each head")
    sheets, last = _sheets(front)
    arrows = [_arrow(split.right(y), front.left(y), f"(B, H, {LENGTHS[word]}, d)") for word, y in HEAD_ROWS.items()]
    return [
        *arrows,
        _arrow(last.right(210), join.left(210), "(B, H, Q, d)"),
        *map(_box, (split, join)),
        *sheets,
        _quiet(469, 350, "H heads, computed independently"),
    ]


def multi_head_attention() -> str:
    """Projections, attention in H heads at once, and the output projection, with the shape at each arrow."""
    split = Box(301, 210, 58, 228, "plain", "Split\ninto H\nheads")
    join = Box(635, 210, 58, 228, "plain", "Join\nthe\nheads")
    projection = Box(763, 210, 76, 48, "learned", "out_proj")
    output = Box(898, 210, 68, 36, "data", "output")
    names = "B sentences  ·  Q queries, K keys  ·  D numbers for each token  ·  H heads  ·  d = D / H numbers in a head"
    return _picture(
        "multi-head-attention",
        416,
        "Multi-head attention",
        "query, (B, Q, D), key and value, (B, K, D), go through q_proj, k_proj and v_proj and are split into H "
        "heads, (B, H, Q, d) and (B, H, K, d). Each head does scaled dot-product attention apart from the others. "
        "The heads are joined, (B, Q, D), and go through out_proj to the output, (B, Q, D).",
        [
            *_head_inputs(split),
            *_heads(split, join),
            _arrow(join.right(), projection.left(), "(B, Q, D)"),
            _arrow(projection.right(), output.left(), "(B, Q, D)"),
            *map(_box, (projection, output)),
            _quiet(28, 390, names, "start"),
        ],
    )


# --- Encoder and decoder (figure 1) -------------------------------------------------------------------------


class Sublayer(NamedTuple):
    """A sublayer of a layer, with the lessons that explain it; Add & norm comes after each."""

    words: str
    kind: str
    lessons: tuple[str, ...] = ()


ENCODER = (
    Sublayer("Self-attention", "product", ("04", "05")),
    Sublayer("Feed-forward", "learned"),
)
DECODER = (
    Sublayer("Masked self-attention", "product", ("03", "05")),
    Sublayer("Cross-attention", "product", ("04", "05")),
    Sublayer("Feed-forward", "learned"),
)
ENCODER_X, DECODER_X, COLUMN = 250, 710, 260  # the middles of the two columns and the width of their boxes
STACK_TOP, SUBLAYERS, STEP, NORM = 190, 256, 116, 55  # y; y of the first; from one to the next; to its norm


def _with_lessons(box: Box, lessons: tuple[str, ...] = ()) -> str:
    """A box with its words at the left and the numbers of lessons at the right."""
    words = _text(box.left()[0] + 16, box.y, box.words, 15, "start")
    chips = [_chip(box.right()[0] - 26 - 34 * i, box.y, lesson) for i, lesson in enumerate(lessons[::-1])]
    return "\n".join([_frame(box), words, *chips])


def _sublayer(x: float, y: float, side: int, sublayer: Sublayer) -> list[str]:
    """A sublayer, Add & norm, and the residual connection around it on the left (-1) or the right (1)."""
    box = Box(x, y, COLUMN, 44, sublayer.kind, sublayer.words)
    norm = Box(x, y + NORM, COLUMN, 30, "norm", "Add & norm")
    fork, lane = y - 36, x + side * (COLUMN / 2 + 26)
    return [
        _line((x, fork), (lane, fork), (lane, norm.y), (x + side * COLUMN / 2, norm.y)),
        _line(box.bottom, norm.top),
        _with_lessons(box, sublayer.lessons),
        _with_lessons(norm),
    ]


def _layers(x: float, side: int, name: str, lesson: str, sublayers: tuple[Sublayer, ...]) -> list[str]:
    """The N layers of the encoder or the decoder, from the embedding to what leaves the last of them."""
    ys = [SUBLAYERS + i * STEP for i in range(len(sublayers))]
    bottom = ys[-1] + NORM + 31
    group = Box(x + side * 16, (STACK_TOP + bottom) / 2, COLUMN + 60, bottom - STACK_TOP, "group")
    corner = x - side * COLUMN / 2
    parts = [
        _frame(group, 12),
        _chip(corner + side * 14, STACK_TOP + 20, lesson),
        _text(corner + side * 34, STACK_TOP + 20, name, 15, "end" if side < 0 else "start", font_weight="700"),
        _text(group.x + side * (group.width / 2 + 26), group.y, "N ×", 18),
        _line((x, ys[0] - 84), (x, ys[0] - 22)),
        *[_line((x, y - 46), (x, y - 22)) for y in ys[1:]],
        _line((x, bottom - 16), (x, bottom + 24)),
    ]
    for y, sublayer in zip(ys, sublayers):
        parts += _sublayer(x, y, side, sublayer)
    return parts


def _inputs(x: float, tokens: str) -> list[str]:
    given = Box(x, 92, COLUMN, 34, "data", tokens)
    embedding = Box(x, 152, COLUMN, 40, "positions", "Embedding + positions")
    return [_box(given), _line(given.bottom, embedding.top), _with_lessons(embedding, ("06",))]


def _prediction() -> list[str]:
    """From the decoder to the probabilities."""
    linear = Box(DECODER_X, 615, COLUMN, 34, "learned", "Linear")
    softmax = Box(DECODER_X, 668, COLUMN, 34, "softmax", "Softmax over the vocabulary")
    output = Box(DECODER_X, 721, COLUMN, 34, "data", "probabilities of the next token")
    arrows = [_line(linear.bottom, softmax.top), _line(softmax.bottom, output.top)]
    return [*arrows, _with_lessons(linear), _with_lessons(softmax), _box(output)]


def _memory() -> list[str]:
    """The encoder's output, on its way to the cross-attention of every decoder layer."""
    memory = Box(ENCODER_X, 499, 150, 34, "data", "memory")
    cross = SUBLAYERS + STEP
    return [
        _line(memory.right(), (480, 499), (480, cross), (DECODER_X - COLUMN / 2, cross)),
        _box(memory),
        _quiet(490, 436, "keys and\nvalues", "start"),
        _quiet(DECODER_X - 10, cross - 34, "queries", "end"),
    ]


def _legend(x: float, y: float) -> list[str]:
    return [
        _chip(x + 14, y, "04"),
        _quiet(x + 44, y, "the lesson that explains this part", "start"),
        _text(x + 14, y + 36, "N ×", 15),
        _quiet(x + 44, y + 36, "N such layers, one after the other", "start"),
        _line((x, y + 62), (x + 10, y + 62), (x + 10, y + 82), (x + 32, y + 82)),
        _quiet(x + 44, y + 72, "residual connection: a sublayer’s input\nis added to its output", "start"),
    ]


def encoder_decoder() -> str:
    """The whole model, with the lessons that explain its parts."""
    return _picture(
        "encoder-decoder",
        766,
        "The Transformer: encoder and decoder",
        "Source tokens are embedded, given positions, and pass N encoder layers of self-attention and "
        "feed-forward, each followed by add and norm; the result is the memory. Target tokens are embedded, "
        "given positions, and pass N decoder layers of masked self-attention, cross-attention with keys and "
        "values from the memory, and feed-forward, each followed by add and norm. Linear and softmax make "
        "the probabilities of the next token. Lessons: 03 mask, 04 self- and cross-attention, 05 heads, "
        "06 positions, 07 encoder, 08 decoder, 09 the whole.",
        [
            _quiet(896, 34, "the whole", "end"),
            _chip(918, 34, "09"),
            *_inputs(ENCODER_X, "source tokens"),
            *_inputs(DECODER_X, "target tokens, shifted right"),
            *_layers(ENCODER_X, -1, "Encoder", "07", ENCODER),
            *_layers(DECODER_X, 1, "Decoder", "08", DECODER),
            *_memory(),
            *_prediction(),
            *_legend(74, 610),
        ],
    )


# --- The map of the course ----------------------------------------------------------------------------------


class Group(NamedTuple):
    """Lessons that belong together: where their panel starts, the gap between them, the color."""

    name: str
    left: float
    top: float
    gap: float
    kind: str
    chained: bool
    lessons: dict[str, str]


LESSON_SIZE = 152, 78
GROUP_PAD, GROUP_HEIGHT = 14, 126
START = "00", "Start here"
GROUPS = (
    Group(
        name="Attention",
        left=28,
        top=172,
        gap=29,
        kind="product",
        chained=True,
        lessons={
            "01": "Q, K and V\nby hand",
            "02": "Scaled\ndot product",
            "03": "Masked\nattention",
            "04": "Self- and\ncross-attention",
            "05": "Multi-head\nattention",
        },
    ),
    Group(
        name="The model",
        left=28,
        top=324,
        gap=29,
        kind="learned",
        chained=True,
        lessons={
            "06": "Embeddings\nand positions",
            "07": "Encoder",
            "08": "Decoder",
            "09": "Transformer",
            "10": "Mask tutorial",
        },
    ),
    Group(
        name="Training and decoding",
        left=28,
        top=476,
        gap=24,
        kind="softmax",
        chained=True,
        lessons={"11": "Training", "12": "Decoding"},
    ),
    Group(
        name="Beyond",
        left=412,
        top=476,
        gap=18,
        kind="positions",
        chained=False,
        lessons={"13": "Inside torch\nattention", "14": "A trained\nmodel", "15": "Paper\nresults"},
    ),
    Group(
        name="Today's models",
        left=28,
        top=628,
        gap=24,
        kind="data",
        chained=True,
        lessons={"16": "From the paper\nto Llama", "17": "Long texts", "18": "Beyond one\nmachine"},
    ),
)
READY = tuple(f"{number:02}" for number in range(19))


def _lesson(box: Box, number: str, title: str, ready: Collection[str]) -> str:
    """A lesson; one that is still planned has a dashed outline and says so."""
    planned = number not in ready
    left, top = box.left()[0] + 14, box.top[1]
    lines = [
        _text(left, top + 19, number, 14, "start", font_weight="700"),
        *[_written(left, top + 42 + 20 * i, line, 15, "start") for i, line in enumerate(worded(title).split("\n"))],
    ]
    note = [_quiet(box.right()[0] - 12, top + 19, "planned", "end", 12)] if planned else []
    frame = _frame(box, dashes="5 4" if planned else "")
    return "\n".join([f'<g data-lesson="{number}">', frame, *lines, *note, "</g>"])


def _group_frame(group: Group) -> Box:
    count = len(group.lessons)
    width = 2 * GROUP_PAD + count * LESSON_SIZE[0] + (count - 1) * group.gap
    return Box(group.left + width / 2, group.top + GROUP_HEIGHT / 2, width, GROUP_HEIGHT, "group")


def _group(group: Group, ready: Collection[str]) -> list[str]:
    """The panel of a group, its name, its lessons from left to right, and the arrows between them."""
    width, height = LESSON_SIZE
    y = group.top + GROUP_HEIGHT - GROUP_PAD - height / 2
    first, step = group.left + GROUP_PAD + width / 2, width + group.gap
    boxes = [Box(first + i * step, y, width, height, group.kind) for i in range(len(group.lessons))]
    pairs = pairwise(boxes) if group.chained else ()
    return [
        _frame(_group_frame(group), 12),
        _text(group.left + GROUP_PAD, group.top + 18, group.name, 15, "start", font_weight="700"),
        *[_line(one.right(), other.left()) for one, other in pairs],
        *[_lesson(box, *lesson, ready) for box, lesson in zip(boxes, group.lessons.items())],
    ]


def _map_in_words(ready: Collection[str]) -> str:
    groups = []
    for group in GROUPS:
        titles = [
            f"{number} {title}".replace("\n", " ") + ("" if number in ready else " (planned)")
            for number, title in group.lessons.items()
        ]
        groups.append(f"{group.name}: {', '.join(titles)}.")
    return " ".join(["00 Start here.", *groups, "Read them in this order; each lesson says what it needs."])


def course_map(ready: Collection[str] = READY) -> str:
    """The lessons in their order; those whose number is not in ``ready`` are drawn as planned."""
    attention, model, training, beyond, today = map(_group_frame, GROUPS)
    start = Box(118, 105, *LESSON_SIZE, "data")
    arrows = [
        _line(start.bottom, (start.x, attention.top[1])),
        _line(attention.bottom, model.top),
        _line((training.x, model.bottom[1]), training.top),
        _line(training.right(), beyond.left()),
        _line((today.x, training.bottom[1]), today.top),
    ]
    key = _quiet(932, 34, "Arrows show the order; each lesson says what it needs", "end")
    groups = [part for group in GROUPS for part in _group(group, ready)]
    lessons = [*groups, _lesson(start, *START, ready)]
    return _picture("course-map", 782, "The course", _map_in_words(ready), [key, *lessons, *arrows])


# --- An encoder layer, Post-LN and Pre-LN ---------------------------------------------------------------------------


def _plus(x: float, y: float) -> Box:
    return Box(x, y, 30, 30, "data", "+")


def _order(y: float, name: str, formula: str, norm_first: bool) -> list[str]:
    """One layer from left to right; the residuals run above, each from before its branch to its sum."""
    parts = [_text(60, y - 68, name, 16, "start", font_weight="600"), _quiet(160, y - 68, formula, "start")]
    x, last = 60.0, Box(60, y, 40, 30, "data", "x")
    parts.append(_box(last))
    for words in ("self-\nattention", "feed-\nforward"):
        branch = Box(x + 120 if norm_first else x + 130, y, 90, 50, "norm" if norm_first else "product")
        middle = Box(branch.x + 145, y, 110, 50, "product")
        if norm_first:
            boxes = [branch._replace(words="norm"), middle._replace(words=words), _plus(middle.x + 105, y)]
        else:
            boxes = [
                branch._replace(words=words),
                _plus(branch.x + 105, y),
                Box(branch.x + 215, y, 90, 50, "norm", "norm"),
            ]
        sum_box = next(box for box in boxes if box.words == "+")
        fork = last.right()[0] + 14
        parts += [_line(a.right(), b.left()) for a, b in pairwise([last, *boxes])]
        parts += [_line((fork, y), (fork, y - 44), (sum_box.x, y - 44), sum_box.top)]
        parts += [_box(box) for box in boxes]
        last = boxes[-1]
        x = last.x
    if norm_first:
        end = Box(last.x + 80, y, 70, 50, "norm", "norm")
        parts += [_line(last.right(), end.left(), dashes="4 4"), _box(end)]
        parts.append(_quiet(end.x + 35, y + 44, "only after the last layer", "end"))
        last = end
    parts.append(_line(last.right(), (last.right()[0] + 22, y)))
    return parts


def encoder_layer() -> str:
    """Post-LN and Pre-LN: where the norms of an encoder layer are."""
    parts = _order(145, "Post-LN", "norm(x + sublayer(x)): the paper; each norm is on the path of x", False)
    parts += _order(300, "Pre-LN", "x + sublayer(norm(x)): each norm is in a branch; one more ends the stack", True)
    description = (
        "Two rows. Post-LN: x goes through self-attention, is added to the result, then goes through a norm; the same "
        "with the feed-forward network. Pre-LN: a norm and self-attention are in a branch whose result is added to x, "
        "which has no norm on its path; the same with the feed-forward network. One more norm follows, only after the "
        "last layer of the stack."
    )
    return _picture("encoder-layer", 370, "An encoder layer: Post-LN and Pre-LN", description, parts)


# --- Attention a tile at a time -------------------------------------------------------------------------------------

BLOCKS = 5  # that the queries and the keys are cut into
NOW = {"q": 1, "k": 3, "v": 3, "output": 1}  # the blocks that meet


def _column(x: float, name: str) -> list[str]:
    """A matrix in the large memory, cut into blocks of rows; the one that is read or written is colored."""
    kind = "softmax" if name == "output" else "learned"
    kinds = [kind if row == NOW[name] else "data" for row in range(BLOCKS)]
    blocks = [_frame(Box(x, 158 + 40 * row, 54, 36, kind), 4) for row, kind in enumerate(kinds)]
    return [*blocks, _text(x, 120, name, 15, font_weight="600")]


def tiled_attention() -> str:
    """Which part of attention is in which memory of a GPU, when it is computed a tile at a time."""
    large, small = Box(196, 228, 336, 300, "group"), Box(686, 228, 492, 300, "group")
    xs = {name: 84.0 + 75 * i for i, name in enumerate(NOW)}
    q, k = Box(524, 250, 92, 76, "learned", "block\nof q"), Box(650, 168, 116, 56, "learned", "block of k^{T}")
    tile = Box(650, 250, 116, 76, "product", "one tile\nof scores")
    v = Box(650, 336, 116, 56, "learned", "block of v")
    state = Box(838, 250, 160, 112, "softmax", "highest\ntotal\nsummed", "for each query")
    parts = [
        _frame(large, 12),
        _frame(small, 12),
        _text(large.x, 92, "Large memory: 40 GB, 1.5 TB/s", 15, font_weight="600"),
        _text(small.x, 92, "Small memory at the units: 192 KB each, 19 TB/s", 15, font_weight="600"),
        *[part for name, x in xs.items() for part in _column(x, name)],
        *[_box(box) for box in (q, k, tile, v, state)],
        _line(q.right(), tile.left()),
        _line(k.bottom, tile.top),
        _line(tile.right(), state.left()),
        _line(v.right(), (state.x, v.y), state.bottom),
        _arrow((364, 168), (440, 168), "read"),
        _arrow((440, 336), (364, 336), below="write"),
        _quiet(480, 404, "The scores of all pairs are never in the large memory."),
        _quiet(
            480,
            426,
            "The next block of k and v updates highest, total and summed; in the end, output = summed / total.",
        ),
    ]
    description = (
        "Left, the large memory of a GPU, 40 gigabytes at 1.5 terabytes a second: q, k, v and the output, each in "
        "blocks of rows. Right, the small memory at the computing units, 192 kilobytes each, 19 terabytes a second in "
        "all: one block of q, one block of k and one of v, one tile of scores, and for each query highest, total and "
        "summed. Blocks are read from left to right; the output is written back once, after the last block of keys."
    )
    return _picture("tiled-attention", 450, "Attention, a tile at a time", description, parts)


DIAGRAMS: dict[str, Callable[[], str]] = {
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "multi_head_attention": multi_head_attention,
    "encoder_layer": encoder_layer,
    "encoder_decoder": encoder_decoder,
    "tiled_attention": tiled_attention,
    "course_map": course_map,
}
