"""Random models, sentences and changes for shared/engine.js, and what torch makes of them.

`cases` draws them, `ANSWERS` is the JavaScript that computes them, `compare` says where both differ.
"""

import base64
import math
import random
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import torch

from lessons import attention
from lessons.attention import split_heads
from lessons.config import TransformerConfig
from lessons.decoding import Recomputed, greedy
from lessons.interventions import KINDS, Change, intervene, places_of
from lessons.layers import Residual
from lessons.transformer import Transformer
from lessons.widgets.shared.weights import pack

BOS, EOS = 1, 2
LONGEST = 7
CLOSE = 1e-4  # of the greatest number of an array, or of 1 where all are smaller
EVEN = 20  # scores of 10,000 that are nearer than this, float32 can't tell apart
TAIL = 0.1  # in float32 torch's GELU has few digits in its tail, as many as the processor gives it; a norm shows them
PLACES = [
    *("*", "encoder.*", "decoder.*", "*.self_attn", "decoder.*.self_attn", "*.0.*", "decoder.*cross_attn"),
    *("encoder.0.self_attn", "decoder.0.self_attn", "decoder.0.cross_attn", "decoder.1.cross_attn"),
    *("encoder.0.feed_forward", "*.feed_forward", "decoder.1.feed_forward", "encoder.1.self_attn"),
    *("decoder.?.*_attn", "*coder.[01].self_attn", "decoder.[!1].cross_attn", "encoder.[0-1].*"),
]
THEMES = [list(KINDS), list(KINDS), ["block", "allow", "hide"], ["allow", "hide"], ["allow"], ["swap_positions"]]

# [{ about, bytes, src, tgt, changes, maxLength }] -> [{ arrays: [[name, shape], …], numbers (base64), ids }]. The
# numbers of all arrays follow each other, as float32; ids are null where maxLength is 0. `engine` is the module.
ANSWERS = """(engine, cases) => {
    const inText = (floats) => {
        const bytes = new Uint8Array(floats.buffer);
        let text = "";
        for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
        return btoa(text);
    };
    return cases.map(({ about, bytes, src, tgt, changes, maxLength }) => {
        const packed = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
        const model = engine.readModel(about.config, about.index, new DataView(packed.buffer));
        const { logits, streams, places } = engine.run(model, src, tgt, changes);
        const length = { bos: BOS, eos: EOS, maxLength };
        const written = maxLength ? engine.greedy(model, src, changes, length) : { ids: null, logits: [] };
        const arrays = [["logits", logits], ...streams.map((stream) => [`stream ${stream.name}`, stream])];
        for (const place of engine.places(model))
            for (const [name, array] of Object.entries(places[place])) arrays.push([`${place} ${name}`, array]);
        written.logits.forEach((data, i) => arrays.push([`step ${i}`, { data, shape: [data.length] }]));
        const numbers = new Float32Array(arrays.reduce((sum, [, { data }]) => sum + data.length, 0));
        let at = 0;
        for (const [, { data }] of arrays) { numbers.set(data, at); at += data.length; }
        return { arrays: arrays.map(([name, { shape }]) => [name, shape]), numbers: inText(numbers), ids: written.ids };
    });
}""".replace("BOS", str(BOS)).replace("EOS", str(EOS))


def cases(count, seed=0):
    """So many of them: what the browser gets, and the model, which stays here."""
    return [draw(random.Random(1000 * seed + i), i) for i in range(count)]


def draw(chance, number, changes=None):
    """changes: these in place of random ones, with a decoder of two layers and the longest greedy sentence."""
    while True:
        extreme = number % 10 == 9
        model = random_model(chance, extreme, num_decoder_layers=2 if changes else chance.choice([None, 1, 2]))
        if changes:
            model.out_proj.bias[EOS] = -100.0
        src = random_sentence(chance, model.config, number)
        tgt = random_sentence(chance, model.config, number // 5, tgt=True)
        kinds, at = chance.choice(THEMES), chance.choice(PLACES)
        drawn = [random_change(chance, model, kinds, at) for _ in range(chance.choice([0, 1, 2, 4, 6]))]
        case = SimpleNamespace(model=model, src=src, tgt=tgt, changes=changes or drawn)
        # torch takes long for a greedy sentence
        case.max_length = LONGEST if changes else 0 if number % 3 else chance.randint(1, LONGEST)
        case.expected = expect(case)
        if not extreme or not is_undecided(case.expected.arrays):
            return case


def random_model(chance, extreme, **options):
    heads = chance.choice([1, 2, 3])
    positions = chance.choice(["sinusoids", "learned", "rotary", None])
    vocabularies = chance.choice([(7, 7), (8, 11)])
    config = TransformerConfig(
        *vocabularies,
        d_model=heads * chance.choice([2, 4] if positions == "rotary" else [1, 2, 3, 4]),
        num_heads=heads,
        num_layers=chance.choice([1, 1, 2]),
        d_ff=chance.choice([1, 5, 16]),
        max_len=chance.choice([LONGEST, 20]),
        norm_first=chance.random() < 0.5,
        final_norm=chance.choice([None, True, False]),
        activation=chance.choice(["relu", "gelu"]),
        positions=positions,
        tie_embeddings=chance.random() < 0.4,
        share_embeddings=vocabularies[0] == vocabularies[1] and chance.random() < 0.5,
        src_pad_id=chance.choice([0, 3]),
        tgt_pad_id=chance.choice([0, 4]),
        **options,
    )
    model = Transformer(config).eval().requires_grad_(False)
    numbers = np.random.default_rng(chance.randrange(2**32))
    half = chance.random() < 0.5
    for name, x in model.named_parameters():
        values = torch.from_numpy(numbers.standard_normal(x.shape, dtype=np.float32)) * (0.5 if x.dim() > 1 else 0.3)
        values = values + 1 if "norm.weight" in name else values
        if extreme and ("q_proj.weight" in name or "linear2.weight" in name):
            values = values * 10_000
        values[torch.from_numpy(numbers.random(x.shape)) < 0.05] *= 1e-6 if half else 0  # float16 has few such numbers
        x.copy_(values.half().float() if half else values)
    return model


def random_sentence(chance, config, number, *, tgt=False):
    """One token, the most tokens, padding in the middle, at the end, and nothing but padding, in turn."""
    pad, size = (config.tgt_pad_id, config.tgt_vocab_size) if tgt else (config.src_pad_id, config.src_vocab_size)
    length = {0: 1, 1: LONGEST}.get(number % 5, chance.randint(2, LONGEST))
    ids = [chance.choice([i for i in range(size) if i != pad]) for _ in range(length)]
    if number % 5 == 2:
        ids[chance.randrange(length)] = pad
    elif number % 5 == 3:
        first = chance.randrange(length)
        ids[first:] = [pad] * (length - first)
    elif number % 25 == 4:
        return [pad] * length
    return [BOS, *ids[1:]] if tgt else ids


def random_change(chance, model, kinds, at):
    """One that this model can have, half of them at `at`; its tokens may lie beyond the sentence."""
    while True:
        kind = chance.choice(kinds)
        needed, more = KINDS[kind]
        end = chance.choice([2, 4, LONGEST + 1])  # so that many meet in the same cells
        fields = {name: chance.randrange(end) for name in ("query", "key", "token", "other")}
        fields["token"] += kind == "force"
        fields |= {
            "at": chance.choice([at, chance.choice(PLACES)]),
            "head": chance.randrange(model.config.num_heads),
            "side": chance.choice(["src", "tgt"]),
            "word": chance.randrange(model.config.tgt_vocab_size),
        }
        names = needed | {name for name in sorted(more) if chance.random() < 0.5}
        change = Change(kind, **{name: fields[name] for name in names})
        try:
            with intervene(model, [change]):
                return change
        except ValueError:  # the model has no such place, or no positions
            kinds, at = list(KINDS), "*"


@contextmanager
def watched(model):
    """Inside `with`, what the model computes is noted, under the names that the engine has for it."""
    found = {}
    attended, streams = [], []
    attend, after = attention.attend, Residual.after

    def note_attention(q, k, v, allowed, **options):
        scores = q / math.sqrt(q.size(-1)) @ k.transpose(-2, -1)
        shown = torch.ones_like(scores) if allowed is None else allowed.expand_as(scores).float()
        output, weights = attend(q, k, v, allowed, **options)
        attended.append({"scores": scores, "allowed": shown, "weights": weights, "q": q, "k": k, "v": v})
        return output, weights

    def note_stream(*given):
        streams.append(after(*given))
        return streams[-1]

    def note(name, part=lambda x: x):
        def hook(module, inputs, output):
            found[name] = part(output)

        return hook

    def note_heads(place, heads):
        def hook(module, inputs):
            found[f"{place} heads"] = split_heads(inputs[0], heads)

        return hook

    with ExitStack() as stack:
        stack.enter_context(patch.object(attention, "attend", note_attention))
        stack.enter_context(patch.object(Residual, "after", note_stream))
        for name in ("src_embedding", "tgt_embedding"):
            stack.callback(getattr(model, name).register_forward_hook(note(f"stream {name}")).remove)
        for part in ("encoder", "decoder"):
            if (norm := getattr(model, part).norm) is not None:
                stack.callback(norm.register_forward_hook(note(f"stream {part}.norm")).remove)
        for place in places_of(model):
            part, layer, name = place.split(".")
            module = getattr(getattr(model, part).layers[int(layer)], name)
            if name == "feed_forward":
                hook = note(f"{place} output")
                inner = module.linear2.register_forward_pre_hook(note_input(found, f"{place} hidden"))
            else:
                hook = note(f"{place} output", lambda output: output[0])
                inner = module.out_proj.register_forward_pre_hook(note_heads(place, module.num_heads))
            stack.callback(inner.remove)
            stack.callback(module.register_forward_hook(hook).remove)
        yield found
        for place, x in zip(places_of(model), streams, strict=True):
            found[f"stream {place}"] = x
        attentions = [place for place in places_of(model) if "attn" in place]
        for place, arrays in zip(attentions, attended, strict=True):
            found.update({f"{place} {name}": x for name, x in arrays.items()})


def note_input(found, name):
    def hook(module, inputs):
        found[name] = inputs[0]

    return hook


@torch.no_grad()
def expect(case):
    """All arrays by name, and the greedy sentence."""
    model = case.model
    src, tgt = torch.tensor([case.src]), torch.tensor([case.tgt])
    with intervene(model, case.changes):
        with watched(model) as found:
            found["logits"] = model(src, tgt, need_weights=True)[0]
        special = SimpleNamespace(pad_id=model.config.tgt_pad_id, bos_id=BOS, eos_id=EOS)
        steps = list(greedy(Recomputed(model, src), special, max_len=case.max_length)) if case.max_length else []
    found |= {f"step {i}": step.logits for i, step in enumerate(steps)}
    ids = steps[-1].ids[0].tolist() if steps else None
    return SimpleNamespace(arrays={name: x[0].numpy() for name, x in found.items()}, ids=ids)


def is_undecided(arrays):
    """Whether two allowed keys of a query have nearly the same score, or a token has only small hidden units."""
    for name, hidden in arrays.items():
        if name.endswith(" hidden"):
            largest = np.abs(hidden).max(axis=-1)
            if ((largest > 0) & (largest < TAIL)).any():
                return True
    for name, scores in arrays.items():
        if name.endswith(" scores") and scores.shape[-1] > 1:
            allowed = arrays[name.replace("scores", "allowed")]
            second, first = np.moveaxis(np.sort(np.where(allowed, scores, -np.inf), axis=-1), -1, 0)[-2:]
            if (first[second > -np.inf] - second[second > -np.inf] < EVEN).any():
                return True
    return False


def told(case):
    """What the browser gets."""
    about, numbers = pack(case.model)
    changes = [{name: x for name, x in asdict(change).items() if x is not None} for change in case.changes]
    return {
        **{"about": about, "bytes": base64.b64encode(numbers).decode(), "src": case.src, "tgt": case.tgt},
        **{"changes": changes, "maxLength": case.max_length},
    }


def compare(case, answer):
    """In words, where the engine's answer is not torch's."""
    numbers = np.frombuffer(base64.b64decode(answer["numbers"]), dtype=np.float32)
    sizes = np.cumsum([0, *(math.prod(shape) for _, shape in answer["arrays"])])
    arrays = {name: numbers[a:b].reshape(s) for (name, s), a, b in zip(answer["arrays"], sizes, sizes[1:])}
    expected = case.expected
    wrong = [] if answer["ids"] == expected.ids else [f"ids {answer['ids']} for {expected.ids}"]
    if arrays.keys() != expected.arrays.keys():
        wrong.append(f"names {sorted(arrays.keys() ^ expected.arrays.keys())}")
    for name in arrays.keys() & expected.arrays.keys():
        ours, torchs = arrays[name], expected.arrays[name]
        if ours.shape != torchs.shape:
            wrong.append(f"{name} {ours.shape} for {torchs.shape}")
        elif not is_close(ours, torchs):
            wrong.append(name)
    return wrong


def is_close(ours, torchs):
    finite = np.abs(torchs[np.isfinite(torchs)])
    limit = CLOSE * max(1.0, finite.max(initial=0))
    with np.errstate(invalid="ignore"):
        return bool(((ours == torchs) | (np.abs(ours - torchs) <= limit)).all())


def seen(all_cases):
    """How often each option and each kind of change occurs."""
    options = Counter((name, x) for case in all_cases for name, x in asdict(case.model.config).items())
    return options + Counter(("kind", change.kind) for case in all_cases for change in case.changes)
