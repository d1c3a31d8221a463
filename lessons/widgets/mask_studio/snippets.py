"""The code that builds a mask: in this course, for torch's functions, and for Hugging Face's models."""

from lessons.vocabulary import PAD
from lessons.widgets.shared.constants import CROSS, DECODER, ENCODER

COURSE, FUNCTION, MODULE, HUGGING_FACE = (
    "lessons",
    "F.scaled_dot_product_attention",
    "nn.MultiheadAttention, nn.Transformer",
    "Hugging Face",
)
TRUE = "True = may attend"
VARIABLES = {COURSE: "allowed", FUNCTION: "attn_mask", MODULE: "attn_mask", HUGGING_FACE: "attention_mask"}


def write_snippets(queries: list[str], keys: list[str], kind: str, edits: list[list[int]]) -> dict[str, str]:
    """Code for each library. Each runs on its own and defines the variable in VARIABLES."""
    code = {
        COURSE: _course(queries, keys, kind, edits),
        FUNCTION: _function(queries, keys, kind, edits),
        MODULE: _module(queries, keys, kind, edits),
        HUGGING_FACE: _hugging_face(queries, keys, kind, edits),
    }
    return {name: "\n".join(["import torch", *lines]) + "\n" for name, lines in code.items()}


def _course(queries: list[str], keys: list[str], kind: str, edits: list[list[int]]) -> list[str]:
    lines = ["", "from lessons import masks", "", f"# keys: {' '.join(' '.join(keys).split())}"]
    lines += [f"ids = torch.tensor([{_real(keys, '1', '0')}])  # (B, K); 0 is {PAD}"]
    padding = "masks.padding(ids, pad_id=0)"
    if kind == DECODER:
        lines += [f"allowed = masks.combine(masks.causal({len(queries)}), {padding})[0, 0]  # (Q, K), {TRUE}"]
    else:
        lines += [f"allowed = {padding}[0, 0].repeat({len(queries)}, 1)  # (Q, K), {TRUE}"]
    return lines + _clicks("allowed", edits)


def _function(queries: list[str], keys: list[str], kind: str, edits: list[list[int]]) -> list[str]:
    triangle = ".tril()" if kind == DECODER else ""
    lines = ["", f"attn_mask = torch.ones({len(queries)}, {len(keys)}, dtype=torch.bool){triangle}  # {TRUE}"]
    if PAD in keys:
        lines += [f"attn_mask &= torch.tensor([{_real(keys, 'True', 'False')}])  # padding"]
    lines += _clicks("attn_mask", edits)
    return [*lines, "", "# output = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)"]


def _module(queries: list[str], keys: list[str], kind: str, edits: list[list[int]]) -> list[str]:
    size = f"{len(queries)}, {len(keys)}, dtype=torch.bool"
    start = f"torch.ones({size}).triu(diagonal=1)" if kind == DECODER else f"torch.zeros({size})"
    lines = ["", f"attn_mask = {start}  # True = blocked"]
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


def _hugging_face(queries: list[str], keys: list[str], kind: str, edits: list[list[int]]) -> list[str]:
    lines = ["", f"attention_mask = torch.tensor([{_real(keys, '1', '0')}])  # (B, K): 1 = a real token"]
    if kind == DECODER:
        lines += ["# The model adds the causal mask itself."]
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
