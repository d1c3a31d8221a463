"""Lesson 03, my_influence: find leaks by changing one token at a time."""

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.probes import influence


def leak_table(function, x: Tensor) -> Tensor:
    """bool (T, T): [i, j] is True where output i moves when token j is changed."""
    return influence(function, x)


def _shift(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[:1]), x[:-1]])


def _causal_attention(x: Tensor) -> Tensor:
    return attend(x, x, x, masks.causal(x.size(0)))[0]


def _open_attention(x: Tensor) -> Tensor:
    return attend(x, x, x)[0]


def _peeks_one_ahead(x: Tensor) -> Tensor:
    allowed = torch.ones(x.size(0), x.size(0), dtype=torch.bool).tril(diagonal=1)
    return attend(x, x, x, allowed)[0]


def _adds_up(x: Tensor) -> Tensor:
    return x.cumsum(dim=0)


def _counts_down(x: Tensor) -> Tensor:
    return -x.cumsum(dim=0)


def _adds_up_one_feature(x: Tensor) -> Tensor:
    return torch.cat([x[:, :1].cumsum(dim=0), x[:, 1:]], dim=1)


def _adds_up_the_last_feature(x: Tensor) -> Tensor:
    return x[:, -1:].cumsum(dim=0)


def _adds_and_subtracts(x: Tensor) -> Tensor:
    total = x.cumsum(dim=0)
    return torch.cat([total, -total], dim=1)


def _adds_up_behind_zero(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[:, :1]), x.cumsum(dim=0)], dim=1)


def _adds_up_softly(x: Tensor) -> Tensor:
    return x + 1e-3 * x.cumsum(dim=0)


def _by_trying(function, x):
    before = function(x)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += 1.0
        moved = (function(changed) - before).abs() > 1e-5
        columns.append(moved.any(dim=1))
    return torch.stack(columns, dim=1)


leak_finder = Exercise(
    lesson="03",
    name="my_influence",
    reference=leak_table,
    cases=lambda generator: [
        Case({"function": function, "x": numbers(generator, tokens, 3)})
        for function, tokens in [
            (_causal_attention, 3),
            (_open_attention, 4),
            (_peeks_one_ahead, 5),
            (_shift, 4),
            (_adds_up, 6),
            (_counts_down, 3),
            (_adds_up_one_feature, 5),
            (_adds_up_the_last_feature, 4),
            (_adds_and_subtracts, 3),
            (_adds_up_behind_zero, 3),
            (_adds_up_softly, 4),
        ]
    ],
    outputs=("moved",),
    solution=(influence,),
    mistakes=[
        Mistake(
            edited(_by_trying, "columns, dim=1", "columns, dim=0"),
            "Your table is transposed: row i should belong to output i, column j to the token j that was changed.",
        ),
        Mistake(
            edited(_by_trying, ".abs()", ""),
            "You missed the outputs that move down: after - before may be negative. Take the absolute value.",
        ),
        Mistake(
            edited(_by_trying, ".any", ".all"),
            "You counted an output as moved only if all its features moved. One is enough: any, not all.",
        ),
        Mistake(
            edited(_by_trying, "changed[j]", "changed[j:]"),
            "You changed token j and all that come after it. Change one token at a time, and start each time from x.",
        ),
        Mistake(
            edited(_by_trying, "changed[j]", "changed[: j + 1]"),
            "You changed token j and all before it: the copy was not made anew. Start each time from x.",
        ),
        Mistake(
            edited(_by_trying, "changed[j]", "changed[j, 0]"),
            "You changed only the first feature of token j. A function may look at another one: change them all.",
        ),
        Mistake(
            edited(_by_trying, "changed[j]", "changed[j, -1]"),
            "You changed only the last feature of token j. A function may look at another one: change them all.",
        ),
        Mistake(
            edited(_by_trying, ".any(dim=1)", "[:, 0]"),
            "You compared only the first feature of the outputs. Any of them may move.",
        ),
        Mistake(
            edited(_by_trying, ".abs()", ".sum(dim=1, keepdim=True).abs()"),
            "You added up the differences of an output's features: ups and downs cancel. Look at each by itself.",
        ),
        Mistake(
            edited(_by_trying, "moved.any", "~moved.any"),
            "True and False are exchanged: True should stand where an output moves.",
        ),
        Mistake(
            edited(_by_trying, ".any(dim=1)", ".any(dim=1) & (torch.arange(len(x)) != j)"),
            "The diagonal is missing: that output i moves with token i is part of the table.",
        ),
        Mistake(
            edited(_by_trying, "changed[j]", "changed[:, j]"),
            "You changed feature j of every token: y[:, j] is a column. Token j is the row y[j].",
        ),
        Mistake(
            edited(_by_trying, ".any(dim=1)", ".any(dim=0)"),
            "You asked along axis 0, that of the outputs, whether anything moves. Ask for each output by itself, along "
            "its features: dim=-1.",
        ),
        Mistake(
            lambda function, x: torch.eye(len(x), dtype=torch.bool),
            "Only the diagonal is True: it is the tokens that you compared. Compare what the function gives for the "
            "changed copy with what it gives for x.",
        ),
        Mistake(
            lambda function, x: torch.zeros(len(x), len(x), dtype=torch.bool),
            "Nothing ever moves. Is the function called on the changed copy, and compared with what it gave for x?",
        ),
    ],
    hints=[
        "Call the function once on x itself. Then, for each token j, on a copy of x in which only row j is changed.",
        "Output i has moved if any of its features differs from before, up or down, by more than rounding.",
        "Each j gives one column of the table: torch.stack(columns, dim=1).",
    ],
)
