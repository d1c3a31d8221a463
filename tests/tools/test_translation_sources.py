"""Which strings of a code cell are for the reader."""

import pytest

from tools.translation.sources import messages


@pytest.mark.parametrize("text", ["greedy:", "of 100", "mean:   ", "0 before", "two words"])
def test_prose_is_translated(text):
    assert messages("code", f"print({text!r})") == [text]


@pytest.mark.parametrize("text", ["reduction", "weights", "<pad>", "d = 64", "s + 100"])
def test_names_and_formulas_are_not(text):
    assert messages("code", f"print({text!r})") == []


def test_one_word_is_a_text_as_a_label():
    assert messages("code", 'plot(title="weights", kind="line")') == ["weights"]
    assert messages("code", 'plot(**{"label": "keys", "kind": "line"})') == ["keys"]
