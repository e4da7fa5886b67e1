"""LPP, kernel LPP, NPE, linear LTSA: the nonlinear methods restricted to linear functions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
from sklearn.neighbors import KNeighborsRegressor

import lowfold

LINEAR = ("LPP", "NPE", "LinearLTSA")


def roll(seed: int, n: int = 250) -> np.ndarray:
    return lowfold.datasets.swiss_roll(n, random_state=seed).X


def generalised(model, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centred X, X'KX and X'MX by their definition."""
    M = getattr(model, "degrees_", np.ones(len(X)))
    Xc = X - M @ X / M.sum()
    return Xc, Xc.T @ model.kernel().dense() @ Xc, Xc.T @ np.diag(M) @ Xc


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_solves_the_generalised_problem(name: str, seed: int) -> None:
    X = roll(seed)
    model = getattr(lowfold, name)(3, n_neighbors=12).fit(X)
    Xc, A, B = generalised(model, X)
    assert np.allclose(model.eigenvalues_, scipy.linalg.eigh(A, B, eigvals_only=True), rtol=1e-6)
    a = model.components_.T
    assert np.linalg.norm(A @ a - B @ a * model.eigenvalues_) < 1e-7 * np.linalg.norm(B @ a)
    assert np.allclose(a.T @ B @ a, np.eye(3), atol=1e-8)
    assert np.allclose(model.embedding_, Xc @ a)


@pytest.mark.filterwarnings("ignore:neighbourhoods have 2 directions")  # and rightly: a roll has no third
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_eigenvalues_are_none_below_those_without_the_restriction(seed: int) -> None:
    X = roll(seed)
    for linear, free in (("LPP", "LaplacianEigenmaps"), ("NPE", "LLE"), ("LinearLTSA", "LTSA")):
        bound = getattr(lowfold, free)(3, n_neighbors=12).fit(X).eigenvalues_
        found = getattr(lowfold, linear)(3, n_neighbors=12).fit(X).eigenvalues_
        assert np.all(found >= bound - 1e-10)
    assert np.all(lowfold.LPP(3, n_neighbors=12).fit(X).eigenvalues_ <= 2)


@pytest.mark.parametrize("name", LINEAR)
def test_transform_is_exactly_linear(name: str) -> None:
    X = roll(3)
    model = getattr(lowfold, name)(2).fit(X)
    new = roll(4, 20)
    assert np.allclose(model.transform(new), (new - model.mean_) @ model.components_.T)
    mixed = 0.3 * new[:10] + 0.7 * new[10:]
    assert np.allclose(model.transform(mixed), 0.3 * model.transform(new[:10]) + 0.7 * model.transform(new[10:]))
    Y = model.embedding_
    assert np.allclose(model.transform(model.inverse_transform(Y)), Y)
    least = np.linalg.lstsq(Y, X - model.mean_, rcond=None)[0]  # no linear map back errs less on the data
    assert np.allclose(model.inverse_transform(Y), Y @ least + model.mean_)


@pytest.mark.parametrize("name", [*LINEAR, "KernelLPP"])
def test_more_features_than_points_and_dependent_features(name: str) -> None:
    rng = np.random.default_rng(5)
    wide = rng.random((20, 50))
    model = getattr(lowfold, name)(2, energy=1).fit(wide)
    assert model.rank_ >= 19
    assert np.allclose(model.transform(wide), model.embedding_)
    X = roll(6, 150)
    doubled = np.hstack([X, X @ rng.normal(size=(3, 2)), np.ones((150, 1))])
    plain, fat = (
        getattr(lowfold, name)(2, n_neighbors=10).fit(X),
        getattr(lowfold, name)(2, n_neighbors=10).fit(doubled),
    )
    if name != "KernelLPP":
        assert fat.rank_ == plain.rank_ == 3
    assert np.isfinite(fat.embedding_).all()


def test_wide_data_make_lpp_the_unrestricted_method() -> None:
    """With as many directions as points every function of the points is linear: LPP is Laplacian eigenmaps."""
    X = np.random.default_rng(7).random((30, 60))
    free = lowfold.LaplacianEigenmaps(2, n_neighbors=6, scale="mean").fit(X)
    linear = lowfold.LPP(2, n_neighbors=6, energy=1).fit(X)
    assert np.allclose(linear.eigenvalues_, free.eigenvalues_)
    assert np.allclose(np.abs(linear.embedding_), np.abs(free.embedding_), atol=1e-7)


def test_energy_keeps_directions_of_noise_out() -> None:
    X = np.hstack([roll(8), 1e-3 * np.random.default_rng(8).normal(size=(250, 5))])
    assert lowfold.LPP(2).fit(X).rank_ == 8
    assert lowfold.LPP(2, energy=0.999).fit(X).rank_ == 3
    with pytest.raises(ValueError, match="n_components must be at most 1"):
        lowfold.LPP(2, energy=0.1).fit(X)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_invertible_kernel_gives_laplacian_eigenmaps(seed: int) -> None:
    X = roll(seed)
    free = lowfold.LaplacianEigenmaps(3, n_neighbors=12, scale="mean").fit(X)
    model = lowfold.KernelLPP(3, gamma=0.5, n_neighbors=12, energy=1).fit(X)
    assert model.rank_ == len(X) - 1  # the constant is left out
    assert np.allclose(model.eigenvalues_, free.eigenvalues_)  # the constant does not appear
    assert np.allclose(np.abs(model.embedding_), np.abs(free.embedding_), atol=1e-7)
    K = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))
    assert np.allclose(K @ model.alpha_ - model.offset_, model.embedding_, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_linear_kernel_gives_lpp(seed: int) -> None:
    X = roll(seed)
    linear = lowfold.LPP(3, n_neighbors=12).fit(X)
    model = lowfold.KernelLPP(3, kernel="linear", n_neighbors=12).fit(X)
    assert np.allclose(model.eigenvalues_, linear.eigenvalues_)
    new = roll(seed + 9, 15)
    assert np.allclose(np.abs(model.transform(new)), np.abs(linear.transform(new)), atol=1e-8)


def test_few_eigenvectors_of_the_kernel_are_enough_for_smooth_functions() -> None:
    X = roll(3, 500)
    whole = lowfold.KernelLPP(2, gamma=0.02, n_neighbors=10, energy=1).fit(X)
    part = lowfold.KernelLPP(2, gamma=0.02, n_neighbors=10, n_eigenvectors=150, energy=1).fit(X)
    assert part.rank_ == 150
    assert np.abs(np.corrcoef(whole.embedding_[:, 0], part.embedding_[:, 0])[0, 1]) > 0.98
    assert np.all(part.eigenvalues_ >= whole.eigenvalues_ - 1e-9)


def new_points_right(seed: int, energy: float | None) -> float:
    """Share of new points whose nearest one, of groups with heavy tails, is of their group."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, 500)
    X = 3 * rng.normal(size=(4, 8))[kind] + 0.5 * rng.standard_t(1.5, size=(500, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lowfold.errors.AccuracyWarning)  # single points, which the tails have
        model = lowfold.KernelLPP(3, energy=energy).fit(X[:350])
    far = np.linalg.norm(model.transform(X[350:])[:, None] - model.embedding_[None], axis=2)
    return float((kind[:350][far.argmin(axis=1)] == kind[350:]).mean())


def test_functions_of_a_kernel_do_not_follow_the_noise() -> None:
    """A map of all eigenvectors puts the training points right, and new ones among others' neighbours."""
    cut, whole = ([new_points_right(seed, energy) for seed in range(4)] for energy in (None, 1.0))
    assert np.mean(cut) > np.mean(whole) + 0.04
    assert min(np.subtract(cut, whole)) > -0.02


def noisy_half_cylinder(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """320 points with noise in 60 columns, and their angle and height."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(size=(320, 2))
    turned = np.linalg.qr(rng.normal(size=(60, 3)))[0].T
    X = np.c_[np.cos(3 * t[:, 0]), np.sin(3 * t[:, 0]), t[:, 1]] @ turned
    return X + 0.05 * rng.normal(size=(320, 60)), t


@pytest.mark.parametrize("name", LINEAR)
def test_no_more_axes_than_ten_for_every_hundred_points(name: str) -> None:
    X, _ = noisy_half_cylinder(0)
    model = getattr(lowfold, name)(2).fit(X[:120])
    assert model.rank_ == 12
    assert 0.5 < model.energy_ < 0.98
    assert getattr(lowfold, name)(9).fit(X[:120]).rank_ == 18  # never fewer than two for a coordinate


def test_fewer_axes_place_new_points_better() -> None:
    right = {None: 0.0, 0.98: 0.0}
    for seed in range(20, 28):
        X, t = noisy_half_cylinder(seed)
        for energy in right:
            model = lowfold.LinearLTSA(2, energy=energy).fit(X[:120])
            near = KNeighborsRegressor().fit(model.embedding_, t[:120])
            right[energy] += near.score(model.transform(X[120:]), t[120:]) / 8
    assert right[None] > right[0.98] + 0.02


def test_pieces_are_separated_not_bridged() -> None:
    rng = np.random.default_rng(9)
    X = np.vstack([rng.normal(size=(40, 4)), rng.normal(loc=(60, 0, 0, 0), size=(40, 4))])
    for name in (*LINEAR, "KernelLPP"):
        model = getattr(lowfold, name)(1).fit(X)
        assert model.component_labels_.max() == 1
    first = lowfold.LPP(1).fit(X).embedding_[:, 0]
    assert first[:40].max() < first[40:].min() or first[40:].max() < first[:40].min()


def test_distances_alone_are_refused_in_words() -> None:
    X = roll(0, 50)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.raises(ValueError, match="metric of LPP must be"):
        lowfold.LPP(2, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="points themselves"):
        lowfold.NPE(2).fit(lowfold.LaplacianEigenmaps(2).fit(X).graph_)
    with pytest.raises(ValueError, match="n_neighbors of NPE must be at least 3"):
        lowfold.NPE(2, n_neighbors=2).fit(X)
