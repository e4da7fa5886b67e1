"""Landmarks: a few points that stand for all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._farthest import farthest_points
from lowfold.graph._foreign import as_graph
from lowfold.graph._geodesics import geodesics
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Source
from lowfold.graph._types import Graph

LANDMARK_RULES = ("maxmin", "random", "kmeans++")


def choose_landmarks(
    where: Source | Graph, landmarks: int | ArrayLike, *, rule: str = "maxmin", run: Run | None = None
) -> Ints:
    """Indices of the landmarks, in ascending order.

    An int m with a rule: "random" draws m points; "maxmin" starts at a random one and takes the point farthest from all
    landmarks so far (de Silva & Tenenbaum 2004); "kmeans++" draws the next with probability proportional to the squared
    distance to the nearest landmark. An array of indices is taken as it is. Distances are those of the source; on a
    graph without points they are geodesics, one row per landmark.
    """
    run = run or Run()
    where = where if hasattr(where, "n") else as_graph(where)  # type: ignore[assignment] # of NetworkX or SciPy
    n = where.n
    if np.ndim(landmarks) == 1:
        return _given(np.asarray(landmarks), n)
    m = int(landmarks)  # type: ignore[arg-type]
    if m > n:
        raise InvalidInput(f"landmarks must be at most {n} for {n} points; got {m}")
    if rule == "random" or m == n:
        return np.sort(run.rng.choice(n, m, replace=False))
    chosen = np.empty(m, dtype=np.int64)
    chosen[0] = run.rng.integers(n)
    F = _centred(where) if rule == "maxmin" and run.device == "cpu" else None
    if F is not None:
        with run.stage("landmarks") as progress:
            return np.sort(farthest_points(F, int(chosen[0]), m, progress))
    nearest, row = np.full(n, np.inf), distance_rows(where, run)
    with run.stage("landmarks") as progress:
        for i in range(1, m):
            np.minimum(nearest, row(int(chosen[i - 1])), out=nearest)
            nearest[chosen[:i]] = 0.0
            chosen[i] = _next(nearest, chosen[:i], rule, run)
            progress(i / m)
    return np.sort(chosen)


def _given(indices: NDArray[np.generic], n: int) -> Ints:
    if indices.dtype.kind not in "iu" or len(indices) == 0 or indices.min() < 0 or indices.max() >= n:
        raise InvalidInput(f"landmarks must be indices of points, 0..{n - 1}")
    found = np.unique(indices.astype(np.int64))
    if len(found) != len(indices):
        raise InvalidInput("landmarks names a point twice; each index may occur once")
    return found


def _next(nearest: Floats, chosen: Ints, rule: str, run: Run) -> int:
    finite = np.isfinite(nearest)
    if not finite.all():  # another component: it needs a landmark before any point here needs a second
        return int(np.flatnonzero(~finite)[0])
    weight = nearest**2
    if not weight.any():  # only copies of landmarks are left
        return int(np.setdiff1d(np.arange(len(nearest)), chosen)[0])
    if rule == "maxmin":
        return int(np.argmax(nearest))
    return int(run.rng.choice(len(nearest), p=weight / weight.sum()))


def distance_rows(where: Source | Graph, run: Run) -> Callable[[int], Floats]:
    """i -> distances from point i to all; inf where they are unknown."""
    if isinstance(where, Graph):
        return lambda i: np.asarray(geodesics(where, [i], dtype=np.float64, run=Run(n_jobs=run.n_jobs))[0])
    if isinstance(where, Pairs):
        return lambda i: np.where(np.isnan(where.distances[i]), np.inf, where.distances[i]).astype(np.float64)
    if isinstance(where, Measured):
        return lambda i: _measured_row(where, i)
    if isinstance(where, Blocks):
        raise InvalidInput("rows in blocks: every landmark would be another pass; choose among a sample of them")
    if where.metric.feature_map is None:
        return lambda i: where.rows(where.X[i : i + 1])[0]
    F, finish = _shifted(where), where.metric.finish
    if run.device != "cpu" and finish is None:
        from lowfold.graph._on_device import rows_of_distances

        found = rows_of_distances(F, run)
        if found is not None:
            return found
    norms = np.einsum("ij,ij->i", F, F)

    def row(i: int) -> Floats:
        d = np.sqrt(np.maximum(norms + norms[i] - 2 * (F @ F[i]), 0)).astype(np.float64)
        return d if finish is None else np.asarray(finish(d), dtype=np.float64)

    return row


def _centred(where: Source | Graph) -> AnyFloats | None:
    """The points in a space where Euclidean distances are those of the source; None where there is none."""
    euclidean = isinstance(where, Points) and where.metric.feature_map is not None and where.metric.finish is None
    return _shifted(where) if isinstance(where, Points) and euclidean else None


def _shifted(where: Points) -> AnyFloats:
    F = where.features()
    return np.asarray(F - F.mean(axis=0, dtype=np.float64).astype(F.dtype))


def _measured_row(where: Measured, i: int) -> Floats:
    out = np.full(where.n, np.inf)
    index, distance = where.pairs.row(i)
    out[index] = distance
    out[i] = 0.0
    return out
