"""Writes the pages that follow from the code into docs/generated before Sphinx reads it: nothing is written twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import api_pages
import decision
import failures
import figure_pages
import measured
import method_pages
import truth

HERE = Path(__file__).resolve().parent.parent
MAKERS = (
    decision.write,
    failures.write,
    measured.write,
    method_pages.write,
    figure_pages.write,
    api_pages.write,
    truth.write,
)


def write_if_new(path: Path, text: str) -> None:
    """Leave a file alone that already says this, so that Sphinx does not read it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(app: Any) -> None:
    """Every generated page; pages of a method that is gone are removed."""
    folder = HERE / "generated"
    kept = set()
    for maker in MAKERS:
        for name, text in maker(folder).items():
            write_if_new(folder / name, text)
            kept.add(folder / name)
    for old in set(folder.rglob("*.md")) - kept:
        old.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Make the pages as soon as the builder stands."""
    app.connect("builder-inited", generate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
