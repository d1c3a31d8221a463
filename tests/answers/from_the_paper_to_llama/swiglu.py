"""Lesson 16, my_swiglu: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_swiglu(x, w_gate, w_up, w_down):
        return (F.silu(x @ w_gate) * (x @ w_up)) @ w_down


with right:

    def my_swiglu(x, w_gate, w_up, w_down):
        z = x @ w_gate
        hidden = z * torch.sigmoid(z) * (x @ w_up)
        return hidden @ w_down


with right:

    def my_swiglu(x, w_gate, w_up, w_down):
        gate, up = (x @ torch.cat([w_gate, w_up], dim=1)).chunk(2, dim=-1)
        return torch.einsum("tf,fd->td", up * gate / (1 + torch.exp(-gate)), w_down)


edit("F.silu(x @ w_gate) * (x @ w_up)", "(x @ w_gate) * F.silu(x @ w_up)", "on the wrong one of the two")

edit("F.silu(x @ w_gate)", "torch.sigmoid(x @ w_gate)", "that is GLU")

edit("F.silu(x @ w_gate)", "torch.relu(x @ w_gate)", "that is ReGLU")

edit(" * (x @ w_up)", " + (x @ w_up)", "You added the two")

with wrong("w_up is not used"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return F.silu(x @ w_gate) @ w_down


with wrong("took SiLU of the product"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return F.silu((x @ w_gate) * (x @ w_up)) @ w_down


with wrong("SiLU is on both"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return (F.silu(x @ w_gate) * F.silu(x @ w_up)) @ w_down


with wrong("SiLU comes too early"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return (F.silu(x) @ w_gate * (x @ w_up)) @ w_down


with wrong("w_gate is not used"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return F.silu(x @ w_up) @ w_down


with wrong("You used tanh"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return (torch.tanh(x @ w_gate) * (x @ w_up)) @ w_down


edit("(F.silu", "x + (F.silu", "You added x")

edit("torch.exp(-gate)", "torch.exp(gate)", "The minus belongs in the exponent", of=2)

with wrong("You transposed the matrices, as F.linear does"):

    def my_swiglu(x, w_gate, w_up, w_down):
        return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)


edit("(x @ w_up)", "x @ w_up", "so the gate was multiplied by x")

edit(" * (x @ w_up)", " @ (x @ w_up)", "@ is a matrix product")


edit("F.silu(x @ w_gate)", "x * torch.sigmoid(x @ w_gate)", "You multiplied x by the sigmoid")
