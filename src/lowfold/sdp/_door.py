"""The one door to unfolding programs: `unfold`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.parallel import Progress, single_threaded_blas
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh, stacked_eigvalsh
from lowfold._core.types import Floats
from lowfold.sdp._barrier import barrier
from lowfold.sdp._conic import conic
from lowfold.sdp._face import FACE_DIMENSIONS, FACE_POINTS, Face, face, solve_on_face
from lowfold.sdp._interior import Interior, interior
from lowfold.sdp._laplacian import laplacian_form
from lowfold.sdp._lowrank import lowrank
from lowfold.sdp._multipliers import MANY, multipliers
from lowfold.sdp._program import RankOne, Unfolding, complement, path_layout
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
from lowfold.sdp._springs import springs

SOLVERS = ("auto", "facial", "interior", "barrier", "lowrank", "factorized", "clarabel")
# Of `interior`, whose step factors a matrix of m x m; of `lowrank`, each round of which asks for a certificate.
INTERIOR_PAIRS, LOWRANK_POINTS = 1_500, 3_000
START_RANK = 8  # columns to begin with: the certificate says where more are needed, and each costs in every step
# Of a second-order method, which takes 10 to 30; of the low-rank route, a minimisation each.
ITERATIONS, ROUNDS = 100, 15
SHARP = 1e-6  # asked of a dense solver at least, and of eigen-solvers inside: these digits cost a step or two
STIFFER = 1e3  # times nu: springs that give a thousandth of what the slack form lets them
RIDGE = 1e-14  # of the mean diagonal entry of C, which may be singular and has to be factored


def select_unfolding_solver(n: int, m: int, face: int | None = None) -> str:
    """What `solver="auto"` uses for n points and m pairs; `face` is the dimension that equalities leave to K, if known.

    - a face of up to 40 dimensions: "facial", the program on it (sought for equalities of up to 2,000 points)
    - up to 1,500 pairs: "interior", the dense interior-point method (a step factors an m x m matrix)
    - up to 3,000 points: "lowrank", with certificate
    - beyond: "factorized", the graph-Laplacian form, refined at fixed rank; its gap is reported, not driven down

    >>> select_unfolding_solver(200, 1_400), select_unfolding_solver(200, 1_400, face=3)
    ('interior', 'facial')
    """
    if face is not None and face <= FACE_DIMENSIONS:
        return "facial"
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

    >>> from lowfold.sdp._program import unfolding
    >>> chain = unfolding(6, np.array([[i, i + 1] for i in range(5)]), np.ones(5), form="eq")
    >>> round(unfold(chain, tol=1e-6).primal, 3)  # straight: n (n^2 - 1) / 12
    17.5
    """
    if solver not in SOLVERS:
        raise InvalidInput(f"solver must be one of {', '.join(map(repr, SOLVERS))}; got {solver!r}")
    with single_threaded_blas():
        found = _face(program, solver)
        name = solver
        if solver == "auto":
            dimension = None if found is None else found.dimension
            name = select_unfolding_solver(program.n, program.m, dimension)
        solution = _solved(program, name, found, tol, max_iter, n_eigenvectors, callback, run or Run())
        if solver != "auto" or name != "facial" or solution.converged or solution.stopped:
            return solution
        # the face is too thin for its numbers: the usual way
        name = select_unfolding_solver(program.n, program.m)
        other = _solved(program, name, None, tol, max_iter, n_eigenvectors, callback, run or Run())
        return min(solution, other, key=lambda s: max(abs(s.gap), s.violation))


def _face(program: Unfolding, solver: str) -> Face | None:
    """The face of an equality program, where it is asked for and affordable."""
    if solver == "auto":
        return face(program) if program.form == "eq" and program.n <= FACE_POINTS else None
    if solver != "facial":
        return None
    if program.form != "eq":
        raise InvalidInput(f"solver='facial' is for equalities; got {program.form!r}; use solver='auto'")
    found = face(program)
    if found is None or found.dimension > 2 * FACE_DIMENSIONS:
        raise InvalidInput(
            "solver='facial' needs neighbourhoods with more points than the dimensions that their distances fit into; "
            f"here {'none do' if found is None else f'{found.dimension} dimensions stay free'}; use solver='auto'"
        )
    return found


def _solved(
    program: Unfolding,
    name: str,
    found: Face | None,
    tol: float,
    max_iter: int | None,
    n_eigenvectors: int,
    callback: Callback | None,
    run: Run,
) -> Solution:
    if max_iter is None:
        max_iter = ROUNDS if name in ("lowrank", "factorized") else ITERATIONS
    if not program.squared.any():
        return _coincident(program, name)
    if name in ("facial", "interior", "clarabel"):
        with run.stage("unfolding") as progress:
            heard = _heard(callback, progress, max_iter)
            if found is not None and name == "facial":
                return solve_on_face(program, found, tol=tol, max_iter=max_iter, callback=heard)
            return _dense(program, name, tol, max_iter, heard)
    if name == "barrier":
        if program.form != "slack":
            raise InvalidInput(f"solver='barrier' is for the slack form; got {program.form!r}; use solver='auto'")
        return barrier(program, tol=tol, max_iter=max_iter, callback=callback, run=run)
    run = replace(run, solver="auto", tol=SHARP)  # for the eigen-solvers inside
    if name == "lowrank" and program.form == "slack":
        paths = path_layout(program.graph(), MANY)
        return multipliers(program, paths, tol=tol, max_iter=max_iter, callback=callback, run=run)
    grow = name == "lowrank"
    start = path_layout(program.graph(), START_RANK) if grow else laplacian_form(program, n_eigenvectors, run=run)
    start = start[:, :START_RANK]
    return lowrank(program, start, tol=tol, max_iter=max_iter, grow=grow, name=name, callback=callback, run=run)


def _heard(callback: Callback | None, progress: Progress, max_iter: int) -> Callback:
    """The callback, with those who watch the stage told before it."""

    def heard(step: Step) -> object:
        progress(step.iteration / max_iter)
        return callback is not None and callback(step)

    return heard


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
        sharp = 0.5 * tol if program.form == "eq" else min(tol, SHARP)
        found = _stepwise(small)(small, tol=sharp, max_iter=max_iter, callback=callback)
        L, w, iterations, stopped = found.L, found.w, found.iterations, found.stopped
    else:
        solved = conic(small, tol=min(tol, SHARP), max_iter=max_iter)
        L, w, iterations, stopped = solved.X, solved.y, solved.iterations, False
    if solver == "interior" and program.form == "eq" and not stopped and max(abs(found.gap), found.violation) > tol:
        # Equalities that cannot all hold have no solution; very stiff springs give the nearest thing to one.
        stiff = replace(small, form="slack", nu=STIFFER * program.nu)
        found = interior(stiff, tol=SHARP, max_iter=max_iter, callback=callback)
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


def _stepwise(small: RankOne) -> Callable[..., Interior]:
    """The interior-point method whose steps have the fewer equations: one for each pair, or for each entry of L."""
    m, q = small.G.shape
    return springs if small.form == "slack" and q * (q + 1) // 2 < m else interior


def _feasible(small: RankOne, w: Floats) -> Floats:
    """w / mu with the largest mu for which the weights are dual feasible: mu C <= sum_e w_e g_e g_e'."""
    lower = np.linalg.cholesky(small.C + RIDGE * np.trace(small.C) / len(small.C) * np.eye(len(small.C)))
    half = scipy.linalg.solve_triangular(lower, small.G.T @ (w[:, None] * small.G), lower=True)
    mu = float(stacked_eigvalsh(scipy.linalg.solve_triangular(lower, half.T, lower=True))[0])
    return w / mu if mu > 0 else w * np.inf
