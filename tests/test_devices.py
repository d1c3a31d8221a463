"""Everything stays where its inputs are. A new tensor on the default device, here one without data, would not.

Rotary angles are the exception: computed on the default device, then moved.
"""

import pytest
import torch

from lessons import masks
from lessons.attention import MultiHeadAttention, attend
from lessons.config import TransformerConfig
from lessons.decoding import Cached, Recomputed, beam, beams, greedy, last, sample, speculative
from lessons.interventions import Change, intervene
from lessons.language_model import (
    GroupedQueryAttention,
    LanguageModel,
    LanguageModelConfig,
    Rotary,
    generate,
    text_loss,
    train,
)
from lessons.positions import LearnedPositions, SinusoidalPositions
from lessons.probes import influence, leaks, true_means_attend
from lessons.tasks import Numerals
from lessons.tiled import tiled_attention
from lessons.torch_attention import MultiheadAttentionByHand
from lessons.training import Recipe, Trainer
from lessons.transformer import Transformer
from lessons.vocabulary import Vocabulary

VOCAB = Vocabulary(["a", "b", "c"])
IDS = torch.tensor([[4, 5, 6, 4], [5, 6, 0, 0]])
X = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0))
DECODERS = [Cached, Recomputed]


@pytest.fixture(autouse=True)
def default_device_without_data():
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


def on_cpu(module):
    with torch.device("cpu"):
        return module().eval()


def small(**options):
    config = TransformerConfig(7, 7, d_model=8, num_heads=2, num_layers=2, d_ff=12, max_len=20, **options)
    return on_cpu(lambda: Transformer(config))


@pytest.mark.parametrize(
    "make",
    [
        lambda: masks.causal(3, offset=1, device="cpu"),
        lambda: masks.padding(IDS, pad_id=0),
        lambda: masks.padding_from_lengths([2, 1], max_len=3, device="cpu"),
        lambda: masks.packed([2, 1], device="cpu"),
        lambda: masks.tree([-1, 0], offset=1, device="cpu"),
        lambda: masks.window_with_sinks(3, 2, 1, device="cpu"),
        lambda: masks.combine(IDS > 4, None, IDS > 0),
        lambda: masks.allowed_to_additive(IDS > 0),
        lambda: attend(X, X, X, IDS[:, None] > 0)[0],
        lambda: attend(X, X, X, IDS[:, None] > 0, need_weights=False)[0],
        lambda: tiled_attention(X, X, X, lambda query, key: key <= query),
        lambda: on_cpu(lambda: MultiHeadAttention(8, 2))(X, allowed=masks.padding(IDS, pad_id=0))[0],
        lambda: on_cpu(lambda: GroupedQueryAttention(8, 2, rotary=Rotary(4)))(X)[0],
        lambda: on_cpu(lambda: SinusoidalPositions(8))(X),
        lambda: on_cpu(lambda: LearnedPositions(8))(X),
        lambda: on_cpu(lambda: MultiheadAttentionByHand(8, 2, batch_first=True, add_zero_attn=True))(X, X, X)[0],
    ],
)
def test_parts(make):
    assert make().device.type == "cpu"


@pytest.mark.parametrize("positions", ["sinusoids", "learned", None])
def test_model(positions):
    logits, _ = small(positions=positions)(IDS, IDS)
    assert logits.device.type == "cpu" and logits.isfinite().all()


def test_a_model_is_trained_where_it_is(tmp_path):
    words = len(Numerals().src_vocab), len(Numerals().tgt_vocab)
    config = TransformerConfig(*words, d_model=8, num_heads=2, num_layers=1, d_ff=12)
    here, elsewhere = Trainer(on_cpu(lambda: Transformer(config)), Numerals()), Trainer(Transformer(config), Numerals())
    for trainer, device in ((here, "cpu"), (elsewhere, "meta")):
        assert {x.device.type for x in trainer._tensors().values()} == {trainer.device.type} == {device}
    with torch.device("cpu"):  # where the task draws its pairs
        here.save(tmp_path / "model.pt")
        elsewhere.load(tmp_path / "model.pt")


def test_probes():
    assert true_means_attend(lambda x, allowed: attend(x, x, x, allowed)[0], X[0])
    assert not leaks(lambda x: attend(x, x, x, masks.causal(4, device="cpu"))[0], X)
    model = small()
    seen = influence(lambda ids: model(IDS[:1], ids)[0], IDS[:1], vocab_size=7)
    assert seen.device.type == "cpu" and torch.equal(seen, masks.causal(4, device="cpu"))


CELL = Change("block", at="encoder.*.self_attn", query=1, key=0)
SWAP = Change("swap_positions", side="src", token=0, other=1)


@pytest.mark.parametrize("change", [CELL, Change("drop_padding"), Change("drop_causal"), SWAP])
def test_interventions(change):
    model = small()
    with intervene(model, [change]):
        logits, _ = model(IDS, IDS)
        memory, _ = model.encoder(X)
    for x in (logits, memory):
        assert x.device.type == "cpu" and x.isfinite().all()


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoding(decoder):
    model = small()
    ids = last(greedy(decoder(model, IDS), VOCAB, max_len=5)).ids
    drawn = last(sample(decoder(model, IDS), VOCAB, generator=torch.Generator(), top_k=3, top_p=0.9, max_len=5)).ids
    assert ids.device.type == drawn.device.type == "cpu"
    assert last(beam(decoder(model, IDS[:1]), VOCAB, width=3, max_len=5)).kept
    assert all(beams(decoder(model, IDS), VOCAB, width=3, max_len=5))
    both = decoder(small(positions="learned"), IDS[:1]), decoder(model, IDS[:1])
    assert last(speculative(*both, VOCAB, generator=torch.Generator(), max_len=5)).ids


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("positions", ["learned", "sinusoid", "rotary"])
def test_language_model(positions, window):
    sizes = {"vocabulary": 7, "d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 12, "max_len": 20}
    model = on_cpu(lambda: LanguageModel(LanguageModelConfig(**sizes, positions=positions, window=window)))
    text = IDS.flatten()
    assert all(p.loss < 4 for p in train(model, text, Recipe(steps=2, batch_size=2), length=4))
    assert text_loss(model, text, 3) < 4
    found = generate(
        model, IDS, 4, top_p=0.9, min_p=0.1, repetition_penalty=1.2, stop=3, generator=torch.Generator("cpu")
    )
    assert found.device.type == "cpu"
