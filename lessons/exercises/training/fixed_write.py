"""Lesson 11, fixed_write: generation that starts from the same token as training."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def write(next_logits, bos_id: int, eos_id: int, pad_id: int, max_len: int) -> Tensor:
    """next_logits: ids (t,) -> logits (V,). Generates greedily; returns all ids, from BOS to EOS"""
    ids = torch.tensor([bos_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids


def _write_with(candidate, rows, bos_id, eos_id, pad_id, max_len):
    def next_logits(ids):
        """A model that reads a sentence from its middle on, without what came before, is wrong about what follows."""
        logits = rows[ids[-1]]
        return logits if ids[0] in (bos_id, eos_id, pad_id) else logits.roll(1)

    return candidate(next_logits, bos_id, eos_id, pad_id, max_len)


def _write_cases(generator) -> list[Case]:
    def case(vocab_size, max_len, chain, about="", is_sure=True):
        """A model in which each token of the chain is followed by the next; its first three are PAD, BOS and EOS."""
        pad_id, bos_id, eos_id, *others = chain
        rows = numbers(generator, vocab_size, vocab_size)
        for token, after in zip([bos_id, *others, eos_id, pad_id], [*others, eos_id, others[1], others[-1]]):
            rows[token, after] = 5.0 if is_sure else rows[token].max() + 0.1
        marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        return Case({"rows": rows, **marks, "max_len": max_len}, about=about)

    return [
        case(6, 8, [0, 1, 2, 3, 5, 4]),
        case(7, 9, [0, 1, 2, 6, 3, 4, 5]),
        case(6, 10, [5, 3, 0, 1, 4], about="other ids for PAD, BOS and EOS"),
        case(9, 3, [0, 1, 2, 8, 7, 6, 5], about="cut off at max_len"),
        case(9, 12, [0, 1, 2, 5, 8, 3, 6, 4, 7], about="a model that is not sure of the next token", is_sure=False),
    ]


start_hunt = Exercise(
    lesson="11",
    name="fixed_write",
    reference=write,
    cases=_write_cases,
    call=_write_with,
    outputs=("ids",),
    mistakes=[
        Mistake(
            edited(write, "[bos_id]", "[pad_id]"),
            "The model is fine, but the generated sentence isn't the expected one. Compare the two rows of ids from "
            "the left: where do they first differ?",
        ),
        Mistake(
            edited(write, "[bos_id]", "[eos_id]"),
            "It starts with the EOS token, where a sentence is already over.",
            also=[
                edited(write, ("[bos_id]", "[eos_id]"), ("ids[-1] != eos_id and ", "")),
                edited(write, ("[bos_id]", "[eos_id]"), ("ids[-1] != eos_id", "(len(ids) == 1 or ids[-1] != eos_id)")),
            ],
        ),
        Mistake(
            edited(
                write, ("[bos_id]", "[pad_id]"), ("return ids", "return torch.cat([torch.tensor([bos_id]), ids[1:]])")
            ),
            "The first id that you return is now correct, but the tokens after it are unchanged: is it also the first "
            "id that the model reads?",
        ),
        Mistake(
            edited(
                write,
                ("< max_len", "< max_len - 1"),
                ("return ids", "return torch.cat([torch.tensor([pad_id]), ids])"),
            ),
            "There is one id too many: in training, no sentence had padding before its BOS token.",
        ),
        Mistake(
            edited(write, "next_logits(ids)", "next_logits(ids[-1:])"),
            "The model gets only the last token. The next one depends on all tokens so far, from BOS on: give it all.",
        ),
        Mistake(
            edited(write, "next_logits(ids)", "next_logits(ids[:1])"),
            "The model gets only the first token, each time. The next one depends on all tokens so far: give it all.",
        ),
        Mistake(
            edited(write, "ids[-1] != eos_id and ", ""),
            "It starts correctly, but goes on after the EOS token: eos_id ends a sentence.",
        ),
        Mistake(
            edited(write, "< max_len", "< max_len - 1"),
            "It starts correctly, but is cut off one id too early: max_len counts all ids, BOS too.",
            seen_in="cut off at max_len",
        ),
        Mistake(
            edited(write, "< max_len", "<= max_len"),
            "It starts correctly, but goes on for one id too many: max_len counts all ids, BOS too.",
            seen_in="cut off at max_len",
        ),
        Mistake(
            edited(write, ("[bos_id]", "[pad_id]"), ("return ids", "return ids[1:]")),
            "You removed the padding from the result, but the model still reads it: change what it starts from.",
        ),
        Mistake(
            edited(write, " and len(ids) < max_len", ""),
            "It starts correctly, but max_len isn't used any more: without EOS the loop would never end.",
            seen_in="cut off at max_len",
        ),
        Mistake(
            edited(write, "argmax", "argmin"),
            "You took the least likely token each time.",
        ),
        Mistake(
            edited(write, "return ids", "return ids[1:]"),
            "The BOS token is missing from the result.",
        ),
        Mistake(
            edited(write, "return ids", "return ids[:-1]"),
            "The last id is missing from the result: it includes the EOS token.",
        ),
        Mistake(
            edited(write, "[bos_id]", "[bos_id, pad_id]"),
            "BOS is in front now, but padding comes right after it: in training no sentence went on like that. Start "
            "from BOS alone.",
        ),
        Mistake(
            edited(write, "[bos_id]", "bos_id"),
            "torch.tensor(bos_id) is a single number, without an axis. A row of ids that contains one is "
            "torch.tensor([bos_id]).",
            also=[
                edited(
                    write,
                    ("[bos_id]", "bos_id"),
                    ("ids[-1] != eos_id and len(ids) < max_len", "len(ids) < max_len and ids[-1] != eos_id"),
                )
            ],
        ),
    ],
    hints=[
        "What does the model read before it generates its first token? And what did it read there in training?",
        "In training each tgt started with the BOS token. Started from anything else, the model gets an input that it "
        "has never seen.",
        "There is one wrong name in the function.",
    ],
    solution="""
        def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
            ids = torch.tensor([bos_id])  # as in training, not pad_id
            while ids[-1] != eos_id and len(ids) < max_len:
                ids = torch.cat([ids, next_logits(ids).argmax()[None]])
            return ids
    """,
    in_package="lessons.evaluation.generate_all",
)
