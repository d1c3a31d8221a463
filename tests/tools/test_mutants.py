"""tools.mutants: it knows every module of floors 0 to 4, and what each of its mutants changes."""

from tests.test_floors import FLOORS, ROOT
from tools.mutants import MODULES, files_of, judges_of, mutate


def test_every_module_below_floor_5_is_mutated():
    assert set(MODULES) == {module for floor in range(-1, 5) for module in FLOORS[floor].split()}


def test_the_files_and_their_tests_exist():
    for module in MODULES:
        for path in [*files_of(module), *(ROOT / test for test in judges_of(module))]:
            assert path.exists(), path


def test_a_mutant_is_one_change_of_one_function():
    code, mutants = mutate(ROOT / "lessons/recorder.py")
    assert len(mutants) > 5
    for name, mutant in mutants.items():
        assert name.startswith(mutant["function"]) and name.rpartition(".")[2] in code
        assert {line[0] for line in mutant["change"].splitlines()} == {"-", "+"}
