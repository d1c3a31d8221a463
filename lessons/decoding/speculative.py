"""Speculative decoding: a small model proposes a few tokens, the large one checks them all in one pass.

The sentences have the same distribution as if the large model had generated them alone.

Fast Inference from Transformers via Speculative Decoding (arXiv 2211.17192), section 2.3, algorithm 1; Accelerating
Large Language Model Decoding with Speculative Sampling (arXiv 2302.01318).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from lessons._checks import positive
from lessons.decoding.decoders import IncrementalDecoder
from lessons.decoding.sampling import check_options, distribution, draw_ids
from lessons.decoding.search import SpecialIds


class SpeculativeStep(NamedTuple):
    """One pass of the large model.

    ids: all tokens so far, BOS first. proposed: the tokens of the draft model. accepted: how many of them stay; the
    next token comes from the large model itself, unless EOS was accepted.
    """

    ids: tuple[int, ...]
    proposed: tuple[int, ...]
    accepted: int


def speculative(
    draft: IncrementalDecoder,
    decoder: IncrementalDecoder,
    special: SpecialIds,
    *,
    generator: torch.Generator,
    proposals: int = 4,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_len: int = 50,
) -> Iterator[SpeculativeStep]:
    """One sentence with the distribution of `sample(decoder, …)`, in at most as many passes of `decoder`.

    draft: the small model. decoder: the large model; both have read nothing yet, and have one sentence.
    proposals: the most tokens that the draft model proposes per pass. The other options are those of `sample`.
    """
    positive(proposals=proposals, max_len=max_len)
    check_options(temperature, top_k, top_p)
    _check_one_sentence(draft=draft, decoder=decoder)
    probabilities = partial(distribution, temperature=temperature, top_k=top_k, top_p=top_p)
    ids = (special.bos_id,)
    while ids[-1] != special.eos_id and len(ids) <= max_len:
        room = max_len - len(ids)  # one more token comes from the decoder itself
        proposed, guessed = _propose(draft, ids, special, min(proposals, room), generator, probabilities)
        logits = decoder.step(torch.tensor([[ids[-1], *proposed]], device=decoder.device))[0]  # (n + 1, V)
        accepted, own = judge(proposed, guessed, probabilities(logits), generator)
        ended = special.eos_id in proposed[:accepted]
        ids = (*ids, *proposed[:accepted], *(() if ended else (own,)))
        for model in (draft, decoder):
            model.forget(max(0, model.length - len(ids) + 1))  # keep all but the last token
        yield SpeculativeStep(ids, proposed, accepted)


def judge(proposed: tuple[int, ...], guessed: Tensor, true: Tensor, generator: torch.Generator) -> tuple[int, int]:
    """How many proposed tokens are accepted, and the token that follows them.

    proposed: n ids, drawn from the rows of guessed (n, V), the probabilities of the draft model. true (n + 1, V): those
    of the large model. Token w is accepted with probability min(1, true[w] / guessed[w]). The first rejected token is
    replaced by one drawn from max(0, true - guessed), normalized; if all n are accepted, one more is drawn from the
    last row of true. Algorithm 1 of arXiv 2211.17192.
    """
    for i, word in enumerate(proposed):
        chance = torch.rand((), generator=generator, device=generator.device)
        if chance * guessed[i, word] >= true[i, word]:
            rest = (true[i] - guessed[i]).clamp(min=0.0)
            rest = rest if rest.sum() > 0 else true[i]  # if they differ only by rounding
            return i, int(draw_ids(rest / rest.sum(), generator))
    return len(proposed), int(draw_ids(true[-1], generator))


def _propose(
    draft: IncrementalDecoder,
    ids: tuple[int, ...],
    special: SpecialIds,
    count: int,
    generator: torch.Generator,
    probabilities: Callable[[Tensor], Tensor],
) -> tuple[tuple[int, ...], Tensor]:
    """Up to `count` tokens of the draft model, none after EOS, and the probabilities that each was drawn from."""
    proposed, guessed = (), []
    while len(proposed) < count and special.eos_id not in proposed:
        unread = (*ids, *proposed)[draft.length :]
        logits = draft.step(torch.tensor([unread], device=draft.device))[0, -1]  # (V,)
        guessed.append(probabilities(logits))
        proposed = (*proposed, int(draw_ids(guessed[-1], generator)))
    return proposed, torch.stack(guessed) if guessed else torch.empty(0)


def _check_one_sentence(**decoders: IncrementalDecoder) -> None:
    for name, decoder in decoders.items():
        if decoder.batch_size != 1:
            raise ValueError(f"{name} has {decoder.batch_size} sentences; expected one")
