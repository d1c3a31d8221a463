"""Training on all positions at once: teacher forcing, the loss, the schedule, and a loop that yields its progress.

Attention Is All You Need (arXiv 1706.03762), section 5. Label smoothing: Rethinking the Inception Architecture for
Computer Vision (arXiv 1512.00567), section 7.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons import checkpoints
from lessons._checks import above_zero, fraction, one_of, optional, positive, whole
from lessons.config import TransformerConfig
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


class Counts(NamedTuple):
    """How far a training has come: steps that were taken, words of targets in them, seconds that they took."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


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
        for x in model.parameters():  # as AdamW itself would, at its first step
            start = {"exp_avg": torch.zeros_like(x), "exp_avg_sq": torch.zeros_like(x)}
            self.optimizer.state[x] = {"step": torch.zeros((), dtype=torch.float32, device=x.device), **start}
        self._counts = Counts()
        self._kept: tuple[Counts, list[Tensor]] | None = None

    @property
    def step(self) -> int:
        """The last step that was taken; 0 before the first."""
        return self._counts.step

    @property
    def tokens(self) -> int:
        """How many words of targets were learned from so far."""
        return self._counts.tokens

    @property
    def seconds(self) -> float:
        """How long the steps took, pauses left out."""
        return self._counts.seconds

    def fit(self) -> Iterator[Progress]:
        """Trains up to the recipe's last step and yields each step's progress.

        However it ends, the model is left in eval mode and as it was after its last whole step.
        """
        try:
            self._undo()
            while self.step < self.recipe.steps:
                with_gradients = torch.is_grad_enabled()
                try:
                    loss, rate, norm = self._train_one_step(self.step + 1)
                except BaseException:  # an interrupt may have kept torch from switching gradients on again
                    _insist(partial(torch.set_grad_enabled, with_gradients))
                    raise
                yield Progress(self.step, loss, rate, norm, self.tokens, self.seconds)
        finally:
            _insist(self._undo, self.optimizer.zero_grad, self.model.eval)

    def save(self, path: str | Path) -> None:
        """Writes what is needed to go on. A file of this name is replaced as a whole or not at all."""
        self._undo()
        state = {"recipe": asdict(self.recipe), "config": asdict(self.model.config), "counts": tuple(self._counts)}
        checkpoints.save(path, {**state, "tensors": self._tensors()})

    def load(self, path: str | Path) -> None:
        """Goes on from a file that `save` wrote, with the same model and recipe; more steps may be asked for now.

        Whatever does not fit is a ValueError that names it, and changes nothing.
        """
        self._undo()
        state = checkpoints.load(path, self.device)
        ours = {"recipe": asdict(self.recipe), "config": asdict(self.model.config), "tensors": self._tensors()}
        counts = _check_state(state, ours, path)
        self._keep()
        try:
            for name, x in ours["tensors"].items():
                x.copy_(state["tensors"][name])
            self._counts = counts
        finally:
            _insist(self._undo)

    def _train_one_step(self, step: int) -> tuple[float, float, float]:
        start, recipe, vocab = time.perf_counter(), self.recipe, self.task.tgt_vocab
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
        tokens = self.tokens + int((targets != vocab.pad_id).sum())
        self._keep()
        self.optimizer.step()
        self._counts = Counts(step, tokens, self.seconds + time.perf_counter() - start)  # now the step is taken
        return loss.item(), rate, norm.item()

    def _tensors(self) -> dict[str, Tensor]:
        """All that a step changes, by name: the model's, and the averages that AdamW keeps of their gradients."""
        tensors = {f"model.{name}": x for name, x in self.model.state_dict().items()}
        for name, x in self.model.named_parameters():
            tensors |= {f"optimizer.{name}.{kind}": average for kind, average in self.optimizer.state[x].items()}
        return tensors

    def _keep(self) -> None:
        """Copies all that the optimizer is going to change, for an interrupt may come in the middle of it."""
        live = list(self._tensors().values())
        copies = [torch.empty_like(x) for x in live] if self._kept is None else self._kept[1]
        _copy_all(live, copies)
        self._kept = self._counts, copies

    def _undo(self) -> None:
        """Takes back a step that was begun and not taken: its copies are those of the present counts."""
        if self._kept is not None and self._kept[0] is self._counts:
            _copy_all(self._kept[1], list(self._tensors().values()))
            self._kept = Counts(), self._kept[1]

    def _check_finite(self, name: str, number: Tensor, step: int, rate: float) -> None:
        if not torch.isfinite(number):
            raise TrainingStopped(
                f"the {name} is {number.item()} at step {step}, learning rate {rate:.2g}. The model is as it was after "
                f"step {step - 1}. Try a smaller learning_rate, a longer warmup, clip=1.0, or precision='float32'."
            )


def trained(
    config: TransformerConfig,
    task: Task,
    recipe: Recipe,
    *,
    prepare: Callable[[Transformer], object] | None = None,
) -> Transformer:
    """A new model, trained to the recipe's last step, in eval mode. The recipe's seed also draws its parameters.

    prepare: what is done to the new model before its first step.
    """
    with _seeded(recipe.seed, torch.device("cpu")):
        model = Transformer(config)
        if prepare is not None:
            prepare(model)
    for _ in Trainer(model, task, recipe).fit():
        pass
    return model


def _copy_all(sources: list[Tensor], targets: list[Tensor]) -> None:
    torch._foreach_copy_(targets, sources)  # pyright: ignore[reportPrivateImportUsage]


def _insist(*actions: Callable[[], object]) -> None:
    """Do all of this, from the start again where it is interrupted, and pass the interrupt on at the end."""
    interrupt = None
    while True:
        try:
            for act in actions:
                act()
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


@contextmanager
def _seeded(seed: int, device: torch.device) -> Generator[None]:
    """Random numbers, those of dropout, from a seed; afterwards torch's own go on as if nothing had been."""
    with torch.random.fork_rng(devices=[] if device.type == "cpu" else [device]):
        torch.manual_seed(seed)
        yield


def _precision(name: str, device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=name == "bfloat16")


def _groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Matrices, whose weights decay, and biases and norms, whose do not."""
    parameters = list(model.parameters())
    return [
        {"params": [x for x in parameters if x.dim() > 1], "weight_decay": weight_decay},
        {"params": [x for x in parameters if x.dim() <= 1], "weight_decay": 0.0},
    ]


def _check_state(state: Mapping[str, Any], ours: Mapping[str, dict[str, Any]], path: str | Path) -> Counts:
    """Refuse a checkpoint of another training, or a forged one; return its counts."""
    if state.keys() != {*ours, "counts"} or not all(isinstance(state[name], dict) for name in ours):
        raise checkpoints.refused(path, "holds something else")
    for part in ("recipe", "config"):
        for name in ours[part].keys() | state[part].keys():
            saved, here = (side[part].get(name, "nothing") for side in (state, ours))
            if repr(saved) != repr(here) and (part, name) != ("recipe", "steps"):
                raise ValueError(f"{part} has {name} = {here!r}; expected {saved!r}, as {path} was trained")
    for name in ours["tensors"].keys() | state["tensors"].keys():
        saved, here = (_describe(side["tensors"].get(name)) for side in (state, ours))
        if saved != here:
            raise ValueError(f"{name} is {here} here; expected {saved}, as in {path}")
    try:
        step, tokens, seconds = state["counts"]
        counts = Counts(step, tokens, seconds)
        whole(0, step=counts.step, tokens=counts.tokens)
        if not isinstance(counts.seconds, float) or not 0 <= counts.seconds < math.inf:
            raise ValueError
    except (TypeError, ValueError):
        raise checkpoints.refused(path, f"counts {state['counts']!r}") from None
    return counts


def _describe(x: Any) -> str:
    if not isinstance(x, Tensor):
        return "no tensor"
    return f"a tensor of {x.dtype}, shape {tuple(x.shape)}, {x.layout}, {x.device.type}"


def _check_recipe(recipe: Recipe) -> None:
    positive(steps=recipe.steps, batch_size=recipe.batch_size, warmup=recipe.warmup)
    whole(0, seed=recipe.seed)
    one_of(SCHEDULES, schedule=recipe.schedule)
    one_of(PRECISIONS, precision=recipe.precision)
    above_zero(learning_rate=recipe.learning_rate)
    fraction(smoothing=recipe.smoothing)
    optional(above_zero, clip=recipe.clip)
