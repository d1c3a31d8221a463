"""Lesson 09, my_parameters: how many parameters a Transformer has."""

from lessons.checking.calls import whole_number
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def count_parameters(d_model: int, d_ff: int, num_layers: int, vocab_size: int) -> int:
    """One shared table of embeddings, also the final projection, which has a bias; Post-LN without a last norm."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return num_layers * (encoder_layer + decoder_layer) + vocab_size * d_model + vocab_size


NO_ATTENTION_BIAS = ("d_model * d_model + d_model", "d_model * d_model")
NO_FEED_FORWARD_BIAS = ("d_model * d_ff + d_ff + d_ff * d_model + d_model", "d_model * d_ff + d_ff * d_model")
NO_NORMS = ("norm = 2 * d_model", "norm = 0")
NO_LAST_BIAS = ("vocab_size * d_model + vocab_size", "vocab_size * d_model")


counting = Exercise(
    lesson="09",
    name="my_parameters",
    reference=count_parameters,
    call=whole_number,
    cases=lambda generator: [
        Case({"d_model": d, "d_ff": f, "num_layers": n, "vocab_size": v})
        for d, f, n, v in [(4, 6, 1, 5), (6, 8, 2, 11), (512, 2048, 6, 37000)]
    ],
    mistakes=[
        Mistake(
            edited(count_parameters, "2 * attention", "attention"),
            "A decoder layer has *two* attentions: self-attention and cross-attention.",
        ),
        Mistake(
            edited(count_parameters, ("2 * attention", "attention"), ("3 * norm", "2 * norm")),
            "You counted a decoder layer like an encoder layer. It has cross-attention as well, and a norm for it.",
        ),
        Mistake(
            edited(count_parameters, NO_NORMS),
            "The norms are missing: 2 · d_model numbers for each.",
        ),
        Mistake(
            edited(count_parameters, "3 * norm", "2 * norm"),
            "A decoder layer has three norms, one for each of its sublayers. (If you have them: a feed-forward network "
            "has two biases, d_ff and d_model. Without the second one the sum is the same.)",
        ),
        Mistake(
            edited(count_parameters, "norm = 2 * d_model", "norm = d_model"),
            "A norm has a weight *and* a bias for each feature: 2 · d_model.",
        ),
        Mistake(
            edited(count_parameters, NO_ATTENTION_BIAS),
            "The biases of the attentions are missing: d_model for each matrix.",
        ),
        Mistake(edited(count_parameters, NO_FEED_FORWARD_BIAS), "The biases of the feed-forward networks are missing."),
        Mistake(
            edited(count_parameters, NO_ATTENTION_BIAS, NO_FEED_FORWARD_BIAS),
            "The biases of the attentions and of the feed-forward networks are missing.",
            also=[edited(count_parameters, NO_ATTENTION_BIAS, NO_FEED_FORWARD_BIAS, NO_LAST_BIAS)],
        ),
        Mistake(
            edited(count_parameters, NO_ATTENTION_BIAS, NO_FEED_FORWARD_BIAS, NO_LAST_BIAS, NO_NORMS),
            "Of each layer only the large matrices are counted. Biases and norms are small, but they are parameters, "
            "too.",
            also=[edited(count_parameters, NO_ATTENTION_BIAS, NO_FEED_FORWARD_BIAS, NO_NORMS)],
        ),
        Mistake(
            edited(count_parameters, "4 * (d_model * d_model + d_model)", "4 * d_model * d_model + d_model"),
            "Each of the four matrices of an attention has a bias: 4 · d_model numbers, not d_model.",
        ),
        Mistake(
            edited(count_parameters, "2 * attention + feed_forward", "2 * attention"),
            "Only one side has its feed-forward networks. Each layer has one, in the encoder and in the decoder.",
        ),
        Mistake(
            edited(count_parameters, "4 * (", "3 * ("),
            "An attention has four matrices: for queries, keys, values, and one for the concatenated heads.",
        ),
        Mistake(
            edited(count_parameters, "num_layers * (", "4 * d_model + num_layers * ("),
            "You counted a last norm for the encoder and the decoder. Pre-LN has them; this model is Post-LN.",
        ),
        Mistake(
            edited(count_parameters, "vocab_size * d_model", "2 * vocab_size * d_model"),
            "You counted two tables. Source, target and final projection share one here, not two.",
        ),
        Mistake(
            edited(count_parameters, "encoder_layer + decoder_layer", "encoder_layer"),
            "That is the encoder and the table. The decoder is missing.",
        ),
        Mistake(
            edited(count_parameters, "encoder_layer + decoder_layer", "decoder_layer"),
            "That is the decoder and the table. The encoder is missing.",
        ),
        Mistake(
            edited(count_parameters, "vocab_size * d_model", "3 * vocab_size * d_model"),
            "You counted three tables. Source, target and final projection share one here.",
        ),
        Mistake(
            edited(count_parameters, "d_model * d_ff + d_ff + d_ff * d_model", "8 * d_model * d_model + 4 * d_model"),
            "You took 4 · d_model for d_ff, as in the paper. Here d_ff may be any number.",
        ),
        Mistake(
            edited(count_parameters, NO_LAST_BIAS),
            "The bias of the final projection is missing: V numbers.",
        ),
        Mistake(
            edited(count_parameters, "d_model + vocab_size", "d_model + d_model"),
            "The final projection has V outputs, and a bias for each: V numbers, not d_model.",
        ),
        Mistake(
            edited(count_parameters, ("2 * norm", "norm"), ("3 * norm", "norm")),
            "You counted one norm for each layer. Each sublayer has its own: two in an encoder layer, three in a "
            "decoder layer.",
        ),
        Mistake(
            edited(count_parameters, " + vocab_size * d_model + vocab_size", ""), "The table of embeddings is missing."
        ),
        Mistake(
            edited(count_parameters, "num_layers * (", "1 * ("),
            "That is one layer on each side. There are num_layers of them.",
        ),
        Mistake(
            edited(count_parameters, "(encoder_layer + decoder_layer)", "encoder_layer + decoder_layer"),
            "In your sum one side has num_layers layers, the other only one: num_layers * (encoder + decoder).",
            also=[edited(count_parameters, "(encoder_layer + decoder_layer)", "decoder_layer + encoder_layer")],
        ),
        Mistake(
            edited(count_parameters, "num_layers * (", "num_layers / 2 * ("),
            "You shared num_layers between the two sides. Each side has num_layers layers of its own.",
            also=[edited(count_parameters, "num_layers * (", "num_layers // 2 * (")],
        ),
        Mistake(
            edited(count_parameters, "d_ff * d_model + d_model\n", "d_ff * d_model + d_ff\n"),
            "A bias has one number for each output. The second layer of a feed-forward network has d_model outputs, "
            "not d_ff.",
        ),
    ],
    hints=[
        "An attention: four matrices D × D, a bias of D for each. A feed-forward network: D × F + F, and F × D + D.",
        "An encoder layer has one attention and two norms, a decoder layer two attentions and three norms.",
        "Then the table, V × D, once; and V biases at the end.",
    ],
    solution="""
        def my_parameters(d_model, d_ff, num_layers, vocab_size):
            attention = 4 * (d_model * d_model + d_model)
            feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
            norm = 2 * d_model
            encoder_layer = attention + feed_forward + 2 * norm
            decoder_layer = 2 * attention + feed_forward + 3 * norm
            table_and_bias = vocab_size * d_model + vocab_size
            return num_layers * (encoder_layer + decoder_layer) + table_and_bias
    """,
)
