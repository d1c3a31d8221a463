"""Lesson 16, my_count: the parameters of a Llama from its config."""

from lessons.checking.calls import whole_number
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def count_llama(vocabulary: int, d_model: int, num_layers: int, num_heads: int, num_kv_heads: int, d_ff: int) -> int:
    """No biases, two RMSNorms in a layer and one at the end, SwiGLU, embedding and output projection not tied."""
    head_dim = d_model // num_heads
    queries_and_output = 2 * d_model * d_model
    keys_and_values = 2 * d_model * num_kv_heads * head_dim
    feed_forward = 3 * d_model * d_ff
    norms = 2 * d_model
    layer = queries_and_output + keys_and_values + feed_forward + norms
    return 2 * vocabulary * d_model + num_layers * layer + d_model


def _parts(
    vocabulary: int, d_model: int, num_layers: int, num_heads: int, num_kv_heads: int, d_ff: int
) -> dict[str, int]:
    """What may be counted too often, or not often enough."""
    keys = num_kv_heads * d_model // num_heads
    return {
        "vocabulary · d_model (the embedding, the output projection)": vocabulary * d_model,
        "num_layers · d_model² (W_q, W_o)": num_layers * d_model**2,
        "num_layers · d_model · num_kv_heads · head_dim (W_k, W_v)": num_layers * d_model * keys,
        "num_layers · d_model · d_ff (gate, up, down)": num_layers * d_model * d_ff,
        "num_layers · d_model (a norm, or a bias, in each layer)": num_layers * d_model,
        "d_model (one norm, or one bias)": d_model,
        "num_layers · num_kv_heads · head_dim (biases of keys and values)": num_layers * keys,
        "num_layers · d_ff (biases of gate and up)": num_layers * d_ff,
        "vocabulary (a bias of the output projection)": vocabulary,
    }


counting = Exercise(
    lesson="16",
    name="my_count",
    reference=count_llama,
    call=whole_number,
    parts=_parts,
    cases=lambda generator: [
        Case(
            {
                "vocabulary": vocabulary,
                "d_model": d_model,
                "num_layers": num_layers,
                "num_heads": num_heads,
                "num_kv_heads": num_kv_heads,
                "d_ff": d_ff,
            },
            about=about,
        )
        for vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff, about in [
            (5, 8, 2, 4, 2, 3, ""),
            (11, 12, 3, 6, 2, 7, ""),
            (7, 6, 1, 3, 1, 10, ""),
            (3, 4, 5, 2, 1, 6, ""),
            (13, 16, 2, 4, 1, 5, ""),
            (9, 10, 4, 5, 1, 4, ""),
            (2, 12, 2, 3, 1, 9, ""),
            (8, 6, 3, 2, 1, 2, ""),
            (4, 15, 1, 5, 1, 8, ""),
            (128256, 4096, 32, 32, 8, 14336, ""),
            (32000, 4096, 32, 32, 32, 11008, "as many heads of keys as of queries"),
        ]
    ],
    mistakes=[
        Mistake(
            edited(count_llama, "num_kv_heads * head_dim", "d_model"),
            "The keys and values have as many heads as the queries in your count. Here there are only num_kv_heads of "
            "them, each with d_model / num_heads features.",
        ),
        Mistake(
            edited(
                count_llama,
                ("2 * d_model * d_model", "2 * d_model * d_model + 2 * d_model"),
                ("2 * d_model * num_kv", "2 * (d_model + 1) * num_kv"),
            ),
            "You counted biases in attention. There are none here.",
            also=[
                edited(
                    count_llama,
                    ("2 * d_model * d_model", "2 * d_model * d_model + d_model"),
                    ("2 * d_model * num_kv", "2 * (d_model + 1) * num_kv"),
                )
            ],
        ),
        Mistake(
            edited(count_llama, "3 * d_model * d_ff", "3 * d_model * d_ff + 2 * d_ff + d_model"),
            "You counted biases in the feed-forward network. There are none here.",
        ),
        Mistake(
            edited(
                count_llama,
                ("2 * d_model * d_model", "2 * d_model * d_model + 2 * d_model"),
                ("2 * d_model * num_kv", "2 * (d_model + 1) * num_kv"),
                ("3 * d_model * d_ff", "3 * d_model * d_ff + 2 * d_ff + d_model"),
            ),
            "You counted biases in the linear layers. There are none here.",
            also=[
                edited(
                    count_llama,
                    ("2 * d_model * d_model", "2 * d_model * d_model + 2 * d_model"),
                    ("2 * d_model * num_kv", "2 * (d_model + 1) * num_kv"),
                    ("3 * d_model * d_ff", "3 * d_model * d_ff + 2 * d_ff + d_model"),
                    ("return 2 * vocabulary * d_model", "return 2 * vocabulary * d_model + vocabulary"),
                )
            ],
        ),
        Mistake(
            edited(
                count_llama,
                "layer = queries_and_output + keys_and_values",
                "layer = num_heads * (queries_and_output + keys_and_values)",
            ),
            "You multiplied attention by the number of heads. d_model · d_model has all heads in it already.",
        ),
        Mistake(
            edited(count_llama, "2 * d_model * d_model", "2 * d_model * num_kv_heads * head_dim"),
            "The projections of queries and output are too small: only keys and values have fewer heads.",
        ),
        Mistake(
            edited(count_llama, ("2 * d_model * d_model", "d_model * d_model")),
            "One of the four matrices of attention is missing: queries and output have d_model² numbers each.",
        ),
        Mistake(
            edited(count_llama, "= 2 * d_model * num_kv_heads", "= d_model * num_kv_heads"),
            "Keys or values are missing: there are two matrices of this size.",
        ),
        Mistake(
            edited(count_llama, "num_kv_heads * head_dim", "head_dim"),
            "You counted one head of keys and values. There are num_kv_heads of them.",
        ),
        Mistake(
            edited(count_llama, "num_kv_heads * head_dim", "d_model // num_kv_heads"),
            "You divided d_model by the number of heads of keys. A head has d_model / num_heads features, and there "
            "are num_kv_heads of them.",
        ),
        Mistake(
            edited(count_llama, "num_kv_heads * head_dim", "num_kv_heads"),
            "You counted one feature for each head of keys and values. Each has d_model / num_heads.",
        ),
        Mistake(
            edited(count_llama, "3 * d_model * d_ff", "2 * d_model * d_ff"),
            "You counted two matrices in the feed-forward network. SwiGLU has three: gate, up and down.",
        ),
        Mistake(
            edited(count_llama, "num_layers * layer + d_model", "num_layers * layer"),
            "The last norm is missing, before the output projection: d_model numbers.",
        ),
        Mistake(
            edited(count_llama, "norms = 2 * d_model", "norms = 4 * d_model"),
            "Your norms have a weight and a bias. RMSNorm has a weight alone.",
            also=[
                edited(
                    count_llama,
                    ("norms = 2 * d_model", "norms = 4 * d_model"),
                    ("layer + d_model", "layer + 2 * d_model"),
                )
            ],
        ),
        Mistake(
            edited(count_llama, "norms = 2 * d_model", "norms = 0"),
            "The norms in the layers are missing: two of them, d_model numbers each.",
            also=[edited(count_llama, ("norms = 2 * d_model", "norms = 0"), ("layer + d_model", "layer"))],
        ),
        Mistake(
            edited(count_llama, "norms = 2 * d_model", "norms = d_model"),
            "You counted one norm in a layer. There are two: before attention and before the feed-forward network.",
        ),
        Mistake(
            edited(count_llama, "2 * vocabulary * d_model", "vocabulary * d_model"),
            "You counted the vocabulary once. Embedding and output projection are two matrices here: they aren't tied.",
        ),
        Mistake(
            edited(count_llama, "num_layers * layer", "layer"),
            "You counted one layer. There are num_layers of them.",
        ),
        Mistake(
            edited(count_llama, "3 * d_model * d_ff", "3 * d_model * (2 * d_ff // 3)"),
            "You took 2/3 of d_ff. The d_ff of a config is already the size of the three matrices.",
        ),
        Mistake(
            edited(count_llama, "2 * vocabulary * d_model + ", ""),
            "The vocabulary is missing: embedding and output projection have vocabulary · d_model numbers each.",
        ),
        Mistake(
            edited(count_llama, "num_layers * layer + d_model", "num_layers * (layer + d_model)"),
            "The last norm is in each of your layers. It is there once, after all of them.",
            also=[edited(count_llama, ("norms = 2 * d_model", "norms = 3 * d_model"), ("layer + d_model", "layer"))],
        ),
    ],
    hints=[
        "One layer: W_q and W_o are (d_model, d_model). W_k and W_v are (d_model, num_kv_heads · head_dim).",
        "SwiGLU has three matrices of d_model · d_ff. Two norms in a layer have d_model numbers each.",
        "Around the layers: the embedding, the output projection, both vocabulary · d_model, and one last norm.",
    ],
    solution="""
        def my_count(vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_ff):
            keys = num_kv_heads * d_model // num_heads  # features of all heads of keys
            attention = 2 * d_model * d_model + 2 * d_model * keys
            layer = attention + 3 * d_model * d_ff + 2 * d_model
            return 2 * vocabulary * d_model + num_layers * layer + d_model
    """,
    in_package="lessons.language_model.count_parameters",
)
