"""The sizes and choices that define a Transformer, checked, and the two configurations of the paper.

Attention Is All You Need (arXiv 1706.03762), table 3.
"""

from dataclasses import dataclass, replace

from lessons._checks import fraction, one_of, optional, positive, switch, whole

ACTIVATIONS = ("relu", "gelu")
POSITIONS = ("sinusoids", "learned", "rotary", None)


@dataclass(frozen=True)
class TransformerConfig:
    """All sizes and choices; most defaults are those of the paper's base model, table 3.

    num_layers: layers of the encoder, and of the decoder unless num_decoder_layers is given.
    max_len: the longest sentence, in tokens, for sinusoids and learned positions.
    norm_first: Pre-LN, a LayerNorm before each sublayer; False is Post-LN, as in the paper.
    final_norm: one more LayerNorm at the end of encoder and decoder; defaults to norm_first.
        (torch.nn.Transformer always has it, the paper's model doesn't.)
    positions: "sinusoids", "learned", "rotary", or None for no positions.
    tie_embeddings: the target's embedding matrix is also the weight of the output projection, section 3.4.
    share_embeddings: source and target use one embedding matrix; both need the same vocabulary.
    src_pad_id, tgt_pad_id: the ids that the masks treat as padding.

    A value that doesn't fit raises a ValueError.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 512
    num_heads: int = 8
    num_layers: int = 6
    num_decoder_layers: int | None = None
    d_ff: int = 2048
    dropout: float = 0.1
    max_len: int = 512
    norm_first: bool = False
    final_norm: bool | None = None
    activation: str = "relu"
    positions: str | None = "sinusoids"
    tie_embeddings: bool = False
    share_embeddings: bool = False
    src_pad_id: int = 0
    tgt_pad_id: int = 0

    def __post_init__(self):
        _check_config(self)

    @property
    def head_dim(self) -> int:
        return self.d_model // self.num_heads

    @property
    def decoder_depth(self) -> int:
        """How many layers the decoder has."""
        return self.num_layers if self.num_decoder_layers is None else self.num_decoder_layers

    @property
    def ends_in_norm(self) -> bool:
        """Whether encoder and decoder have a final LayerNorm."""
        return self.norm_first if self.final_norm is None else self.final_norm


def _check_config(config: TransformerConfig) -> None:
    for name in ("src_vocab_size", "tgt_vocab_size", "d_model", "num_heads", "num_layers", "d_ff", "max_len"):
        positive(**{name: getattr(config, name)})
    optional(positive, num_decoder_layers=config.num_decoder_layers)
    fraction(dropout=config.dropout)
    one_of(ACTIVATIONS, activation=config.activation)
    one_of(POSITIONS, positions=config.positions)
    for name in ("norm_first", "tie_embeddings", "share_embeddings"):
        switch(**{name: getattr(config, name)})
    optional(switch, final_norm=config.final_norm)
    if config.d_model % config.num_heads:
        raise ValueError(f"d_model is {config.d_model}; expected a multiple of num_heads = {config.num_heads}")
    if config.positions == "rotary" and config.head_dim % 2:
        raise ValueError(f"head_dim is {config.head_dim}; expected an even number for rotary positions")
    for side in ("src", "tgt"):
        size = getattr(config, f"{side}_vocab_size")
        whole(0, size - 1, **{f"{side}_pad_id": getattr(config, f"{side}_pad_id")})
    if config.share_embeddings and config.src_vocab_size != config.tgt_vocab_size:
        sizes = f"src_vocab_size is {config.src_vocab_size} and tgt_vocab_size {config.tgt_vocab_size}"
        raise ValueError(f"{sizes}; expected the same number when share_embeddings is True")


VOCABULARY_OF_THE_PAPER = 37000  # section 5.1: about 37,000 tokens, shared by English and German
PAPER_BASE = TransformerConfig(
    VOCABULARY_OF_THE_PAPER, VOCABULARY_OF_THE_PAPER, tie_embeddings=True, share_embeddings=True
)
PAPER_BIG = replace(PAPER_BASE, d_model=1024, num_heads=16, d_ff=4096, dropout=0.3)
