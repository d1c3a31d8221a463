"""Lesson 09, my_shape: the shape of the weights where source and target meet."""

from lessons.checking.engine import Case, Exercise, Mistake

weights_shape = Exercise(
    lesson="09",
    name="my_shape",
    reference=lambda: (2, 3, 4, 5),
    cases=lambda generator: [Case({})],
    outputs=("the shape",),
    mistakes=[
        Mistake(
            lambda: (2, 3, 5, 4),
            "Queries and keys are swapped: the target asks, so its length is the axis of the rows.",
        ),
        Mistake(lambda: (2, 3, 4, 4), "That is the decoder's self-attention: target by target."),
        Mistake(lambda: (2, 3, 5, 5), "That is the encoder's self-attention: source by source."),
        Mistake(
            lambda: (2, 4, 5),
            "Each of the H = 3 heads has weights of its own, on an axis of its own.",
            also=[lambda: (2, 5, 4), lambda: (6, 4, 5)],
        ),
        Mistake(
            lambda: (2, 4, 3, 5),
            "The heads come after the batch and before the queries: (B, H, queries, keys).",
            also=[lambda: (3, 2, 4, 5), lambda: (2, 4, 5, 3)],
        ),
        Mistake(lambda: (3, 4, 5), "That is one sentence. There are B = 2."),
        Mistake(lambda: (4, 5), "That is one head for one sentence. There are H = 3 heads, and B = 2 sentences."),
        Mistake(
            lambda: (2, 2, 3, 4, 5),
            "Those are the weights of two layers. The question is about one cross-attention: each layer has its own.",
        ),
        Mistake(
            lambda: (2, 3, 4, 12),
            "The last axis has one weight for each key, not one number for each feature.",
            also=[lambda: (2, 3, 5, 12), lambda: (2, 3, 4, 5, 12), lambda: (2, 3, 4, 5, 4)],
        ),
        Mistake(
            lambda: (2, 3, 4, 4, 5),
            "That is one axis too many: a weight is one number for each pair of a query and a key.",
        ),
        Mistake(
            lambda: (2, 4, 9),
            "That is the shape of the logits. The question is about the weights of cross-attention.",
        ),
        Mistake(
            lambda: (2, 4, 12),
            "That is one vector for each token, an input or output of the attention. Its weights are numbers for pairs "
            "of tokens.",
            also=[lambda: (2, 5, 12)],
        ),
        Mistake(
            lambda: (2, 3, 7, 9),
            "Those are the sizes of the vocabularies. A weight belongs to a pair of tokens of the two sentences.",
            also=[lambda: (2, 3, 9, 7)],
        ),
    ],
    hints=[
        "In cross-attention, whose tokens are the queries, and whose are the keys?",
        "A table for each sentence and each head: one row for each query, one column for each key.",
    ],
    solution="""
        my_shape = (2, 3, 4, 5)  # (B, H, T, S): the target asks, the source is asked
    """,
)
