"""Source code as a page shows it: in the colors of the notebook's theme, and no word broken at the end of a line."""

from typing import ClassVar

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.style import Style
from pygments.token import Comment, Keyword, Name, Number, Operator, String

NARROW = 88  # characters that a cell of JupyterLab has room for on a screen of 1280 pixels
STEP = 8  # by how many characters a longer line goes on farther to the right
PRE = '<pre style="white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere">'


class Theme(Style):
    """The colors of JupyterLab's editor, light or dark; elsewhere, those of the page."""

    styles: ClassVar = {
        Keyword: "bold var(--jp-mirror-editor-keyword-color)",
        Operator.Word: "bold var(--jp-mirror-editor-operator-color)",
        Name.Function: "var(--jp-mirror-editor-def-color)",
        Name.Class: "var(--jp-mirror-editor-def-color)",
        Name.Decorator: "var(--jp-mirror-editor-meta-color)",
        String: "var(--jp-mirror-editor-string-color)",
        Number: "var(--jp-mirror-editor-number-color)",
        Comment: "italic var(--jp-mirror-editor-comment-color)",
    }


def as_html(source: str) -> str:
    """Python source, without a line break at its ends; a line too long for the page goes on below, indented."""
    formatter = HtmlFormatter(style=Theme, noclasses=True, nowrap=True)
    colored = highlight(source, PythonLexer(), formatter).splitlines(keepends=True)
    return f"{PRE}{''.join(map(_hanging, source.splitlines(), colored))}</pre>"


def _hanging(line: str, colored: str) -> str:
    if len(line) <= NARROW:
        return colored
    margin = len(line) - len(line.lstrip()) + STEP
    return f'<span style="display: block; padding-left: {margin}ch; text-indent: -{margin}ch">{colored}</span>'
