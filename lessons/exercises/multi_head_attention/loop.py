"""Lesson 05, my_loop: several heads, one after the other, and their outputs concatenated."""

import torch
from torch import Tensor

from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def loop_over_heads(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """x (T, D), w_q, w_k and w_v (H, D, d) -> (T, H·d): each head by itself, their outputs concatenated."""
    outputs = [attend(x @ w_q[h], x @ w_k[h], x @ w_v[h])[0] for h in range(w_q.size(0))]  # H times (T, d)
    return torch.cat(outputs, dim=-1)


head_loop = Exercise(
    lesson="05",
    name="my_loop",
    reference=loop_over_heads,
    cases=lambda generator: [
        Case(
            {"x": numbers(generator, t, d_model)}
            | {w: numbers(generator, h, d_model, d) for w in ("w_q", "w_k", "w_v")}
        )
        for t, d_model, h, d in [(2, 3, 2, 4), (5, 7, 3, 2), (4, 6, 4, 3)]
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
            edited(loop_over_heads, "x @ w_q[h], x @ w_k[h]", "x @ w_q[0], x @ w_k[0]"),
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
            edited(loop_over_heads, "[0] for", " for"),
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
            edited(loop_over_heads, "w_k[h]", "w_q[h]"),
            "You computed the keys with w_q. They have their own matrices, w_k.",
        ),
        Mistake(
            edited(loop_over_heads, "w_v[h]", "w_k[h]"),
            "You computed the values with w_k. They have their own matrices, w_v.",
        ),
        Mistake(
            edited(loop_over_heads, "x @ w_k[h], x @ w_v[h]", "x @ w_v[h], x @ w_k[h]"),
            "Keys and values are swapped: attend takes q, k, v in this order.",
        ),
    ],
    hints=[
        "One head is lesson 04: attend(x @ w_q[h], x @ w_k[h], x @ w_v[h]). The result is (T, d).",
        "Collect the H results in a list, then torch.cat. Along which axis?",
    ],
    solution="""
        def my_loop(x, w_q, w_k, w_v):
            outputs = []
            for head in range(w_q.size(0)):
                output, _ = attend(x @ w_q[head], x @ w_k[head], x @ w_v[head])  # (T, d)
                outputs.append(output)
            return torch.cat(outputs, dim=-1)
    """,
)
