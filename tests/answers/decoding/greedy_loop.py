"""Lesson 12, my_greedy: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        ended = torch.zeros(batch_size, dtype=torch.bool)
        while ids.size(1) <= max_len and not ended.all():
            words = next_logits(ids).argmax(dim=-1)
            words[ended] = pad_id
            ids = torch.cat([ids, words[:, None]], dim=1)
            ended = ended | (words == eos_id)
        return ids


with right:

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([[bos_id]] * batch_size)
        for _ in range(max_len):
            logits = next_logits(ids)
            words = []
            for b in range(batch_size):
                over = eos_id in ids[b, 1:].tolist()
                words.append(pad_id if over else logits[b].argmax().item())
            ids = torch.cat([ids, torch.tensor(words).unsqueeze(1)], dim=1)
            if all(eos_id in row for row in ids[:, 1:].tolist()):
                break
        return ids


with right:

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        # generate everything, then pad and cut
        ids = torch.full((batch_size, max_len + 1), pad_id)
        ids[:, 0] = bos_id
        alive = torch.ones(batch_size, dtype=torch.bool)
        length = 1
        for t in range(1, max_len + 1):
            words = next_logits(ids[:, :t]).topk(1, dim=-1).indices[:, 0]
            ids[:, t] = torch.where(alive, words, torch.tensor(pad_id))
            alive &= ids[:, t] != eos_id
            length = t + 1
            if not alive.any():
                break
        return ids[:, :length]


with wrong("goes on after its EOS"):

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        while ids.size(1) <= max_len and not (ids == eos_id).any(dim=1).all():
            ids = torch.cat([ids, next_logits(ids).argmax(dim=-1)[:, None]], dim=1)
        return ids


with wrong("begins again one step later"):

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        for _ in range(max_len):
            words = next_logits(ids).argmax(dim=-1)
            words[ids[:, -1] == eos_id] = pad_id
            ids = torch.cat([ids, words[:, None]], dim=1)
            if (words == eos_id).all():
                break
        return ids


edit("not ended.all()", "not ended.any()", "wait for all")

edit("<= max_len", "< max_len", "one word too early")

edit(" and not ended.all()", "", "nothing but padding")

edit("return ids", "return ids[:, 1:]", "BOS is missing")

edit(
    "        words[ended] = pad_id\n",
    "        ended = ended | (words == eos_id)\n        words[ended] = pad_id\n",
    "EOS itself became padding",
)

edit("next_logits(ids)", "next_logits(ids[:, -1:])", "gets only the last word")

with wrong("get their EOS in the same step"):

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        while ids.size(1) <= max_len and not (ids[:, -1] == eos_id).all():
            ended = (ids == eos_id).any(dim=1)
            words = torch.where(ended, pad_id, next_logits(ids).argmax(dim=-1))
            ids = torch.cat([ids, words[:, None]], dim=1)
        return ids


with wrong("next_logits gives (B, V)"):

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        ended = torch.zeros(batch_size, 1, dtype=torch.bool)
        while ids.size(1) <= max_len and not ended.all():
            words = next_logits(ids)[:, -1].argmax(dim=-1, keepdim=True)
            words = words.masked_fill(ended, pad_id)
            ids = torch.cat([ids, words], dim=1)
            ended = ended | (words == eos_id)
        return ids


edit("next_logits(ids).argmax", "next_logits(ids)[:, -1].argmax", "next_logits gives (B, V)")

edit("words[:, None]", "words", "joins tensors with equally many axes")

with wrong("You don't remember which sentences have ended"):

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        while ids.size(1) <= max_len and not (ids[:, -1] == eos_id).all():
            ids = torch.cat([ids, next_logits(ids).argmax(dim=-1, keepdim=True)], dim=1)
        return ids


with wrong("argmax() without dim"):

    def my_greedy(next_logits, batch_size, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((batch_size, 1), bos_id)
        while ids.size(1) <= max_len and not (ids == eos_id).any(dim=1).all():
            ended = (ids == eos_id).any(dim=1)
            words = torch.where(ended, pad_id, next_logits(ids).argmax())
            ids = torch.cat([ids, words[:, None]], dim=1)
        return ids
