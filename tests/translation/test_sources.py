"""What there is to translate in a cell, and the cell with the translation in its place."""

import ast
import textwrap
from functools import cache

import pytest

from tests.notebooks.cells import NOTEBOOKS
from tools.translation.sources import PLACEHOLDER, columns, messages, translated

HEAD = "mask = causal(4)  # who may attend"


def code(text):
    return textwrap.dedent(text).strip("\n")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("# Masks\n\nTwo words.", ["# Masks", "Two words."]),
        ("One\nparagraph.\n\n\n- a list\n- of two", ["One\nparagraph.", "- a list\n- of two"]),
        ("Only `code` counts here.", ["Only `code` counts here."]),
        ("`x` + $a b c$\n\n---\n\n<br>\n\n42", []),
        ("`ids → choose one`\n\n`peak * (a line up)`", ["`ids → choose one`", "`peak * (a line up)`"]),
        ("`output, _ = attend(query, key, value)`", []),
        ("| a b | c |\n|---|---|\n| word | x |", ["| a b | c |\n|---|---|\n| word | x |"]),
        ("Before:\n```python\nx = 1  # one word\n```\nafter it.", ["Before:", "one word", "after it."]),
        ("```python\nx = …  # which one?\n```", ["```python\nx = …  # which one?\n```"]),
        ("```\nmake lab\n```\n\n```\nx\n```", ["```\nmake lab\n```"]),
        ("```python\nleft open", ["```python\nleft open"]),
        ("", []),
    ],
)
def test_messages_of_markdown(source, found):
    assert messages("markdown", source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (HEAD, ["who may attend"]),
        ('print("two words", x)', ["two words"]),
        ('print("greedy:", "of 100", "mean:   ", "0 before")', ["greedy:", "of 100", "mean:   ", "0 before"]),
        ('plot(**{"label": "keys", "kind": "line"})', ["keys"]),
        ('table = {"training": 1, "relu": 2}', ["training"]),
        ('f("reduction", "weights", "<pad>", "d = 64", "s + 100")', []),
        ('f("word"); plot(x, title="word", kind="word")', ["word"]),
        ('print(f"{x:.2f} of {names[0]!r} words")', ["{x:.2f} of {names[0]!r} words"]),
        ('f"{x}"; f"{x} steps"; f"{{a}} {x:{width}} words here"', ["{x} steps", "{{a}} {x:{width}} words here"]),
        ('show(alt="One sentence, "\n     "in two lines.")', ["One sentence, in two lines."]),
        ('show(alt=f"One of {n}, "\n     "in two lines.")', ["One of {n}, in two lines."]),
        ("# one line\n# and its next\n\n# another", ["one line and its next", "another"]),
        ("x = 1  # one\ny = 2  # two", ["one", "two"]),
        ("x = 1  # noqa: E501\n# 42\n%time f()\n!ls -l", []),
        ('def f():\n    """Return the mask."""\n    ...', ["Return the mask."]),
    ],
)
def test_messages_of_code(source, found):
    assert messages("code", source) == found


@pytest.mark.parametrize(
    ("source", "message", "text", "wanted"),
    [
        (HEAD, "who may attend", "谁可以关注", "mask = causal(4)  # 谁可以关注"),
        ('é = "two words"  # é', "two words", '说"是"\n', 'é = "说\\"是\\"\\n"  # é'),
        ("f('two words')", "two words", "两个词", 'f("两个词")'),
        ("f\"{x:.1f} of {a['b']}\"", "{x:.1f} of {a['b']}", "{a['b']} 中的 {x:.1f}", "f\"{a['b']} 中的 {x:.1f}\""),
        ('f(r"an $\\alpha$ word")', "an $\\alpha$ word", "词 $\\alpha$", 'f(r"词 $\\alpha$")'),
        ('def f():\n    """Two words."""', "Two words.", "两个词。", 'def f():\n    """两个词。"""'),
        ("if x:\n    # one\n    # two\n    f()", "one two", "一二", "if x:\n    # 一二\n    f()"),
    ],
)
def test_a_translation_takes_the_messages_place(source, message, text, wanted):
    assert translated("code", source, lambda found: text if found == message else found) == wanted


def test_a_long_text_stays_within_the_page():
    source = code(
        """
        show(
            picture,
            alt="A sentence that is as long as a line "
            "and goes on in another line.",
        )
        # A comment
        # of two lines
        """
    )
    text = "一行中文字，" * 20
    new = translated("code", source, lambda message: text)
    assert max(map(columns, new.splitlines())) <= 88
    assert ast.parse(new).body[0].value.keywords[0].value.value == text
    assert "".join(line.removeprefix("# ") for line in new.splitlines() if line.startswith("#")) == text


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_is_as_it_was_where_nothing_is_translated(name):
    for cell in NOTEBOOKS[name].cells:
        assert translated(cell.cell_type, cell.source, lambda message: message) == cell.source


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_string_can_be_written_in_another_language(name):
    """Each message with its letters replaced: the cell is the same code, with other words."""
    for cell in NOTEBOOKS[name].cells:
        if cell.cell_type == "code":
            new = translated("code", cell.source, in_signs)
            assert shape(new) == shape(cell.source)
            assert not any("二" in line and columns(line) > 160 for line in new.splitlines())


def in_signs(message):
    kept = PLACEHOLDER.findall(message)
    words = PLACEHOLDER.split(message)
    return "".join(
        "".join("二" if letter.isalpha() else letter for letter in word) + (kept[i] if i < len(kept) else "")
        for i, word in enumerate(words)
    )


@cache
def shape(source):
    """The code without what its strings and comments say."""
    tree = ast.parse("\n".join("#" + line if line[:1] in "%!" else line for line in source.splitlines()))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
        elif isinstance(node, ast.JoinedStr):
            node.values = sorted((x for x in node.values if isinstance(x, ast.FormattedValue)), key=ast.dump)
    return ast.dump(tree)
