"""lessons.tiled against the softmax, `attend` and its gradients: any tile, any mask, any size."""

import random

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lessons.attention import attend
from lessons.masks import causal
from lessons.tiled import join, read_block, tiled_attention

X = torch.zeros(2, 3, 4)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("block", [1, 3, 64])
def test_the_softmax_in_blocks_is_the_softmax(scale, block):
    generator = torch.Generator().manual_seed(block)
    scores = (torch.rand(5, 64, generator=generator) * 2 - 1) * scale
    scores[1] = -scale
    scores[2, :40] = -torch.inf  # the first blocks of this row have no allowed key
    scores[3] = -torch.inf
    values = torch.eye(64)  # the average of these values is the weights
    blocks = [read_block(scores[:, i : i + block], values[i : i + block]) for i in range(0, 64, block)]
    expected = scores.softmax(dim=-1)
    expected[3] = 0.0
    in_order = blocks[0]
    for read in blocks[1:]:
        in_order = join(in_order, read)
    while len(blocks) > 1:  # in pairs, from the end
        second, first = blocks.pop(), blocks.pop()
        blocks.append(join(first, second))
    for read in (in_order, blocks[0]):
        torch.testing.assert_close(read.output, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", range(12))
def test_output_and_gradients_are_those_of_attend(seed):
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    queries, keys, size, value_size = (draw.randrange(1, 9) for _ in range(4))
    shapes = draw.choice([((), (), ()), ((2,), (1,), (2,)), ((2, 3), (3,), (2, 1)), ((1, 2), (2, 2), (2, 2))])
    sizes = ((queries, size), (keys, size), (keys, value_size))
    q, k, v = (
        torch.randn(*shape, *last, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape, last in zip(shapes, sizes)
    )
    random_mask = torch.rand(queries, keys, generator=generator) < 0.5
    random_mask[0] = False
    allowed = draw.choice(
        [None, random_mask, random_mask[:1], random_mask[:, :1], random_mask[-1], lambda i, j: random_mask[i, j]]
    )
    shown = allowed if allowed is None or isinstance(allowed, torch.Tensor) else random_mask
    expected = attend(q, k, v, shown)[0]
    found = tiled_attention(q, k, v, allowed, query_block=draw.randrange(1, 5), key_block=draw.randrange(1, 5))
    torch.testing.assert_close(found, expected)
    weights = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    theirs = torch.autograd.grad((expected * weights).sum(), (q, k, v))
    ours = torch.autograd.grad((found * weights).sum(), (q, k, v))
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("blocks", [(128, 128), (2, 16)])
def test_half_precision_is_as_exact_as_that_of_attend(dtype, blocks):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.rand(n, 16, generator=generator).add(1).to(dtype).requires_grad_() for n in (3, 8192, 8192))
    query_block, key_block = blocks
    found = tiled_attention(q, k, v, query_block=query_block, key_block=key_block)
    plain = attend(q, k, v)[0]
    exact = attend(q.double(), k.double(), v.double())[0]
    assert found.dtype == dtype
    ours, theirs, right = ((x, *torch.autograd.grad(x.square().sum(), (q, k, v))) for x in (found, plain, exact))
    for a, b, c in zip(ours, theirs, right):
        assert (a.double() - c).abs().max() <= (b.double() - c).abs().max()


@pytest.mark.parametrize("inputs", [torch.float32, torch.int64])
def test_other_types_are_refused_as_by_attend(inputs):
    q, k, v = X.double(), X.to(inputs), X.double()
    for attention in (attend, tiled_attention):
        with pytest.raises(RuntimeError, match="expected scalar type Double"):
            attention(q, k, v)


def test_a_mask_that_changed_before_the_backward_pass_is_refused():
    q, allowed = torch.randn(2, 3, 4, requires_grad=True), causal(3)
    output = tiled_attention(q, q, q, allowed)
    allowed.fill_(True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()


@pytest.mark.one_of(3)
@pytest.mark.parametrize("seed", range(12))
def test_first_and_second_derivatives_are_those_of_finite_differences(seed):
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    queries, keys, size, value_size = (draw.randrange(1, 5) for _ in range(4))
    q, k, v = (
        torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape in ((2, queries, size), (1, keys, size), (keys, value_size))
    )
    mask = torch.rand(2, queries, keys, generator=generator) < 0.6
    mask[0, 0] = False
    allowed = draw.choice([None, mask, lambda query, key: mask[:, query, key]])
    query_block, key_block = draw.randrange(1, 4), draw.randrange(1, 4)

    def call(q, k, v):
        return tiled_attention(q, k, v, allowed, query_block=query_block, key_block=key_block)

    assert torch.autograd.gradcheck(call, (q, k, v))
    assert torch.autograd.gradgradcheck(call, (q, k, v))


def test_no_tensor_is_larger_than_the_inputs_or_a_tile():
    q = torch.randn(1, 300, 4, requires_grad=True)
    largest = 0

    class Largest(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            nonlocal largest
            result = function(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                largest = max(largest, result.untyped_storage().nbytes() // result.element_size())
            return result

    with Largest():
        tiled_attention(q, q, q, lambda query, key: key <= query, query_block=10, key_block=20).sum().backward()
    assert largest == 300 * 4


@pytest.mark.parametrize(("query_block", "key_block"), [(2, 2), (2, 3), (9, 9)])
def test_a_rule_is_asked_tile_by_tile(query_block, key_block):
    q, k, v = (torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(i)) for i in range(3))
    found = tiled_attention(q, k, v, lambda i, j: j <= i, query_block=query_block, key_block=key_block)
    torch.testing.assert_close(found, attend(q, k, v, causal(5))[0])


def test_no_query_and_no_key():
    assert tiled_attention(X[:, :0], X, X).shape == (2, 0, 4)
    assert torch.equal(tiled_attention(X, X[:, :0], X[:, :0] + 1), X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tiled_attention(X[0, 0], X, X), r"q has shape \(4,\); expected at least two axes"),
        (lambda: tiled_attention(X, X[..., 1:], X), "q has 4 features and k has 3; expected the same number"),
        (lambda: tiled_attention(X, X, X[:, 1:]), "there are 3 keys and 2 values; expected one value for each key"),
        (lambda: tiled_attention(X, X.repeat(2, 1, 1), X), r"k \(4, 3, 4\), .* expected leading axes"),
        (lambda: tiled_attention(X, X, X, causal(2)), r"allowed has shape \(2, 2\); .* broadcasts to \(2, 3, 3\)"),
        (lambda: tiled_attention(X, X, X, causal(3).int()), "allowed is a tensor of torch.int32; expected a bool"),
        (lambda: tiled_attention(X, X, X, "causal"), "allowed is a str; expected a bool tensor"),
        (
            lambda: tiled_attention(X, X, X, lambda i, j: i - j),
            "the result of allowed is a tensor of torch.int64.* True = may attend$",
        ),
        (lambda: tiled_attention(X, X, X, query_block=0), "query_block is 0; expected a whole number, 1 or more"),
        (lambda: tiled_attention(X, X, X, key_block=2.0), r"key_block is 2\.0; expected a whole number, 1 or more"),
    ],
)
def test_a_bad_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
