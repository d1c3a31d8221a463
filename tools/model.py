"""Train the small English–Chinese translator that comes with the package: python -m tools.model."""

import sys
from dataclasses import asdict
from pathlib import Path

import torch

from lessons.config import TransformerConfig
from lessons.evaluation import exact_match
from lessons.pretrained import TRANSLATOR, load_translator, save_translator
from lessons.tasks import Translation
from lessons.training import Recipe, Trainer
from lessons.transformer import Transformer

RECIPE = Recipe(steps=1000, batch_size=64, learning_rate=5e-3, warmup=100)
SENTENCES, TEST_SEED = 1000, 1  # the held-out sentences that it must translate
GOAL = 0.99  # of them without any mistake
SHOWN = 100  # steps between two lines of progress


def train(recipe: Recipe) -> tuple[Transformer, Translation]:
    """The model after the recipe's last step; its losses on the way are printed."""
    task = Translation()
    torch.manual_seed(recipe.seed)
    config = TransformerConfig(
        len(task.src_vocab),
        len(task.tgt_vocab),
        d_model=64,
        num_heads=4,
        num_layers=2,
        d_ff=256,
        dropout=0.0,
        max_len=64,
        norm_first=True,
    )
    model = Transformer(config)
    for progress in Trainer(model, task, recipe).fit():
        if progress.step % SHOWN == 0:
            print(f"step {progress.step}: loss {progress.loss:.4f}, {progress.seconds:.0f} s", flush=True)
    return model, task


def measure(path: Path, sentences: int) -> float:
    """The fraction of held-out sentences that the model in the file translates without a mistake."""
    model, task = load_translator(path)
    held_out = task.batch(sentences, torch.Generator().manual_seed(TEST_SEED), "held_out")
    return exact_match(model, held_out, task)


def main(recipe: Recipe = RECIPE, path: Path = TRANSLATOR, sentences: int = SENTENCES, goal: float = GOAL) -> int:
    """Put the trained model in the place of the file, unless it is not good enough: then the exit code is 1."""
    torch.set_num_threads(1)  # the sums of several threads are rounded in another order
    model, task = train(recipe)
    candidate = path.with_suffix(".candidate")
    try:
        save_translator(model, task, candidate, recipe=asdict(recipe))
        right = measure(candidate, sentences)
        print(f"{right:.1%} of {sentences} held-out sentences are right")
        if right < goal:
            print(f"{path.name} stays as it was: expected {goal:.0%} or more", file=sys.stderr)
            return 1
        candidate.replace(path)
    finally:
        candidate.unlink(missing_ok=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
