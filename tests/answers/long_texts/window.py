"""Lesson 17, my_window: what learners write."""

import torch

from lessons.masks import causal, sliding_window
from tests.answers import edit, right, wrong

with right:

    def my_window(num_queries, window, offset):
        distance = offset + torch.arange(num_queries)[:, None] - torch.arange(offset + num_queries)
        return (distance >= 0) & (distance < window)


with right:

    def my_window(num_queries, window, offset):
        ones = torch.ones(num_queries, offset + num_queries, dtype=torch.bool)
        return ones.tril(offset) & ones.triu(offset - window + 1)


with right:

    def my_window(num_queries, window, offset):
        allowed = torch.zeros(num_queries, offset + num_queries, dtype=torch.bool)
        for i in range(num_queries):
            here = offset + i
            allowed[i, max(0, here - window + 1) : here + 1] = True
        return allowed


with right:

    def my_window(num_queries, window, offset):
        near = sliding_window(num_queries, window, offset=offset)
        return causal(num_queries, offset=offset) & near


with wrong("The first query is at position 0"):

    def my_window(num_queries, window, offset):
        distance = torch.arange(num_queries)[:, None] - torch.arange(offset + num_queries)
        return (distance >= 0) & (distance < window)


edit("distance < window", "distance <= window", "one key too many")

edit("distance < window", "distance < window - 1", "one key too few")

edit("(distance >= 0) & ", "", "The future is open")

edit(" & (distance < window)", "", "the causal mask alone")

edit("(distance >= 0) & (distance < window)", "distance.abs() < window", "opens in both directions")

edit("distance >= 0", "distance > 0", "may not attend to itself")

edit(" & ones.triu", " | ones.triu", "joined the rules with |", of=1)

edit("torch.arange(offset + num_queries)", "torch.arange(num_queries)", "The keys from the cache are missing")

with wrong("You left the offset out"):

    def my_window(num_queries, window, offset):
        ones = torch.ones(num_queries, num_queries, dtype=torch.bool)
        return ones.tril() & ones.triu(1 - window)


edit("ones.triu(offset - window + 1)", "ones.triu(1 - window)", "The causal rule knows the offset", of=1)

edit("max(0, here - window + 1)", "here - window + 1", "start at max(0, …)", of=2)

with wrong("Those are chunks"):

    def my_window(num_queries, window, offset):
        query, key = offset + torch.arange(num_queries)[:, None], torch.arange(offset + num_queries)
        return (key <= query) & (key // window == query // window)


with wrong("ends before the query's own key"):

    def my_window(num_queries, window, offset):
        query = offset + torch.arange(num_queries)[:, None]
        key = torch.arange(offset + num_queries)
        return (key < query) & (query - key <= window)


with wrong("All keys are open"):

    def my_window(num_queries, window, offset):
        return torch.ones(num_queries, offset + num_queries, dtype=torch.bool)


with wrong("You give every token of the text a row"):

    def my_window(num_queries, window, offset):
        place = torch.arange(offset + num_queries)
        distance = place[:, None] - place
        return (distance >= 0) & (distance < window)
