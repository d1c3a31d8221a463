"""The code that builds a mask: in this course, for torch's functions, and for Hugging Face's models."""

from lessons.vocabulary import PAD
from lessons.widgets.mask_studio.constants import CAUSAL
from lessons.widgets.mask_studio.patterns import PATTERNS, Pattern, Text
from lessons.widgets.shared.constants import CROSS, DECODER, ENCODER
from lessons.wording import counted, marked, worded

COURSE, FUNCTION, MODULE, HUGGING_FACE = (
    "lessons",
    "F.scaled_dot_product_attention",
    "nn.MultiheadAttention, nn.Transformer",
    "Hugging Face",
)
PAIRS = marked("(Q, K), True = may attend")
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
    names = worded("keys: {names}", names=" ".join(" ".join(keys).split()))
    lines = ["", "from lessons import masks", "", _noted("", names)]
    lines += [_noted(f"ids = torch.tensor([{_real(keys, '1', '0')}])", worded("(B, K); 0 is {pad}", pad=PAD))]
    padding = "masks.padding(ids, pad_id=0)"
    if kind == DECODER:
        lines += [f"rule = {pattern.in_package.format(**text._asdict())}"]
        lines += [_noted(f"allowed = masks.combine(rule, {padding})[0, 0]", worded(PAIRS))]
    else:
        lines += [_noted(f"allowed = {padding}[0, 0].repeat({len(queries)}, 1)", worded(PAIRS))]
    return lines + _clicks("allowed", edits)


def _start(queries: list[str], keys: list[str], pattern: Pattern | None, text: Text) -> list[str]:
    """`attn_mask` before padding and clicks."""
    may = worded("True = may attend")
    if pattern is None:
        return [_noted(f"attn_mask = torch.ones({len(queries)}, {len(keys)}, dtype=torch.bool)", may)]
    if pattern is PATTERNS[CAUSAL]:
        return [_noted(f"attn_mask = torch.ones({text.n}, {text.n}, dtype=torch.bool).tril()", may)]
    facts = text._asdict()
    return [
        f"query, key = torch.arange({text.n}).unsqueeze(-1), torch.arange({text.n})",
        *pattern.before.format(**facts).splitlines(),
        _noted(f"attn_mask = {pattern.in_torch.format(**facts)}", may),
    ]


def _function(keys: list[str], edits: list[list[int]], start: list[str]) -> list[str]:
    lines = ["", *start]
    if PAD in keys:
        lines += [_noted(f"attn_mask &= torch.tensor([{_real(keys, 'True', 'False')}])", worded("padding"))]
    lines += _clicks("attn_mask", edits)
    return [*lines, "", "# output = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)"]


def _module(keys: list[str], kind: str, edits: list[list[int]], start: list[str]) -> list[str]:
    lines = ["", *start, _noted("attn_mask = ~attn_mask", worded("True = blocked"))]
    if PAD in keys:
        lines += [_noted(f"attn_mask |= torch.tensor([{_real(keys, 'False', 'True')}])", worded("padding"))]
    lines += _clicks("attn_mask", edits)
    name = {ENCODER: "src_mask", DECODER: "tgt_mask", CROSS: "memory_mask"}[kind]
    return [
        *lines,
        "",
        "# output, weights = attention(query, key, value, attn_mask=attn_mask)",
        _noted("", worded("nn.Transformer calls it {name}.", name=name)),
        _noted("", worded("In a batch, padding goes into key_padding_mask (B, K), True = blocked.")),
    ]


def _hugging_face(keys: list[str], kind: str, edits: list[list[int]], pattern: Pattern) -> list[str]:
    ids = f"attention_mask = torch.tensor([{_real(keys, '1', '0')}])"
    lines = ["", _noted(ids, worded("(B, K): 1 = a real token"))]
    if kind == DECODER:
        causal = pattern is PATTERNS[CAUSAL]
        own, other = worded("The model adds the causal mask itself."), worded("The rule is not in this mask.")
        lines += [_noted("", own if causal else other)]
    if edits:
        without = counted(
            "Without your {count} click: this mask is per key, not per pair of query and key.",
            "Without your {count} clicks: this mask is per key, not per pair of query and key.",
            len(edits),
        )
        lines += [_noted("", without)]
    return lines


def _noted(code: str, note: str) -> str:
    return f"{code}  # {note}".lstrip()


def _real(keys: list[str], token: str, padding: str) -> str:
    return f"[{', '.join(padding if key == PAD else token for key in keys)}]"


def _clicks(mask: str, edits: list[list[int]]) -> list[str]:
    if not edits:
        return []
    queries, keys = (list(side) for side in zip(*edits))
    return [_noted(f"{mask}[{queries}, {keys}] ^= True", worded("your clicks, inverted"))]
