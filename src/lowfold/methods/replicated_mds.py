"""Replicated MDS: several matrices of the same points, Wang (2012), Section 6.1.2, doi:10.1007/978-3-642-27497-8.

D_1..D_m --groups--> merged D --classical | metric | nonmetric MDS--> one configuration per group
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Limits, Null
from lowfold._core.operators import Operator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._search import nearest
from lowfold.graph._source import Pairs
from lowfold.methods._base import Method
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import LIMITS
from lowfold.methods._several_matrices import MATRIX_KINDS, SeveralMatrices, Stack, aligned, merge
from lowfold.methods.classical_mds import ClassicalMDS
from lowfold.methods.metric_mds import MetricMDS
from lowfold.methods.nonmetric_mds import NonmetricMDS


class _Labels:
    """One label per matrix."""

    def allows(self, value: object) -> bool:
        return isinstance(value, (list, tuple, np.ndarray)) and np.ndim(np.asarray(value)) == 1

    def words(self) -> str:
        return "a list with one label per matrix"


class ReplicatedMDS(SeveralMatrices):
    """One configuration for several matrices of dissimilarities of the same points, or one for each group of matrices.

    The matrices are taken as repeated measurements of the same distances and merged into one, unmeasured entries left
    out; its configuration then minimises, for the mean and metric MDS, sum_k sum_{i<j} (delta_ij^k - d_ij)^2.

    Parameters
    ----------
    {n_components}
    metric : {"precomputed", "precomputed_squared", "precomputed_similarity"}, default="precomputed"
        What X (matrices, n, n), or a list of n x n matrices, holds. NaN is unmeasured.
    merge : {"mean", "rms"}, default="mean"
        Mean of the distances, or root of the mean of their squares.
    method : {"classical", "metric", "nonmetric"}, default="classical"
        How the merged matrix is embedded. "metric" weighs a pair by how often it was measured; "classical" needs every
        pair measured at least once.
    groups : None or list of labels, default=None
        One label per matrix: a configuration of each group's matrices too, turned to fit `embedding_`.
    {normalization}
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    embedding_ : array (n, n_components), the configuration of all matrices
    configurations_ : array (groups, n, n_components), natural, one per group; without groups only that of all
    groups_ : array of the groups' labels
    n_matrices_ : int
    strain_, stress_, normalized_stress_, ... : as of the method used

    Examples
    --------
    >>> import numpy as np, lowfold
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> D = np.abs(x[:, None] - x)
    >>> model = lowfold.ReplicatedMDS(1).fit([D - 0.1 * (D > 0), D + 0.1 * (D > 0)])
    >>> float(np.ptp(model.embedding_).round(6))
    3.0
    """

    limits: ClassVar[Limits] = {
        **LIMITS,
        **MATRIX_KINDS,
        "merge": (Choice(("mean", "rms")),),
        "method": (Choice(("classical", "metric", "nonmetric")),),
        "groups": (_Labels(), Null("one group")),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str = "precomputed",
        merge: str = "mean",
        method: str = "classical",
        groups: Any = None,
        normalization: str = "natural",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.merge = merge
        self.method = method
        self.groups = groups
        self.normalization = normalization
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, data: Data) -> None:
        super()._check(data)
        if self.groups is not None and len(self.groups) != self.n_matrices_:
            raise InvalidInput(
                f"groups must have one label for each of the {self.n_matrices_} matrices; got {len(self.groups)}"
            )

    def _merged(self, matrices: Floats) -> Floats:
        return merge(matrices, self.merge)[0]

    def _embed(self, data: Data, run: Run) -> Fit:
        assert isinstance(data, Stack)
        assert data.matrices is not None
        everything = self._configuration(data.matrices, run)
        labels = np.zeros(len(data.matrices), dtype=int) if self.groups is None else np.asarray(self.groups)
        names = np.unique(labels)
        parts = [
            everything.coordinates
            if len(names) == 1
            else aligned(self._configuration(data.matrices[labels == name], run).coordinates, everything.coordinates)
            for name in names
        ]
        everything.extra.update(configurations_=np.stack(parts), groups_=names)
        return everything

    def _configuration(self, matrices: Floats, run: Run) -> Fit:
        D, counts = merge(matrices, self.merge)
        model = self._model(None if (counts == len(matrices)).all() else counts)
        return model._embed(Data(Pairs(D)), run)

    def _model(self, counts: Floats | None) -> Method:
        settings: dict[str, Any] = {"metric": "precomputed"}
        if self.method == "classical":
            return ClassicalMDS(self.n_components, **settings)
        if self.method == "nonmetric":
            return NonmetricMDS(self.n_components, **settings)
        return MetricMDS(self.n_components, weights=counts, **settings)

    def _place(self, matrices: Floats, merged: Floats) -> Floats:
        run, queries = self._run(), Pairs(merged)
        found = nearest(Pairs(self._merged_distances()), 1, queries=queries, run=run)
        placed: NDArray[np.float64] = self._extend.place(self._trained, queries, found, run)
        return placed

    def kernel(self) -> Operator:
        """The operator of the method used, of the merged matrix."""
        model = self._model(None)
        model.fit(self._merged_distances())
        return model.kernel()
