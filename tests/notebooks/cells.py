"""The cells of the lessons: which there are, and which names they read and define."""

import ast
import builtins
import re
import symtable
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
NOTEBOOKS = {path.stem: nbformat.v4.reads(path.read_text(encoding="utf-8")) for path in PATHS}
CHECK = re.compile(r"exercises\.(\w+)\.check\((\w+)\)")
HELP = re.compile(r"exercises\.(\w+)\.help\(\)")
BEST = re.compile(r"exercises\.(\w+)\.best\((\w+)\)")


def code_cells(name):
    return [cell for cell in NOTEBOOKS[name].cells if cell.cell_type == "code"]


def is_stub(cell):
    """Whether the learner writes in this cell."""
    return "exercise" in cell.metadata.get("tags", [])


def is_of_an_exercise(cell):
    """Whether the cell is a stub, a check or a help."""
    return is_stub(cell) or bool(CHECK.fullmatch(cell.source) or HELP.fullmatch(cell.source))


def learner_name(cell):
    """The function, class or answer that the learner writes in a stub."""
    return re.search(r"^(?:def |class )?(\w+)", cell.source.strip(), re.M).group(1)


def defines(source):
    """The names of the notebook that a cell sets: it assigns, imports or defines them."""
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def imports(source):
    """The names of the notebook that a cell imports."""
    return {
        symbol.get_name() for symbol in symtable.symtable(source, "cell", "exec").get_symbols() if symbol.is_imported()
    }


def only_imports(source):
    """What a cell imports, without what it does."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return ast.unparse(tree)


def reads(source):
    """The names of the notebook that a cell reads, also within its functions."""
    return set(_reads(symtable.symtable(source, "cell", "exec"))) - set(dir(builtins))


def _reads(table):
    of_notebook = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (of_notebook or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _reads(inner)


def needed_for(cells, wanted):
    """The cells at the places `wanted`, and of those before them the last that set the names which these need."""
    needed = set(wanted)
    names = set()
    for place in range(max(wanted, default=-1), -1, -1):
        source = cells[place].source
        if place in needed or (defines(source) & names and not CHECK.fullmatch(source)):
            needed.add(place)
            names = (names - defines(source)) | _needs(source)
    return [cells[place] for place in sorted(needed)]


def _needs(source):
    """The names that a cell reads before it sets them itself."""
    needed, known = set(), set()
    for statement in _statements(ast.parse(source).body):
        text = ast.unparse(statement)
        needed |= reads(text) - known
        known |= defines(text)
    return needed


def _statements(body):
    """One after the other, those inside `with` and `for`, too."""
    for statement in body:
        match statement:
            case ast.With():
                yield from (ast.Expr(item.context_expr) for item in statement.items)
                yield from _statements(statement.body)
            case ast.For():
                yield ast.fix_missing_locations(ast.Assign([statement.target], statement.iter))
                yield from _statements(statement.body)
            case _:
                yield statement
