"""What the lessons say that ModelStudio shows: the same changes in torch, and the lesson quotes what comes out."""

from functools import cache

import pytest
import torch

from lessons.evaluation import generate_all, translate
from lessons.interventions import Change, intervene
from lessons.pretrained import load_translator
from lessons.widgets.model_studio.widget import SENTENCE
from tests.notebooks.cells import NOTEBOOKS

CAKE, LETTER = "I ate a cake at home yesterday.", "Tom did not read this letter."
RIGHT, RIGHT_CAKE = "老师明天不会在学校喝茶。", "我昨天在家吃了一个蛋糕。"
LAST, FIRST = "decoder.1.cross_attn", "decoder.0.cross_attn"


def cut(at):
    return [Change("cut", at=at)]


def silent(at, *heads):
    return [Change("silence", at=at, head=head) for head in heads]


def hidden(token):
    return [Change("hide", side="src", token=token)]


# The lesson, the sentence that is typed, the changes, the translation, and whether the lesson quotes it.
ANSWERS = [
    ("00", SENTENCE.replace(" tea ", " coffee "), [], "老师明天不会在学校喝咖啡。", True),
    ("00", SENTENCE, hidden(5), "老师明天不会在学校喝汽车。", True),
    *(("00", SENTENCE, [Change("block", at=LAST, head=head, query=2, key=3)], RIGHT, False) for head in (0, 1, 2)),
    ("00", SENTENCE, [Change("block", at=LAST, head=3, query=2, key=3)], "老师明天会在学校喝茶。", True),
    ("08", CAKE, cut("decoder.*.cross_attn"), "安娜修了汤。", True),
    ("08", SENTENCE, cut("decoder.*.cross_attn"), "安娜修了汤。", True),
    ("08", CAKE, cut(FIRST), "我昨天吃了一个蛋糕。", True),
    ("08", CAKE, cut(LAST), "大卫在厨房吃了这个狗。", True),
    ("08", CAKE, hidden(0), "一个月在家吃了一个蛋糕。", True),
    ("08", CAKE, hidden(6), "我在家吃了一个蛋糕。", False),
    ("08", SENTENCE, hidden(9), RIGHT, False),
    ("09", SENTENCE, [Change("drop_positions")], RIGHT, True),
    (
        "09",
        SENTENCE,
        [Change("swap_positions", side="src", token=1, other=5)],
        "茶明天不会在学校喝老师的面包。",
        True,
    ),
    ("09", SENTENCE, cut("encoder.*.self_attn"), RIGHT, True),
    ("09", LETTER, cut("encoder.*.self_attn"), "汤姆不看这封信。", False),
    ("09", SENTENCE, cut("decoder.*.feed_forward"), "老师明天不不会在学校喝茶。", True),
    ("10", SENTENCE, [Change("drop_causal")], RIGHT, True),
    ("10", SENTENCE, [Change("drop_padding")], RIGHT, True),
    ("10", SENTENCE, [Change("block", at=LAST, query=5, key=7)], "老师明天不会在家喝茶。", True),
    ("14", SENTENCE, silent(LAST, 0), RIGHT, True),
    ("14", SENTENCE, silent(FIRST, 2), "老师明天不会喝茶。", True),
    *(("14", SENTENCE, silent(FIRST, head), RIGHT, True) for head in (0, 1, 3)),
    ("14", SENTENCE, silent(LAST, 0, 1, 2, 3), "汤姆每周二在公园穿了汤。", True),
    ("14", SENTENCE, silent(LAST, 1, 2, 3), "老师明天不会在公园喝茶。", True),
    *(("14", SENTENCE, silent(LAST, *{0, 1, 2, 3} - {head}), None, False) for head in (1, 2, 3)),
]


def text_of(lesson):
    return "".join(cell.source for name, book in NOTEBOOKS.items() if name.startswith(lesson) for cell in book.cells)


@cache
def translator():
    return load_translator()


def translated(sentence, changes):
    model, task = translator()
    with intervene(model, changes):
        return translate(model, [sentence], task)[0]


@pytest.mark.parametrize(("lesson", "sentence", "changes", "expected", "is_quoted"), ANSWERS)
def test_the_answer_is_what_torch_gives(lesson, sentence, changes, expected, is_quoted):
    """expected: None, if the lesson says only that the translation is wrong."""
    found = translated(sentence, changes)
    assert found == expected if expected else found != RIGHT
    assert not is_quoted or expected in text_of(lesson)
    assert "ModelStudio(" in text_of(lesson)


def test_every_sentence_gets_the_same_translation_without_cross_attention():
    model, task = translator()
    sentences = [english for english, _ in task.examples(10, torch.Generator().manual_seed(4), "held_out")]
    with intervene(model, cut("decoder.*.cross_attn")):
        assert set(translate(model, sentences, task)) == {"安娜修了汤。"}


def test_without_the_period_the_cake_finds_no_end():
    found = translated(CAKE, hidden(7))
    assert found.startswith("我昨天在家吃了一个蛋糕蛋糕蛋糕")
    assert len(found) > 4 * len(RIGHT_CAKE)


def test_generation_needs_no_causal_mask():
    model, task = translator()
    src, tgt = task.batch(100, torch.Generator().manual_seed(3), "held_out")
    with intervene(model, [Change("drop_causal")]):
        found = generate_all(model, src, task, max_len=tgt.size(1))
    assert [task.decode(ids) for ids in found] == [task.decode(ids) for ids in tgt]


def test_one_sentence_has_no_padding():
    model, task = translator()
    src = torch.tensor([task.encode(SENTENCE)])
    tgt = torch.tensor([task.encode(RIGHT, side="tgt")])
    before = model(src, tgt)[0]
    with intervene(model, [Change("drop_padding")]):
        assert torch.equal(model(src, tgt)[0], before)


def test_the_sharp_head_of_lesson_14_is_sharp():
    model, task = translator()
    src, tgt = torch.tensor([task.encode(SENTENCE)]), torch.tensor([task.encode(RIGHT, side="tgt")])
    _, weights = model(src, tgt[:, :-1], need_weights=True)
    rows = weights[LAST][0, 0]
    assert (rows.amax(dim=-1) > 0.7).sum() >= len(rows) - 2
