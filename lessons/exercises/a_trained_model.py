"""The exercises of lesson 14: weights by their names, sentence vectors, what a head looks at, a head that is silent."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons import masks
from lessons.attention import masked_softmax, split_heads
from lessons.config import TransformerConfig
from lessons.exercises.comparing import first_place
from lessons.exercises.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers
from lessons.trained import mean_pooling
from lessons.transformer import Encoder

TABLE = {  # BERT's name of a part of a layer, and ours
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "self_attn_residual.norm",
    "intermediate.dense": "feed_forward.linear1",
    "output.dense": "feed_forward.linear2",
    "output.LayerNorm": "feed_forward_residual.norm",
}


def our_name(name: str) -> str:
    """BERT's name of a weight -> ours: "encoder.layer.0.output.dense.bias" -> "layers.0.feed_forward.linear2.bias"."""
    table = {
        "attention.self.query": "self_attn.q_proj",
        "attention.self.key": "self_attn.k_proj",
        "attention.self.value": "self_attn.v_proj",
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "self_attn_residual.norm",
        "intermediate.dense": "feed_forward.linear1",
        "output.dense": "feed_forward.linear2",
        "output.LayerNorm": "feed_forward_residual.norm",
    }
    _, _, layer, rest = name.split(".", maxsplit=3)  # encoder, layer, its number, the rest
    part, kind = rest.rsplit(".", maxsplit=1)  # the part, and weight or bias
    return f"layers.{layer}.{table[part]}.{kind}"


def _renamed(changes: dict[str, str]):
    """The reference with some entries of the table changed."""

    def wrong(name):
        _, _, layer, rest = name.split(".", maxsplit=3)
        part, kind = rest.rsplit(".", maxsplit=1)
        return f"layers.{layer}.{({**TABLE, **changes})[part]}.{kind}"

    return wrong


def _exchanged(one: str, other: str):
    return _renamed({one: TABLE[other], other: TABLE[one]})


def _loaded(candidate, x, num_layers, num_heads, d_ff):
    """Weights in an encoder of BERT's names get the learner's names, are loaded into ours, and it is run."""
    sizes = {"d_model": x.size(-1), "num_heads": num_heads, "num_layers": num_layers, "d_ff": d_ff}
    encoder = Encoder(TransformerConfig(1, 1, dropout=0.0, activation="gelu", **sizes)).eval()
    generator = torch.Generator().manual_seed(0)
    ours = {name: 0.5 * torch.randn(w.shape, generator=generator) for name, w in encoder.state_dict().items()}
    found = {}
    for right, weight in ours.items():
        theirs = _their_name(right)
        name = candidate(theirs)
        if not isinstance(name, str):
            raise TypeError(f"{theirs} becomes a {type(name).__name__}; expected a text")
        if name in found:
            raise ValueError(f"two names become {name}; one of them is {theirs}")
        if name not in ours:
            raise ValueError(f"{theirs} becomes {name}, which our encoder does not have")
        if ours[name].shape != weight.shape:
            raise ValueError(f"{theirs} {tuple(weight.shape)} becomes {name}, which is {tuple(ours[name].shape)}")
        found[name] = weight
    encoder.load_state_dict(found)
    return encoder(x)[0].detach()


def _their_name(name: str) -> str:
    _, layer, rest = name.split(".", maxsplit=2)
    part, kind = rest.rsplit(".", maxsplit=1)
    theirs = {ours: theirs for theirs, ours in TABLE.items()}
    return f"encoder.layer.{layer}.{theirs[part]}.{kind}"


def _name_cases(generator) -> list[Case]:
    def case(t, d, layers, heads, d_ff, about=""):
        inputs = {"x": numbers(generator, 1, t, d), "num_layers": layers, "num_heads": heads, "d_ff": d_ff}
        return Case(inputs, about=about)

    return [
        case(2, 4, 1, 2, 6),
        case(3, 6, 2, 3, 8),
        case(4, 4, 2, 2, 4),
        case(1, 2, 12, 1, 3, about="12 layers, as many models have: the last numbers have two digits"),
    ]


def _short_names_first(name):
    for theirs, ours in reversed(TABLE.items()):
        name = name.replace(theirs, ours)
    return name.replace("encoder.layer.", "layers.")


def _fixed_places(name):
    part, kind = name[16:].rsplit(".", maxsplit=1)
    return f"layers.{name[14]}.{TABLE[part]}.{kind}"


def _by_its_end(name):
    layer, rest = name.split(".", maxsplit=3)[2:]
    end, kind = rest.rsplit(".", maxsplit=1)
    part = next(ours for theirs, ours in reversed(TABLE.items()) if end.endswith(theirs))
    return f"layers.{layer}.{part}.{kind}"


renaming = Exercise(
    name="my_our_name",
    reference=our_name,
    cases=_name_cases,
    call=_loaded,
    outputs=("what the encoder gives with the weights under your names",),
    mistakes=[
        Mistake(
            _exchanged("attention.self.query", "attention.self.key"),
            "Queries and keys are exchanged. The shapes fit, so nothing is reported: each token asks with what it "
            "should be found by.",
        ),
        Mistake(
            _exchanged("attention.self.query", "attention.self.value"),
            "Queries and values are exchanged. query is q_proj, value is v_proj; the shapes fit, so nothing is "
            "reported.",
        ),
        Mistake(
            _exchanged("attention.self.key", "attention.self.value"),
            "Keys and values are exchanged. key is k_proj, value is v_proj; the shapes fit, so nothing is reported.",
        ),
        Mistake(
            _exchanged("attention.output.LayerNorm", "output.LayerNorm"),
            "The two norms are exchanged: attention.output.LayerNorm follows self-attention, output.LayerNorm the "
            "feed-forward network. Both are (D,), so nothing is reported.",
        ),
        Mistake(
            _exchanged("intermediate.dense", "output.dense"),
            "The two layers of the feed-forward network are exchanged: intermediate goes up to F features, output "
            "comes back to D.",
        ),
        Mistake(
            _exchanged("attention.output.dense", "output.dense"),
            "attention.output.dense and output.dense are exchanged: the first is the projection at the end of "
            "attention, out_proj.",
        ),
        Mistake(
            _by_its_end,
            "“attention.output.dense” ends in “output.dense”, and yours takes the one for the other. Compare the whole "
            "part between the layer's number and weight or bias, or look for the longer names first.",
            also=(_short_names_first,),
        ),
        Mistake(
            _fixed_places,
            'You cut the layer\'s number out of a fixed place: that holds for one digit. split(".") finds the pieces, '
            "however long they are.",
            also=(lambda name: f"layers.{name.split('.')[2][0]}.{our_name(name).split('.', maxsplit=2)[2]}",),
            seen_in="12 layers, as many models have: the last numbers have two digits",
        ),
        Mistake(
            lambda name: f"layers.{int(name.split('.')[2]) + 1}.{our_name(name).split('.', maxsplit=2)[2]}",
            "You added 1 to the layer's number. Both count from 0.",
        ),
        Mistake(
            lambda name: f"layers.0.{our_name(name).split('.', maxsplit=2)[2]}",
            "The layer's number got lost: every layer becomes layer 0. It is the third piece of the name.",
        ),
        Mistake(
            lambda name: our_name(name).rsplit(".", maxsplit=1)[0],
            "weight and bias got lost: the last piece of the name stays as it is.",
        ),
        Mistake(
            lambda name: f"encoder.{our_name(name)}",
            "Asked for is the name inside the encoder, which begins with layers. (With “encoder.” before it, it is "
            "that of the whole model.)",
        ),
        Mistake(
            lambda name: our_name(name).replace("layers.", "layer.", 1),
            "BERT says layer, we say layers: one letter, and the weight finds no place.",
        ),
    ],
    hints=[
        'name.split(".", maxsplit=3) gives four pieces: encoder, layer, its number, and the rest.',
        'rest.rsplit(".", maxsplit=1) cuts weight or bias from the end.',
        "A dict from BERT's eight parts to ours does the rest; the table above has them.",
    ],
)


def _pooled(hidden, real):
    return hidden.masked_fill(~real[..., None], 0.0).sum(dim=1) / real.sum(dim=1, keepdim=True)


def _total(hidden, real):
    return hidden.masked_fill(~real[..., None], 0.0).sum(dim=1)


def _length_one(case, results) -> str | None:
    lengths = results[0].detach().norm(dim=-1)
    off = (lengths - 1).abs() > 2e-2
    if not off.any():
        return None
    return f"Length: row {first_place(off)} has the length {lengths[off][0].item():.3g}; each row must have length 1."


def _pooling_cases(generator) -> list[Case]:
    def case(lengths, d, draw=numbers, about="", gradients=False, left=False):
        real = masks.padding_from_lengths(lengths)[:, 0, 0]
        real = real.flip(-1) if left else real
        inputs = {"hidden": draw(generator, *real.shape, d), "real": real}
        return Case(inputs, about=about, gradients=gradients)

    return [
        case([3, 2], 2, small_numbers),
        case([5, 2, 4], 7),
        case([4, 3, 2, 1], 4),
        case([3, 3], 5, about="no padding at all"),
        case([2, 4, 1], 6, about="the padding stands at the beginning of each sentence", left=True),
        case([4, 2, 3], 2, about="gradients", gradients=True),
    ]


pooling = Exercise(
    name="my_mean_pooling",
    reference=mean_pooling,
    cases=_pooling_cases,
    outputs=("the matrix of sentence vectors",),
    laws=(_length_one,),
    mistakes=[
        Mistake(
            lambda hidden, real: F.normalize(hidden.mean(dim=1), dim=-1),
            "Padding is counted. A symptom: the same sentence gets another vector when a longer one stands beside it "
            "in the batch. real says which tokens count.",
        ),
        Mistake(
            lambda hidden, real: hidden.mean(dim=1),
            "Two things: padding is counted, and the vectors do not have length 1.",
        ),
        Mistake(
            _pooled,
            "The means are right, but not of length 1. Divide each by its norm, so that a dot product is a cosine.",
        ),
        Mistake(
            _total,
            "That is the sum of the tokens, and its length is not 1. Divide each vector by its norm.",
        ),
        Mistake(
            lambda hidden, real: hidden.masked_fill(~real[..., None], 0.0).mean(dim=1),
            "The padding is set to 0 but still counted when dividing, and the length is not 1. (Once normalised, it "
            "does not matter what the sum was divided by.)",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden[:, 0], dim=-1),
            "That is the first token's vector, [CLS]. Other models are trained for that; this one for the mean.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden[:, -1], dim=-1),
            "That is the last place alone, and in most sentences padding stands there.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden.masked_fill(real[..., None], 0.0).sum(dim=1), dim=-1),
            "That is the mean of the padding: real is True where a token is.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden.masked_fill(~real[..., None], -torch.inf).amax(dim=1), dim=-1),
            "That is the greatest value of each feature. Asked for is the mean.",
            also=(lambda hidden, real: F.normalize(hidden.amax(dim=1), dim=-1),),
        ),
        Mistake(
            lambda hidden, real: _pooled(F.normalize(hidden, dim=-1), real),
            "You brought the tokens to length 1, not their mean. First the mean, then the length.",
            also=(
                lambda hidden, real: F.normalize(_pooled(F.normalize(hidden, dim=-1), real), dim=-1),
                lambda hidden, real: _total(F.normalize(hidden, dim=-1), real) / real.size(1),
                lambda hidden, real: _total(F.normalize(hidden, dim=-1), real),
            ),
        ),
        Mistake(
            lambda hidden, real: F.normalize(_pooled(hidden, real), dim=0),
            "You divided by the norm of each feature over the batch: a sentence's vector changes with its neighbours. "
            "Each vector has its own norm, along the last axis.",
            also=(lambda hidden, real: _pooled(hidden, real) / _pooled(hidden, real).norm(dim=0),),
        ),
        Mistake(
            lambda hidden, real: _pooled(hidden, real) / _pooled(hidden, real).norm(dim=-1),
            "The norms are (B,), and beside (B, D) their axis is taken for the features. Keep the axis: keepdim=True, "
            "or norms[:, None].",
        ),
        Mistake(
            lambda hidden, real: F.normalize(_total(hidden, real) / real.sum(dim=1), dim=-1),
            "The numbers of tokens are (B,), and beside (B, D) their axis is taken for the features. Keep the axis: "
            "keepdim=True, or counts[:, None].",
            also=(lambda hidden, real: _total(hidden, real) / real.sum(dim=1),),
        ),
        Mistake(
            lambda hidden, real: F.normalize((hidden * real).sum(dim=1), dim=-1),
            "real is (B, S), and beside (B, S, D) its axes are taken for tokens and features. It needs a last axis: "
            "real[..., None].",
            also=(lambda hidden, real: F.normalize(hidden.masked_fill(~real, 0.0).sum(dim=1), dim=-1),),
        ),
        Mistake(
            lambda hidden, real: _pooled(hidden, real) / _pooled(hidden, real).norm(),
            "norm() without dim is one number for the whole batch. Each vector has its own: dim=-1, keepdim=True.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(_pooled(hidden, real), p=1.0, dim=-1),
            "You divided by the sum of the features' sizes. The length of a vector is the root of the sum of squares.",
        ),
        Mistake(
            lambda hidden, real: _pooled(hidden, real) / _pooled(hidden, real).square().sum(-1, keepdim=True),
            "You divided by the squared length; its root is missing.",
        ),
        Mistake(
            lambda hidden, real: F.normalize(
                torch.stack([x[:n].mean(dim=0) for x, n in zip(hidden, real.sum(dim=1).tolist())]), dim=-1
            ),
            "You counted the tokens, and took as many from the beginning. real says which they are, not only how many.",
            seen_in="the padding stands at the beginning of each sentence",
        ),
        Mistake(
            lambda hidden, real: F.normalize(hidden[real].mean(dim=0), dim=-1),
            "hidden[real] strings the tokens of all sentences together: that is one vector for the whole batch.",
        ),
    ],
    hints=[
        "Set the rows of padding to 0: hidden.masked_fill(~real[..., None], 0.0), or hidden * real[..., None].",
        "Sum over the tokens, axis 1, and divide by the number of real tokens of each sentence.",
        "vectors / vectors.norm(dim=-1, keepdim=True), or F.normalize(vectors, dim=-1).",
    ],
)


def previous_token_score(weights: Tensor) -> Tensor:
    """weights (H, T, T) -> (H,): how much the tokens, from the second on, look at the one before, on average."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


def _score_cases(generator) -> list[Case]:
    def case(h, t):
        return Case({"weights": (2 * numbers(generator, h, t, t)).softmax(dim=-1)})

    return [case(2, 3), case(3, 5), case(4, 4)]


def _diagonal(weights, offset):
    return weights.diagonal(offset=offset, dim1=-2, dim2=-1)


previous = Exercise(
    name="my_previous_token_score",
    reference=previous_token_score,
    cases=_score_cases,
    outputs=("the list of scores",),
    mistakes=[
        Mistake(
            lambda w: _diagonal(w, 1).mean(dim=-1),
            "That is how much a token looks at the *next* one. Rows are queries: the previous token stands to the left "
            "of the diagonal, weights[:, i, i - 1].",
        ),
        Mistake(lambda w: _diagonal(w, 0).mean(dim=-1), "That is how much a token looks at itself."),
        Mistake(lambda w: _diagonal(w, -2).mean(dim=-1), "That is the token two before. One before is offset −1."),
        Mistake(
            lambda w: _diagonal(w, -1).sum(dim=-1),
            "That is the sum, which grows with the sentence. Take the mean over the queries that have a token before.",
        ),
        Mistake(
            lambda w: _diagonal(w, -1).sum(dim=-1) / w.size(-1),
            "You divided by T, but only T − 1 tokens have one before them. A head that looks nowhere else would get "
            "less than 1.",
        ),
        Mistake(
            lambda w: torch.stack([w[:, i, i - 1] for i in range(w.size(-1))], dim=-1).mean(dim=-1),
            "The first token has none before it, and in Python weights[:, 0, -1] is the *last* key: begin with the "
            "second query.",
        ),
        Mistake(
            lambda w: _diagonal(w, -1).mean(),
            "That is one number for all heads. Each head has its own: the mean over the last axis alone.",
        ),
        Mistake(
            lambda w: _diagonal(w, -1).mean(dim=0),
            "You took the mean over the heads: one number for each token. Asked for is the mean over the tokens, one "
            "number for each head.",
        ),
        Mistake(
            lambda w: w.diagonal(offset=-1).mean(dim=-1),
            "diagonal without dim1 and dim2 goes along the first two axes, heads and queries. You want queries and "
            "keys: dim1=-2, dim2=-1.",
        ),
        Mistake(
            lambda w: (w[:, 1:].argmax(dim=-1) == torch.arange(w.size(-1) - 1)).float().mean(dim=-1),
            "You counted how often the previous token gets the greatest weight. Asked for is the mean of the weight.",
        ),
        Mistake(
            lambda w: _diagonal(w, -1).amax(dim=-1),
            "That is the greatest of these weights: a head that does it once would seem to do it always. Take the "
            "mean.",
        ),
        Mistake(
            lambda w: w[:, :, 0].mean(dim=-1),
            "That is the first column: how much all tokens look at the first one, [CLS].",
        ),
        Mistake(
            lambda w: w[:, 1:, :-1].mean(dim=(-2, -1)),
            "You took the mean over all pairs. Only those count whose key stands just before the query: a diagonal.",
        ),
    ],
    hints=[
        "The weight that query i gives to the token before it is weights[:, i, i - 1], for i = 1 to T − 1.",
        "These stand just below the diagonal: weights.diagonal(offset=-1, dim1=-2, dim2=-1) is (H, T − 1).",
    ],
)


def without_head(joined: Tensor, num_heads: int, head: int, w_out: Tensor, b_out: Tensor) -> Tensor:
    """joined (B, S, D), the heads' outputs side by side -> (B, S, D): projected, with the output of `head` at 0."""
    head_dim = joined.size(-1) // num_heads
    kept = joined.clone()
    kept[..., head * head_dim : (head + 1) * head_dim] = 0.0
    return kept @ w_out.T + b_out


def _silence(joined, num_heads, head, w_out, b_out):
    return without_head(joined, num_heads, head, w_out, b_out)


def _zeroed(joined, place):
    kept = joined.clone()
    kept[place] = 0.0
    return kept


def _silence_cases(generator) -> list[Case]:
    def case(b, s, h, d, head, draw=numbers, about="", gradients=False):
        size = h * d
        inputs = {"joined": draw(generator, b, s, size), "num_heads": h, "head": head}
        inputs |= {"w_out": draw(generator, size, size), "b_out": draw(generator, size)}
        return Case(inputs, about=about, gradients=gradients)

    return [
        case(1, 2, 2, 2, 1, small_numbers),
        case(2, 4, 3, 5, 1),
        case(3, 5, 4, 2, 2),
        case(3, 3, 3, 3, 2),
        case(2, 5, 2, 3, 0, about="the first head"),
        case(1, 3, 2, 3, 1, about="gradients", gradients=True),
    ]


def _slice(joined, num_heads, head):
    head_dim = joined.size(-1) // num_heads
    return (..., slice(head * head_dim, (head + 1) * head_dim))


silence = Exercise(
    name="my_without_head",
    reference=without_head,
    cases=_silence_cases,
    outputs=("output",),
    mistakes=[
        Mistake(
            lambda x, n, h, w, b: x @ w.T + b,
            "Nothing is silent: this is the output with all heads.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x @ w.T + b, _slice(x, n, h)),
            "You set features to 0 after the projection. There they belong to no head any more: out_proj mixes all "
            "heads into every feature. Silence the head before it.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x @ w.T, _slice(x, n, h)) + b,
            "These places of the output are now the bias alone. But the output's features belong to no head: each is "
            "a mixture of all. A head is read by *columns* of w_out; its rows are the output's features.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, _slice(x, n, h)),
            "The right head is silent, but out_proj is missing: … @ w_out.T + b_out.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h, h + x.size(-1) // n))) @ w.T + b,
            "You silenced d features, but from place head on. Before this head stand head · d of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h * (x.size(-1) // n), None))) @ w.T + b,
            "You silenced this head and all that follow. It ends at (head + 1) · d.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(split_heads(x, n), (slice(None), h)).reshape(x.shape) @ w.T + b,
            "The heads were joined without being brought back to their place: (B, H, S, d) goes to (B, S, H, d) first, "
            "transpose(1, 2), and then to (B, S, D).",
        ),
        Mistake(
            lambda x, n, h, w, b: (
                _zeroed(x.reshape(len(x), n, x.size(1), -1), (slice(None), h)).reshape(x.shape) @ w.T + b
            ),
            "reshape to (B, H, S, d) cuts the tokens into heads, not the features. First (B, S, H, d); there the heads "
            "are axis 2.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h, None, n))) @ w.T + b,
            "You silenced every num_heads-th feature. A head's features lie side by side: from head · d on, d of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h * n, (h + 1) * n))) @ w.T + b,
            "You took num_heads for the size of a head. It is d = D / num_heads.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., h)) @ w.T + b,
            "You silenced a single feature. A head has D / num_heads of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x, n, h - 1, w, b),
            "That is the head before. Heads are counted from 0: head h begins at feature h · d.",
        ),
        Mistake(
            lambda x, n, h, w, b: (x - _zeroed(x, _slice(x, n, h))) @ w.T + b,
            "You kept this head and silenced all others.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x, n, h, w.T, b),
            "The projection lies the wrong way: a linear layer of torch is x @ w.T + b.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x, n, h, w, 0.0),
            "The bias of out_proj is missing. It belongs to no head, and stays.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x * n / (n - 1), n, h, w, b),
            "You scaled the other heads up, as dropout does. Here they stay as they are.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (slice(None), h)) @ w.T + b,
            "You silenced a token: axis 1 counts the tokens. The heads lie along the last axis.",
        ),
        Mistake(
            lambda x, n, h, w, b: torch.zeros_like(x) @ w.T + b,
            "Everything is silent: what is left is the bias of out_proj.",
        ),
    ],
    hints=[
        "joined holds the heads side by side: head 0 in the first d features, head 1 in the next d, …",
        "Set joined[..., head · d : (head + 1) · d] to 0, in a clone.",
        "Then out_proj as always: … @ w_out.T + b_out.",
    ],
)


def maps(x: Tensor, w_q: Tensor, w_k: Tensor, num_heads: int, real: Tensor) -> Tensor:
    """x (B, S, D), w_q and w_k (D, D), real (B, S), True = a token -> weights (B, H, S, S)."""
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)  # (B, H, S, d)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~real[:, None, None], -torch.inf)  # nobody looks at padding
    return scores.softmax(dim=-1)


def _scores(x, w_q, w_k, num_heads):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def _both_ways(scores, real, far):
    return scores.masked_fill(~(real[:, None, None] & real[:, None, :, None]), far).softmax(dim=-1)


def _map_cases(generator) -> list[Case]:
    def case(lengths, h, d):
        real = masks.padding_from_lengths(lengths)[:, 0, 0]
        x = numbers(generator, *real.shape, h * d)
        return Case(
            {"x": x}
            | {name: numbers(generator, h * d, h * d) / math.sqrt(h * d) for name in ("w_q", "w_k")}
            | {"num_heads": h}
            | {"real": real}
        )

    return [case([2, 3], 1, 2), case([5, 2, 4], 2, 3), case([4, 2, 1, 3], 4, 4)]


bug_hunt = Exercise(
    name="mended_maps",
    reference=maps,
    cases=_map_cases,
    outputs=("weights",),
    laws=(rows_sum_to_one(),),
    mistakes=[
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).softmax(dim=-1),
            "The bug is still there. A symptom: the map of a short sentence changes when a longer one stands beside it "
            "in the batch.",
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(~real[:, None, :, None], -torch.inf).softmax(-1),
            "You blocked the rows of the padding, its queries: all other rows still look at padding. Block its "
            "columns, the keys: real[:, None, None].",
            also=(lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None, :, None]),),
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).softmax(dim=-1) * real[:, None, None],
            "The mask came after the softmax: the padding's share is gone, and the rows do not sum to 1 any more. "
            "Block the scores, with −inf.",
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(~real[:, None, None], 0.0).softmax(dim=-1),
            "You set the scores of the padding to 0. exp(0) is 1, so it still gets weight: take −inf.",
            also=(lambda x, q, k, n, real: (_scores(x, q, k, n) * real[:, None, None]).softmax(dim=-1),),
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(real[:, None, None], -torch.inf).softmax(dim=-1),
            "The mask is turned around: now only padding is looked at, and where there is none, nothing at all. real "
            "is True where a token is.",
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None, None] & real[:, None, :, None]),
            "You blocked the padding's rows as well as its columns. The model blocks its columns alone: a map that is "
            "to show what the model does has the padding's rows too, though nobody uses them.",
            also=(
                lambda x, q, k, n, real: _both_ways(_scores(x, q, k, n), real, -torch.inf),
                lambda x, q, k, n, real: _both_ways(_scores(x, q, k, n), real, -1e9),
            ),
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None, None] & masks.causal(x.size(1))),
            "Each token looks at itself and those before it: that is a decoder's mask. In an encoder all look at all, "
            "but for padding.",
            also=(lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), masks.causal(x.size(1))),),
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(
                _scores(x, q, k, n) * math.sqrt(x.size(-1) // n), real[:, None, None]
            ),
            "The mask is right, but the scores are not divided by √d any more.",
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None]),
            "real[:, None] is (B, 1, S), and beside (B, H, S, S) the sentences are taken for heads. It needs an axis "
            "for the heads and one for the queries: real[:, None, None].",
        ),
        Mistake(
            lambda x, q, k, n, real: (
                (_scores(x, q, k, n) / math.sqrt(n)).masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
            ),
            "The mask is right, but now the scores are divided by √D. Each head has d = D / num_heads features: √d.",
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(~real, -torch.inf).softmax(dim=-1),
            "real is (B, S), and beside (B, H, S, S) its axes are taken for queries and keys. It needs an axis for the "
            "heads and one for the queries: real[:, None, None].",
        ),
    ],
    hints=[
        "Which of the arguments does the function not use?",
        "In a batch, shorter sentences are filled up with padding; the model does not look at it.",
        "Before the softmax: scores.masked_fill(~real[:, None, None], -torch.inf).",
    ],
)
