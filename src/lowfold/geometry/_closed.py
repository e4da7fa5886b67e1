"""Geodesic distances that have a closed form, and the bounds between a chord and a geodesic.

Points are in the last axis and the other axes broadcast: rows against rows, or `p[:, None]` against `q[None]` for a
whole matrix of distances. Definitions: Wang (2012), Sections 1.5.4, 2.2.4 and 8.5, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput

SWISS_ROLL_ANGLES = (1.5 * np.pi, 4.5 * np.pi)
"""Angles of the Swiss roll theta = (3 pi / 2)(1 + 2 t) for t in [0, 1]; |t| <= 1 would let the sheet cut itself."""

S_CURVE_LENGTH = 3.0 * np.pi
"""Arc length of the S: two arcs of the unit circle, each of 3 pi / 2."""

LAST_STEP = 4e-16  # of the angle: about two units of the last place, below which Newton's steps only swing
NEWTON_STEPS = 60  # an end; from the start above the root a few are needed


def require_positive(name: str, value: float) -> float:
    """`value` as a float, or an error that names the argument."""
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise InvalidInput(f"{name} must be a positive finite number; got {value!r}; pass {name} > 0")
    return number


def as_pair(p: ArrayLike, q: ArrayLike, dim: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two arrays of points whose last axis is one point (of length `dim`) and whose other axes broadcast."""
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1] or dim not in (None, a.shape[-1]):
        wanted = "the same length" if dim is None else f"length {dim}"
        raise InvalidInput(f"p and q must hold points of {wanted} in the last axis; got shapes {a.shape} and {b.shape}")
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError as error:
        raise InvalidInput(
            f"p and q must have one point each, or shapes that broadcast; got {a.shape} and {b.shape}; "
            "for all pairs pass p[:, None] and q[None]"
        ) from error
    return a, b


def swiss_roll_arclength(theta: ArrayLike) -> NDArray[np.float64]:
    """Arc length of the spiral (theta cos theta, theta sin theta), counted from angle 0.

    S(theta) = (theta sqrt(1 + theta^2) + asinh theta) / 2.

    >>> low, high = swiss_roll_arclength(SWISS_ROLL_ANGLES)
    >>> print(round(float(high - low), 4))
    89.3733
    """
    angle = np.asarray(theta, dtype=np.float64)
    return np.asarray(0.5 * (angle * np.hypot(1.0, angle) + np.arcsinh(angle)), dtype=np.float64)


def swiss_roll_angle(arclength: ArrayLike) -> NDArray[np.float64]:
    """The angle at which the spiral has this arc length: the inverse of `swiss_roll_arclength`.

    Newton's method on S(theta) = s, where S' = sqrt(1 + theta^2). S is odd, and convex for theta > 0, so that from a
    start above the root the iteration falls to it without overshooting.
    """
    s = np.asarray(arclength, dtype=np.float64)
    size = np.abs(s)
    theta = np.minimum(size, np.sqrt(2.0 * size))  # S(theta) >= theta and >= theta^2 / 2
    for _ in range(NEWTON_STEPS):
        step = (swiss_roll_arclength(theta) - size) / np.hypot(1.0, theta)
        theta = np.maximum(theta - step, 0.0)
        if not np.any(np.abs(step) > LAST_STEP * theta):
            break
    return np.asarray(np.copysign(theta, s), dtype=np.float64)


def great_circle_distance(p: ArrayLike, q: ArrayLike, radius: float = 1.0) -> NDArray[np.float64]:
    """Geodesic distance on a sphere about the origin: radius times the angle between p and q.

    The angle is 2 atan2(|p - q|, |p + q|) of the unit vectors, exact to rounding also for near and antipodal points,
    where arccos loses half of the digits. Works in every dimension; in the plane it is the distance on a circle.

    >>> print(great_circle_distance([0.0, 0.0, 2.0], [0.0, 2.0, 0.0], radius=2.0) / np.pi)
    1.0
    """
    radius = require_positive("radius", radius)
    a, b = (_unit(point) for point in as_pair(p, q))
    chord, sum_ = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(2.0 * radius * np.arctan2(chord, sum_), dtype=np.float64)


def circle_distance(alpha: ArrayLike, beta: ArrayLike, radius: float = 1.0) -> NDArray[np.float64]:
    """Length of the shorter arc between two angles of a circle."""
    turn = np.asarray(alpha, dtype=np.float64) - np.asarray(beta, dtype=np.float64)
    return np.asarray(require_positive("radius", radius) * np.abs(np.remainder(turn + np.pi, 2 * np.pi) - np.pi))


def cylinder_distance(p: ArrayLike, q: ArrayLike, radius: float = 1.0) -> NDArray[np.float64]:
    """Geodesic distance on x^2 + y^2 = radius^2: the cylinder unrolls, and the shorter way round is taken."""
    a, b = as_pair(p, q, 3)
    arc = circle_distance(np.arctan2(a[..., 1], a[..., 0]), np.arctan2(b[..., 1], b[..., 0]), radius)
    return np.asarray(np.hypot(arc, a[..., 2] - b[..., 2]))


def swiss_roll_coordinates(points: ArrayLike) -> NDArray[np.float64]:
    """Unrolled coordinates (arc length S(theta), height) of points (theta cos theta, height, theta sin theta)."""
    x = np.asarray(points, dtype=np.float64)
    return np.stack([swiss_roll_arclength(np.hypot(x[..., 0], x[..., 2])), x[..., 1]], axis=-1)


def swiss_roll_distance(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Geodesic distance on the Swiss roll: the straight line of the unrolled sheet."""
    a, b = as_pair(p, q, 3)
    return np.asarray(np.linalg.norm(swiss_roll_coordinates(a) - swiss_roll_coordinates(b), axis=-1))


def s_curve_coordinates(points: ArrayLike) -> NDArray[np.float64]:
    """Unrolled coordinates (arc length a in [0, 3 pi], height) of points of the S-curve.

    The S is (-cos a, -sin a) up to a = 3 pi / 2, and (-cos a, 2 + sin a) after it.
    """
    x = np.asarray(points, dtype=np.float64)
    lower = np.arctan2(-x[..., 2], -x[..., 0])
    upper = np.arctan2(x[..., 2] - 2.0, -x[..., 0])
    # The cut of the angle is laid outside of each arc, so that rounding at an end cannot jump by a whole turn.
    lower = np.remainder(lower + 0.25 * np.pi, 2 * np.pi) - 0.25 * np.pi
    upper = np.remainder(upper - 1.25 * np.pi, 2 * np.pi) + 1.25 * np.pi
    return np.stack([np.where(x[..., 2] <= 1.0, lower, upper), x[..., 1]], axis=-1)


def s_curve_distance(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Geodesic distance on the S-curve: the straight line of the unrolled sheet."""
    a, b = as_pair(p, q, 3)
    return np.asarray(np.linalg.norm(s_curve_coordinates(a) - s_curve_coordinates(b), axis=-1))


def chord_bounds(geodesic: ArrayLike, min_radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the chord |x - y| when the geodesic distance d < pi r_0: 2 r_0 sin(d / (2 r_0)) <= |x - y| <= d.

    `min_radius` is r_0, the smallest radius of curvature of any geodesic. Equality on the left holds on a circle.
    Bernstein et al. (2000); Wang (2012), Lemma 8.2 and eq. (8.21).
    """
    r = require_positive("min_radius", min_radius)
    d = np.asarray(geodesic, dtype=np.float64)
    if np.any(d > np.pi * r):
        raise InvalidInput(
            f"geodesic must stay below pi * min_radius = {np.pi * r:.6g}; got {float(np.max(d)):.6g}; "
            "the bound says nothing about points farther apart, leave them out"
        )
    return np.asarray(2.0 * r * np.sin(d / (2.0 * r))), d


def geodesic_from_chord(chord: ArrayLike, curvature: ArrayLike) -> NDArray[np.float64]:
    """Geodesic length from a short chord h: h + |II(theta, theta)|^2 h^3 / 24, with an error of order h^4.

    `curvature` is |II(theta, theta)|, the curvature of the geodesic that leaves in the direction of the chord.
    """
    h, kappa = np.asarray(chord, dtype=np.float64), np.asarray(curvature, dtype=np.float64)
    return np.asarray(h + kappa**2 * h**3 / 24.0)


def _unit(points: NDArray[np.float64]) -> NDArray[np.float64]:
    norm = np.linalg.norm(points, axis=-1, keepdims=True)
    if np.any(norm == 0):
        raise InvalidInput("p and q must not be the origin: it has no direction; got a zero vector; leave that row out")
    return np.asarray(points / norm)
