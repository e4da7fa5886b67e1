"""Laplacian eigenmaps, Belkin & Niyogi (2003), doi:10.1162/089976603321780317.

X --neighbours--> N --union--> graph --weights--> W --Laplacian--> L = D - W --eigen--> L f = lambda D f --> f_1 .. f_d
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.limits import Choice, Function, Limits, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Graph, Neighbors
from lowfold.graph._weights import Weights, laplacian, normalized_laplacian
from lowfold.kernels._gaussian import auto_scale, binary, decreasing, gaussian
from lowfold.methods._diffusion_extend import query_edges, unbridged
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit, Queries, Trained
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._parameters import LIMITS
from lowfold.spectral._doors import largest, smallest
from lowfold.spectral._nystrom import nystrom
from lowfold.spectral._types import Eigenpairs

LAPLACIANS = ("random_walk", "symmetric", "unnormalized", "naive")
Weighting = Literal["heat", "binary"] | Callable[[Floats], Floats]


class LaplacianEigenmaps(GraphMethod):
    """Embed so that near points stay near: minimise 1/2 sum_ij w_ij ||y_i - y_j||^2 with Y'DY = I.

    The coordinates are the smoothest functions on the graph: L f = lambda D f with L = D - W, the constant left out.
    They approach eigenfunctions of the Laplace-Beltrami operator; long manifolds give harmonics of their long side
    first.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
    {radius}
    {metric}
    {metric_params}
    {search}
    {symmetrize}
    weights : {"heat", "binary"} or callable, default="heat"
        exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.
    scale : float above 0 or "auto", default="auto"
        Width of the heat weights, in squared units; "auto" is the mean squared edge length. The texts' 4t and
        2 sigma^2 are `lowfold.kernels.scale_from_heat_time` and `scale_from_sigma`.
    laplacian : {"random_walk", "symmetric", "unnormalized", "naive"}, default="random_walk"
        L f = lambda D f with F'DF = I; D^-1/2 L D^-1/2 with orthonormal vectors D^1/2 f; L f = lambda f; or the kernel
        itself, I - (4 pi t)^(-d/2) W over t, whose first vector is only nearly constant (it is left out).
    self_loops : float of at least 0, default=0
        Weight w_ii of every point to itself; it changes D but not L.
    {on_disconnected}
    {normalization}
    {solver}
    {tol}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components)
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    degrees_ : array (n,), d_i = sum_j w_ij; with pieces embedded by themselves each component has its own scale, and
        what was not embedded is NaN
    scale_ : float, the scale used
    graph_, n_neighbors_, component_labels_, bridges_ : the graph and its pieces; a bridge weighs as the longest edge
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> curve = lowfold.datasets.s_curve(300, random_state=0)
    >>> lowfold.LaplacianEigenmaps(2, n_neighbors=10).fit(curve.X).eigenvalues_.shape
    (2,)
    """

    per_point: ClassVar[tuple[str, ...]] = ("degrees_",)
    caps_bridges: ClassVar[bool] = True  # else a far component would hang on a weight of zero
    limits: ClassVar[Limits] = {
        **LIMITS,
        "weights": (Choice(("heat", "binary")), Function("g(squared lengths) -> weights")),
        "scale": (Real(0, open_low=True), Choice(("auto",))),
        "laplacian": (Choice(LAPLACIANS),),
        "self_loops": (Real(0),),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        symmetrize: str = "union",
        weights: Weighting = "heat",
        scale: float | str = "auto",
        laplacian: str = "random_walk",
        self_loops: float = 0.0,
        on_disconnected: str = "connect",
        normalization: str = "natural",
        solver: str = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.symmetrize = symmetrize
        self.weights = weights
        self.scale = scale
        self.laplacian = laplacian
        self.self_loops = self_loops
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, data: Data, run: Run) -> Fit:
        graph = self._graph(data, run)
        scale = auto_scale(unbridged(data, self.symmetrize)) if self.scale == "auto" else float(self.scale)
        W = weigh(graph, self.weights, scale, self.self_loops)
        pairs = EIGENPROBLEMS[self.laplacian](W, self.n_components, scale, run)
        kth = None if data.neighbors is None else data.neighbors.kth_distance()
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=graph,
            extend=HarmonicRow(
                self.laplacian, self.weights, scale, float(self.self_loops), self.symmetrize, pairs.values, kth
            ),
            invert=Barycentric(),
            extra={"degrees_": W.volumes(), "scale_": scale},
        )

    def kernel(self) -> SparseOperator:
        """The symmetric operator of the eigenproblem: L, or D^-1/2 L D^-1/2 (`random_walk` divides by D^1/2), or W."""
        self._of_one_model("kernel()")
        W = weigh(self.graph_, self.weights, self.scale_, self.self_loops)
        if self.laplacian == "naive":
            return SparseOperator(W.matrix())
        return laplacian(W) if self.laplacian == "unnormalized" else normalized_laplacian(W)


def weigh(graph: Graph, weights: Weighting, scale: float, loops: float) -> Weights:
    """Weights by name or function."""
    if callable(weights):
        return decreasing(graph, weights, loops=loops)
    return gaussian(graph, scale=scale, loops=loops) if weights == "heat" else binary(graph, loops=loops)


def _random_walk(W: Weights, d: int, scale: float, run: Run) -> Eigenpairs:
    """L f = lambda D f, F'DF = I, f'D1 = 0."""
    return smallest(laplacian(W), d, mass=W.volumes(), null=np.ones((W.n, 1)), run=run)


def _symmetric(W: Weights, d: int, scale: float, run: Run) -> Eigenpairs:
    """D^-1/2 L D^-1/2 a = lambda a; the trivial vector is D^1/2 1."""
    return smallest(normalized_laplacian(W), d, null=np.sqrt(W.volumes())[:, None], run=run)


def _unnormalized(W: Weights, d: int, scale: float, run: Run) -> Eigenpairs:
    """L f = lambda f."""
    return smallest(laplacian(W), d, null=np.ones((W.n, 1)), run=run)


def _naive(W: Weights, d: int, scale: float, run: Run) -> Eigenpairs:
    """(1/t)(I - (4 pi t)^(-d/2) W) f = lambda f, 4t = scale: the leading vectors of W, the positive one left out."""
    pairs = largest(SparseOperator(W.matrix()), d + 1, run=run)
    t = scale / 4
    values = (1 - (4 * np.pi * t) ** (-d / 2) * pairs.values) / t
    return Eigenpairs(values[1:], pairs.vectors[:, 1:], pairs.residual, pairs.gap, pairs.solver, pairs.iterations)


EIGENPROBLEMS: dict[str, Callable[[Weights, int, float, Run], Eigenpairs]] = {
    "random_walk": _random_walk,
    "symmetric": _symmetric,
    "unnormalized": _unnormalized,
    "naive": _naive,
}


@dataclass(frozen=True, eq=False)
class HarmonicRow:
    """Nystrom on the new point's row of weights: its own neighbours AND every point that would count it among its own.

    Without these reverse edges a training point would come back displaced by about one percent.
    """

    laplacian: str
    weights: Any
    scale: float
    loops: float
    symmetrize: str
    values: Floats
    kth_distance: Floats | None
    neighbors: ClassVar[bool] = True

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        edges = self._edges(trained, queries, found, run)
        w = self._weights(edges.distances)
        rows = csr_array((w, edges.indices, edges.indptr), shape=(edges.n, edges.n_points))
        d = np.asarray(rows.sum(axis=1)).reshape(-1, 1) + self.loops
        F = trained.coordinates
        if self.laplacian == "unnormalized":
            return nystrom(rows, F, d - self.loops - self.values)
        if self.laplacian == "naive":
            t = self.scale / 4
            theta = (1 - t * self.values) * (4 * np.pi * t) ** (F.shape[1] / 2)
            return nystrom(rows, F, theta - self.loops)
        if self.laplacian == "random_walk":
            return nystrom(rows, F, d * (1 - self.values) - self.loops)
        root = np.sqrt(self._degrees(trained))  # symmetric: a = D^1/2 f
        return nystrom(rows, F / root[:, None], d * (1 - self.values) - self.loops) * np.sqrt(d)

    def _degrees(self, trained: Trained) -> Floats:
        assert trained.graph is not None
        return weigh(trained.graph, self.weights, self.scale, self.loops).volumes()

    def _weights(self, lengths: Floats) -> Floats:
        if callable(self.weights):
            return np.asarray(self.weights(lengths**2), dtype=np.float64)
        return np.exp(-(lengths**2) / self.scale) if self.weights == "heat" else np.ones(len(lengths))

    def _edges(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Neighbors:
        """The edges that the new point would have in the symmetrised graph."""
        return query_edges(trained, queries, found, self.kth_distance, self.symmetrize, run)
