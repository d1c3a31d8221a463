"""lessons.language_model.config: the four published totals, and what does not go together."""

from dataclasses import replace

import pytest

from lessons.language_model import LanguageModelConfig, count_parameters, published

SMALL = LanguageModelConfig(vocabulary=11, d_model=12, num_layers=2, num_heads=6, num_kv_heads=3, d_ff=20, max_len=16)
TOTALS = {
    "GPT-2 small": 124_439_808,
    "Llama 2 7B": 6_738_415_616,
    "Llama 3 8B": 8_030_261_248,
    "Mistral 7B": 7_241_732_096,
}


def test_the_published_models_to_the_last_parameter():
    assert {name: sum(count_parameters(config).values()) for name, config in published.items()} == TOTALS


def test_each_part_of_a_small_model_counted_by_hand():
    config = replace(SMALL, bias=True, norm="layer", query_key_norm=True, positions="learned")  # head_dim 2
    assert count_parameters(config) == {
        "embedding": 11 * 12,
        "positions": 16 * 12,
        "attention": 2 * (12 * 12 + 12 * 6 + 12 * 6 + 12 * 12 + 12 + 6 + 6 + 12),
        "feed_forward": 2 * (3 * 12 * 20 + 20 + 20 + 12),
        "norms": 2 * (2 * (12 + 12) + 2 + 2) + 12 + 12,
        "out_proj": 11 * 12,
    }


@pytest.mark.parametrize("d_model", [12, 96, 768])
def test_swiglu_with_two_thirds_of_d_ff_has_the_size_of_two_matrices(d_model):
    two = replace(SMALL, d_model=d_model, feed_forward="gelu", d_ff=4 * d_model)
    three = replace(two, feed_forward="swiglu", d_ff=4 * d_model * 2 // 3)
    assert count_parameters(two) == count_parameters(three)


def test_defaults_that_follow_from_other_sizes():
    config = replace(SMALL, num_kv_heads=None)
    assert (config.kv_heads, config.head_size) == (6, 2)
    assert replace(SMALL, head_dim=8).head_size == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": 0}, "vocabulary is 0; expected a whole number, 1 or more"),
        ({"num_layers": 2.0}, "num_layers is 2.0; expected a whole number"),
        ({"max_len": -1}, "max_len is -1; expected a whole number"),
        ({"num_kv_heads": 4}, "num_kv_heads is 4; expected a divisor of num_heads = 6"),
        ({"num_kv_heads": 12}, "num_kv_heads is 12; expected a divisor of num_heads = 6"),
        ({"num_kv_heads": 0}, "num_kv_heads is 0; expected a whole number, 1 or more, or None"),
        ({"d_model": 13}, "d_model is 13; expected a multiple of num_heads = 6, or a head_dim"),
        ({"d_model": 18}, "head_dim is 3; expected an even number for rotary positions"),
        ({"head_dim": 0}, "head_dim is 0; expected a whole number, 1 or more, or None"),
        ({"head_dim": 5}, "head_dim is 5; expected an even number for rotary positions"),
        ({"norm": "batch"}, "norm is 'batch'; expected one of 'layer', 'rms'"),
        ({"feed_forward": "silu"}, "feed_forward is 'silu'; expected one of 'relu', 'gelu', 'gelu_tanh', 'swiglu'"),
        ({"positions": None}, "positions is None; expected one of 'learned', 'sinusoid', 'rotary'"),
        ({"rotary_pairs": "thirds"}, "rotary_pairs is 'thirds'; expected one of 'neighbors', 'halves'"),
        ({"rotary_base": 0}, "rotary_base is 0; expected a number above 0"),
        ({"norm_eps": -1e-5}, "norm_eps is -1e-05; expected a number above 0"),
        ({"window": 0}, "window is 0; expected a whole number, 1 or more, or None"),
        ({"bias": 1}, "bias is 1; expected True or False"),
        ({"tied": None}, "tied is None; expected True or False"),
        ({"query_key_norm": "rms"}, "query_key_norm is 'rms'; expected True or False"),
    ],
)
def test_what_does_not_go_together_is_refused(changes, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        replace(SMALL, **changes)


def test_an_odd_head_is_fine_without_rotary_positions():
    assert replace(SMALL, d_model=18, positions="learned").head_size == 3
