"""Eigenpairs: what a door gives back, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core import errors
from lowfold._core.brief import brief
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats
from lowfold._core.warn import warn

ZERO = ROUNDING  # of the first eigenvalue
NEGATIVE = 1e-6  # of the largest magnitude: more than float32 products leave
# Of the largest eigenvalue computed: two that are nearer count as one. Their vectors turn within their plane with the
# rounding of the operator, and a residual divided by such a gap would be a quotient of two roundings.
COINCIDE = 1e-9
# Of the first eigenvalue of a Gram matrix: coordinates are multiplied by the root, 1e-5 of the longest, so that nobody
# sees which vector it was. A door does not warn of such a pair.
NEGLIGIBLE = 1e-10
POOR = 1e-3  # a gap-relative residual, which bounds the angle to the truth, above this: another solver, or a warning
# Of a column's largest entry: those this near count as equally large, and the first of them has the sign. Symmetric
# data have two opposite entries of one size, and which is larger is decided by rounding and by the solver's tolerance,
# 1e-6.
EQUAL_ENTRIES = 1e-6

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

    __repr__ = brief


def fix_signs(vectors: Floats) -> Floats:
    """Flip columns so that the first entry within 1e-6 of the largest magnitude is positive.

    >>> fix_signs(np.array([[0.6, 0.0], [-0.8, -1.0]]))
    array([[-0.6,  0. ],
           [ 0.8,  1. ]])
    """
    if vectors.size == 0:
        return vectors
    signs = np.empty(vectors.shape[1])
    for c, column in enumerate(vectors.T):  # one by one: NumPy looks along long columns many times quicker
        size = np.abs(column)
        signs[c] = -1.0 if column[np.argmax(size >= size.max() * (1 - EQUAL_ENTRIES))] < 0 else 1.0
    return vectors * signs + 0.0  # + 0.0 turns -0.0 into 0.0


def positive_values(values: Floats, what: str) -> Floats:
    """Eigenvalues of a Gram matrix, 0 where not positive: such a direction does not exist, its column is zero.

    That `what` is not positive semidefinite where a column was asked for is told.
    """
    negative = values < -NEGATIVE * np.abs(values).max(initial=0.0)
    if negative.any():
        k = int(np.argmax(negative))
        warn(
            f"{what} is not positive semidefinite: of the {len(values)} leading eigenvalues {int(negative.sum())} are "
            f"negative (down to {values.min():.3g}), and their columns are zeros; "
            + (f"use n_components of at most {k}" if k else "no direction is left: look at the sign of the matrix"),
            errors.AccuracyWarning,
        )
    return existing_values(values)


def existing_values(values: Floats) -> Floats:
    """The same for values that the caller judges: 0 where not above rounding of the first."""
    return np.where(values > ZERO * max(float(values[0]), 0.0), values, 0.0)
