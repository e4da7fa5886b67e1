"""The slack form in few dimensions: a quadratic program over the cone of psd matrices.

    maximise <C, L> - nu sum_e (g_e' L g_e - s_e)^2 over psd L (q, q)

The squares are collected once into a matrix H of q (q + 1) / 2 columns, so that a step does not know how many pairs
there are: H L - b = Z, L Z = mu I, followed along mu with the scaling of Nesterov & Todd (1997),
doi:10.1287/moor.22.1.1, whose equations are H + W^-1 (x) W^-1; predictor and corrector as in Mehrotra (1992),
doi:10.1137/0802028.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from lowfold._core.errors import SolverFailed
from lowfold._core.parallel import TABLED, block_slices
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.stacks import stacked_eigvalsh, stacked_svd
from lowfold._core.types import Floats
from lowfold.sdp._interior import Interior, start
from lowfold.sdp._program import RankOne
from lowfold.sdp._solution import Callback, Step
from lowfold.sdp._svec import smat, svec, svec_kron, svec_rows

BOUNDARY = 0.98  # of the way to the boundary of the cone: a point on it has no inverse
NO_STEP = 1e-10  # of a full step: rounding, not progress


def springs(program: RankOne, *, tol: float = 1e-6, max_iter: int = 100, callback: Callback | None = None) -> Interior:
    """L and the weights w = 2 nu (g'Lg - s); stops where <L, Z> and what H L - b lacks of Z are `tol` of the value."""
    q, nu = len(program.C), program.nu
    H, b, square = _collected(program.G, program.squared, q)
    H, b = 2.0 * nu * H, 2.0 * nu * b + svec(program.C)
    first = start(program)
    L, Z = first.L, program.G.T @ (first.w[:, None] * program.G) - program.C
    best: tuple[float, Interior] | None = None
    for iteration in range(max_iter + 1):
        x = svec(L)
        lacking = smat(H @ x - b, q) - Z
        primal = float(b @ x - 0.5 * x @ H @ x) - nu * square
        size = max(abs(primal), NO_DIVISOR)
        gap, off = float(np.sum(L * Z)) / size, abs(float(np.sum(L * lacking))) / size
        done = max(gap, off) <= tol
        stop = callback is not None and bool(
            callback(Step("interior", iteration, primal, primal + gap * size, gap, off, q))
        )
        if best is None or max(gap, off) < best[0]:
            w = 2.0 * nu * (np.einsum("eq,eq->e", program.G @ L, program.G) - program.squared)
            best = max(gap, off), Interior(L, w, gap, off, iteration, done, stop)
        if done or stop or iteration == max_iter:
            break
        try:
            L, Z = _advanced(H, L, Z, lacking)
        except (scipy.linalg.LinAlgError, np.linalg.LinAlgError, SolverFailed):
            break  # the end of what rounding allows
    assert best is not None
    return best[1]


def _advanced(H: Floats, L: Floats, Z: Floats, lacking: Floats) -> tuple[Floats, Floats]:
    """One predictor-corrector step; both ends go the same share of it, so that what is lacking shrinks by it."""
    q = len(L)
    P, R = np.linalg.cholesky(L), np.linalg.cholesky(Z)
    U, scaled, Vt = stacked_svd(R.T @ P)
    root = np.sqrt(scaled)
    T = P @ Vt.T / root  # T'ZT = T^-1 L T^-T = diag(scaled)
    inverse = (R @ U / root).T
    factor = scipy.linalg.cho_factor(H + svec_kron(inverse.T @ inverse), lower=True, overwrite_a=True)
    pairs = (scaled[:, None] + scaled) / 2.0

    def direction(centre: float, second: Floats) -> tuple[Floats, Floats]:
        """dL and dZ in the scaled space, where both points are diag(scaled)."""
        target = (centre * np.eye(q) - np.diag(scaled**2) - second) / pairs
        rhs = svec(inverse.T @ target @ inverse - lacking)
        dL = inverse @ smat(scipy.linalg.cho_solve(factor, rhs), q) @ inverse.T
        return dL, target - dL

    def reach(dL: Floats, dZ: Floats) -> float:
        lowest = min(float(stacked_eigvalsh(D / np.outer(root, root))[0]) for D in (dL, dZ))
        return 1.0 if lowest >= -BOUNDARY else -BOUNDARY / lowest

    dL, dZ = direction(0.0, np.zeros((q, q)))
    a = reach(dL, dZ)
    product = dL @ dZ
    dL, dZ = direction((1.0 - a) ** 3 * float(scaled @ scaled) / q, (product + product.T) / 2.0)
    a = reach(dL, dZ)
    if a <= NO_STEP:
        raise SolverFailed("no step is possible")
    moved, back = T @ dL @ T.T, inverse.T @ dZ @ inverse
    return _symmetric(L + a * moved), _symmetric(Z + a * back)


def _symmetric(A: Floats) -> Floats:
    return np.asarray((A + A.T) / 2.0)


def _collected(G: Floats, s: Floats, q: int) -> tuple[Floats, Floats, float]:
    """A'A, A's and s's for the rows svec(g_e g_e') of A, block by block."""
    size = q * (q + 1) // 2
    H, b = np.zeros((size, size)), np.zeros(size)
    for part in block_slices(len(G), max(1, TABLED // size)):
        A = svec_rows(G[part])
        H += A.T @ A
        b += A.T @ s[part]
    return H, b, float(s @ s)
