"""What every reader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.types import AnyFloats
from lowfold.datasets._as_x import AsX


@dataclass(frozen=True, eq=False)
class Table(AsX):
    """Rows are points; it may be passed where X is asked for.

    Attributes
    ----------
    X : float32 or float64, (n, D); sparse where the file is.
    columns : D names.
    labels : columns kept aside, name -> array of n values.
    ids : an id column kept aside, or None.
    notices : what the reader decided, in sentences.
    source : where it came from.
    point_shape : rows are images of this shape (height, width) or (height, width, 3), or None.
    grid_shape : rows are the pixels of a picture of this shape (lines, samples), row by row, or None.
    scaling : (2, D), the centre that was taken off every column and the scale it was divided by, or None.
    """

    X: AnyFloats
    columns: list[str]
    labels: dict[str, NDArray[Any]] = field(default_factory=dict)
    ids: NDArray[Any] | None = None
    notices: list[str] = field(default_factory=list)
    source: str = ""
    point_shape: tuple[int, ...] | None = None
    grid_shape: tuple[int, int] | None = None
    scaling: AnyFloats | None = None

    __repr__ = brief


def small_float(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 where it holds every value of `dtype` (integers up to 16 bits, half and single floats), else float64."""
    return np.dtype(np.float32) if np.can_cast(dtype, np.float32) else np.dtype(np.float64)


def numbered(n: int, stem: str = "x") -> list[str]:
    """x1, x2, ..."""
    return [f"{stem}{i}" for i in range(1, n + 1)]
