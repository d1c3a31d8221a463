"""TrainingMonitor without a browser: what it keeps of a run, how a run ends, what is sent, what it refuses."""

import json
import math
import re
import threading
import time
from itertools import islice
from types import SimpleNamespace

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from lessons.plots.describe import describe
from lessons.widgets import TrainingMonitor
from lessons.widgets.training_monitor import busy_kernel, recording
from lessons.widgets.training_monitor import widget as training_monitor
from tests.widgets.samples import Report, a_run, recorded_monitor


def watch(monitor, steps, start=0):
    return [report.step for report in monitor.watch(a_run(steps, start))]


@pytest.fixture
def sent(monkeypatch):
    """The messages that monitors send."""
    messages = []
    monkeypatch.setattr(TrainingMonitor, "_send", lambda self, message, buffers=None: messages.append(message))
    return messages


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when told."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(training_monitor.time, "monotonic", lambda: now.seconds)
    return now


def browser(messages, state):
    """The state that a browser has after these messages."""
    for message in messages:
        state = {**state, **message.get("state", {})}
    return json.loads(json.dumps(state))


# A run


def test_alone_it_waits():
    monitor = TrainingMonitor()
    assert repr(monitor) == "TrainingMonitor: waiting"
    assert (monitor.status, monitor.steps, monitor.losses, monitor.step) == ("waiting", [], [], 0)
    assert monitor.measures == {} and monitor.weights is None and monitor.panels() == [] and monitor.drawing() is None
    assert "waiting" in monitor._repr_mimebundle_()[0]["text/html"]


def test_it_hands_on_what_it_is_given_and_keeps_the_numbers():
    monitor, given = TrainingMonitor(total=30), list(a_run(30))
    handed = [report for report in monitor.watch(given) if not monitor.measure(learned=report.step / 30)]
    assert all(one is other for one, other in zip(handed, given, strict=True))
    assert monitor.steps == [report.step for report in given]
    assert monitor.losses == pytest.approx([report.loss for report in given], rel=1e-5)
    assert monitor.measures["learned"] == [(step, pytest.approx(step / 30, abs=1e-6)) for step in range(1, 31)]
    assert (monitor.status, monitor.reason) == ("finished", "")
    assert monitor.latest[2] == pytest.approx(given[-1].learning_rate, rel=1e-5)


def test_losses_may_be_tensors_and_rates_may_be_missing():
    monitor = TrainingMonitor()
    for _ in monitor.watch([SimpleNamespace(step=0, loss=torch.tensor(2.5, requires_grad=True))]):
        pass
    assert (monitor.steps, monitor.losses, monitor.latest) == ([0], [2.5], [0, 2.5, None])


def test_each_report_is_drawn_before_it_is_handed_on(clock):
    monitor = TrainingMonitor()
    for report in monitor.watch(a_run(5)):
        assert monitor.status == "running" and monitor.step == report.step
        assert monitor.latest[0] == report.step
        clock.seconds += 1


def test_a_second_run_goes_on_where_the_first_ended():
    monitor = TrainingMonitor(total=20)
    watch(monitor, 10)
    assert repr(monitor).startswith("TrainingMonitor: finished, step 10 of 20, ")
    watch(monitor, 15, start=10)
    assert monitor.steps == list(range(1, 26)) and monitor.total == 25
    with pytest.raises(ValueError, match=re.escape("step is 1; expected more than 25, the last step of the run")):
        watch(monitor, 1)
    assert monitor.status == "stopped by an error" and monitor.steps[-1] == 25
    monitor.measure(done=1.0)
    monitor.clear()
    assert (monitor.status, monitor.steps, monitor.measures, monitor.reason) == ("waiting", [], {}, "")
    assert monitor.earlier == monitor.recent == [] and monitor.latest is None and monitor.measured == {}
    watch(monitor, 3)
    assert monitor.steps == [1, 2, 3]


@pytest.mark.parametrize("count", [1, 2, 199, 200, 201, 202, 400, 401, 999, 5000])
def test_a_long_run_is_thinned_evenly_and_keeps_its_latest_point(count):
    monitor = TrainingMonitor()
    watch(monitor, count)
    stride = monitor.stride
    assert stride == 2 ** max(0, math.ceil(math.log2((count - 1) / recording.MAX_POINTS + 1e-12)) if count > 1 else 0)
    assert monitor.steps == sorted({*range(1, count + 1, stride), count})
    assert len(monitor.steps) <= recording.MAX_POINTS + 1
    by_step = {report.step: report.loss for report in a_run(count)}
    assert monitor.losses == pytest.approx([by_step[step] for step in monitor.steps], rel=1e-5)
    sent = [*monitor.earlier, *monitor.recent]
    sent += [monitor.latest] * (sent[-1] != monitor.latest)
    assert [point[0] for point in sent] == monitor.steps


def test_many_measures_are_thinned_too_and_one_step_has_one_number():
    monitor = TrainingMonitor()
    for report in monitor.watch(a_run(500)):
        monitor.measure(held_out=0.5)
        monitor.measure(held_out=report.step / 1000)
    points = monitor.measures["held_out"]
    assert len(points) <= recording.MAX_MEASURES + 1 and points[-1] == (500, 0.5)
    assert all(value == step / 1000 for step, value in points)


def test_weights_are_kept_with_their_step():
    monitor = TrainingMonitor()
    weights = torch.tensor([[0.25, 0.75, 0.0], [1 / 3, 1 / 3, 1 / 3]], requires_grad=True)
    for report in monitor.watch(a_run(4)):
        if report.step == 3:
            monitor.show_weights(weights, rows=["a", "b"], columns=["x", "<b>", '&"'])
    torch.testing.assert_close(monitor.weights, weights.detach(), atol=5e-5, rtol=0)
    assert monitor.attention["step"] == 3 and monitor.attention["columns"] == ["x", "<b>", '&"']
    monitor.show_weights(weights[:1])
    assert (monitor.attention["rows"], monitor.attention["columns"]) == (["0"], ["0", "1", "2"])


def test_losses_that_are_no_numbers_are_kept_and_travel_as_json():
    monitor = TrainingMonitor()
    for _ in monitor.watch([Report(1, 1.5), Report(2, math.inf), Report(3, -math.inf), Report(4, math.nan)]):
        pass
    json.dumps(monitor.get_state(["earlier", "recent", "latest"]), allow_nan=False)
    assert monitor.losses[:3] == [1.5, math.inf, -math.inf] and math.isnan(monitor.losses[3])
    assert repr(monitor) == "TrainingMonitor: finished, step 4, loss NaN"
    for log in (False, True):
        monitor.log_axis = log
        assert "NaN" in monitor.to_html() and monitor.figure().axes


# Pausing and ending


def press(monitor, **switches):
    """What a click does: it arrives in another thread."""
    monitor._receive(monitor, {"set": switches}, [])


def later(act):
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def wait_for(condition):
    while not condition():
        time.sleep(0.01)


def test_a_click_in_another_thread_pauses_and_goes_on():
    monitor, reached = TrainingMonitor(), []

    def clicks():
        wait_for(lambda: monitor.status == "paused")
        reached.append(monitor.step)
        press(monitor, paused=False)

    thread = later(clicks)
    for report in monitor.watch(a_run(10)):
        assert monitor.status == "running"  # no step is taken while it is paused
        if report.step == 4:
            press(monitor, paused=True)
            assert monitor.status == "running"  # the present step goes on
    thread.join()
    assert reached == [4]
    assert (monitor.status, monitor.paused, monitor.step) == ("finished", False, 10)


def test_a_run_can_begin_paused():
    monitor = TrainingMonitor()
    monitor.paused = True
    thread = later(lambda: (wait_for(lambda: monitor.status == "paused"), setattr(monitor, "paused", False)))
    assert watch(monitor, 3) == [1, 2, 3]
    thread.join()


def closing(ended, steps=10):
    try:
        yield from a_run(steps)
    finally:
        ended.append(True)


def test_stop_ends_the_loop_after_the_present_step():
    monitor, ended, seen = TrainingMonitor(total=10), [], []
    training = closing(ended)  # a name of its own keeps it from being closed by itself
    for report in monitor.watch(training):
        if report.step == 4:
            press(monitor, stopping=True)
        seen.append(report.step)
    assert seen == [1, 2, 3, 4] and ended == [True]
    assert (monitor.status, monitor.stopping) == ("interrupted", False)
    assert monitor.reason == "stopped after step 4; the model keeps what it learned"
    assert watch(monitor, 6, start=4) == [5, 6, 7, 8, 9, 10]


def test_stop_ends_a_pause():
    monitor = TrainingMonitor()
    monitor.paused = True
    thread = later(lambda: (wait_for(lambda: monitor.status == "paused"), press(monitor, stopping=True)))
    assert watch(monitor, 10) == [1]
    thread.join()
    assert (monitor.status, monitor.paused, monitor.stopping) == ("interrupted", False, False)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (RuntimeError("no room\nfor it"), "stopped by an error", "RuntimeError: no room for it"),
        (ZeroDivisionError(), "stopped by an error", "ZeroDivisionError"),
        (TypeError(f"bad {object()!r}"), "stopped by an error", "TypeError: bad <object object>"),
        (KeyError("x" * 500), "stopped by an error", f"KeyError: '{'x' * 188}…"),
        (KeyboardInterrupt(), "interrupted", "by the keyboard or the Jupyter button; the model keeps what it learned"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exception_in_the_training_passes_on_and_is_told(error, status, reason):
    def fails():
        yield from a_run(7)
        raise error

    monitor = TrainingMonitor(total=10)
    with pytest.raises(type(error)):
        for _ in monitor.watch(fails()):
            pass
    assert (monitor.status, monitor.reason, monitor.step) == (status, reason, 7)
    assert monitor.latest[0] == 7
    assert reason in repr(monitor) or monitor.note() == reason
    assert len(reason) <= 200


def test_a_loop_that_is_left_closes_the_training():
    monitor, ended = TrainingMonitor(), []
    training = closing(ended)
    for report in monitor.watch(training):
        if report.step == 3:
            break
    assert ended == [True]
    assert (monitor.status, monitor.reason) == ("interrupted", "the loop ended after step 3")


@pytest.fixture
def shell(monkeypatch):
    """A shell as Jupyter has one; run(code) runs it as a cell."""
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.user_ns |= {"monitor": TrainingMonitor(), "a_run": a_run}
    monkeypatch.setattr(busy_kernel, "get_ipython", lambda: shell)
    return shell


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("raise RuntimeError('no room')", "stopped by an error", "RuntimeError: no room"),
        (
            "raise KeyboardInterrupt",
            "interrupted",
            "by the keyboard or the Jupyter button; the model keeps what it learned",
        ),
        ("break", "interrupted", "the loop ended after step 1"),
    ],
)
def test_an_exception_in_the_body_of_the_loop_is_told(shell, capsys, body, status, reason):
    monitor = shell.user_ns["monitor"]
    shell.run_cell(f"for _ in monitor.watch(a_run(3)):\n    {body}")
    assert (monitor.status, monitor.reason, monitor.step) == (status, reason, 1)
    shell.run_cell("1 / 0")
    assert monitor.reason == reason
    capsys.readouterr()


def test_what_is_displayed_is_renewed_after_the_run(shell, monkeypatch):
    shown, renewed = [], []
    handle = SimpleNamespace(update=lambda data, **options: renewed.append((data, options["raw"])))
    monkeypatch.setattr(training_monitor, "display", lambda data, **options: shown.append((data, options)) or handle)
    monitor = shell.user_ns["monitor"]
    monitor._ipython_display_()
    shell.run_cell("for _ in monitor.watch(a_run(3)): pass")
    shell.run_cell("monitor.measure(held_out=0.5); monitor.measure(held_out=0.75)")
    shell.run_cell("monitor.status")
    assert [data["text/plain"] for data, _ in shown] == ["TrainingMonitor: waiting"]
    assert shown[0][1]["raw"] and shown[0][1]["display_id"] is True
    texts = ["finished, step 3, loss 2.23", "finished, step 3, loss 2.23, held out 0.75"]
    assert [data["text/plain"] for data, raw in renewed if raw] == [f"TrainingMonitor: {text}" for text in texts]
    assert all("application/vnd.jupyter.widget-view+json" in data for data, _ in [*shown, *renewed])


def test_two_runs_at_once_are_refused():
    monitor = TrainingMonitor()
    first = monitor.watch(a_run(3))
    next(first)
    with pytest.raises(ValueError, match="status is 'running'; expected a monitor that watches no other run"):
        next(monitor.watch(a_run(3)))
    with pytest.raises(ValueError, match="status is 'running'; expected a run that has ended"):
        monitor.clear()
    assert [report.step for report in first] == [2, 3] and monitor.status == "finished"


def test_a_click_after_the_end_does_nothing(sent):
    monitor = recorded_monitor()
    sent.clear()
    press(monitor, paused=True, stopping=True, log_axis=True)
    assert (monitor.paused, monitor.stopping, monitor.log_axis) == (False, False, True)
    assert browser(sent, {})["paused"] is False


@pytest.mark.thorough("trains in two threads")
def test_the_thread_of_the_browser_and_the_training_change_nothing_of_each_other():
    monitor, refused, over = TrainingMonitor(), [], threading.Event()

    def clicks():
        while not over.is_set():
            for state in (
                {"log_axis": True},
                {"cursor": 3},
                {"log_axis": False, "cursor": None},
                {"latest": [1, 1, 1]},
            ):
                press(monitor, **state)
            refused.append(monitor.latest != [1, 1, 1])

    threads = [later(clicks) for _ in range(2)]
    try:
        steps = []
        for report in monitor.watch(a_run(3000)):
            steps.append(report.step)
            monitor._refresh(at_once=True)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert steps == list(range(1, 3001)) and all(refused)
    assert monitor.status == "finished" and monitor.latest[0] == 3000
    assert len(monitor.earlier) + len(monitor.recent) == len(monitor._curve.kept)


def test_messages_are_led_to_the_thread_that_the_browser_names():
    comm = SimpleNamespace(_reply_subshell_for="elsewhere")
    with busy_kernel.reachable(comm):
        assert comm._reply_subshell_for({"set": {}}, "subshell") == "subshell"
    assert not hasattr(comm, "_reply_subshell_for")
    with busy_kernel.reachable(None):
        pass


# What is sent


def test_messages_are_few_and_small_and_hold_only_what_is_new(sent, clock):
    monitor = TrainingMonitor(total=5000)
    state = {name: monitor.get_state(name)[name] for name in ("earlier", "recent", "latest", "measured", "status")}
    sent.clear()
    for report in monitor.watch(a_run(5000)):
        clock.seconds += 0.01
        if report.step % 100 == 0:
            monitor.measure(held_out=0.5)
    sizes = [len(json.dumps(message)) for message in sent]
    assert 400 < len(sent) < 520  # ten a second, of fifty
    assert max(sizes) < 10_000 and sum(sizes) / len(sizes) < 1_500
    assert not any("total" in message["state"] or "attention" in message["state"] for message in sent)
    shown = browser(sent, state)
    assert [*shown["earlier"], *shown["recent"]] == monitor._curve.kept and shown["latest"][0] == 5000
    assert shown["status"] == "finished" and shown["measured"]["held_out"][-1] == [5000, 0.5]


def test_a_fast_run_sends_little(sent, clock):
    monitor = TrainingMonitor()
    sent.clear()
    watch(monitor, 5000)
    assert len(sent) == 3  # it runs, the first point, the end
    assert browser(sent, {})["latest"][0] == 5000


def test_what_is_measured_after_the_run_is_sent_at_once(sent, clock):
    monitor = TrainingMonitor()
    watch(monitor, 5)
    monitor.measure(held_out=0.5)
    assert browser(sent, {})["measured"] == {"held_out": [[5, 0.5]]}
    monitor.show_weights([[1.0]])
    assert browser(sent, {})["attention"]["values"] == [[1.0]]


def test_what_is_shown_as_paused_is_up_to_date(clock):
    monitor, seen = TrainingMonitor(), []

    def clicks():
        wait_for(lambda: monitor.status == "paused")
        seen.append(monitor.latest[0])
        monitor.paused = False

    thread = later(clicks)
    for report in monitor.watch(a_run(9)):
        if report.step == 7:
            monitor.paused = True
    thread.join()
    assert seen == [7]


# Pictures


def test_the_stored_picture_is_small_and_rounded():
    monitors = []
    for shift in (0.0, 1e-6):
        monitor = TrainingMonitor(total=5000)
        for report in monitor.watch(a_run(5000)):
            if report.step % 50 == 0:
                monitor.measure(**{f"measure_{i}": 0.123 + shift for i in range(recording.MAX_NAMES)})
        for _ in monitor.watch([Report(5001, 0.314 + shift)]):
            monitor.show_weights(torch.full((32, 32), 1 / 32 + shift))
        monitors.append(monitor)
    one, other = (monitor._repr_mimebundle_()[0] for monitor in monitors)
    assert one["text/plain"] == other["text/plain"] and one["text/html"] == other["text/html"]
    assert len(json.dumps(one).encode()) <= 20_000


def test_text_has_so_many_digits():
    monitor = recorded_monitor()
    loss = list(a_run(40))[-1].loss
    for digits in (0, 1, 2, 4):
        monitor.digits = digits
        expected = f"step 40 of 40, loss {loss:.{digits}f}, held out {40 / 43:.{digits}f}, whole sentences"
        assert f"TrainingMonitor: finished, {expected}" in repr(monitor)
    page = monitor.to_html()
    assert f">{loss:.4f}</td>" in page and f">{monitor.weights[0, 0]:.4f}</td>" in page


def test_page_and_stored_picture_show_the_curve_in_words_too():
    monitor = recorded_monitor()
    page, stored = monitor.to_html(), monitor._repr_mimebundle_()[0]["text/html"]
    words = "Chart of the loss by step: from 2.66 at step 1 to 0.31 at step 40."
    assert f'aria-label="{words}"' in page and f'<img alt="{words}" src="data:image/svg+xml,' in stored
    places = re.search(r'<polyline points="([^"]+)"', page)[1].split()
    assert len(places) == 40
    first, last = (tuple(map(int, place.split(","))) for place in (places[0], places[-1]))
    assert first[0] < last[0] and first[1] < last[1]  # to the right, and down
    assert page.count("<table>") == 4 and "<caption>held out</caption>" in page


def test_an_error_is_in_the_text():
    monitor = TrainingMonitor(total=5)
    with pytest.raises(ValueError, match="progress is 3"):
        list(monitor.watch([Report(1, 2.0), 3]))
    assert repr(monitor) == (
        "TrainingMonitor: stopped by an error, step 1 of 5, loss 2.00: "
        "ValueError: progress is 3; expected something that has .step and .loss"
    )


def test_figure_is_drawn_by_the_plots_of_the_course():
    monitor = recorded_monitor()
    loss, measured, weights = (describe(ax) for ax in monitor.figure().axes)
    assert "(40, 0.31)" in loss and "held out: (8, 0.19)" in measured and "whole sentences" in measured
    assert "le: 0.98  0.01  0.01  0.01" in weights
    assert len(TrainingMonitor().figure().axes) == 1


# What is refused


def fed(*reports):
    return list(TrainingMonitor().watch(reports))


BAD = {
    "total": (lambda: TrainingMonitor(total=0), "total is 0; expected a whole number from 1 to 1000000000"),
    "total too small": (lambda: setattr(recorded_monitor(), "total", 9), "total is 9; expected a whole number from 40"),
    "log": (lambda: TrainingMonitor(log_axis="yes"), "log_axis is 'yes'; expected True or False"),
    "digits": (lambda: TrainingMonitor(digits=5), "digits is 5; expected a whole number from 0 to 4"),
    "cursor": (lambda: TrainingMonitor(cursor=-1), "cursor is -1; expected a whole number from 0 to 1000000000"),
    "paused": (lambda: setattr(TrainingMonitor(), "paused", 1), "paused is 1; expected True or False"),
    "status": (lambda: setattr(TrainingMonitor(), "status", "new"), "status is 'new'; expected no one to set it"),
    "latest": (lambda: setattr(TrainingMonitor(), "latest", 3), "latest is 3; expected no one to set it"),
    "progresses": (lambda: TrainingMonitor().watch(3), "progresses is 3; expected an iterable of steps"),
    "progress": (lambda: fed(3), "progress is 3; expected something that has .step and .loss"),
    "step": (lambda: fed(Report(1.5, 2.0)), "step is 1.5; expected a whole number from 0 on"),
    "step twice": (
        lambda: fed(Report(1, 2.0), Report(1, 2.0)),
        "step is 1; expected more than 1, the last step of the run",
    ),
    "loss": (lambda: fed(Report(1, "low")), "loss is 'low'; expected a number"),
    "losses": (lambda: fed(Report(1, torch.ones(2))), "loss is tensor([1., 1.]); expected a number"),
    "rate": (lambda: fed(Report(1, 1.0, "low")), "learning_rate is 'low'; expected a number"),
    "measure": (lambda: TrainingMonitor().measure(held_out=93), "held_out is 93; expected a number from 0 to 1"),
    "nan": (lambda: TrainingMonitor().measure(held_out=math.nan), "held_out is nan; expected a number from 0 to 1"),
    "names": (
        lambda: TrainingMonitor().measure(**dict.fromkeys("abcdefg", 0.5)),
        "measure has 7 names, a, b, c, d, e, f, g; expected 6 at most",
    ),
    "weights": (lambda: TrainingMonitor().show_weights([1.0]), "weights has shape (1,); expected (T, S), each from 1"),
    "large": (lambda: TrainingMonitor().show_weights(torch.ones(1, 33)), "weights has shape (1, 33); expected (T, S)"),
    "no numbers": (lambda: TrainingMonitor().show_weights("w"), "weights is 'w'; expected a matrix of numbers"),
    "rows": (
        lambda: TrainingMonitor().show_weights(torch.ones(2, 2), rows=["a"]),
        "rows is ['a']; expected a list of 2 texts, one for each of the rows of weights",
    ),
    "columns": (lambda: TrainingMonitor().show_weights(torch.ones(1, 2), columns="ab"), "columns is 'ab'; expected a"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_what_is_refused_changes_nothing():
    monitor = recorded_monitor()
    before = monitor.get_state()
    for act in (lambda: monitor.measure(good=0.5, bad=2), lambda: monitor.show_weights([[1.0]], rows=[])):
        with pytest.raises(ValueError, match="expected"):
            act()
    assert {**monitor.get_state()} == before and list(islice(monitor.measures, 9)) == ["held_out", "whole_sentences"]
