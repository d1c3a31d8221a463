"""Changes inside a trained model, for as long as a `with` block lasts: what if this token could not see that one?

    with intervene(model, [Change("block", at="decoder.*.cross_attn", query=2, key=0)]):
        translate(model, ["The cat sleeps."], task)

Places have the names of the weights that a model returns, "decoder.0.cross_attn", and "decoder.0.feed_forward"; `*`
stands for any part of a name, `?` for one character, `[12]` for one of these. Tokens are counted from 0, BOS included.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from lessons._checks import one_of, optional, refusal, whole
from lessons.attention import MultiHeadAttention
from lessons.config import TransformerConfig
from lessons.masks import causal, padding
from lessons.transformer import Encoder, Transformer

# What a kind of change needs, and what it may have in addition.
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "block": ({"at", "query", "key"}, {"head"}),
    "allow": ({"at", "query", "key"}, {"head"}),
    "hide": ({"side", "token"}, set()),
    "drop_causal": (set(), {"at"}),
    "drop_padding": (set(), {"at"}),
    "silence": ({"at", "head"}, set()),
    "cut": ({"at"}, set()),
    "drop_positions": (set(), {"side"}),
    "swap_positions": ({"side", "token", "other"}, set()),
    "force": ({"token", "word"}, set()),
}
SIDES = ("src", "tgt")
SUBLAYERS = ("self_attn", "cross_attn", "feed_forward")


@dataclass(frozen=True)
class Change:
    """One change.

    block, allow     the query at `query` may not, or may, attend to the key at `key`: at these attentions, in `head`
                     or in all heads
    hide             no query attends to the token at `token` of this side, nor does the token itself
    drop_causal      the causal mask is off, at these attentions or everywhere
    drop_padding     the padding mask is off, at these attentions or everywhere
    silence          the output of this head is 0
    cut              the output of this sublayer is 0: only its residual connection is left
    drop_positions   no positions on this side, or on both
    swap_positions   the tokens at `token` and `other` get each other's positions
    force            the model must generate the id `word` as the token at `token`

    A field that the kind doesn't take, or lacks, raises a ValueError. `asdict` and `Change(**…)` lead to JSON and back.
    """

    kind: str
    at: str | None = None
    head: int | None = None
    query: int | None = None
    key: int | None = None
    side: str | None = None
    token: int | None = None
    other: int | None = None
    word: int | None = None

    def __post_init__(self):
        one_of(KINDS, kind=self.kind)
        needed, more = KINDS[self.kind]
        given = {name for name, value in asdict(self).items() if value is not None} - {"kind"}
        if missing := needed - given:
            raise ValueError(f"{self.kind!r} has no {min(missing)}; expected {', '.join(sorted(needed))}")
        if strange := given - needed - more:
            raise ValueError(f"{self.kind!r} has {min(strange)}; expected only {', '.join(sorted(needed | more))}")
        numbers = ("head", "query", "key", "token", "other", "word")
        for name in numbers:
            optional(_whole_from_0, **{name: getattr(self, name)})
        optional(lambda **value: one_of(SIDES, **value), side=self.side)
        if self.kind == "force":
            whole(1, token=self.token)


class EncoderModel(Protocol):
    """A model that is an embedding and an encoder, such as `pretrained.SentenceEncoder`."""

    config: TransformerConfig
    embedding: Any
    encoder: Encoder


Model = Transformer | EncoderModel


@contextmanager
def intervene(model: Model, changes: Sequence[Change]) -> Generator[None]:
    """Inside `with`, the model computes with these changes; afterwards it is as before, whatever happened inside.

    The rules of masks are dropped first; then hidden tokens, blocked and allowed cells follow in the order given. A
    token that a sentence doesn't have is passed over. With a mask of your own, a rule that is dropped still allows what
    the other rule allows. `Cached`, which calls no modules, refuses the model inside, in each step as well;
    `Recomputed` takes it. If it was made before, it keeps the source as it was encoded then.

    What the model doesn't have (a place, a head, positions, an id, a decoder) raises a ValueError.
    """
    if isinstance(changes, Change) or not all(isinstance(change, Change) for change in changes):
        raise ValueError(f"changes is {changes!r}; expected a list of Change")
    places = _places(model)
    for change in changes:
        _check(change, model, places)
    with ExitStack() as stack:
        ids: dict[str, Tensor] = {}
        if isinstance(model, Transformer):
            stack.callback(model.tgt_embedding.register_forward_pre_hook(_noting(ids)).remove)
        for place, module in places.items():
            here = [change for change in changes if _concerns(change, place)]
            if isinstance(module, MultiHeadAttention):
                if masks := [change for change in here if _is_of_masks(change, place)]:
                    hook = _masking(model, place, masks, ids)
                    stack.callback(module.register_forward_pre_hook(hook, with_kwargs=True).remove)
                if heads := [change.head for change in here if change.kind == "silence" and change.head is not None]:
                    hook = silencing(module.num_heads, heads)
                    stack.callback(module.out_proj.register_forward_pre_hook(hook).remove)
            if any(change.kind == "cut" for change in here):
                stack.callback(module.register_forward_hook(_give_zero).remove)
        for side in _embeddings(model):
            order = [change for change in changes if change.kind.endswith("_positions") and change.side in (None, side)]
            for module in _positions(model, side) if order else ():
                stack.callback(module.register_forward_hook(_moving(order), with_kwargs=True).remove)
        if isinstance(model, Transformer) and (forced := [change for change in changes if change.kind == "force"]):
            stack.callback(model.out_proj.register_forward_hook(_forcing(forced)).remove)
        yield


def places_of(model: Model) -> list[str]:
    """The names of all attentions and feed-forward networks of the model, from the input to the output."""
    return list(_places(model))


def _embeddings(model: Model) -> dict[str, Any]:
    if isinstance(model, Transformer):
        return {"src": model.src_embedding, "tgt": model.tgt_embedding}
    return {"src": model.embedding}


def _places(model: Model) -> dict[str, nn.Module]:
    stacks: dict[str, Sequence[nn.Module]] = {"encoder": model.encoder.layers}
    if isinstance(model, Transformer):
        stacks["decoder"] = model.decoder.layers
    return {
        f"{part}.{number}.{name}": getattr(layer, name)
        for part, layers in stacks.items()
        for number, layer in enumerate(layers)
        for name in SUBLAYERS
        if hasattr(layer, name)
    }


def _concerns(change: Change, place: str) -> bool:
    return change.at is None or fnmatchcase(place, change.at)


def _is_of_masks(change: Change, place: str) -> bool:
    if change.kind == "drop_causal":
        return _is_causal(place)
    return change.kind in ("block", "allow", "hide", "drop_padding")


def _check(change: Change, model: Model, places: dict[str, nn.Module]) -> None:
    if not isinstance(model, Transformer):
        optional(lambda **value: one_of(("src",), **value), side=change.side)
        if change.kind in ("drop_causal", "force"):
            raise ValueError(f"model has no decoder; expected one with a decoder for {change.kind!r}")
    if change.at is not None:
        named = {place: module for place, module in places.items() if fnmatchcase(place, change.at)}
        if change.kind == "drop_causal":
            named = {place: module for place, module in named.items() if _is_causal(place)}
        elif change.kind != "cut":
            named = {place: module for place, module in named.items() if isinstance(module, MultiHeadAttention)}
        if not named:
            wanted = "decoder.*.self_attn" if change.kind == "drop_causal" else ", ".join(places)
            raise refusal("at", change.at, f"a place where {change.kind!r} is possible in this model: {wanted}")
        if change.head is not None:
            most = min(module.num_heads for module in named.values() if isinstance(module, MultiHeadAttention))
            whole(0, most - 1, head=change.head)
    if change.kind.endswith("_positions") and model.config.positions is None:
        raise ValueError(f"model has no positions; expected one with positions for {change.kind!r}")
    if change.kind == "force":
        whole(0, model.config.tgt_vocab_size - 1, word=change.word)


def _is_causal(place: str) -> bool:
    """Whether it is self-attention of the decoder: its keys are target tokens, all others are source tokens."""
    return place.startswith("decoder") and place.endswith("self_attn")


def _positions(model: Model, side: str) -> list[nn.Module]:
    """The modules that give this side its positions: one that adds them, or one that rotates q and k in each layer."""
    if model.config.positions != "rotary":
        return [_embeddings(model)[side].positions]
    layers = model.decoder.layers if isinstance(model, Transformer) and side == "tgt" else model.encoder.layers
    return [layer.self_attn.rotary for layer in layers if layer.self_attn.rotary is not None]


def _noting(ids: dict[str, Tensor]) -> Callable[..., None]:
    def note(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        ids["tgt"] = inputs[0]

    return note


def _masking(model: Model, place: str, changes: list[Change], ids: dict[str, Tensor]) -> Callable[..., Any]:
    """A pre-hook that gives an attention its changed mask."""
    dropped = {change.kind for change in changes} & {"drop_causal", "drop_padding"}
    key_side = "tgt" if _is_causal(place) else "src"
    cells = [change for change in changes if change.kind in ("block", "allow", "hide")]

    def change_mask(module: MultiHeadAttention, inputs: tuple[Tensor, ...], options: dict[str, Any]) -> Any:
        query = inputs[0]
        key = inputs[1] if len(inputs) > 1 else query
        size = (query.size(0), module.num_heads, query.size(1), key.size(1))
        allowed = options.get("allowed")
        allowed = torch.ones(size[2:], dtype=torch.bool, device=query.device) if allowed is None else allowed
        if dropped == {"drop_causal"}:
            allowed = allowed | padding(ids["tgt"], pad_id=model.config.tgt_pad_id)
        elif dropped == {"drop_padding"} and _is_causal(place):
            allowed = allowed | causal(key.size(1), device=key.device)
        elif dropped:
            allowed = torch.ones_like(allowed)
        if cells:
            allowed = allowed.expand(size).clone()
            for change in cells:
                _set_cells(allowed, change, key_side)
        return inputs, {**options, "allowed": allowed}

    return change_mask


def _set_cells(allowed: Tensor, change: Change, key_side: str) -> None:
    """allowed (B, H, Q, K) is changed in place."""
    num_queries, num_keys = allowed.shape[-2:]
    if change.kind == "hide":
        if change.side == key_side and change.token is not None and change.token < num_keys:
            allowed[..., change.token] = False
    elif change.query is not None and change.key is not None and change.query < num_queries and change.key < num_keys:
        heads = slice(None) if change.head is None else change.head
        allowed[:, heads, change.query, change.key] = change.kind == "allow"


def silencing(num_heads: int, heads: list[int]) -> Callable[..., Any]:
    """A pre-hook of the output projection: (B, Q, H · d) with the features of these heads 0."""

    def silence(_: nn.Module, inputs: tuple[Tensor, ...]) -> Any:
        by_head = inputs[0].unflatten(-1, (num_heads, -1)).clone()
        by_head[..., heads, :] = 0.0
        return by_head.flatten(-2)

    return silence


def _give_zero(_: nn.Module, __: Any, output: Any) -> Any:
    if isinstance(output, tuple):
        return torch.zeros_like(output[0]), *output[1:]
    return torch.zeros_like(output)


def _moving(changes: list[Change]) -> Callable[..., Any]:
    """A hook of a module that gives positions to tokens, whose axis is the last but one."""

    def move(module: nn.Module, inputs: tuple[Tensor, ...], options: dict[str, Any], _: Tensor) -> Tensor:
        x = inputs[0]
        if any(change.kind == "drop_positions" for change in changes):
            return x
        order = list(range(x.size(-2)))
        for change in changes:
            i, j = change.token, change.other
            if i is not None and j is not None and max(i, j) < len(order):
                order[i], order[j] = order[j], order[i]
        new = torch.tensor(order, device=x.device)
        return module.forward(x.index_select(-2, new.argsort()), **options).index_select(-2, new)

    return move


def _forcing(changes: list[Change]) -> Callable[..., Any]:
    """A hook of the projection onto the vocabulary: logits (B, T, V), where a forced id has 0 and all others -inf."""

    def force(_: nn.Module, __: Any, logits: Tensor) -> Tensor:
        for change in changes:
            row = (change.token or 1) - 1  # token t is predicted from the tokens before it
            if row < logits.size(1):
                logits = logits.clone()
                logits[:, row] = -torch.inf
                logits[:, row, change.word] = 0.0
        return logits

    return force


def _whole_from_0(**numbers: object) -> None:
    whole(0, **numbers)
