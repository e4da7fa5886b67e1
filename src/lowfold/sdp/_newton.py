"""The inner solver of the low-rank route: Newton steps by preconditioned conjugate gradients on

    phi(Y) = sum_e psi_e(c_e) - ||Y||^2,   c_e = ||y_i - y_j||^2 - s_e,   psi_e' = w_e, psi_e'' = h_e >= 0

    gradient  2 (L_w - I) Y         Hessian  V -> 2 (L_w - I) V + 4 E' diag(h_e (u_e . (EV)_e)) U,   U = E Y

The preconditioner of a column is the diagonal block of the Hessian: the graph Laplacian with weights 2 w_e + 4 h_e
u_ec^2; columns of little stretch share that of their mean. They are factored once in a few steps. The step length
along a direction minimises a quartic exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array

from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.spectral._factor import count_fill

Precondition = Callable[[Floats], Floats]
REFACTOR = 4  # steps for which a preconditioner is kept
FORCING = 0.1  # the accuracy of a Newton direction: at most this, and no better than the residual itself deserves
MOST_CG = 200  # products of one direction
FLAT = 1e-10  # curvature over the preconditioner's, below which a direction counts as one of negative curvature
SHORTEST = 1e-12  # step length at which halving ends: a shorter one changes nothing in float64
REAL = 1e-9  # imaginary part of a root, relative, that is rounding of NumPy's eigenvalues; one with more is no minimum
BALANCED = 1e-13  # of the trace: the slope of the size, a sum over all pairs, is rounding below
SCALINGS = 60  # steps for the size; bisection alone would halve a bracket down to float64's last digit in 53
# Of the mean weight: a pair whose weight is 0 or below still couples its points, else a preconditioner falls apart
# where no pair pulls. GROUND, of the largest diagonal entry, does the same for the constant, which is projected out
# afterwards.
COUPLED, GROUND = 1e-6, 1e-7
# Of the stretch of pairs over all columns: one with less shares its preconditioner, which then takes a factor less for
# each and hardly more products: 0.01 to 0.05 take about the same time.
ALONE = 0.02
# Columns that have one of their own: where more are large they are much alike, as in points of many dimensions, and one
# for all takes half the time; of sheets, whose two differ, one for all takes up to three times as long.
MOST_ALONE = 4


@dataclass(frozen=True, eq=False)
class Penalty:
    """psi_e(c) = (lam_e c + rho c^2 / 2), the augmented Lagrangian of c = 0; `one_sided` of c <= 0.

    With lam = 0 and rho = 2 nu it is the slack form's nu c^2.
    """

    lam: Floats
    rho: float
    one_sided: bool = False

    def weights(self, c: Floats) -> tuple[Floats, Floats]:
        """w = psi', h = psi''."""
        w = self.lam + self.rho * c
        if not self.one_sided:
            return w, np.full(len(c), self.rho)
        active = w > 0
        return np.where(active, w, 0.0), np.where(active, self.rho, 0.0)

    def value(self, c: Floats) -> float:
        w, _ = self.weights(c)
        return float(w @ w - self.lam @ self.lam) / (2 * self.rho)


@dataclass(frozen=True, eq=False)
class Inner:
    """The point reached; `products` counts Hessian products."""

    Y: Floats
    c: Floats
    w: Floats
    steps: int
    products: int
    residual: float


def minimise(
    E: csr_array,
    Et: csr_array,
    s: Floats,
    Y: Floats,
    penalty: Penalty,
    *,
    tol: float,
    max_steps: int,
    max_products: int,
) -> Inner:
    """Newton's method from Y until the preconditioned gradient is below tol ||Y||."""
    products = 0
    precondition: Precondition | None = None
    residual, step = np.inf, 0
    for step in range(max_steps + 1):
        if step % REFACTOR == 0:
            Y = aligned(Y)
        U = E @ Y
        c = _excess(U, s)
        w, h = penalty.weights(c)
        if precondition is None or step % REFACTOR == 0:
            precondition = laplacians(E, Et, U, w, h)
        gradient = _centred(2.0 * (Et @ (w[:, None] * U)) - 2.0 * Y)
        downhill = precondition(gradient)
        residual = float(np.sqrt(max(np.sum(gradient * downhill), 0.0) / max(np.sum(Y * Y), NO_DIVISOR)))
        if residual <= tol or step == max_steps or products >= max_products:
            break
        x, used = _newton_direction(E, Et, U, w, h, gradient, downhill, precondition, residual)
        products += used
        t = _length(E, s, Y, U, c, w, h, x, penalty)
        if t == 0.0:
            break
        Y = Y + t * x
    Y, c = _best_size(E, s, Y, penalty)
    return Inner(Y, c, penalty.weights(c)[0], step, products, residual)


def _excess(U: Floats, s: Floats) -> Floats:
    return np.asarray(np.einsum("er,er->e", U, U) - s)


def _centred(V: Floats) -> Floats:
    return np.asarray(V - V.mean(axis=0))


def aligned(Y: Floats) -> Floats:
    """Y rotated to its principal axes, where the Hessian's blocks of different columns decouple best."""
    _, V = stacked_eigh(Y.T @ Y)
    return np.ascontiguousarray(_centred(Y @ V[:, ::-1]))


def _newton_direction(
    E: csr_array,
    Et: csr_array,
    U: Floats,
    w: Floats,
    h: Floats,
    gradient: Floats,
    downhill: Floats,
    precondition: Precondition,
    residual: float,
) -> tuple[Floats, int]:
    """Conjugate gradients on the Newton system; ends at the asked-for accuracy or at negative curvature."""
    x = np.zeros_like(gradient)
    R, Z = -gradient, -downhill
    P = Z.copy()
    rz = first = float(np.sum(R * Z))
    accuracy = min(FORCING, residual) ** 2
    for used in range(1, MOST_CG + 1):
        EP = E @ P
        HP = _centred(2.0 * (Et @ (w[:, None] * EP + (2.0 * h * np.einsum("er,er->e", U, EP))[:, None] * U)) - 2.0 * P)
        curvature = float(np.sum(P * HP))
        if curvature <= FLAT * rz:
            if used == 1:
                return P, used
            return x + 0.5 * np.sqrt(np.sum(x * x) / np.sum(P * P)) * P, used
        alpha = rz / curvature
        x += alpha * P
        R = R - alpha * HP
        Z = precondition(R)
        new = float(np.sum(R * Z))
        if new <= accuracy * first:
            break
        P, rz = Z + (new / rz) * P, new
    return x, used


def _length(
    E: csr_array, s: Floats, Y: Floats, U: Floats, c: Floats, w: Floats, h: Floats, x: Floats, penalty: Penalty
) -> float:
    """The best t > 0 of the quartic phi(Y + t x); halved while newly active pairs spoil it. 0 where none helps."""
    Ex = E @ x
    b, q = 2.0 * np.einsum("er,er->e", U, Ex), np.einsum("er,er->e", Ex, Ex)
    yx, xx = float(np.sum(Y * x)), float(np.sum(x * x))
    quartic = np.array(
        [
            0.5 * float(h @ (q * q)),
            float(h @ (b * q)),
            float(w @ q) + 0.5 * float(h @ (b * b)) - xx,
            float(w @ b) - 2.0 * yx,
            0.0,
        ]
    )
    t = best_root(quartic)
    start = penalty.value(c)
    while t > SHORTEST:
        change = penalty.value(c + t * b + t * t * q) - start - 2.0 * t * yx - t * t * xx
        if change < 0:
            return t
        t /= 2
    return 0.0


def best_root(quartic: Floats) -> float:
    """Where the quartic is smallest for t > 0, among its stationary points; 0.0 where it has none."""
    roots = np.roots(np.polyder(quartic))
    real = roots[np.abs(roots.imag) <= REAL * np.maximum(np.abs(roots), NO_DIVISOR)].real
    real = real[real > 0]
    return float(real[np.argmin(np.polyval(quartic, real))]) if len(real) else 0.0


def _best_size(E: csr_array, s: Floats, Y: Floats, penalty: Penalty) -> tuple[Floats, Floats]:
    """Y scaled so that <gradient, Y> = 0: then the primal value and the dual value of its weights agree.

    The slope rises with the squared scale, and is linear but for pairs that become active: Newton within a bracket.
    """
    d, trace = _excess(E @ Y, np.zeros_like(s)), float(np.sum(Y * Y))
    size, low, high = 1.0, 0.0, np.inf
    for _ in range(SCALINGS):
        w, h = penalty.weights(size * d - s)
        slope, curvature = float(w @ d) - trace, float(h @ (d * d))
        if abs(slope) <= BALANCED * trace:
            break
        low, high = (size, high) if slope < 0 else (low, size)
        guess = size - slope / curvature if curvature > 0 else np.inf
        size = guess if low < guess < high else (low + high) / 2 if np.isfinite(high) else 2.0 * size
    Y = np.sqrt(size) * Y
    return Y, size * d - s


def laplacians(E: csr_array, Et: csr_array, U: Floats, w: Floats, h: Floats) -> Precondition:
    """Factored Laplacians; columns that stretch pairs little share one. Diagonals where a factor is too large."""
    n = E.shape[1]
    floor = COUPLED * float(np.abs(w).mean() + h.mean()) + NO_DIVISOR
    base = 2.0 * np.maximum(w, 0.0) + floor
    stretch = 4.0 * h[:, None] * U**2
    groups = _sharing(stretch)
    matrices = [csr_array(Et @ E.multiply((base + stretch[:, k].mean(axis=1))[:, None]).tocsr()) for k in groups]
    if not count_fill(matrices[0]).feasible:
        inverse = np.empty((n, U.shape[1]))
        for k, matrix in zip(groups, matrices):
            inverse[:, k] = 1.0 / matrix.diagonal()[:, None]
        return lambda R: _centred(inverse * R)
    from scipy.sparse.linalg import splu

    eye = eye_array(n, format="csr")
    factors = [
        splu(
            csc_array(matrix + GROUND * float(matrix.diagonal().max()) * eye),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        for matrix in matrices
    ]

    def precondition(R: Floats) -> Floats:
        out = np.empty_like(R)
        for k, factor in zip(groups, factors):
            out[:, k] = factor.solve(np.asfortranarray(R[:, k]))
        return _centred(out)

    return precondition


def _large(size: Floats) -> NDArray[np.bool_]:
    return np.asarray(size >= ALONE * size.sum())


def stretching(U: Floats) -> int:
    """How many columns of the differences stretch pairs much."""
    return int(_large(np.sum(U**2, axis=0)).sum())


def _sharing(stretch: Floats) -> list[Ints]:
    """Columns in groups: those with a large share of the stretch alone, the others together."""
    large = _large(stretch.sum(axis=0))
    if large.sum() > MOST_ALONE:
        return [np.arange(len(large))]
    groups = [np.array([k]) for k in np.flatnonzero(large)]
    return groups if large.all() else [*groups, np.flatnonzero(~large)]
