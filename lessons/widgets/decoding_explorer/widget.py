"""DecodingExplorer: generate a sentence step by step, and see what each method chooses from."""

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from traitlets import observe, validate

from lessons._checks import between, one_of, whole
from lessons.decoding import BeamStep, Cached, distribution
from lessons.decoding.decoders import has_hooks
from lessons.language_model import Reader
from lessons.vocabulary import Vocabulary
from lessons.widgets.base import BadValue, LessonWidget, computed, synced
from lessons.widgets.decoding_explorer import generation, views
from lessons.widgets.decoding_explorer.constants import BEAM, GREEDY, LIMITS, MAX_WIDTH, METHODS, SAMPLING
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Panel
from lessons.widgets.shared.alone import page, separator
from lessons.widgets.shared.weights import pack
from lessons.wording import counted, listed, worded


class DecodingExplorer(LessonWidget):
    """A sentence, token by token: by greedy decoding, sampling, or beam search.

    make_decoder: a function without arguments that makes a decoder of one sentence, as `lambda: Cached(model, src)`,
        `lambda: Reader(model)` of a language model, or `lambda: Table(next_word)`. vocab: its vocabulary. Give both or
        neither.
    join: makes a text of words. max_len: the most tokens after BOS.
    With a model that is `Cached`, or a language model's `Reader`, `to_html()` is a page that is alive, without Python
    and without a network; sampling draws other words there.

    method: "greedy", "beam" or "sampling". temperature 0.1–3, top_k (0: all words) and top_p (1: all words) are those
    of `sample`, width 1–5 and length_penalty 0–2 those of `beam`; seed is that of the draws.
    chosen: the ids after BOS, of greedy and sampling. depth: how many steps of the beam are shown; more
    than there are means all.

    `step()`, `back()`, `to_the_end()` and `start_again()` do what the buttons do; `sentence`, `text`, `probability`,
    `probabilities` and `steps` are what is shown, computed by lessons.decoding.
    """

    _esm = front_end("decoding_explorer")
    _css = style("decoding_explorer")

    method, temperature, top_k, top_p, width, length_penalty, seed = (synced() for _ in range(7))
    chosen, depth = synced(), synced()
    words, shown, choice = (computed() for _ in range(3))
    _beside = ("own",)

    def __init__(
        self,
        make_decoder: generation.MakeDecoder | None = None,
        vocab: Vocabulary | None = None,
        *,
        join: Callable[[Sequence[str]], str] = " ".join,
        max_len: int = 20,
        **options: Any,
    ):
        if make_decoder is None and vocab is None:
            make_decoder, vocab = generation.example()
        if make_decoder is None or vocab is None:
            name = "make_decoder" if make_decoder is None else "vocab"
            raise ValueError(f"{name} is None; expected make_decoder and vocab together, or neither of them")
        generation.check_parts(make_decoder, vocab)
        whole(1, 200, max_len=max_len)
        self.vocab, self.join, self.max_len = vocab, join, max_len
        self._make_decoder, self._reader = make_decoder, generation.Reader(make_decoder, vocab)
        self.own: set[int] = set()  # places in `chosen` of tokens that the method would not have taken
        self._writing = False
        self._search = self._greedy = None
        start = {"method": GREEDY, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "width": 2, "length_penalty": 1.0}
        start |= {"seed": 0, "chosen": [], "depth": 0, **options}
        super().__init__({"words": list(vocab.words), "shown": {}, "choice": {}}, **start)
        self._refresh()

    # What the state means

    @property
    def options(self) -> dict[str, Any]:
        """As `sample` and `distribution` take them."""
        top_p = self.top_p if self.top_p < 1 else None
        return {"temperature": self.temperature, "top_k": self.top_k or None, "top_p": top_p}

    @property
    def finished(self) -> bool:
        """True = no token can follow: there is an EOS, or max_len tokens."""
        if self.method == BEAM:
            search = self._searched()
            return self.depth == self.max_len or (search.ended and self.depth == len(search.steps))
        return self._is_full(self.chosen)

    @property
    def logits(self) -> Tensor | None:
        """(V,), of the token after `chosen`; None if none can follow."""
        return None if self._is_full(self.chosen) else self._logits()[-1]

    @property
    def probabilities(self) -> Tensor | None:
        """(V,), of the token after `chosen`, with temperature, top_k and top_p; None if none can follow."""
        logits = self.logits
        return None if logits is None else distribution(logits, **self.options)

    @property
    def next_word(self) -> int | None:
        """The id that greedy or sampling would take next; None if none can follow."""
        if self.logits is None:
            return None
        if self.method == SAMPLING:
            return generation.draw_last(self._logits(), self.seed, self.options)
        return int(self.logits.argmax())

    @property
    def steps(self) -> list[BeamStep]:
        """The steps of the beam that are shown."""
        return self._searched().up_to(self.depth)

    @property
    def sentence(self) -> list[str]:
        """The tokens so far, EOS included; of a beam, those of its best hypothesis."""
        return self.vocab.decode(self._ids())

    @property
    def text(self) -> str:
        """The text so far, without special tokens."""
        special = {self.vocab.pad_id, self.vocab.bos_id, self.vocab.eos_id}
        return self.join(self.vocab.decode([i for i in self._ids() if i not in special]))

    @property
    def log_prob(self) -> float:
        """Of the tokens so far, by the model itself: without temperature, top_k and top_p."""
        if self.method == BEAM:
            return self.steps[-1].kept[0].log_prob if self.depth else 0.0
        return sum(self.log_probs)

    @property
    def probability(self) -> float:
        return math.exp(self.log_prob)

    def _ids(self) -> list[int]:
        if self.method == BEAM:
            return list(self.steps[-1].kept[0].ids[1:]) if self.depth else []
        return self.chosen

    def _logits(self) -> list[Tensor]:
        return self._reader.after(self.chosen[:-1] if self._is_full(self.chosen) else self.chosen)

    @property
    def log_probs(self) -> list[float]:
        """Of each token of `chosen`, by the model itself."""
        return generation.log_prob(self._logits(), self.chosen)

    def _is_full(self, chosen: list[int]) -> bool:
        return len(chosen) == self.max_len or chosen[-1:] == [self.vocab.eos_id]

    def _searched(self) -> generation.Search:
        options = {"width": self.width, "length_penalty": self.length_penalty, "max_len": self.max_len}
        if self._search is None or self._search[0] != options:
            self._search = (options, generation.Search(self._make_decoder, self.vocab, **options))
        return self._search[1]

    @property
    def greedy_sentence(self) -> tuple[list[int], float]:
        """The ids of greedy decoding after BOS, and the log of their probability, for comparison."""
        if self._greedy is None:
            self._greedy = generation.generate_greedily(self._make_decoder, self.vocab, self.max_len)
        return self._greedy

    # The buttons

    def step(self) -> None:
        """One more token, or one more step of the beam."""
        if self.method == BEAM:
            self.depth = min(self.depth + 1, self.max_len)
        elif (word := self.next_word) is not None:
            self._write(word)

    def back(self) -> None:
        if self.method == BEAM:
            self.depth = max(0, self.depth - 1)
        else:
            self.chosen = self.chosen[:-1]

    def to_the_end(self) -> None:
        if self.method == BEAM:
            self.depth = self.max_len
        else:
            with self.hold_sync():
                while (word := self.next_word) is not None:
                    self._write(word)

    def start_again(self) -> None:
        if self.method == BEAM:
            self.depth = 0
        else:
            self.chosen = []

    def _write(self, word: int) -> None:
        """A token that the method chose; any other is the learner's."""
        self._writing = True
        try:
            self.chosen = [*self.chosen, word]
        finally:
            self._writing = False

    def answer(self, question: Any) -> dict[str, Any]:
        acts = {"step": self.step, "back": self.back, "end": self.to_the_end, "again": self.start_again}
        one_of(acts, question=question)
        try:
            acts[question]()
        except ValueError as error:
            return {"problem": str(error)}
        return {"done": question}

    # Validation

    @validate("method")
    def _check_method(self, proposal: dict) -> str:
        one_of(METHODS, method=proposal["value"])
        return proposal["value"]

    @validate("temperature", "top_p", "length_penalty")
    def _check_number(self, proposal: dict) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        between(*LIMITS[name], **{name: value})
        return value

    @validate("top_k", "width", "seed")
    def _check_whole(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {"top_k": (0, len(self.vocab)), "width": (1, MAX_WIDTH), "seed": (0, 2**31 - 1)}[name]
        whole(low, high, **{name: value})
        return value

    @validate("chosen")
    def _check_chosen(self, proposal: dict) -> list[int]:
        """The decoder reads it here, so that ids it can't read are refused."""
        value = proposal["value"]
        if not isinstance(value, list | tuple) or len(value) > self.max_len:
            raise ValueError(f"chosen is {value!r}; expected a list of up to {self.max_len} ids")
        for word in value:
            whole(0, len(self.vocab) - 1, **{"an id of chosen": word})
        chosen = list(value)
        if self.vocab.eos_id in chosen[:-1]:
            raise ValueError(f"chosen is {value!r}; expected no token after EOS, id {self.vocab.eos_id}")
        self._reader.after(chosen[:-1] if self._is_full(chosen) else chosen)
        return chosen

    @validate("depth")
    def _check_depth(self, proposal: dict) -> int:
        whole(0, self.max_len, depth=proposal["value"])
        return len(self._searched().up_to(proposal["value"]))

    # To the browser

    @observe("method", "temperature", "top_k", "top_p", "width", "length_penalty", "seed", "chosen", "depth")
    def _follow(self, change: dict) -> None:
        if change["name"] == "chosen":
            self._mark_own(change["old"] or [], change["new"])
        if not self.shown:
            return
        try:
            self._refresh()
        except ValueError as error:
            raise BadValue(str(error)) from None

    def set_state(self, sync_data: Any) -> None:
        """A token clicked just before an answer arrived is sent again: it is later than that answer."""
        super().set_state(sync_data)
        if "chosen" in sync_data:
            self.send_state(["chosen"])

    def _mark_own(self, old: list[int], new: list[int]) -> None:
        shared = generation.count_shared(old, new)
        added = set() if self._writing else set(range(shared, len(new)))
        self.own = {i for i in self.own if i < shared} | added

    def _refresh(self) -> None:
        if self.method == BEAM:
            self.depth = self.depth  # a narrower beam may have fewer steps
            self._compute(shown=views.pack_beam(self), choice={})
        else:
            self._compute(shown=views.pack_words(self), choice=views.pack_choice(self))

    def say(self, ids: Sequence[int]) -> str:
        """The text, with EOS after it."""
        special = {self.vocab.pad_id, self.vocab.eos_id}
        text = self.join([self.vocab.words[i] for i in ids if i not in special])
        ended = self.vocab.eos_id in ids
        return f"{text} {self.vocab.words[self.vocab.eos_id]}".strip() if ended else text

    # Without Python

    def alone(self) -> dict[str, Any]:
        """The model and the sentence, if there is a model to read: a Table or a hook is known to Python only."""
        decoder = self._make_decoder()
        if not isinstance(decoder, Cached | Reader) or has_hooks(decoder.model.modules()):
            return {}
        packed, numbers = pack(decoder.model)
        special = {"bos": self.vocab.bos_id, "eos": self.vocab.eos_id, "pad": self.vocab.pad_id}
        sentence = {"longest": self.max_len, "join": separator(self.join)}
        source = {"src": decoder.src[0].tolist()} if isinstance(decoder, Cached) else {}
        return {"about": packed | special | sentence | source, "weights": base64.b64encode(numbers).decode()}

    def to_html(self) -> str:
        """A page that is alive where there is a model; else, tables that need no script."""
        return page(self, repr(self)) if self.alone() else super().to_html()

    # Pictures

    def panels(self) -> list[Panel]:
        return [views.beam_panel(self) if self.method == BEAM else views.words_panel(self)]

    def note(self) -> str:
        """What greedy decoding generates, for comparison with a beam."""
        if self.method != BEAM:
            return ""
        chosen, log_prob = self.greedy_sentence
        return worded(
            "Greedy, for comparison: {text} ({probability})",
            text=self.say(chosen),
            probability=views.chance(math.exp(log_prob)),
        )

    def lines(self) -> list[str]:
        """Each step in words."""
        return views.beam_lines(self) if self.method == BEAM else views.word_lines(self)

    def __repr__(self) -> str:
        if self.method == BEAM:
            name = worded("beam of {width}, step {depth}", width=self.width, depth=self.depth)
        else:
            name = listed([worded(self.method), counted("{count} word", "{count} words", len(self.chosen))])
        written = f"{self.say(self._ids())} ({views.chance(self.probability)})" if self._ids() else ""
        return worded("DecodingExplorer: {name}: {written}", name=name, written=written or worded("no tokens yet"))
