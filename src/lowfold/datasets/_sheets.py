"""Open sheets over a rectangle: the flat square, two planes meeting at a fold, and graphs z = f(x, y)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lowfold._core.random import RandomState, generator
from lowfold._core.types import Floats
from lowfold.datasets._sampling import (
    check_between,
    check_choice,
    check_count,
    check_noise,
    check_positive,
    euclidean,
    frame,
    noisy,
    rejection,
    uniform,
)
from lowfold.datasets._types import Dataset


def square(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    side: float = 1.0,
    ambient_dim: int = 3,
    density: str = "area",
    power: float = 3.0,
) -> Dataset:
    """Flat square in R^ambient_dim: X = a + c U', c in [0, side]^2, U a fixed orthonormal frame, a the vector of ones.

    Parameters
    ----------
    n, noise, random_state : as in `swiss_roll`.
    side : length of a side.
    ambient_dim : dimension of the space, at least 2.
    density : "area", uniform; "uneven", c = side * u^power with u uniform, which crowds the corner at 0. With power 3
        the correlation dimension of the square is 4/3 although its dimension is 2.
    power : of "uneven".
    """
    n, noise, side = check_count(n), check_noise(noise), check_positive(side, "side")
    ambient_dim = check_count(ambient_dim, "ambient_dim", 2)
    check_choice(density, "density", ("area", "uneven"))
    power = check_positive(power, "power") if density == "uneven" else 1.0
    rng = generator(random_state)
    coordinates = side * rng.random((n, 2)) ** power
    return Dataset(
        name="square",
        X=noisy(1.0 + coordinates @ frame(ambient_dim, 2).T, noise, rng),
        parameters=coordinates,
        color=coordinates[:, 0],
        intrinsic_dim=2,
        coordinates=coordinates,
        distance=euclidean,
    )


def uneven_square(
    n: int, *, noise: float = 0.0, random_state: RandomState = None, side: float = 1.0, power: float = 3.0
) -> Dataset:
    """Flat square in space crowded at one corner: coordinates side * u^power."""
    made = square(n, noise=noise, random_state=random_state, side=side, density="uneven", power=power)
    return replace(made, name="uneven_square")


def corner_planes(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    width: float = 1.0,
    length: float = 2.0,
    angle: float = 45.0,
) -> Dataset:
    """Rectangle width x length, its second half lifted by `angle` degrees about the middle line.

    (u, v, 0) up to the fold at v = length / 2, then (u, f + (v - f) cos angle, (v - f) sin angle) with f = length / 2.
    Folding changes no length on the sheet: `coordinates` are (u, v), and geodesics are straight lines there.
    """
    n, noise = check_count(n), check_noise(noise)
    width, length = check_positive(width, "width"), check_positive(length, "length")
    lift = np.deg2rad(check_between(angle, "angle (degrees)", 0, 179))
    rng = generator(random_state)
    coordinates = uniform(rng, n, (0.0, width), (0.0, length))
    u, v = coordinates.T
    beyond = np.maximum(v - length / 2, 0)
    clean = np.column_stack([u, np.minimum(v, length / 2) + beyond * np.cos(lift), beyond * np.sin(lift)])
    return Dataset(
        name="corner_planes",
        X=noisy(clean, noise, rng),
        parameters=coordinates,
        color=v,
        intrinsic_dim=2,
        coordinates=coordinates,
        distance=euclidean,
    )


def twin_peaks(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    height: float = 1.0,
    density: str = "parameter",
) -> Dataset:
    """Two peaks and two pits: z = height sin(pi x) tanh(3 y) over [-1, 1]^2; `parameters` are (x, y).

    `density` is "parameter", uniform in (x, y), or "area", uniform on the surface.
    """
    height = check_positive(height, "height")

    def gradient(xy: Floats) -> Floats:
        x, y = np.pi * xy[:, 0], 3 * xy[:, 1]
        return height * np.column_stack([np.pi * np.cos(x) * np.tanh(y), 3 * np.sin(x) / np.cosh(y) ** 2])

    def surface(xy: Floats) -> Floats:
        return np.asarray(height * np.sin(np.pi * xy[:, 0]) * np.tanh(3 * xy[:, 1]))

    steepest = height * float(np.hypot(np.pi, 3))
    return _graph_of("twin_peaks", n, noise, random_state, density, 1.0, surface, gradient, steepest)


def saddle(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    extent: float = 1.0,
    density: str = "parameter",
) -> Dataset:
    """Saddle z = x^2 - y^2 over [-extent, extent]^2; `parameters` are (x, y), `density` as in `twin_peaks`."""
    extent = check_positive(extent, "extent")
    return _graph_of(
        "saddle",
        n,
        noise,
        random_state,
        density,
        extent,
        lambda xy: xy[:, 0] ** 2 - xy[:, 1] ** 2,
        lambda xy: xy * [2.0, -2.0],
        float(np.sqrt(8) * extent),
    )


def gaussian(n: int, *, noise: float = 0.0, random_state: RandomState = None, sigma: float = 1.0) -> Dataset:
    """Gaussian bell over normal points: x, y ~ N(0, sigma^2), z = exp(-(x^2 + y^2) / (2 sigma^2)) / (2 pi sigma^2)."""
    n, noise, sigma = check_count(n), check_noise(noise), check_positive(sigma, "sigma")
    rng = generator(random_state)
    xy = sigma * rng.standard_normal((n, 2))
    z = np.exp(-(xy**2).sum(axis=1) / (2 * sigma**2)) / (2 * np.pi * sigma**2)
    return Dataset(
        name="gaussian",
        X=noisy(np.column_stack([xy, z]), noise, rng),
        parameters=xy,
        color=z,
        intrinsic_dim=2,
    )


def _graph_of(
    name: str,
    n: int,
    noise: float,
    random_state: RandomState,
    density: str,
    extent: float,
    surface: Callable[[Floats], Floats],
    gradient: Callable[[Floats], Floats],
    steepest: float,
) -> Dataset:
    """Graph z = f(x, y) over [-extent, extent]^2; its area element is sqrt(1 + |grad f|^2), |grad f| <= steepest."""
    n, noise = check_count(n), check_noise(noise)
    check_choice(density, "density", ("parameter", "area"))
    rng = generator(random_state)
    side = (-extent, extent)
    if density == "parameter":
        xy = uniform(rng, n, side, side)
    else:
        xy = rejection(
            rng,
            n,
            lambda source, m: uniform(source, m, side, side),
            lambda rows: np.hypot(1, np.linalg.norm(gradient(rows), axis=1)) / np.hypot(1, steepest),
        )
    z = surface(xy)
    return Dataset(
        name=name,
        X=noisy(np.column_stack([xy, z]), noise, rng),
        parameters=xy,
        color=z,
        intrinsic_dim=2,
    )
