"""tools/lab.py starts JupyterLab with the course's settings and leaves the user's alone."""

import json
import os
import sys
from pathlib import Path

import pytest

from tools import lab
from tools.copies import Copies, write

SCHEMAS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home folder without any settings; what a test sets is forgotten after it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON", "MPL"))}
    monkeypatch.setattr(os, "environ", {**kept, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)})
    return tmp_path


def overrides():
    from jupyterlab_server.config import ConfigManager  # a second of importing, of which the other tests need nothing

    return ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")


def test_the_settings_reach_jupyterlab_and_stay_behind_the_users_own():
    before = dict(os.environ)
    assert overrides() == {}
    lab.set_environment()
    assert overrides()["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert os.environ == {**before, "JUPYTER_CONFIG_PATH": str(lab.ROOT / "tools" / "jupyter")}


def test_what_no_lesson_needs_is_not_started():
    from jupyter_core.paths import jupyter_config_path
    from jupyter_server.extension.config import ExtensionConfigManager
    from jupyterlab.labapp import LabApp

    lab.set_environment()
    extensions = ExtensionConfigManager(read_config_path=jupyter_config_path()).get_jpserver_extensions()
    assert extensions["jupyterlab"] and not extensions["jupyter_lsp"]  # it looks for language servers, by npm
    app = LabApp()
    app.load_config_file()
    assert app.extension_manager == "readonly"  # the other one opens a client for the package index


def test_a_path_that_is_set_stays(home):
    os.environ["JUPYTER_CONFIG_PATH"] = str(home)
    lab.set_environment()
    assert os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1:] == [str(home)]


def test_jupyterlab_knows_every_setting():
    lab.set_environment()
    for plugin, settings in overrides().items():
        package, _, name = plugin.partition(":")
        schema = json.loads((SCHEMAS / package / f"{name}.json").read_text(encoding="utf-8"))
        assert settings.keys() <= schema["properties"].keys()


def test_where_the_home_folder_cannot_be_written_to(home):
    os.environ["HOME"] = os.environ["USERPROFILE"] = str(home / "not there")
    os.environ["IPYTHONDIR"] = "mine"
    lab.set_environment()
    assert os.environ["IPYTHONDIR"] == "mine"
    for name in ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "MPLCONFIGDIR"]:
        assert os.access(Path(os.environ[name]).parent, os.W_OK)


@pytest.fixture
def opened(home, monkeypatch):
    """A course with one lesson; opened(…) is how JupyterLab was started, with these arguments."""
    monkeypatch.chdir(home)
    started = []
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", started.append)
    copies = Copies(home)
    write(Copies().edition("00_start_here.ipynb"), copies.notebooks / "00_start_here.ipynb")
    monkeypatch.setattr(lab, "copies_of", lambda: copies)

    def opened(*arguments):
        started.clear()
        lab.main(list(arguments))
        return started

    return opened


def test_the_first_lesson_opens_in_the_folder_of_the_course(home, opened):
    assert opened("--no-browser") == [["--LabApp.default_url=/lab/tree/work/00_start_here.ipynb", "--no-browser"]]
    assert Path.cwd() == lab.ROOT
    assert (home / "work" / "00_start_here.ipynb").is_file()


def test_a_damaged_file_of_the_course_does_not_stop_jupyterlab(home, opened, capsys):
    opened()
    (home / "notebooks" / "00_start_here.ipynb").write_text("<<<<<<< HEAD")
    assert opened()
    printed = capsys.readouterr()
    assert "`git checkout HEAD -- notebooks/00_start_here.ipynb`" in printed.out + printed.err


def test_the_answers_of_a_renamed_lesson_are_found_under_its_new_name(home, opened, capsys):
    opened()
    mine = (home / "work" / "00_start_here.ipynb").read_text(encoding="utf-8").replace("def ", "def my_")
    (home / "work" / "00_start_here.ipynb").write_text(mine, encoding="utf-8")
    (home / "notebooks" / "00_start_here.ipynb").rename(home / "notebooks" / "00_welcome.ipynb")
    assert opened()
    assert "00_start_here.ipynb is now 00_welcome.ipynb." in capsys.readouterr().out
    assert [path.name for path in (home / "work").glob("*.ipynb")] == ["00_welcome.ipynb"]
    assert (home / "work" / "00_welcome.ipynb").read_text(encoding="utf-8") == mine


def test_a_lesson_is_chosen_by_its_number():
    names = ["00_start_here.ipynb", "03_masked_attention.ipynb", "reference_card.ipynb"]
    assert lab.chosen(names, "03") == "03_masked_attention.ipynb"
    with pytest.raises(SystemExit, match="LESSON is '3'; expected one of 00, 03: make lab LESSON=03"):
        lab.chosen(names, "3")
