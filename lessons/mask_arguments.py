"""The mask arguments of torch's attentions, and of this course's, asked by trying what each of them means.

A mask is tried on one small batch in which sizes differ: B sentences, H heads, Q queries, K keys, D features.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from lessons.attention import MultiHeadAttention, join_heads, split_heads
from lessons.probes import influence, true_means_attend
from lessons.wording import listed, marked, worded

B, H, Q, K, D = 3, 2, 4, 5, 6
TYPES = (torch.bool, torch.float32, torch.int64)


@dataclass(frozen=True)
class MaskArgument:
    """One argument of one library.

    call: query (B, Q, D), key (B, K, D), which is also the value, and the mask -> (B, Q, D).
    keys_only: the mask has no axis for the queries. square: it has one, and the queries are the keys.
    shape: how the table describes the mask, if not by the shapes that were accepted. module: what call uses.
    """

    library: str
    argument: str
    call: Callable[[Tensor, Tensor, Tensor], Tensor]
    module: nn.Module | None = None
    keys_only: bool = False
    square: bool = False
    shape: str = ""


class Answer(NamedTuple):
    """What True means, which shapes and types of a mask are accepted, and what a row with no open key gives."""

    true_means: str
    shape: str
    type: str
    empty_row: str


def mask_arguments() -> list[MaskArgument]:
    """Those that lesson 10 asks, each with a new module of the sizes of this file."""
    ours, theirs = MultiHeadAttention(D, H), nn.MultiheadAttention(D, H, batch_first=True)
    sizes: dict[str, Any] = {"dim_feedforward": 8, "dropout": 0.0, "batch_first": True}
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, **sizes), 1, enable_nested_tensor=False)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, H, **sizes), 1)
    module, alone = "nn.MultiheadAttention", marked("the same, self-attention, need_weights=False")
    encodes, decodes = "nn.TransformerEncoder", "nn.TransformerDecoder"
    padding, source, target, of_memory = (f"{side}key_padding_mask" for side in ("", "src_", "tgt_", "memory_"))
    return [
        MaskArgument("lessons", "allowed", lambda q, k, m: ours(q, k, allowed=m)[0], ours),
        MaskArgument("F.scaled_dot_product_attention", "attn_mask", _by_function),
        MaskArgument("FlexAttention", "mask_mod", _by_flex_attention, shape=marked("a function of (b, h, q, k)")),
        MaskArgument(module, "attn_mask", lambda q, k, m: theirs(q, k, k, attn_mask=m)[0], theirs),
        MaskArgument(module, padding, lambda q, k, m: theirs(q, k, k, key_padding_mask=m)[0], theirs, keys_only=True),
        MaskArgument(
            alone, "attn_mask", lambda q, k, m: theirs(k, k, k, attn_mask=m, need_weights=False)[0], theirs, square=True
        ),
        MaskArgument(encodes, "mask", lambda q, k, m: encoder(k, mask=m), encoder, square=True),
        MaskArgument(decodes, "tgt_mask", lambda q, k, m: decoder(k, q, tgt_mask=m), decoder, square=True),
        MaskArgument(decodes, "memory_mask", lambda q, k, m: decoder(q, k, memory_mask=m), decoder),
        MaskArgument(encodes, source, lambda q, k, m: encoder(k, src_key_padding_mask=m), encoder, keys_only=True),
        MaskArgument(decodes, target, lambda q, k, m: decoder(k, q, tgt_key_padding_mask=m), decoder, keys_only=True),
        MaskArgument(
            decodes, of_memory, lambda q, k, m: decoder(q, k, memory_key_padding_mask=m), decoder, keys_only=True
        ),
        MaskArgument(marked("by hand, with −1e9"), "", _by_large_number),
    ]


def ask(asked: MaskArgument) -> Answer:
    """Find out by calling it, on random tokens."""
    query, key, x = torch.randn(B, Q, D), torch.randn(B, K, D), torch.randn(4, D)

    def attention(tokens: Tensor, mask: Tensor) -> Tensor:
        return asked.call(x[None], tokens[None], mask[:1] if asked.keys_only else mask)[0]

    def accepts(mask: Tensor) -> bool:
        try:
            asked.call(query, key, mask)
        except (RuntimeError, AssertionError, ValueError, TypeError, IndexError):
            return False
        return True

    attends = true_means_attend(attention, x)
    queries = K if asked.square else Q
    shapes = {
        "(Q, K)": (queries, K),
        "(B, K)": (B, K),
        "(B, Q, K)": (B, queries, K),
        "(B·H, Q, K)": (B * H, queries, K),
        "(B, 1, 1, K)": (B, 1, 1, K),
        "(B, 1, Q, K)": (B, 1, queries, K),
        "(B, H, Q, K)": (B, H, queries, K),
    }
    taken = [name for name, shape in shapes.items() if accepts(torch.full(shape, attends))]
    types = [str(t).removeprefix("torch.") for t in TYPES if accepts(torch.zeros(shapes[taken[0]], dtype=t))]
    empty, in_evaluation = (_empty_row(asked, attention, x, not attends, training) for training in (True, False))
    if in_evaluation != empty:
        empty = worded("{empty}; {in_evaluation} under eval() and no_grad", empty=empty, in_evaluation=in_evaluation)
    return Answer(
        marked("may attend") if attends else marked("blocked"), asked.shape or ", ".join(taken), ", ".join(types), empty
    )


def as_table(answers: Iterable[tuple[MaskArgument, Answer]]) -> str:
    """In Markdown. Arguments of one library that got the same answer share a row."""
    arguments: dict[tuple[str, Answer], list[str]] = {}
    for asked, answer in answers:
        arguments.setdefault((asked.library, answer), []).append(f"`{asked.argument}`" if asked.argument else "")
    heading = " | " + worded("argument | True means | shape | type | a row with no open key gives")
    lines = [heading, " | ".join(["---"] * 6)]
    for (library, answer), names in arguments.items():
        shape = worded(answer.shape).replace(", (", "; (").replace(" ", "\u00a0").replace(";\u00a0(", ", (")
        name = worded(library) if " " in library else f"`{library}`"
        cells = name, listed(names), f"**{worded(answer.true_means)}**", shape, answer.type, answer.empty_row
        lines.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in lines)


def _empty_row(
    asked: MaskArgument, attention: Callable[[Tensor, Tensor], Tensor], x: Tensor, blocked: bool, training: bool
) -> str:
    """What comes out if every key is hidden: in training, or in evaluation without gradients."""
    nothing = torch.full((len(x), len(x)), blocked)
    if asked.module is not None:
        asked.module.train(training)
    with torch.set_grad_enabled(training):
        if attention(x, nothing).isnan().any():
            return "NaN"
    moved = influence(lambda tokens: attention(tokens, nothing), x, draws=1)
    itself = torch.eye(len(x), dtype=torch.bool)  # the residual connection of a layer
    return worded("equal weights for all hidden keys") if (moved & ~itself).any() else "0"


def _by_function(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    q, k = split_heads(query, H), split_heads(key, H)
    return join_heads(F.scaled_dot_product_attention(q, k, k, attn_mask=mask))


def _by_flex_attention(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    q, k = split_heads(query, H), split_heads(key, H)
    rule = create_block_mask(lambda b, h, i, j: mask[i, j], None, None, q.size(2), k.size(2), device="cpu")
    with warnings.catch_warnings():  # for such small tensors it isn't worth compiling
        warnings.filterwarnings("ignore", message="flex_attention called without torch.compile")
        return join_heads(flex_attention(q, k, k, block_mask=rule))


def _by_large_number(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    q, k = split_heads(query, H), split_heads(key, H)
    return join_heads((q @ k.mT).masked_fill(~mask, -1e9).softmax(dim=-1) @ k)
