"""The floors of the package: a module imports only from below, and the model knows no pictures."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tools.imports import imports_among, modules

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {
    -1: "_checks fast source wording",
    0: "checkpoints vocabulary masks positions attention config plots probes recorder",
    1: "layers tasks tiled torch_attention costs mask_arguments",
    2: "transformer",
    3: "training decoding interventions parity",
    4: "evaluation progress pretrained language_model parallel",
    5: "checking widgets display environment train",
    6: "exercises",
}
FLOOR = {module: floor for floor, modules in FLOORS.items() for module in modules.split()}
DRAWS = {"plots", "display", "widgets"}
MODEL = set(FLOOR) - DRAWS - {"checking", "exercises", "environment"}
SCREEN = {"matplotlib", "seaborn", "ipywidgets", "IPython", "anywidget"}


def imports(code, package):
    """All that a file imports, with its full name; `package` is the dotted name of the folder it lies in."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            if source == "lessons":
                yield from (f"lessons.{alias.name}" for alias in node.names)
            else:
                yield source


def violations(folder):
    """What the files of the package `lessons` in this folder import against the rules, in sentences."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        module = name.parts[0].removesuffix(".py")
        found = sorted(set(imports(path.read_text(encoding="utf-8"), ".".join(["lessons", *name.parts[:-1]]))))
        if module == "__init__":
            yield from (f"{name} imports {imported}; it may import nothing" for imported in found)
        elif module not in FLOOR:
            yield f"{name} has no floor; give {module} one in tests/test_floors.py"
        else:
            yield from (f"{name} {sentence}" for imported in found for sentence in judge(module, imported))


def judge(module, imported):
    package, _, rest = imported.partition(".")
    if package == "lessons":
        target = rest.split(".")[0]
        if target not in FLOOR:
            yield f"imports {imported}, which has no floor"
        elif target != module and FLOOR[target] >= FLOOR[module]:
            yield f"is on floor {FLOOR[module]} and imports {imported} from floor {FLOOR[target]}"
    elif package in SCREEN and module in MODEL:
        yield f"belongs to the model and imports {imported}"
    elif package == "matplotlib" and module not in DRAWS:
        yield f"draws nothing and imports {imported}"


def test_each_module_imports_from_below():
    assert not list(violations(ROOT / "lessons"))


def test_the_files_are_found():
    names = {path.name for path in (ROOT / "lessons").rglob("*.py")}
    assert {"masks.py", "attention.py", "heatmaps.py"} <= names


ALLOWED = {
    "__init__.py": '"""Nothing."""',
    "_checks.py": "from torch import Tensor",
    "vocabulary.py": "import math\nimport torch.nn as nn\nfrom torch import Tensor",
    "layers.py": "from lessons import _checks, masks\nfrom lessons.attention import attend",
    "transformer.py": "import lessons.layers\nfrom . import masks\nfrom .vocabulary import Vocabulary",
    "plots/__init__.py": "from lessons.plots.curves import plot\nfrom . import heatmaps",
    "plots/curves.py": "import matplotlib.pyplot as plt\nimport seaborn\nfrom .heatmaps import size",
    "plots/heatmaps.py": "from matplotlib.axes import Axes\nfrom ..plots import describe",
    "exercises/masking.py": "from lessons import masks\nfrom lessons.checking.engine import Exercise",
    "display.py": "import IPython\nimport matplotlib.pyplot\nfrom lessons.plots.describe import describe",
    "widgets.py": "import anywidget, ipywidgets\nfrom lessons.training import train",
    "environment.py": "import importlib\nfrom lessons.decoding import greedy",
}
VIOLATIONS = [
    ("_checks.py", "from lessons import masks", "is on floor -1 and imports lessons.masks from floor 0"),
    ("masks.py", "import lessons.layers", "is on floor 0 and imports lessons.layers from floor 1"),
    ("masks.py", "from lessons.attention import attend", "is on floor 0 and imports lessons.attention from floor 0"),
    ("masks.py", "from lessons import vocabulary", "is on floor 0 and imports lessons.vocabulary from floor 0"),
    ("masks.py", "from .probes import leaks", "is on floor 0 and imports lessons.probes from floor 0"),
    ("masks.py", "from . import display", "is on floor 0 and imports lessons.display from floor 5"),
    ("layers.py", "def f():\n    import lessons.tasks", "is on floor 1 and imports lessons.tasks from floor 1"),
    ("layers.py", "if True:\n    from lessons import parity", "is on floor 1 and imports lessons.parity from floor 3"),
    ("plots/bars.py", "from lessons.masks import causal", "is on floor 0 and imports lessons.masks from floor 0"),
    ("plots/bars.py", "from ..masks import causal", "is on floor 0 and imports lessons.masks from floor 0"),
    ("plots/bars.py", "from .. import masks", "is on floor 0 and imports lessons.masks from floor 0"),
    ("checking/a.py", "import lessons.display", "is on floor 5 and imports lessons.display from floor 5"),
    ("training.py", "import lessons.other", "imports lessons.other, which has no floor"),
    ("training.py", "import lessons", "imports lessons, which has no floor"),
    ("attention.py", "import matplotlib.pyplot as plt", "belongs to the model and imports matplotlib.pyplot"),
    ("probes.py", "def f():\n    import seaborn", "belongs to the model and imports seaborn"),
    ("tasks.py", "from IPython.display import SVG", "belongs to the model and imports IPython.display"),
    ("decoding.py", "import ipywidgets", "belongs to the model and imports ipywidgets"),
    ("parity.py", "import anywidget", "belongs to the model and imports anywidget"),
    ("exercises/a.py", "from matplotlib import pyplot", "draws nothing and imports matplotlib"),
    ("environment.py", "import matplotlib", "draws nothing and imports matplotlib"),
    ("__init__.py", "import math", "imports math; it may import nothing"),
    ("__init__.py", "from lessons.masks import causal", "imports lessons.masks; it may import nothing"),
    ("strange.py", "", "has no floor; give strange one in tests/test_floors.py"),
    ("strange/inner.py", "import math", "has no floor; give strange one in tests/test_floors.py"),
]


def build(folder, files):
    for name, code in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(code)


def test_the_checker_accepts_what_is_allowed(tmp_path):
    build(tmp_path, ALLOWED)
    assert not list(violations(tmp_path))


@pytest.mark.parametrize(("name", "code", "sentence"), VIOLATIONS)
def test_the_checker_sees_each_violation(tmp_path, name, code, sentence):
    build(tmp_path, ALLOWED | {name: code})
    assert list(violations(tmp_path)) == [f"{name} {sentence}"]


def graph_of(package):
    return imports_among(modules(package))


def circle(graph):
    """The modules of a circle of imports, in their order; empty if there is none.

    A circle is one wherever the import stands: within a function, or under TYPE_CHECKING.
    """
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def strangers(graph):
    """Who imports from the folder of a widget, but for itself and the list of all widgets."""
    for name, imported in sorted(graph.items()):
        for target in sorted(imported):
            owner = ".".join(target.split(".")[:3])
            of_widget = owner.startswith("lessons.widgets.") and f"{owner}.widget" in graph
            if of_widget and name != "lessons.widgets" and not f"{name}.".startswith(f"{owner}."):
                yield f"{name} imports {target}"


@pytest.fixture(scope="module")
def graph():
    return graph_of(ROOT / "lessons")


def test_no_imports_go_in_a_circle(graph):
    assert circle(graph) == []


def test_a_widget_is_imported_from_its_own_folder_and_the_list_alone(graph):
    assert "lessons.widgets.mask_studio.widget" in graph["lessons.widgets"]
    assert list(strangers(graph)) == []


CIRCLES = [
    {"a.py": "from lessons import b", "b.py": "from lessons.a import f"},
    {"a.py": "import lessons.b", "b.py": "def f():\n    from . import a"},
    {"a.py": "from .b import f", "b.py": "if TYPE_CHECKING:\n    from lessons.a import A"},
    {"a/__init__.py": "from lessons.a.inner import f", "a/inner.py": "from lessons.a import g"},
    {"a/one.py": "from .two import f", "a/two.py": "from ..b import f", "b.py": "from lessons.a import one"},
]


@pytest.mark.parametrize("files", CIRCLES)
def test_the_checker_sees_each_circle(tmp_path, files):
    build(tmp_path / "lessons", files)
    assert circle(graph_of(tmp_path / "lessons"))


def test_the_checker_sees_a_widget_that_borrows_from_another(tmp_path):
    package = tmp_path / "lessons"
    one = {f"widgets/one/{name}": "" for name in ("__init__.py", "widget.py", "rules.py")}
    files = one | {"widgets/one/widget.py": "from lessons.widgets.one import rules"}
    build(package, files | {"widgets/__init__.py": "from lessons.widgets.one.widget import One"})
    assert list(strangers(graph_of(package))) == []
    build(package, {"display.py": "import lessons.widgets.one"})
    build(package, {"widgets/two/widget.py": "from lessons.widgets.one.rules import f"})
    assert list(strangers(graph_of(package))) == [
        "lessons.display imports lessons.widgets.one",
        "lessons.widgets.two.widget imports lessons.widgets.one.rules",
    ]
