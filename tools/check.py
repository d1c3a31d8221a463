"""Is it right? Lint, types, spelling, quick tests; no notebook, browser or network: python -m tools.check."""

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

from tools.imports import imports_among, modules

ROOT = Path(__file__).parents[1]
PASSED = ROOT / "build" / "types_passed.json"  # what pyright last found nothing wrong in
REQUIREMENTS = "requirements-dev.txt"
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


def fingerprints(root: Path = ROOT) -> dict[str, str]:
    """Of all that pyright's answer about each file depends on: itself, what its imports lead to, the settings."""
    known = modules(root / "lessons", root / "tools")
    imports = imports_among(known)
    settings = [sys.version.encode(), *((root / name).read_bytes() for name in ("pyproject.toml", REQUIREMENTS))]
    own = {name: digest(path.relative_to(root).as_posix().encode(), path.read_bytes()) for name, path in known.items()}
    return {
        path.relative_to(root).as_posix(): digest(
            *settings, *(own[each] for each in sorted(reached(name, imports)))
        ).hex()
        for name, path in known.items()
    }


def digest(*parts: bytes) -> bytes:
    """One hash of several parts."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()


def reached(name: str, imports: dict[str, set[str]]) -> set[str]:
    """The module itself, and all to which its imports lead."""
    found: set[str] = set()
    new = {name}
    while new:
        found |= new
        new = set[str]().union(*(imports[each] for each in new)) - found
    return found


def types_to_check(present: dict[str, str]) -> list[str]:
    """The files about which pyright's answer may have changed since it found nothing wrong."""
    passed = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    return [name for name, fingerprint in present.items() if passed.get(name) != fingerprint]


def remember(present: dict[str, str]) -> None:
    """Pyright has found nothing wrong in these files."""
    PASSED.parent.mkdir(exist_ok=True)
    PASSED.write_text(json.dumps(present, indent=1))


def main() -> int:
    """Run every step, also if one fails. The exit code is 1 if any has."""
    begun = time.perf_counter()
    present = fingerprints()
    changed = types_to_check(present)
    types = [*TYPES, *(changed if len(changed) < len(present) else [])]  # without names, all that pyproject.toml says
    beside = [(step, start(step, subprocess.PIPE)) for step in [*([types] if changed else []), *BESIDE]]
    failed = [TESTS[0]] if start(TESTS).wait() else []
    for step, process in beside:
        printed, _ = process.communicate()
        print(f"{' '.join(step[:2])}: {printed.strip() or 'nothing found'}", flush=True)
        if process.returncode:
            failed.append(" ".join(step[:2]))
        elif step is types:
            remember(present)
    print(
        f"pyright: asked about {len(changed)} of {len(present)} files; the others, and what they import, are as before"
    )
    print(f"{time.perf_counter() - begun:.0f} s", flush=True)
    for step in failed:
        print(f"Failed: {step}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
