"""Spectral clustering, Shi & Malik (2000), doi:10.1109/34.868688; Ng, Jordan & Weiss (2001); von Luxburg (2007).

X --neighbours--> graph --weights--> W --Laplacian--> L u = lambda D u --bottom n, the trivial kept--> rows
    --K-means--> labels
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin

from lowfold._core.errors import DisconnectedWarning, InvalidInput
from lowfold._core.limits import Choice, Function, Int, Limits, Null, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._components import components
from lowfold.graph._weights import Weights, laplacian, normalized_laplacian
from lowfold.kernels._gaussian import auto_scale
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._parameters import LIMITS
from lowfold.methods.laplacian_eigenmaps import HarmonicRow, Weighting, weigh
from lowfold.spectral._doors import smallest
from lowfold.spectral._types import Eigenpairs


class SpectralClustering(ClusterMixin, GraphMethod):
    """Cut the graph where it is thinnest: clusters that no round shape has to fit.

    Minimising sum_C cut(C) / vol(C) over partitions is hard; relaxed, it is solved by the bottom eigenvectors of
    L u = lambda D u, the trivial one kept. Their rows are the points' coordinates, which K-means groups. A graph of
    exactly n components has rows of n distinct values, and the components come out as they are.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters; None takes the widest gap among the first `max_clusters` + 1 eigenvalues.
    max_clusters : int of at least 1, default=10
        Where the gap is looked for, at most n - 1; only with n_clusters=None.
    {n_neighbors}
    {radius}
    {metric}
    {metric_params}
    {search}
    {symmetrize}
    weights : {"heat", "binary"} or callable, default="heat"
        exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.
    scale : float above 0 or "auto", default="auto"
        Width of the heat weights, in squared units; "auto" is the mean squared edge length.
    laplacian : {"random_walk", "symmetric", "unnormalized"}, default="random_walk"
        L u = lambda D u, the left eigenvectors of L D^-1 (normalised cut); D^-1/2 L D^-1/2 with rows of length 1 for
        K-means (Ng, Jordan & Weiss); or L u = lambda u (ratio cut).
    n_init : int of at least 1, default=10
        Starts of K-means; the best is kept.
    {solver}
    {tol}
    random_state : int, Generator, RandomState or None, default=0
        Starts of K-means.
    {n_jobs}
    {verbose}

    Attributes
    ----------
    labels_ : array (n,), cluster of each point
    n_clusters_ : int, as asked for or found
    embedding_ : array (n, n_clusters_), the eigenvectors, trivial one included
    eigenvalues_ : array (n_clusters_,), ascending from 0
    cluster_centers_ : array (n_clusters_, n_clusters_), in the space K-means worked in
    normalized_cut_ : float, sum_C cut(C) / vol(C) of the result
    scale_ : float, the scale used
    graph_, n_neighbors_, component_labels_ : the graph and its pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> rings = lowfold.datasets.concentric_circles(300, random_state=0)
    >>> labels = lowfold.SpectralClustering(2, n_neighbors=8).fit_predict(rings.X)
    >>> sorted(set(labels.tolist()))
    [0, 1]
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        "n_clusters": (Int(1), Null("widest eigengap")),
        "max_clusters": (Int(1),),
        "weights": (Choice(("heat", "binary")), Function("g(squared lengths) -> weights")),
        "scale": (Real(0, open_low=True), Choice(("auto",))),
        "laplacian": (Choice(("random_walk", "symmetric", "unnormalized")),),
        "n_init": (Int(1),),
    }
    wants_components: ClassVar[bool] = True
    normalization: ClassVar[str] = "natural"

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        max_clusters: int = 10,
        n_neighbors: int | NDArray[np.int64] | None = None,
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        symmetrize: str = "union",
        weights: Weighting = "heat",
        scale: float | str = "auto",
        laplacian: str = "random_walk",
        n_init: int = 10,
        solver: str = "auto",
        tol: float = 1e-6,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.symmetrize = symmetrize
        self.weights = weights
        self.scale = scale
        self.laplacian = laplacian
        self.n_init = n_init
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, data: Data, run: Run) -> Fit:
        graph = self._graph(data, run)
        scale = auto_scale(graph) if self.scale == "auto" else float(self.scale)
        W = weigh(graph, self.weights, scale, 0.0)
        pairs = self._bottom(W, run)
        rows = clustered_rows(pairs.vectors, self.laplacian)
        labels, centers = k_means(rows, len(pairs.values), self.n_init, run)
        kth = None if data.neighbors is None else data.neighbors.kth_distance()
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=graph,
            extend=HarmonicRow(self.laplacian, self.weights, scale, 0.0, self.symmetrize, pairs.values, kth),
            invert=Barycentric(),
            extra={
                "labels_": labels,
                "n_clusters_": len(pairs.values),
                "cluster_centers_": centers,
                "normalized_cut_": normalized_cut(W, labels),
                "scale_": scale,
            },
        )

    def _bottom(self, W: Weights, run: Run) -> Eigenpairs:
        """The n smallest eigenpairs: the zeros of the components, which are known, and the solver's."""
        zeros = null_vectors(W, self.laplacian)
        asked = None if self.n_clusters is None else int(self.n_clusters)
        most = min(self.max_clusters, W.n - 1) if asked is None else asked
        if zeros.shape[1] >= most + (asked is None):
            return self._only_zeros(W, zeros, most)
        rest = most - zeros.shape[1] + (asked is None)
        if rest == 0:
            return Eigenpairs(np.zeros(most), zeros, 0.0, np.inf, "components", 1)
        mass = _volumes(W) if self.laplacian == "random_walk" else None
        op = normalized_laplacian(W) if self.laplacian == "symmetric" else laplacian(W)
        found = smallest(op, rest, mass=mass, null=zeros, run=run)
        values = np.concatenate([np.zeros(zeros.shape[1]), found.values])
        vectors = np.hstack([zeros, found.vectors])
        n = most if asked is not None else int(np.argmax(np.diff(values))) + 1
        return Eigenpairs(values[:n], vectors[:, :n], found.residual, found.gap, found.solver, found.iterations)

    def _only_zeros(self, W: Weights, zeros: Floats, most: int) -> Eigenpairs:
        """As many components as clusters, or more: then the smallest components together are the last cluster."""
        c = zeros.shape[1]
        if c > most:
            warn(
                f"the graph has {c} components, more than {most} clusters; the {c - most + 1} smallest are taken as "
                "one",
                DisconnectedWarning,
            )
            last = zeros[:, most - 1 :].sum(axis=1, keepdims=True) / np.sqrt(c - most + 1)
            zeros = np.hstack([zeros[:, : most - 1], last])
        return Eigenpairs(np.zeros(zeros.shape[1]), zeros, 0.0, np.inf, "components", 1)

    def predict(self, X: Any) -> Ints:
        """Cluster of new points: their place among the eigenvectors, then the nearest centre."""
        from lowfold.metrics._pairwise import pairwise

        rows = clustered_rows(np.asarray(self.transform(X), dtype=np.float64), self.laplacian)
        return np.asarray(np.argmin(pairwise(rows, self.cluster_centers_), axis=1), dtype=np.int64)

    def _check(self, data: Data) -> None:
        if self.n_clusters is not None and self.n_clusters > data.n:
            raise InvalidInput(
                f"n_clusters of SpectralClustering must be at most n_samples = {data.n}; got {self.n_clusters}"
            )
        k = self._k(data.n)
        if k is not None and data.source is not None and np.max(k) > data.n - 1:
            raise InvalidInput(f"n_neighbors must be at most {data.n - 1} for n_samples = {data.n}; got {np.max(k)}")

    def kernel(self) -> SparseOperator:
        """L, or D^-1/2 L D^-1/2 (`random_walk` divides its vectors by D^1/2)."""
        W = weigh(self.graph_, self.weights, self.scale_, 0.0)
        return laplacian(W) if self.laplacian == "unnormalized" else normalized_laplacian(W)


def _volumes(W: Weights) -> Floats:
    d = W.volumes()
    return np.where(d > 0, d, 1.0)  # an isolated vertex is a component of its own, whatever its mass


def null_vectors(W: Weights, kind: str) -> Floats:
    """One column per component, largest first: its indicator, normalised in the mass of the problem (D, 1 or 1)."""
    labels = components(W.graph)
    d = np.ones(W.n) if kind == "unnormalized" else _volumes(W)
    out = np.zeros((W.n, int(labels.max()) + 1))
    out[np.arange(W.n), labels] = np.sqrt(d) if kind == "symmetric" else 1.0
    return np.asarray(out / np.sqrt(np.bincount(labels, d)))


def clustered_rows(vectors: Floats, kind: str) -> Floats:
    """The rows that K-means sees: with the symmetric Laplacian of length 1, which undoes its D^1/2."""
    if kind != "symmetric":
        return vectors
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def k_means(rows: Floats, n: int, n_init: int, run: Run) -> tuple[Ints, Floats]:
    """Labels and centres; fewer distinct rows than clusters leave the clusters beyond them empty."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # says that rows coincide, as they do for components
        model = KMeans(n, n_init=n_init, random_state=int(run.rng.integers(2**31))).fit(rows)
    return model.labels_.astype(np.int64), model.cluster_centers_


def normalized_cut(weights: Weights, labels: ArrayLike) -> float:
    """Ncut = sum over clusters C of cut(C) / vol(C), cut(C) the weight of the edges that leave C.

    >>> from lowfold.graph import Graph
    >>> square = Weights.unit(Graph.from_edges(4, [[0, 1], [1, 2], [2, 3], [3, 0]]))
    >>> normalized_cut(square, [0, 0, 1, 1])
    1.0
    """
    labels = np.unique(np.asarray(labels), return_inverse=True)[1]
    if len(labels) != weights.n:
        raise InvalidInput(f"labels must have one entry per vertex; got {len(labels)} for {weights.n}")
    crossing = labels[weights.graph.rows()] != labels[weights.graph.indices]
    cut = np.bincount(labels[weights.graph.rows()[crossing]], weights.values[crossing], minlength=labels.max() + 1)
    volume = np.bincount(labels, weights.volumes())
    return float((cut / np.where(volume > 0, volume, 1.0)).sum())
