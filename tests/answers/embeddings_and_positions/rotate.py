"""Lesson 06, my_rotate: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_rotate(x, angles):
        result = torch.empty_like(x)
        a, b = x[..., 0::2], x[..., 1::2]
        result[..., 0::2] = a * angles.cos() - b * angles.sin()
        result[..., 1::2] = a * angles.sin() + b * angles.cos()
        return result


with right:

    def my_rotate(x, angles):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


with right:

    def my_rotate(x, angles):
        cos, sin = (y.repeat_interleave(2, dim=-1) for y in (angles.cos(), angles.sin()))
        beside = torch.stack([-x[:, 1::2], x[:, ::2]], dim=-1).reshape(x.shape)
        return x * cos + beside * sin


with right:

    def my_rotate(x, angles):
        cos, sin = angles.cos(), angles.sin()
        turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
        return torch.einsum("tpij,tpj->tpi", turn, x.unflatten(-1, (-1, 2))).flatten(-2)


with right:

    def my_rotate(x, angles):
        result = torch.empty_like(x)
        for t, row in enumerate(angles.tolist()):
            for i, angle in enumerate(row):
                a, b = x[t, 2 * i], x[t, 2 * i + 1]
                result[t, 2 * i] = a * math.cos(angle) - b * math.sin(angle)
                result[t, 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
        return result


with wrong("Here neighbors are a pair"):

    def my_rotate(x, angles):
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)


with wrong("in the opposite direction"):

    def my_rotate(x, angles):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angles.cos() + b * angles.sin(), b * angles.cos() - a * angles.sin()], -1).flatten(-2)


with wrong("first ones that were already rotated"):

    def my_rotate(x, angles):
        y = x.clone()
        a, b = y[..., 0::2], y[..., 1::2]
        y[..., 0::2] = a * angles.cos() - b * angles.sin()
        y[..., 1::2] = a * angles.sin() + b * angles.cos()
        return y


with wrong("line up with their pairs"):

    def my_rotate(x, angles):
        cos, sin = torch.cat([angles.cos()] * 2, dim=-1), torch.cat([angles.sin()] * 2, dim=-1)
        beside = torch.stack([-x[:, 1::2], x[:, 0::2]], dim=-1).reshape(x.shape)
        return x * cos + beside * sin


with wrong("Two ways to form pairs are mixed"):

    def my_rotate(x, angles):
        cos, sin = (y.repeat_interleave(2, dim=-1) for y in (angles.cos(), angles.sin()))
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin


with wrong("every second *token*"):

    def my_rotate(x, angles):
        a, b = x[0::2], x[1::2]
        return torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1).flatten(-2)


with wrong("does not bring the members together"):

    def my_rotate(x, angles):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]).view(x.shape)


edit(
    "result[..., 1::2] = a * angles.sin() + b * angles.cos()",
    "result[..., 1::2] = a * angles.cos() + b * angles.sin()",
    "cosine and sine are swapped there",
)

edit(
    "torch.polar(torch.ones_like(angles), angles)",
    "torch.polar(torch.ones_like(angles), angles.deg2rad())",
    "They are in radians",
    of=1,
)

edit("angles), angles)).flatten(-2)", "angles), angles))", "the pairs are still on an axis of their own", of=1)

edit("pairs = torch", "angles = angles[0].expand_as(angles)\n    pairs = torch", "by the angles of the first", of=1)

with wrong("half as many angles as features"):

    def my_rotate(x, angles):
        result = torch.zeros(x.shape)
        for t in range(x.size(0)):
            for i in range(0, x.size(1), 2):
                a, b, angle = x[t, i], x[t, i + 1], angles[t, i]
                result[t, i] = a * angle.cos() - b * angle.sin()
                result[t, i + 1] = a * angle.sin() + b * angle.cos()
        return result


edit("a, b = x[..., 0::2], x[..., 1::2]", "b, a = x[..., 0::2], x[..., 1::2]", "are swapped: the first one")

edit("a * angles.sin() + b * angles.cos()", "b", "Only the first members changed")


with wrong("x.roll moves every feature by one place"):

    def my_rotate(x, angles):
        cos, sin = angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)
        sin = sin.clone()
        sin[:, 0::2] *= -1
        return x * cos + x.roll(-1, dims=-1) * sin


with wrong("x.roll moves every feature by one place"):

    def my_rotate(x, angles):
        cos, sin = angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)
        return x * cos + x.roll(1, -1) * sin


with wrong("makes a tensor of numbers"):

    def my_rotate(x, angles):
        cos, sin = angles.cos(), angles.sin()
        matrix = torch.tensor([[cos, -sin], [sin, cos]])
        return (x.unflatten(-1, (-1, 2)) @ matrix.T).flatten(-2)


with wrong("in other places"):

    def my_rotate(x, angles):
        a, b = x[:, 0::2], x[:, 1::2]
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([a * cos - b * sin, a * sin + b * cos]).flatten(-2)
