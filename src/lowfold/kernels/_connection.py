"""Vectors carried from point to point: tangent bases, their alignment, and the connection Laplacian's averaging matrix.

Singer & Wu (2012), doi:10.1002/cpa.21395.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.operators import SparseOperator
from lowfold._core.parallel import STACKED, block_slices, run_blocks
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import spokes, stacked_svd
from lowfold._core.types import Floats, Ints
from lowfold._cuda._device import without_twin
from lowfold.graph._local_planes import padded, principal_directions
from lowfold.graph._types import Graph, Neighbors

ALIGNED = 2**20  # numbers of the bases at one end of the edges that a thread aligns together: 8 MB


@dataclass(frozen=True, eq=False)
class Tangents:
    """Bases O_i (m, D, d), orthonormal columns, and the singular values of the weighted neighbours (m, .)."""

    bases: Floats
    spectra: Floats


def local_pca(
    X: NDArray[np.floating],
    neighbors: Neighbors,
    scale: float,
    d: int,
    *,
    queries: NDArray[np.floating] | None = None,
    run: Run | None = None,
) -> Tangents:
    """Tangent bases: the d leading singular directions of sqrt(w_j) (x_j - x), w_j = exp(-|x_j - x|^2 / scale).

    Weights are taken relative to the nearest neighbour's, so that no scale is too small to leave a direction.
    """
    run = run or Run()
    rows = X if queries is None else queries
    if run.device != "cpu":
        from lowfold.kernels._on_device import local_pca_on_device

        found = local_pca_on_device(X, rows, neighbors, scale, d, run)
        if found is not None:
            return Tangents(*found)
    pad = padded(neighbors)
    m, D, k = neighbors.n, X.shape[1], pad.index.shape[1]
    bases, spectra = np.empty((m, D, d)), np.empty((m, min(k, D)))
    parts = block_slices(m, max(1, STACKED // (k * D)))

    def work(i: int) -> None:
        part = parts[i]
        V = spokes(X, pad.index[part], rows[part])
        squared = pad.distance[part] ** 2
        positive = np.where(squared > 0, squared, np.inf).min(axis=1, keepdims=True)
        nearest = np.where(np.isfinite(positive), positive, 0.0)
        root = np.exp(-np.maximum(squared - nearest, 0.0) / (2 * scale)) * pad.real[part]
        bases[part], spectra[part] = principal_directions(V * root[:, :, None], d)

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return Tangents(bases, spectra)


def local_dimensions(spectra: Floats, variance: float) -> NDArray[np.int64]:
    """Smallest d for which the first d squared singular values hold that share of their sum, per point."""
    energy = np.cumsum(spectra**2, axis=1)
    total = energy[:, -1:]
    share = np.where(total > 0, energy / np.where(total > 0, total, 1.0), 1.0)
    return np.asarray((share < variance - ROUNDING).sum(axis=1) + 1, dtype=np.int64)


def align(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """O_ij = U V' of the SVD of O_i' O_j: the orthogonal matrix nearest to it, and its smallest singular value.

    O_ij carries coordinates in the basis at j to coordinates in the basis at i, as parallel transport does.
    """
    U, s, Vt = stacked_svd(first.transpose(0, 2, 1) @ second)
    return U @ Vt, s[:, -1]


@dataclass(frozen=True, eq=False)
class Connection:
    """Weighted transport between neighbours: S(i, j) = w_ij O_ij, and S-bar = D^-1/2 S D^-1/2 as a sparse operator.

    densities q and degrees d of the scalar weights; `transports` in the order of the graph's entries; `certainty` is
    the smallest singular value of O_i' O_j, 1 for parallel planes, 0 where the sign of the transport is arbitrary.
    """

    operator: SparseOperator
    densities: Floats
    degrees: Floats
    transports: Floats
    certainty: Floats


def connection(
    graph: Graph, weights: Floats, loops: float, bases: Floats, *, alpha: float, run: Run | None = None
) -> Connection:
    """S-bar of a graph with scalar weights, alpha-normalised as in diffusion maps; the transport of a loop is I."""
    run = run or Run()
    if run.device != "cpu":
        from lowfold.kernels._on_device import blocks_on_device

        found = blocks_on_device(graph, weights, loops, bases, alpha, run)
        if found is not None:
            _check_weight(found[1])
            return Connection(*found)
    n, d = graph.n, bases.shape[2]
    rows, columns = graph.rows(), graph.indices.astype(np.int64)
    require(
        3.0 * (len(rows) + n) * d * (8 * d + 12),
        f"transports along {len(rows)} edges in dimension {d}",
        "use fewer n_neighbors or a smaller radius",
    )
    transports, certainty = _transports(rows, columns, bases, run)
    q = np.asarray(np.bincount(rows, weights, minlength=n) + loops, dtype=np.float64)
    _check_weight(q)
    a = q**-alpha
    w = weights * (a[rows] * a[columns])
    degrees: Floats = np.bincount(rows, w, minlength=n) + loops * a * a
    s = 1.0 / np.sqrt(degrees)
    blocks = (w * (s[rows] * s[columns]))[:, None, None] * transports
    own = (loops * a * a / degrees)[:, None, None] * np.eye(d)
    order = np.lexsort((np.concatenate([columns, np.arange(n)]), np.concatenate([rows, np.arange(n)])))
    indptr = np.concatenate([[0], np.cumsum(graph.degrees() + 1)])
    indices = np.concatenate([columns, np.arange(n)])[order]
    S = bsr_array((np.concatenate([blocks, own])[order], indices, indptr), shape=(n * d, n * d))
    operator = SparseOperator(csr_array(S.tocsr()), bound=1.0, n_jobs=run.n_jobs)
    return Connection(operator, q, degrees, transports, certainty)


def _check_weight(q: Floats) -> None:
    if not (q > 0).all():
        raise InvalidInput("a point has no weight to any other; use a larger scale or more n_neighbors")


def _transports(rows: NDArray[np.int64], columns: NDArray[np.int64], bases: Floats, run: Run) -> tuple[Floats, Floats]:
    """O_ij for every entry; each edge is solved once and O_ji = O_ij'."""
    d = bases.shape[2]
    reverse = np.lexsort((rows, columns))  # entry (j, i) for every entry (i, j): rows are sorted by index
    upper = np.flatnonzero(rows < columns)
    transports, certainty = np.empty((len(rows), d, d)), np.empty(len(rows))
    parts = block_slices(len(upper), max(1, ALIGNED // (d * bases.shape[1])))

    def work(i: int) -> None:
        e = upper[parts[i]]
        transports[e], certainty[e] = align(bases[rows[e]], bases[columns[e]])

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    lower = np.flatnonzero(rows > columns)
    transports[lower] = transports[reverse[lower]].transpose(0, 2, 1)
    certainty[lower] = certainty[reverse[lower]]
    return transports, certainty


def _determinants(O: Floats) -> Floats:  # noqa: E741 - the letter of the paper
    """Of a stack (m, d, d); two dimensions, the usual ones, by their formula."""
    return O[:, 0, 0] * O[:, 1, 1] - O[:, 0, 1] * O[:, 1, 0] if O.shape[1] == 2 else np.linalg.det(O)


def _carried(tree: csr_array, keys: Ints, flip: Ints) -> Ints:
    """Signs along a forest from the first vertex of each tree, which has 1; flip[e] is what the edge keys[e] = i n + j
    does to a sign, keys ascending.

    All vertices go up at once, by twice as many edges in every round.
    """
    n = int(tree.shape[0])
    firsts = np.unique(connected_components(tree, directed=False)[1], return_index=True)[1]
    i, j = tree.nonzero()
    above = np.full(len(firsts), n)  # one more vertex joins the trees
    edges = np.append(i, above), np.append(j, firsts)
    joined: Any = csr_array((np.ones(len(edges[0])), edges), shape=(n + 1, n + 1))
    parent = breadth_first_order(joined, n, directed=False)[1].astype(np.int64)
    parent[n] = n
    own = np.flatnonzero(parent[:n] < n)
    signs = np.ones(n + 1, dtype=np.int64)
    signs[own] = flip[np.searchsorted(keys, parent[own] * n + own)]
    while (parent != n).any():
        signs, parent = signs * signs[parent], parent[parent]
    return signs[:n]


@dataclass(frozen=True, eq=False)
class Orientation:
    """Signs (n,) that turn the bases to one side as far as possible, and the share of edges that contradict them."""

    signs: NDArray[np.int64]
    contradicted: float

    @property
    def orientable(self) -> bool:
        return self.contradicted == 0.0


def orientation(
    graph: Graph, transports: Floats, certainty: Floats, *, sure: float = 0.5, run: Run | None = None
) -> Orientation:
    """Carry a side along a spanning tree of short, sure edges; the manifold is orientable when no such edge objects.

    det O_ij = -1 says that the bases at i and j have opposite sides. Edges with certainty below `sure` and the longer
    half of all edges, which may cut across a bend, are not heard.
    """
    without_twin(run or Run(), "the orientation of tangent planes", "it grows a spanning tree")
    rows, columns = graph.rows(), graph.indices.astype(np.int64)
    flip = np.where(_determinants(transports) < 0, -1, 1)
    typical = float(np.median(graph.lengths)) if len(graph.lengths) else 0.0
    cost, once = 2.0 - certainty + graph.lengths / max(typical, NO_DIVISOR), rows < columns
    ends = rows[once].astype(np.int32), graph.indices[once]  # all that SciPy's trees took before 1.16
    edges = csr_array((cost[once], ends), shape=(graph.n, graph.n))
    tree: Any = minimum_spanning_tree(edges)
    signs = _carried(tree, rows * graph.n + columns, flip)
    heard = (certainty >= sure) & (graph.lengths <= typical)
    against = (signs[rows] * signs[columns] * flip < 0) & heard
    return Orientation(signs, float(against.sum() / max(int(heard.sum()), 1)))
