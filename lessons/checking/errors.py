"""What common errors of torch and Python mean, for a learner who reads them for the first time."""

import re

from lessons.wording import marked, worded

MEANINGS = {
    re.compile(
        r"mat1 and mat2 shapes|first two dimensions of batch2|^size mismatch, got|^inconsistent tensor size"
    ): marked(
        "In a product `A @ B`, the last axis of A must be as long as the second-to-last axis of B, or as a vector B; "
        "a linear layer takes vectors of length `in_features`."
    ),
    re.compile(r"must match the size of tensor"): marked(
        "Where two tensors are combined, the sizes of their axes are compared from the last axis on: "
        "two sizes must be equal, or one of them 1. (In `A @ B` that holds for the axes before the last two.)"
    ),
    re.compile(r"is invalid for input of size (?P<count>\d+)"): marked(
        "`view` and `reshape` keep all numbers: the product of the new sizes must be {count}."
    ),
    re.compile(r"^view size is not compatible"): marked(
        "After a transpose, a slice or an `expand`, the numbers may not be in memory one after the other in the order "
        "of the axes, as this `view` needs; `reshape` makes a copy if it must."
    ),
    re.compile(r"^Dimension out of range|^too many indices for tensor"): marked(
        "The tensor has fewer axes than that. Axes are counted from 0, or from −1, which is the last one."
    ),
    re.compile(r"to have the same dtype"): marked(
        "All must have the same dtype: `y.to(x.dtype)` converts y to that of x."
    ),
    re.compile(r"^Boolean value of Tensor with more"): marked(
        "`if`, `and`, `or` and `not` need one truth value, and the tensor has many: `&`, `|`, `~` and `torch.where` "
        "work on each of them."
    ),
    re.compile(
        r"bitwise_\w+\" not implemented|invert\) is only implemented|boolean masks|to be a boolean tensor"
    ): marked(
        "Expected there: a bool tensor. A comparison such as `x > 0` gives one; `m.bool()` converts numbers, 0 to "
        "False."
    ),
    re.compile(r"^index out of range in self|is out of bounds"): marked(
        "An id or index doesn't fit: the largest is the size of that axis minus 1 (of a table: its rows; of classes: "
        "their number). Ids can't be negative, nor classes, except for `ignore_index`."
    ),
    re.compile(r"^only one element tensors|cannot be converted to Scalar"): marked(
        "Expected there: a tensor with one number. (`torch.stack` makes one tensor of a list of tensors.)"
    ),
    re.compile(r"not implemented for '(Long|Bool)'|could not infer output dtype"): marked(
        "Torch doesn't do that with this dtype (Long: whole numbers; Bool: True and False): `x.float()` converts it."
    ),
    re.compile(r"^name '(?P<name>\w+)' is not defined"): marked(
        "Nothing is called {name} there: is it spelled as where it is defined, and has that cell been run?"
    ),
    re.compile(r"NoneType"): marked("Something there is None, such as the result of a function without a return."),
    re.compile(r"^'Tensor' object is not callable"): marked(
        "Parentheses call a function; a tensor is indexed with square brackets."
    ),
    re.compile(r"^a leaf Variable that requires grad"): marked(
        "A parameter can't be changed in place while gradients are recorded: compute a new tensor, or do it under "
        "`torch.no_grad()`."
    ),
    re.compile(r"modified by an inplace operation"): marked(
        "The backward pass needs the values that were overwritten: compute a new tensor (`x = x + y`, not `x += y`)."
    ),
    re.compile(r"does not require grad and does not have a grad_fn"): marked(
        "No gradient can flow back from it: was it detached, computed under `torch.no_grad()`, or by `argmax` or a "
        "comparison?"
    ),
    re.compile(r"^maximum recursion depth"): marked("The function calls itself without an end."),
}


def meaning(text: str) -> str:
    """What an error with this text means; empty for an error that isn't a common one."""
    for pattern, sentence in MEANINGS.items():
        if found := pattern.search(text):
            return worded(sentence, **found.groupdict())
    return ""
