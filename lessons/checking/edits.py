"""A known mistake, written as the edit that makes it of the right answer."""

import inspect
import linecache
import re
import sys
import textwrap
from functools import cache, cached_property
from types import FunctionType
from typing import Any

OF_A_CLASS = {"__class__", "__classdict__"}  # the second since Python 3.14, where a method has annotations


def edited(original: Any, *edits: str | tuple[str, str]) -> "Edited":
    """A function or class with one piece of its source replaced: edited(step, "dim=-1", "dim=0").

    Several pieces: edited(step, ("dim=-1", "dim=0"), ("+ 1", "- 1")). Each must occur exactly once in the source, from
    which the indentation common to all lines is taken away. All are replaced at the same time, and the source is read
    and compiled when the result is first used, in the globals of the original: a function that calls itself calls the
    original. ValueError, then, for a piece that does not occur exactly once, and for closures.
    """
    definition = isinstance(inspect.unwrap(original), FunctionType | type) and original.__name__ != "<lambda>"
    if not definition and not isinstance(original, Edited):
        raise ValueError(f"original: {original!r}; expected a function that has a name, or a class")
    pairs: list[Any] = [edits] if edits and isinstance(edits[0], str) else [*edits]
    if not pairs or not all(isinstance(pair, tuple) and list(map(type, pair)) == [str, str] for pair in pairs):
        raise ValueError(f"edits: {edits!r}; expected two strings, old and new, or pairs of them")
    return Edited(original, tuple((old, new) for old, new in pairs))


class Edited:
    """What `edited` gives: it is called, subclassed and asked for attributes like the function or class that it makes.

    made: the function or class itself. source: its source.
    """

    def __init__(self, original: Any, edits: tuple[tuple[str, str], ...]):
        self.original = original
        self.edits = edits

    @cached_property
    def source(self) -> str:
        source = _source(actual(self.original))
        for old, _ in self.edits:
            if source.count(old) != 1:
                raise ValueError(f"{self!r}: {old!r} occurs {source.count(old)} times; expected exactly once")
        either = "|".join(re.escape(old) for old, _ in self.edits)
        changed, count = re.subn(either, lambda found: dict(self.edits)[found[0]], source)
        if count != len(self.edits):
            raise ValueError(f"{self!r}: pieces that are replaced may not overlap")
        return changed

    @cached_property
    def made(self) -> Any:
        original = inspect.unwrap(actual(self.original))
        if free := _free_variables(original):
            raise ValueError(f"{self!r}: a closure over {', '.join(sorted(free))}; expected a function without one")
        filename = f"<{original.__module__}.{self!r}>"
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(keepends=True), filename)
        namespace: dict[str, Any] = {}
        try:
            exec(compile(self.source, filename, "exec", dont_inherit=True), _globals(original), namespace)
            return namespace[original.__name__]
        except Exception as error:
            raise ValueError(f"{self!r}: the result cannot be defined: {type(error).__name__}: {error}") from error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.made(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if "edits" not in vars(self):  # while it is being copied
            raise AttributeError(name)
        return getattr(self.made, name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.made,)

    def __repr__(self) -> str:
        name = inspect.unwrap(actual(self.original)).__qualname__
        return f"{name} with {', '.join(f'{new!r} for {old!r}' for old, new in self.edits)}"


def actual(candidate: Any) -> Any:
    """The candidate; or, where it is an edit, the function or class that the edit makes."""
    return candidate.made if type(candidate) is Edited else candidate


@cache
def _source(original: Any) -> str:
    """Its source, without the indentation common to all lines. Python looks for it from the first line of the file."""
    return textwrap.dedent(inspect.getsource(original))


def _globals(original: Any) -> dict[str, Any]:
    return vars(sys.modules[original.__module__]) if isinstance(original, type) else original.__globals__


def _free_variables(original: Any) -> set[str]:
    """The names that come from a function around the original, not from the class around a method."""
    if not isinstance(original, type):
        return set(original.__code__.co_freevars)
    methods = [inspect.unwrap(member) for member in vars(original).values() if isinstance(member, FunctionType)]
    return {name for method in methods for name in method.__code__.co_freevars} - OF_A_CLASS
