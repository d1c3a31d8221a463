"""How long the browser's engine takes for a whole model, after a change and to translate: in Node, processor time."""

import base64
import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks import report
from lessons.config import TransformerConfig
from lessons.pretrained import load_translator
from lessons.transformer import Transformer
from lessons.widgets.front_end import front_end
from lessons.widgets.shared.weights import pack
from tests.widgets.node import find_node

ROUNDS = 30
WORDS = 300  # of the vocabularies
GOALS = {(64, 2, 12): 8, (128, 4, 32): 40}  # milliseconds, by d_model, layers of each stack, and tokens
TRANSLATION_GOAL = 20  # milliseconds
TEXT = "I will buy two red pens at the old shop tomorrow."
MEASURE = """
import fs from "node:fs";
import * as engine from "./engine.mjs";
const { models, rounds } = JSON.parse(fs.readFileSync("told.json"));
const median = (act) => {
  const times = Array.from({ length: rounds }, () => {
    const start = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)];
};
let count = 0;
const changes = () => [{ kind: "block", at: "*", head: count++ % 2, query: 1, key: 0 }]; // another one each time
console.log(JSON.stringify(models.map(({ about, bytes, src, bos, eos }) => {
  const model = engine.readModel(about.config, about.index, Buffer.from(bytes, "base64"));
  const answers = [median(() => engine.run(model, src, src, changes()))];
  return [...answers, median(() => engine.greedy(model, src, changes(), { bos, eos, maxLength: src.length }))];
})));
"""


def measure(models: list[dict], rounds: int) -> list[list[float]]:
    """For each model, the median milliseconds of one pass, and of one greedy sentence."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "engine.mjs").write_text(front_end("shared", "engine.js"), encoding="utf-8")
        (Path(folder) / "measure.mjs").write_text(MEASURE, encoding="utf-8")
        (Path(folder) / "told.json").write_text(json.dumps({"models": models, "rounds": rounds}), encoding="utf-8")
        command = [str(find_node()), "measure.mjs"]
        return json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


def tell(model: Transformer, src: list[int], bos: int = 1, eos: int = -1) -> dict:
    about, numbers = pack(model)
    return {"about": about, "bytes": base64.b64encode(numbers).decode(), "src": src, "bos": bos, "eos": eos}


def main(*, smoke: bool = False) -> None:
    if not find_node():
        print("no Node found: nothing is measured")
        return
    translator, task = load_translator()
    models = [tell(translator, task.encode(TEXT), task.tgt_vocab.bos_id, task.tgt_vocab.eos_id)]
    sizes = {(8, 1, 3): 1000} if smoke else GOALS
    for d_model, layers, tokens in sizes:
        config = TransformerConfig(WORDS, WORDS, d_model, 4, layers, d_ff=4 * d_model)
        models.append(tell(Transformer(config), list(range(3, 3 + tokens))))
    (_, translation), *passes = measure(models, 1 if smoke else ROUNDS)
    report(f"translate a sentence of {len(models[0]['src'])} tokens", translation, "ms", TRANSLATION_GOAL)
    for ((d_model, layers, tokens), goal), (one_pass, sentence) in zip(sizes.items(), passes):
        name = f"d_model {d_model}, {layers} + {layers} layers, {tokens} tokens"
        report(f"{name}, one pass", one_pass, "ms", goal)
        print(f"{f'{name}, a greedy sentence':<56} {sentence:7.2f} ms")
