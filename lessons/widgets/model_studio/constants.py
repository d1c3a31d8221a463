"""Constants of ModelStudio, shared by Python and JavaScript."""

HISTORY = 30  # steps that can be undone
LONGEST = 32  # tokens of a sentence, on either side
MOST_CHANGES = 24
NEAR, LIKENESS = 3, 0.6  # how many known words are named for an unknown one, and how like it they are
LOWEST, HIGHEST = 0.1, 3.0  # temperatures
