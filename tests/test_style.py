"""Code and notebooks are free of lint, and formatted."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.thorough("`make check` runs ruff itself")
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff(command):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "."], cwd=Path(__file__).parent.parent, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout
