"""Where a new point goes, and the way back: the maps that several methods share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import QUERIED, TABLED, block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._source import Blocks, Measured, Pairs, Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._barycentric import held_weights
from lowfold.kernels._block_kernel import DistanceTile, block_products
from lowfold.methods._fit import Extension, Looks, Queries, Trained
from lowfold.methods._placing.place import among, take
from lowfold.metrics._resolve import resolve_metric

# Times the rounding of coordinates: points apart that are nearer to the place of the unknown are not told from new ones
TOLD_APART = 100.0
LAST_DIGITS = 16  # units of a type's last digit: an embedded point that was kept in it, and led back, is off by a few


def gram_coordinates(squared: Floats, row_means: Floats, values: Floats, vectors: Floats) -> Floats:
    """y_k = sum_i v_ik (mean_i - d^2(x, i)) / (2 sqrt(lambda_k)): the centred Gram row times the eigenvectors.

    Directions with lambda <= 0 do not exist in the configuration; their coordinate is 0.
    """
    return gram_products((row_means - squared) @ vectors, values)


def gram_products(products: Floats, values: Floats) -> Floats:
    """From (mean_i - d^2(x, i)) v to coordinates."""
    positive = values > 0
    return products * np.where(positive, 0.5 / np.sqrt(np.where(positive, values, 1.0)), 0.0)


@dataclass(frozen=True, eq=False)
class GramRow(Extension):
    """Classical MDS: the full row of distances from the new point, centred with the stored means."""

    row_means: Floats
    values: Floats
    vectors: Floats
    kind: Literal["distance", "similarity"] = "distance"
    looks: ClassVar[Looks] = "nearest"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        if self.kind == "similarity":
            raise InvalidInput("new points need their distances to the training points, not similarities")
        if isinstance(queries, Measured):
            raise InvalidInput("new points need the distances to all training points; a sparse matrix has gaps")
        if isinstance(queries, Pairs):
            D = queries.distances
            if not np.isfinite(D).all():
                raise InvalidInput("new points need the distances to all training points; some are NaN or inf")
            return gram_coordinates(D.astype(np.float64) ** 2, self.row_means, self.values, self.vectors)
        if isinstance(trained.source, Blocks):
            return self._over_blocks(trained.source, queries)
        source = trained.points
        if run.device != "cpu":
            from lowfold.graph._on_device import squares_times

            products = squares_times(source, queries, self.vectors, run)
            if products is not None:
                return gram_products(self.row_means @ self.vectors - products, self.values)
        out = np.empty((len(queries), len(self.values)))
        for part in block_slices(len(queries), max(1, QUERIED // source.n)):
            rows = source.rows(queries[part])
            out[part] = gram_coordinates(rows**2, self.row_means, self.values, self.vectors)
        return out

    def _over_blocks(self, source: Blocks, queries: AnyFloats) -> Floats:
        """The same, the row of distances summed up block by block."""
        products, _ = block_products(source.rows, queries, DistanceTile(source.metric), self.vectors)
        return gram_products(self.row_means @ self.vectors + 2 * products, self.values)


@dataclass(frozen=True, eq=False)
class Unknown:
    """Where a map puts points of which the training points know nothing (`at`): it leads back to the mean.

    Training points that have no others like them (`apart`), wherever they are put, lead back to themselves and lend
    nothing to others.
    """

    at: Floats | None
    mean: Floats
    apart: Ints | None

    def themselves(self, Y: Floats, coordinates: Floats, rounding: float, run: Run) -> tuple[Ints, Ints]:
        """Which of the coordinates are those of points apart, and the rows of these; not where they are `at` too."""
        apart = np.empty(0, dtype=np.int64) if self.apart is None else self.apart
        if self.at is not None and len(apart):
            away = np.abs(Y[apart] - self.at).max(axis=1)
            apart = apart[away > TOLD_APART * rounding * np.abs(self.at).max()]
        if not len(apart):
            return apart, apart
        found = nearest(embedded(Y[apart]), 1, queries=np.ascontiguousarray(coordinates), run=run)
        row = apart[found.indices]
        same = np.flatnonzero(np.abs(coordinates - Y[row]).max(axis=1) <= rounding * np.abs(coordinates).max(axis=1))
        return same, row[same]


@dataclass(frozen=True, eq=False)
class Barycentric:
    """Back to data space: a point's barycentric weights among its nearest embedded points, applied to their data."""

    n_neighbors: int = 10
    reg: float = 1e-6
    unknown: Unknown | None = None

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        source = trained.source
        if not isinstance(source, (Points, Blocks)):
            raise InvalidInput(
                "inverse_transform needs the training points; this model was fitted on distances or a graph"
            )
        Y, lending = lenders(trained.coordinates, self.unknown)
        k = min(self.n_neighbors, len(lending))
        found = nearest(embedded(Y), k, queries=np.ascontiguousarray(coordinates), run=run).indices.reshape(-1, k)
        index = lending[found]
        X, places = _rows_among(source, np.maximum(index, 0))
        out = np.empty((len(coordinates), X.shape[1]), dtype=X.dtype)
        # coordinates were in the type of the data, and went through the output's linear map
        rounding = max(ROUNDING, LAST_DIGITS * float(np.finfo(X.dtype).eps))
        for part in block_slices(len(coordinates), max(1, TABLED // (k * X.shape[1]))):
            w = held_weights(coordinates[part], Y[found[part]], reg=self.reg, rounding=rounding)
            out[part] = lent(w, index[part], places[part], X, self.unknown)
        if self.unknown is not None:
            same, row = self.unknown.themselves(trained.coordinates, coordinates, rounding, run)
            out[same] = source.subset(row).X
        return out


def embedded(Y: Floats) -> Points:
    """Coordinates as points that neighbours are searched among."""
    return Points(np.ascontiguousarray(Y), resolve_metric("euclidean", None, None))


def lenders(Y: Floats, unknown: Unknown | None) -> tuple[Floats, Ints]:
    """Coordinates of the points that others are restored from, and their rows; -1 is the place of the unknown."""
    inside = np.flatnonzero(np.isfinite(Y).all(axis=1))
    if unknown is None:
        return Y[inside], inside
    if unknown.apart is not None:
        inside = np.setdiff1d(inside, unknown.apart)
    if unknown.at is None:
        return Y[inside], inside
    return np.vstack([Y[inside], unknown.at]), np.append(inside, -1)


def lent(w: Floats, index: Ints, places: Any, X: Any, unknown: Unknown | None) -> Floats:
    """sum_k w_mk x_mk, x the mean where `index` is -1."""
    if unknown is None:
        return _combined(w, places, X)
    nowhere = index < 0
    return _combined(np.where(nowhere, 0.0, w), places, X) + np.outer((w * nowhere).sum(axis=1), unknown.mean)


def _rows_among(source: Points | Blocks, index: Ints) -> tuple[Any, Ints]:
    """Rows, and where those of `index` are in them; of blocks these rows alone are brought here."""
    if isinstance(source, Points):
        return source.X, index
    kept, places = np.unique(index, return_inverse=True)
    return source.rows.take(kept), places.reshape(index.shape)


def _combined(w: Floats, index: Any, X: Any) -> Floats:
    """sum_k w_mk x_{index_mk}."""
    if isinstance(X, SparseRows):
        m, k = w.shape
        W = csr_array((w.ravel(), index.ravel(), np.arange(0, m * k + 1, k)), shape=(m, len(X)))
        return np.asarray((W @ X.csr).toarray())
    return np.asarray(np.einsum("mk,mkd->md", w, X[index].astype(np.float64, copy=False)))


@dataclass(frozen=True, eq=False)
class Impossible(Extension):
    """A map that cannot exist, with the reason in words."""

    reason: str
    looks: ClassVar[Looks] = "nearest"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        raise InvalidInput(self.reason)

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> NDArray[np.floating]:
        raise InvalidInput(self.reason)


@dataclass(frozen=True, eq=False)
class NearestCorner(Extension):
    """Extension of a piece of a few points: the new point takes the place of its nearest one."""

    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        return np.asarray(trained.coordinates[found.indices[found.indptr[:-1]]])


@dataclass(frozen=True, eq=False)
class Piece:
    """One embedded component: its rows, its own training context and maps, and where it was put."""

    rows: NDArray[np.int64]
    trained: Trained
    extend: Extension
    offset: Floats


@dataclass(frozen=True, eq=False)
class Pieces(Extension):
    """Components embedded one by one: a new point belongs to the component of its nearest training point.

    Where that component was not embedded (on_disconnected="largest"), the new point is NaN, as its neighbours are.
    """

    pieces: tuple[Piece, ...]
    piece_of: NDArray[np.int64]
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        first = self.piece_of[found.indices[found.indptr[:-1]]]
        out = np.full((found.n, trained.coordinates.shape[1]), np.nan)
        for p, piece in enumerate(self.pieces):
            mine = np.flatnonzero(first == p)
            if len(mine) == 0:
                continue
            near = among(found.take(mine), piece.rows)
            part = take(queries, mine, piece.rows)
            out[mine] = piece.extend.place(piece.trained, part, near, run) + piece.offset
        return out
