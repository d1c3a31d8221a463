"""A class run beside torch.nn.MultiheadAttention over many combinations of its arguments.

What goes wrong is said in terms of the arguments: "exactly where key_padding_mask is given".
"""

import functools
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from lessons.checking.calls import require_layer_class
from lessons.checking.comparing import TOLERANCES, gradients_of, untouched
from lessons.checking.engine import Case, Exercise, Outcome, numbers
from lessons.checking.reports import Report
from lessons.checking.stages import Record
from lessons.exercises.inside_torch_attention.accounts import in_words, where_wrong
from lessons.exercises.inside_torch_attention.combinations import (
    PLAIN,
    changed,
    combinations,
    dtype_of,
    given,
    settings,
    tensors,
)
from lessons.wording import SEMICOLON, SENTENCES, listed, marked, worded


@functools.cache
def _weights(scale: float, *arguments: Any) -> dict[str, Tensor]:
    """A state dict of torch's module with these arguments of __init__."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        theirs = nn.MultiheadAttention(*arguments).state_dict()
    return {name: scale * numbers(generator, *x.shape) for name, x in theirs.items()}


def _build(candidate: Any, choice: dict) -> nn.Module:
    """The module of the learner's class, with the weights that torch's own is given."""
    require_layer_class(candidate, "MyMultiheadAttention")
    arguments = settings(choice)
    dtype = dtype_of(choice)
    scale = 0.1 if dtype in TOLERANCES else 0.4  # in half precision small numbers, so that rounding does not count
    weights = _weights(scale, *arguments.values())
    with torch.random.fork_rng(devices=[]):
        mine = candidate(*arguments.values()) if "by position" in choice["mode"] else candidate(**given(arguments))
    state = mine.state_dict()
    wanted = {name: tuple(x.shape) for name, x in weights.items()}
    found = {name: tuple(x.shape) for name, x in state.items()}
    if wanted != found:
        lost = [f"{name} {shape}" for name, shape in wanted.items() if found.get(name) != shape]
        more = [f"{name} {shape}" for name, shape in found.items() if wanted.get(name) != shape]
        raise AttributeError(
            worded(
                "state dict: torch's has {lost}; yours has instead {more}",
                lost=listed(lost) or worded("nothing"),
                more=listed(more) or worded("nothing"),
            )
        )
    learned = {name for name, parameter in mine.named_parameters() if parameter.requires_grad}
    if fixed := [name for name in wanted if name not in learned]:
        raise AttributeError(
            worded("not an nn.Parameter, so training would never change it: {names}", names=listed(fixed))
        )
    for name, x in state.items():
        x.copy_(weights[name])
    mine.train("training" in choice["mode"])
    return mine if dtype == torch.float32 else mine.to(dtype)


def call_beside(candidate: Any, *values: Any) -> Any:
    """Build the module and call it with the tensors of the choice; what is as by default is not passed.

    Returns output, weights, and in the mode "gradients" those of inputs and parameters.
    """
    choice = dict(zip(PLAIN, values))
    module = _build(candidate, choice)
    if "second call" in choice["mode"]:
        _forward(module, choice | {"attn_mask": None, "mode": "evaluation"})
    return _forward(module, choice)


def stages_beside(record: Record, candidate: Any, *values: Any) -> Any:
    """The same, with the weights of each head, whatever the caller wants to see."""
    choice = dict(zip(PLAIN, values)) | {"need_weights": True, "average_attn_weights": False}
    results = call_beside(candidate, *choice.values())
    if isinstance(results, tuple) and len(results) > 1:
        record(worded("the tensor of all heads' weights"), results[1])
    return results


def _forward(module: nn.Module, choice: dict) -> object:
    inputs, masks = tensors(choice)
    with_gradients = "gradients" in choice["mode"]
    differentiable: list[Tensor] = []
    if with_gradients:
        differentiable += [x.requires_grad_() for x in (*inputs, masks["attn_mask"]) if x is not None]
    arguments = {
        "key_padding_mask": masks["key_padding_mask"],
        "need_weights": choice["need_weights"],
        "attn_mask": masks["attn_mask"],
        "average_attn_weights": choice["average_attn_weights"],
        "is_causal": "is_causal" in choice["mode"],
    }
    belongings = dict(zip(("query", "key", "value"), inputs)) | given(masks)
    before = {name: x.detach().clone() for name, x in belongings.items()}
    with torch.set_grad_enabled(with_gradients):
        if "by position" in choice["mode"]:
            results = module(*inputs, *arguments.values())
        else:
            results = module(*inputs, **given(arguments))
    for name, old in before.items():
        if not untouched(old, belongings[name]):
            raise ValueError(worded("forward changed {name}, which belongs to the caller: work on a copy", name=name))
    if not isinstance(results, tuple | list) or not all(x is None or isinstance(x, Tensor) for x in results):
        return results
    for name, x in zip(("output", "weights"), results):
        if x is not None and x.is_floating_point() and x.dtype != inputs[0].dtype:
            raise TypeError(
                worded("{name} is {dtype}, and the query is {wanted}", name=name, dtype=x.dtype, wanted=inputs[0].dtype)
            )
    if with_gradients:
        differentiable += [parameter for _, parameter in sorted(module.named_parameters())]
        return *results, *gradients_of(results, differentiable)
    return tuple(results)


class _Watch(TorchFunctionMode):
    """Notes whether torch's own multi-head attention is called."""

    seen = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen |= getattr(function, "__name__", "") in (
            "multi_head_attention_forward",
            "_native_multi_head_attention",
        )
        return function(*args, **(kwargs or {}))


class Choice(Case):
    """A case of which only what is not as by default is told."""

    def describe(self) -> str:
        told = {name: value for name, value in changed(self.inputs).items() if name != "mode"}
        said = listed(in_words(name, {value}) for name, value in told.items())
        return said or worded("all arguments as by default")


@dataclass(frozen=True)
class DropIn(Exercise):
    """A class that is run beside torch's over many combinations of its arguments.

    The cases try what else there is: gradients, other sizes, dropout, half precision.
    """

    def _judge(self, candidate: object) -> Report:
        """Say whether `candidate` does as torch does in all combinations; if not, in which, and why."""
        report = super()._judge(candidate)
        if report.verdict == "Not attempted" or not callable(candidate):
            return report
        choices = combinations()
        cases = [Choice(choice) for choice in choices]
        want = [self._theirs(case) for case in cases]
        got, _ = self.try_out(candidate, cases, want)
        wrong = [not mine.same_as(theirs) for mine, theirs in zip(got, want)]
        if any(wrong):
            where = where_wrong(choices, wrong)
            if not report.passed:
                return replace(report, message=f"{where}\n{report.message}")
            i = wrong.index(True)
            story = self._first_broken(cases[i], got[i], want[i])
            return Report("Not yet", f"{where}\n{story}", worded("Seen with {inputs}.", inputs=cases[i].describe()))
        if not report.passed:
            told = worded(
                "The same as torch.nn.MultiheadAttention in all {count} combinations of its arguments, "
                "but not in everything else that was tried.",
                count=len(choices),
            )
            return replace(report, message=f"{told}\n{report.message}")
        if self._borrows(candidate):
            told = worded(
                "The same as torch.nn.MultiheadAttention in all {count} combinations of its arguments, "
                "because torch does the work.",
                count=len(choices),
            )
            return Report("Not yet", listed([told, worded(BORROWED)], SENTENCES))
        special = [self._said(case.about) for case in self.draw() if case.inputs["mode"] != PLAIN["mode"]]
        told = worded(
            "The same as torch.nn.MultiheadAttention in all {count} combinations of its arguments. "
            "Also tried: {special}.",
            count=len(choices),
            special=listed(special, SEMICOLON),
        )
        return Report("Right", listed([told, worded(WHERE)], SENTENCES))

    def run(self, candidate: Any, case: Case, like: Outcome | None = None) -> Outcome:
        """One call. In the mode "gradients" these come after the results, those of parameters among them."""
        outcome = super().run(candidate, case, like)
        if "gradients" not in case.inputs["mode"]:
            return outcome
        named = len(self.outputs)
        return replace(outcome, results=outcome.results[:named], gradients=outcome.results[named:])

    def _theirs(self, case: Choice) -> Outcome:
        """What torch's own class gives; run once, and kept."""
        values = tuple(case.inputs.values())
        if values not in self._kept:
            self._kept[values] = self.run(nn.MultiheadAttention, case)
        return self._kept[values]

    def _borrows(self, candidate: object) -> bool:
        cases = self.draw()
        with _Watch() as watch:
            self.try_out(candidate, cases, [Outcome()] * len(cases))
        return watch.seen


BORROWED = marked(
    "Your class passes its inputs to torch's own multi-head attention. That is a fine way to use it; here, write the "
    "steps yourself, in forward. You may call anything that does one step: F.linear, torch.bmm, softmax, and "
    "F.scaled_dot_product_attention. You may also inherit only __init__ from nn.MultiheadAttention."
)
WHERE = marked(
    "It can replace torch's module wherever your own code calls it. Inside torch's layers it depends on their "
    "settings: with batch_first=True and an even number of heads, nn.TransformerEncoderLayer doesn't call it in "
    "evaluation without gradients, or raises an error."
)
