"""Clarabel (extra `sdp`) behind the same door: a general interior-point solver for small programs.

Goulart & Chen (2024), arXiv:2405.12762.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, vstack

from lowfold._core.errors import SolverFailed
from lowfold._core.extras import load_extra
from lowfold._core.memory import require
from lowfold._core.types import Floats
from lowfold.sdp._program import RankOne
from lowfold.sdp._svec import smat, svec, svec_rows

# Equalities without an interior end so on some processors, close to the optimum: the gap is measured afterwards.
USABLE = 1e-4  # residuals of such an answer


@dataclass(frozen=True, eq=False)
class Conic:
    """X, the multipliers y of the linear constraints, and what the solver says of them."""

    X: Floats
    y: Floats
    value: float
    bound: float
    status: str
    iterations: int


def conic_sdp(C: Floats, A: list[Floats], b: Floats, *, tol: float = 1e-8, max_iter: int = 200) -> Conic:
    """maximise <C, X> with <A_i, X> = b_i and X psd; the multipliers satisfy sum_i y_i A_i - C psd.

    >>> import numpy as np
    >>> ring = [np.eye(5)] + [np.zeros((5, 5)) for _ in range(5)]  # Lovasz: theta of the 5-cycle is the root of 5
    >>> for i in range(5):
    ...     ring[i + 1][i, (i + 1) % 5] = ring[i + 1][(i + 1) % 5, i] = 1.0
    >>> round(conic_sdp(np.ones((5, 5)), ring, np.array([1.0, 0, 0, 0, 0, 0])).value, 6)
    2.236068
    """
    rows = np.array([svec(np.asarray(part, dtype=np.float64)) for part in A]).reshape(len(A), -1)
    return _solve(np.asarray(C, dtype=np.float64), rows, np.asarray(b, dtype=np.float64), "eq", 1.0, tol, max_iter)


def conic(program: RankOne, *, tol: float = 1e-8, max_iter: int = 200) -> Conic:
    """The same for rank-one constraints, in any of the three forms."""
    q = len(program.C)
    require(
        8.0 * (q * q / 2.0) ** 2, f"a general conic solver for {q} dimensions", "use solver='interior' or 'lowrank'"
    )
    return _solve(program.C, svec_rows(program.G), program.squared, program.form, program.nu, tol, max_iter)


def _solve(C: Floats, rows: Floats, b: Floats, form: str, nu: float, tol: float, max_iter: int) -> Conic:
    clarabel: Any = load_extra("clarabel", "sdp", "solver='clarabel'")
    q, size = len(C), rows.shape[1]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, max_iter
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tol
    settings.max_threads = 1
    cone = clarabel.PSDTriangleConeT(q)
    identity = -csc_matrix(np.eye(size))
    linear, quadratic = -svec(C), csc_matrix((size, size))
    if form == "slack":
        quadratic = csc_matrix(np.triu(2.0 * nu * rows.T @ rows))
        linear = linear - 2.0 * nu * rows.T @ b
        matrix, rhs, cones = identity, np.zeros(size), [cone]
    else:
        first = clarabel.ZeroConeT(len(b)) if form == "eq" else clarabel.NonnegativeConeT(len(b))
        matrix, rhs = csc_matrix(vstack([csc_matrix(rows), identity])), np.concatenate([b, np.zeros(size)])
        cones = [first, cone]
    done = clarabel.DefaultSolver(quadratic, linear, matrix, rhs, cones, settings).solve()
    status = str(done.status)
    stuck = status == "NumericalError" and max(done.r_prim, done.r_dual) < USABLE
    if not stuck and status not in ("Solved", "AlmostSolved", "MaxIterations", "InsufficientProgress"):
        raise SolverFailed(f"Clarabel stopped with {status}; use solver='interior', or constraints='slack'")
    x = np.asarray(done.x)
    y = 2.0 * nu * (rows @ x - b) if form == "slack" else np.asarray(done.z)[: len(b)]
    constant = nu * float(b @ b) if form == "slack" else 0.0
    return Conic(
        smat(x, q), y, -float(done.obj_val) - constant, -float(done.obj_val_dual) - constant, status, done.iterations
    )
