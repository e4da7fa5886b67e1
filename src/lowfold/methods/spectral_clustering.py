"""Spectral clustering, Shi & Malik (2000), doi:10.1109/34.868688; Ng, Jordan & Weiss (2001); von Luxburg (2007).

X --neighbours--> graph --weights--> W --Laplacian--> L u = lambda D u --bottom n, the trivial kept--> rows
    --K-means--> labels
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.sparse import csr_array

from lowfold._core.errors import DisconnectedWarning, InvalidInput
from lowfold._core.limits import Choice, Function, Int, Null, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import fixed, param, positional
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold._cuda._device import without_twin
from lowfold.graph._components import components
from lowfold.graph._reach import in_widths
from lowfold.graph._source import AFFINITY
from lowfold.graph._types import Graph
from lowfold.graph._weights import Weights, laplacian, normalized_laplacian
from lowfold.kernels._gaussian import Weighting, weigh
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Data, Fit
from lowfold.methods._graph_method import GraphMethod
from lowfold.methods._heat import SCALE_TEXT, heat_scales, tuning
from lowfold.methods._in_blocks import InBlocks, always
from lowfold.methods._losses import Lowered, cut
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import Affinities, Seeded, Symmetrized
from lowfold.methods._placing.harmonics import HarmonicRow
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._sparse_stages import walk_stages
from lowfold.methods._stages import Stages
from lowfold.methods._telling import WIDER, tell_few
from lowfold.spectral._doors import smallest
from lowfold.spectral._types import Eigenpairs

TURNS = 30  # of indicators and rotation; each lowers their distance, and a handful is what it takes
STEPS, ROUNDS = 5, 60  # of K-means: after so many it is asked whether the centres still move, 300 at most
# Rows up to which K-means takes SciPy's steps, which end as low as scikit-learn's in the same time: the import of that
# takes longer than the rest of a small fit. Of 200,000 rows its own steps take a fifth of the time.
FEW = 10_000
TRIED = 4  # rows drawn for the next first centre: the best of them ends as low as the starts of scikit-learn do


def _at_most_n_clusters(method: Any, data: Data) -> None:
    if method.n_clusters is not None and method.n_clusters > data.n:
        raise InvalidInput(
            f"n_clusters of SpectralClustering must be at most n_samples = {data.n}; got {method.n_clusters}"
        )


class SpectralClustering(Affinities, Symmetrized, Seeded, GraphMethod):
    """Cut the graph where it is thinnest: clusters that no round shape has to fit.

    Minimising sum_C cut(C) / vol(C) over partitions is hard; relaxed, it is solved by the bottom eigenvectors of
    L u = lambda D u, the trivial one kept. Their rows are the points' coordinates, which K-means groups. A graph of
    exactly n components has rows of n distinct values, and the components come out as they are.

    Attributes
    ----------
    labels_ : array (n,), cluster of each point
    n_clusters_ : int, as asked for or found
    embedding_ : array (n, n_clusters_), the eigenvectors, trivial one included
    eigenvalues_ : array (n_clusters_,), ascending from 0
    cluster_centers_ : array (n_clusters_, n_clusters_), in the space K-means worked in; with assign_labels="cluster_qr"
        or "discretize" the axes that stand for the clusters
    normalized_cut_ : float, sum_C cut(C) / vol(C) of the result
    scale_ : float, the scale used; local_scales_ : array (n,) or None, how many times wider it is at each point
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

    _estimator_type: ClassVar[str | None] = "clusterer"
    stages: ClassVar[Stages] = walk_stages
    in_blocks: ClassVar[InBlocks] = always
    loss: ClassVar[Lowered] = Lowered(cut, "the relaxed cut tr(Y'LY), Y'DY = I, the constant included")

    n_clusters: int | None = positional(
        default=8,
        limits=(
            Int(1),
            Null("widest eigengap"),
        ),
        text="Number of clusters; None takes the widest gap among the first `max_clusters` + 1 eigenvalues.",
        kw_only=False,
    )
    max_clusters: int = param(10, Int(1), "Where the gap is looked for, at most n - 1; only with n_clusters=None.")
    weights: Weighting = param(
        "heat",
        Choice(("heat", "binary")),
        Function("g(squared lengths) -> weights"),
        "exp(-d^2 / scale), 1, or a positive decreasing function of the array of squared lengths.",
    )
    scale: float | str = param(
        "auto",
        Real(0, open_low=True),
        Choice(("auto", "mean")),
        SCALE_TEXT,
    )
    laplacian: str = param(
        "random_walk",
        Choice(("random_walk", "symmetric", "unnormalized")),
        "L u = lambda D u, the left eigenvectors of L D^-1 (normalised cut); D^-1/2 L D^-1/2 with "
        "rows of length 1 for K-means (Ng, Jordan & Weiss); or L u = lambda u (ratio cut).",
    )
    assign_labels: str = param(
        "kmeans",
        Choice(("kmeans", "discretize", "cluster_qr")),
        "How rows become clusters: K-means; the rotation after which they are nearest to indicators (Yu & Shi 2003); "
        "or the one that a pivoted QR factorisation finds, which needs no start (Damle, Minden & Ying 2019).",
    )
    n_init: int = param(10, Int(1), "Starts of K-means; the best is kept.")
    random_state: Any = param(0, "Starts of K-means.")
    n_components: Any = fixed(default=2, init=False)
    normalization: Any = fixed(default="natural", init=False)
    on_disconnected: Any = fixed(default="connect", init=False)
    on_shortcut: Any = fixed(default="ignore", init=False)

    checks: ClassVar[tuple[Check, ...]] = (*GraphMethod.checks[1:], _at_most_n_clusters)

    def fit_predict(self, X: Any, y: Any = None) -> Ints:
        """Fit and return the cluster of each point, `labels_`."""
        return np.asarray(self.fit(X, y).labels_)

    def _needs(self) -> Needs:
        return Needs(symmetrize=self.symmetrize, apart=True)

    def _recipe(self, data: Connected, run: Run) -> Fit:
        graph = data.graph
        scale, local = heat_scales(self.scale, self._weighting(), data)
        W = self._weigh(graph, scale, local)
        pairs = self._bottom(W, run)
        if data.labels.max(initial=0) == 0:  # in pieces a coordinate may rightly tell a small one
            tell_few(
                "SpectralClustering",
                pairs.vectors,
                WIDER,
            )
        rows = clustered_rows(pairs.vectors, self.laplacian)
        labels, centers = self._assigned(rows, run)
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=graph,
            extend=HarmonicRow(
                self.laplacian,
                self._weighting(),
                scale,
                0.0,
                self.symmetrize,
                pairs.values,
                data.kth_distance,
                local,
                tuning(data),
            ),
            invert=Barycentric(),
            extra={
                "labels_": labels,
                "n_clusters_": len(pairs.values),
                "cluster_centers_": centers,
                "normalized_cut_": normalized_cut(W, labels),
                "scale_": scale,
                "local_scales_": local,
            },
        )

    def _assigned(self, rows: Floats, run: Run) -> tuple[Ints, Floats]:
        without_twin(run, "the assignment of clusters", "it has no twin on the device")
        if self.assign_labels == "kmeans":
            return k_means(rows, rows.shape[1], self.n_init, run)
        if self.assign_labels == "discretize":
            turn = discrete_turn(rows, run)
            return np.asarray(np.argmax(unit_rows(rows) @ turn, axis=1), dtype=np.int64), turn.T
        turn = pivoted_turn(rows)
        return _largest_column(rows @ turn), turn.T

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
        if self.assign_labels == "discretize":
            return np.asarray(np.argmax(unit_rows(rows) @ self.cluster_centers_.T, axis=1), dtype=np.int64)
        if self.assign_labels == "cluster_qr":
            return _largest_column(rows @ self.cluster_centers_.T)
        return np.asarray(np.argmin(pairwise(rows, self.cluster_centers_), axis=1), dtype=np.int64)

    @property
    def affinity_matrix_(self) -> csr_array:
        """The weights W that were used, computed anew from `graph_`."""
        return self._weighed().matrix()

    def _weighed(self) -> Weights:
        return self._weigh(self.graph_, self.scale_, getattr(self, "local_scales_", None))  # None in former models

    def _weigh(self, graph: Graph, scale: float, local: Floats | None) -> Weights:
        return weigh(in_widths(graph, local), self._weighting(), scale, 0.0)

    def _weighting(self) -> Weighting:
        return "affinity" if isinstance(self.metric, str) and self.metric == AFFINITY else self.weights

    def _operator(self) -> SparseOperator:
        """L, or D^-1/2 L D^-1/2 (`random_walk` divides its vectors by D^1/2)."""
        W = self._weighed()
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
    return unit_rows(vectors) if kind == "symmetric" else vectors


def unit_rows(vectors: Floats) -> Floats:
    """Rows of length 1; those of zeros stay."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


def k_means(rows: Floats, n: int, n_init: int, run: Run) -> tuple[Ints, Floats]:
    """Labels and centres; fewer distinct rows than clusters leave the clusters beyond them empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # says that rows coincide, as they do for components
        if len(rows) > FEW:
            from sklearn.cluster import KMeans

            model = KMeans(n, n_init=n_init, random_state=int(run.rng.integers(2**31))).fit(rows)
            return model.labels_.astype(np.int64), model.cluster_centers_
        found = [_settled(rows, _spread_rows(rows, n, run)) for _ in range(n_init)]
    return min(found, key=lambda one: float(np.sum((rows - one[1][one[0]]) ** 2)))


def _settled(rows: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """Labels and centres that SciPy's steps no longer move."""
    from scipy.cluster.vq import kmeans2

    for _ in range(ROUNDS):
        former = centres
        centres, labels = kmeans2(rows, former, iter=STEPS, minit="matrix")
        if np.array_equal(centres, former):
            break
    return labels.astype(np.int64), centres


def _spread_rows(rows: Floats, n: int, run: Run) -> Floats:
    """Rows far from each other: the next is the best of a few, drawn by squared distance to those before (k-means++).

    Arthur & Vassilvitskii (2007), SODA.
    """
    chosen = [int(run.rng.integers(len(rows)))]
    near = np.sum((rows - rows[chosen[0]]) ** 2, axis=1)
    while len(chosen) < n:
        total = float(near.sum())
        tried = run.rng.choice(len(rows), TRIED, p=near / total) if total > 0 else np.array(chosen[:1])
        left = [np.minimum(near, np.sum((rows - rows[one]) ** 2, axis=1)) for one in tried]
        best = int(np.argmin([one.sum() for one in left]))
        near = left[best]
        chosen.append(int(tried[best]))
    return rows[chosen]


def pivoted_turn(rows: Floats) -> Floats:
    """The rotation after which every row has its largest entry in the column of its cluster.

    Rows of k points that are as independent as rows can be, by pivoted QR, are turned to the axes.
    """
    k = rows.shape[1]
    chosen = qr(rows.T, mode="r", pivoting=True)[1][:k]
    U, _, Vt = stacked_svd(np.ascontiguousarray(rows[chosen].T))
    return np.asarray(U @ Vt)


def discrete_turn(rows: Floats, run: Run) -> Floats:
    """The rotation R after which unit rows are nearest to indicators Z, by turns: Z of R, then R of the SVD of Z'X.

    Yu & Shi (2003), doi:10.1109/ICCV.2003.1238361: from a row at random and rows as orthogonal to it as there are.
    """
    X = unit_rows(rows)
    k = X.shape[1]
    R = np.empty((k, k))
    R[:, 0] = X[int(run.rng.integers(len(X)))]
    away = np.zeros(len(X))
    for c in range(1, k):
        away += np.abs(X @ R[:, c - 1])
        R[:, c] = X[int(np.argmin(away))]
    best = -np.inf
    for _ in range(TURNS):
        Z = np.argmax(X @ R, axis=1)
        sums = np.zeros((k, k))
        np.add.at(sums, Z, X)
        U, s, Vt = stacked_svd(sums)
        R = np.asarray(Vt.T @ U.T)
        if s.sum() <= best * (1 + ROUNDING):
            break
        best = float(s.sum())
    return R


def _largest_column(rows: Floats) -> Ints:
    return np.asarray(np.argmax(np.abs(rows), axis=1), dtype=np.int64)


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
