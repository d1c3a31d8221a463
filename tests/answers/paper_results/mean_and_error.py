"""Lesson 15, my_mean_and_error: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_mean_and_error(scores):
        return scores.mean(), scores.std() / len(scores) ** 0.5


with right:

    def my_mean_and_error(scores):
        n = len(scores)
        mean = sum(scores) / n
        variance = sum((x - mean) ** 2 for x in scores) / (n - 1)
        return mean, torch.sqrt(variance / n)


with right:

    def my_mean_and_error(scores):
        scores = scores.double()
        return scores.mean(), scores.std(correction=0) / math.sqrt(len(scores) - 1)


with right:

    def my_mean_and_error(scores):
        from statistics import mean, stdev

        return mean(scores.tolist()), stdev(scores.tolist()) / len(scores) ** 0.5


with right:

    def my_mean_and_error(scores):
        off = scores - scores.mean()
        return [scores.mean(), torch.sqrt(off @ off / (len(off) * (len(off) - 1)))]


edit(" / len(scores) ** 0.5", "", "That is the standard deviation")

edit("scores.mean", "scores.max", "That is the best seed")

with wrong("Your standard deviation divides by N"):

    def my_mean_and_error(scores):
        return scores.mean(), torch.sqrt(((scores - scores.mean()) ** 2).mean() / len(scores))


edit("len(scores) ** ", "3**", "N is len(scores)")

edit(", ", ", 1.96 * ", "That is half of a 95 % interval")

edit(
    "scores.mean(), scores.std() / len(scores) ** 0.5",
    "scores.std() / len(scores) ** 0.5, scores.mean()",
    "The two are swapped",
)

edit("0.5", "1 / 2", "N ** 1 / 2 is half of N")

with wrong("your code changed its argument scores"):

    def my_mean_and_error(scores):
        mean = scores.mean()
        scores -= mean
        return mean, torch.sqrt((scores**2).sum() / (len(scores) - 1) / len(scores))


with wrong("That is the mean of the distances"):

    def my_mean_and_error(scores):
        middle = scores.mean()
        return middle, (scores - middle).abs().mean() / math.sqrt(len(scores))


with wrong("You rounded the results"):

    def my_mean_and_error(scores):
        return round(scores.mean().item(), 1), round(scores.std().item() / math.sqrt(len(scores)), 1)


edit("/ len(scores)", "* len(scores)", "You multiply by √N")
