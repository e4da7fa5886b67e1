"""Springs at low rank, K = Y Y', by an augmented Lagrangian whose multipliers are the weights w, with a proof.

    maximise tr K - nu ||c||^2,   c_e = ||y_i - y_j||^2 - s_e

The springs give two thousandths only, and w = 2 nu c is right to one digit where c is right to 2e-4 of s: a minimum
over Y has to be sharp before it proves anything. So springs many times as soft are pulled by multipliers instead. An
update minimises the Lagrangian over Y (`_descent.py`) and takes its weights: in the dual a proximal step, Rockafellar
(1976), doi:10.1287/moor.1.2.97, accelerated as in Guler (1992), doi:10.1137/0802032, with restarts. Where the values
of primal and dual are near, the certificate is asked, and Y gets the directions in which K can still grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.sdp._certificate import Certificate, certify
from lowfold.sdp._descent import Pulled, Reached, descend
from lowfold.sdp._edges import Edges, edges_of
from lowfold.sdp._newton import MOST_ALONE, Precondition, aligned, laplacians, stretching
from lowfold.sdp._program import Unfolding, auto_penalty
from lowfold.sdp._solution import (
    Callback,
    Solution,
    Step,
    dual_value,
    in_units,
    objective,
    relative_gap,
    rms,
)
from lowfold.sdp._vertices import SINGLE, Vertices, vertex_blocks, vertices_of

NAME = "lowrank"
# Than springs of the automatic stiffness, whatever that of the program is. With 16 and 64 images take up to half as
# long again: minimisations, or updates, are more.
SOFTER = 32.0
OPENING, STEPS = 60, 30  # most steps of the first minimisation, and of every other
UPDATES = 6  # most of one round: the callback hears of a round, and up to 90 updates are made in 15
KEPT = 3  # updates for which a preconditioner is kept
# Of tol: the difference of the two values at which the proof is asked for; the repairs of the weights take the rest.
NEAR = 1.0
# Steps with the springs of the program from there, in many columns and in few, where they cost less: the value then
# lacks 1e-5 and not some 1e-4 of the best one. Before multipliers have shown the way they would be many.
POLISH, POLISH_FEW = 20, 50
PAUSE = 3  # updates between two proofs: one costs as much as two or three, and shows what they have changed
GROWTH = 16  # most columns added after a proof
USEFUL = 1e-3  # what a direction lacks to be given a column: less is what a minimisation leaves
DEAD = 1e-8  # of the trace: a column with less is left out; where it is needed the certificate says so
# Columns of points that fill many dimensions, and their random lengths beside path lengths of a tenth. Path lengths
# alone are far too long there and have some 30 columns; 72 columns take longer on digits, as long on clouds.
FEW, MANY, SPARE = 8, 60, 2
PATHS, NOISE = 0.1, 0.1


@dataclass(eq=False)
class _Pace:
    """Where the next update starts from: beyond the last weights, farther as long as it goes the same way."""

    anchor: Floats
    former: Floats
    pace: float = 1.0
    updates: int = 0

    def after(self, w: Floats) -> None:
        self.updates += 1
        forward = 0.0
        if self.updates > 2:  # the first two lead from no weights to weights, which is no direction to go on
            later = (1.0 + np.sqrt(1.0 + 4.0 * self.pace**2)) / 2.0
            forward, self.pace = (self.pace - 1.0) / later, later
            if float((w - self.anchor) @ (w - self.former)) < 0:
                forward, self.pace = 0.0, 1.0
        self.anchor, self.former = w + forward * (w - self.former), w


class _Lagrangian:
    """The program with soft springs, and preconditioners for it."""

    def __init__(self, program: Unfolding, run: Run) -> None:
        self.program, self.run = program, run
        self.edges: Edges = edges_of(program)
        self.E: csr_array = program.incidence()
        self.Et = csr_array(self.E.T)
        stiff = 2.0 * program.nu
        self.soft = 2.0 * auto_penalty(program) / SOFTER
        self.rho = stiff * self.soft / (stiff + self.soft)  # of both springs in a row
        self.pulled_by = stiff / (stiff + self.soft)
        self.vertices: Vertices | None = None

    def pulled(self, anchor: Floats) -> Pulled:
        squared = self.program.squared
        return Pulled(self.edges, squared, self.pulled_by * anchor, self.rho, anchor, self.soft)

    def sized(self, Y: Floats) -> Floats:
        """Y in the size that is best without multipliers."""
        Y = Y - Y.mean(axis=0)
        d = self.edges.squares(Y)
        return np.asarray(Y * np.sqrt((float(np.sum(Y * Y)) / self.rho + float(d @ self.program.squared)) / (d @ d)))

    def stretching(self, Y: Floats) -> int:
        """How many columns stretch pairs."""
        return stretching(self.edges.differences(Y))

    def preconditioned(self, Y: Floats, pulled: Pulled, many: bool | None = None) -> tuple[Precondition, type]:
        """Laplacians of the columns where few of them stretch pairs, else blocks of points; and in which precision."""
        w = pulled.weights(self.edges.squares(Y))
        many = self.stretching(Y) > MOST_ALONE if many is None else many
        if not many:
            return laplacians(self.E, self.Et, self.E @ Y, w, np.full(self.program.m, pulled.rho)), np.float64
        if self.vertices is None:
            self.vertices = vertices_of(self.edges, self.program.squared, Y.shape[1], self.run)
        return vertex_blocks(self.vertices, Y, w, pulled.rho), SINGLE


def multipliers(
    program: Unfolding,
    paths: Floats,
    *,
    tol: float = 1e-3,
    max_iter: int = 15,
    callback: Callback | None = None,
    run: Run | None = None,
) -> Solution:
    """Solve the slack form from the layout by path lengths; stops when the gap is at most `tol`."""
    run = run or Run()
    lagrangian = _Lagrangian(program, run)
    with run.stage("unfolding") as progress:
        pace, reached = _opened(lagrangian, paths)
        proof: Certificate | None = None
        best = (np.inf, reached.w)
        since, stop = PAUSE, False
        for round_ in range(1, max_iter + 1):
            reached, since, near = _round(lagrangian, pace, reached, since, tol)
            last = round_ == max_iter
            if near or last:
                proof, since = certify(program, lagrangian.E, reached.w, reached.Y, run=run), 0
                best = min(best, (proof.bound, proof.weights), key=lambda one: one[0])
            result = _judged(program, _polished(lagrangian, reached) if since == 0 else reached, *best, round_, tol)
            stop = callback is not None and bool(callback(_step(result)))
            progress(round_ / max_iter)
            if result.converged or stop or last:
                break
            if near and proof is not None:
                reached = _grown(lagrangian, reached, proof)
        if not np.isfinite(best[0]) and proof is None:
            proof = certify(program, lagrangian.E, reached.w, reached.Y, run=run)
            result = _judged(program, _polished(lagrangian, reached), proof.bound, proof.weights, round_, tol)
    return in_units(program, result, stopped=stop)


def _opened(lagrangian: _Lagrangian, paths: Floats) -> tuple[_Pace, Reached]:
    """The first update in few columns; where all but SPARE of these stretch pairs, in many."""
    none = np.zeros(lagrangian.program.m)
    pulled = lagrangian.pulled(none)
    for many in (False, True):
        Y = lagrangian.sized(_spread(paths) if many else paths[:, :FEW])
        precondition, dtype = lagrangian.preconditioned(Y, pulled, many)
        reached = descend(pulled, Y, precondition, most=OPENING, dtype=dtype)
        if lagrangian.stretching(reached.Y) <= FEW - SPARE:
            break
    pace = _Pace(none, none)
    pace.after(reached.w)
    return pace, reached


def _spread(paths: Floats) -> Floats:
    """MANY columns of random lengths, shorter path lengths in the first."""
    Y = NOISE * np.random.default_rng(0).standard_normal((len(paths), MANY))
    shown = min(paths.shape[1], MANY)
    Y[:, :shown] = PATHS * paths[:, :shown]
    return Y


def _round(lagrangian: _Lagrangian, pace: _Pace, reached: Reached, since: int, tol: float) -> tuple[Reached, int, bool]:
    """Updates until the values are near, at most UPDATES; how many there were since the last proof."""
    program = lagrangian.program
    precondition: Precondition | None = None
    dtype: type = np.float64
    for update in range(UPDATES):
        Y, pulled = reached.Y, lagrangian.pulled(pace.anchor)
        if precondition is None or update % KEPT == 0:
            Y = _alive(Y)
            precondition, dtype = lagrangian.preconditioned(Y, pulled)
        reached = descend(pulled, Y, precondition, most=STEPS, dtype=dtype)
        pace.after(reached.w)
        since += 1
        dual = dual_value(reached.w, program.squared, program.form, program.nu)
        if since >= PAUSE and abs(relative_gap(_sized(program, reached)[1], dual)) <= NEAR * tol:
            return reached, since, True
    return reached, since, False


def _alive(Y: Floats) -> Floats:
    """Y along its principal axes, without those that carry next to nothing."""
    Y = aligned(Y)
    sizes = np.sum(Y**2, axis=0)
    return np.ascontiguousarray(Y[:, sizes > DEAD * sizes.sum()])


def _polished(lagrangian: _Lagrangian, reached: Reached) -> Reached:
    """A few steps with the springs as stiff as they are and without multipliers."""
    program = lagrangian.program
    stiff, none = 2.0 * program.nu, np.zeros(program.m)
    Y = np.sqrt(_sized(program, reached)[0]) * reached.Y
    pulled = Pulled(lagrangian.edges, program.squared, none, stiff, none, np.inf)
    precondition, dtype = lagrangian.preconditioned(Y, pulled)
    return descend(pulled, Y, precondition, most=POLISH if dtype is SINGLE else POLISH_FEW, dtype=dtype)


def _sized(program: Unfolding, reached: Reached) -> tuple[float, float]:
    """The squared scale of Y that is best for the stiff springs, and the value there."""
    trace, d = float(np.sum(reached.Y**2)), reached.d
    size = (trace / (2.0 * program.nu) + float(d @ program.squared)) / float(d @ d)
    return size, objective(size * trace, size * d - program.squared, program.form, program.nu)


def _judged(program: Unfolding, reached: Reached, bound: float, weights: Floats, rounds: int, tol: float) -> Solution:
    """The state after a round, still in the program's units."""
    size, primal = _sized(program, reached)
    off = np.abs(size * reached.d - program.squared)
    gap = relative_gap(primal, bound)
    Y, largest = np.sqrt(size) * reached.Y, float(off.max(initial=0.0))
    done = abs(gap) <= tol
    return Solution(Y, weights, primal, bound, gap, rms(off), largest, Y.shape[1], NAME, rounds, done)


def _step(result: Solution) -> Step:
    return Step(NAME, result.iterations, result.primal, result.bound, result.gap, result.violation, result.rank)


def _grown(lagrangian: _Lagrangian, reached: Reached, proof: Certificate) -> Reached:
    """Y with a column t v for each direction v that lacks much; t^2 = (1 - v' L_w v) / (rho sum_e (v_i - v_j)^4)."""
    V = proof.directions[:, :GROWTH]
    Q = lagrangian.edges.differences(V) ** 2
    slope, curvature = 1.0 - reached.w @ Q, lagrangian.rho * np.sum(Q**2, axis=0)
    useful = (slope > USEFUL) & (curvature > 0)
    t = np.sqrt(slope[useful] / curvature[useful])
    return Reached(np.hstack([reached.Y, V[:, useful] * t]), reached.d, reached.w)
