"""Regions of coordinate space: a box with sides that may wrap, and a disc; their quadrature and boundary."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.geometry._closed import require_positive

T = TypeVar("T")

DEFAULT_ORDER = 48
"""Nodes per axis: enough for about 12 digits on analytic integrands, and 5 with a partition of unity (96 nodes: 8)."""


@dataclass(frozen=True, eq=False)
class Face:
    """A piece of the boundary: its own domain, its map into the coordinates, and its sign in the induced orientation.

    The sign is that of the rule "outward vector first": +1 when (outward, tangents of the face) is
    a right-handed basis.
    """

    domain: Domain
    embed: Callable[[Floats], Floats]
    sign: int


class Domain(Protocol):
    """What a chart needs of its region."""

    @property
    def dim(self) -> int: ...

    @property
    def periods(self) -> Floats:
        """Length after which a coordinate returns to the same point; 0 where it does not."""
        ...

    def contains(self, u: Floats) -> NDArray[np.bool_]: ...

    def quadrature(self, order: int = DEFAULT_ORDER) -> tuple[Floats, Floats]:
        """Nodes (n, k) and weights (n,) of a rule that is exact to rounding on smooth functions of moderate detail."""
        ...

    def grid(self, order: int) -> Floats:
        """Points that reach the boundary, for looking for extremes."""
        ...

    def faces(self) -> tuple[Face, ...]: ...


@dataclass(frozen=True, eq=False)
class Box:
    """The product of intervals [lower_i, upper_i]; on a periodic side the two ends are the same point."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    periodic: tuple[bool, ...]

    @classmethod
    def of(cls, *sides: Sequence[float], periodic: Sequence[bool] | bool = False) -> Box:
        """Box from (lower, upper) pairs: `Box.of((0, 2 * np.pi), (0, 1), periodic=[True, False])`."""
        wraps = [periodic] * len(sides) if isinstance(periodic, bool) else list(periodic)
        pairs = [(float(a), float(b)) for a, b in sides]
        if len(wraps) != len(pairs) or not all(a < b for a, b in pairs):
            raise InvalidInput(
                "sides must be pairs (lower, upper) with lower < upper and one periodic flag each; "
                f"got sides {pairs} and periodic {wraps}; pass e.g. Box.of((0, 1), (0, 2))"
            )
        return cls(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), tuple(wraps))

    @property
    def dim(self) -> int:
        return len(self.lower)

    @property
    def periods(self) -> Floats:
        return np.where(self.periodic, np.subtract(self.upper, self.lower), 0.0)

    def contains(self, u: Floats) -> NDArray[np.bool_]:
        inside = (u >= np.array(self.lower)) & (u <= np.array(self.upper)) | np.array(self.periodic)
        return np.asarray(inside.all(axis=-1))

    def quadrature(self, order: int = DEFAULT_ORDER) -> tuple[Floats, Floats]:
        """Gauss-Legendre on sides with ends; equal steps on sides that wrap, where they converge fast."""
        axes = [_rule(a, b, p, order) for a, b, p in zip(self.lower, self.upper, self.periodic, strict=True)]
        weights = np.ones(1)
        for _, w in axes:
            weights = np.multiply.outer(weights, w).ravel()
        return _product([x for x, _ in axes]), weights

    def grid(self, order: int) -> Floats:
        return _product([np.linspace(a, b, order) for a, b in zip(self.lower, self.upper, strict=True)])

    def faces(self) -> tuple[Face, ...]:
        """Sides that do not wrap: at the upper end of axis i the sign is (-1)^i, at the lower end the opposite."""
        found: list[Face] = []
        for i in itertools.compress(range(self.dim), [not p for p in self.periodic]):
            rest = Box(_without(self.lower, i), _without(self.upper, i), _without(self.periodic, i))
            for value, outward in ((self.lower[i], -1), (self.upper[i], 1)):
                found.append(Face(rest, _insert(i, value), outward * (-1) ** i))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Disc:
    """The disc |u| < radius of the plane."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        require_positive("radius", self.radius)

    @property
    def dim(self) -> int:
        return 2

    @property
    def periods(self) -> Floats:
        return np.zeros(2)

    def contains(self, u: Floats) -> NDArray[np.bool_]:
        return np.asarray(np.sum(u**2, axis=-1) <= self.radius**2)

    def quadrature(self, order: int = DEFAULT_ORDER) -> tuple[Floats, Floats]:
        """Polar: Gauss-Legendre along the radius, equal steps round the circle, weight r."""
        polar, weights = Box.of((0.0, self.radius), (0.0, 2 * np.pi), periodic=[False, True]).quadrature(order)
        return self._from_polar(polar), weights * polar[:, 0]

    def grid(self, order: int) -> Floats:
        return self._from_polar(Box.of((0.0, self.radius), (0.0, 2 * np.pi)).grid(order))

    def faces(self) -> tuple[Face, ...]:
        def circle(t: Floats) -> Floats:
            return self._from_polar(np.column_stack([np.full(len(t), self.radius), t[:, 0]]))

        return (Face(Box.of((0.0, 2 * np.pi), periodic=True), circle, 1),)

    @staticmethod
    def _from_polar(polar: Floats) -> Floats:
        return np.column_stack([polar[:, 0] * np.cos(polar[:, 1]), polar[:, 0] * np.sin(polar[:, 1])])


@dataclass(frozen=True, eq=False)
class Mirrored:
    """A domain seen in a mirror: every list of coordinates is multiplied by signs."""

    original: Domain
    mirror: Floats

    @property
    def dim(self) -> int:
        return self.original.dim

    @property
    def periods(self) -> Floats:
        return self.original.periods

    def contains(self, u: Floats) -> NDArray[np.bool_]:
        return self.original.contains(u * self.mirror)

    def quadrature(self, order: int = DEFAULT_ORDER) -> tuple[Floats, Floats]:
        nodes, weights = self.original.quadrature(order)
        return nodes * self.mirror, weights

    def grid(self, order: int) -> Floats:
        return self.original.grid(order) * self.mirror

    def faces(self) -> tuple[Face, ...]:
        """The mirror turns right hands into left hands, so every sign changes."""
        return tuple(Face(f.domain, self._seen(f.embed), -f.sign) for f in self.original.faces())

    def _seen(self, embed: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return lambda t: embed(t) * self.mirror


def _rule(lower: float, upper: float, periodic: bool, order: int) -> tuple[Floats, Floats]:
    if order < 1:
        raise InvalidInput(f"order must be at least 1; got {order}; it is the number of nodes per axis")
    if periodic:
        step = (upper - lower) / order
        return np.asarray(lower + step * np.arange(order), dtype=np.float64), np.full(order, float(step))
    x, w = np.polynomial.legendre.leggauss(order)
    half = 0.5 * (upper - lower)
    return np.asarray(lower + half * (x + 1.0), dtype=np.float64), np.asarray(half * w, dtype=np.float64)


def _product(axes: Sequence[Floats]) -> Floats:
    """All combinations, the last axis fastest; a product of no axes is the one point of R^0."""
    if not axes:
        return np.zeros((1, 0))
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)


def _without(items: tuple[T, ...], i: int) -> tuple[T, ...]:
    return items[:i] + items[i + 1 :]


def _insert(i: int, value: float) -> Callable[[Floats], Floats]:
    return lambda u: np.insert(u, i, value, axis=1)
