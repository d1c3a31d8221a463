import argparse
import importlib
import os
import platform
import sys
from pathlib import Path

import torch

import benchmarks

ALL = (
    "attention",
    "transformer",
    "imports",
    "notebooks",
    "memory",
    "engine",
    "widgets",
    "studio",
    "lesson",
    "browsers",
    "site",
    "tasks",
    "decoding",
    "training",
    "tricks",
    "scaling",
    "gpu",
)


def processor() -> str:
    """What goals are measured on: the processor's name and its vector instructions, as torch uses them."""
    names = []
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{(names or [platform.processor()])[0]}, {torch.backends.cpu.get_cpu_capability()}"


def main(arguments: list[str]) -> int:
    """The exit status: 1 where a goal is missed, at full size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the course costs, against goals.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(ALL)}; all of them unless given")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: shows that they run, and nothing about speed")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in ALL:
            parser.error(f"no benchmark is called {name!r}; expected one of {', '.join(ALL)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a learner's kernel compiles the course once
    benchmarks.missed.clear()
    benchmarks.table.clear()
    print(f"on {processor()}")
    for name in options.names or ALL:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{name}: {module.__doc__.splitlines()[0]}", flush=True)
        module.main(smoke=options.smoke)
    benchmarks.print_table(processor())
    if options.smoke:
        print("tiny sizes: these numbers say nothing about speed")
        return 0
    for name in benchmarks.missed:
        print(f"missed: {name}")
    return 1 if benchmarks.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
