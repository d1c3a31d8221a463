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
        Mistake(
            lambda: (2, 5, 7, 16),
            "That is one axis too many: a pair of tokens has one weight, and not one for each feature.",
            also=(lambda: (2, 5, 16, 7),),
        ),
        Mistake(
            lambda: (5, 2, 7),
            "The batch comes first: each of its sentence pairs has a table of its own.",
            also=(lambda: (7, 2, 5), lambda: (5, 7, 2), lambda: (7, 5, 2)),
        ),
        Mistake(lambda: (2, 12, 12), "The two sentences are not put together: one asks, and the other is asked."),
        Mistake(lambda: (2, 35), "That is how many weights there are. They stay a table, with a row for each query."),
        Mistake(lambda: (7, 5), "Each sentence pair has a table of its own, and its rows are queries: who asks?"),
        Mistake(
            lambda: (2, 16, 7),
            "Rows are queries: one for each target token, and not one for each feature.",
            also=(lambda: (16, 7),),
        ),
        Mistake(lambda: (2, 16, 16), "Features don't meet here: the weights have one number for each pair of tokens."),
        Mistake(lambda: (2, 7, 16), "That is the shape of the memory, which the keys and values are made from."),
        Mistake(lambda: (5, 7), "The table is right, but each sentence pair of the batch has its own."),
        Mistake(
            lambda: 70,
            "That is how many weights there are, all together. The shape says how they are arranged.",
        ),
        Mistake(
            lambda: 35,
            "That is how many weights one sentence pair has. The shape says how all of them are arranged.",
        ),
        Mistake(
            lambda: (2, 7, 5, 16),
            "That is one axis too many, and rows and columns are swapped: rows are queries, and a pair of tokens has "
            "one weight.",
        ),
    ],
    hints=[
        "One weight for each pair of query and key, for each sentence. Who are the queries here, and how many?",
        "The shape is (B, number of queries, number of keys).",
    ],
    solution="""
        my_shape = (2, 5, 7)  # (B, queries, keys): the target asks, the source has the keys
    """,
)
