"""The state of torch and Python that a call may change: set as a check needs it, watched, and put back."""

import random
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch._tensor_str import PRINT_OPTS

from lessons.wording import marked, worded

AS_IT_IS: Any = object()


@dataclass(frozen=True)
class Setting:
    """One setting; during: its value while a check runs."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]
    during: Any = AS_IT_IS


CPU = torch.device("cpu")


def _default_device() -> torch.device:
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return context.device if context else CPU


def _set_default_device(device: torch.device) -> None:
    torch.set_default_device(None if device == CPU else device)


def _set_function_modes(count: int) -> None:
    while torch._C._len_torch_function_stack() > count:
        torch._C._pop_torch_function_stack()


_left_on: list[torch.inference_mode] = []  # kept, because a mode that is thrown away leaves its thread in disorder


def _set_inference_mode(on: bool) -> None:
    _left_on.append(torch.inference_mode(on))
    _left_on[-1].__enter__()


SETTINGS = (
    Setting(marked("torch's default device"), _default_device, _set_default_device, CPU),
    Setting(marked("the number of torch function modes"), torch._C._len_torch_function_stack, _set_function_modes),
    Setting(marked("torch's default dtype"), torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    Setting(marked("torch's inference mode"), torch.is_inference_mode_enabled, _set_inference_mode),
    Setting(marked("torch's recording of gradients"), torch.is_grad_enabled, torch._C._set_grad_enabled, True),
    Setting(
        marked("torch's autocast"),
        lambda: torch.is_autocast_enabled("cpu"),
        lambda on: torch.set_autocast_enabled("cpu", on),
        False,
    ),
    Setting(
        marked("torch's anomaly detection"),
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda modes: torch.set_anomaly_enabled(*modes),
    ),
    Setting(
        marked("torch's deterministic mode"), torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0
    ),
    Setting(
        marked("torch's precision of matrix products"),
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
        "highest",
    ),
    Setting(marked("the number of torch's threads"), torch.get_num_threads, torch.set_num_threads),
    Setting(
        marked("torch's print options"),
        lambda: dict(vars(PRINT_OPTS)),
        lambda options: vars(PRINT_OPTS).update(options),
    ),
    Setting(marked("Python's recursion limit"), sys.getrecursionlimit, sys.setrecursionlimit),
)


@contextmanager
def neutral() -> Generator[None]:
    """A state that is always the same, with gradients on. The one before comes back, random numbers included."""
    before = read()
    generators = torch.get_rng_state(), random.getstate(), np.random.get_state()
    try:
        with ExitStack() as modes:
            for setting in SETTINGS:
                if setting.during is not AS_IT_IS and setting.read() != setting.during:
                    setting.write(setting.during)
            if torch._C._len_torch_function_stack():  # such as `with torch.device("meta")`
                modes.enter_context(torch.device("cpu"))
            if torch.is_inference_mode_enabled():
                modes.enter_context(torch.inference_mode(False))
            torch._C._set_grad_enabled(True)
            yield
    finally:
        put_back(before)
        torch.set_rng_state(generators[0])
        random.setstate(generators[1])
        np.random.set_state(generators[2])


def read() -> list[Any]:
    return [setting.read() for setting in SETTINGS]


def put_back(before: list[Any]) -> list[str]:
    """Set every setting back to what it was when it was read; returns what had changed, in words."""
    changed: list[str] = []
    for setting, old in zip(SETTINGS, before):
        if (new := setting.read()) != old:
            name = worded(setting.name)
            changed.append(
                name
                if isinstance(old, dict)
                else worded("{setting} from {old} to {new}", setting=name, old=old, new=new)
            )
            setting.write(old)
    return changed


def restart_random_numbers() -> None:
    torch.default_generator.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def draw_random_numbers() -> None:
    """One of each kind, so that those that follow are others."""
    torch.rand(1)
    random.random()
    np.random.rand()


_CLASSES = [thing for thing in vars(nn).values() if isinstance(thing, type)]
_OWNERS: dict[str, Any] = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.linalg": torch.linalg,
    "torch.nn": nn,
    "torch.nn.functional": F,
} | {f"torch.nn.{thing.__name__}": thing for thing in _CLASSES}
_CONTENTS = [vars(owner) for owner in _OWNERS.values()]
_as_they_were: dict[str, dict[str, Any]] = {}
_noted: list[list[Any]] = []  # the values in it


def remember_functions() -> None:
    """Note what torch, Tensor, torch.nn and torch.nn.functional contain."""
    if _is_as_it_was():
        return
    for name, owner in _OWNERS.items():
        if not _same(vars(owner), _as_they_were.get(name, {})):
            _as_they_were[name] = dict(vars(owner))
    _noted[:] = [[*contents.values()] for contents in _CONTENTS]


def put_functions_back() -> list[str]:
    """Undo what was replaced in torch since remember_functions(); gives the names."""
    replaced: list[str] = []
    if _is_as_it_was():
        return replaced
    for name, owner in _OWNERS.items():
        before = _as_they_were[name]
        if _same(vars(owner), before):
            continue
        for key, old in before.items():
            new = vars(owner).get(key, AS_IT_IS)
            if new is not old and not _wrapped_by_torch(new, old):
                setattr(owner, key, old)
                replaced.append(f"{name}.{key}")
        for key in [key for key in vars(owner) if key not in before and _inherited(owner, key)]:
            delattr(owner, key)
            replaced.append(f"{name}.{key}")
    return replaced


def _wrapped_by_torch(new: Any, old: object) -> bool:
    """As torch._dynamo does with torch.manual_seed when it is imported; a computation on "meta" may import it."""
    if not isinstance(new, FunctionType) or vars(new).get("__wrapped__") is not old:
        return False
    return Path(new.__code__.co_filename).is_relative_to(Path(torch.__file__).parent)


def _is_as_it_was() -> bool:
    """Whether all owners contain the very things that were noted, in the same order."""
    return _same([[*contents.values()] for contents in _CONTENTS], _noted)


def _same(now: object, before: object) -> bool:
    try:
        return now == before
    except Exception:  # from the == of something that was put there
        return False


def _inherited(owner: Any, name: str) -> bool:
    return isinstance(owner, type) and any(name in vars(above) for above in owner.__mro__[1:])
