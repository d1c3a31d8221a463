"""Lesson 18, my_shard: what learners write."""

import random

import torch

from tests.answers import edit, right, wrong

with right:

    def my_shard(size, rank, count, epoch):
        generator = torch.Generator().manual_seed(epoch)
        order = torch.randperm(size, generator=generator)
        return order[rank::count]


with right:

    def my_shard(size, rank, count, epoch):
        torch.manual_seed(1000 + epoch)
        order = torch.randperm(size)
        return order.tensor_split(count)[rank]


with right:

    def my_shard(size, rank, count, epoch):
        order = list(range(size))
        random.Random(epoch).shuffle(order)
        return [order[i] for i in range(size) if i % count == rank]


edit(", generator=generator", "", "random numbers of its own")

edit("manual_seed(epoch)", "manual_seed(rank)", "The seed is the rank")

edit("manual_seed(epoch)", "manual_seed(epoch + rank)", "The seed differs from process to process")

edit("manual_seed(epoch)", "manual_seed(42)", "in the same order in every epoch")

edit("order[rank::count]", "order", "Every process draws all examples")

edit("order[rank::count]", "order[rank:count]", "One colon is missing")

edit("order[rank::count]", "order[rank + 1 :: count]", "Ranks start at 0")

edit("order.tensor_split(count)[rank]", "order[: size - size % count].chunk(count)[rank]", "left over", of=1)

edit("order.tensor_split(count)[rank]", "order[size // count * rank : size // count * (rank + 1)]", "left over", of=1)

edit("random.Random(epoch).shuffle(order)", "random.shuffle(order)", "random numbers of its own", of=2)

with wrong("torch.randint draws with replacement"):

    def my_shard(size, rank, count, epoch):
        generator = torch.Generator().manual_seed(epoch)
        return torch.randint(size, (size,), generator=generator)[rank::count]


with wrong("drawn twice, so that all processes have equally many"):

    def my_shard(size, rank, count, epoch):
        order = torch.randperm(size, generator=torch.Generator().manual_seed(epoch)).tolist()
        while len(order) % count:
            order += order[: count - len(order) % count]
        return torch.tensor(order[rank::count])


with wrong("You divide first and shuffle then"):

    def my_shard(size, rank, count, epoch):
        own = torch.arange(size)[rank::count]
        generator = torch.Generator().manual_seed(epoch)
        return own[torch.randperm(len(own), generator=generator)]


with wrong("my_shard returned None. Does it end with `return`?"):

    def my_shard(size, rank, count, epoch):
        order = torch.randperm(size, generator=torch.Generator().manual_seed(epoch))
        print(order[rank::count], end="")


with wrong("You cut pieces of `count` examples"):

    def my_shard(size, rank, count, epoch):
        order = torch.randperm(size, generator=torch.Generator().manual_seed(epoch))
        return order[rank * count : (rank + 1) * count]
