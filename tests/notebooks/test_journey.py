"""A learner goes through each notebook: fills in every exercise, once rightly and once wrongly, and runs it all."""

import copy
import re
from pathlib import Path

import pytest

from tests import answers
from tests.notebooks.test_notebooks import NOTEBOOKS, ROOT, load_tool

tool = load_tool("notebooks")


def filled(name, answer_of):
    """A copy of the notebook with each stub replaced by an answer, run in a real kernel."""
    notebook = copy.deepcopy(NOTEBOOKS[name])
    for cell in notebook.cells:
        if "exercise" in cell.metadata.get("tags", []):
            cell.source = answer_of(learner_name(cell.source))
    return tool.run(notebook, Path(ROOT / "notebooks"), allow_errors=True)


def learner_name(source):
    return re.search(r"^(?:def |class )?(\w+)", source.strip(), re.M).group(1)


def reports(notebook):
    """What each check said, by the name of what was checked."""
    said = {}
    for cell in notebook.cells:
        call = re.fullmatch(r"exercises\.\w+\.check\((\w+)\)", cell.source)
        if call:
            said[call.group(1)] = cell.outputs[0].data["text/plain"]
    return said


def errors(notebook):
    return [o.evalue for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "error"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_right_answers(name):
    notebook = filled(name, lambda learner: answers.RIGHT[name[3:], learner][0])
    assert errors(notebook) == []
    said = reports(notebook)
    said.pop("a_wrong_answer", None)
    assert said
    for learner, text in said.items():
        assert text.startswith("Right."), (learner, text)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_wrong_answers(name):
    notebook = filled(name, lambda learner: answers.WRONG[name[3:], learner][0][0])
    assert errors(notebook) == [], "a wrong answer stops the notebook"
    said = reports(notebook)
    said.pop("a_wrong_answer", None)
    for learner, text in said.items():
        phrase = answers.WRONG[name[3:], learner][0][1]
        assert text.startswith("Not yet."), (learner, text)
        assert phrase in text, (learner, text)
