"""FunctionLab: plug in your attention function, and compare it with the reference, cell by cell."""

import reprlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from traitlets import observe, validate

from lessons._checks import one_of, optional, whole
from lessons.widgets.base import LessonWidget, as_tensor, computed, synced
from lessons.widgets.front_end import front_end, style
from lessons.widgets.function_lab import trials
from lessons.widgets.function_lab.constants import CAUSAL, EVERYTHING, HISTORY
from lessons.widgets.function_lab.experiments import Experiment, bits, compare
from lessons.widgets.function_lab.presets import EXAMPLES, build_presets, read_allowed, read_inputs, read_takes
from lessons.widgets.function_lab.tables import describe, draw
from lessons.widgets.pictures import Panel
from lessons.wording import SEMICOLON, listed, worded

AT_ONCE = 0.1  # seconds that the leak detector may take after each change
FOR_A_PICTURE = 1.0


class FunctionLab(LessonWidget):
    """Compares a learner's function with the reference: weights, output, their differences, and leaks.

    function: one function, or a dict of functions by their names. Its parameters are among q (Q, d), k (K, d),
        v (K, d_v), scores (Q, K) and allowed (Q, K), bool, True = may attend; they are given by name. It gives
        (output, weights), or one tensor: the output if it takes v, else the weights. Without a function: wrong
        ones, and a right one.
    takes, gives: where the parameters have other names: the inputs in their order; and what one tensor is.
    tokens, key_tokens: the queries and the keys (the same, unless given): a text, a list of tokens or a number.
    q, k, v: tensors or nested lists; drawn from a fixed seed unless given.
    allowed: the mask to begin with; causal unless given, or everything where queries and keys are not the same.

    What goes wrong in the function is never raised: it is said in `problem`. `function` and `allowed` can be set.
    """

    _esm = front_end("function_lab")
    _css = style("function_lab")

    chosen, mask, history = (synced() for _ in range(3))
    tokens, key_tokens, presets, start, names, result = (computed() for _ in range(6))
    scores, values = as_tensor(computed()), as_tensor(computed())
    _beside = ("_experiment",)

    def __init__(
        self,
        function: Callable | dict[str, Callable] | None = None,
        *,
        takes: Sequence[str] | None = None,
        gives: str | None = None,
        tokens: Any = None,
        key_tokens: Any = None,
        q: Any = None,
        k: Any = None,
        v: Any = None,
        allowed: Any = None,
        **options: Any,
    ):
        optional(partial(one_of, trials.GIVES), gives=gives)
        self._takes, self._gives = read_takes(takes), gives
        self._plugs = self._plug_in(EXAMPLES if function is None else function)
        self._inputs = read_inputs(q, k, v, tokens, key_tokens)
        tokens = self._inputs.pop("tokens")
        key_tokens = self._inputs.pop("key_tokens")
        presets = build_presets(tokens, key_tokens)
        first = presets.get(CAUSAL, presets[EVERYTHING])
        start = bits(first if allowed is None else read_allowed(allowed, first.shape))
        following = {
            "tokens": tokens,
            "key_tokens": key_tokens,
            "presets": {name: bits(mask) for name, mask in presets.items()},
            "names": list(self._plugs),
            "start": start,
            "scores": trials.prepare(**self._inputs, allowed=first)["scores"],
            "values": self._inputs["v"],
            "result": {},
        }
        super().__init__(following, chosen=next(iter(self._plugs)), mask=start, history=[], **options)
        self._try()

    # What the state means

    @property
    def function(self) -> Callable:
        """The chosen function. Set it to another one, or to a dict of functions by their names."""
        return self._plugs[self.chosen].function

    @function.setter
    def function(self, function: Any) -> None:
        self._plugs = self._plug_in(function)
        self._compute(names=list(self._plugs))
        before, self.chosen = self.chosen, next(iter(self._plugs))
        if before == self.chosen:
            self._try()

    @property
    def allowed(self) -> Tensor:
        """(Q, K) bool, True = this query may attend to this key. It can be set."""
        return torch.tensor([x == "1" for x in self.mask]).view(len(self.tokens), len(self.key_tokens))

    @allowed.setter
    def allowed(self, allowed: Any) -> None:
        self.mask = bits(read_allowed(allowed, self.scores.shape))

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What the function may take, by name."""
        return trials.prepare(**self._inputs, allowed=self.allowed)

    @property
    def weights(self) -> Tensor | None:
        """(Q, K), returned by the function; None if it returns none."""
        return self._experiment.trial.weights

    @property
    def output(self) -> Tensor | None:
        """(Q, d_v), returned by the function; None if it returns none."""
        return self._experiment.trial.output

    @property
    def reference(self) -> Tensor:
        """(Q, K), the weights of lessons.attention."""
        return self._experiment.reference

    @property
    def reference_output(self) -> Tensor:
        """(Q, d_v), the output of lessons.attention."""
        return self._experiment.reference_output

    @property
    def difference(self) -> Tensor | None:
        """(Q, K), weights − reference."""
        return None if self.weights is None else compare(self.weights, self.reference)[0]

    @property
    def output_difference(self) -> Tensor | None:
        """(Q, d_v), output − reference_output."""
        return None if self.output is None else compare(self.output, self.reference_output)[0]

    @property
    def problem(self) -> str:
        """Why there is no result, in words; empty if there is one."""
        return self._experiment.trial.problem

    @property
    def notes(self) -> list[str]:
        """Other remarks: NaN, inputs changed in place, results that differ from call to call."""
        return self._experiment.notes

    @property
    def printed(self) -> str:
        """What the function printed."""
        return self._experiment.trial.printed

    @property
    def influence(self) -> Tensor | None:
        """bool (T, T), True at [i, j] where output i changes when token j does; None if unknown."""
        self._experiment.look()
        return self._experiment.moved

    @property
    def leaks(self) -> list[tuple[int, int]]:
        """The pairs (i, j) in which output i moves with token j, which it may not see."""
        self._experiment.look()
        return self._experiment.leaks

    @property
    def verdict(self) -> str:
        """What the leak detector says."""
        self._experiment.look()
        return self._experiment.verdict

    # Clicks

    def toggle(self, q: int, k: int) -> None:
        """Invert the pair of query q and key k, as a click does."""
        for name, value, tokens in (("q", q, self.tokens), ("k", k, self.key_tokens)):
            whole(0, len(tokens) - 1, **{name: value})
        allowed = self.allowed
        allowed[q, k] = ~allowed[q, k]
        self.allowed = allowed

    def undo(self) -> None:
        """Undo the last step."""
        if self.history:
            *before, step = self.history
            mask = "".join("01"[(x == "1") != (i in step)] for i, x in enumerate(self.mask))
            self._restore(mask=mask, history=before)

    def reset(self) -> None:
        """Go back to the first mask. This can be undone."""
        self.mask = self.start

    # Computing

    def _plug_in(self, function: Any) -> dict[str, trials.Plug]:
        functions = function if isinstance(function, dict) else {_name(function): function}
        if not functions:
            raise ValueError("function is an empty dict; expected a function, or a dict of functions by their names")
        return {str(name): trials.plug_in(str(name), f, self._takes, self._gives) for name, f in functions.items()}

    @observe("mask")
    def _remember(self, change: dict) -> None:
        if not self._replaying and self._is_mask(change["old"]) and self._is_mask(change["new"]):
            step = [i for i, (old, new) in enumerate(zip(change["old"], change["new"])) if old != new]
            self.history = [*self.history, step]

    @observe("mask", "chosen")
    def _try(self, change: dict | None = None) -> None:
        """Call the function, and look for leaks if that is fast."""
        if change and change["old"] is None:
            return  # at the start, not everything is set
        if not self._is_mask(self.mask) or self.chosen not in self.names:
            return  # it will be refused
        self._experiment = Experiment(self._plugs[self.chosen], self._inputs, self.allowed)
        self._experiment.look(AT_ONCE if change else FOR_A_PICTURE)
        self._compute(result=self._experiment.result())

    def answer(self, question: Any) -> dict[str, Any]:
        """Look for leaks, however long it takes."""
        one_of(["leaks"], question=question)
        self._experiment.look()
        self._compute(result=self._experiment.result())
        return {}

    # Validation

    @validate("chosen")
    def _check_chosen(self, proposal: dict) -> str:
        one_of(self._plugs, chosen=proposal["value"])
        return proposal["value"]

    @validate("mask")
    def _check_mask(self, proposal: dict) -> str:
        mask = proposal["value"]
        if not self._is_mask(mask):
            size = len(self.tokens) * len(self.key_tokens)
            raise ValueError(f"mask is {reprlib.repr(mask)}; expected {size} characters, 1 = may attend, else 0")
        return mask

    @validate("history")
    def _check_history(self, proposal: dict) -> list[list[int]]:
        steps = proposal["value"]
        if not isinstance(steps, list) or not all(isinstance(step, list) for step in steps):
            wanted = "a list of steps, each a list of places in the mask"
            raise ValueError(f"history is {reprlib.repr(steps)}; expected {wanted}")
        for i in chain(*steps):
            whole(0, self.scores.numel() - 1, history=i)
        return steps[-HISTORY:]

    def _is_mask(self, mask: Any) -> bool:
        return isinstance(mask, str) and len(mask) == self.scores.numel() and set(mask) <= {"0", "1"}

    # What is shown

    def panels(self) -> list[Panel]:
        """The mask, what moves, and for weights and output: the function's, the reference's and their difference."""
        self._experiment.look(FOR_A_PICTURE)
        return draw(self._experiment, self.tokens, self.key_tokens)

    def note(self) -> str:
        """In words: the problem, or what differs; and the detector's verdict."""
        self._experiment.look(FOR_A_PICTURE)
        return describe(self._experiment)

    def __repr__(self) -> str:
        allowed = self.allowed
        queries, keys = allowed.shape
        size = [
            worded("{queries} queries × {keys} keys", queries=queries, keys=keys),
            worded("{count} of {total} may attend", count=int(allowed.sum()), total=allowed.numel()),
        ]
        counts = [(name, int(compare(a, b)[1].sum())) for name, a, b in self._experiment.pairs()]
        found = [worded("{count} cells of the {name} differ", count=count, name=worded(name)) for name, count in counts]
        said = [self._plugs[self.chosen].title, listed(size), listed(found) or worded("no result")]
        return worded("FunctionLab: {what}", what=listed(said, SEMICOLON))


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    return worded("your function") if name == "<lambda>" else name
