"""Makes the environment of the course: `.venv`, with everything that the files of requirements name.

python tools/setup.py          what the lessons need
python tools/setup.py --dev    and what developing the course needs
python tools/setup.py --class  and what one machine for a whole class needs
python tools/setup.py --gpu    and torch's build for this machine's GPU

Every target of the Makefile runs this file first. When the environment is ready, it does nothing.
It uses the standard library only, and its syntax is valid in old Pythons: if you start it
with one gets a sentence about the version, not a SyntaxError.
"""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 14)
UV, OLDEST_UV = "uv==0.13.9", (0, 9)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOG = VENV / "setup.log"
REQUIREMENTS = "requirements.txt"
KINDS = {"": REQUIREMENTS, "--dev": "requirements-dev.txt", "--class": "requirements-class.txt"}
WITHOUT_DEPENDENCIES = "requirements-no-deps.txt"
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
SECONDS_OF_SILENCE = 5

# Where pip is configured to look for packages, and the variable that tells uv.
UV_VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}

AGAIN = "run the same command again: it continues from there"
NO_BUILD = (
    "the package index has no build of one of the packages for this machine; use a 64-bit Python "
    f"on a current system, then {AGAIN}."
)
NO_NETWORK = f"the package index cannot be reached; check the network connection (or the proxy), then {AGAIN}."
NO_CPU_TORCH = (
    "no CPU build of torch was found, and the build with CUDA, several GB, is not installed unasked; name a place that "
    f"has one (in PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS), then {AGAIN}."
)

# What went wrong, as uv, pip, venv or the operating system word it, and the sentence for the reader.
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
        r"|Connection broken|Connection aborted|Read timed out|Network is unreachable|Max retries exceeded"
        r"|Failed to fetch|error sending request|dns error|tcp connect error|operation timed out|Failed to download",
        NO_NETWORK,
    ),
    (
        r"Access is denied|(WinError|os error) 5\b",
        f"something in {ROOT} is in use or cannot be written to; close JupyterLab and all its kernels, then {AGAIN}. "
        "If it does not help, move the course to a folder of your own (without its .venv).",
    ),
    (
        r"Permission denied|Read-only file system|Errno (13|30)\b|os error (13|30)\b",
        f"{ROOT}, or something in it, cannot be written to; move the course to a folder of your own "
        "(without its .venv), then run the same command there.",
    ),
    (
        r"No matching distribution found|No solution found|has no wheels|was not found in the package",
        NO_BUILD,
    ),
    (
        r"Visual C\+\+ Redistributable|WinError (126|1114)\b",
        f"torch needs the Microsoft Visual C++ Redistributable; install it (from microsoft.com), then {AGAIN}.",
    ),
]


class SetupError(Exception):
    """A failure: the sentence that the reader gets, and where to read more."""

    def __init__(self, sentence, more=""):
        super().__init__(sentence + more)
        self.sentence = sentence


def main(arguments=()):
    """Make `.venv` ready and return the exit code: 0, or 1 after one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # not in Python 3.6
        if reconfigure:
            reconfigure(errors="replace")  # a character that the terminal does not know stops nothing
    try:
        if arguments == ["--gpu"]:
            return install_gpu()
        kind = arguments[0] if arguments else ""
        if is_ready(kind):
            return 0
        check_version(sys.version_info)
        make_ready(kind)
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


def make_ready(kind):
    """Everything, from nothing or from wherever the last setup was stopped."""
    ready = {other for other in KINDS if is_ready(other)}
    for other in KINDS:
        if stamp_of(other).exists():
            stamp_of(other).unlink()  # what is left when this is stopped half-way matches no file of requirements
    make_venv()
    print("Installing the packages of the course; the first time they are downloaded, about 400 MB ...", flush=True)
    installer = Installer(compile_all=kind != "" and NO_BYTECODE in os.environ)
    install_torch(installer)
    installer.install("-r", KINDS[kind])
    install_model(installer)
    install_course()
    for done in {"", kind} | ready:
        stamp_of(done).write_bytes(fingerprint(done))
    print("The environment is ready.", flush=True)


def install_gpu():
    """Exchange torch for its build for this machine's GPU. Setups leave it as it is, until torch's version changes."""
    print("Installing torch's build for the GPU of this machine ...", flush=True)
    installer = Installer()
    installer.gpu(f"torch=={torch_version()}")
    return 0


def stamp_of(kind):
    return VENV / ("ready" + kind[1:])


def is_ready(kind):
    """Whether the last setup ran to its end, for the present files, and its Python still starts."""
    return stamp_of(kind).is_file() and stamp_of(kind).read_bytes() == fingerprint(kind)


def fingerprint(kind):
    """A hash of all that the content of `.venv` depends on."""
    names = sorted({REQUIREMENTS, WITHOUT_DEPENDENCIES, KINDS[kind]})
    parts = [*((ROOT / name).read_bytes() for name in names), venv_version().encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest().encode()


def venv_version():
    """The version that the Python in `.venv` reports; empty when it does not start."""
    return output_of(VENV_PYTHON, "-c", "import sys; assert sys.prefix != sys.base_prefix; print(sys.version)")


def output_of(*command):
    """What a command prints; empty when it fails or cannot be started."""
    try:
        result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return result.stdout.decode(errors="replace") if result.returncode == 0 else ""


def make_venv():
    """Create `.venv`, or make it anew when it has no working Python or no way to install into it."""
    uv = uv_on_path()
    if venv_version() and (uv or output_of(VENV_PYTHON, "-m", "pip", "--version")):
        return
    print("Making the Python environment in .venv ...", flush=True)
    if uv:
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, VENV)
    else:
        run(sys.executable, "-m", "venv", "--clear", VENV)


def uv_on_path():
    """The uv that this machine has already; None if there is none, or one that is too old."""
    uv = shutil.which("uv")
    version = re.search(r"(\d+)\.(\d+)", output_of(uv, "--version")) if uv else None
    return uv if version and tuple(map(int, version.groups())) >= OLDEST_UV else None


class Installer:
    """uv, the machine's own or one that pip brings into `.venv`; where there is none for this machine, pip."""

    def __init__(self, compile_all=False):
        self.pip = [VENV_PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
        self.pip += ["--only-binary", ":all:"]
        configured = pip_options()
        self.environment = uv_environment(configured)
        self.uv = None
        uv = [uv_on_path()]
        if not uv[0]:
            uv = [VENV_PYTHON, "-m", "uv"]
            if not output_of(*uv, "--version"):
                try:
                    run(*self.pip, UV)
                except SetupError as error:
                    if error.sentence != NO_BUILD:
                        raise
                    print("There is no uv for this machine: pip continues, more slowly.", flush=True)
                    return
        self.uv = [*uv, "pip", "install", "--python", VENV_PYTHON, "--no-build"]
        self.uv += ["--compile-bytecode"] * compile_all
        self.uv += ["--no-index"] * (configured.get("no-index") in (["1"], ["true"], ["yes"], ["on"]))

    def install(self, *arguments):
        """Install exactly what is named: the files of requirements name everything that is needed."""
        if self.uv:
            run(*self.uv, "--no-deps", *arguments, environment=self.environment)
        else:
            run(*self.pip, "--no-deps", *arguments)

    def cpu(self, torch):
        """Install a CPU build: from where pip is configured to look, or from torch's own index, which uv knows."""
        ways = [[], ["--torch-backend", "cpu"]] if self.uv else [[]]
        for way in ways:
            try:
                return self.install(*way, torch)
            except SetupError as error:
                if error.sentence != NO_BUILD and not (way and error.sentence == NO_NETWORK):
                    raise
        raise SetupError(NO_CPU_TORCH)

    def gpu(self, torch):
        """Install the build for the GPU that uv finds, with all that it asks for."""
        if not self.uv:
            raise SetupError("there is no uv for this machine, which chooses the build; see pytorch.org for pip's way.")
        options = ["--no-config", "--torch-backend", "auto", "--reinstall-package", "torch"]
        run(*self.uv, *options, torch, environment=self.environment)


def pip_options():
    """How pip is configured on this machine: the words of each option."""
    listing = output_of(VENV_PYTHON, "-m", "pip", "config", "list")
    listing = listing or output_of(sys.executable, "-m", "pip", "config", "list")
    found = re.findall(r"^(global|install|:env:)\.([\w-]+)=('.*'|\".*\")$", listing, re.MULTILINE)
    found.sort(key=lambda entry: ("global", "install", ":env:").index(entry[0]))  # the later, the stronger
    return {name: ast.literal_eval(value).split() for _, name, value in found}


def uv_environment(configured):
    """The variables that let uv look for packages where pip is configured to look."""
    environment = dict(os.environ)
    for option, variable in UV_VARIABLES.items():
        if configured.get(option):
            environment.setdefault(variable, ("," if option == "find-links" else " ").join(configured[option]))
    if "extra-index-url" in configured:
        environment.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # all indexes are equal, as they are to pip
    return environment


def install_torch(installer):
    """On Linux the index's own torch is the build with CUDA: take the CPU build, unless there is one already."""
    there = output_of(VENV_PYTHON, "-c", "from importlib.metadata import version; print(version('torch'))").strip()
    version, _, build = there.partition("+")
    if torch_version() in ("", version):
        return
    if build not in ("", "cpu"):
        sentence = f"torch {there}, for a GPU, becomes {torch_version()}, for the CPU; run `make gpu` again afterwards."
        print(f"Setup continues: {sentence}", file=sys.stderr)
    if sys.platform.startswith("linux"):
        installer.cpu(f"torch=={torch_version()}+cpu")


def torch_version():
    """The version that the requirements name; empty if they name none."""
    pin = re.search(r"^torch==([\d.]+)", (ROOT / REQUIREMENTS).read_text(encoding="utf-8"), re.MULTILINE)
    return pin.group(1) if pin else ""


def install_model(installer):
    """Install the model of lesson 14. Everything else works without it: if it isn't available, setup continues."""
    try:
        installer.install("-r", WITHOUT_DEPENDENCIES)
    except SetupError as error:
        if error.sentence != NO_BUILD:
            raise
        sentence = f"the package index does not have what {WITHOUT_DEPENDENCIES} names; all but lesson 14 works."
        print(f"Setup continues: {sentence}", file=sys.stderr)


def install_course():
    """Make `lessons` importable from everywhere, and import it: what is broken shows now, and later starts are quick.

    The path is relative: any name of a folder is fine, and the course can be moved.
    """
    packages = output_of(VENV_PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(packages, "lessons.pth").write_text(os.path.relpath(str(ROOT), packages) + "\n", encoding="ascii")
    print("Starting everything once ...", flush=True)
    environment = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    jupyterlab = [str(VENV_PYTHON), "-c", "import tools.lab, jupyterlab.labapp"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(jupyterlab, cwd=str(ROOT), env=environment, stdout=quiet, stderr=quiet):
        run(VENV_PYTHON, "-c", "import lessons.plots, lessons.widgets", environment=environment)


def run(*command, environment=None):
    """Run a command in the project folder and show what it prints; when it fails, keep that and raise the sentence."""
    lines = []
    command = [str(part) for part in command]
    process = subprocess.Popen(
        command,
        cwd=str(ROOT),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    with process, Dots() as dots:
        for line in process.stdout or ():
            lines.append(line.decode(errors="replace"))
            if not re.match(r" [+~-] |Requirement already satisfied", lines[-1]):  # one line for each package
                dots.show(lines[-1])
    if process.returncode == 0:
        return
    text = "".join(lines)
    sentence, more = explain(text), f" (All that was printed is in {LOG.relative_to(ROOT)}.)"
    try:
        VENV.mkdir(exist_ok=True)
        LOG.write_text(text, encoding="utf-8")
    except OSError:  # a full disk, a folder that cannot be written to: the sentence says so already
        more = ""
    raise SetupError(sentence, more)


class Dots:
    """Shows lines, and a dot for every few seconds without one."""

    def __init__(self):
        self.done = threading.Event()
        self.dots = 0
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def watch(self):
        while not self.done.wait(SECONDS_OF_SILENCE):
            self.dots += 1
            print(".", end="", flush=True)

    def show(self, line):
        print("\n" * bool(self.dots) + "  " + line.strip("\n"), flush=True)
        self.dots = 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        print("\n" * bool(self.dots), end="", flush=True)


def explain(text):
    """The sentence for an error that uv, pip, venv or the operating system reported."""
    for pattern, sentence in FAILURES:
        if re.search(pattern, " ".join(text.split())):  # all of them break their lines somewhere
            return sentence
    last_line = (text.strip() or "no message").splitlines()[-1]
    return f"{last_line}; if running the same command again does not help, `make clean` and start afresh."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
