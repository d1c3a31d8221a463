"""The rules of decoder self-attention, the paper's and today's: as masks, and as code."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from lessons import masks
from lessons.widgets.mask_studio import constants


class Text(NamedTuple):
    """What a rule needs: the number of tokens, its size, the documents' lengths, the parent of each guess."""

    n: int
    size: int
    lengths: list[int]
    parents: list[int]


class Pattern(NamedTuple):
    """A rule: what builds `allowed` (T, T); the same as code; and as a condition on query (T, 1) and key (T)."""

    build: Callable[[Text], Tensor]
    in_package: str
    in_torch: str
    before: str = ""  # lines that in_torch needs


PATTERNS = {
    constants.CAUSAL: Pattern(lambda t: masks.causal(t.n), "masks.causal({n})", "key <= query"),
    constants.WINDOW: Pattern(
        lambda t: masks.causal(t.n) & masks.sliding_window(t.n, t.size),
        "masks.causal({n}) & masks.sliding_window({n}, {size})",
        "(key <= query) & (key > query - {size})",
    ),
    constants.SINK: Pattern(
        lambda t: masks.causal(t.n) & masks.window_with_sinks(t.n, t.size, 1),
        "masks.causal({n}) & masks.window_with_sinks({n}, {size}, 1)",
        "(key <= query) & ((key > query - {size}) | (key < 1))",
    ),
    constants.PREFIX: Pattern(
        lambda t: masks.prefix_causal(t.n, t.size),
        "masks.prefix_causal({n}, {size})",
        "(key <= query) | (key < {size})",
    ),
    constants.PACKED: Pattern(
        lambda t: masks.causal(t.n) & masks.packed(t.lengths),
        "masks.causal({n}) & masks.packed({lengths})",
        "(key <= query) & (document[query] == document[key])",
        "document = torch.arange(len({lengths})).repeat_interleave(torch.tensor({lengths}))\n",
    ),
    constants.LOCAL: Pattern(
        lambda t: masks.local_and_global(t.n, t.size, 1),
        "masks.local_and_global({n}, {size}, 1)",
        "((query - key).abs() < {size}) | (query < 1) | (key < 1)",
    ),
    constants.STRIDED: Pattern(
        lambda t: masks.causal(t.n) & masks.strided(t.n, t.size),
        "masks.causal({n}) & masks.strided({n}, {size})",
        "(key <= query) & ((query - key) % {size} == 0)",
    ),
    constants.CHUNKS: Pattern(
        lambda t: masks.causal(t.n) & masks.chunked(t.n, t.size),
        "masks.causal({n}) & masks.chunked({n}, {size})",
        "(key <= query) & (query // {size} == key // {size})",
    ),
    constants.TREE: Pattern(
        lambda t: masks.tree(t.parents),
        "masks.tree({parents})",
        "ancestors[query, key]",
        "ancestors = torch.eye({n}, dtype=torch.bool)\n"
        "for guess, parent in enumerate({parents}[1:], 1):\n"
        "    ancestors[guess] |= ancestors[parent]\n",
    ),
}


def read_text(tokens: list[str], size: int) -> Text:
    """A document begins at each "<bos>"; each guess of a tree has `size` guesses after it."""
    starts = sorted({0} | {i for i, token in enumerate(tokens) if token == constants.START})
    ends = [*starts[1:], len(tokens)]
    parents = [(i - 1) // size for i in range(len(tokens))]
    return Text(len(tokens), size, [end - start for start, end in zip(starts, ends)], parents)
