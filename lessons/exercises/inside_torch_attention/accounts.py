"""What the combinations in which a drop-in goes wrong have in common, said in terms of the arguments."""

import itertools
from collections.abc import Sequence
from typing import Any

from lessons.exercises.inside_torch_attention.combinations import CHOICES

WORDS: dict[tuple[Any, ...], str] = {
    ("inputs", "cross-attention"): "key and value are not the query, kdim and vdim are not given",
    ("inputs", "self-attention"): "query, key and value are the same",
    ("inputs", "cross-attention", "kdim and vdim"): "key and value are not the query",
    ("inputs", "self-attention", "cross-attention"): "kdim and vdim are not given",
    ("inputs", "kdim and vdim"): "kdim and vdim are given",
    ("axes", "batch_first"): "batch_first=True",
    ("axes", "no batch"): "the inputs have no batch",
    ("axes", "batch_first", "no batch"): "batch_first=True or the inputs have no batch",
    ("axes", "sequence first"): "the inputs have a batch, and batch_first=False",
    ("axes", "sequence first", "batch_first"): "the inputs have a batch",
    ("any mask", True): "a mask is given",
    ("any mask", False): "no mask is given",
    ("appended", True): "a key is appended (add_bias_kv or add_zero_attn)",
    ("appended", False): "no key is appended (add_bias_kv or add_zero_attn)",
}
SAID_OF = CHOICES | {"any mask": (True, False), "appended": (True, False)}


def where_wrong(choices: Sequence[dict], wrong: Sequence[bool]) -> str:
    """Which arguments decide whether it goes wrong: the shortest exact account, or what all have in common."""
    choices = [_with_sums(choice) for choice in choices]
    bad = [choice for choice, is_wrong in zip(choices, wrong) if is_wrong]
    how_many = f"{len(bad)} of {len(choices)} combinations of arguments"
    count = f"Compared with torch.nn.MultiheadAttention it is wrong in {how_many}"
    if len(bad) == len(choices):
        return f"{count}: whatever they are."
    good = [choice for choice, is_wrong in zip(choices, wrong) if not is_wrong]
    for size in (1, 2, 3):
        for names in itertools.combinations(SAID_OF, size):
            if (said := _common(names, bad, good)) is not None:
                return f"{count}: exactly where {said}."
        if size == 1 and (always := _always(good)):
            said = ", or ".join(in_words(name, values) for name, values in always.items())
            exact = all(any(choice[name] in values for name, values in always.items()) for choice in bad)
            return f"{count}: {f'exactly where {said}' if exact else f'always where {said}; and sometimes elsewhere'}."
    shared = [name for name in CHOICES if len({c[name] for c in bad}) < len(CHOICES[name])]
    said = " and ".join(in_words(name, {c[name] for c in bad}) for name in shared)
    return f"{count}: only where {said}, but not everywhere there." if said else f"{count}, of every kind."


def _always(good: list[dict]) -> dict[str, set]:
    """For each argument the values with which it never goes right."""
    never = {name: set(values) - {choice[name] for choice in good} for name, values in CHOICES.items()}
    return {name: values for name, values in never.items() if values}


def _with_sums(choice: dict) -> dict:
    """The choice, and what two of its arguments together amount to."""
    masks = choice["attn_mask"] is not None or choice["key_padding_mask"] is not None
    return choice | {"any mask": masks, "appended": choice["add_bias_kv"] or choice["add_zero_attn"]}


def _common(names: Sequence[str], these: list[dict], others: list[dict]) -> str | None:
    """What these have in common in the named arguments, if none of the others has it."""
    values = {name: {choice[name] for choice in these} for name in names}
    if any(all(other[name] in values[name] for name in names) for other in others):
        return None
    return " and ".join(in_words(name, values[name]) for name in names)


def in_words(name: str, values: set) -> str:
    every = SAID_OF[name]
    shown = [value for value in every if value in values]
    if said := WORDS.get((name, *shown)):
        return said
    if len(shown) > 1 and len(shown) == len(every) - 1 and None not in shown:
        return f"{name} is given"
    return f"{name}{'=' if isinstance(every[0], bool) else ' is '}{' or '.join(map(str, shown))}"
