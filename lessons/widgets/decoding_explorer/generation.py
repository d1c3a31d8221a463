"""Generation for DecodingExplorer: token by token, and a beam step by step."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from lessons.decoding import BeamStep, IncrementalDecoder, Table, beam, distribution, greedy
from lessons.decoding.sampling import draw_ids
from lessons.vocabulary import Vocabulary

MakeDecoder = Callable[[], IncrementalDecoder]


@contextmanager
def blamed() -> Generator[None]:
    """Turns any exception of the learner's function into a ValueError, which the browser shows."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"the decoder raised {type(error).__name__}: {error}; expected logits") from error


class Reader:
    """The logits after any tokens. It reads token by token, as `greedy` and `sample` do, so that all digits agree."""

    def __init__(self, make_decoder: MakeDecoder, vocab: Vocabulary):
        self.make_decoder, self.vocab = make_decoder, vocab
        self._start()

    def after(self, chosen: Sequence[int]) -> list[Tensor]:
        """The logits (V,) after BOS, and after each token of `chosen`."""
        ids = [self.vocab.bos_id, *chosen]
        try:
            with blamed():
                self._return_to(count_shared(ids, self._ids))
                for i in ids[len(self._ids) :]:
                    logits = self._decoder.step(torch.tensor([[i]], device=self._decoder.device))[0, -1]
                    self._logits.append(self._check(logits.detach().cpu(), [*self._ids, i]))
                    self._ids.append(i)
        except ValueError:
            self._start()
            raise
        return list(self._logits)

    def _return_to(self, count: int) -> None:
        """Undo all but the first `count` tokens. A decoder that can't, such as one with a full ring, begins again."""
        try:
            self._decoder.forget(len(self._ids) - count)
            self._ids, self._logits = self._ids[:count], self._logits[:count]
        except ValueError:
            self._start()

    def _start(self) -> None:
        self._decoder, self._ids, self._logits = self.make_decoder(), [], []

    def _check(self, logits: Tensor, ids: list[int]) -> Tensor:
        if len(logits) != len(self.vocab):
            wanted = f"{len(self.vocab)}, one for each word of vocab"
            raise ValueError(f"make_decoder gives {len(logits)} logits; expected {wanted}")
        if not logits.softmax(dim=-1).isfinite().all():
            words = " ".join(self.vocab.decode(ids))
            raise ValueError(f"the logits after “{words}” give no probabilities; expected numbers or −∞, not all −∞")
        return logits


def count_shared(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of equal tokens at the start of both."""
    pairs = zip(one, other)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def check_parts(make_decoder: Any, vocab: Any) -> None:
    """Raise a ValueError unless make_decoder makes a new decoder of one sentence."""
    if not isinstance(vocab, Vocabulary):
        raise ValueError(f"vocab is a {type(vocab).__name__}; expected a Vocabulary")
    wanted = "a function without arguments that makes a decoder of one sentence, as lambda: Cached(model, src)"
    if not callable(make_decoder):
        raise ValueError(f"make_decoder is a {type(make_decoder).__name__}; expected {wanted}")
    decoder: Any = make_decoder()
    if not all(hasattr(decoder, name) for name in ("step", "forget", "select", "batch_size")):
        raise ValueError(f"make_decoder makes a {type(decoder).__name__}; expected {wanted}")
    if decoder.batch_size != 1 or decoder.length != 0:
        found = f"{decoder.batch_size} sentences that has read {decoder.length} words"
        raise ValueError(f"make_decoder makes a decoder of {found}; expected one sentence and no word")
    if make_decoder() is decoder:
        raise ValueError("make_decoder returns the same decoder twice; expected a new one each time")


def draw_last(logits: Sequence[Tensor], seed: int, options: dict[str, Any]) -> int:
    """The token that `sample` draws after the last of these logits, one draw for each of them."""
    generator = torch.Generator().manual_seed(seed)
    return [int(draw_ids(distribution(row, **options), generator)) for row in logits][-1]


def log_prob(logits: Sequence[Tensor], chosen: Sequence[int]) -> list[float]:
    """The log probability of each chosen token, by the model itself."""
    return [row.double().log_softmax(dim=-1)[word].item() for row, word in zip(logits, chosen)]


def generate_greedily(make_decoder: MakeDecoder, vocab: Vocabulary, max_len: int) -> tuple[list[int], float]:
    """The sentence of greedy decoding without BOS, and the log of its probability."""
    with blamed():
        steps = list(greedy(make_decoder(), vocab, max_len=max_len))
    chosen = steps[-1].ids[0, 1:].tolist()
    return chosen, sum(log_prob([step.logits[0] for step in steps], chosen))


class Search:
    """A beam search that runs only as far as needed."""

    def __init__(self, make_decoder: MakeDecoder, vocab: Vocabulary, **options: Any):
        self.steps: list[BeamStep] = []
        self._more = beam(make_decoder(), vocab, **options)
        self.ended = False

    def up_to(self, depth: int) -> list[BeamStep]:
        """The first `depth` steps, or all if there are fewer."""
        while len(self.steps) < depth and not self.ended:
            with blamed():
                step = next(self._more, None)
            if step is None:
                self.ended = True
            elif not step.kept:
                raise ValueError("the beam is empty: no logits of this step give a probability; expected numbers or −∞")
            else:
                self.steps.append(step)
                self.ended = all(hypothesis.finished for hypothesis in step.kept)
        return self.steps[:depth]


def example() -> tuple[MakeDecoder, Vocabulary]:
    """Three words and EOS: the most likely first word leads away from the most likely sentence."""
    vocab = Vocabulary(["thanks", "thank", "you"])
    after: dict[tuple[str, ...], tuple[float, ...]] = {
        (): (0.0, 0.5, 0.4, 0.1),
        ("thanks",): (0.36, 0.2, 0.14, 0.3),
        ("thank",): (0.03, 0.01, 0.01, 0.95),
        ("thank", "you"): (0.9, 0.04, 0.03, 0.03),
    }

    def next_word(read: tuple[int, ...]) -> list[float]:
        row = [0.0] * len(vocab)
        known = after.get(tuple(vocab.decode(read[1:])), (0.7, 0.1, 0.1, 0.1))
        for word, probability in zip(("<eos>", "thanks", "thank", "you"), known):
            row[vocab.encode(word)[0]] = probability
        return row

    return lambda: Table(next_word), vocab
