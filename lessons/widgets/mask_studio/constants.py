"""Constants of MaskStudio, shared by Python and JavaScript."""

from lessons.vocabulary import PAD as PAD
from lessons.wording import marked

RULES = (
    marked("causal"),
    marked("sliding window"),
    marked("window with a sink"),
    marked("prefix"),
    marked("packed documents"),
    marked("local and global"),
    marked("strided"),
    marked("chunks"),
    marked("tree of guesses"),
)
CAUSAL, WINDOW, SINK, PREFIX, PACKED, LOCAL, STRIDED, CHUNKS, TREE = RULES
START = "<bos>"  # a packed document begins with it
MAX_SIZE = 16  # of a window, a prefix, a stride, a chunk; the guesses after each guess
HISTORY = 30  # steps that can be undone
ADVICE = marked(
    "lessons.attention makes the weights and the output 0. On a CPU, F.scaled_dot_product_attention does the same, and "
    "nn.MultiheadAttention gives NaN, or an output with nothing from any key, depending on its path. With −1e9 the "
    "query attends evenly to all blocked keys."
)
