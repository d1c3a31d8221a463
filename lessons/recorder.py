"""A tape recorder for torch: every low-level operation that runs, with its arguments and its result."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class Recorder(TorchDispatchMode):
    """Records while it is open: `with Recorder() as inside: module(x)`.

    steps: (name, arguments, result) of each operation; torch calls these operations aten. A fused kernel is one.
    """

    def __init__(self):
        super().__init__()
        self.steps: list[tuple[str, tuple[Any, ...], Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.steps.append((func.name().removeprefix("aten::"), args, result))
        return result

    @property
    def names(self) -> list[str]:
        """What ran, in order."""
        return [name for name, _, _ in self.steps]

    def last(self, name: str) -> tuple[tuple[Any, ...], Any] | None:
        """The arguments and the result of the last operation of that name; None if there was none."""
        return next(((args, result) for found, args, result in reversed(self.steps) if found == name), None)
