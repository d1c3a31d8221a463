"""Constants of DotProductStepper, shared by Python and JavaScript: the steps, and what each of them says."""

TITLES = ("dot product", "scale", "mask", "e to the power", "weight", "contribution", "output")
FORMULAS = (
    "q · k, feature by feature",
    "score / √d",
    "may attend, or −∞",
    "e^score",
    "e^score / the row's sum",
    "weight × v",
    "the sum of all contributions",
)
TABLES = {
    "product": "scores = q kᵀ",
    "scaled": "scores / √{size}",
    "not scaled": "scores, not scaled",
    "masked": "masked scores",
    "powers": "e to the power",
    "weights": "weights",
}
MOST_NUMBERS = 20  # terms written out in a sum of rows
SAFE_POWER = 700  # beyond it, e to the power is ∞ or loses its digits
MOST_LETTERS = 12  # of a token in a sentence

SAYS = {
    "product": "Multiply the query of {query} and the key of {key} feature by feature, and add up: the score.",
    "scaled": "Divide by √d; d is {size}, the number of features of a query or key.",
    "not scaled": "The division by √d is switched off: the score stays as it is.",
    "no mask": "There is no mask: every query may attend to every key.",
    "may attend": "{query} may attend to {key}: the score stays.",
    "blocked": "{query} may not attend to {key}: −∞ takes the place of the score.",
    "power": "Raise e to it. The result is positive, and a larger score gives a larger result.",
    "power of no number": "e to the power {score} is {power}.",
    "power too large": "e to this power is too large for a float: it becomes {power}.",
    "power too small": "e to this power is too small for a float: it becomes {power}.",
    "weight": "Divide by the sum of the row, so that the weights of {query} sum to 1. "
    "(Code subtracts the row's largest score from all of them first: the weights are the same, nothing overflows.)",
    "weight shifted": "In this row, e to the power is too large or too small for a float. So softmax subtracts "
    "the row's largest score, {shift}, from all of them first, which changes no weight.",
    "weight of nothing": "{query} may attend to nothing. 0 / 0 is NaN, so all its weights are set to 0.",
    "NaN among scores": "A score of this row is NaN. So is the sum of the row, and every weight that is divided by it.",
    "∞ among scores": "A score of this row is ∞. Softmax subtracts the row's largest score from all of them first, "
    "and ∞ − ∞ is NaN: so is the whole row.",
    "all scores −∞": "Every allowed score of {query} is −∞. 0 / 0 is NaN, and so is the whole row.",
    "contribution": "Multiply the value of {key} by this weight.",
    "no contribution": "The weight is 0, so the value of {key} adds nothing.",
    "value not hidden": "A weight of 0 does not hide a value that is ∞ or NaN: 0 × ∞ and 0 × NaN are NaN.",
    "output": "Add up the contributions of all keys: the output of {query}.",
    "output of one": "There is no other key: its contribution is the output of {query}.",
    "output of nothing": "{query} may attend to nothing: every contribution is 0, and so is the output.",
}
NUMBERS = {
    "stays": "stays {score}",
    "may attend": "may attend: stays {score}",
    "blocked": "blocked: {score} becomes −∞",
    "nothing": "0 / 0: set to 0",
    "more": "{first} + {others} more",
}
WARNING = "May attend to nothing: query {names}. The weights are 0, {rest}."
ALSO_0, NOT_0 = "and so is the output", "yet the output is not: 0 × ∞ and 0 × NaN are NaN"
