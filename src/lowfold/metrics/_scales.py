"""Columns of different size: seeing them, saying so, and making them alike.

A distance adds up all columns; one in grams beside one in millimetres decides it alone. Columns that are one kind of
thing (pixels, bands of a spectrum) are meant to differ: many columns, or names that only count, are taken as such. A
fit on an array without names warns only where every value of one column is larger than ten times all of another, as
grams and millimetres are, each of one sign: pixels, scores of PCA and one-hot columns share their zero; and not where
neighbouring columns go together, as bands do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lowfold._core.errors import InvalidInput, ScaleWarning
from lowfold._core.types import AnyFloats, Floats
from lowfold._core.warn import warn

UNEVEN = 10.0  # times as much spread in one column as in another
SERIES = 64  # columns without names from which they are taken as pixels or bands
LOOKED = 10_000  # rows, about, whose spread is taken before a fit
TOGETHER = 0.9  # correlation of neighbouring columns, in the median, from which they are taken as bands
STANDARDIZE = ("none", "unit", "robust")
QUARTILES = 1.349  # between the quartiles of a normal distribution, in standard deviations

_told: list[bool] = []  # whether a fit on an array has warned: a search over parameters fits hundreds of times

BY_SIZE = ("euclidean", "sqeuclidean", "minkowski", "manhattan", "cityblock", "l1", "chebyshev", "template")


def uneven_columns(X: AnyFloats, names: Sequence[str] | None = None) -> str | None:
    """What differs, in words; None where all columns are of one kind or of about one size."""
    if issparse(X) or X.ndim != 2 or _series(X, names):
        return None
    spread = np.asarray(np.std(X, axis=0, dtype=np.float64))
    alive = np.flatnonzero(spread > 0)
    if len(alive) < 2 or not np.isfinite(spread).all():
        return None
    wide, narrow = alive[np.argmax(spread[alive])], alive[np.argmin(spread[alive])]
    ratio = spread[wide] / spread[narrow]
    if ratio <= UNEVEN:
        return None
    first, last = (repr(str(names[i])) if names is not None else str(i) for i in (wide, narrow))
    return (
        f"column {first} spreads {ratio:.3g} times as much as column {last} ({spread[wide]:.3g} against "
        f"{spread[narrow]:.3g}), and distances follow the former"
    )


def tell_scales(X: AnyFloats, names: Sequence[str] | None = None) -> None:
    """Warn where columns differ."""
    words = uneven_columns(X, names)
    if words is not None:
        warn(
            f"{words}; where their units differ, standardise first (sklearn.preprocessing.StandardScaler, or "
            "standardize='unit' where a file is read)",
            ScaleWarning,
        )


def tell_scales_of_fit(X: AnyFloats, names: Sequence[str] | None = None) -> None:
    """Warn before a fit: of columns with names; of others where they can only be measurements, once in a process."""
    rows = X[:: max(1, len(X) // LOOKED)]
    if names is not None:
        tell_scales(rows, names)
    elif not _told and _several_units(rows):
        _told.append(True)
        tell_scales(rows)


def _several_units(X: AnyFloats) -> bool:
    """Whether one column has no value below ten times all of another, each of one sign, and columns are no bands."""
    if X.ndim != 2 or not 2 <= X.shape[1] < SERIES or len(X) < 3:
        return False
    low, high = (np.asarray(end, dtype=np.float64) for end in (X.min(axis=0), X.max(axis=0)))
    spread = np.std(X, axis=0, dtype=np.float64)
    least = np.maximum(low, -high)  # below 0 where a column has both signs
    beyond = least[:, None] > UNEVEN * np.maximum(high, -low)
    apart = beyond & (spread[:, None] > UNEVEN * spread) & (spread > 0) & (least > 0)
    if not apart.any():
        return False
    Z = (X - X.mean(axis=0, dtype=np.float64)) / np.where(spread > 0, spread, 1.0)
    return bool(np.median(np.abs((Z[:, 1:] * Z[:, :-1]).mean(axis=0))) < TOGETHER)


def column_names(X: Any) -> list[str] | None:
    """Of a data frame, pandas' or polars'."""
    columns = getattr(X, "columns", None)
    return None if columns is None or callable(columns) else [str(name) for name in columns]


def scaling(X: AnyFloats, how: str) -> Floats:
    """Centre and scale of every column, (2, D): mean and standard deviation, or median and spread of the quartiles."""
    if how not in STANDARDIZE[1:]:
        raise InvalidInput(f"standardize must be one of {', '.join(STANDARDIZE)}; got {how!r}")
    if issparse(X):
        raise InvalidInput("sparse rows are not standardised: less their means they would not be sparse")
    if how == "unit":
        centre, scale = np.nanmean(X, axis=0, dtype=np.float64), np.nanstd(X, axis=0, dtype=np.float64)
    else:
        low, centre, high = np.nanpercentile(X.astype(np.float64), [25, 50, 75], axis=0)
        scale = (high - low) / QUARTILES
        scale = np.where(scale > 0, scale, np.nanstd(X, axis=0, dtype=np.float64))  # half of the values are the same
    return np.stack([centre, np.where(scale > 0, scale, 1.0)])


def standardized(X: AnyFloats, found: Floats) -> AnyFloats:
    """(X - centre) / scale, in the type of X."""
    return np.asarray((X - found[0]) / found[1], dtype=X.dtype)


def _series(X: AnyFloats, names: Sequence[str] | None) -> bool:
    if names is None:
        return bool(X.shape[1] >= SERIES)
    stems = {re.sub(r"\d+$", "", str(name)) for name in names}
    counted = len(stems) == 1 and all(re.search(r"\d$", str(name)) for name in names)
    return bool(X.shape[1] < 2 or (counted and not _several_units(X)))
