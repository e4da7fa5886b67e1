"""Matrices as they come, checked once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats

ASYMMETRY = 1e-8  # of the largest entry: what a product of rounded factors leaves


def matrix(A: ArrayLike, name: str = "A") -> Floats:
    """A finite matrix in float64."""
    found = np.asarray(A, dtype=np.float64)
    if found.ndim != 2 or 0 in found.shape:
        raise InvalidInput(f"{name} must be a matrix with rows and columns; got shape {found.shape}")
    if not np.isfinite(found).all():
        raise InvalidInput(f"{name} must be finite; it has NaN or inf: fill or leave out these rows first")
    return found


def symmetric(G: ArrayLike, name: str = "G") -> Floats:
    """A finite symmetric matrix in float64."""
    found = matrix(G, name)
    if found.shape[0] != found.shape[1]:
        raise InvalidInput(f"{name} must be square; got {found.shape[0]} rows and {found.shape[1]} columns")
    if np.abs(found - found.T).max() > ASYMMETRY * max(float(np.abs(found).max()), np.finfo(float).tiny):
        raise InvalidInput(f"{name} must be symmetric; this one is not: pass ({name} + {name}.T) / 2")
    return found


def rank(k: int, most: int, name: str = "k") -> int:
    """A rank between 1 and `most`."""
    if isinstance(k, bool) or int(k) != k or not 1 <= k <= most:
        raise InvalidInput(f"{name} must be an integer from 1 to {most}; got {k!r}")
    return int(k)


def threshold(tau: float, name: str = "tau") -> float:
    """A number that is not negative."""
    if not tau >= 0:
        raise InvalidInput(f"{name} must be 0 or more, in the units of the singular values; got {tau!r}")
    return float(tau)
