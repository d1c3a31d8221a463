"""AttentionExplorer without a browser: what it reads, what it shows, what it sends."""

import base64
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lessons.config import TransformerConfig
from lessons.plots.describe import describe
from lessons.transformer import Transformer
from lessons.widgets import AttentionExplorer
from lessons.widgets.attention_explorer.heads import describe_head, example

L, B, H, Q, K = 3, 2, 4, 5, 6


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).softmax(dim=-1)


def unpack(widget):
    data = np.frombuffer(base64.b64decode(widget.shown["weights"]), dtype=np.float32)
    return torch.tensor(data).view(len(widget.shown["rows"]), len(widget.shown["columns"]))


@pytest.mark.parametrize("shape", [(Q, K), (H, Q, K), (B, H, Q, K), (L, B, H, Q, K)], ids=len)
def test_weights_of_any_shape(shape):
    weights = drawn(*shape)
    full = weights.reshape(*[1] * (5 - len(shape)), *shape)
    widget = AttentionExplorer(weights)
    for layer in range(full.size(0)):
        for sentence in range(full.size(1)):
            for head in range(full.size(2)):
                widget.layer, widget.sentence, widget.head = layer, sentence, head
                torch.testing.assert_close(widget.weights, full[layer, sentence, head])
                torch.testing.assert_close(unpack(widget), full[layer, sentence, head])
            widget.head = -1
            torch.testing.assert_close(unpack(widget), full[layer, sentence].mean(dim=0))


def test_nested_lists_and_lists_of_layers():
    assert AttentionExplorer([[0.25, 0.75], [1, 0]]).weights.tolist() == [[0.25, 0.75], [1, 0]]
    layers = [drawn(B, H, Q, K, seed=i) for i in range(L)]
    widget = AttentionExplorer(layers)
    widget.layer = 2
    torch.testing.assert_close(widget.weights, layers[2][0, 0])


@pytest.mark.parametrize("kind", ["object", "dict"])
def test_what_hugging_face_returns(kind):
    encoder = tuple(drawn(B, H, K, K, seed=i) for i in range(2))
    decoder, cross = (drawn(B, H, Q, Q, seed=5),), (drawn(B, H, Q, K, seed=6),)
    fields = {"encoder_attentions": encoder, "decoder_attentions": decoder, "cross_attentions": cross, "logits": 1}
    output = SimpleNamespace(**fields) if kind == "object" else fields
    source, target = [f"s{i}" for i in range(K)], [f"t{i}" for i in range(Q)]
    widget = AttentionExplorer(
        output,
        query_tokens={"encoder": source, "decoder": target, "cross": target},
        key_tokens={"encoder": source, "decoder": target, "cross": source},
    )
    assert widget.names == ["encoder 0", "encoder 1", "decoder 0", "cross 0"]
    widget.layer = 3
    assert (widget.query_tokens, widget.key_tokens) == (target, source)
    torch.testing.assert_close(widget.weights, cross[0][0, 0])
    assert AttentionExplorer(SimpleNamespace(attentions=encoder)).names == ["layer 0", "layer 1"]


def test_the_weights_of_our_transformer():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(9, 8, d_model=12, num_heads=3, num_layers=2, d_ff=16)).eval()
    _, found = model(torch.tensor([[1, 2, 3, 0]]), torch.tensor([[4, 5, 6]]), need_weights=True)
    widget = AttentionExplorer(found)
    assert widget.names == list(found)
    for i, (name, weights) in enumerate(found.items()):
        widget.layer = i
        assert widget.name == name
        torch.testing.assert_close(widget.weights, weights[0, 0].detach())


def test_tokens_one_list_for_all_or_one_for_each_sentence():
    weights = drawn(B, H, 3, 3)
    assert AttentionExplorer(weights, ["a", "b", "c"]).key_tokens == ["a", "b", "c"]
    widget = AttentionExplorer(weights, [["a", "b", "c"], ["x", "y", "z"]])
    widget.sentence = 1
    assert widget.query_tokens == widget.key_tokens == ["x", "y", "z"]
    assert AttentionExplorer(weights).key_tokens == ["0", "1", "2"]


def test_special_tokens_can_be_hidden_and_weights_stay_as_they_were():
    weights = drawn(1, 1, 4, 4)
    widget = AttentionExplorer(weights, ["[CLS]", "a", "b", "<pad>"])
    widget.hide_special = True
    assert widget.query_tokens == widget.key_tokens == ["a", "b"]
    torch.testing.assert_close(unpack(widget), weights[0, 0, 1:3, 1:3])
    assert widget.note().startswith("Hidden: 2 queries and 2 keys; the other weights are unchanged. 2 of 2 rows")
    only = AttentionExplorer(weights, ["<pad>"] * 4)
    only.hide_special = True
    assert only.query_tokens == ["<pad>"] * 4
    own = AttentionExplorer(weights, ["a", "b", "c", "d"], special=["a"])
    own.hide_special = True
    assert own.key_tokens == ["b", "c", "d"]


@pytest.mark.parametrize("query, hidden", [(1, 0), (2, 1), (0, None), (3, None), (None, None)])
def test_the_kept_query_stays_with_its_token_unless_that_is_hidden(query, hidden, monkeypatch):
    """And the browser is told of it together with the new rows."""
    widget = AttentionExplorer(drawn(4, 4), ["[CLS]", "the", "cat", "[SEP]"], query=query)
    sent = []
    monkeypatch.setattr(widget, "_send", lambda message, buffers=None: sent.append(message["state"].keys()))
    widget.set_state({"hide_special": True})
    assert widget.query == hidden
    assert sent == [{"query", "maps", "shown"} if query is not None else {"maps", "shown"}]
    widget.hide_special = False
    assert widget.query == (None if hidden is None else query)


def test_a_layer_with_fewer_heads_and_sentences():
    widget = AttentionExplorer({"many": drawn(3, 5, 4, 4), "few": drawn(1, 2, 2, 2)})
    widget.sentence, widget.head, widget.query = 2, 4, 3
    widget.layer = 1
    assert (widget.sentence, widget.head, widget.query) == (0, 1, None)


def test_what_a_head_does_is_said_in_words():
    weights, tokens = example()
    assert [describe_head(head, tokens) for head in weights] == [
        "the one before: 0.96",
        "itself: 0.96",
        "“the”, place 0: 0.96",
        "itself: 0.74",
    ]
    assert describe_head(torch.full((4, 5), 0.2), list("abcde")) == "spread, entropy 1.61"
    assert describe_head(torch.full((4, 5), 0.05), list("abcde")) == "spread, entropy 1.61"  # the rest is hidden
    assert describe_head(torch.eye(3).roll(1, dims=1), list("abc")) == "the next one: 1.00"
    assert describe_head(torch.full((2, 2), torch.nan), list("ab")) == "has NaN"
    assert describe_head(torch.ones(1, 1), ["a"]) == "spread, entropy 0.00"


def test_what_is_odd_is_shown_and_said():
    widget = AttentionExplorer([[torch.nan, 1.0], [0.4, 0.4], [-1.0, 2.0]])
    assert widget.note() == "2 of 3 rows do not sum to 1."
    assert unpack(widget).isnan().sum() == 1


def test_only_what_is_looked_at_goes_to_the_browser():
    weights = [drawn(1, 12, 128, 128, seed=i) for i in range(12)]
    widget = AttentionExplorer(weights)
    assert len(json.dumps(widget.get_state("shown"))) < 95_000
    assert len(json.dumps(widget.get_state("maps"))) < 12_000
    small = AttentionExplorer([layer[:, :, :12, :12] for layer in weights])
    assert len(json.dumps(small.get_state("shown"))) < 2_000
    assert len(widget._repr_mimebundle_()[0]["text/html"].encode()) <= 20_000


def test_small_maps_show_the_largest_of_each_patch():
    weights = torch.zeros(1, 1, 100, 100)
    weights[0, 0, 99, 0] = 1
    maps = AttentionExplorer(weights).maps
    found = np.frombuffer(base64.b64decode(maps["data"]), dtype=np.uint8).reshape(2, *maps["size"])
    for small in found:  # the average, and the only head
        assert small[-1, 0] == 255 and small.sum() == 255


BAD = {
    "shape": (lambda: AttentionExplorer(torch.ones(3)), "weights has shape (3,); expected (Q, K), (H, Q, K)"),
    "empty": (lambda: AttentionExplorer({}), "weights is {}; expected at least one layer"),
    "scores": (
        lambda: AttentionExplorer(torch.zeros(2, 2).masked_fill(torch.ones(2, 2).triu(1) > 0, -torch.inf)),
        "weights has −inf at [0, 1]; expected weights, not scores before the softmax",
    ),
    "kind": (lambda: AttentionExplorer("ab"), "weights is 'ab'; expected tensors of weights"),
    "tokens": (lambda: AttentionExplorer(torch.ones(2, 3), key_tokens=["a"]), "key_tokens has 1 tokens; expected 3"),
    "names": (lambda: AttentionExplorer(torch.ones(2, 2), [1, 2]), "expected a list of tokens"),
    "sentences": (lambda: AttentionExplorer(drawn(2, 1, 2, 2), [["a", "b"]]), "has 1 sentences; expected 2"),
    "layer": (lambda: setattr(AttentionExplorer(), "layer", 1), "layer is 1; expected a whole number from 0 to 0"),
    "head": (lambda: setattr(AttentionExplorer(), "head", 4), "head is 4; expected a whole number from -1 to 3"),
    "sentence": (lambda: AttentionExplorer(sentence=2), "sentence is 2; expected a whole number from 0 to 0"),
    "query": (lambda: AttentionExplorer(query=6), "query is 6; expected a whole number from 0 to 5"),
    "hide": (lambda: setattr(AttentionExplorer(), "hide_special", 1), "hide_special is 1; expected True or False"),
    "own": (lambda: setattr(AttentionExplorer(), "shown", []), "shown is []; expected no one to set it"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_text_and_figure():
    widget = AttentionExplorer(drawn(L, B, H, Q, K))
    widget.layer, widget.sentence, widget.head = 2, 1, -1
    expected = (
        "AttentionExplorer: 3 layers, 2 × 4 heads, 5 queries × 6 keys; shown: layer 2, sentence 1, average of all heads"
    )
    assert repr(widget) == expected
    axes = widget.figure().axes
    assert describe(axes[0]).startswith("layer 2, sentence 1, average of all heads")
    assert [ax.get_title() for ax in axes if ax.get_title().startswith("head")] == [f"head {i}" for i in range(H)]
    assert "layer 2" in widget.to_html()
