"""A spectral embedding restricted to linear functions of the features: y = (x - mean) A.

min tr(Y'K Y) with Y'M Y = I over Y = Xc A is the problem Xc'K Xc a = lambda Xc'M Xc a. With K the Laplacian and M the
degrees it is LPP, He & Niyogi (2003); with K = (I - W)'(I - W) and M = I, NPE, He et al. (2005),
doi:10.1109/ICCV.2005.167; with the kernel of LTSA and M = I, linear LTSA, Zhang et al. (2007),
doi:10.1016/j.neucom.2006.11.007.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.operators import DenseOperator, Operator
from lowfold._core.parallel import row_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.lowrank._principal import range_basis
from lowfold.spectral._doors import smallest
from lowfold.spectral._types import Eigenpairs, fix_signs


@dataclass(frozen=True, eq=False)
class Linearised:
    """y = (x - mean) A; eigenvalues ascending in `pairs`; `rank` directions of the data were used."""

    mean: Floats
    A: Floats
    pairs: Eigenpairs
    rank: int


def linearised(
    K: Operator,
    X: NDArray[np.floating],
    d: int,
    *,
    mass: Floats | None = None,
    energy: float = 1.0,
    center: bool = True,
    run: Run | None = None,
) -> Linearised:
    """The d smallest solutions of Xc'K Xc a = lambda Xc'M Xc a, M = diag(mass) (I by default).

    X is centred with the mean that `mass` weights, so every y is M-orthogonal to the constant and nothing trivial is
    left to drop. Where Xc'M Xc is singular (dependent features, more features than points) the data are first turned to
    the principal axes that they have; `energy` below 1 keeps only the leading axes with that share of the sum of
    squares. Without `center` X is taken as it is, the printed form: a direction in which the data are far from 0 is
    nearly constant and comes first.
    """
    run = run or Run()
    w = np.ones(len(X)) if mass is None else mass
    mean = np.asarray(w @ X, dtype=np.float64) / w.sum() if center else np.zeros(X.shape[1])
    V, s = range_basis(X, mean, weights=mass, energy=energy, run=run)
    if d > len(s):
        raise InvalidInput(
            f"n_components must be at most {len(s)}: the centred data have only so many directions"
            + ("" if energy == 1 else f" with {energy:g} of their energy")
            + f"; got {d}"
        )
    to_axes = V / s
    Z = np.empty((len(X), len(s)))
    for part in row_slices(*X.shape):
        Z[part] = np.subtract(X[part], mean, dtype=np.float64) @ to_axes  # Z'M Z = I
    T = Z.T @ K.apply(Z)
    inner = replace(run, solver="auto", verbose=False)
    pairs = smallest(DenseOperator((T + T.T) / 2, psd=True), d, negligible=ROUNDING, run=inner)
    return Linearised(mean, fix_signs(to_axes @ pairs.vectors), pairs, len(s))
