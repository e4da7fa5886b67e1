"""The data of a session on disk: one folder with the matrix, the columns kept aside, and what they are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 1_000_000  # rows that a session works with; of more, a random part, which is said
# Which rows of the source are here, where it is not all of them; centre and scale that were taken off the columns.
MORE = ("rows", "scaling")


@dataclass(frozen=True)
class Stored:
    """What is known of the data beside their numbers.

    source   where they come from: {"kind": "set", ...} or {"kind": "file", ...}
    columns  names of the columns of X
    aside    names of the columns kept aside, each with a file of its own
    roles    name -> role, of every column that is not simply data
    total    rows of the source; `rows` of them are here, drawn at random with seed 0 where fewer
    gaps     values that were missing; `missing` says what was done: "keep", "drop" (`dropped` rows) or "mean"
    standardize  "none", "unit" or "robust", as `lowfold.datasets.read` knows it
    header   whether the first line of a table holds names: "auto", "yes", "no"
    reader   name of the reader and those of its options that are used
    stacked  columns that the reader keeps aside and that were made data
    taken    columns that the reader gives as data and that were kept aside
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
    taken: list[str] = field(default_factory=list)
    gaps: int = 0
    standardize: str = "none"
    header: str = "auto"

    def write(
        self, folder: Path, X: NDArray[Any], aside: dict[str, NDArray[Any]], more: dict[str, NDArray[Any]]
    ) -> None:
        """Everything into the folder; `more` are the arrays of `MORE` that there are."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "X.npy", np.ascontiguousarray(X), allow_pickle=False)
        for name, values in more.items():
            np.save(folder / f"{name}.npy", values, allow_pickle=False)
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


def more(folder: Path, name: str) -> NDArray[Any] | None:
    """An array of `MORE`, or None."""
    file = folder / f"{name}.npy"
    return np.asarray(np.load(file, allow_pickle=False)) if file.is_file() else None


def in_units(folder: Path, values: NDArray[Any], columns: Any = slice(None)) -> NDArray[Any]:
    """Values of these columns of the data in the units of the source."""
    scaling = more(folder, "scaling")
    return values if scaling is None else np.asarray(values * scaling[1, columns] + scaling[0, columns])


def column(folder: Path, name: str) -> NDArray[Any] | None:
    """One column by name, of the data (in the units of the source) or kept aside; None where there is none."""
    known = stored(folder)
    if name in known.aside:
        return np.asarray(np.load(folder / f"aside{known.aside.index(name)}.npy", allow_pickle=False))
    if name not in known.columns:
        return None
    j = known.columns.index(name)
    return np.ascontiguousarray(in_units(folder, matrix(folder)[:, j], j))


def labels(folder: Path) -> NDArray[Any] | None:
    """The first column whose role is label, which is what supervised methods see."""
    known = stored(folder)
    first = next((name for name in known.aside if known.roles.get(name) == "label"), None)
    return None if first is None else column(folder, first)
