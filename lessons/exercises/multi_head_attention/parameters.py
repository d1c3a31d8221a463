"""Lesson 05, my_parameters: count what multi-head attention learns."""

from lessons.checking.calls import whole_number
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def count_parameters(d_model: int, num_heads: int, head_dim: int) -> int:
    """The numbers that multi-head attention learns: four matrices, and a bias for each."""
    attn_dim = num_heads * head_dim
    return 3 * (d_model * attn_dim + attn_dim) + attn_dim * d_model + d_model


def _parts(d_model: int, num_heads: int, head_dim: int) -> dict[str, int]:
    """What may be counted too often, or not often enough."""
    return {
        "d_model · H·d (the matrix of a layer)": d_model * num_heads * head_dim,
        "H·d (the bias of q_proj, k_proj or v_proj)": num_heads * head_dim,
        "d_model (the bias of out_proj)": d_model,
    }


counting = Exercise(
    lesson="05",
    name="my_parameters",
    reference=count_parameters,
    call=whole_number,
    parts=_parts,
    cases=lambda generator: [
        Case({"d_model": d_model, "num_heads": h, "head_dim": d})
        for d_model, h, d in [(6, 2, 3), (6, 2, 6), (5, 3, 4), (512, 8, 64)]
    ],
    mistakes=[
        Mistake(
            edited(count_parameters, " + attn_dim * d_model + d_model", ""),
            "The output projection is missing: from H·d features back to d_model, with its bias.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d,
            "The biases are missing: each of the four layers has one for each output feature.",
        ),
        Mistake(
            lambda D, h, d: h * (3 * (D * d + d) + d * D + D),
            "You counted an output projection with its bias for each head. All heads have one together: (H·d) × "
            "d_model, and one bias of d_model.",
        ),
        Mistake(
            edited(count_parameters, "num_heads * head_dim", "head_dim"),
            "That is one head. There are num_heads of them.",
        ),
        Mistake(
            edited(count_parameters, "num_heads * head_dim", "d_model"),
            "This is right only if H·d = d_model. You can choose head_dim freely.",
        ),
        Mistake(
            edited(count_parameters, "attn_dim * d_model + d_model", "attn_dim * d_model + attn_dim"),
            "The bias of the output projection has d_model numbers, not H·d.",
        ),
        Mistake(
            edited(count_parameters, "attn_dim * d_model + d_model", "attn_dim * d_model"),
            "The bias of the output projection is missing: one number for each of its d_model features.",
        ),
        Mistake(
            edited(count_parameters, " + attn_dim)", ")"),
            "The biases of q_proj, k_proj and v_proj are missing: each has one number for each of its H·d features.",
        ),
        Mistake(
            edited(count_parameters, "(d_model * attn_dim + attn_dim)", "d_model * attn_dim + attn_dim"),
            "Only one of q_proj, k_proj and v_proj has its bias in your count. There are three: are parentheses "
            "missing?",
        ),
        Mistake(
            edited(count_parameters, "3 * ", ""),
            "You counted one layer from d_model to H·d. There are three: q_proj, k_proj and v_proj.",
        ),
        Mistake(
            lambda D, h, d: 4 * (D * h * d + 1),
            "You counted one bias per layer. A layer has one for each output feature.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d + 3 * D + h * d,
            "You counted one bias for each input feature. A layer has one for each output feature.",
        ),
        Mistake(
            edited(count_parameters, " + attn_dim)", " + d_model)"),
            "You counted d_model biases for q_proj, k_proj and v_proj. They go to H·d features, and each of these has "
            "one.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d + 3 * d + D,
            "The biases of q_proj, k_proj and v_proj are counted for one head. Each layer has one for each of its H·d "
            "features.",
        ),
        Mistake(
            edited(count_parameters, "attn_dim * d_model + d_model", "d_model * d_model + d_model"),
            "The output projection goes from H·d features to d_model: its matrix has H·d × d_model numbers, which is "
            "d_model² only if H·d = d_model.",
        ),
        Mistake(
            edited(count_parameters, "attn_dim * d_model + d_model", "head_dim * d_model + d_model"),
            "You let the output projection read one head. It reads all of them, concatenated: H·d features.",
        ),
        Mistake(
            edited(count_parameters, "attn_dim * d_model + d_model", "attn_dim * d_model + attn_dim + d_model"),
            "You counted two biases for the output projection. It has one, of d_model numbers.",
        ),
        Mistake(
            edited(
                count_parameters,
                "return 3 * (d_model * attn_dim + attn_dim) + attn_dim * d_model + d_model",
                "return num_heads * (3 * (d_model * attn_dim + attn_dim) + attn_dim * d_model + d_model)",
            ),
            "You counted the heads twice: a layer of H·d features has those of all heads already.",
        ),
        Mistake(
            edited(count_parameters, "attn_dim * d_model + d_model", "d_model"),
            "The matrix of the output projection is missing: from H·d features back to d_model.",
        ),
        Mistake(
            lambda D, h, d: 4 * ((h * d) ** 2 + h * d),
            "This is right only if H·d = d_model. The layers go from d_model to H·d, and back: not from H·d to H·d.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * D,
            "The biases are missing, and a matrix has d_model · H·d numbers, which is d_model² only if H·d = d_model.",
        ),
    ],
    hints=[
        "A linear layer from a to b features has a·b weights and b biases.",
        "q_proj, k_proj and v_proj go from d_model to H·d; out_proj goes from H·d to d_model.",
    ],
    solution="""
        def my_parameters(d_model, num_heads, head_dim):
            inside = num_heads * head_dim
            into_heads = d_model * inside + inside  # q_proj, and the same for k_proj and v_proj
            out_of_heads = inside * d_model + d_model  # out_proj
            return 3 * into_heads + out_of_heads
    """,
)
