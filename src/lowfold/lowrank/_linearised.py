"""A spectral embedding restricted to linear functions of the features: y = (x - mean) A.

min tr(Y'K Y) with Y'M Y = I over Y = Xc A is the problem Xc'K Xc a = lambda Xc'M Xc a. With K the Laplacian and M the
degrees it is LPP, He & Niyogi (2003); with K = (I - W)'(I - W) and M = I, NPE, He et al. (2005),
doi:10.1109/ICCV.2005.167; with the kernel of LTSA and M = I, linear LTSA, Zhang et al. (2007),
doi:10.1016/j.neucom.2006.11.007.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.operators import DenseOperator, Operator
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import AnyFloats, Floats
from lowfold.lowrank._whitened import Whitened, whitened
from lowfold.spectral._doors import smallest
from lowfold.spectral._types import Eigenpairs, fix_signs

CUT = 0.98  # of the sum of squares: what it leaves out is mostly noise, measured on images
SHARED = 1e-6  # shares of energy that differ less are the same
BEARABLE = 4  # points for every feature, below which the map fits the noise
# Points for every axis that is used then, so that as many axes are left as the points can bear. Of two sets of faces
# with 1.7 to 4 points for every axis of CUT the nearest neighbour of a new one was the right person in 0.64 to 0.96
# of them; with 10 in 0.82 to 0.95, and with 15 no more often.
PER_AXIS = 10
LEAST = 2  # axes for every coordinate, however few the points are


@dataclass(frozen=True, eq=False)
class Linearised:
    """y = (x - mean) A; eigenvalues ascending in `pairs`; `rank` directions of the data were used, with `energy`."""

    mean: Floats
    A: Floats
    pairs: Eigenpairs
    rank: int
    energy: float


def linearised(
    K: Operator,
    X: AnyFloats | SparseRows,
    d: int,
    *,
    mass: Floats | None = None,
    energy: float | None = 1.0,
    center: bool = True,
    run: Run | None = None,
) -> Linearised:
    """The d smallest solutions of Xc'K Xc a = lambda Xc'M Xc a, M = diag(mass) (I by default).

    X is centred with the mean that `mass` weights, so every y is M-orthogonal to the constant and nothing trivial is
    left to drop. Where Xc'M Xc is singular (dependent features, more features than points) the data are first turned to
    the principal axes that they have; `energy` below 1 keeps only the leading axes with that share of the sum of
    squares; None takes what the points can bear. Without `center` X is taken as it is, the printed form: a
    direction in which the data are far from 0 is nearly constant and comes first.
    """
    run = run or Run()
    w = np.ones(len(X)) if mass is None else mass
    mean = np.asarray(w @ X, dtype=np.float64) / w.sum() if center else np.zeros(X.shape[1])
    axes = whitened(X, mean, weights=mass, run=run)
    if energy is None:
        axes = axes.leading(_bearable(axes, len(X), X.shape[1], d))
        energy = axes.share
    elif isinstance(X, SparseRows) and energy > axes.share + SHARED:
        raise InvalidInput(
            f"energy must be at most {axes.share:.2f} here, what the first {len(axes.s)} axes of these sparse rows "
            f"hold; got {energy:g}: leave it at None, or take fewer rows or columns"
        )
    else:
        axes = axes.leading(axes.count(energy))
    Z, rank = axes.Z, len(axes.s)
    if d > rank:
        raise InvalidInput(
            f"n_components must be at most {rank}: the centred data have only so many directions"
            + ("" if energy == 1 else f" with {energy:g} of their energy")
            + f"; got {d}"
        )
    T = Z.T @ K.apply(Z)
    inner = replace(run, solver="auto", verbose=False)
    pairs = smallest(DenseOperator((T + T.T) / 2, psd=True), d, negligible=ROUNDING, run=inner)
    return Linearised(mean, fix_signs(axes.lift(pairs.vectors)), pairs, rank, energy)


def _bearable(axes: Whitened, n: int, features: int, d: int) -> int:
    """How many leading axes n points can bear: all of few features, of many those that hold CUT, or fewer."""
    some = axes.count(CUT)
    if BEARABLE * features <= n or some <= d:
        return len(axes.s)
    return min(some, max(n // PER_AXIS, LEAST * d))
