"""DecodingExplorer without Python: what its JavaScript writes with the translator, in Node, is what torch writes."""

import functools
import itertools
import math

import pytest
import torch

from lessons.decoding import Cached, Recomputed, distribution
from lessons.language_model import LanguageModel, LanguageModelConfig, Reader
from lessons.pretrained import load_translator
from lessons.vocabulary import Vocabulary
from lessons.widgets import DecodingExplorer
from tests.widgets.node import call_in_node

FEW, ALL, LONGEST = 2, 24, 30  # sentences, and the most tokens of a translation
CLOSE = 1e-4
TINY = 1e-30  # float32 has nothing that is much smaller
BEAMS = [{"width": width, "length_penalty": penalty} for width, penalty in ((1, 1.0), (2, 0.0), (4, 0.6), (5, 2.0))]
CUTS = [
    {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    for temperature, top_k, top_p in itertools.product((0.3, 1.0, 2.5), (0, 1, 7), (1.0, 0.9, 0.35))
]
# Each act: traits, and the buttons pressed after they are set. [the traits, the probabilities with the options] of it.
WRITE = """(module, { weights, cases }) => cases.map(({ about, state, acts }) => {
    const writer = new module.Writer(about, weights, state);
    return acts.map(([changes, buttons]) => {
        let now = { ...state, ...writer.follow(state, changes, true) };
        for (const name of buttons) now = { ...now, ...writer.follow(now, writer.act(name, now), false) };
        const logits = now.shown.logits && module.readDoubles(now.shown.logits);
        return [now, logits && [...module.distribute(logits, module.orderOf(logits), now).after]];
    });
})"""
parts = pytest.mark.parametrize(
    "part",
    [slice(FEW), pytest.param(slice(FEW, ALL), marks=pytest.mark.thorough("22 more sentences in torch take 2 to 5 s"))],
    ids=["few", "the others"],
)
UNIFORM = "(module, [seeds, places]) => seeds.map((seed) => places.map((place) => module.drawUniform(seed, place)))"


@pytest.fixture
def call(tmp_path):
    return functools.partial(call_in_node, tmp_path, "decoding_explorer", "writer.js")


@functools.cache
def sentences():
    """No two of them are the same."""
    _, task = load_translator()
    found = [source for source, _ in task.examples(ALL, torch.Generator().manual_seed(0), "held_out")]
    assert len(set(found)) == ALL
    return found


@functools.cache
def explorer_of(sentence):
    model, task = load_translator()
    src, join = torch.tensor([task.encode(sentence)]), task.writing("tgt").join
    return DecodingExplorer(lambda: Cached(model, src), task.tgt_vocab, join=join, max_len=LONGEST)


@functools.cache
def explorer_of_text(seed):
    """Of a language model; every other one has a window."""
    torch.manual_seed(seed)
    vocab = Vocabulary(list("abcdefgh"))
    sizes = {"vocabulary": len(vocab), "d_model": 12, "num_layers": 2, "num_heads": 2, "d_ff": 16, "max_len": 12}
    model = LanguageModel(LanguageModelConfig(**sizes, window=3 if seed % 2 else None))
    for x in model.requires_grad_(False).parameters():
        torch.nn.init.normal_(x, std=0.5)
    return DecodingExplorer(lambda: Reader(model), vocab, join="".join, max_len=12)


def explorers(part):
    return [explorer_of(sentence) for sentence in sentences()[part]]


def told(acts_of, which):
    """acts_of(explorer): what is done with it."""
    given = [(explorer, explorer.alone()) for explorer in which]
    cases = [
        {"about": more["about"], "state": state_of(explorer), "acts": acts_of(explorer)} for explorer, more in given
    ]
    return {"weights": given[0][1]["weights"], "cases": cases}


def state_of(explorer):
    names = [*("method", "temperature", "top_k", "top_p", "width", "length_penalty", "seed", "chosen", "depth")]
    return {name: getattr(explorer, name) for name in [*names, "words", "shown", "choice"]}


def python(explorer, changes, button=None):
    """The same in Python, and what it was before."""
    before = {name: getattr(explorer, name) for name in state_of(explorer) if name not in ("words", "shown", "choice")}
    for name, value in changes.items():
        setattr(explorer, name, value)
    if button:
        explorer.answer(button)
    found = state_of(explorer), explorer.probabilities
    for name, value in before.items():
        setattr(explorer, name, value)
    return found


def agree(explorer, acts, answers):
    """What was said after these acts is what Python says."""
    for (changes, [button]), (now, after) in zip(acts, answers, strict=True):
        right, expected = python(explorer, changes, button)
        assert now["chosen"] == right["chosen"] and now["depth"] == right["depth"]
        assert now["shown"].keys() == right["shown"].keys()
        if "nodes" in right["shown"]:
            assert [x["word"] for x in now["shown"]["nodes"]] == [x["word"] for x in right["shown"]["nodes"]]
            assert now["shown"]["best"]["score"] == pytest.approx(right["shown"]["best"]["score"], abs=CLOSE)
            assert now["shown"]["greedy"]["text"] == right["shown"]["greedy"]["text"]
        else:
            assert now["shown"]["probabilities"] == pytest.approx(right["shown"]["probabilities"], abs=CLOSE)
            assert (after is None) == (expected is None)
            assert after is None or after == pytest.approx(expected.tolist(), abs=CLOSE)


def test_a_language_model_writes_the_same(call):
    options = {"temperature": 0.7, "top_k": 5}
    acts = [[{}, ["end"]], [options | {"chosen": [5, 4]}, ["step"]], [{"chosen": [6, 5, 4, 4]}, ["back"]]]
    acts += [[{"method": "beam", **options}, [button]] for options in BEAMS for button in ("step", "end")]
    for seed in range(4):
        explorer = explorer_of_text(seed)
        assert "src" not in explorer.alone()["about"]
        [answers] = call(WRITE, told(lambda _: acts, [explorer]))
        agree(explorer, acts, answers)


@parts
def test_greedy_sentences_and_their_probabilities(call, part):
    answers = call(WRITE, told(lambda _: [[{}, ["end"]], [{}, ["step"] * 4 + ["back"]]], explorers(part)))
    for explorer, [(whole, _), (stepped, _)] in zip(explorers(part), answers, strict=True):
        (right, _), (begun, _) = python(explorer, {}, "end"), python(explorer, {})
        assert whole["chosen"] == right["chosen"] and len(right["chosen"]) > 3
        assert whole["shown"]["probabilities"] == pytest.approx(right["shown"]["probabilities"], abs=CLOSE)
        assert whole["shown"]["logits"] is None and whole["choice"]["next"] is None and whole["shown"]["own"] == []
        assert stepped["chosen"] == right["chosen"][:3] and stepped["choice"]["next"] == right["chosen"][3]
        assert begun["chosen"] == []


@parts
def test_beams_and_their_trees(call, part):
    acts = [[{"method": "beam", **options}, [button]] for options in BEAMS for button in ("step", "end")]
    answers = call(WRITE, told(lambda _: acts, explorers(part)))
    for explorer, found in zip(explorers(part), answers, strict=True):
        for (changes, [button]), (now, _) in zip(acts, found, strict=True):
            right, _ = python(explorer, changes, button)
            shown, wanted = now["shown"], right["shown"]
            assert now["depth"] == right["depth"]
            assert [shown[name] for name in ("beam", "ended")] == [wanted[name] for name in ("beam", "ended")]
            for name in ("best", "greedy"):
                assert shown[name] == {
                    key: x if key == "text" else pytest.approx(x, abs=CLOSE) for key, x in wanted[name].items()
                }
            assert shown["nodes"] == [
                node | {key: pytest.approx(node[key], abs=CLOSE) for key in ("log_prob", "score")}
                for node in wanted["nodes"]
            ]


def is_decided(explorer, chosen, options):
    """Whether rounding can't move the edge of top-k or top-p."""
    logits = explorer._reader.after(chosen)[-1].double()
    ordered = (logits / options["temperature"]).softmax(-1).sort(descending=True).values
    if top_k := options["top_k"]:
        if ordered[top_k] > (1 - CLOSE) * ordered[top_k - 1]:
            return False
        ordered = ordered[:top_k] / ordered[:top_k].sum()
    return options["top_p"] == 1 or (ordered.cumsum(-1) - options["top_p"]).abs().min().item() > CLOSE


@parts
def test_distributions_after_temperature_top_k_and_top_p(call, part):
    def acts_of(explorer):
        right, _ = python(explorer, {}, "end")
        begun = [right["chosen"][:1], right["chosen"][:3]]
        acts = [{"method": "sampling", "chosen": chosen, **options} for chosen in begun for options in CUTS]
        return [[changes, []] for changes in acts if is_decided(explorer, changes["chosen"], changes)]

    given = told(acts_of, explorers(part))
    assert sum(len(case["acts"]) for case in given["cases"]) > 0.9 * len(given["cases"]) * 2 * len(CUTS)
    for explorer, case, answers in zip(explorers(part), given["cases"], call(WRITE, given), strict=True):
        for (changes, _), (now, after) in zip(case["acts"], answers, strict=True):
            right, expected = python(explorer, changes)
            assert after == pytest.approx(expected.tolist(), abs=CLOSE)
            assert [p > TINY for p in after] == (expected > TINY).tolist()
            assert after[now["choice"]["next"]] > 0
            assert now["shown"]["own"] == right["shown"]["own"] == list(range(len(changes["chosen"])))


def test_the_numbers_of_a_seed_are_uniform_and_independent(call):
    numbers = torch.tensor(call(UNIFORM, [list(range(2000)), list(range(3))]))
    assert numbers.min() >= 0 and numbers.max() < 1
    assert (numbers.T.corrcoef() - torch.eye(3)).abs().max() < 0.08
    for column in numbers.T:
        assert (torch.histc(column, 10, 0, 1) - 200).abs().max() < 60  # 4.5 standard deviations


def test_a_seed_draws_the_same_and_each_word_as_often_as_it_is_likely(call):
    [first], hot = explorers(slice(1)), {"method": "sampling", "temperature": 3.0}
    whole = [[hot | {"seed": seed}, ["end"]] for seed in (*range(40), 0)]
    acts = whole + [[hot | {"seed": seed}, []] for seed in range(600)]
    [answers] = call(WRITE, told(lambda _: acts, [first]))
    drawn = [now["chosen"] for now, _ in answers[: len(whole)]]
    assert drawn[0] == drawn[-1] and len({tuple(chosen) for chosen in drawn}) > 20
    words = torch.tensor([now["choice"]["next"] for now, _ in answers[len(whole) :]])
    p, best = distribution(first.logits, temperature=3.0).max(-1)
    deviation = math.sqrt(p * (1 - p) / len(words))
    assert abs((words == best).float().mean() - p) < 4 * deviation < 0.1


def test_only_a_model_with_a_cache_is_alive():
    model, task = load_translator()
    src = torch.tensor([task.encode("The cat sleeps.")])
    explorer = DecodingExplorer(lambda: Cached(model, src), task.tgt_vocab, join="".join, max_len=7)
    about = explorer.alone()["about"]
    assert [about[name] for name in ("src", "longest", "join")] == [src[0].tolist(), 7, ""]
    assert "weights" not in explorer.get_state() and "<script" in explorer.to_html()
    for still in (DecodingExplorer(), DecodingExplorer(lambda: Recomputed(model, src), task.tgt_vocab)):
        assert still.alone() == {} and "<script" not in still.to_html()


def test_a_language_model_is_alive_unless_it_has_hooks():
    explorer = explorer_of_text(0)
    assert "<script" in explorer.to_html()
    hook = explorer._make_decoder().model.register_forward_hook(lambda *_: None)
    assert explorer.alone() == {}
    hook.remove()
    assert explorer.alone()
