"""PCA by a share of the variance, by evidence, of all components, and its density: against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.model_selection import cross_val_score

import lowfold


def planes(n: int = 200, D: int = 12, d: int = 4, noise: float = 0.1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, D)) * [1.0] + noise * rng.normal(size=(n, D))


@pytest.mark.parametrize("asked", [0.5, 0.95, 0.999, None, "mle", 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_as_many_components_as_scikit_learn(asked: object, seed: int) -> None:
    X = planes(seed=seed)
    ours, theirs = lowfold.PCA(asked).fit(X), decomposition.PCA(asked, svd_solver="full").fit(X)
    assert ours.n_components_ == theirs.n_components_
    assert np.allclose(ours.explained_variance_, theirs.explained_variance_)
    assert np.allclose(ours.singular_values_, theirs.singular_values_)
    assert np.allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert np.isclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-12)
    new = planes(30, seed=seed + 10)
    assert np.allclose(ours.score_samples(new), theirs.score_samples(new))
    assert np.isclose(ours.score(new), theirs.score(new))
    assert ours.transform(new).shape == (30, theirs.n_components_)


def test_more_features_than_points() -> None:
    X = planes(20, 50, noise=0.5)
    ours, theirs = lowfold.PCA(None).fit(X), decomposition.PCA(None).fit(X)
    assert ours.n_components_ == theirs.n_components_ == 20
    assert lowfold.PCA(0.8).fit(X).n_components_ == decomposition.PCA(0.8).fit(X).n_components_
    with pytest.raises(ValueError, match="at least as many points"):
        lowfold.PCA("mle").fit(X)


def test_blocks_and_files_know_them_too(tmp_path) -> None:
    X = planes()
    whole, streamed = lowfold.PCA(0.9).fit(X), lowfold.PCA(0.9).fit_blocks([X[:90], X[90:]])
    assert streamed.n_components_ == whole.n_components_
    assert np.isclose(streamed.score(X), whole.score(X))
    lowfold.save(tmp_path / "pca.lowfold", whole)
    assert lowfold.load(tmp_path / "pca.lowfold").n_components_ == whole.n_components_


def test_the_score_chooses_the_dimension() -> None:
    X = planes(seed=3)
    scores = [cross_val_score(lowfold.PCA(d), X).mean() for d in range(1, 8)]
    assert int(np.argmax(scores)) + 1 == 4


@pytest.mark.parametrize("bad", [0, 1.5, 0.0, "all"])
def test_what_is_no_number_of_components(bad: object) -> None:
    with pytest.raises(ValueError, match="n_components of PCA must be"):
        lowfold.PCA(bad).fit(planes())


@pytest.mark.parametrize("d", [1, 3])
def test_covariance_of_the_model_is_that_of_scikit_learn(d: int) -> None:
    X = np.random.default_rng(d).normal(size=(40, 5)) * [1, 2, 3, 4, 5]
    expected = decomposition.PCA(d).fit(X).get_covariance()
    assert np.allclose(lowfold.PCA(d).fit(X).get_covariance(), expected)
    assert np.allclose(lowfold.PCA(d).fit(X).get_precision() @ expected, np.eye(len(expected)), atol=1e-6)


def test_evidence_does_not_count_repeated_columns() -> None:
    X = np.random.default_rng(0).normal(size=(100, 1)) * np.arange(1, 21)
    assert lowfold.PCA("mle").fit(X).n_components_ == 1
