"""Lesson 06, my_sinusoids: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        table = torch.zeros(num_positions, d_model)
        table[:, 0::2] = angles.sin()
        table[:, 1::2] = angles.cos()[:, : d_model // 2]
        return table


with right:

    def my_sinusoids(num_positions, d_model):
        rows = []
        for position in range(num_positions):
            row = []
            for feature in range(d_model):
                angle = position / 10000 ** (feature // 2 * 2 / d_model)
                row.append(math.cos(angle) if feature % 2 else math.sin(angle))
            rows.append(row)
        return torch.tensor(rows)


with right:

    def my_sinusoids(num_positions, d_model):
        rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        angles = torch.outer(torch.arange(num_positions).float(), rate)
        return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(num_positions, -1)[:, :d_model]


edit(" (", " (2 * ", "the 2 of 2i twice")

with wrong("All the sines come first"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        return torch.cat([angles.sin(), angles.cos()[:, : d_model // 2]], dim=-1)


with wrong("binds more tightly"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** torch.arange(0, d_model, 2) / d_model
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


with wrong("its own exponent"):

    def my_sinusoids(num_positions, d_model):
        table = torch.zeros(num_positions, d_model)
        for t in range(num_positions):
            for feature in range(d_model):
                angle = t / 10000 ** (2 * feature / d_model)
                table[t, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
        return table


with wrong("a table for D + 1 features"):

    def my_sinusoids(num_positions, d_model):
        even = d_model + d_model % 2
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, even, 2) / even)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


with wrong("one more sine"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


with wrong("you left the last feature at 0"):

    def my_sinusoids(num_positions, d_model):
        table = torch.zeros(num_positions, d_model)
        for t in range(num_positions):
            for i in range(d_model // 2):
                angle = t / 10000 ** (2 * i / d_model)
                table[t, 2 * i], table[t, 2 * i + 1] = math.sin(angle), math.cos(angle)
        return table


with wrong("with 100 in place of the base 10000"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 100 ** (torch.arange(0, d_model, 2) / d_model)
        table = torch.zeros(num_positions, d_model)
        table[:, 0::2] = angles.sin()
        table[:, 1::2] = angles.cos()[:, : d_model // 2]
        return table


with wrong("Shape: the result is (6,); expected (1, 6)"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        pairs = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
        return pairs[:, :d_model].squeeze()


edit("d_model, 2) / d_model", "d_model, 2) // d_model", "(// divides and rounds down; use /.)")

edit("-math.log(10000.0)", "-1.0", "Your base is e", of=2)

edit("[:, None] / ", "[:, None] * 2 * math.pi / ", "a factor 2π")

edit("torch.tensor(rows)", "torch.tensor(rows).T", "Rows and columns are swapped", of=1)

with wrong("the last column is missing"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (2 * torch.arange(d_model // 2) / d_model)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


with wrong("You divided the sines and cosines"):

    def my_sinusoids(num_positions, d_model):
        t = torch.arange(num_positions)[:, None]
        rates = 10000 ** (torch.arange(0, d_model, 2) / d_model)
        return torch.stack([t.sin() / rates, t.cos() / rates], dim=-1).flatten(-2)[:, :d_model]


with wrong("They are in radians"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        angles = torch.deg2rad(angles)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


edit("0, d_model, 2) *", "2, d_model + 2, 2) *", "Your pairs count from 1", of=2)

edit(
    "(torch.arange(0, d_model, 2) / d_model)",
    "torch.linspace(0, 1, (d_model + 1) // 2)",
    "Your exponents run from 0 to 1",
)


with wrong("there are (D + 1) // 2 angles"):

    def my_sinusoids(num_positions, d_model):
        t = torch.arange(num_positions)[:, None]
        i = torch.arange(d_model // 2)
        angles = t / 10000 ** (2 * i / d_model)
        table = torch.zeros(num_positions, d_model)
        table[:, 0::2] = angles.sin()
        table[:, 1::2] = angles.cos()
        return table


with wrong("You left out the last cosine for every D"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        table = torch.zeros(num_positions, d_model)
        table[:, 0::2] = angles.sin()
        table[:, 1::2] = angles.cos()[:, :-1]
        return table


with wrong("Positions and exponents are both rows"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


with wrong("table[0::2] is every second position"):

    def my_sinusoids(num_positions, d_model):
        angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        table = torch.zeros(num_positions, d_model)
        table[0::2] = angles.sin()
        table[1::2] = angles.cos()
        return table
