"""One page per figure or table of the source texts, and their list: from the declarations in docs/figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from cache import drawn
from figures import DRAWING, FIGURES
from figures.parts import Figure, Row
from markup import escape, fenced, table
from sphinx.util import logging

log = logging.getLogger(__name__)
DPI = 90

HEAD = """# Figures of the texts, remade

{n} figures and tables of the texts that lowfold was written from, each on a page of its own: the same data, N, k and
parameters where they are printed, ours in a picture and in numbers, what was printed in words, and one sentence on
whether they agree. Random samples are ours: the texts do not give theirs. Parameters that a text does not name are as
they come. The sentences are checked against the numbers whenever these pages are made. "Neighbours kept" is the share
of the ten nearest points in the picture that are among the thirty nearest in truth; "R² along" and "R² across" say how
much of each true coordinate an affine map of the picture gives back. 1 is perfect.

"""


def _draw(one: Figure, path: Path) -> dict[str, Any]:
    made = one.made.draw()
    made.figure.savefig(path, dpi=DPI)
    rows = [{name: v if isinstance(v, str) else float(v) for name, v in row.items()} for row in made.rows]
    return {"rows": rows, "said": list(dict.fromkeys(made.said))}


def _number(value: Any) -> str:
    if isinstance(value, str):
        return escape(value)
    whole = float(value).is_integer() and abs(value) >= 2
    return f"{value:,.0f}" if whole or abs(value) >= 1000 else f"{value:.3f}"


def _rows(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [[_number(row[name]) if name in row else "-" for name in names] for row in rows]
    return table([escape(name) for name in names], lines) if rows else ""


def page(one: Figure, folder: Path) -> str:
    """The page; a sentence that the numbers do not bear out is a warning, so an error."""
    notes = drawn(folder, one.key, lambda path: _draw(one, path), *DRAWING[one.key])
    if not one.made.holds(notes["rows"]):
        log.warning("%s, %s: the numbers no longer bear out the sentence %r", one.text, one.number, one.verdict)
    settings = [("setting", escape(one.setting)), ("printed", escape(one.printed)), ("ours", escape(one.verdict))]
    if one.instead:
        settings.insert(1, ("instead", escape(one.instead)))
    parts = [
        f"# {one.number}: {escape(one.title)}",
        f"{escape(one.text)}, {one.number}. [All figures](../figures.md)",
        f"![{one.title}](../pictures/{one.key}.png)",
        "\n\n".join(f"{name}\n: {words}" for name, words in settings),
        _rows(notes["rows"]),
    ]
    if notes["said"]:
        parts += ["What lowfold said about these data:", fenced("\n".join(notes["said"]), "text")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _listed(figures: Sequence[Figure]) -> str:
    lines = [(f"[{one.number}](figures/{one.key}.md)", escape(one.title), escape(one.verdict)) for one in figures]
    return table(("", "", "ours and what was printed"), lines)


def write(folder: Path) -> dict[str, str]:
    """The list, a table for each text, and the pages."""
    pages = {f"figures/{one.key}.md": page(one, folder) for one in FIGURES}
    if len(pages) != len(FIGURES):
        raise ValueError("two figures have the same text and number")
    parts = [f"## {text}\n\n{_listed(list(group))}\n" for text, group in groupby(FIGURES, key=lambda one: one.text)]
    names = "\n".join(f"figures/{one.key}" for one in FIGURES)
    tree = f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    return {"figures.md": HEAD.format(n=len(FIGURES)) + "\n".join([*parts, tree]), **pages}
