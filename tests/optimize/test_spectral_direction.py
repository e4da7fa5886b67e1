"""Spectral directions: the inverse of the attraction's Laplacian, steps that do not go too far."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold.optimize._neighbor import DenseAffinities, GaussianCost
from lowfold.optimize._spectral_direction import REACH, _direction, _factor, _tried, spectral_descent


def affinities(n: int, seed: int) -> np.ndarray:
    x = np.sort(np.random.default_rng(seed).uniform(size=n))
    P = np.exp(-0.5 * ((x[:, None] - x) / 0.05) ** 2)
    np.fill_diagonal(P, 0.0)
    return P / P.sum()


def test_direction_is_newtons_of_the_attraction() -> None:
    P, rng = affinities(40, 0), np.random.default_rng(0)
    slope = rng.normal(size=(40, 2))
    slope -= slope.mean(axis=0)
    L = 4.0 * (np.diag(P.sum(axis=1)) - P)
    np.testing.assert_allclose(_direction(_factor(P, 4.0), slope), -np.linalg.pinv(L) @ slope, rtol=1e-4)


def test_affinities_in_pieces_have_a_factor() -> None:
    P = np.kron(np.eye(2), affinities(10, 0))
    assert np.isfinite(_direction(_factor(P, 4.0), np.ones((20, 1)))).all()


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_no_point_goes_beyond_reach(size: float) -> None:
    direction = size * np.random.default_rng(0).normal(size=(30, 2))
    a = _tried(1.5, direction)
    assert a <= 1.0
    assert np.linalg.norm(a * direction, axis=1).max() <= REACH * (1 + 1e-12)


@pytest.mark.parametrize("joint", [True, False])
def test_descent_is_below_one_of_as_many_plain_gradients(joint: bool) -> None:
    P = affinities(80, 1) * (1.0 if joint else 160.0)
    cost = GaussianCost(DenseAffinities.held(P), joint=joint)
    first = 1e-4 * np.random.default_rng(1).normal(size=(80, 2))
    told: list[float] = []
    Y = spectral_descent(cost, first, P, 4.0 if joint else 2.0, 40, told.append)
    plain = first
    for _ in range(40):
        plain = plain - (8.0 if joint else 0.1) * cost.gradient(plain)
    assert cost.value(Y) < cost.value(plain) < cost.value(first)
    assert told == sorted(told)
    assert len(told) == 39
    assert np.abs(Y.mean(axis=0)).max() < 1e-4
