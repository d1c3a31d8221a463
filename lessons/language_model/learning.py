"""Training a language model on one long text: windows from anywhere in it, and a loss for every token.

lessons.training.Trainer draws pairs of sentences and compares with padding in mind; here there are neither.
"""

import time
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import kind, positive
from lessons.language_model.model import LanguageModel
from lessons.tasks.task import step_seed
from lessons.training import Progress, Recipe, TrainingStopped, parameter_groups, shift


def next_token_loss(model: LanguageModel, ids: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """The mean cross-entropy, in nats, of each token but the first, given all before it. ids (B, T), T 2 or more."""
    inputs, targets = shift(ids)  # (B, T - 1) each
    logits = model(inputs)  # (B, T - 1, V)
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), label_smoothing=smoothing)


def windows(text: Tensor, length: int, batch_size: int, generator: torch.Generator) -> Tensor:
    """Pieces of the text, each of `length` inputs and their next tokens, from places drawn at random.

    text (N,), ids. Returns (B, length + 1).
    """
    positive(batch_size=batch_size)
    _check_text(text, length)
    start = torch.randint(len(text) - length, (batch_size,), generator=generator, device=generator.device)
    return text[start.to(text.device)[:, None] + torch.arange(length + 1, device=text.device)]


@torch.no_grad()
def text_loss(model: LanguageModel, text: Tensor, length: int, *, batch_size: int = 32) -> float:
    """The mean loss over a text that was kept back, read in pieces of `length` that follow each other.

    text (N,), ids; what remains after the last whole piece does not count.
    """
    positive(batch_size=batch_size)
    _check_text(text, length)
    pieces = text.unfold(0, length + 1, length)  # (n, length + 1): the last token of one is the first of the next
    losses = [next_token_loss(model, some).item() * len(some) for some in pieces.split(batch_size)]
    return sum(losses) / len(pieces)


def train(model: LanguageModel, text: Tensor, recipe: Recipe, *, length: int) -> Iterator[Progress]:
    """Train a model where it is, and yield the progress of each step; afterwards the model is in eval mode.

    text (N,), ids: the whole text, of which each step reads `batch_size` windows of `length` tokens. The windows depend
    on the recipe's seed and the number of the step only. A loss or gradient that is not finite raises TrainingStopped,
    and the model is as it was after the step before.
    """
    _check_text(text, length)
    text = text.to(model.embedding.weight.device)
    groups = parameter_groups(model, recipe.weight_decay)
    optimizer = torch.optim.AdamW(groups, lr=0.0, betas=recipe.betas, eps=recipe.eps, fused=True)
    seconds = 0.0
    try:
        for step in range(1, recipe.steps + 1):
            start = time.perf_counter()
            generator = torch.Generator().manual_seed(step_seed(recipe.seed, step))
            ids = windows(text, length, recipe.batch_size, generator)
            rate = recipe.rate(step, model.config.d_model)
            for group in optimizer.param_groups:
                group["lr"] = rate
            model.train()
            optimizer.zero_grad()
            with torch.autocast(text.device.type, torch.bfloat16, enabled=recipe.precision == "bfloat16"):
                loss = next_token_loss(model, ids, smoothing=recipe.smoothing)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), recipe.clip or torch.inf)
            if not torch.isfinite(loss) or not torch.isfinite(norm):
                raise TrainingStopped(
                    f"the loss is {loss.item()} and the gradient's norm {norm.item()} at step {step}, learning rate "
                    f"{rate:.2g}. Try a smaller learning_rate, a longer warmup, or clip=1.0."
                )
            optimizer.step()
            seconds += time.perf_counter() - start
            tokens = step * recipe.batch_size * length
            yield Progress(step, loss.item(), rate, norm.item(), tokens, seconds)
    finally:
        optimizer.zero_grad()
        model.eval()


def _check_text(text: Tensor, length: int) -> None:
    positive(length=length)
    if not isinstance(text, Tensor) or text.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"text is {kind(text)}; expected a tensor of integers")
    if text.dim() != 1 or len(text) <= length:
        raise ValueError(f"text has shape {tuple(text.shape)}; expected (N,), with N above length = {length}")
