"""The cards "In a hurry": their code against the package, values and gradients, and their place in the lessons."""

import copy
import functools
import re
from types import SimpleNamespace

import nbformat
import pytest
import sacrebleu
import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import MultiHeadAttention, attend, join_heads, split_heads
from lessons.config import TransformerConfig
from lessons.decoding import Cached, distribution, greedy, last
from lessons.exercises.paper_results import errors
from lessons.language_model import GroupedQueryAttention, RMSNorm, Rotary, SwiGLU
from lessons.layers import DecoderLayer, EncoderLayer
from lessons.masks import allowed_to_additive, causal, combine, padding, sliding_window
from lessons.parallel import ParallelTrainer
from lessons.parity import BERT_LAYER_NAMES, BERT_NAMES, from_bert_names, from_torch, load_from_torch
from lessons.positions import RotaryPositions, SinusoidalPositions
from lessons.pretrained import SentenceEncoder, mean_pooling
from lessons.tasks import Batch, Reversal
from lessons.torch_attention import merge_masks
from lessons.training import Recipe, Trainer
from lessons.transformer import Transformer
from lessons.vocabulary import Vocabulary
from tests.notebooks.cells import NOTEBOOKS, ROOT
from tests.notebooks.test_notebooks import load_tool

CARDS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "cards").glob("[0-9][0-9]_*.md"))}
MOST_LINES = 25  # of code
WIDEST = 88  # characters of code that fit on the page
LONGEST = 60  # lines of a card
PAD = 0
every_card = pytest.mark.parametrize("name", CARDS)
five_draws = pytest.mark.parametrize("seed", range(5))


def code_of(name):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", CARDS[name], re.M | re.S))


def run_card(number, **changes):
    """What the card's code defines; `changes` replaces pieces of it."""
    name = next(name for name in CARDS if name.startswith(number))
    code = code_of(name)
    for old, new in changes.items():
        assert old in code
        code = code.replace(old, new)
    namespace = {}
    exec(compile(code, f"cards/{name}.md", "exec"), namespace)
    return SimpleNamespace(**namespace)


def sizes(seed, count, low=1, high=7):
    """Random sizes from low to high, and a seed for what is drawn after them."""
    torch.manual_seed(seed)
    return torch.randint(low, high + 1, (count,)).tolist()


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw_mask(*shape):
    """bool, True = may attend, in which some rows have no key."""
    allowed = torch.rand(*shape) < 0.6
    allowed[..., 0, :] = False
    return allowed


def assert_same(theirs, ours, inputs, our_inputs=None):
    """The card's output and the package's, and the gradients of a weighted sum of each."""
    torch.testing.assert_close(theirs, ours)
    weights = torch.linspace(-1, 2, ours.numel(), dtype=ours.dtype).view_as(ours)
    options = {"retain_graph": True, "materialize_grads": True}
    pairs = (theirs, inputs), (ours, inputs if our_inputs is None else our_inputs)
    gradients = (torch.autograd.grad((x * weights).sum(), y, **options) for x, y in pairs)
    torch.testing.assert_close(*gradients)


def copy_in_order(theirs, ours):
    """The card's parameters into the package's module, which has them in the same order under other names."""
    ours.load_state_dict(dict(zip(ours.state_dict(), theirs.state_dict().values(), strict=True)))


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@every_card
def test_a_card_is_short_and_its_code_stands_alone(name):
    lines = [line for line in code_of(name).splitlines() if line.strip()]
    assert 0 < len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDEST
    assert "lessons" not in code_of(name)
    assert len(CARDS[name].splitlines()) <= LONGEST


def anchors(cells):
    """The headings, as links name them."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return {heading.replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.M)}


def links_in(text):
    """(notebook, anchor) of each link to a section; the notebook is "" where it is the same one."""
    return set(re.findall(r"\]\(([\w.]*)#([^ ]+)\)(?![^ \n]*\))", text))


@every_card
def test_a_card_is_the_second_cell_of_its_lesson_and_links_to_its_sections(name):
    cells = NOTEBOOKS[name].cells
    assert [cell.id for cell in cells[:2]] == ["title", "in-a-hurry"]
    links = links_in(CARDS[name])
    assert links
    assert links <= {("", anchor) for anchor in anchors(cells)}


def test_the_reference_card_has_all_cards_and_its_links_lead_somewhere():
    path = ROOT / "notebooks" / "reference_card.ipynb"
    reference = nbformat.read(path, as_version=4)
    assert path.read_text(encoding="utf-8") == nbformat.writes(load_tool("notebooks").reference_card()) + "\n"
    assert [cell.id for cell in reference.cells] == ["title", *(f"card-{name[:2]}" for name in CARDS), "masks"]
    known = {("", anchor) for anchor in anchors(reference.cells)}
    known |= {(f"{name}.ipynb", anchor) for name in CARDS for anchor in anchors(NOTEBOOKS[name].cells)}
    found = links_in("\n".join(cell.source for cell in reference.cells))
    assert len(found) > len(CARDS)
    assert found <= known


@five_draws
def test_00_start_here(seed):
    b, h, t, d = sizes(seed, 4)
    card = run_card("00", **{"2, 4, 5, 8\n": f"{b}, {h}, {t}, {d}\n"})
    q = split_heads(card.x, h)
    output, weights = attend(q, q, q)
    assert_same(card.weights, weights, card.x)
    assert_same(card.output, join_heads(output), card.x)


@five_draws
def test_01_qkv_by_hand(seed):
    t, big_d, d, d_v = sizes(seed, 4)
    inputs = x, w_q, w_k, w_v = draw(t, big_d), draw(big_d, d), draw(big_d, d), draw(big_d, d_v)
    output, weights = run_card("01").attention(*inputs)
    ours, our_weights = attend(x @ w_q, x @ w_k, x @ w_v)
    assert_same(output, ours, inputs)
    assert_same(weights, our_weights, inputs)


@five_draws
def test_02_scaled_dot_product(seed):
    b, queries, keys, d, d_v = sizes(seed, 5)
    inputs = q, k, v = draw(b, 2, queries, d), draw(b, 2, keys, d), draw(b, 2, keys, d_v)
    card = run_card("02")
    output, weights = card.attention(*inputs)
    ours, our_weights = attend(*inputs)
    assert_same(output, ours, inputs)
    assert_same(weights, our_weights, inputs)
    assert_same(card.attention(q, k, v, temperature=3.0)[0], attend(q / 3, k, v)[0], inputs)
    large = card.attention(1000 * q, 1000 * k, v)[0]
    torch.testing.assert_close(large, attend(1000 * q, 1000 * k, v)[0])


@five_draws
def test_03_masked_attention(seed):
    b, h, t, d = sizes(seed, 4)
    card = run_card("03")
    ids = torch.randint(0, 3, (b, t))
    ids[0] = PAD  # a sentence of nothing but padding: no query has a key
    assert torch.equal(card.causal(t), causal(t))
    assert torch.equal(card.padding(ids, PAD), padding(ids, pad_id=PAD))
    inputs = draw(b, h, t, d), draw(b, h, t, d), draw(b, h, t, d)
    for allowed in (combine(causal(t), padding(ids, pad_id=PAD)), draw_mask(b, h, t, t)):
        output = card.attention(*inputs, allowed)
        assert_same(output, attend(*inputs, allowed)[0], inputs)
        assert_same(output, F.scaled_dot_product_attention(*inputs, attn_mask=allowed), inputs)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("size", [1.0, 30.0, 1000.0])
def test_03_the_detector_of_the_card(size):
    """It finds the leak whatever the size of the scores, also behind a layer norm, and accuses no right mask."""
    torch.set_default_dtype(torch.float32)
    card = run_card("03")
    norm = nn.LayerNorm(8)

    def unmasked(x):
        return attend(size * x, size * x, x)[0]

    def masked(x):
        return attend(size * x, size * x, x, causal(len(x)))[0]

    def fused(x):
        return attend(size * x, size * x, x, causal(len(x)), need_weights=False)[0]

    leaks = functools.partial(card.leaks, D=8)
    for seed in range(3):
        torch.manual_seed(seed)
        assert leaks(unmasked)
        assert leaks(lambda x: x.roll(-1, 0))  # the next token alone
        assert leaks(lambda x: norm(x + unmasked(x)))
        assert not leaks(masked)
        assert not leaks(fused)
        assert not leaks(lambda x: norm(x + masked(x)))


@five_draws
def test_04_self_and_cross_attention(seed):
    b, queries, keys, big_d, d = sizes(seed, 5)
    theirs = run_card("04").Attention(big_d, d)
    ours = MultiHeadAttention(big_d, 1, head_dim=d, out_dim=d, bias=False)
    ours.load_state_dict({**theirs.state_dict(), "out_proj.weight": torch.eye(d)})
    x, memory = draw(b, queries, big_d), draw(b, keys, big_d)
    assert_same(theirs(x), ours(x)[0], x)
    allowed = draw_mask(b, queries, keys)
    assert_same(theirs(x, memory, allowed), ours(x, memory, allowed=allowed[:, None])[0], (x, memory))


@five_draws
def test_05_multi_head_attention(seed):
    b, h, queries, keys, d = sizes(seed, 5)
    theirs, ours = run_card("05").MultiHeadAttention(h * d, h), MultiHeadAttention(h * d, h)
    ours.load_state_dict(theirs.state_dict())
    inputs = draw(b, queries, h * d), draw(b, keys, h * d), draw(b, keys, h * d)
    assert_same(theirs(*inputs), ours(*inputs)[0], inputs)
    for allowed in (draw_mask(b, h, queries, keys), draw_mask(b, 1, queries, keys)):
        assert_same(theirs(*inputs, allowed), ours(*inputs, allowed)[0], inputs)
    assert sum(p.numel() for p in theirs.parameters()) == 4 * (h * d) ** 2 + 4 * h * d


@five_draws
def test_06_embeddings_and_positions(seed):
    b, h, t, half, offset = sizes(seed, 5)
    card = run_card("06")
    x = draw(b, t, 2 * half)
    assert_same(x + card.sinusoids(t, 2 * half), SinusoidalPositions(2 * half)(x), x)
    q = draw(b, h, t, 2 * half)
    ours = RotaryPositions(2 * half)(q, offset=offset)
    assert_same(card.rotary(q, offset=offset), ours, q)
    precise = RotaryPositions(2 * half)(q, offset=4097)
    torch.testing.assert_close(card.rotary(q.half(), offset=4097), precise.half(), rtol=2e-3, atol=4e-3)
    halves = torch.cat([q[..., 0::2], q[..., 1::2]], dim=-1)
    turned = card.rotary(halves, offset=offset, neighbors=False)
    assert_same(turned, torch.cat([ours[..., 0::2], ours[..., 1::2]], dim=-1), q)


@pytest.mark.parametrize("norm_first", [False, True])
@five_draws
def test_07_encoder(norm_first, seed):
    b, h, t, d, d_ff = sizes(seed, 5)
    d_model = h * d
    theirs = run_card("07").EncoderLayer(d_model, h, d_ff, norm_first)
    ours = EncoderLayer(d_model, h, d_ff, norm_first=norm_first)
    copy_in_order(theirs, ours)
    x = draw(b, t, d_model)
    for allowed in (None, draw_mask(b, 1, t, t), draw_mask(b, 1, 1, t)):
        assert_same(theirs(x, allowed), ours(x, allowed)[0], x)
    of_card = 4 * d_model**2 + 4 * d_model, 2 * d_model * d_ff + d_ff + d_model, 2 * (2 * d_model)
    assert sum(p.numel() for p in theirs.parameters()) == sum(of_card)


@five_draws
def test_08_decoder(seed):
    b, h, t, s, d, d_ff = sizes(seed, 6)
    theirs = run_card("08").DecoderLayer(h * d, h, d_ff)
    ours = DecoderLayer(h * d, h, d_ff, norm_first=True)
    copy_in_order(theirs, ours)
    inputs = draw(b, t, h * d), draw(b, s, h * d)
    for masks in ((causal(t), None), (draw_mask(b, 1, t, t), draw_mask(b, 1, 1, s))):
        assert_same(theirs(*inputs, *masks), ours(*inputs, *masks)[0], inputs)


@pytest.mark.parametrize(("batch_first", "num_heads"), [(True, 2), (True, 3), (False, 2)])
def test_08_a_promise_without_a_mask(batch_first, num_heads):
    layer = nn.TransformerDecoderLayer(6, num_heads, 8, batch_first=batch_first).eval()
    x, memory = torch.randn(2, 2, 4, 6)
    for gradients in (True, False):
        with torch.set_grad_enabled(gradients):
            if gradients or not batch_first or num_heads % 2:
                with pytest.raises(RuntimeError, match="Need attn_mask"):
                    layer(x, memory, tgt_is_causal=True)
            else:
                torch.testing.assert_close(layer(x, memory, tgt_is_causal=True), layer(x, memory))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("num_heads", [2, 3])
def test_09_a_source_of_nothing_but_padding(num_heads):
    model = run_card("09").Translator(7, 9, 6, num_heads, 1, 8).eval()
    src, tgt = torch.tensor([[1, 2], [PAD, PAD]]), torch.tensor([[1, 2], [1, 2]])
    with torch.no_grad():
        lost = model(src, tgt).isnan().flatten(1).any(dim=1).tolist()
    assert lost == [False, num_heads % 2 == 0]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@five_draws
def test_09_transformer(seed):
    b, s, t, h, half, d_ff = sizes(seed, 6, low=2)
    d_model = 2 * h * half
    theirs = run_card("09", **{"F, 0.1,": "F, 0.0,"}).Translator(7, 9, d_model, h, 2, d_ff)
    ours = Transformer(
        TransformerConfig(7, 9, d_model, num_heads=h, num_layers=2, d_ff=d_ff, dropout=0.0, norm_first=True)
    )
    load_from_torch(ours, theirs.body)
    tables = theirs.src_table, theirs.tgt_table, theirs.out_proj
    our_tables = ours.src_embedding.tokens, ours.tgt_embedding.tokens, ours.out_proj
    for table, our_table in zip(tables, our_tables):
        our_table.load_state_dict(table.state_dict())
    src, tgt = torch.randint(1, 7, (b, s)), torch.randint(1, 9, (b, t))
    src[0] = PAD  # a sentence of nothing but padding
    src[-1, 1:], tgt[-1, 1:] = PAD, PAD
    weights = ([table.weight for table in side] for side in (tables, our_tables))
    assert_same(theirs(src, tgt), ours(src, tgt)[0], *weights)


@five_draws
def test_10_mask_tutorial(seed):
    b, h, t, cached, d = sizes(seed, 5, low=2)
    card = run_card("10")
    ids = torch.randint(0, 3, (b, t))
    ids[:, 0] = 1  # each query has a key
    assert torch.equal(card.causal(t, cached + t), causal(t, offset=cached))
    assert torch.equal(card.padding(ids, PAD), padding(ids, pad_id=PAD))
    allowed = card.causal(t, t) & card.padding(ids, PAD)
    assert torch.equal(card.additive(allowed), allowed_to_additive(allowed))
    module = nn.MultiheadAttention(h * d, h, batch_first=True)
    x = draw(b, t, h * d)
    ours = from_torch(module)(x, allowed=allowed)[0]
    assert_same(module(x, x, x, attn_mask=card.for_module(allowed, h))[0], ours, x)
    q = split_heads(x, h)
    added = F.scaled_dot_product_attention(q, q, q, attn_mask=card.additive(allowed, torch.float64))
    assert_same(added, attend(q, q, q, allowed)[0], x)


def test_10_the_question_of_the_card():
    """It knows what True means, also behind a layer norm and where empty rows are NaN."""
    card, norm, module = run_card("10"), nn.LayerNorm(6), nn.MultiheadAttention(6, 2)
    libraries = {
        lambda x, mask: F.scaled_dot_product_attention(x, x, x, attn_mask=mask): "may attend",
        lambda x, mask: (x @ x.T).masked_fill(~mask, -torch.inf).softmax(dim=-1) @ x: "may attend",
        lambda x, mask: norm(attend(x, x, x, mask)[0]): "may attend",
        lambda x, mask: module(x, x, x, attn_mask=mask)[0]: "blocked",
        lambda x, mask: norm(attend(x, x, x, ~mask)[0]): "blocked",
        lambda x, mask: (x @ x.T + mask).softmax(dim=-1) @ x: "decides nothing here",
        lambda x, mask: x: "decides nothing here",
        lambda x, mask: attend(x, x, x, mask & causal(len(x)))[0]: "decides nothing here",
    }
    for seed in range(10):
        x = torch.randn(5, 6, generator=torch.Generator().manual_seed(seed))
        for library, meaning in libraries.items():
            assert card.what_true_means(library, x) == meaning


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_11_training(smoothing):
    """Six steps of the card are six steps of the Trainer: the losses, and the logits at the end."""
    torch.manual_seed(0)
    batches = [Batch(torch.randint(1, 7, (3, 4)), torch.randint(1, 9, (3, 5))) for _ in range(6)]
    for batch in batches:
        batch.tgt[0, 3:] = PAD
    ours = Transformer(TransformerConfig(7, 9, 8, 2, num_layers=1, d_ff=8, dropout=0.0))
    theirs = copy.deepcopy(ours)
    theirs.register_forward_hook(lambda module, inputs, output: output[0])  # the logits alone
    task = SimpleNamespace(
        step_batch=lambda size, *, step, seed: batches[step - 1], tgt_vocab=SimpleNamespace(pad_id=PAD)
    )
    options = {"steps": 6, "warmup": 3, "smoothing": smoothing}
    trainer = Trainer(ours, task, Recipe(**options, learning_rate=0.1, eps=1e-8))
    for group in trainer.optimizer.param_groups:
        group["weight_decay"] = 0.01  # biases, too
    losses = [progress.loss for progress in trainer.fit()]
    of_card = list(run_card("11").train(theirs, batches, peak=0.1, pad_id=PAD, **options))
    torch.testing.assert_close(of_card, losses, rtol=1e-4, atol=0)
    assert len(set(losses)) == 6
    warming_up = run_card("11").train(theirs, batches, steps=2, warmup=2)
    assert len(list(warming_up)) == 2


@five_draws
def test_12_decoding(seed):
    b, h, new, cached, d = sizes(seed, 5)
    card = run_card("12")
    logits = draw(b, 9)
    for options in (
        {},
        {"temperature": 2.0},
        {"top_k": 3},
        {"top_p": 0.6},
        {"temperature": 0.7, "top_k": 5, "top_p": 0.8},
    ):
        assert_same(card.distribution(logits, **options), distribution(logits, **options), logits)
    q, k, v = (draw(b, h, cached + new, d) for _ in range(3))
    parts = [x[:, :, :cached] for x in (k, v)]
    output, both = card.attend_with_cache(*(x[:, :, cached:] for x in (q, k, v)), parts)
    assert_same(output, attend(q, k, v, causal(cached + new))[0][:, :, cached:], (q, k, v))
    torch.testing.assert_close(both, (k, v))

    vocab = Vocabulary(["a", "b", "c"])
    config = TransformerConfig(7, len(vocab), 8, 2, num_layers=1, d_ff=8, dropout=0.0, norm_first=True)
    model = Transformer(config).eval()
    src = torch.randint(1, 7, (5, 3))
    memory = model.encode(src)
    ids = card.generate(
        lambda ids: model.decode(ids, memory, src), vocab.bos_id, vocab.eos_id, vocab.pad_id, batch=5, max_len=6
    )
    assert torch.equal(ids, last(greedy(Cached(model, src), vocab, max_len=6)).ids)


@five_draws
def test_13_inside_torch_attention(seed):
    b, h, queries, keys, d = sizes(seed, 5)
    card, torchs = run_card("13"), nn.MultiheadAttention(h * d, h, batch_first=True)
    nn.init.normal_(torchs.in_proj_bias)
    theirs = card.Attention(h * d, h)
    theirs.load_state_dict(torchs.state_dict())
    attn_mask, key_padding_mask = ~draw_mask(queries, keys), torch.rand(b, keys) < 0.3  # True = blocked
    allowed = card.to_allowed(attn_mask, key_padding_mask)
    merged = merge_masks(attn_mask, key_padding_mask, h).view(b, h, queries, keys)
    assert torch.equal(allowed.expand_as(merged), merged == 0)
    inputs = draw(b, queries, h * d), draw(b, keys, h * d), draw(b, keys, h * d)
    options = {"attn_mask": attn_mask, "key_padding_mask": key_padding_mask, "need_weights": False}
    everything = [*inputs, *theirs.parameters()], [*inputs, *torchs.parameters()]
    assert_same(theirs(*inputs), torchs(*inputs)[0], *everything)
    assert_same(theirs(*inputs, allowed), torchs(*inputs, **options)[0], *everything)
    assert_same(theirs(*inputs, allowed), from_torch(torchs)(*inputs, allowed=allowed)[0], inputs)


def names_of_bert(num_layers):
    """Our name of each weight of a SentenceEncoder, and BERT's."""
    parts = [*BERT_NAMES, *(f"encoder.layer.{i}.{part}" for i in range(num_layers) for part in BERT_LAYER_NAMES)]
    theirs = [part + kind for part in parts for kind in ([""] if part.endswith("weight") else ["weight", "bias"])]
    return from_bert_names({name: name for name in theirs})


@five_draws
def test_14_a_trained_model(seed):
    b, s, h, d, d_ff = sizes(seed, 5)
    options = {"num_heads": h, "num_layers": 2, "d_ff": d_ff, "dropout": 0.0, "max_len": s, "activation": "gelu"}
    ours = SentenceEncoder(TransformerConfig(9, 9, h * d, **options))
    for x in ours.parameters():
        nn.init.normal_(x)
    weights, names = dict(ours.named_parameters()), names_of_bert(2)
    state = {names[name]: x for name, x in weights.items()}
    ids = torch.randint(1, 9, (b, s))
    ids[0, 1:] = PAD
    vectors = run_card("14").sentence_vectors(state, ids, h, 2)
    assert_same(vectors, mean_pooling(ours(ids)[0], ids != PAD), list(weights.values()))


@five_draws
def test_15_paper_results(seed):
    card, count = run_card("15"), sizes(seed, 1, low=2)[0]
    lengths = [sizes(side, count, low=8, high=14) for side in (seed, seed + 5)]
    texts = [[" ".join(map(str, torch.randint(0, 2, (n,)).tolist())) for n in side] for side in lengths]
    for hypotheses, references in (texts, texts[::-1]):
        score = card.bleu(*([text.split() for text in side] for side in (hypotheses, references)))
        theirs = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", smooth_method="none")
        assert 0 < score == pytest.approx(theirs.score)
    assert card.bleu([["a", "b"]], [["a", "b"]]) == 0  # no run of four words
    scores = torch.randn(count)
    assert card.mean_and_error(scores.tolist()) == pytest.approx([x.item() for x in errors.reference(scores)])


@five_draws
def test_16_from_the_paper_to_llama(seed):
    card, (b, t, kv_heads, group, pairs, d_ff) = run_card("16"), sizes(seed, 6)
    d, heads = 2 * pairs, kv_heads * group
    x = draw(b, t, heads * d)
    norm, network = RMSNorm(heads * d).double(), SwiGLU(heads * d, d_ff).double()
    nn.init.normal_(norm.weight)
    assert_same(card.rms_norm(x, norm.weight), norm(x), [x, norm.weight])
    matrices = [network.gate_proj.weight, network.up_proj.weight, network.down_proj.weight]
    assert_same(card.swiglu(x, *matrices), network(x), [x, *matrices])
    ours = GroupedQueryAttention(heads * d, heads, kv_heads, rotary=Rotary(d)).double()
    matrices = [layer.weight for layer in (ours.q_proj, ours.k_proj, ours.v_proj, ours.out_proj)]
    assert_same(card.attention(x, *matrices, d), ours(x, causal(t))[0], [x, *matrices])


@five_draws
def test_17_long_texts(seed):
    card, (b, queries, keys, d, d_v, window, size) = run_card("17"), sizes(seed, 7)
    q, k, v = draw(b, queries, d), draw(b, keys, d), draw(b, keys, d_v)
    near = (
        sliding_window(queries, window, offset=max(0, keys - queries))[:, :keys] & (torch.arange(queries) > 0)[:, None]
    )
    ours = attend(q, k, v, near)[0]  # the first query has no key
    assert_same(card.tiled(q, k, v, lambda i, j: near[i, j], size), ours, [q, k, v])
    assert_same(card.tiled(1e4 * q, k, v, lambda i, j: near[i, j], size), attend(1e4 * q, k, v, near)[0], [v])


@five_draws
def test_18_beyond_one_machine(seed):
    card, (parts, per_part, steps) = run_card("18"), sizes(seed, 3)
    task, batch = Reversal(2, 9), parts * per_part
    torch.manual_seed(seed)
    config = TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), 8, 2, num_layers=1, d_ff=12, dropout=0.0)
    ours = Transformer(config).double()
    theirs = copy.deepcopy(ours)
    theirs.register_forward_hook(lambda module, inputs, output: output[0])  # the logits alone
    recipe = Recipe(steps=steps, batch_size=batch, schedule="constant", warmup=1, clip=0.5, weight_decay=0.0)
    list(ParallelTrainer(ours, task, recipe, accumulate=parts).fit())
    optimizer = torch.optim.AdamW(theirs.parameters(), recipe.learning_rate, recipe.betas, recipe.eps, weight_decay=0)
    for step in range(1, steps + 1):
        src, tgt = task.step_batch(batch, step=step, seed=0)
        slices = [(src[i::parts], tgt[i::parts]) for i in range(parts)]
        card.train_step(theirs, slices, optimizer, clip=recipe.clip)
    pairs = zip(theirs.parameters(), ours.parameters())
    assert all((mine - right).abs().max() < 1e-6 for mine, right in pairs)
    size, count = sizes(seed, 2, 1, 30)
    drawn = [card.shard(size, rank, count, epoch=seed) for rank in range(count)]
    assert torch.cat(drawn).sort().values.tolist() == list(range(size))
