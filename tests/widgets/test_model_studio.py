"""ModelStudio without a browser: its state, its steps, and the Python that it writes."""

import contextlib
import io

import pytest
import torch

from lessons.config import TransformerConfig
from lessons.evaluation import translate
from lessons.interventions import Change, intervene
from lessons.pretrained import load_translator
from lessons.tasks import Numerals, Reversal
from lessons.transformer import Transformer
from lessons.widgets import ModelStudio
from lessons.widgets.model_studio.constants import HISTORY, MOST_CHANGES
from tests.widgets.node import call_in_node

MODEL, TASK = load_translator()
HIDE_NOT = Change("hide", side="src", token=3)
ALL = [
    HIDE_NOT,
    Change("block", at="decoder.*.cross_attn", head=1, query=2, key=4),
    Change("allow", at="decoder.0.self_attn", query=0, key=1),
    Change("drop_causal"),
    Change("drop_padding", at="encoder.*"),
    Change("silence", at="decoder.1.cross_attn", head=0),
    Change("cut", at="encoder.1.feed_forward"),
    Change("drop_positions", side="tgt"),
    Change("swap_positions", side="src", token=1, other=5),
    Change("force", token=1, word=20),
]


@pytest.fixture
def studio():
    return ModelStudio(MODEL, TASK, "The teacher will not drink tea at school tomorrow.")


def model_of(task, **options):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 16, "dropout": 0.0, **options}
    return Transformer(TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), **sizes)).eval()


THINK = """({ Thinking }, [about, weights, ids, drafts]) => drafts.map((draft) => {
    let passes = 0; // of the decoder
    const thinking = new Thinking(about, weights, draft);
    const get = (all, name) => { passes += name === "tgt_embedding.tokens.weight"; return all[name]; };
    thinking.model.weights = new Proxy(thinking.model.weights, { get });
    const { written, now } = thinking.think(ids, []);
    return [written.ids, passes, [...now.logits.data]];
})"""


def test_alone_it_is_a_lesson():
    studio = ModelStudio()
    assert studio.translation == studio.untouched == "老师明天不会在学校喝茶。"
    studio.changes = [HIDE_NOT]
    assert (studio.translation, studio.untouched) == ("老师明天会在学校喝茶。", "老师明天不会在学校喝茶。")


def test_a_step_of_the_past_is_checked_once(studio, monkeypatch):
    """However long the past is, a change costs the same."""
    checked = []
    check = studio._as_step
    monkeypatch.setattr(studio, "_as_step", lambda step: checked.append(step) or check(step))
    for token in range(5):
        studio.changes = [Change("hide", side="src", token=token)]
    studio.undo()
    studio.redo()
    assert len(checked) <= 7


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.kind)
def test_the_code_prints_the_translation(studio, change):
    studio.changes = [change]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(studio.code(), {"model": MODEL, "task": TASK})
    with intervene(MODEL, [change]):
        expected = translate(MODEL, [studio.sentence], TASK, max_len=32)[0]
    assert printed.getvalue().strip() == studio.translation == expected


def test_the_code_of_the_shipped_model_loads_it():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(ModelStudio(changes=[HIDE_NOT]).code(), {})
    assert printed.getvalue().strip() == "老师明天会在学校喝茶。"


def test_a_change_that_is_off_does_nothing(studio):
    studio.changes = [{"kind": "hide", "side": "src", "token": 3, "on": False}]
    assert studio.active == [] and studio.translation == studio.untouched
    assert "Change(" not in studio.code().split("changes =")[1]


def test_steps_of_the_browser_are_not_sent_back_to_it(studio, monkeypatch):
    """Ctrl+Z, Ctrl+Y, Ctrl+Z faster than Python answers: the first answer would take the second step back."""
    studio.sentence, studio.changes = studio.sentence.replace("tea", "milk"), [HIDE_NOT]
    sent = []
    monkeypatch.setattr(
        studio, "send_state", lambda key=None: sent.extend([key] if isinstance(key, str) else key or [])
    )
    for question in ("undo", "undo", "redo"):
        studio._receive(studio, {"ask": question, "done": True}, [])
    assert (studio.changes, len(studio.history), len(studio.future)) == ([], 1, 1)
    assert set(sent) == {"tokens"}  # which Python alone may know
    studio.undo()
    assert {"sentence", "history", "future"} <= set(sent)  # that was no step of the browser


def test_undo_and_redo_go_over_everything(studio):
    states = [(studio.sentence, studio.changes)]
    for name, value in [("changes", [HIDE_NOT]), ("sentence", "I drink tea."), ("changes", ALL), ("changes", [])]:
        setattr(studio, name, value)
        states.append((studio.sentence, studio.changes))
    for sentence, changes in reversed(states[:-1]):
        studio.undo()
        assert (studio.sentence, studio.changes) == (sentence, changes)
    studio.undo()
    for sentence, changes in states[1:]:
        studio.redo()
        assert (studio.sentence, studio.changes) == (sentence, changes)
    studio.undo()
    studio.changes = [HIDE_NOT]
    assert studio.future == []
    studio.reset()
    assert studio.changes == [] and studio.history[-1]["changes"][0]["kind"] == "hide"


def test_the_past_has_an_end(studio):
    for number in range(HISTORY + 5):
        studio.changes = [Change("hide", side="src", token=number % 2)]
    assert len(studio.history) == HISTORY


def test_the_browser_is_told_no_history_that_it_has(studio, monkeypatch):
    sent = []
    monkeypatch.setattr(type(studio), "_send", lambda self, message, buffers=None: sent.append(message))
    studio._receive(studio, {"set": {"changes": [{"kind": "drop_causal", "on": True}]}}, [])
    assert studio.history == [{"changes": []}]
    assert not any({"history", "future"} & message.get("state", {}).keys() for message in sent)


def test_a_refused_step_is_taken_out_of_the_past_of_the_browser(studio, monkeypatch):
    studio.changes = [HIDE_NOT]
    studio.undo()
    sent = []
    monkeypatch.setattr(type(studio), "_send", lambda self, message, buffers=None: sent.append(message))
    studio._receive(studio, {"set": {"sentence": " "}}, [])
    told = {name: value for message in sent for name, value in message.get("state", {}).items()}
    assert told == {"sentence": studio.sentence, "history": studio.history, "future": studio.future}
    assert len(studio.future) == 1


BAD = [
    ("sentence", 3, "sentence is 3; expected a text"),
    ("sentence", " ", "sentence is ' ', 0 tokens; expected 1 to 32"),
    ("sentence", "a " * 33, "33 tokens; expected 1 to 32"),
    ("changes", "cut", "changes is 'cut'; expected a list of up to 24 changes"),
    ("changes", [{"kind": "drop_causal"}] * (MOST_CHANGES + 1), "expected a list of up to 24"),
    ("changes", [{"at": "x"}], "changes contains {'at': 'x'}; expected a Change's fields, and on"),
    ("changes", [{"kind": "cut", "at": "nowhere"}], "changes contains .*at is 'nowhere'; expected a place"),
    ("changes", [{"kind": "drop_causal", "on": 1}], "changes contains .*on is 1; expected True or False"),
    ("changes", [{"kind": "hide", "side": "src", "token": 33}], "changes contains .*token is 33; expected"),
    ("changes", [{"kind": "force", "token": 1, "word": 9999}], "changes contains .*word is 9999; expected"),
    ("place", "encoder", "place is 'encoder'; expected '' or one of encoder.0.self_attn"),
    ("head", 4, "head is 4; expected a whole number from 0 to 3"),
    ("station", 17, "station is 17; expected a whole number from -1 to 16"),
    ("step", 32, "step is 32; expected a whole number from 0 to 31"),
    ("temperature", 0, "temperature is 0; expected a number from 0.1 to 3"),
    ("history", [{}], "history is .*; expected a list of steps"),
    ("future", [{"changes": [{"kind": "no"}]}], "future is .*kind is 'no'"),
    ("tokens", [], "tokens is .*; expected no one to set it"),
]


@pytest.mark.parametrize("name, value, message", BAD)
def test_a_bad_value_names_its_trait(studio, name, value, message):
    before = getattr(studio, name)
    with pytest.raises(ValueError, match=message):
        setattr(studio, name, value)
    assert getattr(studio, name) == before


def test_model_and_task_come_together():
    with pytest.raises(ValueError, match="task is None; expected model and task together"):
        ModelStudio(MODEL)
    with pytest.raises(ValueError, match=r"model is 3; expected a lessons\.transformer"):
        ModelStudio(3, TASK)


def test_an_unknown_word_is_said_with_those_like_it(studio):
    studio.sentence = "The teachr will not drink tea."
    assert studio.unknown == {"teachr": ["teacher", "teach", "teaches"]}
    assert studio.note() == "The model doesn't know “teachr”; near: teacher, teach, teaches."


def test_a_model_of_ones_own_goes_in():
    for task in (Reversal(), Numerals()):
        studio = ModelStudio(model_of(task, num_decoder_layers=2, positions="rotary"), task)
        assert studio.tokens == studio.words_of(studio.sentence)
        assert studio.place == "decoder.1.cross_attn"
        assert repr(studio).startswith(f"ModelStudio: {studio.sentence} → ")


def test_without_positions_there_are_none_to_drop():
    with pytest.raises(ValueError, match=r"changes contains .*model has no positions"):
        ModelStudio(model_of(Reversal(), positions=None), Reversal(), changes=[Change("drop_positions")])


def test_the_picture_tells_what_was_changed(studio):
    studio.changes = [HIDE_NOT]
    assert repr(studio) == (
        "ModelStudio: The teacher will not drink tea at school tomorrow. → 老师明天会在学校喝茶。, "
        "with 1 change (without: 老师明天不会在学校喝茶。)"
    )
    picture = studio._repr_mimebundle_()[0]["text/html"]
    assert "Without the changes: 老师明天不会在学校喝茶。" in picture
    assert "Changed: Change(&quot;hide&quot;, side=&quot;src&quot;, token=3)" in picture
    (panel,) = studio.panels()
    assert panel.columns == studio.tokens and (panel.values[:, 3] == 0).all()
    studio.place = "encoder.0.self_attn"
    assert studio.panels()[0].values.shape == (10, 10)


def test_the_page_is_one_file(studio):
    page = studio.to_html()
    assert len(page.encode()) <= 1_500_000
    assert "import " not in page.split('<script type="module">')[1].split("class")[0]
    assert "http" not in page and "src=" not in page.split("<script")[0]


def test_the_browser_checks_a_draft(studio, tmp_path):
    """With any draft it finds what it finds with none, and the right one takes one pass of the decoder."""
    studio._repr_mimebundle_()
    assert studio.draft == studio.alone()["draft"] == studio._generate([])[0].tolist()
    drafts = [[], studio.draft, [*studio.draft[:4], 5, 6, 2], [1, 2]]
    told = [studio.about, studio.weights, studio.task.encode(studio.sentence), drafts]
    without, *others = call_in_node(tmp_path, "model_studio", "thinking.js", THINK, told)
    words, passes, logits = without
    assert (words, passes) == (studio.draft, len(studio.draft))  # one for each word, and one for all
    assert [found for found, *_ in others] == [words] * 3
    assert others[0][1] == 1
    assert all(numbers == pytest.approx(logits, abs=1e-4) for *_, numbers in others)
