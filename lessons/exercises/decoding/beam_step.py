"""Lesson 12, my_beam_step: the best hypotheses, one token longer."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def beam_step(
    log_probs: Tensor, next_log_probs: Tensor, finished: Tensor, pad_id: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The W best of all hypotheses with one more word: their parents, words and log-probabilities, (W,) each.

    log_probs (W,), next_log_probs (W, V), finished (W,) bool. A finished one continues with pad_id at no cost.
    """
    width, vocab_size = next_log_probs.shape
    stays = torch.full((vocab_size,), -torch.inf).index_fill(0, torch.tensor([pad_id]), 0.0)
    totals = log_probs[:, None] + torch.where(finished[:, None], stays, next_log_probs)  # (W, V)
    best, places = totals.flatten().topk(width)
    return places // vocab_size, places % vocab_size, best


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
        case(3, 5, [0, 1, 2], 1, about="all are finished"),
        case(1, 5, [], 0, about="a beam of width 1"),
    ]


going_on = Exercise(
    lesson="12",
    name="my_beam_step",
    reference=beam_step,
    cases=_beam_cases,
    outputs=("parents", "words", "log_probs"),
    mistakes=[
        Mistake(
            edited(beam_step, "torch.where(finished[:, None], stays, next_log_probs)", "next_log_probs"),
            "The finished hypothesis keeps growing: you put a word after its EOS. It must stay unchanged.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(beam_step, "torch.tensor([pad_id]), 0.0", "torch.tensor([pad_id]), -torch.inf"),
            "The finished hypothesis is gone: all its continuations are −∞. One of them, padding, must be allowed and "
            "cost nothing.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(beam_step, "finished[:, None]", "finished[:, None] & (torch.arange(vocab_size) != pad_id)"),
            "The finished hypothesis pays for its padding: you added the model's log-probability of padding. Padding "
            "after EOS costs nothing: + 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(beam_step, "finished[:, None]", "finished[:, None] & (torch.arange(vocab_size) == pad_id)"),
            "Padding costs nothing now, but the finished hypothesis may also continue with other words. In its row "
            "everything else is −∞.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(beam_step, "log_probs[:, None] + ", "log_probs.masked_fill(finished, 0.0)[:, None] + "),
            "The finished hypothesis has lost its own log_prob and counts as certain. Padding adds 0 to it; it does "
            "not set it to 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(
                beam_step, "stays, next_log_probs)", "stays, next_log_probs.index_fill(1, torch.tensor([pad_id]), 0.0))"
            ),
            "Padding costs nothing in every row, so it is always likeliest. Only finished hypotheses get it for free.",
        ),
        Mistake(
            edited(beam_step, "finished[:, None]", "~finished[:, None]"),
            "You stop the unfinished ones from growing. True in finished means: it has ended.",
        ),
        Mistake(
            edited(beam_step, "-torch.inf", "0.0"),
            "The finished hypothesis is in the beam several times: each word after it costs nothing. Only padding may "
            "follow; everything else is −∞.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(
                beam_step,
                "    best, places = totals.flatten().topk(width)\n",
                "    places = totals.flatten().topk(width).indices.msort()\n    best = totals.flatten()[places]\n",
            ),
            "The right candidates, but not best first: they are in the order of their places. Keep the order of topk.",
        ),
        Mistake(
            edited(
                beam_step,
                "totals.flatten()",
                "totals.where(totals == totals.amax(dim=1, keepdim=True), -torch.inf).flatten()",
            ),
            "You took the best word of each hypothesis. Take the W best of all W · V candidates: two of them may have "
            "the same parent.",
            also=[
                edited(
                    beam_step,
                    ("places = totals.flatten().topk(width)", "words = totals.max(dim=1)"),
                    ("places // vocab_size, places % vocab_size", "torch.arange(width), words"),
                )
            ],
        ),
        Mistake(
            edited(beam_step, "torch.tensor([pad_id]), 0.0", "torch.tensor([pad_id]), 1.0"),
            "Padding after EOS adds 1. It is certain, so its probability is 1 and its logarithm is 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(beam_step, "torch.tensor([pad_id])", "torch.tensor([0])"),
            "The finished hypothesis continues with id 0. The caller gives the id of padding: pad_id.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            edited(beam_step, "vocab_size, best", "vocab_size, best.exp()"),
            "parents and words are right; the third result has probabilities. Return their logarithms.",
        ),
        Mistake(
            edited(beam_step, "log_probs[:, None] + ", ""),
            "The words so far don't count: add the hypothesis' own log_probs to those of the next word.",
        ),
        Mistake(
            edited(beam_step, "log_probs[:, None] + ", "log_probs[:, None] * "),
            "You multiplied logarithms. Probabilities multiply, so their logarithms add.",
            also=[edited(beam_step, ("-torch.inf", "-1e9"), ("log_probs[:, None] + ", "log_probs[:, None] * "))],
        ),
        Mistake(
            edited(beam_step, "stays, next_log_probs)", "stays, next_log_probs.exp())"),
            "You added a probability to a logarithm. next_log_probs are already logarithms: add them unchanged.",
        ),
        Mistake(
            edited(beam_step, "vocab_size, best", "vocab_size, best - log_probs[places // vocab_size]"),
            "parents and words are right; the third result is what the last word adds. Return the sum of that and of "
            "what was there before.",
        ),
        Mistake(
            edited(beam_step, ("-torch.inf", "torch.inf"), ("topk(width)", "topk(width, largest=False)")),
            "Those are the W least likely candidates.",
        ),
        Mistake(
            lambda *inputs: tuple(result.flip(0) for result in beam_step(*inputs)),
            "Those are the W best candidates, but the best comes last. Return the best first: descending=True, or "
            "topk.",
        ),
        Mistake(
            edited(beam_step, "places // vocab_size, places % vocab_size", "places // width, places % width"),
            "You split the places with the wrong number: in the flattened (W, V), place = parent · V + word; divide by "
            "V.",
        ),
        Mistake(
            edited(beam_step, "places // vocab_size, places % vocab_size", "places % vocab_size, places // vocab_size"),
            "You swapped parents and words: place // V is the parent, place % V is the word.",
        ),
        Mistake(
            edited(beam_step, "log_probs[:, None] + ", "log_probs + "),
            "log_probs (W,) met the axis of the words, the last one. With as many hypotheses as words there is not "
            "even an error. Each belongs to a row: log_probs[:, None] is (W, 1).",
            also=[
                edited(
                    beam_step,
                    "log_probs[:, None] + torch.where(finished[:, None], stays, next_log_probs)",
                    "torch.where(finished[:, None], stays, next_log_probs) + log_probs",
                )
            ],
        ),
        Mistake(
            edited(beam_step, "totals.flatten().topk", "totals.topk"),
            "Those are the W best words of each hypothesis, (W, W). Take the W best of all candidates: "
            "totals.flatten().topk(W).",
        ),
    ],
    hints=[
        "A finished hypothesis has one continuation, pad_id at a cost of 0; all others in its row are −∞.",
        "totals = log_probs[:, None] + rows, (W, V). Flatten them and take the W best: .flatten().topk(W).",
        "A place in the flattened totals is parent · V + word: place // V and place % V give the two.",
    ],
    solution="""
        def my_beam_step(log_probs, next_log_probs, finished, pad_id):
            width, vocab_size = next_log_probs.shape
            rows = next_log_probs.clone()
            rows[finished] = -torch.inf
            rows[finished, pad_id] = 0.0  # goes on with padding, at no cost
            totals = log_probs[:, None] + rows  # (W, V)
            best, places = totals.flatten().topk(width)
            parents, words = places // vocab_size, places % vocab_size
            return parents, words, best
    """,
    in_package="lessons.decoding.beam",
)
