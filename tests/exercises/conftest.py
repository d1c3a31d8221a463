"""What the tests of the exercises share."""

import pytest

from lessons.exercises.inside_torch_attention import beside_torch
from lessons.exercises.inside_torch_attention.combinations import combinations


@pytest.fixture
def few_combinations(monkeypatch):
    """Of the combinations in which lesson 13's drop-in is run, some of each kind: for what its cases show as well."""
    monkeypatch.setattr(beside_torch, "combinations", lambda: combinations()[::32])
