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

with wrong("one large head"):

    def fixed_heads(q, k, v, num_heads):
        return attend(q, k, v)[0]


edit("output.transpose(1, 2)", "(0.5 * output.transpose(1, 2))", "Yours is 0.5, which is 1 / 2, times")

edit("output.transpose(1, 2).reshape(q.shape)", "output.mean(dim=1)", "the mean over the heads")

edit("output.transpose(1, 2).reshape(q.shape)", "output.sum(dim=1)", "You added the heads up")

edit("output.transpose(1, 2).reshape(q.shape)", "output.flatten(1, 2)", "You merged heads and tokens")

edit("transpose(1, 2)", "transpose(0, 1)", "You swapped the batch and the heads")

edit("split_heads(k, num_heads), split_heads(v, num_heads)", "k, v", "The queries are split, the keys are not", of=1)

edit("split_heads(k, num_heads)", "k", "The queries are split, the keys are not", of=1)

edit("transpose(1, 2).reshape", "transpose(2, 3).view", "check that the numbers are the right ones")


with wrong("you replaced split_heads, which was right"):

    def fixed_heads(q, k, v, num_heads):
        q, k, v = (x.view(len(x), num_heads, x.size(1), -1) for x in (q, k, v))
        return attend(q, k, v)[0].transpose(1, 2).flatten(2)


with wrong("You averaged the heads"):

    def fixed_heads(q, k, v, num_heads):
        output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
        return output.mean(dim=1).repeat(1, 1, num_heads)


edit("reshape", "view", "view never copies")

edit(".reshape(q.shape)", "", "Merge the last two axes")

edit("output, _", "output", "Join the first", of=1)


with wrong("num_heads and head_dim are swapped"):

    def fixed_heads(q, k, v, num_heads):
        size = q.size(-1) // num_heads
        output, _ = attend(split_heads(q, size), split_heads(k, size), split_heads(v, size))
        return join_heads(output)


edit("transpose(1, 2)", "transpose(1, 3)", "You swapped heads and features")


edit("join_heads(output)", "join_heads(output.transpose(1, 2))", "join_heads swaps axes 1 and 2 by itself", of=1)
