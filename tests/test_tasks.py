"""lessons.tasks: pairs made by rules, their splits, and texts to ids and back."""

import pickle
import random
import re
import zlib
from collections import Counter
from datetime import date
from types import SimpleNamespace

import pytest
import torch

from lessons.tasks import Batch, Dates, Numerals, Reversal, Task, Translation, dates, numerals, translation, words
from lessons.tasks.task import draw_seed, step_seed
from lessons.tasks.translation import NOTHING, bare, counted, is_held_out, owned, shown, write

MAKE = [Reversal, lambda: Reversal(10, 10), Dates, Numerals, lambda: Numerals(largest=99_999_999), Translation]
TASKS = [make() for make in MAKE]
# Checksums of the first pairs of each; a task that is changed on purpose gets a new one.
FIRST_PAIRS = [1740933291, 2318422624, 929407338, 3075830682, 1035963451, 2976575143]
EACH = pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name}-{TASKS.index(task)}")
SPLITS = pytest.mark.parametrize("split", ["train", "held_out"])
PAD, BOS, EOS, UNK = range(4)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def rows(ids):
    """The sentences of a padded batch, without the padding."""
    return [[i for i in row if i != PAD] for row in ids.tolist()]


# all tasks


@EACH
@SPLITS
def test_a_batch_has_marks_around_the_target_and_padding_behind(task, split):
    batch = task.batch(23, seeded(), split)
    assert isinstance(task, Task) and isinstance(batch, Batch)
    assert batch.src.dtype == batch.tgt.dtype == torch.long
    for ids, marks in ((batch.src, 0), (batch.tgt, 2)):
        lengths = (ids != PAD).sum(dim=1)
        assert ids.shape == (23, lengths.max())
        for row, length in zip(ids.tolist(), lengths.tolist()):
            assert PAD not in row[:length] and set(row[length:]) <= {PAD}
            assert length > marks
            assert not {BOS, EOS} & set(row[1 : length - 1])
            assert [row[0] == BOS, row[length - 1] == EOS] == [marks == 2] * 2


@pytest.mark.one_of(3)
@EACH
@SPLITS
def test_no_word_is_unknown_and_no_id_too_great(task, split):
    generator = seeded()
    for _ in range(20):
        batch = task.batch(100, generator, split)
        assert not (batch.src == UNK).any() and not (batch.tgt == UNK).any()
        assert batch.src.max() < len(task.src_vocab) and batch.tgt.max() < len(task.tgt_vocab)


@pytest.mark.thorough("draws thousands of pairs")
@EACH
def test_every_word_of_the_vocabularies_occurs(task):
    batch = task.batch(3000, seeded())
    known = [set(range(4, len(vocab))) for vocab in (task.src_vocab, task.tgt_vocab)]
    missing = [known[0] - set(batch.src.unique().tolist()), known[1] - set(batch.tgt.unique().tolist())]
    if isinstance(task, Numerals) and task.largest < 1_000_000:  # the words are the same for every `largest`
        missing[0] -= set(task.src_vocab.encode("million"))
    assert missing == [set(), set()]


@EACH
def test_another_process_can_have_the_task(task):
    other, examples = pickle.loads(pickle.dumps(task)), task.examples(9, seeded())
    assert other.examples(9, seeded()) == examples
    for text, side in zip(examples[0], ("src", "tgt")):
        assert other.encode(text, side=side) == task.encode(text, side=side)


@EACH
def test_special_words_have_the_same_ids_everywhere(task):
    for vocab in (task.src_vocab, task.tgt_vocab):
        assert (vocab.pad_id, vocab.bos_id, vocab.eos_id, vocab.unk_id) == (PAD, BOS, EOS, UNK)


@EACH
@SPLITS
def test_the_generator_alone_decides(task, split):
    random.seed(1)
    torch.manual_seed(1)
    first = task.batch(9, seeded(5), split)
    random.seed(2)
    torch.manual_seed(2)
    again, other = task.batch(9, seeded(5), split), task.batch(9, seeded(6), split)
    assert torch.equal(first.src, again.src) and torch.equal(first.tgt, again.tgt)
    assert task.examples(9, seeded(5), split) != task.examples(9, seeded(6), split)
    assert rows(first.src) != rows(other.src)


@pytest.mark.parametrize(("make", "checksum"), list(zip(MAKE, FIRST_PAIRS)), ids=range(len(MAKE)))
def test_a_seed_gives_the_same_pairs_on_every_machine(make, checksum):
    """The stored outputs of the lessons rest on it, and what the translator was trained on."""
    ids = [x.tolist() for split in ("train", "held_out") for x in make().batch(300, seeded(), split)]
    assert zlib.crc32(repr(ids).encode()) == checksum


def test_two_draws_of_a_seed_are_never_the_same():
    generator = seeded()
    assert len({draw_seed(generator) for _ in range(500)}) == 500


@EACH
def test_a_generator_goes_on(task):
    generator = seeded()
    assert rows(task.batch(9, generator).src) != rows(task.batch(9, generator).src)


@EACH
@SPLITS
def test_texts_become_the_ids_of_the_batch_and_ids_the_texts(task, split):
    batch, texts = task.batch(200, seeded(), split), task.examples(200, seeded(), split)
    for src, tgt, (source, target) in zip(batch.src, batch.tgt, texts, strict=True):
        assert task.encode(source) == task.encode(source, side="src") == rows(src[None])[0]
        assert task.encode(target, side="tgt") == rows(tgt[None])[0]
        assert task.decode(src, side="src") == source
        assert task.decode(tgt) == task.decode(tgt.tolist(), side="tgt") == target


@EACH
def test_the_writing_of_a_side_splits_and_joins_its_texts(task):
    assert task.writing() == task.writing("src")
    for side, text in zip(("src", "tgt"), task.examples(1, seeded())[0]):
        assert task.writing(side).join(task.writing(side).split(text)) == text


@EACH
def test_decoding_ends_at_the_first_end_mark(task):
    ids = task.encode(task.examples(1, seeded())[0][1], side="tgt")
    assert task.decode([*ids, *ids[1:], EOS]) == task.decode(ids) == task.decode(ids[1:-1]) == task.decode([PAD, *ids])


@pytest.mark.thorough("draws thousands of pairs")
@EACH
def test_no_held_out_source_occurs_in_training(task):
    seen = {source for source, _ in task.examples(5000, seeded(0))}
    held_out = {source for source, _ in task.examples(5000, seeded(0), "held_out")}
    assert len(held_out) > 100
    assert not seen & held_out


def test_names_and_difficulties():
    assert [(task.name, task.difficulty) for task in (Reversal(), Dates(), Numerals(), Translation())] == [
        ("reversal", 1),
        ("dates", 2),
        ("numerals", 3),
        ("translation", 4),
    ]
    assert all(make().unseen.endswith(".") for make in MAKE)
    assert "the second 7 places after the first" in Reversal().unseen
    assert repr(Reversal()) == "Reversal('reversal', words: 30 and 30)"


def test_the_seeds_of_steps_stay_the_same():
    assert step_seed(2, 5) == 2_000_011
    assert step_seed(5000, 1) == 5_000_015_001 - 2**32


@EACH
def test_the_batch_of_a_step_is_that_of_its_seed_and_is_shared_in_turn(task):
    batch = task.batch(7, seeded(step_seed(2, 5)))
    for first, every in ((0, 1), (0, 3), (2, 3)):
        found = task.step_batch(7, step=5, seed=2, share=(first, every))
        assert all(torch.equal(ours, whole[first::every]) for ours, whole in zip(found, batch, strict=True))


@EACH
def test_a_task_is_known_by_its_name_its_words_and_three_pairs(task):
    words = len(task.src_vocab), len(task.tgt_vocab)
    assert task.about() == {"name": task.name, "words": words, "pairs": task.examples(3, seeded(0))}


@EACH
@pytest.mark.parametrize("size", [0, -1, 1.5, True, "3"])
def test_a_size_that_is_no_number_of_pairs(task, size):
    with pytest.raises(ValueError, match=f"size is {size!r}; expected a whole number, 1 or more"):
        task.batch(size, seeded())


@EACH
def test_a_split_or_side_that_there_is_not(task):
    with pytest.raises(ValueError, match="split is 'test'; expected one of 'train', 'held_out'"):
        task.batch(2, seeded(), "test")
    for asks in (
        lambda: task.encode("a", side="source"),
        lambda: task.decode([4], side="source"),
        lambda: task.writing("source"),
    ):
        with pytest.raises(ValueError, match="side is 'source'; expected one of 'src', 'tgt'"):
            asks()


def test_a_task_of_ones_own_gives_pairs():
    class Echo(Task):
        def pairs(self, size, rng, split):
            return [(["a"] * n, ["b"] * n) for n in range(1, size + 1)]

    of = Reversal()
    echo = Echo("echo", 1, "Nothing.", (of.src_vocab, of.tgt_vocab), tuple(of._writing.values()))
    assert echo.examples(2, seeded()) == [("a", "b"), ("a a", "b b")]
    with pytest.raises(NotImplementedError):
        Task("none", 1, "", (of.src_vocab, of.tgt_vocab), tuple(of._writing.values())).batch(1, seeded())


# reversal


@SPLITS
def test_reversal_reverses(split):
    for source, target in Reversal().examples(500, seeded(), split):
        assert target == source[::-1]


@pytest.mark.parametrize(("sizes", "lengths"), [((), range(2, 11)), ((10, 10), [10]), ((3, 5), range(3, 6))])
@SPLITS
def test_reversal_has_the_lengths_asked_for(sizes, lengths, split):
    found = Counter(len(source.split()) for source, _ in Reversal(*sizes).examples(2000, seeded(), split))
    assert set(found) == set(lengths)
    assert min(found.values()) > 2000 / len(lengths) * 0.8


def has_held_out_letters(source):
    return any((ord(second) - ord(first)) % 26 == 7 for first, second in zip(source.split(), source.split()[1:]))


def test_reversal_holds_pairs_of_letters_out():
    assert not any(has_held_out_letters(source) for source, _ in Reversal().examples(5000, seeded()))
    held_out = [source for source, _ in Reversal().examples(5000, seeded(), "held_out")]
    assert all(map(has_held_out_letters, held_out))
    assert {source for source in held_out if len(source) == 3} == {
        f"{chr(97 + i)} {chr(97 + (i + 7) % 26)}" for i in range(26)
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_len": 1}, "min_len is 1; expected a whole number, 2 or more"),
        ({"min_len": 2.5}, "min_len is 2.5; expected a whole number, 2 or more"),
        ({"max_len": 1}, "max_len is 1; expected a whole number, 2 or more"),
        ({"min_len": 6, "max_len": 5.5}, "max_len is 5.5; expected a whole number, 6 or more"),
    ],
)
def test_reversal_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        Reversal(**options)


# dates

DATES = {
    "3 March 2024": "2024-03-03",
    "3rd March 2024": "2024-03-03",
    "the 21st of May 1999": "1999-05-21",
    "December 31, 1999": "1999-12-31",
    "June 11th, 2011": "2011-06-11",
    "22 Sep 1987": "1987-09-22",
    "Aug 1, 1900": "1900-08-01",
    "Feb. 29th, 2000": "2000-02-29",
    "Friday, 13 January 2023": "2023-01-13",
    "Tuesday, September 12th, 2051": "2051-09-12",
    "07-Apr-1945": "1945-04-07",
    "3.3.2024": "2024-03-03",
    "05.10.2099": "2099-10-05",
    "2031/07/23": "2031-07-23",
    "19690720": "1969-07-20",
    "2008年8月8日": "2008-08-08",
    "November 2nd, 1902": "1902-11-02",
    "the 13th of October 2012": "2012-10-13",
}


@pytest.mark.parametrize(("text", "iso"), DATES.items())
def test_dates_are_spelled(text, iso):
    assert text in [dates.spell(date.fromisoformat(iso), spelling) for spelling in dates.SPELLINGS]
    assert UNK not in Dates().encode(text)


def test_each_spelling_has_an_example_above():
    spelled = {
        s for text, iso in DATES.items() for s in dates.SPELLINGS if dates.spell(date.fromisoformat(iso), s) == text
    }
    assert spelled == set(dates.SPELLINGS)


def test_a_spelled_date_is_one_day_alone():
    days = [date.fromordinal(n) for n in range(date(1999, 11, 1).toordinal(), date(2002, 3, 1).toordinal())]
    meaning = {}
    for day in days:
        for spelling in dates.SPELLINGS:
            assert meaning.setdefault(dates.spell(day, spelling), day) == day


@SPLITS
def test_dates_translate_to_the_day_that_is_spelled(split):
    days = Counter()
    for source, target in Dates().examples(4000, seeded(), split):
        day = date.fromisoformat(target)
        days[day.year] += 1
        assert 1900 <= day.year <= 2099
        assert source in [dates.spell(day, spelling) for spelling in dates.SPELLINGS]
        assert ((day.day + 3 * day.month) % 10 == 7) == (split == "held_out")
    assert len(days) == 200


def test_a_tenth_of_the_days_is_held_out_and_of_each_month_some():
    days = [date.fromordinal(date(2024, 1, 1).toordinal() + n) for n in range(366)]
    held_out = [day for day in days if dates.is_held_out(day.month, day.day)]
    assert 34 <= len(held_out) <= 39
    assert {day.month for day in held_out} == set(range(1, 13))
    assert {day.day for day in days if day not in held_out} == set(range(1, 32))


# numerals

NUMERALS = {
    0: ("zero", "零"),
    7: ("seven", "七"),
    10: ("ten", "十"),
    15: ("fifteen", "十五"),
    20: ("twenty", "二十"),
    42: ("forty-two", "四十二"),
    100: ("one hundred", "一百"),
    110: ("one hundred and ten", "一百一十"),
    115: ("one hundred and fifteen", "一百一十五"),
    305: ("three hundred and five", "三百零五"),
    999: ("nine hundred and ninety-nine", "九百九十九"),
    1000: ("one thousand", "一千"),
    1100: ("one thousand one hundred", "一千一百"),
    2022: ("two thousand and twenty-two", "二千零二十二"),
    3005: ("three thousand and five", "三千零五"),
    3500: ("three thousand five hundred", "三千五百"),
    8306: ("eight thousand three hundred and six", "八千三百零六"),
    10_000: ("ten thousand", "一万"),
    10_001: ("ten thousand and one", "一万零一"),
    10_010: ("ten thousand and ten", "一万零一十"),
    11_000: ("eleven thousand", "一万一千"),
    12_300: ("twelve thousand three hundred", "一万二千三百"),
    60_004: ("sixty thousand and four", "六万零四"),
    100_000: ("one hundred thousand", "十万"),
    105_000: ("one hundred and five thousand", "十万五千"),
    110_500: ("one hundred and ten thousand five hundred", "十一万零五百"),
    1_000_000: ("one million", "一百万"),
    3_050_007: ("three million fifty thousand and seven", "三百零五万零七"),
    20_300_000: ("twenty million three hundred thousand", "二千零三十万"),
    99_999_999: (
        "ninety-nine million nine hundred and ninety-nine thousand nine hundred and ninety-nine",
        "九千九百九十九万九千九百九十九",
    ),
}


@pytest.mark.parametrize(("number", "written"), NUMERALS.items())
def test_numerals_are_written(number, written):
    assert (numerals.english(number), numerals.chinese(number)) == written
    task = Numerals()
    assert task.decode(task.encode(written[0]), side="src") == written[0]


def value_of_chinese(written):
    """What a Chinese numeral is worth, read from left to right."""
    total, digit = 0, None
    for sign in written:
        if sign in "零一二三四五六七八九":
            digit = "零一二三四五六七八九".index(sign)
        elif sign == "万":
            total, digit = (total + (digit or 0)) * 10_000, None
        else:
            total += (1 if digit is None else digit) * {"十": 10, "百": 100, "千": 1000}[sign]
            digit = None
    return total + (digit or 0)


def value_of_english(written):
    total, group = 0, 0
    for word in re.findall(r"\w+", written):
        if word == "hundred":
            group *= 100
        elif word in ("thousand", "million"):
            total, group = total + group * (1000 if word == "thousand" else 1_000_000), 0
        elif word != "and":
            group += numerals.SMALL.index(word) if word in numerals.SMALL else 10 * numerals.TENS.index(word) + 20
    return total + group


def test_every_numeral_is_worth_its_number():
    for number in [*range(12_000), *range(12_000, 100_000_000, 54_321)]:
        assert value_of_chinese(numerals.chinese(number)) == number
        assert value_of_english(numerals.english(number)) == number


@pytest.mark.one_of(3)
@pytest.mark.parametrize("largest", [999, 40_000, 99_999, 99_999_999])
@SPLITS
def test_numerals_hold_groups_of_three_digits_out(largest, split):
    found = Counter()
    for source, target in Numerals(largest).examples(3000, seeded(), split):
        number = value_of_chinese(target)
        assert value_of_english(source) == number <= largest
        groups = [int(group) for group in f"{number:,}".split(",")]
        unseen = [g for g in groups if g >= 100 and (g // 100 + 3 * (g // 10 % 10) + 7 * (g % 10)) % 10 == 5]
        assert bool(unseen) == (split == "held_out")
        found[len(str(number))] += 1
    assert set(found) == set(range(3 if split == "held_out" else 1, len(str(largest)) + 1))


def test_the_largest_numeral_is_drawn_too():
    rng = SimpleNamespace(random=iter([0.99, 0.999]).__next__)  # a number of three digits, the last of these
    assert [target for _, target in Numerals(999).pairs(1, rng, "train")] == [list("九百九十九")]


@pytest.mark.parametrize("largest", [998, 100_000_000, 5e4])
def test_numerals_refuse_a_largest_number(largest):
    with pytest.raises(
        ValueError, match=re.escape(f"largest is {largest}; expected a whole number from 999 to 99999999")
    ):
        Numerals(largest)


@pytest.mark.parametrize("write_out", [numerals.english, numerals.chinese])
@pytest.mark.parametrize("number", [-1, 100_000_000, 1.5])
def test_numerals_refuse_a_number(write_out, number):
    with pytest.raises(ValueError, match=f"number is {number}; expected a whole number from 0 to 99999999"):
        write_out(number)


# translation


def noun(one):
    return next(noun for noun in words.NOUNS if noun.one == one)


def verb(base, zh=None):
    return next(verb for verb in words.VERBS if verb.base == base and zh in (None, verb.zh))


def found_in(table, en):
    """The entry of a table, which may hold lists, for some English words."""
    for entry in table:
        found = entry if getattr(entry, "en", None) == en else isinstance(entry, list) and found_in(entry, en)
        if found:
            return found
    return None


def who(en):
    return found_in([words.PRONOUNS, *words.OTHERS, [translation.WHO]], en)


def at(en):
    return found_in([*words.PLACES.values(), [NOTHING]], en)


def when(tense, en):
    return found_in([words.TIMES[tense], words.USUAL_TIMES, [NOTHING]], en)


def number(en):
    return found_in([words.NUMBERS, [translation.ONE]], en)


def whose(en):
    return found_in([words.POSSESSIVES], en)


def adjective(one, en):
    return found_in(words.ADJECTIVES[noun(one)], en)


def which(en):
    return found_in(translation.DEMONSTRATIVES, en)


GOLD = [  # kind, tense, who, verb, what, place, time, English, Chinese
    (
        *("negation", "past", "I", verb("buy"), bare(noun("book")), "at the shop", "yesterday"),
        *("I did not buy books at the shop yesterday.", "我昨天没在商店买书。"),
    ),
    (
        *("statement", "past", "my friend", verb("buy"), counted(noun("book"), number("three")), "", ""),
        *("My friend bought three books.", "我朋友买了三本书。"),
    ),
    (
        *("statement", "past", "Tom", verb("eat"), counted(noun("orange"), number("a")), "at home", "last Monday"),
        *("Tom ate an orange at home last Monday.", "汤姆上周一在家吃了一个橙子。"),
    ),
    (
        *("statement", "future", "the nurse", verb("send"), counted(noun("letter"), number("two")), "", "next month"),
        *("The nurse will send two letters next month.", "护士下个月会寄两封信。"),
    ),
    (
        *("statement", "habit", "she", verb("drink"), bare(noun("tea")), "in the garden", "every morning"),
        *("She drinks tea in the garden every morning.", "她每天早上在花园喝茶。"),
    ),
    (
        *("statement", "habit", "they", verb("read"), counted(noun("newspaper"), number("a")), "", "every day"),
        *("They read a newspaper every day.", "他们每天看一份报纸。"),
    ),
    (
        *("statement", "past", "they", verb("read"), counted(noun("newspaper"), number("a")), "", "yesterday"),
        *("They read a newspaper yesterday.", "他们昨天看了一份报纸。"),
    ),
    (
        *("negation", "habit", "the teacher", verb("teach"), bare(noun("history")), "at school", "in the evening"),
        *("The teacher does not teach history at school in the evening.", "老师晚上不在学校教历史。"),
    ),
    (
        *("negation", "habit", "we", verb("wash"), owned(noun("car"), whose("your")), "", ""),
        *("We do not wash your car.", "我们不洗你的汽车。"),
    ),
    (
        *("negation", "future", "he", verb("repair"), shown(noun("bicycle"), which("that")), "", "tomorrow"),
        *("He will not repair that bicycle tomorrow.", "他明天不会修那辆自行车。"),
    ),
    (
        *("question", "past", "you", verb("buy"), shown(noun("chair"), which("these")), "in Paris", ""),
        *("Did you buy these chairs in Paris?", "你在巴黎买了这些椅子吗？"),
    ),
    (
        *("question", "habit", "her mother", verb("wear", "戴"), bare(noun("hat")), "", ""),
        *("Does her mother wear hats?", "她妈妈戴帽子吗？"),
    ),
    (
        *("question", "future", "Anna", verb("wear", "穿")),
        counted(noun("skirt"), number("a"), adjective("skirt", "red")),
        *("", "", "Will Anna wear a red skirt?", "安娜会穿一条红色的裙子吗？"),
    ),
    (
        *("who", "past", "who", verb("draw"), shown(noun("horse"), which("this"), adjective("horse", "big"))),
        *("in the park", "last week", "Who drew this big horse in the park last week?", "谁上周在公园画了这匹大马？"),
    ),
    (
        *("what", "past", "the cook", verb("sell"), translation.WHAT, "at the market", "yesterday afternoon"),
        *("What did the cook sell at the market yesterday afternoon?", "厨师昨天下午在市场卖了什么？"),
    ),
    (
        *("where", "future", "you", verb("learn"), bare(noun("Chinese")), "WHERE", "next year"),
        *("Where will you learn Chinese next year?", "你明年会在哪里学中文？"),
    ),
    (
        *("statement", "future", "our neighbor", verb("feed"), counted(noun("dog"), number("ten")), "", "tomorrow"),
        *("Our neighbor will feed ten dogs tomorrow.", "我们邻居明天会喂十只狗。"),
    ),
    (
        *("statement", "past", "David", verb("borrow"), shown(noun("umbrella"), which("those")), "", "last year"),
        *("David borrowed those umbrellas last year.", "大卫去年借了那些雨伞。"),
    ),
    (
        *("statement", "past", "you", verb("sell")),
        counted(noun("table"), number("a"), adjective("table", "old")),
        *("", "yesterday", "You sold an old table yesterday.", "你昨天卖了一张旧桌子。"),
    ),
    (
        *("statement", "past", "I", verb("use"), owned(noun("phone"), words.Phrase("the teacher 's", "老师")), "", ""),
        *("I used the teacher's phone.", "我用了老师的手机。"),
    ),
    (
        *("negation", "past", "Mary", verb("clean")),
        owned(noun("bed"), words.Phrase("my younger sister 's", "我 妹妹")),
        *("", "", "Mary did not clean my younger sister's bed.", "玛丽没擦我妹妹的床。"),
    ),
]


@pytest.mark.parametrize("gold", GOLD, ids=lambda gold: gold[-2])
def test_translation_of_sentences_translated_by_hand(gold):
    kind, tense, person, does, what, place, time, english, chinese = gold
    place = translation.WHERE if place == "WHERE" else at(place)
    written = write(kind, tense, who(person), does, what, place, when(tense, time))
    task = Translation()
    assert task.decode(task.src_vocab.encode(written.en), side="src") == english
    assert task.decode(task.tgt_vocab.encode(written.zh)) == chinese
    assert task.encode(english) == task.src_vocab.encode(written.en)
    assert task.encode(chinese, side="tgt") == task.tgt_vocab.encode(written.zh, bos=True, eos=True)
    assert UNK not in task.encode(english) + task.encode(chinese, side="tgt")


@pytest.fixture(scope="module")
def drawn():
    """50,000 pairs (English words, Chinese words) of training."""
    return Translation().pairs(50_000, random.Random(0), "train")


@pytest.mark.thorough("draws thousands of pairs")
def test_an_english_sentence_has_one_translation(drawn):
    held_out = Translation().pairs(20_000, random.Random(0), "held_out")
    translated = {}
    for src, tgt in [*drawn, *held_out]:
        assert translated.setdefault(" ".join(src), tgt) == tgt


@pytest.mark.thorough("draws thousands of pairs")
def test_there_are_millions_of_sentences(drawn):
    """Of so many draws, two of the same sentence are rare: n² / 2m of n draws, if there were m equally likely ones."""
    coincidences = len(drawn) - len({tuple(src) for src, _ in drawn})
    assert coincidences < len(drawn) ** 2 / 2 / 2_000_000


@pytest.mark.thorough("draws thousands of pairs")
def test_sentences_are_short(drawn):
    for side in zip(*drawn):
        lengths = [len(sentence) for sentence in side]
        assert (min(lengths), max(lengths)) == (4, 12)
        assert 8 < sum(lengths) / len(lengths) < 9.5


@pytest.mark.thorough("draws thousands of pairs")
def test_there_are_200_words_on_each_side_and_each_is_frequent(drawn):
    for vocab, side in zip((Translation().src_vocab, Translation().tgt_vocab), zip(*drawn)):
        frequency = Counter(word for sentence in side for word in set(sentence))
        assert set(frequency) == set(vocab.words[4:])
        assert 200 <= len(frequency) <= 260
        assert min(frequency.values()) >= 100


@pytest.mark.thorough("draws thousands of pairs")
def test_each_kind_of_reordering_is_frequent(drawn):
    chinese = [" ".join(tgt) for _, tgt in drawn]
    for pattern in (
        r" 在 \S+ \S+ 了 ",
        " 没 ",
        " 不 ",
        " 会 ",
        r" [一两三四五六七八九十] \S+ ",
        " 的 ",
        " 吗 ？",
        "^谁 ",
        " 什么 ？",
        " 哪里 ",
    ):
        assert sum(bool(re.search(pattern, sentence)) for sentence in chinese) > 500, pattern


VERB_FORMS = {form: v.base for v in words.VERBS for form in (v.base, v.third, v.past)}
NOUN_FORMS = {form: n.one for n in words.NOUNS for form in (n.one, n.many) if form}


def verbs_and_nouns(sentence):
    return {VERB_FORMS[w] for w in sentence if w in VERB_FORMS}, {NOUN_FORMS[w] for w in sentence if w in NOUN_FORMS}


@pytest.mark.thorough("draws thousands of pairs")
def test_no_verb_with_its_object_is_drawn_in_the_wrong_split(drawn):
    held_out = Translation().pairs(5000, random.Random(0), "held_out")
    found = {True: set(), False: set()}
    for sentences, unseen in ((drawn, False), (held_out, True)):
        for src, _ in sentences:
            (base,), nouns = verbs_and_nouns(src)
            if src[0] == "what" and not unseen:
                assert not nouns
                continue
            (one,) = nouns
            assert is_held_out(base, one) == unseen
            found[unseen].add((base, one))
    assert not found[True] & found[False]
    assert len(found[True]) == 22 and len(found[False]) == 196


def test_the_verb_and_the_object_that_are_held_out_are_named():
    base, many = re.search("such as (.*) (.*), never", Translation().unseen).groups()
    assert is_held_out(base, NOUN_FORMS[many])
    assert not is_held_out("buy", "book")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Tom’s dog", ["Tom", "'s", "dog"]),
        ("I buy the teacher's book.", ["I", "buy", "the", "teacher", "'s", "book", "."]),
        ("The book , is it Tom's?", ["the", "book", ",", "is", "it", "Tom", "'s", "?"]),
        ("", []),
    ],
)
def test_english_is_cut(text, tokens):
    assert translation.split_english(text, frozenset(["I", "Tom", "the"])) == tokens


def test_chinese_is_cut_by_the_longest_word():
    task = Translation()
    assert task.decode(task.encode("我们 X昨天，", side="tgt")) == "我们<unk>昨天<unk>"
    assert len(task.encode("我们昨天", side="tgt")) == 4
