"""How fast a widget reacts in a real JupyterLab, and how much it sends and stores, compared with other packages.

Painted means: from the pointer's press to the first moment after the frame that shows the change.
bertviz and circuitsvis are measured where they are installed (`pip install --no-deps bertviz circuitsvis`).
"""

import importlib.util
import json
import statistics

import torch

from benchmarks import not_measured, report
from benchmarks.lab import listen, open_cells, open_lab
from lessons.widgets import AttentionExplorer
from tests.browser.lab import Lab
from tests.widgets.samples import SAMPLES

ROUNDS, FEW = 40, 5  # clicks, of which the median counts
WARM_UP = 5  # clicks before them
FUNCTION_ANSWERS = "FunctionLab 12×12, toggle to painted, by the kernel"
FRAME = 1000 / 60  # milliseconds
OUR_MASK = "from lessons.widgets import MaskStudio\n\nMaskStudio({size}, {size})"
OUR_FUNCTION = "from lessons.widgets import FunctionLab\n\nFunctionLab(tokens={size})"
# As little as a click through the kernel can be: one number there, one number back.
ECHO = """import anywidget, traitlets

class Echo(anywidget.AnyWidget):
    _esm = '''export default { render({ model, el }) {
        const shown = el.appendChild(document.createElement("div"));
        shown.className = "echo";
        const show = () => { shown.dataset.value = shown.textContent = model.get("back"); };
        shown.addEventListener("pointerdown", () => {
            model.set("there", model.get("there") + 1);
            model.save_changes();
        });
        model.on("change:back", show);
        show();
    } };'''
    there = traitlets.Int(0).tag(sync=True)
    back = traitlets.Int(0).tag(sync=True)

    @traitlets.observe("there")
    def answer(self, change):
        self.back = change.new

Echo()"""
SEABORN = """import ipywidgets, matplotlib.pyplot as plt, numpy as np, seaborn
from IPython.display import display

mask, out, button = np.tri({size}), ipywidgets.Output(), ipywidgets.Button(description="toggle")

def draw(_=None):
    mask[0, 1] = 1 - mask[0, 1]
    out.clear_output(wait=True)
    with out:
        figure, ax = plt.subplots()
        seaborn.heatmap(mask, annot=True, ax=ax)
        display(figure)
        plt.close(figure)

button.on_click(draw)
draw()
ipywidgets.VBox([button, out])"""
CELLS = [
    *(OUR_MASK.format(size=size) for size in (12, 64)),
    OUR_FUNCTION.format(size=12),
    ECHO,
    *(SEABORN.format(size=size) for size in (12, 64)),
]
CLICK = """async ([target, watched, rounds, warmUp]) => {
    const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)') ?? document;
    const painted = () => new Promise(done => { // the next frame is: messages wait for it
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        requestAnimationFrame(() => channel.port2.postMessage(0));
    });
    const look = () => { const e = panel.querySelector(watched); return e && (e.dataset.value ?? e.src); };
    const times = [];
    for (let i = 0; i < rounds + warmUp; i++) {
        await new Promise(done => setTimeout(done, 150));
        const before = look();
        const cell = panel.querySelector(target);
        const start = performance.now();
        cell.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, button: 0, buttons: 1}));
        window.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));
        if (cell.tagName === 'BUTTON') cell.click();
        do await painted(); while (look() === before && performance.now() - start < 10000);
        times.push(performance.now() - start);
    }
    return times.slice(warmUp);
}"""


def show_alone(lab: Lab, source: str, watched: str) -> None:
    """Run one cell and wait for what is `watched`; no other cell shows anything."""
    lab.choose("Edit", "Clear Outputs of All Cells")
    lab.run_cell(CELLS.index(source))
    lab.notebook.locator(watched).first.wait_for()


def click_times(lab: Lab, source: str, target: str, watched: str, rounds: int) -> float:
    """Median milliseconds from the press on `target` to the frame that shows another value of `watched`."""
    show_alone(lab, source, watched)
    return statistics.median(lab.page.evaluate(CLICK, [target, watched, rounds, WARM_UP if rounds > 1 else 0]))


def cell(part: str, row: int, column: int) -> str:
    return f'[data-part="{part}"] [data-at="{row},{column}"]'


def measure_answers(lab: Lab, *, smoke: bool = False) -> None:
    rounds, few, goals = (1, 1, {12: 16 + FRAME}) if smoke else (ROUNDS, FEW, {12: 16 + FRAME, 64: 60})
    for size, goal in goals.items():
        took = click_times(lab, OUR_MASK.format(size=size), cell("allowed", 1, 0), cell("weights", 1, 0), rounds)
        report(f"MaskStudio {size}×{size}, toggle to painted", took, "ms", goal)
    echo = click_times(lab, ECHO, ".echo", ".echo", rounds)
    took = click_times(lab, OUR_FUNCTION.format(size=12), cell("allowed", 1, 0), cell("weights", 1, 0), rounds)
    report(FUNCTION_ANSWERS, took, "ms", 40, peer=f"one number there and back: {echo:.0f} ms")
    for size in goals:
        took = click_times(lab, SEABORN.format(size=size), "button.jupyter-button", ".jp-OutputArea img", few)
        print(f"{f'seaborn in an Output, {size}×{size}, click to painted':<56} {took:7.0f} ms")


def measure_messages(lab: Lab, *, smoke: bool = False) -> None:
    """What one toggle sends, as the content of the messages in both directions."""
    rounds = 1 if smoke else 20
    for name, source in (("MaskStudio", OUR_MASK), ("FunctionLab", OUR_FUNCTION)):
        show_alone(lab, source.format(size=12), cell("allowed", 1, 0))
        sent = listen(lab)
        lab.page.evaluate(CLICK, [cell("allowed", 1, 0), cell("weights", 1, 0), rounds, 0])
        lab.page.wait_for_timeout(500)
        report(f"{name} 12×12, messages of one toggle", sum(sent) / rounds / 1000, "kB", 2)


def measure_stored() -> None:
    for name, make in SAMPLES.items():
        data, _ = make()._repr_mimebundle_()
        report(f"{name}, stored in a notebook", len(json.dumps(data).encode()) / 1000, "kB", 20)


def measure_peers() -> None:
    """12 layers × 12 heads × 12 tokens: what each keeps in the notebook. The peers draw nothing without the network."""
    torch.manual_seed(0)
    layers = list(torch.rand(12, 1, 12, 12, 12).softmax(-1))
    tokens = [f"token{i}" for i in range(12)]
    data, _ = AttentionExplorer(layers, tokens=tokens)._repr_mimebundle_()
    sizes = {"AttentionExplorer": len(json.dumps(data).encode())}
    if importlib.util.find_spec("bertviz"):
        from bertviz import head_view

        sizes["bertviz, head_view"] = len(head_view(layers, tokens, html_action="return").data.encode())
    if importlib.util.find_spec("circuitsvis"):
        from circuitsvis.attention import attention_patterns

        pages = [str(attention_patterns(tokens=tokens, attention=layer[0])) for layer in layers]
        sizes["circuitsvis, attention_patterns, all layers"] = len("".join(pages).encode())
    for name, size in sizes.items():
        print(f"{name:<56} {size / 1000:7.1f} kB stored for 12 layers × 12 heads × 12 tokens")
    missing = [name for name in ("bertviz", "circuitsvis") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"not installed here, and not measured: {', '.join(missing)}")


def main(*, smoke: bool = False) -> None:
    measure_stored()
    measure_peers()
    with open_lab() as lab:
        if lab:
            open_cells(lab, CELLS)
            measure_answers(lab, smoke=smoke)
            measure_messages(lab, smoke=smoke)
        else:
            not_measured(FUNCTION_ANSWERS, "no Chromium")
