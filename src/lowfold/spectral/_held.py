"""Coordinates that a few points hold: an eigenvector that tells them from all others, and nothing else."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats, Ints

FEW = 3  # points that may not hold a coordinate by themselves
HELD = 0.8  # share of a coordinate's sum of squares that they hold then; 0.53 at most where coordinates are right
ALONE = 0.7  # share that one may not hold: then fewer than two points carry the coordinate
ENOUGH_TO_TELL = 100  # points below which three are a group


def held_columns(Y: Floats) -> Ints:
    """Columns of which FEW of many points hold nearly all that differs from the median, or one most of it."""
    # No point is farther from the median than the range, and squares about the mean are the least: where these do not
    # suffice, as nearly always, no median is looked for. Columns one by one: NumPy is quicker along long ones.
    if len(Y) < ENOUGH_TO_TELL or not any(FEW * np.ptp(column) ** 2 > ALONE * len(Y) * column.var() for column in Y.T):
        return np.empty(0, dtype=np.int64)
    squares = (Y - np.median(Y, axis=0)) ** 2
    total, most = squares.sum(axis=0), np.partition(squares, -min(FEW, len(Y)), axis=0)[-FEW:]
    return np.flatnonzero((total > 0) & ((most.sum(axis=0) > HELD * total) | (most.max(axis=0) > ALONE * total)))
