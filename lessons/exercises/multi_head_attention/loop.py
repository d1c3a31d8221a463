"""Lesson 05, my_loop: several heads, one after the other, some of which share keys and values."""

import torch
from torch import Tensor

from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def loop_over_heads(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """x (T, D), w_q (H, D, d), w_k and w_v (G, D, d) -> (T, H·d): neighboring heads share one of G keys and values."""
    group = w_q.size(0) // w_k.size(0)
    outputs = []
    for h in range(w_q.size(0)):
        g = h // group
        k, v = x @ w_k[g], x @ w_v[g]
        outputs.append(attend(x @ w_q[h], k, v)[0])  # (T, d)
    return torch.cat(outputs, dim=-1)


SHARED = "heads share keys and values"

head_loop = Exercise(
    lesson="05",
    name="my_loop",
    reference=loop_over_heads,
    cases=lambda generator: [
        Case(
            {"x": numbers(generator, t, d_model)}
            | {w: numbers(generator, heads, d_model, d) for w, heads in (("w_q", h), ("w_k", g), ("w_v", g))},
            about=about,
        )
        for t, d_model, h, g, d, about in [
            (2, 3, 2, 2, 4, ""),
            (5, 7, 3, 3, 2, ""),
            (2, 3, 4, 2, 1, SHARED),
            (3, 5, 6, 3, 2, SHARED),
            (4, 3, 6, 2, 2, SHARED),
            (2, 4, 3, 1, 2, SHARED),
            (1, 3, 2, 2, 4, "a single token"),
        ]
    ],
    mistakes=[
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "torch.stack(outputs).mean(dim=0)"),
            "You averaged the heads. Concatenate them, so that the next layer can still tell them apart.",
        ),
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "torch.stack(outputs).sum(dim=0)"),
            "You added the heads up. Concatenate them, so that the next layer can still tell them apart.",
        ),
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "torch.stack(outputs)"),
            "You stacked the heads along a new axis, (H, T, d). Concatenate them along the features: (T, H·d).",
        ),
        Mistake(
            edited(loop_over_heads, "dim=-1", "dim=0"),
            "You put the heads below each other, which makes H·T tokens. Concatenate along the features, dim=-1.",
        ),
        Mistake(
            edited(loop_over_heads, "range(w_q.size(0))", "[0] * len(w_q)"),
            "All your heads use the matrices of head 0. Each head has its own.",
        ),
        Mistake(
            edited(loop_over_heads, ("x @ w_q[h]", "x @ w_q[0]"), ("w_k[g]", "w_k[0]")),
            "All your heads use the weights of head 0. Compute queries, keys and weights anew for each head.",
        ),
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "torch.stack(outputs).reshape(len(x), -1)"),
            "The shape is right, the numbers are not: you reshaped the stacked heads (H, T, d) directly, so each row "
            "mixes tokens. Bring the tokens to the front first, or use torch.cat.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q * w_q.size(-1) ** 0.5, w_k, w_v),
            "The scores are not scaled: within a head, divide them by √d. attend does it for you.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q * (w_q.size(-1) / w_q.size(-2)) ** 0.5, w_k, w_v),
            "You divided by √D, the size of the tokens. Within a head, queries and keys have d features: divide by √d.",
        ),
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "outputs[0]"),
            "You returned only one head. Is `return` inside the loop? Or does each head overwrite the one before?",
            also=(edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "outputs[-1]"),),
        ),
        Mistake(
            edited(loop_over_heads, "v)[0])", "v))"),
            "attend returns two things, output and weights, and you put both into the list. Take the first: "
            "attend(…)[0].",
        ),
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "torch.stack(outputs, dim=-1).flatten(-2)"),
            "The heads' features are interleaved. All of head 0's come first, then head 1's.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: attend(*(x @ torch.cat(list(w), dim=-1) for w in (w_q, w_k, w_v)))[0],
            "That is one large head: you concatenated the matrices, and attention ran once, with one table of "
            "weights. Each head has its own table.",
        ),
        Mistake(
            edited(loop_over_heads, "w_k[g]", "w_q[h]"),
            "You computed the keys with w_q. They have their own matrices, w_k.",
        ),
        Mistake(
            edited(loop_over_heads, "w_v[g]", "w_k[g]"),
            "You computed the values with w_k. They have their own matrices, w_v.",
        ),
        Mistake(
            edited(loop_over_heads, "k, v = ", "v, k = "),
            "Keys and values are swapped: attend takes q, k, v in this order.",
        ),
        Mistake(
            edited(loop_over_heads, "h // group", "h"),
            "With as many keys and values as heads it is right. With fewer, the later heads have no slice of their "
            "own: heads share them. How many heads share one?",
            seen_in=SHARED,
        ),
        Mistake(
            edited(loop_over_heads, "h // group", "h % w_k.size(0)"),
            "You gave the keys and values to the heads in turn: 0, 1, 0, 1. Neighbors share: 0, 0, 1, 1.",
            seen_in=SHARED,
        ),
        Mistake(
            edited(loop_over_heads, ("range(w_q.size(0))", "range(w_k.size(0))"), ("h // group", "h")),
            "You stopped after as many heads as there are keys and values. There are as many heads as there are "
            "queries: w_q.size(0). (zip stops at the shortest, too.)",
            seen_in=SHARED,
            also=(edited(loop_over_heads, "range(w_q.size(0))", "range(w_k.size(0))"),),
        ),
        Mistake(
            edited(loop_over_heads, "h // group", "h % group"),
            "You took the remainder, h % (H // G): it starts again at 0 with each group. Divide: h // (H // G).",
            also=(edited(loop_over_heads, "h // group", "h % group % w_k.size(0)"),),
        ),
        Mistake(
            edited(loop_over_heads, "w_q[h]", "w_q[g]"),
            "The keys and values are right, but heads that share them got the same queries, too. Each head has its "
            "own: w_q[h].",
            seen_in=SHARED,
        ),
        Mistake(
            edited(loop_over_heads, "w_q.size(0) // w_k.size(0)", "w_k.size(0)"),
            "You divided the head's number by the number of keys and values, G. Divide it by the number of heads that "
            "share: H // G.",
            seen_in=SHARED,
        ),
        Mistake(
            edited(loop_over_heads, "h // group", "0"),
            "All heads share the first slice of w_k and w_v. There are w_k.size(0) of them.",
        ),
        Mistake(
            edited(loop_over_heads, "w_v[g]", "w_v[h % w_v.size(0)]"),
            "The keys are right, the values are not: heads that share keys share the values as well, neighbors with "
            "neighbors.",
            seen_in=SHARED,
            also=(edited(loop_over_heads, "w_v[g]", "w_v[0]"),),
        ),
        Mistake(
            edited(loop_over_heads, "w_q[h]", "w_q[h % group * w_k.size(0) + g]"),
            "You dealt the queries out in turn: slice g of the keys and values got the heads g, g + G, and so on. "
            "Neighboring heads share one, in their order.",
            seen_in=SHARED,
        ),
        Mistake(
            edited(loop_over_heads, "x @ w_v[g]", "x"),
            "w_v is not used: the values of a head are x times its slice of w_v.",
        ),
        Mistake(
            edited(
                loop_over_heads,
                "outputs.append(attend(x @ w_q[h], k, v)[0])",
                "x = attend(x @ w_q[h], k, v)[0]; outputs.append(x)",
            ),
            "One of the matrices got d features, not the D of x. Did a head get the output of the one before? All "
            "heads read the same x: give the output another name.",
        ),
        Mistake(
            edited(loop_over_heads, "v)[0]", "v)[1]"),
            "You concatenated the tables of weights. attend returns the output first: attend(…)[0].",
        ),
        Mistake(
            edited(loop_over_heads, "attend(x @ w_q[h]", "attend(x @ w_q[h] / w_q.size(-1) ** 0.5"),
            "The scores are scaled twice: attend divides them by √d by itself.",
        ),
        Mistake(
            edited(loop_over_heads, "attend(x @ w_q[h], k, v)[0]", "x @ w_q[h] @ k.T / k.size(-1) ** 0.5 @ v"),
            "The softmax is missing: the scores are no weights yet. attend does all of it.",
        ),
        Mistake(
            edited(loop_over_heads, "h // group", "min(h, w_k.size(0) - 1)"),
            "All the later heads share the last slice of w_k and w_v. Each slice has equally many heads: H // G.",
            seen_in=SHARED,
        ),
        Mistake(
            edited(loop_over_heads, "w_k[g]", "w_k[h % w_k.size(0)]"),
            "The values are right, the keys are not: heads that share values share the keys as well, neighbors with "
            "neighbors.",
            seen_in=SHARED,
            also=(edited(loop_over_heads, "w_k[g]", "w_k[0]"),),
        ),
        Mistake(
            edited(loop_over_heads, "torch.cat(outputs, dim=-1)", "outputs"),
            "Your result is a list of the heads' outputs. torch.cat(…, dim=-1) puts them next to each other.",
        ),
        Mistake(
            edited(loop_over_heads, "w_q[h]", "w_q[h % group]"),
            "The keys and values are right, but each slice of them got the first queries again. Head i of slice g uses "
            "w_q[g * (H // G) + i].",
        ),
        Mistake(
            edited(loop_over_heads, "h // group", "h / group"),
            "/ gives a float, and an index is a whole number. // divides and rounds down.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: attend(x @ w_q, x @ w_k, x @ w_v)[0].transpose(0, 1).flatten(1),
            "All heads at once need as many keys and values as queries. Repeat each slice for the heads that share it: "
            "w_k.repeat_interleave(H // G, dim=0), and w_v likewise.",
            seen_in=SHARED,
        ),
    ],
    hints=[
        "One head is lesson 04: attend(q, k, v), with its own q. The result is (T, d). Which k and v does it get?",
        "With H = 6 and G = 2, the heads 0 to 5 use the slices 0, 0, 0, 1, 1, 1. How many heads share one? And which "
        "arithmetic makes these numbers out of 0 to 5?",
        "H // G heads share a slice, so head h uses slice h // (H // G). Collect the H results in a list, then "
        "torch.cat. Along which axis?",
    ],
    solution="""
        def my_loop(x, w_q, w_k, w_v):
            share = w_q.size(0) // w_k.size(0)  # this many heads share keys and values
            outputs = []
            for head in range(w_q.size(0)):
                k, v = x @ w_k[head // share], x @ w_v[head // share]
                output, _ = attend(x @ w_q[head], k, v)  # (T, d)
                outputs.append(output)
            return torch.cat(outputs, dim=-1)
    """,
)
