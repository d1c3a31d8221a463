"""What a learner reads when an answer raises one of torch's or Python's common errors."""

from dataclasses import replace

import pytest
import torch

from lessons.checking.engine import Exercise, Mistake
from lessons.checking.errors import MEANINGS, meaning
from lessons.checking.running import Case
from tests.checking.test_engine import cell

WORK = Exercise("my_work", lambda x: x, lambda g: [Case({"x": torch.rand(3, 4, generator=g)})], [], [])
PRODUCT = "In a product `A @ B`, the last axis of A must be as long"
COMBINED = "Where two tensors are combined"
BOOL = "Expected there: a bool tensor."
ONE = "Expected there: a tensor with one number."
WHOLE = "Torch doesn't do that with this dtype"
# The line that raises, with x (3, 4), and how its meaning begins.
LINES = {
    "x @ x": PRODUCT,
    "torch.nn.Linear(5, 2)(x)": PRODUCT,
    "x[None] @ x[None]": PRODUCT,
    "x[0] @ x[0, :3]": PRODUCT,
    "x @ x[0, :3]": PRODUCT,
    "torch.ones(2, 8, 3, 4) @ torch.ones(2, 4, 4, 3)": COMBINED,
    "x + x.T": COMBINED,
    "x.masked_fill(torch.ones(5, 5) == 1, 0)": COMBINED,
    "x.view(5, 2)": "`view` and `reshape` keep all numbers: the product of the new sizes must be 12.",
    "x.T.view(12)": "After a transpose",
    "x[:, :3].view(9)": "After a transpose, a slice",
    "x.transpose(1, 2)": "The tensor has fewer axes than that.",
    "x[:, :, 0]": "The tensor has fewer axes than that.",
    "x @ x.T.double()": "All must have the same dtype",
    "x if x > 0 and x < 1 else 0": "`if`, `and`, `or` and `not` need one truth value",
    "x & (x > 0)": BOOL,
    "~x": BOOL,
    "x.masked_fill(x, 0)": BOOL,
    "torch.where(x, x, 0)": BOOL,
    "torch.nn.functional.embedding(torch.tensor([3]), x)": "An id or index doesn't fit",
    "x[3]": "An id or index doesn't fit",
    "x[torch.tensor([7])]": "An id or index doesn't fit",
    "torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 4]))": "An id or index doesn't fit",
    "x.item()": ONE,
    "int(x)": ONE,
    "torch.tensor([x, x])": ONE,
    "torch.arange(3).softmax(dim=0)": WHOLE,
    "torch.arange(3).mean()": WHOLE,
    "(x > 0).softmax(dim=0)": WHOLE,
    "(x > 0) @ (x.T > 0)": WHOLE,
    "my_wieghts @ x": "Nothing is called my_wieghts there",
    "[].append(x) + x": "Something there is None",
    "x.T(0)": "Parentheses call a function",
    "torch.nn.Parameter(x).mul_(2)": "A parameter can't be changed in place",
    "(lambda y: [y.exp() for z in [y.add_(1)]])(torch.nn.Parameter(x).exp().exp())[0].sum().backward()": (
        "The backward pass needs the values that were overwritten"
    ),
    "x.detach().sum().backward()": "No gradient can flow back from it",
    "my_work(x)": "The function calls itself without an end.",
}


@pytest.mark.parametrize(("line", "begins"), LINES.items())
def test_a_common_error_is_explained(line, begins):
    message = WORK.check(cell(f"def my_work(x):\n    return {line}\n", "my_work")).message
    assert message.splitlines()[-1].startswith(begins)


def test_each_meaning_has_a_line_that_raises_its_error():
    texts = [text.format(count=12, name="my_wieghts") for text in MEANINGS.values()]
    assert [text for text in texts if not text.startswith(tuple(LINES.values()))] == []


def test_a_known_mistake_says_its_own():
    product = "def my_work(x):\n    return x @ x\n"
    known = replace(WORK, mistakes=[Mistake(lambda x: x @ x, "x isn't square.")])
    message = known.check(cell(product, "my_work")).message
    assert message.startswith("x isn't square.\nIt raised RuntimeError: mat1") and PRODUCT not in message


def test_an_error_outside_the_answer_has_no_meaning():
    used = replace(WORK, call=lambda function, x: function(x)[2])
    message = used.check(cell("def my_work(x):\n    return x[:2]\n", "my_work")).message
    assert "It raised IndexError: index 2 is out of bounds" in message and "doesn't fit" not in message


def test_another_error_has_no_meaning():
    message = WORK.check(cell('def my_work(x):\n    raise ValueError(f"{x.dim()} axes")\n', "my_work")).message
    assert message.splitlines()[-1] == "The shapes there: x (3, 4)."
    assert meaning("2 axes") == ""
