"""Lesson 03, my_influence: find leaks by changing one token at a time."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons import masks
from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.probes import influence


def leak_table(function, x: Tensor) -> Tensor:
    """bool (T, T): [i, j] is True where output i moves when token j is replaced."""
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


def _open_attention_behind_a_layer_norm(x: Tensor) -> Tensor:
    return _open_attention(F.layer_norm(x, x.shape[-1:], eps=1e-12))


def _causal_convolutions_by_fourier_transform(x: Tensor) -> Tensor:
    kernels = torch.linspace(1.0, 3.0, len(x) * 4).view(len(x), 1, 4)
    length = 2 * len(x)  # room for the kernels' ends
    spectrum = torch.fft.rfft(x[:, :, None], length, dim=0) * torch.fft.rfft(kernels, length, dim=0)
    return torch.fft.irfft(spectrum, length, dim=0)[: len(x)].flatten(1)


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


def _adds_up_without_the_mean(x: Tensor) -> Tensor:
    return _adds_up(x - x.mean(dim=-1, keepdim=True))


def _adds_up_softly(x: Tensor) -> Tensor:
    return x + 1e-3 * x.cumsum(dim=0)


def _adds_up_to_length_one(x: Tensor) -> Tensor:
    return F.normalize(x.cumsum(dim=0), dim=-1)


def my_influence(function, x):
    before = function(x)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] = torch.randn_like(x[j])
        moved = (function(changed) - before).abs() > 1e-5
        columns.append(moved.any(dim=1))
    return torch.stack(columns, dim=1)


def _cases(generator: torch.Generator) -> list[Case]:
    generator.manual_seed(1)  # the first numbers from seed 0 are those that an answer's randn_like draws
    cases = [
        Case({"function": function, "x": numbers(generator, tokens, features)})
        for function, tokens, features in [
            (_causal_attention, 3, 3),
            (_open_attention, 4, 3),
            (_peeks_one_ahead, 5, 3),
            (_shift, 4, 2),
            (_adds_up, 6, 5),
            (_counts_down, 3, 2),
            (_adds_up_one_feature, 5, 3),
            (_adds_up_the_last_feature, 4, 3),
            (_adds_and_subtracts, 3, 3),
            (_adds_up_behind_zero, 3, 4),
            (_adds_up_softly, 4, 3),
            (_adds_up_to_length_one, 4, 3),
        ]
    ]
    zero_first = numbers(generator, 4, 3)
    zero_first[0] = 0.0
    alike = numbers(generator, 1, 3).repeat(4, 1)
    return [
        *cases,
        Case(
            {"function": _open_attention_behind_a_layer_norm, "x": numbers(generator, 4, 3)},
            about="a function that begins with a layer norm",
        ),
        Case({"function": _adds_up, "x": zero_first}, about="a token whose features are all 0"),
        Case({"function": _adds_up, "x": alike}, about="tokens that are all the same"),
        Case(
            {"function": _adds_up_without_the_mean, "x": zero_first},
            about="a token of zeros, and a function that subtracts the mean of the features",
        ),
        Case(
            {"function": _causal_convolutions_by_fourier_transform, "x": numbers(generator, 6, 3)},
            about="a function that is causal except for rounding",
        ),
        Case({"function": _adds_up, "x": numbers(generator, 1, 3)}, about="a single token"),
    ]


leak_finder = Exercise(
    lesson="03",
    name="my_influence",
    reference=leak_table,
    cases=_cases,
    outputs=("moved",),
    mistakes=[
        Mistake(
            edited(my_influence, "columns, dim=1", "columns, dim=0"),
            "Your table is transposed: row i belongs to output i, column j to the token j that you changed.",
        ),
        Mistake(
            edited(my_influence, ".abs()", ""),
            "You missed the outputs that move down: after - before can be negative. Take the absolute value.",
        ),
        Mistake(
            edited(my_influence, ".abs()", ".sum(dim=1, keepdim=True)"),
            "You added up the differences of an output's features with their signs: what moves down is missed, and ups "
            "and downs cancel. Take the absolute value of each.",
        ),
        Mistake(
            edited(my_influence, ".any", ".all"),
            "You counted an output as moved only if all its features moved. One is enough: any, not all.",
        ),
        Mistake(
            edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed[j:] = torch.randn_like(x[j:])"),
            "You changed token j and all tokens after it. Change one token at a time, and start each time from x.",
        ),
        Mistake(
            edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed[: j + 1] += torch.randn_like(x[j])"),
            "You changed token j and all tokens before it, as when the copy isn't made anew. Start each time from x.",
        ),
        Mistake(
            edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed[j, 0] += 1.0"),
            "The last feature is left out: you don't change it in token j, or don't compare it in the outputs. Change "
            "all features, and compare all.",
        ),
        Mistake(
            edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed[j, -1] += 1.0"),
            "The first feature is left out: you don't change it in token j, or don't compare it in the outputs. Change "
            "all features, and compare all.",
        ),
        Mistake(
            edited(my_influence, ".any(dim=1)", "[:, 0]"),
            "You compared only the first feature of the outputs. Any of them may move.",
        ),
        Mistake(
            edited(my_influence, ".abs()", ".sum(dim=1, keepdim=True).abs()"),
            "You added up the differences of an output's features, so ups and downs cancel. Look at each by itself.",
        ),
        Mistake(
            edited(my_influence, "moved.any", "~moved.any"),
            "True and False are swapped: True is for an output that moves.",
        ),
        Mistake(
            edited(my_influence, ".any(dim=1)", ".any(dim=1) & (torch.arange(len(x)) != j)"),
            "Your diagonal is False everywhere. Where output i moves with token i, that is part of the table, too.",
        ),
        Mistake(
            edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed[:, j] += 1.0"),
            "You changed feature j of every token: y[:, j] is a column. Token j is the row y[j].",
        ),
        Mistake(
            edited(my_influence, ".any(dim=1)", ".any(dim=0)"),
            "You asked along axis 0, the outputs, whether anything moves. Ask for each output by itself, along its "
            "features: dim=-1.",
        ),
        Mistake(
            edited(my_influence, "torch.stack(columns, dim=1)", "torch.cat(columns)"),
            "You put the columns into one long row: torch.cat adds no axis. torch.stack(columns, dim=1) puts them next "
            "to each other.",
        ),
        Mistake(
            edited(my_influence, ("any(dim=1)", "any()"), ("columns, dim=1", "columns")),
            "For each token you asked once whether anything moves, all outputs together. Ask for each output by "
            "itself, along its features: dim=-1.",
            also=(edited(my_influence, "moved.any(dim=1)", "bool(moved.any())"),),
        ),
        Mistake(
            edited(my_influence, "any(dim=1)", "any()"),
            "There is no axis 1: any() without an axis leaves one truth value for each token, and torch.cat adds no "
            "axis. Ask any(dim=-1), and put the columns next to each other with torch.stack(columns, dim=1).",
        ),
        Mistake(
            edited(my_influence, "= torch.randn_like(x[j])", "+= 1.0"),
            "You added the same number to every feature. A layer norm subtracts the mean of the features, so it undoes "
            "that, and you see nothing behind it. Use random numbers: torch.randn_like(x[j]).",
            seen_in="a function that begins with a layer norm",
        ),
        Mistake(
            edited(my_influence, "torch.randn_like(x[j])", "torch.randn(1)"),
            "You put one number into all features of token j. If they were all alike before, their mean says it all, "
            "and a layer norm subtracts it. Draw one for each feature: torch.randn_like(x[j]).",
            seen_in="a token of zeros, and a function that subtracts the mean of the features",
        ),
        Mistake(
            edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed = torch.randn_like(x)"),
            "Nearly every output counts as moved: you replaced all tokens at once, or didn't compare with before. "
            "Replace row j alone, in a copy of x, and subtract what function(x) gave.",
            also=(edited(my_influence, "changed[j] = torch.randn_like(x[j])", "changed[:] = torch.randn_like(x[j])"),),
        ),
        Mistake(
            edited(my_influence, "= torch.randn_like(x[j])", "*= 2.0"),
            "You multiplied token j by a number. If its features are all 0, it stays as it was; and a layer norm "
            "undoes it. Replace the token by random numbers: torch.randn_like(x[j]).",
            seen_in="a token whose features are all 0",
        ),
        Mistake(
            edited(my_influence, "= torch.randn_like(x[j])", "= 0.0"),
            "Setting token j to 0, multiplying it, or reordering its features leaves a token of zeros as it was. "
            "Replace it by random numbers: torch.randn_like(x[j]).",
            seen_in="a token whose features are all 0",
            also=(
                edited(my_influence, "torch.randn_like(x[j])", "-x[j]"),
                edited(my_influence, "torch.randn_like(x[j])", "x[j].flip(0)"),
            ),
        ),
        Mistake(
            edited(my_influence, "torch.randn_like(x[j])", "x[j - 1]"),
            "You put another token in the place of token j. If the two are the same, nothing changes. Replace it by "
            "random numbers: torch.randn_like(x[j]).",
            seen_in="tokens that are all the same",
            also=(edited(my_influence, "torch.randn_like(x[j])", "x.roll(-1, 0)[j]"),),
        ),
        Mistake(
            edited(my_influence, ".abs() > 1e-5", " != 0"),
            "You counted every difference, even one in the last digit. A function that takes its sums in another order "
            "gives such differences without any leak. Ignore what is below 1e-5.",
            seen_in="a function that is causal except for rounding",
        ),
        Mistake(
            lambda function, x: torch.eye(len(x), dtype=torch.bool),
            "Only the diagonal is True: you compared the tokens. Compare what the function gives for the changed copy "
            "with what it gives for x.",
        ),
        Mistake(
            lambda function, x: torch.zeros(len(x), len(x), dtype=torch.bool),
            "Nothing ever moves. Do you call the function on the changed copy, and compare with what it gave for x?",
        ),
        Mistake(
            edited(my_influence, ".any(dim=1)", ""),
            "This says for each feature whether it moved. An output has moved if any of its features has: "
            "moved.any(dim=-1).",
        ),
        Mistake(
            edited(my_influence, "before = function(x)", "before = x"),
            "You compared with x itself. Compare with what the function gives for x: before = function(x).",
        ),
        Mistake(
            edited(my_influence, "torch.stack(columns, dim=1)", "torch.stack(columns, dim=1).tril()"),
            "Above the diagonal your table is always False: you looked only at outputs from j on. The leaks are the "
            "others: look at every output.",
        ),
        Mistake(
            edited(my_influence, "1e-5", "1e-2"),
            "You overlooked outputs that move a little. More than 1e-5 counts: that is above rounding.",
            also=(edited(my_influence, "1e-5", "1e-3"), edited(my_influence, "1e-5", "0.1")),
        ),
        Mistake(
            edited(my_influence, "x.clone()", "x"),
            "y = x is only a second name for the same tensor: y[j] = … changes x itself, and the changes add up. Make "
            "a copy for each j: y = x.clone().",
            also=(edited(my_influence, ("x.clone()", "x"), ("- before", "- function(x)")),),
        ),
        Mistake(
            edited(my_influence, (" > 1e-5", ""), ("moved.any(dim=1)", "moved.amax(dim=1)")),
            "These are the differences themselves. Ask of each whether it is above 1e-5: the table holds True and "
            "False.",
            also=(
                edited(my_influence, (" > 1e-5", ""), ("moved.any(dim=1)", "moved.sum(dim=1)")),
                edited(my_influence, (" > 1e-5", ""), ("moved.any(dim=1)", "moved")),
            ),
        ),
        Mistake(
            edited(my_influence, "torch.stack(columns, dim=1)", "torch.stack(columns, dim=1).float()"),
            "The table is right, but it holds the numbers 0 and 1, as torch.zeros(T, T) does. Make it bool: "
            "torch.zeros(T, T, dtype=torch.bool).",
            also=(edited(my_influence, "torch.stack(columns, dim=1)", "torch.stack(columns, dim=1).long()"),),
        ),
        Mistake(
            edited(my_influence, "torch.stack(columns, dim=1)", "columns"),
            "Your result is a list. torch.stack(columns, dim=1) puts its columns next to each other.",
        ),
        Mistake(
            edited(my_influence, "range(len(x))", "range(x.size(1))"),
            "Your loop counts the features, x.size(1). The table has a column for each token: range(len(x)).",
        ),
    ],
    hints=[
        "Call the function once on x itself. Then, for each token j, on a copy of x in which only row j is replaced: "
        "y = x.clone(), then y[j] = torch.randn_like(x[j]).",
        "Output i has moved if any of its features differs from before by more than rounding: (after - before).abs() "
        "is above 1e-5, then .any(dim=-1).",
        "Each j gives one column of the table: torch.stack(columns, dim=1).",
    ],
    solution="""
        def my_influence(function, x):
            before = function(x)
            columns = []
            for j in range(len(x)):
                y = x.clone()
                y[j] = torch.randn_like(x[j])
                moved = (function(y) - before).abs() > 1e-5
                columns.append(moved.any(dim=-1))
            return torch.stack(columns, dim=1)
    """,
    in_package="lessons.probes.influence",
)
