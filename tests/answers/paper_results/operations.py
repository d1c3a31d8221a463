"""Lesson 15, my_operations: what learners write."""

import torch
from torch import nn

from lessons.attention import MultiHeadAttention
from tests.answers import edit, right, wrong

with right:

    def my_operations(n, d, k):
        return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 8 * n * d * d, k * n * d * d


with right:

    def my_operations(n, d, k):
        def product(rows, inner, columns):
            return rows * inner * columns

        attention = 4 * product(n, d, d) + product(n, d, n) + product(n, n, d)
        recurrent = sum(product(1, d, d) + product(1, d, d) for _ in range(n))
        return [attention, recurrent, product(n, 2 * d, 4 * d), product(n, k * d, d)]


with right:

    def my_operations(n, d, k):
        n, d = torch.tensor(n), torch.tensor(d)
        return 2 * n * d * (2 * d + n), 2 * n * d**2, 8 * n * d**2, n * d**2 * k


with right:

    def my_operations(n, d, k):
        return n * d * torch.tensor([4 * d + 2 * n, 2 * d, 8 * d, k * d])


with right:

    def my_operations(n, d, k):
        from torch.utils.flop_counter import FlopCounterMode

        def count(run):
            with FlopCounterMode(display=False) as counter:
                run()
            return counter.get_total_flops() // 2

        with torch.device("meta"):
            x = torch.randn(1, n, d)
            attention, convolution = MultiHeadAttention(d, 1), nn.Conv1d(d, d, k, padding=k // 2)
            recurrent, lstm = nn.RNNCell(d, d), nn.LSTMCell(d, d)
            return (
                count(lambda: attention(x)),
                count(lambda: recurrent(x[0])),
                count(lambda: lstm(x[0])),
                count(lambda: convolution(x.transpose(1, 2))),
            )


edit(
    "4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 8 *",
    "n * n * d, n * d * d,",
    "those are the orders of growth in the paper's table",
)

edit("4 * n * d * d + ", "", "The four projections of the attention layer are missing")

edit("8", "4", "It has four pairs: in each, one for the token")

edit("n * n * d", "n * n", "A score is a dot product of two vectors of d features")

edit("k * n * d * d", "k * n * d", "as if each feature had its own kernel")

with wrong("you count multiplications and additions separately"):

    def my_operations(n, d, k):
        return 8 * n * d * d + 4 * n * n * d, 4 * n * d * d, 16 * n * d * d, 2 * k * n * d * d


edit("k * n", "(n - k + 1) * k", "gives fewer than n vectors")

with wrong("Values: self-attention differs"):

    def my_operations(n, d, k):
        return 4 * n * d ^ 2 + 2 * n ^ 2 * d, 2 * n * d ^ 2, 8 * n * d ^ 2, k * n * d ^ 2


edit(", 2 * n * d * d, 8 * n * d * d, k * n * d * d", "", "my_operations returned one thing")


with wrong("You multiplied by the number of heads"):

    def my_operations(n, d, k):
        heads = 4
        attention = 4 * n * d * d + heads * (n * n * d + n * n * d)
        return attention, 2 * n * d * d, 8 * n * d * d, n * k * d * d


with wrong("Your last two numbers are swapped"):

    def my_operations(n, d, k):
        recurrent = 2 * n * d * d
        return 4 * n * d * d + 2 * n * n * d, recurrent, n * k * d * d, 4 * recurrent


with wrong("the LSTM are swapped"):

    def my_operations(n, d, k):
        return 4 * n * d**2 + 2 * n**2 * d, 8 * n * d**2, 2 * n * d**2, k * n * d**2


with wrong("numbers of the example"):

    def my_operations(n, d, k):
        return 13440, 5120, 20480, 7680


with right:

    def my_operations(n, d, k):
        import numpy as np

        return n * d * np.array([4 * d + 2 * n, 2 * d, 8 * d, k * d])


edit("4 * n * d * d + 2 * n * n * d", "4 * n * n * d + 2 * n * d * d", "n and d are swapped in your attention")

with wrong("You leave out the products with the padding"):

    def my_operations(n, d, k):
        half = k // 2
        products = sum(min(n - 1, i + half) - max(0, i - half) + 1 for i in range(n))
        return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 8 * n * d * d, products * d * d
