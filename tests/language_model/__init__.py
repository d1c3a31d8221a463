"""Small models of every kind, with weights drawn at random."""

from itertools import product

import torch
from torch import nn

from lessons.language_model import LanguageModel, LanguageModelConfig

# Every size is different: V 11, D 12, H 6, H_kv 1, 2, 3 or 6, d 2 or 4, F 20, 2 layers.
SMALL = LanguageModelConfig(vocabulary=11, d_model=12, num_layers=2, num_heads=6, num_kv_heads=3, d_ff=20, max_len=16)
CHOICES = {
    "norm": ["layer", "rms"],
    "feed_forward": ["relu", "gelu", "gelu_tanh", "swiglu"],
    "positions": ["learned", "sinusoid", "rotary"],
    "rotary_pairs": ["neighbors", "halves"],
    "num_kv_heads": [None, 1, 2, 3],
    "head_dim": [None, 4],
    "bias": [True, False],
    "query_key_norm": [True, False],
    "window": [None, 1, 3],
    "tied": [True, False],
    "rotary_base": [10000.0, 50.0],
}


def sweep(count):
    """`count` of all combinations of the choices, spread evenly: in steps that share no divisor with their number."""
    everything = list(product(*CHOICES.values()))
    step = 7919
    return [dict(zip(CHOICES, everything[i * step % len(everything)])) for i in range(count)]


def scrambled(config):
    """In double precision, with every parameter drawn at random: no norm at 1, no bias at 0."""
    model = LanguageModel(config).double().eval()
    for x in model.parameters():
        nn.init.normal_(x, std=0.5)
    return model


def draw(batch=2, length=7):
    return torch.randint(SMALL.vocabulary, (batch, length))
