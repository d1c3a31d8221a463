"""What every widget owes, without a browser: a small picture of itself, always the same, and clear answers."""

import json

import pytest

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


@every_widget
def test_what_it_shows_can_be_taken_along(make):
    widget = make()
    page = widget.to_html()
    assert page.startswith("<!doctype html>") and "<script" not in page and "http" not in page
    assert widget.figure().axes


@every_widget
def test_state_travels_as_json(make):
    widget = make()
    state = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
    json.dumps(state, allow_nan=False)


@every_widget
def test_what_the_browser_sends_wrongly_is_answered(make, monkeypatch):
    widget, sent = make(), []
    before = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
    monkeypatch.setattr(widget, "_send", lambda message, buffers=None: sent.append(message))
    for name in set(before) - {"layout", "tooltip", "tabbable"}:
        widget._receive(widget, {"set": {name: {"no": "such value"}}}, [])
        problems = [message["content"]["problem"] for message in sent if message.get("method") == "custom"]
        assert problems and name in problems[-1], name
        sent.clear()
    after = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
    assert after == before
