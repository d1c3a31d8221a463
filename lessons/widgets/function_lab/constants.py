"""Constants of FunctionLab, shared by Python and JavaScript."""

from lessons.wording import marked

PRESETS = EVERYTHING, CAUSAL, PADDING, BOTH, EMPTY = (
    marked("everything"),
    marked("causal"),
    marked("padding"),
    marked("causal & padding"),
    marked("one empty row"),
)
EXAMPLES = (
    marked("wrong: 0 after the softmax"),
    marked("wrong: 0 before the softmax"),
    marked("wrong: True and False swapped"),
    marked("wrong for an empty row: −1e9"),
    marked("right: lessons.attention.attend"),
)
HISTORY = 12  # so many steps can be undone
