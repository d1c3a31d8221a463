"""Faster ways to the same numbers on a CPU: what the model computes with, apart from what it computes.

Each is what its counterpart of torch.nn is, in values and in first and second derivatives.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

MANY_TOKENS, MANY_PRODUCTS = 64, 2**22  # with fewer, the way to oneDNN and back costs more than it saves


class Linear(nn.Linear):
    """nn.Linear, whose large products in single precision are left to oneDNN.

    On a CPU torch leaves them to MKL, which can take twice as long on processors not made by Intel.
    """

    def forward(self, input: Tensor) -> Tensor:
        """input (..., in_features). Returns (..., out_features)."""
        if not _is_for_onednn(input, self.weight):
            return F.linear(input, self.weight, self.bias)
        x = input.to_mkldnn()
        output = F.linear(x, self.weight, self.bias)
        _differentiate_as(_plain_linear, output, x, self.weight, self.bias)
        return output.to_dense()


class Dropout(nn.Dropout):
    """nn.Dropout, which on a CPU takes 16 random bits for each number instead of 64, and a fifth of the time."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape. Returns the same, in training with a fraction p set to 0 and the rest scaled up."""
        if not self.training or self.p in (0.0, 1.0) or input.device.type != "cpu":
            return F.dropout(input, self.p, self.training)
        words = torch.empty(input.numel() // 4 + 1, dtype=torch.int64, device=input.device).random_(-(2**63), None)
        bits = words.view(torch.int16)[: input.numel()].view(input.shape)  # from -2^15 up to 2^15, all equally likely
        keep = bits >= round(self.p * 2**16) - 2**15
        return input * keep.to(input.dtype).div_(1.0 - self.p)


def fused_attention(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, dropout: float) -> Tensor:
    """F.scaled_dot_product_attention: q (..., Q, d), k (..., K, d), v (..., K, d_v) -> (..., Q, d_v)."""

    def plain_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)

    output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=dropout)
    if output.grad_fn is not None and output.grad_fn.name().startswith(
        "ScaledDotProduct"
    ):  # a kernel, which drops none
        _differentiate_as(plain_attention, output, q, k, v)
    return output


def _differentiate_as(plain: Callable[..., Tensor], output: Tensor, *inputs: Tensor | None) -> None:
    """Where the backward pass of a kernel is differentiated once more, which it does not allow, plain(*inputs) has it.

    output: what the kernel made of the inputs, and what `plain` would make of them.
    """
    if output.grad_fn is None:
        return

    def backward(
        gradients: tuple[Tensor | None, ...], of_output: tuple[Tensor, ...]
    ) -> tuple[Tensor | None, ...] | None:
        if not torch.is_grad_enabled():  # no second derivative is asked for
            return None
        wanted = [x for x in inputs if x is not None and x.requires_grad]
        found = iter(torch.autograd.grad(plain(*inputs), wanted, of_output[0], create_graph=True))
        return tuple(None if gradient is None else next(found) for gradient in gradients)

    output.grad_fn.register_hook(backward)


def _plain_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(x.to_dense(), weight, bias).to_mkldnn()


def _is_for_onednn(x: Tensor, weight: Tensor) -> bool:
    return (
        x.numel() >= MANY_TOKENS * x.size(-1)
        and x.numel() * weight.size(0) >= MANY_PRODUCTS
        and x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and torch.get_float32_matmul_precision() == "highest"  # otherwise torch makes the same choice by itself
        and not torch.is_autocast_enabled("cpu")
    )
