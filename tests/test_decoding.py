"""lessons.decoding: the cache against the full pass, a search against all sentences, samples against the rule."""

import itertools
import math
import random
import re
from dataclasses import replace

import pytest
import torch

from lessons.attention import set_key_size
from lessons.config import TransformerConfig
from lessons.decoding import Cached, Recomputed, Table, beam, beams, distribution, greedy, last, sample, speculative
from lessons.decoding.decoders import LayerMemory
from lessons.decoding.speculative import judge
from lessons.fast import added_mask
from lessons.layers import DecoderLayer
from lessons.masks import causal
from lessons.positions import RotaryPositions
from lessons.transformer import Transformer
from lessons.vocabulary import Vocabulary

VOCAB = Vocabulary(["a", "b", "c"])  # pad 0, bos 1, eos 2, unk 3, a 4, b 5, c 6
A, B, C, EOS = 4, 5, 6, 2
CONFIG = TransformerConfig(
    9, 7, d_model=12, num_heads=3, num_layers=2, num_decoder_layers=3, d_ff=20, dropout=0.1, max_len=120
)
POSITIONS = ["sinusoids", "learned", "rotary", None]
SRC = torch.tensor([[4, 5, 6, 7, 8], [5, 4, 0, 0, 0], [8, 8, 7, 0, 0]])
DECODERS = [Cached, Recomputed]


def model(seed=0, **options):
    torch.manual_seed(seed)
    return Transformer(replace(CONFIG, **options)).double().eval()


def draw_ids(batch_size, length, seed=1):
    return torch.randint(3, 7, (batch_size, length), generator=torch.Generator().manual_seed(seed))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def words(*probabilities):
    """Probabilities of eos, a, b, c as a row over the vocabulary."""
    row = [0.0] * 7
    for word, p in zip((EOS, A, B, C), probabilities):
        row[word] = p
    return row


# --- the cache -------------------------------------------------------------------------------------------------


@pytest.mark.one_of(5)
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("pieces", [(1, 1, 1, 1, 1, 1), (6,), (2, 1, 3)])
def test_logits_are_those_of_the_full_pass(positions, norm_first, decoder, pieces):
    ours, ids = model(positions=positions, norm_first=norm_first), draw_ids(3, 6)
    expected, _ = ours(SRC, ids)
    written = decoder(ours, SRC)
    logits = torch.cat([written.step(part) for part in ids.split(pieces, dim=1)], dim=1)
    torch.testing.assert_close(logits, expected, atol=1e-12, rtol=0)


def test_keys_of_another_size_than_the_values():
    ours, ids = model(), draw_ids(3, 6)
    set_key_size(ours, 2)
    cached = Cached(ours, SRC)
    logits = torch.cat([cached.step(part) for part in ids.split(1, dim=1)], dim=1)
    torch.testing.assert_close(logits, ours(SRC, ids)[0], atol=1e-12, rtol=0)
    keys_and_values = 3 * 3 * (2 + 4) * (5 + 6)  # layers, heads, sizes, words on both sides
    assert cached.bytes == 3 * 8 * keys_and_values


@pytest.mark.parametrize("decoder", DECODERS)
def test_single_precision_agrees_too(decoder):
    ours, ids = model(positions="rotary").float(), draw_ids(3, 6)
    written = decoder(ours, SRC)
    logits = torch.cat([written.step(part) for part in ids.split(1, dim=1)], dim=1)
    torch.testing.assert_close(logits, ours(SRC, ids)[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("decoder", DECODERS)
def test_padding_after_the_end_is_not_looked_at(decoder):
    ours, ids = model(), draw_ids(3, 6)
    ids[1, 3:] = 0
    written = decoder(ours, SRC)
    logits = torch.cat([written.step(part) for part in ids.split(1, dim=1)], dim=1)
    torch.testing.assert_close(logits, ours(SRC, ids)[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_sentence_alone_is_written_as_in_company(decoder):
    ours = model()
    alone, together = decoder(ours, SRC[1:2, :2]), decoder(ours, SRC)
    ids = draw_ids(3, 4)
    torch.testing.assert_close(alone.step(ids[1:2]), together.step(ids)[1:2], atol=1e-12, rtol=0)


@pytest.mark.parametrize("decoder", DECODERS)
def test_selected_rows_go_on(decoder):
    ours, ids, rows = model(positions="rotary"), draw_ids(3, 5), torch.tensor([2, 0, 2, 1])
    ids[2, 1] = 0  # padding, which stays where it is
    written = decoder(ours, SRC)
    written.step(ids[:, :3])
    written.select(rows)
    assert written.batch_size == 4
    more = draw_ids(4, 2, seed=2)
    expected, _ = ours(SRC[rows], torch.cat([ids[rows, :3], more], dim=1))
    torch.testing.assert_close(written.step(more), expected[:, 3:], atol=1e-12, rtol=0)


@pytest.mark.parametrize("decoder", DECODERS)
def test_words_taken_back_leave_no_trace(decoder):
    ours, ids = model(positions="rotary"), draw_ids(3, 6)
    ids[2, 1] = 0  # padding, which stays where it is
    written = decoder(ours, SRC)
    written.step(torch.cat([ids[:, :2], draw_ids(3, 3, seed=5)], dim=1))
    written.forget(3)
    assert written.length == 2
    torch.testing.assert_close(written.step(ids[:, 2:]), ours(SRC, ids)[0][:, 2:], atol=1e-12, rtol=0)


def test_as_many_sentences_as_the_model_has_features():
    ours, ids, src = model(), draw_ids(CONFIG.d_model, 3), SRC.repeat(4, 1)
    torch.testing.assert_close(Cached(ours, src).step(ids), ours(src, ids)[0], atol=1e-12, rtol=0)


def test_the_memory_grows_beyond_its_first_room():
    ours, ids = model(positions="rotary"), draw_ids(3, 100)
    written = Cached(ours, SRC)
    logits = torch.cat([written.step(part) for part in ids.split(7, dim=1)], dim=1)
    torch.testing.assert_close(logits, ours(SRC, ids)[0], atol=1e-12, rtol=0)


def test_bytes_count_keys_and_values():
    written = Cached(model(), SRC)
    layers, sentences, d_model, number = 3, 3, 12, 8
    cross = layers * 2 * sentences * 5 * d_model * number
    assert written.bytes == cross
    written.step(draw_ids(3, 4))
    assert written.bytes == cross + layers * 2 * sentences * 4 * d_model * number


@pytest.mark.parametrize("seed", range(12))
def test_a_layer_with_memory_is_the_layer(seed):
    chance = random.Random(seed)
    num_heads, head_dim = chance.randint(1, 4), 2 * chance.randint(1, 4)
    d_model, norm_first, activation = num_heads * head_dim, chance.random() < 0.5, chance.choice(["relu", "gelu"])
    rotary = RotaryPositions(head_dim) if seed % 2 else None
    torch.manual_seed(seed)
    layer = (
        DecoderLayer(d_model, num_heads, 11, norm_first=norm_first, activation=activation, rotary=rotary)
        .double()
        .eval()
    )
    for parameter in layer.parameters():  # none is 0 or 1, as biases and norms are at first
        torch.nn.init.normal_(parameter, std=0.5)
    batch, length, source = chance.randint(1, 3), chance.randint(2, 40), chance.randint(1, 5)
    x, memory = (torch.randn(batch, size, d_model, dtype=torch.double) for size in (length, source))
    real = torch.rand(batch, 1, 1, source) < 0.7
    with torch.no_grad():
        expected, _ = layer(x, memory, causal(length), real)
        keeper = LayerMemory(layer, memory)
        masks = [added_mask(allowed, like=x) for allowed in (None, real.expand(-1, num_heads, -1, -1).flatten(0, 1))]
        written = [keeper.step(x[:, t], t, *masks) for t in range(length)]
    torch.testing.assert_close(torch.stack(written, dim=1), expected, atol=1e-10, rtol=0)


def test_the_cache_projects_the_memory_only_once(monkeypatch):
    ours = model()
    written = Cached(ours, SRC)
    for layer in ours.decoder.layers:
        monkeypatch.setattr(layer.cross_attn.k_proj, "forward", None)
        monkeypatch.setattr(layer.cross_attn.v_proj, "forward", None)
    written.step(draw_ids(3, 1))


@pytest.mark.parametrize("decoder", DECODERS)
def test_no_gradient_is_kept(decoder):
    assert not decoder(model(), SRC).step(draw_ids(3, 1)).requires_grad


@pytest.mark.parametrize("decoder", DECODERS)
def test_errors_of_the_decoders(decoder):
    ours = model()
    message = "model is in training mode, where dropout changes each pass; expected eval mode: model.eval()"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        decoder(ours.train(), SRC)
    written = decoder(ours.eval(), SRC)
    with pytest.raises(ValueError, match=r"ids has shape \(2, 1\); expected \(B, n\) with B = 3 and n of 1 or more"):
        written.step(draw_ids(2, 1))
    with pytest.raises(ValueError, match=r"ids has shape \(3, 0\)"):
        written.step(draw_ids(3, 0))
    with pytest.raises(ValueError, match="count is 1; expected a whole number from 0 to 0"):
        written.forget(1)


@pytest.mark.parametrize("decoder", DECODERS)
def test_ids_that_are_refused_leave_the_decoder_as_it_was(decoder):
    ours, ids = model(), draw_ids(3, 3)
    written = decoder(ours, SRC)
    written.step(ids[:, :1])
    with pytest.raises(ValueError, match="tgt contains 99"):
        written.step(torch.full((3, 1), 99))
    assert written.length == 1
    torch.testing.assert_close(written.step(ids[:, 1:]), ours(SRC, ids)[0][:, 1:], atol=1e-12, rtol=0)


@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_a_model_with_hooks_of_either_kind_has_no_cache(register):
    ours = model()
    getattr(ours.decoder.layers[0], register)(lambda module, *arguments: None)
    with pytest.raises(ValueError, match=r"model has hooks, .* pass over; expected one without, or Recomputed$"):
        Cached(ours, SRC)
    Recomputed(ours, SRC)


@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_a_cache_goes_on_when_the_hooks_are_gone(register):
    ours, ids = model(), draw_ids(3, 2)
    written = Cached(ours, SRC)
    written.step(ids[:, :1])
    hook = getattr(ours.out_proj, register)(lambda *_: None)
    with pytest.raises(ValueError, match=r"model has hooks, .* pass over; expected one without, or Recomputed$"):
        written.step(ids[:, 1:])
    hook.remove()
    torch.testing.assert_close(written.step(ids[:, 1:]), ours(SRC, ids)[0][:, 1:], atol=1e-12, rtol=0)


@pytest.mark.parametrize("positions", POSITIONS)
def test_ids_that_are_no_words_are_an_error(positions):
    written = Cached(model(positions=positions), SRC)
    vocab_size = written.model.config.tgt_vocab_size
    for strange in (-1, vocab_size):
        with pytest.raises(ValueError, match=f"tgt contains {strange}; expected ids from 0 to {vocab_size - 1}"):
            written.step(torch.tensor([[4], [strange], [4]]))
    with pytest.raises(ValueError, match=r"tgt is a tensor of torch.float32; expected a tensor of integers"):
        written.step(torch.ones(3, 1))
    assert written.length == 0


def test_small_integers_and_padding_first_are_written_as_in_the_full_pass():
    ours, ids = model(), draw_ids(3, 6)
    ids[2, :2] = 0  # a query without a key
    written = Cached(ours, SRC)
    logits = torch.cat([written.step(part.int()) for part in ids.split((1, 2, 3), dim=1)], dim=1)
    torch.testing.assert_close(logits, ours(SRC, ids)[0], atol=1e-12, rtol=0)


def test_a_length_beyond_the_table_is_an_error():
    written = Cached(model(positions="learned", max_len=5), SRC)
    written.step(draw_ids(3, 5))
    with pytest.raises(ValueError, match="tgt goes up to position 5; expected positions below max_len = 5"):
        written.step(draw_ids(3, 1))


# --- greedy ----------------------------------------------------------------------------------------------------


def trap(read):
    """The likeliest first word leads to unlikely sentences: greedy falls in."""
    return {
        (): words(0.0, 0.6, 0.4, 0.0),
        (A,): words(0.35, 0.33, 0.32, 0.0),
        (B,): words(0.0, 0.05, 0.0, 0.95),
        (B, C): words(0.9, 0.05, 0.05, 0.0),
    }.get(read[1:], words(1.0, 0.0, 0.0, 0.0))


def test_greedy_takes_the_likeliest_word_each_time():
    steps = list(greedy(Table(trap), VOCAB))
    assert [step.ids.tolist() for step in steps] == [[[1, A]], [[1, A, EOS]]]
    assert steps[-1].finished.tolist() == [True]
    torch.testing.assert_close(steps[0].logits.softmax(-1)[0], torch.tensor(words(0.0, 0.6, 0.4, 0.0)))


@pytest.mark.parametrize("positions", POSITIONS)
def test_greedy_writes_the_same_with_and_without_the_cache(positions):
    ours = model(positions=positions)
    cached, recomputed = (last(greedy(decoder(ours, SRC), VOCAB, max_len=20)).ids for decoder in DECODERS)
    assert cached.tolist() == recomputed.tolist()


def test_after_the_end_mark_comes_padding_and_others_go_on():
    ends = {0: 1, 1: 3}

    class Uneven(Table):
        def step(self, ids):
            super().step(ids)
            return torch.stack(
                [
                    torch.tensor([words(1, 0, 0, 0) if self.length > ends[b] else words(0, 1, 0, 0)]).log()
                    for b in range(2)
                ]
            )

    ids = last(greedy(Uneven(lambda read: words(1, 0, 0, 0), batch_size=2), VOCAB)).ids
    assert ids.tolist() == [[1, A, EOS, 0, 0], [1, A, A, A, EOS]]


def test_greedy_stops_at_max_len():
    step = last(greedy(Table(lambda read: words(0, 1, 0, 0)), VOCAB, max_len=3))
    assert step.ids.tolist() == [[1, A, A, A]] and step.finished.tolist() == [False]
    with pytest.raises(ValueError, match="max_len is 0; expected a whole number, 1 or more"):
        next(greedy(Table(trap), VOCAB, max_len=0))


def test_a_table_wants_probabilities():
    with pytest.raises(ValueError, match=r"next_word\(\(1,\)\) is \[0.5, 0.4\]; expected probabilities"):
        Table(lambda read: [0.5, 0.4]).step(torch.tensor([[1]]))
    with pytest.raises(ValueError, match="expected probabilities that sum to 1"):
        Table(lambda read: [-0.5, 1.5]).step(torch.tensor([[1]]))
    table = Table(lambda read: [0.5, 0.5] if read == (1,) else [1.0, 1.0])
    with pytest.raises(ValueError, match="expected probabilities that sum to 1"):
        table.step(torch.tensor([[0]]))
    assert table.length == 0 and table.step(torch.tensor([[1]])).exp().tolist() == [[[0.5, 0.5]]]
    with pytest.raises(ValueError, match=r"^steps is empty; expected one step or more$"):
        last([])


# --- beam ------------------------------------------------------------------------------------------------------


def test_a_beam_of_two_escapes_the_trap():
    assert last(beam(Table(trap), VOCAB, width=1)).kept[0].ids == (1, A, EOS)
    best = last(beam(Table(trap), VOCAB, width=2, length_penalty=0.0)).kept[0]
    assert best.ids == (1, B, C, EOS)
    assert best.log_prob == pytest.approx(math.log(0.4 * 0.95 * 0.9))


def random_table(seed):
    """Any sentence of a, b, c with at most three words before the end, probabilities drawn at random."""
    drawn = {}

    def next_word(read):
        if read not in drawn:
            row = torch.rand(4, generator=generator(hash((seed, read)) % 2**40), dtype=torch.double)
            drawn[read] = words(*(row / row.sum()).tolist())
        return words(1.0, 0.0, 0.0, 0.0) if len(read) == 4 else drawn[read]

    return next_word


def all_sentences(next_word):
    for length in range(4):
        for sentence in itertools.product((A, B, C), repeat=length):
            ids = (1, *sentence, EOS)
            yield ids, sum(math.log(next_word(ids[:i])[ids[i]]) for i in range(1, len(ids)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
def test_a_wide_beam_finds_the_best_of_all_sentences(seed, length_penalty):
    table = random_table(seed)

    def score(sentence):
        ids, log_prob = sentence
        return log_prob / ((5 + len(ids) - 1) / 6) ** length_penalty

    ids, log_prob = max(all_sentences(table), key=score)
    best = last(beam(Table(table), VOCAB, width=60, length_penalty=length_penalty)).kept[0]
    assert best.ids == ids
    assert best.log_prob == pytest.approx(log_prob, abs=1e-5)
    assert best.score == pytest.approx(score((ids, log_prob)), abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [1, 2, 3])
def test_steps_of_a_beam_fit_together(seed, width):
    """Finished sentences stay as they are; each other one is its parent and one word more; the order is by score."""
    steps = list(beam(Table(random_table(seed)), VOCAB, width=width))
    before = [(1,)]
    finished_before = [False]
    for step in steps:
        assert 1 <= len(step.kept) <= width and len(step.dropped) <= width
        scores = [hypothesis.score for hypothesis in [*step.kept, *step.dropped]]
        assert scores == sorted(scores, reverse=True)
        for hypothesis in [*step.kept, *step.dropped]:
            parent = before[hypothesis.parent]
            if finished_before[hypothesis.parent]:
                assert hypothesis.ids == parent and hypothesis.finished
            else:
                assert hypothesis.ids[:-1] == parent
            assert hypothesis.finished == (hypothesis.ids[-1] == EOS)
        before, finished_before = [h.ids for h in step.kept], [h.finished for h in step.kept]
    assert all(finished_before)


def test_a_finished_sentence_can_be_overtaken():
    def table(read):
        return {(): words(0.5, 0.5, 0.0, 0.0), (A,): words(0.0, 0.0, 1.0, 0.0)}.get(read[1:], words(1.0, 0.0, 0.0, 0.0))

    steps = list(beam(Table(table), VOCAB, width=2, length_penalty=2.0))
    assert steps[0].kept[0].log_prob == steps[0].kept[1].log_prob
    assert steps[-1].kept[0].ids == (1, A, B, EOS)  # as likely as the empty one, and longer
    assert steps[-1].kept[1].ids == (1, EOS)


def test_without_normalization_the_short_one_wins():
    def table(read):
        return words(0.4, 0.6, 0.0, 0.0) if len(read) < 4 else words(1.0, 0.0, 0.0, 0.0)

    raw, normalized = (last(beam(Table(table), VOCAB, width=4, length_penalty=p)).kept[0].ids for p in (0.0, 2.0))
    assert raw == (1, EOS) and normalized == (1, A, A, A, EOS)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_beam_of_one_is_greedy(decoder):
    for seed in range(5):
        ours = model(seed=seed)
        found = last(beam(decoder(ours, SRC[:1]), VOCAB, width=1, max_len=12)).kept[0].ids
        assert list(found) == last(greedy(decoder(ours, SRC[:1]), VOCAB, max_len=12)).ids[0].tolist()


@pytest.mark.parametrize("decoder", DECODERS)
def test_log_probs_of_a_beam_are_the_models(decoder):
    ours = model(seed=3)
    for hypothesis in last(beam(decoder(ours, SRC[:1]), VOCAB, width=3, max_len=8)).kept:
        ids = torch.tensor([hypothesis.ids])
        log_probs = ours(SRC[:1], ids[:, :-1])[0].log_softmax(dim=-1)
        total = log_probs.gather(-1, ids[:, 1:, None]).sum().item()
        assert hypothesis.log_prob == pytest.approx(total, abs=1e-9)


def test_errors_of_the_beam():
    with pytest.raises(ValueError, match="decoder has 2 sentences; expected one: beam search handles one source"):
        next(beam(Table(trap, batch_size=2), VOCAB))
    with pytest.raises(ValueError, match="width is 0; expected a whole number, 1 or more"):
        next(beam(Table(trap), VOCAB, width=0))
    for penalty in (-1, math.inf, math.nan):
        with pytest.raises(ValueError, match=rf"^length_penalty is {penalty}; expected a number from 0 to 10$"):
            next(beam(Table(trap), VOCAB, length_penalty=penalty))


# --- a beam for each of many sentences ---------------------------------------------------------------------------


class Coarse(Cached):
    """A model whose logits are whole numbers: many tokens and sentences are equally likely."""

    def step(self, ids):
        return super().step(ids).mul(2).round()


@pytest.mark.one_of(4)
@pytest.mark.parametrize("decoder", [Cached, Recomputed, Coarse])
@pytest.mark.parametrize("seed", range(8))
def test_beams_are_those_of_each_sentence_alone(decoder, seed):
    chance = random.Random(seed)
    ours = model(seed, positions=POSITIONS[seed % 4], norm_first=seed % 2 == 1)
    with torch.no_grad():
        ours.out_proj.weight *= 3.0  # so that some end early
        ours.out_proj.bias[:2] = -torch.inf  # reordered, these would be equally likely but for rounding
    sources = torch.randint(4, 9, (5, 6), generator=generator(seed))
    lengths = torch.tensor([chance.randint(1, 6) for _ in sources])
    sources = sources.where(torch.arange(6) < lengths[:, None], 0)
    width, max_len = chance.randint(1, 5), chance.randint(1, 20)
    options = {"width": width, "length_penalty": chance.choice([0, 0.6, 1.0, 2.0]), "max_len": max_len}
    found = beams(decoder(ours, sources), VOCAB, **options)
    for row, hypotheses in zip(sources, found):
        alone = last(beam(decoder(ours, row[row != 0][None]), VOCAB, **options)).kept
        same = [(h.ids, h.finished, h.parent) for h in hypotheses]
        assert same == [(h.ids, h.finished, h.parent) for h in alone]
        for one, other in zip(hypotheses, alone):
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-10)
            assert one.score == pytest.approx(other.score, abs=1e-10)


class Tables(Table):
    """A table of its own for each sentence."""

    def __init__(self, tables):
        super().__init__(tables[0], batch_size=len(tables))
        self.tables = list(tables)

    def step(self, ids):
        self.ids = torch.cat([self.ids, ids], dim=1)
        rows = [table(tuple(row)) for table, row in zip(self.tables, self.ids.tolist())]
        return torch.tensor(rows).log()[:, None]

    def select(self, rows):
        super().select(rows)
        self.tables = [self.tables[i] for i in rows.tolist()]


def table_of_ties(seed):
    """Probabilities in quarters, some of them 0; sentences of at most five tokens."""
    drawn = {}

    def next_word(read):
        if read not in drawn:
            drawn[read] = random.Random(hash((seed, read))).choice(
                [(0.25, 0.25, 0.25, 0.25), (0.5, 0.25, 0.25, 0.0), (0.0, 0.5, 0.0, 0.5), (0.0, 0.0, 1.0, 0.0)]
            )
        return words(1.0, 0.0, 0.0, 0.0) if len(read) == 6 else words(*drawn[read])

    return next_word


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [1, 2, 4, 9])
def test_beams_break_ties_as_the_beam_does(seed, width):
    tables = [table_of_ties((seed, i)) for i in range(4)]
    options = {"width": width, "length_penalty": [0.0, 1.0, 2.0][seed % 3], "max_len": 3 + seed % 4}
    alone = [last(beam(Table(table), VOCAB, **options)).kept for table in tables]
    assert beams(Tables(tables), VOCAB, **options) == alone


def test_beams_without_any_hypothesis_are_empty():
    class Lost(Table):
        def step(self, ids):
            return super().step(ids) * torch.nan

    found = beams(Lost(trap, batch_size=2), VOCAB)
    assert found == [[], []] and last(beam(Lost(trap), VOCAB)).kept == []


def test_beams_ask_for_open_hypotheses_alone():
    read = []

    class Counted(Tables):
        def step(self, ids):
            read.append(len(ids))
            return super().step(ids)

    beams(Counted([trap, lambda ids: words(1.0, 0.0, 0.0, 0.0)]), VOCAB, width=2)
    assert read[0] == 2 and max(read[1:]) <= 2


def test_sources_are_kept_while_their_rows_change_places():
    ours, ids = model(), draw_ids(4, 5)
    written = Cached(ours, SRC)
    written.select(torch.tensor([0, 0, 1, 1]))
    written.step(ids[:, :2])
    before = written.layers[0].cross_k
    swapped = torch.tensor([1, 0, 3, 3])
    written.select(swapped)
    assert written.layers[0].cross_k is before
    expected, _ = ours(SRC[[0, 0, 1, 1]], torch.cat([ids[swapped, :2], ids[:, 2:]], dim=1))
    torch.testing.assert_close(written.step(ids[:, 2:]), expected[:, 2:], atol=1e-12, rtol=0)


def test_errors_of_beams():
    for options, message in [
        ({"width": 0}, "width is 0; expected a whole number, 1 or more"),
        ({"max_len": 0}, "max_len is 0; expected a whole number, 1 or more"),
        ({"length_penalty": -1}, "length_penalty is -1; expected a number from 0 to 10"),
        ({"length_penalty": math.inf}, "length_penalty is inf; expected a number from 0 to 10"),
    ]:
        with pytest.raises(ValueError, match=message):
            beams(Table(trap, batch_size=2), VOCAB, **options)


# --- sampling --------------------------------------------------------------------------------------------------

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0])
P = LOGITS.softmax(-1)  # 0.644 0.237 0.087 0.032


def test_distribution_is_the_softmax_unless_told_otherwise():
    torch.testing.assert_close(distribution(LOGITS), P)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0, 10.0])
def test_temperature_divides_the_logits(temperature):
    torch.testing.assert_close(distribution(LOGITS, temperature=temperature), (LOGITS / temperature).softmax(-1))


@pytest.mark.parametrize(("dtype", "temperature"), [(torch.half, 1e-4), (torch.float, 1e-38), (torch.double, 1e-308)])
def test_at_a_very_low_temperature_the_likeliest_word_is_drawn(dtype, temperature):
    logits = torch.tensor([[20.0, 10.0, -torch.inf], [-10.0, -10.0, -20.0]], dtype=dtype)
    assert distribution(logits, temperature=temperature).tolist() == [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


def test_top_k_keeps_k_words():
    torch.testing.assert_close(distribution(LOGITS, top_k=2), torch.tensor([P[0], P[1], 0, 0]) / (P[0] + P[1]))
    torch.testing.assert_close(distribution(LOGITS, top_k=9), P)
    for size in (4, 100):  # of equally likely ones, torch's usual sort mixes 17 or more
        expected = torch.tensor([0.5, 0.5] + [0.0] * (size - 2))
        torch.testing.assert_close(distribution(torch.zeros(size), top_k=2), expected)


@pytest.mark.parametrize(("top_p", "kept"), [(0.1, 1), (0.64, 1), (0.65, 2), (0.88, 2), (0.9, 3), (0.99, 4), (1.0, 4)])
def test_top_p_keeps_the_word_that_crosses_p(top_p, kept):
    expected = torch.zeros(4)
    expected[:kept] = P[:kept] / P[:kept].sum()
    torch.testing.assert_close(distribution(LOGITS, top_p=top_p), expected)


def test_top_p_needs_no_word_beyond_p():
    torch.testing.assert_close(distribution(torch.zeros(4), top_p=0.5), torch.tensor([0.5, 0.5, 0.0, 0.0]))


def test_top_p_counts_what_top_k_left():
    torch.testing.assert_close(distribution(LOGITS, top_k=2, top_p=0.7), torch.tensor([1.0, 0.0, 0.0, 0.0]))


@pytest.mark.parametrize("options", [{"temperature": 0.7, "top_k": 3, "top_p": 0.9}, {"top_k": 3}])
def test_order_of_the_words_does_not_matter_and_rows_are_apart(options):
    order = torch.tensor([2, 0, 3, 1])
    both = distribution(torch.stack([LOGITS, LOGITS[order]]), **options)
    torch.testing.assert_close(both[1], both[0][order])
    torch.testing.assert_close(both.sum(-1), torch.ones(2))


def test_words_of_minus_infinity_are_never_drawn():
    torch.testing.assert_close(distribution(torch.tensor([1.0, -torch.inf, 0.0]), top_p=1.0)[1], torch.tensor(0.0))


def test_samples_follow_the_distribution():
    drawn = last(
        sample(
            Table(lambda read: words(0.1, 0.2, 0.3, 0.4), batch_size=20_000), VOCAB, generator=generator(), max_len=1
        )
    ).ids[:, 1]
    shares = torch.bincount(drawn, minlength=7) / len(drawn)
    torch.testing.assert_close(shares, torch.tensor(words(0.1, 0.2, 0.3, 0.4)), atol=0.012, rtol=0)


def test_samples_depend_on_the_generator_alone():
    ours = model()
    runs = [last(sample(Cached(ours, SRC), VOCAB, generator=generator(s), max_len=9)).ids.tolist() for s in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


LIKELIEST = [{"temperature": 1e-6}, {"top_k": 1}, {"top_p": 0.01}]  # with each, only one word can be drawn


@pytest.mark.parametrize("options", LIKELIEST)
def test_options_reach_the_samples(options):
    ours = model()
    cold = last(sample(Cached(ours, SRC), VOCAB, generator=generator(), max_len=9, **options)).ids
    assert cold.tolist() == last(greedy(Cached(ours, SRC), VOCAB, max_len=9)).ids.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"temperature": 0.0},
            "temperature is 0.0; expected a finite number above 0; for the most likely .* use greedy",
        ),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf; expected a finite number above 0"),
        ({"top_k": 0}, "top_k is 0; expected a whole number, 1 or more"),
        ({"top_k": 1.5}, "top_k is 1.5"),
        ({"top_p": 0.0}, "top_p is 0.0; expected a sum of probabilities above 0, up to 1"),
        ({"top_p": 1.1}, "top_p is 1.1"),
    ],
)
def test_errors_of_the_distribution(options, message):
    with pytest.raises(ValueError, match=message):
        distribution(LOGITS, **options)
    with pytest.raises(ValueError, match=r"^logits has no axis; expected \(\.\.\., V\)$"):
        distribution(torch.tensor(1.0))


REFUSED_OPTIONS = [{"temperature": -1.0}, {"top_k": 0}, {"top_p": 2.0}]


@pytest.mark.parametrize("options", REFUSED_OPTIONS)
def test_options_that_are_refused_leave_the_decoder_as_it_was(options):
    table, draft = Table(trap), Table(trap)
    with pytest.raises(ValueError, match=f"^{next(iter(options))} is "):
        next(sample(table, VOCAB, generator=generator(), **options))
    with pytest.raises(ValueError, match=f"^{next(iter(options))} is "):
        next(speculative(draft, table, VOCAB, generator=generator(), **options))
    assert table.length == draft.length == 0


# --- speculative decoding --------------------------------------------------------------------------------------


@pytest.mark.thorough("draws hundreds of times")
def test_a_judged_word_is_drawn_as_the_large_model_would():
    guessed, true = torch.tensor([[0.7, 0.2, 0.1, 0.0]]), torch.tensor([[0.3, 0.3, 0.0, 0.4], [1.0, 0.0, 0.0, 0.0]])
    drawn, stayed, random = torch.zeros(4), 0, generator()
    for word in torch.multinomial(guessed[0], 5000, replacement=True, generator=random).tolist():
        accepted, own = judge((word,), guessed, true, random)
        drawn[word if accepted else own] += 1
        stayed += accepted
    torch.testing.assert_close(drawn / 5000, true[0], atol=0.012, rtol=0)
    assert stayed / 5000 == pytest.approx(torch.minimum(guessed[0], true[0]).sum().item(), abs=0.012)


def test_an_impossible_word_is_refused():
    """Where the models agree, nothing is left of true - guessed: the next word is drawn from true."""
    probabilities = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert judge((0,), probabilities[:1], probabilities, generator()) == (0, 1)


def speculate(table, draft, seed, **options):
    steps = list(speculative(Table(draft), Table(table), VOCAB, generator=generator(seed), **options))
    return steps[-1].ids, steps


@pytest.mark.one_of(3)
@pytest.mark.parametrize("proposals", [1, 2, 5])
def test_whole_sentences_are_drawn_as_the_large_model_would(proposals):
    """All sentences of at most three words: their shares against their probabilities, by a chi-squared of 1 sigma."""
    table, draft, runs = random_table(1), random_table(2), 300  # with seeds that give less
    counts = {}
    for seed in range(runs):
        ids, _ = speculate(table, draft, seed, proposals=proposals)
        counts[ids] = counts.get(ids, 0) + 1
    expected = {ids: runs * math.exp(log_prob) for ids, log_prob in all_sentences(table)}
    assert counts.keys() <= expected.keys()
    chi = sum((counts.get(ids, 0) - wanted) ** 2 / wanted for ids, wanted in expected.items())
    freedom = len(expected) - 1
    assert abs(chi - freedom) < math.sqrt(2 * freedom)


def test_a_perfect_draft_is_always_believed():
    ids, steps = speculate(random_table(1), random_table(1), 0, proposals=3)
    assert all(step.accepted == len(step.proposed) for step in steps)
    assert ids[-1] == EOS


def test_a_hopeless_draft_costs_passes_and_nothing_else():
    ids, steps = speculate(trap, lambda read: words(0.0, 0.0, 0.0, 1.0), 0, proposals=3, top_k=1)
    assert ids == (1, A, EOS)
    assert [step.accepted for step in steps] == [0, 0]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("positions", POSITIONS)
def test_with_one_word_allowed_it_is_greedy(decoder, positions):
    """Most proposals are refused here: what was read and taken back must leave no trace."""
    large, small = model(seed=1, positions=positions), model(seed=2, num_layers=1)
    decoders, options = (decoder(small, SRC[:1]), decoder(large, SRC[:1])), {"proposals": 3, "top_k": 1, "max_len": 15}
    found = last(speculative(*decoders, VOCAB, generator=generator(), **options)).ids
    assert list(found) == last(greedy(decoder(large, SRC[:1]), VOCAB, max_len=15)).ids[0].tolist()


@pytest.mark.parametrize("options", LIKELIEST)
def test_options_reach_the_speculation(options):
    ids, _ = speculate(random_table(1), random_table(2), 0, **options)
    assert list(ids) == last(greedy(Table(random_table(1)), VOCAB)).ids[0].tolist()


@pytest.mark.parametrize("max_len", [1, 2, 3, 4, 7])
def test_speculation_keeps_to_max_len(max_len):
    ids, steps = speculate(endless, endless, 0, proposals=3, max_len=max_len)
    assert len(ids) == max_len + 1
    assert [step.ids for step in steps] == [ids[: len(step.ids)] for step in steps]


def test_nothing_follows_an_accepted_end_mark():
    ends = lambda read: words(1.0, 0.0, 0.0, 0.0) if len(read) > 1 else words(0.0, 1.0, 0.0, 0.0)  # noqa: E731
    ids, steps = speculate(ends, ends, 0, proposals=5)
    assert ids == (1, A, EOS)
    assert steps[0].proposed == (A, EOS) and steps[0].accepted == 2


def test_errors_of_speculation():
    with pytest.raises(ValueError, match="draft has 2 sentences; expected one"):
        next(speculative(Table(trap, batch_size=2), Table(trap), VOCAB, generator=generator()))
    with pytest.raises(ValueError, match="decoder has 2 sentences; expected one"):
        next(speculative(Table(trap), Table(trap, batch_size=2), VOCAB, generator=generator()))
    with pytest.raises(ValueError, match="proposals is 0; expected a whole number, 1 or more"):
        next(speculative(Table(trap), Table(trap), VOCAB, generator=generator(), proposals=0))


# --- defaults --------------------------------------------------------------------------------------------------


def endless(read):
    return words(0.0, 1.0, 0.0, 0.0)


def test_what_does_not_end_has_50_words_unless_told_otherwise():
    written, steps = speculate(endless, endless, 0)
    found = [
        last(greedy(Table(endless), VOCAB)).ids[0],
        last(sample(Table(endless), VOCAB, generator=generator())).ids[0],
        last(beam(Table(endless), VOCAB)).kept[0].ids,
        beams(Table(endless), VOCAB)[0][0].ids,
        written,
    ]
    assert [len(ids) for ids in found] == [1 + 50] * 5
    assert len(steps[0].proposed) == 4


def test_a_beam_keeps_four_and_scores_per_length_unless_told_otherwise():
    table, options = random_table(0), {"width": 4, "length_penalty": 1.0}
    expected = last(beam(Table(table), VOCAB, **options)).kept
    assert last(beam(Table(table), VOCAB)).kept == beams(Table(table), VOCAB)[0] == expected
    assert len(expected) == 4
