"""Graph distances between arbitrary points, old or new, through a fitted graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.memory import require
from lowfold.graph._geodesics import seeded_geodesics
from lowfold.graph._types import Neighbors
from lowfold.methods._estimator import check_fitted
from lowfold.methods._placing.place import neighbors_of


def geodesic_distances(model: Any, A: Any, B: Any = None) -> NDArray[np.float64]:
    """min over neighbours u of a and v of b of d(a, u) + d_G(u, v) + d(v, b); training points enter at themselves."""
    check_fitted(model)
    first = _attached(model, A)
    second = first if B is None else _attached(model, B)
    graph, run = model._trained.graph, model._run()
    require(8.0 * first.n * graph.n, "geodesics from the new points", "ask for fewer points at a time")
    rows = np.asarray(seeded_geodesics(graph, first, run=run), dtype=np.float64)
    out = np.empty((first.n, second.n))
    for j in range(second.n):
        index, reach = second.row(j)
        out[:, j] = (rows[:, index] + reach).min(axis=1)
    if B is None:
        out = np.minimum(out, out.T)
        np.fill_diagonal(out, 0.0)
    return out


def _attached(model: Any, X: Any) -> Neighbors:
    trained = model._trained
    queries = model.reader.queries(model, X)
    found = neighbors_of(trained, queries, model._run())
    first = found.indptr[:-1]
    known = found.distances[first] == 0
    keep = np.where(known, 1, found.counts)
    from lowfold.graph._search import trim

    lengths = getattr(model._extend, "lengths", None)  # conformal edges are measured in units of the local spacing
    return trim(found if lengths is None else lengths(found), keep)
