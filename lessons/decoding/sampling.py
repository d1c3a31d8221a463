"""Sampling the next token, from all tokens or from the most likely ones.

Top-k: Hierarchical Neural Story Generation (arXiv 1805.04833), section 5.4. Top-p: The Curious Case of Neural Text
Degeneration (arXiv 1904.09751), section 3.1.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from lessons._checks import is_number, optional, positive, refusal
from lessons.decoding.decoders import IncrementalDecoder
from lessons.decoding.search import SpecialIds, Step, generate


def distribution(
    logits: Tensor, *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """The probabilities from which the next token is drawn: logits (..., V) -> (..., V), each row sums to 1.

    temperature: the logits are divided by it. Below 1 the distribution is more peaked, above 1 flatter.
    top_k: only the k most likely tokens keep their probability; the result is normalized again.
    top_p: then, only the smallest set of most likely tokens whose probabilities sum to p or more; normalized again.
        Among equally likely tokens at the edge, those with the smaller id stay.
    """
    if logits.dim() == 0:
        raise ValueError("logits has no axis; expected (..., V)")
    check_options(temperature, top_k, top_p)
    below = logits - logits.amax(dim=-1, keepdim=True)  # at most 0: divided by a small number, it can't be +inf
    probabilities = (below / temperature).softmax(dim=-1)  # (..., V)
    if top_k is None and top_p is None:
        return probabilities
    ordered, words = probabilities.sort(dim=-1, descending=True, stable=True)  # (..., V), most likely first
    if top_k is not None:
        ordered[..., top_k:] = 0.0
        ordered = ordered / ordered.sum(dim=-1, keepdim=True)
    if top_p is not None:
        before = ordered.cumsum(dim=-1) - ordered  # the sum of all more likely tokens
        ordered = ordered.masked_fill(before >= top_p, 0.0)
        ordered = ordered / ordered.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, words, ordered)


def sample(
    decoder: IncrementalDecoder,
    special: SpecialIds,
    *,
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_len: int = 50,
) -> Iterator[Step]:
    """Draws each next token from `distribution`, and stops as `greedy` does.

    generator: the source of the random numbers, on any device; the same generator state gives the same sentences.
    """
    check_options(temperature, top_k, top_p)

    def choose(logits: Tensor) -> Tensor:
        probabilities = distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
        return draw_ids(probabilities, generator)

    return generate(decoder, special, choose, max_len)


def draw_ids(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """One id per row: (..., V) -> (...), on the device of the probabilities."""
    rows = probabilities.reshape(-1, probabilities.size(-1)).to(generator.device)
    return torch.multinomial(rows, 1, generator=generator).reshape(probabilities.shape[:-1]).to(probabilities.device)


def check_options(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """A ValueError for options that `distribution` doesn't take."""
    if not is_number(temperature) or not 0 < temperature < float("inf"):
        raise refusal("temperature", temperature, "a finite number above 0; for the most likely token use greedy")
    optional(positive, top_k=top_k)
    if top_p is not None and (not is_number(top_p) or not 0 < top_p <= 1):
        raise refusal("top_p", top_p, "a sum of probabilities above 0, up to 1")
