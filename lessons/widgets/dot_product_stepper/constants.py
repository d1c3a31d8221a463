"""Constants of DotProductStepper, shared by Python and JavaScript: the steps, and what each of them says."""

from lessons.wording import marked

TITLES = (
    marked("dot product"),
    marked("scale"),
    marked("mask"),
    marked("e to the power"),
    marked("weight"),
    marked("contribution"),
    marked("output"),
)
FORMULAS = (
    marked("q · k, feature by feature"),
    marked("score / √d"),
    marked("may attend, or −∞"),
    marked("e^score"),
    marked("e^score / the row's sum"),
    marked("weight × v"),
    marked("the sum of all contributions"),
)
TABLES = {
    "product": marked("scores = q kᵀ"),
    "scaled": marked("scores / √{size}"),
    "not scaled": marked("scores, not scaled"),
    "masked": marked("masked scores"),
    "powers": marked("e to the power"),
    "weights": marked("weights"),
}
MOST_NUMBERS = 20  # terms written out in a sum of rows
SAFE_POWER = 700  # beyond it, e to the power is ∞ or loses its digits
MOST_LETTERS = 12  # of a token in a sentence

SAYS = {
    "product": marked("Multiply the query of {query} and the key of {key} feature by feature, and add up: the score."),
    "scaled": marked("Divide by √d; d is {size}, the number of features of a query or key."),
    "not scaled": marked("The division by √d is switched off: the score stays as it is."),
    "no mask": marked("There is no mask: every query may attend to every key."),
    "may attend": marked("{query} may attend to {key}: the score stays."),
    "blocked": marked("{query} may not attend to {key}: −∞ takes the place of the score."),
    "power": marked("Raise e to it. The result is positive, and a larger score gives a larger result."),
    "power of no number": marked("e to the power {score} is {power}."),
    "power too large": marked("e to this power is too large for a float: it becomes {power}."),
    "power too small": marked("e to this power is too small for a float: it becomes {power}."),
    "weight": marked(
        "Divide by the sum of the row, so that the weights of {query} sum to 1. "
        "(Code subtracts the row's largest score from all of them first: the weights are the same, nothing overflows.)"
    ),
    "weight shifted": marked(
        "In this row, e to the power is too large or too small for a float. So softmax subtracts "
        "the row's largest score, {shift}, from all of them first, which changes no weight."
    ),
    "weight of nothing": marked("{query} may attend to nothing. 0 / 0 is NaN, so all its weights are set to 0."),
    "NaN among scores": marked(
        "A score of this row is NaN. So is the sum of the row, and every weight that is divided by it."
    ),
    "∞ among scores": marked(
        "A score of this row is ∞. Softmax subtracts the row's largest score from all of them first, "
        "and ∞ − ∞ is NaN: so is the whole row."
    ),
    "all scores −∞": marked("Every allowed score of {query} is −∞. 0 / 0 is NaN, and so is the whole row."),
    "contribution": marked("Multiply the value of {key} by this weight."),
    "no contribution": marked("The weight is 0, so the value of {key} adds nothing."),
    "value not hidden": marked("A weight of 0 does not hide a value that is ∞ or NaN: 0 × ∞ and 0 × NaN are NaN."),
    "output": marked("Add up the contributions of all keys: the output of {query}."),
    "output of one": marked("There is no other key: its contribution is the output of {query}."),
    "output of nothing": marked("{query} may attend to nothing: every contribution is 0, and so is the output."),
}
NUMBERS = {
    "stays": marked("stays {score}"),
    "may attend": marked("may attend: stays {score}"),
    "blocked": marked("blocked: {score} becomes −∞"),
    "nothing": marked("0 / 0: set to 0"),
    "more": marked("{first} + {others} more"),
}
ALSO_0 = marked("May attend to nothing: query {names}. The weights are 0, and so is the output.")
NOT_0 = marked(
    "May attend to nothing: query {names}. The weights are 0, yet the output is not: 0 × ∞ and 0 × NaN are NaN."
)
