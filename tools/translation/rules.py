"""What a translation shares with its message: placeholders, code, links, numbers, formulas, the form of Markdown."""

import re
from calendar import month_name
from collections.abc import Iterator

from tools.translation.sources import LINE_OF_CODE, PLACEHOLDER, is_code_in_words

CHINESE = "\u3400-\u9fff"
CODE = re.compile(r"`[^`\n]+`")
SAME = {
    "placeholders": PLACEHOLDER,
    "code": CODE,
    "links": re.compile(r'\]\(([^)\s]+)\)|(https?://[^\s)"<`]+)'),
    "formulas": re.compile(r"\$[^$\n]+\$"),
    "tags": re.compile(r'</?[a-z][\w-]*(?: [\w-]+="[^"]*")*>'),
}
WORDS_IN_FORMULA = re.compile(r"\\text\{[^{}]*\}")
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
# Chinese counts these in 万 and 亿.
LARGE = re.compile(r"\b(thousands?|millions?|billions?|trillions?|hundreds?)\b|\d [KMB]\b")
SHAPE = {
    "headings": re.compile(r"^#+ ", re.M),
    "quotes": re.compile(r"^> ?", re.M),
    "items of lists": re.compile(r"^ *(?:[-*]|\d+\.) ", re.M),
    "rows of tables": re.compile(r"^\|.*\|$", re.M),
}
HALF_WIDTH = re.compile(
    rf"(?<=[{CHINESE}])[,;:?!](?=[\s{CHINESE}]|$)|(?<=[{CHINESE}])\.(?=\s|$)|(?<=[{CHINESE}])\([{CHINESE}]"
)


def problems(message: str, text: str) -> Iterator[str]:
    """What is wrong with a translation, in sentences."""
    if is_code_in_words(message) and LINE_OF_CODE.fullmatch(text):
        message, text = message[1:-1], text[1:-1]
    message, text = (WORDS_IN_FORMULA.sub(r"\\text{}", each) for each in (message, text))
    for name, pattern in SAME.items():
        mine, right = ({match.group() for match in pattern.finditer(each)} for each in (text, message))
        if mine != right:
            yield f"{name}: {sorted(right - mine)} missing, {sorted(mine - right)} too many"
    mine, right = (set(NUMBER.findall(_plain(each))) for each in (text, message))
    months = {str(number) for number, name in enumerate(month_name) if name and name in message}
    if right - mine | mine - right - months and not LARGE.search(message):
        yield f"numbers: {sorted(right - mine)} missing, {sorted(mine - right)} too many"
    for name, pattern in SHAPE.items():
        if len(pattern.findall(text)) != len(pattern.findall(message)):
            yield f"{name}: {len(pattern.findall(text))}; expected {len(pattern.findall(message))}"
    for found in HALF_WIDTH.finditer(_plain(text)):
        yield f"half-width punctuation: {_plain(text)[max(0, found.start() - 6) : found.end() + 6]!r}"


def _plain(text: str) -> str:
    """The text without code, placeholders, formulas and addresses."""
    for pattern in SAME.values():
        text = pattern.sub(" x ", text)
    return text
