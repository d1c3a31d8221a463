"""ModelStudio in a real JupyterLab: how soon a change is painted, what it sends, and whether memory stays flat.

Painted means: from the press to the first moment after the frame that shows the change. Kernel, JupyterLab and browser
run as a learner has them.
"""

import json
import random
import statistics

from benchmarks import report
from benchmarks.lab import listen, open_cells, open_lab
from lessons.widgets import ModelStudio
from tests.browser import bare
from tests.browser.lab import Lab
from tests.browser.test_every_widget import KEYS, TOUCHABLE

ROUNDS, WARM_UP = 30, 5
FIRSTS = 7  # pictures after a cell, of which the median counts
STEPS = (1_000, 5_000, 10_000)  # after so many changes the memory is taken
SETTLED = 200  # changes before the first measurement: caches are full, code is compiled
GROWTH = {  # what is counted, its unit, and the most of it after the last step beyond what there was after the first
    "objects of the page": ("MB", 1),
    "nodes of the page": ("", 50),
    "listeners of the page": ("", 5),
    "the kernel": ("MB", 5),
    "objects of the kernel": ("", 500),
}
RANDOM_STEPS = 1_000
SIZES = {(64, 2, 12): 33, (128, 4, 32): 100}  # milliseconds, by d_model, layers of each stack, and tokens
PREPARE = """from lessons.config import TransformerConfig
from lessons.pretrained import load_translator
from lessons.transformer import Transformer
from lessons.widgets import ModelStudio

_, task = load_translator()

def studio(d_model, layers, tokens):
    '''Of a model that writes as many tokens as it reads.'''
    words = len(task.src_vocab), len(task.tgt_vocab)
    model = Transformer(TransformerConfig(*words, d_model, 4, layers, d_ff=4 * d_model, max_len=tokens)).eval()
    return ModelStudio(model, task, ' '.join(task.src_vocab.words[20 : 20 + tokens]))"""
SHIPPED = "widget = ModelStudio()\nwidget"
RESIDENT = """import gc, pathlib, resource

gc.collect()
print(int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * resource.getpagesize(), len(gc.get_objects()))"""
CELLS = [PREPARE, SHIPPED, *(f"studio{size}" for size in SIZES), RESIDENT]
SENTENCES = (  # of 12 tokens each, which the model hasn't learned from
    "Does the driver send your map in the library every day?",
    "You do not learn Chinese in the hospital in the afternoon.",
    "Did the manager make your bread in the restaurant yesterday evening?",
    "The lawyer will not teach mathematics in the hotel next Tuesday.",
)
IN_PAGE = """
    const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
    const frame = () => new Promise(requestAnimationFrame);
    const afterPaint = () => new Promise(done => { // called in a frame: messages wait until it is painted
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
    });
    const timed = async (look, act) => {
        await new Promise(done => setTimeout(done, 150 + 17 * Math.random())); // a press comes anywhere in a frame
        const before = look();
        const start = performance.now();
        act();
        while (look() === before && performance.now() - start < 10000) await frame();
        await afterPaint();
        return performance.now() - start;
    };
    const countChanges = () => panel.querySelectorAll('.ms-remove').length;
    const cellOf = (i, tokens) =>
        panel.querySelector(`.ms-zoom [aria-label^="mask"] [data-at="${i % tokens},${(5 * i) % tokens}"]`);
    const press = (element) => {
        element.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, button: 0, buttons: 1}));
        window.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));
    };
"""
CHANGE = f"""async ([tokens, rounds]) => {{ {IN_PAGE}
    panel.querySelector('[data-part="inside"]').click(); // where there is room for one: what is pressed is seen
    const times = [];
    for (let i = 0; i < rounds; i++) {{ // another cell of the mask each time, and afterwards none
        times.push(await timed(countChanges, () => press(cellOf(i, tokens))));
        await timed(countChanges, () => panel.querySelector('[data-part="reset"]').click());
    }}
    return times;
}}"""
TYPE = f"""async ([sentences, rounds]) => {{ {IN_PAGE}
    const look = () => panel.querySelector('[data-part="source"]').textContent;
    const input = panel.querySelector('[data-part="sentence"]');
    const times = [];
    for (let i = 0; i < rounds; i++) times.push(await timed(look, () => {{
        input.value = sentences[i % sentences.length];
        input.dispatchEvent(new Event('input', {{bubbles: true}}));
    }}));
    return times;
}}"""
# Notes when the next picture of the widget is on the screen.
AWAIT_PICTURE = f"""() => {{ {IN_PAGE}
    window.shown = undefined;
    addEventListener('keydown', () => {{ window.started = performance.now(); }}, {{capture: true}});
    const look = async () => {{
        if (!panel.querySelector('.ms-word') || !panel.querySelector('.mm-field canvas'))
            return requestAnimationFrame(look);
        await afterPaint();
        window.shown = performance.now() - window.started;
    }};
    look();
}}"""
MANY = f"""async ([tokens, from, to]) => {{ {IN_PAGE}
    for (let i = from; i < to; i++) {{ press(cellOf(i, tokens)); await frame(); }}
}}"""
TOKENS = 10  # on both sides of the sentence that ModelStudio begins with


def show_alone(lab: Lab, source: str) -> float:
    """Run one cell; no other shows anything. Milliseconds from the key that runs it to the picture."""
    lab.choose("Edit", "Clear Outputs of All Cells")
    lab.page.evaluate(AWAIT_PICTURE)
    lab.run_cell(CELLS.index(source))
    return lab.page.wait_for_function("() => window.shown").json_value()


def measure_first_picture(lab: Lab, *, smoke: bool = False) -> None:
    times = [show_alone(lab, SHIPPED) for _ in range(1 if smoke else FIRSTS)]
    report("ModelStudio, from running the cell to its picture", statistics.median(times), "ms", 300)


def measure_answers(lab: Lab, *, smoke: bool = False) -> None:
    rounds, warm_up, sizes = (2, 0, [min(SIZES)]) if smoke else (ROUNDS, WARM_UP, SIZES)
    for size in sizes:
        show_alone(lab, f"studio{size}")
        d_model, layers, tokens = size
        name = f"ModelStudio, {d_model}, {layers} + {layers}, {tokens} tokens"
        took = lab.page.evaluate(CHANGE, [tokens - 1, rounds + warm_up])[warm_up:]
        report(f"{name}, change", statistics.median(took), "ms", SIZES[size])
    show_alone(lab, SHIPPED)
    took = lab.page.evaluate(TYPE, [SENTENCES, rounds + warm_up])[warm_up:]
    report("ModelStudio, a sentence of 12 tokens, typed to translated", statistics.median(took), "ms", 50)


def measure_messages(lab: Lab, *, smoke: bool = False) -> None:
    """What a change sends, in both directions, while there are more and more of them."""
    count = 2 if smoke else TOKENS
    show_alone(lab, SHIPPED)
    sent = listen(lab)
    lab.page.evaluate(MANY, [TOKENS, 0, count])
    lab.page.wait_for_timeout(500)
    report(f"ModelStudio, messages of a change, of {count}", sum(sent) / count / 1000, "kB", 1)


def memory(lab: Lab) -> list[float]:
    """What GROWTH names, after the garbage of both sides is collected."""
    session = lab.page.context.new_cdp_session(lab.page)
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"]
    document = session.send("Memory.getDOMCounters")
    session.detach()
    resident, objects = map(int, lab.printed(CELLS.index(RESIDENT)).split())
    return [heap / 1e6, document["nodes"], document["jsEventListeners"], resident / 1e6, objects]


def measure_memory(lab: Lab, *, smoke: bool = False) -> None:
    steps = (4, 6, 8) if smoke else STEPS
    show_alone(lab, SHIPPED)
    lab.page.evaluate(MANY, [TOKENS, 0, 2 if smoke else SETTLED])
    memory(lab)  # JupyterLab makes room for its printed answer once
    found, done = [], 0
    for count in steps:
        lab.page.evaluate(MANY, [TOKENS, done, count])
        done = count
        lab.page.wait_for_timeout(1000)
        found.append(memory(lab))
        said = [f"{value:.1f} {unit}".strip() for value, (unit, _) in zip(found[-1], GROWTH.values(), strict=True)]
        print(f"after {count} changes: {', '.join(said)}", flush=True)
    for first, last, (name, (unit, goal)) in zip(found[0], found[-1], GROWTH.items(), strict=True):
        report(f"growth of {name}, change {steps[0]} to {steps[-1]}", last - first, unit, goal)


def measure_steps(lab: Lab, *, smoke: bool = False) -> None:
    """Whatever is done, neither the console nor the kernel complains."""
    show_alone(lab, SHIPPED)
    complaints: list[str] = []
    note = lambda line: complaints.append(line.text) if line.type == "error" else None  # noqa: E731
    lab.page.on("console", note)
    lab.page_errors.clear()
    chance = random.Random(0)
    within = TOUCHABLE.replace(".lw", ".jp-NotebookPanel:not(.lm-mod-hidden) .lw")
    for _ in range(1 if smoke else RANDOM_STEPS // 25):
        bare.act(lab.page, chance, within, KEYS, 24)
    lab.page.wait_for_timeout(1000)
    lab.page.remove_listener("console", note)
    found = [*complaints, *lab.page_errors, *lab.errors()]
    print(*found, sep="\n", end="\n" if found else "")
    report("ModelStudio, complaints in random steps", len(found), "", 1)


def measure_stored() -> None:
    studio = ModelStudio()
    report("ModelStudio, its page that is alive", len(studio.to_html().encode()) / 1e6, "MB", 1.5)
    data, _ = studio._repr_mimebundle_()
    report("ModelStudio, stored in a notebook", len(json.dumps(data).encode()) / 1000, "kB", 20)


def measure(lab: Lab, *, smoke: bool = False) -> None:
    open_cells(lab, CELLS)
    lab.run_cell(CELLS.index(PREPARE))
    for each in (measure_first_picture, measure_answers, measure_messages, measure_memory, measure_steps):
        each(lab, smoke=smoke)


def main(*, smoke: bool = False) -> None:
    measure_stored()
    with open_lab() as lab:
        if lab:
            measure(lab, smoke=smoke)
