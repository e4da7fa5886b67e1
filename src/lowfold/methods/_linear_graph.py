"""Linear methods that look at neighbourhoods: LPP, NPE, linear LTSA. The graph decides what the map should keep.

A linear map needs no connected graph: on pieces it separates them, so no bridges are built.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, final

from lowfold._core.limits import Flag, Null, Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import fixed, param
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.lowrank._linearised import linearised
from lowfold.methods._alignment_method import AlignmentMethod
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._graph_method import GraphMethod, neighbors_within_limits
from lowfold.methods._linear_method import AffineMap, at_most_rank, project, regression_back
from lowfold.methods._neighborhood import Needs
from lowfold.methods._parameters import WIDE_NEIGHBORS, PointMetric
from lowfold.methods._stages import Stages, linear_graph_stages
from lowfold.methods._telling import tell_few


class LinearGraphMethod(PointMetric, GraphMethod):
    """Adds `components_`, `mean_`, `rank_`; a method declares its needs, all of them with pieces left apart."""

    stages: ClassVar[Stages] = linear_graph_stages

    energy: float | None = param(
        None,
        Real(0, 1, open_low=True),
        Null("1, or what the points can bear of many features"),
        "PCA comes first where the features depend on each other or outnumber the points; below 1 only the leading "
        "axes with this share of the sum of squares are used, which keeps directions of noise out. None is 1, and at "
        "most 0.98 and an axis for every 10 points where there is more than one feature for every 4: a map of so many "
        "fits the noise. `energy_` says it. "
        "Of sparse rows with more than 4,000 points and columns the first 300 axes are used.",
    )
    center: bool = param(
        True,
        Flag(),
        "Centre the features first, so that nothing constant is left; False is the printed form, in which a direction "
        "far from 0 comes first because it is nearly constant.",
    )
    on_shortcut: Any = fixed(default="ignore", init=False)
    on_disconnected: Any = fixed(default="connect", init=False)
    solver: Any = fixed(default="auto", init=False)
    tol: Any = fixed(default=1e-6, init=False)

    checks: ClassVar[tuple[Check, ...]] = (at_most_rank, neighbors_within_limits)


class LinearAlignment(LinearGraphMethod):
    """The kernel of an alignment method, restricted to linear functions; a method writes `_aligned`."""

    n_neighbors: int | Ints | None = param(None, WIDE_NEIGHBORS + "More than n_components are needed.")

    keeps_neighbors: ClassVar[bool] = True
    per_component: ClassVar[int] = AlignmentMethod.per_component

    @abstractmethod
    def _aligned(self, source: Points, neighbors: Neighbors, run: Run) -> SparseOperator:
        """The alignment kernel."""

    @final
    def _needs(self) -> Needs:
        return Needs(least=self.n_components + 1, apart=True)

    @final
    def _recipe(self, data: Connected, run: Run) -> Fit:
        K = self._aligned(data.points(), data.neighbors, run)
        return linear_fit(self, K, None, data, run, {})

    @final
    def _operator(self) -> SparseOperator:
        """The alignment kernel, rebuilt."""
        return self._aligned(self._trained.points, self.neighbors_, self._run())


def linear_fit(
    method: LinearGraphMethod, K: SparseOperator, mass: Floats | None, data: Connected, run: Run, extra: dict[str, Any]
) -> Fit:
    """The linear map for K, and everything that follows from it."""
    X = data.points().X
    d, energy = method.n_components, method.energy
    found = linearised(K, X, d, mass=mass, energy=energy, center=method.center, run=run)
    Y = project(X, found.mean, found.A, run)
    if data.labels.max(initial=0) == 0:  # in pieces a coordinate may rightly tell a small one
        tell_few(type(method).__name__, Y, "leave these rows out, or use a smaller energy or more n_neighbors")
    there = AffineMap(found.mean, found.A, regression_back(Y, X, found.mean))
    attributes = {
        "components_": found.A.T.astype(X.dtype),
        "mean_": found.mean.astype(X.dtype),
        "rank_": found.rank,
        "energy_": found.energy,
    }
    return Fit(Y, found.pairs, None, there, there, {**attributes, **extra})
