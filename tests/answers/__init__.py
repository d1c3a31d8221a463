"""What learners write: for each exercise several right ways, and wrong ones with a phrase of the answer they get.

The key is the module of the exercises and the name of the learner's function. The texts are what stands in the cell.
"""

from tests.answers import (
    a_trained_model,
    decoder,
    decoding,
    embeddings_and_positions,
    encoder,
    inside_torch_attention,
    mask_tutorial,
    masked_attention,
    multi_head_attention,
    paper_results,
    qkv_by_hand,
    scaled_dot_product,
    self_and_cross_attention,
    start_here,
    training,
    transformer,
)

LESSONS = (
    start_here,
    qkv_by_hand,
    scaled_dot_product,
    masked_attention,
    self_and_cross_attention,
    multi_head_attention,
    embeddings_and_positions,
    encoder,
    decoder,
    transformer,
    mask_tutorial,
    training,
    decoding,
    inside_torch_attention,
    a_trained_model,
    paper_results,
)
RIGHT = {(lesson.__name__.rsplit(".", 1)[1], name): texts for lesson in LESSONS for name, texts in lesson.RIGHT.items()}
WRONG = {(lesson.__name__.rsplit(".", 1)[1], name): texts for lesson in LESSONS for name, texts in lesson.WRONG.items()}
