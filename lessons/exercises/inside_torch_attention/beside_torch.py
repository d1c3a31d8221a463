"""A class run beside torch.nn.MultiheadAttention over many combinations of its arguments.

What goes wrong is said in terms of the arguments: "exactly where key_padding_mask is given". The masks have torch's
meaning: a bool mask says by True what is blocked, a float mask is added to the scores.
"""

import functools
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from lessons.checking.comparing import TOLERANCES, gradients_of, untouched
from lessons.checking.engine import Case, Exercise, numbers
from lessons.checking.reports import Report


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


@dataclass(frozen=True)
class Sizes:
    embed_dim: int = 12
    num_heads: int = 3
    batch: int = 2
    queries: int = 5
    keys: int = 7
    kdim: int = 9
    vdim: int = 10


SIZES = {"other sizes": Sizes(20, 5, 3, 4, 6, 7, 11), "one query": Sizes(batch=1, queries=1)}

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


def _sizes(choice: dict) -> Sizes:
    return next((sizes for name, sizes in SIZES.items() if name in choice["mode"]), Sizes())


def _dtype(choice: dict) -> torch.dtype:
    *_, last = choice["mode"].split(", ")
    return getattr(torch, last) if "float" in last else torch.float32


def _tensors(choice: dict) -> tuple[list[Tensor], dict]:
    """query, key, value and the masks for a choice of arguments; the same at each call."""
    generator = torch.Generator().manual_seed(1)
    sizes, dtype = _sizes(choice), _dtype(choice)
    keys = sizes.queries if choice["inputs"] == "self-attention" else sizes.keys
    kdim, vdim = (sizes.kdim, sizes.vdim) if choice["inputs"] == "kdim and vdim" else (sizes.embed_dim,) * 2
    query = numbers(generator, sizes.queries, sizes.batch, sizes.embed_dim).to(dtype)
    key, value = (numbers(generator, keys, sizes.batch, size).to(dtype) for size in (kdim, vdim))
    rows = sizes.num_heads * (1 if choice["axes"] == "no batch" else sizes.batch)

    attn = padding = None
    if kind := choice["attn_mask"]:
        shape = (sizes.queries, keys) if kind.endswith(" (L, S)") else (rows, sizes.queries, keys)
        attn = some_blocked(generator, *shape) if kind.startswith("bool") else some_bias(generator, *shape).to(dtype)
    if kind := choice["key_padding_mask"]:
        bias = some_bias(generator, sizes.batch, keys).to(dtype)
        padding = some_padding(sizes.batch, keys) if kind == "bool" else bias
    if "is_causal" in choice["mode"]:
        attn = torch.ones(sizes.queries, keys, dtype=torch.bool).triu(1)

    if choice["axes"] == "no batch":
        query, key, value = query[:, 0], key[:, 0], value[:, 0]
        padding = None if padding is None else padding[1]
    elif choice["axes"] == "batch_first":
        query, key, value = (x.transpose(0, 1).contiguous() for x in (query, key, value))
    inputs = [query, query, query] if choice["inputs"] == "self-attention" else [query, key, value]
    return inputs, {"attn_mask": attn, "key_padding_mask": padding}


def _settings(choice: dict) -> dict:
    """The arguments of __init__, in torch's order."""
    sizes, others = _sizes(choice), choice["inputs"] == "kdim and vdim"
    return {
        "embed_dim": sizes.embed_dim,
        "num_heads": sizes.num_heads,
        "dropout": 1.0 if "dropout" in choice["mode"] else 0.0,
        "bias": choice["bias"],
        "add_bias_kv": choice["add_bias_kv"],
        "add_zero_attn": choice["add_zero_attn"],
        "kdim": sizes.kdim if others else None,
        "vdim": sizes.vdim if others else None,
        "batch_first": choice["axes"] == "batch_first" or "batch_first" in choice["mode"],
    }


BY_DEFAULT = {
    **{"dropout": 0.0, "bias": True, "add_bias_kv": False, "add_zero_attn": False, "kdim": None, "vdim": None},
    **{"batch_first": False, "key_padding_mask": None, "need_weights": True, "attn_mask": None},
    **{"average_attn_weights": True, "is_causal": False},
}


def _given(arguments: dict) -> dict:
    """The arguments that are not as by default."""
    return {
        name: value
        for name, value in arguments.items()
        if isinstance(value, Tensor) or name not in BY_DEFAULT or value != BY_DEFAULT[name]
    }


@functools.cache
def _weights(*settings) -> dict[str, Tensor]:
    """A state dict of torch's module with these settings."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        theirs = nn.MultiheadAttention(*settings).state_dict()
    return {name: 0.4 * numbers(generator, *x.shape) for name, x in theirs.items()}


def _build(candidate, choice: dict) -> nn.Module:
    """The module of the learner's class, with the weights that torch's own is given."""
    if not isinstance(candidate, type):
        raise TypeError("expected the class MyMultiheadAttention itself, not one object made of it")
    if getattr(candidate, "forward", nn.Module.forward) is nn.Module.forward:
        raise AttributeError("the class has no method forward: look at its name, and at its indentation")
    settings = _settings(choice)
    weights = _weights(*settings.values())
    with torch.random.fork_rng(devices=[]):
        mine = candidate(*settings.values()) if "by position" in choice["mode"] else candidate(**_given(settings))
    wanted = {name: tuple(x.shape) for name, x in weights.items()}
    found = {name: tuple(x.shape) for name, x in mine.state_dict().items()}
    if wanted != found:
        lost = [f"{name} {shape}" for name, shape in wanted.items() if found.get(name) != shape]
        more = [f"{name} {shape}" for name, shape in found.items() if wanted.get(name) != shape]
        raise AttributeError(f"state dict: torch's has {_listed(lost)}; yours has in its place {_listed(more)}")
    learned = {name for name, parameter in mine.named_parameters() if parameter.requires_grad}
    if fixed := [name for name in wanted if name not in learned]:
        raise AttributeError(f"no nn.Parameter, so that training would never change it: {_listed(fixed)}")
    dtype = _dtype(choice)
    scale = 0.25 if dtype in TOLERANCES else 1.0  # in half precision small numbers, so that rounding does not count
    mine.load_state_dict({name: scale * x for name, x in weights.items()})
    return mine.to(dtype).train("training" in choice["mode"])


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def call_beside(candidate, *values):
    """Build the module and call it with the tensors of the choice; what is as by default is not passed.

    Returns output, weights, and in the mode "gradients" those of inputs and parameters.
    """
    choice = dict(zip(PLAIN, values))
    module = _build(candidate, choice)
    if "second call" in choice["mode"]:
        _forward(module, choice | {"attn_mask": None, "mode": "evaluation"})
    return _forward(module, choice)


def _forward(module: nn.Module, choice: dict) -> object:
    inputs, masks = _tensors(choice)
    with_gradients = "gradients" in choice["mode"]
    differentiable = [*inputs, masks["attn_mask"]] if with_gradients else []
    for tensor in differentiable:
        tensor.requires_grad_()
    arguments = {
        "key_padding_mask": masks["key_padding_mask"],
        "need_weights": choice["need_weights"],
        "attn_mask": masks["attn_mask"],
        "average_attn_weights": choice["average_attn_weights"],
        "is_causal": "is_causal" in choice["mode"],
    }
    belongings = dict(zip(("query", "key", "value"), inputs)) | _given(masks)
    before = {name: x.detach().clone() for name, x in belongings.items()}
    with torch.set_grad_enabled(with_gradients):
        if "by position" in choice["mode"]:
            results = module(*inputs, *arguments.values())
        else:
            results = module(*inputs, **_given(arguments))
    for name, old in before.items():
        if not untouched(old, belongings[name]):
            raise ValueError(f"forward has changed {name}, which belongs to the caller: work on a copy")
    if not isinstance(results, tuple | list) or not all(x is None or isinstance(x, Tensor) for x in results):
        return results
    for name, x in zip(("output", "weights"), results):
        if x is not None and x.is_floating_point() and x.dtype != inputs[0].dtype:
            raise TypeError(f"{name} is {x.dtype}, and the query is {inputs[0].dtype}")
    if with_gradients:
        differentiable += [parameter for _, parameter in sorted(module.named_parameters())]
        return *results, *gradients_of(results, differentiable)
    return tuple(results)


class _Watch(TorchFunctionMode):
    """Notes whether torch's own multi-head attention is called."""

    seen = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen |= function in (F.multi_head_attention_forward, torch._native_multi_head_attention)
        return function(*args, **(kwargs or {}))


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
    """A class that is run beside torch's over many combinations of its arguments.

    The cases try what else there is: gradients, other sizes, dropout, half precision.
    """

    grid: Callable[[], list[dict]] = combinations

    def _judge(self, candidate: object) -> Report:
        """Say whether `candidate` does as torch does in all combinations; if not, in which, and why."""
        report = super()._judge(candidate)
        if report.verdict == "Not attempted" or not callable(candidate):
            return report
        choices = self.grid()
        cases = [Choice(choice) for choice in choices]
        got = [self.run(candidate, case) for case in cases]
        want = [self.run(nn.MultiheadAttention, case) for case in cases]
        wrong = [not mine.same_as(theirs) for mine, theirs in zip(got, want)]
        if any(wrong):
            where = where_wrong(choices, wrong)
            if not report.passed:
                return replace(report, message=f"{where}\n{report.message}")
            i = wrong.index(True)
            story = self._first_broken(cases[i], got[i], want[i])
            return Report("Not yet", f"{where}\n{story}", f"Seen with {cases[i].describe()}.")
        everywhere = f"The same as torch.nn.MultiheadAttention in all {len(choices)} combinations of its arguments"
        if not report.passed:
            return replace(report, message=f"{everywhere}, but not in all else that was tried.\n{report.message}")
        if self._borrows(candidate):
            return Report("Not yet", f"{everywhere}, since torch does the work. {BORROWED}")
        special = "; ".join(case.about for case in self.draw() if case.inputs["mode"] != PLAIN["mode"])
        return Report("Right", f"{everywhere}. Tried as well: {special}.")

    def _borrows(self, candidate: object) -> bool:
        with _Watch() as watch:
            for case in self.draw():
                self.run(candidate, case)
        return watch.seen


BORROWED = (
    "Your class hands its inputs on to torch's own multi-head attention. As a way to use it that is fine; here the "
    "steps are to be yours, in forward. Whatever does one step may be called: F.linear, torch.bmm, softmax, and "
    "F.scaled_dot_product_attention too. To take over __init__ alone from nn.MultiheadAttention is allowed."
)
