"""A class run beside torch.nn.MultiheadAttention over many combinations of its arguments.

What goes wrong is said in terms of the arguments: "exactly where key_padding_mask is given". The masks have torch's
meaning: a bool mask says by True what is blocked, a float mask is added to the scores.
"""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from lessons.exercises.engine import Case, Exercise, numbers
from lessons.exercises.reports import Report


def to_additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A bool mask, True = blocked, becomes 0 and -inf; a float mask is additive already and stays as it is."""
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, -torch.inf)


def some_blocked(generator: torch.Generator, *shape: int) -> Tensor:
    """A bool mask, True = blocked, that leaves the first key open to all, and the second to none."""
    mask = torch.rand(*shape, generator=generator) < 0.4
    mask[..., 0], mask[..., 1] = False, True
    return mask


def some_padding(batch: int, keys: int) -> Tensor:
    """(B, S) bool, True = blocked: sentences of lengths S - 1, S - 2, …"""
    lengths = keys - 1 - torch.arange(batch) % (keys - 1)
    return torch.arange(keys) >= lengths[:, None]


def some_bias(generator: torch.Generator, *shape: int) -> Tensor:
    """An additive mask that holds more than 0 and -inf."""
    bias = numbers(generator, *shape) * (torch.rand(*shape, generator=generator) < 0.6)
    return bias.masked_fill(some_blocked(generator, *shape), -torch.inf)


SIZES = {"embed_dim": 12, "num_heads": 3}
BATCH, QUERIES, KEYS, KDIM, VDIM = 2, 5, 7, 9, 10

CHOICES = {
    "inputs": ("self-attention", "cross-attention", "kdim and vdim"),
    "axes": ("sequence first", "batch_first", "no batch"),
    "attn_mask": (None, "bool (L, S)", "bool (B·H, L, S)", "float (L, S)", "float (B·H, L, S)"),
    "key_padding_mask": (None, "bool", "float"),
    "need_weights": (True, False),
    "average_attn_weights": (True, False),
    "bias": (True, False),
    "add_bias_kv": (False, True),
    "add_zero_attn": (False, True),
}
PLAIN = {name: values[0] for name, values in CHOICES.items()} | {"mode": "evaluation"}


def _mixed(choice: dict) -> bool:
    """Whether one of the masks is bool and the other float, which torch advises against."""
    attn, padding = choice["attn_mask"], choice["key_padding_mask"]
    return attn is not None and padding is not None and attn.split()[0] != padding


def combinations() -> list[dict]:
    """256 ways of setting the arguments: all that change up to two of them, the others drawn with a fixed seed."""
    every = [dict(zip(CHOICES, values)) | {"mode": "evaluation"} for values in itertools.product(*CHOICES.values())]
    every = [choice for choice in every if not _mixed(choice)]
    simple = [choice for choice in every if len(changed(choice)) <= 2]
    others = [choice for choice in every if len(changed(choice)) > 2]
    return simple + random.Random(0).sample(others, 256 - len(simple))


def changed(choice: dict) -> dict:
    """The arguments that are not as they are by default."""
    return {name: value for name, value in choice.items() if value != PLAIN[name]}


def _tensors(choice: dict) -> tuple[list[Tensor], dict]:
    """query, key, value and the masks for a choice of arguments; the same at each call."""
    generator = torch.Generator().manual_seed(1)
    keys = QUERIES if choice["inputs"] == "self-attention" else KEYS
    sizes = (KDIM, VDIM) if choice["inputs"] == "kdim and vdim" else (SIZES["embed_dim"],) * 2
    query = numbers(generator, QUERIES, BATCH, SIZES["embed_dim"])
    key, value = numbers(generator, keys, BATCH, sizes[0]), numbers(generator, keys, BATCH, sizes[1])
    rows = BATCH * SIZES["num_heads"] if choice["axes"] != "no batch" else SIZES["num_heads"]

    attn = padding = None
    if kind := choice["attn_mask"]:
        shape = (QUERIES, keys) if kind.endswith(" (L, S)") else (rows, QUERIES, keys)
        attn = some_blocked(generator, *shape) if kind.startswith("bool") else some_bias(generator, *shape)
    if kind := choice["key_padding_mask"]:
        padding = some_padding(BATCH, keys) if kind == "bool" else some_bias(generator, BATCH, keys)

    if choice["axes"] == "no batch":
        query, key, value = query[:, 0], key[:, 0], value[:, 0]
        padding = None if padding is None else padding[1]
    elif choice["axes"] == "batch_first":
        query, key, value = (x.transpose(0, 1).contiguous() for x in (query, key, value))
    inputs = [query, query, query] if choice["inputs"] == "self-attention" else [query, key, value]
    return inputs, {"attn_mask": attn, "key_padding_mask": padding}


def _build(candidate, choice: dict) -> nn.Module:
    """The module of the learner's class, with the weights that torch's own is given."""
    if not isinstance(candidate, type):
        raise TypeError("expected the class MyMultiheadAttention itself, not one object made of it")
    if getattr(candidate, "forward", nn.Module.forward) is nn.Module.forward:
        raise AttributeError("the class has no method forward: look at its name, and at its indentation")
    options = {name: choice[name] for name in ("bias", "add_bias_kv", "add_zero_attn") if name in changed(choice)}
    if choice["inputs"] == "kdim and vdim":
        options |= {"kdim": KDIM, "vdim": VDIM}
    if choice["axes"] == "batch_first":
        options["batch_first"] = True
    if "dropout" in choice["mode"]:
        options["dropout"] = 1.0
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = nn.MultiheadAttention(**SIZES, **options)
        weights = {name: x + 0.3 * torch.randn(x.shape) for name, x in theirs.state_dict().items()}
        mine = candidate(**SIZES, **options)
    wanted = {name: tuple(x.shape) for name, x in weights.items()}
    found = {name: tuple(x.shape) for name, x in mine.state_dict().items()}
    if wanted != found:
        lost = [f"{name} {shape}" for name, shape in wanted.items() if found.get(name) != shape]
        more = [f"{name} {shape}" for name, shape in found.items() if wanted.get(name) != shape]
        raise AttributeError(f"state dict: torch's has {_listed(lost)}; yours has in its place {_listed(more)}")
    mine.load_state_dict(weights)
    return mine.train("training" in choice["mode"])


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def call_beside(candidate, *values):
    """Build the module and call it with the tensors of the choice; what is as by default is not passed."""
    choice = dict(zip(PLAIN, values))
    inputs, arguments = _tensors(choice)
    module = _build(candidate, choice)
    arguments = {name: mask for name, mask in arguments.items() if mask is not None}
    arguments |= {name: False for name in ("need_weights", "average_attn_weights") if not choice[name]}
    if "is_causal" in choice["mode"]:
        arguments["attn_mask"] = torch.ones(QUERIES, inputs[1].size(0), dtype=torch.bool).triu(1)
        arguments["is_causal"] = True
    with torch.no_grad():
        return module(*inputs, **arguments)


WORDS = {
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
    count = f"Beside torch.nn.MultiheadAttention it is wrong in {len(bad)} of {len(choices)} combinations of arguments"
    if len(bad) == len(choices):
        return f"{count}: whatever they are."
    good = [choice for choice, is_wrong in zip(choices, wrong) if not is_wrong]
    for size in (1, 2, 3):
        for names in itertools.combinations(SAID_OF, size):
            if (said := _common(names, bad, good)) is not None:
                return f"{count}: exactly where {said}."
        if size == 1 and (always := _always(good)):
            said = ", or ".join(_in_words(name, values) for name, values in always.items())
            exact = all(any(choice[name] in values for name, values in always.items()) for choice in bad)
            return f"{count}: {f'exactly where {said}' if exact else f'always where {said}; and elsewhere at times'}."
    shared = [name for name in CHOICES if len({c[name] for c in bad}) < len(CHOICES[name])]
    said = " and ".join(_in_words(name, {c[name] for c in bad}) for name in shared)
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
    return " and ".join(_in_words(name, values[name]) for name in names)


def _in_words(name: str, values: set) -> str:
    every = SAID_OF[name]
    shown = [value for value in every if value in values]
    if said := WORDS.get((name, *shown)):
        return said
    if len(shown) > 1 and len(shown) == len(every) - 1 and None not in shown:
        return f"{name} is given"
    return f"{name}{'=' if isinstance(every[0], bool) else ' is '}{' or '.join(map(str, shown))}"


class Choice(Case):
    """A case of which only what is not as by default is told."""

    def describe(self) -> str:
        told = {name: value for name, value in changed(self.inputs).items() if name != "mode"}
        return ", ".join(_in_words(name, {value}) for name, value in told.items()) or "all arguments as by default"


@dataclass(frozen=True)
class DropIn(Exercise):
    """A class that is run beside torch's over many combinations of its arguments."""

    grid: Callable[[], list[dict]] = combinations

    def check(self, candidate: object) -> Report:
        """Say whether `candidate` does as torch does in all combinations; if not, in which, and why."""
        report = super().check(candidate)
        if report.verdict == "Not attempted" or not callable(candidate):
            return report
        choices = self.grid()
        cases = [Choice(choice) for choice in choices]
        got = [self.run(candidate, case) for case in cases]
        want = [self.run(self.reference, case) for case in cases]
        wrong = [not mine.same_as(theirs) for mine, theirs in zip(got, want)]
        if report.passed and not any(wrong):
            story = f"The same as torch.nn.MultiheadAttention in all {len(choices)} combinations of its arguments"
            return Report("Right", f"{story}, and with dropout.")
        if not any(wrong):
            return report
        where = where_wrong(choices, wrong)
        if report.passed:
            i = wrong.index(True)
            story = self._first_broken(cases[i], got[i], want[i])
            return Report("Not yet", f"{where}\n{story}", f"Seen with {cases[i].describe()}.")
        return replace(report, message=f"{where}\n{report.message}")
