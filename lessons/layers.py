"""One layer of the encoder and one of the decoder: attention, a feed-forward network, and what surrounds them.

Attention Is All You Need (arXiv 1706.03762), sections 3.1, 3.3 and 5.4. What changes in DecoderLayer changes in
`decoding.decoders.LayerMemory`, too: the same layer for one word at a time.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import fraction, one_of, positive
from lessons.attention import MultiHeadAttention
from lessons.fast import Dropout, Linear

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}

Weights = dict[str, Tensor] | None


class FeedForward(nn.Module):
    """activation(x W₁ + b₁) W₂ + b₂, for each token by itself: (B, T, D) -> (B, T, D), with d_ff features between.

    activation: "relu", as in the paper, or "gelu". dropout: the share of the d_ff features dropped in training.

    Attention Is All You Need, section 3.3, equation (2).
    """

    def __init__(self, d_model: int, d_ff: int, *, dropout: float = 0.0, activation: str = "relu"):
        super().__init__()
        positive(d_model=d_model, d_ff=d_ff)
        fraction(dropout=dropout)
        one_of(ACTIVATIONS, activation=activation)
        self.linear1 = Linear(d_model, d_ff)
        self.linear2 = Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D). Returns (B, T, D)."""
        _check_features(x, self.linear1.in_features)
        hidden = ACTIVATIONS[self.activation](self.linear1(x))  # (B, T, F)
        return self.linear2(self.dropout(hidden))  # (B, T, D)


class Residual(nn.Module):
    """What surrounds a sublayer: LayerNorm(x + Dropout(sublayer(x))).

    norm_first: x + Dropout(sublayer(LayerNorm(x))) instead, so that x itself passes through untouched.

    Attention Is All You Need, sections 3.1 and 5.4; the other order: On Layer Normalization in the
    Transformer Architecture (arXiv 2002.04745).
    """

    def __init__(self, d_model: int, *, dropout: float = 0.0, norm_first: bool = False):
        super().__init__()
        positive(d_model=d_model)
        fraction(dropout=dropout)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)
        self.norm_first = norm_first

    def before(self, x: Tensor) -> Tensor:
        """What the sublayer gets: (B, T, D) -> (B, T, D)."""
        _check_features(x, self.norm.normalized_shape[0])
        return self.norm(x) if self.norm_first else x

    def after(self, x: Tensor, output: Tensor) -> Tensor:
        """What leaves, given what came and the sublayer's output, each (B, T, D)."""
        x = x + self.dropout(output)
        return x if self.norm_first else self.norm(x)


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each within a Residual.

    dropout: the share dropped in training from the attention weights, the d_ff features and each sublayer's output.
    rotary: a RotaryPositions for the queries and keys.

    Attention Is All You Need, section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
        rotary: nn.Module | None = None,
    ):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout, rotary=rotary, linear=Linear)
        self.self_attn_residual = Residual(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, norm_first=norm_first)

    def forward(
        self, x: Tensor, allowed: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, Weights]:
        """x (B, S, D). allowed: bool, True = may look; (S, S), or four axes that broadcast to (B, H, S, S).

        Returns x (B, S, D), and {"self_attn": weights (B, H, S, S)}, or None unless need_weights.
        """
        inner = self.self_attn_residual.before(x)
        output, weights = self.self_attn(inner, allowed=allowed, need_weights=need_weights)
        x = self.self_attn_residual.after(x, output)
        inner = self.feed_forward_residual.before(x)
        x = self.feed_forward_residual.after(x, self.feed_forward(inner))
        return x, {"self_attn": weights} if need_weights else None


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the encoder's memory, then a feed-forward network, each within a Residual.

    dropout and rotary are as in EncoderLayer; the queries and keys of cross-attention are not turned.

    Attention Is All You Need, section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
        rotary: nn.Module | None = None,
    ):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout, rotary=rotary, linear=Linear)
        self.self_attn_residual = Residual(d_model, dropout=dropout, norm_first=norm_first)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout, linear=Linear)
        self.cross_attn_residual = Residual(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, norm_first=norm_first)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_allowed: Tensor | None = None,
        cross_allowed: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Weights]:
        """x (B, T, D), memory (B, S, D).

        tgt_allowed, cross_allowed: bool, True = may look; (T, T) and (T, S), or four axes that broadcast to
            (B, H, T, T) and (B, H, T, S). Without tgt_allowed a position sees the later ones too: pass causal(T).

        Returns x (B, T, D), and {"self_attn": weights (B, H, T, T), "cross_attn": weights (B, H, T, S)}, or None
        unless need_weights.
        """
        inner = self.self_attn_residual.before(x)
        output, self_weights = self.self_attn(inner, allowed=tgt_allowed, need_weights=need_weights)
        x = self.self_attn_residual.after(x, output)
        inner = self.cross_attn_residual.before(x)
        output, cross_weights = self.cross_attn(inner, memory, allowed=cross_allowed, need_weights=need_weights)
        x = self.cross_attn_residual.after(x, output)
        inner = self.feed_forward_residual.before(x)
        x = self.feed_forward_residual.after(x, self.feed_forward(inner))
        return x, {"self_attn": self_weights, "cross_attn": cross_weights} if need_weights else None


def _check_features(x: Tensor, d_model: int) -> None:
    if x.dim() != 3 or x.size(-1) != d_model:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (B, length, {d_model})")
