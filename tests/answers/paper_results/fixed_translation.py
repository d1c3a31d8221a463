"""Lesson 15, fixed_translation: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = [bos_id]
        while len(ids) <= max_len:
            word = int(next_logits(torch.tensor(ids)).argmax())
            if word == eos_id:
                break
            ids.append(word)
        return ids[1:]


with right:

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = torch.tensor([bos_id])
        for _ in range(max_len):
            ids = torch.cat([ids, next_logits(ids).argmax(dim=-1, keepdim=True)])
        words = ids[1:].tolist()
        return words[: words.index(eos_id)] if eos_id in words else words


with right:

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        def go_on(ids):
            word = next_logits(torch.tensor(ids)).argmax().item()
            return ids if word == eos_id or len(ids) > max_len else go_on([*ids, word])

        return torch.tensor(go_on([bos_id])[1:])


with right:

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = torch.full((max_len + 1,), bos_id)
        for t in range(max_len):
            ids[t + 1] = next_logits(ids[: t + 1]).argmax()
            if ids[t + 1] == eos_id:
                return ids[1 : t + 1]
        return ids[1:]


with wrong("A symptom: pass another reference"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = []
        for t in range(1, len(right)):
            word = int(next_logits(right[:t]).argmax())
            if word != eos_id:
                ids.append(word)
        return ids


with wrong("A symptom: pass another reference"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        words = []
        for t in range(1, len(right)):
            word = int(next_logits(right[:t]).argmax())
            if word == eos_id:
                break
            words.append(word)
        return words


with wrong("it stops where the reference ends"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        words = []
        for t in range(1, len(right)):
            word = int(next_logits(torch.tensor([bos_id, *words])).argmax())
            if word == eos_id:
                break
            words.append(word)
        return words


edit("torch.tensor(ids", "torch.tensor(ids[-1:]", "but reads only its last token")

edit("<=", "<", "has one token too few")

with wrong("max_len does not stop it"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = [bos_id]
        while (word := int(next_logits(torch.tensor(ids)).argmax())) != eos_id:
            ids.append(word)
        return ids[1:]


edit("= max_len", " len(right) - 1", "it stops where the reference ends")

with wrong("The result contains the EOS token"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = [bos_id]
        while len(ids) <= max_len and ids[-1] != eos_id:
            ids.append(int(next_logits(torch.tensor(ids)).argmax()))
        return ids[1:]


with wrong("It goes wrong here: other ids for BOS and EOS"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        ids = [1]
        while len(ids) <= max_len:
            word = int(next_logits(torch.tensor(ids)).argmax())
            if word == 2:
                break
            ids.append(word)
        return ids[1:]


with wrong("it stops where the reference ends"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        tokens, ids = [], torch.tensor([bos_id])
        for t in range(1, len(right)):
            token = int(next_logits(ids).argmax())
            if token != eos_id:
                tokens.append(token)
            ids = torch.cat([ids, torch.tensor([token])])
        return tokens


with wrong("the model no longer reads BOS"):

    def fixed_translation(next_logits, right, bos_id, eos_id, max_len):
        tokens = [int(next_logits(torch.tensor([bos_id])).argmax())]
        while len(tokens) < max_len and tokens[-1] != eos_id:
            tokens.append(int(next_logits(torch.tensor(tokens)).argmax()))
        return [token for token in tokens if token != eos_id]


with wrong("goes on where the reference ends"):

    def fixed_translation(next_logits, reference, bos_id, eos_id, max_len):
        ids, tokens = reference.tolist(), []
        for _ in range(max_len):
            token = int(next_logits(torch.tensor(ids)).argmax())
            if token == eos_id:
                break
            ids.append(token)
            tokens.append(token)
        return tokens


with wrong("nothing to read at the first step"):

    def fixed_translation(next_logits, reference, bos_id, eos_id, max_len):
        tokens = []
        while len(tokens) < max_len:
            token = int(next_logits(torch.tensor(tokens, dtype=torch.long)).argmax())
            if token == eos_id:
                break
            tokens.append(token)
        return tokens


with wrong("the logits of the next token alone"):

    def fixed_translation(next_logits, reference, bos_id, eos_id, max_len):
        ids = [bos_id]
        for _ in range(max_len):
            token = int(next_logits(torch.tensor(ids))[-1].argmax())
            if token == eos_id:
                break
            ids.append(token)
        return ids[1:]


with wrong("The model reads BOS alone in every step"):

    def fixed_translation(next_logits, reference, bos_id, eos_id, max_len):
        ids, tokens = torch.tensor([bos_id]), []
        for _ in range(max_len):
            token = int(next_logits(ids).argmax())
            if token == eos_id:
                break
            tokens.append(token)
        return tokens
