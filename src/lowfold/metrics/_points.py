"""Checks and row-wise helpers that every distance shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, InvalidType
from lowfold._core.types import AnyFloats


def as_points(X: object, name: str = "X") -> AnyFloats:
    """X as a 2-D float array of finite numbers: float32 stays float32, everything else becomes float64."""
    if hasattr(X, "toarray"):
        raise InvalidType(f"{name} is a sparse matrix; distances need dense rows: pass {name}.toarray()")
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise InvalidType(f"{name} is complex; distances need real numbers: pass real and imaginary parts as columns")
    try:
        array = np.asarray(X)
        points = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidType(f"{name} must be a table of numbers, got {type(X).__name__}: {error}") from None
    if points.ndim != 2:
        raise InvalidInput(f"{name} must have two dimensions, rows are points; got shape {points.shape}")
    if points.shape[0] == 0 or points.shape[1] == 0:
        raise InvalidInput(f"{name} must have at least one row and one column; got shape {points.shape}")
    require_finite(points, name)
    return points


def require_finite(points: AnyFloats, name: str) -> None:
    """Raise InvalidInput that names the first entry which is NaN or infinite."""
    # the sum is finite only if every entry is (or it overflows); the exact test runs when the quick one fails
    with np.errstate(over="ignore", invalid="ignore"):
        quick = np.isfinite(points.sum(dtype=np.float64))
    if quick:
        return
    bad = np.argwhere(~np.isfinite(points))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise InvalidInput(
            f"{name} has {points[row, column]} at row {row}, column {column} ({len(bad)} such entries); "
            "distances need finite numbers: drop those rows or fill the gaps"
        )


def same_width(A: AnyFloats, B: AnyFloats) -> None:
    """Raise InvalidInput unless A and B have the same number of columns."""
    if A.shape[1] != B.shape[1]:
        raise InvalidInput(f"A and B must have the same number of columns; got {A.shape[1]} and {B.shape[1]}")


def scale_exponents(X: AnyFloats) -> NDArray[np.intp]:
    """Per row, the e with max|row| in [2^(e-1), 2^e): dividing by 2^e is exact and keeps squares in range."""
    return np.asarray(np.frexp(np.abs(X).max(axis=1))[1], dtype=np.intp)
