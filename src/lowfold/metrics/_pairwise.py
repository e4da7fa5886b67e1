"""Matrices of distances, tile by tile.

Euclidean distances of features come from ||f||^2 + ||g||^2 - 2 f'g, which is fast and, for close rows, wrong: the
data are shifted to their mean and scaled by a power of two first, and every pair whose squared distance is a small part
of ||f||^2 + ||g||^2 is computed again in float64 by direct differences of the rows themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.parallel import block_slices, run_blocks, single_threaded_blas
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats
from lowfold.metrics._metric import Metric
from lowfold.metrics._points import as_points, same_width
from lowfold.metrics._resolve import resolve_metric

Tile = tuple[slice, slice]
TILE = 1024
DIRECT_WIDTH = 16  # up to this many features direct differences cost no more than a matrix product
CLOSE = {np.dtype(np.float64): 1e-4, np.dtype(np.float32): 1e-2}  # keeps ~1e-12, ~1e-5 of relative accuracy in d^2
COINCIDENT = 1e-24  # float64 features of equal rows differ by less than this (relative, squared)
NEARLY_EQUAL = 1e-3  # radians
MANY = 1 / 8  # a tile with a larger share of close pairs is computed by direct differences as a whole
PAIRS_AT_ONCE = 2**22  # float64 entries of a temporary
UNLOADED = 4_000_000  # differences that NumPy takes in less than half of the 70 ms that loading SciPy's distances takes


def pairwise(
    A: object,
    B: object = None,
    metric: str | Callable[..., float] | Metric = "euclidean",
    *,
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    out: AnyFloats | None = None,
) -> AnyFloats:
    """Distances between all rows of A (m, D) and B (n, D), or of A with itself (symmetric, zero diagonal).

    Two float32 arrays give float32, anything else float64. `n_jobs` changes the time, never the result. A metric that
    learns from data (Mahalanobis without `M`) learns from B, or from A when B is not given. `out` receives the result.

    >>> import numpy as np
    >>> pairwise([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    >>> pairwise([[1.0, 0.0]], [[0.0, 2.0]], metric="cosine")
    array([[1.]])
    """
    A = _points(A, "A")
    B = None if B is None else _points(B, "B")
    if B is not None:
        same_width(A, B)
    resolved = resolve_metric(metric, metric_params, A if B is None else B)
    with single_threaded_blas():
        return distances(resolved, A, B, n_jobs=n_jobs, out=out)


def _points(X: Any, name: str) -> AnyFloats:
    return X if isinstance(X, SparseRows) else as_points(X, name)  # type: ignore[return-value] # stands for an array


def one_to_many(
    x: object,
    B: object,
    metric: str | Callable[..., float] | Metric = "euclidean",
    *,
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> AnyFloats:
    """Distances from one point x (D,) to every row of B (n, D), as (n,)."""
    point = np.asarray(x)
    if point.ndim != 1:
        raise InvalidInput(f"x must be one point, a vector of D numbers; got shape {point.shape}; use pairwise")
    return pairwise(point[None, :], B, metric, metric_params=metric_params, n_jobs=n_jobs).ravel()


def distances(
    metric: Metric, A: AnyFloats, B: AnyFloats | None = None, *, n_jobs: int | None, out: AnyFloats | None = None
) -> AnyFloats:
    """`pairwise` for arrays known to be finite and a resolved metric."""
    symmetric = B is None
    A = _floats(A)
    B = A if B is None else _floats(B)
    dtype = np.result_type(A.dtype, B.dtype)
    shape = (len(A), len(B))
    if out is None:
        words = f"a matrix of {len(A)} x {len(B)} distances"
        require(dtype.itemsize * len(A) * len(B), words, "search neighbours instead")
    result = np.empty(shape, dtype) if out is None else _checked_out(out, shape, dtype)
    fill = _mapped_filler(metric, A, B) if metric.feature_map is not None else _block_filler(metric, A, B)

    todo = _tiles(*shape, symmetric=symmetric)

    def work(index: int) -> None:
        tile = rows, columns = todo[index]
        result[tile] = fill(tile)
        if symmetric:
            if rows == columns:
                square = result[tile]
                np.fill_diagonal(square, 0)
                upper = np.triu(square)
                result[tile] = upper + upper.T
            else:
                result[columns, rows] = result[tile].T

    run_blocks(work, len(todo), n_jobs=n_jobs)
    return result


def _tiles(m: int, n: int, *, symmetric: bool) -> list[Tile]:
    """Tiles that cover (m, n); of a symmetric matrix only those on and above the diagonal."""
    return [
        (rows, columns)
        for rows in block_slices(m, TILE)
        for columns in block_slices(n, TILE)
        if not symmetric or columns.start >= rows.start
    ]


def _floats(X: AnyFloats) -> AnyFloats:
    array = X if isinstance(X, SparseRows) else np.asarray(X)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _checked_out(out: AnyFloats, shape: tuple[int, int], dtype: np.dtype[Any]) -> AnyFloats:
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        came = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise InvalidInput(f"out must be an array of {dtype} with shape {shape}; got {came}")
    return out


def _block_filler(metric: Metric, A: AnyFloats, B: AnyFloats) -> Callable[[Tile], AnyFloats]:
    """Tiles of a metric that is not Euclidean after a map; rows are prepared once."""
    block = metric.block
    assert block is not None
    prepare = metric.prepare
    P = A if prepare is None else prepare(A)
    Q = P if B is A else (B if prepare is None else prepare(B))
    if prepare is None:
        return lambda tile: block(P[tile[0]], Q[tile[1]])

    def fill(tile: Tile) -> AnyFloats:
        d = block(P[tile[0]], Q[tile[1]])
        # what was prepared rounds differently in different places of a batch; equal rows must still be at 0
        return _with_direct(metric, A[tile[0]], B[tile[1]], d, d < NEARLY_EQUAL, 0)

    return fill


@dataclass(frozen=True, eq=False)
class _Features:
    """Rows of one side: as given, and their features at working precision, shifted and scaled alike on both sides."""

    raw: AnyFloats
    F: AnyFloats
    norms: AnyFloats

    def fine(self, metric: Metric, shift: AnyFloats | None, e: int, rows: slice) -> NDArray[np.float64]:
        """Features of some rows in float64."""
        return np.asarray(_scaled(metric, self.raw[rows].astype(np.float64), shift, e))


def _scaled(metric: Metric, X: AnyFloats, shift: AnyFloats | None, e: int) -> AnyFloats:
    assert metric.feature_map is not None
    F = metric.feature_map(X if shift is None else X - shift.astype(X.dtype))
    return np.ldexp(F, -e)


def _mapped_filler(metric: Metric, A: AnyFloats, B: AnyFloats) -> Callable[[Tile], AnyFloats]:
    """Tiles of a metric that is Euclidean after its map."""
    shift = A.mean(axis=0, dtype=np.float64) if metric.linear else None
    FA = _scaled(metric, A, shift, 0)
    FB = FA if B is A else _scaled(metric, B, shift, 0)
    e = int(np.frexp(max(np.abs(FA).max(initial=0), np.abs(FB).max(initial=0)))[1])
    left = _features(A, np.ldexp(FA, -e))
    right = left if B is A else _features(B, np.ldexp(FB, -e))
    finish = metric.finish

    def fill(tile: Tile) -> AnyFloats:
        d = np.ldexp(_euclidean_tile(metric, left, right, tile, shift, e), e)
        return d if finish is None else finish(d)

    return fill


def _features(raw: AnyFloats, F: AnyFloats) -> _Features:
    return _Features(raw, F, np.einsum("ij,ij->i", F, F))


def _euclidean_tile(
    metric: Metric, left: _Features, right: _Features, tile: Tile, shift: AnyFloats | None, e: int
) -> AnyFloats:
    """Distances of (scaled) features in one tile; `left` and `right` are indexed by the tile."""
    rows, columns = tile
    size = left.norms[rows, None] + right.norms[None, columns]
    if left.F.shape[1] > DIRECT_WIDTH:
        d2 = size - 2 * (left.F[rows] @ right.F[columns].T)
        close = d2 <= CLOSE[np.result_type(left.F.dtype, right.F.dtype)] * size
        if np.count_nonzero(close) <= MANY * close.size:
            return _with_direct(metric, left.raw[rows], right.raw[columns], np.sqrt(np.maximum(d2, 0)), close, e)
    d = _by_differences(left.fine(metric, shift, e, rows), right.fine(metric, shift, e, columns))
    return _with_direct(metric, left.raw[rows], right.raw[columns], d, d * d <= COINCIDENT * size, e)


def _by_differences(A: Floats, B: Floats) -> Floats:
    """Euclidean distances; small tiles by NumPy, with the same bits, where SciPy's package would have to be loaded."""
    if "scipy.spatial.distance" in sys.modules or len(A) * B.size > UNLOADED:
        from scipy.spatial.distance import cdist

        return cdist(A, B)
    squares = np.zeros((len(A), len(B)))
    for a, b in zip(A.T, B.T):
        squares += (a[:, None] - b) ** 2
    return np.sqrt(squares)


def _with_direct(
    metric: Metric, A: AnyFloats, B: AnyFloats, d: AnyFloats, close: NDArray[np.bool_], e: int
) -> AnyFloats:
    """Replace the marked distances (times 2^e) by those of direct differences, a bounded number at a time."""
    i, j = np.nonzero(close)
    step = max(1, PAIRS_AT_ONCE // A.shape[1])
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        exact = metric.rowwise(A[i[some]], B[j[some]])
        unfinished = exact if metric.unfinish is None else metric.unfinish(exact)
        d[i[some], j[some]] = np.ldexp(unfinished, -e)
    return d
