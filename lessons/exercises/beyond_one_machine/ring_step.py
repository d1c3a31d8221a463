"""Lesson 18, my_ring_step: one step of an all-reduce in a ring of processes."""

from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, small_numbers


def ring_step(held: Tensor, step: int) -> Tensor:
    """held (n, n, C): chunk c of process p is held[p, c]. Process p sends its chunk (p - step) mod n to process p + 1,
    and the last to the first. In steps 0 to n - 2 the receiver adds it to its own, then it replaces its own by it.

    Bandwidth optimal all-reduce algorithms for clusters of workstations (Patarasuk and Yuan, 2009).
    """
    n = len(held)
    after = held.clone()
    for sender in range(n):
        receiver = (sender + 1) % n
        chunk = (sender - step) % n
        if step < n - 1:
            after[receiver, chunk] += held[sender, chunk]
        else:
            after[receiver, chunk] = held[sender, chunk]
    return after


def _cases(generator) -> list[Case]:
    def case(n, size, step, about=""):
        return Case({"held": small_numbers(generator, n, n, size), "step": step}, about)

    return [
        case(2, 1, 0),
        case(3, 1, 1),
        case(4, 2, 2),
        case(4, 3, 4),
        case(5, 2, 3),
        case(5, 1, 7),
        case(3, 2, 0, "the first step"),
        case(4, 2, 3, "the first step that replaces"),
        case(5, 3, 3, "the last step that adds"),
    ]


def _everything(held, step):
    """The neighbor's chunks, all of them."""
    sent = held.roll(1, dims=0)
    return held + sent if step < len(held) - 1 else sent


def _all_at_once(held, step):
    return held.sum(dim=0).expand_as(held)


passing_on = Exercise(
    lesson="18",
    name="my_ring_step",
    reference=ring_step,
    cases=_cases,
    mistakes=[
        Mistake(
            edited(ring_step, "(sender + 1) % n", "(sender - 1) % n"),
            "Your ring runs backwards: process p sends to process p + 1.",
        ),
        Mistake(
            edited(ring_step, "(sender - step) % n", "(sender + step) % n"),
            "The chunk is (p + step) in your code. It is (p - step): each process passes on the chunk that it got one "
            "step before.",
        ),
        Mistake(
            edited(ring_step, "(sender - step) % n", "sender"),
            "Each process sends the same chunk in every step, so no number gets further than the next process. In step "
            "s process p sends chunk (p - s) mod n: the one that it has just received.",
        ),
        Mistake(
            edited(ring_step, "(sender - step) % n", "(receiver - step) % n"),
            "You count the chunk from the receiver. It is (p - step) mod n with p the *sender*.",
        ),
        Mistake(
            edited(ring_step, "] = held[sender, chunk]", "] += held[sender, chunk]"),
            "Your receiver always adds. From step n - 1 on, what arrives is complete: it replaces what was there, or "
            "numbers are counted twice.",
        ),
        Mistake(
            edited(ring_step, "] += held[sender, chunk]", "] = held[sender, chunk]"),
            "Your receiver always replaces, and its own numbers are lost. In the first n - 1 steps it adds.",
        ),
        Mistake(
            edited(ring_step, "+= held[sender, chunk]", "= (held[receiver, chunk] + held[sender, chunk]) / 2"),
            "You take the mean of two chunks. An all-reduce adds them up; who wants the mean divides once, at the end.",
        ),
        Mistake(
            edited(ring_step, "step < n - 1", "step < n"),
            "One step too many adds. After n - 1 steps, 0 to n - 2, each process has one complete chunk.",
            seen_in="the first step that replaces",
        ),
        Mistake(
            edited(ring_step, "step < n - 1", "step < n - 2"),
            "One step too few adds: steps 0 to n - 2 do, which are n - 1 steps.",
            seen_in="the last step that adds",
        ),
        Mistake(
            edited(ring_step, "step < n - 1", "step >= n - 1"),
            "The two halves are swapped: first add, then replace.",
        ),
        Mistake(
            edited(ring_step, "(sender + 1) % n", "sender + 1"),
            "The last process has no neighbor p + 1. A ring is closed: it sends to the first, (p + 1) % n.",
        ),
        Mistake(
            edited(ring_step, "held.clone()", "held"),
            "The numbers are right, but you wrote them into held itself, which belongs to the caller: in the figure "
            "below, all tables would show the last step. Write into a clone, and return that.",
        ),
        Mistake(
            lambda held, step: ring_step(held.transpose(0, 1), step).transpose(0, 1),
            "The axes are swapped in your code: chunk c of process p is held[p, c], not held[c, p].",
        ),
        Mistake(
            _everything,
            "You send all chunks at once. Each process sends one, C numbers, in each step: that is what makes the ring "
            "cheap.",
        ),
        Mistake(
            _all_at_once,
            "That is the result of the whole all-reduce. Here one step is wanted: one chunk from each process to the "
            "next.",
        ),
        Mistake(
            edited(ring_step, "] += held[sender, chunk]", "] += held[sender, chunk]; after[sender, chunk] = 0"),
            "What was sent is 0 at the sender. To send is to copy: the sender keeps its numbers.",
        ),
    ],
    hints=[
        "Take n = 3 and step 0: process 0 sends chunk 0 to process 1, process 1 chunk 1 to process 2, process 2 chunk "
        "2 to process 0. Nothing else changes.",
        "All send at the same time, so work on a copy: after = held.clone(), and read from held.",
        "Step n - 2 is the last that adds. -1 % 3 is 2 in Python, so (p - step) % n is never negative.",
    ],
    solution="""
        def my_ring_step(held, step):
            n = len(held)
            after = held.clone()
            for sender in range(n):
                receiver, chunk = (sender + 1) % n, (sender - step) % n
                adds = step < n - 1
                after[receiver, chunk] = held[sender, chunk] + adds * held[receiver, chunk]
            return after
    """,
)
