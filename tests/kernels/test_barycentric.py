"""Barycentric weights: sum to one, exact where a point coincides, the right ones inside a simplex."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold._core.errors import SolverFailed
from lowfold.kernels._barycentric import WILD, barycentric_weights, held_weights


def data(seed: int, m: int = 40, k: int = 6, D: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, D)), rng.normal(size=(m, k, D))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reg", [1e-3, 1e-1])
def test_they_solve_the_stated_problem(seed: int, reg: float) -> None:
    x, Z = data(seed)
    w = barycentric_weights(x, Z, reg=reg)
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)

    def loss(weights: np.ndarray) -> np.ndarray:
        V = Z - x[:, None]
        trace = (V**2).sum(axis=(1, 2))
        return ((x - np.einsum("ik,ikd->id", weights, Z)) ** 2).sum(axis=1) + reg * trace * (weights**2).sum(axis=1)

    step = np.random.default_rng(seed).normal(size=w.shape)
    step -= step.mean(axis=1, keepdims=True)
    for size in (1e-3, -1e-3, 0.5):
        assert (loss(w + size * step) >= loss(w) - 1e-12).all()


@pytest.mark.parametrize("reg", [0.0, 1e-3, 1.0])
def test_a_coincident_point_takes_its_neighbour(reg: float) -> None:
    x, Z = data(0, k=4, D=5)
    Z[3, 2] = x[3]
    Z[5, [1, 3]] = x[5]
    w = barycentric_weights(x, Z, reg=reg)
    np.testing.assert_array_equal(w[3], [0, 0, 1, 0])
    np.testing.assert_array_equal(w[5], [0, 1, 0, 0])
    far = barycentric_weights(x.astype(np.float32), Z.astype(np.float32), reg=reg)
    np.testing.assert_array_equal(far[3], [0, 0, 1, 0])
    same = barycentric_weights(np.zeros((1, 2)), np.zeros((1, 3, 2)), reg=reg)
    np.testing.assert_array_equal(same, [[1, 0, 0]])


@pytest.mark.parametrize("seed", range(3))
def test_invariance(seed: int) -> None:
    x, Z = data(seed)
    w = barycentric_weights(x, Z)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    np.testing.assert_allclose(barycentric_weights(5 * x @ Q + 2, 5 * Z @ Q + 2), w, atol=1e-9)
    rng = np.random.default_rng(seed + 10)
    corners = np.eye(4)[None, :, :3] + 0.1 * rng.normal(size=(20, 4, 3))  # a simplex: any affine map as reg vanishes
    inside = np.einsum("ik,ikd->id", rng.dirichlet(np.ones(4), size=20), corners)
    A = np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    before = barycentric_weights(inside, corners, reg=1e-11)
    after = barycentric_weights(inside @ A + 1, corners @ A + 1, reg=1e-11)
    np.testing.assert_allclose(after, before, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_inside_the_simplex_the_point_is_reproduced_as_reg_vanishes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = np.eye(4)[None, :, :3] + np.zeros((20, 1, 1))
    truth = rng.dirichlet(np.ones(4), size=20)
    x = np.einsum("ik,ikd->id", truth, corners)
    errors = []
    for reg in (1e-2, 1e-5, 1e-9):
        w = barycentric_weights(x, corners, reg=reg)
        errors.append(np.abs(w - truth).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-5


def test_singular_weights_without_regularisation_get_words() -> None:
    Z = np.array([[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]])
    with pytest.raises(SolverFailed, match="reg above 0"):
        barycentric_weights(np.zeros((1, 2)), Z, reg=0.0)
    np.testing.assert_allclose(barycentric_weights(np.zeros((1, 2)), Z), [[1 / 3] * 3])


@pytest.mark.parametrize("seed", [0, 1])
def test_weights_of_neighbours_on_a_line_are_held(seed: int) -> None:
    rng = np.random.default_rng(seed)
    along = rng.normal(size=(1, 10))
    Z = np.stack([along, along + 1e-3 * rng.normal(size=(1, 10))], axis=2)  # nearly the diagonal
    beside, inside = np.array([[0.5, -0.5]]), Z.mean(axis=1)
    assert np.abs(barycentric_weights(beside, Z, reg=1e-6)).sum() > 10
    assert np.abs(held_weights(beside, Z, reg=1e-6)).sum() <= WILD
    assert held_weights(inside, Z, reg=1e-6).tolist() == barycentric_weights(inside, Z, reg=1e-6).tolist()


@pytest.mark.parametrize("reg", [0.0, -1e-9])
def test_a_ridge_that_a_file_made_zero_grows_too(reg: float) -> None:
    Z = np.array([[[0.0, 0.0], [1e-5, 0.0]]])  # of a point along their line: weights of 1e5
    assert np.abs(held_weights(np.array([[1.0, 1e-6]]), Z, reg=reg)).sum() <= WILD
