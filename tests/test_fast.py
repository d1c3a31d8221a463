"""lessons.fast: what torch gives in linear layer, dropout and attention, and second derivatives through all of them."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from lessons import fast
from lessons.attention import attend
from lessons.config import TransformerConfig
from lessons.fast import Dropout, Linear, drop
from lessons.layers import DecoderLayer, EncoderLayer
from lessons.masks import causal
from lessons.transformer import Transformer


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _onednn(monkeypatch):
    """As on a processor where oneDNN is faster than MKL."""
    monkeypatch.setattr(fast, "ONEDNN_IS_FASTER", torch.backends.mkldnn.is_available())


@pytest.mark.parametrize("tokens", [(5, 3), (64, 40), (2560,)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_is_that_of_torch_in_values_and_gradients(tokens, bias):
    ours = Linear(48, 70, bias=bias)
    x = torch.randn(*tokens, 48, requires_grad=True)
    theirs = F.linear(x.double(), ours.weight.double(), ours.bias.double() if bias else None)
    gradient = torch.randn(*tokens, 70)
    wanted = [x, *ours.parameters()]
    torch.testing.assert_close(ours(x), theirs.float(), rtol=1e-5, atol=1e-5)
    found = torch.autograd.grad(ours(x), wanted, gradient)
    expected = torch.autograd.grad(theirs, wanted, gradient.double())
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def operations(function):
    with torch.autograd.profiler.profile() as record:
        function()
    return {event.name for event in record.function_events}


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch is built without oneDNN")
def test_linear_takes_onednn_for_large_single_precision_alone():
    ours, x = Linear(256, 256), torch.randn(64, 256)
    assert "aten::mkldnn_linear" in operations(lambda: ours(x))
    assert "aten::mkldnn_linear" not in operations(lambda: ours(x[:63]))
    assert "aten::mkldnn_linear" not in operations(lambda: ours.double()(x.double()))
    assert "aten::mkldnn_linear" not in operations(lambda: Linear(256, 255)(x))
    few = torch.randn(4, 8, 1024)
    assert "aten::mkldnn_linear" not in operations(lambda: Linear(1024, 1024)(few))


def test_linear_leaves_products_to_torch_where_onednn_is_no_faster(monkeypatch):
    monkeypatch.setattr(fast, "ONEDNN_IS_FASTER", False)
    assert "aten::mkldnn_linear" not in operations(lambda: Linear(256, 256)(torch.randn(64, 256)))


@pytest.mark.thorough("torch.compile takes seconds to import")
def test_a_large_product_can_be_compiled():
    ours, x = Linear(256, 256), torch.randn(64, 256)
    compiled = torch.compile(ours, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), ours(x), rtol=1e-4, atol=1e-4)
    compiled(x).sum().backward()
    assert ours.weight.grad is not None


def test_a_large_product_takes_the_transforms_of_torch_func():
    ours, x = Linear(256, 256), torch.randn(2, 64, 256)

    def by(linear):
        return lambda x, weight: linear(x, weight).square().sum()

    def functional(x, weight):
        return torch.func.functional_call(ours, {"weight": weight}, x)

    def plain(x, weight):
        return F.linear(x, weight, ours.bias)

    weight = ours.weight.detach()
    found, expected = (torch.func.grad(by(f), argnums=1)(x[0], weight) for f in (functional, plain))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(torch.func.vmap(ours)(x), ours(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "cpuinfo, name, intel",
    [
        ("vendor_id\t: GenuineIntel\n", "", True),
        ("vendor_id\t: AuthenticAMD\n", "", False),
        (None, "Intel64 Family 6 Model 143 Stepping 8, GenuineIntel", True),
        (None, "AMD64 Family 25 Model 97 Stepping 2, AuthenticAMD", False),
        (None, "arm", False),
    ],
)
def test_the_maker_of_the_processor(cpuinfo, name, intel, monkeypatch, tmp_path):
    file = tmp_path / "cpuinfo"
    if cpuinfo is not None:
        file.write_text(cpuinfo, encoding="utf-8")
    monkeypatch.setattr(fast, "Path", lambda path: file)
    monkeypatch.setattr(fast.platform, "processor", lambda: name)
    assert fast.made_by_intel() is intel


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="this system describes its processor elsewhere")
def test_the_maker_of_this_processor():
    assert fast.made_by_intel() is ("GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8"))


def test_linear_does_as_it_is_told_about_precision():
    ours, x = Linear(256, 256), torch.randn(64, 256)
    try:
        torch.set_float32_matmul_precision("medium")
        assert "aten::mkldnn_linear" not in operations(lambda: ours(x))
    finally:
        torch.set_float32_matmul_precision("highest")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ours(x).dtype == torch.bfloat16


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_dropout_drops_its_share_and_scales_up_the_rest(p, dtype):
    x = torch.ones(200, 501, dtype=dtype, requires_grad=True)
    y = Dropout(p)(x)
    y.sum().backward()
    kept = y != 0
    assert y.dtype == dtype
    assert abs(kept.double().mean() - (1 - p)) < 0.006  # four standard errors at the most
    torch.testing.assert_close(y[kept], torch.full_like(y[kept], 1 / (1 - p)))
    torch.testing.assert_close(x.grad, y)


@pytest.mark.parametrize("p", [0.999, 0.9999, 1 - 2**-17, 0.999999])
def test_dropout_keeps_the_mean_where_it_drops_almost_all(p):
    x = torch.ones(4_000_000)
    error = ((1 / (1 - p) - 1) / x.numel()) ** 0.5
    assert abs(drop(x, p).mean() - 1) < 4 * error


def test_dropout_draws_bits_of_its_own_where_it_drops_some():
    x = torch.ones(7, 5)
    assert "aten::random_" in operations(lambda: Dropout(0.5)(x))
    assert "aten::random_" not in operations(lambda: Dropout(0.0)(x))


def test_dropout_drops_each_number_by_itself():
    kept = (Dropout(0.5)(torch.ones(4000, 8)) != 0).double()
    assert (torch.corrcoef(kept.T) - torch.eye(8, dtype=torch.float64)).abs().max() < 0.08
    assert abs(kept.mean(dim=0) - 0.5).max() < 0.04
    assert not torch.equal(kept[:2000], kept[2000:])


def test_dropout_follows_the_seed_and_stays_out_of_eval():
    x, module = torch.randn(7, 5), Dropout(0.5)
    torch.manual_seed(1)
    first = module(x)
    torch.manual_seed(1)
    assert torch.equal(module(x), first)
    assert not torch.equal(module(x), first)
    assert module.eval()(x) is x or torch.equal(module.eval()(x), x)
    assert torch.equal(Dropout(0.0)(x), x)
    assert not Dropout(1.0)(x).any()
    assert Dropout(0.5)(torch.ones(0, 5)).shape == (0, 5)


@pytest.mark.parametrize("allowed", [None, causal(4)], ids=["all", "causal"])
def test_attention_drops_weights_and_keeps_the_mean(allowed):
    q, k, v = (torch.randn(2, 4, 4, 3, dtype=torch.float64) for _ in range(3))
    expected = attend(q, k, v, allowed)[0]
    many = [x.expand(20000, -1, -1, -1, -1) for x in (q, k, v)]
    found = attend(*many, allowed, dropout=0.25, need_weights=False)[0]
    error = found.std(dim=0) / 20000**0.5
    assert ((found.mean(dim=0) - expected).abs() <= 5 * error).all()
    kept, _ = attend(*(torch.eye(4)[None] for _ in range(3)), dropout=0.25, need_weights=False)
    assert (kept == 0).any() and (kept > 0).any()  # the values are such that the output is the weights


def test_attention_with_dropout_harms_no_gradient_where_a_query_has_no_key():
    q, k, v = (torch.randn(1, 3, 4, requires_grad=True) for _ in range(3))
    allowed = causal(3) & torch.tensor([False, True, True])
    output, _ = attend(q, k, v, allowed, dropout=0.5, need_weights=False)
    assert not output[:, 0].any()
    for gradient in torch.autograd.grad(output.square().sum(), (q, k, v)):
        assert gradient.isfinite().all()


@pytest.mark.parametrize("shape", [(3, 4), (2, 1, 3, 4), (1, 4), (3, 1), (4,), ()])
def test_a_query_without_a_key_gets_0_whatever_a_kernel_gives_it(shape, monkeypatch):
    """A GPU's kernels give it something else; here one stands for them that gives NaN, in the gradient, too."""

    def kernel(q, k, v, attn_mask, dropout_p):
        return real(q, k, v, attn_mask=attn_mask) * torch.where(attn_mask.any(dim=-1, keepdim=True), 1.0, torch.nan)

    real = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", kernel)
    monkeypatch.setattr(fast, "EMPTY_ROWS_ARE_ZERO", ())
    q, k, v = (torch.randn(2, 2, size, 3, requires_grad=True) for size in (3, 4, 4))
    some = torch.rand(shape) > 0.7
    if shape[-2:] == (3, 4):
        some[..., 0, :] = False
    for allowed in (some, torch.zeros(shape, dtype=torch.bool)):
        outputs = [attend(q, k, v, allowed, need_weights=needed)[0] for needed in (True, False)]
        torch.testing.assert_close(*outputs)
        torch.testing.assert_close(*(torch.autograd.grad(x.square().sum(), (q, k, v)) for x in outputs))


@pytest.mark.parametrize("shape", [(4,), ()])
def test_a_mask_may_be_the_same_for_all_queries(shape):
    q, k, v = (torch.randn(2, 2, size, 3) for size in (3, 4, 4))
    allowed = torch.rand(shape) > 0.5
    torch.testing.assert_close(*(attend(q, k, v, allowed, need_weights=needed)[0] for needed in (True, False)))


# --- Second derivatives ----------------------------------------------------------------------------------------


def second_derivatives(function, *inputs):
    gradients = torch.autograd.grad(function(*inputs).square().sum(), inputs, create_graph=True)
    return torch.autograd.grad(sum(x.square().sum() for x in gradients), inputs)


def test_second_derivatives_of_a_large_product_are_those_of_torch():
    ours, x = Linear(256, 256), torch.randn(64, 256, requires_grad=True)

    def by_onednn(x, weight, bias):
        return torch.func.functional_call(ours, {"weight": weight, "bias": bias}, x)

    found, expected = (second_derivatives(f, x, ours.weight, ours.bias) for f in (by_onednn, F.linear))
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4 * b.abs().max().item())


@pytest.mark.parametrize("frozen", ["weight", "x"])
def test_second_derivatives_with_a_part_that_does_not_learn(frozen):
    ours, x = Linear(256, 256, bias=False), torch.randn(64, 256, requires_grad=frozen != "x")
    ours.requires_grad_(frozen != "weight")
    learns = ours.weight if frozen == "x" else x
    gradient = torch.autograd.grad(ours(x).pow(3).sum(), learns, create_graph=True)[0]
    plain = torch.autograd.grad(F.linear(x, ours.weight).pow(3).sum(), learns, create_graph=True)[0]
    found, expected = (torch.autograd.grad(x.square().sum(), learns)[0] for x in (gradient, plain))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3 * expected.abs().max().item())


def assert_same_derivatives(results, inputs, tolerance):
    """First and second derivatives of the sum of squares, each by a pass that asks for these inputs alone."""

    def derivatives(result):
        first = torch.autograd.grad(result.square().sum(), inputs, create_graph=True)
        return first + torch.autograd.grad(sum(x.square().sum() for x in first), inputs)

    for found, expected in zip(*map(derivatives, results)):
        torch.testing.assert_close(found, expected, rtol=0, atol=tolerance * expected.abs().max().item())


@pytest.mark.parametrize("asked", [[0], [1], [2], [0, 2], [2, 1]])
def test_derivatives_of_attention_by_some_of_its_inputs(asked):
    inputs = [torch.randn(1, 2, 5, 8, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    results = (attend(*inputs, need_weights=needed)[0] for needed in (False, True))
    assert_same_derivatives(results, [inputs[i] for i in asked], 1e-9)


@pytest.mark.parametrize("read", ["qxx", "xxx", "xqx"])
def test_derivatives_of_attention_that_reads_a_tensor_twice(read):
    named = {name: torch.randn(1, 2, 5, 8, dtype=torch.float64, requires_grad=True) for name in "qx"}
    inputs = [named[name] for name in read]
    results = (attend(*inputs, need_weights=needed)[0] for needed in (False, True))
    assert_same_derivatives(results, [named[name] for name in sorted(set(read))], 1e-9)


def test_derivatives_of_attention_whose_inputs_depend_on_one_another():
    x = torch.randn(1, 2, 5, 8, dtype=torch.float64, requires_grad=True)
    results = (attend(x.sin(), x, 2 * x, need_weights=needed)[0] for needed in (False, True))
    assert_same_derivatives(results, [x], 1e-9)


@pytest.mark.parametrize("asked", [["x"], ["weight"], ["bias"], ["weight", "x"]])
@pytest.mark.parametrize("times", [1, 2])
def test_derivatives_of_a_large_product_by_some_of_its_inputs(asked, times):
    """Used twice, the second product's input depends on the weights."""
    ours, x = Linear(256, 256), torch.randn(64, 256, requires_grad=True)
    by_onednn = plain = x
    for _ in range(times):
        by_onednn, plain = ours(by_onednn), F.linear(plain, ours.weight, ours.bias)
    named = {"x": x, **dict(ours.named_parameters())}
    assert_same_derivatives((by_onednn, plain), [named[name] for name in asked], 1e-4)


def test_derivatives_of_a_model_whose_embeddings_are_shared(monkeypatch):
    sizes = {"d_model": 256, "num_heads": 2, "num_layers": 1, "d_ff": 256, "dropout": 0.0}
    model = Transformer(TransformerConfig(200, 200, **sizes, tie_embeddings=True, share_embeddings=True))
    ids, found = torch.randint(1, 200, (4, 32)), []
    for is_plain in (False, True):
        monkeypatch.setattr(fast, "ONEDNN_IS_FASTER", torch.backends.mkldnn.is_available() and not is_plain)
        loss = model(ids, ids, need_weights=is_plain)[0].log_softmax(dim=-1)[..., 0].mean()
        found.append(torch.autograd.grad(loss, model.src_embedding.tokens.weight, create_graph=True)[0])
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-4 * found[1].abs().max().item())


EMPTY_ROW = torch.tensor([[False, False, False, False], [True, False, True, False], [True, True, True, True]])


@pytest.mark.parametrize("allowed", [None, EMPTY_ROW], ids=["all", "a row of nothing"])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_second_derivatives_of_fused_attention(allowed, dropout):
    q, k, v = (torch.randn(2, 2, size, 3, dtype=torch.float64, requires_grad=True) for size in (3, 4, 4))

    def attention(q, k, v):
        torch.manual_seed(0)
        return attend(q, k, v, allowed, dropout=dropout, need_weights=False)[0]

    assert torch.autograd.gradgradcheck(attention, (q, k, v), fast_mode=True)


def test_a_kernel_that_dropped_weights_has_no_second_derivatives(monkeypatch):
    """As on a GPU, whose kernel has dropout; here one stands for it that drops nothing."""
    real = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda q, k, v, attn_mask=None, dropout_p=0.0: real(q, k, v))
    x = torch.randn(1, 2, 3, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(fast._kernel(x, x, x, None, 0.5).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.autograd.grad(gradient.sum(), x)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_second_derivatives_through_a_layer(kind, norm_first):
    module = kind(4, 2, 5, norm_first=norm_first, activation="gelu").double()
    x, memory = (torch.randn(1, size, 4, dtype=torch.float64, requires_grad=True) for size in (3, 2))
    if kind is EncoderLayer:
        assert torch.autograd.gradgradcheck(lambda x: module(x, causal(3))[0], x, fast_mode=True)
    else:
        both = x, memory
        assert torch.autograd.gradgradcheck(lambda x, memory: module(x, memory, causal(3))[0], both, fast_mode=True)


def test_second_derivatives_through_the_model_are_those_of_its_plain_path():
    """need_weights=True takes no fused kernel; the sizes are such that products are left to oneDNN."""
    config = TransformerConfig(9, 9, d_model=256, num_heads=2, num_layers=1, d_ff=256, dropout=0.0, activation="gelu")
    model, ids = Transformer(config), torch.randint(1, 9, (8, 10))
    weights = [x for x in model.parameters() if x.dim() > 1]
    found = []
    for need_weights in (True, False):
        logits = model(ids, ids, need_weights=need_weights)[0]
        gradients = torch.autograd.grad(logits.log_softmax(dim=-1)[..., 0].mean(), weights, create_graph=True)
        found.append(torch.autograd.grad(sum(x.square().sum() for x in gradients), weights))
    for plain, fused in zip(*found):
        torch.testing.assert_close(fused, plain, rtol=1e-2, atol=1e-3 * plain.abs().max().item())
