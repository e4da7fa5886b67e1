"""Curves: circles in R^D, concentric circles, moons, conics, the toroidal helix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.random import RandomState, generator
from lowfold._core.stacks import stacked_eigvalsh
from lowfold._core.types import Floats
from lowfold.datasets._sampling import (
    check_count,
    check_lengths,
    check_noise,
    check_numbers,
    check_positive,
    frame,
    noisy,
    rejection,
    split,
    wrap,
)
from lowfold.datasets._types import Dataset


def circle(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    radius: float = 1.0,
    ambient_dim: int = 2,
    even: bool = False,
) -> Dataset:
    """Circle radius (cos t, sin t), turned into R^ambient_dim by a fixed orthonormal frame; `parameters` are t.

    The points are drawn uniformly, or with `even` placed at t = 2 pi i / n, where graph Laplacians have the spectrum
    of `ring_graph`.
    """
    n, noise, radius = check_count(n), check_noise(noise), check_positive(radius, "radius")
    ambient_dim = check_count(ambient_dim, "ambient_dim", 2)
    rng = generator(random_state)
    t = 2 * np.pi * (np.arange(n) / n if even else rng.random(n))
    clean = radius * np.column_stack([np.cos(t), np.sin(t)]) @ frame(ambient_dim, 2).T
    return Dataset(
        name="circle",
        X=noisy(clean, noise, rng),
        parameters=t[:, None],
        color=t,
        intrinsic_dim=1,
        is_simple=False,
        distance=partial(_on_circle, radius=radius),
    )


def concentric_circles(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, radii: Sequence[float] = (1.0, 0.5)
) -> Dataset:
    """Circles around the origin, as many points on each; `labels` say which, `parameters` are (angle, radius).

    Circles are separate pieces: points of different circles are at infinite geodesic distance.
    """
    n, noise = check_count(n), check_noise(noise)
    sizes = check_lengths(radii, "radii")
    if len(np.unique(sizes)) < len(sizes):
        raise InvalidInput(f"radii must be different from each other; got {radii!r}")
    rng = generator(random_state)
    labels = split(n, len(sizes))
    r, t = sizes[labels], 2 * np.pi * rng.random(n)
    return Dataset(
        name="concentric_circles",
        X=noisy(np.column_stack([r * np.cos(t), r * np.sin(t)]), noise, rng),
        parameters=np.column_stack([t, r]),
        color=labels.astype(np.float64),
        intrinsic_dim=1,
        is_simple=False,
        labels=labels,
        distance=_on_concentric,
    )


def moons(n: int, *, noise: float = 0.0, random_state: RandomState = None) -> Dataset:
    """Two interleaved half circles: (cos t, sin t) and (1 - cos t, 1/2 - sin t), 0 <= t <= pi; `labels` say which."""
    n, noise = check_count(n), check_noise(noise)
    rng = generator(random_state)
    labels = split(n, 2)
    t = np.pi * rng.random(n)
    lower = labels == 1
    clean = np.column_stack([np.where(lower, 1 - np.cos(t), np.cos(t)), np.where(lower, 0.5 - np.sin(t), np.sin(t))])
    return Dataset(
        name="moons",
        X=noisy(clean, noise, rng),
        parameters=np.column_stack([t, labels]),
        color=labels.astype(np.float64),
        intrinsic_dim=1,
        is_simple=False,
        labels=labels,
        distance=_on_moons,
    )


def toroidal_helix(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    windings: int = 8,
    major: float = 2.0,
    minor: float = 1.0,
    rate: float = 1.0,
    even: bool = False,
) -> Dataset:
    """Closed curve wound around a torus: ((R + r cos wt) cos t, (R + r cos wt) sin t, r sin wt), w = windings.

    Topologically a circle; a good embedding maps it to one (Wang 2012, Section 14.5.1, which gives no equation).
    `parameters` are t = 2 pi u^rate with u uniform in [0, 1), or u = i / n with `even`; a rate other than 1 samples
    unevenly. Geodesics are arc lengths, the short way round.
    """
    n, noise = check_count(n), check_noise(noise)
    windings = check_count(windings, "windings")
    major, minor, rate = check_positive(major, "major"), check_positive(minor, "minor"), check_positive(rate, "rate")
    if minor >= major:
        raise InvalidInput(f"minor must be below major = {major:g}, or the curve may cross itself; got {minor:g}")
    rng = generator(random_state)
    t = 2 * np.pi * (np.arange(n) / n if even else rng.random(n)) ** rate
    ring = major + minor * np.cos(windings * t)
    clean = np.column_stack([ring * np.cos(t), ring * np.sin(t), minor * np.sin(windings * t)])
    return Dataset(
        name="toroidal_helix",
        X=noisy(clean, noise, rng),
        parameters=t[:, None],
        color=t,
        intrinsic_dim=1,
        is_simple=False,
        distance=partial(_on_helix, windings=windings, major=major, minor=minor),
    )


def helix_arclength(t: Floats, windings: int, major: float, minor: float) -> Floats:
    """Arc length of the toroidal helix from 0 to t, the integral of sqrt((R + r cos wt)^2 + (r w)^2).

    With p = w t the speed is a smooth even function of period 2 pi, a0 + sum a_k cos kp, so the length is
    (a0 p + sum a_k sin(kp) / k) / w; the coefficients of 512 nodes are exact to rounding for r well below R.
    """
    nodes = 2 * np.pi * np.arange(512) / 512
    speed = np.hypot(major + minor * np.cos(nodes), minor * windings)
    a = np.fft.rfft(speed).real / len(nodes)
    k = np.arange(1, 128)
    p = windings * np.asarray(t, dtype=np.float64)
    return np.asarray((a[0] * p + np.sin(np.multiply.outer(p, k)) @ (2 * a[k] / k)) / windings)


def conic(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    coefficients: Sequence[float] = (1.0, 0.0, 1.0, -1.0),
    extent: float | None = None,
) -> Dataset:
    """Points on c1 x^2 + c2 x y + c3 y^2 + c4 = 0: a circle, an ellipse, a hyperbola or two parallel lines.

    In the direction t the curve is at the radius sqrt(-c4 / (c1 cos^2 t + c2 cos t sin t + c3 sin^2 t)); t is uniform
    over the directions where it is real and at most `extent` (None: everything for an ellipse, three times the smallest
    radius for an open curve). Under (x^2, sqrt(2) x y, y^2) the points lie on a plane, which is what kernel PCA of
    degree 2 finds (Vidal, Ma, Sastry 2016, Section 4.1, doi:10.1007/978-0-387-87811-9). `parameters` are t.
    """
    n, noise = check_count(n), check_noise(noise)
    c = check_numbers(coefficients, "coefficients")
    if c.shape != (4,) or c[3] == 0:
        raise InvalidInput(f"coefficients must be four numbers (c1, c2, c3, c4) with c4 not 0; got {coefficients!r}")
    form = -np.array([[c[0], c[1] / 2], [c[1] / 2, c[2]]]) / c[3]
    smallest, largest = stacked_eigvalsh(form)
    if largest <= 0:
        raise InvalidInput(f"coefficients {coefficients!r} describe no real curve; change the sign of c4")
    if extent is None:
        extent = np.inf if smallest > 0 else 3 / float(np.sqrt(largest))
    elif check_positive(extent, "extent") ** 2 * largest <= 1:
        raise InvalidInput(f"extent must exceed the curve's smallest radius {largest**-0.5:.4g}; got {extent!r}")
    rng = generator(random_state)
    t = rejection(
        rng,
        n,
        lambda source, m: 2 * np.pi * source.random((m, 1)),
        lambda rows: (_inverse_square_radius(rows[:, 0], form) > extent**-2).astype(np.float64),
    )[:, 0]
    r = _inverse_square_radius(t, form) ** -0.5
    return Dataset(
        name="conic",
        X=noisy(np.column_stack([r * np.cos(t), r * np.sin(t)]), noise, rng),
        parameters=t[:, None],
        color=t,
        intrinsic_dim=1,
        is_simple=False,
    )


def _inverse_square_radius(t: Floats, form: Floats) -> Floats:
    direction = np.stack([np.cos(t), np.sin(t)])
    return np.asarray(np.einsum("in,ij,jn->n", direction, form, direction))


def _on_circle(a: Floats, b: Floats, radius: float) -> Floats:
    return np.asarray(radius * wrap(a[:, 0] - b[:, 0]))


def _on_concentric(a: Floats, b: Floats) -> Floats:
    return np.where(a[:, 1] == b[:, 1], a[:, 1] * wrap(a[:, 0] - b[:, 0]), np.inf)


def _on_moons(a: Floats, b: Floats) -> Floats:
    return np.where(a[:, 1] == b[:, 1], np.abs(a[:, 0] - b[:, 0]), np.inf)


def _on_helix(a: Floats, b: Floats, windings: int, major: float, minor: float) -> Floats:
    length = partial(helix_arclength, windings=windings, major=major, minor=minor)
    way = np.abs(length(a[:, 0]) - length(b[:, 0]))
    return np.asarray(np.minimum(way, length(np.array([2 * np.pi]))[0] - way))
