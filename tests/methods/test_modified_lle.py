"""Modified LLE: weight vectors that sum to one, agreement with scikit-learn, the ridge."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import LocallyLinearEmbedding
from tests.methods.alignment_helpers import angle, explained, nullity, plane

import lowfold
from lowfold import datasets
from lowfold.kernels._lle import multiple_weights


@pytest.mark.parametrize("seed", range(3))
def test_every_weight_vector_sums_to_one(seed: int) -> None:
    Z = np.random.default_rng(seed).normal(size=(20, 8, 4))
    C = Z @ Z.transpose(0, 2, 1)
    W, s = multiple_weights(C, 2, 0.3, 1e-3)
    assert s.min() >= 1
    assert s.max() <= 6
    for i in range(20):
        assert np.allclose(W[i, :, : s[i]].sum(axis=0), 1)
        assert np.abs(W[i, :, s[i] :]).max(initial=0) == 0


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn(seed: int) -> None:
    X = datasets.s_curve(500, random_state=seed).X
    ours = lowfold.ModifiedLLE(2, n_neighbors=12).fit(X)
    theirs = LocallyLinearEmbedding(
        n_neighbors=12, n_components=2, method="modified", eigen_solver="dense"
    ).fit_transform(X)
    assert angle(ours.embedding_, theirs) < 1e-7


def test_flat_data_give_their_coordinates() -> None:
    X, T = plane(200, seed=1)
    model = lowfold.ModifiedLLE(2, n_neighbors=9, reg=0).fit(X)
    assert nullity(model.kernel().dense()) == 3
    assert angle(model.embedding_, T - T.mean(axis=0)) < 1e-5


@pytest.mark.filterwarnings("ignore:coordinate . is mixed or uneven")  # and rightly
def test_nearly_isometric_where_lle_is_not() -> None:
    for seed in range(2):
        roll = datasets.swiss_roll(1000, random_state=seed)
        modified, plain = (
            explained(roll.coordinates, getattr(lowfold, name)(2, n_neighbors=12).fit_transform(roll.X)).min()
            for name in ("ModifiedLLE", "LLE")
        )
        assert modified > 0.99
        assert modified > plain


def test_the_ridge_counts() -> None:
    X = datasets.s_curve(200, random_state=0).X
    kernels = [lowfold.ModifiedLLE(2, n_neighbors=10, reg=r).fit(X).kernel().dense() for r in (1e-3, 1e-1)]
    assert np.abs(kernels[0] - kernels[1]).max() > 1e-6
