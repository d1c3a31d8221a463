"""The sizes and choices of a decoder-only language model, four published ones, and their parameters by formula.

GPT-2: Radford and others, 2019, section 2.3. Llama 2: arXiv 2307.09288. Llama 3: arXiv
2407.21783. Mistral 7B: arXiv 2310.06825.
"""

from dataclasses import dataclass

from lessons._checks import above_zero, one_of, optional, positive, switch

NORMS = ("layer", "rms")
FEED_FORWARDS = ("relu", "gelu", "gelu_tanh", "swiglu")
POSITIONS = ("learned", "sinusoid", "rotary")
PAIRS = ("neighbors", "halves")


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig:
    """All sizes and choices; the defaults for the choices are those of Llama.

    vocabulary: how many ids there are. d_ff: features inside the feed-forward network.
    num_kv_heads: heads of keys and values; it divides num_heads, and defaults to it (multi-head attention). With 1,
        all query heads use the same keys and values (multi-query attention).
    head_dim: features of each head; defaults to d_model / num_heads.
    max_len: the longest text, in tokens. Learned positions and sinusoids end there; rotary ones do not.
    norm: "layer" or "rms". norm_eps: what is added to the variance, or to the mean square.
    feed_forward: two matrices with "relu", "gelu", or "gelu_tanh" (GELU approximated, as in GPT-2), or "swiglu".
    positions: "learned" or "sinusoid", added to the embedding, or "rotary".
    rotary_pairs: the features that are rotated together, "neighbors" (0, 1), or "halves" (0, d / 2), as in Hugging
        Face. rotary_base: 10,000 in the paper; 500,000 in Llama 3.
    bias: whether all linear layers but the last, and LayerNorm, have a bias.
    query_key_norm: an RMSNorm over the features of each query and key, before they are rotated.
    window: how many keys a query sees, its own included; None: all keys up to its own.
    tied: the embedding matrix is also the weight of the output projection.

    A value that doesn't fit raises a ValueError.
    """

    vocabulary: int
    d_model: int
    num_layers: int
    num_heads: int
    num_kv_heads: int | None = None
    head_dim: int | None = None
    d_ff: int
    max_len: int
    norm: str = "rms"
    feed_forward: str = "swiglu"
    positions: str = "rotary"
    rotary_pairs: str = "halves"
    rotary_base: float = 10000.0
    bias: bool = False
    query_key_norm: bool = False
    window: int | None = None
    tied: bool = False
    norm_eps: float = 1e-5

    def __post_init__(self):
        _check_config(self)

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        return self.num_kv_heads or self.num_heads

    @property
    def head_size(self) -> int:
        """Features of each head."""
        return self.head_dim or self.d_model // self.num_heads


def count_parameters(config: LanguageModelConfig) -> dict[str, int]:
    """The number of parameters of each part of a LanguageModel, by formula; their sum is the model's total.

    The norms are those of all layers, of queries and keys, and the last one. A tied output projection counts as 0.
    """
    d_model, d_ff, bias = config.d_model, config.d_ff, int(config.bias)
    queries, keys = config.num_heads * config.head_size, config.kv_heads * config.head_size
    attention = (d_model + bias) * (queries + 2 * keys) + (queries + bias) * d_model
    matrices_in = 2 if config.feed_forward == "swiglu" else 1
    feed_forward = (d_model + bias) * d_ff * matrices_in + (d_ff + bias) * d_model
    norm = d_model * (1 + bias) if config.norm == "layer" else d_model
    query_key_norms = 2 * config.head_size if config.query_key_norm else 0
    return {
        "embedding": config.vocabulary * d_model,
        "positions": config.max_len * d_model if config.positions == "learned" else 0,
        "attention": config.num_layers * attention,
        "feed_forward": config.num_layers * feed_forward,
        "norms": config.num_layers * (2 * norm + query_key_norms) + norm,
        "out_proj": 0 if config.tied else config.vocabulary * d_model,
    }


def _check_config(config: LanguageModelConfig) -> None:
    for name in ("vocabulary", "d_model", "num_layers", "num_heads", "d_ff", "max_len"):
        positive(**{name: getattr(config, name)})
    optional(positive, num_kv_heads=config.num_kv_heads, head_dim=config.head_dim, window=config.window)
    one_of(NORMS, norm=config.norm)
    one_of(FEED_FORWARDS, feed_forward=config.feed_forward)
    one_of(POSITIONS, positions=config.positions)
    one_of(PAIRS, rotary_pairs=config.rotary_pairs)
    above_zero(rotary_base=config.rotary_base, norm_eps=config.norm_eps)
    switch(bias=config.bias, query_key_norm=config.query_key_norm, tied=config.tied)
    if config.head_dim is None and config.d_model % config.num_heads:
        raise ValueError(
            f"d_model is {config.d_model}; expected a multiple of num_heads = {config.num_heads}, or a head_dim"
        )
    if config.num_heads % config.kv_heads:
        raise ValueError(f"num_kv_heads is {config.kv_heads}; expected a divisor of num_heads = {config.num_heads}")
    if config.positions == "rotary" and config.head_size % 2:
        raise ValueError(f"head_dim is {config.head_size}; expected an even number for rotary positions")


published = {
    "GPT-2 small": LanguageModelConfig(
        vocabulary=50257,
        d_model=768,
        num_layers=12,
        num_heads=12,
        d_ff=3072,
        max_len=1024,
        norm="layer",
        feed_forward="gelu_tanh",
        positions="learned",
        bias=True,
        tied=True,
    ),
    "Llama 2 7B": LanguageModelConfig(
        vocabulary=32000, d_model=4096, num_layers=32, num_heads=32, d_ff=11008, max_len=4096
    ),
    "Llama 3 8B": LanguageModelConfig(
        vocabulary=128256,
        d_model=4096,
        num_layers=32,
        num_heads=32,
        num_kv_heads=8,
        d_ff=14336,
        max_len=8192,
        rotary_base=500000.0,
    ),
    "Mistral 7B": LanguageModelConfig(
        vocabulary=32000,
        d_model=4096,
        num_layers=32,
        num_heads=32,
        num_kv_heads=8,
        d_ff=14336,
        max_len=32768,
        window=4096,
    ),
}
