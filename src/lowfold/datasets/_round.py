"""Spheres, punched spheres, ellipsoids, tori, cylinders and the Moebius strip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.random import RandomState, generator
from lowfold._core.types import Floats
from lowfold.datasets._sampling import (
    check_choice,
    check_count,
    check_lengths,
    check_noise,
    check_positive,
    noisy,
    rejection,
    uniform,
    wrap,
)
from lowfold.datasets._types import Dataset
from lowfold.geometry._closed import great_circle_distance

TURN = (0.0, 2 * np.pi)


def on_sphere(parameters: Floats) -> Floats:
    """(cos s sin t, sin s sin t, cos t) for rows (s, t) of longitude and angle from the north pole."""
    s, t = parameters.T
    return np.column_stack([np.cos(s) * np.sin(t), np.sin(s) * np.sin(t), np.cos(t)])


def great_circle(a: Floats, b: Floats, radius: float = 1.0) -> Floats:
    """Great-circle distance of rows (s, t)."""
    return great_circle_distance(on_sphere(a), on_sphere(b), radius)


def around_cap(a: Floats, b: Floats, rho: float, radius: float = 1.0) -> Floats:
    """Distance of rows (s, t) on the sphere without the open cap t < rho: a great circle, or round the rim of the cap.

    A great circle from p touches the rim after tau, cos tau = cos t / cos rho, at the longitude distance delta from p,
    cos delta = tan rho / tan t. Where the longitudes of p and q differ by more than delta_p + delta_q the great circle
    runs into the cap, and the shortest path is tau_p + sin(rho) (difference - delta_p - delta_q) + tau_q. A cap that
    leaves half of the sphere or less leaves a convex piece, where great circles always stay inside.
    """
    direct = great_circle(a, b, radius)
    if rho >= np.pi / 2:
        return direct
    cosines = [np.clip(np.cos(rows[:, 1]) / np.cos(rho), -1, 1) for rows in (a, b)]
    # tan rho / tan t, with clipping where no tangent exists (t > pi - rho): from there no great circle meets the cap.
    turns = [np.clip(np.tan(rho) * np.cos(rows[:, 1]) / np.sin(rows[:, 1]), -1, 1) for rows in (a, b)]
    rest = wrap(a[:, 0] - b[:, 0]) - np.arccos(turns[0]) - np.arccos(turns[1])
    bent = radius * (np.arccos(cosines[0]) + np.arccos(cosines[1]) + np.sin(rho) * rest)
    return np.asarray(np.where(rest > 0, bent, direct))


def sphere(n: int, *, noise: float = 0.0, random_state: RandomState = None, radius: float = 1.0) -> Dataset:
    """Sphere in R^3, uniform in area: radius (cos s sin t, sin s sin t, cos t); `parameters` are (s, t)."""
    n, noise, radius = check_count(n), check_noise(noise), check_positive(radius, "radius")
    rng = generator(random_state)
    parameters = _uniform_zone(rng, n, 1.0)
    return Dataset(
        name="sphere",
        X=noisy(radius * on_sphere(parameters), noise, rng),
        parameters=parameters,
        color=parameters[:, 1],
        intrinsic_dim=2,
        is_simple=False,
        distance=partial(great_circle, radius=radius),
    )


def punched_sphere(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    height: float = 0.75,
    diameter: float = 1.0,
    density: str = "area",
) -> Dataset:
    """Sphere of the given diameter with its top cut off at `height` above its lowest point.

    Wang (2012), Section 1.5.4, eq. (1.7): (diameter / 2) (cos s sin t, sin s sin t, cos t) with t from t0 to pi,
    cos t0 = 2 height / diameter - 1 (the printed range of t covers the whole sphere). The figures use the diameter 1
    and heights 0.5, 0.75, 0.9. One chart covers it, but no isometric one; `parameters` are (s, t).

    Parameters
    ----------
    n, noise, random_state : as in `swiss_roll`.
    height : what is left of the sphere, 0 < height < diameter.
    diameter : of the sphere.
    density : "area", uniform on the surface; "parameter", uniform in (s, t); "stereographic", uniform in the disk that
        stereographic projection from the north pole maps the surface to (crowded near the rim).
    """
    n, noise = check_count(n), check_noise(noise)
    diameter, height = check_positive(diameter, "diameter"), check_positive(height, "height")
    check_choice(density, "density", ("area", "parameter", "stereographic"))
    if height >= diameter:
        raise InvalidInput(
            f"height must be below the diameter {diameter:g}; got {height:g}; use sphere() for the whole sphere"
        )
    rng = generator(random_state)
    top = 2 * height / diameter - 1
    rho = float(np.arccos(top))
    if density == "area":
        parameters = _uniform_zone(rng, n, top)
    elif density == "parameter":
        parameters = uniform(rng, n, TURN, (rho, np.pi))
    else:
        s, share = uniform(rng, n, TURN, (0.0, 1.0)).T
        # The image in the disk is at the distance r = tan((pi - t) / 2) from its middle; uniform there is r^2 uniform.
        parameters = np.column_stack([s, np.pi - 2 * np.arctan(np.sqrt(share) / np.tan(rho / 2))])
    return Dataset(
        name="punched_sphere",
        X=noisy(diameter / 2 * on_sphere(parameters), noise, rng),
        parameters=parameters,
        color=parameters[:, 1],
        intrinsic_dim=2,
        distance=partial(around_cap, rho=rho, radius=diameter / 2),
    )


def ellipsoid(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    axes: Sequence[float] = (3.0, 2.0, 1.0),
) -> Dataset:
    """Ellipsoid with half-axes (a, b, c), uniform in area: (a cos s sin t, b sin s sin t, c cos t)."""
    n, noise = check_count(n), check_noise(noise)
    half = check_lengths(axes, "axes", 3)
    rng = generator(random_state)
    # The linear map diag(a, b, c) stretches the area at the unit vector u by a b c |(u1/a, u2/b, u3/c)|.
    parameters = rejection(
        rng,
        n,
        lambda source, m: _uniform_zone(source, m, 1.0),
        lambda rows: half.min() * np.linalg.norm(on_sphere(rows) / half, axis=1),
    )
    return Dataset(
        name="ellipsoid",
        X=noisy(half * on_sphere(parameters), noise, rng),
        parameters=parameters,
        color=parameters[:, 1],
        intrinsic_dim=2,
        is_simple=False,
    )


def cylinder(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, radius: float = 1.0, height: float = 4.0
) -> Dataset:
    """Open cylinder (radius cos s, radius sin s, h), 0 <= h <= height, uniform in area; `parameters` are (s, h).

    Flat but closed around: geodesics are sqrt((radius ds)^2 + dh^2) with ds the short way round, and no isometric chart
    covers it whole, so that it is not simple: unrolling methods have to cut it, or leave the plane.
    """
    n, noise = check_count(n), check_noise(noise)
    radius, height = check_positive(radius, "radius"), check_positive(height, "height")
    rng = generator(random_state)
    parameters = uniform(rng, n, TURN, (0.0, height))
    s, h = parameters.T
    return Dataset(
        name="cylinder",
        X=noisy(np.column_stack([radius * np.cos(s), radius * np.sin(s), h]), noise, rng),
        parameters=parameters,
        color=s,
        intrinsic_dim=2,
        distance=partial(_on_cylinder, radius=radius),
        is_simple=False,
    )


def torus(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, major: float = 2.0, minor: float = 1.0
) -> Dataset:
    """Torus ((R + r cos p) cos s, (R + r cos p) sin s, r sin p), R = major, r = minor, uniform in area."""
    n, noise = check_count(n), check_noise(noise)
    major, minor = check_positive(major, "major"), check_positive(minor, "minor")
    if minor >= major:
        raise InvalidInput(f"minor must be below major = {major:g}, or the torus crosses itself; got {minor:g}")
    rng = generator(random_state)
    # The area element is r (R + r cos p) ds dp.
    parameters = rejection(
        rng,
        n,
        lambda source, m: uniform(source, m, TURN, TURN),
        lambda rows: (major + minor * np.cos(rows[:, 1])) / (major + minor),
    )
    s, p = parameters.T
    ring = major + minor * np.cos(p)
    return Dataset(
        name="torus",
        X=noisy(np.column_stack([ring * np.cos(s), ring * np.sin(s), minor * np.sin(p)]), noise, rng),
        parameters=parameters,
        color=s,
        intrinsic_dim=2,
        is_simple=False,
    )


def clifford_torus(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, radii: Sequence[float] = (1.0, 1.0)
) -> Dataset:
    """Flat torus in R^4: (a cos s, a sin s, b cos p, b sin p), radii (a, b), uniform in area.

    The product of two circles: geodesics are sqrt((a ds)^2 + (b dp)^2), each difference the short way round.
    """
    n, noise = check_count(n), check_noise(noise)
    a, b = check_lengths(radii, "radii", 2).tolist()
    rng = generator(random_state)
    parameters = uniform(rng, n, TURN, TURN)
    s, p = parameters.T
    return Dataset(
        name="clifford_torus",
        X=noisy(np.column_stack([a * np.cos(s), a * np.sin(s), b * np.cos(p), b * np.sin(p)]), noise, rng),
        parameters=parameters,
        color=s,
        intrinsic_dim=2,
        is_simple=False,
        distance=partial(_on_clifford_torus, radii=(a, b)),
    )


def moebius_strip(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, radius: float = 2.0, width: float = 2.0
) -> Dataset:
    """Moebius strip ((R + v sin(u/2)) cos u, (R + v sin(u/2)) sin u, v cos(u/2)), uniform in area.

    Wang (2012), Appendix A, eq. (A.3), with R = radius = 2, u in [-pi, pi], |v| <= width / 2; `parameters` are (u, v).
    """
    n, noise = check_count(n), check_noise(noise)
    radius, width = check_positive(radius, "radius"), check_positive(width, "width")
    if width >= 2 * radius:
        raise InvalidInput(f"width must be below 2 radius = {2 * radius:g}, or the strip crosses itself; got {width:g}")
    rng = generator(random_state)
    parameters = rejection(
        rng,
        n,
        lambda source, m: uniform(source, m, (-np.pi, np.pi), (-width / 2, width / 2)),
        lambda rows: _moebius_area(rows, radius) / np.hypot(radius + width / 2, width / 4),
    )
    u, v = parameters.T
    ring = radius + v * np.sin(u / 2)
    return Dataset(
        name="moebius_strip",
        X=noisy(np.column_stack([ring * np.cos(u), ring * np.sin(u), v * np.cos(u / 2)]), noise, rng),
        parameters=parameters,
        color=u,
        intrinsic_dim=2,
        is_simple=False,
    )


def _moebius_area(parameters: Floats, radius: float) -> Floats:
    """sqrt(det G) = sqrt((R + v sin(u/2))^2 + v^2 / 4); the coordinate lines are orthogonal and |g_v| = 1."""
    u, v = parameters.T
    return np.asarray(np.hypot(radius + v * np.sin(u / 2), v / 2))


def _on_cylinder(a: Floats, b: Floats, radius: float) -> Floats:
    return np.hypot(radius * wrap(a[:, 0] - b[:, 0]), a[:, 1] - b[:, 1])


def _on_clifford_torus(a: Floats, b: Floats, radii: tuple[float, float]) -> Floats:
    return np.hypot(radii[0] * wrap(a[:, 0] - b[:, 0]), radii[1] * wrap(a[:, 1] - b[:, 1]))


def _uniform_zone(rng: np.random.Generator, n: int, top: float) -> Floats:
    """Rows (s, t), uniform in area on the unit sphere below z = top: z is uniform (Archimedes)."""
    s, z = uniform(rng, n, TURN, (-1.0, top)).T
    return np.column_stack([s, np.arccos(z)])
