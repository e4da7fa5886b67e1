"""A dense primal-dual interior-point solver for programs with rank-one constraints.

    maximise <C, L>,  g_e' L g_e = s_e,  L psd          minimise s'w,  Z = sum_e w_e g_e g_e' - C psd

With rank-one constraints the Schur matrix of the HKM direction is an entrywise product, M = (G L G') o (G Z^-1 G'),
so that a step costs a few matrix products and one Cholesky factor of M. Helmberg, Rendl, Vanderbei & Wolkowicz (1996),
doi:10.1137/0806020; predictor and corrector as in Mehrotra (1992), doi:10.1137/0802028. The start is dual feasible
and every iterate stays so: the dual value is a proven bound at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from lowfold._core.errors import SolverFailed
from lowfold._core.stacks import stacked_eigvalsh
from lowfold._core.types import Floats
from lowfold.sdp._program import NOTHING, RankOne
from lowfold.sdp._solution import Callback, Step, dual_value, objective, relative_gap, rms

LOST = 1e3  # times the best merit so far: the iteration has run into its rounding and comes back no more
HELD = 1e-13  # of the mean eigenvalue of sum g g': a direction with less is held by no pair, but for rounding
# The start, well inside both cones (Mehrotra takes multiples of this order): L and z so many times the size of the
# data, w so many times what is just feasible. NOTHING keeps them positive where distances are 0; a slack of an
# inequality is LEAST of the mean at least.
INSIDE, ABOVE, LEAST = 10.0, 3.0, 1e-3
SCHUR = 1e-14  # of the largest diagonal entry of M: near the end M is singular but for rounding, and has to be factored
# Mehrotra's rule: what share of complementarity the predictor leaves, cubed, and never below 1e-6, where the corrector
# would have nothing to centre. A predictor that gets no farther than SHORT has left the path: half-way back to it.
CENTRED, SHORT = 1e-2, 0.1
NO_STEP = 1e-10  # of a full step: rounding, not progress
BOUNDARY = 0.98  # of the way to the boundary of the cone: a point on it has no inverse


@dataclass(frozen=True, eq=False)
class Interior:
    """L and w, and whether both gap and violation came below the tolerance."""

    L: Floats
    w: Floats
    gap: float
    violation: float
    iterations: int
    converged: bool
    stopped: bool


@dataclass(eq=False)
class _Point:
    """The current iterate; z holds what is left of each inequality."""

    L: Floats
    w: Floats
    z: Floats


def interior(program: RankOne, *, tol: float = 1e-6, max_iter: int = 100, callback: Callback | None = None) -> Interior:
    """Solve by path following; stops at relative gap and violation of `tol`, or where rounding ends progress."""
    C, G, s = program.C, program.G, program.squared
    q, one_sided = len(C), program.form == "ineq"
    point = start(program)
    best: tuple[float, Interior] | None = None
    for iteration in range(max_iter + 1):
        Z = _adjoint(G, point.w) - C
        excess = _values(G, point.L) - s
        shown = (
            excess + point.z
            if one_sided
            else excess - point.w / (2 * program.nu)
            if program.form == "slack"
            else excess
        )
        primal = objective(float(np.sum(C * point.L)), excess, program.form, program.nu)
        bound = dual_value(point.w, s, program.form, program.nu)
        gap, violation = relative_gap(primal, bound), rms(shown)
        done = abs(gap) <= tol and violation <= tol
        stop = callback is not None and bool(callback(Step("interior", iteration, primal, bound, gap, violation, q)))
        now = Interior(point.L, point.w, gap, violation, iteration, done, stop)
        merit = max(abs(gap), violation)
        if best is None or merit < best[0]:
            best = (merit, now)
        if done or stop or iteration == max_iter:
            return now
        try:
            _advance(program, point, Z)
        except (scipy.linalg.LinAlgError, np.linalg.LinAlgError, SolverFailed, FloatingPointError):
            return best[1]  # the end of what rounding allows
        if merit > LOST * best[0]:
            return best[1]
    raise AssertionError("unreachable")


def _values(G: Floats, L: Floats) -> Floats:
    """g_e' L g_e."""
    return np.asarray(np.einsum("eq,eq->e", G @ L, G))


def _adjoint(G: Floats, w: Floats) -> Floats:
    """sum_e w_e g_e g_e'."""
    return np.asarray(G.T @ (w[:, None] * G))


def start(program: RankOne) -> _Point:
    """w a multiple of ones that is well inside the dual, L a multiple of the identity that is large."""
    C, G, s = program.C, program.G, program.squared
    q = len(C)
    B = _adjoint(G, np.ones(len(s)))
    lowest, size = float(stacked_eigvalsh(B)[0]), float(np.trace(B)) / q
    if lowest <= HELD * size:
        raise SolverFailed("some direction is held by no pair, so the variance has no largest value; use more pairs")
    lower = np.linalg.cholesky(B)
    half = scipy.linalg.solve_triangular(lower, C, lower=True)
    most = float(stacked_eigvalsh(scipy.linalg.solve_triangular(lower, half.T, lower=True))[-1])
    L = np.eye(q) * INSIDE * max(float(s.mean()), NOTHING) * len(s) / float(np.einsum("eq,eq->", G, G))
    w = np.full(len(s), ABOVE * max(most, NOTHING))
    z = np.maximum(s - _values(G, L), INSIDE * np.maximum(s, LEAST * s.mean() + NOTHING))
    return _Point(L, w, z)


def _advance(program: RankOne, point: _Point, Z: Floats) -> None:
    """One predictor-corrector step, in place."""
    G, q, one_sided = program.G, len(Z), program.form == "ineq"
    soft = 1.0 / (2.0 * program.nu) if program.form == "slack" else 0.0
    inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(Z, lower=True), np.eye(q))
    inverse = (inverse + inverse.T) / 2
    M = (G @ point.L @ G.T) * (G @ inverse @ G.T)
    diagonal = np.diag_indices(len(M))
    M[diagonal] += SCHUR * float(M[diagonal].max()) + soft
    if one_sided:
        M[diagonal] += point.z / point.w
    factor = scipy.linalg.cho_factor(M, lower=True, overwrite_a=True)

    def direction(centre: float, second: Floats, second_z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        target = centre * inverse - second
        rhs = _values(G, target) - program.squared - soft * point.w
        if one_sided:
            rhs = rhs + (centre - second_z) / point.w
        dw = scipy.linalg.cho_solve(factor, rhs)
        dZ = _adjoint(G, dw)
        dL = target - point.L - _symmetric(point.L @ dZ @ inverse)
        dz = (centre - second_z - point.z * dw) / point.w - point.z
        return dw, dZ, dL, dz

    def lengths(dw: Floats, dZ: Floats, dL: Floats, dz: Floats) -> tuple[float, float]:
        a, b = reach(point.L, dL), reach(Z, dZ)
        return (min(a, reach_positive(point.z, dz)), min(b, reach_positive(point.w, dw))) if one_sided else (a, b)

    def complementarity(a: float, b: float, dw: Floats, dZ: Floats, dL: Floats, dz: Floats) -> float:
        value = float(np.sum((point.L + a * dL) * (Z + b * dZ)))
        return value + float((point.z + a * dz) @ (point.w + b * dw)) if one_sided else value

    none, none_z = np.zeros_like(Z), np.zeros_like(point.w)
    dw, dZ, dL, dz = direction(0.0, none, none_z)
    a, b = lengths(dw, dZ, dL, dz)
    now = complementarity(0.0, 0.0, dw, dZ, dL, dz)
    share = complementarity(a, b, dw, dZ, dL, dz) / now
    sigma = float(np.clip(share, CENTRED, 1.0)) ** 3 if min(a, b) > SHORT else 0.5
    mu = now / (q + len(point.w) if one_sided else q)
    dw, dZ, dL, dz = direction(sigma * mu, _symmetric(dL @ dZ @ inverse), dz * dw)
    a, b = lengths(dw, dZ, dL, dz)
    if not max(a, b) > NO_STEP:
        raise SolverFailed("no step is possible")
    point.L, point.w, point.z = point.L + a * dL, point.w + b * dw, point.z + a * dz


def _symmetric(A: Floats) -> Floats:
    return np.asarray((A + A.T) / 2)


def reach(X: Floats, dX: Floats) -> float:
    """98% of the way to the boundary of the psd cone, at most 1."""
    lower = np.linalg.cholesky(X)
    half = scipy.linalg.solve_triangular(lower, dX, lower=True)
    lowest = float(stacked_eigvalsh(_symmetric(scipy.linalg.solve_triangular(lower, half.T, lower=True)))[0])
    return 1.0 if lowest >= -BOUNDARY else -BOUNDARY / lowest


def reach_positive(x: Floats, dx: Floats) -> float:
    falling = dx < 0
    return min(1.0, float(BOUNDARY * np.min(-x[falling] / dx[falling]))) if falling.any() else 1.0
