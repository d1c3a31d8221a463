"""How good a model is: reading the correct tokens (teacher-forced), and generating on its own (free-running)."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from lessons.decoding import Cached, Recomputed, greedy, last
from lessons.decoding.decoders import has_hooks
from lessons.tasks import Batch, Task
from lessons.training import shift, token_loss
from lessons.transformer import Transformer
from lessons.vocabulary import pad_batch


class Accuracy(NamedTuple):
    """Fractions from 0 to 1: correct tokens, and sentences in which every token is correct; and the loss, in nats.

    EOS counts as a token. e to the power of the loss is the perplexity.
    """

    words: float
    sentences: float
    loss: float


def teacher_forced(model: Transformer, batch: Batch, task: Task) -> Accuracy:
    """How often the most likely token is the correct one, when all tokens before it are the correct ones."""
    src, tgt = (ids.to(_device(model)) for ids in batch)
    inputs, targets = shift(tgt)
    real = targets != task.tgt_vocab.pad_id  # (B, T - 1)
    with evaluating(model), torch.no_grad():
        logits, _ = model(src, inputs)
    right = logits.argmax(dim=-1) == targets
    words, sentences = right[real], (right | ~real).all(dim=1)
    loss = token_loss(logits, targets, pad_id=task.tgt_vocab.pad_id)
    return Accuracy(words.float().mean().item(), sentences.float().mean().item(), loss.item())


def exact_match(model: Transformer, batch: Batch, task: Task) -> float:
    """The fraction of sentences that the model generates, greedily, without a mistake, EOS included."""
    written = generate_all(model, batch.src, task, max_len=batch.tgt.size(1) - 1)
    return (written == batch.tgt[:, : written.size(1)]).all(dim=1).float().mean().item()


def translate(model: Transformer, texts: list[str], task: Task, *, max_len: int = 50) -> list[str]:
    """The model's greedy translation of each source text. max_len: the most tokens to generate, EOS included."""
    if len(texts) == 0 or isinstance(texts, str):
        raise ValueError(f"texts is {texts!r}; expected a list of one text or more")
    src = pad_batch([task.encode(text) for text in texts], pad_id=task.src_vocab.pad_id)
    return [task.decode(ids) for ids in generate_all(model, src, task, max_len=max_len)]


def generate_all(model: Transformer, src: Tensor, task: Task, *, max_len: int = 50) -> Tensor:
    """src (B, S) -> the ids that the model generates greedily, (B, T), BOS first, on the CPU.

    A model with hooks, as inside `interventions.intervene`, works without a cache: more slowly.
    """
    with evaluating(model):
        kind = Recomputed if has_hooks(model.modules()) else Cached
        decoder = kind(model, src.to(_device(model)))
        return last(greedy(decoder, task.tgt_vocab, max_len=max_len)).ids.cpu()


@contextmanager
def evaluating(model: torch.nn.Module) -> Generator[None]:
    """Inside `with`, the model is in eval mode; afterwards each part in its old mode."""
    modes = {part: part.training for part in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


def _device(model: torch.nn.Module) -> torch.device:
    return next(model.parameters()).device
