"""What the unfolding methods share: distances of chosen pairs, the spectrum of a factor, words about the solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.parallel import TABLED, block_slices
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._source import Measured, Pairs, Points
from lowfold.graph._types import Graph
from lowfold.methods._fit import Connected
from lowfold.sdp._solution import Solution
from lowfold.spectral._types import ZERO, Eigenpairs, fix_signs

ROUGH = 0.01  # of the mean squared distance: what the factorised route promises
WAYS_OUT = (
    "look at these rows, and leave them out if they are mistakes",
    "what the pairs let stretch and bend makes such coordinates: use LTSA, or more points",
)
UNBOUNDED = "no pair holds them together, so the variance has no finite optimum"


@dataclass(frozen=True, eq=False)
class FactorOperator:
    """K = Y Y', held by its factor."""

    factor: Floats
    psd: ClassVar[bool] = True
    bound: ClassVar[float | None] = None

    @property
    def n(self) -> int:
        return len(self.factor)

    def apply(self, V: Floats) -> Floats:
        return np.asarray(self.factor @ (self.factor.T @ V))

    def dense(self) -> Floats:
        return np.asarray(self.factor @ self.factor.T)


def pair_distances(data: Connected, pairs: NDArray[np.int64]) -> Floats:
    """Distances of the pairs; NaN where the input has none (an unmeasured entry, two vertices without edge)."""
    source = data.source
    i, j = pairs.T
    if isinstance(source, Points):
        out = np.empty(len(pairs))
        for part in block_slices(len(pairs), max(1, TABLED // source.X.shape[1])):
            out[part] = source.metric.rowwise(source.X[i[part]], source.X[j[part]])
        return out
    if isinstance(source, Pairs):
        there, back = source.distances[i, j].astype(np.float64), source.distances[j, i].astype(np.float64)
        shorter = np.fmin(there, back)  # where one direction is unmeasured the other counts
        return np.where(np.isfinite(shorter), shorter, np.nan)
    return _edge_lengths(source.pairs.union() if isinstance(source, Measured) else data.graph, pairs)


def _edge_lengths(graph: Graph, pairs: NDArray[np.int64]) -> Floats:
    """Lengths of the edges that exist, by their place in the sorted rows."""
    keys = graph.rows() * graph.n + graph.indices
    wanted = pairs[:, 0] * graph.n + pairs[:, 1]
    if len(keys) == 0:
        return np.full(len(pairs), np.nan)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, graph.lengths[place], np.nan)


def with_bridges(data: Connected, pairs: NDArray[np.int64], squared: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The pairs and the bridges that join components, each pair once."""
    if not len(data.bridges):
        return pairs, squared
    every = np.concatenate([data.bridges.edges, pairs])
    first = np.unique(every, axis=0, return_index=True)[1]
    return every[first], np.concatenate([data.bridges.lengths**2, squared])[first]


def factor_pairs(factor: Floats, d: int, solver: str, iterations: int) -> Eigenpairs:
    """The d leading eigenpairs of Y Y', from the small matrix Y'Y; directions that K does not have are 0."""
    values, V = stacked_eigh(factor.T @ factor)
    values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
    room = max(d + 1 - len(values), 0)
    values = np.concatenate([values, np.zeros(room)])
    kept = values[:d] > ZERO * values[0]
    vectors = np.zeros((len(factor), d))
    count = int(kept.sum())
    vectors[:, :count] = factor @ V[:, :count] / np.sqrt(values[:count])
    values = np.where(np.arange(len(values)) < count, values, 0.0) if count < d else values
    return Eigenpairs(values[:d], fix_signs(vectors), 0.0, float(values[d - 1] - values[d]), solver, iterations)


def warn_if_unproven(name: str, solution: Solution, way_out: str) -> None:
    """The numbers where the solver stopped short of its tolerance. The factorised route promises distances to 1%."""
    rough = solution.solver == "factorized" and solution.violation <= ROUGH
    if solution.converged or solution.stopped or rough:
        return
    warn(
        f"{name}: {solution.solver} stopped after {solution.iterations} iterations with a relative duality gap of "
        f"{solution.gap:.2g} and constraints off by {solution.violation:.2g}; {way_out}",
        errors.AccuracyWarning,
    )
