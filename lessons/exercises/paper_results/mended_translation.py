"""Lesson 15, mended_translation: what is scored must be what the model generates on its own."""

from itertools import takewhile

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def translation(next_logits, right: Tensor, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    """What BLEU is to judge: the words that the model writes alone, without begin and end mark, max_len at most"""
    ids = [bos_id]
    while len(ids) <= max_len:
        word = int(next_logits(torch.tensor(ids)).argmax())
        if word == eos_id:
            break
        ids.append(word)
    return ids[1:]


def _translate_with(candidate, rows, right, bos_id, eos_id, max_len):
    """The model is a table: the row of the last word read, shifted by how often it was read before."""

    def next_logits(ids):
        ids = torch.as_tensor(ids)
        return rows[(ids == ids[-1]).sum() - 1, ids[-1]]

    written = candidate(next_logits, right, bos_id, eos_id, max_len)
    return written if written is None else torch.as_tensor(written).long()


def _hunt_cases(generator) -> list[Case]:
    def case(vocab_size, right, chain, max_len, about="", bos_id=1, eos_id=2):
        """A model that writes the words of `chain`; where it reads others, it mostly says what is right."""
        rows = 0.1 * numbers(generator, 3, vocab_size, vocab_size)
        for words in (right, chain):
            for seen, (word, after) in enumerate(zip([bos_id, *words], [*words, eos_id])):
                rows[[bos_id, *words][:seen].count(word), word, after] = 5.0 + (words is chain)
        right = torch.tensor([bos_id, *right, eos_id])
        return Case({"rows": rows, "right": right, "bos_id": bos_id, "eos_id": eos_id, "max_len": max_len}, about=about)

    return [
        case(9, [3, 4, 5, 6], [3, 7, 8, 5, 6, 4], 12),
        case(9, [3, 4, 5, 6, 7], [3, 6, 3, 8, 6, 4], 12),
        case(10, [4, 5, 6, 7, 8, 9], [4, 3, 6], 9),
        case(8, [3, 4, 5], [3, 6, 4, 7, 5, 4, 6], 4, about="longer than max_len"),
        case(9, [3, 4, 5, 6], [7, 4, 8, 6, 3], 10, about="other ids for the marks", bos_id=0, eos_id=1),
    ]


def _forced(next_logits, right):
    return [int(next_logits(right[:t]).argmax()) for t in range(1, len(right))]


EOS_KEPT = (("        ids.append(word)\n", ""), ("        if word", "        ids.append(word)\n        if word"))
NEVER_STOPS = ("        if word == eos_id:\n            break\n", "")


forcing_hunt = Exercise(
    lesson="15",
    name="mended_translation",
    reference=translation,
    cases=_hunt_cases,
    call=_translate_with,
    outputs=("ids",),
    mistakes=[
        Mistake(
            lambda f, right, bos, eos, n: [word for word in _forced(f, right) if word != eos],
            "The bug is still there. A symptom: hand it another right translation to be compared with, and the same "
            "model writes other words.",
            also=[
                lambda f, right, bos, eos, n: list(takewhile(lambda word: word != eos, _forced(f, right))),
                lambda f, right, bos, eos, n: _forced(f, right)[:-1],
            ],
        ),
        Mistake(
            edited(translation, "<= max_len", "<= len(right) - 2"),
            "It writes alone now, but it is stopped where the right translation ends: it is told the length, and "
            "never writes too much.",
            also=[edited(translation, "<= max_len", "<= len(right) - 1")],
        ),
        Mistake(
            edited(translation, *EOS_KEPT),
            "The end mark is among the words: one n-gram more that is always right.",
        ),
        Mistake(
            edited(translation, "ids[1:]", "ids"),
            "The begin mark is among the words: the model did not write it.",
            also=[edited(translation, *EOS_KEPT, ("ids[1:]", "ids"))],
        ),
        Mistake(
            edited(translation, NEVER_STOPS),
            "It goes on after the end mark: eos_id is what ends a sentence.",
            also=[edited(translation, NEVER_STOPS, ("ids[1:]", "[word for word in ids[1:] if word != eos_id]"))],
        ),
        Mistake(
            edited(translation, "<= max_len", "< max_len"),
            "A sentence that is cut off at max_len has one word too few. max_len counts what is written, without the "
            "begin mark; and a sentence that was cut off has no end mark to take away.",
            seen_in="longer than max_len",
        ),
        Mistake(
            edited(translation, "<= max_len", "<= max_len + 1"),
            "A sentence that is cut off at max_len has one word too many.",
            seen_in="longer than max_len",
        ),
        Mistake(
            edited(translation, "<= max_len", "<= 30"),
            "max_len does not stop it. A model that never says eos_id would write forever.",
            seen_in="longer than max_len",
        ),
        Mistake(
            edited(translation, "torch.tensor(ids)", "torch.tensor(ids[-1:])"),
            "The model writes alone now, but reads only its last word. Let it read all that it has written.",
        ),
        Mistake(
            lambda f, right, bos, eos, n: right[1:-1].tolist(),
            "That is the right translation itself. Its BLEU is 100, and the model was never asked.",
        ),
    ],
    hints=[
        "What does next_logits read here, and what could it read when nobody knows the right translation?",
        "Begin with [bos_id], append what the model says, and let it read that; stop at eos_id or after max_len words.",
    ],
)
