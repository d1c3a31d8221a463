"""One encoder layer and one decoder layer: attention, a feed-forward network, residual connections and norms.

Attention Is All You Need (arXiv 1706.03762), sections 3.1, 3.3 and 5.4. If you change DecoderLayer, change
`decoding.decoders.LayerMemory` as well: it is the same layer for one token at a time.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import fraction, one_of, positive
from lessons.attention import MultiHeadAttention
from lessons.fast import Dropout, Linear

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}

Weights = dict[str, Tensor] | None


class FeedForward(nn.Module):
    """activation(x W₁ + b₁) W₂ + b₂, applied to each token separately: (B, T, D) -> (B, T, d_ff) -> (B, T, D).

    activation: "relu", as in the paper, or "gelu". dropout: the fraction of the d_ff features dropped in training.

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
    """The residual connection and norm around a sublayer. Post-LN: LayerNorm(x + Dropout(sublayer(x))).

    norm_first: Pre-LN instead, x + Dropout(sublayer(LayerNorm(x))); no norm is applied to the residual path.

    Post-LN: Attention Is All You Need, sections 3.1 and 5.4. Pre-LN: On Layer Normalization in the
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
        """The input of the sublayer: (B, T, D) -> (B, T, D)."""
        _check_features(x, self.norm.normalized_shape[0])
        return self.norm(x) if self.norm_first else x

    def after(self, x: Tensor, output: Tensor) -> Tensor:
        """The result, from x and the sublayer's output: (B, T, D) and (B, T, D) -> (B, T, D)."""
        x = x + self.dropout(output)
        return x if self.norm_first else self.norm(x)


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each in a Residual.

    dropout: the fraction of attention weights, of d_ff features and of sublayer outputs dropped in training.
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
        """x (B, S, D). allowed: bool, True = may attend; (S, S), or four axes that broadcast to (B, H, S, S).

        Returns x (B, S, D), and {"self_attn": weights (B, H, S, S)}, or None unless need_weights.
        """
        inner = self.self_attn_residual.before(x)
        output, weights = self.self_attn(inner, allowed=allowed, need_weights=need_weights)
        x = self.self_attn_residual.after(x, output)
        inner = self.feed_forward_residual.before(x)
        x = self.feed_forward_residual.after(x, self.feed_forward(inner))
        return x, {"self_attn": weights} if need_weights else None


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the encoder's output (the memory), a feed-forward network, each in a Residual.

    dropout and rotary are as in EncoderLayer; cross-attention doesn't rotate its queries and keys.

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

        tgt_allowed, cross_allowed: bool, True = may attend; (T, T) and (T, S), or four axes that broadcast to
            (B, H, T, T) and (B, H, T, S). Without tgt_allowed a position also attends to later ones: pass causal(T).

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
