"""How long until a model generates 99 % of held-out sentences without a mistake, on one thread.

All decode greedily, and one wrong token makes a sentence wrong. Each number is the median of three seeds, which decide
the first weights and the data; the time of measuring is left out. Four models learn each task:

    ours                        a small Pre-LN model, without dropout, by one recipe for all tasks but for its steps
    nn.Transformer, our recipe  with the sizes, choices and first weights of ours, by the same recipe
    nn.Transformer, defaults    with its default settings, by Adam with a rate of 1e-3
    Annotated Transformer       as that text trains: Pre-LN, Xavier, label smoothing, dropout, the rate of the paper

The first two tell what our code is worth, the first and the third what the recipe is worth besides. The last two have
2 + 2 layers of 128 features. All run in the same loop, a Trainer.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchmarks import report
from lessons.config import TransformerConfig
from lessons.decoding import Recomputed, greedy, last
from lessons.evaluation import evaluating, exact_match, teacher_forced
from lessons.masks import allowed_to_blocked, causal
from lessons.parity import to_torch
from lessons.tasks import Batch, Dates, Numerals, Reversal, Task, Translation
from lessons.training import Recipe, Trainer
from lessons.transformer import Embedding, Transformer

GOAL_ACCURACY, HELD_OUT, EVERY = 0.99, 500, 25  # of the held-out sentences, measured every 25 steps
SEEDS, GIVE_UP = (0, 1, 2), 120  # seconds
GOAL_CODE = 0.8  # of the time of nn.Transformer with our sizes and recipe
ENDLESS = 10**6  # steps, of a schedule that does not depend on their number

OUR_SIZES = {"d_model": 64, "num_heads": 4, "num_layers": 2, "d_ff": 256, "max_len": 64}
OUR_CHOICES = {"dropout": 0.0, "norm_first": True, "positions": "learned"}
OUR_RECIPE = Recipe(steps=400, batch_size=32, learning_rate=7e-3, warmup=50, weight_decay=0.3)
STEPS = {"dates": 600}  # where they are not those of the recipe

THEIR_SIZES = {"d_model": 128, "num_layers": 2, "max_len": 64}
ADAM = Recipe(
    steps=ENDLESS, batch_size=64, learning_rate=1e-3, schedule="constant", warmup=1, clip=None, betas=(0.9, 0.999),
    eps=1e-8, weight_decay=0.0,
)  # fmt: skip
ANNOTATED = Recipe(
    steps=ENDLESS, batch_size=64, schedule="paper", warmup=400, smoothing=0.1, clip=None, weight_decay=0.0
)


@dataclass(frozen=True)
class Goal:
    """In seconds, and as a fraction of the time of nn.Transformer with its defaults."""

    task: Task
    seconds: float
    ratio: float


GOALS = (
    Goal(Reversal(10, 10), 7, 0.2),
    Goal(Translation(), 10, 0.6),
    Goal(Numerals(), 15, 0.3),
    Goal(Dates(), 20, 0.2),
)


class Result(NamedTuple):
    """seconds: infinite if the goal was not reached. steps, accuracy: at the end of the training."""

    seconds: float
    steps: int
    accuracy: float


class TorchModel(nn.Module):
    """nn.Transformer between our embeddings and a projection."""

    def __init__(self, config: TransformerConfig, inner: nn.Transformer):
        super().__init__()
        self.config = config
        self.src_embedding, self.tgt_embedding = Embedding(config, "src"), Embedding(config, "tgt")
        self.inner = inner
        self.inner.encoder.use_nested_tensor = False  # of which torch warns; it matters in eval mode alone
        self.out_proj = nn.Linear(config.d_model, config.tgt_vocab_size)

    def forward(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, None]:
        return self.decode(tgt, self.encode(src), src), None

    def encode(self, src: Tensor) -> Tensor:
        return self.inner.encoder(self.src_embedding(src), src_key_padding_mask=src == self.config.src_pad_id)

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        out = self.inner.decoder(
            self.tgt_embedding(tgt),
            memory,
            tgt_mask=allowed_to_blocked(causal(tgt.size(1))),
            tgt_key_padding_mask=tgt == self.config.tgt_pad_id,
            memory_key_padding_mask=src == self.config.src_pad_id,
        )
        return self.out_proj(out)


def make_ours(task: Task, seed: int, recipe: Recipe | None = None, **changes: object) -> Trainer:
    """changes: of the sizes and choices."""
    torch.manual_seed(seed)
    model = Transformer(_config(task, {**OUR_SIZES, **OUR_CHOICES, **changes}))
    return Trainer(model, task, replace(recipe or our_recipe(task), seed=seed))


def our_recipe(task: Task) -> Recipe:
    return replace(OUR_RECIPE, steps=STEPS.get(task.name, OUR_RECIPE.steps))


def make_torch_by_our_recipe(task: Task, seed: int) -> Trainer:
    torch.manual_seed(seed)
    ours = Transformer(_config(task, {**OUR_SIZES, **OUR_CHOICES}))
    theirs = TorchModel(ours.config, to_torch(ours))
    for name in ("src_embedding", "tgt_embedding", "out_proj"):
        theirs.get_submodule(name).load_state_dict(ours.get_submodule(name).state_dict())
    return Trainer(theirs, task, replace(our_recipe(task), seed=seed))


def make_torch(task: Task, seed: int) -> Trainer:
    torch.manual_seed(seed)
    config = _config(task, THEIR_SIZES)
    layers = {"num_encoder_layers": config.num_layers, "num_decoder_layers": config.num_layers}
    inner = nn.Transformer(config.d_model, **layers, batch_first=True)
    return Trainer(TorchModel(config, inner), task, replace(ADAM, seed=seed))


def make_annotated(task: Task, seed: int) -> Trainer:
    torch.manual_seed(seed)
    model = Transformer(_config(task, {**THEIR_SIZES, "d_ff": 512, "norm_first": True}))
    for embedding in (model.src_embedding, model.tgt_embedding):
        nn.init.xavier_uniform_(embedding.tokens.weight)
    return Trainer(model, task, replace(ANNOTATED, seed=seed))


MAKERS: dict[str, Callable[[Task, int], Trainer]] = {
    "ours": make_ours,
    "nn.Transformer, our recipe": make_torch_by_our_recipe,
    "nn.Transformer, defaults": make_torch,
    "Annotated Transformer": make_annotated,
}


def time_to_learn(trainer: Trainer, *, give_up: float = GIVE_UP, every: int = EVERY) -> Result:
    """CPU time, which doesn't count waiting for other programs; everything runs on one thread."""
    task, model = trainer.task, trainer.model
    held_out = task.batch(HELD_OUT, torch.Generator().manual_seed(1), "held_out")
    loop, taken, accuracy = trainer.fit(), 0.0, 0.0
    while taken < give_up and trainer.step < trainer.recipe.steps:
        start = time.process_time()
        for _ in range(every):
            next(loop)
        taken += time.process_time() - start
        accuracy = measure_accuracy(model, held_out, task)
        if accuracy >= GOAL_ACCURACY:
            return Result(taken, trainer.step, accuracy)
    return Result(math.inf, trainer.step, accuracy)


def measure_accuracy(model: Transformer | TorchModel, batch: Batch, task: Task) -> float:
    """The fraction of sentences that the model generates without a mistake.

    The teacher-forced accuracy is cheaper to compute, and is measured first.
    """
    with evaluating(model):
        forced = teacher_forced(model, batch, task).sentences
        if forced < GOAL_ACCURACY:
            return forced
        if isinstance(model, Transformer):
            return exact_match(model, batch, task)
        ids = last(greedy(Recomputed(model, batch.src), task.tgt_vocab, max_len=batch.tgt.size(1) - 1)).ids
    return (ids == batch.tgt[:, : ids.size(1)]).all(dim=1).float().mean().item()


def compare(task: Task, seeds: Sequence[int] = SEEDS, **options: float) -> dict[str, list[Result]]:
    """The results of each model, seed by seed. Two failures decide the median of three. options: of the time."""
    results: dict[str, list[Result]] = {name: [] for name in MAKERS}
    for seed in seeds:
        for name, make in MAKERS.items():
            if sum(math.isinf(result.seconds) for result in results[name]) < 2:
                results[name].append(time_to_learn(make(task, seed), **options))
    return results


def describe(results: list[Result]) -> str:
    """The median, and the single results: "6.2 s (5.9, 6.2, 6.4 s; 325 steps)"."""
    single = ", ".join(f"{r.seconds:.1f}" if r.seconds < math.inf else f"no: {r.accuracy:.0%}" for r in results)
    median = statistics.median(r.seconds for r in results)
    steps = statistics.median_low([r.steps for r in results])
    return f"{f'{median:.1f} s' if median < math.inf else 'not reached':<12} ({single}; {steps} steps)"


def measure(goals: Sequence[Goal], **options: object) -> None:
    for goal in goals:
        results = compare(goal.task, **options)
        for name, found in results.items():
            print(f"{goal.task.name:<12} {name:<27} {describe(found)}", flush=True)
        median = {name: statistics.median(r.seconds for r in found) for name, found in results.items()}
        ours, theirs = median["ours"], median["nn.Transformer, defaults"]
        peer = min(median["nn.Transformer, our recipe"], GIVE_UP)
        report(f"{goal.task.name}, time to 99 %", ours / peer, "×", GOAL_CODE, peer="nn.Transformer's, same recipe")
        report(f"{goal.task.name}, seconds", ours, "s", goal.seconds)
        report(f"{goal.task.name} / nn.Transformer, defaults", ours / min(theirs, GIVE_UP), "×", goal.ratio)


def on_one_thread(function: Callable[[], None]) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        function()
    finally:
        torch.set_num_threads(threads)


def main(*, smoke: bool = False) -> None:
    if smoke:
        on_one_thread(lambda: measure(GOALS[:1], seeds=(0,), give_up=1e-6, every=1))
    else:
        on_one_thread(lambda: measure(GOALS))


def _config(task: Task, options: dict) -> TransformerConfig:
    return TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), **options)
