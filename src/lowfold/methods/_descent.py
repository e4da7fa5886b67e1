"""What the methods by stress share: dissimilarities as terms of a stress function, where to start, what to report."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold._core.memory import fits
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.rounding import NO_DIVISOR, UNEVEN
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._components import components
from lowfold.graph._geodesics import geodesics
from lowfold.graph._source import Measured, Pairs, Points
from lowfold.graph._types import Graph
from lowfold.lowrank._principal import principal_axes
from lowfold.methods._fit import Data
from lowfold.methods._placing.maps import gram_coordinates
from lowfold.metrics._pairwise import pairwise
from lowfold.optimize._stress import Computed, EdgeTerms, Held, PairTerms, There
from lowfold.spectral._doors import largest
from lowfold.spectral._types import existing_values

FLOAT32_ABOVE = 5_000  # points; dissimilarities are kept in float32 above
LANDMARKS = 500  # points that the classical start of a large set is computed from
PATHS_FROM = 200  # landmarks when dissimilarities are missing: shortest paths are found from these only
ZERO_COLUMN = 1e-9  # of the longest column: the data have no such direction, and rounding made it
NOISE = 0.1  # of the spread, for such a column: enough to leave the saddle, too little to disturb the others
FITTED = 1e-12  # of the sum of squared dissimilarities: stress that no further column can lower
ASYMMETRY = 1e-9  # of a weight: those of a formula are symmetric to rounding, and given ones are not repaired
SHOWN = 3  # points that are named of a group apart
HELD = 0.8  # of the memory budget may go into the matrix of dissimilarities; the descent needs the rest


class Shepard(NamedTuple):
    """Pairs of points: given dissimilarity, distance in the embedding, and what the method fitted it to."""

    dissimilarities: Floats
    distances: Floats
    disparities: Floats


# Dissimilarities ----------------------------------------------------------------------------------------------------


def stress_terms(data: Data, weights: Any, run: Run, *, there: bool = False) -> PairTerms | EdgeTerms:
    """The stress function of the data: `weights` is None, "sammon" or a matrix; unmeasured pairs are left out.

    Where the run's device makes all sums, the distances of points may be `there` alone.
    """
    W = None if weights is None or isinstance(weights, str) else _weight_matrix(weights, data.n)
    source = data.source
    if isinstance(source, Points):
        delta = (_distances_there(source, run) if there else None) or point_distances(source, run)
        terms: PairTerms | EdgeTerms = _pair_terms(delta, weights, W, run, complete=True)
    elif isinstance(source, Pairs):
        D = symmetric_dissimilarities(source.distances)
        terms = _pair_terms(Held(D), weights, W, run, complete=_complete(D))
    else:
        terms = _edge_terms(_measured_graph(data), weights, W, run)
    _refuse_pieces(terms)
    return terms


def point_distances(source: Points, run: Run) -> Held | Computed:
    """Held in float64 up to 5,000 points, in float32 above; made anew in every pass where the budget has no room."""
    n, X, metric = source.n, source.X, source.metric
    if n <= FLOAT32_ABOVE:
        return Held(np.asarray(pairwise(X.astype(np.float64, copy=False), metric=metric, n_jobs=run.n_jobs)))
    computed = Computed(n, lambda part: metric.pairwise(X, X[part]))
    if not fits(4.0 * n * n, share=HELD):
        return computed
    D = np.empty((n, n), dtype=np.float32)
    parts = block_slices(n, 256)

    def work(b: int) -> None:
        D[:, parts[b]] = computed.columns(parts[b])

    with run.stage("distances") as progress:
        run_blocks(work, len(parts), n_jobs=run.n_jobs, progress=progress)
    return Held(D)


def _distances_there(source: Points, run: Run) -> There | None:
    """The same on the run's device; None on the CPU."""
    if run.device == "cpu":
        return None
    from lowfold.graph._on_device import pairs_on_device

    dtype = np.float64 if source.n <= FLOAT32_ABOVE else np.float32
    with run.stage("distances on the device"):
        found = pairs_on_device(source, dtype, run, filled=False)
    return None if found is None else There(found.D, found.device)


def held_bytes(data: Data) -> tuple[float, bool]:
    """Bytes of the distances that a fit makes of points, and whether they stay in memory; given ones need no more."""
    n = float(data.n)
    if not isinstance(data.source, Points):
        return 0.0, True
    if n <= FLOAT32_ABOVE:
        return 8.0 * n * n, True
    held = fits(4.0 * n * n, share=HELD)
    return (4.0 * n * n if held else 8.0 * n * 256), held


def symmetric_dissimilarities(D: NDArray[np.floating]) -> NDArray[np.floating]:
    """Symmetric with a zero diagonal; a change is told once. A pair measured one way only takes that value."""
    n = len(D)
    uneven = 0.0
    for part in block_slices(n, 1024):
        A, B = D[part], D[:, part].T
        same = (A == B) | (~np.isfinite(A) & ~np.isfinite(B))
        if not same.all():
            gap = np.where(same, 0.0, np.abs(np.where(np.isfinite(A), A, 0.0) - np.where(np.isfinite(B), B, 0.0)))
            uneven = max(uneven, float(gap.max()))
    size = float(np.max(D, initial=0.0, where=np.isfinite(D)))
    if uneven > 0.0:
        if uneven > UNEVEN * size:
            warn(
                f"the dissimilarities are not symmetric (up to {uneven:.3g}); the mean of both directions is used",
                RepairWarning,
            )
        known = np.isfinite(D)
        filled = np.where(known, D, D.T)
        D = (filled + filled.T) / 2
    diagonal = np.diagonal(D)
    if np.any(diagonal[np.isfinite(diagonal)] != 0):
        words = "the dissimilarity of a point to itself is not zero; it is taken as zero"
        warn(words, RepairWarning)
    if np.any(diagonal != 0):
        D = D.copy()
        np.fill_diagonal(D, 0.0)
    if n <= FLOAT32_ABOVE:
        D = D.astype(np.float64, copy=False)
    return np.ascontiguousarray(D)


def _complete(D: NDArray[np.floating]) -> bool:
    return all(bool(np.isfinite(D[part]).all()) for part in block_slices(len(D), 1024))


def _weight_matrix(weights: Any, n: int) -> NDArray[np.floating]:
    W = np.asarray(weights)
    if W.shape != (n, n):
        raise InvalidInput(f"weights must be a matrix with a row and a column per point, {(n, n)}; got shape {W.shape}")
    if W.min() < 0 or not np.allclose(W, W.T, rtol=ASYMMETRY, atol=0):
        raise InvalidInput("weights must be symmetric and 0 or more; use (W + W.T) / 2, and 0 for a pair to leave out")
    return np.ascontiguousarray(W, dtype=np.float64)


def _pair_terms(delta: Held | Computed | There, weights: Any, W: Any, run: Run, *, complete: bool) -> PairTerms:
    kind = "unit" if weights is None else ("sammon" if W is None else "given")
    small = _smallest(delta) if kind == "sammon" else 1.0
    if W is None:
        return PairTerms(delta, kind, complete=complete, small=small, n_jobs=run.n_jobs, device=run.device)
    return PairTerms(delta, kind, W, complete, small, run.n_jobs)


def _smallest(delta: Held | Computed | There) -> float:
    """The smallest dissimilarity above zero; 1 where there is none."""
    low = np.inf
    for part in block_slices(delta.n, 256):
        D, first = delta.strip(part)
        strip = D[:, first : first + part.stop - part.start]
        low = min(low, float(np.min(strip, initial=np.inf, where=strip > 0)))
    return low if np.isfinite(low) else 1.0


def _measured_graph(data: Data) -> Graph:
    """Measured pairs as a graph; a pair measured both ways has the mean length."""
    if data.graph is not None:
        return data.graph
    pairs = data.neighbors if data.neighbors is not None else data.source.pairs  # type: ignore[union-attr]
    rows = pairs.rows()
    low, high = np.minimum(rows, pairs.indices), np.maximum(rows, pairs.indices)
    key, place = np.unique(low * np.int64(pairs.n) + high, return_inverse=True)
    lengths = np.bincount(place, weights=pairs.distances) / np.bincount(place)
    return Graph.from_edges(pairs.n, np.column_stack([key // pairs.n, key % pairs.n]), lengths)


def _edge_terms(graph: Graph, weights: Any, W: Any, run: Run) -> EdgeTerms:
    rows = graph.rows()
    once = rows < graph.indices
    i, j, delta = rows[once].astype(np.int32), graph.indices[once].astype(np.int32), graph.lengths[once]
    weight = np.empty(0)
    if W is not None:
        weight = W[i, j]
        kept = weight > 0
        i, j, delta, weight = i[kept], j[kept], delta[kept], weight[kept]
    elif weights == "sammon":
        positive = delta[delta > 0]
        weight = 1.0 / np.where(delta > 0, delta, positive.min() if len(positive) else 1.0)
    return EdgeTerms(graph.n, i, j, delta, weight, run.n_jobs)


def _refuse_pieces(terms: PairTerms | EdgeTerms) -> None:
    if isinstance(terms, PairTerms) and terms.complete:
        if terms.weights != "given" or (terms.W > 0).sum() >= terms.n * (terms.n - 1):
            return
        labels = components(Graph.from_edges(terms.n, np.argwhere(np.triu(terms.W > 0, 1))))
    else:
        labels = components(measured_graph(terms))
    if labels.max() > 0:
        few = ", ".join(map(str, np.flatnonzero(labels == labels.max())[:SHOWN]))
        raise InvalidInput(
            f"the measured pairs of positive weight fall into {labels.max() + 1} groups of points without a pair "
            "between them, so their places to each other are not determined; measure pairs between the groups, or "
            f"embed each alone; of the last group are the points {few}"
        )


def measured_graph(terms: PairTerms | EdgeTerms) -> Graph:
    """The pairs that count, as a graph with the dissimilarities as lengths."""
    if isinstance(terms, EdgeTerms):
        return Graph.from_edges(terms.n, np.column_stack([terms.i, terms.j]), terms.delta)
    assert isinstance(terms.delta, Held)
    D = terms.delta.matrix
    known = np.isfinite(D)
    if terms.weights == "given":
        known &= terms.W > 0
    i, j = np.nonzero(np.triu(known, 1))
    return Graph.from_edges(terms.n, np.column_stack([i, j]), D[i, j])


def all_edges(terms: PairTerms | EdgeTerms) -> EdgeTerms:
    """Every measured pair in a list, for methods that rank pairs."""
    if isinstance(terms, EdgeTerms):
        return terms
    assert isinstance(terms.delta, Held)
    D = terms.delta.matrix
    i, j = np.triu_indices(terms.n, 1)
    delta = D[i, j].astype(np.float64)
    known = np.isfinite(delta)
    weight: Floats = np.empty(0)
    if terms.weights == "given":
        known &= terms.W[i, j] > 0
        weight = np.asarray(terms.W[i, j][known], dtype=np.float64)
    return EdgeTerms(terms.n, i[known].astype(np.int32), j[known].astype(np.int32), delta[known], weight, terms.n_jobs)


# Starts -------------------------------------------------------------------------------------------------------------


def start(terms: PairTerms | EdgeTerms, data: Data, init: Any, d: int, landmarks: int | None, run: Run) -> Floats:
    """Where the descent begins: "classical", "random" or an array (n, d)."""
    if not isinstance(init, str):
        Y = np.array(init, dtype=np.float64)
        if Y.shape != (terms.n, d):
            raise InvalidInput(f"init must have shape {(terms.n, d)}, a row per point; got {Y.shape}")
        return Y
    if init == "random":
        return random_start(terms, d, run)
    Y = classical_start(terms, data, d, landmarks, run)
    return _filled(Y, terms, run)


def random_start(terms: PairTerms | EdgeTerms, d: int, run: Run) -> Floats:
    """Normal, then at the scale where stress is least."""
    Y = run.rng.normal(size=(terms.n, d))
    return Y * (terms.sums(Y).scale or 1.0)


def classical_start(terms: PairTerms | EdgeTerms, data: Data, d: int, landmarks: int | None, run: Run) -> Floats:
    """Classical MDS: PCA of points where that is the same, of all pairs, or of landmarks with the rest triangulated."""
    n, source = terms.n, data.source
    complete = isinstance(terms, PairTerms) and terms.complete
    if landmarks is None and isinstance(source, Points) and source.metric.feature_map and not source.metric.finish:
        F = source.features()
        k = min(d, *F.shape)
        mean = F.mean(axis=0, dtype=np.float64)
        axes = principal_axes(F, mean, k, run=Run(n_jobs=run.n_jobs))
        Y = np.concatenate([(F[part] - mean) @ axes.V for part in block_slices(n, 65_536)])
        return np.hstack([Y, np.zeros((n, d - k))])
    few = (LANDMARKS if complete else PATHS_FROM) if landmarks is None else landmarks
    everything = landmarks is None and complete and n <= FLOAT32_ABOVE
    if everything or few >= n:
        rows = np.arange(n)
    else:
        rows = np.sort(run.rng.choice(n, size=max(few, d + 1), replace=False))
    if complete:
        across = _columns(terms, rows)  # type: ignore[arg-type]
    else:
        across = geodesics(measured_graph(terms), rows, dtype=np.float64, run=run).T
    return _landmark_coordinates(np.asarray(across, dtype=np.float64), rows, d)


def _columns(terms: PairTerms, rows: NDArray[np.int64]) -> NDArray[np.floating]:
    if isinstance(terms.delta, Held):
        return terms.delta.matrix if len(rows) == terms.n else terms.delta.matrix[:, rows]
    return np.column_stack([terms.delta.strip(slice(r, r + 1))[0][:, 0] for r in rows])


def _landmark_coordinates(across: Floats, rows: NDArray[np.int64], d: int) -> Floats:
    """Classical MDS of the landmarks `rows`, everything placed by its distances `across` (n, landmarks) to them."""
    from lowfold._core.operators import CentredGram

    G = CentredGram(np.ascontiguousarray(across[rows]))
    k = min(d, len(rows) - 1)
    pairs = largest(G, k, null=np.ones((len(rows), 1)), negligible=1.0)
    kept = existing_values(pairs.values)
    Y = gram_coordinates(across**2, G.row_means(), kept, pairs.vectors)
    return np.hstack([Y, np.zeros((len(across), d - k))])


def _filled(Y: Floats, terms: PairTerms | EdgeTerms, run: Run) -> Floats:
    """A column of zeros would stay zero for ever; where stress is left it gets a little noise."""
    size = np.linalg.norm(Y, axis=0)
    empty = size <= ZERO_COLUMN * max(float(size.max(initial=0.0)), NO_DIVISOR)
    if not empty.any() or terms.sums(Y).scaled_raw <= FITTED * terms.total:
        return Y
    spread = float(np.sqrt(np.mean(Y**2))) or float(np.sqrt(terms.total)) / terms.n
    Y[:, empty] = NOISE * spread * run.rng.normal(size=(terms.n, int(empty.sum())))
    return Y


# Reports ------------------------------------------------------------------------------------------------------------


def shepard_pairs(terms: PairTerms | EdgeTerms, Y: Floats, p: float, max_pairs: int) -> tuple[Floats, Floats]:
    """Dissimilarities and distances of at most about `max_pairs` measured pairs, from evenly spaced points."""
    if isinstance(terms, PairTerms):
        m = min(terms.n, int(np.ceil(np.sqrt(2.0 * max_pairs))) + 1)
        rows = np.linspace(0, terms.n - 1, m).astype(np.int64)
        D = _columns(terms, rows)[rows]
        a, b = np.triu_indices(m, 1)
        i, j, delta = rows[a], rows[b], D[a, b].astype(np.float64)
    else:
        chosen = np.linspace(0, len(terms.i) - 1, min(max_pairs, len(terms.i))).astype(np.int64)
        i, j, delta = terms.i[chosen].astype(np.int64), terms.j[chosen].astype(np.int64), terms.delta[chosen]
    known = np.isfinite(delta)
    i, j, delta = i[known], j[known], delta[known]
    edges = EdgeTerms(terms.n, i.astype(np.int32), j.astype(np.int32), delta)
    return delta, edges.distances(np.ascontiguousarray(Y), p)


def weight_operator(terms: PairTerms | EdgeTerms, Y: Floats) -> NDArray[np.float64]:
    """B(Y): b_ij = -w_ij delta_ij / d_ij off the diagonal, minus the row sum on it."""
    edges = all_edges(terms)
    d = edges.distances(np.ascontiguousarray(Y))
    w = edges.weight if len(edges.weight) else np.ones(len(d))
    if isinstance(terms, PairTerms) and terms.weights == "sammon":
        w = 1.0 / np.where(edges.delta > 0, edges.delta, terms.small)
    ratio = np.where(d > 0, w * edges.delta / np.where(d > 0, d, 1.0), 0.0)
    A = csr_array((ratio, (edges.i, edges.j)), shape=(edges.n, edges.n)).toarray()
    A += A.T
    B = -A
    np.fill_diagonal(B, A.sum(axis=1))
    return np.asarray(B)


def measured_columns(queries: Any, source: Any, rows: slice) -> NDArray[np.floating]:
    """Dissimilarities of all training points (rows) to some queries (columns), NaN where unmeasured."""
    if isinstance(queries, Pairs):
        return np.ascontiguousarray(queries.distances[rows].T, dtype=np.float64)
    if isinstance(queries, Measured):
        part = queries.pairs.take(np.arange(rows.start, rows.stop))
        D = np.full((part.n_points, part.n), np.nan)
        D[part.indices, part.rows()] = part.distances
        return D
    return np.ascontiguousarray(source.metric.pairwise(source.X, queries[rows]), dtype=np.float64)
