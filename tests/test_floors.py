"""The floors of the package: a module imports only from below, and the model knows no pictures."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {
    -1: "_checks fast",
    0: "checkpoints vocabulary masks positions attention config plots probes",
    1: "layers tasks torch_attention",
    2: "transformer",
    3: "training decoding parity",
    4: "measuring progress trained",
    5: "checking widgets notebook environment",
    6: "exercises",
}
FLOOR = {module: floor for floor, modules in FLOORS.items() for module in modules.split()}
DRAWS = {"plots", "notebook", "widgets"}
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
    "notebook.py": "import IPython\nimport matplotlib.pyplot\nfrom lessons.plots.describe import describe",
    "widgets.py": "import anywidget, ipywidgets\nfrom lessons.training import train",
    "environment.py": "import importlib\nfrom lessons.decoding import greedy",
}
VIOLATIONS = [
    ("_checks.py", "from lessons import masks", "is on floor -1 and imports lessons.masks from floor 0"),
    ("masks.py", "import lessons.layers", "is on floor 0 and imports lessons.layers from floor 1"),
    ("masks.py", "from lessons.attention import attend", "is on floor 0 and imports lessons.attention from floor 0"),
    ("masks.py", "from lessons import vocabulary", "is on floor 0 and imports lessons.vocabulary from floor 0"),
    ("masks.py", "from .probes import leaks", "is on floor 0 and imports lessons.probes from floor 0"),
    ("masks.py", "from . import notebook", "is on floor 0 and imports lessons.notebook from floor 5"),
    ("layers.py", "def f():\n    import lessons.tasks", "is on floor 1 and imports lessons.tasks from floor 1"),
    ("layers.py", "if True:\n    from lessons import parity", "is on floor 1 and imports lessons.parity from floor 3"),
    ("plots/bars.py", "from lessons.masks import causal", "is on floor 0 and imports lessons.masks from floor 0"),
    ("plots/bars.py", "from ..masks import causal", "is on floor 0 and imports lessons.masks from floor 0"),
    ("plots/bars.py", "from .. import masks", "is on floor 0 and imports lessons.masks from floor 0"),
    ("checking/a.py", "import lessons.notebook", "is on floor 5 and imports lessons.notebook from floor 5"),
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
