"""Colours that stay apart for colour-blind readers and in print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput

# Okabe & Ito (2008), "Color universal design", without black and with the yellow, which vanishes on white, darkened.
FEW_CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A900", "#5B5B5B")
# Tol (2021), "Colour schemes", the muted one, its pale grey darkened.
MORE_CLASSES = (
    "#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499", "#555555",
)  # fmt: skip
MARKERS = ("o", "^", "s", "D", "v")
PLAIN = "#0072B2"
SCALE = "viridis"  # its lightness rises evenly, so that it reads in grey as well
MANY = len(MORE_CLASSES) * len(MARKERS)
SHOWN = 20  # entries of a legend


@dataclass(frozen=True, eq=False)
class Group:
    """Points that are drawn alike: which ones, and how."""

    rows: NDArray[np.int64]
    color: Any
    marker: str
    name: str | None


def groups(n: int, color: ArrayLike | None, labels: ArrayLike | None) -> list[Group]:
    """One group for a plain or continuously coloured picture, one per class otherwise.

    Up to 10 classes differ in colour, up to 50 in colour and marker; more are numbered along the continuous scale.
    """
    if color is not None and labels is not None:
        raise InvalidInput("give color (numbers on a scale) or labels (classes), not both")
    if labels is not None:
        values = _one_per_point(labels, n, "labels")
        names, index = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
        if len(names) > MANY:
            return [Group(np.arange(n), index.astype(np.float64), "o", None)]
        palette = FEW_CLASSES if len(names) <= len(FEW_CLASSES) else MORE_CLASSES
        return [
            Group(np.flatnonzero(index == c), palette[c % len(palette)], MARKERS[c // len(palette)], str(name))
            for c, name in enumerate(names)
        ]
    if color is None:
        return [Group(np.arange(n), PLAIN, "o", None)]
    numbers = _one_per_point(color, n, "color")
    if numbers.dtype.kind not in "fiub":
        raise InvalidInput(f"color must hold numbers; got {numbers.dtype}; use labels for classes")
    return [Group(np.arange(n), numbers.astype(np.float64), "o", None)]


def _one_per_point(values: ArrayLike, n: int, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,):
        raise InvalidInput(f"{name} must have one value per point, shape ({n},); got shape {array.shape}")
    return array
