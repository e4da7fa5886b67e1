"""ICA: three ways to independent sources."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold.lowrank._independent import gaussian_mutual_information, spacing_entropy

ALGORITHMS = ("fastica", "infomax", "mutual_information")


def match(S: np.ndarray, Y: np.ndarray) -> float:
    """The smallest of the best correlations, each source with another column."""
    C = np.abs(np.corrcoef(S.T, Y.T)[: S.shape[1], S.shape[1] :])
    assert len(set(C.argmax(axis=1))) == S.shape[1]
    return float(C.max(axis=1).min())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_light_and_heavy_tails_are_unmixed(algorithm: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    S = np.column_stack([rng.uniform(-1, 1, 1500), 0.4 * rng.laplace(size=1500)])
    X = S @ np.array([[1.0, 1.0, 0.0], [1.0, -0.2, 0.5]]) + 5
    model = lowfold.ICA(2, algorithm=algorithm).fit(X)
    assert match(S, model.embedding_) > 0.97 > 0.95 > match_or_zero(S, lowfold.PCA(2).fit_transform(X))
    assert np.allclose(model.embedding_.std(axis=0), 1)
    assert np.allclose(model.inverse_transform(model.embedding_), X, atol=1e-8)  # three features of rank two
    assert np.allclose(model.components_ @ model.mixing_, np.eye(2), atol=1e-8)
    assert np.allclose(np.cov(model.embedding_.T), np.eye(2), atol=0.1)


def match_or_zero(S: np.ndarray, Y: np.ndarray) -> float:
    C = np.abs(np.corrcoef(S.T, Y.T)[: S.shape[1], S.shape[1] :])
    return float(C.max(axis=1).min())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unmixing_lowers_the_entropies_and_the_kurtosis_tells(algorithm: str) -> None:
    rng = np.random.default_rng(4)
    S = rng.uniform(-1, 1, size=(2000, 2))
    X = S @ np.array([[1.0, 0.9], [0.9, -0.4]])
    model = lowfold.ICA(2, algorithm=algorithm).fit(X)
    white = lowfold.PCA(2, normalization="unit").fit_transform(X)
    assert model.marginal_entropy_ < spacing_entropy(white.T).sum()

    def kurtosis(Y: np.ndarray) -> np.ndarray:
        return np.abs((Y**4).mean(axis=0) - 3)

    assert kurtosis(model.embedding_).min() > kurtosis(white).min()


def test_entropies_and_mutual_information_in_closed_form() -> None:
    rng = np.random.default_rng(5)
    assert np.isclose(spacing_entropy(rng.normal(size=20_000))[0], 0.5 * np.log(2 * np.pi * np.e), atol=0.04)
    assert np.isclose(spacing_entropy(rng.uniform(0, 3, size=20_000))[0], np.log(3), atol=0.02)
    r = 0.6
    X = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=20_000)
    assert np.isclose(gaussian_mutual_information(X), -0.5 * np.log(1 - r**2), atol=0.02)
    sums = rng.uniform(-1, 1, size=(20_000, 30)).cumsum(axis=1)
    tails = np.abs((sums**4).mean(axis=0) / (sums**2).mean(axis=0) ** 2 - 3)
    assert tails[0] > 1 > 0.15 > tails[-1]  # a sum of independent variables is more Gaussian than each


@pytest.mark.parametrize("seed", [5000, 5001, 5002])
def test_all_components_are_those_that_have_variance(seed: int) -> None:
    S = np.random.default_rng(seed).uniform(-1, 1, size=(400, 3))
    X = S @ np.random.default_rng(seed + 1).normal(size=(3, 6))
    model = lowfold.ICA(None).fit(X)
    assert model.embedding_.shape == (400, 3)
    assert np.allclose(model.inverse_transform(model.embedding_), X)
    C = np.abs(np.corrcoef(S.T, model.embedding_.T)[:3, 3:])
    assert (C.max(axis=0) > 0.98).all()


def test_directions_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="directions with variance"):
        lowfold.ICA(2).fit(np.outer(np.arange(20.0), [1.0, 2.0, 3.0]))
    with pytest.warns(lowfold._core.errors.AccuracyWarning, match="max_iter = 1"):
        lowfold.ICA(3, max_iter=1).fit(np.random.default_rng(0).normal(size=(200, 3)))
