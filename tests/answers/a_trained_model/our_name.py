"""Lesson 14, my_our_name: what learners write."""

from tests.answers import right, wrong

with right:

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
        pieces = name.split(".")
        return ".".join(["layers", pieces[2], table[".".join(pieces[3:-1])], pieces[-1]])


with right:

    def my_our_name(name):
        name = name.removeprefix("encoder.").replace("layer.", "layers.", 1)
        for theirs, ours in (
            ("attention.self.query", "self_attn.q_proj"),
            ("attention.self.key", "self_attn.k_proj"),
            ("attention.self.value", "self_attn.v_proj"),
            ("attention.output.dense", "self_attn.out_proj"),
            ("attention.output.LayerNorm", "self_attn_residual.norm"),
            ("intermediate.dense", "feed_forward.linear1"),
            ("output.dense", "feed_forward.linear2"),
            ("output.LayerNorm", "feed_forward_residual.norm"),
        ):
            if theirs in name:
                return name.replace(theirs, ours)


with right:
    import re

    def my_our_name(name):
        layer, rest = re.fullmatch(r"encoder\.layer\.(\d+)\.(.*)", name).groups()
        rest = re.sub(r"attention\.self\.(.)\w+", r"self_attn.\1_proj", rest)
        rest = rest.replace("attention.output.dense", "self_attn.out_proj")
        rest = rest.replace("attention.output.LayerNorm", "self_attn_residual.norm")
        rest = rest.replace("intermediate.dense", "feed_forward.linear1").replace(
            "output.dense", "feed_forward.linear2"
        )
        return f"layers.{layer}.{rest.replace('output.LayerNorm', 'feed_forward_residual.norm')}"


with wrong("You swapped the two norms"):

    def my_our_name(name):
        table = {
            "attention.self.query": "self_attn.q_proj",
            "attention.self.key": "self_attn.k_proj",
            "attention.self.value": "self_attn.v_proj",
            "attention.output.dense": "self_attn.out_proj",
            "attention.output.LayerNorm": "feed_forward_residual.norm",
            "intermediate.dense": "feed_forward.linear1",
            "output.dense": "feed_forward.linear2",
            "output.LayerNorm": "self_attn_residual.norm",
        }
        pieces = name.split(".")
        return ".".join(["layers", pieces[2], table[".".join(pieces[3:-1])], pieces[-1]])


with wrong("becomes encoder.layer.0.attention.self.query.weight, which our encoder does not have"):

    def my_our_name(name):
        return name


with wrong("“attention.output.dense” ends in “output.dense”"):

    def my_our_name(name):
        name = name.removeprefix("encoder.").replace("layer.", "layers.")
        name = name.replace("output.dense", "feed_forward.linear2").replace(
            "intermediate.dense", "feed_forward.linear1"
        )
        name = name.replace("output.LayerNorm", "feed_forward_residual.norm")
        name = name.replace("attention.self.query", "self_attn.q_proj").replace(
            "attention.self.key", "self_attn.k_proj"
        )
        return name.replace("attention.self.value", "self_attn.v_proj")


with wrong('split(".") finds the pieces'):

    def my_our_name(name):
        parts = {
            "attention.self.query": "self_attn.q_proj",
            "attention.self.key": "self_attn.k_proj",
            "attention.self.value": "self_attn.v_proj",
            "attention.output.dense": "self_attn.out_proj",
            "attention.output.LayerNorm": "self_attn_residual.norm",
            "intermediate.dense": "feed_forward.linear1",
            "output.dense": "feed_forward.linear2",
            "output.LayerNorm": "feed_forward_residual.norm",
        }
        layer, rest = name[14], name[16:]
        part, kind = rest.rsplit(".", 1)
        return f"layers.{layer}.{parts[part]}.{kind}"


with wrong("becomes a tuple; expected a string"):

    def my_our_name(name):
        _, _, layer, rest = name.split(".", 3)
        return ("layers", layer, rest)


with wrong("Only the names of layer 0 change"):

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
        name = name.replace("encoder.layer.0.", "layers.0.")
        for old, new in table.items():
            if name.startswith("layers.0." + old):
                return name.replace(old, new)
        return name


with wrong("the front of the name is still BERT's"):

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
        for old, new in table.items():
            if old in name:
                return name.replace(old, new)


with wrong("Every name ends in weight"):

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
        parts = name.split(".")
        return f"layers.{parts[2]}.{table['.'.join(parts[3:-1])]}.weight"


with wrong("replaces the shorter name in it"):

    def my_our_name(name):
        name = name.replace("encoder.layer", "layers").replace("attention.self.query", "self_attn.q_proj")
        name = name.replace("attention.self.key", "self_attn.k_proj")
        name = name.replace("attention.self.value", "self_attn.v_proj")
        name = name.replace("attention.output.dense", "self_attn.out_proj")
        name = name.replace("output.LayerNorm", "feed_forward_residual.norm")
        name = name.replace("attention.output.LayerNorm", "self_attn_residual.norm")
        name = name.replace("intermediate.dense", "feed_forward.linear1")
        return name.replace("output.dense", "feed_forward.linear2")
