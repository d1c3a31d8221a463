"""What holds for every notebook, read from its file: normal form, outputs stored, names, anatomy, links."""

import ast
import builtins
import functools
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import nbformat
import pytest

import lessons
import lessons.widgets
from lessons.exercises import exercises_of
from lessons.source import NARROW
from tests.notebooks.cells import (
    BEST,
    CHECK,
    HELP,
    NOTEBOOKS,
    ROOT,
    code_cells,
    defines,
    imports,
    is_of_an_exercise,
    is_stub,
    learner_name,
    reads,
)

HEAVIEST = 4_000_000  # bytes of all notebooks, with their pictures
USES_ANSWERS = "uses-answers"  # the tag of a cell that builds on what the learner has written
every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)


def load_tool(name):
    specification = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def prose(name):
    return "\n\n".join(cell.source for cell in NOTEBOOKS[name].cells if cell.cell_type == "markdown")


def test_the_lessons_are_there():
    assert [name[:2] for name in NOTEBOOKS] == [f"{number:02}" for number in range(len(NOTEBOOKS))]


@every_notebook
def test_notebook_is_in_normal_form(name, tmp_path):
    path = ROOT / "notebooks" / f"{name}.ipynb"
    again = load_tool("notebooks").normalize(nbformat.read(path, as_version=4), name)
    nbformat.write(again, tmp_path / "again.ipynb")
    assert (tmp_path / "again.ipynb").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    nbformat.validate(again)


@every_notebook
def test_every_cell_was_run_in_order_without_an_error(name):
    cells = code_cells(name)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert not [output for cell in cells for output in cell.outputs if output.get("name") == "stderr"]


@every_notebook
def test_no_output_is_left_out_of_the_comparison(name):
    for cell in code_cells(name):
        assert not {"nbval-ignore-output", "nbval-skip", "raises-exception"} & set(cell.metadata.get("tags", []))
        assert "NBVAL" not in cell.source


@every_notebook
def test_no_line_of_an_output_is_wider_than_the_page(name):
    """JupyterLab breaks what is wider in the middle of a word. A figure or a table is no text there."""
    texts = [
        (cell.id, output.get("text") or output.data.get("text/plain", ""))
        for cell in code_cells(name)
        for output in cell.outputs
        if not {"image/png", "text/html"} & output.get("data", {}).keys()
    ]
    assert [(place, line) for place, text in texts for line in text.splitlines() if len(line) > NARROW] == []


@every_notebook
def test_pictures_have_alternative_text_and_are_there(name):
    for cell in NOTEBOOKS[name].cells:
        drawings = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", cell.source) if cell.cell_type == "markdown" else []
        assert {target for _, target in drawings} == {f"attachment:{file}" for file in cell.get("attachments", {})}
        assert all(len(alt) > 20 for alt, _ in drawings), cell.id
    for cell in code_cells(name):
        for output in cell.outputs:
            data = output.get("data", {})
            assert "data:image/png" not in data.get("text/html", ""), "many viewers let no HTML through"
            if "image/png" in data:
                alt = output.metadata.get("image/png", {}).get("alt", "")
                assert len(alt) > 20 and data["text/plain"].startswith(f"[Figure: {alt}]"), "draw with show(..., alt=…)"
            for tag in re.findall(r"<img [^>]*>", data.get("text/html", "")):
                assert re.search(r'alt="[^"]{20,}"', tag)


def test_all_notebooks_together_are_light():
    assert sum(path.stat().st_size for path in (ROOT / "notebooks").glob("*.ipynb")) <= HEAVIEST


@every_notebook
def test_links_between_lessons_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+\.ipynb)\)", prose(name)):
        assert (ROOT / "notebooks" / target).is_file(), target


@every_notebook
def test_what_answers_a_prediction_is_folded_and_stands_below_it(name):
    asked = False
    for cell in NOTEBOOKS[name].cells:
        if "answers-prediction" in cell.metadata.get("tags", []):
            assert asked, (cell.id, "comes before the words: Predict")
            assert cell.metadata.jupyter.outputs_hidden
        asked = asked or re.search(r"\bpredict", cell.source, re.I)


@functools.cache
def public_names():
    """Every function and class that the package shows to the outside; of the widgets, only the widgets themselves."""
    names = set(lessons.widgets.__all__)
    for module in pkgutil.walk_packages(lessons.__path__, "lessons."):
        tree = ast.parse(Path(importlib.util.find_spec(module.name).origin).read_text(encoding="utf-8"))
        if not module.name.startswith(("lessons.exercises", "lessons.widgets")):
            names |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return {name for name in names if not name.startswith("_")}


def names_in(name):
    """The names that a notebook defines, and the modules that it imports all of."""
    trees = [ast.parse(cell.source) for cell in code_cells(name)]
    defined = {n.name for tree in trees for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    stars = {
        n.module
        for tree in trees
        for n in ast.walk(tree)
        if isinstance(n, ast.ImportFrom) and any(alias.name == "*" for alias in n.names)
    }
    return defined, stars


@every_notebook
def test_no_name_of_the_package_is_taken_again(name):
    defined, stars = names_in(name)
    assert not stars
    code = "\n".join(cell.source for cell in code_cells(name))
    for again in defined & public_names():
        assert re.search(rf"check_same\([^)]*\b{again}\(", code), f"{again} is defined again, and not shown to be equal"


@every_notebook
def test_every_exercise_has_its_cells(name):
    cells = code_cells(name)
    stubs = [i for i, cell in enumerate(cells) if is_stub(cell)]
    assert stubs
    for i in stubs:
        check, hints = CHECK.fullmatch(cells[i + 1].source), HELP.fullmatch(cells[i + 2].source)
        assert check[2] == learner_name(cells[i])
        assert check[1] == hints[1]


@every_notebook
def test_only_cells_that_say_so_use_what_the_learner_writes(name):
    cells = code_cells(name)
    written = {learner_name(cell) for cell in cells if is_stub(cell)}
    for cell in cells:
        if not is_of_an_exercise(cell):
            used = written & (reads(cell.source) | defines(cell.source))
            assert bool(used) == (USES_ANSWERS in cell.metadata.get("tags", [])), (cell.id, used)


@every_notebook
def test_what_the_learner_writes_is_used_only_where_it_is_right(name):
    """Through `best`; FunctionLab alone is there to show a wrong function, too."""
    cells = code_cells(name)
    written = {learner_name(cell) for cell in cells if is_stub(cell)}
    for cell in cells:
        for label, answer in BEST.findall(cell.source):
            assert exercises_of(name)[label].name == answer
        if not is_of_an_exercise(cell) and "FunctionLab(" not in cell.source:
            assert not written & reads(BEST.sub("...", cell.source)), cell.id


@every_notebook
def test_what_is_imported_keeps_its_name(name):
    """An answer may use it, wherever it stands, and builtins, too."""
    cells = code_cells(name)
    imported = {name for cell in cells for name in imports(cell.source)} | set(dir(builtins))
    for cell in cells:
        again = imported & (defines(cell.source) - imports(cell.source))
        assert not again, (cell.id, again)


@every_notebook
def test_every_exercise_of_the_module_is_in_the_lesson(name):
    code = "\n".join(cell.source for cell in code_cells(name))
    for label, exercise in exercises_of(name).items():
        assert f"exercises.{label}.check({exercise.name})" in code
        assert exercise.lesson == name[:2]


@every_notebook
def test_anatomy(name):
    text = prose(name)
    headings = ["# ", "## Check yourself", "## What to remember"]
    if name[:2] != "00":
        headings += ["### Your turn", "## The finished code", "## See it", "## Bug hunt"]
    places = [re.search(rf"^{re.escape(heading)}", text, re.M) for heading in headings]
    assert all(places), headings
    for row in ("| to study |", "| to run |", "| difficulty |", "| before it |"):
        assert row in text
    remember = text.split("## What to remember")[1]
    assert [line[:2] for line in remember.splitlines() if re.match(r"\d\.", line)] == ["1.", "2.", "3.", "4.", "5."]


@every_notebook
def test_a_notebook_without_the_package_says_what_to_do(name):
    """The line above the import that fails is shown with the error."""
    source = next(cell.source for cell in code_cells(name) if "from lessons" in cell.source)
    assert "%pip install git+<address of the course>" in source
    if "except ModuleNotFoundError" not in source:
        first = next(i for i, line in enumerate(source.splitlines()) if line.startswith("from lessons"))
        assert source.splitlines()[first - 1].startswith("# No module named 'lessons'?")


@every_notebook
def test_code_in_the_text_fits_the_page(name):
    """The linter holds the cells; the cards have a test of their own."""
    cells = (cell for cell in NOTEBOOKS[name].cells if cell.cell_type == "markdown" and cell.id != "in-a-hurry")
    blocks = [block for cell in cells for block in re.findall(r"^```.*?\n(.*?)^```", cell.source, re.M | re.S)]
    assert [line for block in blocks for line in block.splitlines() if len(line) > NARROW] == []


def test_no_source_is_shown_twice():
    """Neither in two lessons nor with the class that it belongs to."""
    calls = [node for name in NOTEBOOKS for cell in code_cells(name) for node in ast.walk(ast.parse(cell.source))]
    calls = [node for node in calls if isinstance(node, ast.Call) and ast.unparse(node.func) == "show_source"]
    shown = [ast.unparse(argument) for call in calls for argument in call.args]
    assert [name for name in shown if shown.count(name) > 1 or name.rpartition(".")[0] in shown] == []


@every_notebook
def test_every_choice_of_the_quiz_unfolds(name):
    quiz = prose(name).split("## Check yourself")[1].split("## What to remember")[0]
    assert quiz.count("#### ") >= 2
    for question in quiz.split("\n\n#### ")[1:]:
        choices = re.findall(r"<details><summary>(.+?)</summary>(.+?)</details>", question)
        assert len(choices) >= 2, question
        assert sum(explanation.startswith("Yes") for _, explanation in choices) == 1, question


@every_notebook
def test_the_tables_of_contents_say_what_the_lesson_says(name):
    """README and the map in lesson 00: the same question, the same minutes."""
    title = NOTEBOOKS[name].cells[0].source
    question = re.search(r"\*\*(.+?)\*\*", title).group(1)
    minutes = re.search(r"\| to study \| about (\d+) minutes \|", title).group(1)
    row = rf"{name}.ipynb) | {question} | {minutes} min |"
    assert row in (ROOT / "README.md").read_text(encoding="utf-8")
    if not name.startswith("00"):
        assert row in next(cell.source for cell in NOTEBOOKS["00_start_here"].cells if cell.id == "map")


def test_the_plans_for_teachers_add_the_minutes_up():
    readme, teaching = (ROOT.joinpath(name).read_text(encoding="utf-8") for name in ("README.md", "class/TEACHING.md"))
    minutes = [int(found) for found in re.findall(r"^\| \[\d\d\].* \| (\d+) min \|", readme, flags=re.MULTILINE)]
    for plan, sums in re.findall(r"^\| \d+ \| (00 to .*?) \| (.*?) \|", teaching, flags=re.MULTILINE):
        last = [int(number) for number in re.findall(r"00 to (\d\d)", plan)]
        assert [sum(minutes[: number + 1]) for number in last] == [int(said) for said in re.findall(r"\d+", sums)]
    hours, rest = divmod(sum(minutes), 60)
    assert f"All nineteen together are {hours} hours and {rest} minutes." in teaching
    assert len(minutes) == len(NOTEBOOKS) == 19


def drawn(words, png, source="draw()"):
    data = {"text/plain": words, "image/png": png}
    cell = nbformat.v4.new_code_cell(source, id="figure", outputs=[nbformat.v4.new_output("display_data", data)])
    return nbformat.v4.new_notebook(cells=[cell])


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        (drawn("a line", "old"), drawn("a line", "new"), "old"),
        (drawn("a line", "old"), drawn("two lines", "new"), "new"),
        (drawn("a line", "old", "draw(1)"), drawn("a line", "new", "draw(2)"), "new"),
        (drawn("a line\nmeasured here", "old"), drawn("a line\nmeasured here", "new"), "new"),
        (nbformat.v4.new_notebook(), drawn("a line", "new"), "new"),
        (nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("draw()", id="figure")]), drawn("x", "new"), "new"),
    ],
)
def test_a_picture_is_replaced_when_what_it_shows_has_changed(before, now, kept):
    load_tool("notebooks").keep_pictures(now, before)
    assert now.cells[0].outputs[0].data["image/png"] == kept
