"""What depends on what, found by trying: change one token, and see which outputs move."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from lessons._checks import kind, positive

SCALES = (1.0, 0.3, 0.1, 0.01, 1e-4)  # of random tokens; with small ones no softmax rounds a weight to 0
GOLDEN_RATIO = (1 + 5**0.5) / 2  # multiples of one rounding error are far from this ratio to each other
DRAWS = 1 + len(SCALES)  # the caller's own tokens, and random ones of each scale


class Leaks(list[tuple[int, int]]):
    """Pairs (i, j) in which output i depends on a later token j. An empty list is no proof, and says so."""

    def __init__(self, pairs: list[tuple[int, int]], draws: int):
        super().__init__(pairs)
        self.draws = draws

    def __repr__(self) -> str:
        return super().__repr__() if self else f"no leak found in {self.draws} draws"


def influence(
    function: Callable[[Tensor], Any], x: Tensor, *, draws: int = DRAWS, vocab_size: int | None = None
) -> Tensor:
    """Which outputs depend on which token: the mask that a function really has, as far as `draws` trials show.

    function: a function or module; it gives one output for each token, or a tuple that begins with the outputs.
        Dropout draws the same random numbers in each call. A module is examined in the mode that it is in.
    x: tokens (T, D) or (B, T, D), or ids (T,) or (B, T). In a batch, token j is changed in all sentences at once.
    draws: the first examines x itself, each of the others random tokens, down to very small ones. Ids stay as they
        are; the vectors that are looked up for them become as small.
    vocab_size: ids are replaced by ids below it; unless given, by those up to the largest in x.

    Returns bool (T, T): [i, j] is True where output i depends on token j. In each draw there are two ways to see it:
    the gradient is not 0; or output i moves by more than rounding when token j is replaced, which also sees what has
    no gradient. True is a proof. False is none: in these draws nothing was found.
    """
    _check_tokens(x, draws, vocab_size)
    axis = x.dim() - (2 if x.is_floating_point() else 1)  # of the tokens
    length = x.size(axis)
    moved = torch.zeros(length, length, dtype=torch.bool, device=x.device)
    with torch.random.fork_rng(devices=[x.device] if x.is_cuda else []):
        for number in range(draws):
            if moved.all():
                break
            scale = SCALES[(number - 1) % len(SCALES)]
            probe = _Probe(function, axis, seed=number)
            if not x.is_floating_point():
                with _ScaledEmbeddings(scale if number else 1.0):
                    moved |= probe.by_replacing(x, _other_ids(x, vocab_size, seed=number))
                continue
            tokens = x.detach() if number == 0 else scale * _random_like(x, seed=number)
            moved |= probe.by_replacing(tokens, [_size(tokens) * _random_like(x, seed=number + draws), -tokens])
            moved |= probe.by_gradient(tokens, known=moved)
    return moved


def leaks(function: Callable[[Tensor], Any], x: Tensor, *, draws: int = DRAWS, vocab_size: int | None = None) -> Leaks:
    """The pairs (i, j), j after i, in which output i depends on the future token j, as `influence` finds them.

    An empty list says "no leak found in 6 draws", and means no more than that.
    """
    moved = influence(function, x, draws=draws, vocab_size=vocab_size)
    return Leaks([(i, j) for i, j in moved.nonzero().tolist() if j > i], draws)


def reach(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """How much the last output changes with the tokens before it, by their distance from it.

    x (B, T, D), floats; function: x -> (B, T, anything). Returns (T - 1,), for the distances 1, 2, …, T - 1: the length
    of the gradient of a random sum of the last output's features, a mean over the batch, divided by that at distance 1.
    """
    if x.dim() != 3 or x.size(1) < 2 or not x.is_floating_point():
        raise ValueError(
            f"x is {kind(x)} of shape {tuple(x.shape)}; expected floats, (B, T, D) with two tokens or more"
        )
    x = x.detach().requires_grad_()
    last = function(x)[:, -1]
    (gradient,) = torch.autograd.grad((last * torch.randn_like(last)).sum(), x)
    lengths = gradient.norm(dim=-1).mean(dim=0).flip(0)[1:]  # without the last token itself
    return lengths / lengths[0]


def true_means_attend(attention: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> bool:
    """What a library means by True in its mask, found out by trying: True = may look, False = may not.

    attention: (x (T, D), mask (T, T) of bools) -> (T, anything); rows of the mask are queries.
    x (T, D), two tokens or more. An attention that moves in the same way with and without True is a ValueError.
    """
    if x.dim() != 2 or x.size(0) < 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (T, D) with two tokens or more")
    pair = torch.zeros(x.size(0), x.size(0), dtype=torch.bool)
    pair[0, -1] = True  # one query and one key

    def moves(mask: Tensor) -> bool:
        def masked(tokens: Tensor) -> Tensor:
            return attention(tokens, mask)

        return bool(influence(masked, x, draws=1)[0, -1])

    if_true, if_false = moves(pair), moves(~pair)
    if if_true == if_false:
        story = "moves" if if_true else "does not move"
        raise ValueError(f"output 0 {story} with the last token, mask or no mask; expected that the mask decides")
    return if_true


class _Probe:
    """One function, called with the same random numbers each time."""

    def __init__(self, function: Callable[[Tensor], Any], axis: int, seed: int):
        self.function, self.axis, self.seed = function, axis, seed

    def by_replacing(self, x: Tensor, others: list[Tensor]) -> Tensor:
        """bool (T, T): [i, j] is True where output i moves when token j is taken from one of the others.

        Without gradients, for which torch's modules have code of their own.
        """
        with torch.no_grad():
            before = self._outputs(x)
            if _differ(before, self._outputs(x)).any():
                raise ValueError(
                    "function gives different outputs for the same x; expected random numbers from torch's own "
                    "generator alone, and no memory of earlier calls"
                )
            columns = [torch.stack([self._outputs(y) for y in self._changed(x, j, others)]) for j in range(len(before))]
        return torch.stack([_differ(before, after).any(dim=0) for after in columns], dim=1)

    def _changed(self, x: Tensor, j: int, others: list[Tensor]) -> Iterator[Tensor]:
        for other in others:
            changed = x.clone()
            changed.select(self.axis, j).copy_(other.select(self.axis, j))
            yield changed

    def by_gradient(self, x: Tensor, known: Tensor) -> Tensor:
        """bool (T, T): [i, j] is True where the gradient of output i after token j is not 0, however small it is.

        Rounding can leave a small gradient where none should be. It does not follow when the inputs change a little
        and the outputs are scaled; a gradient that belongs to the function does.
        """
        eps = torch.finfo(x.dtype).eps
        try:
            gradient = self._gradients(x)
            found = _largest(gradient).isfinite() & (_largest(gradient) > 0)
            for trial in (1, 2):
                if (found & ~known).any():
                    again = self._gradients(x, step=trial * eps**0.6, factor=GOLDEN_RATIO**trial)
                    found &= _largest(again - gradient) <= max(0.02, 8 * eps) * _largest(gradient)
        except Exception:  # it runs, as by_replacing has shown, but has no gradient
            return torch.zeros_like(known)
        return found

    def _gradients(self, x: Tensor, step: float = 0.0, factor: float = 1.0) -> Tensor:
        """(T, T, features): the gradient of a random sum of output i's features after token j."""
        with torch.enable_grad():
            x = (x + step * _size(x) * _random_like(x, self.seed)).requires_grad_()
            outputs = self._outputs(x)
            if not outputs.requires_grad:
                return outputs.new_zeros(len(outputs), len(outputs), 1)
            sums = factor * _random_like(outputs, self.seed) * (1 + step * _random_like(outputs, self.seed + 1))
            rows = [
                torch.autograd.grad(outputs[i], x, sums[i], retain_graph=True, materialize_grads=True)[0]
                for i in range(len(outputs))
            ]
        return torch.stack([row.movedim(self.axis, 0).reshape(len(outputs), -1) for row in rows]).double() / factor

    def _outputs(self, x: Tensor) -> Tensor:
        """(T, features of output i in all sentences)."""
        _seed(x.device, self.seed)
        outputs = self.function(x.clone())
        if isinstance(outputs, tuple | list):
            outputs = outputs[0]
        leading = tuple(x.shape[: self.axis + 1])
        if not isinstance(outputs, Tensor) or tuple(outputs.shape[: len(leading)]) != leading:
            story = f"shape {tuple(outputs.shape)}" if isinstance(outputs, Tensor) else kind(outputs)
            raise ValueError(f"function gave {story}; expected one output for each token, shape {leading} and features")
        return outputs.movedim(self.axis, 0).reshape(leading[-1], -1)


class _ScaledEmbeddings(TorchFunctionMode):
    """While it lasts, vectors that are looked up by ids are multiplied by a number."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        looked_up = func in (torch.embedding, torch.nn.functional.embedding) or (
            func is Tensor.__getitem__ and _are_ids(args[1]) and result.is_floating_point()
        )
        return result * self.scale if looked_up else result


def _seed(device: torch.device, seed: int) -> None:
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)  # torch.manual_seed reads the whole call stack
    else:
        torch.manual_seed(seed)


def _are_ids(index: Any) -> bool:
    return isinstance(index, Tensor) and index.dtype in (torch.int64, torch.int32) and index.dim() > 0


def _other_ids(x: Tensor, vocab_size: int | None, seed: int) -> list[Tensor]:
    """Ids for each place, three times, none of which is the one that is there."""
    ids = int(x.max()) + 1 if vocab_size is None else vocab_size
    generator = torch.Generator().manual_seed(seed)
    steps = [torch.randint(1, ids, x.shape, generator=generator).to(x) for _ in range(3)]
    return [(x + step) % ids for step in steps]


def _random_like(x: Tensor, seed: int) -> Tensor:
    """Normally distributed numbers."""
    return torch.randn(x.shape, generator=torch.Generator().manual_seed(seed)).to(x)


def _size(x: Tensor) -> float:
    """What the numbers are about as large as; 1 where all are 0."""
    return float(x.double().square().mean().sqrt()) or 1.0


def _largest(x: Tensor) -> Tensor:
    return x.abs().amax(dim=-1)


def _differ(before: Tensor, after: Tensor) -> Tensor:
    """(T, N) and (…, T, N) -> bool (…, T): where a row differs by more than rounding."""
    eps = torch.finfo(before.dtype).eps if before.is_floating_point() else 0.0
    before, after = before.double(), after.double()
    difference = (after - before).masked_fill((before == after) | (before.isnan() & after.isnan()), 0.0)
    size = torch.maximum(*(_largest(x.nan_to_num(0.0, 0.0, 0.0)) for x in (before, after)))
    rounding = eps ** (2 / 3) * size + 8 * eps * size.max()
    return ~(difference.abs() <= rounding[..., None]).all(dim=-1)


def _check_tokens(x: Tensor, draws: int, vocab_size: int | None) -> None:
    positive(draws=draws)
    if not x.is_floating_point() and x.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"x is {kind(x)}; expected tokens of floats or ids of whole numbers")
    dims, shapes = ((2, 3), "(T, D) or (B, T, D)") if x.is_floating_point() else ((1, 2), "ids (T,) or (B, T)")
    if x.dim() not in dims or not x.numel():
        raise ValueError(f"x has shape {tuple(x.shape)}; expected {shapes}, and nothing empty")
    if x.is_floating_point():
        return
    if vocab_size is None and int(x.max()) < 1:
        raise ValueError("x contains no id above 0; expected vocab_size, to know which ids may replace them")
    if vocab_size is not None and not int(x.max()) < vocab_size > 1:
        raise ValueError(f"vocab_size is {vocab_size}; expected more than the largest id in x, {int(x.max())}")
