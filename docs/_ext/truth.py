"""The list of what the source texts contain, from docs/truth.csv: which part of the code their topic belongs to."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

from markup import escape, table

LIST = Path(__file__).resolve().parent.parent / "truth.csv"

HEAD = """# Entries of the source texts

Every definition, theorem, algorithm and experiment of the texts that lowfold was written from, {n} entries: the part of
the code that their topic belongs to, and its tests. The homes were found by the words of the title and the chapter, not
by reading each entry again: a home says where to look, not that the entry is built or tested to the letter. {none}
entries have not been looked at.
"""


def write(folder: Path) -> dict[str, str]:
    """The page, a table for each source."""
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    parts = [HEAD.format(n=len(rows), none=sum(not home for *_, home, _ in rows))]
    for source, group in groupby(rows, key=lambda row: row[0]):
        lines = [(escape(title), _file(home), _file(tests)) for _, title, home, tests in group]
        parts.append(f"## {source}\n\n{table(('entry', 'home of its topic', 'tests there'), lines)}\n")
    return {"truth.md": "\n".join(parts)}


def _file(path: str) -> str:
    return f"`{path}`" if path else "not looked at"
