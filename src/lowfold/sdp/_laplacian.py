"""The graph-Laplacian form: K = Q L Q' with the bottom eigenvectors Q of the graph Laplacian and a small psd L.

    maximise tr L - nu sum_e (g_e' L g_e - s_e)^2,   g_e = q_i - q_j

Weinberger, Sha, Zhu & Saul (2007), "Graph Laplacian regularization for large-scale semidefinite programming", NIPS 19;
Wang (2012), Fig. 9.8. The squares are collected once into a matrix of p (p + 1) / 2 columns, so that a step does not
know how many points or pairs there are.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from lowfold._core.parallel import TABLED, block_slices, single_threaded_blas
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.graph._weights import Weights, laplacian
from lowfold.sdp._program import NOTHING, Unfolding
from lowfold.sdp._svec import smat, svec, svec_kron, svec_rows
from lowfold.spectral._doors import smallest

MOST = 200  # Newton steps in all: an end where rounding keeps mu from falling
BOUNDARY = 0.9  # of the way to the boundary of the cone: nearer, the next step is short
CENTRED = 0.3  # of mu: Newton's decrement below which a point is near enough to the path for the next mu
SHRINK = 0.2  # of mu: smaller, and Newton starts outside the region where it converges fast


def laplacian_form(program: Unfolding, n_eigenvectors: int = 10, *, run: Run | None = None) -> Floats:
    """Y (n, p) in the program's units with K = Y Y' the best of its form; columns by falling size.

    The slack form is solved whatever the program's form is: within so few directions equalities cannot hold exactly.
    """
    p = min(n_eigenvectors, program.n - 1)
    pairs = smallest(
        laplacian(Weights.unit(program.graph())), p, null=np.ones((program.n, 1)), negligible=np.inf, run=run
    )
    Q = pairs.vectors / np.sqrt(np.maximum(pairs.values, ROUNDING * pairs.values[-1]))
    with single_threaded_blas():
        L = small_slack(Q[program.pairs[:, 0]] - Q[program.pairs[:, 1]], program.squared, Q.T @ Q, program.nu)
    values, V = stacked_eigh(L)
    Y = Q @ (V * np.sqrt(np.maximum(values, 0.0)))
    order = np.argsort(-np.sum(Y**2, axis=0), kind="stable")
    return np.ascontiguousarray((Y - Y.mean(axis=0))[:, order])


def small_slack(G: Floats, s: Floats, C: Floats, nu: float, *, tol: float = 1e-7) -> Floats:
    """maximise <C, L> - nu sum_e (g_e' L g_e - s_e)^2 over psd L, along the central path of log det L."""
    p = len(C)
    H, b, square = _collected(G, s, p)
    H, b = 2.0 * nu * H, 2.0 * nu * b + svec(C)
    size = max(float(s.mean()), NOTHING) * p / max(float(np.einsum("ep,ep->", G, G)) / len(s), NO_DIVISOR)
    L: Floats = np.eye(p) * size / p
    mu = max(float(np.trace(C @ L)), nu * square) / p
    value = 0.0
    for _ in range(MOST):
        x = svec(L)
        inverse: Floats = np.asarray(np.linalg.inv(L), dtype=np.float64)
        slope = H @ x - b - mu * svec(inverse)
        step = np.linalg.solve(H + mu * svec_kron(inverse), -slope)
        decrement = float(-slope @ step)
        D = smat(np.asarray(step, dtype=np.float64), p)
        lower = np.linalg.cholesky(L)
        half = scipy.linalg.solve_triangular(lower, D, lower=True)
        lowest = float(stacked_eigh(scipy.linalg.solve_triangular(lower, half.T, lower=True))[0][0])
        t = min(1.0, -BOUNDARY / lowest) if lowest < 0 else 1.0
        L = L + t * D
        L = (L + L.T) / 2
        if decrement < CENTRED * mu:
            x = svec(L)
            value = abs(float(b @ x - 0.5 * x @ H @ x)) + NO_DIVISOR
            if mu * p <= tol * value:
                break
            mu *= SHRINK
    return L


def _collected(G: Floats, s: Floats, p: int) -> tuple[Floats, Floats, float]:
    """A'A, A's and s's for the rows svec(g_e g_e') of A, block by block."""
    size = p * (p + 1) // 2
    H, b = np.zeros((size, size)), np.zeros(size)
    for part in block_slices(len(G), max(1, TABLED // size)):
        A = svec_rows(G[part])
        H += A.T @ A
        b += A.T @ s[part]
    return H, b, float(s @ s)
