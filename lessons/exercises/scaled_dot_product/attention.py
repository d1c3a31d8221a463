"""Lesson 02: my_attention."""

import math

from lessons.attention import attend
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.scaled_dot_product.mended_attention import attention
from lessons.exercises.scaled_dot_product.scaled_scores import scaled_scores
from lessons.exercises.scaled_dot_product.shared import attention_cases


def _attention_cases_with_gradients(generator) -> list[Case]:
    inputs = {n: numbers(generator, *s) for n, s in zip("qkv", [(3, 2), (4, 2), (4, 5)])}
    return [*attention_cases(generator), Case(inputs, about="gradients", gradients=True)]


whole = Exercise(
    lesson="02",
    name="my_attention",
    reference=attention,
    cases=_attention_cases_with_gradients,
    solution=(scaled_scores, attention, attend),
    mistakes=[
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-2) @ v,
            "Your columns sum to 1, not your rows: the softmax runs over the queries. The keys are on the last axis.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=1) @ v,
            "Right for a table; but with a batch in front, axis 1 no longer holds the keys. Use dim=-1.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT).softmax(dim=-1) @ v,
            "The scores are not scaled: divide them by √d before the softmax.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT).softmax(dim=-1) / math.sqrt(q.size(-1)) @ v,
            "You divided by √d after the softmax, so that each row sums to 1/√d. Divide the scores, before it.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))) @ v,
            "There is no softmax: you mixed the values by their scores, which may be negative and need not sum to 1.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / q.size(-1)).softmax(dim=-1) @ v,
            "You divided by d. Divide by its square root.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT * math.sqrt(q.size(-1))).softmax(dim=-1) @ v,
            "You multiplied by √d. Divide.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights. One step is left: mix the values by them.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(v.size(-1))).softmax(dim=-1) @ v,
            "You divided by the root of the values' size. d is the size in which queries and keys are compared.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(k.size(-2))).softmax(dim=-1) @ v,
            "You divided by the root of the number of keys. d is the number of features of a key.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-2))).softmax(dim=-1) @ v,
            "You divided by the root of the number of queries. d is the number of features of a query.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(1))).softmax(dim=-1) @ v,
            "Right for a table, where axis 1 holds the features. With a batch in front it does not: q.size(-1).",
        ),
        Mistake(
            lambda q, k, v: (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1) @ v,
            ".T turns all axes around, also the batch. Swap the last two: k.transpose(-2, -1), or k.mT.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ k,
            "You mixed the keys. They are there to be found by; what is handed over are the values.",
        ),
    ],
    hints=[
        "Three steps: scaled scores, softmax over the keys, mixture of the values.",
        "You have written all three already, here and in lesson 01.",
    ],
)
