"""The probe sees what moves, all of it and nothing else."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from lessons.attention import MultiHeadAttention, attend
from lessons.config import TransformerConfig
from lessons.layers import DecoderLayer, EncoderLayer
from lessons.masks import causal, padding
from lessons.positions import RotaryPositions
from lessons.probes import SCALES, influence, leaks, reach, true_means_attend
from lessons.transformer import Transformer

X = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
LOWER = torch.ones(4, 4, dtype=torch.bool).tril()
ALL = torch.ones(4, 4, dtype=torch.bool)
NONE = torch.zeros(4, 4, dtype=torch.bool)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def shifted(x):
    return torch.cat([x[1:], x[:1]])


@pytest.mark.parametrize(
    ("function", "moved"),
    [
        (lambda x: 2 * x, torch.eye(4, dtype=torch.bool)),
        (lambda x: x.cumsum(dim=0), LOWER),
        (lambda x: -x.cumsum(dim=0), LOWER),
        (lambda x: x[:, -1:].cumsum(dim=0), LOWER),
        (lambda x: torch.zeros(4, 1), NONE),
        (lambda x: torch.zeros(4, 1, requires_grad=True), NONE),
        (shifted, torch.eye(4, dtype=torch.bool).roll(1, dims=1)),
        (lambda x: attend(x, x, x, causal(4))[0], LOWER),
        (lambda x: (attend(x, x, x, causal(4))[0], "no tensor"), LOWER),
        (lambda x: x.cumsum(dim=0).sum(dim=1, keepdim=True).expand(4, 6).unflatten(1, (2, 3)), LOWER),
        (lambda x: torch.full((4, 1), torch.nan), NONE),
        (lambda x: (x @ x.T).masked_fill(~LOWER, -torch.inf), LOWER),
        (lambda x: x + 1e-30 * x.sum(), ALL),
        (lambda x: x.sum(dim=1), torch.eye(4, dtype=torch.bool)),
        (lambda x: F.layer_norm(x, (3,)).cumsum(dim=0), LOWER),
        (lambda x: (x.sum(dim=1) > 0).cumsum(dim=0), LOWER),
        (lambda x: x.detach().cumsum(dim=0), LOWER),
        (lambda x: torch.from_numpy(x.detach().numpy().cumsum(axis=0)), LOWER),
    ],
)
def test_influence(function, moved):
    before = X.clone()
    assert torch.equal(influence(function, X), moved)
    assert torch.equal(X, before)


def test_tokens_may_be_zeros_and_large_and_changed_in_place():
    assert torch.equal(influence(lambda x: x.cumsum_(dim=0), torch.zeros(4, 3)), LOWER)
    assert torch.equal(influence(lambda x: x.cumsum(dim=0), 1e6 * X, draws=1), LOWER)


def size(x):
    return x.detach().square().mean().sqrt().item()


def test_the_draws_begin_with_the_callers_tokens_and_go_down_to_very_small_ones():
    seen = []
    influence(lambda x: seen.append(x.detach()) or x, X)
    assert torch.equal(seen[0], X)
    for scale in SCALES:
        assert any(0.5 * scale < size(x) < 1.5 * scale for x in seen)
    seen.clear()
    influence(lambda x: seen.append(x.detach()) or x, X, draws=2)
    assert min(map(size, seen)) > 0.5


def test_the_vectors_of_ids_become_as_small():
    table, seen = torch.randn(9, 512), []
    influence(lambda ids: seen.append(table[ids]) or seen[-1], torch.tensor([4, 5, 6, 7]))
    assert size(seen[0]) == pytest.approx(1.0, abs=0.1)
    for scale in SCALES:
        assert any(0.8 * scale < size(x) < 1.2 * scale for x in seen)


def test_a_place_is_no_id():
    table, seen = torch.randn(9, 512), []
    influence(lambda ids: seen.append(table[torch.tensor(3)]) or table[ids], torch.tensor([4, 5, 6, 7]))
    assert all(torch.equal(row, table[3]) for row in seen)


@pytest.mark.parametrize("x", [X, torch.tensor([4, 5, 6, 7])])
def test_the_trials_are_the_same_whatever_the_caller_has_drawn_before(x):
    def trials():
        seen = []
        influence(lambda x: seen.append(x.detach()) or x, x)
        return torch.stack(seen)

    before = trials()
    torch.manual_seed(1)
    assert torch.equal(trials(), before)


def test_what_one_draw_has_shown_stays():
    assert influence(lambda x: x + (x[0] == X[0]).all() * x[3], X)[:, 3].all()
    table = torch.randn(9, 8)

    def function(ids):
        x = table[ids]
        return x + (size(x) > 0.5) * x[3]

    assert influence(function, torch.tensor([4, 5, 6, 7]))[:, 3].all()


@pytest.mark.parametrize(("change", "seen"), [(1e-4, True), (3e-6, False)])
def test_without_a_gradient_a_change_counts_from_a_hundred_roundings_on(change, seen):
    moved = influence(lambda x: torch.ones(4, 1) + change * (x[3].detach() > 0).any(), X)
    assert moved[:, 3].all() == seen and not moved[:, :3].any()


def test_one_draw_sees_what_depends_on_a_sign():
    for _ in range(20):
        assert influence(only_one, torch.randn(4, 6), draws=1)[:, -1].all()


def test_a_gradient_is_compared_with_those_of_two_inputs_close_by():
    seen = []

    def function(x):
        if torch.is_grad_enabled():
            seen.append(x.detach())
        return x + 1e-30 * x.sum()

    influence(function, X, draws=1)
    first, second = (size(x - X) / size(X) for x in seen[1:])
    assert torch.equal(seen[0], X) and 1e-5 < first < second < 1e-3


def test_a_gradient_of_many_features_of_small_tokens_is_seen():
    x = 1e-3 * torch.randn(2, 10_000)
    assert influence(lambda x: x + 1e-20 * x.flip(0) ** 3, x, draws=1).all()


def test_a_gradient_that_is_rounding_shows_nothing_where_no_token_has_a_gradient():
    a, b = torch.randn(2, 3)

    def function(x):
        y = x.flip(0)
        return x.detach() + a * y + b * y - (a + b) * y

    assert torch.equal(influence(function, X), torch.eye(4, dtype=torch.bool))


def test_an_output_that_becomes_nan_has_changed():
    assert influence(lambda x: torch.where(x[3].detach().sum() > 0, torch.nan, torch.ones(4, 1)), X)[:, 3].all()


def test_leaks_are_the_pairs_of_an_output_and_a_later_token():
    assert leaks(lambda x: x.cumsum(dim=0), X) == []
    assert leaks(shifted, X) == [(0, 1), (1, 2), (2, 3)]
    assert leaks(lambda x: x + x[2], X) == [(0, 2), (1, 2)]


def test_no_leak_is_no_proof_and_says_so():
    assert repr(leaks(lambda x: x, X)) == "no leak found in 6 draws"
    assert f"{leaks(lambda x: x, X, draws=2)}" == "no leak found in 2 draws"
    assert repr(leaks(shifted, X)) == "[(0, 1), (1, 2), (2, 3)]"


def test_the_random_numbers_of_the_caller_stay_as_they_were():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    influence(lambda x: F.dropout(x), X)
    assert torch.equal(torch.rand(3), wanted)


def test_bad_input():
    for x in (X[0], X[None, None]):
        with pytest.raises(ValueError, match=r"x has shape \(.*\); expected \(T, D\) or \(B, T, D\), not empty"):
            influence(lambda x: x, x)
    with pytest.raises(ValueError, match=r"x has shape \(0,\); expected ids \(T,\) or \(B, T\), not empty"):
        influence(lambda x: x, torch.zeros(0, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"x has shape \(1, 2, 2\); expected ids \(T,\) or \(B, T\)"):
        influence(lambda x: x, torch.ones(1, 2, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"x is a tensor of torch.bool; expected tokens as floats, or ids as whole"):
        influence(lambda x: x, X > 0)
    with pytest.raises(
        ValueError, match=r"function returned shape \(3, 3\); expected one output per token, shape \(4,\)"
    ):
        influence(lambda x: x[:3], X)
    with pytest.raises(ValueError, match="function returned a NoneType; expected one output per token"):
        influence(lambda x: None, X)
    with pytest.raises(ValueError, match="function returned a str; expected one output per token"):
        influence(lambda x: "outputs", X)
    with pytest.raises(ValueError, match="draws is 0; expected a whole number, 1 or more"):
        leaks(lambda x: x, X, draws=0)
    with pytest.raises(
        ValueError, match=r"^x contains no id above 0; expected vocab_size, so that other ids can replace them$"
    ):
        leaks(lambda x: x, torch.zeros(4, dtype=torch.int64))
    with pytest.raises(ValueError, match="vocab_size is 3; expected more than the largest id in x, 3"):
        leaks(lambda x: x, torch.arange(4), vocab_size=3)
    with pytest.raises(ValueError, match="vocab_size is 1; expected more than the largest id in x, 0"):
        leaks(lambda x: x, torch.zeros(4, dtype=torch.int64), vocab_size=1)
    numbers = torch.Generator().manual_seed(0)
    with pytest.raises(ValueError, match=r"^function gives .* for the same x; .* no state kept between calls$"):
        leaks(lambda x: x + torch.rand(4, 3, generator=numbers), X)


# --- The judgment: what leaks is always caught, what is masked correctly is never accused --------------------------


def by_hand(x, *, allowed=None, fill=-torch.inf, size=1.0):
    scores = size * x @ x.mT
    return (scores if allowed is None else scores.masked_fill(~allowed, fill)).softmax(dim=-1) @ x


def after_the_softmax(x):
    return (30 * x @ x.T).softmax(dim=-1).tril() @ x


def behind_a_norm(x):
    x = F.layer_norm(x, x.shape[-1:])
    return attend(x, x, x)[0]


def without_gradients(x):
    with torch.no_grad():
        return by_hand(x)


def by_the_largest(x):
    return F.one_hot((x @ x.T).argmax(dim=-1), len(x)).float() @ x.detach()


def only_one(x):
    return x + (x[-1:, :1] > 0)


class Block(nn.Module):
    """Self-attention as a module, whose mask depends on its mode."""

    def __init__(self, *modes, dropout=0.0, size=64, norm_first=True):
        super().__init__()
        self.layer = EncoderLayer(size, 4, 2 * size, dropout=dropout, norm_first=norm_first)
        self.modes = modes

    def forward(self, x):
        return self.layer(x, causal(x.size(1)) if self.training in self.modes else None)[0]


class ByIds(nn.Module):
    """Attention without √d among embeddings, so that each token sees little but itself."""

    def __init__(self, *, hides, size=512):
        super().__init__()
        self.embedding = nn.Embedding(9, size)
        self.hides = hides

    def forward(self, ids):
        return by_hand(self.embedding(ids), allowed=causal(ids.size(-1)) if self.hides else None)


def indexed(table):
    return lambda ids: by_hand(table[ids])


def tokens(*shape):
    return lambda: torch.randn(*shape)


def ids(*shape):
    return lambda: torch.randint(1, 9, shape)


REVIEWED = {  # what the detector of an earlier edition called clean in 44 to 99 of 100 draws
    "large scores": (lambda x: attend(8 * x, 8 * x, x)[0], tokens(4, 6)),
    "no √d, 64 features": (by_hand, tokens(6, 64)),
    "512 features": (lambda x: attend(x, x, x)[0], tokens(6, 512)),
    "0 after the softmax, large scores": (after_the_softmax, tokens(4, 6)),
    "behind a layer norm": (behind_a_norm, tokens(4, 6)),
}
LEAKS = {
    "scores times a million": (lambda x: by_hand(x, size=1e6), tokens(4, 6)),
    "tokens times a million": (by_hand, lambda: 1e6 * torch.randn(4, 6)),
    "all tokens zero": (by_hand, lambda: torch.zeros(4, 6)),
    "one step too far": (lambda x: by_hand(x, allowed=causal(4) | causal(4).roll(1, 1)), tokens(4, 6)),
    "-30 in place of −∞": (lambda x: by_hand(x, allowed=causal(4), fill=-30.0), tokens(4, 6)),
    "a float mask of ones": (lambda x: F.scaled_dot_product_attention(x, x, x, LOWER.float()), tokens(4, 6)),
    "no gradient": (without_gradients, tokens(4, 64)),
    "0 after the softmax": (lambda x: (x @ x.T).softmax(dim=-1).tril() @ x, tokens(4, 6)),
    "argmax": (by_the_largest, tokens(4, 6)),
    "a step": (only_one, tokens(4, 6)),
    "a batch": (by_hand, tokens(2, 4, 64)),
    "across a batch": (lambda x: x + x.flip(0).flip(1), tokens(2, 4, 3)),
    "half precision": (by_hand, lambda: torch.randn(4, 64).half()),
    "ids": (ByIds(hides=False), ids(4)),
    "ids in a batch": (ByIds(hides=False), ids(2, 4)),
    "ids, indexed": (indexed(torch.randn(9, 512)), ids(4)),
    "training mode": (Block(), tokens(2, 4, 64)),
    "training mode, dropout": (Block(dropout=0.5, norm_first=False), tokens(2, 4, 64)),
    "evaluation": (Block(True).eval(), tokens(2, 4, 64)),
}


def check_that_a_leak_is_found(name, draws):
    function, draw = (REVIEWED | LEAKS)[name]
    assert sum(bool(leaks(function, draw())) for _ in range(draws)) == draws


@pytest.mark.parametrize("draws", [3, pytest.param(10, marks=pytest.mark.thorough("3 find what most defects lose"))])
@pytest.mark.parametrize("name", REVIEWED | LEAKS)
def test_a_leak_is_found_whatever_is_drawn(name, draws):
    check_that_a_leak_is_found(name, draws)


@pytest.mark.thorough("100 draws each")
@pytest.mark.parametrize("name", REVIEWED)
def test_what_was_not_always_found_is(name):
    check_that_a_leak_is_found(name, draws=100)


def linear_attention(x):
    keys = x.exp()
    return (keys[:, :, None] * x[:, None, :]).cumsum(dim=0).mul(keys[:, :, None]).sum(dim=1) / keys.sum(dim=1)[:, None]


def renormalized(x):
    weights = (x @ x.T / x.size(1)).softmax(dim=-1).tril()
    return weights / weights.sum(dim=-1, keepdim=True) @ x


def convolved_by_fft(x):
    kernel = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    spectrum = torch.fft.rfft(x, 2 * len(x), dim=0) * torch.fft.rfft(kernel, 2 * len(x), dim=0)
    return torch.fft.irfft(spectrum, 2 * len(x), dim=0)[: len(x)]


def all_but_the_rest(x):
    return x.sum(dim=0) - x.flip(0).cumsum(dim=0).flip(0)


def one_at_a_time(x):
    return torch.cat([attend(x[i : i + 1], x[: i + 1], x[: i + 1])[0] for i in range(len(x))])


def flex(x):
    rule = create_block_mask(lambda b, h, i, j: i >= j, None, None, len(x), len(x), device="cpu")
    return flex_attention(x[None, None], x[None, None], x[None, None], block_mask=rule)[0, 0]


def torch_layer(kind=nn.TransformerEncoderLayer, **options):
    return kind(12, 2, 16, batch_first=True, **{"dropout": 0.5} | options)


def causal_layer(layer):
    blocked = ~causal(5)
    if isinstance(layer, nn.TransformerDecoderLayer):
        memory = torch.randn(1, 3, 12)
        return lambda x: layer(x, memory.expand(len(x), -1, -1), tgt_mask=blocked)
    return lambda x: layer(x, src_mask=blocked)


def torch_attention(**options):
    module = nn.MultiheadAttention(12, 2, batch_first=True)
    return lambda x: module(x, x, x, attn_mask=~causal(5), **options)


def course_layer(layer, *memory):
    return lambda x: layer(x, *memory, causal(5))


def course_attention(module):
    return lambda x: module(x, allowed=causal(5))


def causal_convolution(module):
    return lambda x: module(F.pad(x.T, (2, 0))).T


def translator(**options):
    sizes = {"src_vocab_size": 9, "tgt_vocab_size": 9, "d_model": 12, "num_heads": 2, "num_layers": 1, "d_ff": 16}
    model = Transformer(TransformerConfig(**sizes, src_pad_id=0, tgt_pad_id=0, **options))
    src = torch.tensor([[3, 4, 5, 0], [6, 7, 0, 0]])
    return lambda tgt: model(src[: len(tgt)], tgt)


def padded_batch(x):
    allowed = causal(5) & torch.tensor([5, 2])[:, None, None].gt(torch.arange(5))
    return attend(x, x, x, allowed)[0]


def in_precision(dtype):
    layer = EncoderLayer(12, 2, 16, dropout=0.0).to(dtype)
    return lambda x: layer(x, causal(5))


def recurrent(kind):
    return kind(12, 8, num_layers=2, batch_first=True, dropout=0.5)


CAUSAL = {
    "attend": (lambda x: attend(x, x, x, causal(5))[0], tokens(5, 12)),
    "the fused kernel": (lambda x: attend(x, x, x, causal(5), need_weights=False)[0], tokens(5, 12)),
    "large scores": (lambda x: attend(30 * x, 30 * x, x, causal(5))[0], tokens(5, 64)),
    "-1e9": (lambda x: by_hand(x, allowed=causal(5), fill=-1e9), tokens(5, 12)),
    "the least number": (lambda x: by_hand(x, allowed=causal(5), fill=torch.finfo(x.dtype).min), tokens(5, 12)),
    "-1e4 in half precision": (
        lambda x: by_hand(x / 10, allowed=causal(5), fill=-1e4),
        lambda: torch.randn(5, 12).half(),
    ),
    "is_causal": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), tokens(2, 5, 12)),
    "an additive mask": (
        lambda x: F.scaled_dot_product_attention(x, x, x, torch.zeros(5, 5).masked_fill(~causal(5), -torch.inf)),
        tokens(2, 5, 12),
    ),
    "FlexAttention": (flex, tokens(5, 16)),
    "a sliding window": (lambda x: by_hand(x, allowed=causal(5).triu(-1)), tokens(5, 12)),
    "renormalized": (renormalized, tokens(5, 12)),
    "linear attention": (linear_attention, tokens(5, 6)),
    "one at a time": (one_at_a_time, tokens(5, 12)),
    "rounded": (lambda x: (4 * x).round().cumsum(dim=0), tokens(5, 12)),
    "convolved by FFT": (convolved_by_fft, tokens(5, 12)),
    "the sum but for the rest": (all_but_the_rest, tokens(5, 12)),
    "a causal convolution": (causal_convolution(nn.Conv1d(12, 7, 3)), tokens(5, 12)),
    "LSTM": (recurrent(nn.LSTM), tokens(2, 5, 12)),
    "GRU in evaluation": (recurrent(nn.GRU).eval(), tokens(2, 5, 12)),
    "nn.MultiheadAttention": (torch_attention(), tokens(2, 5, 12)),
    "nn.MultiheadAttention, no weights": (torch_attention(need_weights=False), tokens(2, 5, 12)),
    "nn.TransformerEncoderLayer": (causal_layer(torch_layer()), tokens(2, 5, 12)),
    "the same, norm first": (causal_layer(torch_layer(norm_first=True)), tokens(2, 5, 12)),
    "the same in evaluation": (causal_layer(torch_layer().eval()), tokens(2, 5, 12)),
    "nn.TransformerDecoderLayer": (causal_layer(torch_layer(nn.TransformerDecoderLayer)), tokens(2, 5, 12)),
    "EncoderLayer": (course_layer(EncoderLayer(12, 2, 16)), tokens(2, 5, 12)),
    "EncoderLayer, norm first, rotary": (
        course_layer(EncoderLayer(12, 2, 16, norm_first=True, rotary=RotaryPositions(6))),
        tokens(2, 5, 12),
    ),
    "DecoderLayer": (course_layer(DecoderLayer(12, 2, 16), torch.randn(2, 3, 12)), tokens(2, 5, 12)),
    "MultiHeadAttention": (
        course_attention(MultiHeadAttention(12, 3, dropout=0.5)),
        tokens(2, 5, 12),
    ),
    "a padded batch": (padded_batch, tokens(2, 5, 12)),
    "bfloat16": (in_precision(torch.bfloat16), lambda: torch.randn(2, 5, 12).bfloat16()),
    "float64": (in_precision(torch.float64), lambda: torch.randn(2, 5, 12).double()),
    "ids": (ByIds(hides=True), ids(2, 5)),
    "a translator": (translator(dropout=0.0), ids(2, 5)),
    "a translator in training": (translator(dropout=0.5), ids(2, 5)),
    "a translator, padding": (translator(), lambda: torch.tensor([[4, 5, 6, 7, 8], [4, 5, 0, 0, 0]])),
}


@pytest.mark.one_of(3)
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", CAUSAL)
def test_what_is_causal_is_not_accused(name):
    function, draw = CAUSAL[name]
    for _ in range(2):
        moved = influence(function, draw())
        assert not moved.triu(1).any()
        assert moved.any(), "a detector that sees nothing accuses nobody"


def test_a_row_of_nan_hides_no_leak_in_the_others():
    def function(x):
        return by_hand(x, allowed=torch.tensor([[0, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]]).bool())

    assert leaks(function, torch.randn(4, 64)) == [(1, 3)]


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_a_row_without_numbers_hides_no_leak_in_small_ones(value):
    def function(x):
        outputs = 1e-9 * x.detach().flip(0)
        outputs[3] = value
        return outputs

    assert leaks(function, X) == [(0, 3), (1, 2)]


def test_both_ways_through_a_module_are_examined():
    assert leaks(lambda x: x.cumsum(0) if torch.is_grad_enabled() else x.flip(0), X) == [(0, 3), (1, 2)]
    assert leaks(lambda x: x.flip(0) if torch.is_grad_enabled() else x.cumsum(0), X) == [(0, 3), (1, 2)]


def test_a_module_is_examined_in_its_mode():
    block, x = Block(True), torch.randn(1, 4, 64)
    assert leaks(block.train(), x) == []
    assert len(leaks(block.eval(), x)) == 6


def test_ids_are_replaced_by_ids_of_the_vocabulary():
    seen = set()

    def function(ids):
        seen.update(ids.tolist())
        return ids

    influence(function, torch.tensor([2, 3]))
    assert seen <= set(range(4)) and len(seen) > 2
    influence(function, torch.tensor([2, 3]), vocab_size=50, draws=20)
    assert max(seen) > 20
    assert torch.equal(
        influence(lambda ids: (ids > 9).cumsum(dim=0), torch.tensor([0, 1]), vocab_size=50), LOWER[:2, :2]
    )


@pytest.mark.parametrize("vocab_size", [None, 2])
def test_two_ids_are_enough(vocab_size):
    moved = influence(lambda ids: ids.flip(0), torch.tensor([0, 1]), vocab_size=vocab_size)
    assert torch.equal(moved, torch.eye(2, dtype=torch.bool).flip(0))


def test_each_id_is_replaced_by_another():
    seen, ids = [], torch.tensor([0, 1])
    influence(lambda ids: seen.append(ids) or ids, ids, draws=1)
    assert sum(torch.equal(x, ids) for x in seen) == 2, "only to see whether the outputs stay the same"


def test_a_padding_mask_is_what_ids_decide():
    embedding = nn.Embedding(9, 12)

    def function(ids):
        x = embedding(ids)
        return attend(x, x, x, padding(ids[None], pad_id=0)[0, 0])[0]

    assert influence(function, torch.tensor([4, 5, 0])).all(), "a token in place of the padding would be seen"


def attention(*, true_looks, fill=-torch.inf, empty=None):
    def attend_by_hand(x, mask):
        hidden = ~mask if true_looks else mask
        weights = (x @ x.T).masked_fill(hidden, fill).softmax(dim=-1)
        return (weights if empty is None else weights.masked_fill(hidden.all(dim=-1, keepdim=True), empty)) @ x

    return attend_by_hand


@pytest.mark.parametrize("true_looks", [True, False])
@pytest.mark.parametrize("habits", [{}, {"empty": 0.0}, {"fill": -1e9}], ids=["NaN", "0", "even share"])
def test_what_true_means(true_looks, habits):
    assert true_means_attend(attention(true_looks=true_looks, **habits), X) is true_looks
    assert true_means_attend(attention(true_looks=true_looks, **habits), X[:2]) is true_looks


def test_what_true_means_in_torch():
    module = torch.nn.MultiheadAttention(3, 1, batch_first=True)

    def function(x, mask):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)

    assert true_means_attend(function, X)
    assert not true_means_attend(lambda x, mask: module(x[None], x[None], x[None], attn_mask=mask)[0][0], X)


def test_a_mask_that_decides_nothing():
    with pytest.raises(ValueError, match="output 0 changes with the last token, masked or not; expected the mask"):
        true_means_attend(lambda x, mask: attend(x, x, x)[0], X)
    with pytest.raises(ValueError, match="output 0 does not change with the last token"):
        true_means_attend(lambda x, mask: x, X)
    with pytest.raises(ValueError, match=r"x has shape \(1, 3\); expected \(T, D\) with two tokens or more"):
        true_means_attend(attention(true_looks=True), X[:1])


# --- reach ----------------------------------------------------------------------------------------------------


def running_sum(factor):
    """Outputs y_t = x_t + factor · y_(t - 1), so that a token counts factor ** distance."""

    def run(x):
        outputs = [x[:, 0]]
        for t in range(1, x.size(1)):
            outputs.append(x[:, t] + factor * outputs[-1])
        return torch.stack(outputs, dim=1)

    return run


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_reach_of_what_forgets_at_a_known_rate(factor):
    expected = torch.tensor([factor**distance for distance in range(4)])
    assert torch.allclose(reach(running_sum(factor), torch.randn(2, 5, 3)), expected)
    assert torch.allclose(reach(running_sum(factor), torch.randn(2, 2, 3)), expected[:1])


def test_reach_is_that_of_the_last_output():
    counts = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def only_the_last_looks_back(x):
        return torch.cat([x[:, :-1], torch.einsum("t,btd->bd", counts, x)[:, None]], dim=1)

    assert torch.allclose(reach(only_the_last_looks_back, torch.randn(2, 4, 3)), torch.tensor([1, 2 / 3, 1 / 3]))


def test_reach_counts_all_features_alike():
    def one_feature_from_each_distance(x):
        return torch.cat([x[:, 1:2], x[:, :1]], dim=-1)

    assert torch.allclose(reach(one_feature_from_each_distance, torch.zeros(10_000, 3, 1)), torch.ones(2), atol=0.05)


def test_reach_does_not_change_its_tokens():
    x = torch.randn(2, 5, 3)
    reach(running_sum(0.5), x)
    assert not x.requires_grad and x.grad is None


@pytest.mark.parametrize("x", [torch.randn(5, 3), torch.randn(2, 1, 3), torch.ones(2, 5, 3, dtype=torch.long)])
def test_reach_refuses_what_has_no_distance(x):
    with pytest.raises(ValueError, match=r"x is a tensor .*; expected floats, \(B, T, D\)"):
        reach(running_sum(0.5), x)
