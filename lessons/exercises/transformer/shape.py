"""Lesson 09, my_shape: the shape of the logits."""

from lessons.checking.engine import Case, Exercise, Mistake

logits_shape = Exercise(
    lesson="09",
    name="my_shape",
    reference=lambda: (2, 4, 9),
    cases=lambda generator: [Case({})],
    outputs=("the shape",),
    solution=("(B, T, V of the target) = (2, 4, 9): one score for each word that could come next, at each position",),
    mistakes=[
        Mistake(lambda: (2, 5, 9), "Logits belong to the positions of the target, of which there are 4."),
        Mistake(lambda: (2, 4, 12), "That is what leaves the decoder, with d_model features; it is then projected."),
        Mistake(lambda: (2, 4, 7), "The words to choose from are those of the *target's* vocabulary."),
        Mistake(lambda: (2, 9), "One row of scores for each sentence? There is one for each target position."),
        Mistake(lambda: (2, 5, 7), "That is the source's length and the source's vocabulary. What is written?"),
        Mistake(
            lambda: (2, 4), "One number for each position: so the word is chosen already. Logits score every word."
        ),
        Mistake(lambda: (4, 9), "That is one sentence. There are B = 2."),
        Mistake(lambda: (2, 4, 5), "That is the shape of a table of weights, target by source."),
    ],
    hints=[
        "At every target position the model scores every word that could come next.",
        "The last axis is the target's vocabulary.",
    ],
)
