"""Dates in many formats, translated to ISO 8601: March 3rd, 2024 → 2024-03-03."""

from calendar import monthrange
from datetime import date
from random import Random

from lessons.tasks.task import CHARACTERS, HELD_OUT, Task, pick
from lessons.vocabulary import Vocabulary
from lessons.wording import worded

FIRST_YEAR, LAST_YEAR = 1900, 2099
_MONTHS = "January February March April May June July August September October November December"
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
MONTHS, WEEKDAYS = _MONTHS.split(), _WEEKDAYS.split()

# All are clear without knowing the country: the month is a word, or the year comes first, or it is 3.3.2024, where the
# day comes first. 03/03/24 is missing, because in America its month comes first.
SPELLINGS = (
    "{day} {month} {year}",
    "{nth} {month} {year}",
    "the {nth} of {month} {year}",
    "{month} {day}, {year}",
    "{month} {nth}, {year}",
    "{day} {short} {year}",
    "{short} {day}, {year}",
    "{short}. {nth}, {year}",
    "{weekday}, {day} {month} {year}",
    "{weekday}, {month} {nth}, {year}",
    "{day:02}-{short}-{year}",
    "{day}.{number}.{year}",
    "{day:02}.{number:02}.{year}",
    "{year}/{number:02}/{day:02}",
    "{year}{number:02}{day:02}",
    "{year}年{number}月{day}日",
)


def is_held_out(month: int, day: int) -> bool:
    """Whether a day of the year, such as 2 May, is held out: about a tenth of them, some in each month."""
    return (day + 3 * month) % 10 == 7


def spell(day: date, spelling: str) -> str:
    """The date in one of the SPELLINGS."""
    month = MONTHS[day.month - 1]
    return spelling.format(
        day=day.day,
        nth=_nth(day.day),
        month=month,
        short=month[:3],
        number=day.month,
        year=day.year,
        weekday=WEEKDAYS[day.weekday()],
    )


class Dates(Task):
    """March 3rd, 2024 → 2024-03-03, character by character, from 1900 to 2099."""

    def __init__(self):
        unseen = worded(
            "Days of the year, such as 2 May: a tenth of the days never occur in training, in any year or spelling. "
            "Every month, every day of the month, every year and every spelling does."
        )
        spelled = (
            spell(date(2024, month, day), s) for month in range(1, 13) for day in range(1, 29) for s in SPELLINGS
        )
        src, tgt = Vocabulary(sorted(set("".join(spelled)))), Vocabulary("-0123456789")
        super().__init__("dates", 2, unseen, (src, tgt), (CHARACTERS, CHARACTERS))

    def pairs(self, size: int, rng: Random, split: str) -> list[tuple[list[str], list[str]]]:
        days = [draw_date(rng, held_out=split == HELD_OUT) for _ in range(size)]
        return [(list(spell(day, pick(rng, SPELLINGS))), list(day.isoformat())) for day in days]


def draw_date(rng: Random, *, held_out: bool) -> date:
    """A valid date; all years and all months are equally likely before the split."""
    while True:
        year = FIRST_YEAR + int(rng.random() * (LAST_YEAR - FIRST_YEAR + 1))
        month = 1 + int(rng.random() * 12)
        day = 1 + int(rng.random() * monthrange(year, month)[1])
        if is_held_out(month, day) == held_out:
            return date(year, month, day)


def _nth(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
