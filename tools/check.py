"""Is it right? Lint, types, spelling, quick tests; no notebook, browser or network: python -m tools.check."""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PASSED = ROOT / "build" / "types_passed"  # what pyright last found nothing wrong in
LEFT_OUT = ["browser", "notebook", "network", "thorough"]
TESTS = ["pytest", "-m", " and ".join(f"not {kind}" for kind in LEFT_OUT), "--ignore=tests/browser", "tests"]
PROSE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "cards", "lessons", "notebooks", "tools"]
BESIDE = (  # run while the tests do, and told after them
    ["ruff", "check"],
    ["ruff", "format", "--check"],
    ["codespell_lib", *PROSE],
)
TYPES = ["pyright", "--pythonpath", sys.executable]


def start(step: list[str], stdout: int | None = None) -> subprocess.Popen[str]:
    """A step as a process; what it prints comes out at once, or goes to `stdout`."""
    return subprocess.Popen(
        [sys.executable, "-m", *step], stdout=stdout, stderr=stdout and subprocess.STDOUT, text=True
    )


def fingerprint(root: Path = ROOT) -> str:
    """Of all that pyright's answer depends on: another one after any change."""
    sources = sorted(path for folder in ("lessons", "tools") for path in (root / folder).rglob("*.py"))
    digest = hashlib.sha256(sys.version.encode())
    for path in [*sources, root / "pyproject.toml", root / "requirements-dev.txt"]:
        digest.update(f"\n{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def main() -> int:
    """Run every step, also if one fails. The exit code is 1 if any has."""
    begun = time.perf_counter()
    present = fingerprint()
    known = PASSED.exists() and PASSED.read_text() == present
    steps = [*BESIDE] if known else [TYPES, *BESIDE]
    beside = [(step, start(step, subprocess.PIPE)) for step in steps]
    failed = [TESTS[0]] if start(TESTS).wait() else []
    for step, process in beside:
        printed, _ = process.communicate()
        print(f"{' '.join(step[:2])}: {printed}", end="", flush=True)
        if process.returncode:
            failed.append(" ".join(step[:2]))
        elif step is TYPES:
            PASSED.parent.mkdir(exist_ok=True)
            PASSED.write_text(present)
    if known:
        print("pyright: as before, since nothing that it reads has changed")
    print(f"{time.perf_counter() - begun:.0f} s", flush=True)
    for step in failed:
        print(f"Failed: {step}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
