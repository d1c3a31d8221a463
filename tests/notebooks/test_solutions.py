"""A learner pastes the solution of each exercise over its stub, and the check says: Right.

The lesson has by then what its cells above import. Of what the learner has written before, a solution uses what the
stub names, and nothing else.
"""

import ast

import pytest

from lessons.exercises import exercises_of
from tests.answers import compile_cell
from tests.notebooks.cells import CHECK, NOTEBOOKS, code_cells, is_stub, learner_name, only_imports


def parameters(source):
    """The functions and methods that a cell defines, and what each of them takes."""
    return {
        node.name: ast.unparse(node.args) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_solution_can_be_pasted_and_is_right(name):
    exercises, cells = exercises_of(name), code_cells(name)
    imported, written = {}, {}
    for cell, below in zip(cells, [*cells[1:], None]):
        if not is_stub(cell):
            exec(only_imports(cell.source), imported)
            continue
        learner, exercise = learner_name(cell), exercises[CHECK.fullmatch(below.source)[1]]
        solution = exercise.help().solution
        assert parameters(cell.source).items() <= parameters(solution).items(), learner
        names = imported | {each: value for each, value in written.items() if each in cell.source}
        exec(compile_cell(solution), names)
        written[learner] = names[learner]
        report = exercise.check(written[learner])
        assert report.passed, (solution, report)
