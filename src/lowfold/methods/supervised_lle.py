"""Supervised LLE: weights inside the own class mixed in, Wang (2012), Section 10.3.3, doi:10.1007/978-3-642-27497-8.

X --neighbours--> N, y --same class--> N_o --reconstruction--> W = (1 - t) W_e + t W_o --> K = (I - W)'(I - W) --> v_1
.. v_d
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import column_or_1d

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Limits, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._lle import WEIGHTS, reconstruction_alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_extend import ReconstructionRow
from lowfold.methods._alignment_method import AlignmentMethod
from lowfold.methods._closed_classes import closed_class_labels, closed_classes_in_words
from lowfold.methods._extend import Barycentric
from lowfold.methods._fit import Data, Fit
from lowfold.methods._lle_neighborhoods import cluster_neighborhoods
from lowfold.methods._parameters import LIMITS

CLASS_NEIGHBORS = ("among", "within")


@dataclass(frozen=True, eq=False)
class ClassData(Data):
    """Data with the neighbourhoods inside the classes."""

    within: Neighbors | None = None

    def subset(self, rows: NDArray[np.int64]) -> ClassData:
        part = super().subset(rows)
        assert self.within is not None
        return ClassData(part.source, part.neighbors, part.graph, within=self.within.restrict(rows))


class SupervisedLLE(AlignmentMethod):
    """LLE in which neighbours of the own class count more: W = (1 - t) W_e + t W_o with t = `supervision`.

    W_e rebuilds a point from its neighbours, W_o from its neighbours of the same class. t = 0 is LLE. At t = 1 no
    weight crosses a class: every class adds a null vector of K, the embedding is made of class indicators (classes
    fall on points, if n_components is at least the number of classes minus 1). New points need no label.

    Parameters
    ----------
    {n_components}
    {n_neighbors}
        More than n_components are needed.
    supervision : float from 0 to 1, default=0.5
        Share t of the weights inside the class.
    class_neighbors : {"within", "among"}, default="within"
        W_o from the (at most) n_neighbors nearest points of the same class, or from those of the same class among the
        n_neighbors nearest; a point that has none among them takes the nearest within its class. A point that is
        alone in its class keeps W_e, unless supervision is 1.
    {radius}
    {metric}
    {metric_params}
    {search}
    reg : float of at least 0, default=1e-3
        Ridge on the weights, as a share of the trace of the local Gram matrix.
    weights : {"affine", "clipped", "convex"}, default="affine"
        As in `LLE`. With weights that are not negative the null space at supervision 1 has exactly one vector for each
        connected class.
    {on_disconnected}
    {normalization}
    {solver}
    {tol}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components); natural: orthonormal columns, each summing to 0
    classes_ : array of the labels
    eigenvalues_ : array (n_components,), ascending, the zero of the constant left out
    reconstruction_error_ : float, sum of eigenvalues_
    neighbors_, graph_, n_neighbors_, component_labels_, bridges_ : neighbourhoods and their pieces
    residual_, gap_, solver_ : what the solve was worth

    Examples
    --------
    >>> import lowfold
    >>> roll = lowfold.datasets.swiss_roll(300, random_state=0)
    >>> y = roll.color > roll.color.mean()
    >>> lowfold.SupervisedLLE(1, supervision=1).fit_transform(roll.X, y).shape
    (300, 1)
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        "supervision": (Real(0, 1),),
        "class_neighbors": (Choice(CLASS_NEIGHBORS),),
        "reg": (Real(0),),
        "weights": (Choice(WEIGHTS),),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | NDArray[np.int64] | None = None,
        supervision: float = 0.5,
        class_neighbors: str = "within",
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        reg: float = 1e-3,
        weights: str = "affine",
        on_disconnected: str = "connect",
        normalization: str = "natural",
        solver: str = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.supervision = supervision
        self.class_neighbors = class_neighbors
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.reg = reg
        self.weights = weights
        self.on_disconnected = on_disconnected
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def wants_components(self) -> bool:  # type: ignore[override]
        """At supervision 1 the classes are the components."""
        return float(self.supervision) == 1.0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X with their labels y."""
        if y is None:
            raise InvalidInput(
                "SupervisedLLE requires y to be passed, but the target y is None; use LLE where there are no labels"
            )
        labels = column_or_1d(np.asarray(y), warn=True)
        self.classes_, self._labels = np.unique(labels, return_inverse=True)
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.floating]:
        """Embed the rows of X with their labels y, and return `embedding_`."""
        return self.fit(X, y).embedding_

    def _check(self, data: Data) -> None:
        super()._check(data)
        if len(self._labels) != data.n:
            raise InvalidInput(f"y must have one label per row of X; got {len(self._labels)} labels for {data.n} rows")

    def _with_graph(self, data: Data, run: Run) -> ClassData:
        data = super()._with_graph(data, run)
        assert data.neighbors is not None
        k = self._k(data.n)
        if data.source is not None:
            nearest = cluster_neighborhoods(data.source, self._labels, k, self.radius, self.search, run)
        else:
            nearest = _same_class(data.neighbors, self._labels)
        if self.class_neighbors == "among":
            among = _same_class(data.neighbors, self._labels)
            nearest = _where_empty(among, nearest)
        self.class_neighbors_ = nearest
        return ClassData(data.source, data.neighbors, None, within=nearest)

    def _piece_labels(self, data: Data) -> NDArray[np.int64]:
        assert isinstance(data, ClassData)
        assert data.neighbors is not None
        assert data.within is not None
        if self.supervision == 0:
            return closed_class_labels(data.neighbors)
        return closed_class_labels(_both(data.neighbors, data.within))

    def _pieces_in_words(self, data: Data, labels: NDArray[np.int64], run: Run) -> str:
        assert data.neighbors is not None
        return closed_classes_in_words(data.neighbors, labels)

    def _alignment(self, data: Data, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        assert isinstance(data, ClassData)
        assert data.neighbors is not None
        assert data.within is not None
        t = float(self.supervision)
        rows = [_difference(part, geometry, self, run) for part in (data.neighbors, data.within)]
        alone = (data.within.counts == 0).astype(np.float64)  # t of these is 0: they keep W_e
        share = np.full(data.n, t) if t == 1.0 else t * (1.0 - alone)
        mixed = csr_array(rows[0].multiply(1.0 - share[:, None]) + rows[1].multiply(share[:, None]))
        mixed.eliminate_zeros()
        mixed.sort_indices()
        patches = Patches(mixed.indptr.astype(np.int64), mixed.indices, data.n, np.zeros(data.n, dtype=bool))
        return Alignment(patches, mixed.data[:, None]), {}

    def _embed(self, data: Data, run: Run) -> Fit:
        K, extra = self._operator(data, run)  # (I - W)'(I - W)
        pairs = self._bottom(K, data, run)
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=None,
            extend=ReconstructionRow(float(self.reg), "always", self.weights),
            invert=Barycentric(),
            extra={**extra, "reconstruction_error_": float(pairs.values.sum())},
        )

    def kernel(self) -> SparseOperator:
        """(I - W)'(I - W), rebuilt from the neighbourhoods that the model keeps."""
        source = self._trained.source
        data = ClassData(source, neighbors=self.neighbors_, bridges=self.bridges_, within=self.class_neighbors_)
        return self._operator(data, self._run())[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _difference(neighbors: Neighbors, geometry: Geometry, method: SupervisedLLE, run: Run) -> csr_array:
    """I - W as a sparse matrix; the row of a point without neighbours is zero."""
    alignment, _ = reconstruction_alignment(
        Patches.around(neighbors),
        geometry,
        method.n_components,
        run,
        reg=float(method.reg),
        reg_when="always",
        kind=method.weights,
    )
    patches = alignment.patches
    return csr_array((alignment.factor[:, 0], patches.members, patches.indptr), shape=(patches.n, patches.n_points))


def _same_class(neighbors: Neighbors, labels: NDArray[np.int64]) -> Neighbors:
    kept = labels[neighbors.rows()] == labels[neighbors.indices]
    counts = np.bincount(neighbors.rows()[kept], minlength=neighbors.n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Neighbors(indptr, neighbors.indices[kept], neighbors.distances[kept], neighbors.n_points)


def _where_empty(first: Neighbors, second: Neighbors) -> Neighbors:
    """Rows of `first`, and those of `second` where `first` has none."""
    use = first.counts == 0
    counts = np.where(use, second.counts, first.counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    chosen = np.repeat(use, counts)
    indices, distances = np.empty(indptr[-1], dtype=np.int64), np.empty(indptr[-1])
    late = np.repeat(use, second.counts)
    indices[chosen], distances[chosen] = second.indices[late], second.distances[late]
    indices[~chosen], distances[~chosen] = first.indices, first.distances
    return replace(first, indptr=indptr, indices=indices, distances=distances)


def _both(first: Neighbors, second: Neighbors) -> Neighbors:
    """Arcs of either, for counting closed classes; lengths are not kept."""
    A, B = (csr_array((np.ones(len(x.indices)), x.indices, x.indptr), shape=(x.n, x.n)) for x in (first, second))
    arcs = csr_array(A + B)
    return Neighbors(arcs.indptr, arcs.indices, np.ones(arcs.nnz), first.n)
