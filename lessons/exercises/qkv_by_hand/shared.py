"""What the exercises of lesson 01 share."""

from torch import Tensor


def projection_inputs(draw, generator, tokens: int, features: int, d: int, d_v: int) -> dict[str, Tensor]:
    return {
        "x": draw(generator, tokens, features),
        "w_q": draw(generator, features, d),
        "w_k": draw(generator, features, d),
        "w_v": draw(generator, features, d_v),
    }
