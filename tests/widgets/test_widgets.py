"""What every widget owes, without a browser: a small picture of itself, always the same, and clear answers."""

import json
import math
import time
import tracemalloc

import pytest
import torch

from lessons import widgets
from lessons.widgets.shared.rules import read_tokens
from tests.widgets.samples import SAMPLES

every_widget = pytest.mark.parametrize("make", SAMPLES.values(), ids=SAMPLES)


@every_widget
def test_the_stored_picture_is_small_and_always_the_same(make):
    data, again = (make()._repr_mimebundle_()[0] for _ in range(2))
    for kind in ("text/plain", "text/html"):
        assert data[kind] == again[kind] and data[kind].strip()
        assert "0x" not in data[kind]
    assert len(json.dumps(data).encode()) <= 20_000
    assert "application/vnd.jupyter.widget-view+json" in data


@every_widget
def test_text_is_one_line_that_begins_with_the_name(make):
    widget = make()
    assert repr(widget).startswith(f"{type(widget).__name__}: ")
    assert "\n" not in repr(widget)


ALIVE = {"ModelStudio"}  # in their own pages


@every_widget
def test_what_it_shows_can_be_taken_along(make):
    widget = make()
    page = widget.to_html()
    assert page.startswith("<!doctype html>") and "http" not in page
    assert ("<script" in page) == (type(widget).__name__ in ALIVE)
    assert widget.figure().axes


@every_widget
def test_state_travels_as_json(make):
    widget = make()
    state = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
    json.dumps(state, allow_nan=False)


# What the browser sends


def nested(depth):
    return [nested(depth - 1)] if depth else []


HOSTILE = [
    {"no": "such value"}, "no such value", b"bytes", -1, 10**9, 10**400, 0.5, math.nan, math.inf, -math.inf, True,
    False, [], [[]], [[[]]], nested(200), [math.nan], [[0, 10**400]], [["inf", "no number"]], [{}], {"a": [1]},
    None, "\x00",
]  # fmt: skip


def shared(widget):
    """What both sides know of a widget."""
    own = own_traits(widget)
    return {name: value for name, value in widget.get_state().items() if name in own}


def own_traits(widget):
    return {name for name, trait in widget.traits(sync=True).items() if trait.metadata.get("echo_update") is False}


@pytest.fixture
def listen(monkeypatch):
    """Gather the problems that a widget tells the browser."""

    def to(widget):
        problems = []
        monkeypatch.setattr(widget, "send", lambda message, buffers=None: problems.append(message.get("problem")))
        return problems

    return to


def is_same(one, other):
    """Equal to the type: False is not 0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.one_of(3)
@every_widget
def test_a_hostile_value_is_refused_with_a_reason_or_is_one_that_python_takes(make, listen):
    widget = make()
    problems = listen(widget)
    for name in sorted(own_traits(widget)):
        before = shared(widget)
        for value in HOSTILE:
            widget._receive(widget, {"set": {name: value}}, [])
            after = shared(widget)
            if problems:
                assert problems.pop() and not problems, (name, value)
                assert is_same(after, before), (name, value)
            else:
                assert type(after[name]) is type(before[name]) or None in (value, before[name]), (name, value)
                before = after
    widget.panels(), widget.note(), widget.lines(), repr(widget)


@every_widget
def test_what_is_computed_is_nobodys_to_set(make, listen):
    widget = make()
    problems = listen(widget)
    before = shared(widget)
    for name in own_traits(widget):
        widget._receive(widget, {"set": {name: {"no": "such value"}}}, [])
        assert name in problems.pop(), name
    assert is_same(shared(widget), before)


EQUAL = [(False, 0), (True, 1), (0.0, 0), (1.0, 1), (1, True), (0, False)]


@every_widget
def test_what_is_only_equal_does_not_pass(make, listen):
    """traitlets compares by ==, and keeps what is equal without asking."""
    widget = make()
    problems = listen(widget)
    before = shared(widget)
    for name, value in before.items():
        for other in (other for other, number in EQUAL if value == number and type(value) is type(number)):
            widget._receive(widget, {"set": {name: other}}, [])
            if type(value) is not float:
                assert problems, (name, other)
                problems.clear()
            assert is_same(shared(widget), before), (name, other)


SEVERAL = {
    "AttentionExplorer": {"sentence": 1, "layer": 3000},
    "DecodingExplorer": {"chosen": [4], "top_k": 10**6},
    "DotProductStepper": {"row": 0, "column": 99},
    "FunctionLab": {"mask": "1" * 25, "history": [[999]]},
    "HeadSplitter": {"batch": 2, "num_heads": 8, "length": 6, "head_dim": 4},
    "MaskStudio": {"edits": [[8, 8]], "target": "a b c d e"},
    "ModelStudio": {"step": 1, "changes": [{"kind": "cut", "at": "nowhere"}]},
    "PositionLab": {"first": 1, "num_positions": 10**6},
    "ScalingLab": {"d": 2, "temperature": "hot"},
    "ShapeTour": {"step": 3, "head": 3000},
    "TrainingMonitor": {"log_axis": True, "digits": 99},
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", SEVERAL)
def test_of_several_values_none_is_taken_if_one_is_bad(name, backwards, listen):
    widget = SAMPLES[name]()
    problems, before = listen(widget), shared(widget)
    values = SEVERAL[name].items()
    widget._receive(widget, {"set": dict(reversed(values) if backwards else values)}, [])
    assert len(problems) == 1 and "; expected" in problems[0]
    assert is_same(shared(widget), before)
    assert repr(widget) == repr(SAMPLES[name]())


def test_several_bad_values_name_the_one_that_is_bad(listen):
    explorer = widgets.AttentionExplorer()
    problems = listen(explorer)
    explorer._receive(explorer, {"set": {"sentence": 1, "layer": 3000}}, [])
    assert problems == ["layer is 3000; expected a whole number from 0 to 0"]


FORGED = [
    None, 3, "set", [], {}, {"other": 1}, {"set": None}, {"set": [1]}, {"set": {"_esm": "x"}}, {"set": {3: 4}},
    {"ask": None}, {"ask": ["leaks"]}, {"ask": {}}, {"ask": "no such question"}, {"set": {"none": 1}},
]  # fmt: skip


@every_widget
def test_forged_messages_are_answered(make, listen):
    widget = make()
    problems, before = listen(widget), shared(widget)
    for message in FORGED:
        widget._receive(widget, message, [b"forged"])
        assert problems.pop() and not problems, message
        assert is_same(shared(widget), before), message


@every_widget
def test_forged_buffers_are_answered(make, listen):
    widget = make()
    problems, before = listen(widget), shared(widget)
    data = {"method": "update", "state": {}, "buffer_paths": [["no", 5, "such"]]}
    widget._handle_msg({"content": {"data": data}, "buffers": [memoryview(b"1")]})
    assert problems == ["the message has buffers; expected none"]
    assert is_same(shared(widget), before)


@pytest.mark.parametrize(
    "given", [10**7, 10**400, "a " * 10**6, ["a"] * 10**6, [*["a"] * 10**6, 3]], ids=lambda x: type(x)
)
def test_too_many_tokens_are_refused_before_any_work(given):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(ValueError, match=r"tokens is .* over 64 tokens; expected 1 to 64") as caught:
        read_tokens(given, "tokens")
    seconds, memory = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(str(caught.value)) < 200
    assert seconds < 0.5 and memory < 4e6


def test_a_browser_that_wants_too_many_tokens_is_answered_at_once(listen):
    for widget, name in ((widgets.MaskStudio(), "source"), (widgets.DotProductStepper(), "key_tokens")):
        problems = listen(widget)
        start = time.process_time()
        widget._receive(widget, {"set": {name: 10**7}}, [])
        assert time.process_time() - start < 0.5
        assert f"{name} is 10000000" in problems[0]


def test_a_stored_picture_of_what_is_no_number_is_drawn():
    """Many cells get a character each: of masked scores, too, which a function of the learner's may give."""
    lab = widgets.FunctionLab(lambda scores, allowed: scores.masked_fill(~allowed, -torch.inf), tokens=24)
    picture = lab._repr_mimebundle_()[0]["text/html"]
    assert "? is NaN or infinite" in picture and "?" * 23 in picture
