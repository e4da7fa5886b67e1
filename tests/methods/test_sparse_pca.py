"""Sparse PCA: fewer loadings with a higher penalty, PCA without one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition

import lowfold


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


def test_coordinates_are_those_of_scikit_learn() -> None:
    X = np.random.default_rng(4).normal(size=(50, 6)) * [4, 3, 2, 1, 1, 1] + 2
    model = lowfold.SparsePCA(3, alpha=2.0).fit(X)
    reference = decomposition.SparsePCA(3, alpha=2.0, tol=1e-6, random_state=0).fit(X)
    assert np.allclose(model.components_, reference.components_, atol=1e-8)
    assert np.allclose(model.transform(X), reference.transform(X), atol=1e-8)
    assert np.allclose(model.inverse_transform(model.embedding_), model.embedding_ @ model.components_ + model.mean_)
