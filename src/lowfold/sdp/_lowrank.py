"""Equalities and inequalities by a low-rank factor K = Y Y' and an augmented Lagrangian, with a proof at the end.

Springs that start from the graph-Laplacian form too; other springs have `_multipliers.py`.

Burer & Monteiro (2003), doi:10.1007/s10107-002-0352-8. The stiffness rho rises from soft to what the form asks for;
then rounds of: minimise over Y, ask the certificate, and either stop, or add to Y the directions in which K can still
grow.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.sdp._certificate import Certificate, certify
from lowfold.sdp._newton import Inner, Penalty, minimise
from lowfold.sdp._program import Unfolding, auto_penalty
from lowfold.sdp._solution import (
    Callback,
    Solution,
    Step,
    in_units,
    objective,
    ordered,
    relative_gap,
    rms,
    violations,
)

SOFTER = (64.0, 16.0, 4.0)  # the first stiffnesses are so many times below the target
GROWTH = 6  # columns added in one round: half the rounds of three, and a column that is not needed dies out
PATIENCE = 6  # rounds without progress after which it ends
PROGRESS = 0.9  # of the best so far: a round that lowers gap or violation by less has made none
# The gradient asked of a minimisation, relative to Y: rough while the stiffness rises, since the next one moves the
# minimum anyway; then sharper by TIGHTER in each round of the certificate, whose gap falls with it, down to TIGHTEST.
ROUGH, FIRST, TIGHTER, TIGHTEST = 1e-2, 6e-3, 0.3, 1e-7
# Products of one round, the first one's where columns are added: the certificate costs as much as some tens of them and
# alone decides whether it ends, so it is asked before the minimum is polished. With 400 noisy rolls of 800 and 1,000
# points took 0.6 of the products that they took with 3,000, sheets as many. A round that these cut short is not made
# sharper, and the next one may take as many again more.
PRODUCTS, MOST_PRODUCTS = 400, 3000
USEFUL = 1e-9  # slope, 1 at most, along a direction that K may grow in: with less the new column would carry nothing


def lowrank(
    program: Unfolding,
    start: Floats,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    grow: bool = True,
    name: str = "lowrank",
    callback: Callback | None = None,
    run: Run | None = None,
) -> Solution:
    """Solve from `start` (n, r), in the program's units. Without `grow` the rank stays as it is and one round is made.

    Stops when gap and violation (of "eq" and "ineq") are at most `tol`.
    """
    run = run or Run()
    E = program.incidence()
    Et = csr_array(E.T)
    soft = program.form == "slack"
    rho = 2.0 * (program.nu if soft else auto_penalty(program))
    penalty = Penalty(np.zeros(program.m), rho, program.form == "ineq")
    Y = start - start.mean(axis=0)
    with run.stage("unfolding") as progress:
        for softer in SOFTER:
            early = Penalty(penalty.lam, rho / softer)
            opened = minimise(E, Et, program.squared, Y, early, tol=ROUGH, max_steps=40, max_products=2000)
            Y = opened.Y
        if penalty.one_sided:
            # Inequalities start where springs have unfolded the points: from a crumpled start most pairs are slack, and
            # nothing then tells the shape.
            penalty = Penalty(np.maximum(opened.w, 0.0), rho, one_sided=True)
        tight, products, former = FIRST, PRODUCTS if grow else MOST_PRODUCTS, np.inf
        rounds = max_iter if grow else min(max_iter, 2)
        history: list[float] = []
        for round_ in range(1, rounds + 1):
            inner = minimise(E, Et, program.squared, Y, penalty, tol=tight, max_steps=30, max_products=products)
            proof = certify(program, E, inner.w, inner.Y, run=run)
            result = _judge(program, inner, proof, name, round_, tol)
            stop = callback is not None and bool(callback(_step(result)))
            progress(round_ / rounds)
            history.append(max(abs(result.gap), 0.0 if soft else result.violation))
            stalled = len(history) > PATIENCE and min(history[-PATIENCE:]) > PROGRESS * min(history[:-PATIENCE])
            if result.converged or stop or stalled or round_ == rounds:
                break
            if inner.residual <= tight:
                tight = max(TIGHTER * tight, TIGHTEST)
            else:
                products = min(products + PRODUCTS, MOST_PRODUCTS)
            if not soft:
                stiffer = 4.0 if result.violation > max(0.25 * former, 0.5 * tol) else 1.0
                former = result.violation
                penalty = Penalty(inner.w, penalty.rho * stiffer, penalty.one_sided)
            Y = _grown(E, inner, proof, penalty) if grow else inner.Y
    return in_units(program, result, stopped=stop)


def _judge(program: Unfolding, inner: Inner, proof: Certificate, name: str, rounds: int, tol: float) -> Solution:
    """The state after a round, still in the program's units."""
    primal = objective(float(np.sum(inner.Y**2)), inner.c, program.form, program.nu)
    gap = relative_gap(primal, proof.bound)
    off = violations(inner.c, program.form)
    violation = rms(off)
    done = abs(gap) <= tol and (program.form == "slack" or violation <= tol)
    largest = float(off.max(initial=0.0))
    return Solution(
        inner.Y, proof.weights, primal, proof.bound, gap, violation, largest, inner.Y.shape[1], name, rounds, done
    )


def _step(result: Solution) -> Step:
    return Step(
        result.solver, result.iterations, result.primal, result.bound, result.gap, result.violation, result.rank
    )


def _grown(E: csr_array, inner: Inner, proof: Certificate, penalty: Penalty) -> Floats:
    """Y with a column t v for each direction v of negative slack; t^2 = (1 - v' L_w v) / (rho sum_e (v_i - v_j)^4).

    Columns that have died out make room first.
    """
    Y = ordered(inner.Y)
    w, _ = penalty.weights(inner.c)
    V = proof.directions[:, :GROWTH]
    Q = (E @ V) ** 2
    slope = 1.0 - w @ Q
    curvature = penalty.rho * np.sum(Q**2, axis=0)  # slack pairs count too: they become active on the way
    useful = (slope > USEFUL) & (curvature > 0)
    t = np.sqrt(np.where(useful, slope, 0.0) / np.where(curvature > 0, curvature, 1.0))
    return np.hstack([Y, (t * V)[:, useful]])
