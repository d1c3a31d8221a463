"""Lesson 10, my_rows: what the target's second token may attend to, worked out by hand."""

from lessons.checking.engine import Case, Exercise, Mistake

rows_of_t2 = Exercise(
    lesson="10",
    name="my_rows",
    reference=lambda: [[True, True, False, False, False], [True, True, True, False, False]],
    cases=lambda generator: [Case({})],
    outputs=("the two rows",),
    mistakes=[
        Mistake(
            lambda: [[False, False, True, True, True], [False, False, False, True, True]],
            "Each value is inverted: this is what is blocked. Here True means: may attend.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [True, True, False, False, False]],
            "The row of self-attention is right. But cross-attention is not causal: the whole source is known before "
            "the first target token is generated.",
        ),
        Mistake(
            lambda: [[True, True, True, True, False], [True, True, True, False, False]],
            "The row of cross-attention is right. In self-attention you hid the padding, but not the future: t3 and "
            "t4 come after t2.",
        ),
        Mistake(
            lambda: [[True, True, True, False, False], [True, True, True, False, False]],
            "The row of cross-attention is right. In self-attention t3 comes after t2, so t2 may not attend to it.",
        ),
        Mistake(
            lambda: [[True, False, False, False, False], [True, True, True, False, False]],
            "Almost: t2 may attend to itself too. What is hidden is what comes after it.",
        ),
        Mistake(
            lambda: [[False, True, True, True, False], [True, True, True, False, False]],
            "The row of self-attention goes the wrong way: it opens t2 and what comes after it. A token attends to "
            "itself and to what comes before it.",
        ),
        Mistake(
            lambda: [[True, True, False, False], [True, True, True]],
            "Each row has five entries, one for each key: padding has one, too.",
            also=(
                lambda: [[True, True, False, False], [True, True, True, False]],
                lambda: [[True, True, False, False, False], [True, True, True]],
                lambda: [[True, True, False, False, False], [True, True, True, False]],
                lambda: [[True, True, False, False], [True, True, True, False, False]],
            ),
        ),
        Mistake(
            lambda: [[False, True, False, False, False], [True, True, True, False, False]],
            "t2 may attend to itself, and also to what came before it: t1.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [False, True, False, False, False]],
            "The row of self-attention is right. Cross-attention isn't limited to the token at the same place: two "
            "languages don't put their words in the same order.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [True, True, True, True, True]],
            "The row of self-attention is right. In cross-attention the keys are the source, and two of its five "
            "tokens are padding.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [True, True, True, True, False]],
            "In cross-attention the keys are the source, which has three tokens. It is the target that has four.",
        ),
        Mistake(
            lambda: [[True, True, True, False, False], [True, True, False, False, False]],
            "The two rows are swapped: the first is self-attention, whose keys are the target.",
        ),
        Mistake(
            lambda: [[True, True, False, False, False], [False, False, False, True, True]],
            "One of the two rows says what is allowed, the other what is blocked. Here True means: may attend.",
            also=(lambda: [[False, False, True, True, True], [True, True, True, False, False]],),
        ),
        Mistake(
            lambda: [[True, True, True, True, False], [True, True, True, True, False]],
            "In both rows you hid only the padding of the target. In self-attention the future is hidden too; in "
            "cross-attention the keys are the source.",
        ),
        Mistake(
            lambda: [[False, True, False, False, False], [False, True, False, False, False]],
            "In both rows you opened only the token at the place of t2. In self-attention it attends to what came "
            "before it, too; in cross-attention to all tokens of the source.",
        ),
        Mistake(
            lambda: [[True, True, True, True, False], [True, True, True, True, True]],
            "In self-attention you hid the padding, but not the future: t3 and t4 come after t2. In cross-attention "
            "two of the five keys are padding.",
        ),
    ],
    hints=[
        "What are the keys? In self-attention t1 … t4 and one PAD, in cross-attention s1, s2, s3 and two PADs.",
        "Self-attention obeys two rules, no padding and no future. Cross-attention obeys one.",
    ],
    solution="""
        my_rows = [
            [True, True, False, False, False],  # t1 and t2: not the future, and not PAD
            [True, True, True, False, False],  # s1, s2 and s3: all tokens of the source
        ]
    """,
)
