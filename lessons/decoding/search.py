"""Greedy decoding and beam search: a likely sentence, token by token. Neither is sure to find the most likely one.

The length penalty: Google's Neural Machine Translation System (arXiv 1609.08144), section 7, equation (14).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from lessons._checks import between, positive
from lessons.decoding.decoders import IncrementalDecoder

Kind = TypeVar("Kind")

MOST_PENALTY = 10  # the paper's best is from 0.6 to 0.7; with infinity every score is 0 or NaN


class SpecialIds(Protocol):
    """The ids of the special tokens; a Vocabulary has them."""

    pad_id: int
    bos_id: int
    eos_id: int


class Step(NamedTuple):
    """One more token for each sentence of a batch.

    ids (B, t): all tokens so far, BOS first; padding after EOS.
    logits (B, V): those from which the last token was chosen. finished (B,): bool, True = the sentence has its EOS.
    """

    ids: Tensor
    logits: Tensor
    finished: Tensor


def greedy(decoder: IncrementalDecoder, special: SpecialIds, *, max_len: int = 50) -> Iterator[Step]:
    """Takes the most likely next token, until every sentence has its EOS or max_len tokens after BOS."""
    return generate(decoder, special, lambda logits: logits.argmax(dim=-1), max_len)


def generate(
    decoder: IncrementalDecoder, special: SpecialIds, choose: Callable[[Tensor], Tensor], max_len: int
) -> Iterator[Step]:
    """Generates with any rule `choose` for the next token: logits (B, V) -> ids (B,). Stops as `greedy` does."""
    positive(max_len=max_len)
    ids = torch.full((decoder.batch_size, 1), special.bos_id, device=decoder.device)  # (B, 1)
    finished = torch.zeros(decoder.batch_size, dtype=torch.bool, device=decoder.device)
    while ids.size(1) <= max_len and not finished.all():
        logits = decoder.step(ids[:, -1:])[:, -1]  # (B, V)
        chosen = choose(logits).masked_fill(finished, special.pad_id)  # (B,)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
        finished = finished | (chosen == special.eos_id)
        yield Step(ids, logits, finished)


class Hypothesis(NamedTuple):
    """A sentence of a beam search: its ids, BOS first, and the log of its probability.

    score: log_prob divided by the length penalty. parent: the index, in the previous beam, of the hypothesis that this
    one extends.
    """

    ids: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool
    parent: int


class BeamStep(NamedTuple):
    """kept: the beam, best first. dropped: the best candidates that didn't fit, at most as many as the beam's width."""

    kept: list[Hypothesis]
    dropped: list[Hypothesis]


def beam(
    decoder: IncrementalDecoder, special: SpecialIds, *, width: int = 4, length_penalty: float = 1.0, max_len: int = 50
) -> Iterator[BeamStep]:
    """Keeps the `width` best hypotheses for one source sentence at each step.

    A finished hypothesis stays unchanged, and in the beam until `width` better ones push it out. The search ends when
    all kept hypotheses are finished or have max_len tokens after BOS.

    length_penalty: alpha in score = log_prob / ((5 + length) / 6) ** alpha; length counts the tokens after BOS. With 0
        the score is the log_prob, which favors short sentences.
    """
    _check_beam(decoder, width, length_penalty)
    positive(max_len=max_len)
    kept = [Hypothesis((special.bos_id,), 0.0, 0.0, False, 0)]
    rows = [0]  # the row of the decoder that each unfinished hypothesis continues
    for _ in range(max_len):
        decoder.select(torch.tensor(rows, device=decoder.device))
        open_places = [i for i, hypothesis in enumerate(kept) if not hypothesis.finished]
        last_ids = torch.tensor([[kept[i].ids[-1]] for i in open_places], device=decoder.device)
        log_probs = decoder.step(last_ids)[:, -1].double().log_softmax(dim=-1)  # (open, V)
        candidates = [hypothesis._replace(parent=i) for i, hypothesis in enumerate(kept) if hypothesis.finished]
        for place, row in zip(open_places, log_probs):
            candidates += _extensions(kept[place], place, row, special, 2 * width, length_penalty)
        candidates.sort(key=lambda hypothesis: -hypothesis.score)
        kept, dropped = candidates[:width], candidates[width : 2 * width]
        yield BeamStep(kept, dropped)
        if all(hypothesis.finished for hypothesis in kept):
            return
        rows = [open_places.index(hypothesis.parent) for hypothesis in kept if not hypothesis.finished]


def _extensions(
    hypothesis: Hypothesis, place: int, log_probs: Tensor, special: SpecialIds, count: int, length_penalty: float
) -> list[Hypothesis]:
    """The most likely extensions of a hypothesis by one token, without impossible ones."""
    found = []
    best, words = log_probs.topk(min(count, len(log_probs)))
    for log_prob, word in zip(best.tolist(), words.tolist()):
        if log_prob > -torch.inf:
            ids, total = (*hypothesis.ids, word), hypothesis.log_prob + log_prob
            score = total / ((5 + len(ids) - 1) / 6) ** length_penalty  # BOS doesn't count
            found.append(Hypothesis(ids, total, score, word == special.eos_id, place))
    return found


def last(steps: Iterable[Kind]) -> Kind:
    """Runs all steps and returns the last one."""
    found = deque(steps, maxlen=1)
    if not found:
        raise ValueError("steps is empty; expected one step or more")
    return found[0]


def _check_beam(decoder: IncrementalDecoder, width: int, length_penalty: float) -> None:
    if decoder.batch_size != 1:
        raise ValueError(f"decoder has {decoder.batch_size} sentences; expected one: beam search handles one source")
    positive(width=width)
    between(0, MOST_PENALTY, length_penalty=length_penalty)
