"""Lesson 14, my_without_head: what learners write."""

import torch
import torch.nn.functional as F

from lessons.attention import split_heads
from tests.answers import right, wrong

with right:

    def my_without_head(joined, num_heads, head, w_out, b_out):
        head_dim = joined.size(-1) // num_heads
        kept = joined.clone()
        kept[..., head * head_dim : (head + 1) * head_dim] = 0
        return kept @ w_out.T + b_out


with right:

    def my_without_head(joined, num_heads, head, w_out, b_out):
        keep = torch.ones(num_heads)
        keep[head] = 0
        heads = joined.unflatten(-1, (num_heads, -1)) * keep[:, None]
        return F.linear(heads.flatten(-2), w_out, b_out)


with right:

    def my_without_head(joined, num_heads, head, w_out, b_out):
        parts = joined.chunk(num_heads, dim=-1)
        columns = w_out.chunk(num_heads, dim=1)
        return b_out + sum(part @ w.T for i, (part, w) in enumerate(zip(parts, columns)) if i != head)


with right:

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        its = slice(head * d, (head + 1) * d)
        return F.linear(joined, w_out, b_out) - joined[..., its] @ w_out[:, its].T


with wrong("set features to 0 after the projection"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        output = joined @ w_out.T + b_out
        d = joined.size(-1) // num_heads
        output[..., head * d : (head + 1) * d] = 0
        return output


with wrong("every num_heads-th feature"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        heads = joined.unflatten(-1, (-1, num_heads)).clone()
        heads[..., head] = 0
        return heads.flatten(-2) @ w_out.T + b_out


with wrong("all earlier ones are still silent"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        joined[..., head * d : (head + 1) * d] = 0
        return joined @ w_out.T + b_out


with wrong("You silenced a token"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        kept = joined.clone()
        kept[:, head] = 0
        return kept @ w_out.T + b_out


with wrong("A head is read by *columns* of w_out"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        w = w_out.clone()
        w[head * d : (head + 1) * d] = 0
        return joined @ w.T + b_out


with wrong("starting at feature head"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        kept = joined.clone()
        kept[..., head : head + d] = 0
        return kept @ w_out.T + b_out


with wrong("without moving their axis back"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        heads = split_heads(joined, num_heads).clone()
        heads[:, head] = 0
        return heads.reshape(joined.shape) @ w_out.T + b_out


with wrong("could not be run to its end"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        kept = torch.cat([joined[..., : head * d], joined[..., (head + 1) * d :]], dim=-1)
        return kept @ w_out.T + b_out


with wrong("You silenced tokens"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        x = joined.clone()
        x[:, head * d : (head + 1) * d] = 0
        return x @ w_out.T + b_out


with wrong("mean ablation"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        d = joined.size(-1) // num_heads
        x = joined.clone()
        place = slice(head * d, (head + 1) * d)
        x[..., place] = x[..., place].mean((0, 1))
        return x @ w_out.T + b_out


with wrong("You took 32 for the size of a head"):

    def my_without_head(joined, num_heads, head, w_out, b_out):
        joined = joined.clone()
        joined[..., 32 * head : 32 * (head + 1)] = 0
        return joined @ w_out.T + b_out
