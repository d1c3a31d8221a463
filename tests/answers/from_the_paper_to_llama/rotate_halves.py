"""Lesson 16, my_rotate_halves: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_rotate_halves(x, angles):
        half = x.size(-1) // 2
        a, b = x[..., :half], x[..., half:]
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


with right:

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, dim=-1)
        swapped = torch.cat([-b, a], dim=-1)
        angles = torch.cat([angles, angles], dim=-1)
        return x * angles.cos() + swapped * angles.sin()


with right:

    def my_rotate_halves(x, angles):
        z = torch.complex(*x.chunk(2, dim=-1)) * torch.polar(torch.ones_like(angles), angles)
        return torch.cat([z.real, z.imag], dim=-1)


with wrong("You rotated neighbors"):

    def my_rotate_halves(x, angles):
        a, b = x[..., 0::2], x[..., 1::2]
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


edit("torch.cat([angles, angles], dim=-1)", "angles.repeat_interleave(2, dim=-1)", "don't line up", of=1)

edit("[-b, a]", "[b, -a]", "in the opposite direction", of=1)

edit("[-b, a]", "[b, a]", "The minus is missing", of=1)

edit("cos, sin = angles.cos(), angles.sin()", "sin, cos = angles.cos(), angles.sin()", "Cosine and sine are swapped")

edit("torch.cat([z.real, z.imag], dim=-1)", "torch.cat([z.imag, z.real], dim=-1)", "The halves are swapped", of=2)

with wrong("you put them back as neighbors"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


with wrong("only put the results into halves"):

    def my_rotate_halves(x, angles):
        a, b = x[:, ::2], x[:, 1::2]
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


with wrong("The second half has cosine and sine swapped"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, -1)
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.cos() + b * angles.sin()], -1)


with wrong("before the second one was computed"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, -1)
        a = a * angles.cos() - b * angles.sin()
        b = a * angles.sin() + b * angles.cos()
        return torch.cat([a, b], -1)


with wrong("All pairs of a token get the same angle"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, dim=-1)
        angle = angles[:, 0].unsqueeze(-1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


with wrong("Each feature is only multiplied"):

    def my_rotate_halves(x, angles):
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        return x * cos + x * sin


with right:

    def my_rotate_halves(x, angles):
        half = x.size(-1) // 2
        result = torch.empty_like(x)
        for t, row in enumerate(angles.tolist()):
            for i, angle in enumerate(row):
                cos, sin = math.cos(angle), math.sin(angle)
                result[t, i] = x[t, i] * cos - x[t, half + i] * sin
                result[t, half + i] = x[t, i] * sin + x[t, half + i] * cos
        return result


with wrong("d features don't fit d / 2 angles"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


with wrong("torch.cat without dim"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos])


with wrong("torch.stack makes a new axis"):

    def my_rotate_halves(x, angles):
        a, b = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)


edit("    angles = torch.cat([angles, angles], dim=-1)\n", "", "write the angles twice", of=1)
