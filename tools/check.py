"""Is it right? Lint, types, and all tests without a notebook, a browser or the network: python -m tools.check."""

import subprocess
import sys
import time

STEPS = (
    ["ruff", "check"],
    ["ruff", "format", "--check"],
    ["pyright", "--pythonpath", sys.executable],
    ["pytest", "-m", "not browser and not notebook and not network", "--ignore=tests/browser", "tests"],
)


def main() -> int:
    """Run every step, also after one that failed. The exit code is 1 if any has."""
    failed = []
    for step in STEPS:
        start = time.perf_counter()
        if subprocess.run([sys.executable, "-m", *step]).returncode:
            failed.append(" ".join(step))
        print(f"{' '.join(step[:2])}: {time.perf_counter() - start:.0f} s", flush=True)
    for step in failed:
        print(f"Failed: {step}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
