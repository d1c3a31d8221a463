"""Cached greedy decoding with random weights: our time as a multiple of the time of other people's code.

All have the same sizes (d_model 256, 3 + 3 layers), write the same number of words and run in turn, in one process and
on one thread. Beside ours: nn.Transformer, which computes everything anew for each word; Hugging Face's Marian with
its own cache; and, as the limit, CTranslate2. The last two are measured where they are installed.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks import not_measured, report
from lessons.config import TransformerConfig
from lessons.decoding import Cached, beams, greedy, last, sample
from lessons.masks import allowed_to_blocked, causal
from lessons.parity import to_torch
from lessons.transformer import Transformer
from lessons.vocabulary import Vocabulary

CONFIG = TransformerConfig(
    1000, 1000, d_model=256, num_heads=8, num_layers=3, d_ff=1024, dropout=0.0, final_norm=True, max_len=128
)
TINY = replace(CONFIG, d_model=16, d_ff=32)
SOURCE, WORDS, ROUNDS = 32, 64, 7
WITHOUT_MARIAN = "transformers is not installed, or the sizes are tiny"
BATCHES = (1, 32)
GOAL_MARIAN, GOAL_TORCH, GOAL_OTHERS = {1: 2.5, 32: 1.2}, 0.1, 1.0  # speed beside Marian; time beside torch

Run = Callable[[], object]


def make_ours(model: Transformer, src: torch.Tensor, words: int) -> Run:
    vocab = Vocabulary([])
    return lambda: last(greedy(Cached(model, src), vocab, max_len=words))


def make_torch(model: Transformer, src: torch.Tensor, words: int) -> Run:
    """nn.Transformer between our embeddings and our projection, called anew on all words for each word."""
    inner = to_torch(model)

    @torch.no_grad()
    def run() -> torch.Tensor:
        ids = torch.ones(len(src), 1, dtype=torch.long)
        for _ in range(words):
            mask = allowed_to_blocked(causal(ids.size(1)))
            x, y = model.src_embedding(src), model.tgt_embedding(ids)
            out = inner(x, y, tgt_mask=mask, tgt_is_causal=True)  # (B, T, D)
            ids = torch.cat([ids, model.out_proj(out[:, -1]).argmax(dim=-1)[:, None]], dim=1)
        return ids

    return run


def make_marian(src: torch.Tensor, **options: object) -> tuple[Run, object]:
    """options: of the generation, in place of those of greedy decoding."""
    from transformers import GenerationConfig, MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=1000, d_model=256, encoder_layers=3, decoder_layers=3, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=1024, decoder_ffn_dim=1024, dropout=0.0, attention_dropout=0.0,
        max_position_embeddings=128, pad_token_id=0, eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=None,
    )  # fmt: skip
    model = MarianMTModel(config).eval()
    settings = GenerationConfig(
        max_new_tokens=WORDS, min_new_tokens=WORDS, use_cache=True,
        decoder_start_token_id=1, pad_token_id=0, eos_token_id=2, **{"do_sample": False, "num_beams": 1, **options},
    )  # fmt: skip
    return lambda: model.generate(input_ids=src, generation_config=settings), model


def measure(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """The median of each, in seconds, all in turn."""
    taken = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def make_ctranslate2(marian: object, src: torch.Tensor) -> Run:
    """CTranslate2 with the weights of the Marian model, in 32 bits as all others."""
    import ctranslate2
    from ctranslate2.converters.transformers import MarianMTLoader

    tokens = [f"w{i}" for i in range(999)]  # Marian's padding, the last word of 1000, is not converted
    tokens[:3] = ["<unk>", "<s>", "</s>"]
    spec = MarianMTLoader().get_model_spec(marian)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.eos_token, spec.config.unk_token, spec.config.decoder_start_token = "</s>", "<unk>", "</s>"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.mkdir()
        spec.validate()
        spec.save(str(path))
        translator = ctranslate2.Translator(str(path), device="cpu", intra_threads=1, inter_threads=1)
    sentences = [[tokens[i] for i in row] for row in src.tolist()]
    options = {"beam_size": 1, "min_decoding_length": WORDS, "max_decoding_length": WORDS, "max_batch_size": 0}
    return lambda: translator.translate_batch(sentences, **options)


def compare(batch_size: int, *, smoke: bool) -> None:
    torch.manual_seed(0)
    model = Transformer(TINY if smoke else CONFIG).eval()
    with torch.no_grad():
        model.out_proj.bias[2] = -1e4  # never EOS: all generate the same number of tokens
    src = torch.randint(4, 900, (batch_size, SOURCE))
    words = 4 if smoke else WORDS
    runs = {"ours": make_ours(model, src, words), "nn.Transformer": make_torch(model, src, words)}
    if not smoke:
        try:
            runs["Marian"], marian = make_marian(src)
            runs["CTranslate2"] = make_ctranslate2(marian, src)
        except ImportError as error:
            print(f"not measured: {error.name} is not installed")
    seconds = measure(runs, 1 if smoke else ROUNDS)
    print(f"batch of {batch_size}: " + ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in seconds.items()))
    report(
        f"ours / nn.Transformer, batch of {batch_size}", seconds["ours"] / seconds["nn.Transformer"], "x", GOAL_TORCH
    )
    name = f"cached greedy, batch of {batch_size}, speed"
    if "Marian" in seconds:
        speed = {peer: seconds[peer] / seconds["ours"] for peer in ("Marian", "CTranslate2") if peer in seconds}
        peer = ", ".join(["Marian", *(f"{peer} {speed[peer]:.2f} ×" for peer in speed if peer != "Marian")])
        report(name, speed["Marian"], "×", GOAL_MARIAN[batch_size], at_least=True, peer=peer)
    else:
        not_measured(name, WITHOUT_MARIAN)


def compare_others(*, smoke: bool) -> None:
    """Sampling for 32 sentences, and a beam of 4 for each of them, beside Marian's."""
    torch.manual_seed(0)
    model, vocab = Transformer(TINY if smoke else CONFIG).eval(), Vocabulary([])
    with torch.no_grad():
        model.out_proj.bias[2] = -1e4
    src, generator, words = torch.randint(4, 900, (32, SOURCE)), torch.Generator().manual_seed(0), 4 if smoke else WORDS
    kinds = {
        "sampling, batch of 32": (
            lambda: last(sample(Cached(model, src), vocab, generator=generator, max_len=words)),
            lambda: make_marian(src, do_sample=True, top_k=0)[0],
        ),
        "a beam of 4, batch of 32": (
            lambda: beams(Cached(model, src), vocab, max_len=words),
            lambda: make_marian(src, num_beams=4)[0],
        ),
    }
    for name, (ours, make_theirs) in kinds.items():
        try:
            runs = {"ours": ours} if smoke else {"ours": ours, "Marian": make_theirs()}
        except ImportError:
            runs = {"ours": ours}
        seconds = measure(runs, 1 if smoke else ROUNDS)
        if "Marian" in seconds:
            speed = seconds["Marian"] / seconds["ours"]
            report(f"{name}, speed", speed, "×", GOAL_OTHERS, at_least=True, peer="Marian")
        else:
            not_measured(f"{name}, speed", WITHOUT_MARIAN)


def main(*, smoke: bool = False) -> None:
    torch.set_num_threads(1)
    for batch_size in BATCHES:
        compare(batch_size, smoke=smoke)
    compare_others(smoke=smoke)
