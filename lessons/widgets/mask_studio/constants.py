"""Constants of MaskStudio, shared by Python and JavaScript."""

from lessons.vocabulary import PAD as PAD

HISTORY = 30  # steps that can be undone
ADVICE = (
    "lessons.attention and F.scaled_dot_product_attention make the weights and the output 0; "
    "nn.MultiheadAttention makes them NaN or 0, depending on its path; with −1e9 the query attends evenly to all "
    "blocked keys."
)
