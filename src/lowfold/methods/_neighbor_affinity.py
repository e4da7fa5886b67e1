"""From data to the affinities P of a neighbour embedding, and where its layout starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import fits
from lowfold._core.operators import SparseOperator
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._cuda._device import without_twin
from lowfold.graph._search import nearest
from lowfold.graph._source import Measured, Pairs, Points
from lowfold.lowrank._principal import principal_axes
from lowfold.methods._descent import classical_start, stress_terms, symmetric_dissimilarities
from lowfold.methods._fit import Data, known_source
from lowfold.optimize._neighbor import DenseAffinities, SparseAffinities
from lowfold.optimize._perplexity import (
    Bandwidths,
    joined_probabilities,
    joint_bandwidth,
    row_bandwidths,
    row_entropy,
    row_probabilities,
)
from lowfold.optimize._stress import Computed, PairTerms
from lowfold.spectral._doors import largest

EXACT = 1_000  # points up to which t-SNE takes P of all pairs: reading so large a P in each step takes the time
# Points up to which P is one block in memory in any case, and where COPIES of it fit the budget (P, the factor of its
# Laplacian, strips). Beyond, its strips are made in each step, which takes longer than all else in it.
HELD, MOST_HELD, COPIES = 4_096, 10_000, 4
ROWS = 256  # of distances to all points that are worked on at a time
PERPLEXITY = 30.0  # the default, in the middle of the 5 to 50 of van der Maaten & Hinton (2008)
# Spread of the first layout: their N(0, 1e-4 I), and principal components in the size that Kobak & Berens (2019)
# advise, so small that at first all pairs attract alike. A column that is EMPTY, in shares of the first, gets noise of
# that size.
RANDOM, PRINCIPAL, EMPTY = 1e-2, 1e-4, 1e-9
LANDMARKS = 500  # points that a classical start is computed from where distances are made anew in every pass
PER_PERPLEXITY = 3  # neighbours kept for each unit of perplexity: the rest has a probability below 1e-3 or so


def is_held(n: int) -> bool:
    """Whether P of n points is one block in memory."""
    return n <= HELD or (n <= MOST_HELD and fits(8.0 * COPIES * n * n))


def resolve_perplexity(perplexity: Any, n: int) -> Any:
    """The number asked for, or the array of them; None is min(30, (n - 1) / 3), at least 1."""
    if np.ndim(perplexity) == 1 and len(perplexity):
        return np.array([resolve_perplexity(float(one), n) for one in perplexity])
    if perplexity is None:
        return max(1.0, min(PERPLEXITY, (n - 1) / 3))
    if perplexity < 1:
        raise InvalidInput(f"perplexity must be at least 1, that of a single neighbour; got {perplexity:g}")
    if perplexity > n - 1:
        raise InvalidInput(
            f"perplexity must be at most n_samples - 1 = {n - 1}, the neighbours that a point has; got {perplexity:g}"
        )
    return float(perplexity)


def repaired(data: Data) -> Data:
    """With given distances made symmetric: P and the start are both made of them, and what was mended is told once."""
    if not isinstance(data.source, Pairs):
        return data
    return replace(data, source=Pairs(symmetric_dissimilarities(data.source.distances)))


def squared_rows(data: Data) -> Callable[[slice], Floats]:
    """Squared distances of some points (rows) to all, inf to themselves."""
    source = data.source
    if isinstance(source, Pairs):
        D = symmetric_dissimilarities(source.distances)
        if not np.isfinite(D).all():
            raise InvalidInput(
                "some pairs are unmeasured, and probabilities of all pairs are needed; pass a sparse matrix of the "
                'measured pairs to TSNE(method="neighbors")'
            )

        def rows(part: slice) -> Floats:
            return _own_left_out(D[part].astype(np.float64) ** 2, part)

        return rows
    if not isinstance(source, Points):
        raise InvalidInput('a sparse matrix of distances has unmeasured pairs; use TSNE(method="neighbors")')
    points = source

    def computed(part: slice) -> Floats:
        d = np.asarray(points.metric.pairwise(points.X[part], points.X), dtype=np.float64)
        return _own_left_out(d**2, part)

    return computed


def _own_left_out(squared: Floats, part: slice) -> Floats:
    squared[np.arange(len(squared)), np.arange(part.start, part.stop)] = np.inf
    return squared


def bandwidths(rows: Callable[[slice], Floats], n: int, perplexity: float, run: Run) -> tuple[Bandwidths, float]:
    """Each point's beta and log mass, and sum_ij p_{j|i} log p_{j|i}."""
    beta, log_mass, entropy = np.empty(n), np.empty(n), np.empty(n)
    parts = block_slices(n, ROWS)

    def work(b: int) -> None:
        squared = rows(parts[b])
        found = row_bandwidths(squared, perplexity)
        beta[parts[b]], log_mass[parts[b]] = found.beta, found.log_mass
        entropy[parts[b]] = row_entropy(row_probabilities(squared, found))

    with run.stage("perplexity") as progress:
        run_blocks(work, len(parts), n_jobs=run.n_jobs, progress=progress)
    return Bandwidths(beta, log_mass), float(entropy.sum())


def dense_affinities(data: Data, perplexity: float, kind: str, run: Run) -> DenseAffinities:
    """P of all pairs.

    kind="conditional": p_ij = (p_{j|i} + p_{i|j}) / 2n, each point with its own width;
    kind="joint": p_ij = exp(-beta d_ij^2) / sum_{k != l} exp(-beta d_kl^2), one width for all;
    kind="sum": p_{j|i} + p_{i|j}, for SNE, whose entropy is that of the conditional probabilities.
    """
    n = data.n
    scale = {"conditional": 0.5 / n, "joint": 0.5, "sum": 1.0}[kind]
    twin = _dense_on_device(data, perplexity, kind, scale, run)
    if twin is not None:
        return twin
    rows = squared_rows(data)
    if n <= EXACT:
        squared = rows(slice(0, n))  # once: the widths and P are made of them
        rows = lambda part: squared[part]  # noqa: E731
    if kind == "joint":

        def blocks() -> Iterator[Floats]:
            return (rows(part) for part in block_slices(n, ROWS))

        widths, entropy = joint_bandwidth(blocks, n, perplexity), 0.0
    else:
        widths, entropy = bandwidths(rows, n, perplexity, run)

    def strip(part: slice) -> Floats:
        """P[part]: rows, which are columns too because P is symmetric."""
        return np.asarray(scale * joined_probabilities(rows(part), part, widths))

    held = _hold(strip, n, run) if is_held(n) else None
    if kind != "sum":
        parts = block_slices(n, ROWS)
        source = (lambda part: held[part]) if held is not None else strip
        entropy = sum(float(row_entropy(source(part)).sum()) for part in parts)
    if held is not None:
        return DenseAffinities.held(held, entropy, run.n_jobs, run.device)
    columns = lambda part: (np.ascontiguousarray(strip(part).T), 0)  # noqa: E731
    return DenseAffinities(n, columns, entropy, run.n_jobs, run.device)


def _dense_on_device(data: Data, perplexity: float, kind: str, scale: float, run: Run) -> DenseAffinities | None:
    """The same on the run's device, for points whose distances are Euclidean; None where the CPU has to make them."""
    if run.device == "cpu":
        return None
    source = data.source
    if not isinstance(source, Points) or source.metric.feature_map is None or source.metric.finish is not None:
        without_twin(run, "affinities of all pairs", "the device takes points with Euclidean distances")
        return None
    from lowfold.optimize._on_device import affinities_on_device

    return affinities_on_device(source.features(), perplexity, kind, scale, run)


def _hold(strip: Callable[[slice], Floats], n: int, run: Run) -> Floats:
    P = np.empty((n, n))
    parts = block_slices(n, ROWS)

    def work(b: int) -> None:
        P[parts[b]] = strip(parts[b])

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return P


def several_dense(data: Data, perplexities: Floats, kind: str, run: Run) -> DenseAffinities:
    """The mean of the P of several perplexities: near and far neighbours at once."""
    each = [dense_affinities(data, float(one), kind, run) for one in perplexities]

    def columns(part: slice) -> tuple[Floats, int]:
        blocks = [P.columns(part) for P in each]
        width = part.stop - part.start
        return np.asarray(sum(block[:, at : at + width] for block, at in blocks) / len(blocks)), 0

    if is_held(data.n):
        return DenseAffinities.held(columns(slice(0, data.n))[0], n_jobs=run.n_jobs, device=run.device)
    entropy = sum(float(row_entropy(columns(part)[0]).sum()) for part in block_slices(data.n, ROWS))
    return DenseAffinities(data.n, columns, entropy, run.n_jobs, run.device)


def given_affinities(data: Data, run: Run) -> SparseAffinities:
    """P from the affinities that were passed (read as lengths 1 / affinity): symmetric, of sum 1."""
    source = data.source
    assert isinstance(source, Measured)
    pairs = source.pairs
    weights = 1.0 / pairs.distances
    pulled = pairs.counts > 0
    pulled[pairs.indices] = True
    if not pulled.all():  # nothing holds it: it flies off, and what is left of the others' distances is rounding
        raise InvalidInput(
            f"{int((~pulled).sum())} of {data.n} points have no affinity to any other (the first: {pulled.argmin()}), "
            "so that nothing says where they belong; leave them out"
        )
    A = csr_array((weights / (2.0 * weights.sum()), pairs.indices, pairs.indptr), shape=(data.n, data.n))
    P = csr_array(A + A.T)
    P.sort_indices()
    return SparseAffinities(P, _entropy(P), run.n_jobs, run.device)


def _entropy(P: csr_array) -> float:
    positive = P.data[P.data > 0]
    return float((positive * np.log(positive)).sum())


def neighbor_affinities(data: Data, perplexity: Any, run: Run) -> SparseAffinities:
    """p_ij = (p_{j|i} + p_{i|j}) / 2n over the 3 perplexity nearest neighbours; 0 elsewhere.

    Of several perplexities the mean, over the neighbours of the largest.
    """
    n = data.n
    k = neighbor_count(float(np.max(perplexity)), n)
    found = nearest(known_source(data.source), k, run=run)
    if found.counts.min() < 1:
        raise InvalidInput(f"point {int(found.counts.argmin())} has no measured neighbour; it cannot be placed")
    width = int(found.counts.max())
    squared = np.full((n, width), np.inf)
    place = np.arange(len(found.indices)) - np.repeat(found.indptr[:-1], found.counts)
    squared[found.rows(), place] = found.distances**2
    p = np.empty_like(squared)
    parts = block_slices(n, 8192)

    def work(b: int) -> None:
        part = parts[b]
        p[part] = mean_probabilities(squared[part], perplexity)

    without_twin(run, "the search for bandwidths", "rows of neighbours are few numbers")
    with run.stage("perplexity"):
        run_blocks(work, len(parts), n_jobs=run.n_jobs)
    A = csr_array((p[found.rows(), place], found.indices, found.indptr), shape=(n, n))
    P = csr_array((A + A.T) / (2.0 * n))
    P.sort_indices()
    return SparseAffinities(P, _entropy(P), run.n_jobs, run.device)


def mean_probabilities(squared: Floats, perplexity: Any) -> Floats:
    """p_{j|i} of rows of squared distances; of several perplexities the mean."""
    each = [row_probabilities(squared, row_bandwidths(squared, float(one))) for one in np.atleast_1d(perplexity)]
    return np.asarray(sum(each) / len(each))


def neighbor_count(perplexity: float, n: int) -> int:
    """Neighbours that carry the probability: 3 perplexity, of n - 1 at most."""
    return int(min(n - 1, np.ceil(PER_PERPLEXITY * perplexity)))


def layout_start(data: Data, init: str | NDArray[np.floating], d: int, run: Run) -> Floats:
    """Y(0): N(0, 1e-4 I), principal components (classical MDS) with a spread of 1e-4, or a given layout."""
    n = data.n
    if not isinstance(init, str):
        Y = np.array(init, dtype=np.float64)
        if Y.shape != (n, d):
            raise InvalidInput(f"init must have shape {(n, d)}, a row per point; got {Y.shape}")
        return Y
    if init == "random":
        return RANDOM * run.rng.normal(size=(n, d))
    Y = _principal_start(data, d, run)
    spread = Y.std(axis=0)
    size = float(spread[0]) if spread[0] > 0 else 1.0
    Y = PRINCIPAL * Y / size
    empty = spread <= EMPTY * size
    Y[:, empty] = PRINCIPAL * run.rng.normal(size=(n, int(empty.sum())))
    return Y


def spectral_start(P: csr_array, d: int, run: Run) -> Floats:
    """Y(0) of given affinities: their Laplacian eigenmap, the leading vectors of D^-1/2 P D^-1/2 after the first."""
    root = np.sqrt(np.maximum(np.asarray(P.sum(axis=1)).ravel(), NO_DIVISOR))
    scale = diags_array(1.0 / root)
    walk = SparseOperator(csr_array(scale @ P @ scale), bound=1.0)
    found = largest(walk, d, null=(root / np.linalg.norm(root))[:, None], negligible=1.0, run=Run(n_jobs=run.n_jobs))
    Y = found.vectors / root[:, None]
    return np.asarray(PRINCIPAL * Y / max(float(Y[:, 0].std()), NO_DIVISOR))


def _principal_start(data: Data, d: int, run: Run) -> Floats:
    source = data.source
    if isinstance(source, Points) and source.metric.feature_map is not None:
        F = source.features()
        k = min(d, *F.shape)
        mean = F.mean(axis=0, dtype=np.float64)
        V = principal_axes(F, mean, k, run=Run(n_jobs=run.n_jobs)).V
        Y = np.concatenate([(F[part] - mean) @ V for part in block_slices(data.n, 65_536)])
        return np.hstack([Y, np.zeros((data.n, d - k))])
    if isinstance(source, Points):
        X, metric = source.X, source.metric
        computed = Computed(data.n, lambda part: metric.pairwise(X, X[part]), np.float64)
        return classical_start(PairTerms(computed), data, d, min(LANDMARKS, data.n), run)
    terms = stress_terms(data, None, run)
    return classical_start(terms, data, d, None, run)


def measured_only(data: Data) -> bool:
    """Whether only some pairs are known."""
    return isinstance(data.source, Measured)
