"""Random projections: the matrices, the bounds, the lemmas behind them, draw and check."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import chi2

import lowfold
from lowfold.lowrank import jl_min_dim, random_matrix
from lowfold.lowrank._random_projection import jl_success_probability, lipschitz_constants

KINDS = ("gaussian", "sign", "sparse")


def entries(kind: str, seed: int, k: int = 200, D: int = 500) -> np.ndarray:
    R = random_matrix(kind, k, D, random_state=seed)
    return R.toarray() if scipy.sparse.issparse(R) else R


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_supports_frequencies_and_moments(kind: str, seed: int) -> None:
    R = entries(kind, seed)
    n = R.size
    assert abs(R.mean()) < 4 / math.sqrt(n)
    assert abs((R**2).mean() - 1) < 4 * math.sqrt(2 / n)
    assert abs((R**3).mean()) < 4 * math.sqrt(15 / n)
    fourth = {"gaussian": 3, "sign": 1, "sparse": 3}[kind]
    assert abs((R**4).mean() - fourth) < 4 * math.sqrt(96 / n)
    if kind == "sign":
        assert set(np.unique(R)) == {-1, 1}
    if kind == "sparse":
        assert scipy.sparse.issparse(random_matrix("sparse", 3, 4, random_state=0))
        values, counts = np.unique(R.round(9), return_counts=True)
        assert np.allclose(values, [-math.sqrt(3), 0, math.sqrt(3)])
        assert np.allclose(counts / n, [1 / 6, 2 / 3, 1 / 6], atol=4 * math.sqrt(0.25 / n))
    assert np.array_equal(R, entries(kind, seed))
    assert not np.array_equal(R, entries(kind, seed + 5))
    assert abs(np.corrcoef(R[0], R[1])[0, 1]) < 0.2


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of"):
        random_matrix("uniform", 2, 3)


@pytest.mark.parametrize(
    ("n", "eps", "plain", "older"),
    [(1000, 0.1, 5921, 6663), (1000, 0.5, 332, 375), (100, 0.2, 1063, 1197), (10000, 0.2, 2126, 2393)],
)
def test_bounds_of_the_lemma(n: int, eps: float, plain: int, older: int) -> None:
    assert jl_min_dim(n, eps) == plain
    assert jl_min_dim(n, eps, bound="frankl_maehara") == older
    with_beta = jl_min_dim(n, eps, beta=1.0)
    assert jl_success_probability(n, with_beta, eps) >= 1 - 1 / n
    assert jl_success_probability(n, with_beta - 2, eps) < 1 - 1 / n
    assert jl_success_probability(n, plain, eps) >= 1 / n
    assert jl_success_probability(n, plain // 2, eps) == 0


def test_bounds_refuse_what_makes_no_sense() -> None:
    for call in (lambda: jl_min_dim(1, 0.1), lambda: jl_min_dim(9, 1.0), lambda: jl_min_dim(9, 0.1, beta=-1)):
        with pytest.raises(ValueError, match="must be"):
            call()
    with pytest.raises(ValueError, match="bound"):
        jl_min_dim(9, 0.1, bound="other")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_tails(kind: str, seed: int) -> None:
    """P(|y|^2 <= k/b) < exp(k/2 (1 - 1/b - ln b)), P(|y|^2 >= k b) < exp(k/2 (1 - b + ln b)) for b > 1, |x| = 1."""
    x = np.random.default_rng(seed).normal(size=30)
    y = entries(kind, seed, 20_000, 30) @ (x / np.linalg.norm(x))
    for k, b in itertools.product((2, 5, 20), (1.3, 2.0, 3.0)):
        square = (y.reshape(-1, k) ** 2).sum(axis=1)
        for share, log in (
            ((square <= k / b).mean(), 1 - 1 / b - math.log(b)),
            ((square >= k * b).mean(), 1 - b + math.log(b)),
        ):
            assert share < math.exp(k / 2 * log) + 4 * math.sqrt(share / len(square))


@pytest.mark.parametrize(("n", "eps"), [(20, 0.5), (300, 0.3), (5000, 0.1)])
def test_the_promised_probability_is_below_the_exact_union_bound(n: int, eps: float) -> None:
    """One pair is stretched beyond 1 +- eps with the tails of chi^2_k; n (n - 1) / 2 pairs at most that many times."""
    for k in np.linspace(0.8, 2.0, 9) * jl_min_dim(n, eps):
        k = round(k)
        one = chi2.cdf(k * (1 - eps), k) + chi2.sf(k * (1 + eps), k)
        assert jl_success_probability(n, k, eps) <= max(0.0, 1 - n * (n - 1) / 2 * one)
    k = np.arange(1, jl_min_dim(n, eps))
    exact = k[n * (n - 1) / 2 * (chi2.cdf(k * (1 - eps), k) + chi2.sf(k * (1 + eps), k)) < 1][0]
    assert jl_min_dim(n, eps) < 3 * exact  # safe, but no more than a small factor


def mean_and_error(x: np.ndarray) -> tuple[float, float]:
    """The mean of a sample and its standard error."""
    return float(x.mean()), float(x.std() / math.sqrt(len(x)))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["sign", "sparse"])
def test_moments_are_dominated_by_the_gaussian_ones(kind: str, seed: int) -> None:
    """For unit a the even moments of a'r are at most the Gaussian's (2l)! / (l! 2^l); fourth: 3 - 2 sum a^4, and 3."""
    R = entries(kind, seed, 200_000, 4)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        a = rng.normal(size=4)
        a /= np.linalg.norm(a)
        z = R @ a
        for half in (1, 2, 3):
            mean, error = mean_and_error(z ** (2 * half))
            assert mean <= math.factorial(2 * half) / (math.factorial(half) * 2**half) + 5 * error
        mean, error = mean_and_error(z**4)
        assert abs(mean - (3 - 2 * (a**4).sum() if kind == "sign" else 3)) < 5 * error
        mean, error = mean_and_error(np.exp(0.2 * z**2))
        assert mean <= (1 - 2 * 0.2) ** -0.5 + 5 * error


@pytest.mark.parametrize("kind", KINDS)
def test_squared_lengths_are_kept_on_average(kind: str) -> None:
    x = np.random.default_rng(1).normal(size=(1, 40))
    maps = [random_matrix(kind, 8, 40, random_state=seed) for seed in range(500)]
    y = np.array([np.asarray(R @ x[0]) / math.sqrt(8) for R in maps])
    ratio = np.square(y).sum(axis=1) / np.square(x).sum()
    assert abs(ratio.mean() - 1) < 4 * math.sqrt(2 / 8 / 500)
    assert np.abs(y.mean(axis=0)).max() < 4 * np.linalg.norm(x) / math.sqrt(8 * 500)


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_is_linear_and_does_not_look_at_the_data(kind: str) -> None:
    rng = np.random.default_rng(2)
    A, B = rng.normal(size=(20, 30)), rng.normal(size=(15, 30)) * 7 + 3
    model, other = lowfold.RandomProjection(5, kind=kind).fit(A), lowfold.RandomProjection(5, kind=kind).fit(B)
    assert np.array_equal(model.components_, other.components_)
    assert np.allclose(model.transform(B), B @ model.components_.T)
    assert np.allclose(model.transform(2 * A - 1), 2 * A @ model.components_.T - model.components_.sum(axis=1))
    assert np.allclose(model.kernel().dense(), model.components_.T @ model.components_)
    assert np.allclose(model.transform(model.inverse_transform(model.embedding_)), model.embedding_)


@pytest.mark.parametrize(
    ("kind", "density"), [("gaussian", "auto"), ("sign", "auto"), ("sparse", "auto"), ("sparse", 0.05)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_drawn_in_blocks_or_kept_sparse_or_dense_it_is_one_matrix(
    kind: str, density: float | str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lowfold.methods.random_projection as module

    rng = np.random.default_rng(3)
    X = (rng.normal(size=(25, 1500)) * (rng.random((25, 1500)) < 0.1)).astype(dtype)
    kept = lowfold.RandomProjection(7, kind=kind, density=density).fit(X)
    monkeypatch.setattr(module, "SMALL", 0)
    anew = lowfold.RandomProjection(7, kind=kind, density=density).fit(X)
    assert anew._extend.kept is None
    assert anew.embedding_.dtype == dtype
    tol = 1e-10 if dtype is np.float64 else 1e-4
    assert np.allclose(anew.embedding_, kept.embedding_, atol=tol)
    assert np.allclose(anew.transform(X.astype(np.float64)), anew.embedding_, atol=1e-4)
    assert np.allclose(anew.transform(X.astype(np.float32)), anew.embedding_, atol=1e-4)
    back = anew.inverse_transform(anew.embedding_)
    assert np.allclose(anew.transform(back), anew.embedding_, atol=1e-3 if dtype is np.float32 else 1e-9)
    sparse = lowfold.RandomProjection(7, kind=kind, density=density).fit(scipy.sparse.csr_array(X))
    assert np.allclose(sparse.embedding_, anew.embedding_, atol=tol)
    assert np.allclose(anew.transform(scipy.sparse.csc_array(X)), anew.embedding_, atol=tol)
    monkeypatch.setattr(module, "CHUNK", 0)  # the matrix in pieces of 1,024 features
    for rows in (X, scipy.sparse.csr_array(X)):
        pieces = lowfold.RandomProjection(7, kind=kind, density=density).fit(rows)
        assert np.allclose(pieces.embedding_, anew.embedding_, atol=tol)
        assert np.allclose(rows @ pieces.components_.T, pieces.embedding_, atol=1e-4 if dtype is np.float32 else 1e-9)


def test_orthogonal_rows_and_principal_axes() -> None:
    X = np.random.default_rng(4).normal(size=(40, 60))
    model = lowfold.RandomProjection(10, orthogonalize=True).fit(X)
    P = model.components_ / math.sqrt(6)
    assert np.allclose(P @ P.T, np.eye(10))
    plain = lowfold.RandomProjection(10).fit(X)
    turned = lowfold.RandomProjection(10, rotate=True).fit(X)
    G = turned.embedding_.T @ turned.embedding_
    assert np.allclose(G, np.diag(turned.singular_values_**2), atol=1e-8)
    assert np.allclose(turned.distances(X), plain.distances(X))
    assert np.allclose(turned.transform(X), turned.embedding_)


@pytest.mark.parametrize("kind", KINDS)
def test_draw_and_check(kind: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 800))
    X[3] = X[7]  # coincident points say nothing
    model = lowfold.RandomProjection("auto", kind=kind, eps=0.5, verify=True).fit(X)
    assert model.n_components_ == jl_min_dim(40, 0.5) == model.embedding_.shape[1]
    ratios = [
        np.square(model.embedding_[i] - model.embedding_[j]).sum() / np.square(X[i] - X[j]).sum()
        for i, j in itertools.combinations(range(40), 2)
        if (i, j) != (3, 7)
    ]
    assert np.allclose(model.lipschitz_, (min(ratios), max(ratios)))
    assert model.lipschitz_[0] >= 0.5
    assert model.lipschitz_[1] <= 1.5
    with pytest.raises(ValueError, match="none of 2 random matrices with 3 rows"):
        lowfold.RandomProjection(3, eps=0.1, verify=True, max_tries=2).fit(X)
    tight = lowfold.RandomProjection(45, eps=0.62, verify=True, max_tries=200, kind=kind).fit(X)
    assert tight.n_tries_ >= 1
    sparse = lowfold.RandomProjection("auto", kind=kind, eps=0.5, verify=True).fit(scipy.sparse.csr_array(X))
    assert np.allclose(sparse.lipschitz_, model.lipschitz_)


def test_failures_stay_below_the_proven_rate() -> None:
    X = np.random.default_rng(6).normal(size=(12, 400))
    k = jl_min_dim(12, 0.6, beta=1.0)
    for kind in ("sign", "sparse"):
        failed = 0
        for seed in range(60):
            Y = lowfold.RandomProjection(k, kind=kind, random_state=seed).fit_transform(X)
            low, high = lipschitz_constants(X, Y)
            failed += low < 0.4 or high > 1.6
        assert failed / 60 <= 1 / 12


def test_parameters_that_do_not_belong_together() -> None:
    X = np.random.default_rng(7).normal(size=(20, 30))
    for params, words in (
        ({"n_components": "auto"}, "eps of RandomProjection must be given"),
        ({"eps": 0.5}, "eps of RandomProjection is used with"),
        ({"density": 0.1}, "density of RandomProjection belongs"),
        ({"n_components": "auto", "eps": 0.3}, "more than n_features = 30"),
        ({"n_components": 31, "orthogonalize": True}, "at most n_features = 30"),
    ):
        with pytest.raises(ValueError, match=words):
            lowfold.RandomProjection(**params).fit(X)


def test_isometries_and_clusters() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 5))
    assert np.allclose(lipschitz_constants(X, X @ np.linalg.qr(rng.normal(size=(5, 5)))[0]), 1)
    assert lipschitz_constants(np.ones((4, 2)), np.ones((4, 1))) == (1.0, 1.0)
    cloud = rng.normal(size=(2000, 200)) * np.linspace(1, 50, 200)  # a projection makes an eccentric cluster rounder

    def eccentricity(Y: np.ndarray) -> float:
        return math.sqrt(np.linalg.cond(np.cov(Y.T)))

    assert eccentricity(lowfold.RandomProjection(10).fit_transform(cloud)) < 3 < 40 < eccentricity(cloud)


def test_salt_and_pepper_hardly_moves_a_projected_image() -> None:
    rng = np.random.default_rng(9)
    images = np.clip(rng.normal(size=(20, 1)) + np.cumsum(rng.normal(size=(20, 900)), axis=1) / 20, -2, 2)
    hit = rng.random(images.shape) < 0.02
    spoiled = np.where(hit, rng.choice([-2.0, 2.0], size=images.shape), images)
    model = lowfold.RandomProjection(60).fit(images)
    moved = np.linalg.norm(model.transform(spoiled) - model.embedding_, axis=1)
    apart = model.distances(images)[np.triu_indices(20, 1)]
    assert np.median(moved) < 0.5 * np.median(apart)


def test_more_columns_than_features_are_told_and_lead_back() -> None:
    X = np.random.default_rng(5).normal(size=(12, 4))
    with pytest.warns(UserWarning, match="more than n_features = 4"):
        model = lowfold.RandomProjection(9).fit(X)
    assert np.allclose(model.inverse_transform(model.embedding_), X)
    assert np.allclose(model.components_ @ model.inverse_components_ @ model.embedding_.T, model.embedding_.T)
