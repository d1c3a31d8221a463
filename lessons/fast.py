"""Faster versions of Linear, Dropout and attention on a CPU.

Linear and attention give the values and the first and second derivatives of their torch counterparts, up to
rounding. Dropout draws other random numbers than nn.Dropout.
"""

import platform
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

EMPTY_ROWS_ARE_ZERO = ("cpu",)  # devices on which each kernel of torch gives 0 to a query without a key
MANY_TOKENS, MANY_PRODUCTS = 64, 2**22  # below that, converting to oneDNN's layout costs more than it saves


def made_by_intel() -> bool:
    """Whether the processor says so: in /proc/cpuinfo on Linux, in its name on Windows."""
    cpuinfo = Path("/proc/cpuinfo")
    described = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else platform.processor()
    return "GenuineIntel" in described


# MKL is as fast on Intel's processors. With AVX2 alone, oneDNN is no faster on any.
ONEDNN_IS_FASTER = (
    torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() != "AVX2" and not made_by_intel()
)


class Linear(nn.Linear):
    """nn.Linear that computes large float32 products on a CPU with oneDNN, where that is faster.

    torch itself uses MKL there, which can take twice as long on processors with AVX-512 that are not made by Intel.
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
    """nn.Dropout that on a CPU draws 16 random bits per number instead of 64, which makes it faster."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape. In training each number is set to 0 with probability p, else divided by 1 - p."""
        return drop(input, self.p) if self.training else input


def drop(x: Tensor, p: float) -> Tensor:
    """x of any shape, each number set to 0 with probability p, else divided by 1 - p."""
    if p == 0.0:
        return x
    if p > 0.999 or x.device.type != "cpu":  # near 1, 16 bits are too few
        return F.dropout(x, p)
    words = torch.empty(x.numel() // 4 + 1, dtype=torch.int64, device=x.device).random_(-(2**63), None)
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)  # from -2^15 to 2^15 - 1, all equally likely
    keep = bits >= round(p * 2**16) - 2**15
    return x * keep.to(x.dtype).div_(1.0 - p)


def fused_attention(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, dropout: float) -> Tensor:
    """F.scaled_dot_product_attention with second derivatives: q (..., Q, d), k (..., K, d), v (..., K, d_v).

    allowed: bool, broadcastable to (..., Q, K), True = may attend, or None. Returns (..., Q, d_v); a query without a
    key gets 0. With dropout torch has no fused kernel for a CPU, and draws more bits than it needs.
    """
    if allowed is not None:
        allowed = torch.atleast_2d(allowed)  # torch's kernels want two axes
    if dropout and q.device.type == "cpu":
        return _attention_with_dropout(q, k, v, added_mask(allowed, like=q), dropout)
    if allowed is None or q.device.type in EMPTY_ROWS_ARE_ZERO:
        return _kernel(q, k, v, allowed, dropout)
    without_key = ~allowed.any(dim=-1, keepdim=True)  # (..., Q, 1)
    return _kernel(q, k, v, allowed | without_key, dropout).masked_fill(without_key, 0.0)


def _kernel(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, dropout: float) -> Tensor:
    def plain_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)

    output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=dropout)
    is_fused = output.grad_fn is not None and output.grad_fn.name().startswith("ScaledDotProduct")
    if is_fused and not dropout:  # which weights a kernel dropped, nobody knows afterwards
        _differentiate_as(plain_attention, output, q, k, v)
    return output


class AddedMask(NamedTuple):
    """A mask as numbers that are added to the scores, 0 or -inf, and the queries without a key.

    added: broadcasts to (..., Q, K), and is 0 for the queries without a key. without_key (..., Q, 1): bool, or None if
    each query has a key.
    """

    added: Tensor
    without_key: Tensor | None

    def weights(self, scores: Tensor) -> Tensor:
        """scores (..., Q, K), to which `added` has been added. Returns the weights (..., Q, K), without NaN."""
        weights = scores.softmax(dim=-1)
        return weights if self.without_key is None else weights.masked_fill(self.without_key, 0.0)


def added_mask(allowed: Tensor | None, like: Tensor) -> AddedMask:
    """allowed: bool, (..., Q, K), True = may attend, or None. like: a tensor of the scores' type and device."""
    if allowed is None:
        return AddedMask(like.new_zeros(()), None)
    without_key = ~allowed.any(dim=-1, keepdim=True)
    added = like.new_zeros(allowed.shape).masked_fill_(~(allowed | without_key), -torch.inf)
    return AddedMask(added, without_key if without_key.any() else None)


def attention_of_a_step(q: Tensor, k: Tensor, v: Tensor, mask: AddedMask) -> Tensor:
    """Attention where so few queries are new that each call counts: q (B·H, n, d), k (B·H, d, K), v (B·H, K, d_v).

    As `attend`, except that it checks nothing. Returns (B·H, n, d_v).
    """
    weights = mask.weights(torch.baddbmm(mask.added, q, k, alpha=q.size(-1) ** -0.5))  # (B·H, n, K)
    return torch.bmm(weights, v)


def _attention_with_dropout(q: Tensor, k: Tensor, v: Tensor, mask: AddedMask, dropout: float) -> Tensor:
    weights = mask.weights(q * q.size(-1) ** -0.5 @ k.transpose(-2, -1) + mask.added)  # (..., Q, K)
    return drop(weights, dropout) @ v


def _differentiate_as(plain: Callable[..., Tensor], output: Tensor, *inputs: Tensor | None) -> None:
    """Give the output of a kernel second derivatives, which its own backward pass lacks: those of plain(*inputs).

    output: the kernel's result for the inputs; plain(*inputs) must be equal to it. It gets copies, so that each has a
    gradient of its own: an input can be there twice, or be computed from another.
    """
    if output.grad_fn is None:
        return

    def backward(
        gradients: tuple[Tensor | None, ...], of_output: tuple[Tensor, ...]
    ) -> tuple[Tensor | None, ...] | None:
        if not torch.is_grad_enabled():  # no second derivative is wanted
            return None
        copies = [None if x is None else x.clone() for x in inputs]
        wanted = [x for x, gradient in zip(copies, gradients) if x is not None and gradient is not None]
        found = iter(torch.autograd.grad(plain(*copies), wanted, of_output[0], create_graph=True))
        return tuple(None if gradient is None else next(found) for gradient in gradients)

    output.grad_fn.register_hook(backward)


def _plain_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(x.to_dense(), weight, bias).to_mkldnn()


def _is_for_onednn(x: Tensor, weight: Tensor) -> bool:
    return (
        ONEDNN_IS_FASTER
        and x.numel() >= MANY_TOKENS * x.size(-1)
        and x.numel() * weight.size(0) >= MANY_PRODUCTS
        and x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and not _is_traced()
        and torch.get_float32_matmul_precision() == "highest"  # otherwise torch chooses oneDNN itself
        and not torch.is_autocast_enabled("cpu")
    )


def _is_traced() -> bool:
    """Whether torch.compile, torch.func or a mode follows each operation: they can't look into oneDNN's tensors."""
    return torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active() or is_in_torch_dispatch_mode()
