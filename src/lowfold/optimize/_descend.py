"""Gradient descent with a line search: of one function, or of many rows that do not know of each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import Progress
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold._core.watch import lowered
from lowfold.optimize._momentum import Callback
from lowfold.optimize._smacof import SUFFICIENT, Minimum

FIRST = 0.1  # of the configuration's size: the first trial step, before the curvature is known
HALVINGS, ROW_HALVINGS = 60, 50  # of a step: after so many it moves nothing in float64
STEADY = 10  # steps over which a fall is measured: single ones of Barzilai and Borwein are uneven
# Of a coordinate, plus one: the step of a central difference of gradients. Its errors, h^2 and 1e-16 / h, balance at
# about the cube root of 1e-16.
DIFFERENCE = 1e-5


def descend(
    function: Callable[[Floats], tuple[float, Floats]],
    Y: Floats,
    *,
    max_iter: int = 300,
    tol: float = 1e-6,
    size: float = 1.0,
    progress: Progress | None = None,
    callback: Callback | None = None,
) -> Minimum:
    """Steepest descent Y <- Y - a grad f(Y); the value never rises.

    The first trial step is the one after which the last two gradients would agree (Barzilai & Borwein 1988,
    doi:10.1093/imanum/8.1.141); it is halved until f falls enough. Ends when ten steps lower f by less than `tol` times
    `size`, or when `callback` returns True.
    """
    value, slope = function(Y)
    history = [value]
    step = float(np.abs(Y).max(initial=0.0)) / max(float(np.abs(slope).max(initial=0.0)), NO_DIVISOR) * FIRST or 1.0
    converged = False
    for t in range(max_iter):
        square = float((slope**2).sum())
        if square == 0.0:
            converged = True
            break
        for _ in range(HALVINGS):
            trial = Y - step * slope
            trial_value, trial_slope = function(trial)
            if trial_value <= value - SUFFICIENT * step * square:
                break
            step *= 0.5
        else:
            converged = True
            break
        change, turn = trial - Y, trial_slope - slope
        Y, value, slope = trial, trial_value, trial_slope
        history.append(value)
        if len(history) > STEADY and history[-STEADY - 1] - value <= tol * size:
            converged = True
            break
        if callback is not None and callback(t + 1, value, Y.copy()) is True:
            break
        along = float((change * turn).sum())
        step = float((change**2).sum()) / along if along > 0 else 2.0 * step
        if progress is not None:
            progress((t + 1) / max_iter)
        lowered(value)
    return Minimum(Y, value, np.array(history), converged)


def descend_rows(
    function: Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]],
    Y: Floats,
    *,
    max_iter: int = 300,
    tol: float = 1e-9,
) -> tuple[Floats, Floats]:
    """The same for each row by itself: `function(rows of Y, their numbers)` gives a value and a gradient per row.

    No row's steps depend on another row. A row ends when a step moves it by less than `tol` times its distance from the
    origin plus one, or when no step along the gradient lowers its value.
    """
    Y = np.array(Y, dtype=np.float64)
    active = np.arange(len(Y))
    value, slope = function(Y, active)
    size = np.abs(slope).max(axis=1, initial=0.0)
    step = np.where(size > 0, FIRST * (1.0 + np.abs(Y).max(axis=1, initial=0.0)) / np.where(size > 0, size, 1.0), 1.0)
    for _ in range(max_iter):
        if len(active) == 0:
            break
        square = (slope[active] ** 2).sum(axis=1)
        trial, trial_value, trial_slope, moved = _search(
            function, Y[active], value[active], slope[active], step[active], square, active
        )
        change, turn = trial - Y[active], trial_slope - slope[active]
        along, length = (change * turn).sum(axis=1), (change**2).sum(axis=1)
        safe = np.where(along > 0, along, 1.0)
        step[active] = np.where(along > 0, length / safe, 2.0 * step[active])
        Y[active], value[active], slope[active] = trial, trial_value, trial_slope
        still = np.sqrt(length) <= tol * (1.0 + np.linalg.norm(trial, axis=1))
        active = active[moved & ~still]
    return Y, value


def polish_rows(
    function: Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]], Y: Floats, *, steps: int = 8
) -> tuple[Floats, Floats]:
    """Newton's steps for each row from near its minimum, with second derivatives by differences of the gradient.

    A step is taken where it makes the gradient smaller and the value, but for rounding, no larger. This ends within
    rounding of the minimum, so that a row's answer does not tell in which batch it was computed.
    """
    Y = np.array(Y, dtype=np.float64)
    active = np.arange(len(Y))
    value, slope = function(Y, active)
    for _ in range(steps):
        if len(active) == 0:
            break
        g = slope[active]
        trial = Y[active] - _newton_step(function, Y[active], g, active)
        trial_value, trial_slope = function(trial, active)
        better = (trial_slope**2).sum(axis=1) < (g**2).sum(axis=1)
        better &= trial_value <= value[active] + ROUNDING * np.abs(value[active])
        active = active[better]
        Y[active], value[active], slope[active] = trial[better], trial_value[better], trial_slope[better]
    return Y, value


def _newton_step(
    function: Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]],
    y: Floats,
    g: Floats,
    rows: NDArray[np.int64],
) -> Floats:
    """|H|^-1 g, with the Hessian H of each row by central differences and its eigenvalues made positive."""
    d = y.shape[1]
    h = DIFFERENCE * (1.0 + np.abs(y).max(axis=1))
    H = np.empty((len(y), d, d))
    for k in range(d):
        shift = np.zeros_like(y)
        shift[:, k] = h
        H[:, k] = (function(y + shift, rows)[1] - function(y - shift, rows)[1]) / (2 * h[:, None])
    values, vectors = stacked_eigh((H + np.swapaxes(H, 1, 2)) / 2)
    values = np.where(np.abs(values) > 0, np.abs(values), 1.0)
    return np.asarray(np.einsum("rij,rj->ri", vectors, np.einsum("rji,rj->ri", vectors, g) / values))


def _search(
    function: Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]],
    Y: Floats,
    value: Floats,
    slope: Floats,
    step: Floats,
    square: Floats,
    rows: NDArray[np.int64],
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """One step per row, halved until the row's value falls enough; rows that cannot fall stay where they are."""
    out, out_value, out_slope = Y.copy(), value.copy(), slope.copy()
    moved = np.zeros(len(Y), dtype=bool)
    open_rows = np.flatnonzero(square > 0)
    step = step.copy()
    for _ in range(ROW_HALVINGS):
        if len(open_rows) == 0:
            break
        trial = Y[open_rows] - step[open_rows, None] * slope[open_rows]
        trial_value, trial_slope = function(trial, rows[open_rows])
        good = trial_value <= value[open_rows] - SUFFICIENT * step[open_rows] * square[open_rows]
        taken = open_rows[good]
        out[taken], out_value[taken], out_slope[taken] = trial[good], trial_value[good], trial_slope[good]
        moved[taken] = True
        open_rows = open_rows[~good]
        step[open_rows] *= 0.5
    return out, out_value, out_slope, moved
