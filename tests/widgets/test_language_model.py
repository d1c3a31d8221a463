"""shared/language_model.js in Node: torch's logits and greedy texts, for language models of any configuration."""

import base64
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from lessons.language_model import LanguageModel, LanguageModelConfig, generate
from lessons.widgets.shared.weights import pack
from tests.language_model import CHOICES, SMALL, scrambled, sweep
from tests.widgets.engine_cases import is_close
from tests.widgets.node import call_in_node

LONGEST = SMALL.max_len
MODEL = "module.readModel(about.config, about.index, Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)))"
# All logits in one pass; the last ones after each of the asked texts, by one reader; and a greedy text.
READ = f"""(module, cases) => cases.map(({{ about, bytes, ids, asked, longest }}) => {{
    const model = {MODEL};
    const {{ data, shape: [rows, count] }} = new module.TextPass(model, longest).decode(ids, 0);
    const reader = new module.Reader(new module.TextPass(model, longest));
    const after = asked.map((each) => [...reader.after(each).at(-1)]);
    const written = [ids[0]];
    while (written.length < longest) {{
        const logits = reader.after(written).at(-1);
        written.push(logits.indexOf(Math.max(...logits)));
    }}
    const whole = Array.from({{ length: rows }}, (_, row) => [...data.slice(row * count, (row + 1) * count)]);
    return {{ whole, after, written }};
}})"""
REFUSED = f"""(module, [{{ about, bytes, ids }}]) => {{
    try {{ new module.TextPass({MODEL}, 99).decode(ids, 0); }} catch (error) {{ return `${{error}}`; }}
}}"""


@pytest.fixture
def call(tmp_path):
    def call(function, told):
        return call_in_node(tmp_path, "decoding_explorer", "writer.js", function, told)

    return call


def told(model, **more):
    about, numbers = pack(model)
    return {"about": about, "bytes": base64.b64encode(numbers).decode(), **more}


def draw(number, choices):
    """A model, a text, and texts to ask a reader for: each begins like an earlier one."""
    chance = random.Random(number)
    torch.manual_seed(number)
    d_model = 15 if choices["head_dim"] else 12
    config = replace(SMALL, d_model=d_model, norm_eps=chance.choice([1e-5, 0.1]), **choices)
    model = scrambled(config).float().requires_grad_(False)
    asked = [[chance.randrange(SMALL.vocabulary)]]
    for _ in range(6):
        known = chance.choice(asked)[: chance.randint(1, LONGEST)]
        more = chance.randint(0, LONGEST - len(known))
        asked.append(known + [chance.randrange(SMALL.vocabulary) for _ in range(more)])
    ids = [chance.randrange(SMALL.vocabulary) for _ in range(chance.randint(1, LONGEST))]
    return model, ids, asked


def last_of(model, ids):
    return model(torch.tensor([ids]))[0, -1].numpy()


@pytest.mark.parametrize("count", [16, pytest.param(200, marks=pytest.mark.thorough("200 models in torch take 5 s"))])
def test_logits_and_greedy_texts_of_any_configuration_are_those_of_torch(call, count):
    drawn = [draw(number, choices) for number, choices in enumerate(sweep(count))]
    answers = call(READ, [told(model, ids=ids, asked=asked, longest=LONGEST) for model, ids, asked in drawn])
    for (model, ids, asked), answer in zip(drawn, answers, strict=True):
        assert is_close(np.array(answer["whole"]), model(torch.tensor([ids]))[0].numpy()), model.config
        for each, logits in zip(asked, answer["after"], strict=True):
            assert is_close(np.array(logits), last_of(model, each)), model.config
        written = generate(model, torch.tensor([ids[:1]]), LONGEST - 1, temperature=0)[0].tolist()
        assert answer["written"] == written, model.config
    for name, values in CHOICES.items():
        assert {getattr(model.config, name) for model, *_ in drawn} == set(values)


def test_rotary_positions_have_no_end(call):
    """200 tokens, where angles of float32 would show."""
    config = LanguageModelConfig(vocabulary=11, d_model=8, num_layers=2, num_heads=2, d_ff=12, max_len=4)
    torch.manual_seed(0)
    model = scrambled(config).float().requires_grad_(False)
    ids = torch.randint(11, (200,)).tolist()
    [answer] = call(READ, [told(model, ids=ids, asked=[ids[:150], ids], longest=200)])
    assert is_close(np.array(answer["whole"]), model(torch.tensor([ids]))[0].numpy())
    assert is_close(np.array(answer["after"][1]), last_of(model, ids))


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_a_text_that_is_too_long_is_refused_in_the_same_words(call, positions):
    model = LanguageModel(replace(SMALL, positions=positions))
    ids = [0] * (LONGEST + 1)
    with pytest.raises(ValueError, match="ids goes up to position 16") as error:
        model(torch.tensor([ids]))
    assert call(REFUSED, [told(model, ids=ids)]) == f"RangeError: {error.value}"


def test_a_tied_matrix_is_packed_once():
    about, numbers = pack(LanguageModel(replace(SMALL, tied=True)))
    assert about["index"]["out_proj.weight"] == about["index"]["embedding.weight"]
    assert about["config"]["kv_heads"] == 3 and about["config"]["head_size"] == 2
    assert len(numbers) == 4 * sum(x.numel() for x in LanguageModel(replace(SMALL, tied=True)).parameters())
