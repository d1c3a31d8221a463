"""Lesson 18, my_plan: what learners write."""

import math

from tests.answers import edit, right, wrong

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
        parts = (batch + at_once - 1) // at_once
        rate = tuned_rate * (math.sqrt(batch / tuned_batch) if adam else batch / tuned_batch)
        return parts, rate


with right:

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        parts = 1
        while parts * processes * fits < batch:
            parts += 1
        power = 1 / 2 if adam else 1
        return parts, tuned_rate * (batch / tuned_batch) ** power


edit("(fits * processes)", "fits", "the parts of one process")

edit("math.ceil(batch / (fits * processes))", "batch // (fits * processes)", "You round down")

edit("math.ceil", "round", "to the nearest number")

edit("factor = factor**0.5", "pass", "linearly for Adam, too")

edit("if adam", "if not adam", "The two rules are swapped")

edit("batch / tuned_batch", "tuned_batch / batch", "falls as the batch grows")

edit("batch / tuned_batch", "processes", "grows with the number of processes")

edit("batch / tuned_batch", "parts * batch / tuned_batch", "You count the parts twice")

edit("tuned_rate * factor", "tuned_rate", "the one of the old batch")

edit("(batch + at_once - 1) // at_once", "batch // at_once + 1", "One part too many", of=1)

edit("1 / 2 if adam else 1", "1 / 2", "for SGD, too", of=2)

with wrong("as if each had a batch of its own"):

    def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
        effective = batch * processes
        parts = math.ceil(effective / fits)
        rate = tuned_rate * (math.sqrt(batch / tuned_batch) if adam else batch / tuned_batch)
        return parts, rate
