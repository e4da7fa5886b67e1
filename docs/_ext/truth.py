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

Every definition, theorem, algorithm and experiment of the texts that lowfold was written from: {n} entries.

- {tested} name the tests that check what the entry states; nearly all were read against it. Misprints of the texts are
  tested in their corrected form.
- {remade} are also remade as [figures](figures.md).
- {told} have no test, and a reason.
"""


def _rows() -> list[dict[str, str]]:
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path) -> dict[str, str]:
    """The page, a table for each source."""
    rows = _rows()
    counts = {
        "n": len(rows),
        "tested": sum(bool(row["tests"]) for row in rows),
        "remade": sum(bool(row["figures"]) for row in rows),
        "told": sum(not row["tests"] for row in rows),
    }
    parts = [HEAD.format(**counts)]
    for source, group in groupby(rows, key=lambda row: row["source"]):
        parts.append(f"## {source}\n\n{_table(list(group))}\n")
    return {"truth.md": "\n".join(parts)}


def _table(rows: Sequence[dict[str, str]]) -> str:
    lines = [
        (escape(row["title"]), _code(row["built in"], "src/lowfold/"), _tests(row), _figures(row["figures"]))
        for row in rows
    ]
    return table(("entry", "built in", "tested by", "remade"), lines)


def _tests(row: dict[str, str]) -> str:
    """The tests of an entry, then its remark."""
    return "<br>".join(part for part in (_code(row["tests"], "tests/"), escape(row["remark"])) if part)


def _code(places: str, root: str) -> str:
    return "<br>".join(f"`{_short(place.removeprefix(root))}`" for place in places.split())


def _short(place: str) -> str:
    """`quality/test_ranks.py::test_perfect` as `quality/test_ranks: perfect`, which a narrow column can hold."""
    path, _, name = place.partition("::")
    return f"{path.removesuffix('.py')}: {name.removeprefix('test_').replace('_', ' ')}" if name else path


def _figures(keys: str) -> str:
    number = {one.key: one.number for one in FIGURES}
    return ", ".join(f"[{number[key]}](figures/{key}.md)" for key in keys.split())
