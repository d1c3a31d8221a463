"""Is it right? Lint, types, and quick tests, without a notebook, a browser or the network: python -m tools.check."""

import subprocess
import sys
import time

LEFT_OUT = ["browser", "notebook", "network", "thorough"]
TESTS = ["pytest", "-m", " and ".join(f"not {kind}" for kind in LEFT_OUT), "--ignore=tests/browser", "tests"]
BESIDE = (  # run while the tests do, and told after them
    ["ruff", "check"],
    ["ruff", "format", "--check"],
    ["pyright", "--pythonpath", sys.executable],
)


def start(step: list[str], stdout: int | None = None) -> subprocess.Popen[str]:
    """A step as a process; what it prints comes out at once, or goes to `stdout`."""
    return subprocess.Popen(
        [sys.executable, "-m", *step], stdout=stdout, stderr=stdout and subprocess.STDOUT, text=True
    )


def main() -> int:
    """Run every step, also if one fails. The exit code is 1 if any has."""
    begun = time.perf_counter()
    beside = [(step, start(step, subprocess.PIPE)) for step in BESIDE]
    failed = [TESTS[0]] if start(TESTS).wait() else []
    for step, process in beside:
        printed, _ = process.communicate()
        print(f"{' '.join(step[:2])}: {printed}", end="", flush=True)
        if process.returncode:
            failed.append(" ".join(step[:2]))
    print(f"{time.perf_counter() - begun:.0f} s", flush=True)
    for step in failed:
        print(f"Failed: {step}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
