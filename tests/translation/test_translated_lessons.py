"""Each lesson in another language runs from top to bottom, and computes what it computes in English."""

import re

import pytest

from lessons.wording import ENGLISH, available
from tests.notebooks.cells import NOTEBOOKS, ROOT
from tests.notebooks.test_notebooks import load_tool
from tools.copies import Copies

LANGUAGES = [language for language in available() if language != ENGLISH]
WORD = re.compile(r"[A-Za-z]{2,}")
NUMBERS = {"tensor", "torch", "nan", "inf", "True", "False", "dtype", "bool", "Size", "float", "int", "None", "grad_fn"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
NO_FONT = re.compile(r".*fonts-noto-cjk.*\n?")  # said once, on a machine without a font for Chinese
DIFFERS = re.compile(r'class="measured"|<div><p>TrainingMonitor|^TrainingMonitor')  # from machine to machine
# Where training takes most of the time, it takes fewer steps: its results differ between machines, and aren't compared.
FEWER_STEPS = {
    "11_training": {"Recipe(steps=250,": "Recipe(steps=50,", '"steps": 80,': '"steps": 8,'},
    "15_paper_results": {"else (80, 16, 3)": "else (8, 16, 3)"},
    "16_from_the_paper_to_llama": {"steps=500,": "steps=50,", "steps=150,": "steps=5,"},
}

pytestmark = pytest.mark.notebook


def said(cell):
    """What the cell shows, output by output: the text, and whether it is the same on each machine."""
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and output.name == "stdout":
            if text := NO_FONT.sub("", output.text):
                yield text, True
        elif output.output_type in ("execute_result", "display_data"):
            data = output.data
            texts = [data.get(kind, "") for kind in ("text/plain", "text/html")]
            yield texts[0], not any(map(DIFFERS.search, texts))


def has_words(text):
    return bool(set(WORD.findall(text)) - NUMBERS)


def train_less(notebook, name):
    for many, few in FEWER_STEPS.get(name, {}).items():
        (cell,) = [cell for cell in notebook.cells if many in cell.source]
        cell.source = cell.source.replace(many, few)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_lesson_computes_what_it_computes_in_english(language, name, monkeypatch):
    """What holds no words is the same; of what holds words, the numbers are."""
    monkeypatch.setenv("LESSONS_LANG", language)
    notebook = Copies(ROOT, language).edition(f"{name}.ipynb")
    train_less(notebook, name)
    done = load_tool("notebooks").run(notebook, ROOT / "notebooks")
    for english, cell in zip(NOTEBOOKS[name].cells, done.cells, strict=True):
        if cell.cell_type == "code":
            wanted, found = list(said(english)), list(said(cell))
            assert len(found) == len(wanted), f"{cell.id}: {found}"
            for (right, everywhere), (mine, _) in zip(wanted, found):
                if not has_words(right):
                    assert mine == right, cell.id
                elif everywhere:
                    assert set(NUMBER.findall(mine)) == set(NUMBER.findall(right)), cell.id


def test_there_is_something_to_compare():
    outputs = [each for notebook in NOTEBOOKS.values() for cell in notebook.cells for each in said(cell)]
    assert sum(not has_words(text) for text, _ in outputs) >= 20
    assert sum(everywhere and bool(NUMBER.search(text)) for text, everywhere in outputs) > 200
