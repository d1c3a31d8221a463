"""The recorder hears what torch really computes."""

import torch
from torch import nn

from lessons.recorder import Recorder


def test_operations_with_their_arguments_and_results_in_order():
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    with Recorder() as inside:
        product = a @ b
        product + 1
    assert inside.names == ["mm", "add.Tensor"]
    (left, right), result = inside.last("mm")
    assert left is a and right is b and result is product


def test_the_last_of_a_name_or_none():
    with Recorder() as inside:
        torch.ones(2).mul(3.0)
        torch.ones(2).mul(5.0)
    assert inside.last("mul.Tensor")[1].tolist() == [5.0, 5.0]
    assert inside.last("bmm") is None


def test_it_hears_nothing_once_it_is_closed():
    with Recorder() as inside:
        pass
    torch.ones(2) + 1
    assert inside.steps == []


def test_a_module_is_heard_down_to_its_products():
    layer = nn.Linear(3, 4)
    with Recorder() as inside:
        y = layer(torch.ones(2, 3))
    assert torch.equal(inside.last("addmm")[1], y)


def test_an_operation_gets_its_keywords():
    with Recorder():
        made = torch.full((2, 3), 7.0, dtype=torch.float64)
        total = torch.add(made, made, alpha=2)
    assert made.dtype == torch.float64 and total.unique().item() == 21
