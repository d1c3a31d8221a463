"""Lesson 07, fixed_encoder: what learners write."""

from tests.answers import edit, right, wrong

with right:

    def fixed_encoder(x, sublayers, norms):
        for sublayer, norm in zip(sublayers, norms):
            x = x + sublayer(norm(x))
        return norms[-1](x)


with right:

    def fixed_encoder(x, sublayers, norms):
        *inner, last = norms
        for i in range(len(sublayers)):
            normalized = inner[i](x)
            x = sublayers[i](normalized) + x
        return last(x)


with wrong("The bug is still there"):

    def fixed_encoder(x, sublayers, norms):
        *inner, last = norms
        for sublayer, norm in zip(sublayers, inner):
            x = norm(x)
            x = x + sublayer(x)
        return last(x)


edit("x + sublayer(norm", "norm(x + sublayer", "Now it is Post-LN")

edit("sublayer(norm", "norm(sublayer", "The norm comes after")

edit("    return", "        return", "Only the first sublayer")
