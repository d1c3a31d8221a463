"""Training: teacher forcing, the loss, learning rate schedules, and a training loop that yields its progress.

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
from lessons._checks import above_zero, fraction, one_of, optional, positive, refusal, whole, zero_or_more
from lessons.config import TransformerConfig
from lessons.tasks import Task
from lessons.tasks.task import step_seed
from lessons.transformer import Transformer

SCHEDULES = ("cosine", "paper", "constant")
PRECISIONS = ("float32", "bfloat16")


def shift(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """tgt (B, T), with BOS and EOS -> inputs and targets of the decoder, each (B, T - 1).

    The inputs are the correct tokens, not those that the model would generate: teacher forcing.
    """
    if tgt.dim() != 2 or tgt.size(1) < 2:
        raise ValueError(f"tgt has shape {tuple(tgt.shape)}; expected (B, T) with T of 2 or more: BOS and EOS")
    return tgt[:, :-1], tgt[:, 1:]


def token_loss(logits: Tensor, targets: Tensor, *, pad_id: int, smoothing: float = 0.0) -> Tensor:
    """The mean cross-entropy, in nats, over the tokens that are not padding.

    logits (B, T, V), before any softmax. targets (B, T), ids. Only padding in targets is a ValueError.
    smoothing: the fraction of the target probability spread evenly over all V tokens; section 5.4.
    """
    if logits.dim() != 3 or logits.shape[:2] != targets.shape:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; expected {(*targets.shape, 'V')}, a row per target")
    fraction(smoothing=smoothing)
    if (targets == pad_id).all():
        raise ValueError(f"targets contains only pad_id = {pad_id}; expected one token or more")
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


def paper_rate(step: int, *, d_model: int, warmup: int) -> float:
    """The paper's learning rate at a step, counted from 1: it rises until step `warmup`, then falls as 1 / sqrt(step).

    Attention Is All You Need, section 5.3, equation (3).
    """
    positive(step=step, d_model=d_model, warmup=warmup)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine_rate(step: int, *, steps: int, peak: float, warmup: int) -> float:
    """The learning rate at a step, counted from 1: a linear rise to `peak`, then half a cosine down to 0.

    It is `peak` at step `warmup` and 0 at step `steps`. SGDR (arXiv 1608.03983), section 3, without restarts.
    """
    positive(step=step, steps=steps, warmup=warmup)
    if step <= warmup:
        return peak * step / warmup
    done = min(1.0, (step - warmup) / max(1, steps - warmup))  # from 0 to 1
    return peak * 0.5 * (1.0 + math.cos(math.pi * done))


@dataclass(frozen=True)
class Recipe:
    """The settings of a training. betas, eps and weight_decay are those of AdamW; a bad value is a ValueError.

    steps, warmup: in steps, one batch each. batch_size: sentence pairs per batch.
    schedule: "cosine" (up to learning_rate, then down to 0), "paper" (ignores learning_rate), or "constant"; all three
        start with `warmup` steps of a rising rate.
    smoothing: label smoothing. clip: the maximum norm of the gradient, or None.
    precision: "float32", or "bfloat16", which uses torch's autocast: for a GPU, or a processor with instructions for it
        (lscpu shows avx512_bf16 or amx_bf16). On one with AVX2 alone, a step took 17 times as long.
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
        """The learning rate at a step, counted from 1."""
        if self.schedule == "paper":
            return paper_rate(step, d_model=d_model, warmup=self.warmup)
        if self.schedule == "cosine":
            return cosine_rate(step, steps=self.steps, peak=self.learning_rate, warmup=self.warmup)
        return self.learning_rate * min(1.0, step / self.warmup)


class Progress(NamedTuple):
    """One step of training.

    step: counted from 1. loss: of this step's batch, before the update. grad_norm: norm of the gradient before
    clipping. tokens: target tokens so far, without padding. seconds: time spent in steps so far, without pauses.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    tokens: int
    seconds: float


class Counts(NamedTuple):
    """How far a training has come: steps taken, target tokens in them, seconds they took."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


class TrainingStopped(RuntimeError):
    """Training can't continue; the message says at which step, why, and what to try."""


class Trainer:
    """Trains a model on a task by a recipe, where the model is. You can stop `fit()` at any step and resume it later.

    Each step draws its batch and its dropout from the recipe's seed and the number of the step only. So on one machine
    a training that was interrupted, or loaded from a file, ends with the same bits as one that ran through.
    """

    def __init__(self, model: Transformer, task: Task, recipe: Recipe | None = None):
        self.device = next(model.parameters()).device
        self.model, self.task, self.recipe = model, task, recipe or Recipe()
        groups = parameter_groups(model, self.recipe.weight_decay)
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, betas=self.recipe.betas, eps=self.recipe.eps, fused=True)
        for x in model.parameters():  # as AdamW does at its first step
            start = {"exp_avg": torch.zeros_like(x), "exp_avg_sq": torch.zeros_like(x)}
            self.optimizer.state[x] = {"step": torch.zeros((), dtype=torch.float32, device=x.device), **start}
        self._counts = Counts()
        self._live: list[Tensor] = []  # all that a step changes
        self._kept: tuple[Counts, list[Tensor]] | None = None

    @property
    def step(self) -> int:
        """The number of the last step taken; 0 before the first."""
        return self._counts.step

    @property
    def tokens(self) -> int:
        """Target tokens so far, without padding."""
        return self._counts.tokens

    @property
    def seconds(self) -> float:
        """Seconds spent in steps so far, without pauses."""
        return self._counts.seconds

    def fit(self) -> Iterator[Progress]:
        """Train up to the recipe's last step and yield the progress of each step.

        However it ends, the model is then in eval mode, with the weights of the last complete step. A loss or gradient
        that is not finite raises TrainingStopped.
        """
        try:
            self._undo()
            self._live = list(self._tensors().values())
            while self.step < self.recipe.steps:
                with_gradients = torch.is_grad_enabled()
                try:
                    loss, rate, norm = self._train_one_step(self.step + 1)
                except BaseException:  # an interrupt can leave gradients switched off
                    _insist(partial(torch.set_grad_enabled, with_gradients))
                    raise
                yield Progress(self.step, loss, rate, norm, self.tokens, self.seconds)
        finally:
            _insist(self._undo, self.optimizer.zero_grad, self.model.eval)

    def save(self, path: str | Path) -> None:
        """Save all that is needed to resume. An existing file is replaced completely or not at all."""
        self._undo()
        checkpoints.save(path, {**self._settings(), "counts": tuple(self._counts), "tensors": self._tensors()})

    def load(self, path: str | Path) -> None:
        """Resume from a file that `save` wrote, with the same task, model and recipe; only `steps` may differ.

        If something doesn't fit, a ValueError names it, and nothing changes.
        """
        self._undo()
        ours = {**self._settings(), "tensors": self._tensors()}
        state, counts = self._read_state(path, ours)
        self._live = list(ours["tensors"].values())
        self._keep()
        try:
            for name, x in ours["tensors"].items():
                x.copy_(state["tensors"][name])
            self._counts = counts
        finally:
            _insist(self._undo)

    def _settings(self) -> dict[str, dict[str, Any]]:
        """What a checkpoint is compared by."""
        return {"task": self.task.about(), "recipe": asdict(self.recipe), "config": asdict(self.model.config)}

    def _read_state(self, path: str | Path, ours: Mapping[str, dict[str, Any]]) -> tuple[dict[str, Any], Counts]:
        state = checkpoints.load(path, self.device)
        return state, _check_state(state, ours, path)

    def _train_one_step(self, step: int) -> tuple[float, float, float]:
        start, rate = time.perf_counter(), self.recipe.rate(step, self.model.config.d_model)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        self.optimizer.zero_grad()
        loss, tokens = self._compute_gradients(step, rate)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip or torch.inf)
        self._check_finite("gradient", norm, step, rate)
        self._keep()
        self.optimizer.step()
        seconds = self.seconds + time.perf_counter() - start
        self._counts = Counts(step, self.tokens + tokens, seconds)  # the step is complete
        return loss, rate, norm.item()

    def _compute_gradients(self, step: int, rate: float) -> tuple[float, int]:
        """Add the gradients of a step's loss to the model's; return the loss, and the number of its tokens."""
        recipe, vocab, seed = self.recipe, self.task.tgt_vocab, step_seed(self.recipe.seed, step)
        batch = self.task.step_batch(recipe.batch_size, step=step, seed=recipe.seed)
        src, tgt = (ids.to(self.device) for ids in batch)
        inputs, targets = shift(tgt)
        with seeded(seed, self.device), autocast(recipe.precision, self.device):
            logits, _ = self.model(src, inputs)  # (B, T - 1, V)
        loss = token_loss(logits.float(), targets, pad_id=vocab.pad_id, smoothing=recipe.smoothing)
        self._check_finite("loss", loss, step, rate)
        loss.backward()
        return loss.item(), int((targets != vocab.pad_id).sum())

    def _tensors(self) -> dict[str, Tensor]:
        """All tensors that a step changes, by name: those of the model, and AdamW's averages of the gradients."""
        tensors = {f"model.{name}": x for name, x in self.model.state_dict().items()}
        for name, x in self.model.named_parameters():
            tensors |= {f"optimizer.{name}.{kind}": average for kind, average in self.optimizer.state[x].items()}
        return tensors

    def _keep(self) -> None:
        """Copy all tensors that the optimizer changes, because an interrupt may stop it halfway."""
        copies = [torch.empty_like(x) for x in self._live] if self._kept is None else self._kept[1]
        _copy_all(self._live, copies)
        self._kept = self._counts, copies

    def _undo(self) -> None:
        """Undo a step that was started but not completed: then the copies belong to the current counts."""
        if self._kept is not None and self._kept[0] is self._counts:
            _copy_all(self._kept[1], list(self._tensors().values()))
            self._kept = None

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
    with seeded(recipe.seed, torch.device("cpu")):
        model = Transformer(config)
        if prepare is not None:
            prepare(model)
    for _ in Trainer(model, task, recipe).fit():
        pass
    return model


def _copy_all(sources: list[Tensor], targets: list[Tensor]) -> None:
    torch._foreach_copy_(targets, sources)  # pyright: ignore[reportPrivateImportUsage]


def _insist(*actions: Callable[[], object]) -> None:
    """Run all actions; if interrupted, start again, and raise the interrupt at the end."""
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
def seeded(seed: int, device: torch.device) -> Generator[None]:
    """Random numbers from a seed, such as those of dropout; afterwards torch's generator is in its old state."""
    with torch.random.fork_rng(devices=[] if device.type == "cpu" else [device]):
        if device.type == "cpu":
            torch.default_generator.manual_seed(seed)  # torch.manual_seed looks for other devices first
        else:
            torch.manual_seed(seed)
        yield


def autocast(name: str, device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=name == "bfloat16")


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """For an optimizer: matrices with weight decay; biases and norms without."""
    parameters = list(model.parameters())
    return [
        {"params": [x for x in parameters if x.dim() > 1], "weight_decay": weight_decay},
        {"params": [x for x in parameters if x.dim() <= 1], "weight_decay": 0.0},
    ]


def _check_state(state: Mapping[str, Any], ours: Mapping[str, dict[str, Any]], path: str | Path) -> Counts:
    """Raise a ValueError for a checkpoint of another training; return its counts."""
    if state.keys() != {*ours, "counts"} or not all(isinstance(state[name], dict) for name in ours):
        raise checkpoints.refused(path, "contains something else")
    for part in ("task", "recipe", "config"):
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
    whole(0, 2**64 - 1, seed=recipe.seed)  # what torch takes
    one_of(SCHEDULES, schedule=recipe.schedule)
    one_of(PRECISIONS, precision=recipe.precision)
    above_zero(learning_rate=recipe.learning_rate, eps=recipe.eps)
    zero_or_more(weight_decay=recipe.weight_decay)
    fraction(smoothing=recipe.smoothing)
    optional(above_zero, clip=recipe.clip)
    if not isinstance(recipe.betas, tuple | list) or len(recipe.betas) != 2:
        raise refusal("betas", recipe.betas, "two fractions")
    fraction(**{f"betas[{i}]": beta for i, beta in enumerate(recipe.betas)})
