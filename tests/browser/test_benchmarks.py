"""The benchmarks of the widgets run in a real JupyterLab: a few clicks, whose times nobody judges."""

import pytest

from benchmarks import browsers, lesson, studio, widgets
from benchmarks.lab import NAME, open_cells, write_cells


def test_a_smoke_run(lab, capsys):
    open_cells(lab, widgets.CELLS)
    widgets.measure_answers(lab, smoke=True)
    widgets.measure_messages(lab, smoke=True)
    out = capsys.readouterr().out
    assert "toggle to painted" in out and "messages of one toggle" in out


def test_a_smoke_run_of_the_studio(lab, capsys):
    studio.measure(lab, smoke=True)
    out = capsys.readouterr().out
    for said in (
        "to its picture",
        "12 tokens, change",
        "typed to translated",
        "messages of a change",
        "growth of the kernel",
    ):
        assert said in out


def test_a_smoke_run_of_a_lesson(lab):
    write_cells(lab, ["1 + 1", "2 + 2"])
    assert lesson.seconds(lab, NAME) > 0
    assert lab.errors() == []


@pytest.mark.parametrize("any_browser", ["firefox", "webkit"], indirect=True)
def test_a_smoke_run_in_other_browsers(any_browser, address, capsys):
    browsers.measure(any_browser, "it", address, smoke=True)
    out = capsys.readouterr().out
    assert "toggle to painted in it" in out and "the color of a heading" in out
