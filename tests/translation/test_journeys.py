"""Learners who have the lessons in another language: what the checks say is in that language, for right and wrong."""

import pytest

from lessons import wording
from lessons.exercises import exercises_of
from tests.notebooks.test_journey import Journey
from tools.translation import catalogs

WITH_CHECKS = ["01_qkv_by_hand", "03_masked_attention", "06_embeddings_and_positions", "12_decoding"]
VERDICTS = {"Not yet.": "还不对", "Right.": "正确"}

pytestmark = pytest.mark.notebook


def translated(name, phrase):
    """The Chinese of the known mistakes whose English has the phrase."""
    catalog = catalogs.catalog("zh_CN", name)
    hints = [mistake.hint for exercise in exercises_of(name).values() for mistake in exercise.mistakes]
    return [catalog.get(hint, context=catalogs.CHECK).string for hint in hints if phrase in hint]


@pytest.mark.parametrize("name", WITH_CHECKS)
def test_checks_answer_in_chinese(name, monkeypatch):
    monkeypatch.setenv(wording.VARIABLE, "zh_CN")
    journey = Journey(name)
    cells = journey.run()
    assert [out.evalue for cell in cells for out in cell.outputs if out.output_type == "error"] == []
    named = 0
    for place, verdict, phrase in journey.expected:
        said = cells[place].outputs[0].data["text/plain"]
        assert said.startswith(VERDICTS[verdict]), said
        if phrase and (known := translated(name, phrase)):
            assert any(hint in said for hint in known), said
            named += 1
    assert named >= 3
