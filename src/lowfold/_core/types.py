"""The arrays that pass through every stage, under one name each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
AnyFloats = NDArray[np.floating[Any]]  # float32 or float64: what a caller gave, or one of them throughout a call
AnyInts = NDArray[np.integer[Any]]  # int32 or int64
