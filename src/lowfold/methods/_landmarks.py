"""Landmarks, one mechanism for all methods:

    data --rule--> landmarks --method--> their embedding --the method's own map--> all points, and the error of that

A method that has the parameters of `Landmarked` has all of it. Isomap solves among its landmarks in its own way
(geodesics run through all points) and takes the rule and the error from here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.errors import InvalidInput, LowfoldError, LowfoldWarning
from lowfold._core.limits import Choice, Int, IntArray, Null
from lowfold._core.params import param
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.graph._sheet import n_knots, sheet_of
from lowfold.graph._source import Source
from lowfold.lowrank._landmark_rules import RULES, landmarks_by_rule
from lowfold.methods._fit import Data, Fit
from lowfold.methods._parameters import Seeded
from lowfold.methods._placing.landmarks import placed_through
from lowfold.methods._placing.place import PLACED
from lowfold.methods._stages import FLOAT, Stage, Stages, columns, read_stage

Chooser = Callable[[Source, Run], Ints]
Solve = Callable[[Data, Run], Fit]

# One in so many landmarks is held out to measure the error. A model of nine tenths errs as that of all does, and the
# tenth that it places says how steady it is; a model of half of them errs more, and shows what too few do.
HELD_OUT = 2
PLACING = 1500.0  # bytes for a point placed among landmarks: its neighbours both ways and its row of the kernel
PLACING_WITHIN_REACH = 2500.0  # and where these are all within one reach
PLACING_BY_WEIGHTS = 650.0  # where its neighbours among the landmarks are enough
# Of the spread: the model of the other half is another one. Seven methods on five kinds of data, 40 to 400 landmarks:
# above it, 24 of the 33 models of which a third of the spread is lost, and 13 of the 72 others.
ASTRAY = 0.35
TURNED = 0.5  # of the error: as much is left with a few coordinates more where eigenvalues are close, and change places
TELLING = 20  # landmarks: half of fewer are no data


class Landmarked(Seeded):
    """Parameters of methods that can solve on a few points and place the others."""

    landmarks: int | NDArray[np.int64] | None = param(
        None,
        Int(2),
        IntArray(0),
        Null("all points"),
        "Solve on so many points, or on these rows, and place the others as new ones: for very large n. "
        "`landmark_error_` says what that cost.",
    )
    landmark_rule: str = param(
        "maxmin",
        Choice(RULES),
        "How landmarks are chosen: each farthest from those before; at random; by squared distance to those before; by "
        "how badly a sample represents a point (leverage scores); or by the determinant of a kernel, up to 3,000 "
        "points.",
    )
    random_state: Any = param(0, "Choice of landmarks.")

    alone: ClassVar[bool] = True  # landmarks are embedded as a data set of their own; Isomap's paths run through all


def chooser(model: Any) -> Chooser | None:
    """How the model's landmarks are chosen; None where all points are embedded at once."""
    if not isinstance(model, Landmarked) or not model.alone or model.landmarks is None:
        return None
    asked, rule = model.landmarks, model.landmark_rule
    return lambda source, run: landmarks_by_rule(source, asked, rule=rule, run=run)


NO_LANDMARKS: dict[str, Any] = {"landmarks_": None, "landmark_error_": None}


KNOT = 4000.0  # bytes for a knot of the surface: candidates of its links, their steps and turns


def landmark_stages(of: Stages, placing: float = PLACING, *, charted: bool = False) -> Stages:
    """The stages of so many points, and the placing of the others; `of` all points without landmarks.

    `charted` landmarks are measured along a surface.
    """

    def stages(model: Any, data: Data) -> list[Stage]:
        asked = getattr(model, "landmarks", None)
        m = data.n if asked is None else min(data.n, int(asked) if np.ndim(asked) == 0 else len(np.ravel(asked)))
        if m == data.n or data.source is None:
            return of(model, data)
        size = placing * min(data.n, PLACED) + FLOAT * data.n * columns(model)
        placed = Stage("placing", f"{data.n - m} points by {m} landmarks", size)
        knots = n_knots(data.n, m)
        surface = [Stage("tangent planes", f"{knots} knots of a surface", KNOT * knots)] if charted else []
        return [read_stage(data), *surface, *of(model, Data(data.source.subset(np.arange(m))))[1:], placed]

    return stages


PartOf = Callable[[Source, Ints, Run], Source]


def alone(source: Source, chosen: Ints, run: Run) -> Source:
    """The landmarks as a data set of their own."""
    return source.subset(chosen)


def along(d: int) -> PartOf:
    """The landmarks with the tangent planes of all points around them; alone where there is no surface."""

    def part_of(source: Source, chosen: Ints, run: Run) -> Source:
        with run.stage("tangent planes"):
            return sheet_of(source, chosen, d, run) or alone(source, chosen, run)

    return part_of


def through_landmarks(
    data: Data,
    choose: Chooser,
    solve: Solve,
    check: Callable[[Data], None],
    run: Run,
    part_of: PartOf = alone,
) -> Fit:
    """The embedding of the landmarks, all other points placed by it, and `landmark_error_`."""
    if data.source is None:
        raise InvalidInput("landmarks need points or distances to place the others by; X was a graph or a kernel")
    chosen = choose(data.source, run)
    where = part_of(data.source, chosen, run)
    part = Data(where, labels=None if data.labels is None else data.labels[chosen])
    check(part)
    fit = solve(part, run)
    placed = placed_through(fit, fit.trained(part.source), chosen, data.source, data.n, run)
    error = 0.0
    if part.n < data.n:
        with run.stage("landmark error"):
            error = told(_error_of_model(part, fit.coordinates, solve, run), part.n)
    return replace(placed, extra={**placed.extra, "landmark_error_": error})


def told(error: float, m: int, wider: float = np.inf, width: int = 0) -> float:
    """The error, said aloud where landmarks do not determine the embedding of the others.

    `wider` is that of as many coordinates as `width` says: where it is small, the halves differ in which come first.
    """
    if error > ASTRAY and m >= TELLING:
        turned = wider < TURNED * error
        warn(
            f"{m} landmarks are too few to be sure of: half of them, placed by a model of the other half, are off by "
            f"{error:.0%} of the spread (landmark_error_); "
            + (f"{width} coordinates tell them within {wider:.0%}: use n_components={width}, or " if turned else "use ")
            + "more landmarks, or another landmark_rule",
            errors.AccuracyWarning,
        )
    return error


def held_out(m: int, run: Run) -> tuple[Ints, Ints]:
    """Half of m landmarks, and the rest."""
    held = np.sort(run.rng.choice(m, max(1, m // HELD_OUT), replace=False))
    return held, np.setdiff1d(np.arange(m), held)


def _error_of_model(part: Data, Y: Floats, solve: Solve, run: Run) -> float:
    """`relative_error` of landmarks that a model of the others places; NaN where the others are too few for one."""
    held, rest = held_out(part.n, run)
    try:
        with warnings.catch_warnings():  # said already of the model itself
            warnings.simplefilter("ignore", LowfoldWarning)
            fit = solve(Data(part.source.subset(rest)), replace(run, verbose=False))  # type: ignore[union-attr]
            again = placed_through(fit, fit.trained(part.source.subset(rest)), rest, part.source, part.n, run)  # type: ignore[union-attr]
    except LowfoldError:
        return float("nan")
    return relative_error(Y, again.coordinates, held, rest)


def relative_error(Y: Floats, Z: Floats, held: Ints, rest: Ints) -> float:
    """How far a second model places the landmarks `held` from where they are: root mean square of |A(z) - y| over that
    of |y - mean|, with the affine map A that takes the second model to the first on the `rest`.
    """
    inside = np.asarray(np.isfinite(np.hstack([Y, Z])).all(axis=1))
    held, rest = held[inside[held]], rest[inside[rest]]
    if len(held) == 0 or len(rest) <= Y.shape[1]:
        return float("nan")
    with_one = np.column_stack([Z, np.ones(len(Z))])
    A = np.linalg.lstsq(with_one[rest], Y[rest], rcond=None)[0]
    spread = float(np.square(Y[inside] - Y[inside].mean(axis=0)).sum(axis=1).mean())
    missed = float(np.square(with_one[held] @ A - Y[held]).sum(axis=1).mean())
    return float(np.sqrt(missed / spread)) if spread > 0 else float("nan")
