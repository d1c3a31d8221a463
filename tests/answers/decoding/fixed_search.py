"""Lesson 12, fixed_search: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            rows = next_log_probs(ids)
            finished = (ids == eos_id).any(dim=1)
            rows[finished] = -torch.inf
            rows[finished, pad_id] = 0.0
            totals = log_probs[:, None] + rows
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


with right:

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs, finished = torch.tensor([[bos_id]]), torch.zeros(1), torch.tensor([False])
        for _ in range(max_len):
            rows = next_log_probs(ids)
            stays = F.one_hot(torch.tensor(pad_id), rows.size(1)).float().log()
            totals = log_probs[:, None] + torch.where(finished[:, None], stays, rows)
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            finished = finished[parents] | (words == eos_id)
            if finished.all():
                break
        return ids, log_probs


with right:

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        kept = [(0.0, [bos_id])]
        for _ in range(max_len):
            found = [(total, words) for total, words in kept if eos_id in words]
            for total, words in kept:
                if eos_id not in words:
                    row = next_log_probs(torch.tensor([words]))[0].tolist()
                    found += [(total + more, [*words, word]) for word, more in enumerate(row)]
            kept = sorted(found, reverse=True)[:width]
        longest = max(len(words) for _, words in kept)
        ids = [words + [pad_id] * (longest - len(words)) for _, words in kept]
        return torch.tensor(ids), torch.tensor([total for total, _ in kept])


with right:

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            rows = next_log_probs(ids)
            again = F.one_hot(torch.tensor(eos_id), rows.size(1)).float().log()
            totals = log_probs[:, None] + torch.where(ids[:, -1:] == eos_id, again, rows)
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


with right:

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((width, 1), bos_id)
        log_probs = torch.tensor([0.0] + [-torch.inf] * (width - 1))
        for _ in range(max_len):
            rows, finished = next_log_probs(ids), (ids == eos_id).any(dim=1)
            rows = rows.masked_fill(finished[:, None], -torch.inf)
            rows[:, pad_id] = torch.where(finished, 0.0, rows[:, pad_id])
            log_probs, places = (log_probs[:, None] + rows).flatten().topk(width)
            ids = torch.cat([ids[places // rows.size(1)], (places % rows.size(1))[:, None]], dim=1)
        return ids, log_probs


with wrong("The bug is still there"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            totals = log_probs[:, None] + next_log_probs(ids)
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


edit("(ids == eos_id).any(dim=1)", "ids[:, -1] == eos_id", "A finished hypothesis stays unchanged for one step")

with wrong("finished[parents]"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        finished = torch.tensor([False])
        for _ in range(max_len):
            rows = next_log_probs(ids)
            rows[finished] = -torch.inf
            rows[finished, pad_id] = 0.0
            totals = log_probs[:, None] + rows
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            finished = finished | (words == eos_id)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


with wrong("before topk"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            totals = log_probs[:, None] + next_log_probs(ids)
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            words = words.masked_fill((ids[parents] == eos_id).any(dim=1), pad_id)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


with wrong("Fix what happens inside the loop"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            totals = log_probs[:, None] + next_log_probs(ids)
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        log_probs = torch.zeros(width)
        for i, row in enumerate(ids.tolist()):
            for t in range(1, len(row)):
                if row[t] != pad_id:
                    log_probs[i] += next_log_probs(ids[i : i + 1, :t])[0, row[t]]
        return ids, log_probs


with wrong("keeps its slot"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs, ended = torch.tensor([[bos_id]]), torch.zeros(1), []
        for _ in range(max_len):
            totals = log_probs[:, None] + next_log_probs(ids)
            log_probs, places = totals.flatten().topk(width)
            ids = torch.cat([ids[places // totals.size(1)], (places % totals.size(1))[:, None]], dim=1)
            done = ids[:, -1] == eos_id
            ended += zip(log_probs[done].tolist(), ids[done].tolist())
            ids, log_probs = ids[~done], log_probs[~done]
            if len(ended) >= width:
                break
        found = sorted(ended + list(zip(log_probs.tolist(), ids.tolist())), reverse=True)[:width]
        longest = max(len(words) for _, words in found)
        rows = [words + [pad_id] * (longest - len(words)) for _, words in found]
        return torch.tensor(rows), torch.tensor([total for total, _ in found])


with wrong("may also continue with other words"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            rows = next_log_probs(ids).clone()
            rows[(ids == eos_id).any(dim=1), pad_id] = 0.0
            totals = log_probs[:, None] + rows
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[:, -1].all():
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


with wrong("The bug is still there"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            totals = log_probs[:, None] + next_log_probs(ids)
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            ended = (ids == eos_id).cumsum(dim=1) > 0
            if ended[0, -1]:
                break
        ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
        return ids, log_probs


edit("if finished.all()", "if finished[0]", "as soon as the best hypothesis", of=1)

edit("finished[parents] | (words == eos_id)", "finished | (words == eos_id)", "finished[parents]", of=1)

with wrong("it may also continue with other words"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        for _ in range(max_len):
            rows = next_log_probs(ids)
            rows[(ids == eos_id).any(dim=1), pad_id] = 0.0
            totals = log_probs[:, None] + rows
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            if (ids == eos_id).any(dim=1).all():
                break
        return ids, log_probs


edit("next_log_probs(ids)", "next_log_probs(ids[:, -1:])", "gets only the last word", of=1)

with wrong("stays unchanged for one step"):

    def fixed_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
        ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
        finished = torch.zeros(1, dtype=torch.bool)
        for _ in range(max_len):
            rows = next_log_probs(ids)
            rows[finished] = -torch.inf
            rows[finished, pad_id] = 0.0
            totals = log_probs[:, None] + rows
            log_probs, places = totals.flatten().topk(width)
            parents, words = places // totals.size(1), places % totals.size(1)
            ids = torch.cat([ids[parents], words[:, None]], dim=1)
            finished = words == eos_id
            if finished.all():
                break
        return ids, log_probs
