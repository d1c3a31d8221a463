"""Beam search for many sentences at once: the hypotheses of `beam`, kept as tensors instead of tuples."""

import torch
from torch import Tensor

from lessons._checks import between, positive
from lessons.decoding.decoders import IncrementalDecoder
from lessons.decoding.search import MOST_PENALTY, Hypothesis, SpecialIds


class _Beams:
    """The W best hypotheses of each of B sentences, best first.

    ids (B, W, t): BOS first, anything after EOS. lengths (B, W): how many of them count. log_probs, scores (B, W): in
    float64; a score of -inf: no hypothesis there. finished (B, W): bool. parents (B, W): their places before.
    """

    def __init__(self, batch_size: int, width: int, bos_id: int, device: torch.device):
        size = batch_size, width
        self.ids = torch.full((*size, 1), bos_id, device=device)
        self.lengths = torch.ones(size, dtype=torch.long, device=device)
        self.log_probs = torch.full(size, -torch.inf, dtype=torch.float64, device=device)
        self.log_probs[:, 0] = 0.0
        self.scores = self.log_probs.clone()
        self.finished = torch.zeros(size, dtype=torch.bool, device=device)

    @property
    def open(self) -> Tensor:
        """(B, W): bool, True = to be continued."""
        return ~self.finished & (self.scores > -torch.inf)

    def extend(self, logits: Tensor, special: SpecialIds, penalty: float) -> None:
        """One more token: logits (O, V), those after each open hypothesis; penalty: what a new log_prob is divided by.

        Among equal scores the order is that of `beam`: first the finished, then by place, then as topk has it.
        """
        batch_size, width = self.finished.shape
        best, words = logits.double().log_softmax(dim=-1).topk(min(2 * width, logits.size(-1)))  # (O, C)
        count = words.size(-1)
        is_open = self.open
        added = best.new_full((batch_size, width, count), -torch.inf)
        added[is_open] = best.masked_fill(best.isnan(), -torch.inf)
        chosen = words.new_zeros(batch_size, width, count)
        chosen[is_open] = words

        # (B, W + W·C): the finished hypotheses as they are, then the extensions of the open ones
        totals = torch.cat([self.log_probs, (self.log_probs[..., None] + added).flatten(1)], dim=1)
        scores = torch.cat([self.scores.where(self.finished, -torch.inf), totals[:, width:] / penalty], dim=1)
        self.scores, order = scores.sort(dim=1, descending=True, stable=True)
        self.scores, order = self.scores[:, :width], order[:, :width]
        stays = order < width
        new = (order - width).clamp(min=0)
        self.parents = order.where(stays, new // count)
        word = chosen.flatten(1).gather(1, new)
        self.log_probs = totals.gather(1, order)
        self.finished = stays | (word == special.eos_id)
        self.lengths = self.lengths.gather(1, self.parents) + ~stays
        before = self.ids.gather(1, self.parents[..., None].expand(-1, -1, self.ids.size(-1)))
        self.ids = torch.cat([before, word[..., None]], dim=-1)

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        columns = (self.ids, self.lengths, self.log_probs, self.scores, self.finished, self.parents)
        return [
            Hypothesis(tuple(ids[:length]), log_prob, score, finished, parent)
            for ids, length, log_prob, score, finished, parent in zip(*(x[sentence].tolist() for x in columns))
            if score > -torch.inf
        ]


def beams(
    decoder: IncrementalDecoder, special: SpecialIds, *, width: int = 4, length_penalty: float = 1.0, max_len: int = 50
) -> list[list[Hypothesis]]:
    """The last beam of `beam` for each sentence of the decoder, best hypothesis first: the same, in fewer calls.

    All open hypotheses of all sentences are one batch. A sentence whose hypotheses are all finished takes no part.
    """
    positive(width=width, max_len=max_len)
    between(0, MOST_PENALTY, length_penalty=length_penalty)
    found: dict[int, list[Hypothesis]] = {}
    kept = _Beams(decoder.batch_size, width, special.bos_id, decoder.device)
    is_open = kept.open
    for length in range(1, max_len + 1):
        logits = decoder.step(kept.ids[is_open][:, -1:])[:, -1]  # (O, V)
        kept.extend(logits, special, ((5 + length) / 6) ** length_penalty)
        row = (is_open.flatten().cumsum(0) - 1).view_as(is_open)  # of the decoder, at each place
        is_open = kept.open
        for sentence in (~is_open.any(dim=1)).nonzero().flatten().tolist():
            if sentence not in found:
                found[sentence] = kept.hypotheses(sentence)
        if len(found) == len(is_open):
            break
        decoder.select(row.gather(1, kept.parents)[is_open])
    return [found.get(i) or kept.hypotheses(i) for i in range(len(is_open))]
