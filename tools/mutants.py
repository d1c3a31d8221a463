"""Do the tests notice a change? Each place of floors 0 to 4 is changed once, and the tests that reach it run.

python -m tools.mutants                 all modules, one after the other; what was killed before isn't tried again
python -m tools.mutants masks layers    these modules
python -m tools.mutants tasks --every 5 of each file a fifth: the first mutant, the sixth, and so on
python -m tools.mutants --report        what is known so far: a table, and the changes that no test noticed

mutmut makes the mutants. Its own run starts pytest anew for each of them; here the tests of a module are collected
once, and each mutant runs in a fork of that process, the test first that killed the one before. The results are in
build/mutants, a file for each module; a function whose source has changed is tried again.
"""

import argparse
import ast
import contextlib
import difflib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "mutants"
MODULE = "MUTANTS_MODULE"  # the environment variable that says which module a pytest session is about
# The modules of floors 0 to 4, and the tests that concern each beside tests/test_<module>.py or tests/<module>/.
MODULES = {
    "masks": ["tests/test_checks.py", "tests/test_devices.py"],
    "attention": ["tests/test_parity.py", "tests/test_checks.py", "tests/test_devices.py"],
    "layers": ["tests/test_parity.py", "tests/test_checks.py"],
    "transformer": ["tests/test_parity.py", "tests/test_checks.py", "tests/test_devices.py"],
    "positions": ["tests/test_checks.py", "tests/test_devices.py"],
    "vocabulary": ["tests/test_checks.py", "tests/test_devices.py"],
    "config": ["tests/test_checks.py", "tests/test_transformer.py"],
    "checkpoints": [],
    "probes": ["tests/test_checks.py", "tests/test_mask_table.py", "tests/test_devices.py"],
    "decoding": ["tests/test_checks.py", "tests/test_devices.py"],
    "training": ["tests/test_checks.py", "tests/test_devices.py"],
    "evaluation": ["tests/test_training.py", "tests/test_interventions.py", "tests/test_devices.py"],
    "interventions": ["tests/test_devices.py"],
    "tiled": ["tests/test_checks.py", "tests/test_devices.py"],
    "mask_arguments": ["tests/test_words.py"],
    "torch_attention": ["tests/test_checks.py"],
    "parity": ["tests/test_pretrained.py"],
    "progress": ["tests/checking/test_words.py"],
    "language_model": ["tests/test_devices.py"],
    "costs": [],
    "fast": ["tests/test_attention.py", "tests/test_layers.py", "tests/test_decoding.py", "tests/test_devices.py"],
    "_checks": ["tests/test_checks.py", "tests/test_attention.py", "tests/test_masks.py", "tests/test_tasks.py"],
    "wording": ["tests/test_words.py"],
    "source": ["tests/test_display.py"],
    "recorder": [],
    "tasks": ["tests/test_sentence_pairs.py", "tests/test_stream.py", "tests/test_prose.py", "tests/test_checks.py"],
    "pretrained": ["tests/test_words.py"],
    "parallel": [],
    "plots": ["tests/looks", "tests/test_display.py", "tests/test_words.py", "tests/test_checks.py"],
}
LEFT_OUT = [f"-pno:{plugin}" for plugin in ("logging", "anyio", "cacheprovider", "xdist", "nbval")]
PYTEST = ["-q", "-o", "addopts=", "--tb=native", "-p", "tools.mutants", *LEFT_OUT]
MARKED = "not browser and not notebook and not network"
STOPPED = "stopped"  # instead of a test's name: it took far too long, or ended the process; that counts as noticed
WALL_SECONDS = 600
MEMORY = 12 * 2**30  # bytes


def files_of(module: str) -> list[Path]:
    path = ROOT / "lessons" / module
    return sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def judges_of(module: str) -> list[str]:
    """The files and folders of tests that concern a module."""
    own = [path for path in (f"tests/test_{module}.py", f"tests/{module}") if (ROOT / path).exists()]
    return [*own, *MODULES[module]]


def mutate(path: Path) -> tuple[str, dict[str, dict[str, str]]]:
    """The code of a file with all its mutants, and for each mutant its function, and the change."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    name = path.relative_to(ROOT)
    mutated = mutate_file_contents(str(name), path.read_text())
    lines = mutated.code.splitlines()

    def text(mutant: str) -> list[str]:
        span = mutated.line_span_by_function_name[mutant]
        written = ast.unparse(ast.parse(textwrap.dedent("\n".join(lines[span.start - 1 : span.end]))))
        return written.replace(mutant, "").splitlines()

    mutants: dict[str, dict[str, str]] = {}
    for mutant in mutated.mutant_names:
        function = mutant.partition("__mutmut_")[0]
        changed = difflib.unified_diff(text(f"{function}__mutmut_orig"), text(mutant), n=0, lineterm="")
        mutants[get_mutant_name(name, mutant)] = {
            "function": get_mutant_name(name, function),
            "source": mutated.hash_by_function_name.get(function, ""),
            "change": "\n".join(line for line in changed if not line.startswith(("---", "+++", "@@"))),
        }
    return mutated.code, mutants


def plant(module: str, tree: Path, every: int) -> None:
    """Copy the repository to `tree`, the module with its mutants; mutants.json describes those that are tried."""
    shutil.rmtree(tree, ignore_errors=True)
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True)
    for name in filter(lambda name: (ROOT / name).exists(), listed.splitlines()):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    tried: dict[str, dict[str, str]] = {}
    for path in files_of(module):
        code, mutants = mutate(path)
        (tree / path.relative_to(ROOT)).write_text(code)
        tried |= dict(list(mutants.items())[::every])
    (tree / "mutants.json").write_text(json.dumps(tried))


def run(module: str, seconds: float, chosen: list[str], every: int) -> None:
    """Try the mutants of one module in a process of its own."""
    tree = RESULTS / "trees" / module
    plant(module, tree, every)
    environment = {
        MODULE: module,
        "MUTANTS_RESULTS": str(RESULTS),
        "MUTANTS_SECONDS": str(seconds),
        "MUTANT_UNDER_TEST": "none",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", *PYTEST, "-m", MARKED, *(chosen or judges_of(module))]
    subprocess.run(command, cwd=tree, env=os.environ | environment, check=False)
    shutil.rmtree(tree)


# In the pytest session, of which this file is a plugin


def in_fork(work: Callable[[], Any], cpu_seconds: int) -> Any:
    """What `work()` returns, computed in a fork of this process; None if the fork did not live to say it."""
    assert sys.platform != "win32", "Windows forks no process"
    import resource

    with tempfile.TemporaryFile("w+") as said:
        if not (child := os.fork()):
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.alarm(WALL_SECONDS)
            try:
                json.dump(work(), said)
                said.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # processes that a test has started and not ended
        said.seek(0)
        return json.loads(said.read() or "null")


def failure(item: pytest.Item, following: pytest.Item | None) -> str:
    """What a test says when it fails; empty if it passes."""
    with catch_warnings_for_item(item.config, item.ihook, "runtest", item=item):
        reports = runtestprotocol(item, nextitem=following, log=False)
    return next((report.longreprtext or "failed" for report in reports if report.failed), "")


class Hits:
    """Which functions a test reaches, itself or in a fixture that it shares with other tests."""

    def __init__(self) -> None:
        from mutmut.mutation import trampoline

        self.now: set[str] = set()
        self.of_fixtures: dict[tuple[str, str], tuple[set[str], float]] = {}
        trampoline.record_trampoline_hit = lambda name, caller=None: self.now.add(name)  # pyright: ignore[reportPrivateImportUsage]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any):
        before, self.now, start = self.now, set(), time.process_time()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                key = request.node.nodeid, fixturedef.argname
                self.of_fixtures[key] = self.now, time.process_time() - start
            self.now |= before


def baseline(items: list[pytest.Item]) -> dict[str, Any]:
    """Run all tests once, without a mutant: which functions each reaches, and how long it takes."""
    before = set(sys.modules)
    os.environ["MUTANT_UNDER_TEST"] = "stats"
    hits = Hits()
    items[0].config.pluginmanager.register(hits)
    known: dict[str, dict[str, Any]] = {}
    for item, following in zip(items, [*items[1:], None]):
        hits.now, said, seconds = set(), "", 0.0
        for _ in range(2):
            start, modules = time.process_time(), len(sys.modules)
            said = failure(item, following)
            seconds = time.process_time() - start
            if len(sys.modules) == modules:
                break  # else it has imported something: how long does it take without that?
        known[item.nodeid] = {"failure": said, "seconds": seconds, "reaches": sorted(hits.now)}
    for item in items:
        about = known[item.nodeid]
        for (node, name), (reached, seconds) in hits.of_fixtures.items():
            if item.nodeid.startswith(node) and name in getattr(item, "fixturenames", ()):
                if not reached <= set(about["reaches"]):
                    about["seconds"] += seconds
                about["reaches"] = sorted(reached.union(about["reaches"]))
    imported = [name for name in sys.modules if name not in before and not name.startswith(("lessons", "tests"))]
    return {"tests": known, "imported": imported}


def try_mutant(name: str, items: list[pytest.Item]) -> list[str]:
    """The ids of the tests that don't notice the mutant, and of the one that does, if any."""
    os.environ["MUTANT_UNDER_TEST"] = name
    passed: list[str] = []
    for item, following in zip(items, [*items[1:], None]):
        if failure(item, following):
            return [*passed, item.nodeid]
        passed.append(item.nodeid)
    return [*passed, ""]


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    if MODULE not in os.environ:
        return None
    module, results = os.environ[MODULE], Path(os.environ["MUTANTS_RESULTS"])
    say = session.config.get_terminal_writer()
    mutants = json.loads(Path("mutants.json").read_text())
    file = results / f"{module}.json"
    earlier = json.loads(file.read_text()) if file.exists() else {}
    same = [name for name in mutants if name in earlier and earlier[name]["source"] == mutants[name]["source"]]
    found = {name: earlier[name] for name in same if earlier[name]["by"]}
    items = {item.nodeid: item for item in session.items}
    start = time.process_time()
    about = in_fork(lambda: baseline(session.items), 3600)
    for name in about["imported"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    say.line(f"{module}: {len(mutants)} mutants, {len(items)} tests")
    for nodeid, test in about["tests"].items():
        if test["failure"]:
            say.line(f"{nodeid} fails without a mutant, and is left out: {test['failure'].strip().splitlines()[-1]}")
    reached: dict[str, list[str]] = defaultdict(list)
    for nodeid, test in about["tests"].items():
        for function in () if test["failure"] else test["reaches"]:
            reached[function].append(nodeid)
    kills: Counter[str] = Counter()
    misses: Counter[str] = Counter()

    def seconds_for_a_kill(nodeid: str) -> float:
        return (about["tests"][nodeid]["seconds"] + 0.005) * (1 + misses[nodeid]) / (0.2 + kills[nodeid])

    for name, mutant in mutants.items():
        if name in found:
            continue
        if name.endswith("__mutmut_1"):
            kills.clear()
            misses.clear()
        chosen: list[pytest.Item] = []
        needed = 0.0
        for nodeid in sorted(reached[mutant["function"]], key=seconds_for_a_kill):
            if not chosen or needed + about["tests"][nodeid]["seconds"] < float(os.environ["MUTANTS_SECONDS"]):
                needed += about["tests"][nodeid]["seconds"]
                chosen.append(items[nodeid])
        tried = in_fork(lambda name=name, chosen=chosen: try_mutant(name, chosen), 5 + round(4 * needed))
        *passed, by = tried or [STOPPED]
        misses.update(passed)
        kills[by] += 1
        found[name] = mutant | {"by": by}
        if not by:
            say.line(f"{name}: {'no test' if not chosen else by or 'survived'}\n{mutant['change']}")
        save(found, file)
    say.line(f"{module}: {time.process_time() - start:.0f} s")
    return True


def save(found: dict[str, dict[str, str]], file: Path) -> None:
    whole = file.with_suffix(".new")
    whole.write_text(json.dumps(found, indent=1, ensure_ascii=False))
    whole.replace(file)


# What is known


def report(modules: list[str]) -> None:
    print("| module | mutants | killed | of these, stopped | survived | killed |\n|---|---|---|---|---|---|")
    total: Counter[str] = Counter()
    survivors: list[str] = []
    for module in [module for module in modules if (RESULTS / f"{module}.json").exists()]:
        found = json.loads((RESULTS / f"{module}.json").read_text())
        left = {name: mutant for name, mutant in found.items() if not mutant["by"]}
        stopped = sum(mutant["by"] == STOPPED for mutant in found.values())
        count = Counter(mutants=len(found), killed=len(found) - len(left), stopped=stopped, survived=len(left))
        print(row(module, count))
        total += count
        survivors += [f"{name}\n{mutant['change']}\n" for name, mutant in left.items()]
    print(row("all", total), "", *survivors, sep="\n")


def row(name: str, count: Counter[str]) -> str:
    numbers = " | ".join(str(count[key]) for key in ("mutants", "killed", "stopped", "survived"))
    return f"| `{name}` | {numbers} | {count['killed'] / count['mutants']:.1%} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=list(MODULES), help=f"of {', '.join(MODULES)}")
    parser.add_argument("--report", action="store_true", help="say what is known; run nothing")
    parser.add_argument("--seconds", type=float, default=2, help="of tests for one mutant, the quickest first")
    parser.add_argument("--tests", nargs="*", default=[], help="these instead of the module's own")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try one of N mutants: a sample")
    chosen = parser.parse_args()
    for module in [] if chosen.report else chosen.modules:
        run(module, chosen.seconds, chosen.tests, chosen.every)
    report(chosen.modules)


if __name__ == "__main__":
    main()
