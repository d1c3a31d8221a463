"""ShapeTour without a browser: its stops are the model's own tensors."""

import base64
import re

import numpy as np
import pytest
import torch

from lessons.config import TransformerConfig
from lessons.plots.describe import describe
from lessons.transformer import Transformer
from lessons.widgets import ShapeTour

SRC, TGT = torch.tensor([[3, 1, 4, 0, 0], [2, 5, 1, 6, 1]]), torch.tensor([[1, 2, 0], [4, 3, 2]])


def make_model(**options):
    torch.manual_seed(0)
    config = TransformerConfig(8, 7, 12, 3, num_layers=2, num_decoder_layers=1, d_ff=16, dropout=0.0, **options)
    return Transformer(config).eval()


def test_alone_it_is_a_lesson():
    tour = ShapeTour()
    shapes = {tuple(stop.tensor.shape) for stop in tour.stops}
    assert {(2, 5), (2, 5, 12), (2, 3, 5, 5), (2, 4), (2, 4, 6), (2, 3, 4, 4), (2, 3, 4, 5)} <= shapes
    sizes = {axis: size for stop in tour.stops for axis, size in zip(stop.axes.split(), stop.tensor.shape)}
    assert len(set(sizes.values())) == len(sizes), "axes of equal size are easily confused"
    assert repr(tour) == "ShapeTour: stop 1 of 18, encoder, source ids, (2, 5)"
    assert all(len(stop.axes.split()) == stop.tensor.dim() for stop in tour.stops)


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_stops_are_what_the_model_computes(norm_first):
    model = make_model(norm_first=norm_first)
    tour = ShapeTour(model, SRC, TGT)
    logits, weights = model(SRC, TGT, need_weights=True)
    found = {(stop.side, stop.name): stop.tensor for stop in tour.stops}
    torch.testing.assert_close(found["decoder", "logits"], logits.detach())
    torch.testing.assert_close(found["decoder", "probabilities"], logits.softmax(-1).detach())
    torch.testing.assert_close(found["encoder", "memory"], model.encode(SRC).detach())
    torch.testing.assert_close(found["encoder", "layer 1: weights"], weights["encoder.1.self_attn"].detach())
    torch.testing.assert_close(found["decoder", "layer 0: cross"], weights["decoder.0.cross_attn"].detach())
    torch.testing.assert_close(found["encoder", "embedding"], model.src_embedding(SRC).detach())
    layer, _ = model.encoder.layers[0](model.src_embedding(SRC), (SRC != 0)[:, None, None])
    torch.testing.assert_close(found["encoder", "layer 0: out"], layer.detach())
    assert len(tour.stops) == 2 + 2 * 2 + 1 + 2 + 3 + 3


def test_the_code_of_a_stop_is_true():
    model = make_model()
    tour = ShapeTour(model, SRC, TGT)
    logits, weights = model(SRC, TGT, need_weights=True)
    space = {"model": model, "src": SRC, "tgt": TGT, "weights": weights, "logits": logits}
    for stop in tour.stops:
        code = stop.code.removeprefix("x = ").removeprefix("memory = ")
        if "x" not in re.findall(r"\w+", code):
            torch.testing.assert_close(eval(code, space).detach(), stop.tensor, msg=stop.name)


def test_what_is_drawn_goes_to_the_browser():
    tour = ShapeTour(make_model(), SRC, TGT)
    for step, stop in enumerate(tour.stops):
        tour.step, tour.sentence, tour.head = step, 1, 2
        data = np.frombuffer(base64.b64decode(tour.shown["data"]), dtype=np.float32)
        expected = stop.tensor[1][2] if stop.has_heads else stop.tensor[1]
        assert np.allclose(data, expected.float().flatten().numpy())
        assert tour.shown["at"] == [step, 1, 2]
        assert len(tour.shown["rows"]) * len(tour.shown["columns"]) == data.size


def test_large_tensors_show_their_beginning():
    config = TransformerConfig(40, 40, d_model=32, num_heads=4, num_layers=1, d_ff=8, dropout=0.0)
    ids = torch.ones(1, 30, dtype=torch.long)
    tour = ShapeTour(Transformer(config).eval(), ids, ids, step=1)
    assert tour.shown["more"] and len(tour.shown["rows"]) == len(tour.shown["columns"]) == 24
    assert tour.matrix.shape == (30, 32)
    assert len(tour._repr_mimebundle_()[0]["text/html"].encode()) <= 20_000


def test_a_row_that_is_cut_off_has_the_sum_of_all_of_it_or_none():
    config = TransformerConfig(8, 40, d_model=12, num_heads=3, num_layers=1, d_ff=8, dropout=0.0)
    tour = ShapeTour(Transformer(config).eval(), SRC, TGT)
    tour.step = len(tour.stops) - 1
    assert len(tour.shown["columns"]) == 24
    sums = np.frombuffer(base64.b64decode(tour.shown["sums"]), dtype=np.float32)
    assert sums == pytest.approx([1.0] * 3, abs=1e-5)
    for page in (tour.to_html(), tour._repr_mimebundle_()[0]["text/html"]):
        assert '<th scope="col">23</th></tr>' in page and "≠ 1" not in page
    tour.step = next(i for i, stop in enumerate(tour.stops) if stop.has_heads)
    assert tour.to_html().count('<th scope="col">sum</th></tr>') == 1


def test_tokens_name_rows_and_columns():
    tour = ShapeTour(make_model(), SRC, TGT, [list("abcde"), list("fghij")], [list("xyz"), list("uvw")], sentence=1)
    tour.step = next(i for i, stop in enumerate(tour.stops) if stop.name == "layer 0: cross")
    assert (tour.shown["rows"], tour.shown["columns"]) == (list("uvw"), list("fghij"))


BAD = {
    "parts": (lambda: ShapeTour(make_model()), "src is None; expected model, src and tgt together"),
    "model": (lambda: ShapeTour(1, SRC, TGT), "model is a int; expected a Transformer"),
    "names": (lambda: ShapeTour(make_model(), SRC, TGT, [["a"]] * 2), "expected 2 lists of 5 tokens"),
    "step": (lambda: setattr(ShapeTour(), "step", 18), "step is 18; expected a whole number from 0 to 17"),
    "head": (lambda: ShapeTour(head=3), "head is 3; expected a whole number from 0 to 2"),
    "sentence": (lambda: ShapeTour(sentence=-1), "sentence is -1; expected a whole number from 0 to 1"),
    "own": (lambda: setattr(ShapeTour(), "shown", 1), "shown is 1; expected no one to set it"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_page_and_figure():
    tour = ShapeTour(step=2)
    assert describe(tour.figure().axes[0]).startswith("layer 0: weights")
    page = tour.to_html()
    assert page.count("<li>") == 18 and "decoder, logits: (B, T, V) = (2, 4, 6)" in page
