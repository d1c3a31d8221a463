"""Lesson 12, fixed_search: a beam search in which a finished hypothesis stays unchanged."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers


def search(next_log_probs, width: int, bos_id: int, eos_id: int, pad_id: int, max_len: int) -> tuple[Tensor, Tensor]:
    """next_log_probs: ids (W, t) -> (W, V). The W best sentences, ids (W, T), padded, and their log_probs (W,)."""
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        rows = next_log_probs(ids)  # (W, V)
        stays = torch.full_like(rows, -torch.inf).index_fill(1, torch.tensor([pad_id]), 0.0)
        finished = (ids == eos_id).any(dim=1)  # (W,)
        totals = log_probs[:, None] + torch.where(finished[:, None], stays, rows)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        if (ids == eos_id).any(dim=1).all():
            break
    return ids, log_probs


def _search_called(candidate, rows, width, bos_id, eos_id, pad_id, max_len):
    """The model is a table, of other numbers if BOS isn't in front. Columns that are all padding count like none."""

    def next_log_probs(ids):
        following = rows[ids[:, -1]]  # (W, V)
        return torch.where(ids[:, :1] == bos_id, following, following.roll(1, dims=-1))

    result = candidate(next_log_probs, width, bos_id, eos_id, pad_id, max_len)
    if isinstance(result, tuple | list) and len(result) == 2 and getattr(result[0], "ndim", 0) == 2:
        ids, log_probs = result
        while ids.size(1) > 1 and (ids[:, -1] == pad_id).all():
            ids = ids[:, :-1]
        return ids, log_probs
    return result


def _search_cases(generator) -> list[Case]:
    def case(rows, width, marks, max_len, about=""):
        return Case({"rows": rows, "width": width, **marks, "max_len": max_len}, about=about)

    def drawn(vocab_size, width, pad_id, bos_id, eos_id, max_len, about=""):
        rows = 1.5 * numbers(generator, vocab_size, vocab_size)
        rows[:, [pad_id, bos_id]] -= 9  # never generated,
        rows[[eos_id, pad_id], pad_id] += 9  # but for padding, which a model expects after the end, among others
        rows[:, eos_id] += 1
        marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        return case(rows.log_softmax(dim=-1), width, marks, max_len, about)

    small = [
        [0, 0, 0, 0.5, 0.5],
        [0, 0, 0, 0.6, 0.4],
        [0, 0, 0, 0.8, 0.2],
        [0, 0, 0.5, 0.2, 0.3],
        [0, 0, 0.1, 0.8, 0.1],
    ]
    return [
        case(torch.tensor(small).log(), 2, {"bos_id": 1, "eos_id": 2, "pad_id": 0}, 5),
        drawn(7, 3, 0, 1, 2, 8),
        drawn(8, 4, 5, 3, 1, 9),
        drawn(6, 3, 0, 1, 2, 2, "it is cut off at max_len"),
        drawn(7, 1, 0, 1, 2, 8, "a beam of width 1"),
    ]


def _best(totals: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    best, places = totals.flatten().topk(width)
    return places // totals.size(1), places % totals.size(1), best


def _best_ended(finished):
    return finished[0]


def _padded(ids, eos_id, pad_id):
    """Padding in place of everything after the first EOS."""
    behind = ((ids == eos_id).cumsum(dim=1) > 0)[:, :-1]
    return torch.cat([ids[:, :1], ids[:, 1:].masked_fill(behind, pad_id)], dim=1)


def _searched(
    step,
    width,
    bos,
    eos,
    pad,
    n,
    *,
    known="any",
    stop=torch.all,
    rest: float | None = -torch.inf,
    cost=0.0,
    pays=False,
    cleaned=True,
    last_only=False,
):
    """search with something changed: how a finished one is recognized, what it pays, and when the search ends.

    cleaned: whether the words after EOS become padding at the end, as in the code with the bug.
    last_only: whether the model gets only the last word of each hypothesis.
    """
    ids, log_probs, finished = torch.tensor([[bos]]), torch.zeros(1), torch.tensor([False])
    for _ in range(n):
        rows = step(ids[:, -1:] if last_only else ids)
        stays = rows.clone() if rest is None else torch.full_like(rows, rest)
        stays[:, pad] = rows[:, pad] if pays else cost
        finished = {
            "never": torch.zeros(len(ids), dtype=torch.bool),
            "last": ids[:, -1] == eos,
            "last, and at the end": ids[:, -1] == eos,
            "any": (ids == eos).any(dim=1),
            "place": finished,
            "place, and at the end": finished,
        }[known]
        parents, words, log_probs = _best(log_probs[:, None] + torch.where(finished[:, None], stays, rows), width)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        finished = finished | (words == eos)
        over = {"place, and at the end": finished, "last, and at the end": words == eos}
        if stop(over.get(known, (ids == eos).any(dim=1))):
            break
    return _padded(ids, eos, pad) if cleaned else ids, log_probs


def _padded_but_paid_for(step, width, bos, eos, pad, n):
    """A finished one continues with padding, but still pays for the word that the model would have generated."""
    ids, log_probs = torch.tensor([[bos]]), torch.zeros(1)
    for _ in range(n):
        parents, words, log_probs = _best(log_probs[:, None] + step(ids), width)
        words = words.masked_fill((ids[parents] == eos).any(dim=1), pad)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        if (ids == eos).any(dim=1).all():
            break
    return ids, log_probs


def _summed_afterwards(step, width, bos, eos, pad, n, *, sort=True):
    ids, _ = _searched(step, width, bos, eos, pad, n, known="never")
    words = [step(ids[:, :t]).gather(1, ids[:, t : t + 1]) for t in range(1, ids.size(1))]
    sums = torch.cat(words, dim=1).masked_fill(ids[:, 1:] == pad, 0.0).sum(dim=1)
    order = sums.argsort(descending=True, stable=True) if sort else torch.arange(len(sums))
    return ids[order], sums[order]


def _set_aside(step, width, bos, eos, pad, n):
    """Finished ones leave the beam and make room for others."""
    ids, log_probs, ended = torch.tensor([[bos]]), torch.zeros(1), []
    for _ in range(n):
        parents, words, log_probs = _best(log_probs[:, None] + step(ids), width)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        done = words == eos
        ended += zip(log_probs[done].tolist(), ids[done].tolist())
        ids, log_probs = ids[~done], log_probs[~done]
        if len(ended) >= width or not len(ids):
            break
    found = sorted([*ended, *zip(log_probs.tolist(), ids.tolist())], reverse=True)[:width]
    longest = max(len(words) for _, words in found)
    rows = [words + [pad] * (longest - len(words)) for _, words in found]
    return torch.tensor(rows), torch.tensor([total for total, _ in found])


search_hunt = Exercise(
    lesson="12",
    name="fixed_search",
    reference=search,
    cases=_search_cases,
    call=_search_called,
    outputs=("ids", "log_probs"),
    mistakes=[
        Mistake(
            lambda *inputs: _searched(*inputs, known="never"),
            "The bug is still there. A symptom: add up the log-probabilities of a sentence's own words, including EOS, "
            "and the sum is not log_probs.",
            also=[lambda *inputs: _searched(*inputs, known="never", stop=_best_ended)],
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, known="last"),
            "A finished hypothesis stays unchanged for one step. Then its last word is padding, no longer EOS, and it "
            "grows again. Finished means: EOS is anywhere in it.",
            also=[lambda *inputs: _searched(*inputs, known="last, and at the end", cleaned=False)],
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, known="place"),
            "You remember which slots of the beam are finished, but the hypotheses change slots at each step. Reorder "
            "it, too: finished[parents], like ids[parents].",
            also=[
                lambda *inputs: _searched(*inputs, known="place, and at the end"),
                lambda *inputs: _searched(*inputs, known="place, and at the end", cleaned=False),
            ],
        ),
        Mistake(
            _padded_but_paid_for,
            "You write padding now, but still compare and pay for other words: log_probs gets the model's numbers. "
            "Change the row of a finished hypothesis before topk.",
        ),
        Mistake(
            _summed_afterwards,
            "The numbers now belong to the sentences, but the search went wrong before: it chose the beam by the wrong "
            "numbers. Fix what happens inside the loop.",
            also=[lambda *inputs: _summed_afterwards(*inputs, sort=False)],
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, cost=-torch.inf),
            "A finished hypothesis is lost at the next step: all its continuations are −∞. Which one must be allowed, "
            "and at what cost?",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, pays=True),
            "A finished hypothesis pays the model's price for its padding. After EOS padding is certain: log 1 = 0.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, rest=0.0),
            "A finished hypothesis is in the beam several times: each word after EOS costs nothing. Only padding may "
            "follow; everything else is −∞.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, rest=None),
            "Padding costs a finished hypothesis nothing now, but it may also continue with other words. In its row "
            "everything else is −∞.",
            also=[lambda *inputs: _searched(*inputs, rest=None, cleaned=False)],
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, stop=torch.any),
            "Your search stops as soon as one hypothesis has ended. The others are not finished: go on until all have "
            "ended.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, stop=_best_ended),
            "Your search stops as soon as the best hypothesis has ended, whatever the others do. Go on until all have "
            "ended.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, last_only=True),
            "The model gets only the last word of each hypothesis. The next one depends on all words so far: give it "
            "all.",
        ),
        Mistake(
            _set_aside,
            "Finished hypotheses leave the beam, and others take their slots. That is a different search: here a "
            "finished hypothesis keeps its slot until better candidates push it out.",
        ),
    ],
    hints=[
        "Follow one hypothesis on paper from the step in which it gets its EOS. What happens to it in the next step?",
        "The padding is inserted at the very end. What was added to log_probs before that, for the words it covers?",
        "Inside the loop: which hypotheses have an EOS? In their rows pad_id is 0 and everything else −∞, as in "
        "my_beam_step.",
    ],
    solution="""
        def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
            ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
            for _ in range(max_len):
                rows = next_log_probs(ids)  # (W, V)
                finished = (ids == eos_id).any(dim=1)  # (W,)
                rows[finished] = -torch.inf
                rows[finished, pad_id] = 0.0  # a finished one goes on with padding, at no cost
                totals = log_probs[:, None] + rows
                log_probs, places = totals.flatten().topk(width)
                parents, words = places // totals.size(1), places % totals.size(1)
                ids = torch.cat([ids[parents], words[:, None]], dim=1)  # (W, t + 1)
                if (ids == eos_id).any(dim=1).all():
                    break
            return ids, log_probs
    """,
    in_package="lessons.decoding.beam",
)
