"""What the exercises of lesson 02 share."""

from lessons.checking.engine import Case, numbers


def attention_cases(generator) -> list[Case]:
    sizes = [((2, 3), (4, 3), (4, 5)), ((5, 3), (3, 3), (3, 3)), ((6, 11), (5, 11), (5, 7))]
    cases = [Case({n: numbers(generator, *s) for n, s in zip("qkv", shapes)}) for shapes in sizes]
    one = {n: numbers(generator, *s) for n, s in zip("qkv", [(2, 3, 4), (2, 5, 4), (2, 5, 6)])}
    two = {n: numbers(generator, *s) for n, s in zip("qkv", [(2, 3, 5, 7), (2, 3, 6, 7), (2, 3, 6, 4)])}
    single = {n: numbers(generator, *s) for n, s in zip("qkv", [(1, 1, 4), (1, 5, 4), (1, 5, 3)])}
    return [
        *cases,
        Case(one, about="a batch axis in front"),
        Case(two, about="two axes in front, batch and heads"),
        Case(single, about="a batch of one, with a single query"),
    ]
