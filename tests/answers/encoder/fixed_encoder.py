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

edit("norms[-1](x)", "norm(x)", "the norm of the last sublayer once more")

edit("sublayer(norm(x))", "sublayer(norms[-1](x))", "Every sublayer gets the norm from the end")

edit("*inner, last", "last, *inner", "shifted by one", of=1)

edit("x + sublayer(norm(x))", "norm(x) + sublayer(x)", "on the path of x")

edit("x + sublayer", "x + norm(x) + sublayer", "You added norm(x), too")

with wrong("Only the last sublayer counts"):

    def fixed_encoder(x, sublayers, norms):
        for sublayer, norm in zip(sublayers, norms):
            y = x + sublayer(norm(x))
        return norms[-1](y)


with wrong("is added to the x from the start"):

    def fixed_encoder(x, sublayers, norms):
        residual = x
        for sublayer, norm in zip(sublayers, norms):
            x = residual + sublayer(norm(x))
        return norms[-1](x)
