"""Which module of a package imports which, as its source says."""

import ast
from collections.abc import Iterator
from pathlib import Path


def modules(*packages: Path) -> dict[str, Path]:
    """The file of each module in these folders, by its dotted name."""
    paths = [(package, path) for package in packages for path in sorted(package.rglob("*.py"))]
    return {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for package, path in paths
    }


def imports_among(known: dict[str, Path]) -> dict[str, set[str]]:
    """For each of these modules, which of them it imports, also within a function or under TYPE_CHECKING."""
    return {name: set(_imported(name, path, known)) for name, path in known.items()}


def _imported(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:  # lint and tests say where
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            found = {f"{source}.{alias.name}" for alias in node.names} & known.keys()
            yield from found
            if source in known and len(found) < len(node.names):
                yield source
