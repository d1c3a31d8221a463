"""What the combinations in which a drop-in goes wrong have in common, said in terms of the arguments."""

import itertools
from collections.abc import Sequence
from typing import Any

from lessons.exercises.inside_torch_attention.combinations import CHOICES
from lessons.wording import AND, OR, listed, marked, worded

WORDS: dict[tuple[Any, ...], str] = {
    ("inputs", "cross-attention"): marked("key and value are not the query, kdim and vdim are not given"),
    ("inputs", "self-attention"): marked("query, key and value are the same"),
    ("inputs", "cross-attention", "kdim and vdim"): marked("key and value are not the query"),
    ("inputs", "self-attention", "cross-attention"): marked("kdim and vdim are not given"),
    ("inputs", "self-attention", "kdim and vdim"): marked(
        "query, key and value are the same, or kdim and vdim are given"
    ),
    ("inputs", "kdim and vdim"): marked("kdim and vdim are given"),
    ("axes", "batch_first"): marked("batch_first=True"),
    ("axes", "no batch"): marked("the inputs have no batch"),
    ("axes", "batch_first", "no batch"): marked("batch_first=True or the inputs have no batch"),
    ("axes", "sequence first"): marked("the inputs have a batch, and batch_first=False"),
    ("axes", "sequence first", "batch_first"): marked("the inputs have a batch"),
    ("axes", "sequence first", "no batch"): marked("batch_first=False"),
    ("any mask", True): marked("a mask is given"),
    ("any mask", False): marked("no mask is given"),
    ("appended", True): marked("a key is appended (add_bias_kv or add_zero_attn)"),
    ("appended", False): marked("no key is appended (add_bias_kv or add_zero_attn)"),
}
EXACTLY = marked("{count}: exactly where {where}.")
ALWAYS = marked("{count}: always where {where}; and sometimes elsewhere.")
SAID_OF = CHOICES | {"any mask": (True, False), "appended": (True, False)}


def where_wrong(choices: Sequence[dict], wrong: Sequence[bool]) -> str:
    """Which arguments decide whether it goes wrong: the shortest exact account, or what all have in common."""
    choices = [_with_sums(choice) for choice in choices]
    bad = [choice for choice, is_wrong in zip(choices, wrong) if is_wrong]
    count = worded(
        "Compared with torch.nn.MultiheadAttention it is wrong in {bad} of {total} combinations of arguments",
        bad=len(bad),
        total=len(choices),
    )
    if len(bad) == len(choices):
        return worded("{count}: whatever they are.", count=count)
    good = [choice for choice, is_wrong in zip(choices, wrong) if not is_wrong]
    for size in (1, 2, 3):
        for names in itertools.combinations(SAID_OF, size):
            if (said := _common(names, bad, good)) is not None:
                return worded(EXACTLY, count=count, where=said)
        if size == 1 and (always := _always(good)):
            said = listed((in_words(name, values) for name, values in always.items()), marked("{items}, or {item}"))
            exact = all(any(choice[name] in values for name, values in always.items()) for choice in bad)
            return worded(EXACTLY if exact else ALWAYS, count=count, where=said)
    shared = [name for name in CHOICES if len({c[name] for c in bad}) < len(CHOICES[name])]
    if not shared:
        return worded("{count}, of every kind.", count=count)
    said = listed((in_words(name, {c[name] for c in bad}) for name in shared), AND)
    return worded("{count}: only where {where}, but not everywhere there.", count=count, where=said)


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
    return listed((in_words(name, values[name]) for name in names), AND)


def in_words(name: str, values: set) -> str:
    every = SAID_OF[name]
    shown = [value for value in every if value in values]
    if said := WORDS.get((name, *shown)):
        return worded(said)
    if len(shown) > 1 and len(shown) == len(every) - 1 and None not in shown:
        return worded("{name} is given", name=name)
    values_shown = listed(map(str, shown), OR)
    if isinstance(every[0], bool):
        return f"{name}={values_shown}"
    return worded("{name} is {values}", name=name, values=values_shown)
