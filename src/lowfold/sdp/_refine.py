"""Local refinement of coordinates: conjugate gradients on the distances that were measured.

    f(Y) = sum_e (||y_i - y_j||^2 - s_e)^2,   gradient 4 sum_j (||y_i - y_j||^2 - s_ij)(y_i - y_j) in row i

Wang (2012), eq. (9.15), and the correction of Fig. 9.8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats
from lowfold.sdp._newton import best_root


@dataclass(frozen=True, eq=False)
class Refined:
    """Coordinates and the loss before and after."""

    Y: Floats
    before: float
    after: float
    iterations: int


def local_loss(Y: Floats, pairs: NDArray[np.int64], squared: Floats) -> tuple[float, Floats]:
    """f and its gradient, each pair counted once."""
    E = _incidence(len(Y), pairs)
    U = E @ Y
    c = np.einsum("er,er->e", U, U) - squared
    return float(c @ c), np.asarray(4.0 * (E.T @ (c[:, None] * U)))


def refine(
    Y: Floats,
    pairs: NDArray[np.int64],
    squared: Floats,
    *,
    fixed: NDArray[np.bool_] | None = None,
    tol: float = 1e-8,
    max_iter: int = 500,
) -> Refined:
    """Polak-Ribiere conjugate gradients with exact steps (a quartic); rows marked `fixed` stay where they are."""
    E = _incidence(len(Y), pairs)
    Et = csr_array(E.T)
    free = np.ones((len(Y), 1)) if fixed is None else (~fixed)[:, None].astype(np.float64)

    def slope(Y: Floats) -> tuple[Floats, Floats, Floats]:
        U = E @ Y
        c = np.einsum("er,er->e", U, U) - squared
        return U, c, free * (4.0 * (Et @ (c[:, None] * U)))

    U, c, g = slope(Y)
    before = value = float(c @ c)
    direction, steps = -g, 0
    for _ in range(max_iter):
        if float(np.sum(g * direction)) >= 0:
            direction = -g
        D = E @ direction
        b, q = 2.0 * np.einsum("er,er->e", U, D), np.einsum("er,er->e", D, D)
        t = best_root(
            np.array([float(q @ q), 2.0 * float(b @ q), float(b @ b + 2.0 * (c @ q)), 2.0 * float(c @ b), 0.0])
        )
        if t == 0.0:
            break
        Y = Y + t * direction
        steps += 1
        old = g
        U, c, g = slope(Y)
        former, value = value, float(c @ c)
        if former - value <= tol * max(former, NO_DIVISOR):
            break
        direction = -g + max(0.0, float(np.sum(g * (g - old)) / max(np.sum(old * old), NO_DIVISOR))) * direction
    return Refined(Y, before, value, steps)


def _incidence(n: int, pairs: NDArray[np.int64]) -> csr_array:
    m = len(pairs)
    e = np.arange(m)
    values = np.concatenate([np.ones(m), -np.ones(m)])
    return csr_array((values, (np.concatenate([e, e]), pairs.T.ravel())), shape=(m, n))
