"""Lesson 10, my_true_means_attend: find by experiment what True means in a mask."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.masks import causal
from lessons.probes import influence, true_means_attend


def _library(*, true_allows: bool, fill: float, empty: float | None):
    """An attention whose mask has the given meaning, and that gives `empty` for a row with no open key.

    Its values are not the tokens: where only a token itself is open, the output is still another than the token.
    """

    def attention(x: Tensor, mask: Tensor) -> Tensor:
        hidden = ~mask if true_allows else mask
        weights = (x @ x.mT).masked_fill(hidden, fill).softmax(dim=-1)
        if empty is not None:
            weights = weights.masked_fill(hidden.all(dim=-1, keepdim=True), empty)
        return weights @ x.flip(-1)

    gives = "0" if empty == 0.0 else "NaN" if fill == -torch.inf else "equal_weights"
    attention.__name__ = f"where_True_{'allows' if true_allows else 'blocks'}_and_an_empty_row_gives_{gives}"
    return attention


def _fused(x: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=mask)[0]


def _as_tensor(candidate, attention, x):
    """True and False of Python count as well."""
    answer = candidate(attention, x)
    return answer if answer is None or isinstance(answer, Tensor | str) else torch.as_tensor(answer)


def _all(x: Tensor, value: bool) -> Tensor:
    return torch.full((len(x), len(x)), value)


def _by_causal_mask(attention, x: Tensor) -> Tensor:
    """Whether the last output moves with the first token: blocked, that query would have no key at all."""
    return influence(lambda tokens: attention(tokens, causal(len(x))), x)[-1, 0]


def _one_pair(x: Tensor) -> Tensor:
    """True for query 0 and the last key."""
    mask = _all(x, False)
    mask[0, -1] = True
    return mask


meaning_found = Exercise(
    lesson="10",
    name="my_true_means_attend",
    reference=true_means_attend,
    cases=lambda generator: [
        Case({"attention": attention, "x": numbers(generator, tokens, 3)})
        for attention, tokens in [
            (_fused, 4),
            (_library(true_allows=False, fill=-torch.inf, empty=None), 5),
            (_library(true_allows=True, fill=-torch.inf, empty=None), 3),
            (_library(true_allows=False, fill=-torch.inf, empty=0.0), 4),
            (_library(true_allows=True, fill=-1e9, empty=None), 5),
            (_library(true_allows=False, fill=-1e9, empty=None), 3),
        ]
    ],
    outputs=("the answer",),
    call=_as_tensor,
    mistakes=[
        Mistake(
            lambda attention, x: not true_means_attend(attention, x),
            "Inverted. If an output moves with a token whose pair is True, True means may attend; if it moves with a "
            "token whose pair is False, True means blocked.",
        ),
        Mistake(
            lambda attention, x: not attention(x, _all(x, True)).isnan().any().item(),
            "You took NaN as the sign of a row that is completely blocked. Not every library gives NaN there: some "
            "give 0, some equal weights. Change a token, and see whether the output moves.",
        ),
        Mistake(
            lambda attention, x: not (attention(x, _all(x, True)) == 0).all().item(),
            "Where True means blocked, your answer is right only if a completely blocked row gives 0. Some libraries "
            "give NaN there, some equal weights. Leave each query that you watch at least one key.",
        ),
        Mistake(
            _by_causal_mask,
            "Where True means blocked, your mask leaves the query that you watch no key at all. Some libraries "
            "then give equal weights, and its output moves with every token. Whatever True means, leave this query a "
            "key.",
        ),
        Mistake(
            lambda attention, x: attention(x, _all(x, False)).isnan().any().item(),
            "You looked for NaN where all is False. That tells you only whether an empty row gives NaN; in some "
            "libraries it gives 0, in some equal weights. Change a token, and see whether the output moves.",
        ),
        Mistake(
            lambda attention, x: torch.allclose(attention(x, torch.eye(len(x), dtype=torch.bool)), x),
            "You answer True for one library only. If you compared the output with x: a library may project the tokens "
            "first, so its output is not x even where each token attends to itself alone. If your mask is False "
            "everywhere: not every library gives 0 for an empty row. Leave query 0 a key, and change that token.",
        ),
        Mistake(
            lambda attention, x: True,
            "You answer True for every library. Did you compare all outputs, or that of the token you changed? That "
            "token is a query too, and its own output always moves. Compare output 0, and change another token.",
        ),
        Mistake(
            lambda attention, x: False,
            "You answer False for every library. If you compared all outputs at once, they always differ: the token "
            "you changed is a query too, and its own output moves. Compare only output 0. If you use influence: does "
            "your function use the tokens that it is given?",
        ),
        Mistake(
            lambda attention, x: influence(lambda tokens: attention(tokens, _one_pair(x)), x)[-1, 0],
            "You watch another pair than the one that is True in your mask. If that is mask[0, -1], query 0 and the "
            "last key, watch output 0, and change the last token: influence(…)[0, -1].",
            also=[
                lambda attention, x: (
                    not torch.equal(
                        attention(x, _one_pair(x))[-1], attention(torch.cat([x[:1] + 1, x[1:]]), _one_pair(x))[-1]
                    )
                ),
            ],
        ),
    ],
    hints=[
        "Make a mask in which a single pair is True: query 0 and the last key.",
        "Call the attention with x, and with a copy of x in which the last token is changed. Has output 0 moved?",
        "influence(lambda tokens: attention(tokens, mask), x) does this for each token; its entry [0, -1] is the "
        "answer you need.",
    ],
    solution="""
        def my_true_means_attend(attention, x):
            mask = torch.zeros(len(x), len(x), dtype=torch.bool)
            mask[0, -1] = True  # one pair: query 0 and the last key
            changed = x.clone()
            changed[-1] = torch.randn_like(x[-1])
            return not torch.equal(attention(x, mask)[0], attention(changed, mask)[0])
    """,
    in_package="lessons.probes.true_means_attend",
)
