"""Stress by majorisation (SMACOF), de Leeuw (1977); de Leeuw & Heiser (1980); Borg & Groenen (2005), Chapter 8."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import Progress
from lowfold.optimize._stress import Sums, Terms

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a descent ended: configuration, its sums, the value before each step, and whether it stood still."""

    Y: Floats
    value: float
    history: Floats
    converged: bool
    sums: Sums | None = None

    @property
    def n_iter(self) -> int:
        return len(self.history)


def majorise(
    terms: Terms, Y: Floats, *, max_iter: int = 300, tol: float = 1e-6, progress: Progress | None = None
) -> Minimum:
    """Minimise raw stress from Y. It never rises.

    The Guttman transform G = V^+ B(Y) Y minimises a quadratic that lies above stress and touches it at Y. Steps go to
    2 G - c Y, at the same height of that quadratic but twice as far, which halves the number of steps (de Leeuw &
    Heiser); c is the best scale of Y, and G does not depend on it. Ends when a step lowers stress by less than `tol`
    times the sum of squared distances.
    """
    Y = np.array(Y, dtype=np.float64)
    Y -= Y.mean(axis=0)
    history: list[float] = []
    converged = False
    sums = terms.sums(Y)
    for t in range(max_iter):
        Y *= sums.scale
        history.append(sums.scaled_raw)
        squares = sums.scale**2 * float(sums.eta.sum()) / 2
        if t and history[-2] - history[-1] <= tol * squares:
            converged = True
            break
        G = terms.solve(sums.BY)
        Y = 2.0 * G - Y
        sums = terms.sums(Y)
        if progress is not None:
            progress((t + 1) / max_iter)
    else:
        Y *= sums.scale
    return Minimum(Y, sums.scaled_raw, np.array(history), converged, terms.sums(Y))
