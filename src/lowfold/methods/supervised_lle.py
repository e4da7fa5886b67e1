"""Supervised LLE: weights inside the own class mixed in, Wang (2012), Section 10.3.3, doi:10.1007/978-3-642-27497-8.

X --neighbours--> N, y --same class--> N_o --reconstruction--> W = (1 - t) W_e + t W_o --> K = (I - W)'(I - W)
    --> v_1 .. v_d
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Real
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Ints
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._lle import WEIGHTS, reconstruction_alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.methods._alignment_method import AlignmentMethod, aligned, bottom, patch_corner
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Data, Fit
from lowfold.methods._lle_neighborhoods import cluster_neighborhoods
from lowfold.methods._losses import ALIGN, Lowered, alignment
from lowfold.methods._neighborhood import ByClosedClasses, Needs
from lowfold.methods._parameters import WIDE_NEIGHBORS
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.patches import ReconstructionRow
from lowfold.methods._sparse_stages import alignment_stages
from lowfold.methods._stages import EDGE, Stage, Stages, degree
from lowfold.methods._telling import tell_few

CLASS_NEIGHBORS = ("among", "within")


def _one_label_per_row(method: Any, data: Data) -> None:
    if data.labels is not None and len(data.labels) != data.n:
        raise InvalidInput(f"y must have one label per row of X; got {len(data.labels)} labels for {data.n} rows")


# Copies of the patches while both kinds of weights are made and mixed as sparse matrices. Counted by `tracemalloc`
# their arrays are 20 with 8 neighbours and 34 with 15; the peak of the process is higher, and `test_plan_peaks` holds
# the two together.
MIXING = 60.0


def _stages(method: Any, data: Data) -> list[Stage]:
    """As LLE, with two kinds of weights that are mixed."""
    mixed = MIXING * EDGE * data.n * (degree(method, data) + 1)
    every = alignment_stages(method, data)
    return [replace(part, bytes=part.bytes + mixed) if part.name == "kernel" else part for part in every]


class SupervisedLLE(AlignmentMethod):
    """LLE in which neighbours of the own class count more: W = (1 - t) W_e + t W_o with t = `supervision`.

    W_e rebuilds a point from its neighbours, W_o from its neighbours of the same class. t = 0 is LLE. At t = 1 no
    weight crosses a class: every class adds a null vector of K, the embedding is made of class indicators (classes
    fall on points, if n_components is at least the number of classes minus 1). New points need no label.

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

    n_neighbors: int | NDArray[np.int64] | None = param(
        None,
        WIDE_NEIGHBORS + "More than n_components are needed.",
    )
    supervision: float = param(0.5, Real(0, 1), "Share t of the weights inside the class.")
    class_neighbors: str = param(
        "within",
        Choice(CLASS_NEIGHBORS),
        "W_o from the (at most) n_neighbors nearest points of the same class, or from those of the "
        "same class among the n_neighbors nearest; a point that has none among them takes the nearest "
        "within its class. A point that is alone in its class keeps W_e, unless supervision is 1.",
    )
    reg: float = param(0.001, Real(0), "Ridge on the weights, as a share of the trace of the local Gram matrix.")
    weights: str = param(
        "affine",
        Choice(WEIGHTS),
        "As in `LLE`. With weights that are not negative the null space at supervision 1 has exactly "
        "one vector for each connected class.",
    )

    stages: ClassVar[Stages] = _stages
    loss: ClassVar[Lowered] = Lowered(alignment, ALIGN + ", K = (I - W)'(I - W)")
    supervised: ClassVar[bool] = True
    checks: ClassVar[tuple[Check, ...]] = (*AlignmentMethod.checks, _one_label_per_row)

    def _needs(self) -> Needs:
        """At supervision 1 the classes are the components, and they are wanted."""
        d = self.n_components
        return Needs(
            least=d + 1,
            distinct=True,
            hangs=ByClosedClasses(second=self.supervision > 0),
            apart=float(self.supervision) == 1.0,
            second=self._within_classes,
            corner=partial(patch_corner, d=d),
        )

    def _within_classes(self, data: Connected, k: int | Ints | None, run: Run) -> Neighbors:
        """Neighbours of the same class."""
        labels = np.unique(np.asarray(data.y), return_inverse=True)[1]
        among = _same_class(data.neighbors, labels)
        if data.source is None:
            return among
        nearest = cluster_neighborhoods(data.source, labels, k, self.radius, self.search, run)
        return _where_empty(among, nearest) if self.class_neighbors == "among" else nearest

    def _alignment(self, data: Connected, geometry: Geometry, run: Run) -> tuple[Alignment, dict[str, Any]]:
        t, within = float(self.supervision), data.second or data.neighbors
        rows = [_difference(part, geometry, self, run) for part in (data.neighbors, within)]
        alone = (within.counts == 0).astype(np.float64)  # t of these is 0: they keep W_e
        share = np.full(data.n, t) if t == 1.0 else t * (1.0 - alone)
        mixed = csr_array(rows[0].multiply(1.0 - share[:, None]) + rows[1].multiply(share[:, None]))
        mixed.eliminate_zeros()
        mixed.sort_indices()
        patches = Patches(mixed.indptr.astype(np.int64), mixed.indices, data.n, np.zeros(data.n, dtype=bool))
        return Alignment(patches, mixed.data[:, None]), {}

    def _recipe(self, data: Connected, run: Run) -> Fit:
        K, extra = aligned(self._alignment, data, self.n_components, run)  # (I - W)'(I - W)
        pairs = bottom(K, data, self.n_components, run)
        if data.labels.max(initial=0) == 0:  # coordinates tell pieces from each other first, and rightly
            tell_few("SupervisedLLE", pairs.vectors, "more n_neighbors or a larger reg hold them")
        return Fit(
            coordinates=pairs.vectors,
            pairs=pairs,
            graph=None,
            extend=ReconstructionRow(float(self.reg), "always", self.weights),
            invert=Barycentric(),
            extra={**extra, "reconstruction_error_": float(pairs.values.sum())},
        )


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
