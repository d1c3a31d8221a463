"""The benchmark of the widgets runs in a real JupyterLab: a few clicks, whose times nobody judges."""

from benchmarks import widgets


def test_a_smoke_run(lab, capsys):
    widgets.open_cells(lab)
    widgets.measure_answers(lab, smoke=True)
    widgets.measure_messages(lab, smoke=True)
    out = capsys.readouterr().out
    assert "toggle to painted" in out and "messages of one toggle" in out
