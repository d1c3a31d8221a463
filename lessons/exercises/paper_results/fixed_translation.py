"""Lesson 15, fixed_translation: what is scored must be what the model generates on its own."""

from itertools import takewhile

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def translation(next_logits, reference: Tensor, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    """What BLEU should score: the tokens that the model generates on its own, without BOS and EOS, max_len at most"""
    ids = [bos_id]
    while len(ids) <= max_len:
        token = int(next_logits(torch.tensor(ids)).argmax())
        if token == eos_id:
            break
        ids.append(token)
    return ids[1:]


def _translate_with(candidate, rows, reference, bos_id, eos_id, max_len):
    """The model is a table: a row for the last token, and for how often that token has occurred so far.

    Without BOS at the front it gives other tokens.
    """

    def next_logits(ids):
        ids = torch.as_tensor(ids)
        times = min(int((ids == ids[-1]).sum()), len(rows))
        logits = rows[times - 1, ids[-1]]
        return logits if ids[0] == bos_id else logits.roll(1)

    generated = candidate(next_logits, reference, bos_id, eos_id, max_len)
    return generated if generated is None else torch.as_tensor(generated).long()


def _hunt_cases(generator) -> list[Case]:
    def case(vocab_size, reference, chain, max_len, about="", bos_id=1, eos_id=2):
        """A model that generates `chain`; after other tokens it mostly gives the reference's next one."""
        rows = 0.1 * numbers(generator, 3, vocab_size, vocab_size)
        for tokens in (reference, chain):
            for seen, (token, after) in enumerate(zip([bos_id, *tokens], [*tokens, eos_id])):
                rows[[bos_id, *tokens][:seen].count(token), token, after] = 5.0 + (tokens is chain)
        ids = {"reference": torch.tensor([bos_id, *reference, eos_id]), "bos_id": bos_id, "eos_id": eos_id}
        return Case({"rows": rows, **ids, "max_len": max_len}, about=about)

    return [
        case(9, [3, 4, 5, 6], [3, 7, 8, 5, 6, 4], 12),
        case(9, [3, 4, 5, 6, 7], [3, 6, 3, 8, 6, 4], 12),
        case(10, [4, 5, 6, 7, 8, 9], [3, 4, 6], 9),
        case(8, [3, 4, 5], [3, 6, 4, 7, 5, 4, 6], 4, about="longer than max_len"),
        case(9, [3, 4, 5, 6], [7, 4, 8, 6, 3], 10, about="other ids for BOS and EOS", bos_id=0, eos_id=1),
        case(8, [3, 4], [6], 5, about="a translation of a single token"),
    ]


def _forced(next_logits, reference):
    return [int(next_logits(reference[:t]).argmax()) for t in range(1, len(reference))]


EOS_KEPT = (("        ids.append(token)\n", ""), ("        if token", "        ids.append(token)\n        if token"))
NEVER_STOPS = ("        if token == eos_id:\n            break\n", "")


forcing_hunt = Exercise(
    lesson="15",
    name="fixed_translation",
    reference=translation,
    cases=_hunt_cases,
    call=_translate_with,
    outputs=("ids",),
    mistakes=[
        Mistake(
            lambda f, reference, bos, eos, n: [token for token in _forced(f, reference) if token != eos],
            "The bug is still there. A symptom: pass another reference, and the same model gives another translation "
            "of the same sentence.",
            also=[
                lambda f, reference, bos, eos, n: list(takewhile(lambda token: token != eos, _forced(f, reference))),
                lambda f, reference, bos, eos, n: _forced(f, reference)[:-1],
            ],
        ),
        Mistake(
            edited(translation, "<= max_len", "<= len(reference) - 2"),
            "It generates on its own now, but it stops where the reference ends, so it is told the length. Stop at "
            "eos_id, or after max_len tokens.",
            also=[
                edited(translation, "<= max_len", "<= len(reference) - 1"),
                edited(
                    translation,
                    ("<= max_len", "<= len(reference) - 1"),
                    NEVER_STOPS,
                    ("ids[1:]", "[token for token in ids[1:] if token != eos_id]"),
                ),
            ],
        ),
        Mistake(
            edited(translation, *EOS_KEPT),
            "The result contains the EOS token, which isn't a word of the translation.",
        ),
        Mistake(
            edited(translation, "ids[1:]", "ids"),
            "The result contains the BOS token, which the model did not generate.",
            also=[edited(translation, *EOS_KEPT, ("ids[1:]", "ids"))],
        ),
        Mistake(
            edited(translation, NEVER_STOPS),
            "It does not stop at the EOS token: eos_id ends the sentence.",
            also=[edited(translation, NEVER_STOPS, ("ids[1:]", "[token for token in ids[1:] if token != eos_id]"))],
        ),
        Mistake(
            edited(translation, "<= max_len", "< max_len"),
            "A sentence cut off at max_len has one token too few. max_len counts generated tokens, without BOS; and a "
            "sentence that was cut off has no EOS to remove.",
            seen_in="longer than max_len",
        ),
        Mistake(
            edited(translation, "<= max_len", "<= max_len + 1"),
            "A sentence cut off at max_len has one token too many.",
            seen_in="longer than max_len",
        ),
        Mistake(
            edited(translation, "<= max_len", "<= 30"),
            "max_len does not stop it. A model that never generates eos_id would go on forever.",
            seen_in="longer than max_len",
        ),
        Mistake(
            edited(translation, "torch.tensor(ids)", "torch.tensor(ids[:1])"),
            "The model reads BOS alone in every step, so it gives the same token again and again. It must read all "
            "that it has generated.",
        ),
        Mistake(
            edited(translation, "torch.tensor(ids)", "torch.tensor(ids[-1:])"),
            "The model generates on its own now, but reads only its last token. Let it read all that it has generated.",
        ),
        Mistake(
            edited(
                translation,
                ("[bos_id]", "reference.tolist()"),
                ("<= max_len", "< len(reference) + max_len"),
                ("ids[1:]", "ids[len(reference) :]"),
            ),
            "The model goes on where the reference ends: it still reads the reference, all of it. Begin with BOS "
            "alone.",
        ),
        Mistake(
            edited(
                translation,
                ("[bos_id]", "[]"),
                ("<= max_len", "< max_len"),
                ("torch.tensor(ids)", "torch.tensor(ids, dtype=torch.long)"),
                ("ids[1:]", "ids"),
            ),
            "The model has nothing to read at the first step. Generation begins with BOS, as training did.",
        ),
        Mistake(
            edited(translation, ".argmax()", "[-1].argmax()"),
            "next_logits gives (V,), the logits of the next token alone. [-1] of that is a single number, that of the "
            "last token in the vocabulary.",
        ),
        Mistake(
            lambda f, reference, bos, eos, n: reference[1:-1].tolist(),
            "That is the reference itself. Its BLEU is 100, and the model was never used.",
        ),
        Mistake(
            edited(translation, "torch.tensor(ids)", "torch.tensor(ids[1:] or ids)"),
            "After the first token, the model no longer reads BOS. It stays at the front: take it off only at the end.",
        ),
    ],
    hints=[
        "What does next_logits read here? What could it read if there were no reference?",
        "Start with [bos_id], append the likeliest token, and let the model read that; stop at eos_id or after max_len "
        "tokens.",
    ],
    solution="""
        def fixed_translation(next_logits, reference, bos_id, eos_id, max_len):
            ids = [bos_id]
            while len(ids) <= max_len:  # the model reads what it has generated itself
                token = int(next_logits(torch.tensor(ids)).argmax())
                if token == eos_id:
                    break
                ids.append(token)
            return ids[1:]
    """,
    in_package="lessons.decoding.greedy",
)
