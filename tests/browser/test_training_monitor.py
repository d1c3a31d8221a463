"""TrainingMonitor's JavaScript in a bare page: what it draws against the numbers, its buttons, keys and labels."""

import math
import random
import re

import pytest
from playwright.sync_api import expect

from lessons.widgets import TrainingMonitor
from tests.browser import bare
from tests.widgets.samples import Report, a_run, recorded_monitor

CASES = 200
# What is drawn, each point with its place; and the places of the ticks, by which a place can be read.
DRAWN = """part => {
  const chart = document.querySelector(`[data-part="${part}"] svg`);
  const point = (e) => {
    const box = e.getBoundingClientRect();
    const place = [box.x + box.width / 2, box.y + box.height / 2];
    return { step: e.dataset.step, value: e.dataset.value, place, odd: e.classList.contains("tm-odd"),
             name: e.closest("[data-name]")?.dataset.name };
  };
  const middle = (e, name) => { const box = e.getBoundingClientRect(); return [e.dataset[name], box.x, box.y]; };
  return {
    points: [...chart.querySelectorAll("[data-step]")].map(point),
    down: [...chart.querySelectorAll("[data-tick]")].map((e) => middle(e, "tick")),
    across: [...chart.querySelectorAll("[data-step-tick]")].map((e) => middle(e, "stepTick")),
    lines: [...chart.querySelectorAll("polyline")].map((e) => e.points.length),
  };
}"""
CASE = f"""() => {{
    const read = {DRAWN};
    const measures = document.querySelector('[data-part="measures"] svg') && read("measures");
    return [read("loss"), measures, document.querySelector(".lw").innerText];
}}"""
# What a screen reader would say by itself.
LISTEN = """() => {
  window.heard = [];
  const what = { childList: true, characterData: true, subtree: true };
  for (const e of document.querySelectorAll('[role="status"]'))
    new MutationObserver(() => heard.push(e.textContent)).observe(e, what);
}"""
RUNNING = {"status": "running", "reason": ""}


@pytest.fixture
def shown(page):
    bare.show(page, recorded_monitor())
    return page


def part(page, name):
    return page.locator(f'[data-part="{name}"]')


def set_state(page, **state):
    page.evaluate(
        "state => { for (const [name, value] of Object.entries(state)) model.set(name, value); return frame(); }", state
    )


def sent(page):
    return page.evaluate("model.sent.splice(0)")


def random_monitor(index):
    chance = random.Random(index)
    count = chance.choice([1, 2, 3, 40, 150, 201, 500, 1500])
    first, apart = chance.choice([0, 1, 1, 700]), chance.choice([1, 1, 10])
    size, fall = 10 ** chance.uniform(-5, 5), chance.uniform(0, 8)
    monitor = TrainingMonitor(total=chance.choice([None, 4 * (first + count * apart)]), log_axis=chance.random() < 0.5)
    odd = {
        i: chance.choice([math.nan, math.inf, -math.inf, 0.0, -size]) for i in range(count) if chance.random() < 0.02
    }
    with_rate = chance.random() < 0.7
    losses = (odd.get(i, size * math.exp(-fall * i / count) * chance.uniform(0.7, 1.3)) for i in range(count))
    run = (Report(first + i * apart, loss, 1e-3 if with_rate else None) for i, loss in enumerate(losses))
    names = ["held_out", '<b>&"', "c", "d", "e", "f"][: chance.randint(0, 6)]
    for report in monitor.watch(run):
        if report.step % 7 == 0:
            monitor.measure(**{name: chance.random() for name in names})
    return monitor


def reading(ticks, at):
    """From a place to a number, by two ticks: exact where the scale is linear."""
    (a, *place_a), (b, *place_b) = ticks[0], ticks[-1]
    a, b = float(a), float(b)
    return lambda place: a + (b - a) * (place - place_a[at]) / (place_b[at] - place_a[at])


def test_drawn_points_are_those_of_python(page):
    read = 0
    monitors = list(map(random_monitor, range(CASES)))
    for index, (monitor, (drawn, measures, texts)) in enumerate(
        zip(monitors, bare.draw_each(page, monitors, CASE), strict=True)
    ):
        label = f"case {index}, {monitor!r}"
        assert [int(point["step"]) for point in drawn["points"]] == monitor.steps, label
        for point, loss in zip(drawn["points"], monitor.losses):
            value = float(point["value"])
            assert value == loss or (math.isnan(value) and math.isnan(loss)), label
            assert point["odd"] == (not math.isfinite(loss) or (monitor.log_axis and loss <= 0)), label
        assert not re.search(r"undefined|Infinity|null", texts), label
        if len(drawn["across"]) > 1:
            step = reading(drawn["across"], 0)
            apart = abs(drawn["across"][-1][1] - drawn["across"][0][1])
            close = 1.2 * abs(float(drawn["across"][-1][0]) - float(drawn["across"][0][0])) / apart
            assert all(abs(step(p["place"][0]) - float(p["step"])) <= close for p in drawn["points"]), label
        if len(drawn["down"]) > 1:
            ends = [float(drawn["down"][i][0]) for i in (0, -1)]
            scale = math.log if monitor.log_axis else float
            ticks = [(scale(float(tick)), x, y) for tick, x, y in drawn["down"]]
            value = reading(ticks, 1)
            close = 1.2 * abs(scale(ends[1]) - scale(ends[0])) / abs(ticks[0][2] - ticks[-1][2])
            for point in drawn["points"]:
                if not point["odd"]:
                    read += 1
                    assert abs(value(point["place"][1]) - scale(float(point["value"]))) <= close, label
        measured = measures["points"] if monitor.measures else []
        expected = [(name, s, x) for name, points in monitor.measures.items() for s, x in points]
        assert [(p["name"], int(p["step"]), float(p["value"])) for p in measured] == expected, label
    assert read > 5000


def test_measured_points_stand_where_their_numbers_are(shown):
    drawn = shown.evaluate(DRAWN, "measures")
    value, step = reading(drawn["down"], 1), reading(drawn["across"], 0)
    by_name = {}
    for point in drawn["points"]:
        by_name.setdefault(point["name"], []).append(point)
        assert abs(step(point["place"][0]) - int(point["step"])) < 0.1
    for name, points in recorded_monitor().measures.items():
        assert len(by_name[name]) == len(points) == 5
        for point, (_, x) in zip(by_name[name], points):
            assert abs(value(point["place"][1]) - x) < 0.03


def test_a_loss_that_is_no_number_breaks_the_line_and_has_a_mark(page):
    monitor = TrainingMonitor()
    losses = [3.0, 2.0, math.nan, 1.0, math.inf, 0.5, 0.4, -1.0]
    list(monitor.watch(Report(i, loss) for i, loss in enumerate(losses, 1)))
    bare.show(page, monitor)
    drawn = page.evaluate(DRAWN, "loss")
    assert [point["odd"] for point in drawn["points"]] == [False, False, True, False, True, False, False, False]
    assert drawn["lines"] == [2, 3]  # a point alone has no line
    set_state(page, log_axis=True)
    drawn = page.evaluate(DRAWN, "loss")
    assert [point["odd"] for point in drawn["points"]][-1] is True and drawn["lines"] == [2, 2]
    part(page, "loss").focus()
    page.keyboard.press("Home")
    for key, words in (("ArrowRight", "loss 2.000"), ("ArrowRight", "loss NaN"), ("PageDown", "loss 3.000")):
        page.keyboard.press(key)
        page.evaluate("frame()")
        assert words in part(page, "loss").get_attribute("aria-valuetext")


def test_alone_it_says_that_it_waits(page):
    bare.show(page, TrainingMonitor(total=800))
    expect(part(page, "status")).to_have_text("waiting")
    expect(part(page, "progress")).to_have_text("for the first of 800 steps")
    expect(part(page, "loss")).to_contain_text("The curve starts with the first step.")
    assert part(page, "loss").get_attribute("aria-valuetext") == "no step yet"
    for name in ("pause", "stop"):
        expect(part(page, name)).to_have_attribute("aria-disabled", "true")
    for name in ("measured", "weights", "reason"):
        expect(part(page, name)).to_be_hidden()
    part(page, "loss").click()
    page.keyboard.press("ArrowLeft")
    assert sent(page) == []


# A run that goes on


def test_updates_appear_while_it_runs(page):
    monitor = TrainingMonitor(total=800)
    bare.show(page, monitor)
    before = bare.state(monitor)
    for report in monitor.watch(a_run(800)):
        if report.step in (1, 30, 450):
            monitor.measure(held_out=report.step / 1000)
            monitor.show_weights([[report.step / 1000, 0.0]])
            monitor._refresh(at_once=True)
            after = bare.state(monitor)
            set_state(page, **{name: value for name, value in after.items() if value != before[name]})
            before = after
            drawn = page.evaluate(DRAWN, "loss")
            assert [int(point["step"]) for point in drawn["points"]] == monitor.steps
            expect(part(page, "status")).to_have_text("running")
            share = report.step * 100 // 800
            expect(part(page, "progress")).to_have_text(f", step {report.step} of 800, {share} % done")
            expect(part(page, "latest")).to_have_text(
                re.compile(r"^Latest: loss .*, learning rate .*, held out 0\.\d\d$")
            )
            expect(part(page, "legend")).to_contain_text(f"at step {report.step}")
            expect(part(page, "weights")).to_contain_text(f"attention weights, step {report.step}")
            assert bare.cell(page, "weights", 0, 0).get_attribute("data-value") == str(report.step / 1000)
            assert part(page, "done").get_attribute("aria-valuetext") == f"step {report.step} of 800"


def test_only_the_status_is_read_aloud(shown):
    shown.evaluate(LISTEN)
    set_state(shown, status="running", latest=[41, 0.3, None])
    set_state(shown, latest=[42, 0.2, None])
    set_state(shown, latest=[43, 0.1, None])
    assert part(shown, "loss").get_attribute("aria-valuetext") == "the latest step"
    set_state(shown, status="paused")
    assert shown.evaluate("heard") == ["running", "paused"]
    assert shown.locator("[aria-live]").count() == 0


def test_pause_and_stop_tell_python(shown):
    for name in ("pause", "stop"):
        expect(part(shown, name)).to_have_attribute("aria-disabled", "true")
        part(shown, name).press("Enter")
    assert sent(shown) == []
    set_state(shown, **RUNNING)
    part(shown, "pause").click()
    shown.evaluate("frame()")
    expect(part(shown, "pause")).to_have_text("Go on")
    part(shown, "pause").focus()
    shown.keyboard.press("Space")
    shown.evaluate("frame()")
    expect(part(shown, "pause")).to_have_text("Pause")
    part(shown, "stop").press("Enter")
    assert sent(shown) == [{"set": {"paused": True}}, {"set": {"paused": False}}, {"set": {"stopping": True}}]
    shown.evaluate("frame()")
    expect(part(shown, "stop")).to_have_attribute("aria-disabled", "true")
    expect(part(shown, "stop")).to_be_focused()
    shown.keyboard.press("Enter")
    assert sent(shown) == []
    reason = "stopped after step 40; the model keeps what it learned"
    set_state(shown, status="interrupted", stopping=False, reason=reason)
    expect(part(shown, "pause")).to_have_attribute("aria-disabled", "true")
    expect(part(shown, "reason")).to_have_text("Interrupted: stopped after step 40; the model keeps what it learned.")


def test_an_error_is_shown_as_text(page):
    monitor = TrainingMonitor()

    def fails():
        yield Report(1, 2.0)
        raise RuntimeError('<b>&" is no token')

    with pytest.raises(RuntimeError):
        list(monitor.watch(fails()))
    bare.show(page, monitor)
    expect(part(page, "status")).to_have_text("stopped by an error")
    expect(part(page, "reason")).to_have_text('Stopped by an error: RuntimeError: <b>&" is no token.')
    assert part(page, "reason").locator("b").count() == 0


@pytest.mark.parametrize("total, waiting", [(None, "for the first step"), (250, "for the first of 250 steps")])
def test_only_a_run_that_waits_is_said_to_wait_for_its_first_step(page, total, waiting):
    bare.show(page, TrainingMonitor(total=total))
    expect(part(page, "progress")).to_have_text(waiting)
    for status in ("running", "interrupted", "finished", "stopped by an error"):
        set_state(page, status=status)
        expect(part(page, "status")).to_have_text(status)
        expect(part(page, "progress")).to_have_text("")


# The point that is read out


def test_keys_move_along_the_steps(shown):
    monitor = recorded_monitor()
    chart = part(shown, "loss")
    assert chart.get_attribute("role") == "slider" and chart.get_attribute("tabindex") == "0"
    assert chart.get_attribute("aria-label") == "loss by step, from 2.660 at step 1 to 0.306 at step 40"
    chart.focus()
    place = 40
    for key, to in [
        ("ArrowLeft", 39),
        ("ArrowLeft", 38),
        ("PageDown", 28),
        ("Home", 1),
        ("ArrowLeft", 1),
        ("ArrowRight", 2),
    ]:
        shown.keyboard.press(key)
        shown.evaluate("frame()")
        assert sent(shown) == [{"set": {"cursor": to}}]
        words = f"step {to}: loss {monitor.losses[to - 1]:.3f}, learning rate "
        assert chart.get_attribute("aria-valuetext").startswith(words)
        assert chart.get_attribute("aria-valuenow") == str(to - 1) and chart.get_attribute("aria-valuemax") == "39"
        expect(part(shown, "readout")).to_contain_text(f"At {words}")
        place = to
    assert place == 2
    assert shown.evaluate("document.activeElement.dataset.part") == "loss"
    shown.keyboard.press("End")
    assert sent(shown) == [{"set": {"cursor": None}}]
    shown.evaluate("frame()")
    expect(part(shown, "readout")).to_contain_text("Point at the curve")
    set_state(shown, latest=[41, 0.125, None])  # it follows
    assert chart.get_attribute("aria-valuetext") == "step 41: loss 0.125"


def test_the_pointer_reads_and_a_click_stays(shown):
    chart = part(shown, "loss")
    place = shown.evaluate(DRAWN, "loss")["points"][9]["place"]
    shown.mouse.move(*place)
    shown.evaluate("frame()")
    expect(part(shown, "readout")).to_contain_text("At step 10: loss")
    box = shown.locator(".tm-ring").bounding_box()
    ring = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert math.dist(ring, place) < 1
    shown.mouse.down()
    shown.mouse.up()
    assert sent(shown) == [{"set": {"cursor": 10}}]
    shown.mouse.move(5, 5)
    shown.evaluate("frame()")
    assert chart.get_attribute("aria-valuetext").startswith("step 10: ")


def test_a_click_counts_though_the_curve_is_drawn_meanwhile(shown):
    """As it is ten times a second while the run goes on, and with each move of the pointer."""
    set_state(shown, **RUNNING)
    x, y = shown.evaluate(DRAWN, "loss")["points"][9]["place"]
    shown.mouse.move(x, y)
    shown.mouse.down()
    set_state(shown, latest=[41, 0.125, None])
    shown.mouse.move(x + 1, y)
    shown.evaluate("frame()")
    shown.mouse.up()
    assert sent(shown) == [{"set": {"cursor": 10}}]


def test_a_cursor_between_the_drawn_steps_reads_the_nearest(page):
    monitor = TrainingMonitor(cursor=1002)
    list(monitor.watch(a_run(1500)))
    bare.show(page, monitor)
    assert monitor.stride == 8 and 1001 in monitor.steps
    assert part(page, "loss").get_attribute("aria-valuetext").startswith("step 1001: ")
    expect(part(page, "readout")).to_contain_text("One step in 8 is drawn.")


# Words, marks and sizes


def test_names_differ_by_mark_and_dash_and_the_picture_says_its_numbers(page):
    monitor = TrainingMonitor()
    for report in monitor.watch(a_run(3)):
        monitor.measure(**dict.fromkeys("abcdef", report.step / 10))
    bare.show(page, monitor)
    signs = page.locator('[data-part="legend"] .tm-measure').evaluate_all(
        "all => all.map(e => e.lastElementChild.outerHTML)"
    )
    dashes = page.locator('[data-part="measures"] polyline').evaluate_all(
        "all => all.map(e => getComputedStyle(e).strokeDasharray)"
    )
    assert len(set(signs)) == 6 and len(set(dashes)) >= 5
    label = part(page, "measures").get_attribute("aria-label")
    for name in "abcdef":
        assert f"{name}: 0.10 at step 1, 0.20 at step 2, 0.30 at step 3" in label


def test_the_logarithmic_axis_is_a_switch(shown):
    part(shown, "log_axis").check()
    assert sent(shown) == [{"set": {"log_axis": True}}]
    shown.evaluate("frame()")
    ticks = [float(tick) for tick, _, _ in shown.evaluate(DRAWN, "loss")["down"]]
    assert ticks == [0.5, 1, 2]
    assert "logarithmic axis" in part(shown, "loss").get_attribute("aria-label")


@pytest.mark.parametrize("width", [1300, 700, 380])
def test_nothing_sticks_out_or_overlaps(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    monitor = TrainingMonitor(total=123456)
    for report in monitor.watch(Report(i * 1000, 1000 / (i + 1)) for i in range(120)):
        monitor.measure(held_out_accuracy_of_words=0.5, whole_sentences=report.step / 123456)
    bare.show(page, monitor)
    page.evaluate("frame()")
    for chart in ("loss", "measures"):
        boxes = page.locator(f'[data-part="{chart}"] text').evaluate_all(
            "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
        )
        frame = page.locator(".lw").bounding_box()
        for i, (left, top, right, bottom) in enumerate(boxes):
            assert frame["x"] <= left and right <= frame["x"] + frame["width"]
            for other in boxes[:i]:
                assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top, boxes[i]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
