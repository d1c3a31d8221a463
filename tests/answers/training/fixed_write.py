"""Lesson 11, fixed_write: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([bos_id])
        while len(ids) < max_len and ids[-1] != eos_id:
            ids = torch.cat([ids, next_logits(ids).argmax(dim=-1, keepdim=True)])
        return ids


with right:

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = [bos_id]
        for _ in range(max_len - 1):
            ids.append(int(next_logits(torch.tensor(ids)).argmax()))
            if ids[-1] == eos_id:
                break
        return torch.tensor(ids)


with right:

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.full((max_len,), pad_id)
        ids[0] = bos_id
        for i in range(1, max_len):
            ids[i] = next_logits(ids[:i]).argmax()
            if ids[i] == eos_id:
                return ids[: i + 1]
        return ids


with wrong("where do they first differ?"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([pad_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        return ids


with wrong("is it also the first id that the model reads?"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([pad_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        ids[0] = bos_id
        return ids


with wrong("It starts with the EOS token"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([eos_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        return ids


with wrong("There is one id too many"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([pad_id, bos_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        return ids


with wrong("goes on after the EOS token"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([bos_id])
        while ids[-1] != pad_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        return ids


with wrong("It goes wrong here: other ids for PAD, BOS and EOS"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([1])
        while ids[-1] != 2 and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        return ids


edit("len(ids) < max_len", "len(ids) < max_len - 1", "one id too early")
edit("next_logits(ids)", "next_logits(ids[-1:])", "only the last token")


edit("len(ids) < max_len", "len(ids) <= max_len", "one id too many: max_len counts all ids")

with wrong("but the model still reads it"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([pad_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
        return ids[1:]


edit("len(ids) < max_len and ", "", "max_len isn't used")


with wrong("only the first token"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([bos_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids[:1]).argmax()[None]])
        return ids


with wrong("It starts with the EOS token"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([eos_id])
        while len(ids) < max_len:
            ids = torch.cat([ids, next_logits(ids).argmax()[None]])
            if ids[-1] == eos_id:
                break
        return ids


with wrong("It goes wrong here: a model that is not sure of the next token"):

    def fixed_write(next_logits, bos_id, eos_id, pad_id, max_len):
        ids = torch.tensor([bos_id])
        while ids[-1] != eos_id and len(ids) < max_len:
            ids = torch.cat([ids, torch.multinomial(next_logits(ids).softmax(dim=-1), 1)])
        return ids


edit("[bos_id]", "[bos_id, pad_id]", "padding comes right after it")

edit("[bos_id]", "bos_id", "a single number, without an axis")
