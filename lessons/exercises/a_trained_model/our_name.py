"""Lesson 14, my_our_name: BERT's names of the weights, as this course names them."""

import functools

import torch

from lessons.checking.edits import Edited, edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.config import TransformerConfig
from lessons.parity import BERT_LAYER_NAMES
from lessons.transformer import Encoder
from lessons.wording import worded

TABLE = {theirs.rstrip("."): ours.rstrip(".") for theirs, ours in BERT_LAYER_NAMES.items()}  # parts of a layer


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


def _loaded(candidate, x, num_layers, num_heads, d_ff):
    """Weights in an encoder of BERT's names get the learner's names, are loaded into ours, and it is run."""
    encoder, ours = _encoder_and_weights(x.size(-1), num_heads, num_layers, d_ff)
    found = {}
    for right, weight in ours.items():
        theirs = _their_name(right)
        name = candidate(theirs)
        if not isinstance(name, str):
            raise TypeError(
                worded("{theirs} becomes a {type}; expected a string", theirs=theirs, type=type(name).__name__)
            )
        if name in found:
            raise ValueError(worded("two names become {name}; one of them is {theirs}", name=name, theirs=theirs))
        if name not in ours:
            raise ValueError(
                worded("{theirs} becomes {name}, which our encoder does not have", theirs=theirs, name=name)
            )
        if ours[name].shape != weight.shape:
            raise ValueError(
                worded(
                    "{theirs} {shape} becomes {name}, which is {other_shape}",
                    theirs=theirs,
                    shape=tuple(weight.shape),
                    name=name,
                    other_shape=tuple(ours[name].shape),
                )
            )
        found[name] = weight
    encoder.load_state_dict(found)
    return encoder(x)[0].detach()


@functools.cache
def _encoder_and_weights(d_model, num_heads, num_layers, d_ff):
    """An encoder, whose weights are loaded anew for each answer, and its weights by our names."""
    sizes = {"d_model": d_model, "num_heads": num_heads, "num_layers": num_layers, "d_ff": d_ff}
    encoder = Encoder(TransformerConfig(1, 1, dropout=0.0, activation="gelu", **sizes)).eval()
    generator = torch.Generator().manual_seed(0)
    return encoder, {name: 0.5 * torch.randn(w.shape, generator=generator) for name, w in encoder.state_dict().items()}


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
        case(1, 2, 12, 1, 3, about="12 layers, as in many models: the last layer numbers have two digits"),
    ]


def _short_names_first(name):
    for theirs, ours in reversed(TABLE.items()):
        name = name.replace(theirs, ours)
    return name.replace("encoder.layer.", "layers.")


def _short_norm_first(name):
    for theirs, ours in sorted(TABLE.items(), key=lambda pair: pair[0] == "attention.output.LayerNorm"):
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


def exchanged(one: str, other: str) -> Edited:
    return edited(our_name, (f'"{one}"', f'"{other}"'), (f'"{other}"', f'"{one}"'))


renaming = Exercise(
    lesson="14",
    name="my_our_name",
    reference=our_name,
    cases=_name_cases,
    call=_loaded,
    outputs=("the output of the encoder with your names",),
    mistakes=[
        Mistake(
            exchanged("self_attn.q_proj", "self_attn.k_proj"),
            "You swapped queries and keys. The shapes fit, so there is no error: each token now asks with its key.",
        ),
        Mistake(
            exchanged("self_attn.q_proj", "self_attn.v_proj"),
            "You swapped queries and values. query is q_proj, value is v_proj; the shapes fit, so there is no error.",
        ),
        Mistake(
            exchanged("self_attn.k_proj", "self_attn.v_proj"),
            "You swapped keys and values. key is k_proj, value is v_proj; the shapes fit, so there is no error.",
        ),
        Mistake(
            exchanged("self_attn_residual.norm", "feed_forward_residual.norm"),
            "You swapped the two norms: attention.output.LayerNorm follows self-attention, output.LayerNorm the "
            "feed-forward network. Both are (D,), so there is no error.",
        ),
        Mistake(
            exchanged("feed_forward.linear1", "feed_forward.linear2"),
            "You swapped the two layers of the feed-forward network: intermediate goes up to F features, output "
            "comes back to D.",
        ),
        Mistake(
            exchanged("self_attn.out_proj", "feed_forward.linear2"),
            "You swapped attention.output.dense and output.dense: the first is the projection at the end of "
            "attention, out_proj.",
        ),
        Mistake(
            _by_its_end,
            "“attention.output.dense” ends in “output.dense”, and your code confuses them. Compare the whole part "
            "between the layer's number and weight or bias, or look for the longer names first.",
            also=(_short_names_first,),
        ),
        Mistake(
            _short_norm_first,
            "“attention.output.LayerNorm” ends in “output.LayerNorm”, and your code replaces the shorter name in it. "
            "Look for the longer one first.",
        ),
        Mistake(
            _fixed_places,
            'You take one character for the layer\'s number: fine for one digit. split(".") finds the pieces, '
            "however long they are.",
            also=[edited(our_name, "{layer}", "{layer[0]}")],
            seen_in="12 layers, as in many models: the last layer numbers have two digits",
        ),
        Mistake(
            edited(our_name, ('f"layers.{layer}', 'name if layer != "0" else f"layers.{layer}')),
            "Only the names of layer 0 change; those of the other layers come back as they were. The number is the "
            "third piece of the name: keep it, whatever it is.",
        ),
        Mistake(
            edited(our_name, ('f"layers.{layer}', "f\"{'layers' if layer == '0' else 'encoder.layer'}.{layer}")),
            "Only in layer 0 does the front of the name change; in the others it is still BERT's. The number is the "
            "third piece of the name: keep it, whatever it is.",
        ),
        Mistake(
            edited(our_name, 'f"layers.', 'f"encoder.layer.'),
            "The part is renamed, but the front of the name is still BERT's: encoder.layer.3 becomes layers.3.",
        ),
        Mistake(
            edited(our_name, "{kind}", "weight"),
            "Every name ends in weight. Keep the last piece of the name: weight or bias.",
        ),
        Mistake(
            edited(our_name, "{layer}", "{int(layer) + 1}"),
            "You added 1 to the layer's number. Both count from 0.",
        ),
        Mistake(
            edited(our_name, "{layer}", "0"),
            "The layer's number got lost: every layer becomes layer 0. It is the third piece of the name.",
        ),
        Mistake(
            edited(our_name, ".{kind}", ""),
            "weight or bias got lost: keep the last piece of the name.",
        ),
        Mistake(
            edited(our_name, 'f"layers', 'f"encoder.layers'),
            "Return the name inside the encoder, which begins with layers. (With “encoder.” in front, it is the name "
            "in the whole model.)",
        ),
        Mistake(
            edited(our_name, 'f"layers', 'f"layer'),
            "BERT says layer, we say layers: with one letter missing, the weight has no place.",
        ),
    ],
    hints=[
        'name.split(".", maxsplit=3) gives four pieces: encoder, layer, its number, and the rest.',
        'rest.rsplit(".", maxsplit=1) cuts weight or bias from the end.',
        "A dict from BERT's eight parts to ours does the rest; the table above has them.",
    ],
    solution="""
        def my_our_name(name):
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
            _, _, number, rest = name.split(".", maxsplit=3)  # encoder, layer, number, rest
            part, kind = rest.rsplit(".", maxsplit=1)  # kind: weight or bias
            return f"layers.{number}.{table[part]}.{kind}"
    """,
    in_package="lessons.pretrained.from_bert",
)
