"""Lesson 07, my_surround: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        if second_norm is not None:
            return x + second_norm(sublayer(norm(x)))
        return x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))


with right:

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        inner = norm(x) if norm_first else x
        output = sublayer(inner)
        if second_norm:
            output = second_norm(output)
        result = torch.add(output, x)
        if not norm_first:
            result = norm(result)
        return result


with wrong("added the *normalized* x"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        if norm_first:
            x = norm(x)
            return x + sublayer(x)
        return norm(x + sublayer(x))


with wrong("Normalize the sum"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        if norm_first:
            return x + sublayer(norm(x))
        return norm(sublayer(x)) + x


with wrong("the norm came twice"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        y = norm(x)
        return x + sublayer(y) if norm_first else norm(x + sublayer(y))


with wrong("second_norm is not used"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        return x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))


edit("x + second_norm(sublayer(norm(x)))", "second_norm(x + sublayer(norm(x)))", "The second norm is on the sum")

edit("second_norm(sublayer(norm(x)))", "sublayer(second_norm(norm(x)))", "Both norms are in front")

edit("second_norm(sublayer(norm(x)))", "second_norm(sublayer(x))", "the first one is missing")

edit("second_norm(sublayer(norm(x)))", "norm(sublayer(norm(x)))", "You used the first norm twice")

edit(
    "x + second_norm(sublayer(norm(x)))",
    "second_norm(sublayer(norm(x)))",
    "With a second norm, the residual connection",
)

edit("second_norm(sublayer(norm(x)))", "second_norm(norm(sublayer(x)))", "Both norms come after the sublayer")

edit("x + second_norm(sublayer(norm(x)))", "norm(x + second_norm(sublayer(x)))", "you put the first one on the sum")

edit("x + second_norm(sublayer(norm(x)))", "second_norm(x) + sublayer(norm(x))", "The second norm is on x itself")

edit("x + second_norm", "norm(x) + second_norm", "With a second norm, you added the *normalized* x")

edit("if second_norm:", "if second_norm or True:", "None cannot be called", of=1)

with wrong("was added twice"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        if not norm_first:
            return norm(x + sublayer(x))
        x, change = x + sublayer(norm(x)), sublayer(norm(x))
        return x if second_norm is None else x + second_norm(change)


edit("second_norm(sublayer(norm(x)))", "norm(sublayer(second_norm(x)))", "The two norms are swapped")

edit("x + sublayer(norm(x)) if norm_first else norm", "norm", "norm_first is ignored")

edit("x + second_norm(sublayer(norm(x)))", "x + sublayer(second_norm(x))", "in the place of the first")

with wrong("in the place of the first"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        if second_norm is not None:
            norm = second_norm
        return x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))


with wrong("With norm_first=True, second_norm is not used"):

    def my_surround(x, sublayer, norm, norm_first, second_norm=None):
        if norm_first:
            return x + sublayer(norm(x))
        change = sublayer(x)
        return norm(x + (change if second_norm is None else second_norm(change)))
