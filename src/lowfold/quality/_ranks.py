"""Measures that compare ranks of neighbours: who is whose k-th nearest, in the data and in the embedding.

r(i, j) is the rank of j among the others seen from i, by (distance, index), from 1. Blocks of rows are ranked one after
another; no matrix of pairs of ranks is ever formed.

Venna & Kaski (2001), doi:10.1007/3-540-44668-0_68; Lee & Verleysen (2009), doi:10.1016/j.neucom.2008.12.017;
Chen & Buja (2009), doi:10.1198/jasa.2009.0111; Lee, Peluffo-Ordonez & Verleysen (2015),
doi:10.1016/j.neucom.2014.12.095.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.limits import Int, Null, check_limits
from lowfold._core.parallel import block_slices, run_blocks, single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold._cuda._device import active, on_cpu
from lowfold._cuda._ranks import compare_ranks, rank_step
from lowfold.graph._reading import MetricLike
from lowfold.quality._score import Score
from lowfold.quality._spaces import PointSpace, Space, by_rows, read_both, row_step

_LOOPS = "lowfold.quality._rank_loops"
DEFAULT_K = 10  # neighbours that rank measures look at unless told, at most half of the others
GROUPS = 64  # of blocks: each has a count per neighbourhood size of its own


@dataclass(frozen=True, eq=False)
class NeighborRanks:
    """Ranks across: of_embedding[i, a] is the rank in the DATA of the a-th neighbour of i in the embedding; of_data the
    rank in the embedding of the a-th neighbour in the data. One pass gives every measure of one k. `n_points` is the
    number of points where only some were looked at, whose rows these are; None where it is all.

    >>> R = neighbor_ranks([[0.0], [1.0], [3.0], [6.0]], [[0.0], [1.0], [3.0], [6.0]], 1)
    >>> R.trustworthiness().value, R.continuity().value, R.lcmc().value
    (1.0, 1.0, 0.6666666666666667)
    """

    of_embedding: NDArray[np.int32]
    of_data: NDArray[np.int32]
    n_points: int | None = None

    __repr__ = brief

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.of_data) if self.n_points is None else self.n_points

    @property
    def k(self) -> int:
        """Number of neighbours looked at."""
        return int(self.of_data.shape[1])

    def trustworthiness(self) -> Score:
        """See `lowfold.quality.trustworthiness`."""
        return Score(f"trustworthiness(k={self.k})", *_kept(self.of_embedding, self.n))

    def continuity(self) -> Score:
        """See `lowfold.quality.continuity`."""
        return Score(f"continuity(k={self.k})", *_kept(self.of_data, self.n))

    def mrre(self, side: str = "embedding") -> Score:
        """See `lowfold.quality.mrre`."""
        if side not in ("embedding", "data"):
            raise InvalidInput(f"side must be 'embedding' or 'data', whose neighbours are looked at; got {side!r}")
        ranks = self.of_embedding if side == "embedding" else self.of_data
        return Score(f"mrre(k={self.k}, {side})", *_relative(ranks, self.n))

    def overlap(self) -> Score:
        """Q_NX(k): the share of the k neighbours in the data that are among the k neighbours in the embedding."""
        shared = (self.of_data <= self.k).mean(axis=1)
        return Score(f"q_nx(k={self.k})", float(shared.mean()), 1.0, shared)

    def lcmc(self) -> Score:
        """See `lowfold.quality.lcmc`."""
        chance = self.k / (self.n - 1)
        shared = (self.of_data <= self.k).mean(axis=1) - chance
        return Score(f"lcmc(k={self.k})", float(shared.mean()), 1.0 - chance, shared)


def _kept(ranks: NDArray[np.int32], n: int) -> tuple[float, float, Floats]:
    """1 - (2 / G) sum of (rank - k) over neighbours whose rank across is beyond k; G is the largest possible sum."""
    k = ranks.shape[1]
    largest = k * (2 * n - 3 * k - 1) if 2 * k < n else (n - k) * (n - k - 1)
    points = 1.0 - 2.0 * np.maximum(ranks.astype(np.int64) - k, 0).sum(axis=1) / largest
    return float(points.mean()), 1.0, points


def _relative(ranks: NDArray[np.int32], n: int) -> tuple[float, float, Floats]:
    """(1 / H) sum over the neighbours a = 1..k of |rank - a| / a, with H = sum |n - 2a| / a, that of reversed ranks."""
    k = ranks.shape[1]
    a = np.arange(1, k + 1)
    points = (np.abs(ranks - a) / a).sum(axis=1) / (np.abs(n - 2 * a) / a).sum()
    return float(points.mean()), 0.0, points


def neighbor_ranks(
    X: Any,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> NeighborRanks:
    """Ranks in one space of the k nearest neighbours in the other, for `n_neighbors` (None: min(10, (n - 1) // 2))."""
    space, image = read_both(X, Y, metric, metric_params)
    k = resolve_k(space.n, n_neighbors)
    loops = compiled(_LOOPS)
    of_embedding = np.empty((space.n, k), dtype=np.int32)
    of_data = np.empty((space.n, k), dtype=np.int32)

    def work(_: int, rows: Ints) -> None:
        D, E = space.rows(rows), image.rows(rows)
        found = np.empty((len(rows), k), dtype=np.int64)
        loops.nearest_in_rows(E, rows, k, found)
        loops.ranks_in_rows(D, rows, found, of_embedding[rows[0] : rows[-1] + 1])
        loops.nearest_in_rows(D, rows, k, found)
        loops.ranks_in_rows(E, rows, found, of_data[rows[0] : rows[-1] + 1])

    by_rows(space.n, work, n_jobs)
    return NeighborRanks(of_embedding, of_data)


def resolve_k(n: int, n_neighbors: int | None) -> int:
    check_limits("the rank measures", {"n_neighbors": n_neighbors}, {"n_neighbors": (Int(1), Null())})
    k = min(DEFAULT_K, (n - 1) // 2) if n_neighbors is None else int(n_neighbors)
    if k > n - 2:
        raise InvalidInput(
            f"n_neighbors must be at most {n - 2} for {n} points, else every point is a neighbour; got {k}"
        )
    return k


def trustworthiness(
    X: Any,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """Are the neighbours that the picture shows neighbours in the data? 1 if so, about 0.5 for random positions.

    T(k) = 1 - 2 / (n k (2n - 3k - 1)) sum_i sum_{j in the k nearest of i in Y} max(0, r_X(i, j) - k); for k >= n / 2
    the factor is 2 / (n (n - k)(n - k - 1)). Venna & Kaski (2001), doi:10.1007/3-540-44668-0_68.

    Parameters
    ----------
    X : the data: points, a matrix of distances (metric="precomputed"), or a `Graph`, whose shortest paths are taken
        (the geodesic version).
    Y : array (n, d), the embedding.
    n_neighbors : int or None, k; None is min(10, (n - 1) // 2).
    metric, metric_params : distance among the rows of X.
    n_jobs : threads; the result does not depend on it.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> trustworthiness(X, 2 * X).value
    1.0
    """
    ranks = neighbor_ranks(X, Y, n_neighbors, metric=metric, metric_params=metric_params, n_jobs=n_jobs)
    return ranks.trustworthiness()


def continuity(
    X: Any,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """Are neighbours in the data still neighbours in the picture? `trustworthiness` with X and Y exchanged.

    It falls where the map tears, trustworthiness where it folds. Venna & Kaski (2001). Parameters as there.
    """
    return neighbor_ranks(X, Y, n_neighbors, metric=metric, metric_params=metric_params, n_jobs=n_jobs).continuity()


def mrre(
    X: Any,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    side: str = "embedding",
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """Mean relative rank error, 0 if the k nearest keep their ranks, 1 if all ranks are reversed.

    (1 / (n H)) sum_i sum_{j in the k nearest of i in Y} |r_X(i, j) - r_Y(i, j)| / r_Y(i, j), H = sum_{a=1..k} |n - 2a|
    / a; with side="data" over the k nearest in X, divided by r_X. Lee & Verleysen (2009). Other parameters as in
    `trustworthiness`.
    """
    return neighbor_ranks(X, Y, n_neighbors, metric=metric, metric_params=metric_params, n_jobs=n_jobs).mrre(side)


def lcmc(
    X: Any,
    Y: ArrayLike,
    n_neighbors: int | None = None,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Score:
    """Local continuity meta-criterion: Q_NX(k) - k / (n - 1), the shared neighbours beyond chance.

    Chen & Buja (2009). Parameters as in `trustworthiness`.
    """
    return neighbor_ranks(X, Y, n_neighbors, metric=metric, metric_params=metric_params, n_jobs=n_jobs).lcmc()


@dataclass(frozen=True, eq=False)
class NeighborhoodCurve:
    """How many neighbours are kept, for every size K = 1..n-2 of the neighbourhood.

    q_nx    (n-2,) share of the K nearest in the data that are among the K nearest in the embedding
    r_nx    (n-2,) the same beyond chance, ((n-1) Q_NX - K) / (n-1-K): 1 perfect, 0 random
    lcmc    (n-2,) Q_NX - K / (n-1)
    area    mean of R_NX weighted by 1/K, so that every scale counts alike
    k_max   the K of the largest lcmc: up to there the embedding is local
    points  (n,) the area at every point
    """

    q_nx: Floats
    area: float
    points: Floats

    __repr__ = brief

    @property
    def sizes(self) -> Ints:
        """K = 1..n-2."""
        return np.arange(1, len(self.q_nx) + 1)

    @property
    def r_nx(self) -> Floats:
        """((n-1) Q_NX(K) - K) / (n-1-K)."""
        return _beyond_chance(self.q_nx)

    @property
    def lcmc(self) -> Floats:
        """Q_NX(K) - K / (n-1)."""
        return np.asarray(self.q_nx - self.sizes / (len(self.q_nx) + 1))

    @property
    def k_max(self) -> int:
        """The K at which lcmc is largest."""
        return int(np.argmax(self.lcmc)) + 1

    def score(self) -> Score:
        """The area as a `Score`."""
        return Score("r_nx area", self.area, 1.0, self.points)


def _beyond_chance(q: Floats) -> Floats:
    """R_NX from Q_NX at K = 1..n-2, along the last axis."""
    others = q.shape[-1] + 1
    K = np.arange(1, others)
    return np.asarray((others * q - K) / (others - K))


def neighborhood_preservation(
    X: Any,
    Y: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> NeighborhoodCurve:
    """Q_NX and R_NX for neighbourhoods of every size, and the area under R_NX over log K.

    Q_NX(K) = (1 / (n K)) #{(i, j): r_X(i, j) <= K and r_Y(i, j) <= K}: only max(r_X, r_Y) matters, so that one count
    per K stands for the whole co-ranking matrix. Every row of distances is sorted in both spaces, O(n^2 log n).
    Lee, Peluffo-Ordonez & Verleysen (2015). Parameters as in `trustworthiness`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> neighborhood_preservation(X, -X).area
    1.0
    """
    space, image = read_both(X, Y, metric, metric_params)
    return compare_all(space, image, np.arange(space.n), 1, n_jobs).curve


@dataclass(frozen=True, eq=False)
class Comparison:
    """What one pass over the distances of some rows gives: ranks across, the curve of shared neighbours, each row's
    rank correlation, and sums over pairs.
    """

    ranks: NeighborRanks
    curve: NeighborhoodCurve
    correlation: Floats
    sums: Floats


def compare_all(space: Space, image: Space, rows: Ints, k: int, n_jobs: int | None) -> Comparison:
    """Rank all points seen from each of `rows` in both spaces, and sum over pairs, block by block.

    Counts are whole numbers, so that their sum over blocks does not depend on the order.
    """
    twin = _compare_on_device(space, image, rows, k)
    if twin is not None:
        return twin
    n, m = space.n, len(rows)
    loops = compiled(_LOOPS)
    of_embedding, of_data = np.empty((m, k), dtype=np.int32), np.empty((m, k), dtype=np.int32)
    points, correlation, sums = np.empty(m), np.empty(m), np.empty((6, m))
    weights = _weights(n)
    parts = block_slices(m, row_step(n))
    groups = block_slices(len(parts), -(-len(parts) // GROUPS))
    kept = np.zeros((len(groups), n - 2), dtype=np.int64)

    def work(g: int) -> None:
        for part in parts[groups[g]]:
            D, E = space.rows(rows[part]), image.rows(rows[part])
            own = (of_embedding[part], of_data[part], kept[g], points[part], correlation[part])
            loops.compare_rows(D, E, rows[part], weights, *own)
            loops.pair_sums_of_rows(D, E, sums[:, part])

    with single_threaded_blas():
        run_blocks(work, len(groups), n_jobs=n_jobs)
    return _comparison(of_embedding, of_data, kept.sum(axis=0), points, correlation, sums)


def _weights(n: int) -> Floats:
    """Of the sizes K = 1..n-2 in the area: 1 / K, summing to 1."""
    weights = 1.0 / np.arange(1, n - 1)
    return np.asarray(weights / weights.sum())


def _comparison(
    of_embedding: NDArray[np.int32],
    of_data: NDArray[np.int32],
    kept: Ints,
    points: Floats,
    correlation: Floats,
    sums: Floats,
) -> Comparison:
    n, m = len(kept) + 2, len(points)
    q_nx = kept / (m * np.arange(1, n - 1))
    curve = NeighborhoodCurve(q_nx, float(_beyond_chance(q_nx) @ _weights(n)), points)
    return Comparison(NeighborRanks(of_embedding, of_data, n), curve, correlation, sums)


def _compare_on_device(space: Space, image: Space, rows: Ints, k: int) -> Comparison | None:
    """The same on the device of the settings, for points whose distances are Euclidean; None where the CPU has to."""
    device = active(Run())
    if device is None:
        return None
    X, Y = _euclidean(space), _euclidean(image)
    if X is None or Y is None:
        on_cpu("a comparison of ranks", "the device takes points with Euclidean distances")
        return None
    if rank_step(device, space.n) == 0:
        on_cpu("a comparison of ranks", "the device has not the room for one row of distances")
        return None
    points = device.put(X, np.float64), device.put(Y, np.float64)
    return _comparison(*compare_ranks(device, *points, rows, k, _weights(space.n)))


def _euclidean(space: Space) -> AnyFloats | None:
    """Coordinates whose distances are those of the space, where it has such."""
    if not isinstance(space, PointSpace) or space.source.metric.finish is not None:
        return None
    return None if space.source.metric.feature_map is None else np.ascontiguousarray(space.source.features())
