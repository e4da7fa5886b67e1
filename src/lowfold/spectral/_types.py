"""Eigenpairs: what a door gives back, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core import errors
from lowfold._core.types import Floats
from lowfold._core.warn import warn

ZERO = 1e-12  # of the first eigenvalue: rounding
NEGATIVE = 1e-6  # of the largest magnitude: more than float32 products leave

REPEATED = 0.9  # share of a coordinate's variance, told by the earlier ones, from which on it is called repeated


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Solutions of A v = lambda M v that belong together and cannot be permuted apart.

    values      asked-for eigenvalues, in the order of the door (`largest`: descending, `smallest`: ascending)
    vectors     one column each, M-orthonormal, the first entry of nearly the largest magnitude positive
    residual    max over the pairs of ||A v - lambda v|| / (distance from lambda to the nearest eigenvalue NOT asked
                for): it bounds the angle between the computed and the true subspace
    gap         distance from the last asked-for eigenvalue to the next one; inf where there is no next
    solver      what was used
    iterations  of the solver; 1 for a direct one
    """

    values: Floats
    vectors: Floats
    residual: float
    gap: float
    solver: str
    iterations: int


def fix_signs(vectors: Floats) -> Floats:
    """Flip columns so that the first entry within 1e-6 of the largest magnitude is positive.

    >>> fix_signs(np.array([[0.6, 0.0], [-0.8, -1.0]]))
    array([[-0.6,  0. ],
           [ 0.8,  1. ]])
    """
    if vectors.size == 0:
        return vectors
    size = np.abs(vectors)
    first = np.argmax(size >= size.max(axis=0) * (1 - 1e-6), axis=0)
    signs = np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return vectors * signs + 0.0  # + 0.0 turns -0.0 into 0.0


def positive_values(values: Floats, what: str) -> Floats:
    """Eigenvalues of a Gram matrix, 0 where not positive: such a direction does not exist, its column is zero.

    That `what` is not positive semidefinite where a column was asked for is told.
    """
    first = max(float(values[0]), 0.0)
    negative = values < -NEGATIVE * np.abs(values).max(initial=0.0)
    if negative.any():
        k = int(np.argmax(negative))
        warn(
            f"{what} is not positive semidefinite: of the {len(values)} leading eigenvalues {int(negative.sum())} are "
            f"negative (down to {values.min():.3g}), and their columns are zeros; "
            + (f"use n_components of at most {k}" if k else "no direction is left: look at the sign of the matrix"),
            errors.AccuracyWarning,
        )
    return np.where(values > ZERO * first, values, 0.0)
