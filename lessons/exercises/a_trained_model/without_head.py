"""Lesson 14, my_without_head: the output of an attention with one head silenced."""

from torch import Tensor

from lessons.checking.edits import Edited, edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def without_head(joined: Tensor, num_heads: int, head: int, w_out: Tensor, b_out: Tensor) -> Tensor:
    """joined (B, S, D), the concatenated outputs of the heads -> (B, S, D): projected, with `head` at 0."""
    head_dim = joined.size(-1) // num_heads
    kept = joined.clone()
    kept[..., head * head_dim : (head + 1) * head_dim] = 0.0
    return kept @ w_out.T + b_out


def _silence_cases(generator) -> list[Case]:
    def case(b, s, h, d, head, draw=numbers, about="", gradients=False):
        size = h * d
        inputs = {"joined": draw(generator, b, s, size), "num_heads": h, "head": head}
        inputs |= {"w_out": draw(generator, size, size), "b_out": draw(generator, size)}
        return Case(inputs, about=about, gradients=gradients)

    return [
        case(1, 2, 2, 2, 1, small_numbers),
        case(2, 4, 3, 5, 1),
        case(3, 5, 4, 2, 2),
        case(3, 3, 3, 3, 2),
        case(2, 5, 2, 3, 0, about="the first head"),
        case(1, 3, 2, 3, 1, about="gradients", gradients=True),
    ]


PLACE = "head * head_dim : (head + 1) * head_dim"


def one_of(heads: str) -> Edited:
    """without_head by a view of `joined` in which the heads are taken to be axis 1."""
    return edited(
        without_head,
        ("joined.clone()", f"{heads}.clone()"),
        (f"..., {PLACE}", ":, head"),
        ("kept @", "kept.reshape(joined.shape) @"),
    )


silence = Exercise(
    lesson="14",
    name="my_without_head",
    reference=without_head,
    cases=_silence_cases,
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(without_head, "kept @", "joined @"),
            "No head is silent: this is the output with all heads.",
        ),
        Mistake(
            edited(without_head, "joined.clone()", "joined"),
            "The numbers are right, but you set the head to 0 in joined itself, which belongs to the caller: silence "
            "one head after another, and all earlier ones are still silent. Write into a clone.",
        ),
        Mistake(
            edited(
                without_head,
                ("joined.clone()", "joined @ w_out.T + b_out"),
                ("return kept @ w_out.T + b_out", "return kept"),
            ),
            "You set features to 0 after the projection. There they no longer belong to one head: out_proj mixes all "
            "heads into every feature. Silence the head before it.",
        ),
        Mistake(
            edited(without_head, ("joined.clone()", "joined @ w_out.T"), ("return kept @ w_out.T", "return kept")),
            "These features of the output are now only the bias. But the output's features belong to no single head: "
            "each mixes all of them. A head is read by *columns* of w_out; its rows are the output's features.",
        ),
        Mistake(
            edited(without_head, " @ w_out.T + b_out", ""),
            "The right head is silent, but out_proj is missing: … @ w_out.T + b_out.",
        ),
        Mistake(
            edited(without_head, PLACE, "head : head + head_dim"),
            "You silenced d features, but starting at feature head. This head starts at feature head · d.",
        ),
        Mistake(
            edited(without_head, PLACE, "head * head_dim :"),
            "You silenced this head and all heads after it. It ends at (head + 1) · d.",
        ),
        Mistake(
            one_of("joined.unflatten(-1, (num_heads, -1)).transpose(1, 2)"),
            "You joined the heads without moving their axis back: first (B, H, S, d) to (B, S, H, d) by "
            "transpose(1, 2), then to (B, S, D).",
        ),
        Mistake(
            one_of("joined.reshape(len(joined), num_heads, joined.size(1), -1)"),
            "reshape to (B, H, S, d) cuts the tokens into heads, not the features. First (B, S, H, d); there the heads "
            "are axis 2.",
        ),
        Mistake(
            edited(without_head, PLACE, "head::num_heads"),
            "You silenced every num_heads-th feature. A head has d contiguous features, from head · d on.",
        ),
        Mistake(
            edited(without_head, PLACE, "head * num_heads : (head + 1) * num_heads"),
            "You took num_heads for the size of a head. It is d = D / num_heads.",
        ),
        Mistake(
            edited(without_head, PLACE, "head * 32 : (head + 1) * 32"),
            "You took 32 for the size of a head, as in the model above. It is d = D / num_heads.",
        ),
        Mistake(
            edited(without_head, PLACE, "head"),
            "You silenced a single feature. A head has D / num_heads of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: without_head(x, n, h - 1, w, b),
            "That is the head before. Heads are counted from 0: head h begins at feature h · d.",
        ),
        Mistake(
            edited(without_head, "kept @", "(joined - kept) @"),
            "You kept this head and silenced all others.",
        ),
        Mistake(
            edited(without_head, "w_out.T", "w_out"),
            "The weight must be transposed: torch's linear layer is x @ w.T + b.",
        ),
        Mistake(
            edited(without_head, " + b_out", ""),
            "The bias of out_proj is missing. It belongs to no head and stays.",
        ),
        Mistake(
            edited(without_head, "kept @", "kept * num_heads / (num_heads - 1) @"),
            "You scaled the other heads up, as dropout does. Here they stay unchanged.",
        ),
        Mistake(
            edited(without_head, f"..., {PLACE}", ":, head"),
            "You silenced a token: axis 1 counts the tokens. The heads are along the last axis.",
        ),
        Mistake(
            edited(without_head, "kept @", "joined.new_zeros(joined.shape) @"),
            "Everything is silent: only the bias of out_proj is left.",
        ),
        Mistake(
            edited(without_head, f"..., {PLACE}", f":, {PLACE}"),
            "You silenced tokens: [:, a:b] cuts axis 1, which counts the tokens. Write [..., a:b] for the last axis.",
        ),
        Mistake(
            edited(without_head, "= 0.0", f"= joined[..., {PLACE}].mean(dim=(0, 1))"),
            "You put the head's mean in its place: mean ablation. Here the head outputs 0.",
        ),
    ],
    hints=[
        "joined contains head 0 in the first d features, head 1 in the next d, …",
        "Set joined[..., head · d : (head + 1) · d] to 0, in a clone.",
        "Then apply out_proj: … @ w_out.T + b_out.",
    ],
    solution="""
        def my_without_head(joined, num_heads, head, w_out, b_out):
            head_dim = joined.size(-1) // num_heads
            silenced = joined.clone()
            silenced[..., head * head_dim : (head + 1) * head_dim] = 0.0
            return silenced @ w_out.T + b_out
    """,
    in_package="lessons.interventions.intervene",
)
