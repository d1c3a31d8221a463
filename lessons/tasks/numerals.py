"""Numbers in English words and in Chinese numerals: three hundred and five → 三百零五.

English counts in groups of three digits, Chinese in groups of four: twelve thousand three hundred is 一万二千三百.
"""

import re
from random import Random

from lessons._checks import whole
from lessons.tasks.task import CHARACTERS, HELD_OUT, Task, Writing, make_vocabulary
from lessons.vocabulary import Vocabulary
from lessons.wording import worded

LARGEST = 99_999_999  # 9999 万 9999
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL, TENS = _SMALL.split(), _TENS.split()
DIGITS = "零一二三四五六七八九"
UNITS = ("", "十", "百", "千")


def english(number: int) -> str:
    """In words, with a British "and" before the last two digits: three thousand and five."""
    whole(0, LARGEST, number=number)
    millions, thousands, rest = number // 1_000_000, number // 1000 % 1000, number % 1000
    words = [f"{_below_1000(n)} {unit}" for n, unit in ((millions, "million"), (thousands, "thousand")) if n]
    if rest or not words:
        words += ["and"] * (bool(words) and rest < 100) + [_below_1000(rest)]
    return " ".join(words)


def chinese(number: int) -> str:
    """In Chinese numerals.

    One or more zeros inside a number become one 零: 三千零五, 三百零五万零七. Two is 二 before 十, 百, 千 and 万:
    二百二十二; in speech, 两百 and 两千 are also correct. 10 to 19 start with 十 if no digit comes before: 十五, but
    一百一十五.
    """
    whole(0, LARGEST, number=number)
    high, low = divmod(number, 10_000)
    if high == 0:
        written = _below_10000(low) or "零"
    else:
        zero = "零" if 0 < low < 1000 else ""
        written = f"{_below_10000(high)}万{zero}{_below_10000(low)}"
    return written.removeprefix("一") if written.startswith("一十") else written


def is_held_out(number: int) -> bool:
    """Whether a number contains a held-out group of three digits.

    A group with hundreds h (not 0), tens t and ones u is held out if h + 3t + 7u ends in 5: a tenth of them.
    """
    return any(group in _HELD_OUT for group in (number % 1000, number // 1000 % 1000))


class Numerals(Task):
    """Three hundred and five → 三百零五, for 0 to `largest`; short and long numbers are about equally frequent."""

    def __init__(self, largest: int = 99_999):
        whole(999, LARGEST, largest=largest)
        unseen = worded(
            "Groups of three digits, such as 305: a tenth of those from 100 to 999 never occur in training, neither as "
            "hundreds, tens and ones (305, 12305) nor as thousands (305000)."
        )
        english_vocab = make_vocabulary(*SMALL, *TENS, "hundred thousand million and -")
        vocabs = english_vocab, Vocabulary([*DIGITS, *UNITS[1:], "万"])
        super().__init__("numerals", 3, unseen, vocabs, (HYPHENS, CHARACTERS))
        self.largest = largest

    def pairs(self, size: int, rng: Random, split: str) -> list[tuple[list[str], list[str]]]:
        numbers = (self._draw(rng, split == HELD_OUT) for _ in range(size))
        return [(HYPHENS.split(english(number)), list(chinese(number))) for number in numbers]

    def _draw(self, rng: Random, held_out: bool) -> int:
        lengths = len(str(self.largest))
        while True:
            fewest = 3 if held_out else 1
            length = fewest + int(rng.random() * (lengths - fewest + 1))
            start = 10 ** (length - 1) if length > 1 else 0
            number = start + int(rng.random() * (10**length - start))
            if held_out:
                number += _HELD_OUT_LIST[int(rng.random() * len(_HELD_OUT_LIST))] - number % 1000
            if number <= self.largest and is_held_out(number) == held_out:
                return number


def _join(words: list[str]) -> str:
    return " ".join(words).replace(" - ", "-")


HYPHENS = Writing(re.compile(r"\w+|-").findall, _join)
_HELD_OUT_LIST = [n for n in range(100, 1000) if (n // 100 + 3 * (n // 10 % 10) + 7 * (n % 10)) % 10 == 5]
_HELD_OUT = frozenset(_HELD_OUT_LIST)


def _below_1000(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{SMALL[hundreds]} hundred"] if hundreds else []
    if rest or not words:
        words += ["and"] * bool(words) + [_below_100(rest)]
    return " ".join(words)


def _below_100(number: int) -> str:
    if number < 20:
        return SMALL[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{SMALL[ones]}" if ones else "")


def _below_10000(number: int) -> str:
    """The digits with their units, zeros inside as one 零; "" for 0."""
    written, gap = "", False
    for unit, digit in zip(reversed(UNITS), map(int, f"{number:04}")):
        if digit:
            written += ("零" if gap and written else "") + DIGITS[digit] + unit
        gap = digit == 0
    return written
