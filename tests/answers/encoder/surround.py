"""Lesson 07, my_surround: what learners write."""

import torch

from tests.answers import right, wrong

with right:

    def my_surround(x, sublayer, norm, norm_first):
        return x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))


with right:

    def my_surround(x, sublayer, norm, norm_first):
        inner = norm(x) if norm_first else x
        result = torch.add(sublayer(inner), x)
        if not norm_first:
            result = norm(result)
        return result


with wrong("added the *normalized* x"):

    def my_surround(x, sublayer, norm, norm_first):
        if norm_first:
            x = norm(x)
            return x + sublayer(x)
        return norm(x + sublayer(x))


with wrong("Normalize the sum"):

    def my_surround(x, sublayer, norm, norm_first):
        if norm_first:
            return x + sublayer(norm(x))
        return norm(sublayer(x)) + x


with wrong("the norm came twice"):

    def my_surround(x, sublayer, norm, norm_first):
        y = norm(x)
        return x + sublayer(y) if norm_first else norm(x + sublayer(y))
