"""The list of what the source texts contain, from docs/truth.csv: where each entry is built, tested and remade."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from figures import FIGURES
from markup import escape, table

LIST = Path(__file__).resolve().parent.parent / "truth.csv"

HEAD = """# Entries of the source texts

Every definition, theorem, algorithm and experiment of the texts that lowfold was written from, {n} entries. Of {named}
a test is named that checks them: some were written for the entry (tests/texts), the others were matched by what the
entry asks and what the test is called. Of the rest the part of the code was found by the words of the title and the
chapter: it says where to look, not that the entry is built or tested to the letter. {remade} entries are remade as
figures; {none} have not been looked at.
"""


def _rows() -> list[dict[str, str]]:
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path) -> dict[str, str]:
    """The page, a table for each source."""
    rows = _rows()
    counts = {
        "n": len(rows),
        "named": sum(bool(row["these tests check it"]) for row in rows),
        "remade": sum(bool(row["figures"]) for row in rows),
        "none": sum(not any(_places(row)) for row in rows),
    }
    parts = [HEAD.format(**counts)]
    for source, group in groupby(rows, key=lambda row: row["source"]):
        parts.append(f"## {source}\n\n{_table(list(group))}\n")
    return {"truth.md": "\n".join(parts)}


def _places(row: dict[str, str]) -> list[str]:
    return [row[name] for name in ("home of its topic", "tests", "figures", "why not")]


def _table(rows: Sequence[dict[str, str]]) -> str:
    lines = [
        (escape(row["title"]), _code(row["home of its topic"]), _tests(row), _figures(row["figures"])) for row in rows
    ]
    return table(("entry", "home of its topic", "tests", "remade"), lines)


def _code(words: str) -> str:
    return "<br>".join(f"`{word}`" for word in words.split())


def _tests(row: dict[str, str]) -> str:
    if row["why not"]:
        return escape(row["why not"])
    if row["these tests check it"]:
        return _code(row["tests"])
    return f"by topic: {_code(row['tests'])}" if row["tests"] else "not looked at"


def _figures(keys: str) -> str:
    number = {one.key: one.number for one in FIGURES}
    return ", ".join(f"[{number[key]}](figures/{key}.md)" for key in keys.split())
