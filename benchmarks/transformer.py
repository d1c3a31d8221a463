"""One training step of Transformer: our time as a multiple of the time of other people's models.

A step is forward, loss, backward and AdamW, with dropout and padding. The models start from the same weights and run in
turn, in one process and on one thread, so that whatever slows the machine slows all of them. At the end, the step is
held against its matrix products alone, at the best rate that torch reaches in the same minute.
"""

import importlib.util
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks import not_measured, report
from lessons.config import TransformerConfig
from lessons.masks import allowed_to_blocked, causal
from lessons.parity import to_torch
from lessons.transformer import Transformer

CONFIG = TransformerConfig(1000, 1000, d_model=256, num_heads=4, num_layers=3, d_ff=1024, final_norm=True)
SMALL = replace(CONFIG, d_model=64, num_layers=2, d_ff=256, dropout=0.0, norm_first=True)
TINY = replace(CONFIG, d_model=16, d_ff=32)
WARM_UP, ROUNDS = 2, 9
GOAL_OTHERS, GOAL_BFLOAT16, GOAL_RATE = 1.0, 0.5, 75  # speed; time; percent of the rate
GOAL_SMALL = 1.3  # times nn.Transformer's speed, at the size that the lessons train
BFLOAT16, MARIAN = "ours in bfloat16", "Marian"

Step = Callable[[], None]


class Sizes(NamedTuple):
    """batch_size: B. length: S = T. side: of the square matrices whose product shows the machine's rate."""

    config: TransformerConfig
    batch_size: int
    length: int
    side: int


class TorchModel(nn.Module):
    """nn.Transformer between an embedding and a projection."""

    def __init__(self, ours: Transformer):
        super().__init__()
        self.inner = to_torch(ours)
        self.surroundings = Surroundings(ours)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        x, y = self.surroundings.embed(src, tgt)
        masks = {"src_key_padding_mask": src == 0, "tgt_key_padding_mask": tgt == 0}
        masks |= {"memory_key_padding_mask": src == 0, "tgt_mask": allowed_to_blocked(causal(tgt.size(1)))}
        return self.surroundings.out_proj(self.inner(x, y, **masks))


class AnnotatedModel(nn.Module):
    """The same model in the plain formulation of The Annotated Transformer: every step a module of its own."""

    def __init__(self, ours: Transformer):
        super().__init__()
        config = ours.config
        self.encoder = nn.ModuleList(AnnotatedLayer(config) for _ in ours.encoder.layers)
        self.decoder = nn.ModuleList(AnnotatedLayer(config, cross=True) for _ in ours.decoder.layers)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(config.d_model), nn.LayerNorm(config.d_model)
        for theirs, layer in zip([*self.encoder, *self.decoder], [*ours.encoder.layers, *ours.decoder.layers]):
            theirs.load_state_dict(layer.state_dict())
        self.surroundings = Surroundings(ours)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        x, y = self.surroundings.embed(src, tgt)
        src_mask = (src != 0)[:, None, None]
        tgt_mask = (tgt != 0)[:, None, None] & causal(tgt.size(1))
        for layer in self.encoder:
            x = layer(x, src_mask)
        x = self.encoder_norm(x)
        for layer in self.decoder:
            y = layer(y, tgt_mask, x, src_mask)
        return self.surroundings.out_proj(self.decoder_norm(y))


class AnnotatedLayer(nn.Module):
    """A layer of the encoder, or with cross=True of the decoder; the parameters are named as ours."""

    def __init__(self, config: TransformerConfig, cross: bool = False):
        super().__init__()
        self.self_attn, self.self_attn_residual = AnnotatedAttention(config), AnnotatedResidual(config)
        if cross:
            self.cross_attn, self.cross_attn_residual = AnnotatedAttention(config), AnnotatedResidual(config)
        self.feed_forward, self.feed_forward_residual = AnnotatedFeedForward(config), AnnotatedResidual(config)

    def forward(self, x: Tensor, mask: Tensor, memory: Tensor | None = None, src_mask: Tensor | None = None) -> Tensor:
        x = self.self_attn_residual(x, lambda x: self.self_attn(x, x, mask))
        if memory is not None:
            x = self.cross_attn_residual(x, lambda x: self.cross_attn(x, memory, src_mask))
        return self.feed_forward_residual(x, self.feed_forward)


class AnnotatedAttention(nn.Module):
    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(config.d_model, config.d_model) for _ in range(4)
        )
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
        projected = self.q_proj(query), self.k_proj(key), self.v_proj(key)
        heads, size = self.config.num_heads, self.config.head_dim
        q, k, v = (x.view(len(x), -1, heads, size).transpose(1, 2) for x in projected)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(size)
        weights = self.dropout(scores.masked_fill(mask == 0, -1e9).softmax(dim=-1))
        joined = torch.matmul(weights, v).transpose(1, 2).contiguous().view(len(query), -1, heads * size)
        return self.out_proj(joined)


class AnnotatedFeedForward(nn.Module):
    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(config.d_model, config.d_ff), nn.Linear(config.d_ff, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.linear1(x).relu()))


class AnnotatedResidual(nn.Module):
    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(config.d_model), nn.Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.norm(x + self.dropout(sublayer(x)))


class MarianModel(nn.Module):
    """Hugging Face's Marian of the same sizes, with weights of its own."""

    def __init__(self, config: TransformerConfig):
        from transformers import MarianConfig, MarianMTModel

        super().__init__()
        sizes = {"d_model": config.d_model, "vocab_size": config.tgt_vocab_size, "max_position_embeddings": 128}
        for side in ("encoder", "decoder"):
            sizes |= {f"{side}_layers": config.num_layers, f"{side}_attention_heads": config.num_heads}
            sizes[f"{side}_ffn_dim"] = config.d_ff
        choices = dict.fromkeys(("dropout", "attention_dropout", "activation_dropout"), config.dropout)
        choices |= {"activation_function": "relu", "tie_word_embeddings": False}
        ids = {"pad_token_id": 0, "decoder_start_token_id": 1, "eos_token_id": 2, "forced_eos_token_id": None}
        self.inner = MarianMTModel(MarianConfig(**sizes, **ids, **choices)).train()

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        masks = {"attention_mask": (src != 0).long(), "decoder_attention_mask": (tgt != 0).long()}
        return self.inner(input_ids=src, decoder_input_ids=tgt, **masks, use_cache=False).logits


class Surroundings(nn.Module):
    """What the other models need around them: embeddings with sinusoids and dropout, and the projection to logits."""

    def __init__(self, ours: Transformer):
        super().__init__()
        self.src_tokens = nn.Embedding.from_pretrained(ours.src_embedding.tokens.weight.detach().clone(), freeze=False)
        self.tgt_tokens = nn.Embedding.from_pretrained(ours.tgt_embedding.tokens.weight.detach().clone(), freeze=False)
        self.register_buffer("table", ours.src_embedding.positions.table)
        self.dropout = nn.Dropout(ours.config.dropout)
        self.out_proj = nn.Linear(ours.config.d_model, ours.config.tgt_vocab_size)
        self.out_proj.load_state_dict(ours.out_proj.state_dict())

    def embed(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        scale = math.sqrt(self.table.size(-1))
        x, y = (
            tokens(ids) * scale + self.table[: ids.size(1)]
            for tokens, ids in ((self.src_tokens, src), (self.tgt_tokens, tgt))
        )
        return self.dropout(x), self.dropout(y)


def draw(sizes: Sizes) -> tuple[Tensor, Tensor]:
    """A batch of sentences of three quarters to the full length: src (B, S) and tgt (B, T + 1)."""
    config, batch_size, length, _ = sizes
    src = torch.randint(1, config.src_vocab_size, (batch_size, length))
    tgt = torch.randint(1, config.tgt_vocab_size, (batch_size, length + 1))
    lengths = torch.linspace(3 * length // 4, length, batch_size).long()[:, None]
    return src.where(torch.arange(length) < lengths, 0), tgt.where(torch.arange(length + 1) <= lengths, 0)


def training_step(logits: Callable[[Tensor, Tensor], Tensor], model: nn.Module, src: Tensor, tgt: Tensor) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        loss = F.cross_entropy(logits(src, tgt[:, :-1]).flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def in_bfloat16(ours: Transformer) -> Callable[[Tensor, Tensor], Tensor]:
    """The logits of ours, computed with 8 bits of precision where that is faster, as Recipe(precision="bfloat16")."""

    def logits(src: Tensor, tgt: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return ours(src, tgt)[0].float()

    return logits


def require_same(ours: Transformer, others: list[nn.Module], src: Tensor, tgt: Tensor) -> None:
    """All models give the same logits, apart from dropout."""
    with torch.no_grad():
        expected = ours.eval()(src, tgt)[0]
        for model in others:
            torch.testing.assert_close(model.eval()(src, tgt), expected, rtol=1e-3, atol=1e-4)
    for model in (ours, *others):
        model.train()


def seconds(function: Callable[[], object]) -> float:
    """CPU time, which doesn't count waiting for other programs; everything runs on one thread."""
    start = time.process_time()
    function()
    return time.process_time() - start


def products_of_a_step(model: Transformer, sizes: Sizes) -> int:
    """The floating-point operations of a step's matrix products: forward, and twice as many backward."""
    config, batch_size, length, _ = sizes
    weights = sum(x.numel() for x in model.parameters() if x.dim() == 2)
    embeddings = (config.src_vocab_size + config.tgt_vocab_size) * config.d_model  # looked up, not multiplied
    attentions = config.num_layers + 2 * config.decoder_depth
    return 3 * 2 * batch_size * length * ((weights - embeddings) + attentions * 2 * length * config.d_model)


def rates(side: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """The product of two large matrices: as torch does it by default, and by oneDNN."""
    a, b = torch.randn(side, side), torch.randn(side, side)
    onednn = a.to_mkldnn() if torch.backends.mkldnn.is_available() else a
    return lambda: F.linear(a, b), lambda: F.linear(onednn, b)


def measure_small(rounds: int) -> None:
    """The step alone, at the size and with the choices of the lessons."""
    torch.manual_seed(0)
    sizes = Sizes(replace(SMALL, src_vocab_size=40, tgt_vocab_size=40), batch_size=32, length=16, side=64)
    ours = Transformer(sizes.config)
    theirs = TorchModel(ours)
    src, tgt = draw(sizes)
    require_same(ours, [theirs], src, tgt[:, :-1])
    steps = training_step(lambda *ids: ours(*ids)[0], ours, src, tgt), training_step(theirs, theirs, src, tgt)
    taken = [[seconds(step) for step in steps] for _ in range(WARM_UP + rounds)][WARM_UP:]
    speed = statistics.median(theirs for _, theirs in taken) / statistics.median(ours for ours, _ in taken)
    name = f"training step at d_model {sizes.config.d_model}, speed"
    report(name, speed, "×", GOAL_SMALL, at_least=True, peer="nn.Transformer")


def measure(sizes: Sizes, rounds: int) -> None:
    torch.manual_seed(0)
    ours = Transformer(sizes.config)
    theirs = {"nn.Transformer": TorchModel(ours), "Annotated Transformer": AnnotatedModel(ours)}
    src, tgt = draw(sizes)
    require_same(ours, list(theirs.values()), src, tgt[:, :-1])
    steps = {"ours": training_step(lambda *ids: ours(*ids)[0], ours, src, tgt)}
    steps |= {name: training_step(model, model, src, tgt) for name, model in theirs.items()}
    if sizes.config is not TINY and importlib.util.find_spec("transformers"):  # it takes seconds to import
        marian = MarianModel(sizes.config)
        steps[MARIAN] = training_step(marian, marian, src, tgt)
    steps[BFLOAT16] = training_step(in_bfloat16(ours), ours, src, tgt)
    steps |= dict(zip(("product", "product by oneDNN"), rates(sizes.side)))
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for i in range(WARM_UP + rounds):
        for name in steps if i % 2 else reversed(steps):
            taken[name].append(seconds(steps[name]))
    taken = {name: times[WARM_UP:] for name, times in taken.items()}
    median = {name: statistics.median(times) for name, times in taken.items()}
    print(", ".join(f"{name} {1000 * median[name]:.0f} ms" for name in steps if not name.startswith("product")))
    step = f"training step at d_model {sizes.config.d_model}"
    for name in (*theirs, MARIAN):
        if name in taken:
            speed = statistics.median(b / a for a, b in zip(taken["ours"], taken[name]))
            report(f"{step}, speed", speed, "×", GOAL_OTHERS, at_least=True, peer=name)
        else:
            not_measured(f"{step}, speed", f"{name}: transformers is not installed")

    ratio = statistics.median(a / b for a, b in zip(taken[BFLOAT16], taken["nn.Transformer"]))
    report("training step in bfloat16 / nn.Transformer in float32", ratio, "×", GOAL_BFLOAT16)

    rate = {name: 2 * sizes.side**3 / median[name] for name in ("product", "product by oneDNN")}
    print(", ".join(f"a {name} of {sizes.side}²: {value / 1e9:.0f} GFLOP/s" for name, value in rate.items()))
    least = products_of_a_step(ours, sizes) / max(rate.values())
    rate = 100 * least / median["ours"]
    report(f"{step}, of the machine's rate", rate, "%", GOAL_RATE, at_least=True, peer="large products alone")


def main(*, smoke: bool = False) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        if smoke:
            measure(Sizes(TINY, batch_size=4, length=8, side=32), rounds=1)
            measure_small(rounds=1)
        else:
            measure(Sizes(CONFIG, batch_size=64, length=32, side=2048), ROUNDS)
            measure_small(10 * ROUNDS)
    finally:
        torch.set_num_threads(threads)
