"""Lesson 09, fixed_stack: a stack in which every layer has parameters of its own."""

from collections.abc import Iterable

import torch
from torch import nn

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def stack_of(make_layer, num_layers: int) -> nn.ModuleList:
    """make_layer() gives a new layer -> num_layers of them, each with parameters of its own."""
    return nn.ModuleList(make_layer() for _ in range(num_layers))


def _stacked(candidate, d_model, num_layers):
    """How many parameters there are, and the output once each layer has its own numbers."""
    made: list[nn.Module] = []

    def make_layer():
        made.append(nn.Linear(d_model, d_model))
        return made[-1]

    with torch.random.fork_rng():
        layers = candidate(make_layer, num_layers)
    if layers is None:
        return None
    model = nn.Module()
    model.layers = layers
    learned = sum(p.numel() for p in model.parameters())
    x = torch.ones(d_model)
    in_turn = isinstance(layers, Iterable)  # else it applies them itself
    found = list(layers) if in_turn else [part for part in layers.modules() if isinstance(part, nn.Linear)] or made
    with torch.no_grad():
        for number, layer in enumerate(found, start=1):
            for parameter in layer.parameters():
                parameter.fill_(number)
        for layer in found if in_turn else [layers]:
            x = layer(x)
    return torch.tensor(learned), x


bug_hunt = Exercise(
    lesson="09",
    name="fixed_stack",
    reference=stack_of,
    call=_stacked,
    outputs=("how many parameters", "the output"),
    cases=lambda generator: [Case({"d_model": d, "num_layers": n}) for d, n in [(2, 3), (3, 1), (4, 2)]],
    mistakes=[
        Mistake(
            edited(stack_of, "make_layer() for _ in range(num_layers)", "[make_layer()] * num_layers"),
            "The bug is still there. A symptom: a model of 3 layers has as many parameters as a model of 1.",
        ),
        Mistake(
            edited(stack_of, "nn.ModuleList(", "list("),
            "The layers are separate now. But in a plain list torch does not find them, so the optimizer does not "
            "train them. Use an nn.ModuleList.",
        ),
        Mistake(
            edited(stack_of, "nn.ModuleList(make_layer() for _ in range(num_layers))", "[make_layer()] * num_layers"),
            "It is still one layer, and torch does not find it in a plain list: nothing is trained.",
        ),
        Mistake(
            edited(stack_of, "range(num_layers)", "range(num_layers + 1)"),
            "The layers are separate now, but there is one too many.",
        ),
        Mistake(
            edited(stack_of, "range(num_layers)", "range(num_layers - 1)"),
            "The layers are separate now, but one is missing.",
        ),
        Mistake(
            edited(stack_of, "make_layer() for", "make_layer for"),
            "These are num_layers references to the function make_layer. A layer is what it returns: make_layer().",
        ),
    ],
    hints=[
        "Count the parameters of the result for 1 layer, and for 3.",
        "How often is make_layer called? And how many entries does the list have?",
        "[layer] * 3 is a list of three references to one layer.",
    ],
    solution="""
        def fixed_stack(make_layer, num_layers):
            layers = [make_layer() for _ in range(num_layers)]  # a new one each time
            return nn.ModuleList(layers)
    """,
    in_package="lessons.transformer.Encoder",
)
