"""PCA: three routes, one answer; energy; exact reconstruction."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition

import lowfold


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("shape", [(80, 6), (12, 40), (30, 30)])
def test_routes_agree_with_each_other_and_with_scikit_learn(seed: int, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(seed).normal(size=shape) @ np.diag(np.linspace(3, 1, shape[1])) + 5
    reference = decomposition.PCA(4, svd_solver="full").fit(X)
    for solver in ("auto", "covariance", "gram", "svd"):
        model = lowfold.PCA(4, solver=solver).fit(X)
        assert np.allclose(model.eigenvalues_, reference.explained_variance_)
        assert np.allclose(model.explained_variance_ratio_, reference.explained_variance_ratio_)
        assert np.allclose(np.abs(model.components_ @ reference.components_.T), np.eye(4), atol=1e-8)
        assert np.allclose(np.abs(model.embedding_), np.abs(reference.transform(X)), atol=1e-8)


def test_energy_and_eckart_young() -> None:
    X = np.random.default_rng(3).normal(size=(50, 7))
    model = lowfold.PCA(3).fit(X)
    left = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[3:]
    error = np.linalg.norm(X - model.inverse_transform(model.embedding_)) ** 2
    assert np.isclose(error, (left**2).sum())
    full = lowfold.PCA(7).fit(X)
    assert np.allclose(full.inverse_transform(full.embedding_), X)
    assert np.isclose(full.explained_variance_ratio_.sum(), 1)


def test_auto_keeps_digits_of_tiny_directions() -> None:
    rng = np.random.default_rng(4)
    Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = rng.normal(size=(200, 5)) * [1.0, 1e-3, 1e-9, 1e-10, 1e-11] @ Q
    model = lowfold.PCA(3).fit(X)
    assert model.solver_ == "svd"
    assert np.allclose(np.sqrt(model.eigenvalues_), [1, 1e-3, 1e-9], rtol=0.3)


@pytest.mark.parametrize(("height", "contains_axis"), [(15.0, False), (51.0, True)])
def test_the_plane_of_a_swiss_roll_switches_with_its_height(height: float, contains_axis: bool) -> None:
    roll = lowfold.datasets.swiss_roll(4000, height=height, random_state=0)
    components = lowfold.PCA(2).fit(roll.X).components_
    assert (np.abs(components[:, 1]).max() > 0.9) == contains_axis
