"""On one GPU: a training step of the paper's two models, and attention over long texts, with and without its weights.

Before them, what torch's own attention gives a query without a key. The rest is in bfloat16. A step reads about 25,000
random tokens of each language, in sentences of 28, and is forward, loss, backward and AdamW; attention is forward and
backward, with 8 heads of 64 features and a causal mask. There is no goal. Without a GPU nothing is measured.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks import not_measured
from lessons.attention import attend
from lessons.config import PAPER_BASE, PAPER_BIG, TransformerConfig
from lessons.masks import causal
from lessons.training import shift, token_loss
from lessons.transformer import Transformer

MODELS = {"base": (PAPER_BASE, 100_000), "big": (PAPER_BIG, 300_000)}  # and how many steps the paper trained them
TINY = {"tiny": (replace(PAPER_BASE, src_vocab_size=40, tgt_vocab_size=40, d_model=16, num_layers=1, d_ff=32), 1)}
SENTENCES, LENGTH = 893, 28  # 25,000 tokens
LENGTHS = (1024, 4096, 16384)
WARM_UP, ROUNDS = 3, 20


def milliseconds(function: Callable[[], object], device: str, rounds: int) -> float:
    """The median, until the GPU has done its part."""
    taken = []
    for _ in range(WARM_UP + rounds):
        start = time.perf_counter()
        function()
        if device == "cuda":
            torch.cuda.synchronize()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken[WARM_UP:])


def training_step(config: TransformerConfig, sentences: int, device: str) -> Callable[[], None]:
    model = Transformer(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    src = torch.randint(4, config.src_vocab_size, (sentences, LENGTH), device=device)
    inputs, targets = shift(torch.randint(4, config.tgt_vocab_size, (sentences, LENGTH + 1), device=device))

    def step() -> None:
        with torch.autocast(device, torch.bfloat16):
            loss = token_loss(model(src, inputs)[0], targets, pad_id=config.tgt_pad_id, smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def attentions(length: int, device: str) -> dict[str, Callable[[], object]]:
    q, k, v = (torch.randn(1, 8, length, 64, device=device, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    allowed = causal(length, device=device)

    def both_ways(attention: Callable[[], Tensor]) -> Callable[[], None]:
        return lambda: attention().sum().backward()

    return {
        "with weights": both_ways(lambda: attend(q, k, v, allowed)[0]),
        "without": both_ways(lambda: attend(q, k, v, allowed, need_weights=False)[0]),
        "is_causal=True": both_ways(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
    }


def empty_row(length: int, dtype: torch.dtype, device: str) -> str:
    """What F.scaled_dot_product_attention gives a query without a key, and whether the gradient has NaN."""
    x = torch.randn(1, 8, length, 64, device=device, dtype=dtype, requires_grad=True)
    allowed = causal(length, device=device).tril(-1)  # none for the first query
    output = F.scaled_dot_product_attention(x, x, x, attn_mask=allowed)
    output.float().sum().backward()
    row = output[..., 0, :]
    found = "0" if (row == 0).all() else "NaN" if row.isnan().any() else "other numbers"
    return found if x.grad.isfinite().all() else f"{found}, NaN in the gradient"


def more_memory(function: Callable[[], object], device: str) -> float:
    """How many MiB a call needs besides what is there before it."""
    if device != "cuda":
        return 0.0
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def measure(
    models: dict[str, tuple[TransformerConfig, int]],
    sentences: int,
    lengths: tuple[int, ...],
    rounds: int,
    device: str,
) -> None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        found = {length: empty_row(length, dtype, device) for length in (5, 64)}
        print(f"an empty row in {dtype}: " + "; ".join(f"{row} with {n} tokens" for n, row in found.items()))
    for name, (config, steps) in models.items():
        taken = milliseconds(training_step(config, sentences, device), device, rounds)
        print(f"{name}: {taken:.1f} ms a step, {steps * taken / 3_600_000:.1f} hours for {steps:,} steps", flush=True)
    for length in lengths:
        for name, function in attentions(length, device).items():
            taken, memory = milliseconds(function, device, rounds), more_memory(function, device)
            print(f"attention, {length:,} tokens, {name}: {taken:.2f} ms, {memory:,.0f} MiB", flush=True)


def main(*, smoke: bool = False) -> None:
    if smoke:
        measure(TINY, 2, (16,), 1, "cpu")
    elif torch.cuda.is_available():
        print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
        measure(MODELS, SENTENCES, LENGTHS, ROUNDS, "cuda")
    else:
        not_measured("a training step of the paper's models", "no GPU")
