"""Each benchmark runs, at tiny sizes; a missed goal is an exit status. What needs a browser is in tests/browser."""

import io
import subprocess
import sys
from contextlib import redirect_stdout
from unittest.mock import patch

import pytest

import benchmarks
from benchmarks import widgets
from benchmarks.__main__ import ALL, main

RUN = subprocess.run
IN_A_BROWSER = ("widgets", "studio", "lesson", "browsers", "site")


def run_here(command, **options):
    """As subprocess.run, but `python -c …` in this process: another would have to import torch first."""
    if command[0] != sys.executable:
        return RUN(command, **options)
    python, flag, code, *arguments = command
    assert (python, flag) == (sys.executable, "-c")
    out = io.StringIO()
    with redirect_stdout(out), patch.object(sys, "argv", [flag, *arguments]):
        exec(code, {})
    return subprocess.CompletedProcess(command, 0, out.getvalue())


@pytest.mark.thorough("runs every benchmark")
@pytest.mark.parametrize("name", [name for name in ALL if name not in IN_A_BROWSER])
def test_a_smoke_run(name, capsys, monkeypatch):
    monkeypatch.setattr(subprocess, "run", run_here)
    assert main(["--smoke", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("on ") and f"\n{name}: " in out


def test_what_the_widgets_store(capsys):
    widgets.measure_stored()
    widgets.measure_peers()
    assert "AttentionExplorer, stored in a notebook" in capsys.readouterr().out


def test_a_missed_goal_is_an_exit_status(monkeypatch, capsys):
    class Slow:
        """Takes twice as long as it may."""

        @staticmethod
        def main(*, smoke):
            benchmarks.report("a walk", 2.0, "s", 1.0, peer="on foot")
            benchmarks.report("a run", 3.0, "×", 3, at_least=True, peer="")
            benchmarks.report("a stroll", 0.5, "s", 1.0)

    monkeypatch.setitem(sys.modules, "benchmarks.imports", Slow)
    assert main(["imports"]) == 1
    out = capsys.readouterr().out
    assert "| a walk " in out and "| 2 s | < 1 s, MISSED | on foot |" in out
    assert "| a run " in out and "| 3 × | ≥ 3 ×, met    |         |" in out
    assert "| a stroll" not in out
    assert out.endswith("missed: a walk\n")
    assert main(["--smoke", "imports"]) == 0  # its sizes say nothing about speed


def test_goals_that_are_met(monkeypatch):
    class Quick:
        """Takes half as long as it may."""

        @staticmethod
        def main(*, smoke):
            benchmarks.report("a walk", 0.5, "s", 1.0)

    monkeypatch.setitem(sys.modules, "benchmarks.imports", Quick)
    assert main(["imports"]) == 0


def test_a_row_without_numbers(monkeypatch, capsys):
    monkeypatch.setattr(benchmarks, "table", [])
    benchmarks.not_measured("a flight", "no wings")
    benchmarks.print_table("a slow processor")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split(" | ")[0].strip() == "| on a slow processor"
    assert [part.strip() for part in lines[3].strip("|").split("|")] == ["a flight", "not measured", "", "no wings"]


def test_a_name_that_is_no_benchmark(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["speed"])
    assert exit.value.code == 2
    assert "no benchmark is called 'speed'; expected one of attention, " in capsys.readouterr().err
