"""Lesson 18, my_shard: the examples of one process in one epoch, each exactly once."""

import random

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.wording import worded

EPOCHS = 3
FEWEST = 7  # examples from which on two epochs with the same order are no accident


def shard(size: int, rank: int, count: int, epoch: int) -> Tensor:
    """The indices, from 0 to size - 1, of the examples that process `rank` of `count` draws in an epoch, as drawn.

    Together, the processes draw each example exactly once; the shares of any two differ by one example at most.
    """
    generator = torch.Generator().manual_seed(epoch)
    order = torch.randperm(size, generator=generator)
    return order[rank::count]


def _drawn(candidate, size, count):
    """What all processes draw together, in words that don't depend on the order that they draw from."""
    epochs = []
    for epoch in range(EPOCHS):
        shards = []
        for rank in range(count):
            torch.default_generator.manual_seed(epoch * count + rank)  # each process is a Python of its own
            random.seed(epoch * count + rank)
            drawn = candidate(size, rank, count, epoch)
            if drawn is None:
                return None
            shards.append(torch.as_tensor(drawn).long())
        epochs.append(shards)
    wrong = [int(i) for shards in epochs for part in shards for i in part if not 0 <= i < size]
    if wrong:
        raise IndexError(worded("example {drawn} is drawn; there are only 0 to {last}", drawn=wrong[0], last=size - 1))
    seen = torch.stack([torch.cat(shards).bincount(minlength=size) for shards in epochs])
    alone = torch.stack([part.bincount(minlength=size) for part in epochs[0]])
    lengths = torch.tensor([len(part) for part in epochs[0]]).sort(descending=True).values
    again = torch.as_tensor(candidate(size, 0, count, 0)).long()
    orders = {tuple(torch.cat(shards).tolist()) for shards in epochs}
    divisions = {tuple(tuple(part.sort().values.tolist()) for part in shards) for shards in epochs}
    return (
        (seen == 0).any(),
        (seen > 1).any(),
        (alone > 1).any(),
        lengths,
        torch.tensor(torch.equal(again, epochs[0][0])),
        torch.tensor(len(orders) == EPOCHS or size < FEWEST),
        torch.tensor(len(divisions) > 1 or size < FEWEST or count == 1),
    )


def _cases(generator) -> list[Case]:
    return [
        Case({"size": 7, "count": 2}),
        Case({"size": 10, "count": 3}),
        Case({"size": 11, "count": 4}),
        Case({"size": 12, "count": 4}, "a size that the number of processes divides"),
        Case({"size": 3, "count": 5}, "fewer examples than processes"),
        Case({"size": 9, "count": 1}, "one process"),
    ]


ORDER, SLICE = "torch.randperm(size, generator=generator)", "order[rank::count]"
OF_OWN = "torch.randperm(len(range(rank, size, count)), generator=generator)"
WITHIN = "torch.arange(rank, size, count)[order]"

sharding = Exercise(
    lesson="18",
    name="my_shard",
    reference=shard,
    call=_drawn,
    cases=_cases,
    outputs=(
        "“some example is never drawn”",
        "“some example is drawn more than once in an epoch”",
        "“one process draws an example more than once”",
        "the number of examples of each process",
        "“a second call gives the same”",
        "“each epoch has another order”",
        "“the examples of a process change from epoch to epoch”",
    ),
    mistakes=[
        Mistake(
            edited(shard, ", generator=generator", ""),
            "Each process shuffles with random numbers of its own, so some examples are drawn twice and others never. "
            "All processes must start from the same order: a generator with a seed that they share.",
        ),
        Mistake(
            edited(shard, "manual_seed(epoch)", "manual_seed(rank)"),
            "The seed is the rank, so each process has another order: some examples are drawn twice and others never. "
            "And in the next epoch everything is the same. Take the epoch as the seed.",
        ),
        Mistake(
            edited(shard, "manual_seed(epoch)", "manual_seed(epoch * count + rank)"),
            "The seed differs from process to process, so some examples are drawn twice and others never. It must be "
            "the same in all processes, and another in each epoch.",
            also=[edited(shard, "manual_seed(epoch)", "manual_seed(epoch + rank)")],
        ),
        Mistake(
            edited(shard, "manual_seed(epoch)", "manual_seed(0)"),
            "Each example is drawn exactly once, but in the same order in every epoch. Shuffle, with the epoch as the "
            "seed.",
            also=[edited(shard, ORDER, "torch.arange(size)")],
        ),
        Mistake(
            edited(shard, SLICE, "order"),
            "Every process draws all examples: nothing is divided. Process p takes every count-th, from place p on.",
        ),
        Mistake(
            edited(shard, SLICE, "order[rank * (size // count) : (rank + 1) * (size // count)]"),
            "The examples that are left over after the division are never drawn. Some processes must take one more.",
            also=[edited(shard, SLICE, "order[: size // count * count][rank::count]")],
        ),
        Mistake(
            edited(shard, SLICE, "torch.cat([order, order[: -size % count]])[rank::count]"),
            "Some examples are drawn twice, so that all processes have equally many. (torch's DistributedSampler does "
            "that by default.) Here each is drawn exactly once: let some processes have one less.",
            also=[edited(shard, SLICE, "torch.cat([order, order, order])[: -(-size // count) * count][rank::count]")],
        ),
        Mistake(
            edited(shard, SLICE, "order[rank * -(-size // count) : (rank + 1) * -(-size // count)]"),
            "Each example is drawn exactly once, but the last process gets what is left, which may be far from what "
            "the others get. The numbers may differ by one at most; order[rank::count] divides so.",
            also=[
                edited(
                    shard,
                    SLICE,
                    "order[rank * (size // count) : None if rank == count - 1 else (rank + 1) * (size // count)]",
                )
            ],
        ),
        Mistake(
            edited(shard, (ORDER, OF_OWN), (SLICE, WITHIN)),
            "You divide first and shuffle then, so a process has the same examples in every epoch. Shuffle all of "
            "them, then divide.",
        ),
        Mistake(
            edited(shard, SLICE, "order[rank * count : (rank + 1) * count]"),
            "You cut pieces of `count` examples. count is the number of processes: process p takes every count-th "
            "example, order[rank::count].",
        ),
        Mistake(
            edited(shard, SLICE, "order[rank:count]"),
            "One colon is missing: order[rank:count] ends at place count. Every count-th is order[rank::count].",
        ),
        Mistake(
            edited(shard, SLICE, "order[rank + 1 :: count]"),
            "Ranks start at 0: yours start one place late, so the first example of the order is never drawn.",
        ),
        Mistake(
            edited(shard, SLICE, "order[count::rank + 1]"),
            "Start and step are swapped: start at the rank, and take every count-th.",
        ),
        Mistake(
            edited(shard, ORDER, "torch.randint(size, (size,), generator=generator)"),
            "torch.randint draws with replacement: some examples come twice, others never. torch.randperm gives each "
            "once.",
        ),
    ],
    hints=[
        "All processes must agree on one order without talking to each other. What do they all know?",
        "torch.Generator().manual_seed(epoch) gives the same random numbers in every process, and others in each "
        "epoch; torch.randperm(size, generator=…) gives an order.",
        "Of 7 examples and 2 processes, process 0 takes places 0, 2, 4, 6 and process 1 places 1, 3, 5.",
    ],
    solution="""
        def my_shard(size, rank, count, epoch):
            generator = torch.Generator().manual_seed(epoch)  # the same in all processes
            return torch.randperm(size, generator=generator)[rank::count]
    """,
    in_package="lessons.tasks.stream.PairStream",
)
