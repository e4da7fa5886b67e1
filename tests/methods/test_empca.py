"""EM for PCA: agreement with PCA, missing values, likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn import decomposition

import lowfold
from lowfold._core.run import Run
from lowfold.lowrank._em_pca import Latent, complete_em_step, expected_sums, maximised, posterior
from lowfold.lowrank._scatter import Scatter


def planted(seed: int, n: int = 150, D: int = 8, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    clean = (rng.normal(size=(n, 2)) * [4, 2]) @ rng.normal(size=(2, D)) + rng.normal(size=D)
    return clean, clean + noise * rng.normal(size=clean.shape)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("noise", ["isotropic", "none"])
def test_equals_pca_when_nothing_is_missing(seed: int, noise: str) -> None:
    X = planted(seed)[1]
    reference = lowfold.PCA(2).fit(X)
    model = lowfold.EMPCA(2, noise=noise, tol=1e-9).fit(X)
    assert np.allclose(model.components_, reference.components_, atol=1e-7)
    assert np.allclose(model.eigenvalues_, reference.eigenvalues_)
    assert np.allclose(model.embedding_, reference.embedding_, atol=1e-6)
    other = lowfold.EMPCA(2, noise=noise, tol=1e-9, random_state=5).fit(X)
    assert np.allclose(other.components_, model.components_, atol=1e-7)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_likelihood_is_the_best_and_the_density_is_that_of_the_model(seed: int) -> None:
    X = planted(seed)[1]
    model = lowfold.EMPCA(2).fit(X)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert np.isclose(model.noise_variance_, values[2:].mean())
    n, D = X.shape
    s = values[2:].mean()
    closed = -n / 2 * (D * np.log(2 * np.pi) + np.log(values[:2]).sum() + (D - 2) * np.log(s) + D)
    assert np.isclose(model.log_likelihood_, closed)
    density = multivariate_normal(model.mean_, model.kernel().dense()).logpdf(X)
    assert np.allclose(model.score_samples(X), density)
    assert np.isclose(model.score(X), density.mean())
    # scikit-learn divides its covariance by n - 1, so its likelihood is a little lower
    assert model.score(X) >= decomposition.PCA(2).fit(X).score(X)


def test_each_step_contracts_by_the_ratio_of_eigenvalues() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5)) * np.sqrt([9, 6, 1.5, 1, 0.5])
    Xc = X - X.mean(axis=0)
    values, V = np.linalg.eigh(Xc.T @ Xc)
    top = V[:, ::-1][:, :2]
    S = Scatter(X, X.mean(axis=0), divisor=len(X))
    model = Latent(X.mean(axis=0), rng.normal(size=(5, 2)), 0.0)
    angles = []
    for _ in range(14):
        model, _ = complete_em_step(model, S, 1.0, 0.0)
        Q = np.linalg.qr(model.W)[0]
        angles.append(np.linalg.norm(top - Q @ (Q.T @ top), 2))
    assert np.isclose(angles[-1] / angles[-2], values[::-1][2] / values[::-1][1], rtol=1e-2)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("noise", ["isotropic", "none"])
def test_missing_values_are_recovered(seed: int, noise: str) -> None:
    clean, X = planted(seed, n=200)
    rng = np.random.default_rng(seed + 10)
    gone = rng.random(X.shape) < 0.25
    gaps = np.where(gone, np.nan, X)
    model = lowfold.EMPCA(2, noise=noise).fit(gaps)
    filled = model.impute(gaps)
    assert np.array_equal(filled[~gone], X[~gone])
    by_mean = np.where(gone, np.nanmean(gaps, axis=0), X)
    assert np.abs(filled - clean)[gone].mean() < 0.1 * np.abs(by_mean - clean)[gone].mean()
    reference = lowfold.PCA(2).fit(X)
    angle = np.linalg.norm(
        reference.components_.T - model.components_.T @ (model.components_ @ reference.components_.T), 2
    )
    assert angle < 0.05
    assert np.array_equal(model.transform(gaps), model.embedding_)
    assert np.isfinite(model.embedding_).all()


def test_the_observed_likelihood_never_falls_and_is_that_of_the_observed_parts() -> None:
    X = planted(4, n=60, D=5)[1]
    rng = np.random.default_rng(5)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = Latent(np.nanmean(X, axis=0), rng.normal(size=(5, 2)), 1.0)
    history = []
    for _ in range(40):
        sums = expected_sums(model, X, Run())
        model = maximised(model, sums, 1e-12)
        history.append(sums[5])
    assert np.all(np.diff(history) > -1e-8)
    C = model.W @ model.W.T + model.noise * np.eye(5)
    direct = []
    for x in X:
        o = ~np.isnan(x)
        direct.append(multivariate_normal(model.mean[o], C[np.ix_(o, o)]).logpdf(x[o]) if o.any() else 0.0)
    assert np.allclose(posterior(model, X).log_likelihood, direct)


def test_a_row_without_any_value_is_the_mean_and_a_column_without_any_is_refused() -> None:
    X = planted(6, n=40)[1]
    X[3] = np.nan
    model = lowfold.EMPCA(2).fit(X)
    assert np.allclose(model.embedding_[3], 0, atol=1e-10)
    assert np.allclose(model.impute(X)[3], model.mean_)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="feature 2 of X has no observed value"):
        lowfold.EMPCA(2).fit(X)
    with pytest.raises(ValueError, match="no density"):
        lowfold.EMPCA(2, noise="none").fit(planted(0)[1]).score_samples(planted(0)[1])


def test_exact_low_rank_and_all_dimensions() -> None:
    clean = planted(7)[0]
    model = lowfold.EMPCA(2).fit(clean)
    assert np.allclose(model.inverse_transform(model.embedding_), clean, atol=1e-6)
    small = np.random.default_rng(0).normal(size=(30, 3))
    full = lowfold.EMPCA(3).fit(small)
    assert np.allclose(full.inverse_transform(full.embedding_), small)


def test_not_at_rest_is_said() -> None:
    with pytest.warns(lowfold._core.errors.AccuracyWarning, match="max_iter = 2"):
        lowfold.EMPCA(2, max_iter=2, tol=1e-9).fit(np.random.default_rng(0).normal(size=(50, 9)))
