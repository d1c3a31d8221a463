"""shared/engine.js in Node: what torch computes, with random models, sentences and changes, and with the translator."""

import base64
import functools
import json
import random
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from lessons.config import ACTIVATIONS, POSITIONS, TransformerConfig
from lessons.evaluation import generate_all
from lessons.interventions import KINDS, Change, intervene
from lessons.pretrained import load_translator
from lessons.transformer import Transformer
from lessons.widgets.shared.weights import pack
from tests.widgets import engine_cases
from tests.widgets.node import call_in_node

SMALL = TransformerConfig(7, 7, d_model=4, num_heads=2, num_layers=1, d_ff=3, max_len=5)
AHEAD = [0, 3, 12, 4, 10, 13, 2, 5, 20]  # numbers of cases in which a cache would be noticed
READ = "engine.readModel(about.config, about.index, Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)))"
GREEDY = f"""(engine, [{{ about, bytes, sentences, bos, eos, maxLength }}]) => {{
    const model = {READ};
    return sentences.map((src) => engine.greedy(model, src, [], {{ bos, eos, maxLength }}).ids);
}}"""
REFUSED = f"""(engine, cases) => cases.map(({{ about, bytes, src, tgt, changes }}) => {{
    try {{ engine.run({READ}, src, tgt, changes); }} catch (error) {{ return `${{error}}`; }}
}})"""
IN_A_ROW = f"""(engine, [{{ about, bytes, asked }}]) => {{
    const model = {READ};
    return asked.map(([src, changes]) => {{
        const [one, other] = [model, {READ}].map((each) => JSON.stringify(engine.run(each, src, [1, 3], changes)));
        return one === other;
    }});
}}"""

# The last logits after each sentence, by one reader.
READER = f"""(engine, cases) => cases.map(({{ about, bytes, src, asked }}) => {{
    const reader = new engine.Reader(new engine.Pass({READ}, src, [], 7));
    return asked.map((ids) => {{
        const logits = reader.after(ids);
        return [logits.length, [...logits.at(-1)]];
    }});
}})"""

# Whether a greedy sentence is the same with every draft, and what is found with its own draft is what run() finds.
DRAFTED = """(engine, cases) => cases.map(({ about, bytes, src, tgt, changes }) => {
    const model = READ;
    const write = (draft) => engine.greedy(model, src, changes, { bos: 1, eos: 2, maxLength: 7, draft });
    const plain = write();
    const drafts = [tgt, plain.ids.slice(0, 2), [...plain.ids.slice(0, -1), 3], [...plain.ids.slice(0, 2), 5, 4, 3]];
    const said = ({ ids, logits }) => JSON.stringify([ids, logits]);
    const agree = drafts.every((draft) => said(write([1, ...draft.slice(1, 8)])) === said(plain));
    const found = write(plain.ids).found;
    const wanted = () => JSON.stringify(engine.run(model, src, plain.ids.slice(0, -1), changes));
    const right = !found || JSON.stringify(found) === wanted();
    return [agree, right, Boolean(found)];
})""".replace("READ", READ)


@pytest.fixture
def compute(tmp_path):
    """Calls a function of JavaScript, of the engine and a list, in a new process of Node."""
    return functools.partial(call_in_node, tmp_path, "shared", "engine.js")


def told(model, **more):
    about, numbers = pack(model)
    return [{"about": about, "bytes": base64.b64encode(numbers).decode(), **more}]


@pytest.mark.parametrize(
    ("count", "seed"), [(40, 0), pytest.param(400, 1, marks=pytest.mark.thorough("400 models in torch take 10 s"))]
)
def test_all_numbers_are_those_of_torch(compute, count, seed):
    cases = engine_cases.cases(count, seed)
    answers = compute(engine_cases.ANSWERS, [engine_cases.told(case) for case in cases])
    found = [engine_cases.compare(case, answer) for case, answer in zip(cases, answers, strict=True)]
    wrong = {number: words for number, words in enumerate(found) if words}
    assert not wrong
    occurs = engine_cases.seen(cases)
    wanted = [("positions", x) for x in POSITIONS] + [("activation", x) for x in ACTIVATIONS]
    wanted += [("kind", kind) for kind in KINDS] + [("num_decoder_layers", x) for x in (None, 1, 2)]
    names = ["norm_first", "tie_embeddings", "share_embeddings"]
    wanted += [(name, x) for name in names for x in (True, False)] + [("final_norm", x) for x in (None, True, False)]
    assert min(occurs[each] for each in wanted) > 1


def test_what_looks_ahead_is_computed_again_for_each_token(compute):
    """A later token changes what comes before it, which a cache would keep."""
    changes = [
        Change("drop_causal"),
        Change("allow", at="decoder.*.self_attn", query=0, key=1),
        Change("swap_positions", side="tgt", token=0, other=1),
    ]
    cases = [engine_cases.draw(random.Random(i), i, [changes[i % 3]]) for i in AHEAD]
    answers = compute(engine_cases.ANSWERS, [engine_cases.told(case) for case in cases])
    assert not any(engine_cases.compare(case, answer) for case, answer in zip(cases, answers, strict=True))


@pytest.mark.parametrize("count", [30, pytest.param(60, marks=pytest.mark.thorough("takes 2 s"))])
def test_a_draft_makes_no_difference(compute, count):
    """What looks ahead takes none; else a right draft is all that is computed."""
    cases = [engine_cases.draw(random.Random(i), i) for i in range(count) if i % 10 != 9]
    answers = compute(DRAFTED, [engine_cases.told(case) for case in cases])
    assert all(all(answer[:2]) for answer in answers)
    assert count / 3 < sum(found for *_, found in answers) < len(cases)


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.thorough("takes 10 s"))])
def test_the_translator_translates_alike(compute, count):
    model, task = load_translator()
    src = task.batch(count, torch.Generator().manual_seed(0), "held_out").src
    rows = [[i for i in row if i != task.src_vocab.pad_id] for row in src.tolist()]
    special = {"bos": task.tgt_vocab.bos_id, "eos": task.tgt_vocab.eos_id, "maxLength": 30}
    expected = [
        [i for i in row if i != task.tgt_vocab.pad_id] for row in generate_all(model, src, task, max_len=30).tolist()
    ]
    assert compute(GREEDY, told(model, sentences=rows, **special)) == expected


@pytest.mark.parametrize("count", [10, pytest.param(40, marks=pytest.mark.thorough("takes 3 s"))])
def test_a_reader_forgets_what_differs_and_reads_what_is_new(compute, count):
    """Sentences that share a beginning, none, or all; one is read again, shorter and longer."""
    cases = [engine_cases.draw(random.Random(i), i) for i in range(count) if i % 10 != 9]
    told_all, wanted = [], []
    for number, case in enumerate(cases):
        chance, words = random.Random(number), range(case.model.config.tgt_vocab_size)
        asked = [[engine_cases.BOS]]
        for _ in range(12):
            known = chance.choice(asked)[: chance.randint(1, 6)]
            asked.append([*known, *(chance.choice(words) for _ in range(chance.randint(0, 7 - len(known))))])
        told_all += told(case.model, src=case.src, asked=asked)
        with torch.no_grad():
            src = torch.tensor([case.src])
            wanted.append([[len(ids), case.model(src, torch.tensor([ids]))[0][0, -1].numpy()] for ids in asked])
    for answers, expected in zip(compute(READER, told_all), wanted, strict=True):
        for (count, logits), (length, right) in zip(answers, expected, strict=True):
            assert count == length and engine_cases.is_close(np.array(logits), right)


def test_what_was_computed_before_makes_no_difference(compute):
    cross, hide = {"kind": "cut", "at": "decoder.0.cross_attn"}, {"kind": "hide", "side": "src", "token": 1}
    swap = {"kind": "swap_positions", "side": "src", "token": 0, "other": 2}
    changes = [[], [cross], [hide], [hide, cross], [{**hide, "side": "tgt", "token": 0}], [swap]]
    changes += [[{"kind": "drop_positions"}], [{"kind": "drop_positions", "side": "src"}], [{"kind": "cut", "at": "*"}]]
    asked = [([3, 4, 5], each) for each in changes] + [([4, 3, 5], changes[-1]), ([4, 3, 5], []), ([4, 3, 5], [])]
    assert compute(IN_A_ROW, told(Transformer(SMALL).eval(), asked=asked)) == [True] * len(asked)


def test_a_sentence_that_is_too_long_is_refused(compute):
    model = Transformer(SMALL).eval()
    answer = compute(REFUSED, told(model, src=[3] * 6, tgt=[1], changes=[]))
    assert answer == ["RangeError: src has 6 tokens; expected at most max_len = 5"]


def test_a_place_that_the_model_does_not_have_is_refused_in_the_same_words(compute):
    model = Transformer(SMALL).eval()
    changes = [
        Change("cut", at="encoder.?.cross_attn"),
        Change("cut", at="decoder.[1-9].*"),
        Change("silence", at="*.feed_forward", head=0),
        Change("block", at="encoder.1.self_attn", query=0, key=0),
        Change("drop_causal", at="encoder.*"),
    ]
    cases = [told(model, src=[3], tgt=[1], changes=[asdict(change)])[0] for change in changes]
    answers = compute(REFUSED, cases)
    for change, answer in zip(changes, answers, strict=True):
        with pytest.raises(ValueError, match="expected a place where") as error, intervene(model, [change]):
            pass
        assert answer == f"RangeError: {error.value}"


def test_a_model_is_packed_with_what_follows_from_its_options():
    model = Transformer(replace(SMALL, norm_first=True)).eval()
    about, _ = pack(model)
    assert about["config"] == asdict(model.config) | {"decoder_depth": 1, "ends_in_norm": True, "dtype": "float32"}
    assert about["index"].keys() == model.state_dict().keys()
    assert json.loads(json.dumps(about)) == about


def test_half_precision_only_where_it_changes_nothing():
    model = Transformer(SMALL).eval().requires_grad_(False)
    about, exact = pack(model)
    assert about["config"]["dtype"] == "float32"
    for x in model.parameters():
        x.copy_(x.half().float())
    about, half = pack(model)
    assert about["config"]["dtype"] == "float16" and 2 * len(half) == len(exact)
    model.out_proj.bias[0] = 100_000.0  # more than float16 has
    assert pack(model)[0]["config"]["dtype"] == "float32"


def test_every_number_of_half_precision_is_read_as_by_numpy(tmp_path):
    halves = np.arange(2**16, dtype=np.uint16)
    halves = halves[~np.isnan(halves.view(np.float16))]
    read = "(tensors, halves) => [...new Uint32Array(tensors.readHalves(Uint16Array.from(halves)).buffer)]"
    bits = call_in_node(tmp_path, "shared", "tensors.js", read, halves.tolist())
    assert bits == halves.view(np.float16).astype(np.float32).view(np.uint32).tolist()


def test_a_tied_matrix_is_packed_once():
    model = Transformer(replace(SMALL, tie_embeddings=True, share_embeddings=True))
    about, numbers = pack(model)
    names = ["src_embedding.tokens.weight", "tgt_embedding.tokens.weight", "out_proj.weight"]
    assert len({tuple(about["index"][name]) for name in names}) == 1
    assert len(numbers) == 4 * sum(x.numel() for x in model.parameters())


def test_the_translator_is_packed_in_half_precision():
    about, numbers = pack(load_translator()[0])
    assert about["config"]["dtype"] == "float16" and len(numbers) < 600_000
