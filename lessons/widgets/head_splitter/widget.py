"""HeadSplitter: follow every number through view, transpose and reshape, the right way and the wrong ones."""

import math
from typing import Any

import torch
from torch import Tensor
from traitlets import observe, validate

from lessons._checks import one_of, whole
from lessons.widgets.base import LessonWidget, as_tensor, synced, to_tensor
from lessons.widgets.front_end import front_end, style
from lessons.widgets.head_splitter import splitting
from lessons.widgets.head_splitter.constants import EXCHANGE, LABELS, MOST, NUMBERS, SIZES, STRAIGHT, WAY
from lessons.widgets.pictures import Panel
from lessons.wording import SEMICOLON, listed, worded


class HeadSplitter(LessonWidget):
    """x (B, T, D), colored by head, on its way through view, transpose and reshape; next to a wrong way.

    batch, length, num_heads, head_dim: B, T, H and d, with D = H·d; at most 3, 6, 8 and 4, and 200 numbers in all.
    x (B, T, D): your own numbers, which bring their own sizes; else numbers that tell where they come from.

    compare: the wrong way, one of splitting.WRONG_CODE. step: from 0, x, to 5, joined. labels: what the cells
    show, "numbers" or "homes". pinned: the number that stays framed, by its place in the memory of x, or None.
    All can be set from code. `steps()`, `wrong()` and `misplaced()` are computed by torch.
    """

    _esm = front_end("head_splitter")
    _css = style("head_splitter")

    batch, length, num_heads, head_dim, compare, step, labels, pinned = (synced() for _ in range(8))
    x = as_tensor(synced())

    def __init__(
        self,
        batch: int = 1,
        length: int = 4,
        num_heads: int = 2,
        head_dim: int = 3,
        x: Any = None,
        **options: Any,
    ):
        sizes = {"batch": batch, "length": length, "num_heads": num_heads, "head_dim": head_dim}
        if x is not None:
            x = _read(x, num_heads)
            sizes = _sizes_of(x, num_heads)
        state = {"compare": STRAIGHT, "step": EXCHANGE, "labels": NUMBERS, "pinned": None}
        super().__init__(**sizes, x=x, **{**state, **options})

    # What the state means

    @property
    def numbers(self) -> Tensor:
        """(B, T, D): your x if it has these sizes, else numbers that tell their place."""
        shape = (self.batch, self.length, self.num_heads * self.head_dim)
        x: Any = self.x
        return x if x is not None and x.shape == shape else splitting.telling_numbers(*shape)

    def steps(self) -> list[splitting.Step]:
        """(name, code, tensor) for each step of the right way; a view shares the memory of what it views."""
        return splitting.follow(self.numbers, self.num_heads)

    def wrong(self, name: str | None = None) -> Tensor | RuntimeError:
        """The result of the wrong way of this name, or torch's error; by default of the chosen one."""
        return splitting.go_wrong(self._way(name), self.numbers, self.num_heads)

    def misplaced(self, name: str | None = None) -> Tensor:
        """Bool, in the shape of `wrong(name)`: True = a number of another head, token or feature is here."""
        name = self._way(name)
        found = self._compared(name)
        if found is None:
            raise ValueError(
                f"name is {name!r}; expected a way that returns a tensor: with these sizes torch raises an error"
            )
        return found[0] != found[1]

    def tally(self, name: str | None = None) -> dict[str, int]:
        """How many numbers are out of place, how many of them in the wrong head, and at the wrong token."""
        right, wrong = (self._homes(places) for places in self._compared(self._way(name)) or (torch.tensor(0),) * 2)
        moved = torch.stack([a != b for a, b in zip(right, wrong)]).any(dim=0)
        return {
            "out of place": int(moved.sum()),
            "in the wrong head": int((right.head != wrong.head).sum()),
            "at the wrong token": int((right.token != wrong.token).sum()),
        }

    def _way(self, name: str | None) -> str:
        if name is None:
            return self.compare
        one_of(splitting.WRONG_CODE, name=name)
        return name

    def _compared(self, name: str) -> tuple[Tensor, Tensor] | None:
        return splitting.compare(name, self.numbers.shape, self.num_heads)

    def _homes(self, places: Tensor) -> splitting.Home:
        return splitting.find_homes(places, self.length, self.num_heads, self.head_dim)

    # Validation

    @validate("batch", "length", "num_heads", "head_dim")
    def _check_size(self, proposal: dict) -> int:
        self._count(**{proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    def _count(self, **proposed: Any) -> int:
        """The number of numbers, if the sizes, one of which may be a proposal, are valid."""
        sizes = {name: getattr(self, name) for name in SIZES} | proposed
        for name, value in sizes.items():
            whole(1, SIZES[name], **{name: value})
        return _check_count(f"{' · '.join(sizes)} is", sizes)

    @validate("x")
    def _check_x(self, proposal: dict) -> Tensor | None:
        return None if proposal["value"] is None else _read(proposal["value"], self.num_heads)

    @validate("step", "pinned")
    def _check_number(self, proposal: dict) -> int | None:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "pinned" and value is None:
            return None
        whole(0, (len(splitting.CODE) if name == "step" else self._count()) - 1, **{name: value})
        return value

    @validate("compare", "labels")
    def _check_choice(self, proposal: dict) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        one_of({"compare": splitting.WRONG_CODE, "labels": LABELS}[name], **{name: value})
        return value

    @observe("x")
    def _take_sizes(self, _: dict) -> None:
        if isinstance(self.x, Tensor):
            with self.hold_trait_notifications():
                for name, value in _sizes_of(self.x, self.num_heads).items():
                    setattr(self, name, value)

    @observe("batch", "length", "num_heads", "head_dim")
    def _let_go(self, change: dict) -> None:
        if isinstance(change["old"], int):
            self.pinned = None

    # What is shown

    def panels(self) -> list[Panel]:
        """x, the step, and the wrong way; the row names contain the axes before the last one."""
        places = torch.arange(self.numbers.numel()).view(self.numbers.shape)
        reading = [step.tensor for step in splitting.follow(places, self.num_heads)]
        drawn = [self._panel("x", places, 0)] if self.step else []
        name = list(splitting.CODE)[self.step]
        title = worded("step {step}: {name}", step=self.step + 1, name=worded(name))
        drawn += [self._panel(title, reading[self.step], self.step, main=True)]
        found = self._compared(self.compare)
        if found is not None:
            step = splitting.INSTEAD_OF[self.compare]
            title = worded("wrong: {way}", way=worded(self.compare))
            drawn += [self._panel(title, found[1], step, blocked=found[0] != found[1])]
        return drawn

    def _panel(self, title: str, places: Tensor, step: int, blocked: Tensor | None = None, main: bool = False) -> Panel:
        *outer, last = WAY[step]["axes"]
        rows = torch.cartesian_prod(*(torch.arange(size) for size in places.shape[:-1])).tolist()
        flat = places.reshape(-1, places.size(-1))
        return Panel(
            "homes",
            title,
            [" ".join(f"{axis[0]}{i}" for axis, i in zip(outer, row)) for row in rows],
            [f"f{i}" if last == "feature" else str(i) for i in range(places.size(-1))],
            self.numbers.flatten()[flat],
            None if blocked is None else blocked.reshape(flat.shape),
            row_axis=listed(map(worded, outer)),
            column_axis=worded(last),
            main=main,
            groups=self._homes(flat).head,
        )

    def note(self) -> str:
        """In words: what the wrong way does."""
        error = self.wrong()
        way = {"way": worded(self.compare), "code": splitting.WRONG_CODE[self.compare]}
        if isinstance(error, RuntimeError):
            return worded("{way}, {code}: torch raises RuntimeError: {error}", error=error, **way)
        moved, heads, tokens = self.tally().values()
        return worded(
            "{way}, {code}: of {count} numbers {moved} out of place, {heads} in the wrong head, "
            "{tokens} at the wrong token.",
            count=self.numbers.numel(),
            moved=moved,
            heads=heads,
            tokens=tokens,
            **way,
        )

    def __repr__(self) -> str:
        name, _, tensor = self.steps()[self.step]
        moved = worded("{count} out of place", count=self.tally()["out of place"])
        wrong = "RuntimeError" if isinstance(self.wrong(), RuntimeError) else moved
        said = [
            f"x {tuple(self.numbers.shape)}, num_heads {self.num_heads}, head_dim {self.head_dim}",
            worded(
                "step {step}, {name}: {shape}, strides {strides}",
                step=self.step + 1,
                name=worded(name),
                shape=tuple(tensor.shape),
                strides=tensor.stride(),
            ),
            worded("{where}: {what}", where=worded(self.compare), what=wrong),
        ]
        return worded("HeadSplitter: {what}", what=listed(said, SEMICOLON))


def _read(x: Any, num_heads: int) -> Tensor:
    """x as a contiguous tensor (B, T, D), if it can be shown and split into heads."""
    whole(1, SIZES["num_heads"], num_heads=num_heads)
    x = to_tensor(x, "x", "a tensor (B, T, D)")
    if x.dim() != 3 or x.size(-1) % num_heads:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (B, T, a multiple of num_heads = {num_heads})")
    sizes = _sizes_of(x, num_heads)
    if any(not 1 <= size <= SIZES[name] for name, size in sizes.items()):
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected B from 1 to {SIZES['batch']}, T from 1 to {SIZES['length']}, "
            f"and D / num_heads from 1 to {SIZES['head_dim']}"
        )
    _check_count(f"x has shape {tuple(x.shape)}:", sizes)
    return x.clone(memory_format=torch.contiguous_format)


def _sizes_of(x: Tensor, num_heads: int) -> dict[str, int]:
    return {"batch": x.size(0), "length": x.size(1), "num_heads": num_heads, "head_dim": x.size(2) // num_heads}


def _check_count(given: str, sizes: dict[str, int]) -> int:
    count = math.prod(sizes.values())
    if count > MOST:
        raise ValueError(f"{given} {' · '.join(map(str, sizes.values()))} = {count} numbers; expected at most {MOST}")
    return count
