"""What Sphinx is told. Nothing on the site comes from elsewhere: no script, no font, no style sheet."""

import re

from latex2mathml.converter import convert

from lessons import wording

project = wording.worded("The Transformer from the inside")
author = wording.worded("the authors of the course")
copyright = wording.worded("text CC BY 4.0, code MIT")
language = wording.language()
NAMES = {"en": "English", "zh_CN": "中文"}
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_static"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_heading_slug_func = "tools.site.conf.slug"
suppress_warnings = ["mystnb.mime_priority", "myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["widgets.css", "site.css"]
html_js_files = [("host.js", {"type": "module"})]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_favicon = "_static/icon.svg"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def slug(heading):
    """The anchor of a heading, as JupyterLab makes it."""
    return re.sub(r"\s", "-", heading)


def inline_math(translator, node):
    translator.body.append(convert(node.astext()))
    raise_skip()


def block_math(translator, node):
    translator.body.append(convert(node.astext(), display="block"))
    raise_skip()


def raise_skip():
    from docutils.nodes import SkipNode

    raise SkipNode


def as_written(app, what, name, obj, options, lines):
    """The docstrings are plain text: their lines stay as they are."""
    lines[:] = ["::", "", *(f"   {line}" for line in lines), ""] if any(lines) else lines


def level_of_captions(app, page, template, context, doctree):
    """A caption of the contents is a heading, and a heading has a level."""
    for part in ("body", "furo_navigation_tree"):
        context[part] = context.get(part, "").replace('role="heading">', 'role="heading" aria-level="2">')


def styles_of_notebooks_on_notebooks(app, page, template, context, doctree):
    """myst-nb adds its style sheet to every page."""
    if not page.startswith("notebooks/"):
        sheets = context["css_files"]
        context["css_files"] = [sheet for sheet in sheets if "mystnb" not in str(getattr(sheet, "filename", sheet))]


def other_languages(app, page, template, context, doctree):
    """The same page in the other languages: a line above the text."""
    up = "../" * (page.count("/") + (language != wording.ENGLISH))
    links = [
        f'<a href="{up}{"" if each == wording.ENGLISH else f"{each}/"}{page}.html" '
        f'lang="{each.replace("_", "-")}" hreflang="{each.replace("_", "-")}">{NAMES[each]}</a>'
        for each in wording.available()
        if each != language
    ]
    context["body"] = f'<p class="course-languages">{" ".join(links)}</p>{context.get("body", "")}'


def setup(app):
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("autodoc-process-docstring", as_written)
    app.connect("html-page-context", styles_of_notebooks_on_notebooks)
    app.connect("html-page-context", other_languages)
    app.connect("html-page-context", level_of_captions, priority=900)  # after the theme has made them
