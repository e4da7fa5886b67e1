"""Measures inside neighbourhoods: lengths of edges, angles, local isometry.

They ask what Gering, Ju and Vidal's taxonomy of properties asks: is the map a local isometry, does it keep angles?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Flag, Int, Null, check_limits
from lowfold._core.parallel import COPIED, run_blocks, single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.stacks import equal_rows, spokes
from lowfold._core.types import Floats
from lowfold.graph._foreign import known_graph
from lowfold.graph._neighborhoods import neighborhoods
from lowfold.graph._reading import MetricLike, read_complete
from lowfold.graph._source import Points
from lowfold.graph._types import Graph, Neighbors
from lowfold.quality._score import Score
from lowfold.quality._spaces import GAPS, read_coordinates, same_length

Patch = Callable[[NDArray[np.int64], NDArray[np.int32]], None]


def read_neighbors(
    X: Any,
    n: int,
    n_neighbors: int | None,
    metric: MetricLike,
    metric_params: Mapping[str, Any] | None,
    n_jobs: int | None,
) -> Neighbors:
    """Neighbourhoods in the data: those of a given `Graph` or `Neighbors`, else the k nearest."""
    check_limits("the local measures", {"n_neighbors": n_neighbors}, {"n_neighbors": (Int(1), Null())})
    X = known_graph(X)
    if isinstance(X, (Graph, Neighbors)):
        if n_neighbors is not None:
            raise InvalidInput("n_neighbors must be None where X is a graph, which has its own neighbourhoods")
        X.check()
        found = X.neighbors() if isinstance(X, Graph) else X
    else:
        with single_threaded_blas():
            source = read_complete(X, metric, metric_params, way_out=GAPS)
            same_length(source.n, n)
            found = neighborhoods(source, n_neighbors=n_neighbors, run=Run(n_jobs=n_jobs))
    same_length(found.n, n)
    return found


def by_patches(neighbors: Neighbors, columns: int, work: Patch, n_jobs: int | None) -> None:
    """Call work(rows, index) for blocks of points with equally many neighbours; index is (m, k)."""
    blocks = list(equal_rows(neighbors.counts, columns, numbers=COPIED))

    def one(b: int) -> None:
        rows, k = blocks[b]
        work(rows, neighbors.indices[neighbors.indptr[rows][:, None] + np.arange(k)])

    with single_threaded_blas():
        run_blocks(one, len(blocks), n_jobs=n_jobs)


def differences(X: NDArray[np.floating], rows: NDArray[np.int64], index: NDArray[np.int32]) -> Floats:
    """x_j - x_i, (m, k, D), in float64."""
    return spokes(X, index, X[rows])


def _image(Y: Any) -> Points:
    return read_coordinates(Y, "Y")


def edge_lengths(
    X: Any,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    scaled: bool = False,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """Relative error of the lengths of edges: sqrt(sum (delta - s d)^2 / sum delta^2) over the edges i -> j of X.

    s = 1, or with `scaled` the factor that fits best. Points: the sum over the neighbours of i alone. 0 for a map that
    keeps the distance to every neighbour.

    Parameters
    ----------
    X : points, a matrix of distances (metric="precomputed"), or a ready `Graph` or `Neighbors`.
    Y : array (n, d), the embedding.
    n_neighbors : int or None, neighbours in the data; None is min(10, n - 1).
    scaled : bool, fit a common factor first.
    metric, metric_params, n_jobs : as in `trustworthiness`.
    """
    check_limits("edge_lengths", {"scaled": scaled}, {"scaled": (Flag(),)})
    image = _image(Y)
    found = read_neighbors(X, image.n, n_neighbors, metric, metric_params, n_jobs)
    return edge_score(image, found, scaled)


def edge_score(image: Points, found: Neighbors, scaled: bool) -> Score:
    """`edge_lengths` for neighbourhoods that are known."""
    rows = found.rows()
    d = image.metric.rowwise(image.X[rows], image.X[found.indices])
    delta = found.distances
    total, size = float(delta @ delta), float(d @ d)
    if total == 0:
        raise InvalidInput("X has no neighbours at a distance above 0; leave repeated points out")
    s = float(delta @ d) / size if scaled and size > 0 else 1.0
    error = np.bincount(rows, (delta - s * d) ** 2, image.n)
    length = np.bincount(rows, delta**2, image.n)
    points = np.sqrt(error / np.where(length > 0, length, 1.0))
    return Score("edge length error", float(np.sqrt(error.sum() / total)), 0.0, points)


def angles(X: ArrayLike, Y: ArrayLike, n_neighbors: int | None = None, *, n_jobs: int | None = None) -> Score:
    """Mean change, in radians, of the angles between the directions from a point to its neighbours.

    For every i and neighbours j < l in X: | angle(x_j - x_i, x_l - x_i) - angle(y_j - y_i, y_l - y_i) |. 0 for a
    conformal map, in the limit of small neighbourhoods also of curved ones; about 0.6 for random positions in the
    plane. Points: the mean over pairs of neighbours of i; NaN where it has no two. Directions of length 0 are left out.
    Euclidean in X and Y.
    """
    data, image = read_coordinates(X, "X"), _image(Y)
    same_length(data.n, image.n)
    found = read_neighbors(data.X, image.n, n_neighbors, "euclidean", None, n_jobs)
    return angle_score(data, image, found, n_jobs)


def angle_score(data: Points, image: Points, found: Neighbors, n_jobs: int | None) -> Score:
    """`angles` for neighbourhoods that are known."""
    total, count = np.zeros(image.n), np.zeros(image.n)

    def work(rows: NDArray[np.int64], index: NDArray[np.int32]) -> None:
        first, second = np.triu_indices(index.shape[1], 1)
        a, b = (_angles(differences(S.X, rows, index))[:, first, second] for S in (data, image))
        change = np.abs(a - b)
        known = np.isfinite(change)
        total[rows], count[rows] = np.where(known, change, 0.0).sum(axis=1), known.sum(axis=1)

    by_patches(found, max(data.X.shape[1], image.X.shape[1]), work, n_jobs)
    if count.sum() == 0:
        raise InvalidInput("no point has two neighbours at a distance above 0, so that there are no angles; use more")
    points = np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)
    return Score("angle change", float(total.sum() / count.sum()), 0.0, points)


def _angles(V: Floats) -> Floats:
    """Angles among the rows of each matrix of a stack; NaN for rows of length 0."""
    size = np.linalg.norm(V, axis=2, keepdims=True)
    U = np.where(size > 0, V / np.where(size > 0, size, 1.0), np.nan)
    return np.asarray(np.arccos(np.clip(U @ U.transpose(0, 2, 1), -1.0, 1.0)))


def local_isometry(
    X: ArrayLike, Y: ArrayLike, n_neighbors: int | None = None, *, scaled: bool = False, n_jobs: int | None = None
) -> Score:
    """Residual of local isometry: are all distances inside each neighbourhood kept, those among neighbours as well?

    sqrt(sum (delta_jl^2 - s d_jl^2)^2 / sum delta_jl^4) over all pairs j, l of every neighbourhood and its centre: the
    constraints of maximum variance unfolding (Weinberger & Saul 2006, doi:10.1007/s11263-005-4939-z). s = 1, or with
    `scaled` the factor that fits best. Points: the same sum for one neighbourhood. Euclidean in X and Y.
    """
    check_limits("local_isometry", {"scaled": scaled}, {"scaled": (Flag(),)})
    data, image = read_coordinates(X, "X"), _image(Y)
    same_length(data.n, image.n)
    found = read_neighbors(data.X, image.n, n_neighbors, "euclidean", None, n_jobs)
    return isometry_score(data, image, found, scaled, n_jobs)


def isometry_score(data: Points, image: Points, found: Neighbors, scaled: bool, n_jobs: int | None) -> Score:
    """`local_isometry` for neighbourhoods that are known."""
    xx, xy, yy, error = np.zeros((4, image.n))

    def work(rows: NDArray[np.int64], index: NDArray[np.int32]) -> None:
        A, B = (_patch_distances(differences(S.X, rows, index)) for S in (data, image))
        E = A - B
        sums = (np.einsum("mij,mij->m", *two) for two in ((A, A), (A, B), (B, B), (E, E)))
        xx[rows], xy[rows], yy[rows], error[rows] = sums

    by_patches(found, max(data.X.shape[1], image.X.shape[1]), work, n_jobs)
    if xx.sum() == 0:
        raise InvalidInput("X has no neighbours at a distance above 0; leave repeated points out")
    s = float(xy.sum() / yy.sum()) if scaled and yy.sum() > 0 else 1.0
    squares = np.maximum(xx - 2 * s * xy + s * s * yy, 0.0) if scaled else error
    points = np.sqrt(squares / np.where(xx > 0, xx, 1.0))
    return Score("local isometry residual", float(np.sqrt(squares.sum() / xx.sum())), 0.0, points)


def _patch_distances(V: Floats) -> Floats:
    """Squared distances among the centre (0) and its neighbours (rows of V), for a stack."""
    V = np.concatenate([np.zeros_like(V[:, :1]), V], axis=1)
    G = V @ V.transpose(0, 2, 1)
    size = np.einsum("mii->mi", G)
    return np.asarray(np.maximum(size[:, :, None] + size[:, None, :] - 2 * G, 0.0))
