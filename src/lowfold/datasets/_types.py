"""What every generator returns: points together with what is known about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.datasets._as_x import AsX

Distance = Callable[[Floats, Floats], Floats]
"""Geodesic distance between rows of `coordinates` (of `parameters` where no isometric coordinates exist)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(AsX):
    """Points sampled from a known shape, with the truth that an embedding should recover. All arrays are read-only.

    It may be passed where X is asked for.

    Attributes
    ----------
    name : the generator's name.
    X : (n, D) points, one per row, with the noise that was asked for.
    parameters : (n, p) the values that produced the clean points: angles, heights, lighting.
    color : (n,) one number per point for colouring pictures.
    intrinsic_dim : dimension d of the shape (the largest one where it varies).
    coordinates : (n, d) coordinates of the clean points in one isometric chart (the metric tensor is the identity), or
        None where the shape has none.
    is_simple : one chart covers the shape (Wang 2012, Section 2.2): so for a Swiss roll, not for a circle or a sphere.
    labels : (n,) class of each point, or None.
    image_shape : shape of the image in each row of X, (height, width), or None where rows are not images.
    distance : geodesic distance as a function of rows of `coordinates` (of `parameters` where those are None), or None
        where it is not known; `geodesic` calls it.
    """

    name: str
    X: Floats
    parameters: Floats
    color: Floats
    intrinsic_dim: int
    coordinates: Floats | None = None
    is_simple: bool = True
    labels: NDArray[np.int64] | None = None
    image_shape: tuple[int, ...] | None = None
    distance: Distance | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for attribute in ("X", "parameters", "color", "coordinates"):
            _freeze(self, attribute, np.float64)
        _freeze(self, "labels", np.int64)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.X.shape[0]} points in R^{self.X.shape[1]}, d={self.intrinsic_dim})"

    @property
    def extrinsic_dim(self) -> int:
        """Dimension D of the space that the points are given in."""
        return int(self.X.shape[1])

    @property
    def images(self) -> Floats:
        """X as a stack of images, (n, *image_shape)."""
        if self.image_shape is None:
            raise InvalidInput(f"the rows of {self.name!r} are not images; use X, or a generator of images instead")
        return self.X.reshape(-1, *self.image_shape)

    def geodesic(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Distance along the shape between the clean points i and j (indices or arrays of indices, broadcast).

        Points on different pieces of a shape in several pieces are infinitely far apart.
        """
        if self.distance is None:
            raise InvalidInput(
                f"geodesic distances of {self.name!r} have no closed form; "
                "use a neighbourhood graph on many clean points, or a shape that has them, as swiss_roll or sphere"
            )
        rows = self.parameters if self.coordinates is None else self.coordinates
        a, b = np.broadcast_arrays(self._index(i, "i"), self._index(j, "j"))
        return np.asarray(self.distance(rows[a.ravel()], rows[b.ravel()]), dtype=np.float64).reshape(a.shape)

    def _index(self, value: ArrayLike, name: str) -> NDArray[np.int64]:
        index = np.asarray(value)
        if index.size == 0:
            return np.zeros(index.shape, dtype=np.int64)
        if not np.issubdtype(index.dtype, np.integer) or index.min() < 0 or index.max() >= len(self):
            raise InvalidInput(f"{name} must hold row numbers from 0 to {len(self) - 1}; got {value!r}")
        return index.astype(np.int64)


def _freeze(data: Dataset, attribute: str, dtype: type) -> None:
    value = getattr(data, attribute)
    if value is not None:
        # A private copy: the caller's own array must stay writable, and nobody else may change this one.
        array: NDArray[np.generic] = np.array(value, dtype=dtype)
        array.setflags(write=False)
        object.__setattr__(data, attribute, array)
