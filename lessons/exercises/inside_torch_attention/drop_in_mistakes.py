"""Lesson 13, MyMultiheadAttention: what goes wrong in it."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lessons.checking.edits import edited
from lessons.checking.engine import Mistake
from lessons.exercises.inside_torch_attention.shared import inverted
from lessons.torch_attention import MultiheadAttentionByHand


def with_arguments(**changes: Callable[[Tensor], Tensor]) -> type[nn.Module]:
    """The right class, which takes some of its masks for others."""
    signature = inspect.signature(MultiheadAttentionByHand.forward)

    class Changed(MultiheadAttentionByHand):
        def forward(self, *inputs, **arguments):
            given: dict[str, Any] = signature.bind(self, *inputs, **arguments).arguments
            masks = {name: given[name] for name in changes if given.get(name) is not None}
            changed: dict[str, Any] = {name: changes[name](mask) for name, mask in masks.items()}
            return super().forward(**{name: x for name, x in (given | changed).items() if name != "self"})

    return Changed


class _ZeroFirst(MultiheadAttentionByHand):
    def append(self, k, v, mask):
        more = int(self.bias_k is not None) + int(self.add_zero_attn)
        k, v, mask = super().append(k, v, mask)
        if more == 2:
            k, v = (torch.cat([x[:-2], x[-1:], x[-2:-1]]) for x in (k, v))
        return k, v, mask


ADDED_TO_THE_SCORES = (
    "attention_weights(q, k, mask)",
    "(torch.bmm(q / math.sqrt(q.size(-1)), k.mT) + (0 if mask is None else mask)).softmax(dim=-1)",
)
ADDED_TO_THE_SCORES_OF_4_AXES = (
    "attention_weights(q, k, mask)",
    "(torch.bmm(q / math.sqrt(q.size(-1)), k.mT).unflatten(0, (batch, -1))"
    " + (0 if mask is None else mask.expand(len(q), -1, -1).unflatten(0, (batch, -1)))).softmax(dim=-1).flatten(0, 1)",
)
NOT_WIDER = ("F.pad(mask, (0, len(k) - keys))", "mask")
ALWAYS_FLOAT32 = (
    "merge_masks(attn_mask, key_padding_mask, self.num_heads, query.dtype)",
    "merge_masks(attn_mask, key_padding_mask, self.num_heads)",
)
ALWAYS_BIAS_OUT = ("nn.Linear(embed_dim, embed_dim, bias=bias)", "nn.Linear(embed_dim, embed_dim)")
ALWAYS_BIAS_IN = ("torch.zeros(3 * embed_dim)) if bias else None", "torch.zeros(3 * embed_dim))")
AXIS_OF_OUTPUT = ("output = output.squeeze(1)", "pass")
BATCH_FIRST_OUTPUT = ("output = output.squeeze(1)", "output = output.transpose(0, 1)")
AXIS_OF_WEIGHTS = ("weights if batched else weights.squeeze(0)", "weights")


MISTAKES = [
    Mistake(
        edited(MultiheadAttentionByHand, "weights.mean(dim=1) if average_attn_weights else weights", "weights"),
        "You return the weights of each head, whatever average_attn_weights says. It is True by default: the mean "
        "over the heads, (B, L, S).",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "weights.mean(dim=1)", "weights.sum(dim=1)"),
        "You add up the weights of the heads. The module returns their mean, so that every row sums to 1.",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, " if average_attn_weights else weights", ""),
        "The weights are always averaged over the heads. With average_attn_weights=False the caller wants all of "
        "them: (B, H, L, S).",
        seen_in="average_attn_weights=False",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "if not need_weights", "if False"),
        "You return weights even with need_weights=False. Then the second result must be None.",
        seen_in="need_weights=False",
    ),
    Mistake(
        with_arguments(key_padding_mask=inverted),
        "key_padding_mask is inverted: True means blocked, the key is padding.",
        seen_in="key_padding_mask",
    ),
    Mistake(
        with_arguments(attn_mask=inverted),
        "attn_mask is inverted: in nn.MultiheadAttention True means blocked, the opposite of "
        "F.scaled_dot_product_attention.",
        seen_in="attn_mask",
    ),
    Mistake(
        with_arguments(key_padding_mask=inverted, attn_mask=inverted),
        "Both masks are inverted: in nn.MultiheadAttention True means blocked.",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, ALWAYS_FLOAT32),
        "Your mask is always float32. In a module of another precision it needs the dtype of the query.",
        also=[edited(MultiheadAttentionByHand, ALWAYS_FLOAT32, ADDED_TO_THE_SCORES)],
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "merge_masks(attn_mask, key_padding_mask, ", "merge_masks(attn_mask, None, "),
        "key_padding_mask is not used.",
        seen_in="key_padding_mask",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "merge_masks(attn_mask, key_padding_mask, ",
            "merge_masks(None, key_padding_mask, ",
        ),
        "attn_mask is not used.",
        seen_in="attn_mask",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "merge_masks(attn_mask, key_padding_mask, ",
            "merge_masks(attn_mask if key_padding_mask is None else None, key_padding_mask, ",
        ),
        "Given both masks, you use only key_padding_mask. Merge them: what either one blocks is blocked.",
        seen_in="attn_mask (B·H, L, S) and key_padding_mask",
    ),
    Mistake(
        with_arguments(attn_mask=lambda mask: mask != 0, key_padding_mask=lambda mask: mask != 0),
        "You read a float mask as if it were bool, so whatever is not 0 blocks. Float masks are added to the "
        "scores as they are: they may contain a bias.",
        seen_in="float masks",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "merge_masks(attn_mask, key_padding_mask, ",
            "merge_masks(attn_mask, None if is_causal else key_padding_mask, ",
        ),
        "With is_causal=True you no longer use key_padding_mask. is_causal is a promise about attn_mask only; you "
        "must still obey both masks.",
        seen_in="is_causal=True, and padding",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "merge_masks(attn_mask, key_padding_mask, self.num_heads",
            "merge_masks(attn_mask, None if key_padding_mask is None else "
            "key_padding_mask.repeat(self.num_heads, 1), 1",
        ),
        "The rows of key_padding_mask are in the order H·B, the heads of q and k in the order B·H: a sentence gets"
        " its neighbor's padding. repeat copies the whole batch again and again. To keep the heads of a sentence "
        "together, expand over an axis after B, or use repeat_interleave.",
        seen_in="key_padding_mask",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "self.project(query, key, value)", "self.project(query, key, key)"),
        "v is made from key. value is an argument of its own, and may have another size: vdim.",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "if kdim == vdim == embed_dim:", "if kdim == embed_dim:"),
        "You look at only one of kdim and vdim. If either differs from embed_dim, there are three matrices: "
        "q_proj_weight, k_proj_weight and v_proj_weight.",
        also=[edited(MultiheadAttentionByHand, "if kdim == vdim == embed_dim:", "if vdim == embed_dim:")],
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "if kdim == vdim == embed_dim:", "if True:"),
        "The weight is packed whatever kdim and vdim are. If either differs from embed_dim, there are three "
        "matrices instead: q_proj_weight (E, E), k_proj_weight (E, kdim) and v_proj_weight (E, vdim).",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "if kdim == vdim == embed_dim:", "if False:"),
        "There are three matrices whatever kdim and vdim are. If both are embed_dim, torch packs them into "
        "in_proj_weight (3E, E).",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, ALWAYS_BIAS_OUT, ALWAYS_BIAS_IN),
        "bias=False has no effect on your parameters: then neither in_proj_bias nor out_proj.bias exists.",
        seen_in="bias=False",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, ALWAYS_BIAS_IN),
        "in_proj_bias exists, whatever `bias` says: bias=False takes the bias from both projections.",
        seen_in="bias=False",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, ALWAYS_BIAS_OUT),
        "out_proj has a bias, whatever `bias` says: bias=False takes it from both projections.",
        seen_in="bias=False",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            ("nn.Linear(embed_dim, embed_dim, bias=bias)", "nn.Linear(embed_dim, embed_dim, bias=False)"),
            ("nn.init.zeros_(self.out_proj.bias)", "pass"),
        ),
        "out_proj has no bias. In torch it has one, unless bias=False.",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            *(
                (
                    f"self.bias_{x} = nn.Parameter(torch.empty(1, 1, embed_dim))",
                    f"self.bias_{x} = torch.empty(1, 1, 1)",
                )
                for x in "kv"
            ),
        ),
        "bias_k and bias_v are not in your state dict. Make each an nn.Parameter: a plain tensor is never trained.",
        seen_in="add_bias_kv",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "= add_zero_attn, batch_first", "= add_zero_attn, False"),
        "batch_first=True has no effect: with it the inputs are (B, L, E), and so is the output.",
        seen_in="batch_first",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "output = output.transpose(0, 1)", "pass"),
        "With batch_first=True you bring the inputs to (L, B, E), but not the output back to (B, L, E).",
        seen_in="batch_first",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "elif self.batch_first:\n            output = ",
            "else:\n            output = ",
        ),
        "You work with the batch first, but don't bring the output back: with batch_first=False it is (L, B, E).",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, AXIS_OF_WEIGHTS),
        "Without a batch, you add the axis B and don't take it away from all that you return: the output is "
        "(L, E), the weights (L, S), or (H, L, S).",
        also=[
            edited(MultiheadAttentionByHand, AXIS_OF_OUTPUT),
            edited(MultiheadAttentionByHand, AXIS_OF_OUTPUT, AXIS_OF_WEIGHTS),
            edited(MultiheadAttentionByHand, BATCH_FIRST_OUTPUT),
            edited(MultiheadAttentionByHand, BATCH_FIRST_OUTPUT, AXIS_OF_WEIGHTS),
        ],
        seen_in="no batch",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "= add_zero_attn, batch_first", "= False, batch_first"),
        "add_zero_attn has no effect: it appends a key and a value of zeros, and the masks get one more column.",
        seen_in="add_zero_attn",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "k, v = torch.cat([k, bias_k]), torch.cat([v, bias_v])", "pass"),
        "add_bias_kv has no effect: bias_k and bias_v exist, but no key and no value is appended.",
        seen_in="add_bias_kv",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "torch.cat([k, bias_k]), torch.cat([v, bias_v])",
            "k + bias_k, v + bias_v",
        ),
        "You added bias_k and bias_v to every key and value. They are a key and a value of their own: append them, "
        "and S becomes S + 1.",
        seen_in="add_bias_kv",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, NOT_WIDER),
        "Keys are appended, but the mask is as narrow as before: give it a column of 0 for each of them.",
        also=[
            edited(MultiheadAttentionByHand, NOT_WIDER, ADDED_TO_THE_SCORES),
            edited(MultiheadAttentionByHand, NOT_WIDER, ADDED_TO_THE_SCORES_OF_4_AXES),
        ],
        seen_in="add_bias_kv",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "len(k) - keys)", "len(k) - keys), value=-torch.inf"),
        "Your mask hides the appended keys: its new columns contain -inf. They get 0, or False: every query may "
        "attend to them.",
        seen_in="add_bias_kv",
    ),
    Mistake(
        _ZeroFirst,
        "With both options, you appended the zeros before bias_k. torch appends bias_k first; the last two columns"
        " of the weights are swapped.",
        seen_in="add_bias_kv and add_zero_attn",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "self.out_proj(self.join(heads))", "self.join(heads)"),
        "The heads are joined, but the last projection, out_proj, is missing.",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "x.reshape(len(x), x.size(1) * self.num_heads, x.size(-1) // self.num_heads).transpose(0, 1)",
            "x.reshape(x.size(1) * self.num_heads, len(x), -1)",
        ),
        "Tokens are scrambled among the heads: (S, B, E) was read as (B·H, S, d) in one step. View as (S, B·H, d),"
        " then swap the first two axes.",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "x.reshape(len(x), x.size(1) * self.num_heads, x.size(-1) // self.num_heads).transpose(0, 1)",
            "x.transpose(0, 1).reshape(x.size(1) * self.num_heads, len(x), -1)",
        ),
        "Tokens are scrambled among the heads: (B, S, E) was read as (B, H, S, d) in one step. First cut each "
        "token's E features, (B, S, H, d); then swap the axes of tokens and heads.",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "heads.transpose(0, 1).reshape", "heads.reshape"),
        "You joined the heads without swapping the axes back: in a reshape straight from (B·H, L, d) a row takes "
        "its features from several tokens. Swap first, (L, B·H, d), then reshape.",
        also=[
            edited(
                MultiheadAttentionByHand,
                "heads.transpose(0, 1).reshape(heads.size(1), len(heads) // self.num_heads, self.sizes[0])",
                "heads.reshape(-1, heads.size(1), self.sizes[0]).transpose(0, 1)",
            )
        ],
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "attention_weights(q, ", "attention_weights(q / math.sqrt(self.num_heads), "),
        "You divided by the square root of embed_dim. Use the square root of head_dim: q has been cut into heads.",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "attention_weights(q, ", "attention_weights(q * math.sqrt(q.size(-1)), "),
        "The scores are not divided by the square root of head_dim.",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            ("self.in_proj_weight, self.in_proj_bias)", "self.in_proj_weight, None)"),
            ("else self.in_proj_bias.chunk(3)", "else (None, None, None)"),
        ),
        "in_proj_bias exists, but you don't add it to q, k and v.",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            "F.dropout(attention_weights(q, k, mask), self.dropout, self.training)",
            "attention_weights(q, k, mask)",
        ),
        "There is no dropout in training. Apply it to the weights, after the softmax.",
        seen_in="dropout=1.0 in training",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            (
                "F.dropout(attention_weights(q, k, mask), self.dropout, self.training)",
                "attention_weights(q, k, mask)",
            ),
            (
                "self.out_proj(self.join(heads))",
                "F.dropout(self.out_proj(self.join(heads)), self.dropout, self.training)",
            ),
        ),
        "You apply dropout to the output. torch applies it to the weights, after the softmax and before the values.",
        seen_in="dropout=1.0 in training",
    ),
    Mistake(
        edited(MultiheadAttentionByHand, "self.dropout, self.training", "self.dropout, True"),
        "Dropout is on in evaluation too: pass self.training to F.dropout.",
        seen_in="dropout=1.0 in evaluation",
    ),
    Mistake(
        edited(
            MultiheadAttentionByHand,
            (
                "F.dropout(attention_weights(q, k, mask), self.dropout, self.training)",
                "attention_weights(q, k, mask)",
            ),
            ("bmm(weights, v)", "bmm(F.dropout(weights, self.dropout, self.training), v)"),
        ),
        "The weights that you return have no dropout. torch applies it to them, after the softmax, and returns "
        "them so. It isn't pretty, but your class must do the same.",
        seen_in="dropout=1.0 in training",
    ),
]
