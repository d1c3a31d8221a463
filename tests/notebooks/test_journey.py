"""A learner goes through each lesson: answers every exercise, first wrongly, then correctly, and runs the checks.

One kernel a lesson, and of the other cells only what they import: a test in `test_notebooks` holds that they use
nothing that a learner writes, but those with the tag `uses-answers`, which run here, too.
"""

import nbformat
import pytest

from tests import answers
from tests.notebooks.cells import (
    BEST,
    CHECK,
    HELP,
    NOTEBOOKS,
    ROOT,
    code_cells,
    is_stub,
    learner_name,
    needed_for,
    only_imports,
    reads,
)
from tests.notebooks.test_notebooks import USES_ANSWERS, load_tool

tool = load_tool("notebooks")


class Journey:
    """Cells for one kernel, and what the checks among them must say."""

    def __init__(self, name):
        self.lesson = name[3:]
        self.notebook = nbformat.v4.new_notebook()
        self.expected = []  # the place of a check, how its report begins, and what is in it
        self.uses = []  # the place of a cell that uses answers, and a phrase that it prints
        cells = code_cells(name)
        stubs = {learner_name(cell): place for place, cell in enumerate(cells) if is_stub(cell)}
        for place, cell in enumerate(cells):
            if is_stub(cell):
                self.answer(learner_name(cell), check=cells[place + 1].source, hints=cells[place + 2].source)
            elif USES_ANSWERS in cell.metadata.get("tags", []):
                learners = [name for name in stubs if name in reads(cell.source)]
                self.build(learners, [c.source for c in needed_for(cells, [place]) if not is_stub(c)])
            elif not CHECK.fullmatch(cell.source) and not HELP.fullmatch(cell.source):
                self.add(cell.source if cell.id == "imports" else only_imports(cell.source))

    def add(self, source):
        self.notebook.cells.append(nbformat.v4.new_code_cell(source))

    def wrong(self, learner):
        """One wrong answer, and a phrase of the report that it gets."""
        return answers.WRONG[self.lesson, learner][0]

    def right(self, learner):
        return answers.RIGHT[self.lesson, learner][0]

    def answer(self, learner, check, hints):
        text, phrase = self.wrong(learner)
        for source, verdict, found in ((text, "Not yet.", phrase), (self.right(learner), "Right.", "")):
            self.add(source)
            self.add(check)
            self.expected.append((len(self.notebook.cells) - 1, verdict, found))
            self.add(hints)

    def build(self, learners, cells):
        """Run cells that use answers: no wrong one may stop the lesson, and the right ones are used."""
        for written, said in (
            ([self.wrong(learner)[0] for learner in learners], "using the package's"),
            ([self.right(learner) for learner in learners], "using yours"),
        ):
            for source in (*written, *cells):
                self.add(source)
            chosen = [answer for _, answer in BEST.findall(cells[-1])]
            self.uses += [(len(self.notebook.cells) - 1, f"{answer}: {said}") for answer in chosen]

    def run(self):
        """The cells with their outputs."""
        return tool.run(self.notebook, ROOT / "notebooks", allow_errors=True).cells


@pytest.mark.notebook
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_check_says_what_a_wrong_and_a_right_answer_must_hear(name):
    journey = Journey(name)
    cells = journey.run()
    errors = [(cell.source, out.evalue) for cell in cells for out in cell.outputs if out.output_type == "error"]
    assert errors == []
    for place, phrase in journey.uses:
        assert phrase in cells[place].outputs[0].text, (cells[place].source, phrase)
    assert journey.expected
    for place, verdict, phrase in journey.expected:
        text = cells[place].outputs[0].data["text/plain"]
        assert text.startswith(verdict), (cells[place].source, text)
        assert phrase in text, (cells[place].source, text)
