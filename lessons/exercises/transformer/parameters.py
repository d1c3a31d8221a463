"""Lesson 09: my_parameters."""

import torch

from lessons.checking.engine import Case, Exercise, Mistake


def count_parameters(d_model: int, d_ff: int, num_layers: int, vocab_size: int) -> int:
    """One shared table of embeddings, also the final projection, which has a bias; Post-LN without a last norm."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return num_layers * (encoder_layer + decoder_layer) + vocab_size * d_model + vocab_size


def _counted(
    d, f, n, v, *, bias=1, norms=(2, 3), attentions=(1, 2), tables=1, end=1, norm_size=2, ff_bias=1, matrices=4
):
    attention = matrices * (d * d + bias * d)
    feed = 2 * d * f + ff_bias * (f + d)
    layers = sum(a * attention + feed + m * norm_size * d for a, m in zip(attentions, norms))
    return n * layers + tables * v * d + end * v


def _only(d, f, n, v, side):
    """The layers of one side, and the table: side 0 is the encoder, 1 the decoder."""
    attention, feed = 4 * (d * d + d), 2 * d * f + f + d
    return n * ((1 + side) * attention + feed + (2 + side) * 2 * d) + v * d + v


def _whole_number(candidate, *sizes):
    count = candidate(*sizes)
    if count is None:
        return None
    if isinstance(count, bool | str) or count != int(count):
        raise TypeError(f"expected a whole number, got {count!r}")
    return torch.tensor(int(count))


counting = Exercise(
    lesson="09",
    name="my_parameters",
    reference=count_parameters,
    call=_whole_number,
    cases=lambda generator: [
        Case({"d_model": d, "d_ff": f, "num_layers": n, "vocab_size": v})
        for d, f, n, v in [(4, 6, 1, 5), (6, 8, 2, 11), (512, 2048, 6, 37000)]
    ],
    mistakes=[
        Mistake(
            lambda *sizes: _counted(*sizes, attentions=(1, 1)),
            "A decoder layer has *two* attentions: self-attention and cross-attention.",
        ),
        Mistake(lambda *sizes: _counted(*sizes, norms=(0, 0)), "The norms are missing: 2 · d_model numbers for each."),
        Mistake(
            lambda *sizes: _counted(*sizes, norms=(2, 2)),
            "A decoder layer has three norms, one for each of its sublayers.",
        ),
        Mistake(
            lambda *sizes: _counted(*sizes, norm_size=1),
            "A norm has a weight *and* a bias for each feature: 2 · d_model.",
        ),
        Mistake(
            lambda *sizes: _counted(*sizes, bias=0),
            "The biases of the attentions are missing: d_model for each matrix.",
        ),
        Mistake(lambda *sizes: _counted(*sizes, ff_bias=0), "The biases of the feed-forward networks are missing."),
        Mistake(
            lambda *sizes: _counted(*sizes, bias=0, ff_bias=0),
            "The biases of the attentions and of the feed-forward networks are missing.",
            also=(lambda *sizes: _counted(*sizes, bias=0, ff_bias=0, end=0),),
        ),
        Mistake(
            lambda *sizes: _counted(*sizes, matrices=3),
            "An attention has four matrices: for queries, keys, values, and one more for what the heads give together.",
        ),
        Mistake(
            lambda d, f, n, v: _counted(d, f, n, v) + 4 * d,
            "You counted a last norm for the encoder and the decoder. Pre-LN has them; this model is Post-LN.",
        ),
        Mistake(
            lambda *sizes: _counted(*sizes, tables=2),
            "You counted two tables. Source, target and final projection share a single one here.",
        ),
        Mistake(lambda d, f, n, v: _only(d, f, n, v, 0), "That is the encoder, and the table. The decoder is missing."),
        Mistake(lambda d, f, n, v: _only(d, f, n, v, 1), "That is the decoder, and the table. The encoder is missing."),
        Mistake(
            lambda *sizes: _counted(*sizes, tables=3),
            "You counted three tables. Source, target and final projection share one here.",
        ),
        Mistake(
            lambda *sizes: _counted(*sizes, end=0), "The final projection's bias is missing: one number for each word."
        ),
        Mistake(lambda *sizes: _counted(*sizes, tables=0, end=0), "The table of embeddings is missing."),
        Mistake(
            lambda d, f, n, v: _counted(d, f, 1, v),
            "That is one layer on each side. There are num_layers of them.",
        ),
    ],
    hints=[
        "An attention: four matrices D × D, a bias of D for each. A feed-forward network: D × F + F, and F × D + D.",
        "An encoder layer has one attention and two norms, a decoder layer two attentions and three norms.",
        "Then the table, V × D, once; and V biases at the end.",
    ],
)
