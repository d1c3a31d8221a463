"""ModelStudio: a whole trained model on one screen, in which everything can be changed, and the translation answers."""

import base64
import difflib
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Any as AnyTrait
from traitlets import observe, validate

from lessons._checks import between, refusal, switch, whole
from lessons.evaluation import evaluating, generate_all
from lessons.interventions import Change, intervene, places_of
from lessons.pretrained import load_translator
from lessons.tasks import Task
from lessons.transformer import Transformer
from lessons.vocabulary import SPECIAL
from lessons.widgets.base import LessonWidget, computed, synced
from lessons.widgets.front_end import front_end, style
from lessons.widgets.model_studio import splitting
from lessons.widgets.model_studio.constants import HIGHEST, HISTORY, LIKENESS, LONGEST, LOWEST, MOST_CHANGES, NEAR
from lessons.widgets.pictures import Panel, figure
from lessons.widgets.shared.alone import page, separator
from lessons.widgets.shared.weights import pack
from lessons.wording import SENTENCES, counted, listed, marked, worded

SENTENCE = "The teacher will not drink tea at school tomorrow."
STEP = 2  # the word for "not"
STATIONS = 7  # of the tour, besides the sublayers
FIELDS = [field.name for field in fields(Change)]
OWN_MODEL = marked("model, task: those that ModelStudio was given")
SHIPPED_MODEL = "from lessons.pretrained import load_translator\n\nmodel, task = load_translator()\n"


class ModelStudio(LessonWidget):
    """A sentence, its translation, and the whole model in between, computed in the browser.

    model, task: any Transformer and the Task that it was trained on; without them, the translator that comes with the
        package. The browser gets the weights as they are now.
    sentence: a text in the words of the task. A word that it doesn't know is read as <unk>.
    changes: a list of `lessons.interventions.Change`, or of dicts with a Change's fields and "on"; those that are not
        "on" do nothing.

    place and head: what is looked into, "" for nothing. station: where the tour stands, -1 for no tour. step: the word
    of the translation whose candidates are shown, from 0. temperature: that of the candidates. `undo()`, `redo()` and
    `reset()` work on sentence and changes. All traits can be set from code.

    `translation` and `untouched` are computed by torch, with the changes and without; `code()` is Python that makes the
    same changes. `to_html()` is a page that is alive, without Python and without a network.
    """

    _esm = front_end("model_studio")
    _css = style("model_studio")

    sentence, changes, place, head, station, history, future = (synced() for _ in range(7))
    step, temperature = synced(), synced()
    tokens, draft = computed(), computed()
    about, weights = (AnyTrait(read_only=True).tag(sync=True) for _ in range(2))
    _moving = _following = False  # while steps are undone or done again; because the browser has done so
    _generated: dict[str, Tensor] | None = None  # by changes, while one picture is made

    def __init__(
        self,
        model: Transformer | None = None,
        task: Task | None = None,
        sentence: str | None = None,
        changes: Any = (),
        **options: Any,
    ):
        if (model is None) != (task is None):
            name = "model" if model is None else "task"
            raise ValueError(f"{name} is None; expected model and task together, or neither of them")
        self._is_shipped = model is None
        if model is None or task is None:
            model, task = load_translator()
            sentence = SENTENCE if sentence is None else sentence
        if not isinstance(model, Transformer):
            raise refusal("model", model, "a lessons.transformer.Transformer")
        if not isinstance(task, Task):
            raise refusal("task", task, "a lessons.tasks.Task")
        if sentence is None:
            (sentence, _), *_ = task.examples(1, torch.Generator().manual_seed(0), "held_out")
        self.model, self.task = model, task
        self.places = places_of(model)
        self.longest = min(model.config.max_len, LONGEST)
        packed, numbers = pack(model)
        self.set_trait("about", packed | self._vocabularies())
        self.set_trait("weights", base64.b64encode(numbers).decode())
        start = {"place": self.places[-2], "head": 0, "station": -1, "step": STEP, "temperature": 1.0}
        start |= {"history": [], "future": [], **options}
        super().__init__({"tokens": [], "draft": []}, sentence=sentence, changes=changes, **start)
        self._compute(tokens=self.words_of(self.sentence))

    def _vocabularies(self) -> dict[str, Any]:
        src, tgt = self.task.src_vocab, self.task.tgt_vocab
        return {
            "words": {"src": src.words, "tgt": tgt.words},
            "unk": src.unk_id,
            "bos": tgt.bos_id,
            "eos": tgt.eos_id,
            "longest": self.longest,
            "split": splitting.name_of(self.task),
            "join": separator(self.task.writing("tgt").join),
            "head": self._head(),
        }

    # What the state means

    @property
    def active(self) -> list[Change]:
        """The changes that are on."""
        return [_as_change(change) for change in self.changes if change["on"]]

    @property
    def translation(self) -> str:
        """The model's translation with the changes."""
        return self.task.decode(self._generate(self.active)[0])

    @property
    def untouched(self) -> str:
        """The model's translation without the changes."""
        return self.task.decode(self._generate([])[0])

    def _generate(self, changes: list[Change]) -> Tensor:
        """The ids that the model writes, (1, T), BOS first."""
        known = {} if self._generated is None else self._generated
        if str(changes) not in known:
            src = torch.tensor([self.task.encode(self.sentence)])
            with intervene(self.model, changes):
                known[str(changes)] = generate_all(self.model, src, self.task, max_len=self.longest)
        return known[str(changes)]

    def words_of(self, sentence: str) -> list[str]:
        """The tokens of a sentence, as the task splits it."""
        return splitting.split(self.task, sentence)

    @property
    def unknown(self) -> dict[str, list[str]]:
        """The words that the model doesn't know, and for each the known ones that are most like it."""
        known = [word for word in self.task.src_vocab.words if word not in SPECIAL]
        strange = dict.fromkeys(token for token in self.words_of(self.sentence) if token not in known)
        return {word: difflib.get_close_matches(word, known, NEAR, LIKENESS) for word in strange}

    def code(self) -> str:
        """Python that makes the same changes and prints the same translation."""
        lines = [f"    {_written(change)},\n" for change in self.active]
        changes = f"[\n{''.join(lines)}]" if lines else "[]"
        return (
            "from lessons.evaluation import translate\nfrom lessons.interventions import Change, intervene\n"
            f"{self._head()}changes = {changes}\nwith intervene(model, changes):\n"
            f"    print(translate(model, [{splitting.quoted(self.sentence)}], task, max_len={self.longest})[0])\n"
        )

    def _head(self) -> str:
        """The lines of `code()` that say where the model comes from."""
        return SHIPPED_MODEL if self._is_shipped else f"# {worded(OWN_MODEL)}\n"

    # Steps

    def undo(self) -> None:
        """Undo the last step."""
        self._move("history", "future")

    def redo(self) -> None:
        """Do again what was undone last."""
        self._move("future", "history")

    def reset(self) -> None:
        """Take all changes back. This can be undone."""
        self.changes = []

    def _move(self, source: str, target: str) -> None:
        if not getattr(self, source):
            return
        *rest, step = getattr(self, source)
        back = {name: getattr(self, name) for name in step}
        self._moving = True
        try:
            self._restore(**step, **{source: rest, target: [*getattr(self, target), back]})
        finally:
            self._moving = False

    @observe("sentence", "changes")
    def _remember(self, change: dict) -> None:
        if change["old"] is None:
            return
        if change["name"] == "sentence":
            self._compute(tokens=self.words_of(self.sentence))
        if not self._moving:
            self.history = [*self.history, {change["name"]: change["old"]}][-HISTORY:]
            self.future = []

    def _should_send_property(self, key: str, value: Any) -> bool:
        """The browser keeps the same history of what it does, and may be steps ahead: an answer would take it back."""
        if self._following and key in ("sentence", "changes", "history", "future"):
            return False
        if self._replaying and not self._moving and key in ("history", "future"):
            return False
        return super()._should_send_property(key, value)

    def answer(self, question: Any) -> dict[str, Any]:
        """The browser has done the step itself."""
        steps = {"undo": self.undo, "redo": self.redo}
        if not isinstance(question, str) or question not in steps:
            raise refusal("question", question, "'undo' or 'redo'")
        self._following = True
        try:
            steps[question]()
        finally:
            self._following = False
        return {"done": question}

    def _refuse(self, error: Exception) -> None:
        """The browser has counted what is refused as a step: it gets the steps that are left."""
        super()._refuse(error)
        self.send_state(["history", "future"])

    # Validation

    @validate("sentence")
    def _check_sentence(self, proposal: dict) -> str:
        value = proposal["value"]
        if not isinstance(value, str):
            raise ValueError(f"sentence is {reprlib.repr(value)}; expected a text")
        count = len(self.words_of(value))
        if not 1 <= count <= self.longest:
            raise ValueError(f"sentence is {reprlib.repr(value)}, {count} tokens; expected 1 to {self.longest}")
        return value

    @validate("changes")
    def _check_changes(self, proposal: dict) -> list[dict[str, Any]]:
        return self._as_changes(proposal["value"])

    def _as_changes(self, value: Any) -> list[dict[str, Any]]:
        wanted = f"a list of up to {MOST_CHANGES} changes"
        if not isinstance(value, list | tuple) or len(value) > MOST_CHANGES:
            raise ValueError(f"changes is {reprlib.repr(value)}; expected {wanted}")
        given = [asdict(each) | {"on": True} if isinstance(each, Change) else each for each in value]
        for each in given:
            if not isinstance(each, Mapping) or not each.keys() <= {*FIELDS, "on"} or "kind" not in each:
                raise ValueError(f"changes contains {reprlib.repr(each)}; expected a Change's fields, and on")
        found = []
        for each in given:
            try:
                switch(on=each.get("on", True))
                change = _as_change(each)
                for name in ("query", "key", "token", "other"):
                    if getattr(change, name) is not None:
                        whole(0, self.longest, **{name: getattr(change, name)})
                with intervene(self.model, [change]):
                    pass
            except (TypeError, ValueError) as error:
                raise ValueError(f"changes contains {reprlib.repr(dict(each))}: {error}") from None
            kept = {name: value for name, value in asdict(change).items() if value is not None}
            found.append(kept | {"on": each.get("on", True)})
        return found

    @validate("history", "future")
    def _check_steps(self, proposal: dict) -> list[dict[str, Any]]:
        name, value = proposal["trait"].name, proposal["value"]
        fits = isinstance(value, list | tuple) and all(
            isinstance(step, Mapping) and step and step.keys() <= {"sentence", "changes"} for step in value
        )
        if not fits:
            raise ValueError(
                f"{name} is {reprlib.repr(value)}; expected a list of steps, each an earlier sentence or changes"
            )
        known = {id(step) for trait in ("history", "future") for step in self._trait_values.get(trait) or ()}
        try:
            steps = [step if id(step) in known else self._as_step(step) for step in value]
        except ValueError as error:
            raise ValueError(f"{name} is {reprlib.repr(value)}; {error}") from None
        return steps[-HISTORY:]

    def _as_step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        checked = dict(step)
        if "sentence" in step:
            checked["sentence"] = self._check_sentence({"value": step["sentence"]})
        if "changes" in step:
            checked["changes"] = self._as_changes(step["changes"])
        return checked

    @validate("place")
    def _check_place(self, proposal: dict) -> str:
        value = proposal["value"]
        if not isinstance(value, str) or value not in ("", *self.places):
            raise ValueError(f"place is {reprlib.repr(value)}; expected '' or one of {', '.join(self.places)}")
        return value

    @validate("head", "station", "step")
    def _check_whole(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        most = {
            "head": self.model.config.num_heads - 1,
            "station": STATIONS + len(self.places) - 1,
            "step": self.longest - 1,
        }
        whole(-1 if name == "station" else 0, most[name], **{name: value})
        return value

    @validate("temperature")
    def _check_temperature(self, proposal: dict) -> float:
        between(LOWEST, HIGHEST, temperature=proposal["value"])
        return proposal["value"]

    # What is shown

    @torch.no_grad()
    def _see(self) -> tuple[list[str], str, Tensor]:
        """The target tokens that the decoder reads, an attention, and its weights with the changes (H, Q, K)."""
        place = (
            self.place if self.place.endswith("attn") else f"decoder.{self.model.config.decoder_depth - 1}.cross_attn"
        )
        src = torch.tensor([self.task.encode(self.sentence)], device=next(self.model.parameters()).device)
        ids = self._generate(self.active)
        with intervene(self.model, self.active), evaluating(self.model):
            _, weights = self.model(src, ids[:, :-1].to(src.device), need_weights=True)
        assert weights is not None  # it was asked for
        return self.task.tgt_vocab.decode(ids[0, :-1]), place, weights[place][0].cpu()

    def panels(self) -> list[Panel]:
        """The weights of the chosen head; of the last cross-attention, unless an attention is chosen."""
        written, place, weights = self._see()
        read = self.words_of(self.sentence)
        rows = read if place.startswith("encoder") else written
        columns = written if place.startswith("decoder") and place.endswith("self_attn") else read
        title = worded("{layer}, {head}", layer=place, head=worded("head {head}", head=self.head))
        return [Panel("weights", title, rows, columns, weights[self.head], main=True)]

    def figure(self) -> Figure:
        """The same panel. A token that matplotlib's font may lack, as a Chinese one, is named by its number."""

        def names(tokens: list[str]) -> list[str]:
            return [token if token.isascii() else worded("token {i}", i=i) for i, token in enumerate(tokens)]

        return figure([replace(panel, rows=names(panel.rows), columns=names(panel.columns)) for panel in self.panels()])

    def note(self) -> str:
        """What is unknown, with what is most like it."""
        said = [
            worded("The model doesn't know “{word}”; near: {near}.", word=word, near=listed(near))
            if near
            else worded("The model doesn't know “{word}”.", word=word)
            for word, near in self.unknown.items()
        ]
        return listed(said, SENTENCES)

    def lines(self) -> list[str]:
        """The translation before and after, and what was changed."""
        said = [
            worded("Sentence: {sentence}", sentence=self.sentence),
            worded("Translation: {translation}", translation=self.translation),
            *(worded("Changed: {change}", change=_written(change)) for change in self.active),
        ]
        if self.active:
            said.append(worded("Without the changes: {translation}", translation=self.untouched))
        return said

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict, dict]:
        self._generated = {}  # the picture says the translation in several places
        try:
            self._compute(draft=self._draft())
            return super()._repr_mimebundle_(**options)
        finally:
            self._generated = None

    def _draft(self) -> list[int]:
        """The ids that the browser will generate first: it has only to check them."""
        return self._generate([])[0].tolist()

    def alone(self) -> dict[str, Any]:
        return {"draft": self._draft()}

    def to_html(self) -> str:
        """A page that is alive: one file, which needs neither Python nor a network."""
        return page(self, repr(self))

    def __repr__(self) -> str:
        count = len(self.active)
        said = {"sentence": " ".join(self.sentence.split()), "translation": self.translation}
        if not count:
            return worded("ModelStudio: {sentence} → {translation}", **said)
        return counted(
            "ModelStudio: {sentence} → {translation}, with {count} change (without: {untouched})",
            "ModelStudio: {sentence} → {translation}, with {count} changes (without: {untouched})",
            count,
            untouched=self.untouched,
            **said,
        )


def _as_change(given: Mapping[str, Any]) -> Change:
    return Change(**{name: value for name, value in given.items() if name != "on"})


def _written(change: Change) -> str:
    """The change as a line of Python."""
    given = {name: value for name, value in asdict(change).items() if value is not None and name != "kind"}
    options = [f", {name}={splitting.quoted(value)}" for name, value in given.items()]
    return f"Change({splitting.quoted(change.kind)}{''.join(options)})"
