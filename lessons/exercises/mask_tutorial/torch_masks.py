"""Lesson 10, my_torch_masks: the four masks that nn.Transformer needs."""

from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import padded_ids


def torch_masks(src: Tensor, tgt: Tensor, src_pad_id: int, tgt_pad_id: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """src (B, S), tgt (B, T) -> what nn.Transformer must be told, True = blocked."""
    src_key_padding_mask = src == src_pad_id  # (B, S)
    tgt_mask = ~masks.causal(tgt.size(1))  # (T, T)
    tgt_key_padding_mask = tgt == tgt_pad_id  # (B, T)
    memory_key_padding_mask = src_key_padding_mask  # the memory has the source's padding
    return src_key_padding_mask, tgt_mask, tgt_key_padding_mask, memory_key_padding_mask


RETURNED = "return src_key_padding_mask, tgt_mask, tgt_key_padding_mask, memory_key_padding_mask"
INVERTED_PADDING = (("src == src_pad_id", "src != src_pad_id"), ("tgt == tgt_pad_id", "tgt != tgt_pad_id"))


for_torch = Exercise(
    lesson="10",
    name="my_torch_masks",
    reference=torch_masks,
    cases=lambda generator: [
        Case(
            {
                "src": padded_ids(generator, b, s, sp).flip(0),  # the first sentence is padded, too
                "tgt": padded_ids(generator, b, t, tp).flip(0),
                "src_pad_id": sp,
                "tgt_pad_id": tp,
            },
            about=about,
        )
        for b, s, t, sp, tp, about in [
            (2, 3, 4, 1, 3, ""),
            (3, 5, 6, 7, 2, ""),
            (4, 4, 4, 5, 6, ""),
            (1, 3, 5, 0, 2, "a batch of one"),
        ]
    ],
    outputs=("src_key_padding_mask", "tgt_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
    mistakes=[
        Mistake(
            edited(torch_masks, *INVERTED_PADDING, ("~masks", "masks")),
            "All four are inverted: nn.Transformer blocks where its masks are True.",
        ),
        Mistake(
            edited(torch_masks, "~masks", "masks"),
            "The padding is right, but tgt_mask is True where a token may attend. In nn.Transformer True means "
            "blocked: the model would see only the future.",
        ),
        Mistake(
            edited(torch_masks, *INVERTED_PADDING),
            "tgt_mask is right, but your padding masks are True for real tokens. In nn.Transformer True means blocked:"
            " only the padding would be seen.",
        ),
        Mistake(
            edited(torch_masks, "= src_key_padding_mask", "= tgt_key_padding_mask"),
            "memory_key_padding_mask is about the keys of cross-attention. They are the memory, which has the source's"
            " length and the source's padding.",
        ),
        Mistake(
            edited(torch_masks, "tgt == tgt_pad_id", "tgt == src_pad_id"),
            "You looked for the source's padding id in the target. It has its own vocabulary here, and its own padding"
            " id.",
        ),
        Mistake(
            edited(torch_masks, ("src == src_pad_id", "src == 0"), ("tgt == tgt_pad_id", "tgt == 0")),
            "You compared with 0. The padding ids are those that the caller passes: src_pad_id and tgt_pad_id.",
        ),
        Mistake(
            edited(torch_masks, "return src_key_padding_mask", "return ~src_key_padding_mask"),
            "One of the padding masks is inverted. All three are True where there is padding.",
            also=(
                edited(torch_masks, "tgt ==", "tgt !="),
                edited(torch_masks, "= src_key_padding_mask", "= ~src_key_padding_mask"),
            ),
        ),
        Mistake(
            edited(torch_masks, "tgt.size(1)", "src.size(1)"),
            "tgt_mask has the length of the source. It is about the target: (T, T).",
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "~masks.causal(tgt.size(1)).mT"),
            "tgt_mask blocks what came before, and shows the future: the triangle is transposed.",
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "(~masks.causal(tgt.size(1))).triu(2)"),
            "tgt_mask leaves one diagonal too many open: each token sees the one after it.",
        ),
        Mistake(
            edited(torch_masks, "src == src_pad_id", "src == tgt_pad_id"),
            "You looked for the target's padding id in the source. Each side has its own.",
            also=[
                edited(torch_masks, "= src_key_padding_mask", "= src == tgt_pad_id"),
                edited(
                    torch_masks, ("src == src_pad_id", "src == tgt_pad_id"), ("tgt == tgt_pad_id", "tgt == src_pad_id")
                ),
            ],
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "~masks.causal(tgt.size(1)).tril(-1)"),
            "tgt_mask also blocks the diagonal: a token may attend to itself. (With triu that is diagonal=1.)",
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "masks.causal(tgt.size(1)) & False"),
            "tgt_mask blocks nothing: the decoder sees the future.",
        ),
        Mistake(
            edited(torch_masks, "= src_key_padding_mask", "= src_key_padding_mask & False"),
            "memory_key_padding_mask blocks nothing. nn.Transformer does not copy it from src_key_padding_mask: the "
            "decoder attends to the source's padding until you pass it once more.",
            also=[edited(torch_masks, "= src_key_padding_mask", "= None")],
        ),
        Mistake(
            edited(
                torch_masks,
                ("src == src_pad_id", "(src == src_pad_id)[:, None, None, :]"),
                ("tgt == tgt_pad_id", "(tgt == tgt_pad_id)[:, None, None, :]"),
            ),
            "The values are right, but nn.Transformer adds the axes itself: its padding masks are (B, K).",
            also=[
                edited(torch_masks, "src == src_pad_id", "(src == src_pad_id)[:, None, None, :]"),
                edited(torch_masks, "tgt == tgt_pad_id", "(tgt == tgt_pad_id)[:, None, None, :]"),
            ],
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "masks.allowed_to_additive(masks.causal(tgt.size(1)))"),
            "tgt_mask is in the additive form, 0 and −∞. nn.Transformer takes that as well, but warns if the padding "
            "masks are bool, and the task asks for bool: True = blocked.",
        ),
        Mistake(
            edited(
                torch_masks,
                RETURNED,
                "return src_key_padding_mask, tgt_key_padding_mask, tgt_mask, memory_key_padding_mask",
            ),
            "The four masks are right, but not their order: src_key_padding_mask, tgt_mask, tgt_key_padding_mask, "
            "memory_key_padding_mask.",
            also=[
                edited(torch_masks, RETURNED, f"return {order}")
                for order in (
                    "src_key_padding_mask, memory_key_padding_mask, tgt_mask, tgt_key_padding_mask",
                    "src_key_padding_mask, tgt_mask, memory_key_padding_mask, tgt_key_padding_mask",
                    "tgt_mask, src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask",
                )
            ],
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "~masks.causal(tgt.size(1)) | (tgt == tgt_pad_id)[0]"),
            "tgt_mask also blocks the padding of the first sentence, for all sentences. It is only about the future; "
            "the padding of each sentence is in tgt_key_padding_mask.",
        ),
        Mistake(
            edited(
                torch_masks, "~masks.causal(tgt.size(1))", "~masks.causal(tgt.size(1)) | (tgt == tgt_pad_id)[:, None]"
            ),
            "tgt_mask also blocks the padding, so it is (B, T, T), which nn.Transformer takes with one head only. It "
            "is about the future; the padding of each sentence is in tgt_key_padding_mask.",
        ),
        Mistake(
            edited(torch_masks, "~masks.causal(tgt.size(1))", "(~masks.causal(tgt.size(1))).float()"),
            "The triangle of tgt_mask is right, but it holds the numbers 1 and 0. nn.Transformer adds such a mask to "
            "the scores, and 1 hides nothing: give it dtype=torch.bool, or end it with .bool().",
        ),
    ],
    hints=[
        "True = blocked: a padding mask is True where the id is the padding.",
        "tgt_mask is the same for all sentences, (T, T): True above the diagonal.",
        "memory_key_padding_mask: the memory is the encoder's output. Whose padding does it have?",
    ],
    solution="""
        def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
            src_key_padding_mask = src == src_pad_id
            tgt_mask = ~masks.causal(tgt.size(1))
            tgt_key_padding_mask = tgt == tgt_pad_id
            memory_key_padding_mask = src_key_padding_mask  # the memory is the encoded source
            return src_key_padding_mask, tgt_mask, tgt_key_padding_mask, memory_key_padding_mask
    """,
)
