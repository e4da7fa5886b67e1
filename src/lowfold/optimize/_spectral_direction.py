"""Descent along spectral directions, Vladymyrov & Carreira-Perpinan (2012), ICML: Y + a B^-1 (-dC/dY).

B is the Hessian of the attraction alone, a Laplacian of P that is factored once. From a small random layout the first
steps are inverse iterations, towards the eigenmaps of P, so that a sheet unfolds before its order is settled.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import scipy.linalg

from lowfold._core.parallel import Progress
from lowfold._core.types import Floats
from lowfold.optimize._laplacian_solve import factor_laplacian
from lowfold.optimize._momentum import Cost

# Of the mean degree, added to the Laplacian: clusters without a pull between them leave it singular. Far below the
# eigenvalues of a sheet, which a thousand points have at 1e-3.
RIDGE = 1e-8
# The farthest that a point moves in a step, in widths of the layout's Gaussian: beyond, repulsion has changed
# altogether, and clusters that hardly pull each other would run away.
REACH = 1.0
GROWN, CUT = 1.5, 0.5  # of the last step: what is tried next, and after a step too far
# Of the first slope along a direction: a slope uphill as steep as this at the end of a step means that it went too far.
UPHILL = 0.1


def spectral_descent(cost: Cost, Y: Floats, P: Floats, size: float, gradients: int, progress: Progress) -> Floats:
    """Where a descent by as many gradients ends; `size` times the pull of P is the attraction in each.

    A step is judged by the slope at its end, which the next one needs anyway; the cost is not asked.
    """
    factor = _factor(P, size)
    slope = cost.gradient(Y, 1.0)
    direction = _direction(factor, slope)
    a = _tried(1.0, direction)
    for t in range(1, gradients):
        progress(t / gradients)
        there = Y + a * direction
        new = cost.gradient(there, 1.0)
        if float(np.vdot(direction, new)) > -UPHILL * float(np.vdot(direction, slope)):
            a *= CUT
            continue
        Y, slope, direction = there, new, _direction(factor, new)
        a = _tried(GROWN * a, direction)
    return Y


def _factor(P: Floats, size: float) -> tuple[Floats, bool]:
    """Of the Laplacian of size P, which is positive definite on centred layouts."""
    L = -size * P
    own = np.diag_indices(len(P))
    L[own] = 0.0
    degrees = -L.sum(axis=1)
    L[own] = degrees + RIDGE * degrees.mean()
    return cast("tuple[Floats, bool]", factor_laplacian(L.T))  # in the order of LAPACK, which makes no copy


def _direction(factor: tuple[Floats, bool], slope: Floats) -> Floats:
    out = -scipy.linalg.cho_solve(factor, slope, check_finite=False)
    return np.asarray(out - out.mean(axis=0))


def _tried(a: float, direction: Floats) -> float:
    """A step no longer than Newton's for the attraction alone, and within reach."""
    farthest = float(np.linalg.norm(direction, axis=1).max())
    return min(a, 1.0, REACH / max(farthest, np.finfo(float).tiny))
