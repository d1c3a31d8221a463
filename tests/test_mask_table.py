"""The table of masks on the reference card: what each library that is installed does, asked by running it.

torch and transformers come with the set-up for development. The others are skipped where they are missing:
`pip install keras jax flax`, and `pip install --no-deps xformers`.
"""

import functools
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from lessons.probes import influence, true_means_attend
from tests.notebooks.cells import ROOT

TEXT = (ROOT / "cards" / "masks.md").read_text(encoding="utf-8")
D, H, T = 8, 2, 5  # features, heads, tokens
TOKENS = torch.randn(T, D, generator=torch.Generator().manual_seed(0))
HIDDEN = ~torch.ones(T, T, dtype=torch.bool).tril()
OTHERS = ~torch.eye(T, dtype=torch.bool)  # a residual connection moves each output with its own token


@pytest.fixture(autouse=True)
def _keras_on_torch(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")


pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' own


def installed(module, name):
    return pytest.importorskip(module, reason=f"{name} is not installed")


def rows():
    """The table: {its first cell: {heading: cell}}."""
    table = TEXT.split("\n\n")[1]
    heading, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return {line[0]: dict(zip(heading, line)) for line in lines}


def cell(library, heading, variant=None):
    """What the table says; a cell with variants reads "eager: NaN; sdpa: 0"."""
    (row,) = (row for name, row in rows().items() if name.replace("`", "").startswith(library))
    text = row[heading].replace("`", "")
    return text if variant is None else re.search(rf"{re.escape(variant)}: ([^;]+)", text)[1]


def what_true_means(attention):
    try:
        return "may attend" if true_means_attend(attention, TOKENS) else "blocked"
    except ValueError:
        return "hides nothing"


def what_a_float_mask_does(attention):
    """A mask of 0 and −inf, in which each query keeps its own token and those before it."""
    mask = torch.zeros(T, T).masked_fill(HIDDEN, -torch.inf)
    moved = influence(lambda x: attention(x, mask), TOKENS, draws=1) & OTHERS
    if torch.equal(moved, ~HIDDEN & OTHERS):
        return "added"
    return "inverted" if torch.equal(moved[:-1], HIDDEN[:-1]) else "something else"  # the last row is open everywhere


def what_an_empty_row_gives(attention, mask):
    if attention(TOKENS, mask).isnan().any():
        return "NaN"
    moved = influence(lambda x: attention(x, mask), TOKENS, draws=1) & OTHERS
    return "equal weights" if moved.any() else "0"


def blocks_all(attention):
    """A bool mask in which no query may attend to any key."""
    return torch.full((T, T), what_true_means(attention) == "blocked")


def heads(x):
    return x.unflatten(-1, (H, -1)).transpose(0, 1)[None]  # (1, H, T, d)


def joined(x):
    return x[0].transpose(0, 1).flatten(-2)


def sdpa(x, mask):
    return joined(F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=mask))


def flex(x, mask):
    rule = create_block_mask(lambda b, h, i, j: mask[i, j], None, None, T, T, device="cpu")
    return joined(flex_attention(heads(x), heads(x), heads(x), block_mask=rule))


MODULE = nn.MultiheadAttention(D, H, batch_first=True)


def module(x, mask, *, of=MODULE, **options):
    x = x[None]  # one tensor three times: only then the fast path knows self-attention
    return of(x, x, x, attn_mask=mask, **options)[0][0]


def module_keys(x, mask):
    """Of the mask only the first row: key_padding_mask has no axis of queries."""
    return MODULE(x[None], x[None], x[None], key_padding_mask=mask[:1])[0][0]


def test_every_library_is_in_the_table_once():
    names = (
        "torch",
        "torch",
        "the same",
        "torch",
        "Hugging Face",
        "Hugging Face",
        "flash-attn",
        "xFormers",
        "Keras",
        "Flax",
    )
    assert tuple(name.split(",")[0] for name in rows()) == names
    assert all(row["checked"].startswith(("run, ", "read, ")) for row in rows().values())


@pytest.mark.parametrize(
    "row, attention", [("torch, F.scaled_dot_product_attention", sdpa), ("torch, nn.MultiheadAttention", module)]
)
def test_torch(row, attention):
    assert what_true_means(attention) == cell(row, "True, or 1, means")
    assert what_a_float_mask_does(attention) == cell(row, "float mask")


def test_torch_key_padding_mask():
    row = "the same, key_padding_mask"
    padding = torch.tensor([[False, False, False, True, True]])
    assert what_true_means(module_keys) == cell(row, "True, or 1, means")
    assert cell(row, "float mask") == "added"
    added = torch.zeros(1, T).masked_fill(padding, -torch.inf)
    torch.testing.assert_close(module_keys(TOKENS, added), module_keys(TOKENS, padding))
    assert what_an_empty_row_gives(module_keys, blocks_all(module_keys)) == "NaN"


def test_torch_empty_rows():
    row = "torch, nn.MultiheadAttention"
    empty = torch.ones(T, T, dtype=torch.bool)
    assert what_an_empty_row_gives(sdpa, ~empty) == cell("torch, F.scaled_dot_product_attention", "row with no key")
    for need_weights in (True, False):
        attention = functools.partial(module, need_weights=need_weights)
        assert what_an_empty_row_gives(attention, empty) == cell(row, "row with no key", f"need_weights={need_weights}")
    MODULE.eval()
    odd = nn.MultiheadAttention(D, 1, batch_first=True).eval()
    with torch.no_grad():
        for attention, variant in ((MODULE, ".eval() without gradients"), (odd, "need_weights=False")):
            found = what_an_empty_row_gives(functools.partial(module, of=attention, need_weights=False), empty)
            assert found == cell(row, "row with no key", variant)
    MODULE.train()


def test_torch_flex_attention():
    """It does what F.scaled_dot_product_attention does, also in a row with no key."""
    row, as_torch = "torch, FlexAttention", "torch, F.scaled_dot_product_attention"
    mask = ~HIDDEN
    mask[2] = False
    torch.testing.assert_close(flex(TOKENS, mask), sdpa(TOKENS, mask))
    for heading in ("True, or 1, means", "row with no key"):
        assert cell(row, heading) == cell(as_torch, heading)


def causal_of_torch(q, k):
    return F.scaled_dot_product_attention(q, k, torch.eye(T)[None], is_causal=True)[0] > 0


def lower_right_of_torch(q, k):
    from torch.nn.attention.bias import causal_lower_right  # with it comes torch's compiler

    bias = causal_lower_right(q.size(1), k.size(1))
    return F.scaled_dot_product_attention(q, k, torch.eye(T)[None], attn_mask=bias)[0] > 0


def causal_of_keras(q, k):
    layer = installed("keras", "Keras").layers.MultiHeadAttention(1, D)
    return layer(q, k, use_causal_mask=True, return_attention_scores=True)[1][0, 0] > 1e-6


def causal_of_xformers(name, q, k):
    biases = installed("xformers.ops.fmha.attn_bias", "xFormers")
    return getattr(biases, name)().materialize((q.size(1), k.size(1))) == 0


@pytest.mark.parametrize(
    "library, function",
    [
        ("torch, `is_causal=True`", causal_of_torch),
        ("torch, `causal_lower_right`", lower_right_of_torch),
        ("Keras, `use_causal_mask=True`", causal_of_keras),
        ("xFormers, `LowerTriangularMask`", functools.partial(causal_of_xformers, "LowerTriangularMask")),
        (
            "xFormers, `LowerTriangularFromBottomRightMask`",
            functools.partial(causal_of_xformers, "LowerTriangularFromBottomRightMask"),
        ),
    ],
)
def test_where_causal_begins(library, function):
    at_the_end, at_the_start = (line for line in TEXT.splitlines() if line.startswith(("| all", "| only")))
    found = function(torch.randn(1, 2, D), torch.randn(1, T, D))
    assert torch.equal(found, torch.ones(2, T, dtype=torch.bool).tril(T - 2 if library in at_the_end else 0))
    assert (library in at_the_end) != (library in at_the_start)


def hugging_face(implementation, kind="bert"):
    """A small model of one layer: (x (T, D), attention_mask) -> (T, D)."""
    transformers = installed("transformers", "transformers")
    sizes = {"vocab_size": 9, "attn_implementation": implementation, "bos_token_id": 0, "eos_token_id": 0}
    if kind == "bert":
        sizes |= {"hidden_size": D, "num_hidden_layers": 1, "num_attention_heads": H, "intermediate_size": D}
        model = transformers.BertModel(transformers.BertConfig(**sizes))
    else:
        sizes |= {"n_embd": D, "n_layer": 1, "n_head": H, "n_positions": T}
        model = transformers.GPT2Model(transformers.GPT2Config(**sizes))
    model.eval()
    return lambda x, mask: model(inputs_embeds=x[None], attention_mask=mask).last_hidden_state[0]


@pytest.mark.thorough("imports transformers")
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_hugging_face_2d(implementation):
    row, model = "Hugging Face, attention_mask, 2-D", hugging_face(implementation)

    def attention(x, mask):
        return model(x, mask[:1].long())

    assert what_true_means(attention) == cell(row, "True, or 1, means")
    assert what_an_empty_row_gives(attention, blocks_all(attention)) == cell(row, "row with no key", implementation)
    causal = hugging_face(implementation, "gpt2")
    moved = influence(lambda x: causal(x, torch.ones(1, T, dtype=torch.long)), TOKENS, draws=1)
    assert torch.equal(moved, ~HIDDEN)


@pytest.mark.thorough("imports transformers")
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_hugging_face_4d(implementation):
    row, model = "Hugging Face, attention_mask, 4-D", hugging_face(implementation)

    def attention(x, mask):
        return model(x, mask[None, None])

    assert what_true_means(attention) == cell(row, "True, or 1, means", implementation)
    assert what_a_float_mask_does(attention) == cell(row, "float mask")
    nothing = torch.full((T, T), -torch.inf)
    assert what_an_empty_row_gives(attention, nothing) == cell(row, "row with no key", implementation)


def test_keras():
    keras = installed("keras", "Keras")
    layer, row = keras.layers.MultiHeadAttention(H, D // H), "Keras, MultiHeadAttention"

    def attention(x, mask):
        return layer(x[None], x[None], attention_mask=mask[None])[0]

    def with_scores(x, mask):
        return layer(x[None], x[None], attention_mask=mask[None], return_attention_scores=True)[0][0]

    with_dropout = keras.layers.MultiHeadAttention(H, D // H, dropout=0.1)

    def drops(x, mask):
        return with_dropout(x[None], x[None], attention_mask=mask[None])[0]

    assert what_true_means(attention) == cell(row, "True, or 1, means")
    assert what_a_float_mask_does(attention) == cell(row, "float mask")
    calls = {"plain call": [attention], "scores returned, or a layer with dropout": [with_scores, drops]}
    for name, ways in calls.items():
        for call in ways:
            assert what_an_empty_row_gives(call, blocks_all(call)) == cell(row, "row with no key", name)


def test_flax():
    installed("jax", "jax")
    nnx = installed("flax.nnx", "Flax")
    layer = nnx.MultiHeadAttention(num_heads=H, in_features=D, decode=False, rngs=nnx.Rngs(0))
    row = "Flax, nnx.MultiHeadAttention"

    def attention(x, mask):
        found = layer(x.detach().numpy()[None], mask=mask.numpy()[None, None])
        return torch.from_numpy(found[0].__array__().copy())

    assert what_true_means(attention) == cell(row, "True, or 1, means")
    assert what_a_float_mask_does(attention) == cell(row, "float mask")
    assert what_an_empty_row_gives(attention, blocks_all(attention)) == cell(row, "row with no key")
