"""Which outputs depend on which tokens, found by experiment: change one token and see which outputs change."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from lessons._checks import kind, positive
from lessons.wording import worded

SCALES = (1.0, 0.3, 0.1, 0.01, 1e-4)  # of random tokens; with small tokens the softmax rounds no weight to 0
GOLDEN_RATIO = (1 + 5**0.5) / 2  # small multiples of one rounding error are never close to this ratio
DRAWS = 1 + len(SCALES)  # the caller's own tokens, and random tokens of each scale


class Leaks(list[tuple[int, int]]):
    """Pairs (i, j) in which output i depends on a later token j. An empty list doesn't prove that there is no leak."""

    def __init__(self, pairs: list[tuple[int, int]], draws: int):
        super().__init__(pairs)
        self.draws = draws

    def __repr__(self) -> str:
        return super().__repr__() if self else worded("no leak found in {draws} draws", draws=self.draws)


def influence(
    function: Callable[[Tensor], Any], x: Tensor, *, draws: int = DRAWS, vocab_size: int | None = None
) -> Tensor:
    """Which outputs depend on which tokens: the mask that a function really has, as far as `draws` trials show.

    function: a function or module that returns one output per token, or a tuple whose first item is these outputs.
        Dropout draws the same random numbers in each call. A module is examined in its current mode (train or eval).
    x: tokens (T, D) or (B, T, D), or ids (T,) or (B, T). In a batch, token j is changed in all sentences at once.
    draws: the first uses x itself, the others use random tokens of different sizes, some very small. Ids stay the
        same; instead, the vectors looked up for them are scaled.
    vocab_size: ids are replaced by ids below it; it defaults to the largest id in x, plus 1.

    Returns bool (T, T): [i, j] is True if output i was seen to depend on token j. Each draw has two ways to see it:
    a gradient that is not 0 (tokens only), or an output i that changes by more than rounding when token j is replaced,
    which also works without gradients. False means that no dependence was found in these draws, no more.

    A function whose outputs differ between two calls with the same x raises a ValueError.
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
    """The leaks that `influence` finds: pairs (i, j) in which output i depends on a later token j.

    An empty list prints "no leak found in 6 draws" and means no more than that.
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
    """Whether True in the mask of an attention function means "may attend", found by experiment.

    attention: a function of x (T, D) and a bool mask (T, T), rows are queries; it returns one output per token.
    x (T, D), two tokens or more. Returns True for "may attend", False for "blocked". If the mask doesn't change which
    outputs move, that is a ValueError.
    """
    if x.dim() != 2 or x.size(0) < 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (T, D) with two tokens or more")
    pair = torch.zeros(x.size(0), x.size(0), dtype=torch.bool, device=x.device)
    pair[0, -1] = True  # only query 0 and the last key

    def moves(mask: Tensor) -> bool:
        def masked(tokens: Tensor) -> Tensor:
            return attention(tokens, mask)

        return bool(influence(masked, x, draws=1)[0, -1])

    if_true, if_false = moves(pair), moves(~pair)
    if if_true == if_false:
        story = "changes" if if_true else "does not change"
        raise ValueError(f"output 0 {story} with the last token, masked or not; expected the mask to decide this")
    return if_true


class _Probe:
    """A function that is called with the same random numbers each time."""

    def __init__(self, function: Callable[[Tensor], Any], axis: int, seed: int):
        self.function, self.axis, self.seed = function, axis, seed

    def by_replacing(self, x: Tensor, others: list[Tensor]) -> Tensor:
        """bool (T, T): [i, j] is True where output i changes when token j is replaced by that of one of the others.

        Without gradients: some torch modules run other code then.
        """
        with torch.no_grad():
            before = self._outputs(x)
            if _differ(before, self._outputs(x)).any():
                raise ValueError(
                    "function gives different outputs for the same x; expected random numbers from torch's default "
                    "generator only, and no state kept between calls"
                )
            columns = [torch.stack([self._outputs(y) for y in self._changed(x, j, others)]) for j in range(len(before))]
        return torch.stack([_differ(before, after).any(dim=0) for after in columns], dim=1)

    def _changed(self, x: Tensor, j: int, others: list[Tensor]) -> Iterator[Tensor]:
        for other in others:
            changed = x.clone()
            changed.select(self.axis, j).copy_(other.select(self.axis, j))
            yield changed

    def by_gradient(self, x: Tensor, known: Tensor) -> Tensor:
        """bool (T, T): [i, j] is True where the gradient of output i with respect to token j is not 0.

        Rounding can leave a small gradient where there should be none. To tell it apart, the inputs change a little
        and the outputs are scaled: a true gradient scales with them, rounding doesn't.
        """
        eps = torch.finfo(x.dtype).eps
        try:
            gradient = self._gradients(x)
            found = _largest(gradient).isfinite() & (_largest(gradient) > 0)
            for trial in (1, 2):
                if (found & ~known).any():
                    again = self._gradients(x, step=trial * eps**0.6, factor=GOLDEN_RATIO**trial)
                    found &= _largest(again - gradient) <= max(0.02, 8 * eps) * _largest(gradient)
        except Exception:  # by_replacing has shown that the function runs, so it has no gradient
            return torch.zeros_like(known)
        return found

    def _gradients(self, x: Tensor, step: float = 0.0, factor: float = 1.0) -> Tensor:
        """(T, T, features): the gradient of a random sum of output i's features with respect to token j."""
        with torch.enable_grad():
            x = (x + step * _size(x) * _random_like(x, self.seed)).requires_grad_()
            outputs = self._outputs(x)
            sums = factor * _random_like(outputs, self.seed) * (1 + step * _random_like(outputs, self.seed + 1))
            rows = [
                torch.autograd.grad((outputs[i] * sums[i]).sum(), x, retain_graph=True)[0] for i in range(len(outputs))
            ]
        return torch.stack([row.movedim(self.axis, 0).reshape(len(outputs), -1) for row in rows]).double() / factor

    def _outputs(self, x: Tensor) -> Tensor:
        """(T, features): row i has the features of output i in all sentences."""
        _seed(x.device, self.seed)
        outputs = self.function(x.clone())
        if isinstance(outputs, tuple | list):
            outputs = outputs[0]
        leading = tuple(x.shape[: self.axis + 1])
        if not isinstance(outputs, Tensor) or tuple(outputs.shape[: len(leading)]) != leading:
            story = f"shape {tuple(outputs.shape)}" if isinstance(outputs, Tensor) else kind(outputs)
            raise ValueError(f"function returned {story}; expected one output per token, shape {leading} and features")
        return outputs.movedim(self.axis, 0).reshape(leading[-1], -1).to(x.device)


class _ScaledEmbeddings(TorchFunctionMode):
    """While active, it multiplies vectors that are looked up by ids by a number."""

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
    """Three tensors of random ids, each different from x at every place."""
    ids = int(x.max()) + 1 if vocab_size is None else vocab_size
    generator = torch.Generator().manual_seed(seed)
    steps = [torch.randint(1, ids, x.shape, generator=generator, device="cpu").to(x) for _ in range(3)]
    return [(x + step) % ids for step in steps]


def _random_like(x: Tensor, seed: int) -> Tensor:
    """Normally distributed numbers, in the shape, type and device of x."""
    return torch.randn(x.shape, generator=torch.Generator().manual_seed(seed), device="cpu").to(x)


def _size(x: Tensor) -> float:
    """The root mean square of the numbers, or 1 if all are 0."""
    return float(x.double().square().mean().sqrt()) or 1.0


def _largest(x: Tensor) -> Tensor:
    return x.abs().amax(dim=-1)


def _differ(before: Tensor, after: Tensor) -> Tensor:
    """(T, N) and (…, T, N) -> bool (…, T): True where a row differs by more than rounding."""
    eps = torch.finfo(before.dtype).eps if before.is_floating_point() else 0.0
    before, after = before.double(), after.double()
    difference = (after - before).masked_fill((before == after) | (before.isnan() & after.isnan()), 0.0)
    size = torch.maximum(*(_largest(x.nan_to_num(0.0, 0.0, 0.0)) for x in (before, after)))
    rounding = eps ** (2 / 3) * size + 8 * eps * size.max()
    return ~(difference.abs() <= rounding[..., None]).all(dim=-1)


def _check_tokens(x: Tensor, draws: int, vocab_size: int | None) -> None:
    positive(draws=draws)
    if not x.is_floating_point() and x.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"x is {kind(x)}; expected tokens as floats, or ids as whole numbers")
    dims, shapes = ((2, 3), "(T, D) or (B, T, D)") if x.is_floating_point() else ((1, 2), "ids (T,) or (B, T)")
    if x.dim() not in dims or not x.numel():
        raise ValueError(f"x has shape {tuple(x.shape)}; expected {shapes}, not empty")
    if x.is_floating_point():
        return
    if vocab_size is None and int(x.max()) < 1:
        raise ValueError("x contains no id above 0; expected vocab_size, so that other ids can replace them")
    if vocab_size is not None and not int(x.max()) < vocab_size > 1:
        raise ValueError(f"vocab_size is {vocab_size}; expected more than the largest id in x, {int(x.max())}")
