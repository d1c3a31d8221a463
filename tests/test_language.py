"""The voice of the course: plain, modern, American English in whatever a reader meets."""

import ast
import io
import re
import tokenize
from functools import cache, partial
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
MOST_TICS = 5  # per 10,000 words
MOST_WORDS = 90  # of a paragraph

TICS = re.compile(
    r"""
      \b (  # looked for at the beginnings of words only
      one \s (cannot | can't | can \s (see|tell|say) | needs | wants | has \s to | must | knows | writes | reads)
    | (is|are|was|were) \s (not \s)? to \s (be|predict|learn|write|do|have|become|look|go)
    | (has|have) \s to \s be \s done | to \s be \s (had|used|learned|seen) \b
    | may \s (not \s)? look | looks? \s (at \s)? (itself|themselves|each \s other) | looked \s at \s by
    | mend (s|ed|ing)? \b
    | in \s use \b | at \s hand \b | (hand|put|written|stands?) \s beside | beside \s (it|them|the)
    | (takes?|taken) \s [\w\s]{1,20} away \b | taken \s back | laid \s side | as \s good \s as \b
    | (rightly|wrongly) \b | two \s orders \b | (begin|end|begin \s and \s end) \s marks? \b
    | what \s becomes \s of | (nothing|anything) \s is \s to
    | stand(s|ing)? \s (at|there|in|on|before|after|where|beside|alone|under|next) \b | as \s it \s stands
    | (lies|lying) \s (at|in|on|between|off|under|there|far|beside|before) \b
    | turn (s|ed)? \s (by|around|in \s pairs|queries|keys|q\b|and) | (is|are) \s turned \b
    | shares? \s of \b | the \s share \b
    | go (es)? \s on \s (from|with|to) | (on|others?) \s (on \s)? another \s machine
    | so \s many \b | parted \b | hinder | whence | hereby | thereby | nobody \b | whoever \b
    | the \s house \b
    ) | , \s for \s (it|they|he|there|nothing|no|torch|which) \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
BRITISH = re.compile(
    r"""
      \b (?! (advis|aris|compris|compromis|concis|demis|devis|disguis|enterpris|exercis|expertis|improvis|likewis|nois|
              otherwis|pois|prais|precis|premis|pris|promis|rais|revis|ris|supervis|surpris|televis|wis) (e|es|ed) \b )
      [a-z]{2,} is (e|es|ed|ation|ations) \b
    | \b \w* (colour|behaviour|neighbour|favour|honour|labour|flavour|rumour|harbour|endeavour) \w*
    | \b (grey|centre|metre|theatre|fibre) s? \b | \b \w* (analys|paralys|catalys) (e|ed|ing) \b
    | \b (labell|modell|travell|cancell|signall|channell|levell) (ed|ing|er) \b
    | \b (licence|defence|offence|programme|judgement|artefact|whilst|amongst|learnt|spelt|burnt|dreamt|cheque) s? \b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def of_markdown():
    pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "cards/*.md", ".github/**/*.md"]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for page in pages for path in sorted(ROOT.glob(page))}


def of_notebooks():
    """The prose of each lesson. A card is judged as a file of its own."""
    return {
        path.name: "\n\n".join(
            cell.source
            for cell in nbformat.v4.reads(path.read_text("utf-8")).cells
            if cell.cell_type == "markdown" and cell.id != "in-a-hurry"
        )
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    }


def of_python(folder):
    """Docstrings, comments, and other strings that have a word in them and a blank: messages, hints, labels."""
    texts = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        source = path.read_text("utf-8")
        strings = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
        said = [text for text in strings if isinstance(text, str) and re.search(r"\w \w", text)]
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
        texts[str(path.relative_to(ROOT))] = "\n".join(said + comments)
    return texts


def of_scripts():
    """Comments and strings of the widgets' JavaScript that have words in them."""
    said = re.compile(r"""//.*|/\*.*?\*/|"[^"\n]*\w \w[^"\n]*"|`[^`]*\w \w[^`]*`""", re.S)
    return {
        str(path.relative_to(ROOT)): "\n".join(said.findall(path.read_text("utf-8")))
        for path in sorted((ROOT / "lessons/widgets").rglob("*.js"))
    }


GROUPS = {
    "pages": of_markdown,
    "notebooks": of_notebooks,
    "lessons": partial(of_python, "lessons"),
    "benchmarks": partial(of_python, "benchmarks"),
    "tools": partial(of_python, "tools"),
    "scripts": of_scripts,
}


@cache
def texts(group):
    """Read when they are needed: every worker imports this file, and one of them runs its tests."""
    return GROUPS[group]()


def count_words(text):
    return len(re.findall(r"[A-Za-z][\w'’]*", text))


@pytest.mark.parametrize("group", GROUPS)
def test_tics_are_rare(group):
    found = [
        f"{name}: …{text[max(0, hit.start() - 40) : hit.end() + 40]!r}…"
        for name, text in texts(group).items()
        for hit in TICS.finditer(text)
    ]
    words = sum(map(count_words, texts(group).values()))
    rate = 10_000 * len(found) / words
    assert rate <= MOST_TICS, f"{rate:.1f} in 10,000 words, expected at most {MOST_TICS}:\n" + "\n".join(found)


@pytest.mark.parametrize("group", GROUPS)
def test_spelling_is_american(group):
    assert {name: hits for name, text in texts(group).items() if (hits := {m[0] for m in BRITISH.finditer(text)})} == {}


@pytest.mark.parametrize("group", ["pages", "notebooks"])
def test_paragraphs_are_short(group):
    for name, text in texts(group).items():
        outside_code = re.sub(r"```.*?```|\$\$.*?\$\$|<pre>.*?</pre>", "", text, flags=re.S)
        for paragraph in re.split(
            r"\n\s*\n|\n(?=\s*(?:[-*|>]|\d+\.)\s?)|</?(?:p|br|li|summary|details)>", outside_code
        ):
            assert count_words(paragraph) <= MOST_WORDS, (name, paragraph)
