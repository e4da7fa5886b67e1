"""What a solver gives back, what it tells on the way, and how far an answer is from proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.brief import brief
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats
from lowfold.sdp._program import Form, Unfolding

NO_COLUMN = 1e-15  # of the trace: a column whose squares are rounding of the others'
CARRIES = 1e-6  # of the trace: interior-point methods leave about their tolerance on directions that K does not use


@dataclass(frozen=True)
class Step:
    """One iteration, as a callback sees it; values are in the solver's units (mean squared distance 1)."""

    solver: str
    iteration: int
    primal: float
    dual: float
    gap: float
    violation: float
    rank: int


Callback = Callable[[Step], object]


@dataclass(frozen=True, eq=False)
class Solution:
    """K = Y Y' with its proof.

    factor      Y (n, r) in the units of the data, columns by falling size, centred
    dual        w_e, one per pair: the stress that holds the pair
    primal      value of the program at K
    bound       no feasible K has a larger value (weak duality)
    gap         (bound - primal) / bound; negative only where K violates constraints
    violation   root mean square of d_e(K) - s_e ("ineq": of its positive part) over the mean s_e
    largest_violation   the largest of them
    rank        columns of Y that carry more than 1e-6 of the trace
    solver, iterations, converged, stopped   what was used, how long, whether the tolerance was met, whether a
    callback ended it
    """

    factor: Floats
    dual: Floats
    primal: float
    bound: float
    gap: float
    violation: float
    largest_violation: float
    rank: int
    solver: str
    iterations: int
    converged: bool
    stopped: bool = False

    __repr__ = brief


def violations(excess: Floats, form: Form) -> Floats:
    """|d_e - s_e|, or its positive part for inequalities."""
    return np.maximum(excess, 0.0) if form == "ineq" else np.abs(excess)


def rms(values: Floats) -> float:
    """Root mean square; 0 for none."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


def objective(trace: float, excess: Floats, form: Form, nu: float) -> float:
    """Value of the program at K: tr K, less nu sum_e (d_e - s_e)^2 in the slack form."""
    return trace - nu * float(excess @ excess) if form == "slack" else trace


def dual_value(w: Floats, squared: Floats, form: Form, nu: float) -> float:
    """sum_e w_e s_e, plus sum_e w_e^2 / (4 nu) in the slack form: an upper bound where sum_e w_e g_e g_e' - C is psd.

    For inequalities w must be 0 or more.
    """
    value = float(w @ squared)
    return value + float(w @ w) / (4 * nu) if form == "slack" else value


def relative_gap(primal: float, bound: float) -> float:
    """(bound - primal) / |bound|; inf where there is no bound."""
    if not np.isfinite(bound):
        return float("inf")
    size = max(abs(bound), abs(primal))
    return (bound - primal) / size if size > 0 else 0.0


def ordered(Y: Floats) -> Floats:
    """The same Y Y' with centred, orthogonal columns, largest first; directions of rounding size are dropped."""
    from lowfold._core.stacks import stacked_eigh

    Y = Y - Y.mean(axis=0)
    values, V = stacked_eigh(Y.T @ Y)
    values, V = values[::-1], V[:, ::-1]
    kept = values > NO_COLUMN * max(float(values.sum()), 0.0)
    return np.ascontiguousarray(Y @ V[:, kept])


def numerical_rank(Y: Floats) -> int:
    """Orthogonal columns that carry more than 1e-6 of the trace."""
    sizes = np.sum(Y**2, axis=0)
    return int((sizes > CARRIES * max(float(sizes.sum()), NO_DIVISOR)).sum())


def in_units(program: Unfolding, result: Solution, *, stopped: bool) -> Solution:
    """A solution in the units of the data, its columns in order."""
    Y, unit = ordered(result.factor), program.unit
    return replace(
        result,
        factor=Y * np.sqrt(unit),
        primal=result.primal * unit,
        bound=result.bound * unit,
        rank=numerical_rank(Y),
        stopped=stopped,
    )
