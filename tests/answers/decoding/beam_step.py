"""Lesson 12, my_beam_step: what learners write."""

import torch

from tests.answers import right, wrong

with right:

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        width, vocab_size = next_log_probs.shape
        rows = next_log_probs.clone()
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        best, places = (log_probs[:, None] + rows).flatten().topk(width)
        return places // vocab_size, places % vocab_size, best


with right:

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        found = []
        for parent, (total, row) in enumerate(zip(log_probs.tolist(), next_log_probs.tolist())):
            if finished[parent]:
                found.append((total, parent, pad_id))
            else:
                found += [(total + more, parent, word) for word, more in enumerate(row)]
        found = sorted(found, reverse=True)[: len(log_probs)]
        totals, parents, words = zip(*found)
        return torch.tensor(parents), torch.tensor(words), torch.tensor(totals)


with right:

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        only_pad = torch.zeros(next_log_probs.size(1)).index_fill(0, torch.tensor([pad_id]), 1.0).log()
        totals = torch.where(finished[:, None], only_pad, next_log_probs) + log_probs.unsqueeze(1)
        order = totals.view(-1).argsort(descending=True)[: len(totals)]
        parents, words = torch.unravel_index(order, totals.shape)
        return parents, words, totals[parents, words]


with wrong("keeps growing"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        width, vocab_size = next_log_probs.shape
        best, places = (log_probs[:, None] + next_log_probs).flatten().topk(width)
        return places // vocab_size, places % vocab_size, best


with wrong("The finished hypothesis is gone"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        width, vocab_size = next_log_probs.shape
        rows = next_log_probs.masked_fill(finished[:, None], -torch.inf)
        best, places = (log_probs[:, None] + rows).flatten().topk(width)
        return places // vocab_size, places % vocab_size, best


with wrong("two of them may have the same parent"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        rows = next_log_probs.masked_fill(finished[:, None], -torch.inf)
        rows[finished, pad_id] = 0.0
        best, words = (log_probs[:, None] + rows).max(dim=1)
        order = best.argsort(descending=True)
        return order, words[order], best[order]


with wrong("may also continue with other words"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        rows = next_log_probs.clone()
        rows[finished, pad_id] = 0.0
        best, places = (log_probs[:, None] + rows).flatten().topk(len(rows))
        return places // rows.size(1), places % rows.size(1), best


with wrong("lost its own log_prob"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        totals = log_probs[:, None] + next_log_probs
        totals[finished] = -torch.inf
        totals[finished, pad_id] = 0.0
        best, places = totals.flatten().topk(len(totals))
        return places // totals.size(1), places % totals.size(1), best


with wrong("in every row"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        rows = next_log_probs.masked_fill(finished[:, None], -torch.inf)
        rows[:, pad_id] = 0.0
        best, places = (log_probs[:, None] + rows).flatten().topk(len(rows))
        return places // rows.size(1), places % rows.size(1), best


with wrong("It goes wrong here: all are finished."):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        width, vocab_size = next_log_probs.shape
        if finished.all():
            return torch.arange(width), torch.zeros(width, dtype=torch.long), log_probs
        rows = next_log_probs.clone()
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        best, places = (log_probs[:, None] + rows).flatten().topk(width)
        return places // vocab_size, places % vocab_size, best


with wrong("not best first"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        rows = next_log_probs.clone()
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        best, places = (log_probs[:, None] + rows).flatten().topk(len(rows))
        order = places.argsort()
        places, best = places[order], best[order]
        return places // rows.size(1), places % rows.size(1), best


with wrong("met the axis of the words"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        rows = next_log_probs.clone()
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        best, places = (log_probs + rows).flatten().topk(len(rows))
        return places // rows.size(1), places % rows.size(1), best


with wrong("the W best words of each hypothesis"):

    def my_beam_step(log_probs, next_log_probs, finished, pad_id):
        rows = next_log_probs.clone()
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        best, places = (log_probs[:, None] + rows).topk(len(rows))
        return places // rows.size(1), places % rows.size(1), best
