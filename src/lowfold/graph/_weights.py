"""Weights on the edges of a graph, and the Laplacians made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.operators import SparseOperator
from lowfold._core.types import Floats
from lowfold._cuda._device import holding
from lowfold._cuda._sparse import DeviceSparse, row_sums, with_diagonal
from lowfold.graph._foreign import as_graph
from lowfold.graph._types import Graph, Neighbors


class DirectedVolumes(NamedTuple):
    """out_i = sum_j w_ij and into_i = sum_j w_ji of arcs i -> j."""

    out: Floats
    into: Floats


@dataclass(frozen=True, eq=False)
class Weights:
    """Symmetric weights w_ij >= 0 on the edges of `graph`, and self-loops w_ii.

    `values` stand in the order of the graph's entries; `loops` has one entry per vertex.
    """

    graph: Graph
    values: Floats
    loops: Floats

    __repr__ = brief

    def __post_init__(self) -> None:
        if len(self.values) != len(self.graph.indices) or len(self.loops) != self.graph.n:
            raise InvalidInput("weights need one value per entry of the graph and one loop per vertex")

    @classmethod
    def unit(cls, graph: Any, *, loops: float = 0.0) -> Weights:
        """Adjacency: 1 on every edge of a graph (`as_graph`)."""
        found = as_graph(graph)
        graph = found if isinstance(found, Graph) else found.union()
        return cls(graph, np.ones(len(graph.indices)), np.full(graph.n, loops))

    @property
    def n(self) -> int:
        return self.graph.n

    def volumes(self) -> Floats:
        """d_i = sum_j w_ij, the self-loop included once."""
        device = holding(self.values)
        if device is not None:
            sums = row_sums(device, device.put(self.graph.indptr), device.put(self.values))
            return np.asarray(device.get(sums)) + self.loops
        return np.bincount(self.graph.rows(), self.values, minlength=self.n) + self.loops

    def volume(self, vertices: ArrayLike | None = None) -> float:
        """vol(C) = sum of d_i over C; of the whole graph by default."""
        d = self.volumes()
        return float(d.sum() if vertices is None else d[np.asarray(vertices)].sum())

    def cut(self, vertices: ArrayLike) -> float:
        """vol(boundary of C) = sum of w_ij with i in C and j outside."""
        inside = np.zeros(self.n, dtype=bool)
        inside[np.asarray(vertices)] = True
        return float(self.values[inside[self.graph.rows()] & ~inside[self.graph.indices]].sum())

    @staticmethod
    def of_arcs(neighbors: Neighbors, values: ArrayLike | None = None) -> DirectedVolumes:
        """Out- and in-volumes of directed neighbourhoods; `values` weigh the arcs in their order, 1 by default.

        Summed over a set of vertices they are its volumes; without weights they are the out- and in-degrees.
        """
        w = np.ones(len(neighbors.indices)) if values is None else np.asarray(values, dtype=np.float64)
        if len(w) != len(neighbors.indices):
            raise InvalidInput(f"values must have one weight per arc, {len(neighbors.indices)}; got {len(w)}")
        out, into = (
            np.bincount(ends, w, minlength=size).astype(np.float64)
            for ends, size in ((neighbors.rows(), neighbors.n), (neighbors.indices, neighbors.n_points))
        )
        return DirectedVolumes(out, into)

    def matrix(self) -> csr_array:
        """W with the self-loops on the diagonal."""
        W = self.graph.to_scipy(self.values)
        return csr_array(W + diags_array(self.loops, format="csr")) if self.loops.any() else W


def laplacian(weights: Weights) -> SparseOperator:
    """L = D - W. Self-loops change D but not L: L_ii = d_i - w_ii."""
    _known(weights)
    d = weights.volumes() - weights.loops
    device = holding(weights.values)
    if device is not None:
        graph = weights.graph
        off = device.put(graph.indptr), device.put(graph.indices), -device.put(weights.values)
        return DeviceSparse(device, *with_diagonal(device, *off, device.put(d)), psd=True, laplacian=True)
    W = weights.graph.to_scipy(weights.values)
    return SparseOperator(csr_array(diags_array(d, format="csr") - W), psd=True, laplacian=True)


def normalized_laplacian(weights: Weights) -> SparseOperator:
    """D^-1/2 L D^-1/2, with 0 in the row of an isolated vertex; spectrum in [0, 2]."""
    _known(weights)
    d = weights.volumes()
    s = np.where(d > 0, 1.0 / np.sqrt(np.where(d > 0, d, 1.0)), 0.0)
    return laplacian(weights).scaled(s)


def random_walk(weights: Weights) -> csr_array:
    """P = D^-1 W: rows sum to 1 (to 0 at an isolated vertex). Not symmetric."""
    _known(weights)
    d = weights.volumes()
    inverse = np.where(d > 0, 1.0 / np.where(d > 0, d, 1.0), 0.0)
    return csr_array(diags_array(inverse, format="csr") @ weights.matrix())


def _known(weights: object) -> None:
    """Of a graph without weights the lengths may be meant, or 1 for every edge: the caller says which."""
    if not isinstance(weights, Weights):
        raise InvalidInput(
            f"weights must be Weights; got {type(weights).__name__}: of a graph of lowfold, NetworkX or SciPy make "
            "lowfold.graph.Weights.unit(graph), every edge 1, or lowfold.kernels.gaussian(graph, scale=...)"
        )


def laplacian_factor(weights: Weights, *, normalized: bool = True) -> csr_array:
    """S with S'S = the (normalised) Laplacian: one row per edge i < j, sqrt(w_ij) (e_i / sqrt d_i - e_j / sqrt d_j)."""
    rows = weights.graph.rows()
    once = rows < weights.graph.indices
    i, j, w = rows[once], weights.graph.indices[once].astype(np.int64), np.sqrt(weights.values[once])
    d = weights.volumes()
    s = 1.0 / np.sqrt(np.where(d > 0, d, 1.0)) if normalized else np.ones(weights.n)
    e = np.arange(len(i))
    values = np.concatenate([w * s[i], -w * s[j]])
    return csr_array((values, (np.concatenate([e, e]), np.concatenate([i, j]))), shape=(len(i), weights.n))


def contract(weights: Weights, u: int, v: int) -> Weights:
    """Merge v into u: w(x, u*) = w(x, u) + w(x, v), w(u*, u*) = w_uu + w_vv + 2 w_uv. Volumes add up.

    Contraction cannot lower the smallest positive eigenvalue of the normalised Laplacian.
    """
    if u == v or not (0 <= u < weights.n and 0 <= v < weights.n):
        raise InvalidInput(f"contract needs two different vertices of 0..{weights.n - 1}; got {u} and {v}")
    keep = np.delete(np.arange(weights.n), v)
    place = np.empty(weights.n, dtype=np.int64)
    place[keep] = np.arange(len(keep))
    place[v] = place[u]
    member = csr_array((np.ones(weights.n), (np.arange(weights.n), place)), shape=(weights.n, len(keep)))
    merged = csr_array(member.T @ weights.matrix() @ member)
    loops = merged.diagonal()
    merged.setdiag(0.0)
    merged.eliminate_zeros()
    merged.sort_indices()
    graph = Graph(merged.indptr.astype(np.int64), merged.indices, np.ones(merged.nnz))
    return Weights(graph, np.asarray(merged.data), loops)


def heat_kernel(weights: Weights, t: float) -> Floats:
    """H_t = exp(-t Lnorm), dense: diffusion of heat on the graph for time t."""
    from scipy.linalg import expm

    n = weights.n
    require(6 * 8.0 * n * n, f"the dense heat kernel of {n} vertices", "use DiffusionMaps, which never forms it")
    return np.asarray(expm(-t * normalized_laplacian(weights).dense()))
