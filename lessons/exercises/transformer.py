"""The exercises of lesson 09: the parts put together, their shapes, their parameters, and the padding of each side."""

import torch
from torch import Tensor

from lessons import masks
from lessons.config import TransformerConfig
from lessons.exercises.engine import Case, Exercise, Mistake
from lessons.transformer import Transformer

PAD = 0


def run_model(src: Tensor, tgt: Tensor, embed_src, embed_tgt, encode, decode, project) -> Tensor:
    """src (B, S), tgt (B, T), 0 = padding -> logits (B, T, V).

    encode(x, allowed), decode(x, memory, tgt_allowed, cross_allowed); allowed: bool, True = may look.
    """
    src_allowed = masks.padding(src, pad_id=PAD)  # (B, 1, 1, S)
    tgt_allowed = masks.padding(tgt, pad_id=PAD) & masks.causal(tgt.size(1))  # (B, 1, T, T)
    memory = encode(embed_src(src), src_allowed)  # (B, S, D)
    x = decode(embed_tgt(tgt), memory, tgt_allowed, src_allowed)  # (B, T, D)
    return project(x)


def _with_parts(candidate, src, tgt):
    """The parts of a small Transformer, as functions; the same for everybody."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = TransformerConfig(9, 7, 8, 2, num_layers=2, d_ff=12, dropout=0.0, norm_first=True)
        model = Transformer(config).eval()
    with torch.no_grad():
        return candidate(
            src,
            tgt,
            model.src_embedding,
            model.tgt_embedding,
            lambda x, allowed=None: model.encoder(x, allowed)[0],
            lambda x, memory, tgt_allowed=None, cross_allowed=None: model.decoder(
                x, memory, tgt_allowed, cross_allowed
            )[0],
            model.out_proj,
        )


def _padded(rows: list[list[int]]) -> Tensor:
    length = max(map(len, rows))
    return torch.tensor([row + [PAD] * (length - len(row)) for row in rows])


def _model_cases(generator) -> list[Case]:
    return [
        Case({"src": torch.tensor([[3, 1, 4, 1, 5]]), "tgt": torch.tensor([[2, 6, 5]])}),
        Case({"src": _padded([[3, 1, 4, 8], [5, 2]]), "tgt": _padded([[2, 6, 5], [4]])}),
        Case(
            {"src": _padded([[3, 1, 4], [5]]), "tgt": _padded([[2], [4, 6, 1]])},
            about="a batch with padding, as many source as target tokens",
        ),
    ]


def _put_together(
    src, tgt, embed_src, embed_tgt, encode, decode, project, *, src_rule=True, tgt_rule="both", cross="src"
):
    source, target = masks.padding(src, pad_id=PAD), masks.padding(tgt, pad_id=PAD)
    causal = masks.causal(tgt.size(1))
    rule = {"both": target & causal, "causal": causal, "padding": target, "none": None}[tgt_rule]
    memory = encode(embed_src(src), source if src_rule else None)
    return project(decode(embed_tgt(tgt), memory, rule, {"src": source, "tgt": target, "none": None}[cross]))


together = Exercise(
    name="my_transformer",
    reference=run_model,
    cases=_model_cases,
    call=_with_parts,
    outputs=("the logits",),
    mistakes=[
        Mistake(
            lambda *parts: _put_together(*parts, tgt_rule="padding"),
            "The causal rule is missing: each target position sees what comes after it.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, src_rule=False),
            "The encoder got no mask: real source tokens look at the padding.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, cross="none"),
            "Cross-attention got no mask: the decoder looks at the source's padding.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, cross="tgt"),
            "Cross-attention was given the target's padding. Its keys are source tokens: it needs the source's.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, src_rule=False, tgt_rule="causal", cross="none"),
            "There is no rule for padding: neither in the encoder, nor in the decoder.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts).softmax(dim=-1),
            "The logits went through a softmax. The model ends before it: the loss has it inside, and doing it twice "
            "spoils training.",
        ),
        Mistake(
            lambda src, tgt, es, et, enc, dec, p: p(
                dec(
                    et(tgt),
                    es(src),
                    masks.padding(tgt, pad_id=PAD) & masks.causal(tgt.size(1)),
                    masks.padding(src, pad_id=PAD),
                )
            ),
            "The encoder is not used: the decoder was given the source's embeddings for its memory.",
        ),
        Mistake(
            lambda src, tgt, es, et, enc, dec, p: _put_together(src, tgt, es, es, enc, dec, p),
            "The target was embedded by the source's table. Each side has its own.",
        ),
    ],
    hints=[
        "Three masks: the source's padding, used twice, and the target's padding together with the causal rule.",
        "masks.padding(ids, pad_id=0) and masks.causal(length), joined with &.",
        "embed, encode; embed, decode with the memory; project.",
    ],
)


logits_shape = Exercise(
    name="my_shape",
    reference=lambda: (2, 4, 9),
    cases=lambda generator: [Case({})],
    outputs=("the shape",),
    solution=("(B, T, V of the target) = (2, 4, 9): one score for each word that could come next, at each position",),
    mistakes=[
        Mistake(lambda: (2, 5, 9), "Logits belong to the positions of the target, of which there are 4."),
        Mistake(lambda: (2, 4, 12), "That is what leaves the decoder, with d_model features; it is then projected."),
        Mistake(lambda: (2, 4, 7), "The words to choose from are those of the *target's* vocabulary."),
        Mistake(lambda: (2, 9), "One row of scores for each sentence? There is one for each target position."),
        Mistake(lambda: (2, 4, 5), "That is the shape of a table of weights, target by source."),
    ],
    hints=[
        "At every target position the model scores every word that could come next.",
        "The last axis is the target's vocabulary.",
    ],
)


def count_parameters(d_model: int, d_ff: int, num_layers: int, vocab_size: int) -> int:
    """One shared table of embeddings, also the final projection, which has a bias; Post-LN without a last norm."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return num_layers * (encoder_layer + decoder_layer) + vocab_size * d_model + vocab_size


def _counted(d, f, n, v, *, bias=1, norms=(2, 3), attentions=(1, 2), tables=1, end=1, norm_size=2, ff_bias=1):
    attention = 4 * (d * d + bias * d)
    feed = 2 * d * f + ff_bias * (f + d)
    layers = sum(a * attention + feed + m * norm_size * d for a, m in zip(attentions, norms))
    return n * layers + tables * v * d + end * v


def _whole_number(candidate, *sizes):
    count = candidate(*sizes)
    if count is None:
        return None
    if isinstance(count, bool | str) or count != int(count):
        raise TypeError(f"expected a whole number, got {count!r}")
    return torch.tensor(int(count))


counting = Exercise(
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


def make_masks(src: Tensor, tgt: Tensor, src_pad_id: int, tgt_pad_id: int) -> tuple[Tensor, Tensor, Tensor]:
    """src (B, S), tgt (B, T) -> (B, 1, 1, S) for the encoder, (B, 1, T, T) for the target, (B, 1, 1, S) for cross."""
    source = masks.padding(src, pad_id=src_pad_id)
    target = masks.padding(tgt, pad_id=tgt_pad_id) & masks.causal(tgt.size(1))
    return source, target, source


def _made(src, tgt, first, second, third, causal=True):
    target = masks.padding(tgt, pad_id=second)
    target = target & masks.causal(tgt.size(1)) if causal else target.expand(-1, -1, tgt.size(1), -1)
    return masks.padding(src, pad_id=first), target, masks.padding(src, pad_id=third)


bug_hunt = Exercise(
    name="mended_pads",
    reference=make_masks,
    outputs=("the encoder's mask", "the target's mask", "the mask of cross-attention"),
    cases=lambda generator: [
        Case({"src": torch.tensor(src), "tgt": torch.tensor(tgt), "src_pad_id": a, "tgt_pad_id": b})
        for src, tgt, a, b in [
            ([[3, 1, 2, 0, 0]], [[0, 4, 1]], 0, 1),
            ([[3, 1, 0, 0], [1, 2, 3, 1]], [[0, 4, 1], [2, 2, 0]], 0, 1),
            ([[5, 3, 3], [4, 5, 3]], [[3, 4, 5], [3, 5, 5]], 3, 5),
        ]
    ],
    mistakes=[
        Mistake(
            lambda src, tgt, a, b: _made(src, tgt, a, b, b),
            "The bug is still there. A symptom: the mask of cross-attention hides a word of the source whose id is the "
            "target's padding id, and shows the padding.",
        ),
        Mistake(
            lambda src, tgt, a, b: _made(src, tgt, a, a, a),
            "Now the source's padding id is used for the target as well. Each side has its own.",
        ),
        Mistake(
            lambda src, tgt, a, b: _made(src, tgt, b, b, b),
            "All three masks use the target's padding id now. Two of them are about source tokens.",
        ),
        Mistake(
            lambda src, tgt, a, b: _made(src, tgt, a, b, a, causal=False),
            "The padding ids are right; the causal rule got lost on the way.",
        ),
    ],
    hints=[
        "For each of the three masks: whose tokens are the keys?",
        "The keys of cross-attention are source tokens.",
    ],
)
