"""Linear methods that look at neighbourhoods: LPP, NPE, linear LTSA. The graph decides what the map should keep.

A linear map needs no connected graph: on pieces it separates them, so no bridges are built.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Function, Limits, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._components import components
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods
from lowfold.graph._types import Neighbors
from lowfold.lowrank._linearised import Linearised, linearised
from lowfold.methods._fit import Data, Fit
from lowfold.methods._linear_method import AffineMap, LinearMethod, project, regression_back
from lowfold.methods._parameters import LIMITS
from lowfold.metrics._table import METRICS

LINEAR_GRAPH_LIMITS: Limits = {
    **LIMITS,
    "metric": (Choice(tuple(METRICS)), Function("f(x, y) -> distance")),
    "energy": (Real(0, 1, open_low=True),),
}


class LinearGraphMethod(LinearMethod):
    """Adds `n_neighbors_`, `components_`, `mean_`, `rank_`; a method writes `_operator`."""

    def _neighborhoods(self, data: Data, run: Run) -> Neighbors:
        """Neighbourhoods by every graph parameter of self; sets `n_neighbors_`."""
        if data.neighbors is not None:
            return data.neighbors
        k = self._k(data.n)
        self.n_neighbors_ = k
        found = neighborhoods(data.points(), n_neighbors=k, radius=self.radius, search=self.search, run=run)
        self.component_labels_ = components(found.union())
        return found

    def _smallest_k(self) -> int:
        return 1

    def _k(self, n: int) -> int | NDArray[np.int64] | None:
        if self.n_neighbors is None:
            return None if self.radius is not None else min(n - 1, max(default_neighbors(n), self._smallest_k()))
        return int(self.n_neighbors) if np.ndim(self.n_neighbors) == 0 else np.asarray(self.n_neighbors)

    def _linear(self, K: SparseOperator, mass: Floats | None, data: Data, run: Run, extra: dict[str, Any]) -> Fit:
        """The linear map for K, and everything that follows from it."""
        X = data.points().X
        found: Linearised = linearised(K, X, self.n_components, mass=mass, energy=self.energy, run=run)
        Y = project(X, found.mean, found.A, run)
        there = AffineMap(found.mean, found.A, regression_back(Y, X, found.mean))
        attributes = {
            "components_": found.A.T.astype(X.dtype),
            "mean_": found.mean.astype(X.dtype),
            "rank_": found.rank,
        }
        return Fit(Y, found.pairs, None, there, there, {**attributes, **extra})

    def _check(self, data: Data) -> None:
        super()._check(data)
        k, least = self._k(data.n), self._smallest_k()
        if k is not None and (np.max(k) > data.n - 1 or np.min(k) < least):
            got = np.max(k) if np.max(k) > data.n - 1 else np.min(k)
            raise InvalidInput(
                f"n_neighbors of {type(self).__name__} must be from {least} to {data.n - 1} for n_samples = {data.n} "
                f"and n_components = {self.n_components}; got {got}"
            )
