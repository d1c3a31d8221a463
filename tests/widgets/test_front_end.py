"""The JavaScript of a widget in one piece, and the constants that both sides know: written once, in Python."""

import json
import re
from importlib import import_module

import pytest

from lessons.widgets.front_end import FOLDER, front_end, source

SCRIPTS = sorted(FOLDER.glob("*/*.js"))
CONSTANTS = {path.parent.name: path.with_suffix(".js") for path in sorted(FOLDER.glob("*/constants.py"))}


def constants(folder):
    return {name: x for name, x in vars(import_module(f"lessons.widgets.{folder}.constants")).items() if name.isupper()}


@pytest.mark.parametrize("folder", CONSTANTS)
def test_javascript_has_the_constants_of_python(folder):
    written = dict(re.findall(r"export const (\w+) = (.*);\n", source(CONSTANTS[folder])))
    assert {name: json.loads(x) for name, x in written.items()} == json.loads(json.dumps(constants(folder)))
    assert written


def texts(value):
    """All texts within a constant."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():  # the keys are there to be looked up
            yield from texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts(part)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_script_writes_a_constant_again(path):
    """One word may stand for many things: only sentences, and what has a sign in it, can be told apart."""
    script = path.read_text(encoding="utf-8")
    for folder in {path.parent.name, "shared"} & CONSTANTS.keys():
        for name, value in constants(folder).items():
            for text in texts(value):
                assert re.fullmatch(r"[\w^]*|.{1,3}", text) or f'"{text}"' not in script, (
                    f"{name} is written again: {text}"
                )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_is_imported_is_there_and_is_used(path):
    script = path.read_text(encoding="utf-8")
    body = re.sub(r"^import .*\n", "", script, flags=re.MULTILINE)
    for names, address in re.findall(r'^import \{ ([^}]*) \} from "(\.[^"]+)";$', script, flags=re.MULTILINE):
        exported = set(
            re.findall(
                r"^export (?:const|(?:async )?function|class) (\w+)", source((path.parent / address).resolve()), re.M
            )
        )
        assert set(names.split(", ")) <= exported, address
        for name in names.split(", "):
            assert re.search(rf"(?<![\w\"']){name}\b", body), f"{name} is not used"


@pytest.mark.parametrize("name", [path.parent.name for path in SCRIPTS if path.name == "view.js"])
def test_a_front_end_is_one_module_in_which_each_name_is_new(name):
    module = front_end(name)
    assert not re.search(r"^import ", module, flags=re.MULTILINE)
    defined = re.findall(r"^(?:export )?(?:const|let|(?:async )?function|class) (\w+)", module, flags=re.MULTILINE)
    assert len(defined) == len(set(defined)), sorted({x for x in defined if defined.count(x) > 1})
