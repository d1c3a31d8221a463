"""Lesson 18, my_ring_step: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_ring_step(held, step):
        n = len(held)
        after = held.clone()
        for p in range(n):
            c = (p - step) % n
            if step <= n - 2:
                after[(p + 1) % n, c] = after[(p + 1) % n, c] + held[p, c]
            else:
                after[(p + 1) % n, c] = held[p, c]
        return after


with right:

    def my_ring_step(held, step):
        n = len(held)
        senders = torch.arange(n)
        receivers, chunks = senders.roll(-1), (senders - step) % n
        after = held.clone()
        kept = held[receivers, chunks] if step < n - 1 else 0
        after[receivers, chunks] = kept + held[senders, chunks]
        return after


with right:

    def my_ring_step(held, step):
        n = held.size(0)
        rows = [list(row) for row in held]
        for me in range(n):
            before = (me - 1) % n
            c = (before - step) % n
            rows[me][c] = rows[me][c] + held[before, c] if step < n - 1 else held[before, c]
        return torch.stack([torch.stack(row) for row in rows])


edit("c = (p - step) % n", "c = (p + step) % n", "It is (p - step)")

edit("c = (p - step) % n", "c = p", "the same chunk in every step")

edit("c = (p - step) % n", "c = (p + 1 - step) % n", "with p the *sender*")

edit("step <= n - 2", "step <= n - 1", "One step too many adds")

edit("step <= n - 2", "step < n - 2", "One step too few adds")

edit("step <= n - 2", "True", "always adds")

edit("step <= n - 2", "False", "always replaces")

edit("senders.roll(-1)", "senders.roll(1)", "runs backwards", of=1)

edit("step < n - 1", "step >= n - 1", "The two halves are swapped", of=1)

edit("after = held.clone()", "after = held", "all tables would show the last step")

with wrong("one step is wanted"):

    def my_ring_step(held, step):
        return held.sum(dim=0, keepdim=True).expand_as(held)


with wrong("You send all chunks at once"):

    def my_ring_step(held, step):
        arrived = torch.cat([held[-1:], held[:-1]])
        return arrived + held if step < len(held) - 1 else arrived


with wrong("To send is to copy"):

    def my_ring_step(held, step):
        n = len(held)
        after = held.clone()
        for p in range(n):
            c = (p - step) % n
            if step < n - 1:
                after[(p + 1) % n, c] += held[p, c]
                after[p, c] = 0
            else:
                after[(p + 1) % n, c] = held[p, c]
        return after


with wrong("You take the mean of two chunks"):

    def my_ring_step(held, step):
        n = len(held)
        after = held.clone()
        for p in range(n):
            c, q = (p - step) % n, (p + 1) % n
            after[q, c] = (held[p, c] + held[q, c]) / 2 if step < n - 1 else held[p, c]
        return after


with wrong("not held[c, p]"):

    def my_ring_step(held, step):
        n = len(held)
        after = held.clone()
        for p in range(n):
            c, q = (p - step) % n, (p + 1) % n
            after[c, q] = held[c, p] + held[c, q] if step < n - 1 else held[c, p]
        return after


with wrong("A ring is closed"):

    def my_ring_step(held, step):
        n = len(held)
        after = held.clone()
        for p in range(n):
            c = (p - step) % n
            if step < n - 1:
                after[p + 1, c] += held[p, c]
            else:
                after[p + 1, c] = held[p, c]
        return after
