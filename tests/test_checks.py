"""lessons._checks: each rule refuses in one way, and every module of the floors above uses it for its sizes."""

import math
import re
from dataclasses import replace
from functools import partial

import pytest
import torch

from lessons import _checks
from lessons.attention import MultiHeadAttention, split_heads
from lessons.config import TransformerConfig
from lessons.decoding import Table, beam, distribution, greedy, sample, speculative
from lessons.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from lessons.masks import causal, padding_from_lengths
from lessons.plots import plot_histograms, plot_matrix
from lessons.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, rotary_angles, sinusoids
from lessons.pretrained import SentenceEncoder
from lessons.tasks import Numerals, Reversal
from lessons.tasks.numerals import chinese, english
from lessons.tasks.sentence_pairs import SentencePairs
from lessons.tasks.subwords import Subwords
from lessons.torch_attention import MultiheadAttentionByHand
from lessons.training import Recipe, cosine_rate, paper_rate
from lessons.transformer import Transformer
from lessons.vocabulary import Vocabulary

SMALL = TransformerConfig(8, 8, d_model=8, num_heads=2, num_layers=1, d_ff=8)
VOCAB = Vocabulary([])


def table():
    return Table(lambda words: [0.0, 0.0, 1.0])


def embed(*, offset):
    Transformer(replace(SMALL, positions=None)).src_embedding(torch.ones(1, 2, dtype=torch.long), offset=offset)


def seeded():
    return torch.Generator().manual_seed(0)


def first(steps, decoders=1):
    return lambda **options: next(steps(*(table() for _ in range(decoders)), VOCAB, **options))


# What is called, with the arguments that it needs besides, and those that must be whole numbers.
WHOLE = {
    "MultiHeadAttention": (
        MultiHeadAttention,
        {"d_model": 8, "num_heads": 2},
        "d_model num_heads head_dim key_dim value_dim out_dim",
    ),
    "split_heads": (partial(split_heads, torch.ones(1, 2, 8)), {}, "num_heads"),
    "TransformerConfig": (
        TransformerConfig,
        {"src_vocab_size": 8, "tgt_vocab_size": 8},
        "src_vocab_size tgt_vocab_size d_model num_heads num_layers num_decoder_layers d_ff max_len",
    ),
    "FeedForward": (FeedForward, {"d_model": 8, "d_ff": 8}, "d_model d_ff"),
    "Residual": (Residual, {}, "d_model"),
    "EncoderLayer": (EncoderLayer, {"d_model": 8, "num_heads": 2, "d_ff": 8}, "d_model num_heads d_ff"),
    "DecoderLayer": (DecoderLayer, {"d_model": 8, "num_heads": 2, "d_ff": 8}, "d_model num_heads d_ff"),
    "causal": (causal, {"num_queries": 8}, "num_queries offset"),
    "padding_from_lengths": (partial(padding_from_lengths, [1, 2]), {}, "max_len"),
    "sinusoids": (sinusoids, {"num_positions": 8, "d_model": 8}, "num_positions d_model offset"),
    "rotary_angles": (rotary_angles, {"num_positions": 8, "head_dim": 8}, "num_positions head_dim offset"),
    "SinusoidalPositions": (SinusoidalPositions, {"d_model": 8}, "d_model max_len"),
    "LearnedPositions": (LearnedPositions, {"d_model": 8}, "d_model max_len"),
    "RotaryPositions": (RotaryPositions, {}, "head_dim"),
    "Embedding": (embed, {}, "offset"),
    "MultiheadAttentionByHand": (
        MultiheadAttentionByHand,
        {"embed_dim": 8, "num_heads": 2},
        "embed_dim num_heads kdim vdim",
    ),
    "Reversal": (Reversal, {}, "min_len max_len"),
    "batch": (partial(Reversal().batch, generator=seeded()), {}, "size"),
    "Numerals": (Numerals, {}, "largest"),
    "english": (english, {}, "number"),
    "chinese": (chinese, {}, "number"),
    "Subwords": (partial(Subwords, ["a b"]), {}, "vocab_size"),
    "SentencePairs": (SentencePairs, {}, "max_len held_out_every"),
    "paper_rate": (paper_rate, {"step": 8, "d_model": 8, "warmup": 8}, "step d_model warmup"),
    "cosine_rate": (cosine_rate, {"step": 8, "steps": 8, "peak": 1.0, "warmup": 8}, "step steps warmup"),
    "Recipe": (Recipe, {}, "steps batch_size warmup seed"),
    "greedy": (first(greedy), {}, "max_len"),
    "beam": (first(beam), {}, "width max_len"),
    "distribution": (partial(distribution, torch.ones(8)), {}, "top_k"),
    "sample": (first(partial(sample, generator=seeded())), {}, "top_k max_len"),
    "speculative": (
        first(partial(speculative, generator=seeded()), decoders=2),
        {},
        "proposals top_k max_len",
    ),
    "Table": (partial(Table, lambda words: [1.0]), {}, "batch_size"),
    "forget": (lambda count: table().forget(count), {}, "count"),
    "SentenceEncoder": (partial(SentenceEncoder, SMALL), {}, "num_types"),
    "plot_matrix": (partial(plot_matrix, torch.ones(2, 2)), {}, "decimals"),
    "plot_histograms": (partial(plot_histograms, {"a": [1.0]}), {}, "bins"),
}


def answer_to(call, arguments):
    """The ValueError that a call raises, as a text."""
    try:
        return f"{call(**arguments)!r} for {arguments}"
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("place", WHOLE)
def test_a_size_that_is_no_whole_number_is_refused_by_name(place):
    call, needed, names = WHOLE[place]
    for name in names.split():
        for value in (8.0, True, "8", -1):
            said = answer_to(call, needed | {name: value})
            assert said.startswith(f"{name} is {value!r}; expected a whole number")


FRACTIONS = {
    "MultiHeadAttention": (MultiHeadAttention, {"d_model": 8, "num_heads": 2}, "dropout"),
    "TransformerConfig": (TransformerConfig, {"src_vocab_size": 8, "tgt_vocab_size": 8}, "dropout"),
    "FeedForward": (FeedForward, {"d_model": 8, "d_ff": 8}, "dropout"),
    "Residual": (Residual, {"d_model": 8}, "dropout"),
    "MultiheadAttentionByHand": (MultiheadAttentionByHand, {"embed_dim": 8, "num_heads": 2}, "dropout"),
    "Recipe": (Recipe, {}, "smoothing"),
}


@pytest.mark.parametrize("place", FRACTIONS)
def test_a_fraction_that_is_none_is_refused_by_name(place):
    call, needed, name = FRACTIONS[place]
    for value in (-0.1, 1.1, True, "0.1", None, math.nan):
        said = answer_to(call, needed | {name: value})
        assert said.startswith(f"{name} is {value!r}; expected a fraction from 0")


@pytest.mark.parametrize(
    ("check", "good", "bad", "expected"),
    [
        (_checks.positive, [1, 2, 10**30], [0, -1, 8.0, True, None, "8"], "a whole number, 1 or more"),
        (partial(_checks.whole, 0), [0, 9], [-1, 0.0, False], "a whole number, 0 or more"),
        (partial(_checks.whole, 2, 4), [2, 3, 4], [1, 5, 3.0], "a whole number from 2 to 4"),
        (partial(_checks.between, 0.5, 2), [0.5, 1, 2.0], [0.4, 3, math.nan, True, "1"], "a number from 0.5 to 2"),
        (_checks.switch, [True, False], [1, 0, None, "True"], "True or False"),
        (_checks.above_zero, [1e-300, 1, 2.5], [0, -1.0, math.inf, math.nan, True, "1"], "a number above 0"),
        (_checks.zero_or_more, [0, 0.0, 1, 2.5], [-1, -1e-300, math.inf, math.nan, False, "1"], "a number, 0 or more"),
        (
            _checks.fraction,
            [0, 0.0, 0.999],
            [1, 1.0, -0.1, math.nan, False],
            "a fraction from 0 up to, but not including, 1",
        ),
        (partial(_checks.one_of, ("a", None)), ["a", None], ["b", [], 0], "one of 'a', None"),
        (partial(_checks.optional, _checks.positive), [None, 1], [0, 8.0], "a whole number, 1 or more, or None"),
    ],
)
def test_each_rule(check, good, bad, expected):
    for value in good:
        check(x=value)
    for value in bad:
        with pytest.raises(ValueError, match=f"^{re.escape(f'x is {value!r}; expected {expected}')}$"):
            check(x=value)


def test_the_first_bad_value_is_named():
    with pytest.raises(ValueError, match="b is 0; expected"):
        _checks.positive(a=1, b=0, c=0)


def test_what_a_value_is():
    assert _checks.kind(torch.ones(1)) == "a tensor of torch.float32"
    assert _checks.kind([1]) == "a list"
