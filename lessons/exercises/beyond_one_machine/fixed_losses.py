"""Lesson 18, fixed_losses: what each process calls backward on, when DDP averages their gradients."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def losses_of_processes(sums: Tensor, tokens: Tensor) -> Tensor:
    """sums (N, P): the sum of the losses of the tokens, for each of P parts in each of N processes. tokens (N, P): how
    many they are. -> (N,): their mean over the processes is the loss per token of the whole batch.
    """
    total = tokens.sum()
    return sums.sum(dim=1) * len(sums) / total


def _cases(generator) -> list[Case]:
    def case(tokens, about=""):
        counts = torch.tensor(tokens)
        each = 1 + torch.rand(counts.shape, generator=generator)
        return Case({"sums": each * counts, "tokens": counts}, about)

    return [
        case([[4], [1]]),
        case([[5, 3, 2], [1, 2, 1]]),
        case([[7, 1], [2, 2], [4, 9]]),
        case([[3, 3], [3, 3], [3, 3]], "as many tokens everywhere"),
        case([[6, 2, 1]], "one process"),
        case([[5, 4], [0, 0]], "a process without a token"),
    ]


SCALED = "sums.sum(dim=1) * len(sums) / total"

bug_hunt = Exercise(
    lesson="18",
    name="fixed_losses",
    reference=losses_of_processes,
    cases=_cases,
    mistakes=[
        Mistake(
            edited(losses_of_processes, SCALED, "sums.sum(dim=1) / tokens.sum(dim=1)"),
            "The bug is still there. A symptom: with one process, or with as many tokens in each, all is right. With "
            "4 tokens in one process and 1 in the other, that one token counts as much as the four.",
        ),
        Mistake(
            edited(losses_of_processes, " * len(sums)", ""),
            "The tokens are those of all processes now, which is right. But DDP *averages* the gradients: it adds them "
            "and divides by N. So with N processes yours are N times too small.",
        ),
        Mistake(
            edited(losses_of_processes, " * len(sums) / total", " / total / len(sums)"),
            "You divide by N, and DDP divides by N once more. Multiply by N, so that only the sum is left.",
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "sums.sum(dim=1) / tokens.sum(dim=1) / len(sums)"),
            "The bug is still there, and now everything is N times too small: you divide by N, which DDP does already.",
        ),
        Mistake(
            edited(losses_of_processes, "/ total", "/ tokens.sum(dim=1)"),
            "You multiply by N to make up for DDP's mean, and still divide by the tokens of the process alone.",
        ),
        Mistake(
            edited(losses_of_processes, "total = tokens.sum()", "total = tokens.sum(dim=1).max()"),
            "You divide by the largest number of tokens that a process has. The mean is over the tokens of all.",
            also=[edited(losses_of_processes, SCALED, "sums.sum(dim=1) / tokens.sum(dim=1).max()")],
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "(sums / tokens).mean(dim=1)"),
            "Now each part counts the same, too: that is a step back. Sums are added, and divided once, at the end.",
            also=[edited(losses_of_processes, SCALED, "(sums / tokens).sum(dim=1)")],
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "sums.sum(dim=0) / tokens.sum(dim=0)"),
            "You add over the processes: dim 0. Rows are processes, columns their parts; each process can add only "
            "its own parts, dim 1.",
            also=[edited(losses_of_processes, "dim=1", "dim=0")],
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "sums.mean(dim=1) * len(sums) / total"),
            "You take the mean over the parts. The gradients of the parts are added: so are their sums.",
            also=[edited(losses_of_processes, SCALED, "sums.mean(dim=1) / total")],
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "sums.sum(dim=1) * tokens.sum(dim=1) / total"),
            "You weight a *sum* by the fraction of the tokens. That would be right for a mean; a sum has its weight "
            "already.",
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "sums.sum(dim=1) * sums.numel() / total"),
            "You multiply by a number of parts. The gradients of parts are added, and only those of processes are "
            "averaged: multiply by N, the number of rows.",
            also=[edited(losses_of_processes, SCALED, "sums.sum(dim=1) * sums.size(1) / total")],
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "(sums.sum() / total).expand(len(sums))"),
            "Every process returns the loss of the whole batch. The mean is right, but a process can call backward "
            "only on the losses of its own parts: the others' aren't in its graph.",
        ),
        Mistake(
            edited(losses_of_processes, SCALED, "sums.sum(dim=1) / tokens.sum(dim=1) * (tokens.sum(dim=1) / total)"),
            "The mean of a process times its fraction of the tokens: the weight is right. Two things are missing. DDP "
            "divides by N, so multiply by N; and a process without a token gives 0 / 0.",
        ),
        Mistake(
            edited(
                losses_of_processes,
                SCALED,
                "sums.sum(dim=1) / tokens.sum(dim=1) * (tokens.sum(dim=1) / total) * len(sums)",
            ),
            "Almost: for a process without a token, 0 / 0 is NaN, and the all-reduce carries it to all processes. "
            "Divide the sum by the total at once.",
            seen_in="a process without a token",
        ),
    ],
    hints=[
        "Compute by hand: process 0 has 4 tokens with the loss 1 each, process 1 one token with the loss 2. What is "
        "the mean over the five tokens, and what is the mean of what the two lines return?",
        "In a real training each process knows its own tokens only. The number of all comes from an all-reduce; here, "
        "tokens has them all.",
        "DDP adds the gradients and divides by N. What must each process multiply by, so that only the sum is left?",
    ],
    solution="""
        def fixed_losses(sums, tokens):
            total = tokens.sum()  # of all processes: in a real training, by an all-reduce
            return sums.sum(dim=1) / total * len(sums)  # DDP divides by len(sums)
    """,
    in_package="lessons.parallel.ParallelTrainer",
)
