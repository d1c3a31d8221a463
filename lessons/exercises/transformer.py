"""The exercises of lesson 09: the parts put together, their shapes, their parameters, and a stack of layers."""

import torch
from torch import Tensor, nn

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
        Mistake(lambda: (2, 5, 7), "That is the source's length and the source's vocabulary. What is written?"),
        Mistake(
            lambda: (2, 4), "One number for each position: so the word is chosen already. Logits score every word."
        ),
        Mistake(lambda: (4, 9), "That is one sentence. There are B = 2."),
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


def stack_of(make_layer, num_layers: int) -> nn.ModuleList:
    """make_layer() gives a new layer -> num_layers of them, each with parameters of its own."""
    return nn.ModuleList(make_layer() for _ in range(num_layers))


def _stacked(candidate, d_model, num_layers):
    """How much is learned, and what comes out once each layer has been given numbers of its own."""
    with torch.random.fork_rng():
        layers = candidate(lambda: nn.Linear(d_model, d_model), num_layers)
    if layers is None:
        return None
    model = nn.Module()
    model.layers = layers
    learned = sum(p.numel() for p in model.parameters())
    x = torch.ones(d_model)
    with torch.no_grad():
        for number, layer in enumerate(layers, start=1):
            for parameter in layer.parameters():
                parameter.fill_(number)
        for layer in layers:
            x = layer(x)
    return torch.tensor(learned), x


bug_hunt = Exercise(
    name="mended_stack",
    reference=stack_of,
    call=_stacked,
    outputs=("how many numbers are learned", "the output"),
    cases=lambda generator: [Case({"d_model": d, "num_layers": n}) for d, n in [(2, 3), (3, 1), (4, 2)]],
    mistakes=[
        Mistake(
            lambda make, n: nn.ModuleList([make()] * n),
            "The bug is still there. A symptom: with 3 layers no more numbers are learned than with 1.",
        ),
        Mistake(
            lambda make, n: [make() for _ in range(n)],
            "The layers are different ones now. But in a plain list torch does not find them, and nothing is learned: "
            "an nn.ModuleList shows them to the optimizer.",
            also=(lambda make, n: tuple(make() for _ in range(n)),),
        ),
        Mistake(
            lambda make, n: [make()] * n,
            "It is the same layer still, and in a plain list torch does not find it: nothing at all is learned.",
        ),
        Mistake(
            lambda make, n: nn.ModuleList(make() for _ in range(n + 1)),
            "The layers are different ones now, but there is one too many.",
        ),
        Mistake(
            lambda make, n: nn.ModuleList(make() for _ in range(n - 1)),
            "The layers are different ones now, but one is missing.",
        ),
    ],
    hints=[
        "Count the parameters of what it gives for 1 layer, and for 3.",
        "How often is a layer made? And how often does it stand in the list?",
        "[layer] * 3 is a list in which one and the same layer stands three times.",
    ],
)
