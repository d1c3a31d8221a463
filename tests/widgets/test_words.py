"""What widgets say comes from the catalog: in Python by `lessons.wording`, in JavaScript by shared/words.js."""

import ast
import re
from functools import cache
from importlib import import_module

import pytest

from lessons import wording
from lessons.widgets import FunctionLab, MaskStudio
from lessons.widgets.front_end import FOLDER, front_end, wording_of
from lessons.widgets.function_lab import trials
from tools.translation.catalogs import CALL, of_package

SCRIPTS = sorted(FOLDER.glob("*/*.js"))
MODULES = sorted(FOLDER.rglob("*.py"))
FUNCTIONS = ("worded", "marked", "counted")
WORDS = re.compile(r"[A-Za-z’']{2,},? [A-Za-z’']{2,}")
READ_ALOUD = re.compile(r'\b(?:aria-label|aria-valuetext|title|alt|placeholder)="([^"]*)"')
MARKUP_OR_CODE = re.compile(r"[<={}]|\b(import|export|print)\b|^query, key")
IN_CONSTANTS = {  # names by which code finds a message
    name
    for path in FOLDER.glob("*/constants.py")
    for table in vars(import_module(f"lessons.widgets.{path.parent.name}.constants")).values()
    if isinstance(table, dict)
    for name in table
}
NOT_SHOWN = {
    # class names and selectors
    "hg-panel ax-large",
    "hg-panel mz-strip",
    "block mm-is-·",
    "button, input, summary",
    "input, select",
    ".hs-steps ol",
    # errors, which are English: where they are put together, and what a checking function adds to them
    "an id of chosen",
    "x has shape ",
    "the message has buffers; expected none",
    " sentences that has read ",
    "tensors of weights",
    "a tensor of weights",
    "a matrix of numbers",
    "expected values that fit together (",
    "(lowest, highest), with a step if need be, a list of choices, True or False, a text, or one of ipywidgets",
    # keys of a dictionary that code reads
    "out of place",
    "in the wrong head",
    "at the wrong token",
    # names of libraries, and code
    "nn.MultiheadAttention, nn.Transformer",
    "Hugging Face",
    "ancestors[query, key]",
    "](x, memory, tgt_allowed, src_allowed)",
    "# output, weights = attention(query, key, value, attn_mask=attn_mask)",
    # what a model reads
    "the cat is asleep now",
    "The teacher will not drink tea at school tomorrow.",
}
SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?<=[(,=:]) ?/(?![*/])(?:\[[^\]\n]*\]|\\.|[^/\\\n])+/", re.S
)  # comments, patterns
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"' + r"|'([^'\n]*)'")


def said_in(script):
    """The strings of JavaScript, and the texts of its templates, with · where something is filled in."""
    found, open_templates, i = [], [], 0
    while i < len(script):
        inside = open_templates and open_templates[-1][1] == 0
        if inside and script.startswith("${", i):
            open_templates[-1][0] += "·"
            open_templates[-1][1] = 1
            i += 2
        elif inside and script[i] == "`":
            found.append(open_templates.pop()[0])
            i += 1
        elif inside:
            open_templates[-1][0] += script[i]
            i += 1
        elif skipped := SKIPPED.match(script, i):
            i = skipped.end()
        elif string := STRING.match(script, i):
            found.append(string[1] or string[2] or "")
            i = string.end()
        else:
            if script[i] == "`":
                open_templates.append(["", 0])
            elif open_templates:
                open_templates[-1][1] += {"{": 1, "}": -1}.get(script[i], 0)
            i += 1
    assert not open_templates
    return found


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_script_shows_a_text_that_is_not_in_the_catalog(path):
    script = re.sub(r"^import .*$|throw new .*$", "", path.read_text(encoding="utf-8"), flags=re.M)
    for text in said_in(CALL.sub(r"\1(", script)):
        parts = [*READ_ALOUD.findall(text), *re.sub(r"<[^>]*(>|$)", "\n", text).split("\n")] if "<" in text else [text]
        if not re.match("from lessons|with intervene", text):  # the program that ModelStudio writes
            assert [part for part in parts if WORDS.search(part) and part not in NOT_SHOWN | IN_CONSTANTS] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_module_shows_a_text_that_is_not_in_the_catalog(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr):
            known.add(node.body[0].value)  # a docstring
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in (*FUNCTIONS, "refusal"):
            known |= {part for argument in node.args for part in ast.walk(argument)}
        elif isinstance(node, ast.Raise) or (
            isinstance(node, ast.Assign)
            and getattr(node.targets[0], "id", None) in ("wanted", "limits", "advice", "SOURCE", "TARGET", "TOKENS")
        ):
            known |= set(ast.walk(node))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in known]
    shown = [text for text in texts if isinstance(text, str) and WORDS.search(text) and not MARKUP_OR_CODE.search(text)]
    assert [text for text in shown if text not in NOT_SHOWN | IN_CONSTANTS] == []


@cache
def catalog():
    """All messages of the package; one for a single thing and for many is a tuple."""
    return [message for _, message in of_package()]


@pytest.fixture(scope="module")
def extracted():
    """All messages that the catalog has, those for one and for many apart."""
    return {one for message in catalog() for one in ([message] if isinstance(message, str) else message)}


@pytest.mark.parametrize("path", [*SCRIPTS, *MODULES], ids=lambda path: str(path.relative_to(FOLDER)))
def test_the_catalog_gets_each_message(path, extracted):
    """Babel finds calls in another way: none inside a Python f-string, and of JavaScript no sums of texts."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        said = {one for call in CALL.findall(text) for one in call[1:] if one}
        assert not re.search(rf'\b({"|".join(FUNCTIONS)})\("[^"\n]*" \+', text)
    else:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        said = {
            argument.value
            for call in calls
            if getattr(call.func, "id", None) in FUNCTIONS
            for argument in call.args[: 2 if call.func.id == "counted" else 1]
            if isinstance(argument, ast.Constant)
        }
    assert said <= extracted


def with_stub(monkeypatch):
    """A catalog that has each message of JavaScript and Python: "中", and the message."""
    stub = {message if isinstance(message, str) else message[0]: message for message in catalog()}
    said = {one: f"中{one if isinstance(message, str) else message[1]}" for one, message in stub.items()}
    monkeypatch.setattr(wording, "_catalog", lambda language, part: said if language == "zh_CN" else {})
    wording.use("zh_CN")
    return said


@pytest.fixture
def stub(monkeypatch):
    yield with_stub(monkeypatch)
    wording.use("en")


VIEWS = [path.parent.name for path in SCRIPTS if path.name == "view.js"]


@pytest.mark.parametrize("name", VIEWS)
def test_a_front_end_gets_all_its_messages(name, stub):
    script = front_end(name)
    wanted = {call[1] for call in CALL.findall(script)}
    told = wording_of(script)
    assert told["language"] == "zh-CN"
    assert wanted <= told["messages"].keys()
    assert told["messages"].items() <= stub.items()


def test_a_front_end_gets_nothing_in_english():
    assert wording_of(front_end("mask_studio")) == {"language": "en", "messages": {}}


def test_a_widget_speaks_the_language_in_which_it_is_shown(monkeypatch):
    studio = MaskStudio()
    assert studio.wording["messages"] == {}
    with monkeypatch.context() as patched:
        with_stub(patched)
        assert studio.wording["messages"] == {}
        studio._repr_mimebundle_()
        assert studio.wording["messages"]["the mask"] == "中the mask"
    wording.use("en")
    studio._repr_mimebundle_()
    assert studio.wording == {"language": "en", "messages": {}}


def test_the_browser_cannot_set_what_a_widget_says():
    studio = MaskStudio()
    said = []
    studio.send = lambda message, buffers=None: said.append(message)
    studio.set_state({"wording": {"language": "zh-CN", "messages": {"the mask": "掩码"}}})
    assert "wording is" in said[0]["problem"]
    assert studio.wording == {"language": "en", "messages": {}}


def test_a_learners_function_keeps_its_name(stub):
    """Even where a message is called the same."""
    assert "output" in stub
    assert trials.plug_in("output", lambda scores: scores).title == "output"
    example = FunctionLab().chosen
    assert trials.plug_in(example, lambda scores: scores).title == f"中{example}"
