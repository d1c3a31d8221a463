"""What the exercises of lesson 08 share."""


def _pre(x, sublayer, norm):
    return x + sublayer(norm(x))


def _post(x, sublayer, norm):
    return norm(x + sublayer(x))
