"""Lesson 05, my_parameters: what learners write."""

from lessons.attention import MultiHeadAttention
from tests.answers import edit, right, wrong

with right:

    def my_parameters(d_model, num_heads, head_dim):
        inside = num_heads * head_dim
        return 3 * (d_model + 1) * inside + (inside + 1) * d_model


with right:

    def my_parameters(d_model, num_heads, head_dim):
        module = MultiHeadAttention(d_model, num_heads, head_dim=head_dim)
        return sum(p.numel() for p in module.parameters())


with wrong("The biases are missing"):

    def my_parameters(d_model, num_heads, head_dim):
        return 4 * d_model * num_heads * head_dim


edit(
    "(d_model + 1) * inside + (inside + 1) *",
    "d_model * inside + inside + inside * d_model +",
    "are parentheses missing?",
)

with wrong("3 × d_model · H·d (the matrix of a layer) too few. 3 × H·d"):

    def my_parameters(d_model, num_heads, head_dim):
        return d_model * num_heads * head_dim


edit(
    "(d_model + 1) * inside + (inside + 1) * d_model",
    "(d_model * inside + d_model) + (inside + 1) * d_model",
    "They go to H·d features",
)

edit("3 * (d_model + 1) * inside", "3 * (d_model * inside + head_dim)", "counted for one head")

edit("(inside + 1)", "(d_model + 1)", "d_model² only if")

edit("(inside + 1)", "(head_dim + 1)", "reads all of them")

with wrong("two biases for the output projection"):

    def my_parameters(d_model, num_heads, head_dim):
        return 4 * (d_model + 1) * num_heads * head_dim + d_model


edit(
    "return 3 * (d_model + 1) * inside + (inside + 1) * d_model",
    "return num_heads * (3 * (d_model + 1) * inside + (inside + 1) * d_model)",
    "the heads twice",
)

edit("(inside + 1) * ", "", "The matrix of the output projection is missing")

with wrong("not from H·d to H·d"):

    def my_parameters(d_model, num_heads, head_dim):
        inside = num_heads * head_dim
        return 4 * (inside * inside + inside)


edit("3 * (d_model + 1) * inside + (inside + 1) * d_model", "4 * d_model**2", "a matrix has d_model · H·d numbers")
