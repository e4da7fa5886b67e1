"""Tasks that ask a fitted model, and those that write what a person takes home."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, LowfoldError
from lowfold._core.versions import versions
from lowfold.datasets._write_table import write_table
from lowfold.methods.files import load
from lowfold.metrics._scales import standardized
from lowfold.select._compare import _facts
from lowfold.select._compare_measure import Yardstick, measure
from lowfold.select._compare_types import Comparison, Row
from lowfold.select._worker import edges_of
from lowfold.studio._session_file import open_session, write_session
from lowfold.studio._stored import column, in_units, labels, matrix, more, stored
from lowfold.studio._task_data import _from_file
from lowfold.studio._task_look import terms
from lowfold.viz._report import write_report

PLACED = 5000  # new points that are shown
MODELS = 2  # models that a worker keeps for the next question
MEASURED = 3000  # points from which the others are ranked, as in the session

Say = Callable[[dict[str, Any]], None]
_loaded: OrderedDict[str, Any] = OrderedDict()


def _model(out: str) -> Any:
    """The fitted model of a run; the last ones asked for stay in memory."""
    if out not in _loaded:
        file = Path(out) / "model.lowfold"
        if not file.is_file():
            raise InvalidInput("this model could not be written as a file, and cannot be asked")
        _loaded[out] = load(file)
        while len(_loaded) > MODELS:
            _loaded.popitem(last=False)
    _loaded.move_to_end(out)
    return _loaded[out]


def place(say: Say, folder: str, out: str, path: str) -> dict[str, Any]:
    """New rows by the model of a run. Columns are found by their names, or by their number where they have none."""
    known, (table, _) = stored(Path(folder)), _from_file(Path(path), False)
    X = table.X
    if set(known.columns) <= set(table.columns):
        X = X[:, [table.columns.index(name) for name in known.columns]]
    if X.shape[1] != len(known.columns):
        raise InvalidInput(
            f"the new rows have {X.shape[1]} columns of numbers, the data have {len(known.columns)}: "
            f"{', '.join(known.columns[:12])}{', ...' if len(known.columns) > 12 else ''}"
        )
    scaling = more(Path(folder), "scaling")
    first = X[:PLACED] if scaling is None else standardized(X[:PLACED], scaling)
    Y = np.asarray(_model(out).transform(first), dtype=np.float64)
    return {"points": [[_number(v) for v in row[:3]] for row in Y], "of": len(X), "name": Path(path).name}


def invert(say: Say, folder: str, out: str, points: list[list[float]]) -> dict[str, Any]:
    """Rows of the data space for places in the picture; coordinates that the picture does not show are their median."""
    model = _model(out)
    Y = np.asarray(model.embedding_, dtype=np.float64)
    asked = np.tile(np.nanmedian(Y, axis=0), (len(points), 1))
    given = np.asarray(points, dtype=np.float64)[:, : Y.shape[1]]
    asked[:, : given.shape[1]] = given
    found = in_units(Path(folder), np.asarray(model.inverse_transform(asked)))
    where = Path(folder)
    return {"rows": [[_number(v) for v in row] for row in found], "terms": [terms(where, row) for row in found]}


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None


def export(
    say: Say,
    what: str,
    folder: str,
    out: str,
    target: str,
    rows: list[int],
    run: dict[str, Any],
    runs: list[dict[str, Any]],
    look: dict[str, Any] | None,
) -> dict[str, Any]:
    """One file to take home."""
    where, file = Path(folder), Path(target)
    if what in ("csv", "parquet"):
        Y = np.asarray(np.load(Path(out) / "embedding.npy", allow_pickle=False))
        names = [f"{run['method'].lower()}{j}" for j in range(Y.shape[1])]
        _table(file, Y, names, where, rows)
    elif what == "rows":
        _table(file, in_units(where, matrix(where)), stored(where).columns, where, rows)
    elif what == "model":
        if not (Path(out) / "model.lowfold").is_file():
            raise InvalidInput("this model could not be written as a file")
        shutil.copyfile(Path(out) / "model.lowfold", file)
    elif what == "report":
        write_report(_comparison(where, runs), file, overwrite=True)
    else:
        write_session(file, where, runs, look)
    return {"bytes": file.stat().st_size}


def _table(file: Path, values: NDArray[Any], names: list[str], folder: Path, rows: list[int]) -> None:
    """Rows with their number in the source, from 1, and what was kept aside."""
    known = stored(folder)
    chosen = np.asarray(rows, dtype=np.int64) if rows else np.arange(len(values))
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(values)):
        raise InvalidInput(f"rows must lie in 0..{len(values) - 1}")
    places = more(folder, "rows")
    aside: dict[str, NDArray[Any]] = {"row": (chosen if places is None else places[chosen]) + 1}
    for name in known.aside:
        found = column(folder, name)
        assert found is not None
        free = name
        while free in names or free in aside:
            free += "_"
        aside[free] = found[chosen]
    write_table(file, values[chosen], names, labels=aside, overwrite=True)


def _comparison(folder: Path, runs: list[dict[str, Any]]) -> Comparison:
    """The runs of a session as `lowfold.compare` would give them."""
    X, known, classes = matrix(folder), stored(folder), labels(folder)
    metric = "precomputed" if known.matrix else "euclidean"
    against = Yardstick(X, metric, min(10, (len(X) - 1) // 2), MEASURED, None, classes, 0)
    rows = tuple(_row(run, against) for run in runs)
    named = next((name for name in known.aside if known.roles.get(name) == "label"), None)
    settings = {
        "name": known.source["name"],
        "methods": [f"{run['method']}({', '.join(f'{k}={v!r}' for k, v in run['params'].items())})" for run in runs],
        "params": {},
        "n_components": 2,
        "n_neighbors": None,
        "metric": metric,
        "tune": False,
        "budget": None,
        "random_state": 0,
        "isolate": True,
        "default_methods": False,
        "measured_points": against.measured,
        "measured_neighbors": against.n_neighbors,
        "columns": known.columns,
        "labels_name": named,
        "color_name": None,
    }
    return Comparison(rows, X, classes, None, None, _facts(X, metric, classes, None), settings, versions(), None)


def _row(run: dict[str, Any], against: Yardstick) -> Row:
    Y = np.asarray(np.load(Path(run["out"]) / "embedding.npy", allow_pickle=False))
    facts = run["facts"]
    told = {key: facts.get(key) for key in ("neighbors", "seconds", "cpu_seconds", "solver", "residual")}
    try:
        edges = edges_of(_model(run["out"]))
    except LowfoldError:
        edges = None
    return Row(
        run["title"],
        run["method"],
        "done",
        params=run["params"],
        own=facts.get("own", {}),
        warnings=tuple(run["warnings"]),
        embedding=Y,
        edges=edges,
        quality=measure(Y, against),
        **told,
    )


def reopen(say: Say, path: str, folder: str, columns: str, runs: str) -> dict[str, Any]:
    """A session from its file."""
    return open_session(Path(path), Path(folder), Path(columns), Path(runs))
