"""Lesson 09, my_shape: the shape of the logits."""

from lessons.checking.engine import Case, Exercise, Mistake

logits_shape = Exercise(
    lesson="09",
    name="my_shape",
    reference=lambda: (2, 4, 9),
    cases=lambda generator: [Case({})],
    outputs=("the shape",),
    mistakes=[
        Mistake(lambda: (2, 5, 9), "There is one row of logits per target position, and there are 4 of those."),
        Mistake(
            lambda: (2, 4, 12),
            "That is the decoder's output, before the projection to the vocabulary.",
        ),
        Mistake(lambda: (2, 4, 7), "The model chooses from the *target* vocabulary."),
        Mistake(lambda: (2, 9), "That is one row of scores per sentence. There is one per target position."),
        Mistake(lambda: (2, 5, 7), "That is the source. The model generates the target."),
        Mistake(
            lambda: (2, 4),
            "That is one number per position. Logits score every token.",
        ),
        Mistake(lambda: (4, 9), "That is one sentence. There are B = 2."),
        Mistake(lambda: (2, 4, 5), "That is the shape of cross-attention weights, target by source."),
    ],
    hints=[
        "At every target position the model scores every token that could come next.",
        "The last axis is the target vocabulary.",
    ],
    solution="""
        my_shape = (2, 4, 9)  # (B, T, target vocabulary): which token comes next, at each place
    """,
)
