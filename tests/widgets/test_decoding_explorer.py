"""DecodingExplorer without a browser: its words are those of lessons.decoding, in whatever order things are set."""

import base64
import functools
import math
import re

import numpy as np
import pytest
import torch

from lessons.config import TransformerConfig
from lessons.decoding import Cached, Recomputed, Table, beam, distribution, greedy, last, sample
from lessons.language_model import LanguageModel, LanguageModelConfig, Reader
from lessons.plots.describe import describe
from lessons.transformer import Transformer
from lessons.vocabulary import Vocabulary
from lessons.widgets import DecodingExplorer
from lessons.widgets.decoding_explorer.beam_tree import grow
from lessons.widgets.decoding_explorer.views import chance

WORDS = ["a", "b", "c", "d", "e"]
VOCAB = Vocabulary(WORDS)  # pad 0, bos 1, eos 2, unk 3, a 4, … e 8
EOS = VOCAB.eos_id
SRC = torch.tensor([[4, 5, 6]])
OPTIONS = [
    {},
    {"temperature": 0.5},
    {"temperature": 2.0, "top_k": 3},
    {"top_p": 0.7},
    {"temperature": 1.3, "top_k": 4, "top_p": 0.9},
]


@functools.cache
def make_model(seed=0):
    torch.manual_seed(seed)
    config = TransformerConfig(9, 9, d_model=12, num_heads=3, num_layers=1, d_ff=20, dropout=0.0)
    model = Transformer(config).eval()
    with torch.no_grad():
        model.out_proj.weight.mul_(6.0)
    return model


def explore(model_seed=0, decoder=Cached, **options):
    model = make_model(model_seed)
    return DecodingExplorer(lambda: decoder(model, SRC), VOCAB, **{"max_len": 8, **options})


def draw_with(options, seed, model, max_len=8):
    generator = torch.Generator().manual_seed(seed)
    return last(sample(Cached(model, SRC), VOCAB, generator=generator, max_len=max_len, **options)).ids[0, 1:].tolist()


def test_alone_it_is_a_lesson():
    explorer = DecodingExplorer()
    assert repr(explorer) == "DecodingExplorer: greedy, 0 words: no tokens yet"
    explorer.to_the_end()
    assert repr(explorer) == "DecodingExplorer: greedy, 2 words: thanks <eos> (0.18)"
    explorer.method = "beam"
    explorer.to_the_end()
    assert repr(explorer) == "DecodingExplorer: beam of 2, step 3: thank you <eos> (0.34)"
    assert (explorer.text, explorer.sentence) == ("thank you", ["thank", "you", "<eos>"])
    explorer.width = 1
    assert explorer.text == "thanks" and explorer.depth == 2


def test_a_search_has_ended_when_all_are_finished():
    explorer = DecodingExplorer(method="beam")
    for ended in (False, False, True):
        explorer.step()
        assert explorer.finished == explorer.shown["ended"] == ended


def test_options_are_those_of_sample():
    assert DecodingExplorer().options == {"temperature": 1.0, "top_k": None, "top_p": None}
    set_to = {"temperature": 0.3, "top_k": 2, "top_p": 0.9}
    assert DecodingExplorer(**set_to).options == set_to


@pytest.mark.one_of(5)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("decoder", [Cached, Recomputed])
def test_a_seed_writes_what_sample_writes(seed, options, decoder):
    wanted = draw_with(options, seed, make_model(seed))
    at_once, in_steps = (explore(seed, decoder, method="sampling", seed=seed, **options) for _ in range(2))
    at_once.to_the_end()
    while not in_steps.finished:
        in_steps.step()
    assert at_once.chosen == in_steps.chosen == wanted
    assert at_once.own == in_steps.own == set()
    assert at_once.sentence == VOCAB.decode(wanted)


def test_samples_are_not_all_the_same():
    assert len({tuple(draw_with({}, seed, make_model())) for seed in range(5)}) > 1


def test_the_same_seed_gives_the_same_words_after_a_detour():
    explorer = explore(method="sampling", seed=3)
    explorer.to_the_end()
    wanted = explorer.chosen
    explorer.chosen = [8, 8, 4]
    explorer.seed = 7
    explorer.start_again()
    explorer.seed = 3
    for _ in range(3):
        explorer.step()
    explorer.back()
    explorer.to_the_end()
    assert explorer.chosen == wanted


@pytest.mark.parametrize("seed", range(5))
def test_greedy_writes_what_greedy_writes(seed):
    wanted = last(greedy(Cached(make_model(seed), SRC), VOCAB, max_len=8)).ids[0, 1:].tolist()
    explorer = explore(seed, temperature=2.5, top_k=2, top_p=0.3)
    explorer.to_the_end()
    assert explorer.chosen == wanted
    total = make_model(seed)(SRC, torch.tensor([[1, *wanted[:-1]]]))[0][0].double().log_softmax(-1)
    total = total[range(len(wanted)), wanted].sum().item()
    assert explorer.log_prob == pytest.approx(total, abs=1e-5)
    assert explorer.probability == pytest.approx(math.exp(total), rel=1e-5)
    assert explorer.greedy_sentence == (wanted, pytest.approx(total, abs=1e-5))


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("length_penalty", [0.0, 1.3])
def test_the_beam_is_that_of_beam(width, length_penalty):
    options = {"width": width, "length_penalty": length_penalty}
    wanted = list(beam(Cached(make_model(), SRC), VOCAB, max_len=8, **options))
    explorer = explore(method="beam", **options)
    for depth in range(len(wanted) + 1):
        assert explorer.depth == depth and explorer.steps == wanted[:depth]
        assert explorer.finished == (depth == len(wanted))
        explorer.step()
    assert explorer.depth == len(wanted)
    assert explorer.sentence == VOCAB.decode(wanted[-1].kept[0].ids[1:])
    assert explorer.log_prob == wanted[-1].kept[0].log_prob
    explorer.back()
    assert explorer.steps == wanted[:-1]
    explorer.start_again()
    assert explorer.steps == [] and explorer.sentence == []


def test_another_width_goes_on_at_the_same_depth():
    explorer = explore(method="beam", depth=3)
    explorer.width = 4
    assert explorer.depth == 3 and len(explorer.steps[-1].kept) == 4
    assert explorer.shown["beam"] == [4, 1.0, 3]
    explorer.length_penalty = 0.0
    assert explorer.steps == list(beam(Cached(make_model(), SRC), VOCAB, width=4, length_penalty=0.0, max_len=8))[:3]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_probabilities_are_those_of_distribution(options):
    explorer = explore(chosen=[4, 7], method="sampling", **options)
    logits = make_model()(SRC, torch.tensor([[1, 4, 7]]))[0][0, -1]
    torch.testing.assert_close(explorer.logits, logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(explorer.probabilities, distribution(explorer.logits, **options))
    sent = np.frombuffer(base64.b64decode(explorer.shown["logits"]))
    assert sent.tolist() == explorer.logits.tolist()
    kept = int((explorer.probabilities > 0).sum()) if "top_p" in options else None
    assert explorer.choice["kept"] == kept and explorer.choice["next"] == explorer.next_word


def test_own_choices_are_remembered():
    explorer = explore()
    explorer.step()
    first = explorer.chosen
    explorer.chosen = [*first, 8]
    assert explorer.own == {1} == set(explorer.shown["own"])
    explorer.step()
    assert explorer.own == {1} and len(explorer.chosen) == 3
    explorer.back()
    explorer.back()
    assert explorer.own == set() and explorer.chosen == first
    assert explore(chosen=[4, 5]).own == {0, 1}
    assert explore(chosen=[4, 5]).lines()[0].endswith("your choice")


def test_after_the_end_nothing_follows():
    explorer = explore(chosen=[4, EOS])
    assert explorer.finished and explorer.logits is explorer.probabilities is explorer.next_word is None
    explorer.step()
    explorer.to_the_end()
    assert explorer.chosen == [4, EOS]
    assert explorer.shown["logits"] is None and not explorer.shown["full"]
    full = explore(chosen=[4, 5], max_len=2)
    assert full.finished and full.shown["full"]


def test_a_language_model_whose_ring_is_full_goes_back():
    """Its decoder can't undo a token, so it reads the text again."""
    sizes = {"vocabulary": len(VOCAB), "d_model": 4, "num_layers": 1, "num_heads": 1, "d_ff": 4, "max_len": 16}
    model = LanguageModel(LanguageModelConfig(**sizes, window=2))
    explorer = DecodingExplorer(lambda: Reader(model), VOCAB, max_len=9)
    explorer.chosen = [5, 4, 5, 4, 5]
    explorer.chosen = [5, 4, 4]
    with torch.no_grad():
        expected = model(torch.tensor([[VOCAB.bos_id, 5, 4, 4]]))[0, -1]
    torch.testing.assert_close(explorer.logits, expected)


def test_words_are_joined_as_told():
    assert explore(chosen=[4, 5, EOS], join="".join).text == "ab"
    assert "ab <eos>" in repr(explore(chosen=[4, 5, EOS], join="".join))


# --- the tree --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [1, 3, 5])
def test_the_tree_holds_every_sentence_of_the_search_once(seed, width):
    steps = list(beam(Cached(make_model(seed), SRC), VOCAB, width=width, max_len=6))
    for depth in range(len(steps) + 1):
        nodes = grow(steps[:depth])
        sentences = {}
        for i, node in enumerate(nodes):
            assert node["parent"] < i
            above = sentences[node["parent"]] if node["parent"] >= 0 else (VOCAB.bos_id,)
            sentences[i] = (*above, node["word"])
            assert node["level"] == len(above)
        assert len(set(sentences.values())) == len(nodes)
        seen = {h.ids: h for step in steps[:depth] for h in [*step.dropped, *step.kept]}
        assert set(sentences.values()) == set(seen)
        kept = [h.ids for h in steps[depth - 1].kept] if depth else []
        ever = {h.ids for step in steps[:depth] for h in step.kept}
        for i, node in enumerate(nodes):
            ids, found = sentences[i], seen[sentences[i]]
            assert (node["log_prob"], node["score"], node["finished"]) == (found.log_prob, found.score, found.finished)
            assert node["rank"] == (kept.index(ids) + 1 if ids in kept else 0)
            on_the_way = any(other[: len(ids)] == ids for other in kept)
            state = "kept" if ids in kept else "way" if on_the_way else "left" if ids in ever else "dropped"
            assert node["state"] == state


def test_a_finished_sentence_that_is_overtaken_is_left_behind():
    def next_word(read):
        row = {(): {EOS: 0.3, 4: 0.7}, (4,): {4: 0.5, 5: 0.5}}.get(read[1:], {EOS: 1.0})
        return [row.get(i, 0.0) for i in range(len(VOCAB))]

    explorer = DecodingExplorer(lambda: Table(next_word), VOCAB, method="beam", width=2, length_penalty=2.0, depth=1)
    assert [(node["word"], node["state"]) for node in explorer.shown["nodes"]] == [(4, "kept"), (EOS, "kept")]
    explorer.step()
    states = [(node["level"], node["word"], node["state"]) for node in explorer.shown["nodes"]]
    assert states[:2] == [(1, 4, "way"), (1, EOS, "left")]
    assert sorted(states[2:]) == [(2, 4, "kept"), (2, 5, "kept")]


# --- bad input -------------------------------------------------------------------------------------------------

SAME = Table(lambda read: [0.0, 0.0, 1.0, *[0.0] * 6])
FRESH = "expected a function without arguments that makes a decoder of one sentence"
BAD = {
    "one alone": (lambda: DecodingExplorer(lambda: SAME), "vocab is None; expected make_decoder and vocab together"),
    "the other": (
        lambda: DecodingExplorer(vocab=VOCAB),
        "make_decoder is None; expected make_decoder and vocab",
    ),
    "vocab": (lambda: DecodingExplorer(lambda: SAME, WORDS), "vocab is a list; expected a Vocabulary"),
    "a decoder": (lambda: DecodingExplorer(SAME, VOCAB), f"make_decoder is a Table; {FRESH}"),
    "no decoder": (lambda: DecodingExplorer(lambda: 3, VOCAB), f"make_decoder makes a int; {FRESH}"),
    "two": (lambda: DecodingExplorer(lambda: Table(None, batch_size=2), VOCAB), "a decoder of 2 sentences"),
    "the same": (lambda: DecodingExplorer(lambda: SAME, VOCAB), "make_decoder returns the same decoder twice"),
    "size": (
        lambda: DecodingExplorer(lambda: Table(lambda read: [1.0]), VOCAB),
        "make_decoder gives 1 logits; expected 9, one for each word of vocab",
    ),
    "max_len": (lambda: explore(max_len=0), "max_len is 0; expected a whole number from 1 to 200"),
    "method": (lambda: explore(method="best"), "method is 'best'; expected one of 'greedy', 'beam', 'sampling'"),
    "temperature": (lambda: explore(temperature=0), "temperature is 0; expected a number from 0.1 to 3"),
    "nan": (lambda: explore(temperature=math.nan), "temperature is nan; expected a number from 0.1 to 3"),
    "top_k": (lambda: explore(top_k=10), "top_k is 10; expected a whole number from 0 to 9"),
    "none": (lambda: explore(top_k=None), "top_k is None; expected a whole number from 0 to 9"),
    "top_p": (lambda: explore(top_p=1.5), "top_p is 1.5; expected a number from 0.01 to 1"),
    "width": (lambda: explore(width=6), "width is 6; expected a whole number from 1 to 5"),
    "penalty": (lambda: explore(length_penalty=-1), "length_penalty is -1; expected a number from 0 to 2"),
    "seed": (lambda: explore(seed=-1), "seed is -1; expected a whole number from 0"),
    "chosen": (lambda: explore(chosen="ab"), "chosen is 'ab'; expected a list of up to 8 ids"),
    "long": (lambda: explore(chosen=[4] * 9), "expected a list of up to 8 ids"),
    "id": (lambda: explore(chosen=[9]), "an id of chosen is 9; expected a whole number from 0 to 8"),
    "end": (lambda: explore(chosen=[EOS, 4]), "chosen is [2, 4]; expected no token after EOS, id 2"),
    "depth": (lambda: explore(depth=9), "depth is 9; expected a whole number from 0 to 8"),
    "own": (lambda: setattr(explore(), "shown", {}), "shown is {}; expected no one to set it"),
    "question": (
        lambda: explore().answer("jump"),
        "question is 'jump'; expected one of 'step', 'back', 'end', 'again'",
    ),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def broken_after(word, fault):
    """A table that knows no next word after this one."""

    def next_word(read):
        return fault() if word in read else [0.0, 0.0, 0.1, 0.0, 0.5, 0.4, 0.0, 0.0, 0.0]

    return DecodingExplorer(lambda: Table(next_word), VOCAB)


FAULTS = {
    "raises": (lambda: {}[0], "the decoder raised KeyError: 0; expected logits"),
    "no sum": (lambda: [0.5] * 9, "expected probabilities that sum to 1"),
    "NaN": (lambda: [math.nan] * 9, "the logits after “<bos> b” give no probabilities"),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_a_writer_that_fails_is_named_and_the_words_stay(fault, message):
    explorer = broken_after(5, fault)
    explorer.step()
    with pytest.raises(ValueError, match=re.escape(message)):
        explorer.chosen = [5]
    assert explorer.chosen == [4] and explorer.logits is not None
    explorer.step()
    assert explorer.chosen == [4, 4]


def test_the_browser_hears_of_a_writer_that_fails():
    explorer, sent = broken_after(5, lambda: {}[0]), []
    explorer.send = lambda message, buffers=None: sent.append(message)
    explorer.method = "beam"
    explorer.answer("step")
    assert "the decoder raised KeyError" in explorer.answer("step")["problem"]
    assert explorer.depth == 1
    explorer._receive(explorer, {"set": {"method": "greedy"}}, [])
    explorer._receive(explorer, {"set": {"chosen": [5]}}, [])
    assert "the decoder raised KeyError" in sent[-1]["problem"]
    assert explorer.chosen == []
    explorer.method, explorer.width = "beam", 1
    explorer.to_the_end()
    explorer._receive(explorer, {"set": {"width": 2}}, [])
    assert "the decoder raised KeyError" in sent[-1]["problem"] and explorer.width == 1


def test_the_browser_hears_when_greedy_fails_beside_a_beam():
    explorer, sent = broken_after(4, lambda: {}[0]), []
    explorer.send = lambda message, buffers=None: sent.append(message)
    explorer._receive(explorer, {"set": {"method": "beam"}}, [])
    assert "the decoder raised KeyError" in sent[-1]["problem"]
    assert explorer.method == "greedy"
    with pytest.raises(ValueError, match="the decoder raised KeyError"):
        explorer.method = "beam"


# --- pictures --------------------------------------------------------------------------------------------------


def test_the_picture_of_the_next_word():
    explorer = DecodingExplorer(method="sampling", temperature=0.5, top_k=2)
    expected = "the model's: 0.50  0.40  0.10  0.00\nwith the options: 0.61  0.39  0.00  0.00"
    assert expected in describe(explorer.figure().axes[0])
    page = explorer.to_html()
    assert "The next word: temperature 0.5, top-k 2, top-p off" in page
    assert "you (cut)" in page and "may not attend" not in page


def test_the_picture_of_a_sentence():
    explorer = DecodingExplorer(chosen=[5, 6, 2])
    assert "0.40  0.95  0.90" in describe(explorer.figure().axes[0])
    assert explorer.lines() == ["thank 0.40, your choice", "you 0.95, your choice", "<eos> 0.90, your choice"]


def test_the_picture_of_a_beam():
    explorer = DecodingExplorer(method="beam", depth=20)
    drawn = describe(explorer.figure().axes[0])
    assert "A beam of 2, length penalty 1, after step 3" in drawn
    assert "thank you <eos>: 0.34  −1.07  −0.80" in drawn.replace("-", "−")
    assert explorer.note() == "Greedy, for comparison: thanks <eos> (0.18)"
    assert explorer.lines()[0] == "kept: thanks 0.50; thank 0.40. Dropped: you 0.10."
    assert DecodingExplorer(method="beam").figure().axes


@pytest.mark.parametrize("method", ["greedy", "sampling", "beam"])
def test_a_large_vocabulary_keeps_the_picture_small(method):
    vocab = Vocabulary([f"word-number-{i}" for i in range(3000)])

    def next_word(read):
        scores = torch.randn(len(vocab), generator=torch.Generator().manual_seed(sum(read)), dtype=torch.double)
        return (3 * scores).softmax(-1).tolist()

    explorer = DecodingExplorer(lambda: Table(next_word), vocab, method=method, width=5, max_len=12)
    explorer.to_the_end()
    explorer.back()
    data, _ = explorer._repr_mimebundle_()
    assert len(data["text/html"].encode()) <= 20_000 and "<table>" in data["text/html"]


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "0.00"), (0.175, "0.17"), (1.0, "1.00"), (0.0099999, "0.01"), (0.0004, "0.0004"), (3e-7, "3e−7")],
)
def test_probabilities_are_short(p, text):
    assert chance(p) == text


def test_a_word_from_the_browser_is_told_back(monkeypatch):
    """After "start again" and a quick click the browser hears of no word first, and of the clicked one last."""
    widget, told = DecodingExplorer(chosen=[4]), []
    monkeypatch.setattr(widget, "send", lambda message, buffers=None: None)
    monkeypatch.setattr(widget, "send_state", lambda key=None: told.append((key, list(widget.chosen))))
    widget._receive(widget, {"set": {"chosen": [5]}}, [])
    assert told[-1] == (["chosen"], [5])
