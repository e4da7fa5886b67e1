"""Eigenpairs: what a door gives back, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.types import Floats


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
