"""The one door to unfolding programs: `unfold`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh, stacked_eigvalsh
from lowfold.sdp._conic import conic
from lowfold.sdp._interior import interior
from lowfold.sdp._laplacian import laplacian_form
from lowfold.sdp._lowrank import lowrank
from lowfold.sdp._program import RankOne, Unfolding, complement
from lowfold.sdp._solution import (
    Callback,
    Solution,
    Step,
    dual_value,
    numerical_rank,
    objective,
    ordered,
    relative_gap,
    rms,
    violations,
)

Floats = NDArray[np.float64]

SOLVERS = ("auto", "interior", "lowrank", "factorized", "clarabel")
INTERIOR_PAIRS, LOWRANK_POINTS = 1_500, 3_000
START_RANK = 6
ITERATIONS, ROUNDS = 100, 15


def select_unfolding_solver(n: int, m: int) -> str:
    """What `solver="auto"` uses for n points and m pairs; only sizes count.

    - up to 1,500 pairs: "interior", the dense interior-point method (a step factors an m x m matrix)
    - up to 3,000 points: "lowrank", with certificate
    - beyond: "factorized", the graph-Laplacian form, refined at fixed rank; its gap is reported, not driven down
    """
    if m <= INTERIOR_PAIRS and n <= INTERIOR_PAIRS:
        return "interior"
    return "lowrank" if n <= LOWRANK_POINTS else "factorized"


def unfold(
    program: Unfolding,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int | None = None,
    n_eigenvectors: int = 10,
    callback: Callback | None = None,
    run: Run | None = None,
) -> Solution:
    """Solve a program.

    `callback(step)` is called after every iteration (every round of the low-rank solvers; once, at the end, by
    Clarabel); a true answer stops there. `max_iter=None` is 100 iterations, or 15 rounds.

    >>> from lowfold.sdp import unfolding
    >>> chain = unfolding(6, np.array([[i, i + 1] for i in range(5)]), np.ones(5), form="eq")
    >>> round(unfold(chain, tol=1e-6).primal, 3)  # straight: n (n^2 - 1) / 12
    17.5
    """
    if solver not in SOLVERS:
        raise InvalidInput(f"solver must be one of {', '.join(map(repr, SOLVERS))}; got {solver!r}")
    name = select_unfolding_solver(program.n, program.m) if solver == "auto" else solver
    if max_iter is None:
        max_iter = ROUNDS if name in ("lowrank", "factorized") else ITERATIONS
    with single_threaded_blas():
        return _solved(program, name, tol, max_iter, n_eigenvectors, callback, run or Run())


def _solved(
    program: Unfolding,
    name: str,
    tol: float,
    max_iter: int,
    n_eigenvectors: int,
    callback: Callback | None,
    run: Run,
) -> Solution:
    if not program.squared.any():
        return _coincident(program, name)
    if name in ("interior", "clarabel"):
        return _dense(program, name, tol, max_iter, callback)
    run = replace(run, solver="auto", tol=1e-6)  # for the eigen-solvers inside
    start = laplacian_form(program, n_eigenvectors, run=run)[:, :START_RANK]
    return lowrank(
        program, start, tol=tol, max_iter=max_iter, grow=name == "lowrank", name=name, callback=callback, run=run
    )


def _coincident(program: Unfolding, name: str) -> Solution:
    """All distances are 0: all points are one, and any weights prove it."""
    Y = np.zeros((program.n, 1))
    return Solution(Y, np.zeros(program.m), 0.0, 0.0, 0.0, 0.0, 0.0, 0, name, 0, True)


def _dense(program: Unfolding, name: str, tol: float, max_iter: int, callback: Callback | None) -> Solution:
    """In an orthonormal basis V of the complement of the constant: K = V L V', which is centred whatever L is."""
    n, m = program.n, program.m
    require(
        8.0 * (3.0 * m * m + 2.0 * m * n + 12.0 * n * n),
        f"the interior-point method for {m} pairs",
        "use solver='lowrank' or fewer neighbours",
    )
    V = complement(np.ones(n))
    small = RankOne(np.eye(n - 1), program.incidence() @ V, program.squared, program.form, program.nu)

    def lift(L: Floats) -> Floats:
        values, U = stacked_eigh(L)
        return np.asarray(V @ (U * np.sqrt(np.maximum(values, 0.0))))

    return solve_rank_one(small, lift, program, solver=name, tol=tol, max_iter=max_iter, callback=callback)


def solve_rank_one(
    small: RankOne,
    lift: Callable[[Floats], Floats],
    program: Unfolding,
    *,
    solver: str = "interior",
    tol: float = 1e-3,
    max_iter: int = 100,
    callback: Callback | None = None,
) -> Solution:
    """Solve the dense form; `lift` leads from L to coordinates, from which gap and violation are computed anew."""
    if not program.squared.any():
        return _coincident(program, solver)
    if solver == "interior":
        # Equalities have no interior where neighbourhoods are rigid: the last digits may not exist.
        sharp = 0.5 * tol if program.form == "eq" else min(tol, 1e-6)
        found = interior(small, tol=sharp, max_iter=max_iter, callback=callback)
        L, w, iterations, stopped = found.L, found.w, found.iterations, found.stopped
    else:
        solved = conic(small, tol=min(tol, 1e-6), max_iter=max_iter)
        L, w, iterations, stopped = solved.X, solved.y, solved.iterations, False
    if solver == "interior" and program.form == "eq" and not stopped and max(abs(found.gap), found.violation) > tol:
        # Equalities that cannot all hold have no solution; very stiff springs give the nearest thing to one.
        stiff = replace(small, form="slack", nu=1e3 * program.nu)
        found = interior(stiff, tol=1e-6, max_iter=max_iter, callback=callback)
        L, w, iterations, stopped = found.L, found.w, iterations + found.iterations, found.stopped
    Y = ordered(lift(L))
    i, j = program.pairs.T
    excess = np.sum((Y[i] - Y[j]) ** 2, axis=1) - program.squared
    off = violations(excess, program.form)
    primal = objective(float(np.sum(Y**2)), excess, program.form, program.nu)
    weights = _feasible(small, np.maximum(w, 0.0) if program.form == "ineq" else w)
    bound = dual_value(weights, program.squared, program.form, program.nu)
    gap, violation = relative_gap(primal, bound), rms(off)
    rank, unit = numerical_rank(Y), program.unit
    if solver == "clarabel" and callback is not None:
        stopped = bool(callback(Step(solver, iterations, primal, bound, gap, violation, rank)))
    return Solution(
        Y[:, : max(rank, 1)] * np.sqrt(unit),
        weights,
        primal * unit,
        bound * unit,
        gap,
        violation,
        float(off.max(initial=0.0)),
        rank,
        solver,
        iterations,
        abs(gap) <= tol and (program.form == "slack" or violation <= tol),
        stopped,
    )


def _feasible(small: RankOne, w: Floats) -> Floats:
    """w / mu with the largest mu for which the weights are dual feasible: mu C <= sum_e w_e g_e g_e'."""
    lower = np.linalg.cholesky(small.C + 1e-14 * np.trace(small.C) / len(small.C) * np.eye(len(small.C)))
    half = scipy.linalg.solve_triangular(lower, small.G.T @ (w[:, None] * small.G), lower=True)
    mu = float(stacked_eigvalsh(scipy.linalg.solve_triangular(lower, half.T, lower=True))[0])
    return w / mu if mu > 0 else w * np.inf
