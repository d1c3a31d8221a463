"""Lesson 08, my_three_parts: residual connections and norms around three sublayers, or two without a memory."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.checking.stages import recorded, unrecorded
from lessons.exercises.encoder.layer_norm import layer_norm


def three_parts(x: Tensor, memory: Tensor | None, parts, norms, norm_first: bool) -> Tensor:
    """x (T, D), memory (S, D) or None -> (T, D). Without a memory, cross-attention and its norm are left out.

    parts: self_attention(y), cross_attention(y, memory), feed_forward(y). norms: one for each of them.
    """
    self_attention, cross_attention, feed_forward = parts
    norm1, norm2, norm3 = norms
    if norm_first:
        x = x + self_attention(norm1(x))
        if memory is not None:
            x = x + cross_attention(norm2(x), memory)
        return x + feed_forward(norm3(x))
    x = norm1(x + self_attention(x))
    if memory is not None:
        x = norm2(x + cross_attention(x, memory))
    return norm3(x + feed_forward(x))


def _parts_called(record, candidate, x, memory, w_self, w_cross, w_feed, gains, norm_first):
    size = x.size(-1)

    def cross_attention(y, memory):
        return torch.tanh(y @ w_cross @ memory.T).softmax(dim=-1) @ memory

    def norm(gain):
        return lambda y: layer_norm(y, gain, torch.zeros(size), 0.1)

    parts = (
        recorded("self_attention", lambda y: torch.tanh(y @ w_self).cumsum(dim=0), record),
        recorded("cross_attention", cross_attention, record),
        recorded("feed_forward", lambda y: torch.relu(y @ w_feed) @ w_feed.T, record),
    )
    norms = [recorded(f"norm{i}", norm(gain), record) for i, gain in enumerate(gains, start=1)]
    return candidate(x, memory, parts, norms, norm_first)


def _parts_cases(generator) -> list[Case]:
    def case(t, s, d, f, first, about=""):
        drawn = {
            "x": numbers(generator, t, d),
            "memory": 2 * numbers(generator, s, d) + 1 if s else None,
            "w_self": numbers(generator, d, d),
            "w_cross": numbers(generator, d, d),
            "w_feed": numbers(generator, d, f),
            "gains": numbers(generator, 3, d),
        }
        return Case(drawn | {"norm_first": first}, about=about)

    return [
        case(2, 3, 2, 4, True),
        case(3, 5, 4, 6, False),
        case(4, 4, 4, 4, True),
        case(4, 4, 4, 4, False),
        case(2, 0, 3, 4, True, "no memory"),
        case(3, 0, 2, 4, False, "no memory, norm_first=False"),
        case(1, 3, 4, 5, True, "a single token"),
    ]


def _around(norm_first=lambda x, f, norm: x + f(norm(x)), norm_last=lambda x, f, norm: norm(x + f(x))):
    """The three sublayers with something else around each of them, in Pre-LN, in Post-LN, or in both."""

    def wrong(x, memory, parts, norms, first):
        for number, (part, norm) in enumerate(zip(parts, norms)):
            if number == 1 and memory is None:
                continue
            sublayer = (lambda y: parts[1](y, memory)) if number == 1 else part
            x = (norm_first if first else norm_last)(x, sublayer, norm)
        return x

    return wrong


def _memory_first(x, memory, parts, norms, first):
    """Cross-attention before self-attention, each with its own norm; without a memory all is right."""
    if memory is None:
        return three_parts(x, memory, parts, norms, first)
    look, ask, feed = parts
    turned = (lambda y: ask(y, memory), lambda y, _: look(y), feed)
    return three_parts(x, memory, turned, [norms[1], norms[0], norms[2]], first)


_PARALLEL_FIRST = (
    ("x = x + self_attention", "y = x + self_attention"),
    ("x = x + cross_attention", "y = y + cross_attention"),
    ("return x + feed", "return y + feed"),
)
_PARALLEL_LAST = (
    ("x = norm1(x + self", "y = norm1(x + self"),
    ("x = norm2(x + cross", "y = norm2(y + cross"),
    ("norm3(x + feed", "norm3(y + feed"),
)

three = Exercise(
    lesson="08",
    name="my_three_parts",
    reference=three_parts,
    cases=_parts_cases,
    call=unrecorded(_parts_called),
    stages=_parts_called,
    mistakes=[
        Mistake(
            edited(
                three_parts,
                ("    if memory is not None:\n            x = x +", "    if True:\n            x = x +"),
                ("\n    if memory is not None:\n        x = norm2", "\n    if True:\n        x = norm2"),
            ),
            "memory may be None: there is no source to attend to. Then leave out cross-attention, with its residual "
            "connection and its norm.",
            seen_in="no memory",
        ),
        Mistake(
            edited(three_parts, "\n    if memory is not None:\n        x = norm2", "\n    if True:\n        x = norm2"),
            "With norm_first a memory of None is right. With norm_first=False, cross-attention is still called.",
            seen_in="no memory, norm_first=False",
        ),
        Mistake(
            edited(
                three_parts,
                (
                    "    if memory is not None:\n            x = x + cross_attention(norm2(x), memory)",
                    "    x = x + cross_attention(norm2(x), x if memory is None else memory)",
                ),
                (
                    "    if memory is not None:\n        x = norm2(x + cross_attention(x, memory))",
                    "    x = norm2(x + cross_attention(x, x if memory is None else memory))",
                ),
            ),
            "Without a memory you attend to x a second time. Leave cross-attention out, with its residual connection "
            "and its norm.",
            also=(
                edited(
                    three_parts,
                    "    if memory is not None:\n            x = x + cross_attention(norm2(x), memory)",
                    "    x = x + cross_attention(norm2(x), x if memory is None else memory)",
                ),
                edited(
                    three_parts,
                    "    if memory is not None:\n        x = norm2(x + cross_attention(x, memory))",
                    "    x = norm2(x + cross_attention(x, x if memory is None else memory))",
                ),
            ),
        ),
        Mistake(
            edited(
                three_parts,
                ("return x + feed_forward(norm3(x))", "return x if memory is None else x + feed_forward(norm3(x))"),
                ("return norm3(x + feed_forward(x))", "return x if memory is None else norm3(x + feed_forward(x))"),
            ),
            "Without a memory the feed-forward network is left out, too. It needs no memory: keep it, with its norm.",
            seen_in="no memory",
        ),
        Mistake(
            edited(
                three_parts,
                ("    if memory is not None:\n            x = x +", "    if memory:\n            x = x +"),
                ("\n    if memory is not None:\n        x = norm2", "\n    if memory:\n        x = norm2"),
            ),
            "`if memory` asks whether a tensor is true, which torch refuses. Ask: memory is not None.",
            also=(
                edited(three_parts, "if memory is not None:\n            x = x +", "if memory:\n            x = x +"),
                edited(
                    three_parts,
                    "\n    if memory is not None:\n        x = norm2",
                    "\n    if memory:\n        x = norm2",
                ),
            ),
        ),
        Mistake(
            edited(three_parts, "return norm3", "x = x if memory is not None else norm2(x)\n    return norm3"),
            "Without a memory you still use the second norm. It belongs to cross-attention: leave it out, too.",
            seen_in="no memory, norm_first=False",
        ),
        Mistake(
            edited(
                three_parts,
                "norm1, norm2, norm3 = norms",
                "norm1, norm2, norm3 = norms if memory is not None else [*norms[:2], norms[1]]",
            ),
            "Without a memory, the feed-forward network got the norm of cross-attention. It keeps its own, the third.",
            seen_in="no memory",
        ),
        Mistake(
            lambda x, memory, parts, *others: three_parts(
                x, memory, (lambda y: parts[1](y, memory), lambda y, _: parts[0](y), parts[2]), *others
            ),
            "Cross-attention came first. Self-attention comes first, then cross-attention.",
            also=(_memory_first,),
        ),
        Mistake(
            edited(three_parts, "norm2(x), memory", "norm2(x), norm2(memory)"),
            "You normalized the memory, too. It is used as the encoder returns it; only x is normalized.",
            also=(
                edited(
                    three_parts,
                    ("norm2(x), memory", "norm2(x), norm2(memory)"),
                    ("attention(x, memory)", "attention(x, norm2(memory))"),
                ),
            ),
        ),
        Mistake(
            edited(three_parts, ("norm2(x), memory", "norm2(x), norm2(x)"), ("(x, memory))", "(x, x))")),
            "Cross-attention got the decoder's x in place of the memory: nothing of the source arrives.",
            also=(edited(three_parts, ("norm2(x), memory", "norm2(x), x"), ("(x, memory))", "(x, x))")),),
        ),
        Mistake(
            edited(three_parts, ("(norm2(x), memory)", "(memory, norm2(x))"), ("(x, memory)", "(memory, x)")),
            "cross_attention got its arguments in the wrong order: first x, whose queries ask, then the memory.",
        ),
        Mistake(
            edited(
                three_parts,
                ("x = x + self_attention", "start, x = x, x + self_attention"),
                ("x + cross_attention(norm2", "start + cross_attention(norm2"),
                ("x + feed_forward(norm3", "start + feed_forward(norm3"),
                ("x = norm1(x + ", "start, x = x, norm1(x + "),
                ("norm2(x + ", "norm2(start + "),
                ("norm3(x + ", "norm3(start + "),
            ),
            "You added the x that came in, each time, so what the sublayer before has added is not in the sum. Add the "
            "x that it left.",
        ),
        Mistake(
            edited(three_parts, *_PARALLEL_FIRST, *_PARALLEL_LAST),
            "The sublayers work in parallel: they get the same x. Each gets what the one before it has left.",
            also=(edited(three_parts, *_PARALLEL_FIRST), edited(three_parts, *_PARALLEL_LAST)),
        ),
        Mistake(
            edited(three_parts, ("x + feed_forward(norm3", "feed_forward(norm3"), ("norm3(x + ", "norm3(")),
            "The residual connection around the feed-forward network is missing.",
            also=(
                edited(three_parts, "norm3(x + ", "norm3("),
                edited(three_parts, "x + feed_forward(norm3", "feed_forward(norm3"),
            ),
        ),
        Mistake(
            edited(three_parts, ("x + cross_attention(norm2", "cross_attention(norm2"), ("norm2(x + ", "norm2(")),
            "The residual connection around cross-attention is missing: what self-attention left is not added.",
        ),
        Mistake(
            _around(lambda x, f, norm: f(norm(x)), lambda x, f, norm: norm(f(x))),
            "There is no residual connection: add x to the output of each sublayer.",
        ),
        Mistake(
            edited(three_parts, "norm2(x), memory", "x, memory"),
            "With norm_first, one of the sublayers got x without its norm. Each of the three gets norm(x), with the "
            "norm of its own.",
            also=(
                edited(three_parts, "self_attention(norm1(x))", "self_attention(x)"),
                edited(three_parts, "feed_forward(norm3(x))", "feed_forward(x)"),
            ),
        ),
        Mistake(
            _around(norm_first=lambda x, f, norm: norm(x) + f(norm(x))),
            "With norm_first you added norm(x). Add x itself: only the sublayer gets norm(x).",
        ),
        Mistake(
            _around(norm_first=lambda x, f, norm: x + norm(f(x))),
            "You normalized the output of a sublayer. With norm_first, normalize the input of the sublayer; otherwise "
            "normalize the sum.",
            also=(
                _around(norm_last=lambda x, f, norm: x + norm(f(x))),
                _around(lambda x, f, norm: x + norm(f(x)), lambda x, f, norm: x + norm(f(x))),
            ),
        ),
        Mistake(
            edited(three_parts, "if norm_first", "if not norm_first"),
            "Pre-LN and Post-LN are swapped: norm_first=True is x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(
                three_parts,
                ("        if memory is not None:\n            x = x + cross_attention(norm2(x), memory)\n", ""),
                ("    if memory is not None:\n        x = norm2(x + cross_attention(x, memory))\n", ""),
            ),
            "The memory is not used: cross-attention, with its norm, is missing.",
        ),
        Mistake(
            edited(three_parts, "x + feed_forward(norm3(x))", "norm3(x + feed_forward(norm3(x)))"),
            "With norm_first there is one norm too many, at the end. Each of the three goes before a sublayer.",
        ),
        Mistake(
            edited(three_parts, "if norm_first", "if True"),
            "norm_first=False is ignored. With it, each sum is normalized.",
        ),
        Mistake(
            edited(three_parts, "if norm_first", "if False"),
            "norm_first=True is ignored. With it, each sublayer gets norm(x), and x is added to its output.",
        ),
        Mistake(
            edited(three_parts, "return x + feed_forward(norm3(x))", "x = x + feed_forward(norm3(x))"),
            "With norm_first the three sublayers run, and then the three of Post-LN once more: a return or an else is "
            "missing.",
        ),
        Mistake(
            edited(three_parts, "norm1, norm2, norm3 = norms", "norm1, norm3, norm2 = norms"),
            "The second and the third norm are swapped: norms are in the order of the parts, also if memory is None.",
        ),
        Mistake(
            edited(three_parts, "norm1, norm2, norm3 = norms", "norm1 = norm2 = norm3 = norms[0]"),
            "The first norm is used three times. Each of the three has its own.",
        ),
        Mistake(
            edited(
                three_parts,
                ("return x + feed_forward(norm3(x))", "return x"),
                ("return norm3(x + feed_forward(x))", "return x"),
            ),
            "The feed-forward network and its norm are missing.",
        ),
        Mistake(
            edited(three_parts, ("norm2(x), memory", "norm2(x)"), ("(x, memory))", "(x))")),
            "cross_attention takes two arguments: x, whose queries ask, and the memory. If there is no memory, don't "
            "call it.",
            also=(
                edited(
                    three_parts,
                    (
                        "    if memory is not None:\n            x = x + cross_attention(norm2(x), memory)",
                        "    x = x + cross_attention(norm2(x))",
                    ),
                    (
                        "    if memory is not None:\n        x = norm2(x + cross_attention(x, memory))",
                        "    x = norm2(x + cross_attention(x))",
                    ),
                ),
            ),
        ),
    ],
    hints=[
        "It is my_surround from lesson 07, three times, each with its own norm.",
        "cross_attention takes two arguments: lambda y: cross_attention(y, memory) takes one.",
        "If memory is None, the lines with cross_attention are skipped. Each norm still belongs to its own sublayer.",
    ],
    solution="""
        def my_three_parts(x, memory, parts, norms, norm_first):
            self_attention, cross_attention, feed_forward = parts
            norm1, norm2, norm3 = norms
            if norm_first:
                x = x + self_attention(norm1(x))
                if memory is not None:
                    x = x + cross_attention(norm2(x), memory)
                return x + feed_forward(norm3(x))
            x = norm1(x + self_attention(x))
            if memory is not None:
                x = norm2(x + cross_attention(x, memory))
            return norm3(x + feed_forward(x))
    """,
    in_package="lessons.layers.DecoderLayer",
)
