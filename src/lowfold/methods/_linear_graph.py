"""Linear methods that look at neighbourhoods: LPP, NPE, linear LTSA. The graph decides what the map should keep.

A linear map needs no connected graph: on pieces it separates them, so no bridges are built.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lowfold._core.limits import Real
from lowfold._core.operators import SparseOperator
from lowfold._core.params import fixed, param
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.lowrank._linearised import linearised
from lowfold.methods._base import Check
from lowfold.methods._fit import Connected, Fit
from lowfold.methods._graph_method import GraphMethod, neighbors_within_limits
from lowfold.methods._input import AnySource, Reader
from lowfold.methods._linear_method import AffineMap, at_most_rank, project, regression_back
from lowfold.methods._parameters import PointMetric
from lowfold.methods._stages import Stages, linear_graph_stages


class LinearGraphMethod(PointMetric, GraphMethod):
    """Adds `components_`, `mean_`, `rank_`; a method declares its needs, all of them with pieces left apart."""

    stages: ClassVar[Stages] = linear_graph_stages

    energy: float = param(
        1.0,
        Real(0, 1, open_low=True),
        "PCA comes first where the features depend on each other or outnumber the points; below 1 only the leading "
        "axes with this share of the sum of squares are used, which keeps directions of noise out.",
    )
    on_disconnected: Any = fixed(default="connect", init=False)
    solver: Any = fixed(default="auto", init=False)
    tol: Any = fixed(default=1e-6, init=False)

    reader: ClassVar[Reader] = AnySource(sparse=False)
    checks: ClassVar[tuple[Check, ...]] = (at_most_rank, neighbors_within_limits)


def linear_fit(
    K: SparseOperator, mass: Floats | None, data: Connected, d: int, energy: float, run: Run, extra: dict[str, Any]
) -> Fit:
    """The linear map for K with d columns, and everything that follows from it."""
    X = data.points().X
    found = linearised(K, X, d, mass=mass, energy=energy, run=run)
    Y = project(X, found.mean, found.A, run)
    there = AffineMap(found.mean, found.A, regression_back(Y, X, found.mean))
    attributes = {
        "components_": found.A.T.astype(X.dtype),
        "mean_": found.mean.astype(X.dtype),
        "rank_": found.rank,
    }
    return Fit(Y, found.pairs, None, there, there, {**attributes, **extra})
