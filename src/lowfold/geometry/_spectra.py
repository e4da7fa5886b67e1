"""Eigenvalues and eigenfunctions of -Delta in closed form, with multiplicities, in ascending order.

-u'' = lambda u with Dirichlet (u = 0), Neumann (d_nu u = 0) or Robin (d_nu u + a u = 0) conditions; Wang (2012),
Section 2.1.3, doi:10.1007/978-3-642-27497-8. Neumann and closed manifolds begin with 0, the constant; Dirichlet above.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.geometry._closed import require_positive

Boundary = Literal["neumann", "dirichlet"]

ROOT = 1e-14  # of a wave number: the last digits of float64, which bisection reaches


def interval_eigenvalues(
    n: int, length: float = np.pi, boundary: Literal["neumann", "dirichlet", "robin"] = "neumann", a: float = 1.0
) -> Floats:
    """First n eigenvalues on [0, L]: Neumann (j pi / L)^2, j = 0, 1, ...; Dirichlet the same from j = 1.

    Robin, u' = a u at 0 and u' = -a u at L with a > 0: s^2 with (s^2 - a^2) sin(s L) = 2 a s cos(s L).

    >>> print(interval_eigenvalues(3), interval_eigenvalues(3, boundary="dirichlet"))
    [0. 1. 4.] [1. 4. 9.]
    """
    _check_count(n)
    side = require_positive("length", length)
    if boundary == "robin":
        return _robin_eigenvalues(n, side, require_positive("a", a))
    return np.asarray((np.pi * (np.arange(n) + _first(boundary)) / side) ** 2)


def interval_eigenfunctions(x: ArrayLike, n: int, length: float = np.pi, boundary: Boundary = "neumann") -> Floats:
    """First n eigenfunctions at x, (len(x), n): sqrt(2/L) cos(j pi x / L), or sin; orthonormal."""
    _check_count(n)
    side = require_positive("length", length)
    j = np.arange(n) + _first(boundary)
    phase = np.multiply.outer(np.asarray(x, dtype=np.float64), np.pi * j / side)
    wave = np.cos(phase) if boundary == "neumann" else np.sin(phase)
    return np.asarray(wave * np.sqrt(np.where(j == 0, 1.0, 2.0) / side))


def rectangle_modes(
    n: int, lengths: Sequence[float], boundary: Boundary = "neumann"
) -> tuple[Floats, NDArray[np.int_]]:
    """First n eigenvalues sum_i (j_i pi / L_i)^2 of a box, and the mode numbers j of each, shape (n, d)."""
    values, index = _smallest_sums([interval_eigenvalues(n, side, boundary) for side in lengths], n)
    return values, index + _first(boundary)


def rectangle_eigenvalues(n: int, lengths: Sequence[float] = (np.pi, np.pi), boundary: Boundary = "neumann") -> Floats:
    """First n eigenvalues of a rectangle, or of a box in any dimension."""
    return rectangle_modes(n, lengths, boundary)[0]


def rectangle_eigenfunctions(
    x: ArrayLike, n: int, lengths: Sequence[float] = (np.pi, np.pi), boundary: Boundary = "neumann"
) -> Floats:
    """First n eigenfunctions at the rows of x, (len(x), n): products of those of the sides, orthonormal."""
    points = np.asarray(x, dtype=np.float64)
    modes = rectangle_modes(n, lengths, boundary)[1]
    first = _first(boundary)
    out = np.ones((len(points), n))
    for i, side in enumerate(lengths):
        waves = interval_eigenfunctions(points[:, i], int(modes[:, i].max()) - first + 1, side, boundary)
        out *= waves[:, modes[:, i] - first]
    return out


def circle_eigenvalues(n: int, radius: float = 1.0) -> Floats:
    """First n eigenvalues of a circle: 0, then (j / r)^2 twice each."""
    _check_count(n)
    return np.asarray((((np.arange(n) + 1) // 2) / require_positive("radius", radius)) ** 2, dtype=np.float64)


def circle_eigenfunctions(angle: ArrayLike, n: int, radius: float = 1.0) -> Floats:
    """First n eigenfunctions at angles, (len, n): 1, cos t, sin t, cos 2t, ... made orthonormal for arc length."""
    _check_count(n)
    r, index = require_positive("radius", radius), np.arange(n)
    phase = np.multiply.outer(np.asarray(angle, dtype=np.float64), (index + 1) // 2)
    wave = np.where(index % 2 == 1, np.cos(phase), np.sin(phase))
    wave[..., 0] = np.sqrt(0.5)
    return np.asarray(wave / np.sqrt(np.pi * r))


def flat_torus_eigenvalues(n: int, lengths: Sequence[float] = (2 * np.pi, 2 * np.pi)) -> Floats:
    """First n eigenvalues of R^d / (L_1 Z x ... x L_d Z): sum_i (2 pi j_i / L_i)^2 over integer j.

    >>> print(flat_torus_eigenvalues(6))
    [0. 1. 1. 1. 1. 2.]
    """
    return _smallest_sums([circle_eigenvalues(n, require_positive("lengths", L) / (2 * np.pi)) for L in lengths], n)[0]


def sphere_eigenvalues(n: int, radius: float = 1.0, dim: int = 2) -> Floats:
    """First n eigenvalues of the sphere S^dim: l (l + dim - 1) / r^2, of multiplicity 2 l + 1 on S^2.

    >>> print(sphere_eigenvalues(6))
    [0. 2. 2. 2. 6. 6.]
    """
    _check_count(n)
    if dim < 1:
        raise InvalidInput(f"dim must be at least 1; got {dim!r}")
    r = require_positive("radius", radius)
    values: list[float] = []
    for degree in itertools.count():
        # Homogeneous polynomials of this degree in dim + 1 variables, less those that are |x|^2 times another one.
        multiplicity = comb(dim + degree, dim) - (comb(dim + degree - 2, dim) if degree >= 2 else 0)
        values += [degree * (degree + dim - 1) / r**2] * multiplicity
        if len(values) >= n:
            return np.array(values[:n])
    raise AssertionError("unreachable")


def sphere_harmonics(points: ArrayLike, degree: int) -> Floats:
    """Real spherical harmonics of one degree at points of R^3, (n, 2 degree + 1), orthonormal on the unit sphere."""
    from scipy.special import gammaln, lpmv

    x = np.asarray(points, dtype=np.float64)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    phi, out = np.arctan2(unit[:, 1], unit[:, 0]), np.empty((len(x), 2 * degree + 1))
    for m in range(degree + 1):
        log_scale = gammaln(degree - m + 1) - gammaln(degree + m + 1)
        scale = np.sqrt((2 * degree + 1) / (4 * np.pi) * np.exp(log_scale) * (1.0 if m == 0 else 2.0))
        wave = scale * lpmv(m, degree, unit[:, 2])
        out[:, degree + m] = wave * np.cos(m * phi)
        if m:
            out[:, degree - m] = wave * np.sin(m * phi)
    return out


def _check_count(n: int) -> None:
    if n < 1:
        raise InvalidInput(f"n must be at least 1; got {n!r}; it is the number of eigenvalues")


def _first(boundary: str) -> int:
    if boundary not in ("neumann", "dirichlet"):
        raise InvalidInput(f"boundary must be 'neumann' or 'dirichlet'; got {boundary!r}")
    return 0 if boundary == "neumann" else 1


def _smallest_sums(sides: Sequence[Floats], n: int) -> tuple[Floats, NDArray[np.int_]]:
    """The n smallest sums of one value of each (ascending) side, and the index taken from each side.

    Sides are joined one at a time and only n sums kept: a partial sum that is not among the n smallest has n better
    ones that can be finished in the same way.
    """
    if not sides:
        raise InvalidInput("lengths must name at least one side; got none")
    values, index = np.zeros(1), np.zeros((1, 0), dtype=np.int_)
    for side in sides:
        total = np.add.outer(values, side)
        order = np.argsort(total, axis=None, kind="stable")[:n]
        row, column = np.unravel_index(order, total.shape)
        values, index = total.ravel()[order], np.column_stack([index[row], column])
    return values, index


def _robin_eigenvalues(n: int, length: float, a: float) -> Floats:
    """One root s in each interval (j pi / L, (j + 1) pi / L): the phase s L - 2 atan(a / s) passes j pi there."""
    from scipy.optimize import brentq

    # With u = cos(s x - p), tan p = a / s at both ends, so that s L - 2 atan(a / s) = j pi, increasing in s.
    roots = [
        brentq(lambda s, j=j: s * length - 2 * np.arctan2(a, s) - j * np.pi, 0.0, (j + 1) * np.pi / length, xtol=ROOT)
        for j in range(n)
    ]
    return np.asarray(roots, dtype=np.float64) ** 2
