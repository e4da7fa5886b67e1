"""What a neighbour search starts from: points with a metric, or measured dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.parallel import block_slices, row_slices, run_blocks
from lowfold._core.rounding import LARGEST, SMALLEST, UNEVEN
from lowfold._core.rows import Extent, Rows
from lowfold._core.sparse_rows import SparseRows, canonical
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._types import Neighbors
from lowfold.metrics._dissimilarity import similarity_to_distance
from lowfold.metrics._metric import Metric
from lowfold.metrics._sparse import sparse_metric

Points64 = NDArray[np.floating]

# Rows of so many times more columns than there are rows are turned into a basis of their own, once: patches and planes
# are then taken from rows of n numbers. Of more rows, or numbers, the basis takes longer than it saves.
WIDE, WIDE_ROWS, WIDE_NUMBERS = 2, 1_000, 2**24


@dataclass(frozen=True, eq=False)
class Points:
    """Input of the first type: rows are points, `metric` says how far apart they are; X may be `SparseRows`."""

    X: Points64
    metric: Metric

    __repr__ = brief

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    def __post_init__(self) -> None:
        if isinstance(self.X, SparseRows):
            object.__setattr__(self, "metric", sparse_metric(self.metric.name))

    def features(self, X: Points64 | None = None) -> Points64:
        """Rows after the metric's feature map, where Euclidean distance is the metric (before `finish`)."""
        if isinstance(self.X, SparseRows):
            raise InvalidInput("this needs dense rows; reduce the sparse ones first: lowfold.PCA(50) takes them")
        if self.metric.feature_map is None:
            raise InvalidInput(f"metric {self.metric.name!r} is not Euclidean after a map")
        X = self.X if X is None else X
        return np.ascontiguousarray(self.metric.feature_map(X if X.dtype.kind == "f" else X.astype(np.float64)))

    @cached_property
    def turned(self) -> Points64:
        """`features()`; of few rows with many columns as many numbers as there are rows, with the same inner products.

        By Householder reflections, whose error in a row goes by that row's length. Equal rows stay equal.
        """
        F = self.features()
        n, D = F.shape
        if n > WIDE_ROWS or WIDE * n > D or n * D > WIDE_NUMBERS:
            return F
        R = np.ascontiguousarray(np.asarray(np.linalg.qr(F.T.astype(np.float64), mode="r")).T)
        first: dict[bytes, int] = {}
        return R[[first.setdefault(row.tobytes(), i) for i, row in enumerate(F)]]

    def owned(self, given: Any, n_jobs: int | None = None) -> Points:
        """With rows of its own where they are the caller's array, which may change; a memory map stays one."""
        return Points(_own(self.X, given, n_jobs), self.metric)

    def subset(self, rows: NDArray[np.int64]) -> Points:
        return Points(self.X[rows], self.metric)

    def rows(self, queries: Points64, columns: NDArray[np.int64] | None = None) -> Floats:
        """Distances from queries to all points (or to `columns`)."""
        refs = self.X if columns is None else self.X[columns]
        return np.asarray(self.metric.pairwise(queries, refs), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Input of the first type that stays where it is: rows in blocks, their metric, and what the first pass found."""

    rows: Rows
    metric: Metric
    extent: Extent

    @property
    def n(self) -> int:
        return int(self.rows.shape[0])

    def owned(self, given: Any, n_jobs: int | None = None) -> Blocks:
        """Itself: the rows are not the caller's arrays."""
        return self

    def subset(self, rows: NDArray[np.int64]) -> Points:
        """Some rows, in memory."""
        return Points(self.rows.take(rows), self.metric)


@dataclass(frozen=True, eq=False)
class Sheet(Points):
    """Some points of a surface that is known by more of its points, the knots (`_sheet.py`).

    knots   (h, F) rows after the metric's feature map; tangents (h, F, d), orthonormal columns
    links   from each knot to those near it along the surface
    steps   (links, d), where a link leads in the plane of its knot; turns (links, d, d), the plane there seen from here
    marks   (n,), which knots the points are
    """

    knots: Floats
    tangents: Floats
    links: Neighbors
    steps: Floats
    turns: Floats
    marks: NDArray[np.int64]

    def owned(self, given: Any, n_jobs: int | None = None) -> Sheet:
        """Itself: its rows were taken out of the caller's."""
        return self

    def subset(self, rows: NDArray[np.int64]) -> Sheet:
        return replace(self, X=self.X[rows], marks=self.marks[rows])


def euclidean_rows(source: object) -> Points64 | None:
    """Rows whose Euclidean distances are those of the source; None where there are none."""
    if not isinstance(source, Points) or source.metric.feature_map is None or source.metric.finish is not None:
        return None
    return source.turned


@dataclass(frozen=True, eq=False)
class Pairs:
    """Input of the second type: an n x n matrix of distances; NaN is unmeasured, inf is no path."""

    distances: Points64

    @property
    def n(self) -> int:
        return int(self.distances.shape[0])

    def owned(self, given: Any, n_jobs: int | None = None) -> Pairs:
        """With a matrix of its own where it is the caller's."""
        return Pairs(_own(self.distances, given, n_jobs))

    def subset(self, rows: NDArray[np.int64]) -> Pairs:
        return Pairs(self.distances[np.ix_(rows, rows)])


@dataclass(frozen=True, eq=False)
class Measured:
    """Input of the second type, sparse: only the stored pairs were measured; a stored zero is a distance of zero."""

    pairs: Neighbors

    @property
    def n(self) -> int:
        return self.pairs.n

    def owned(self, given: Any, n_jobs: int | None = None) -> Measured:
        """Itself: the pairs were copied when they were read."""
        return self

    def subset(self, rows: NDArray[np.int64]) -> Measured:
        return Measured(self.pairs.restrict(rows))


Source = Points | Blocks | Pairs | Measured


def _own(array: Points64, given: Any, n_jobs: int | None) -> Points64:
    if not copied(array, given):
        return array
    if not isinstance(array, np.ndarray):
        return array.copy()
    own = np.empty_like(array)
    parts = row_slices(len(array), max(1, array.size // max(len(array), 1)))
    run_blocks(lambda i: np.copyto(own[parts[i]], array[parts[i]]), len(parts), n_jobs=n_jobs)
    return own


def copied(array: Any, given: Any) -> bool:
    """Whether the array is the caller's, who may change it: then a model keeps a copy."""
    if issparse(array) or isinstance(array, SparseRows):
        return True
    if isinstance(array.base, np.memmap) or isinstance(array, np.memmap) or not array.flags.writeable:
        return False
    return np.may_share_memory(array, np.asarray(given))


MIRRORED = 1024  # rows of a matrix that are looked at together

PRECOMPUTED = ("precomputed", "precomputed_squared", "precomputed_similarity")
NOTHING_MEASURED = (
    "X holds no measured distance between two points: NaN, infinity and what is absent from a sparse matrix are "
    "unmeasured, and the diagonal is not looked at"
)
NO_AFFINITY = f"X holds no affinity of at least {SMALLEST:g} between two points; multiply it by a constant first"
AFFINITY = "precomputed_affinity"  # weights of edges: read as lengths 1 / weight by the methods that take them


def read_matrix(matrix: Any, kind: str, *, square: bool = True, diagonal: Floats | None = None) -> Pairs | Measured:
    """Distances from a dense or sparse matrix of distances, squared distances or similarities.

    Similarities s give d_ij^2 = s_ii + s_jj - 2 s_ij. With `square=False` the matrix holds queries x points;
    similarities of queries cannot give distances without s(x, x), so they are refused in words.
    """
    if square and matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(
            f"a precomputed matrix must be square; got {matrix.shape[0]} rows and {matrix.shape[1]} columns; "
            "for rows of features leave metric out"
        )
    if kind == "precomputed_similarity":
        if issparse(matrix):
            raise InvalidInput("precomputed_similarity needs a dense matrix; an absent similarity has no distance")
        if not square:
            raise InvalidInput("new points need distances to the training points, not similarities: s(x, x) is unknown")
        D = similarity_to_distance(both_ways(np.asarray(matrix)))
        check_distances(D)
        return Pairs(_some_measured(D))
    if kind == AFFINITY:
        return Measured(_measured(_resistances(matrix, square=square), kind, square=square))
    if issparse(matrix):
        return Measured(_measured(matrix, kind, square=square))
    D = np.asarray(matrix)
    if D.dtype.kind != "f":
        D = D.astype(np.float64)
    _refuse_negative(np.fmin.reduce(D, axis=None, initial=0.0), "precomputed distances")
    D = np.sqrt(D) if kind == "precomputed_squared" else D
    check_distances(D)
    return Pairs(_without_own(both_ways(_some_measured(D))) if square else D)


def both_ways(D: NDArray[Any]) -> NDArray[Any]:
    """A pair that was measured one way has that value; where one triangle holds nothing but zeros the other counts."""
    known = np.isfinite(D)
    one_way = ~known & known.T
    D = np.where(one_way, D.T, D) if one_way.any() else D
    above, below = (_holds_some(D, side) for side in ("above", "below"))
    if above == below:
        return D
    side = "above" if above else "below"
    warn(f"X has values {side} its diagonal alone, and zeros on the other side; they are taken for both", RepairWarning)
    half = np.triu(D, 1) if above else np.tril(D, -1)
    both: NDArray[Any] = half + half.T
    np.fill_diagonal(both, np.diagonal(D))
    return both


def _holds_some(D: NDArray[Any], side: str) -> bool:
    """Whether a triangle has a value that is known and not 0; a full matrix shows it in its first rows."""
    for part in block_slices(len(D), MIRRORED):
        rows = np.triu(D[part], part.start + 1) if side == "above" else np.tril(D[part], part.start - 1)
        if (np.isfinite(rows) & (rows != 0)).any():
            return True
    return False


def _without_own(D: NDArray[np.floating]) -> NDArray[np.floating]:
    """With zeros on the diagonal where it holds nothing, or what distances made of products leave there."""
    own = np.diagonal(D)
    told = np.isfinite(own) & (own > UNEVEN * np.max(D, initial=0.0, where=np.isfinite(D)))
    if own.any() and not told.any():
        D = D.copy()
        np.fill_diagonal(D, 0.0)
    return D


def _some_measured(D: NDArray[np.floating]) -> NDArray[np.floating]:
    if not (np.isfinite(D).sum(axis=1) > np.isfinite(np.diagonal(D))).any():
        raise InvalidInput(NOTHING_MEASURED)
    return D


def check_distances(D: NDArray[np.floating]) -> None:
    """Refuse distances that cannot be squared and summed without overflow or underflow."""
    most = float(np.fmax.reduce(D, axis=None, initial=0.0))
    size = most if np.isfinite(most) else float(np.max(D, where=np.isfinite(D), initial=0.0))
    if size > LARGEST or 0.0 < size < SMALLEST:
        raise InvalidInput(
            f"X has distances up to {size:.3g}; between {SMALLEST:g} and {LARGEST:g} they can be squared and summed; "
            "multiply X by a constant first"
        )


def _resistances(matrix: Any, *, square: bool) -> csr_array:
    """1 / affinity where it is above 0; the mean of both directions, which is told where they differ."""
    A = canonical(matrix).astype(np.float64, copy=True)
    A.data[np.abs(A.data) < SMALLEST] = 0.0  # next to any other weight it is none, and its length would overflow
    A.eliminate_zeros()
    if len(A.data) and not (A.data.min() > 0 and A.data.max() <= LARGEST):
        raise InvalidInput(
            f"affinities must be finite and 0 or more, 0 for no edge, and at most {LARGEST:g}; X holds "
            f"{A.data.min():g} to {A.data.max():g}"
        )
    if square:
        uneven = abs(A - A.T).max()
        if uneven > UNEVEN * A.data.max(initial=0.0):
            warn(f"the affinities are not symmetric (up to {uneven:.3g}); the mean is used", RepairWarning)
            A = csr_array((A + A.T) / 2)
    A.data = 1.0 / A.data
    return A


def _refuse_negative(least: float, what: str) -> None:
    if least < 0:
        raise InvalidInput(f"{what} must be 0 or more, NaN where unmeasured; the smallest is {least:g}")


def _measured(matrix: Any, kind: str, *, square: bool) -> Neighbors:
    A = canonical(matrix)  # perhaps the user's arrays: nothing here may change them
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    values = A.data.astype(np.float64)
    kept = np.isfinite(values)
    if square:
        kept &= rows != A.indices
        if not kept.any():
            raise InvalidInput(NO_AFFINITY if kind == AFFINITY else NOTHING_MEASURED)
    _refuse_negative(np.fmin.reduce(values, initial=0.0), "precomputed distances")
    values = np.sqrt(values) if kind == "precomputed_squared" else values
    check_distances(values[kept])
    rows, columns, values = rows[kept], A.indices[kept], values[kept]
    if square and kind != AFFINITY and ((rows < columns).all() or (rows > columns).all()):  # half of a symmetric one
        rows, columns, values = np.r_[rows, columns], np.r_[columns, rows], np.r_[values, values]
    order = np.lexsort((columns, values, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=A.shape[0]))])
    return Neighbors(indptr, columns[order], values[order], int(A.shape[1]))
