"""Continuing a text, token by token, by the rules of lessons.decoding.sampling and two more.

Min-p: Turning Up the Heat (arXiv 2407.01082). Repetition penalty: CTRL (arXiv 1909.05858), section 4.1.
"""

from collections.abc import Collection

import torch
from torch import Tensor

from lessons._checks import above_zero, between, is_number, optional, refusal, whole
from lessons.decoding.sampling import distribution, draw_ids
from lessons.language_model.model import LanguageModel


@torch.no_grad()
def generate(
    model: LanguageModel,
    ids: Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    stop: int | Collection[int] = (),
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue each text of the batch: ids (B, T) -> (B, up to T + max_new_tokens), the given ids first.

    temperature: 0 takes the most likely token each time; else it is drawn from `next_distribution` with these options.
    stop: ids that end a text; what follows them in its row is the same id again. If all texts have ended, it returns.
    generator: the source of the random numbers, on any device; torch's own, on the CPU, if None.

    Learned positions and sinusoids end at the model's max_len: there it continues with the last max_len / 2 tokens.
    """
    _check(ids, max_new_tokens, temperature)
    stops = torch.tensor(sorted({stop} if isinstance(stop, int) else stop), dtype=ids.dtype, device=ids.device)
    longest = None if model.config.positions == "rotary" else model.config.max_len
    finished = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)  # (B,)
    cache, new = model.new_cache(len(ids)), ids if longest is None else ids[:, -longest:]
    for _ in range(max_new_tokens):
        logits = model(new, cache=cache)[:, -1]  # (B, V)
        if temperature == 0:
            chosen = penalized(logits, ids, repetition_penalty).argmax(dim=-1)
        else:
            probabilities = next_distribution(
                logits,
                ids,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                min_p=min_p,
                repetition_penalty=repetition_penalty,
            )
            chosen = draw_ids(probabilities, generator or torch.default_generator)
        chosen = torch.where(finished, ids[:, -1], chosen.to(ids.dtype))  # (B,)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
        finished = finished | torch.isin(chosen, stops)
        if finished.all():
            break
        new = chosen[:, None]
        if longest is not None and cache.length == longest:
            cache, new = model.new_cache(len(ids)), ids[:, -max(1, longest // 2) :]
    return ids


class Reader:
    """A model with its cache as lessons.decoding expects it: greedy, sample, beam and speculative work with it.

    They start with the id `bos_id`. A prompt that comes before it is read by `step`. Undoing and choosing tokens again,
    as speculative decoding does, needs a model without a window.
    """

    def __init__(self, model: LanguageModel, batch_size: int = 1):
        self.model, self.cache = model, model.new_cache(batch_size)

    @property
    def batch_size(self) -> int:
        return self.cache.batch_size

    @property
    def length(self) -> int:
        return self.cache.length

    @property
    def device(self) -> torch.device:
        return self.model.embedding.weight.device

    @torch.no_grad()
    def step(self, ids: Tensor) -> Tensor:
        """ids (B, n), the next n tokens of each text. Returns logits (B, n, vocabulary)."""
        return self.model(ids, cache=self.cache)

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows)

    def forget(self, count: int) -> None:
        self.cache.forget(count)


def next_distribution(
    logits: Tensor,
    ids: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
) -> Tensor:
    """The probabilities from which the next token is drawn: logits (B, V) -> (B, V), each row sums to 1.

    ids (B, T): the text so far. In this order: the repetition penalty; temperature, top_k and top_p as in
    `lessons.decoding.distribution`; then min_p: tokens with less than min_p times the largest probability get 0.
    """
    logits = penalized(logits, ids, repetition_penalty)
    probabilities = distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    optional(lambda **named: between(0, 1, **named), min_p=min_p)
    if min_p is not None:
        most = probabilities.max(dim=-1, keepdim=True).values
        probabilities = probabilities.masked_fill(probabilities < min_p * most, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return probabilities


def penalized(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits with every token that occurs in ids made less likely: logits (B, V), ids (B, T) -> (B, V).

    A positive logit is divided by the penalty and a negative one multiplied: both fall if the penalty is above 1. How
    often a token occurs does not matter. CTRL, section 4.1, which divides only; the sign: Hugging Face.
    """
    above_zero(repetition_penalty=penalty)
    if penalty == 1.0:
        return logits
    old = logits.gather(-1, ids.long())  # (B, T)
    return logits.scatter(-1, ids.long(), torch.where(old > 0, old / penalty, old * penalty))


def _check(ids: Tensor, max_new_tokens: int, temperature: float) -> None:
    whole(0, max_new_tokens=max_new_tokens)
    if not is_number(temperature) or not 0 <= temperature < float("inf"):
        raise refusal("temperature", temperature, "0 for the most likely token, or a number above 0")
    if not isinstance(ids, Tensor) or ids.dim() != 2 or not ids.numel():
        shape = tuple(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise ValueError(f"ids has shape {shape}; expected (B, T) with one token or more")
