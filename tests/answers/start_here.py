RIGHT = {
    "my_row_means": [
        """
def my_row_means(x):
    return x.mean(dim=1)
""",
        """
def my_row_means(x):
    means = []
    for row in x:
        means.append(sum(row) / len(row))
    return torch.stack(means)
""",
        """
def my_row_means(x):
    return torch.einsum("td->t", x) / x.shape[1]
""",
        """
def my_row_means(x):
    return torch.tensor([sum(row.tolist()) / len(row) for row in x])
""",
    ],
}
WRONG = {
    "my_row_means": [
        (
            """
def my_row_means(x):
    return sum(x) / len(x)
""",
            "the means of the columns",
        ),
        (
            """
def my_row_means(x):
    return [row.mean() for row in x]
""",
            "torch.stack makes one out of a list of tensors",
        ),
        (
            """
def my_row_means(x):
    return x.median(dim=1).values
""",
            "Values: the result differs",
        ),
        (
            """
def my_row_means(x):
    x.mean(dim=1)
""",
            "does your function end with `return`",
        ),
    ],
}
