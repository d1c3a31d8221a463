"""Lesson 09: my_transformer."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.config import TransformerConfig
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
    rule = {
        "both": target & causal,
        "causal": causal,
        "padding": target,
        "either": target | causal,
        "turned": ~(target & causal),
        "no padded query": target & causal & target.mT,
        "none": None,
    }[tgt_rule]
    memory = encode(embed_src(src), source if src_rule else None)
    return project(decode(embed_tgt(tgt), memory, rule, {"src": source, "tgt": target, "none": None}[cross]))


together = Exercise(
    lesson="09",
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
            lambda *parts: _put_together(*parts, src_rule=False, tgt_rule="none", cross="none"),
            "No attention got a mask: padding is looked at, and each target position sees what comes after it.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, tgt_rule="causal"),
            "The target's own padding is not hidden. The words do not notice as long as it stands after them, but that "
            "should not be left to luck.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, tgt_rule="either"),
            "The target's two rules were joined by |, so that a key is seen where any of them allows it. Both must.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, tgt_rule="turned"),
            "The target's mask is turned around: here True means may look.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts, tgt_rule="no padded query"),
            "You blocked the target's padding as a query, too: its rows may look at nothing. Padding is a rule about "
            "keys.",
        ),
        Mistake(
            lambda src, tgt, es, et, enc, dec, p: _put_together(
                src, tgt, es, et, lambda x, allowed: enc(x, allowed & masks.causal(src.size(1))), dec, p
            ),
            "The encoder got the causal rule, too. It reads a sentence that is known from the start.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts[:6], lambda x: x),
            "That is what leaves the decoder, with D features. project makes logits of it.",
        ),
        Mistake(
            lambda *parts: _put_together(*parts).softmax(dim=-1),
            "The logits went through a softmax. The model ends before it: the loss has it inside, and doing it twice "
            "spoils training.",
            also=(lambda *parts: _put_together(*parts).log_softmax(dim=-1),),
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
        Mistake(
            lambda src, tgt, es, et, enc, dec, p: _put_together(src, tgt, et, et, enc, dec, p),
            "The source was embedded by the target's table. Each side has its own.",
        ),
        Mistake(
            lambda src, tgt, es, et, enc, dec, p: _put_together(src, tgt, et, es, enc, dec, p),
            "The two tables changed places: source ids go through embed_src, target ids through embed_tgt.",
        ),
    ],
    hints=[
        "Three masks: the source's padding, used twice, and the target's padding together with the causal rule.",
        "masks.padding(ids, pad_id=0) and masks.causal(length), joined with &.",
        "embed, encode; embed, decode with the memory; project.",
    ],
)
