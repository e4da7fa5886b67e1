"""Rows without NaN or inf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def finite_rows(Y: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which rows are finite. Where all are, one look at the whole tells it, many times quicker than short rows."""
    finite = np.isfinite(Y)
    return np.ones(len(Y), dtype=bool) if finite.all() else np.asarray(finite.all(axis=1))
