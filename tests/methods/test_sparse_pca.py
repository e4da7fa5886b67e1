"""Sparse PCA: fewer loadings with a higher penalty, PCA without one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition

import lowfold
from lowfold.errors import AccuracyWarning


@pytest.mark.filterwarnings("ignore:alpha = 10 leaves 1 of 2 components")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_higher_penalty_leaves_fewer_loadings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 10)) + 0.1 * rng.normal(size=(80, 10))
    counts = [int((lowfold.SparsePCA(2, alpha=a).fit(X).components_ != 0).sum()) for a in (0.0, 2.0, 10.0)]
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[0] > counts[2] > 0
    free, plain = lowfold.SparsePCA(2, alpha=0.0).fit(X), lowfold.PCA(2).fit(X)
    Q = np.linalg.qr(free.components_.T)[0]
    assert np.linalg.norm(plain.components_.T - Q @ (Q.T @ plain.components_.T), 2) < 0.02


@pytest.mark.parametrize(("n", "D", "k"), [(50, 6, 3), (12, 40, 3)])
def test_coordinates_are_those_of_scikit_learn(n: int, D: int, k: int) -> None:
    X = np.random.default_rng(4).normal(size=(n, D)) * np.geomspace(4, 1, D) + 2
    model = lowfold.SparsePCA(k, alpha=2.0).fit(X)
    reference = decomposition.SparsePCA(k, alpha=2.0, tol=1e-6, random_state=0).fit(X)
    assert np.allclose(model.components_, reference.components_, atol=1e-6)
    assert np.allclose(model.transform(X), reference.transform(X), atol=1e-5)
    assert np.allclose(model.inverse_transform(model.embedding_), model.embedding_ @ model.components_ + model.mean_)


def test_a_hundred_thousand_features_come_to_rest() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4, 1)) * np.r_[np.full(50, 3.0), np.zeros(99_950)] + 0.01 * rng.normal(size=(4, 100_000))
    model = lowfold.SparsePCA(1, alpha=1.0).fit(X)
    assert np.flatnonzero(model.components_[0]).tolist() == list(range(50))


def test_components_without_a_loading_are_told() -> None:
    X = np.random.default_rng(41).normal(size=(60, 5)) * [4.0, 2.0, 1.0, 1.0, 1.0]
    with pytest.warns(AccuracyWarning, match="alpha = 500 leaves 2 of 2 components"):
        model = lowfold.SparsePCA(2, alpha=500.0).fit(X)
    assert not model.components_.any()
