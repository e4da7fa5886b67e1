"""Replicated MDS: several matrices of the same points, Wang (2012), Section 6.1.2, doi:10.1007/978-3-642-27497-8.

D_1..D_m --groups--> merged D --classical | metric | nonmetric MDS--> one configuration per group
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Null
from lowfold._core.operators import Operator
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._source import Pairs
from lowfold.methods._base import Check, Method
from lowfold.methods._fit import Data, Fit
from lowfold.methods._losses import Loss, Lowered
from lowfold.methods._parameters import Seeded
from lowfold.methods._several_matrices import MergedRow, SeveralMatrices, aligned, given_stack, merge
from lowfold.methods.classical_mds import ClassicalMDS
from lowfold.methods.metric_mds import MetricMDS
from lowfold.methods.nonmetric_mds import NonmetricMDS


class _Labels:
    """One label per matrix."""

    def allows(self, value: object) -> bool:
        return isinstance(value, (list, tuple, np.ndarray)) and np.ndim(np.asarray(value)) == 1

    def words(self) -> str:
        return "a list with one label per matrix"

    def kind(self) -> str:
        return "list"


def _one_label_per_matrix(method: Any, data: Data) -> None:
    m = len(data.stack())
    if method.groups is not None and len(method.groups) != m:
        raise InvalidInput(f"groups must have one label for each of the {m} matrices; got {len(method.groups)}")


def _refuse_gaps(D: Floats) -> None:
    gaps = np.argwhere(~np.isfinite(D) & ~np.eye(len(D), dtype=bool))
    if len(gaps):
        i, j = gaps[0]
        raise InvalidInput(
            f"points {i} and {j} have a finite dissimilarity in no matrix, and method='classical' needs all pairs: use "
            "method='metric' or 'nonmetric', which leave them out"
        )


def _merged_loss(model: Any, data: Data, scaled: bool) -> Loss:
    stack = given_stack(data)
    D, counts = merge(stack, model.merge)
    inner: Method = model._model(None if (counts == len(stack)).all() else counts)
    if inner.loss.fitted:
        inner.fit(D)
    return inner._loss(inner.reader.data(inner, D, None), scaled=scaled)


class ReplicatedMDS(Seeded, SeveralMatrices):
    """One configuration for several matrices of dissimilarities of the same points, or one for each group of matrices.

    The matrices are taken as repeated measurements of the same distances and merged into one, unmeasured entries left
    out; its configuration then minimises, for the mean and metric MDS, sum_k sum_{i<j} (delta_ij^k - d_ij)^2.

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

    loss: ClassVar[Lowered] = Lowered(_merged_loss, "the objective of the MDS it uses, of the merged matrix", "local")

    metric: str = param(
        "precomputed",
        Choice(("precomputed", "precomputed_squared", "precomputed_similarity")),
        "What X (matrices, n, n), or a list of n x n matrices, holds. NaN is unmeasured.",
    )
    merge: str = param("mean", Choice(("mean", "rms")), "Mean of the distances, or root of the mean of their squares.")
    method: str = param(
        "classical",
        Choice(("classical", "metric", "nonmetric")),
        'How the merged matrix is embedded. "metric" weighs a pair by how often it was measured; '
        '"classical" needs every pair measured at least once.',
    )
    groups: Any = param(
        None,
        _Labels(),
        Null("one group"),
        "One label per matrix: a configuration of each group's matrices too, turned to fit `embedding_`.",
    )

    checks: ClassVar[tuple[Check, ...]] = (*SeveralMatrices.checks, _one_label_per_matrix)

    def _merging(self, m: int) -> tuple[str, Floats | None]:
        return self.merge, None

    def _embed(self, data: Data, run: Run) -> Fit:
        matrices = data.stack()
        everything = self._configuration(matrices, run)
        labels = np.zeros(len(matrices), dtype=int) if self.groups is None else np.asarray(self.groups)
        names = np.unique(labels)
        parts = [
            everything.coordinates
            if len(names) == 1
            else aligned(self._configuration(matrices[labels == name], run).coordinates, everything.coordinates)
            for name in names
        ]
        extra = {**everything.extra, "configurations_": np.stack(parts), "groups_": names}
        return replace(everything, extend=MergedRow(self.merge, None, everything.extend), extra=extra)

    def _configuration(self, matrices: Floats, run: Run) -> Fit:
        D, counts = merge(matrices, self.merge)
        if self.method == "classical":
            _refuse_gaps(D)
        model = self._model(None if (counts == len(matrices)).all() else counts)
        return model._embed(Data(Pairs(D)), run)

    def _model(self, counts: Floats | None) -> Method:
        if self.method == "classical":
            return ClassicalMDS(self.n_components, metric="precomputed")
        if self.method == "nonmetric":
            return NonmetricMDS(self.n_components, metric="precomputed")
        return MetricMDS(self.n_components, weights=counts, metric="precomputed")

    def _operator(self) -> Operator:
        """The operator of the method used, of the merged matrix."""
        return self._model(None).fit(self._merged_distances()).operator()
