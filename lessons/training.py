"""Training on all positions at once: teacher forcing, the loss, the schedule, and a loop that yields its progress.

Attention Is All You Need (arXiv 1706.03762), section 5. Label smoothing: Rethinking the Inception Architecture for
Computer Vision (arXiv 1512.00567), section 7.
"""

import math
import os
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import above_zero, fraction, one_of, optional, positive, whole
from lessons.tasks import Task
from lessons.transformer import Transformer

SCHEDULES = ("cosine", "paper", "constant")
PRECISIONS = ("float32", "bfloat16")
SEED_STRIDE = 1_000_003  # two seeds share no step before so many


def shift(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """tgt (B, T), with both marks -> what the decoder reads and what it is to write, each (B, T - 1).

    At each position the decoder reads the right word, whatever it would have written itself: teacher forcing.
    """
    if tgt.dim() != 2 or tgt.size(1) < 2:
        raise ValueError(f"tgt has shape {tuple(tgt.shape)}; expected (B, T) with T of 2 or more: two marks at least")
    return tgt[:, :-1], tgt[:, 1:]


def token_loss(logits: Tensor, targets: Tensor, *, pad_id: int, smoothing: float = 0.0) -> Tensor:
    """The mean cross-entropy of the words that are no padding.

    logits (B, T, V), before any softmax. targets (B, T), ids.
    smoothing: the share of the probability that is spread evenly over all V words, section 5.4.
    """
    if logits.dim() != 3 or logits.shape[:2] != targets.shape:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; expected {(*targets.shape, 'V')}, one row a target")
    fraction(smoothing=smoothing)
    if (targets == pad_id).all():
        raise ValueError(f"targets holds nothing but pad_id = {pad_id}; expected one word or more")
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


def paper_rate(step: int, *, d_model: int, warmup: int) -> float:
    """The learning rate of the step, the first being 1: rises up to step `warmup`, then falls as 1 / sqrt(step).

    Attention Is All You Need, section 5.3, equation (3).
    """
    positive(step=step, d_model=d_model, warmup=warmup)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine_rate(step: int, *, steps: int, peak: float, warmup: int) -> float:
    """The learning rate of the step, the first being 1: rises in a line up to `peak`, then falls to 0 as a cosine."""
    positive(step=step, steps=steps, warmup=warmup)
    if step <= warmup:
        return peak * step / warmup
    share = min(1.0, (step - warmup) / max(1, steps - warmup))
    return peak * 0.5 * (1.0 + math.cos(math.pi * share))


@dataclass(frozen=True)
class Recipe:
    """How to train.

    schedule: "cosine" (rises to learning_rate, falls to 0), "paper" (which ignores learning_rate), or "constant".
    smoothing: label smoothing. clip: the greatest length of the gradient, or None.
    precision: "bfloat16" computes the products with 8 bits of precision where that is faster.
    """

    steps: int = 1000
    batch_size: int = 64
    learning_rate: float = 3e-3
    schedule: str = "cosine"
    warmup: int = 100
    smoothing: float = 0.0
    clip: float | None = 1.0
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-9
    weight_decay: float = 0.01
    precision: str = "float32"
    seed: int = 0

    def __post_init__(self):
        _check_recipe(self)

    def rate(self, step: int, d_model: int) -> float:
        """The learning rate of a step, the first being 1."""
        if self.schedule == "paper":
            return paper_rate(step, d_model=d_model, warmup=self.warmup)
        if self.schedule == "cosine":
            return cosine_rate(step, steps=self.steps, peak=self.learning_rate, warmup=self.warmup)
        return self.learning_rate * min(1.0, step / self.warmup)


class Progress(NamedTuple):
    """One step of training.

    step: from 1 on. loss: of its batch, before the step. grad_norm: length of the gradient, before it was clipped.
    tokens: how many words of targets were learned from so far. seconds: since the training began, pauses left out.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    tokens: int
    seconds: float


class TrainingStopped(RuntimeError):
    """Training cannot go on; the text says at which step, why, and what to try."""


class Trainer:
    """A model, a task and a recipe; `fit()` trains, may be left at any step, and goes on where it was left.

    Each step draws its batch and its dropout from the recipe's seed and its own number alone, so that a training that
    was interrupted, or loaded from a file, goes on to the same bits.
    """

    def __init__(self, model: Transformer, task: Task, recipe: Recipe | None = None, *, device: str = "cpu"):
        self.device = torch.device(device)
        self.model, self.task, self.recipe = model.to(self.device), task, recipe or Recipe()
        self.optimizer = torch.optim.AdamW(
            _groups(model, self.recipe.weight_decay), lr=0.0, betas=self.recipe.betas, eps=self.recipe.eps, fused=True
        )
        self.step, self.tokens, self.seconds = 0, 0, 0.0

    def fit(self) -> Iterator[Progress]:
        """Trains up to the recipe's last step and yields each step's progress.

        However it ends, the model is left in eval mode and as it was after its last whole step.
        """
        try:
            while self.step < self.recipe.steps:
                start = time.perf_counter()
                loss, rate, norm = self._train_one_step(self.step + 1)
                self.seconds += time.perf_counter() - start
                yield Progress(self.step, loss, rate, norm, self.tokens, self.seconds)
        finally:
            self.optimizer.zero_grad()
            self.model.eval()

    def save(self, path: str | Path) -> None:
        """Writes what is needed to go on. A file of this name is replaced as a whole or not at all."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "recipe": asdict(self.recipe),
            "counts": (self.step, self.tokens, self.seconds),
        }
        path = Path(path)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def load(self, path: str | Path) -> None:
        """Goes on from a file that `save` wrote, with the same model and recipe; more steps may be asked for now."""
        state = _read(Path(path), self.device)
        saved, ours = ({**recipe, "steps": None} for recipe in (state["recipe"], asdict(self.recipe)))
        for name, value in saved.items():
            if ours[name] != value:
                raise ValueError(f"recipe has {name} = {ours[name]}; expected {value}, as {path} was trained")
        try:
            self.model.load_state_dict(state["model"])
        except RuntimeError as error:
            raise ValueError(f"model does not fit the weights in {path}; expected the same sizes: {error}") from None
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.tokens, self.seconds = state["counts"]

    def _train_one_step(self, step: int) -> tuple[float, float, float]:
        recipe, vocab = self.recipe, self.task.tgt_vocab
        seed = (recipe.seed * SEED_STRIDE + step) % 2**32  # torch takes 32 bits of a seed
        batch = self.task.batch(recipe.batch_size, torch.Generator().manual_seed(seed))
        src, tgt = (ids.to(self.device) for ids in batch)
        inputs, targets = shift(tgt)
        rate = recipe.rate(step, self.model.config.d_model)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

        self.model.train()
        self.optimizer.zero_grad()
        with _seeded(seed, self.device), _precision(recipe.precision, self.device):
            logits, _ = self.model(src, inputs)  # (B, T - 1, V)
        loss = token_loss(logits.float(), targets, pad_id=vocab.pad_id, smoothing=recipe.smoothing)
        self._check_finite("loss", loss, step, rate)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip or torch.inf)
        self._check_finite("gradient", norm, step, rate)
        self.optimizer.step()
        self.step = step
        self.tokens += int((targets != vocab.pad_id).sum())
        return loss.item(), rate, norm.item()

    def _check_finite(self, name: str, number: Tensor, step: int, rate: float) -> None:
        if not torch.isfinite(number):
            raise TrainingStopped(
                f"the {name} is {number.item()} at step {step}, learning rate {rate:.2g}. The model is as it was after "
                f"step {step - 1}. Try a smaller learning_rate, a longer warmup, clip=1.0, or precision='float32'."
            )


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Random numbers, those of dropout, from a seed; afterwards torch's own go on as if nothing had been."""
    with torch.random.fork_rng(devices=[] if device.type == "cpu" else [device]):
        torch.manual_seed(seed)
        yield


def _precision(name: str, device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=name == "bfloat16")


def _groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Matrices, whose weights decay, and biases and norms, whose do not."""
    parameters = list(model.parameters())
    return [
        {"params": [x for x in parameters if x.dim() > 1], "weight_decay": weight_decay},
        {"params": [x for x in parameters if x.dim() <= 1], "weight_decay": 0.0},
    ]


def _read(path: Path, device: torch.device) -> dict:
    if not path.is_file():
        raise ValueError(f"path is {str(path)!r}, where no file is; expected one that save() wrote")
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        if state.keys() == {"model", "optimizer", "recipe", "counts"}:
            return state
    except (pickle.UnpicklingError, RuntimeError, EOFError, AttributeError, OSError):
        pass
    raise ValueError(f"path is {str(path)!r}, which is no whole checkpoint; expected a file that save() wrote")


def _check_recipe(recipe: Recipe) -> None:
    positive(steps=recipe.steps, batch_size=recipe.batch_size, warmup=recipe.warmup)
    whole(0, seed=recipe.seed)
    one_of(SCHEDULES, schedule=recipe.schedule)
    one_of(PRECISIONS, precision=recipe.precision)
    above_zero(learning_rate=recipe.learning_rate)
    fraction(smoothing=recipe.smoothing)
    optional(above_zero, clip=recipe.clip)
