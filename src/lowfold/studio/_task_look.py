"""Looking at the data: dimension and diagnosis, and one row among its nearest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.stages import StageCache, keeping
from lowfold.dimension._estimate_all import NAMES, estimate_all
from lowfold.metrics._pairwise import pairwise
from lowfold.quality._diagnose import diagnose
from lowfold.studio._stored import column, matrix, stored
from lowfold.studio._task_data import WORDS

LOOKED_AT = 3000  # points of the estimators of dimension
TERMS = 12  # of a document

Say = Callable[[dict[str, Any]], None]


def look(say: Say, folder: str, stages: str) -> dict[str, Any]:
    """Every estimator of dimension, one after the other, then the diagnosis; what is there is said at once."""
    X, square = matrix(Path(folder)), stored(Path(folder)).matrix
    if np.isnan(X).any():
        raise InvalidInput("values are missing; leave these rows out (under Data) before looking")
    metric = "precomputed" if square else "euclidean"
    rows = np.arange(len(X))
    if len(X) > LOOKED_AT:
        rows = np.sort(np.random.default_rng(0).choice(len(X), LOOKED_AT, replace=False))
    part = X[np.ix_(rows, rows)] if square else X[rows]
    found: dict[str, Any] = {"points": len(rows), "of": len(X), "dimension": [], "diagnosis": None}
    with keeping(StageCache(Path(stages))):
        found["diagnosis"] = diagnose(X, metric=metric).to_dict()
        say({"event": "look", "look": found})
        for name in NAMES:
            found["dimension"].append(estimate_all(part, (name,), metric=metric)[name].as_dict())
            say({"event": "look", "look": found})
    return found


def near(say: Say, folder: str, row: int, k: int) -> dict[str, Any]:
    """The k nearest rows of a row, by distance in the data, itself not counted."""
    X = matrix(Path(folder))
    if not 0 <= row < len(X):
        raise InvalidInput(f"row must lie in 0..{len(X) - 1}; got {row}")
    square = stored(Path(folder)).matrix
    distances = np.asarray(X[row] if square else pairwise(X[row : row + 1], X, n_jobs=1)[0], dtype=np.float64)
    distances[row] = np.inf
    order = np.argpartition(distances, min(k, len(X) - 1) - 1)[:k]
    order = order[np.lexsort((order, distances[order]))]
    return {
        "rows": order.tolist(),
        "distances": [float(f"{d:.6g}") for d in distances[order]],
        "aside": {name: _word(Path(folder), name, row) for name in stored(Path(folder)).aside},
        "terms": terms(Path(folder), X[row]),
    }


def _word(folder: Path, name: str, row: int) -> str:
    """What a column kept aside says of a row."""
    values = column(folder, name)
    assert values is not None
    return str(values[row])[:WORDS]


def terms(folder: Path, values: NDArray[Any]) -> list[list[Any]]:
    """The columns of a document with the largest values; nothing where rows are no documents."""
    known = stored(folder)
    if "read_documents" not in known.reader:
        return []
    order = np.argsort(-values, kind="stable")[:TERMS]
    return [[known.columns[j], float(f"{values[j]:.3g}")] for j in order.tolist() if values[j] > 0]
