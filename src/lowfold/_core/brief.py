"""How a value that owns arrays is printed: numbers as they are, arrays by their shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

SHOWN = 6  # entries of a vector that are printed: eigenvalues are read, coordinates are not


def brief(value: Any) -> str:
    """The `__repr__` of a dataclass: `Name(field=...)`, where a matrix or a long vector says its shape only.

    >>> from lowfold.spectral._types import Eigenpairs
    >>> Eigenpairs(np.array([2.0, 1.0]), np.ones((500, 2)), 1e-9, 0.5, "dense", 1)
    Eigenpairs(values=[2, 1], vectors=array of 500 x 2, residual=1e-09, gap=0.5, solver='dense', iterations=1)
    """
    parts = (f"{field.name}={_shown(getattr(value, field.name))}" for field in fields(value) if field.repr)
    return f"{type(value).__name__}({', '.join(parts)})"


def _shown(item: Any) -> str:
    if not isinstance(item, np.ndarray):
        return repr(item)
    if item.ndim == 1 and len(item) <= SHOWN:
        return "[" + ", ".join(f"{entry:.4g}" if item.dtype.kind == "f" else str(entry) for entry in item) + "]"
    return "array of " + (" x ".join(map(str, item.shape)) or "one number")
