"""MaskStudio: build a mask from rules and clicks, and see what it does to scores, weights and output."""

import reprlib
from typing import Any

from torch import Tensor
from traitlets import observe, validate

from lessons._checks import one_of, whole
from lessons.masks import combine
from lessons.widgets.base import LessonWidget, as_tensor, synced, to_tensor
from lessons.widgets.front_end import front_end, style
from lessons.widgets.mask_studio.constants import ADVICE, CAUSAL, HISTORY, MAX_SIZE, PACKED, RULES
from lessons.widgets.mask_studio.patterns import PATTERNS, read_text
from lessons.widgets.mask_studio.snippets import write_snippets
from lessons.widgets.pictures import Panel
from lessons.widgets.shared import constants, rules
from lessons.wording import SEMICOLON, counted, listed, worded

SOURCE = "the cat is asleep <pad> <pad>"
TARGET = "<bos> le chat dort <pad>"
VALUE_DIM = 3
ALIASES = {"-inf": constants.INFINITE, "-1e9": constants.BILLION, "additive 0, -inf": constants.ADDITIVE}


class MaskStudio(LessonWidget):
    """Rules and clicks -> mask -> scores -> weights -> output, next to each other; every click takes effect at once.

    source, target: two sentences, each a text, a list of tokens or a number of tokens; "<pad>" is padding.
    kind: one of shared.constants.KINDS; it decides which tokens are queries and keys, and whether the rule applies.
    rule: of decoder self-attention, one of constants.RULES; size: its window, prefix, stride or chunk, 1 to 16.
    scores (Q, K) and values (K, d_v): tensors or nested lists; drawn from a fixed seed unless given.

    `edits` are the learner's clicks, pairs [query, key] that are inverted against the rules. All traits can
    be set from code. `allowed`, `mask()`, `weights` and `output` are computed by torch.
    """

    _esm = front_end("mask_studio")
    _css = style("mask_studio")

    source, target, kind, rule, size, edits, history, convention, fill = (synced() for _ in range(9))
    scores, values = as_tensor(synced()), as_tensor(synced())
    _beside = ("_own",)

    def __init__(
        self,
        source: Any = None,
        target: Any = None,
        kind: str = constants.DECODER,
        scores: Any = None,
        values: Any = None,
        rule: str = CAUSAL,
        size: int = 2,
        **options: Any,
    ):
        source = rules.read_tokens(SOURCE if source is None else source, "source")
        target = rules.read_tokens(TARGET if target is None else target, "target")
        kind = _one_of(constants.KINDS, kind, "kind")
        num_queries, num_keys = map(len, rules.queries_and_keys(source, target, kind))
        self._own: dict[str, Tensor] = {}
        super().__init__(
            source=source,
            target=target,
            kind=kind,
            rule=rule,
            size=size,
            edits=[],
            history=[],
            convention=constants.ALLOWED,
            fill=constants.INFINITE,
            scores=rules.seeded(num_queries, num_keys, seed=0) if scores is None else scores,
            values=rules.seeded(num_keys, VALUE_DIM, seed=1) if values is None else values,
            **options,
        )
        self._own = {"scores": self.scores, "values": self.values}

    # What the state means

    @property
    def query_tokens(self) -> list[str]:
        return rules.queries_and_keys(self.source, self.target, self.kind)[0]

    @property
    def key_tokens(self) -> list[str]:
        return rules.queries_and_keys(self.source, self.target, self.kind)[1]

    @property
    def rule_masks(self) -> dict[str, Tensor]:
        """Each rule by its name: `allowed` (Q, K), True = may attend."""
        padding = {"padding": rules.padding(self.query_tokens, self.key_tokens)}
        if self.kind != constants.DECODER:
            return padding
        return padding | {self.rule: PATTERNS[self.rule].build(read_text(self.key_tokens, self.size))}

    @property
    def allowed(self) -> Tensor:
        """(Q, K) bool, True = this query may attend to this key: all rules, then the clicks."""
        allowed = combine(*self.rule_masks.values())
        assert allowed is not None  # there is always a rule
        return rules.toggle(allowed, self.edits)

    def mask(self) -> Tensor:
        """`allowed` in the chosen convention."""
        return rules.in_convention(self.allowed, self.convention)

    @property
    def filled(self) -> Tensor:
        """(Q, K), the scores as they go into the softmax."""
        return rules.fill_scores(self.scores, self.allowed, self.fill)

    @property
    def weights(self) -> Tensor:
        """(Q, K), as torch computes them with the chosen fill."""
        return rules.fill_weights(self.scores, self.allowed, self.fill)

    @property
    def output(self) -> Tensor:
        """(Q, d_v)"""
        return self.weights @ self.values

    @property
    def empty_rows(self) -> list[int]:
        """The queries with no allowed key."""
        return (~self.allowed.any(dim=-1)).nonzero()[:, 0].tolist()

    def snippets(self) -> dict[str, str]:
        """Code that builds this mask, for each library; snippets.VARIABLES has the name of the variable it defines."""
        pattern, text = PATTERNS[self.rule], read_text(self.key_tokens, self.size)
        return write_snippets(self.query_tokens, self.key_tokens, self.kind, self.edits, pattern, text)

    # Clicks

    def toggle(self, q: int, k: int) -> None:
        """Invert the pair of query q and key k, as a click does."""
        self.edits = rules.difference(self.edits, self._pairs([[q, k]]))

    def undo(self) -> None:
        """Undo the last step; a stroke over many cells is one step."""
        if self.history:
            *before, step = self.history
            self._restore(edits=rules.difference(self.edits, step), history=before)

    def reset(self) -> None:
        """Undo all clicks. This can be undone."""
        self.edits = []

    @observe("edits")
    def _remember(self, change: dict) -> None:
        if not self._replaying and isinstance(change["old"], list):
            step = rules.difference(change["old"], change["new"])
            self.history = [*self.history, step][-HISTORY:] if step else self.history

    # Sizes

    @observe("source", "target", "kind")
    def _fit(self, _: dict) -> None:
        """Another number of queries or keys: clicks outside are dropped, scores and values are drawn or restored."""
        shapes = {
            "scores": (len(self.query_tokens), len(self.key_tokens)),
            "values": (len(self.key_tokens), self.values.size(-1)),
        }
        if all(getattr(self, name).shape == shape for name, shape in shapes.items()):
            return
        state: dict[str, Any] = {}
        for seed, (name, shape) in enumerate(shapes.items()):
            own = self._own[name]
            state[name] = own if own.shape == shape else rules.seeded(*shape, seed=seed)
        inside = [[q, k] for q, k in self.edits if q < len(self.query_tokens) and k < len(self.key_tokens)]
        own = self._own
        self._restore(**state, edits=inside, history=[])
        self._own = own

    @observe("scores", "values")
    def _keep(self, change: dict) -> None:
        self._own = {**self._own, change["name"]: change["new"]}

    # Validation

    @validate("source", "target")
    def _check_tokens(self, proposal: dict) -> list[str]:
        return rules.read_tokens(proposal["value"], proposal["trait"].name)

    @validate("rule")
    def _check_rule(self, proposal: dict) -> str:
        return _one_of(RULES, proposal["value"], "rule")

    @validate("size")
    def _check_size(self, proposal: dict) -> int:
        whole(1, MAX_SIZE, size=proposal["value"])
        return proposal["value"]

    @validate("kind", "convention", "fill")
    def _check_choice(self, proposal: dict) -> str:
        name = proposal["trait"].name
        choices = {"kind": constants.KINDS, "convention": constants.CONVENTIONS, "fill": constants.FILLS}[name]
        return _one_of(choices, proposal["value"], name)

    @validate("edits")
    def _check_edits(self, proposal: dict) -> list[list[int]]:
        return rules.difference(self._pairs(proposal["value"]), [])

    @validate("history")
    def _check_history(self, proposal: dict) -> list[list[list[int]]]:
        if not isinstance(proposal["value"], list | tuple):
            wanted = "a list of steps, each a list of pairs"
            raise ValueError(f"history is {reprlib.repr(proposal['value'])}; expected {wanted}")
        return [self._pairs(step) for step in proposal["value"]][-HISTORY:]

    def _pairs(self, edits: Any) -> list[list[int]]:
        """The pairs, if they are pairs of numbers inside the mask."""
        if not isinstance(edits, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in edits):
            raise ValueError(f"edits is {reprlib.repr(edits)}; expected a list of pairs [query, key]")
        for q, k in edits:
            whole(0, len(self.query_tokens) - 1, q=q)
            whole(0, len(self.key_tokens) - 1, k=k)
        return [list(pair) for pair in edits]

    @validate("scores", "values")
    def _check_matrix(self, proposal: dict) -> Tensor:
        name, value = proposal["trait"].name, proposal["value"]
        matrix = to_tensor(value, name)
        keys = len(self.key_tokens)
        rows, columns = (len(self.query_tokens), keys) if name == "scores" else (keys, None)
        wanted = f"({rows}, {columns}), queries × keys" if columns else f"({rows}, d_v), keys × features"
        if matrix.dim() != 2 or matrix.size(0) != rows or matrix.size(1) != (columns or max(1, matrix.size(1))):
            raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected {wanted}")
        return matrix

    # What is shown

    def answer(self, question: Any) -> dict[str, Any]:
        one_of(["snippets"], question=question)
        return {"snippets": self.snippets()}

    def panels(self) -> list[Panel]:
        """Mask, scores as filled, weights and output."""
        queries, keys, blocked = self.query_tokens, self.key_tokens, ~self.allowed
        features = [str(i) for i in range(self.values.size(-1))]
        mask = worded("mask ({convention})", convention=worded(self.convention))
        scores = worded("scores as filled ({fill})", fill=worded(self.fill))
        return [
            Panel("mask", mask, queries, keys, self.mask(), blocked),
            Panel("scores", scores, queries, keys, self.filled, blocked),
            Panel("weights", worded("weights"), queries, keys, self.weights, blocked, main=True),
            Panel("values", worded("output"), queries, features, self.output, column_axis=worded("feature")),
        ]

    def note(self) -> str:
        """In words: which queries have no allowed key, and what happens to them; empty if there are none."""
        names = listed(f"{row} “{self.query_tokens[row]}”" for row in self.empty_rows)
        advice = worded(ADVICE)
        return worded("May attend to nothing: query {names}. {advice}", names=names, advice=advice) if names else ""

    def _name_rule(self) -> list[str]:
        if self.kind != constants.DECODER or self.rule == CAUSAL:
            return []
        name = worded(self.rule)
        return [name if self.rule == PACKED else worded("{rule} {size}", rule=name, size=self.size)]

    def __repr__(self) -> str:
        allowed = self.allowed
        queries, keys = allowed.shape
        said = [
            worded(self.kind),
            *self._name_rule(),
            worded("{queries} queries × {keys} keys", queries=queries, keys=keys),
            worded("{count} of {total} pairs may attend", count=int(allowed.sum()), total=allowed.numel()),
            counted("{count} click", "{count} clicks", len(self.edits)),
            worded("fill {fill}", fill=worded(self.fill)),
        ]
        found = [worded("MaskStudio: {what}", what=listed(said))]
        if self.empty_rows:
            found.append(worded("may attend to nothing: query {names}", names=listed(map(str, self.empty_rows))))
        return listed(found, SEMICOLON)


def _one_of(choices: tuple[str, ...], value: Any, name: str) -> str:
    value = ALIASES.get(value, value) if isinstance(value, str) else value
    one_of(choices, **{name: value})
    return value
