"""The proof: weights on the pairs whose Laplacian is large enough bound the value of every feasible K.

L_w = sum_e w_e (e_i - e_j)(e_i - e_j)'. Where L_w - (I - 11'/n) is psd, tr K <= sum_e w_e s_e for every feasible K:
weak duality. Weights that come from a minimisation are not quite feasible. Directions that lack something are given it
by the cheapest of the ways of `_repair.py`; what is left is made up by w / mu, mu the smallest eigenvalue beyond the
constant, at the price of (1 / mu - 1) of the whole value. A last eigen-solve confirms it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.sdp._program import Unfolding, stress_laplacian
from lowfold.sdp._repair import DENSE_POINTS, GROUND, Bends, balance, bends, bends_of, flows
from lowfold.sdp._solution import dual_value
from lowfold.spectral._doors import smallest

REPAIRS = 10  # rounds of repairs: one lifts its directions, and may lower others
# Of what a direction lacks: what lifts one lowers others; by 1.0 it takes two to four times the rounds. By 2.0, beyond
# DENSE_POINTS, most is paid for twice, which saves rounds where an eigen-solve is long.
LIFT, LIFT_FAR = 1.3, 2.0
# Directions asked for at a time. LAPACK is given all of L_w up to DENSE_POINTS, and three times as many cost it little
# more; of 1,000 digits, where 1 is an eigenvalue dozens of times, it takes a tenth of the time of Krylov methods.
WANTED, WANTED_FAR = 48, 16
LESS = 1 - 1e-5  # of the bound: a repair that lowers it by less ends them
LOW = 1 - 1e-5  # eigenvalues below lack something; scaling all weights by the rest costs next to nothing
EIGEN_TOL = 1e-3  # of the eigenvectors: the residual is taken off the value, so the bound holds whatever it is
STEEPER = 4.0  # the shift that makes L_w positive rises by this factor, from 1, the value that is asked of all


@dataclass(frozen=True, eq=False)
class Certificate:
    """`bound` and the feasible `weights` that prove it (inf and the unrepaired ones where they are too far off).

    `directions` are the eigenvectors of L_w below 1, lowest first: K can grow there.
    """

    bound: float
    weights: Floats
    directions: Floats


def certify(
    program: Unfolding,
    E: csr_array,
    w: Floats,
    Y: Floats | None = None,
    *,
    wanted: int | None = None,
    run: Run | None = None,
) -> Certificate:
    """The bound that w gives after repair; directions that need one are looked for up to `wanted` at a time.

    The coordinates `Y` that w belongs to make repairs cheaper (not of inequalities, whose weights stay positive).
    """
    wanted = wanted or (WANTED if program.n <= DENSE_POINTS else WANTED_FAR)
    lift = LIFT if program.n <= DENSE_POINTS else LIFT_FAR
    parts: list[Bends] = []
    balanced: Callable[[Floats], Floats] = lambda w: w  # noqa: E731
    if Y is not None and program.form != "ineq":
        parts, balanced = bends_of(program, Y), balance(E, Y)
    w = balanced(w)
    values, vectors = _lowest(E, w, wanted, run)
    directions = vectors[:, values < LOW]
    best = _scaled(program, w, values)
    for _ in range(REPAIRS):
        low = values < LOW
        if not low.any():
            break
        change = _repair(program, E, w, 1.0 - values[low], vectors[:, low], parts, lift)
        if change is None:
            break
        w = balanced(w + change)
        values, vectors = _lowest(E, w, wanted, run)
        now = _scaled(program, w, values)
        if np.isfinite(best[0]) and now[0] > LESS * best[0]:
            break
        best = min(best, now, key=lambda one: one[0])
    return Certificate(*best, directions)


def _scaled(program: Unfolding, w: Floats, values: Floats) -> tuple[float, Floats]:
    """The bound of w / mu and these weights; inf and w where mu is not positive."""
    mu = float(values.min())
    if not mu > 0:
        return float("inf"), w
    return dual_value(w / mu, program.squared, program.form, program.nu), w / mu


def _repair(
    program: Unfolding, E: csr_array, w: Floats, lacks: Floats, V: Floats, parts: list[Bends], lift: float
) -> Floats | None:
    """What to add to w: the directions V that lack most are lifted until the others cost more than scaling all weights.

    To lower the largest lack a little, all directions that have it are lifted, or all weights are scaled.
    """
    u, prices = _cheapest(program, E, w, V, parts)
    whole = abs(dual_value(w, program.squared, program.form, program.nu))
    order = np.argsort(-lacks)
    lifted = int((np.cumsum(lift * prices[order]) <= whole).sum())
    if lifted == 0:
        return None
    level = float(lacks[order[lifted]]) if lifted < len(lacks) else 0.0
    return np.asarray(u @ (lift * np.maximum(lacks - level, 0.0)))


def _cheapest(program: Unfolding, E: csr_array, w: Floats, V: Floats, parts: list[Bends]) -> tuple[Floats, Floats]:
    """Weights (m, p) that lift each column of V by 1, by the cheaper way, and their prices."""
    price = program.squared + (w / (2 * program.nu) if program.form == "slack" else 0.0)
    u = flows(program, E, V)
    if parts:
        other = bends(parts, V, program.m)
        u = np.where(price @ other < price @ u, other, u)
    return np.asarray(u), np.asarray(price @ u)


def _lowest(E: csr_array, w: Floats, wanted: int, run: Run | None) -> tuple[Floats, Floats]:
    """The lowest eigenpairs of L_w beyond the constant; values less their residuals, which makes them bounds."""
    L, n = stress_laplacian(E, w), E.shape[1]
    dense, positive = n <= DENSE_POINTS, bool((w >= 0).all())
    shift = 0.0 if positive or dense else _shift(L)
    shifted = L if shift == 0.0 else csr_array(L + shift * eye_array(n))
    operator = SparseOperator(shifted, psd=positive or not dense, laplacian=positive)
    jobs = None if run is None else run.n_jobs
    # Multiple eigenvalues are the rule here, 1 has the rank of K as its multiplicity: they are not told.
    asked, ones = Run(solver="dense" if dense else "auto", tol=EIGEN_TOL, n_jobs=jobs), np.ones((n, 1))
    found = smallest(operator, min(wanted, n - 1), null=ones, negligible=np.inf, run=asked)
    residuals = np.linalg.norm(shifted @ found.vectors - found.vectors * found.values, axis=0)
    return found.values - residuals - shift, found.vectors


def _shift(L: csr_array) -> float:
    """What has to be added to the diagonal for L to be positive: the signs of the pivots of its factor tell."""
    size = float(np.abs(L.diagonal()).max())
    shift = 0.0
    while not _positive(L, shift + GROUND * size) and shift < size:
        shift = max(1.0, STEEPER * shift)
    return shift


def _positive(L: csr_array, shift: float) -> bool:
    """Whether L + shift I is positive definite."""
    from scipy.sparse.linalg import splu

    try:
        lu = splu(
            csc_array(L + shift * eye_array(L.shape[0])),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except (RuntimeError, MemoryError):
        return False
    return bool(np.array_equal(lu.perm_r, lu.perm_c) and (lu.U.diagonal() > 0).all())
