"""tools/setup.py, run on small projects of its own: no network, no torch."""

import ast
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "setup.py"
UNREACHABLE = "--index-url http://127.0.0.1:9/simple\nno-such-package\n"
DEBIAN = """The virtual environment was not created successfully because ensurepip is not
available.  On Debian/Ubuntu systems, you need to install the python3-venv
package using the following command.

    apt install python3.11-venv

You may need to use sudo with that command.  After installing the python3-venv
package, recreate your virtual environment.

Failing command: /home/ada/course/.venv/bin/python3
"""

uv = pytest.importorskip("uv", reason="uv, which the set-up of this edition brings along, is not installed")
UV = Path(uv.find_uv_bin())


class Project:
    """A folder with tools/setup.py, a course of two empty modules, and files of requirements that ask for nothing."""

    def __init__(self, root):
        self.root = root
        self.venv = root / ".venv"
        self.python = self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        self.requirements = root / "requirements.txt"
        self.development = root / "requirements-dev.txt"
        self.without_dependencies = root / "requirements-no-deps.txt"

    def setup(self, *arguments, with_uv=True, **variables):
        """Run the script's main() as if nobody had configured pip or uv on this machine, but for these variables."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
        folders = [folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("uv", path=folder)]
        environment["PATH"] = os.pathsep.join([str(UV.parent)] * with_uv + folders)
        environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0", "UV_HTTP_RETRIES": "0", **variables}
        module = self.load()
        if not variables:
            module.pip_options = dict  # that pip has no configuration takes it half a second to say
        out, err = io.StringIO(), io.StringIO()
        with patch.dict(os.environ, environment, clear=True), redirect_stdout(out), redirect_stderr(err):
            code = module.main(list(arguments))
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def load(self):
        """The script as a module, for tests that replace a part of it."""
        spec = importlib.util.spec_from_file_location("course_setup", self.root / "tools" / "setup.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def imports(self, name):
        """Whether a module is found, by its own Python and from anywhere."""
        command = [self.python, "-I", "-c", f"import {name}"]
        return subprocess.run(command, capture_output=True, cwd="/").returncode == 0


def new_project(root):
    (root / "tools").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "tools")
    (root / "tools" / "lab.py").touch()
    (root / "lessons").mkdir()
    for name in ["__init__", "plots", "widgets"]:
        (root / "lessons" / f"{name}.py").touch()
    project = Project(root)
    for file in [project.requirements, project.development, project.without_dependencies]:
        file.touch()
    return project


def make_wheel(folder, name, version="1.0", needs="", code=""):
    """Put a wheel that holds one module into the folder."""
    needs = f"Requires-Dist: {needs}\n" if needs else ""
    info = f"{name}-{version}.dist-info"
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}.py", code)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def add_wheel(project, name, needs="", file=None):
    """Require a wheel: in requirements.txt, or in `file`. The path is found only by what runs in the project."""
    (file or project.requirements).write_text(f"./{make_wheel(project.root, name, needs=needs).name}\n")


def assert_one_sentence(result, *words):
    assert result.returncode == 1
    assert result.stderr.startswith("Setup stopped: ")
    assert len(result.stderr.splitlines()) == 1
    for word in words:
        assert word in result.stderr


@pytest.fixture
def project(tmp_path):
    """A project that nobody has set up."""
    return new_project(tmp_path / "course")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project whose setup has run, once for all tests."""
    project = new_project(tmp_path_factory.mktemp("finished") / "course")
    environment = {**os.environ, "PATH": os.pathsep.join([str(UV.parent), os.environ["PATH"]])}
    command = [sys.executable, project.root / "tools" / "setup.py"]
    result = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment)
    assert result.returncode == 0, result.stderr
    return project


@pytest.fixture
def ready(finished, tmp_path):
    """A copy of the finished project."""
    shutil.copytree(finished.root, tmp_path / "course", symlinks=True)
    return Project(tmp_path / "course")


def test_old_pythons_can_read_the_script():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (3, 15, 0)])
def test_wrong_version_gets_a_sentence(project, monkeypatch, capsys, version):
    module = project.load()
    monkeypatch.setattr(module.sys, "version_info", version)
    assert module.main() == 1
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    for words in [".".join(map(str, version)), "Python 3.11 to 3.14", "make lab PYTHON=python3.12"]:
        assert words in printed.err
    assert not project.venv.exists()


@pytest.mark.thorough("makes and fills a .venv")
def test_second_run_does_nothing(ready):
    add_wheel(ready, "alpha")
    assert ready.setup().returncode == 0
    before = {path: path.stat().st_mtime_ns for path in ready.venv.rglob("*")}
    result = ready.setup()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert {path: path.stat().st_mtime_ns for path in ready.venv.rglob("*")} == before


def test_changed_requirements_are_installed(ready):
    assert not ready.imports("alpha")
    add_wheel(ready, "alpha")
    assert ready.setup().returncode == 0
    assert ready.imports("alpha")


@pytest.mark.thorough("makes and fills a .venv")
def test_starting_everything_once_does_nothing_to_the_learners_copies(ready):
    (ready.root / "tools" / "lab.py").write_text("if __name__ == '__main__': open('copies', 'w')")
    ready.requirements.write_text("# changed")
    assert ready.setup().returncode == 0
    assert not (ready.root / "copies").exists()


@pytest.mark.thorough("makes and fills a .venv")
def test_development_comes_on_top(ready):
    add_wheel(ready, "alpha", file=ready.development)
    assert ready.setup().stdout == ""
    assert not ready.imports("alpha")
    assert ready.setup("--dev").returncode == 0
    assert ready.imports("alpha")
    assert ready.setup("--dev").stdout == ""
    assert ready.setup().stdout == ""


@pytest.mark.thorough("makes and fills a .venv")
def test_requirements_of_both_kinds_are_installed_again(ready):
    assert ready.setup("--dev").returncode == 0
    add_wheel(ready, "alpha")
    assert "Installing" in ready.setup().stdout
    assert "Installing" in ready.setup("--dev").stdout


@pytest.mark.thorough("makes and fills a .venv")
@pytest.mark.parametrize("kind", ["--dev", "--class"])
def test_where_no_bytecode_is_written_later_it_is_at_once(ready, kind):
    add_wheel(ready, "alpha", file=ready.root / f"requirements-{kind[2:]}.txt")
    assert ready.setup(kind, PYTHONDONTWRITEBYTECODE="1").returncode == 0
    assert list(ready.venv.rglob("alpha*.pyc"))


@pytest.mark.thorough("makes and fills a .venv")
def test_only_what_is_named_is_installed(ready):
    add_wheel(ready, "alpha", needs="no-such-package")
    result = ready.setup()
    assert (result.returncode, result.stderr) == (0, "")
    assert ready.imports("alpha")
    assert ready.setup().stdout == ""


def test_a_model_that_nobody_offers_does_not_stop_the_setup(ready):
    ready.without_dependencies.write_text("--no-index\nno-such-package\n")
    result = ready.setup()
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 1
    assert "requirements-no-deps.txt names; all but lesson 14 works" in result.stderr
    assert ready.setup().stderr == ""


@pytest.mark.thorough("makes and fills a .venv")
def test_a_model_that_cannot_be_reached_stops_the_setup(ready):
    ready.without_dependencies.write_text(UNREACHABLE)
    assert_one_sentence(ready.setup(), "the package index cannot be reached", "run the same command again")
    ready.without_dependencies.write_text("")
    assert "Installing" in ready.setup().stdout


@pytest.mark.thorough("makes and fills a .venv")
def test_any_name_of_a_folder_is_fine_and_the_course_can_be_moved(tmp_path):
    project = new_project(tmp_path / "a $name 'of' {mine} ü 课")
    result = project.setup()
    assert result.returncode == 0, result.stderr
    moved = Project(project.root.rename(tmp_path / "moved"))
    assert moved.setup().returncode == 0
    assert moved.imports("lessons.plots")


@pytest.mark.thorough("makes and fills a .venv")
def test_a_course_that_does_not_start_is_not_ready(ready):
    ready.requirements.write_text("# changed")
    (ready.root / "lessons" / "plots.py").write_text("import gone")
    assert_one_sentence(ready.setup(), "No module named 'gone'", "make clean", "setup.log")
    (ready.root / "lessons" / "plots.py").write_text("")
    assert ready.setup().returncode == 0


def remove_stamp(project):
    (project.venv / "ready").unlink()


def remove_python(project):
    shutil.rmtree(project.venv)
    project.venv.mkdir()


def break_python(project):
    project.python.unlink()
    project.python.write_text("not a program")


@pytest.mark.thorough("makes and fills a .venv")
@pytest.mark.parametrize(("damage", "anew"), [(remove_stamp, False), (remove_python, True), (break_python, True)])
def test_half_made_venv_is_repaired(ready, damage, anew):
    add_wheel(ready, "alpha")
    damage(ready)
    result = ready.setup()
    assert result.returncode == 0, result.stderr
    assert ("Making" in result.stdout) == anew
    assert ready.imports("alpha")
    assert ready.setup().stdout == ""


@pytest.mark.network
def test_without_uv(ready, tmp_path):
    """pip brings uv into .venv; where there is no uv for this machine, pip goes on alone."""
    add_wheel(ready, "alpha", needs="no-such-package")
    result = ready.setup(with_uv=False, PIP_NO_INDEX="1")
    assert result.returncode == 0, result.stderr
    assert "Making" in result.stdout  # the .venv that uv has made has no pip
    assert "no uv for this machine" in result.stdout
    assert ready.imports("alpha")

    version = ready.load().UV.partition("==")[2]
    make_wheel(tmp_path, "uv", version, code=f"import os, sys; os.execv({str(UV)!r}, ['uv', *sys.argv[1:]])")
    add_wheel(ready, "beta")
    result = ready.setup(with_uv=False, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert not re.search("Making|no uv for this machine", result.stdout)
    assert ready.imports("beta")


def test_uv_looks_where_pip_is_configured_to_look(project, monkeypatch):
    module = project.load()
    listing = (
        ":env:.find-links='/near /far'\nglobal.index-url='https://one.example'\ninstall.index-url='https://two.example'\n"
        "global.find-links='/elsewhere'\nglobal.extra-index-url='https://a.example https://b.example'\n"
    )
    monkeypatch.setattr(module, "output_of", lambda *command: listing)
    for name in ["UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_INDEX_STRATEGY"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_INDEX", "https://mine.example")
    environment = module.uv_environment(module.pip_options())
    assert environment["UV_DEFAULT_INDEX"] == "https://two.example"
    assert environment["UV_FIND_LINKS"] == "/near,/far"
    assert environment["UV_INDEX"] == "https://mine.example"
    assert environment["UV_INDEX_STRATEGY"] == "unsafe-best-match"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere torch has no build with CUDA")
class TestTorchOnLinux:
    @pytest.fixture
    def wheels(self, tmp_path, project):
        folder = tmp_path / "wheels"
        folder.mkdir()
        project.requirements.write_text("torch==9.9\n")
        make_wheel(folder, "torch", "9.9", needs="nvidia-everything")
        return folder

    def installed(self, project):
        return [path.name for path in project.venv.glob("lib/python*/site-packages/torch-*")]

    def test_the_cpu_build_is_installed(self, project, wheels):
        make_wheel(wheels, "torch", "9.9+cpu")
        result = project.setup(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels))
        assert result.returncode == 0, result.stderr
        assert self.installed(project) == ["torch-9.9+cpu.dist-info"]

    def test_the_build_with_cuda_is_never_taken_instead(self, project, wheels):
        result = project.setup(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels))
        assert_one_sentence(result, "no CPU build of torch was found", "PIP_FIND_LINKS")
        assert self.installed(project) == []

    def test_a_build_that_was_chosen_stays(self, project, wheels):
        make_wheel(wheels, "torch", "9.9+cpu")
        chosen = make_wheel(wheels, "torch", "9.9+cu130")
        assert project.setup(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels)).returncode == 0
        subprocess.run([UV, "pip", "install", "-q", "--no-deps", "--python", project.python, chosen], check=True)
        remove_stamp(project)
        assert project.setup(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels)).returncode == 0
        assert self.installed(project) == ["torch-9.9+cu130.dist-info"]

    def test_a_gpu_build_that_a_new_version_replaces_is_named(self, project, wheels):
        for version in ("9.9+cu130", "9.10+cpu"):
            make_wheel(wheels, "torch", version)
        variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
        project.requirements.write_text("")
        assert project.setup(**variables).returncode == 0
        chosen = wheels / "torch-9.9+cu130-py3-none-any.whl"
        subprocess.run([UV, "pip", "install", "-q", "--no-deps", "--python", project.python, chosen], check=True)
        project.requirements.write_text("torch==9.10\n")
        result = project.setup(**variables)
        assert result.returncode == 0
        assert self.installed(project) == ["torch-9.10+cpu.dist-info"]
        assert result.stderr.startswith("Setup continues: torch 9.9+cu130, for a GPU,")
        assert "run `make gpu` again" in result.stderr and len(result.stderr.splitlines()) == 1
        remove_stamp(project)
        assert project.setup(**variables).stderr == ""


def test_unreachable_index_gets_a_sentence(ready):
    ready.requirements.write_text(UNREACHABLE)
    result = ready.setup()
    assert_one_sentence(result, "the package index cannot be reached", "run the same command again", "setup.log")
    assert "127.0.0.1" in (ready.venv / "setup.log").read_text()


def test_a_terminal_without_a_letter_for_it_gets_the_sentence_too(ready):
    ready.requirements.write_text("./课-1.0-py3-none-any.whl\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    environment["PATH"] = os.pathsep.join([str(UV.parent), os.environ["PATH"]])
    command = [sys.executable, ready.root / "tools" / "setup.py"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 1
    assert "Setup stopped: " in result.stderr and "Traceback" not in result.stderr
    assert "课" in (ready.venv / "setup.log").read_text(encoding="utf-8")


@pytest.mark.thorough("makes and fills a .venv")
def test_failed_setup_is_not_taken_for_a_finished_one(ready):
    before = ready.requirements.read_text()
    ready.requirements.write_text(UNREACHABLE)
    assert ready.setup().returncode == 1
    assert ready.setup().returncode == 1
    ready.requirements.write_text(before)
    assert "Installing" in ready.setup().stdout


def test_missing_package_gets_a_sentence(ready):
    ready.requirements.write_text("--no-index\nno-such-package\n")
    assert_one_sentence(ready.setup(), "no build of one of the packages", "setup.log")


def test_venv_that_cannot_be_made_gets_a_sentence(project):
    project.venv.write_text("a file where the folder should be")
    assert_one_sentence(project.setup(), "make clean")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "disk is full"),
        (PermissionError(13, "Permission denied"), "cannot be written to"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_errors_of_the_system_get_a_sentence(project, monkeypatch, capsys, error, words):
    module = project.load()

    def fail():
        raise error

    monkeypatch.setattr(module, "make_venv", fail)
    assert module.main() == 1
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) == 1
    assert words in printed


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        (DEBIAN, f"sudo apt install python3.{sys.version_info[1]}-venv"),
        ("/usr/bin/python3: No module named venv", "comes without venv"),
        (
            "error: Request failed after 3 retries in 6.5s\n  cause: Failed to fetch: https://example.org/simple/torch/\n"
            "  cause: error sending request for url (https://example.org/simple/torch/)\n  cause: dns error\n",
            "the package index cannot be reached",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'\n"
            "ERROR: No matching distribution found for torch==2.13.0",
            "the package index cannot be reached",
        ),
        ("ERROR: No matching distribution found for torch==2.13.0", "no build of one of the packages"),
        (
            "error: No solution found when resolving\ndependencies\n  cause: Because torch==2.13.0 has no\n"
            "  wheels with a matching platform tag",
            "no build of one of the packages",
        ),
        (
            "error: Failed to install: torch\n  cause: failed to copy: No space left on device (os error 28)",
            "disk is full",
        ),
        ("error: failed to create directory: Read-only file system (os error 30)", "cannot be written to"),
        ("error: failed to remove file: Access is denied. (os error 5)", "close JupyterLab and all its kernels"),
        ("PermissionError: [WinError 5] Zugriff verweigert: 'torch.pyd'", "close JupyterLab and all its kernels"),
        (
            "OSError: [WinError 126] The specified module could not be found. Error loading fbgemm.dll",
            "Microsoft Visual C++ Redistributable",
        ),
        ("something\nnew", "new; if running the same command again does not help, `make clean`"),
    ],
)
def test_what_tools_print_gets_a_sentence(project, printed, words):
    assert words in project.load().explain(printed)


def test_a_silent_command_shows_that_it_is_at_work(project, monkeypatch, capfd):
    module = project.load()
    monkeypatch.setattr(module, "SECONDS_OF_SILENCE", 0.02)
    module.run(sys.executable, "-c", "import time; time.sleep(0.3); print('done'); print(' + alpha==1.0')")
    assert re.fullmatch(r"\.+\n  done\n\.*\n?", capfd.readouterr().out)


def test_setup_and_the_lock_use_the_same_uv():
    assert f"{Project(ROOT).load().UV}\n" in (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
