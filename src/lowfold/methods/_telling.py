"""What a spectral embedding can know about itself, said once, with the figure and the way out."""

from __future__ import annotations

import numpy as np

from lowfold._core.errors import AccuracyWarning, DependenceWarning
from lowfold._core.finite import finite_rows
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.methods._independent import dependence
from lowfold.spectral._types import REPEATED

FEW = 3  # points that may not hold a coordinate by themselves
HELD = 0.8  # share of a coordinate's sum of squares that they hold then; 0.53 at most where coordinates are right
ALONE = 0.7  # share that one may not hold: then fewer than two points carry the coordinate
ENOUGH_TO_TELL = 100  # points below which three are a group


def told_dependence(name: str, Y: Floats, ways_out: tuple[str, str], pieces: Ints, run: Run) -> Floats:
    """`dependence_`, with a warning of coordinates that hold a few points, and of repeated ones.

    `ways_out` says what to do about either. `pieces` are the sizes of the pieces that were joined: coordinates tell
    them from each other first, and rightly, so that only points which are no piece of their own are told.
    """
    inside = finite_rows(Y)
    Y = Y if inside.all() else Y[inside]
    told = dependence(Y, run)
    if len(Y) < ENOUGH_TO_TELL or pieces.min() <= FEW:
        return told
    lonely = tell_few(name, Y, ways_out[0])
    if len(pieces) > 1:
        return told
    repeated = np.setdiff1d(np.flatnonzero(told > REPEATED), lonely)
    if len(repeated):
        c = int(repeated[0])
        warn(
            f"coordinate {c + 1} of {name} is a function of the earlier ones ({told[c]:.0%} of its variance, "
            f"dependence_); {ways_out[1]}",
            DependenceWarning,
        )
    return told


def tell_few(name: str, Y: Floats, way_out: str) -> Ints:
    """The columns that a few points hold, with a warning of the first of them."""
    lonely = held_columns(Y)
    if len(lonely):
        squares = (Y[:, lonely[0]] - np.median(Y[:, lonely[0]])) ** 2
        held = np.sort(squares)[-FEW:].sum() / squares.sum()
        warn(
            f"coordinate {lonely[0] + 1} of {name} tells {FEW} points or fewer from all others (row "
            f"{squares.argmax()} first, {held:.0%} of its sum of squares); {way_out}",
            AccuracyWarning,
        )
    return lonely


def held_columns(Y: Floats) -> Ints:
    """Columns of which FEW of many points hold nearly all that differs from the median, or one most of it."""
    # No point is farther from the median than the range, and squares about the mean are the least: where these do not
    # suffice, as nearly always, no median is looked for. Columns one by one: NumPy is quicker along long ones.
    if len(Y) < ENOUGH_TO_TELL or not any(FEW * np.ptp(column) ** 2 > ALONE * len(Y) * column.var() for column in Y.T):
        return np.empty(0, dtype=np.int64)
    squares = (Y - np.median(Y, axis=0)) ** 2
    total, most = squares.sum(axis=0), np.partition(squares, -min(FEW, len(Y)), axis=0)[-FEW:]
    return np.flatnonzero((total > 0) & ((most.sum(axis=0) > HELD * total) | (most.max(axis=0) > ALONE * total)))
