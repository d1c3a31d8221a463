"""Lesson 04, my_shape: the shape of the weights in cross-attention."""

from lessons.checking.engine import Case, Exercise, Mistake

weights_shape = Exercise(
    lesson="04",
    name="my_shape",
    reference=lambda: (2, 5, 7),
    cases=lambda generator: [Case({})],
    outputs=("the shape",),
    mistakes=[
        Mistake(
            lambda: (2, 7, 7),
            "That is the source against itself: the encoder's self-attention.",
        ),
        Mistake(lambda: (2, 5, 5), "That is the target against itself: the decoder's self-attention."),
        Mistake(
            lambda: (2, 7, 5), "Rows and columns are swapped. Rows are queries: who asks, the target or the source?"
        ),
        Mistake(
            lambda: (2, 5, 16), "That is the shape of the output. The weights have one number for each pair of tokens."
        ),
        Mistake(lambda: (2, 1, 5, 7), "That would be right with an axis for heads. There are none yet, so three axes."),
        Mistake(lambda: (5, 7), "The table is right, but each sentence pair of the batch has its own."),
    ],
    hints=[
        "One weight for each pair of query and key, for each sentence. Who are the queries here, and how many?",
        "The shape is (B, number of queries, number of keys).",
    ],
    solution="""
        my_shape = (2, 5, 7)  # (B, queries, keys): the target asks, the source has the keys
    """,
)
