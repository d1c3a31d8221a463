"""What DecodingExplorer shows: in the browser, and where no script runs (the same on every machine)."""

import base64
import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from lessons.decoding import BeamStep, Hypothesis
from lessons.vocabulary import Vocabulary
from lessons.widgets.decoding_explorer import beam_tree
from lessons.widgets.decoding_explorer.constants import DECIDES, TOP
from lessons.widgets.pictures import Panel, format_number
from lessons.wording import SEMICOLON, listed, worded


class Explorer(Protocol):
    """What is shown of a DecodingExplorer."""

    vocab: Vocabulary
    own: set[int]
    chosen: Any
    depth: Any
    width: Any
    temperature: Any
    top_k: Any
    top_p: Any
    length_penalty: Any

    @property
    def finished(self) -> bool: ...
    @property
    def logits(self) -> Tensor | None: ...
    @property
    def probabilities(self) -> Tensor | None: ...
    @property
    def next_word(self) -> int | None: ...
    @property
    def log_probs(self) -> list[float]: ...
    @property
    def sentence(self) -> list[str]: ...
    @property
    def steps(self) -> list[BeamStep]: ...
    @property
    def greedy_sentence(self) -> tuple[list[int], float]: ...
    def say(self, ids: Sequence[int]) -> str: ...


def chance(p: float) -> str:
    """A probability with two decimals, a small one with one digit."""
    return format_number(p) if p >= 0.01 or p == 0 else f"{p:.1g}".replace("e-0", "e-").replace("-", "−")


def pack_words(explorer: Explorer) -> dict[str, Any]:
    """All logits in eight bytes each, so that the browser can compute what `distribution` does, to the last digit."""
    logits = explorer.logits
    return {
        "chosen": explorer.chosen,
        "probabilities": [math.exp(x) for x in explorer.log_probs],
        "own": sorted(explorer.own),
        "logits": logits if logits is None else base64.b64encode(logits.double().numpy().tobytes()).decode(),
        "full": explorer.finished and explorer.chosen[-1:] != [explorer.vocab.eos_id],
    }


def pack_choice(explorer: Explorer) -> dict[str, Any]:
    """The method's next token, and how many tokens top_p leaves, so that the browser agrees about the edge."""
    drawn = None if explorer.finished or explorer.top_p == 1 else explorer.probabilities
    kept = None if drawn is None else int((drawn > 0).sum())
    return {**{name: getattr(explorer, name) for name in DECIDES}, "next": explorer.next_word, "kept": kept}


def pack_beam(explorer: Explorer) -> dict[str, Any]:
    chosen, log_prob = explorer.greedy_sentence
    best = explorer.steps[-1].kept[0] if explorer.depth else None
    return {
        "beam": [explorer.width, explorer.length_penalty, explorer.depth],
        "nodes": beam_tree.grow(explorer.steps),
        "best": best and {"text": explorer.say(best.ids[1:]), "log_prob": best.log_prob, "score": best.score},
        "greedy": {"text": explorer.say(chosen), "log_prob": log_prob},
        "ended": explorer.finished,
    }


def words_panel(explorer: Explorer) -> Panel:
    """The most likely next tokens, and all others in one column; or the sentence, if no token can follow."""
    logits, drawn_by = explorer.logits, explorer.probabilities
    if logits is None or drawn_by is None:
        row = torch.tensor([[math.exp(x) for x in explorer.log_probs]])
        title, names, axis = worded("The words of the sentence"), [worded("probability")], worded("word")
        return Panel("values", title, names, explorer.sentence, row, row_axis="", column_axis=axis, main=True)
    both = torch.stack([logits.double().softmax(dim=-1), drawn_by.double()])
    top = both[0].sort(descending=True, stable=True).indices[:TOP]
    top = top[both[0, top] > 0]
    others = (1 - both[:, top].sum(dim=-1, keepdim=True)).clamp(min=0).round(decimals=6)
    values = torch.cat([both[:, top], others], dim=1)
    cut = drawn_by[top] == 0
    words = zip(explorer.vocab.decode(top), cut.tolist())
    columns = [worded("{word} (cut)", word=word) if out else word for word, out in words]
    title = worded(
        "The next word: temperature {temperature}, top-k {top_k}, top-p {top_p}",
        temperature=f"{explorer.temperature:g}",
        top_k=explorer.top_k or worded("off"),
        top_p=f"{explorer.top_p:g}" if explorer.top_p < 1 else worded("off"),
    )
    rows, axes = [worded("the model's"), worded("with the options")], (worded("probability"), worded("word"))
    return Panel("weights", title, rows, [*columns, worded("all others")], values, None, *axes, main=True)


def beam_panel(explorer: Explorer) -> Panel:
    """The beam, best first."""
    title = worded(
        "A beam of {width}, length penalty {penalty}, after step {depth}",
        width=explorer.width,
        penalty=f"{explorer.length_penalty:g}",
        depth=explorer.depth,
    )
    kept = explorer.steps[-1].kept if explorer.depth else []
    rows = [explorer.say(hypothesis.ids[1:]) for hypothesis in kept] or [worded("nothing yet")]
    numbers = [[math.exp(h.log_prob), h.log_prob, h.score] for h in kept] or [[1.0, 0.0, 0.0]]
    columns = [worded("probability"), worded("its log"), worded("score")]
    axes = worded("sentence"), worded("number")
    return Panel("values", title, rows, columns, torch.tensor(numbers), None, *axes, main=True)


def word_lines(explorer: Explorer) -> list[str]:
    whose = {True: [worded("your choice")], False: []}
    words = zip(explorer.sentence, explorer.log_probs)
    return [listed([f"{word} {chance(math.exp(x))}", *whose[i in explorer.own]]) for i, (word, x) in enumerate(words)]


def beam_lines(explorer: Explorer) -> list[str]:
    def names(hypotheses: list[Hypothesis]) -> str:
        said = (f"{explorer.say(h.ids[1:])} {chance(math.exp(h.log_prob))}" for h in hypotheses)
        return listed(said, SEMICOLON) or worded("none")

    return [
        worded("kept: {kept}. Dropped: {dropped}.", kept=names(step.kept), dropped=names(step.dropped))
        for step in explorer.steps
    ]
