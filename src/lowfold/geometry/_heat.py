"""Heat kernels rho_t(x, y) = sum_j exp(-lambda_j t) phi_j(x) phi_j(y), by series and by sums over images.

The series converges fast for large t, the images for small t; the two are one function (Poisson summation). Wang
(2012), Section 2.1.3, eqs. (2.9)-(2.11), doi:10.1007/978-3-642-27497-8. Arguments broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.types import Floats
from lowfold.geometry._closed import require_positive
from lowfold.geometry._spectra import Boundary

Method = Literal["auto", "series", "images"]

TAIL = 745.0
"""exp(-745) is the smallest positive double: terms beyond it are zero."""

DIGITS = 42.0
"""exp(-42) is below rounding: terms beyond it do not change a sum of order one."""

SPHERE_NODES = 160


def gaussian_heat_kernel(x: ArrayLike, y: ArrayLike, t: float) -> Floats:
    """The kernel of R^m, (4 pi t)^(-m/2) exp(-|x - y|^2 / (4 t)), a Gaussian of variance 2 t."""
    time = require_positive("t", t)
    gap = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
    return np.asarray((4 * np.pi * time) ** (-0.5 * gap.shape[-1]) * np.exp(-np.sum(gap**2, axis=-1) / (4 * time)))


def circle_heat_kernel(
    x: ArrayLike, y: ArrayLike, t: float, length: float = 2 * np.pi, method: Method = "auto"
) -> Floats:
    """The kernel of a circle of this length, x and y arc lengths.

    Series: (1 + 2 sum_j exp(-(2 pi j / L)^2 t) cos(2 pi j (x - y) / L)) / L. Images: sum_n G_t(x - y + n L).

    >>> print(np.round(circle_heat_kernel(0.0, 1.0, 0.3) - circle_heat_kernel(0.0, 1.0, 0.3, method="images"), 12))
    0.0
    """
    time, side = require_positive("t", t), require_positive("length", length)
    gap = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
    if _use_series(method, time, side):
        j = np.arange(1, 2 + int(side * np.sqrt(DIGITS / time) / (2 * np.pi)))
        wave = np.cos(2 * np.pi / side * np.multiply.outer(gap, j))
        return np.asarray((1.0 + 2.0 * wave @ np.exp(-((2 * np.pi * j / side) ** 2) * time)) / side)
    reach = 1 + int(np.sqrt(4 * time * TAIL) / side)
    near = np.remainder(gap + 0.5 * side, side) - 0.5 * side
    images = np.add.outer(near, side * np.arange(-reach, reach + 1))
    return np.asarray(np.sum(np.exp(-(images**2) / (4 * time)), axis=-1) / np.sqrt(4 * np.pi * time))


def interval_heat_kernel(
    x: ArrayLike, y: ArrayLike, t: float, length: float = np.pi, boundary: Boundary = "neumann", method: Method = "auto"
) -> Floats:
    """The kernel of [0, L]: reflect at the ends, C(x - y) + C(x + y) (Neumann) or the difference (Dirichlet).

    C is the kernel of the circle of length 2 L. Neumann keeps the mass, Dirichlet loses it.
    """
    if boundary not in ("neumann", "dirichlet"):
        raise InvalidInput(f"boundary must be 'neumann' or 'dirichlet'; got {boundary!r}")
    side = 2 * require_positive("length", length)
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    direct, mirrored = (circle_heat_kernel(a, end, t, side, method) for end in (b, -b))
    return np.asarray(direct + mirrored if boundary == "neumann" else direct - mirrored)


def rectangle_heat_kernel(
    x: ArrayLike,
    y: ArrayLike,
    t: float,
    lengths: Sequence[float],
    boundary: Boundary = "neumann",
    method: Method = "auto",
) -> Floats:
    """The kernel of a box, coordinates in the last axis: the product over the sides."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sides = [interval_heat_kernel(a[..., i], b[..., i], t, L, boundary, method) for i, L in enumerate(lengths)]
    return np.asarray(np.prod(np.stack(sides), axis=0))


def flat_torus_heat_kernel(
    x: ArrayLike, y: ArrayLike, t: float, lengths: Sequence[float] = (2 * np.pi, 2 * np.pi), method: Method = "auto"
) -> Floats:
    """The kernel of a flat torus, arc-length coordinates in the last axis: the product over the circles."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sides = [circle_heat_kernel(a[..., i], b[..., i], t, L, method) for i, L in enumerate(lengths)]
    return np.asarray(np.prod(np.stack(sides), axis=0))


def sphere_heat_kernel(distance: ArrayLike, t: float, radius: float = 1.0, method: Method = "auto") -> Floats:
    """The kernel of the sphere S^2 as a function of the geodesic distance.

    Series, on the unit sphere: sum_l (2 l + 1) / (4 pi) exp(-l (l + 1) t) P_l(cos d). Images, of the geodesics that go
    round the sphere n times: sqrt(2) e^(t/4) (4 pi t)^(-3/2) int_d^pi F(s) / sqrt(cos d - cos s) ds with
    F(s) = sum_n (-1)^n (s + 2 pi n) exp(-(s + 2 pi n)^2 / (4 t)).
    """
    r = require_positive("radius", radius)
    time, angle = require_positive("t", t) / r**2, np.asarray(distance, dtype=np.float64) / r
    if np.any((angle < 0) | (angle > np.pi * (1 + ROUNDING))):
        raise InvalidInput(
            "distance must lie between 0 and pi * radius; got a value outside; pass great-circle distances"
        )
    angle = np.minimum(angle, np.pi)
    kernel = _sphere_series(angle, time) if _use_series(method, time, np.pi) else _sphere_images(angle, time)
    return np.asarray(kernel / r**2)


def _sphere_series(angle: Floats, t: float) -> Floats:
    from numpy.polynomial.legendre import legval

    degree = np.arange(3 + int(np.sqrt((DIGITS + 8.0) / t)))
    return np.asarray(legval(np.cos(angle), (2 * degree + 1) / (4 * np.pi) * np.exp(-degree * (degree + 1.0) * t)))


def _sphere_images(angle: Floats, t: float) -> Floats:
    """Images with cos(s/2) = cos(d/2) cos(a): ds / sqrt(cos d - cos s) = sqrt(2) da / sin(s/2) is not singular."""
    x, w = np.polynomial.legendre.leggauss(SPHERE_NODES)
    half = np.cos(0.5 * angle)[..., None]
    # Beyond s^2 = d^2 + 4 t DIGITS the integrand is nothing: nodes are spent only before it.
    far = np.minimum(np.sqrt(angle**2 + 4 * t * DIGITS), np.pi)[..., None]
    ratio = np.where(far < np.pi, np.cos(0.5 * far) / np.maximum(half, NO_DIVISOR), 0.0)
    limit = np.arccos(np.clip(ratio, 0.0, 1.0))
    a = 0.5 * limit * (x + 1.0)
    s = 2.0 * np.arctan2(np.sqrt(np.sin(0.5 * angle)[..., None] ** 2 + (half * np.sin(a)) ** 2), half * np.cos(a))
    reach = 1 + int(np.sqrt(4 * t * DIGITS) / (2 * np.pi))
    n = np.arange(-reach, reach + 1)
    images = s[..., None] + 2 * np.pi * n
    F = np.sum((-1.0) ** n * images * np.exp(-(images**2) / (4 * t)), axis=-1)
    integral = np.sum(0.5 * limit * w * F / np.sin(0.5 * s), axis=-1)
    return np.asarray(2.0 * np.exp(0.25 * t) * (4 * np.pi * t) ** -1.5 * integral)


def _use_series(method: str, t: float, length: float) -> bool:
    """Whether the series needs fewer terms: sqrt(t) above the length over 2 sqrt(pi), where both need the same."""
    if method not in ("auto", "series", "images"):
        raise InvalidInput(f"method must be 'auto', 'series' or 'images'; got {method!r}")
    return method == "series" or (method == "auto" and 4 * np.pi * t > length**2)
