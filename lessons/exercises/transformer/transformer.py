"""Lesson 09, my_transformer: from source and target ids to logits, with the masks."""

import functools

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.checking.stages import recorded, unrecorded
from lessons.config import TransformerConfig
from lessons.transformer import Transformer

PAD = 0
D_MODEL = 8
_ROOT_D = D_MODEL**0.5


def run_model(src: Tensor, tgt: Tensor, embed_src, embed_tgt, encode, decode, project) -> Tensor:
    """src (B, S), tgt (B, T), 0 = padding -> logits (B, T, V).

    encode(x, allowed), decode(x, memory, tgt_allowed, cross_allowed); allowed: bool, True = may attend.
    """
    src_allowed = masks.padding(src, pad_id=PAD)  # (B, 1, 1, S)
    tgt_allowed = masks.padding(tgt, pad_id=PAD) & masks.causal(tgt.size(1))  # (B, 1, T, T)
    memory = encode(embed_src(src), src_allowed)  # (B, S, D)
    x = decode(embed_tgt(tgt), memory, tgt_allowed, src_allowed)  # (B, T, D)
    return project(x)


@functools.cache
def _model_and_weights():
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        config = TransformerConfig(9, 7, D_MODEL, 2, num_layers=2, d_ff=12, dropout=0.0, norm_first=True)
        model = Transformer(config).eval()
    return model, [weight.detach().clone() for weight in model.parameters()]


def _with_parts(record, candidate, src, tgt):
    """The parts of a small Transformer, as functions; the same for everybody."""
    model, weights = _model_and_weights()

    def whole_masks(part, step, value):
        """A mask may leave out an axis, or have size 1 there."""
        is_mask = isinstance(value, Tensor) and value.dtype == torch.bool
        queries = tgt.size(1) if part == "decode" else src.size(1)
        record(step, torch.ones(len(src), 1, queries, 1, dtype=torch.bool) & value if is_mask else value)

    with torch.no_grad():
        for weight, drawn in zip(model.parameters(), weights):  # an earlier answer may have changed them
            weight.copy_(drawn)
        parts = {
            "embed_src": lambda ids: model.src_embedding(ids),
            "embed_tgt": lambda ids: model.tgt_embedding(ids),
            "encode": lambda x, allowed=None: _nan_without_a_key(model.encoder(x, allowed)[0], allowed),
            "decode": lambda x, memory, tgt_allowed=None, cross_allowed=None: model.decoder(
                x, memory, tgt_allowed, cross_allowed
            )[0],
            "project": lambda x: model.out_proj(x),
        }
        return candidate(
            src, tgt, *(recorded(name, part, functools.partial(whole_masks, name)) for name, part in parts.items())
        )


def _nan_without_a_key(memory: Tensor, allowed: Tensor | None) -> Tensor:
    """The memory as some libraries have it: a query that may attend to no key gives NaN, and not a number."""
    if allowed is None:
        return memory
    has_key = allowed.any(dim=-1, keepdim=True)  # (S, 1), or (B, 1, S, 1)
    return memory.where(has_key if allowed.dim() == 2 else has_key.any(dim=1), torch.nan)


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


together = Exercise(
    lesson="09",
    name="my_transformer",
    reference=run_model,
    cases=_model_cases,
    call=unrecorded(_with_parts),
    stages=_with_parts,
    outputs=("the tensor of logits",),
    mistakes=[
        Mistake(
            edited(run_model, " & masks.causal(tgt.size(1))", ""),
            "The causal mask is missing: each target position attends to later ones.",
        ),
        Mistake(
            edited(run_model, "masks.padding(src, pad_id=PAD)", "masks.padding(src, PAD)"),
            "masks.padding takes the padding id by its name: masks.padding(src, pad_id=0).",
        ),
        Mistake(
            edited(run_model, "memory, tgt_allowed, src_allowed", "memory, src_allowed, tgt_allowed"),
            "decode got the source mask in place of the target mask. It takes x, the memory, the target mask, for "
            "self-attention, and the source mask, for cross-attention. Are two of them swapped, or is one missing?",
        ),
        Mistake(
            edited(run_model, "masks.causal(tgt.size(1))", "masks.causal(src.size(1))"),
            "The causal mask has the length of the source. It is about the target: tgt.size(1).",
        ),
        Mistake(
            edited(run_model, "encode(embed_src(src), src_allowed)", "encode(embed_src(src), None)"),
            "The encoder got no mask: source tokens attend to padding.",
        ),
        Mistake(
            edited(run_model, "memory, tgt_allowed, src_allowed", "memory, tgt_allowed, None"),
            "Cross-attention got no mask: the decoder attends to source padding.",
        ),
        Mistake(
            edited(
                run_model, "memory, tgt_allowed, src_allowed", "memory, tgt_allowed, masks.padding(tgt, pad_id=PAD)"
            ),
            "Cross-attention got the mask of the target padding. Its keys are source tokens: mask the source padding.",
        ),
        Mistake(
            edited(run_model, ("masks.padding(src, pad_id=PAD)", "None"), ("masks.padding(tgt, pad_id=PAD) & ", "")),
            "There is no padding mask, neither in the encoder nor in the decoder.",
        ),
        Mistake(
            edited(
                run_model,
                ("masks.padding(src, pad_id=PAD)", "None"),
                ("masks.padding(tgt, pad_id=PAD) & masks.causal(tgt.size(1))", "None"),
            ),
            "No attention got a mask: padding gets weight, and each target position attends to later ones.",
        ),
        Mistake(
            edited(run_model, "masks.padding(tgt, pad_id=PAD) & ", ""),
            "The target padding is not masked. As long as padding comes last, the causal mask hides it from the "
            "tokens, but do not rely on that.",
        ),
        Mistake(
            edited(run_model, " & ", " | "),
            "The two target masks were combined with |, or with +, which is the same here: one of them is enough to "
            "allow a key. Both must: use &.",
        ),
        Mistake(
            edited(run_model, "memory, tgt_allowed, src_allowed", "memory, ~tgt_allowed, src_allowed"),
            "The target mask is inverted: here True = may attend.",
        ),
        Mistake(
            edited(run_model, " & ", " & masks.padding(tgt, pad_id=PAD).mT & "),
            "You blocked target padding as a query, too: its rows may attend to nothing. A padding mask is a rule "
            "about keys.",
        ),
        Mistake(
            edited(run_model, "embed_src(src), src_allowed", "embed_src(src), src_allowed & src_allowed.mT"),
            "You blocked source padding as a query. It has no key then, and NaN comes out, here as in some libraries. "
            "A padding mask is a rule about keys.",
            also=[edited(run_model, "embed_src(src), src_allowed", "embed_src(src), src_allowed.mT")],
        ),
        Mistake(
            edited(
                run_model,
                "masks.padding(src, pad_id=PAD)",
                "masks.padding(src, pad_id=PAD) & masks.padding(src, pad_id=PAD).mT",
            ),
            "Your source mask is (B, 1, S, S), a rule about queries, too. In cross-attention the queries are target "
            "tokens, so it fits there only if T = S. Hide source padding as a key, and nothing else: (B, 1, 1, S).",
        ),
        Mistake(
            edited(
                run_model, "memory, tgt_allowed, src_allowed", "memory, tgt_allowed, masks.padding(tgt, pad_id=PAD).mT"
            ),
            "In cross-attention you blocked target padding as a query. A padding mask is a rule about keys: here those "
            "are the source tokens.",
            also=[
                edited(
                    run_model,
                    "memory, tgt_allowed, src_allowed",
                    "memory, tgt_allowed, src_allowed & masks.padding(tgt, pad_id=PAD).mT",
                )
            ],
        ),
        Mistake(
            edited(
                run_model,
                "encode(embed_src(src), src_allowed)",
                "encode(embed_src(src), src_allowed & masks.causal(src.size(1)))",
            ),
            "The encoder got a causal mask. It needs none: the whole source is known from the start.",
        ),
        Mistake(
            edited(run_model, "tgt_allowed = masks", "tgt_allowed = ~masks"),
            "The padding mask of the target is inverted: only padding may be attended to. masks.padding is True for "
            "the tokens.",
        ),
        Mistake(
            edited(run_model, "src_allowed = masks", "src_allowed = ~masks"),
            "The padding mask of the source is inverted: only padding may be attended to. masks.padding is True for "
            "the tokens.",
        ),
        Mistake(
            edited(
                run_model,
                ("embed_src(src), src_allowed", "embed_src(src), ~src_allowed"),
                ("memory, tgt_allowed, src_allowed", "memory, ~tgt_allowed, ~src_allowed"),
            ),
            "All masks are inverted, as for torch's modules. Here True = may attend, so pass what masks.padding and "
            "masks.causal give.",
        ),
        Mistake(
            edited(run_model, "embed_tgt(tgt), memory", "memory, embed_tgt(tgt)"),
            "decode got x and the memory in the wrong order: first the embedded target, then the memory.",
        ),
        Mistake(
            edited(run_model, "    src_allowed = masks", "    tgt = tgt[:, :-1]\n    src_allowed = masks"),
            "You left out the last target token. That is done before the model, in training (lesson 11). Here tgt is "
            "what the decoder reads, and each of its T positions gets logits.",
            also=[edited(run_model, "embed_tgt(tgt)", "embed_tgt(tgt[:, :-1])")],
        ),
        Mistake(
            edited(run_model, "project(x)", "project(x)[:, -1]"),
            "Those are the logits of the last position alone. Return them for all T positions: training needs each of "
            "them.",
            also=[edited(run_model, "project(x)", "project(x)[:, -1:]")],
        ),
        Mistake(
            edited(run_model, "embed_src(src)", "(embed_src(src) * _ROOT_D)"),
            "You multiplied by √D once more. embed_src and embed_tgt have done that already.",
            also=[
                edited(run_model, "embed_tgt(tgt)", "(embed_tgt(tgt) * _ROOT_D)"),
                edited(
                    run_model,
                    ("embed_src(src)", "(embed_src(src) * _ROOT_D)"),
                    ("embed_tgt(tgt)", "(embed_tgt(tgt) * _ROOT_D)"),
                ),
            ],
        ),
        Mistake(
            edited(run_model, "project(x)", "project(x).argmax(dim=-1)"),
            "Those are the likeliest tokens. The model returns the logits; choosing a token comes after it.",
        ),
        Mistake(
            edited(run_model, "project(x)", "x"),
            "That is the decoder's output, with D features. project turns it into logits.",
        ),
        Mistake(
            edited(run_model, "project(x)", "project(x).softmax(dim=-1)"),
            "The logits went through a softmax. The model ends before it: the loss includes one, and two of them slow "
            "training down.",
        ),
        Mistake(
            edited(run_model, "project(x)", "project(x).log_softmax(dim=-1)"),
            "The logits went through a log_softmax. The model ends before it: the loss contains one, and a second one "
            "changes nothing.",
        ),
        Mistake(
            edited(run_model, "encode(embed_src(src), src_allowed)", "embed_src(src)"),
            "The encoder is not used: the decoder got the source embeddings as its memory.",
        ),
        Mistake(
            edited(run_model, "embed_tgt(tgt)", "embed_src(tgt)"),
            "The target was embedded with the source table. Each side has its own.",
        ),
        Mistake(
            edited(run_model, "embed_src(src)", "embed_tgt(src)"),
            "The source was embedded with the target table. Each side has its own.",
        ),
        Mistake(
            edited(run_model, ("embed_src(src)", "embed_tgt(src)"), ("embed_tgt(tgt)", "embed_src(tgt)")),
            "The two tables are swapped: source ids go through embed_src, target ids through embed_tgt.",
        ),
        Mistake(
            edited(run_model, " & ", " and "),
            "`and` asks whether a whole tensor is true, which torch refuses. & asks it for each pair of positions.",
        ),
        Mistake(
            edited(run_model, "masks.causal(tgt.size(1))", "masks.causal(tgt.size(0))"),
            "The causal mask has the size of the batch: tgt.size(0) is B. It is about the target's positions: "
            "tgt.size(1).",
            also=[
                edited(
                    run_model,
                    "masks.padding(tgt, pad_id=PAD) & masks.causal(tgt.size(1))",
                    "masks.causal(tgt.size(0)) & masks.padding(tgt, pad_id=PAD)",
                )
            ],
        ),
        Mistake(
            edited(run_model, "encode(embed_src(src), src_allowed)", "encode(src, src_allowed)"),
            "encode and decode take vectors, not ids. embed_src(src) and embed_tgt(tgt) make vectors of them.",
            also=[edited(run_model, "decode(embed_tgt(tgt), ", "decode(tgt, ")],
        ),
        Mistake(
            edited(run_model, "memory, tgt_allowed, src_allowed", "memory, tgt_allowed, tgt_allowed"),
            "Cross-attention got the mask of self-attention as well. Its keys are source tokens: it needs the source "
            "padding. With as many source as target tokens there is no error.",
        ),
        Mistake(
            edited(run_model, "masks.padding(src, pad_id=PAD)", "src != PAD"),
            "Your source mask is (B, S). Attention takes two axes for queries and keys, in all sentences alike. A rule "
            "about the keys of each sentence is (B, 1, 1, S), as masks.padding gives it.",
        ),
    ],
    hints=[
        "Two masks: the source padding, used twice, and the target padding combined with the causal mask.",
        "masks.padding(ids, pad_id=0) and masks.causal(length), combined with &.",
        "embed, encode; embed, decode with the memory; project.",
    ],
    solution="""
        def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
            src_allowed = masks.padding(src, pad_id=0)
            tgt_allowed = masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1))
            memory = encode(embed_src(src), src_allowed)
            return project(decode(embed_tgt(tgt), memory, tgt_allowed, src_allowed))
    """,
    in_package="lessons.transformer.Transformer",
)
