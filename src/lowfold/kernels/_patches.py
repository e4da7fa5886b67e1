"""Patches: small overlapping sets of points, and the inner products inside them.

Alignment kernels (LLE, LTSA, Hessian LLE) see the data only through patches. Inner products come from coordinates where
the metric has them, else from distances: <x_j - c, x_l - c> = -1/2 (H (D o D) H)_jl for the centroid c.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.stacks import equal_rows, spokes, stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import Measured, Pairs, Points, Sheet, Source
from lowfold.graph._types import Neighbors

NewPoints = NDArray[np.floating] | Neighbors  # rows of features or of distances, or the measured distances alone

RANK_TOL = 1e-7  # singular values are roots of a Gram matrix's eigenvalues: below this of the largest is rounding


@dataclass(frozen=True, eq=False)
class Patches:
    """Patch i is `members[indptr[i]:indptr[i+1]]`, indices into `n_points` points; `twin` marks those of `twins`."""

    indptr: Ints
    members: NDArray[np.int32]
    n_points: int
    twin: NDArray[np.bool_]

    @classmethod
    def around(cls, neighbors: Neighbors, *, include_self: bool = True) -> Patches:
        """N(i), with i itself first if `include_self`. A twin (see `twins`) is always in its own patch."""
        counts = neighbors.counts
        twin = twins(neighbors)
        own = np.ones(neighbors.n, dtype=np.int64) if include_self else twin.astype(np.int64)
        own[counts == 0] = 0  # a point without neighbours has no patch
        indptr = np.concatenate([[0], np.cumsum(counts + own)])
        if include_self and neighbors.k:  # one size: columns side by side
            columns = np.empty((neighbors.n, neighbors.k + 1), dtype=np.int32)
            columns[:, 0], columns[:, 1:] = np.arange(neighbors.n), neighbors.indices.reshape(neighbors.n, -1)
            return cls(indptr, columns.ravel(), neighbors.n_points, twin)
        members = np.empty(indptr[-1], dtype=np.int32)
        first = np.zeros(len(members), dtype=bool)
        first[indptr[:-1][own > 0]] = True
        members[first] = np.flatnonzero(own)
        members[~first] = neighbors.indices
        return cls(indptr, members, neighbors.n_points, twin)

    @property
    def n(self) -> int:
        return len(self.indptr) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.indptr)

    def groups(self, cost: int) -> Iterator[tuple[Ints, NDArray[np.int32], Ints]]:
        """Blocks of patches of one size K: their numbers (m,), members (m, K) and places in `members` (m, K).

        `cost` is the number of floats that one patch takes per member; a block takes about 16 MB.
        """
        for now, size in equal_rows(self.sizes, cost):
            places = self.indptr[now][:, None] + np.arange(size)
            yield now, self.members[places], places


def twins(neighbors: Neighbors) -> NDArray[np.bool_]:
    """Points whose only neighbour lies at distance zero: they repeat it and are placed with it."""
    single = neighbors.counts == 1
    single[single] = neighbors.distances[neighbors.indptr[:-1][single]] == 0
    return np.asarray(single)


class Geometry(Protocol):
    """Inner products inside patches."""

    @property
    def cost(self) -> int:
        """Floats per member that one patch takes."""
        ...

    @property
    def n_features(self) -> int:
        """Dimension of the space that the points fill at most; 0 where only distances are known."""
        ...

    def centred(self, index: NDArray[np.integer]) -> Floats:
        """(m, K, p): rows whose inner products are those of the members about their centroid."""
        ...

    def spokes(self, centre: NDArray[np.integer] | NewPoints, index: NDArray[np.integer]) -> Floats:
        """C (m, k, k): C_jl = <x_j - c, x_l - c> about `centre`: indices (m,) or new points."""
        ...

    def project(self, queries: NewPoints, index: NDArray[np.integer]) -> Floats:
        """(m, K): <x_j - mean, q - mean> for the members j of each patch and one new point q per patch."""
        ...


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Geometry of rows of features, where the metric is Euclidean. Differences are taken in float64."""

    F: NDArray[np.floating]
    points: Points

    @property
    def n_features(self) -> int:
        return int(self.F.shape[1])

    @property
    def cost(self) -> int:
        return self.n_features

    def centred(self, index: NDArray[np.integer]) -> Floats:
        P = self.points.turned[index].astype(np.float64, copy=False)
        P -= P[:, :1].copy()  # near zero first: far from the origin a mean would lose digits
        P -= P.mean(axis=1, keepdims=True)
        return np.asarray(P)

    def spokes(self, centre: NDArray[np.integer] | NewPoints, index: NDArray[np.integer]) -> Floats:
        assert isinstance(centre, np.ndarray)
        inside = centre.dtype.kind in "iu"
        F = self.points.turned if inside else self.F
        c = F[centre] if inside else self.points.features(np.asarray(centre))
        Z = spokes(F, index, c)
        return np.asarray(Z @ Z.transpose(0, 2, 1))

    def project(self, queries: NewPoints, index: NDArray[np.integer]) -> Floats:
        assert isinstance(queries, np.ndarray)
        P = self.F[index].astype(np.float64, copy=False)
        q = self.points.features(queries).astype(np.float64) - P[:, 0]
        P -= P[:, :1].copy()
        mean = P.mean(axis=1)
        return np.asarray(((P - mean[:, None]) @ (q - mean)[:, :, None])[:, :, 0])


@dataclass(frozen=True, eq=False)
class Lengths:
    """Geometry of distances alone: a matrix, a metric without a feature map, or the measured pairs of a sparse graph.

    A pair inside a patch that was not measured takes the shortest path inside the patch, and so does a new point with
    some of its distances.
    """

    source: Pairs | Points | Neighbors
    cost: int = 4
    n_features: int = 0

    def squared(self, index: NDArray[np.integer]) -> Floats:
        """(m, K, K) squared distances inside each patch."""
        if isinstance(self.source, Pairs):
            D = self.source.distances[index[:, :, None], index[:, None, :]].astype(np.float64)
            D[:, np.arange(D.shape[1]), np.arange(D.shape[1])] = 0.0
        elif isinstance(self.source, Points):
            k = index.shape[1]
            found = [self.source.rows(self.source.X[row], row) for row in index]
            D = np.stack(found) if found else np.empty((0, k, k))
        else:
            D = _stored(self.source, index)
        return _completed(D) ** 2

    def centred(self, index: NDArray[np.integer]) -> Floats:
        # Rows V sqrt(lambda): what negative curvature of the distances there is (lambda < 0) has no coordinates.
        values, V = stacked_eigh(double_centred(self.squared(index)))
        return np.asarray(V * np.sqrt(np.maximum(values, 0.0))[:, None, :])

    def spokes(self, centre: NDArray[np.integer] | NewPoints, index: NDArray[np.integer]) -> Floats:
        if isinstance(centre, np.ndarray) and centre.dtype.kind in "iu":
            S = self.squared(np.concatenate([centre[:, None].astype(np.int64), index], axis=1))
            to, S = S[:, 0, 1:], S[:, 1:, 1:]
        else:
            S = self.squared(index)
            to = self._to_queries(cast("NewPoints", centre), index, S)
        C = 0.5 * (to[:, :, None] + to[:, None, :] - S)
        values, V = stacked_eigh(C)
        if values.min(initial=0.0) < 0:  # distances that no points have: the nearest Gram matrix that some points have
            C = (V * np.maximum(values, 0.0)[:, None, :]) @ V.transpose(0, 2, 1)
        return C

    def project(self, queries: NewPoints, index: NDArray[np.integer]) -> Floats:
        S = self.squared(index)
        to = self._to_queries(queries, index, S)
        norms = np.diagonal(double_centred(S), axis1=1, axis2=2)
        T = 0.5 * (norms - to)
        return np.asarray(T - T.mean(axis=1, keepdims=True))

    def _to_queries(self, queries: NewPoints, index: NDArray[np.integer], inside: Floats) -> Floats:
        """Squared distances from each new point to the members of its patch; `inside` are theirs to each other."""
        if isinstance(self.source, Points):
            assert not isinstance(queries, Neighbors)
            found = [self.source.rows(queries[i : i + 1], row)[0] for i, row in enumerate(index)]
            return np.stack(found) ** 2 if found else np.empty((0, index.shape[1]))
        if isinstance(queries, Neighbors):
            D = _measured(queries, np.repeat(np.arange(len(index)), index.shape[1]), index.ravel()).reshape(index.shape)
        else:
            D = np.take_along_axis(queries, index.astype(np.int64), axis=1).astype(np.float64)
        gaps = ~np.isfinite(D)
        if gaps.any():
            paths = np.where(gaps, np.inf, D)[:, :, None] + np.sqrt(inside)
            D = np.where(gaps, paths.min(axis=1), D)
        if not np.isfinite(D).all():
            raise InvalidInput("a new point needs distances to the patch it falls into; all of them are NaN or inf")
        return np.asarray(D**2)


def geometry_of(source: Source | None, neighbors: Neighbors) -> Geometry:
    """Coordinates where the metric has them, else distances, else the lengths of the given graph."""
    if isinstance(source, Sheet):
        from lowfold.kernels._developed import Developed

        return Developed(source)
    if isinstance(source, Points):
        return Lengths(source) if source.metric.feature_map is None else Coordinates(source.features(), source)
    if isinstance(source, Pairs):
        return Lengths(source)
    return Lengths(source.pairs if isinstance(source, Measured) else neighbors)


def double_centred(S: Floats) -> Floats:
    """-1/2 H S H for a stack of squared distances."""
    rows = S.mean(axis=2, keepdims=True)
    return np.asarray(-0.5 * (S - rows - rows.transpose(0, 2, 1) + rows.mean(axis=1, keepdims=True)))


def _stored(pairs: Neighbors, index: NDArray[np.integer]) -> Floats:
    """Measured distances inside each patch, in whichever direction they were measured; NaN elsewhere."""
    m, K = index.shape
    D = _measured(pairs, np.repeat(index, K, axis=1).ravel(), np.tile(index, (1, K)).ravel()).reshape(m, K, K)
    D = np.fmin(D, D.transpose(0, 2, 1))
    D[:, np.arange(K), np.arange(K)] = 0.0
    return D


def _measured(pairs: Neighbors, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
    """The stored distances of those pairs, NaN where there is none."""
    keys = pairs.rows() * pairs.n_points + pairs.indices
    order = np.argsort(keys, kind="stable")
    keys, lengths = keys[order], pairs.distances[order]
    wanted = rows.astype(np.int64) * pairs.n_points + columns
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[place] == wanted, lengths[place], np.nan)


def _completed(D: Floats) -> Floats:
    """Distances with gaps filled by shortest paths inside the patch (Floyd's algorithm), symmetric."""
    D = np.fmin(D, D.transpose(0, 2, 1))
    if np.isfinite(D).all():
        return D
    D = np.where(np.isfinite(D), D, np.inf)
    paths = D.copy()
    for via in range(D.shape[1]):
        np.minimum(paths, paths[:, :, via, None] + paths[:, None, via, :], out=paths)
    if not np.isfinite(paths).all():
        raise InvalidInput(
            "a patch has points with no measured path between them inside the patch; measure more pairs, or use "
            "include_self=True"
        )
    return np.where(np.isfinite(D), D, paths)
