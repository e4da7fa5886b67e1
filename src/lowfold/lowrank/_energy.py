"""How much of the variance a few directions keep, and how many of them to keep.

Wang (2012), Section 5.1, doi:10.1007/978-3-642-27497-8; Gering (2002), eq. (27).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats

DISORDER = 1e-9  # of the largest: eigenvalues that coincide may come out of a solver in either order


def explained_energy(values: ArrayLike, *, total: float | None = None) -> Floats:
    """(lambda_1 + ... + lambda_d) / total for d = 1, 2, ...; `total` is the sum of all eigenvalues, or of those given.

    >>> explained_energy([3.0, 1.0]).tolist()
    [0.75, 1.0]
    """
    kept = np.cumsum(_descending(values))
    whole = float(kept[-1]) if total is None else float(total)
    return np.ones(len(kept)) if whole <= 0 else np.minimum(kept / whole, 1.0)


def share_held(kept: float, total: float) -> float:
    """kept / total; 1 where there is nothing to hold, for nothing is missing.

    >>> share_held(0.0, 0.0)
    1.0
    """
    return float(kept / total) if total > 0 else 1.0


def dimension_by_energy(values: ArrayLike, share: float = 0.95, *, total: float | None = None) -> int:
    """The smallest d whose directions keep at least `share` of the energy; share 1 gives the rank.

    Energy is compared up to rounding, so that exact low-rank data do not ask for a direction of noise.

    >>> dimension_by_energy([6.0, 3.0, 1.0], 0.9)
    2
    """
    if not 0 < share <= 1:
        raise InvalidInput(f"share must be above 0 and at most 1; got {share!r}")
    energy = explained_energy(values, total=total)
    reached = energy >= share - ROUNDING
    if not reached.any():
        raise InvalidInput(
            f"the {len(energy)} eigenvalues given keep only {energy[-1]:.4f} of the total, less than share = {share}; "
            "give more of them"
        )
    return int(np.argmax(reached)) + 1


def dimension_by_gap(values: ArrayLike, *, floor: float = 1e-12) -> int:
    """The d after which the eigenvalues fall the most: the largest ratio lambda_d / lambda_(d+1).

    Eigenvalues below `floor` of the first count as `floor`, so that the step from something to nothing is a finite one.

    >>> dimension_by_gap([10.0, 8.0, 0.1, 0.09])
    2
    """
    values = _descending(values)
    if len(values) < 2:
        return len(values)
    safe = np.maximum(values, floor * max(float(values[0]), np.finfo(float).tiny))
    return int(np.argmax(safe[:-1] / safe[1:])) + 1


def _descending(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise InvalidInput(f"values must be a list of finite eigenvalues; got shape {array.shape}")
    if np.any(np.diff(array) > DISORDER * np.abs(array).max()):
        raise InvalidInput("values must stand in descending order, as a fitted model's eigenvalues_ do")
    return np.maximum(array, 0.0)
