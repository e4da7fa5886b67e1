"""Named manifolds with known geometry.

Definitions follow Wang (2012), Sections 1.5.4 and 2.2 and Appendix A, doi:10.1007/978-3-642-27497-8, with the parameter
ranges that keep the surfaces free of self-intersections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.geometry import _closed as closed
from lowfold.geometry._chart import Chart, Manifold
from lowfold.geometry._closed import require_positive
from lowfold.geometry._derivatives import DEFAULT_STEP, Field, Jet
from lowfold.geometry._domain import Box, Disc
from lowfold.geometry._integrals import bump
from lowfold.geometry._linear import ORTHONORMAL

TWO_PI = 2 * np.pi


def interval(length: float = np.pi) -> Manifold:
    """The segment [0, length] of the line."""
    box = Box.of((0.0, require_positive("length", length)))
    return Manifold("interval", (Chart(_identity, box, _identity),), distance=_euclidean)


def plane(width: float = 1.0, height: float = 1.0, frame: Sequence[Sequence[float]] | None = None) -> Manifold:
    """A rectangle, placed in R^m by two orthonormal columns `frame` (m, 2); by default the xy-plane of R^3."""
    columns = np.eye(3)[:, :2] if frame is None else np.asarray(frame, dtype=np.float64)
    if columns.ndim != 2 or columns.shape[1] != 2 or not np.allclose(columns.T @ columns, np.eye(2), atol=ORTHONORMAL):
        raise InvalidInput(
            f"frame must have two orthonormal columns, shape (m, 2); got shape {columns.shape}, not orthonormal; "
            "numpy.linalg.qr makes columns orthonormal"
        )
    box = Box.of((0.0, require_positive("width", width)), (0.0, require_positive("height", height)))
    return Manifold("plane", (Chart(lambda u: u @ columns.T, box, lambda x: x @ columns),), distance=_euclidean)


def circle(radius: float = 1.0) -> Manifold:
    """The circle, with its angle as the coordinate."""
    r = require_positive("radius", radius)
    chart = Chart(_ring(r), Box.of((0.0, TWO_PI), periodic=True), _angles)
    return Manifold("circle", (chart,), distance=lambda p, q: closed.great_circle_distance(p, q, r))


def circle_arc(gap: float = 0.1, radius: float = 1.0) -> Manifold:
    """The arc of angles gap <= t <= 2 pi - gap, whose ends nearly touch.

    Between its ends the chord is 2 r sin(gap) and the geodesic 2 r (pi - gap).
    """
    r = require_positive("radius", radius)
    if not 0 < gap < np.pi:
        raise InvalidInput(f"gap must lie between 0 and pi; got {gap!r}; it is the angle left out on each side of 0")

    def distance(p: Floats, q: Floats) -> Floats:
        return np.asarray(r * np.abs(_angles(p) - _angles(q))[..., 0])

    return Manifold("circle arc", (Chart(_ring(r), Box.of((gap, TWO_PI - gap)), _angles),), distance=distance)


def sphere(radius: float = 1.0) -> Manifold:
    """The sphere with two stereographic charts on |u|^2 < 3, which cover z > -radius/2 and z < radius/2."""
    r = require_positive("radius", radius)
    whole = ellipsoid((r, r, r))
    return Manifold("sphere", whole.charts, whole.partition, lambda p, q: closed.great_circle_distance(p, q, r))


def ellipsoid(axes: Sequence[float] = (1.0, 1.5, 2.0)) -> Manifold:
    """x^2/a^2 + y^2/b^2 + z^2/c^2 = 1: the stereographic charts of the sphere, stretched."""
    a = np.array([require_positive("axes", axis) for axis in axes])
    if len(a) != 3:
        raise InvalidInput(f"axes must be three half axes; got {len(a)}")

    def partition(x: Floats) -> Floats:
        north = bump(x[:, 2] / a[2] + 0.5)
        return np.column_stack([north, 1.0 - north])

    charts = tuple(_stereographic(a, pole, np.sqrt(3.0)) for pole in (-1, 1))
    return Manifold("ellipsoid", charts, partition)


def punched_sphere(height: float = 0.75, diameter: float = 1.0) -> Manifold:
    """A sphere without its top: what is left is `height` tall. One stereographic chart from the missing pole.

    No closed form is given for distances: a great circle may run through the hole.
    """
    d = require_positive("diameter", diameter)
    if not 0 < height < d:
        raise InvalidInput(f"height must lie between 0 and diameter {d}; got {height!r}; sphere() has no hole")
    top = 2.0 * height / d - 1.0
    chart = _stereographic(np.full(3, d / 2), 1, float(np.sqrt((1.0 + top) / (1.0 - top))))
    return Manifold("punched sphere", (chart,))


def torus(major: float = 2.0, minor: float = 1.0) -> Manifold:
    """The torus of revolution ((R + r cos v) cos u, (R + r cos v) sin u, r sin v), R > r."""
    R, r = require_positive("major", major), require_positive("minor", minor)
    if r >= R:
        raise InvalidInput(f"major must exceed minor, or the torus cuts itself; got {R} and {r}")

    def points(u: Floats) -> Floats:
        ring = R + r * np.cos(u[:, 1])
        return np.column_stack([ring * np.cos(u[:, 0]), ring * np.sin(u[:, 0]), r * np.sin(u[:, 1])])

    def coordinates(x: Floats) -> Floats:
        ring = np.hypot(x[:, 0], x[:, 1]) - R
        return np.column_stack([_turn(x[:, 1], x[:, 0]), _turn(x[:, 2], ring)])

    return Manifold("torus", (Chart(points, Box.of((0.0, TWO_PI), (0.0, TWO_PI), periodic=True), coordinates),))


def flat_torus(lengths: Sequence[float] = (TWO_PI, TWO_PI)) -> Manifold:
    """The product of circles of these lengths, isometric in R^(2d); coordinates are arc lengths, so G = I."""
    sides = np.array([require_positive("lengths", length) for length in lengths])
    radii = sides / TWO_PI

    def points(u: Floats) -> Floats:
        angle = u / radii
        return np.stack([radii * np.cos(angle), radii * np.sin(angle)], axis=2).reshape(len(u), -1)

    def distance(p: Floats, q: Floats) -> Floats:
        gap = np.abs(coordinates(p) - coordinates(q))
        return np.asarray(np.linalg.norm(np.minimum(gap, sides - gap), axis=-1))

    def coordinates(x: Floats) -> Floats:
        return np.asarray(_turn(x[..., 1::2], x[..., 0::2]) * radii)

    box = Box.of(*[(0.0, side) for side in sides], periodic=True)
    chart = Chart(points, box, coordinates, step=DEFAULT_STEP * float(radii.min()))
    return Manifold("flat torus", (chart,), distance=distance)


def clifford_torus() -> Manifold:
    """The flat torus in the unit sphere of R^4: (cos u, sin u, cos v, sin v) / sqrt 2, in arc lengths."""
    flat = flat_torus((TWO_PI / np.sqrt(2.0),) * 2)
    return Manifold("Clifford torus", flat.charts, distance=flat.distance)


def cylinder(radius: float = 1.0, height: float = 1.0) -> Manifold:
    """(r cos t, r sin t, z) with 0 <= z <= height: flat, but closed round."""
    r, h = require_positive("radius", radius), require_positive("height", height)

    def points(u: Floats) -> Floats:
        return np.column_stack([r * np.cos(u[:, 0]), r * np.sin(u[:, 0]), u[:, 1]])

    def coordinates(x: Floats) -> Floats:
        return np.column_stack([_turn(x[:, 1], x[:, 0]), x[:, 2]])

    chart = Chart(points, Box.of((0.0, TWO_PI), (0.0, h), periodic=[True, False]), coordinates)
    return Manifold("cylinder", (chart,), distance=lambda p, q: closed.cylinder_distance(p, q, r))


def swiss_roll(height: float = 21.0, coordinates: Literal["angle", "arclength"] = "angle") -> Manifold:
    """(theta cos theta, s, theta sin theta), 3 pi/2 <= theta <= 9 pi/2, 0 <= s <= height.

    With the angle as first coordinate G = diag(1 + theta^2, 1); with the arc length the coordinates are isometric.
    """
    h = require_positive("height", height)

    def points(u: Floats) -> Floats:
        return np.column_stack([u[:, 0] * np.cos(u[:, 0]), u[:, 1], u[:, 0] * np.sin(u[:, 0])])

    def angles(x: Floats) -> Floats:
        return np.column_stack([np.hypot(x[:, 0], x[:, 2]), x[:, 1]])

    if coordinates == "angle":
        chart = Chart(points, Box.of(closed.SWISS_ROLL_ANGLES, (0.0, h)), angles)
    elif coordinates == "arclength":
        ends = closed.swiss_roll_arclength(closed.SWISS_ROLL_ANGLES)
        chart = Chart(
            lambda u: points(np.column_stack([closed.swiss_roll_angle(u[:, 0]), u[:, 1]])),
            Box.of((ends[0], ends[1]), (0.0, h)),
            closed.swiss_roll_coordinates,
        )
    else:
        raise InvalidInput(f"coordinates must be 'angle' or 'arclength'; got {coordinates!r}")
    return Manifold("Swiss roll", (chart,), distance=closed.swiss_roll_distance)


def s_curve(height: float = 5.0) -> Manifold:
    """The S of two unit arcs times an interval; coordinates (arc length in [0, 3 pi], height) are isometric.

    The curvature jumps where the arcs meet, at arc length 3 pi / 2: there II is that of the first arc.
    """
    box = Box.of((0.0, closed.S_CURVE_LENGTH), (0.0, require_positive("height", height)))
    chart = Chart(lambda u: _s_curve_jet(u).value, box, closed.s_curve_coordinates, _s_curve_jet)
    return Manifold("S-curve", (chart,), distance=closed.s_curve_distance)


def saddle(size: float = 1.0) -> Manifold:
    """The graph of z = x^2 - y^2 over |x|, |y| <= size."""
    s = require_positive("size", size)
    return graph_surface(lambda u: u[:, 0] ** 2 - u[:, 1] ** 2, Box.of((-s, s), (-s, s)), name="saddle")


def graph_surface(f: Field, domain: Box | Disc, name: str = "graph") -> Manifold:
    """The graph (u, f(u)) of a function over a box or a disc."""
    chart = Chart(lambda u: np.column_stack([u, f(u)]), domain, lambda x: np.asarray(x[:, :-1]))
    return Manifold(name, (chart,))


def moebius() -> Manifold:
    """The Moebius strip of width 2 about a circle of radius 2, with two charts: not orientable.

    ((2 + v sin(u/2)) cos u, (2 + v sin(u/2)) sin u, v cos(u/2)), |u| < pi, |v| < 1; the second chart has its cut on the
    opposite side. On the overlap u' = u + pi, v' = v for u < 0 (same orientation), and u' = u - pi, v' = -v for u > 0.
    """
    box = Box.of((-np.pi, np.pi), (-1.0, 1.0))

    def first(u: Floats) -> Floats:
        ring = 2.0 + u[:, 1] * np.sin(u[:, 0] / 2)
        return np.column_stack([ring * np.cos(u[:, 0]), ring * np.sin(u[:, 0]), u[:, 1] * np.cos(u[:, 0] / 2)])

    def second(u: Floats) -> Floats:
        ring = -2.0 + u[:, 1] * np.cos(u[:, 0] / 2)
        return np.column_stack([ring * np.cos(u[:, 0]), ring * np.sin(u[:, 0]), u[:, 1] * np.sin(u[:, 0] / 2)])

    def first_inverse(x: Floats) -> Floats:
        u = np.arctan2(x[:, 1], x[:, 0])
        return np.column_stack([u, (np.hypot(x[:, 0], x[:, 1]) - 2.0) * np.sin(u / 2) + x[:, 2] * np.cos(u / 2)])

    def second_inverse(x: Floats) -> Floats:
        u = np.arctan2(-x[:, 1], -x[:, 0])
        return np.column_stack([u, (2.0 - np.hypot(x[:, 0], x[:, 1])) * np.cos(u / 2) + x[:, 2] * np.sin(u / 2)])

    def partition(x: Floats) -> Floats:
        # The angle is the same function of the point on both charts; each weight vanishes at the cut of its chart.
        own = bump(0.5 + 0.55 * np.cos(np.arctan2(x[:, 1], x[:, 0])))
        return np.column_stack([own, 1.0 - own])

    charts = (Chart(first, box, first_inverse), Chart(second, box, second_inverse))
    return Manifold("Moebius strip", charts, partition)


def _stereographic(axes: Floats, pole: int, radius: float) -> Chart:
    """(2u, 2v, -pole (1 - |u|^2)) / (1 + |u|^2), stretched by `axes`; projected from the pole z = `pole`."""

    def points(u: Floats) -> Floats:
        square = np.sum(u**2, axis=1, keepdims=True)
        return np.asarray(axes * np.hstack([2 * u, -pole * (1 - square)]) / (1 + square))

    def coordinates(x: Floats) -> Floats:
        unit = x / axes
        return np.asarray(unit[:, :2] / (1 - pole * unit[:, 2:]))

    return Chart(points, Disc(radius), coordinates)


def _s_curve_jet(u: Floats) -> Jet:
    """The S-curve and its derivatives: (-cos a, s, -sin a) up to a = 3 pi / 2, then (-cos a, s, 2 + sin a)."""
    a, zero, one = u[:, 0], np.zeros(len(u)), np.ones(len(u))
    side = np.where(a <= 0.5 * closed.S_CURVE_LENGTH, -1.0, 1.0)
    sin, cos = np.sin(a), np.cos(a)
    value = np.column_stack([-cos, u[:, 1], 1.0 + side + side * sin])
    first = np.stack([np.column_stack([sin, zero, side * cos]), np.column_stack([zero, one, zero])], axis=2)
    second = np.zeros((len(u), 3, 2, 2))
    second[:, 0, 0, 0], second[:, 2, 0, 0] = cos, -side * sin
    return Jet(value, first, second)


def _ring(radius: float) -> Callable[[Floats], Floats]:
    return lambda u: radius * np.column_stack([np.cos(u[:, 0]), np.sin(u[:, 0])])


def _turn(y: Floats, x: Floats) -> Floats:
    """The angle of (x, y) in [0, 2 pi)."""
    return np.asarray(np.remainder(np.arctan2(y, x), TWO_PI))


def _angles(x: Floats) -> Floats:
    return _turn(x[..., 1:2], x[..., 0:1])


def _identity(u: Floats) -> Floats:
    return np.array(u)


def _euclidean(p: Floats, q: Floats) -> Floats:
    return np.asarray(np.linalg.norm(np.asarray(p) - np.asarray(q), axis=-1))
