"""Lesson 12, my_greedy: the decoding loop, for a batch whose sentences end at different steps."""

from itertools import pairwise

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.wording import worded


def greedy_loop(next_logits, batch_size: int, bos_id: int, eos_id: int, pad_id: int, max_len: int) -> Tensor:
    """next_logits: ids (B, t) -> logits (B, V) of the next word. Returns ids (B, T) with BOS; padding after EOS.

    It ends when all sentences have ended, or with max_len words after BOS.
    """
    ids = torch.full((batch_size, 1), bos_id)
    ended = torch.zeros(batch_size, dtype=torch.bool)
    for _ in range(max_len):
        words = next_logits(ids).argmax(dim=-1).masked_fill(ended, pad_id)
        ids = torch.cat([ids, words[:, None]], dim=1)
        ended = ended | (words == eos_id)
        if ended.all():
            break
    return ids


LIMIT = 20  # steps; a loop that never ends is stopped by its table


def _with_tables(candidate, tables, bos_id, eos_id, pad_id, max_len):
    """tables (B, V, V): in sentence b, row i has the logits of the word after word i; without BOS in front, others."""
    asked = 0

    def next_logits(ids):
        nonlocal asked
        asked += 1
        if asked > LIMIT:
            raise RecursionError(worded("the model was asked for a word more than {limit} times", limit=LIMIT))
        logits = tables[torch.arange(len(tables)), ids[:, -1]]  # (B, V)
        return torch.where(ids[:, :1] == bos_id, logits, logits.roll(1, dims=-1))

    return candidate(next_logits, len(tables), bos_id, eos_id, pad_id, max_len)


def _table(generator, sentence: list[int], vocab_size: int) -> Tensor:
    """Logits (V, V) by which greedy generates this sentence, which has no word twice."""
    table = torch.randn(vocab_size, vocab_size, generator=generator)
    for word, following in pairwise(sentence):
        table[word, following] = 5.0
    return table


def _loop_cases(generator) -> list[Case]:
    def case(sentences, vocab_size, max_len, *, marks=(1, 2, 0), about=""):
        bos, eos, pad = marks
        tables = torch.stack([_table(generator, [bos, *words, eos], vocab_size) for words in sentences])
        inputs = {"tables": tables, "bos_id": bos, "eos_id": eos, "pad_id": pad, "max_len": max_len}
        return Case(inputs, about=about)

    return [
        case([[3, 4]], 6, 8),
        case([[5, 3, 4], [4], [3, 6]], 7, 9, about="sentences that end at different steps"),
        case([[3, 4, 5, 6, 7], [6, 3]], 8, 4, about="max_len comes before EOS"),
        case([[4, 5], [3, 7, 6]], 8, 6, marks=(2, 0, 1), about="other ids of BOS, EOS and padding"),
        case([[4, 3], [5, 6], [3, 5]], 7, 12, about="all end at the same step, long before max_len"),
    ]


looping = Exercise(
    lesson="12",
    name="my_greedy",
    reference=greedy_loop,
    cases=_loop_cases,
    call=_with_tables,
    outputs=("ids",),
    mistakes=[
        Mistake(
            edited(greedy_loop, ".masked_fill(ended, pad_id)", ""),
            "A sentence goes on after its EOS. Once it has ended, it gets pad_id, whatever the model would choose.",
            seen_in="sentences that end at different steps",
        ),
        Mistake(
            edited(greedy_loop, "ended.all()", "ended.any()"),
            "The loop ends with the first sentence that ends. The others aren't done yet: wait for all.",
            seen_in="sentences that end at different steps",
        ),
        Mistake(
            edited(greedy_loop, "ended = ended | (words == eos_id)", "ended = words == eos_id"),
            "A sentence that has ended begins again one step later: a sentence stays ended once it has ended. "
            "ended = ended | …",
        ),
        Mistake(
            edited(greedy_loop, "        if ended.all():\n            break\n", ""),
            "All sentences have ended, and the loop goes on with nothing but padding. Stop when all have ended.",
        ),
        Mistake(
            edited(greedy_loop, "range(max_len)", "range(max_len - 1)"),
            "It stops one word too early: max_len counts the words after BOS.",
            seen_in="max_len comes before EOS",
        ),
        Mistake(
            edited(greedy_loop, "range(max_len)", "range(max_len + 1)"),
            "There is one word too many: max_len counts the words after BOS.",
            seen_in="max_len comes before EOS",
        ),
        Mistake(
            edited(greedy_loop, "    return ids\n", "    return ids[:, 1:]\n"),
            "BOS is missing in front. The result begins with it.",
        ),
        Mistake(
            edited(greedy_loop, "(batch_size, 1), bos_id", "(batch_size, 1), pad_id"),
            "The loop begins with pad_id. In training every sentence began with BOS, so begin with it here, too.",
        ),
        Mistake(
            edited(greedy_loop, ".masked_fill(ended, pad_id)", ".masked_fill(ended, eos_id)"),
            "After a sentence has ended you append EOS again and again. One EOS, then pad_id.",
            seen_in="sentences that end at different steps",
        ),
        Mistake(
            edited(greedy_loop, ".masked_fill(ended, pad_id)", ".masked_fill(ended, 0)"),
            "After the end you append 0. The caller gives the id of padding: pad_id.",
            seen_in="other ids of BOS, EOS and padding",
        ),
        Mistake(
            edited(
                greedy_loop,
                (
                    ".argmax(dim=-1).masked_fill(ended, pad_id)",
                    ".argmax(dim=-1)\n        ended = ended | (words == eos_id)\n"
                    "        words = words.masked_fill(ended, pad_id)",
                ),
                ("        ended = ended | (words == eos_id)\n        if", "        if"),
            ),
            "EOS itself became padding: you mark a sentence as ended before you append its EOS. EOS belongs to the "
            "sentence; padding begins after it.",
        ),
        Mistake(
            edited(greedy_loop, "ended.all()", "(words == eos_id).all()"),
            "Before max_len, the loop ends only if all sentences get their EOS in the same step. Remember which ones "
            "have ended, and stop when all have.",
            seen_in="sentences that end at different steps",
        ),
        Mistake(
            edited(greedy_loop, "next_logits(ids)", "next_logits(ids[:, -1:])"),
            "The model gets only the last word of each sentence. The next one depends on all words so far, from BOS "
            "on: give it all.",
        ),
        Mistake(
            edited(greedy_loop, "argmax", "argmin"),
            "You took the least likely word each time.",
        ),
        Mistake(
            edited(greedy_loop, "next_logits(ids).argmax", "next_logits(ids)[:, -1].argmax"),
            "next_logits gives (B, V): the logits of the next word, and no others. [:, -1] takes from them those of "
            "the last word of the vocabulary. It was needed in the loop above, whose logits were (1, T, V).",
            also=(
                edited(
                    greedy_loop,
                    ("next_logits(ids).argmax", "next_logits(ids)[:, -1].argmax"),
                    (".masked_fill(ended, pad_id)", "\n        words[ended] = pad_id"),
                ),
            ),
        ),
        Mistake(
            edited(greedy_loop, "words[:, None]", "words"),
            "The new words are (B,), and ids is (B, t): torch.cat joins tensors with equally many axes. words[:, None] "
            "is (B, 1), one more column.",
        ),
        Mistake(
            edited(greedy_loop, (".masked_fill(ended, pad_id)", ""), ("ended.all()", "(words == eos_id).all()")),
            "You don't remember which sentences have ended. Each goes on after its EOS, and before max_len the loop "
            "ends only if all get their EOS in the same step.",
            seen_in="sentences that end at different steps",
        ),
        Mistake(
            edited(greedy_loop, "argmax(dim=-1)", "argmax()"),
            "argmax() without dim looks through the whole batch and gives one place. Each sentence needs its own: "
            "dim=-1.",
            seen_in="sentences that end at different steps",
        ),
    ],
    hints=[
        "Keep a bool tensor `ended` (B,): True where a sentence has generated EOS. It only ever changes from False to "
        "True.",
        "next_logits(ids).argmax(dim=-1) gives one word for each sentence (B,); words[:, None] is (B, 1), ready for "
        "torch.cat along dim 1.",
        "Where a sentence has ended, replace its word: words.masked_fill(ended, pad_id). Stop when ended.all().",
    ],
    solution="""
        def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
            ids = torch.full((batch_size, 1), bos_id)
            ended = torch.zeros(batch_size, dtype=torch.bool)
            for _ in range(max_len):
                words = next_logits(ids).argmax(dim=-1).masked_fill(ended, pad_id)  # (B,)
                ids = torch.cat([ids, words[:, None]], dim=1)
                ended = ended | (words == eos_id)
                if ended.all():
                    break
            return ids
    """,
    in_package="lessons.decoding.greedy",
)
