"""AttentionExplorer: the weights of any model, layer by layer and head by head."""

import base64
from typing import Any

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import observe, validate

from lessons import plots
from lessons._checks import switch, whole
from lessons.plots.heatmaps import WEIGHTS
from lessons.widgets.attention_explorer import heads
from lessons.widgets.attention_explorer.constants import AVERAGE, AVERAGE_NAME
from lessons.widgets.base import LessonWidget, computed, synced
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Panel
from lessons.wording import SEMICOLON, SENTENCES, counted, listed, worded

SMALL = 24  # the most rows and columns of a small map


class AttentionExplorer(LessonWidget):
    """All heads of a layer as small maps, one of them large, and lines from each token to those it attends to.

    weights: (Q, K), (H, Q, K), (B, H, Q, K) or (L, B, H, Q, K), as tensors or nested lists; a list of layers; a dict
        of attentions by name, as our Transformer gives with need_weights=True; or what a Hugging Face model returns
        with output_attentions=True. Without any: four heads of an example.
    tokens: names of the queries and keys: one list, one for each sentence, or a dict of these by the attention's
        name or its beginning. query_tokens and key_tokens, where the two differ.
    special: tokens that `hide_special` leaves out of the picture.

    `layer`, `sentence`, `head` (-1: the average of all heads), `hide_special` and `query` can be set from code.
    `weights` is what is shown. Only that, and small maps of the layer's heads, go to the browser.
    """

    _esm = front_end("attention_explorer")
    _css = style("attention_explorer")

    layer, sentence, head, hide_special, query = (synced() for _ in range(5))
    names, maps, shown = (computed() for _ in range(3))

    def __init__(
        self,
        weights: Any = None,
        tokens: Any = None,
        query_tokens: Any = None,
        key_tokens: Any = None,
        *,
        special: Any = heads.SPECIAL,
        **options: Any,
    ):
        if weights is None:
            weights, tokens = heads.example()
        self.all_weights = heads.read_weights(weights)
        self.special = frozenset(special)
        self._tokens = {}
        for name, x in self.all_weights.items():
            sides = (("query_tokens", query_tokens, x.size(2)), ("key_tokens", key_tokens, x.size(3)))
            self._tokens[name] = [
                heads.read_tokens_of(name, axis, tokens if own is None else own, x.size(0), length)
                for axis, own, length in sides
            ]
        names = list(self.all_weights)
        start = {"layer": 0, "sentence": 0, "head": 0, "hide_special": False, "query": None, **options}
        super().__init__({"names": names, "maps": {}, "shown": {}}, **start)
        self._refresh()

    # What is shown

    @property
    def name(self) -> str:
        """The name of the current layer."""
        return self.names[self.layer]

    @property
    def layer_weights(self) -> Tensor:
        """(H, Q, K), all heads of the current layer and sentence, without hidden tokens."""
        rows, columns = self._kept()
        return self.all_weights[self.name][self.sentence][:, rows][:, :, columns]

    @property
    def weights(self) -> Tensor:
        """(Q, K), the weights of the large map."""
        return self.layer_weights.mean(dim=0) if self.head == AVERAGE else self.layer_weights[self.head]

    @property
    def query_tokens(self) -> list[str]:
        return [self._tokens[self.name][0][self.sentence][i] for i in self._kept()[0]]

    @property
    def key_tokens(self) -> list[str]:
        return [self._tokens[self.name][1][self.sentence][i] for i in self._kept()[1]]

    def describe(self) -> list[str]:
        """Each head of the current layer, in a few words."""
        return [heads.describe_head(x, self.key_tokens) for x in self.layer_weights]

    def _kept(self) -> tuple[list[int], list[int]]:
        """The places of the queries and keys that are shown."""
        rows, columns = (self._places(side, self.hide_special) for side in (0, 1))
        return rows, columns

    def _places(self, side: int, hide_special: bool) -> list[int]:
        """The places of the queries (side 0) or keys (1) that are shown; all, if none would be left."""
        tokens = self._tokens[self.name][side][self.sentence]
        kept = [i for i, token in enumerate(tokens) if not (hide_special and token in self.special)]
        return kept or [*range(len(tokens))]

    # Validation

    @validate("layer", "sentence", "head")
    def _check_place(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        layer = value if name == "layer" else self.layer or 0
        whole(0, len(self.names) - 1, layer=layer)
        sentences, num_heads = self.all_weights[self.names[layer]].shape[:2]
        if name == "sentence":
            whole(0, sentences - 1, sentence=value)
        elif name == "head":
            whole(AVERAGE, num_heads - 1, head=value)
        return value

    @validate("hide_special")
    def _check_hide(self, proposal: dict) -> bool:
        switch(hide_special=proposal["value"])
        return proposal["value"]

    @validate("query")
    def _check_query(self, proposal: dict) -> int | None:
        value = proposal["value"]
        if value is not None:
            whole(0, len(self.query_tokens) - 1, query=value)
        return value

    # To the browser

    @observe("layer", "sentence", "head", "hide_special")
    def _follow(self, change: dict) -> None:
        if self.shown and not self._computing:
            with self.hold_sync():
                if change["name"] == "hide_special":
                    self._follow_query()
                self._refresh()

    def _follow_query(self) -> None:
        """The query stays with its token; none is kept if that one is now hidden."""
        before, now = (self._places(0, hidden) for hidden in (not self.hide_special, self.hide_special))
        if self.query is not None and self.query < len(before):
            place = before[self.query]
            self.query = now.index(place) if place in now else None

    def _refresh(self) -> None:
        sentences, num_heads, *_ = self.all_weights[self.name].shape
        with self._as_computed(), self.hold_sync():
            self.sentence, self.head = min(self.sentence, sentences - 1), min(self.head, num_heads - 1)
            if self.query is not None and self.query >= len(self.query_tokens):
                self.query = None
            about = {"layer": self.layer, "sentence": self.sentence, "hide_special": self.hide_special}
            if {name: self.maps.get(name) for name in about} != about:
                self.maps = {**about, **_pack_maps(self.layer_weights), "words": self.describe(), "of": sentences}
            self.shown = {**about, "head": self.head, **self._pack_shown()}

    def _pack_shown(self) -> dict[str, Any]:
        data = base64.b64encode(self.weights.float().contiguous().numpy().tobytes()).decode()
        return {"rows": self.query_tokens, "columns": self.key_tokens, "weights": data}

    # Pictures

    def _title(self) -> str:
        head = worded(AVERAGE_NAME) if self.head == AVERAGE else worded("head {head}", head=self.head)
        said = {"layer": heads.say_name(self.name), "head": head}
        if self.all_weights[self.name].size(0) > 1:
            return worded("{layer}, sentence {i}, {head}", i=self.sentence, **said)
        return worded("{layer}, {head}", **said)

    def panels(self) -> list[Panel]:
        return [Panel("weights", self._title(), self.query_tokens, self.key_tokens, self.weights, main=True)]

    def figure(self) -> Figure:
        """The weights of the large map, and the small maps of all heads."""
        layer = self.layer_weights
        across = min(len(layer), 6)
        down = -(-len(layer) // across)
        picture = Figure(figsize=(7 + 1.5 * across, max(4.2, 1.7 * down)), layout="constrained")
        subfigures: Any = picture.subfigures(1, 2, width_ratios=[7, 1.6 * across])
        large, small = subfigures
        names = {"rows": self.query_tokens, "columns": self.key_tokens}
        decimals = 2 if max(self.weights.shape) <= 12 else None
        plots.plot_weights(self.weights, ax=large.subplots(), title=self._title(), decimals=decimals, **names)
        for i, ax in enumerate(small.subplots(down, across, squeeze=False).flat):
            ax.axis("off")
            if i < len(layer):
                ax.imshow(layer[i].detach().numpy(), cmap=WEIGHTS, vmin=0, vmax=1)
                ax.set_title(worded("head {head}", head=i), fontsize=8)
        return picture

    def note(self) -> str:
        """In words: rows that don't sum to 1, and what is hidden."""
        sums = self.weights.double().sum(dim=-1)
        odd = int(((sums - 1).abs() > 1e-3).sum() + sums.isnan().sum())
        rows, columns = self._kept()
        queries, keys = (n - len(kept) for n, kept in zip(self.all_weights[self.name].shape[2:], (rows, columns)))
        said = []
        if queries + keys:
            hidden = worded(
                "Hidden: {queries} queries and {keys} keys; the other weights are unchanged.",
                queries=queries,
                keys=keys,
            )
            said.append(hidden)
        if odd:
            said.append(worded("{odd} of {count} rows do not sum to 1.", odd=odd, count=len(sums)))
        return listed(said, SENTENCES)

    def __repr__(self) -> str:
        sentences, num_heads, num_queries, num_keys = self.all_weights[self.name].shape
        size = [
            counted("{count} layer", "{count} layers", len(self.names)),
            worded("{sentences} × {heads} heads", sentences=sentences, heads=num_heads),
            worded("{queries} queries × {keys} keys", queries=num_queries, keys=num_keys),
        ]
        said = [listed(size), worded("shown: {title}", title=self._title())]
        return worded("AttentionExplorer: {what}", what=listed(said, SEMICOLON))


def _pack_maps(layer: Tensor) -> dict[str, Any]:
    """The average and all heads as bytes, 255 for the largest weight; in a large map, the largest of each patch."""
    num_heads, num_queries, num_keys = layer.shape
    maps = torch.cat([layer.mean(dim=0, keepdim=True), layer])
    small = maps.nan_to_num(0.0).float().clamp(0, 1)
    top = float(small.max()) or 1.0
    if max(num_queries, num_keys) > SMALL:
        size = (min(num_queries, SMALL), min(num_keys, SMALL))
        small = F.adaptive_max_pool2d(small[None], size)[0]
    data = (small / top * 255).round().to(torch.uint8).contiguous().numpy().tobytes()
    return {
        "heads": num_heads,
        "size": [*small.shape[1:]],
        "top": round(top, 4),
        "data": base64.b64encode(data).decode(),
    }
