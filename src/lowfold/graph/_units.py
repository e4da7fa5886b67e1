"""Fixed point for path lengths: lengths become whole numbers of a unit, so that sums along paths are exact.

Exact sums have no order: every way to a shortest path, forwards or backwards, by relaxation or by elimination, on any
number of threads, gives the same bits, and distances are symmetric. Distances for float32 are summed in int32, others
in float64, which holds whole numbers up to 2^53.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FAR = 2**30 - 1  # no path, in int32: the sum of two of them still fits
COARSE = 1e-4  # of a short edge: where half a unit of int32 is more, as between far clusters, float64 sums


@dataclass(frozen=True)
class Units:
    """Labels of type `dtype` count multiples of `unit`, a power of two; `far` stands for no path."""

    dtype: np.dtype[Any]
    unit: float

    @property
    def far(self) -> Any:
        return self.dtype.type(FAR if self.dtype.kind == "i" else np.inf)

    def of(self, lengths: NDArray[np.float64]) -> NDArray[Any]:
        """Rounded to whole units; inf is `far`."""
        whole = np.rint(lengths / self.unit)
        return np.where(whole < float(self.far), whole, self.far).astype(self.dtype)

    def limit(self, limit: float) -> Any:
        """The largest label that counts."""
        largest = FAR - 1 if self.dtype.kind == "i" else np.inf
        return self.dtype.type(min(np.floor(limit / self.unit), largest))


def float_units(n: int, longest: float) -> Units:
    """Float64 labels: a path has at most n edges, each of at most `longest`, and 2^52 units hold it.

    Lengths change by at most 2^-53 n `longest`.
    """
    whole = n * longest
    usual = 0 < whole < np.finfo(np.float64).max and whole > 2.0**-900
    return Units(np.dtype(np.float64), 2.0 ** (math.ceil(math.log2(whole)) - 52) if usual else 1.0)


def integer_units(n: int, reach: float, short: float) -> Units | None:
    """Int32 labels for distances up to `reach` along at most n edges; None where they are too coarse for `short` edges.

    Lengths change by at most 2^-30 `reach`: `reach` is at most four times the longest distance.
    """
    if not reach > 0:
        return Units(np.dtype(np.int32), 1.0)
    room = FAR - 1 - n
    if room <= 0:
        return None
    unit = 2.0 ** math.ceil(math.log2(reach / room))
    return Units(np.dtype(np.int32), unit) if unit / 2 <= COARSE * short else None


__all__ = ["FAR", "Units", "float_units", "integer_units"]
