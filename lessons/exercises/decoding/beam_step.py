"""Lesson 12: my_beam_step."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.decoding.shared import INF, _best


def beam_step(
    log_probs: Tensor, next_log_probs: Tensor, finished: Tensor, pad_id: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The W best of all hypotheses with one word more: their parents, words and log-probabilities, (W,) each.

    log_probs (W,), next_log_probs (W, V), finished (W,) bool. A finished one goes on with pad_id at no cost.
    """
    width, vocab_size = next_log_probs.shape
    stays = torch.full((vocab_size,), -torch.inf).index_fill(0, torch.tensor([pad_id]), 0.0)
    totals = log_probs[:, None] + torch.where(finished[:, None], stays, next_log_probs)  # (W, V)
    best, places = totals.flatten().topk(width)
    return places // vocab_size, places % vocab_size, best


def _beam(log_probs, rows, finished, pad_id, *, cost=0.0, rest=-INF, first=0.0, join=torch.add):
    """beam_step with something changed: what a finished one pays for padding and for other words."""
    stays = torch.full((rows.size(1),), rest).index_fill(0, torch.tensor([pad_id]), cost)
    rows = torch.where(finished[:, None], stays, rows)
    return _best(join(log_probs[:, None] + first, rows), len(rows))


def _one_for_each_parent(log_probs, rows, finished, pad_id):
    best, words = (log_probs[:, None] + _with_padding(rows, finished, pad_id)).max(dim=1)
    best, order = best.sort(descending=True)
    return order, words[order], best


def _one_for_each_parent_unsorted(log_probs, rows, finished, pad_id):
    best, words = (log_probs[:, None] + _with_padding(rows, finished, pad_id)).max(dim=1)
    return torch.arange(len(rows)), words, best


def _as_probabilities(log_probs, rows, finished, pad_id):
    parents, words, best = beam_step(log_probs, rows, finished, pad_id)
    return parents, words, best.exp()


def _increments(log_probs, rows, finished, pad_id):
    parents, words, best = beam_step(log_probs, rows, finished, pad_id)
    return parents, words, best - log_probs[parents]


def _ascending(log_probs, rows, finished, pad_id):
    return tuple(result.flip(0) for result in beam_step(log_probs, rows, finished, pad_id))


def _worst(log_probs, rows, finished, pad_id):
    stays = torch.full((rows.size(1),), INF).index_fill(0, torch.tensor([pad_id]), 0.0)
    totals = log_probs[:, None] + torch.where(finished[:, None], stays, rows)
    best, places = totals.flatten().topk(len(rows), largest=False)
    return places // rows.size(1), places % rows.size(1), best


def _by_width(log_probs, rows, finished, pad_id):
    best, places = (log_probs[:, None] + _with_padding(rows, finished, pad_id)).flatten().topk(len(rows))
    return places // len(rows), places % len(rows), best


def _swapped(log_probs, rows, finished, pad_id):
    parents, words, best = beam_step(log_probs, rows, finished, pad_id)
    return words, parents, best


def _with_padding(rows: Tensor, finished: Tensor, pad_id: int) -> Tensor:
    stays = torch.full((rows.size(1),), -torch.inf).index_fill(0, torch.tensor([pad_id]), 0.0)
    return torch.where(finished[:, None], stays, rows)


def _beam_cases(generator) -> list[Case]:
    def case(width, vocab_size, ended, pad_id, *, finished_at=-0.5, about=""):
        rows = (2 * numbers(generator, width, vocab_size)).log_softmax(dim=-1)
        log_probs = numbers(generator, width).abs().neg() - 1
        finished = torch.tensor([i in ended for i in range(width)])
        log_probs[finished] = torch.linspace(finished_at, finished_at - 0.25, width)[finished]
        return Case(
            {"log_probs": log_probs, "next_log_probs": rows, "finished": finished, "pad_id": pad_id}, about=about
        )

    return [
        case(2, 4, [], 0),
        case(3, 5, [], 4),
        case(3, 5, [1], 2, about="one hypothesis is finished"),
        case(4, 4, [0, 2], 0, about="two are finished, and as many hypotheses as words"),
        case(3, 6, [2], 1, finished_at=-9.0, about="a finished one is too unlikely to stay"),
    ]


going_on = Exercise(
    lesson="12",
    name="my_beam_step",
    reference=beam_step,
    cases=_beam_cases,
    outputs=("parents", "words", "log_probs"),
    mistakes=[
        Mistake(
            lambda log_probs, rows, finished, pad: _best(log_probs[:, None] + rows, len(rows)),
            "The finished hypothesis goes on growing: a word was put after its end mark. It stays as it is.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, cost=-INF),
            "The finished hypothesis is gone: all its continuations are −∞. One must stay, padding, and cost nothing.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _best(
                log_probs[:, None]
                + torch.where(finished[:, None] & (torch.arange(rows.size(1)) != pad), -torch.inf, rows),
                len(rows),
            ),
            "The finished hypothesis pays for its padding: the model's log-probability of the padding was added. "
            "Padding after the end costs nothing: + 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _best(
                log_probs[:, None]
                + rows.where(~(finished[:, None] & (torch.arange(rows.size(1)) == pad)), torch.tensor(0.0)),
                len(rows),
            ),
            "Padding costs nothing now, but the finished hypothesis may go on with other words, too. In its row all "
            "else is −∞.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs.masked_fill(finished, 0.0), rows, finished, pad),
            "The finished hypothesis has lost its own log_prob, and counts as certain. Padding adds 0 to it; it does "
            "not make it 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _best(
                log_probs[:, None] + _with_padding(rows, finished, pad).index_fill(1, torch.tensor([pad]), 0.0),
                len(rows),
            ),
            "Padding costs nothing in any row, so that it is always likeliest. That is for the finished ones alone.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, ~finished, pad),
            "It is the unfinished ones that you keep from growing. True in finished says: it has its end mark.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, rest=0.0),
            "The finished hypothesis is in the beam several times: each word after it costs nothing. Padding alone "
            "may follow; all else is −∞.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            _one_for_each_parent,
            "You took the best word of each hypothesis. The W best of all W · V candidates are looked for: two of "
            "them may have the same parent.",
            also=[_one_for_each_parent_unsorted],
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, cost=1.0),
            "Padding after the end adds 1. It is certain, so its probability is 1, and its logarithm 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, 0),
            "The finished hypothesis goes on with id 0. Padding has the id that the caller says: pad_id.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            _as_probabilities,
            "parents and words are right; the third result holds probabilities. Asked for are their logarithms.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(0 * log_probs, rows, finished, pad),
            "What was written so far does not count: add the hypothesis' own log_probs to those of the next word.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, join=torch.mul),
            "Logarithms were multiplied. Probabilities multiply, so their logarithms add.",
            also=[
                lambda log_probs, rows, finished, pad: _best(
                    log_probs[:, None] * _with_padding(rows, finished, pad).clamp(min=-1e9), len(rows)
                )
            ],
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows.exp(), finished, pad),
            "A probability was added to a logarithm. next_log_probs holds logarithms already: add them as they are.",
        ),
        Mistake(
            _increments,
            "parents and words are right; the third result holds what the last word adds. Asked for is the sum of that "
            "and of what was there before.",
        ),
        Mistake(_worst, "Those are the W least likely candidates."),
        Mistake(
            _ascending,
            "Those are the W best candidates, but the best comes last. Best first: descending=True, or topk.",
        ),
        Mistake(
            _by_width,
            "parents and words are wrongly cut apart: in the flattened (W, V) place = parent · V + word; divide by V.",
        ),
        Mistake(_swapped, "parents and words changed places: place // V is the parent, place % V is the word."),
    ],
    hints=[
        "A finished hypothesis has one continuation, pad_id at a cost of 0; all others of its row are −∞.",
        "totals = log_probs[:, None] + rows, (W, V). Flatten it and take the W best: .flatten().topk(W).",
        "A place in the flattened totals is parent · V + word: place // V and place % V take it apart.",
    ],
)
