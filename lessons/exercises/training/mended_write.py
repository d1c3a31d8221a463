"""Lesson 11, mended_write: a model that generates from the same beginning as in training."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def write(next_logits, bos_id: int, eos_id: int, pad_id: int, max_len: int) -> Tensor:
    """next_logits: ids (t,) -> logits (V,). Writes greedily and returns all ids, from the begin mark to the end mark"""
    ids = torch.tensor([bos_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids


def _write_with(candidate, rows, bos_id, eos_id, pad_id, max_len):
    return candidate(lambda ids: rows[ids[-1]], bos_id, eos_id, pad_id, max_len)


def _write_cases(generator) -> list[Case]:
    def case(vocab_size, max_len, chain, about=""):
        """A model in which each word of the chain is followed by the next one; its first three are the marks."""
        pad_id, bos_id, eos_id, *others = chain
        rows = numbers(generator, vocab_size, vocab_size)
        for word, after in zip([bos_id, *others, eos_id, pad_id], [*others, eos_id, others[1], others[-1]]):
            rows[word, after] = 5.0
        marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        return Case({"rows": rows, **marks, "max_len": max_len}, about=about)

    return [
        case(6, 8, [0, 1, 2, 3, 5, 4]),
        case(7, 9, [0, 1, 2, 6, 3, 4, 5]),
        case(6, 10, [5, 3, 0, 1, 4], about="other ids for the marks"),
        case(9, 3, [0, 1, 2, 8, 7, 6, 5], about="cut off at max_len"),
    ]


start_hunt = Exercise(
    lesson="11",
    name="mended_write",
    reference=write,
    cases=_write_cases,
    call=_write_with,
    outputs=("ids",),
    mistakes=[
        Mistake(
            edited(write, "[bos_id]", "[pad_id]"),
            "The model is sound, and what is written is another sentence than the expected one. Compare the two rows "
            "of ids from the left: where do they part?",
        ),
        Mistake(
            edited(write, "[bos_id]", "[eos_id]"),
            "It begins with the end mark, where a sentence is over and nothing is to be written.",
            also=[edited(write, ("[bos_id]", "[eos_id]"), ("ids[-1] != eos_id and ", ""))],
        ),
        Mistake(
            edited(
                write, ("[bos_id]", "[pad_id]"), ("return ids", "return torch.cat([torch.tensor([bos_id]), ids[1:]])")
            ),
            "The first id that you return is right now, but the words after it are as they were: is it also the first "
            "id that the model reads?",
        ),
        Mistake(
            edited(
                write,
                ("< max_len", "< max_len - 1"),
                ("return ids", "return torch.cat([torch.tensor([pad_id]), ids])"),
            ),
            "There is an id too many: no sentence of the training had padding before its begin mark.",
        ),
        Mistake(
            edited(write, "ids[-1] != eos_id and ", ""),
            "It begins right, but goes on after the end mark: eos_id is what ends a sentence.",
        ),
        Mistake(
            edited(write, "return ids", "return ids[1:]"),
            "The begin mark is missing in what is returned.",
        ),
        Mistake(
            edited(write, "return ids", "return ids[:-1]"),
            "The last id is missing in what is returned: the end mark belongs to it.",
        ),
    ],
    hints=[
        "What does the model read before it writes its first word? And what did it read there in training?",
        "In training each tgt began with the begin mark. A model that starts from anything else is in a place where it "
        "has never been.",
        "There is one wrong name in the function.",
    ],
)
