"""Train a model on files of sentence pairs: `python -m lessons.train --data pairs.tsv --output runs/first`.

Several processes, each with a slice of every batch: `torchrun --nproc-per-node 2 -m lessons.train …`.
"""

import json
import os
import shutil
import signal
import sys
import tomllib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from lessons import checkpoints
from lessons._checks import above_zero, positive
from lessons.config import TransformerConfig
from lessons.evaluation import evaluating
from lessons.parallel import ParallelTrainer, Processes, choose_device, joined
from lessons.parallel.processes import PATIENCE, ElsewhereError, ProcessLost, leave
from lessons.parallel.trainer import check_parts
from lessons.tasks.stream import ABOUT, MAX_LEN, PairStream, check_files, check_settings, prepare
from lessons.tasks.task import HELD_OUT, Batch
from lessons.training import Progress, Recipe, TrainingStopped, seeded, shift, token_loss
from lessons.transformer import Transformer

DATA, CHECKPOINT, SETTINGS, LOG = "data", "training.pt", "settings.json", "log"  # in the output folder
EVALUATED = 256  # held-out pairs
DECIDED_HERE = ("src_vocab_size", "tgt_vocab_size", "src_pad_id", "tgt_pad_id")  # by the data
PREPARATION = ("vocab_size", "max_len", "held_out_every", "skip_corrupt", "encoding")
TABLES = {
    "model": [field.name for field in fields(TransformerConfig) if field.name not in DECIDED_HERE],
    "recipe": [field.name for field in fields(Recipe)],
    "data": [*PREPARATION, "window"],
}
EPILOG = """\
data: each line of a file is source, tab, target. The first call prepares them in the output folder.
config: a TOML file with the tables [model] (lessons.config.TransformerConfig), [recipe] (lessons.training.Recipe) and
  [data] (lessons.tasks.stream); what it doesn't name has its default. For example:

  [model]
  d_model = 256
  num_layers = 3
  [recipe]
  steps = 20000
  batch_size = 128
  [data]
  skip_corrupt = true

resume: without --steps, a training that was stopped goes on to its last step, a finished one to the recipe's.

output: data/, settings.json, training.pt (the checkpoint) and, with --log, log/. Several machines must share it.
"""
Settings = dict[str, dict[str, Any]]


class Terminated(Exception):
    """The system, or torchrun, asks this process to end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status. Every error is one sentence."""
    options = _parser().parse_args(arguments)
    before = signal.getsignal(signal.SIGTERM)
    try:
        _run(options)
    except ElsewhereError:
        return 1  # that process says what happened
    except (ValueError, OSError, TrainingStopped, ProcessLost, Terminated) as error:
        print(f"lessons.train: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "python -m lessons.train", None, __doc__, EPILOG, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=[], metavar="FILE", help="files of sentence pairs")
    parser.add_argument("--output", required=True, type=Path, metavar="FOLDER", help="where everything is written")
    parser.add_argument("--config", type=Path, metavar="FILE", help="sizes and settings, in TOML")
    parser.add_argument("--resume", action="store_true", help="continue the training in the output folder")
    parser.add_argument("--steps", type=int, help="train up to this step, instead of the recipe's last")
    parser.add_argument("--save-every", type=int, default=500, metavar="STEPS", help="default: %(default)s")
    parser.add_argument("--accumulate", type=int, default=1, metavar="PARTS", help="parts of a batch, in turn")
    parser.add_argument("--device", default="auto", help="auto (default), cpu or cuda")
    parser.add_argument("--compile", action="store_true", help="use torch.compile")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="SECONDS", help="for the other processes")
    parser.add_argument("--log", action="store_true", help="write a log for TensorBoard")
    return parser


def _terminate(number: int, frame: object) -> None:
    raise Terminated("stopped, as the system or torchrun asked; --resume continues from the last checkpoint.")


def _run(options: Namespace) -> None:
    positive(save_every=options.save_every)
    above_zero(patience=options.patience)
    device = choose_device(options.device)
    output: Path = options.output
    if int(os.environ.get("RANK", 0)) == 0:
        _get_ready(options)
    with joined(device, patience=options.patience) as processes, ExitStack() as stack:
        signal.signal(signal.SIGTERM, _terminate)  # before, while it waits in torch, it would not be heard
        settings, stream = processes.together(lambda: _open(options))
        trainer = processes.together(lambda: _trainer(settings, stream, options, processes, device))
        if options.resume:
            _resume(trainer, options)
        write = stack.enter_context(_Log(output / LOG)).write if options.log and processes.is_first else None
        _train(trainer, options, write)


def _get_ready(options: Namespace) -> None:
    """What only one process does: the output folder, the settings, and the prepared data."""
    output: Path = options.output
    checkpoint = output / CHECKPOINT
    if options.resume and not checkpoint.is_file():
        raise ValueError(f"output is {str(output)!r}, where no {CHECKPOINT} is; expected a training to resume")
    if options.resume and options.data:
        raise ValueError("data can't be given with --resume, which reads what was prepared; leave it out")
    if options.resume:
        return
    if checkpoint.exists():
        raise ValueError(f"output is {str(output)!r}, where a training is; --resume continues it")
    settings = _read_settings(options.config)
    _check(settings, options)
    if not options.data:
        raise ValueError("data is empty; expected one file of sentence pairs or more")
    choices = {name: value for name, value in settings["data"].items() if name in PREPARATION}
    files = [Path(path).resolve() for path in options.data]
    check_files(files)
    sizes = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    settings["prepared"] = {"files": sizes, **choices}
    if not _is_prepared(output, settings["prepared"]):
        output.mkdir(parents=True, exist_ok=True)
        (output / SETTINGS).unlink(missing_ok=True)  # an interrupt must not leave them beside other data
        shutil.rmtree(output / DATA, ignore_errors=True)
        print("preparing the data …", flush=True)
        prepare(output / DATA, *files, **choices, watch=partial(tqdm, unit=" pairs", disable=None))
    (output / SETTINGS).write_text(json.dumps(settings, indent=1), encoding="utf-8")


def _is_prepared(output: Path, wanted: dict[str, Any]) -> bool:
    """Whether an earlier call that saved no checkpoint has prepared the same files in the same way."""
    try:
        prepared = json.loads((output / SETTINGS).read_text(encoding="utf-8"))["prepared"]
    except (OSError, ValueError, KeyError):
        return False
    return prepared == wanted and (output / DATA / ABOUT).is_file()


def _read_settings(path: Path | None) -> Settings:
    if path is None:
        return {table: {} for table in TABLES}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"config is {str(path)!r}, which can't be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"config is {str(path)!r}, which is not TOML: {error}") from None
    for table, names in found.items():
        if table not in TABLES or not isinstance(names, dict):
            raise ValueError(f"config has {table}; expected the tables {', '.join(TABLES)}")
        for name in names:
            if name not in TABLES[table]:
                raise ValueError(f"config has {name} in [{table}]; expected one of {', '.join(TABLES[table])}")
    return {table: found.get(table, {}) for table in TABLES}


def _check(settings: Settings, options: Namespace) -> None:
    """Bad values are refused before the data are prepared."""
    config = TransformerConfig(8, 8, **settings["model"])
    recipe = _recipe(settings, options.steps)
    check_settings(**settings["data"])
    check_parts(recipe.batch_size, options.accumulate, int(os.environ.get("WORLD_SIZE", 1)))
    longest = settings["data"].get("max_len", MAX_LEN) + 1  # before a target's words comes BOS
    if config.positions in ("sinusoids", "learned") and config.max_len < longest:
        raise ValueError(
            f"max_len in [model] is {config.max_len}; expected {longest} or more, 1 above max_len in [data]"
        )


def _recipe(settings: Settings, steps: int | None) -> Recipe:
    named: dict[str, Any] = {**settings["recipe"], **({} if steps is None else {"steps": steps})}
    if isinstance(named.get("betas"), list):
        named["betas"] = tuple(named["betas"])  # TOML has lists only
    return Recipe(**named)


def _open(options: Namespace) -> tuple[Settings, PairStream]:
    output: Path = options.output
    settings = json.loads((output / SETTINGS).read_text(encoding="utf-8"))
    if options.resume and options.config is not None:
        settings = _read_settings(options.config)
    window = {"window": settings["data"]["window"]} if "window" in settings["data"] else {}
    return settings, PairStream(output / DATA, **window)


def _trainer(
    settings: Settings, stream: PairStream, options: Namespace, processes: Processes, device: torch.device
) -> ParallelTrainer:
    source, target = stream.src_vocab, stream.tgt_vocab
    sizes: dict[str, Any] = {"src_pad_id": source.pad_id, "tgt_pad_id": target.pad_id, **settings["model"]}
    config = TransformerConfig(len(source), len(target), **sizes)
    recipe = _recipe(settings, options.steps)
    with seeded(recipe.seed, torch.device("cpu")):
        model = Transformer(config)
    return ParallelTrainer(
        model.to(device),
        stream,
        recipe,
        processes=processes,
        accumulate=options.accumulate,
        compiled=options.compile,
    )


def _resume(trainer: ParallelTrainer, options: Namespace) -> None:
    """Load the checkpoint. Without --steps, a training that was stopped keeps its last step: the rates depend on it."""
    path, steps = options.output / CHECKPOINT, trainer.recipe.steps
    trainer.load(path)
    if options.steps is None:
        last: int = trainer.processes.together(lambda: checkpoints.load(path, "meta"))["recipe"]["steps"]
        if trainer.step < last != steps:
            trainer.recipe = replace(trainer.recipe, steps=last)
            if trainer.processes.is_first:
                print(f"continuing to step {last}, as before, not the recipe's {steps}; --steps changes it", flush=True)
    if trainer.step >= trainer.recipe.steps:
        raise ValueError(f"steps is {trainer.recipe.steps}; expected more than the {trainer.step} that are taken")


def _train(trainer: ParallelTrainer, options: Namespace, write: Callable[[dict[str, float], int], None] | None) -> None:
    processes, steps, path = trainer.processes, trainer.recipe.steps, options.output / CHECKPOINT
    held_out = _held_out(trainer)
    bar = tqdm(total=steps, initial=trainer.step, unit=" steps", disable=None if processes.is_first else True)
    try:
        with bar:
            for progress in trainer.fit():
                bar.update()
                bar.set_postfix(loss=f"{progress.loss:.3f}", refresh=False)
                if write is not None:
                    write(_numbers(progress), progress.step)
                if progress.step % options.save_every == 0 or progress.step == steps:
                    trainer.save(path)
                    loss = _held_out_loss(trainer, held_out)
                    if write is not None and loss is not None:
                        write({"loss/held-out": loss}, progress.step)
                    if processes.is_first:
                        bar.write(_sentence(progress, loss))
    except KeyboardInterrupt:
        if processes.count == 1:
            trainer.save(path)
            print(f"stopped at step {trainer.step}, which is saved; --resume continues.", flush=True)
        raise


def _numbers(progress: Progress) -> dict[str, float]:
    rate = progress.tokens / progress.seconds
    return {
        "loss/training": progress.loss,
        "gradient_norm": progress.grad_norm,
        "learning_rate": progress.learning_rate,
        "tokens_per_second": rate,
    }


def _sentence(progress: Progress, held_out: float | None) -> str:
    other = "" if held_out is None else f", {held_out:.4f} on held-out pairs"
    return f"step {progress.step}: loss {progress.loss:.4f}{other}; {progress.tokens:,} tokens; saved"


def _held_out(trainer: ParallelTrainer) -> Batch | None:
    """This process's slice of some pairs for evaluation; None if there are none."""
    stream = trainer.task
    if not isinstance(stream, PairStream) or stream.count(HELD_OUT) == 0:
        return None
    rank, count = trainer.processes.rank, trainer.processes.count
    src, tgt = stream.batch(max(EVALUATED, count), torch.Generator().manual_seed(0), HELD_OUT)
    return Batch(src[rank::count].to(trainer.device), tgt[rank::count].to(trainer.device))


def _held_out_loss(trainer: ParallelTrainer, batch: Batch | None) -> float | None:
    """The mean loss per token over all processes, without smoothing."""
    if batch is None:
        return None
    pad_id, total, tokens = trainer.task.tgt_vocab.pad_id, 0.0, 0
    with evaluating(trainer.model), torch.no_grad():
        for src, tgt in zip(*(ids.split(trainer.recipe.batch_size) for ids in batch)):
            inputs, targets = shift(tgt)
            count = int((targets != pad_id).sum())
            total += token_loss(trainer.model(src, inputs)[0], targets, pad_id=pad_id).item() * count
            tokens += count
    total, tokens = trainer.processes.sums(total, tokens)
    return total / tokens


class _Log:
    """A folder of numbers that TensorBoard shows; written by its own writer, from the package tensorboard."""

    def __init__(self, folder: Path):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ValueError("log needs the package tensorboard: pip install tensorboard") from None
        self._open: Callable[[], Any] = partial(SummaryWriter, str(folder))

    def __enter__(self) -> "_Log":
        self._writer = self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()

    def write(self, numbers: dict[str, float], step: int) -> None:
        for name, number in numbers.items():
            self._writer.add_scalar(name, number, step)


if __name__ == "__main__":
    leave(main())
