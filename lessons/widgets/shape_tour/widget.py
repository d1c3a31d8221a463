"""ShapeTour: follow a batch through a Transformer, block by block."""

import base64
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from traitlets import observe, validate

from lessons._checks import whole
from lessons.config import TransformerConfig
from lessons.transformer import Transformer
from lessons.widgets.base import LessonWidget, computed, synced
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Panel
from lessons.wording import listed, marked, worded

MOST = 24  # the most rows and columns that are drawn
SOURCE = ["the cat is asleep now", "it sleeps <pad> <pad> <pad>"]
SIDES = {"encoder": marked("encoder"), "decoder": marked("decoder")}
TARGET = ["<bos> le chat dort", "<bos> il dort <pad>"]


@dataclass(frozen=True)
class Stop:
    """One stop on the way: a tensor, the names of its axes, the line of code that made it, and what it is.

    message and about are in English, for `worded`; name is the message with the number of the layer.
    """

    side: str  # "encoder" or "decoder"
    message: str
    axes: str
    code: str
    about: str
    tensor: Tensor
    layer: int | None = None

    @property
    def name(self) -> str:
        return self.message.format(i=self.layer)

    @property
    def title(self) -> str:
        """The name in the current language."""
        return worded(self.message, i=self.layer)

    @property
    def has_heads(self) -> bool:
        return "H" in self.axes


def walk(model: Transformer, src: Tensor, tgt: Tensor) -> list[Stop]:
    """Run the model once, and collect the tensors between its parts, in order."""
    kept: dict[str, Tensor] = {}
    parts = {"src": model.src_embedding, "tgt": model.tgt_embedding, "memory": model.encoder, "end": model.decoder}
    parts |= {f"encoder.{i}": layer for i, layer in enumerate(model.encoder.layers)}
    parts |= {f"decoder.{i}": layer for i, layer in enumerate(model.decoder.layers)}

    def keep(name: str):
        def hook(_: Any, __: Any, output: Any) -> None:
            kept[name] = output[0] if isinstance(output, tuple) else output

        return hook

    hooks = [part.register_forward_hook(keep(name)) for name, part in parts.items()]
    try:
        with torch.no_grad():
            logits, weights = model(src, tgt, need_weights=True)
    finally:
        for hook in hooks:
            hook.remove()
    return [*_encoder_stops(src, kept, weights), *_decoder_stops(tgt, kept, weights, logits)]


def _encoder_stops(src: Tensor, kept: dict[str, Tensor], weights: dict[str, Tensor]) -> list[Stop]:
    stop = partial(Stop, "encoder")
    text = marked("Integers, one for each token; 0 is padding.")
    stops = [stop(marked("source ids"), "B S", "src", text, src)]
    text = marked("A row for each token, its position added.")
    stops += [stop(marked("embedding"), "B S D", "x = model.src_embedding(src)", text, kept["src"])]
    for i in range(sum(name.startswith("encoder.") for name in kept)):
        name = f"encoder.{i}.self_attn"
        text = marked(
            "How much each source token attends to each source token. Nothing attends to padding: its columns are 0."
        )
        stops += [stop(marked("layer {i}: weights"), "B H S S", f'weights["{name}"]', text, weights[name], i)]
        text = marked("Attention and feed-forward, each with its residual. The shape is that of the input.")
        code = f"x, _ = model.encoder.layers[{i}](x, src_allowed)"
        stops += [stop(marked("layer {i}: out"), "B S D", code, text, kept[f"encoder.{i}"], i)]
    text = marked("The output of the encoder. Every decoder layer attends to it.")
    return [*stops, stop(marked("memory"), "B S D", "memory = model.encode(src)", text, kept["memory"])]


def _decoder_stops(tgt: Tensor, kept: dict[str, Tensor], weights: dict[str, Tensor], logits: Tensor) -> list[Stop]:
    stop = partial(Stop, "decoder")
    stops = [stop(marked("target ids"), "B T", "tgt", marked("The target tokens so far."), tgt)]
    text = marked("A row for each token, its position added; the table is the target's.")
    stops += [stop(marked("embedding"), "B T D", "x = model.tgt_embedding(tgt)", text, kept["tgt"])]
    for i in range(sum(name.startswith("decoder.") for name in kept)):
        name = f"decoder.{i}.self_attn"
        text = marked("Each target token attends to itself and to earlier ones: the causal triangle.")
        stops += [stop(marked("layer {i}: self"), "B H T T", f'weights["{name}"]', text, weights[name], i)]
        name = f"decoder.{i}.cross_attn"
        text = marked(
            "Target tokens attend to the memory: a row for each target token, a column for each source token."
        )
        stops += [stop(marked("layer {i}: cross"), "B H T S", f'weights["{name}"]', text, weights[name], i)]
        text = marked("Three sublayers, each with its residual.")
        code = f"x, _ = model.decoder.layers[{i}](x, memory, tgt_allowed, src_allowed)"
        stops += [stop(marked("layer {i}: out"), "B T D", code, text, kept[f"decoder.{i}"], i)]
    text = marked("After the decoder's last norm, if it has one.")
    stops += [stop(marked("decoder's end"), "B T D", "x, _ = model.decoder(x, memory, …)", text, kept["end"])]
    text = marked("A score for each possible next token, at each position.")
    stops += [stop(marked("logits"), "B T V", "logits = model.out_proj(x)", text, logits)]
    text = marked("Not part of the model: the scores as probabilities.")
    return [*stops, stop(marked("probabilities"), "B T V", "logits.softmax(dim=-1)", text, logits.softmax(dim=-1))]


class ShapeTour(LessonWidget):
    """A batch on its way through a Transformer: at each stop the name, the shape, the code and the tensor.

    model: a Transformer, without dropout or in eval mode; a small one with random weights unless given.
    src (B, S), tgt (B, T): ids; source_tokens, target_tokens: their names, B lists. Give all of these or none.

    `step`, `sentence` and `head` can be set from code; `stops` holds the tensors themselves.
    """

    _esm = front_end("shape_tour")
    _css = style("shape_tour")

    step, sentence, head = (synced() for _ in range(3))
    sizes, way, shown = (computed() for _ in range(3))

    def __init__(
        self,
        model: Transformer | None = None,
        src: Tensor | None = None,
        tgt: Tensor | None = None,
        source_tokens: Any = None,
        target_tokens: Any = None,
        **options: Any,
    ):
        if model is None and src is None and tgt is None:
            model, src, tgt, source_tokens, target_tokens = _example()
        if model is None or src is None or tgt is None:
            missing = next(name for name, x in (("model", model), ("src", src), ("tgt", tgt)) if x is None)
            raise ValueError(f"{missing} is None; expected model, src and tgt together, or none of them")
        if not isinstance(model, Transformer):
            raise ValueError(f"model is a {type(model).__name__}; expected a Transformer")
        self.stops = walk(model, src, tgt)
        self._names = {
            "S": _read_names(source_tokens, src, "source_tokens"),
            "T": _read_names(target_tokens, tgt, "target_tokens"),
        }
        way = [[s.title, s.side, s.axes, list(s.tensor.shape), s.code, worded(s.about)] for s in self.stops]
        sizes = [len(src), model.config.num_heads]
        start = {"step": 0, "sentence": 0, "head": 0, **options}
        super().__init__({"way": way, "sizes": sizes, "shown": {}}, **start)
        self._refresh()

    @property
    def stop(self) -> Stop:
        """The current stop."""
        return self.stops[self.step]

    @property
    def matrix(self) -> Tensor:
        """(rows, columns), the part that is drawn: one sentence, and one head if there are heads."""
        tensor = self.stop.tensor[self.sentence]
        if self.stop.has_heads:
            tensor = tensor[self.head]
        return tensor[None] if tensor.dim() == 1 else tensor

    def _labels(self, axis: str, length: int) -> list[str]:
        names = self._names[axis][self.sentence] if axis in self._names else [str(i) for i in range(length)]
        return names[:MOST]

    def _drawn(self) -> Panel:
        values = self.matrix[:MOST, :MOST]
        axes = self.stop.axes.split()
        rows, columns = axes[-2:] if len(axes) > 2 else ("B", axes[-1])
        names = {
            "S": worded("source"),
            "T": worded("target"),
            "D": worded("feature"),
            "V": worded("token"),
            "B": worded("sentence"),
        }
        row_names = [str(self.sentence)] if rows == "B" else self._labels(rows, len(values))
        are_weights = self.stop.has_heads or self.stop.name == "probabilities"
        tone = "ids" if rows == "B" else "weights" if are_weights else "values"
        labels, axes = self._labels(columns, values.size(1)), (names[rows], names[columns])
        cut = self.matrix.size(1) > MOST
        return Panel(tone, self.stop.title, row_names, labels, values.float(), None, *axes, main=True, cut=cut)

    # Validation

    @validate("step", "sentence", "head")
    def _check_place(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        limit = {"step": len(self.stops), "sentence": self.sizes[0], "head": self.sizes[1]}[name]
        whole(0, limit - 1, **{name: value})
        return value

    @observe("step", "sentence", "head")
    def _follow(self, _: dict) -> None:
        if self.shown:
            self._refresh()

    def _refresh(self) -> None:
        panel = self._drawn()
        shown = {
            "at": [self.step, self.sentence, self.head],
            "tone": panel.tone,
            "rows": panel.rows,
            "columns": panel.columns,
            "axes": [panel.row_axis, panel.column_axis],
            "data": _pack(panel.values),
            "sums": _pack(self.matrix[:MOST].float().sum(dim=-1)),  # of whole rows
            "more": max(self.matrix.shape) > MOST,
        }
        self._compute(shown=shown)

    # Pictures

    def panels(self) -> list[Panel]:
        return [self._drawn()]

    def lines(self) -> list[str]:
        """All stops with their shapes."""
        return [
            worded(
                "{where}: {what}",
                where=listed([worded(SIDES[s.side]), s.title]),
                what=f"({', '.join(s.axes.split())}) = {tuple(s.tensor.shape)}",
            )
            for s in self.stops
        ]

    def __repr__(self) -> str:
        said = [
            worded("stop {stop} of {count}", stop=self.step + 1, count=len(self.stops)),
            worded(SIDES[self.stop.side]),
            self.stop.title,
            str(tuple(self.stop.tensor.shape)),
        ]
        return worded("ShapeTour: {what}", what=listed(said))


def _example() -> tuple[Transformer, Tensor, Tensor, list[list[str]], list[list[str]]]:
    """A small model with random weights, and two sentences of different lengths."""
    sides = [[sentence.split() for sentence in side] for side in (SOURCE, TARGET)]
    words = [["<pad>", *sorted({w for s in side for w in s} - {"<pad>"})] for side in sides]
    src, tgt = (torch.tensor([[w.index(t) for t in s] for s in side]) for side, w in zip(sides, words))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = TransformerConfig(
            len(words[0]), len(words[1]), 12, 3, num_layers=2, d_ff=16, dropout=0.0, norm_first=True
        )
        model = Transformer(config).eval()
    return model, src, tgt, sides[0], sides[1]


def _pack(numbers: Tensor) -> str:
    """Floats as the browser reads them."""
    return base64.b64encode(numbers.contiguous().numpy().tobytes()).decode()


def _read_names(names: Any, ids: Tensor, name: str) -> list[list[str]]:
    if names is None:
        return [[str(i) for i in row] for row in ids.tolist()]
    sentences = [list(sentence) for sentence in names]
    if [len(sentence) for sentence in sentences] != [ids.size(1)] * len(ids):
        raise ValueError(f"{name} is {names!r}; expected {len(ids)} lists of {ids.size(1)} tokens")
    return [[str(token) for token in sentence] for sentence in sentences]
