"""In another language, a check says nothing in English; what is stored stays English."""

import ast
import html
import re
from pathlib import Path

import pytest
import torch

from lessons import progress, wording
from lessons.checking import limit
from lessons.checking.engine import Case, Exercise, Mistake, rows_sum_to_one
from lessons.checking.stages import recorded, unrecorded
from lessons.exercises import show_progress
from tests.foreign import english, speak_foreign

ROOT = Path(__file__).resolve().parents[2]
NAMES = re.compile(
    r"\b(my_pair|x|factor|def|double|meta|None|True|False|nan|torch|nn|int|bool|float|int64|float16|float32|float64|tensor"
    r"|RuntimeError|TypeError|too bad|raise|while|pass)\b",
    re.ASCII,
)


@pytest.fixture
def foreign(monkeypatch):
    speak_foreign(monkeypatch)


def english_of(text):
    """The words of a report that are not names in code."""
    return english(NAMES.sub("", html.unescape(re.sub(r"<[^>]*>", " ", text))))


def pair(x, factor):
    return x.softmax(dim=-1), factor * x


def _cases(generator):
    x = torch.randn(3, 4, generator=generator)
    return [
        Case({"x": x, "factor": 2.0}),
        Case({"x": torch.zeros(2, 2), "factor": 0.5}, about="nothing but zeros"),
        Case({"x": x[:2], "factor": 2.0}, about="gradients", gradients=True),
    ]


def _watched(record, candidate, x, factor):
    double = recorded("double", lambda y: 2 * y, record)
    return candidate(x, double)


toy = Exercise(
    lesson="03",
    name="my_pair",
    reference=pair,
    cases=_cases,
    outputs=("the weights", "the product"),
    laws=[rows_sum_to_one()],
    mistakes=[Mistake(lambda x, factor: (x, x), "Both are unchanged. They must not be.", seen_in="nothing but zeros")],
    hints=["Think first.", "Then type."],
    solution="def my_pair(x, factor):\n    return x.softmax(dim=-1), factor * x",
    in_package="lessons.decoding.distribution",
)
in_steps = Exercise(
    name="my_pair",
    reference=lambda x, double: double(double(x.exp()).sin()).tanh(),
    call=unrecorded(_watched),
    stages=_watched,
    cases=lambda generator: [Case({"x": torch.randn(3, 4, generator=generator), "factor": 2.0})],
    mistakes=[],
    hints=[],
)
number = Exercise(name="my_pair", reference=lambda: torch.tensor(3), cases=lambda g: [Case({})], mistakes=[], hints=[])


def _raises(x, factor):
    raise RuntimeError("too bad")


def _returns_a_sparse_tensor(x, factor):
    return x.softmax(dim=-1).to_sparse(), factor * x


def _changes_its_argument(x, factor):
    result = pair(x, factor)
    x += 1
    return result


def _changes_a_setting(x, factor):
    torch.set_default_dtype(torch.float64)
    return pair(x.float(), factor)


def _never_ends(x, factor):
    while True:
        pass


def _not_yet_written(x, factor):
    raise NotImplementedError


ANSWERS = {
    "right": pair,
    "right, by its own steps": lambda x, factor: (torch.softmax(x, 1), x * factor),
    "not attempted": None,
    "not yet written": _not_yet_written,
    "no function": 3,
    "known mistake": toy.mistakes[0].wrong,
    "one result": lambda x, factor: x,
    "nothing returned": lambda x, factor: [].append(x),
    "a missing result": lambda x, factor: (None, factor * x),
    "no tensor": lambda x, factor: (3, factor * x),
    "another shape": lambda x, factor: (x.softmax(-1)[:1], factor * x),
    "another kind": lambda x, factor: (x.long(), factor * x),
    "coarse numbers": lambda x, factor: (x.softmax(-1).half(), factor * x),
    "NaN": lambda x, factor: (x.softmax(-1) * torch.nan, factor * x),
    "a broken law": lambda x, factor: (3 * x.softmax(-1), factor * x),
    "another place": lambda x, factor: (x.softmax(-1), (factor * x).T.reshape(x.shape)),
    "other numbers": lambda x, factor: (x.softmax(-1), torch.sin(factor * x)),
    "an argument without effect": lambda x, factor: (x.softmax(-1), 2 * x),
    "no gradients": lambda x, factor: (x.softmax(-1).detach(), (factor * x).detach()),
    "other gradients": lambda x, factor: (x.softmax(-1), factor * x + (x - x.detach())),
    "an error": _raises,
    "an error of the check": _returns_a_sparse_tensor,
    "another device": lambda x, factor: (x.softmax(dim=-1).to("meta"), factor * x),
    "a changed argument": _changes_its_argument,
    "a changed setting": _changes_a_setting,
    "an endless loop": _never_ends,
}
STEPS = {
    "right": lambda x, double: double(double(x.exp()).sin()).tanh(),
    "the first is wrong": lambda x, double: double(double(x.cos()).sin()).tanh(),
    "the second is wrong": lambda x, double: double(double(x.exp()).atan()).tanh(),
    "the second is missing": lambda x, double: double(x.exp()).tanh(),
    "one too many": lambda x, double: double(double(double(x.exp()).sin())).tanh(),
    "the end is wrong": lambda x, double: double(double(x.exp()).sin()).sigmoid(),
}


@pytest.mark.parametrize(
    "exercise, answer",
    [
        *((toy, answer) for answer in ANSWERS.values()),
        *((in_steps, answer) for answer in STEPS.values()),
        *((number, answer) for answer in (..., 3, 4)),
    ],
    ids=[*ANSWERS, *STEPS, "no answer", "the answer", "a wrong answer"],
)
def test_a_report_has_no_english_word(foreign, monkeypatch, exercise, answer):
    monkeypatch.setattr(limit, "SECONDS", 0.3)
    report = exercise.check(answer)
    assert report.verdict in ("Right", "Not yet", "Not attempted")
    assert english_of(repr(report)) == english_of(report._repr_html_()) == set()


def test_without_a_translation_a_report_is_english(monkeypatch):
    monkeypatch.setattr(wording, "_now", "zh_CN")
    monkeypatch.setattr(wording, "_catalog", lambda language, part: {})
    told = repr(toy.check(ANSWERS["known mistake"]))
    assert told.startswith("Not yet. Both are unchanged. They must not be.\nIt goes wrong here: nothing but zeros.\n")


def test_the_language_changes_at_run_time(foreign):
    assert "中" in repr(toy.check(None))
    wording.use("en")
    report = toy.check(None)
    assert repr(report).startswith("Not attempted. Write my_pair in the cell above")
    wording.use("zh_CN")
    assert "Not attempted" not in repr(report)  # the verdict is worded where it is shown


def test_hints_and_the_choice_of_an_answer_have_no_english_word(foreign, capsys):
    hints = toy.help()
    assert english_of(repr(hints)) == set()
    page = re.sub(r"<pre.*?</pre>", "", hints._repr_html_(), flags=re.S)
    assert english_of(page) == {"lessons", "decoding", "distribution"}
    assert toy.best(pair) is pair and toy.best(None) is pair
    assert english_of(capsys.readouterr().out) == set()


def test_what_is_stored_stays_english(foreign, monkeypatch, tmp_path):
    monkeypatch.setenv("LESSONS_PROGRESS", str(tmp_path / "progress.jsonl"))
    toy.check(ANSWERS["known mistake"])
    lines = (tmp_path / "progress.jsonl").read_text(encoding="utf-8").splitlines()
    assert progress.records(lines) == [progress.Record("03", "my_pair", "Not yet", toy.mistakes[0].name)]
    assert english_of(repr(show_progress())) == english_of(show_progress()._repr_html_()) == set()


def test_all_that_an_exercise_says_is_in_its_texts(monkeypatch):
    asked = set()

    class Asked(dict):
        def get(self, message, default=None):
            asked.add(message)
            return default

    monkeypatch.setattr(wording, "_catalog", lambda language, part: {} if part == wording.PACKAGE else Asked())
    toy.help()
    for answer in ANSWERS.values():
        if answer is not _never_ends:
            toy.check(answer)
    assert asked == set(toy.texts())


MESSAGES = ("worded", "marked", "counted")


def sentences(path):
    """Texts of three words or more that are neither messages, docstrings nor patterns."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    fine = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (*MESSAGES, "re.compile"):
            fine |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            fine.add(id(node.value))
    for node in ast.walk(tree):
        if id(node) in fine:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            fine |= {id(part) for part in ast.walk(node)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if re.search(r"[A-Za-z]{2,},? [A-Za-z]+,? [A-Za-z]{2,}", re.sub(r"<[^>]*>", "", text)):
            yield f"{path.name}:{node.lineno}: {text}"


def test_every_sentence_of_the_checks_is_a_message():
    files = {*(ROOT / "lessons" / "checking").glob("*.py")} - {ROOT / "lessons" / "checking" / "edits.py"}
    assert [sentence for path in sorted(files) for sentence in sentences(path)] == []


def test_a_sentence_that_is_put_together_in_an_exercise_is_a_message():
    for path in sorted((ROOT / "lessons" / "exercises").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        told += [node.exc.args[0] for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc.args]
        joined = [ast.unparse(value) for value in told if isinstance(value, ast.JoinedStr)]
        assert [text for text in joined if re.search(r"\w:? \w", text)] == [], path


def test_every_message_is_a_constant():
    """A message that is put together can't be looked up."""
    for path in sorted((ROOT / "lessons").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MESSAGES:
                assert not isinstance(node.args[0], ast.JoinedStr | ast.BinOp), f"{path}: {ast.unparse(node)}"


def test_about_one_of_several_results_the_same_word_begins_each_sentence():
    """Yours is … becomes Your weights is …, in a translation as in English."""
    from tools.translation.catalogs import catalog

    for language in wording.available()[1:]:
        messages = [message for message in catalog(language, wording.PACKAGE) if message.id and message.string]
        texts = {message.id: message.string for message in messages}
        for message, text in texts.items():
            if str(message).startswith("Yours is "):
                assert text.startswith(texts["Yours is"]), (message, text)
