"""How an answer is called if it needs more than its inputs: values of `Exercise.call`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lessons.checking.stages import Record, record_inputs
from lessons.wording import listed, worded


def whole_number(candidate: Callable[..., Any], *inputs: Any) -> Tensor | None:
    """For a function that counts: 12 and torch.tensor(12) are the same answer."""
    count = candidate(*inputs)
    if count is None:
        return None
    if isinstance(count, float) and count == int(count):
        raise TypeError(
            worded("expected a whole number, got the float {found!r}: / gives a float, // a whole number", found=count)
        )
    if isinstance(count, bool | str) or count != int(count):
        raise TypeError(worded("expected a whole number, got {found!r}", found=count))
    return torch.tensor(int(count))


class LayerLike:
    """For a class that a learner writes: builds a layer, gives it the weights of the reference, and runs it.

    The first `sizes` inputs build the layer, the others are what it is called with. `name` is that of the class.
    `stages` records what each of its inner layers gets.
    """

    def __init__(self, reference: type[nn.Module], name: str, *, sizes: int):
        self.reference = reference
        self.name = name
        self.sizes = sizes
        self._weights: dict[tuple, dict[str, Tensor]] = {}

    def __call__(self, candidate: Any, *inputs: Any) -> Any:
        return self.build(candidate, *inputs[: self.sizes])(*inputs[self.sizes :])

    def stages(self, record: Record, candidate: Any, *inputs: Any) -> Any:
        layer = self.build(candidate, *inputs[: self.sizes])
        record_inputs(layer, record)
        return layer(*inputs[self.sizes :])

    def build(self, candidate: Any, *arguments: Any) -> nn.Module:
        require_layer_class(candidate, self.name)
        with torch.random.fork_rng(devices=[]):
            weights = self._weights_for(arguments)
            torch.default_generator.manual_seed(0)
            layer = candidate(*arguments)
        layer.load_state_dict(weights, strict=False)
        if lost := sorted({key.split(".")[0] for key in weights} - {key.split(".")[0] for key in layer.state_dict()}):
            raise AttributeError(worded("{names}: keep the layers of __init__ as they were named", names=listed(lost)))
        if lost := sorted(weights.keys() - layer.state_dict().keys()):
            raise AttributeError(worded("{names}: keep the layers of __init__ as they were", names=listed(lost)))
        return layer

    def _weights_for(self, arguments: tuple) -> dict[str, Tensor]:
        if arguments not in self._weights:
            torch.default_generator.manual_seed(0)
            state = self.reference(*arguments).state_dict()
            noisy = {key: w + 0.3 * torch.randn(w.shape) for key, w in state.items()}  # norms that do something
            self._weights[arguments] = noisy
        return self._weights[arguments]


def require_layer_class(candidate: Any, name: str) -> None:
    """Refuse, in words that help, what is not a class with a method forward."""
    if not isinstance(candidate, type):
        raise TypeError(worded("expected the class {name} itself, not one object made of it", name=name))
    if getattr(candidate, "forward", None) is nn.Module.forward:
        raise AttributeError(worded("the class has no method forward: look at its name, and at its indentation"))
