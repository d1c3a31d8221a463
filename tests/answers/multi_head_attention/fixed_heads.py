"""Lesson 05, fixed_heads: what learners write."""

from lessons.attention import attend, join_heads, split_heads
from tests.answers import edit, right, wrong

with right:

    def fixed_heads(q, k, v, num_heads):
        """q (B, Q, D), k and v (B, K, D) -> (B, Q, D)"""
        output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
        return output.transpose(1, 2).reshape(q.shape)


with right:

    def fixed_heads(q, k, v, num_heads):
        output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
        return join_heads(output)


edit("join_heads(output", "output.transpose(2, 3).reshape(q.shape", "You swapped tokens and features", of=1)

with wrong("Values: output differs"):

    def fixed_heads(q, k, v, num_heads):
        return attend(q, k, v)[0]


with wrong("you replaced split_heads, which was right"):

    def fixed_heads(q, k, v, num_heads):
        q, k, v = (x.view(len(x), num_heads, x.size(1), -1) for x in (q, k, v))
        return attend(q, k, v)[0].transpose(1, 2).flatten(2)


with wrong("You averaged the heads"):

    def fixed_heads(q, k, v, num_heads):
        output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
        return output.mean(dim=1).repeat(1, 1, num_heads)
