"""`tune` judges by what a method promises: no repeated coordinate, nothing unmeasured, no move for nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lowfold
from lowfold._core.errors import LowfoldWarning
from lowfold.select._trials import MARGIN, _best


def _worse(T, Y):
    """R^2 of the true coordinate that an affine map of Y tells less of."""
    A = np.column_stack([Y, np.ones(len(Y))])
    left = T - A @ np.linalg.lstsq(A, T, rcond=None)[0]
    return float((1 - (left**2).sum(axis=0) / ((T - T.mean(axis=0)) ** 2).sum(axis=0)).min())


def _sheet(seed, ratio, n=300):
    P = np.random.default_rng(seed).random((n, 2)) * [ratio, 1.0]
    return np.column_stack([P, np.sin(P[:, 0])]), P


def _fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowfoldWarning)
        return model.fit_transform(X)


@pytest.mark.parametrize("method", ["LaplacianEigenmaps", "LLE", "ModifiedLLE"])
@pytest.mark.parametrize("seed", [60, pytest.param(61, marks=pytest.mark.slow)])
def test_long_sheets_get_no_worse_than_at_the_default(method, seed):
    X, P = _sheet(seed, 4.0)
    tuned = lowfold.tune(X, method, n_components=2, n_subsamples=2, n_jobs=1)
    usual = getattr(lowfold, method)(2, n_jobs=1)
    assert _worse(P, _fitted(tuned.model, X)) > _worse(P, _fitted(usual, X)) - 0.05
    if method == "LaplacianEigenmaps":
        assert tuned.params["select"] == "independent"
        assert _worse(P, _fitted(tuned.model, X)) > 0.6  # 0.00 with the leading ones


def test_a_table_with_repeated_rows_and_outliers():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(c, 0.3, (60, 8)) for c in (0, 2, 4)])
    X = np.vstack([X, X[:10], rng.normal(size=(3, 8)) * 1e3])
    tuned = lowfold.tune(X, "laplacian-eigenmaps", n_components=2, n_neighbors=[6, 10], n_subsamples=1, n_jobs=1)
    curve = tuned["n_neighbors"]
    assert curve.chosen not in curve.refused or len(curve.refused) == 2
    assert np.isfinite(_fitted(tuned.model, X)).all()


def test_the_default_is_left_by_a_margin_only():
    allowed, failed = np.ones(3, dtype=bool), np.zeros(3, dtype=bool)
    refused = np.array([False, True, True])

    def scores(*means, noise=(0.0, 0.0, 0.0)):
        return np.array(means)[:, None] + np.array(noise)

    near, far = scores(0.9, 0.9 + MARGIN / 2, 0.8), scores(0.9, 0.9 + 2 * MARGIN, 0.8)
    assert _best(near, allowed, failed, 0, most=True) == 0
    assert _best(far, allowed, failed, 0, most=True) == 1
    uneven = scores(0.9, 0.9 + 2 * MARGIN, 0.8, noise=(0.0, 5 * MARGIN, -5 * MARGIN))
    assert _best(uneven, allowed, failed, 0, most=True) == 0  # within the spread of the best
    assert _best(far, refused, failed, 0, most=True) == 1  # the default is refused
    worse = scores(0.9, 0.9 - 2 * MARGIN, 0.8)  # but far better than what is not: a few shortcuts harm it less
    assert _best(worse, refused, failed, 0, most=True) == 0
    slightly = scores(0.9, 0.9 - MARGIN / 2, 0.8)
    assert _best(slightly, refused, failed, 0, most=True) == 0
    assert _best(scores(0.9, 0.95, 0.89, noise=(0.0, 0.1, -0.1)), refused, failed, 0, most=True) == 1  # not the last
    assert _best(near, allowed, failed, None, most=False) == 1


@pytest.mark.parametrize("seed", [1201, 1204])
def test_among_given_candidates_the_default_is_left_by_a_margin_too(seed):
    P = np.random.default_rng(seed).random((250, 2)) * [4.0, 1.0]
    X = np.column_stack([np.cos(P[:, 0]), np.sin(P[:, 0]), P[:, 1]])
    tuned = lowfold.tune(X, "lle", n_components=2, n_neighbors=[8, 10, 15], n_subsamples=2, n_jobs=1)
    assert tuned.params["n_neighbors"] == 10
    assert lowfold.tune(X, "lle", n_components=2, n_neighbors=[8, 9], n_subsamples=1).params["n_neighbors"] < 10


def test_a_default_that_is_no_number_of_neighbours_stays_one():
    """DiffusionMaps joins all pairs within a reach; ten neighbours are another model."""
    P = np.random.default_rng(3).random((250, 2))
    X = np.column_stack([P, np.cos(3 * P[:, 1])])
    tuned = lowfold.tune(X, "diffusion-maps", n_components=2, n_subsamples=2, n_jobs=1)
    assert tuned["n_neighbors"].chosen == 10  # which stands for it among the candidates
    assert tuned.model.n_neighbors is None
    assert "own rule" in tuned.reasons[-2]


def test_a_default_that_is_lost_on_some_subsamples_is_left():
    """Its spread is its own fault, and does not count for it."""
    scores = np.array([[0.47, 0.97, 0.96], [0.99, 0.99, 0.99]])
    both, none = np.ones(2, dtype=bool), np.zeros(2, dtype=bool)
    assert _best(scores, both, none, 0, most=False) == 1
    assert _best(np.array([[0.97, np.nan, 0.96], [0.99, 0.99, 0.99]]), both, none, 0, most=False) == 1
    assert _best(np.array([[0.47, 0.995, 0.96], [0.99, 0.99, 0.99]]), both, none, 0, most=False) == 0  # once better


@pytest.mark.parametrize("seed", [84, 85])
def test_data_that_are_nearly_a_curve_keep_the_default(seed):
    """One column outweighs the others: a second coordinate repeats the first, and independent ones tell noise."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([100 * rng.random(150), rng.standard_normal((150, 4))])
    tuned = lowfold.tune(X, "laplacian-eigenmaps", n_components=2, n_neighbors=10, n_subsamples=2, n_jobs=1)
    assert tuned["select"].chosen == "independent"
    assert tuned.params == {"n_components": 2, "n_neighbors": 10}
    assert tuned.reasons[-1].startswith("the defaults stay")
    worth = [lowfold.quality.trustworthiness(X, _fitted(m, X), 12).value for m in (tuned.model, _independent(tuned))]
    assert worth[0] > worth[1] + 0.02


def _independent(tuned):
    return type(tuned.model)(**{**tuned.model.get_params(), "select": "independent"})
