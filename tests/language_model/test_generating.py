"""lessons.language_model.generating, beside Hugging Face's rules for the next token."""

from collections import Counter
from dataclasses import replace

import pytest
import torch

from lessons.decoding import beam, greedy, last, speculative
from lessons.language_model import Reader, generate, next_distribution, penalized
from lessons.vocabulary import Vocabulary

from . import SMALL, draw, scrambled


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def continued(model, ids, count):
    """Greedy, by full passes."""
    with torch.no_grad():
        for _ in range(count):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(dim=-1)], dim=1)
    return ids


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_at_temperature_0_it_takes_the_most_likely_token(positions, window):
    model, ids = scrambled(replace(SMALL, positions=positions, window=window)), draw(3, 4)
    assert torch.equal(generate(model, ids, 10, temperature=0), continued(model, ids, 10))
    assert torch.equal(generate(model, ids, 0, temperature=0), ids)


def test_rotary_positions_go_beyond_max_len():
    model, ids = scrambled(replace(SMALL, max_len=4)), draw(2, 3)
    assert torch.equal(generate(model, ids, 9, temperature=0), continued(model, ids, 9))


@pytest.mark.parametrize("length", [3, 6, 9])
def test_where_learned_positions_end_it_continues_with_the_last_half(length):
    model, ids = scrambled(replace(SMALL, positions="learned", max_len=6)), draw(2, length)
    expected, read = ids, ids[:, -6:]
    for _ in range(9):
        after = continued(model, read, 1)
        expected = torch.cat([expected, after[:, -1:]], dim=1)
        read = expected[:, -3:] if read.size(1) == 6 else after
    assert torch.equal(generate(model, ids, 9, temperature=0), expected)


def test_the_same_generator_gives_the_same_text():
    model, ids = scrambled(SMALL), draw(2, 3)
    texts = [generate(model, ids, 9, generator=torch.Generator().manual_seed(seed)).tolist() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert torch.equal(generate(model, ids, 9, top_k=1), generate(model, ids, 9, temperature=0))


def test_tokens_are_drawn_as_often_as_they_are_likely():
    model, ids = scrambled(SMALL), draw(1, 3)
    options = {"temperature": 2.0, "top_k": 7, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.5}
    expected = next_distribution(model(ids)[:, -1], ids, **options)[0]
    found = generate(model, ids.expand(4000, -1), 1, generator=torch.Generator().manual_seed(0), **options)[:, -1]
    counts = Counter(found.tolist())
    torch.testing.assert_close(
        torch.tensor([counts[i] / 4000 for i in range(11)], dtype=torch.float64), expected, rtol=0, atol=0.03
    )


@pytest.mark.parametrize("stop", [4, [4, 7], {4}])
def test_after_a_stop_a_text_repeats_it_and_all_texts_end_together(stop):
    model, ids = scrambled(SMALL), draw(6, 2)
    stops = [stop] if isinstance(stop, int) else list(stop)
    generator = torch.Generator().manual_seed(3)
    found = generate(model, ids, 60, temperature=2.0, stop=stop, generator=generator)
    ends = []
    for row in found[:, 2:].tolist():
        end = next(i for i, token in enumerate(row) if token in stops)
        assert set(row[end:]) == {row[end]}
        ends.append(end)
    assert found.size(1) == 2 + max(ends) + 1 < 62
    assert len(set(ends)) > 1


def test_stop_ids_of_the_prompt_do_not_end_a_text():
    model, ids = scrambled(SMALL), torch.full((1, 3), 4)
    assert generate(model, ids, 1, temperature=0, stop=4).size(1) == 4


RULES = [
    ({}, []),
    ({"repetition_penalty": 1.7}, [("RepetitionPenaltyLogitsProcessor", 1.7)]),
    ({"repetition_penalty": 0.6}, [("RepetitionPenaltyLogitsProcessor", 0.6)]),
    ({"min_p": 0.2}, [("MinPLogitsWarper", 0.2)]),
    ({"min_p": 1.0}, [("MinPLogitsWarper", 1.0)]),
    ({"min_p": 0.0}, []),
    (
        {"repetition_penalty": 1.3, "temperature": 0.7, "top_k": 9, "top_p": 0.9, "min_p": 0.05},
        [
            ("RepetitionPenaltyLogitsProcessor", 1.3),
            ("TemperatureLogitsWarper", 0.7),
            ("TopKLogitsWarper", 9),
            ("TopPLogitsWarper", 0.9),
            ("MinPLogitsWarper", 0.05),
        ],
    ),
]


@pytest.mark.parametrize(("options", "rules"), RULES, ids=[str(options) for options, _ in RULES])
def test_the_next_distribution_is_that_of_hugging_face(options, rules):
    import transformers  # every worker imports this file, and one of them runs its tests

    logits, ids = 2 * torch.randn(5, 11, dtype=torch.float64), torch.randint(11, (5, 7))
    theirs = logits
    for rule, number in rules:
        theirs = getattr(transformers, rule)(number)(ids, theirs)
    torch.testing.assert_close(next_distribution(logits, ids, **options), theirs.softmax(dim=-1))


def test_a_penalty_makes_seen_tokens_less_likely_whatever_their_sign():
    logits, ids = torch.tensor([[2.0, -2.0, 1.0, -1.0]]), torch.tensor([[0, 1, 1]])
    assert penalized(logits, ids, 2.0).tolist() == [[1.0, -4.0, 1.0, -1.0]]
    assert penalized(logits, ids, 1.0) is logits


def test_a_penalty_counts_at_temperature_0_as_well():
    model, ids = scrambled(SMALL), draw(1, 5)
    logits, ids = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0, 0]])
    assert penalized(logits, ids, 2.0).argmax() == 1
    model, ids = scrambled(SMALL), draw(1, 5)
    plain = generate(model, ids, 12, temperature=0)
    assert len(set(plain[0, -6:].tolist())) < 6 <= len(set(plain[0].tolist()))


class TestReader:
    VOCAB = Vocabulary(list("abcdefg"))  # 11 ids with the special ones

    def test_greedy_and_beam_of_the_other_lessons(self):
        model, prompt = scrambled(SMALL), draw(1, 4)
        start = torch.full((1, 1), self.VOCAB.bos_id)
        reader = Reader(model)
        reader.step(prompt)
        found = last(greedy(reader, self.VOCAB, max_len=6)).ids
        expected = continued(model, torch.cat([prompt, start], dim=1), found.size(1) - 1)
        assert torch.equal(found, expected[:, 4:])

        reader = Reader(model)
        reader.step(prompt)
        kept = last(beam(reader, self.VOCAB, width=1, max_len=6)).kept
        assert kept[0].ids == tuple(found[0].tolist())

    def test_speculative_decoding_with_all_but_one_token_out_of_reach_is_greedy(self):
        model, draft = scrambled(SMALL), scrambled(replace(SMALL, num_layers=1))
        expected = last(greedy(Reader(model), self.VOCAB, max_len=12)).ids[0].tolist()
        steps = speculative(Reader(draft), Reader(model), self.VOCAB, generator=torch.Generator(), top_k=1, max_len=12)
        assert list(last(steps).ids) == expected


MODEL, IDS = scrambled(SMALL), torch.zeros(1, 3, dtype=torch.long)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1}, "temperature is -1; expected 0 for the most likely token, or a number above 0"),
        ({"temperature": float("inf")}, "temperature is inf; expected 0"),
        ({"top_k": 0}, "top_k is 0; expected a whole number, 1 or more, or None"),
        ({"top_p": 2.0}, "top_p is 2.0; expected a sum of probabilities"),
        ({"min_p": 1.5}, "min_p is 1.5; expected a number from 0 to 1, or None"),
        ({"repetition_penalty": 0}, "repetition_penalty is 0; expected a number above 0"),
        ({"max_new_tokens": -1}, "max_new_tokens is -1; expected a whole number, 0 or more"),
        ({"ids": IDS[0]}, r"ids has shape \(3,\); expected \(B, T\) with one token or more"),
        ({"ids": IDS[:, :0]}, r"ids has shape \(1, 0\); expected \(B, T\) with one token or more"),
        ({"ids": [[1]]}, "ids has shape list; expected"),
        ({"ids": IDS + 11}, "ids contains 11; expected ids from 0 to 10"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        generate(MODEL, **{"ids": IDS, "max_new_tokens": 2, **options})
