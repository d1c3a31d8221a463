"""What a translation shares with its message."""

import pytest

from tools.translation.rules import problems

RIGHT = [
    ("Row {i} of `x` sums to 1.", "`x` 的第 {i} 行之和是 1。"),
    ("See [02](02_a.ipynb#B).", "见 [02](02_a.ipynb#B)。"),
    ("About 3 million sentences.", "大约 300 万个句子。"),
    ("## Two\n\n- a\n- b", "## 两\n\n- 甲\n- 乙"),
    ("It is $a, b$: yes!", "是 $a, b$：对！"),
    ("At 3.5, and 10,000.", "在 3.5 和 10,000 处。"),
    ("`a`, `b` (both)", "`a`、`b`（两者）"),
    ("Adam (a method): good.", "Adam (方法) 好"),
    ("<b>Hi</b>", "<b>你好</b>"),
    ("On 23 November 2026.", "2026 年 11 月 23 日。"),
    ("Open `http://HOST:8000`.", "打开 `http://HOST:8000`。"),
    (r"$\text{scores}_{ij} = q_i \cdot k_j$", r"$\text{分数}_{ij} = q_i \cdot k_j$"),
    ("run: pip install git+<address of the course>", "请运行：pip install git+<课程的地址>"),
    ('<a href="https://one.org">one\'s page</a>', '<a href="https://one.org">安的网页</a>'),
    ("`ids (B, t) → choose one`", "`ids (B, t) → 选一个`"),
    ("<details><summary>yes</summary>Right.</details>", "<details><summary>是</summary>对。</details>"),
]
WRONG = [
    ("Row {i}.", "一行。", "placeholders: ['{i}'] missing"),
    ("A `key`.", "一个 `query`。", "code: ['`key`'] missing, ['`query`'] too many"),
    ("[02](a.ipynb)", "[02](b.ipynb)", "links"),
    ("It takes 60 s.", "要 50 s。", "numbers: ['60'] missing, ['50'] too many"),
    ("It takes 60 s.", "要一会儿。", "numbers: ['60'] missing"),
    ("On 23 November.", "12 月 23 日。", "numbers: [] missing, ['12'] too many"),
    ("$a$", "$b$", "formulas"),
    ("<b>Hi</b>", "你好", "tags"),
    (r"$\text{scores} = q k^\top$", r"$\text{分数} = k q^\top$", "formulas"),
    ('<a href="https://one.org">here</a>', '<a href="https://two.org">这里</a>', "tags"),
    ("`ids (B, 2) → choose one`", "`ids (B, 3) → 选一个`", "numbers"),
    ("`ids → choose one`", "ids → 选一个", "code"),
    ("## Two", "两", "headings: 0; expected 1"),
    ("- a\n- b", "- 甲", "items of lists: 1; expected 2"),
    ("| a | b |\n|---|---|", "| 甲 | 乙 |", "rows of tables: 1; expected 2"),
    ("> so", "如此", "quotes: 0; expected 1"),
    ("Yes, no.", "是,不。", "half-width punctuation: '是,不。'"),
    ("Yes.", "是.", "half-width"),
    ("Yes (no)", "是(不)", "half-width"),
    ("Really?", "真的? ", "half-width"),
]


@pytest.mark.parametrize(("message", "text"), RIGHT)
def test_right(message, text):
    assert list(problems(message, text)) == []


@pytest.mark.parametrize(("message", "text", "said"), WRONG)
def test_wrong(message, text, said):
    assert any(said in problem for problem in problems(message, text))
