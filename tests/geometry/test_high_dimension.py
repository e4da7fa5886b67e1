"""Facts about many dimensions: closed forms, the printed table, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from lowfold.geometry._high_dimension import (
    GAUSSIAN_TAIL_DIMENSIONS,
    ball_in_cube,
    ball_volume,
    classifier_parameters,
    diagonal_cosine,
    gaussian_ball_mass,
    gaussian_tail,
    grid_points,
    norm_moments,
    shell_share,
    sphere_area,
    trunk_error,
)


def test_volumes() -> None:
    assert np.allclose(ball_volume([1, 2, 3], 2.0), [4, 4 * np.pi, 32 * np.pi / 3])
    assert np.allclose(sphere_area([1, 2, 3], 2.0), [2, 4 * np.pi, 16 * np.pi])
    printed = {1: 1, 2: 0.785398, 3: 0.523599, 5: 0.164493, 10: 2.490e-3, 20: 2.461e-8}
    assert np.allclose(ball_in_cube(list(printed)), list(printed.values()), rtol=1e-3)
    assert np.isfinite(ball_in_cube(1000))
    h = 1e-6  # the surface is the derivative of the volume
    slope = (ball_volume(7, 1 + h) - ball_volume(7, 1 - h)) / (2 * h)
    assert np.isclose(slope, sphere_area(7))


def test_shells_and_the_corrected_radius() -> None:
    assert np.isclose(shell_share(10, 0.1), 0.6513, atol=1e-4)
    assert np.isclose(1 - shell_share(10, 0.1), 0.3487, atol=1e-4)  # within the radius 0.9, not sqrt(0.9)
    assert np.isclose(shell_share(100, 0.1), 0.99997, atol=1e-5)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 10))
    ball = x / np.linalg.norm(x, axis=1, keepdims=True) * rng.random((20_000, 1)) ** (1 / 10)
    assert np.isclose((np.linalg.norm(ball, axis=1) > 0.9).mean(), 0.6513, atol=0.015)
    assert shell_share(3, 1.0) == 1


def test_gaussian_mass_and_the_table() -> None:
    D = np.array(GAUSSIAN_TAIL_DIMENSIONS)
    assert np.allclose(gaussian_tail(D), [0.04550, 0.13534, 0.54942, 0.94734, 0.99995, 1.0], atol=1e-5)
    assert np.allclose(gaussian_tail(D, 3.0), chi2.sf(9, D))
    assert np.isclose(gaussian_tail(10), 0.947347, atol=1e-6)
    assert np.isclose(gaussian_ball_mass(10, 1.0), 1.72e-4, rtol=1e-2)
    assert np.isclose(gaussian_ball_mass(1, 1.0), 0.68269, atol=1e-5)
    assert gaussian_ball_mass(10, 3.0) < 0.7 < gaussian_ball_mass(10, 3.4323 + 1e-4)


@pytest.mark.parametrize(
    ("draw", "moments", "b"),
    [
        (lambda rng, shape: rng.random(shape), (0.5, 1 / 12, 0, 1 / 80), 1 / 15),
        (lambda rng, shape: rng.normal(size=shape), (0, 1, 0, 3), 1 / 2),
        (lambda rng, shape: rng.exponential(size=shape), (1, 1, 2, 9), 5 / 2),
    ],
)
def test_norms_concentrate(draw, moments: tuple[float, ...], b: float) -> None:
    found = norm_moments(400, *moments)
    assert np.isclose(found.variance, b)
    norms = np.linalg.norm(draw(np.random.default_rng(1), (5000, 400)), axis=1)
    assert np.isclose(norms.mean(), found.mean, atol=0.1)
    assert np.isclose(norms.var(), found.variance, rtol=0.12)
    eps = 2 * np.sqrt(b)
    assert (np.abs(norms - found.mean) >= eps).mean() <= found.deviation_bound(eps)
    assert found.deviation_bound(1e-9) == 1


def test_norms_of_gaussians_in_numbers() -> None:
    for m, mean, variance in ((10, 0.97535, 0.4869), (100, 0.99750, 0.4987), (1000, 0.99975, 0.49987)):
        approximate = norm_moments(m, 0, 1, 0, 3)
        assert np.isclose(approximate.mean / np.sqrt(m), mean, atol=1e-3)
        assert np.isclose(approximate.variance, variance, atol=0.02)


def test_diagonals_grids_and_nearest_neighbours() -> None:
    assert np.allclose(diagonal_cosine([100, 10_000]), [0.1, 0.01])
    v = np.where(np.random.default_rng(2).random(64) < 0.5, -1.0, 1.0)
    assert np.isclose(np.abs(v[0]) / np.linalg.norm(v), diagonal_cosine(64))
    assert grid_points(30) == 10**30
    nearest = []
    for D in (1, 5, 50):
        X = np.random.default_rng(3).random((200, D))
        d = np.linalg.norm(X[:, None] - X[None], axis=2) + 1e9 * np.eye(200)
        nearest.append(d.min(axis=1).mean())
    assert nearest == sorted(nearest)


def test_classifiers() -> None:
    assert classifier_parameters(4, 3) == {"nearest_mean": 12, "gaussian": 3 * (4 + 10) + 2}
    known = [trunk_error(D) for D in (1, 10, 1000, 10**5)]
    assert known == sorted(known, reverse=True)
    learned = [trunk_error(D, 20) for D in (1, 5, 20, 100, 10_000, 10**6)]
    best = int(np.argmin(learned))
    assert 0 < best < len(learned) - 1  # from some number of features on, more of them do harm
    assert learned[-1] > 0.4


def test_dimensions_below_one_are_refused() -> None:
    for call in (lambda: ball_volume(0), lambda: shell_share(3, 2.0)):
        with pytest.raises(ValueError, match=r"must be|at least 1"):
            call()
    with pytest.raises(ValueError, match="must not all be zero"):
        norm_moments(3, 0, 0, 0, 0)
