"""The data of a session on disk: one folder with the matrix, the columns kept aside, and what they are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 1_000_000  # rows that a session works with; of more, a random part, which is said


@dataclass(frozen=True)
class Stored:
    """What is known of the data beside their numbers.

    source   where they come from: {"kind": "set", ...} or {"kind": "file", ...}
    columns  names of the columns of X
    aside    names of the columns kept aside, each with a file of its own
    roles    name -> role, of every column that is not simply data
    total    rows of the source; `rows` of them are here, drawn at random with seed 0 where fewer
    dropped  rows left out because a value was missing
    reader   name of the reader and those of its options that are used
    stacked  columns that the reader keeps aside and that were made data
    """

    source: dict[str, Any]
    columns: list[str]
    aside: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    total: int = 0
    dropped: int = 0
    missing: str = "keep"
    matrix: bool = False
    shape: list[int] = field(default_factory=list)
    reader: list[str] = field(default_factory=list)
    stacked: list[str] = field(default_factory=list)

    def write(self, folder: Path, X: NDArray[Any], aside: dict[str, NDArray[Any]]) -> None:
        """Everything into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "X.npy", np.ascontiguousarray(X), allow_pickle=False)
        for number, name in enumerate(self.aside):
            values = aside[name]
            np.save(folder / f"aside{number}.npy", values.astype(str) if values.dtype.kind == "O" else values)
        (folder / "stored.json").write_text(json.dumps(asdict(self)), encoding="utf-8")


def stored(folder: Path) -> Stored:
    """What `write` wrote."""
    return Stored(**json.loads((folder / "stored.json").read_text(encoding="utf-8")))


def matrix(folder: Path) -> NDArray[Any]:
    """The data, mapped into memory: only what is looked at is read."""
    return np.asarray(np.load(folder / "X.npy", mmap_mode="r", allow_pickle=False))


def column(folder: Path, name: str) -> NDArray[Any] | None:
    """One column by name, of the data or kept aside; None where there is none."""
    known = stored(folder)
    if name in known.aside:
        return np.asarray(np.load(folder / f"aside{known.aside.index(name)}.npy", allow_pickle=False))
    return np.ascontiguousarray(matrix(folder)[:, known.columns.index(name)]) if name in known.columns else None


def labels(folder: Path) -> NDArray[Any] | None:
    """The first column whose role is label, which is what supervised methods see."""
    known = stored(folder)
    first = next((name for name in known.aside if known.roles.get(name) == "label"), None)
    return None if first is None else column(folder, first)
