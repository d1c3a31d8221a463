"""Lesson 18, my_plan: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        at_once = fits * processes
        parts = (batch + at_once - 1) // at_once
        power = 0.5 if adam else 1
        return parts, tuned_rate * (batch / tuned_batch) ** power


with right:

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        parts = math.ceil(batch / (fits * processes))
        factor = batch / tuned_batch
        if adam:
            factor = factor**0.5
        return parts, tuned_rate * factor


with right:

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        at_once = fits * processes
        parts = -(-batch // at_once)
        rate = tuned_rate * (math.sqrt(batch / tuned_batch) if adam else batch / tuned_batch)
        return parts, rate


edit("(batch + at_once - 1) // at_once", "batch // at_once + 1", "One part too many")

edit("(fits * processes)", "fits", "the number of parts of all processes", of=1)

edit("math.ceil(batch / (fits * processes))", "batch // (fits * processes)", "You round down", of=1)

edit("math.ceil", "round", "to the nearest number", of=1)

edit("factor = factor**0.5", "pass", "linearly for Adam, too", of=1)

edit("if adam", "if not adam", "The two rules are swapped", of=1)

edit("batch / tuned_batch", "tuned_batch / batch", "falls as the batch grows", of=1)

edit("batch / tuned_batch", "processes", "grows with the number of processes", of=1)

edit("batch / tuned_batch", "parts * batch / tuned_batch", "You count the parts twice", of=1)

edit("tuned_rate * factor", "tuned_rate", "the one of the old batch", of=1)


edit("0.5 if adam else 1", "0.5", "for SGD, too")

with wrong("as if each had a batch of its own"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        effective = batch * processes
        parts = math.ceil(effective / fits)
        rate = tuned_rate * (math.sqrt(batch / tuned_batch) if adam else batch / tuned_batch)
        return parts, rate


with wrong("what is in memory at once"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        at_once = processes * fits
        larger = at_once / tuned_batch
        return math.ceil(batch / at_once), tuned_rate * (larger**0.5 if adam else larger)


edit("(batch + at_once - 1) // at_once", "math.ceil(batch / fits / processes) * processes", "of all processes together")

edit("batch / (fits * processes)", "batch / processes", "the number of pairs for each process", of=1)

edit("batch / tuned_batch", "batch // tuned_batch", "// rounds down", of=1)

edit("batch / tuned_batch", "batch * processes / tuned_batch", "a batch for each process", of=1)

edit("batch / tuned_batch", "parts * fits * processes / tuned_batch", "the last part may be shorter", of=1)

with wrong("the root of the rate, too"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        rate = tuned_rate * batch / tuned_batch
        return math.ceil(batch / (fits * processes)), math.sqrt(rate) if adam else rate


with right:

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        larger = torch.tensor(batch / tuned_batch)
        return torch.stack([torch.tensor(batch / fits / processes).ceil(), tuned_rate * larger ** (0.5 if adam else 1)])


with wrong("my_plan returned one thing; expected 2: parts, rate"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        return tuned_rate * (batch / tuned_batch) ** (0.5 if adam else 1)


with wrong("my_plan returned one thing; expected 2: parts, rate"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        larger = batch / tuned_batch
        rate = tuned_rate * (larger**0.5 if adam else larger)
        return {"parts": math.ceil(batch / (fits * processes)), "rate": rate}


with wrong("my_plan returned None"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        larger = batch / tuned_batch
        print(math.ceil(batch / (fits * processes)), tuned_rate * (larger**0.5 if adam else larger))


edit("batch / tuned_batch", "batch / processes / tuned_batch", "You compare the pairs of one process")
