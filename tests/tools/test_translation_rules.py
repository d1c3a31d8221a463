"""What a translation has to share with its message, and what it may say in its own words."""

import pytest

from tools.translation.rules import problems


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (r"$\text{scores}_{ij} = q_i \cdot k_j$", r"$\text{分数}_{ij} = q_i \cdot k_j$"),
        ("run: pip install git+<address of the course>", "请运行：pip install git+<课程的地址>"),
        ('<a href="https://one.org">one\'s page</a>', '<a href="https://one.org">安的网页</a>'),
        ("<details><summary>yes</summary>Right.</details>", "<details><summary>是</summary>对。</details>"),
    ],
)
def test_words_are_translated_wherever_they_are(message, text):
    assert list(problems(message, text)) == []


@pytest.mark.parametrize(
    ("message", "text", "kind"),
    [
        (r"$\text{scores} = q k^\top$", r"$\text{分数} = k q^\top$", "formulas"),
        ("the <em>key</em>", "键", "tags"),
        ('<a href="https://one.org">here</a>', '<a href="https://two.org">这里</a>', "tags"),
    ],
)
def test_form_is_the_same(message, text, kind):
    assert any(problem.startswith(kind) for problem in problems(message, text))
