"""English sentences and their Chinese translation, from a small grammar: short sentences, real reordering.

Time and place come last in English and before the verb in Chinese: I ate a cake at home yesterday,
我 昨天 在 家 吃 了 一 个 蛋糕. Chinese counts with a measure word that depends on the noun; questions keep the order.
"""

import re
from functools import partial
from random import Random

from lessons.tasks import words
from lessons.tasks.task import HELD_OUT, SPLITS, Task, Writing, longest_words, make_vocabulary, pick
from lessons.tasks.words import NOUNS, VERBS, Noun, Person, Phrase, Verb
from lessons.wording import worded

SHORTEST, LONGEST = 4, 12  # words of a sentence, including the final . or ?
KINDS = ("statement",) * 7 + ("negation",) * 5 + ("question",) * 5 + ("who", "what", "where")
TENSES = ("past", "past", "habit", "future")
NOTHING, WHO, WHAT, WHERE = Phrase("", ""), Person("who", "谁", True, "who"), Phrase("", "什么"), Phrase("", "在 哪里")
PAIRS = [(verb, noun) for verb in VERBS for noun in NOUNS if verb.classes & noun.classes]
HELD_OUT_FIRST = 6  # this pair and every tenth one after it are held out
FUNCTION_WORDS = Phrase(
    "who what where do does did will not a an the this that these those my your his her our their 's . ?",
    "谁 什么 哪里 在 没 不 会 了 吗 的 一 这 那 些 。 ？",
)


def is_held_out(verb: str, noun: str) -> bool:
    """Whether a verb with this object, such as ("buy", "book"), is held out: a tenth of the pairs."""
    return (verb, noun) in _HELD_OUT


class Translation(Task):
    """I did not buy a book at the shop yesterday. → 我昨天没在商店买书。"""

    def __init__(self):
        verb, nouns = next((verb.base, noun.many) for verb, noun in PAIRS if is_held_out(verb.base, noun.one))
        unseen = worded(
            "A verb with its object: a tenth of the pairs, such as {verb} {nouns}, never occur in training, in any "
            "tense or number. Every verb and every noun does.",
            verb=verb,
            nouns=nouns,
        )
        vocabs = make_vocabulary(*_all_words(0)), make_vocabulary(*_all_words(1))
        english = Writing(partial(split_english, known=frozenset(vocabs[0].words)), join_english)
        chinese = Writing(longest_words(vocabs[1].words), "".join)
        super().__init__("translation", 4, unseen, vocabs, (english, chinese))

    def pairs(self, size: int, rng: Random, split: str) -> list[tuple[list[str], list[str]]]:
        drawn = []
        while len(drawn) < size:
            src, tgt = (side.split() for side in draw_sentence(rng, split))
            if SHORTEST <= len(src) <= LONGEST and SHORTEST <= len(tgt) <= LONGEST:
                drawn.append((src, tgt))
        return drawn


def write(kind: str, tense: str, who: Person, verb: Verb, what: Phrase, place: Phrase, time: Phrase) -> Phrase:
    """The sentence in both languages. kind: one of KINDS; tense: one of TENSES. place and time may be NOTHING."""
    mark = Phrase(".", "。") if kind in ("statement", "negation") else Phrase("?", "？")
    end = f"{what.en} {place.en} {time.en} {mark.en}"
    auxiliary = {"past": "did", "habit": "does" if who.third else "do", "future": "will"}[tense]
    if kind in ("statement", "who"):
        finite = {"past": verb.past, "habit": verb.third if who.third else verb.base, "future": f"will {verb.base}"}
        en = f"{who.en} {finite[tense]} {end}"
    elif kind == "negation":
        en = f"{who.en} {auxiliary} not {verb.base} {end}"
    else:
        en = f"{kind if kind != 'question' else ''} {auxiliary} {who.en} {verb.base} {end}"
    no = {"past": "没", "habit": "不", "future": "不"}[tense] if kind == "negation" else ""
    will = "会" if tense == "future" else ""
    over = "了" if tense == "past" and kind != "negation" else ""
    asked = "吗" if kind == "question" else ""
    return Phrase(en, f"{who.zh} {time.zh} {no} {will} {place.zh} {verb.zh} {over} {what.zh} {asked} {mark.zh}")


def draw_sentence(rng: Random, split: str) -> Phrase:
    """One sentence of any length, whose verb and object belong to the split."""
    kind, tense = pick(rng, KINDS), pick(rng, TENSES)
    verb, noun = pick(rng, pick(rng, pick(rng, _BY_WORD[split])))
    if (kind == "what" and split == HELD_OUT) or (kind == "where" and tense == "past"):
        kind = "question"
    who = WHO if kind == "who" else person(rng, asked=kind not in ("statement", "negation"))
    if kind == "what":
        verb, what = pick(rng, _ASKED_VERBS), WHAT
    else:
        what = thing(rng, noun, who, kind, tense, one=verb.base == "wear")
    place = pick(rng, words.PLACES[verb]) if rng.random() < 0.6 else NOTHING
    return write(kind, tense, who, verb, what, WHERE if kind == "where" else place, when(rng, kind, tense))


def person(rng: Random, asked: bool) -> Person:
    """A subject: I, Tom, the doctor, my friend. Questions don't ask about "I"."""
    if rng.random() < 0.4:
        return pick(rng, words.PRONOUNS[1:] if asked else words.PRONOUNS)
    return pick(rng, pick(rng, words.OTHERS))


def when(rng: Random, kind: str, tense: str) -> Phrase:
    """A time that fits the tense. A statement of a habit always has one, because "I read books" could be past."""
    if tense == "habit" and kind == "negation":  # with "every day" it is unclear what "not" negates
        return pick(rng, words.USUAL_TIMES) if rng.random() < 0.5 else NOTHING
    needed = tense == "habit" and kind in ("statement", "who")
    return pick(rng, pick(rng, words.TIMES[tense])) if needed or rng.random() < 0.7 else NOTHING


def thing(rng: Random, noun: Noun, who: Person, kind: str, tense: str, *, one: bool) -> Phrase:
    """The object of the verb: three books, this book, my friend's book, books. `one`: only one at a time, as a hat.

    A habit is about books in general or somebody's own, and a negation has no number.
    """
    chance, habit = rng.random(), tense == "habit"
    if chance < 0.25 and "subject" not in noun.classes:
        return owned(noun, owner(rng, who))
    if not noun.measure or (habit and kind == "negation") or (chance < 0.4 and not one):
        return bare(noun)
    if habit or (kind != "negation" and chance < 0.75):
        return counted(noun, ONE if one else pick(rng, _COUNTS), adjective(rng, noun))
    return shown(noun, pick(rng, DEMONSTRATIVES[:2] if one else DEMONSTRATIVES), adjective(rng, noun))


def bare(noun: Noun) -> Phrase:
    return Phrase(noun.many or noun.one, noun.zh)


def owned(noun: Noun, whose: Phrase) -> Phrase:
    """My book, 我 的 书; whose: ("my", "我") or ("Tom 's", "汤姆")."""
    return Phrase(f"{whose.en} {noun.one}", f"{whose.zh} 的 {noun.zh}")


def counted(noun: Noun, number: Phrase, adjective: Phrase = NOTHING) -> Phrase:
    """Three new books, 三 本 新 书; number: ("three", "三")."""
    many = noun.one if number == ONE else noun.many
    en = f"{number.en} {adjective.en} {many}".split()
    if number == ONE and en[1][0] in "aeiou":
        en[0] = "an"
    return Phrase(" ".join(en), f"{number.zh} {noun.measure} {adjective.zh} {noun.zh}")


def shown(noun: Noun, which: Phrase, adjective: Phrase = NOTHING) -> Phrase:
    """This book, 这 本 书. In the plural 些 replaces the measure word: these books, 这 些 书."""
    many = which.zh.endswith("些")
    return Phrase(
        f"{which.en} {adjective.en} {noun.many if many else noun.one}",
        f"{which.zh} {'' if many else noun.measure} {adjective.zh} {noun.zh}",
    )


def owner(rng: Random, who: Person) -> Phrase:
    """The owner of a thing: my, Tom's, the doctor's, my friend's; never "Tom ate Tom's cake"."""
    if rng.random() < 0.4:
        return pick(rng, words.POSSESSIVES)
    while (whose := pick(rng, pick(rng, words.OTHERS))).head == who.head:
        pass
    return Phrase(f"{whose.en} 's", whose.zh)


def adjective(rng: Random, noun: Noun) -> Phrase:
    """Sometimes an adjective that fits the noun, else NOTHING."""
    suited = words.ADJECTIVES[noun]
    return pick(rng, suited) if suited and rng.random() < 0.4 else NOTHING


def split_english(text: str, known: frozenset[str]) -> list[str]:
    """Words, 's and punctuation. The first word becomes lowercase, unless it is known as it is: I, Tom."""
    found = re.sub(r"('s\b|[^\w\s'])", r" \1 ", text.replace("’", "'")).split()
    if found and found[0] not in known:
        found[0] = found[0][:1].lower() + found[0][1:]
    return found


def join_english(tokens: list[str]) -> str:
    text = re.sub(r" ('s|[.?])(?= |$)", r"\1", " ".join(tokens))
    return text[:1].upper() + text[1:]


ONE = Phrase("a", "一")
_COUNTS = [*[ONE] * 4, *words.NUMBERS]
DEMONSTRATIVES = [Phrase("this", "这"), Phrase("that", "那"), Phrase("these", "这 些"), Phrase("those", "那 些")]
_HELD_OUT = frozenset((verb.base, noun.one) for verb, noun in PAIRS[HELD_OUT_FIRST::10])
_ASKED_VERBS = [verb for verb in VERBS if [other.base for other in VERBS].count(verb.base) == 1]  # not 穿 or 戴
_BY_WORD = {}  # the pairs of each split: of each verb, and of each noun
for _split in SPLITS:
    _pairs = [pair for pair in PAIRS if is_held_out(pair[0].base, pair[1].one) == (_split == HELD_OUT)]
    _groups = [[[pair for pair in _pairs if word in pair] for word in table] for table in (VERBS, NOUNS)]
    _BY_WORD[_split] = [[group for group in groups if group] for groups in _groups]


def _all_words(side: int) -> list[str]:
    """All words that sentences can contain. side: 0 English, 1 Chinese."""
    forms = [(f"{noun.one} {noun.many}", f"{noun.zh} {noun.measure}") for noun in NOUNS]
    forms += [(f"{verb.base} {verb.third} {verb.past}", verb.zh) for verb in VERBS]
    people = [*words.PRONOUNS, *words.POSSESSIVES, *words.NAMES, *words.ROLES, *words.RELATIVES]
    times = [time for lists in (*words.TIMES.values(), [words.USUAL_TIMES]) for some in lists for time in some]
    places = [place for some in words.PLACES.values() for place in some]
    adjectives = [adjective for some in words.ADJECTIVES.values() for adjective in some]
    entries = (*forms, *people, *words.NUMBERS, *times, *places, *adjectives, FUNCTION_WORDS)
    return [(en, zh)[side] for en, zh, *_ in entries]
