"""lessons.vocabulary: words to ids and back, and sentences of different length in one batch."""

import pytest
import torch

from lessons.vocabulary import Vocabulary, pad_batch


@pytest.fixture
def vocabulary():
    return Vocabulary(["the", "cat", "sat", "the", "<eos>", "mat"])


def test_special_words_come_first_and_each_word_stands_once(vocabulary):
    assert vocabulary.words == ["<pad>", "<bos>", "<eos>", "<unk>", "the", "cat", "sat", "mat"]
    assert len(vocabulary) == 8
    assert (vocabulary.pad_id, vocabulary.bos_id, vocabulary.eos_id, vocabulary.unk_id) == (0, 1, 2, 3)


def test_words_may_come_from_any_iterable():
    assert Vocabulary(iter(["b", "a", "b"])).words[4:] == ["b", "a"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({}, [6, 5, 3]),
        ({"bos": True}, [1, 6, 5, 3]),
        ({"eos": True}, [6, 5, 3, 2]),
        ({"bos": True, "eos": True}, [1, 6, 5, 3, 2]),
    ],
)
@pytest.mark.parametrize("sentence", ["sat cat dog", "  sat\ncat dog ", ["sat", "cat", "dog"], ("sat", "cat", "dog")])
def test_encode(vocabulary, sentence, options, ids):
    assert vocabulary.encode(sentence, **options) == ids


def test_encode_of_nothing(vocabulary):
    assert vocabulary.encode("") == []
    assert vocabulary.encode([], bos=True, eos=True) == [1, 2]


def test_a_word_in_a_list_is_not_cut(vocabulary):
    assert vocabulary.encode(["the cat"]) == [vocabulary.unk_id]


@pytest.mark.parametrize("of_type", [list, tuple, iter, torch.tensor])
def test_decode(vocabulary, of_type):
    assert vocabulary.decode(of_type([6, 0, 7])) == ["sat", "<pad>", "mat"]


def test_every_id_decodes_to_its_word_and_back(vocabulary):
    words = vocabulary.decode(range(8))
    assert words == vocabulary.words
    assert vocabulary.encode(words) == list(range(8))


@pytest.mark.parametrize("bad", [-1, 8])
@pytest.mark.parametrize("of_type", [list, torch.tensor])
def test_decode_refuses_an_id_that_no_word_has(vocabulary, bad, of_type):
    with pytest.raises(ValueError, match=f"ids contains {bad}; expected ids from 0 to 7"):
        vocabulary.decode(of_type([5, bad, 6]))


@pytest.mark.parametrize("pad_id", [0, 9])
def test_pad_batch_fills_up_to_the_longest_sentence(pad_id):
    ours = pad_batch([[5, 6], [], (7, 5, 6)], pad_id=pad_id)
    theirs = torch.tensor([[5, 6, pad_id], [pad_id, pad_id, pad_id], [7, 5, 6]])
    torch.testing.assert_close(ours, theirs)


def test_pad_batch_of_empty_sentences_holds_ids_too():
    torch.testing.assert_close(pad_batch([[], []], pad_id=0), torch.empty(2, 0, dtype=torch.long))


def test_pad_batch_refuses_an_empty_batch():
    with pytest.raises(ValueError, match=r"^sentences is empty; expected one sentence or more$"):
        pad_batch([], pad_id=0)


def test_pad_batch_takes_a_tensor():
    ids = torch.tensor([[1, 2], [3, 4]])
    assert torch.equal(pad_batch(ids, pad_id=0), ids)


@pytest.mark.parametrize("ids", [torch.tensor([[1, 2]]), torch.tensor([1.0])])
def test_decode_refuses_what_is_no_sentence_of_ids(ids):
    with pytest.raises(ValueError, match="expected ids from 0 to"):
        Vocabulary(["a", "b"]).decode(ids)
