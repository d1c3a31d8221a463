"""The code that builds a mask: in this course, for torch's functions, and for Hugging Face's models."""

from lessons.vocabulary import PAD
from lessons.widgets.mask_studio.constants import CAUSAL
from lessons.widgets.mask_studio.patterns import PATTERNS, Pattern, Text
from lessons.widgets.shared.constants import CROSS, DECODER, ENCODER

COURSE, FUNCTION, MODULE, HUGGING_FACE = (
    "lessons",
    "F.scaled_dot_product_attention",
    "nn.MultiheadAttention, nn.Transformer",
    "Hugging Face",
)
TRUE = "True = may attend"
VARIABLES = {COURSE: "allowed", FUNCTION: "attn_mask", MODULE: "attn_mask", HUGGING_FACE: "attention_mask"}


def write_snippets(
    queries: list[str], keys: list[str], kind: str, edits: list[list[int]], pattern: Pattern, text: Text
) -> dict[str, str]:
    """Code for each library. Each runs on its own and defines the variable in VARIABLES."""
    start = _start(queries, keys, pattern if kind == DECODER else None, text)
    code = {
        COURSE: _course(queries, keys, kind, edits, pattern, text),
        FUNCTION: _function(keys, edits, start),
        MODULE: _module(keys, kind, edits, start),
        HUGGING_FACE: _hugging_face(keys, kind, edits, pattern),
    }
    return {name: "\n".join(["import torch", *lines]) + "\n" for name, lines in code.items()}


def _course(
    queries: list[str], keys: list[str], kind: str, edits: list[list[int]], pattern: Pattern, text: Text
) -> list[str]:
    lines = ["", "from lessons import masks", "", f"# keys: {' '.join(' '.join(keys).split())}"]
    lines += [f"ids = torch.tensor([{_real(keys, '1', '0')}])  # (B, K); 0 is {PAD}"]
    padding = "masks.padding(ids, pad_id=0)"
    if kind == DECODER:
        lines += [f"rule = {pattern.in_package.format(**text._asdict())}"]
        lines += [f"allowed = masks.combine(rule, {padding})[0, 0]  # (Q, K), {TRUE}"]
    else:
        lines += [f"allowed = {padding}[0, 0].repeat({len(queries)}, 1)  # (Q, K), {TRUE}"]
    return lines + _clicks("allowed", edits)


def _start(queries: list[str], keys: list[str], pattern: Pattern | None, text: Text) -> list[str]:
    """`attn_mask` before padding and clicks."""
    if pattern is None:
        return [f"attn_mask = torch.ones({len(queries)}, {len(keys)}, dtype=torch.bool)  # {TRUE}"]
    if pattern is PATTERNS[CAUSAL]:
        return [f"attn_mask = torch.ones({text.n}, {text.n}, dtype=torch.bool).tril()  # {TRUE}"]
    facts = text._asdict()
    return [
        f"query, key = torch.arange({text.n}).unsqueeze(-1), torch.arange({text.n})",
        *pattern.before.format(**facts).splitlines(),
        f"attn_mask = {pattern.in_torch.format(**facts)}  # {TRUE}",
    ]


def _function(keys: list[str], edits: list[list[int]], start: list[str]) -> list[str]:
    lines = ["", *start]
    if PAD in keys:
        lines += [f"attn_mask &= torch.tensor([{_real(keys, 'True', 'False')}])  # padding"]
    lines += _clicks("attn_mask", edits)
    return [*lines, "", "# output = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)"]


def _module(keys: list[str], kind: str, edits: list[list[int]], start: list[str]) -> list[str]:
    lines = ["", *start, "attn_mask = ~attn_mask  # True = blocked"]
    if PAD in keys:
        lines += [f"attn_mask |= torch.tensor([{_real(keys, 'False', 'True')}])  # padding"]
    lines += _clicks("attn_mask", edits)
    name = {ENCODER: "src_mask", DECODER: "tgt_mask", CROSS: "memory_mask"}[kind]
    return [
        *lines,
        "",
        "# output, weights = attention(query, key, value, attn_mask=attn_mask)",
        f"# nn.Transformer calls it {name}.",
        "# In a batch, padding goes into key_padding_mask (B, K), True = blocked.",
    ]


def _hugging_face(keys: list[str], kind: str, edits: list[list[int]], pattern: Pattern) -> list[str]:
    lines = ["", f"attention_mask = torch.tensor([{_real(keys, '1', '0')}])  # (B, K): 1 = a real token"]
    if kind == DECODER:
        causal = pattern is PATTERNS[CAUSAL]
        lines += ["# The model adds the causal mask itself." if causal else "# The rule is not in this mask."]
    if edits:
        count = "1 click" if len(edits) == 1 else f"{len(edits)} clicks"
        lines += [f"# Without your {count}: this mask is per key, not per pair of query and key."]
    return lines


def _real(keys: list[str], token: str, padding: str) -> str:
    return f"[{', '.join(padding if key == PAD else token for key in keys)}]"


def _clicks(mask: str, edits: list[list[int]]) -> list[str]:
    if not edits:
        return []
    queries, keys = (list(side) for side in zip(*edits))
    return [f"{mask}[{queries}, {keys}] ^= True  # your clicks, inverted"]
