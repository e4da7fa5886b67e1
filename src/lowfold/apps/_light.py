"""Images brought to one light, each by itself."""

from __future__ import annotations

import numpy as np

from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats

LIGHTS = ("as_is", "contrast", "histogram")


def even_light(X: Floats, light: str) -> Floats:
    """Rows of pixels as they are, with mean 0 and variance 1 (a row of one grey: zeros), or with evenly spread greys.

    >>> even_light(np.array([[1.0, 3.0], [5.0, 5.0]]), "contrast").tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    >>> even_light(np.array([[7.0, 9.0, 9.0, 200.0]]), "histogram").tolist()
    [[0.125, 0.5, 0.5, 0.875]]
    """
    if light == "as_is":
        return X
    if light == "contrast":
        centred = X - X.mean(axis=1, keepdims=True)
        size = np.sqrt(np.mean(centred**2, axis=1, keepdims=True))
        flat = size <= ROUNDING * np.abs(X).max(axis=1, keepdims=True)  # rounding of the mean, not contrast
        return np.where(flat, 0.0, centred / np.where(flat, 1.0, size))
    return np.array([_ranks(row) for row in X])


def _ranks(row: Floats) -> Floats:
    """Mid-rank of every pixel over the number of pixels: equal greys stay equal."""
    _, place, count = np.unique(row, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count
    return np.asarray((below + count / 2)[place] / len(row))
