"""Classical MDS: recovers configurations, equals PCA, repairs and reports what is not Euclidean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowfold
from lowfold._core.errors import AccuracyWarning, RepairWarning


def points(seed: int, n: int = 40, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(3, 1, d)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_distances_are_reproduced(seed: int) -> None:
    D = cdist(points(seed), points(seed))
    model = lowfold.ClassicalMDS(3, metric="precomputed").fit(D)
    Y = model.embedding_
    assert np.allclose(cdist(Y, Y), D)
    assert np.allclose(Y.sum(axis=0), 0, atol=1e-9)
    assert np.allclose(Y.T @ Y, np.diag(model.eigenvalues_), atol=1e-8)
    assert abs(model.strain_) < 1e-8 * (D**2).sum()


@pytest.mark.parametrize("seed", [0, 1])
def test_three_kinds_of_input_and_pca_agree(seed: int) -> None:
    X = points(seed, d=5)
    pca = lowfold.PCA(2).fit(X)
    for metric, matrix in {
        "euclidean": X,
        "precomputed": cdist(X, X),
        "precomputed_squared": cdist(X, X) ** 2,
        "precomputed_similarity": X @ X.T,
    }.items():
        model = lowfold.ClassicalMDS(2, metric=metric).fit(matrix)
        assert np.allclose(np.abs(model.embedding_), np.abs(pca.embedding_), atol=1e-6)
        assert np.allclose(model.eigenvalues_, pca.eigenvalues_ * (len(X) - 1))


def test_strain_is_twice_n_times_what_is_left_out() -> None:
    X = points(4, n=30, d=6)
    D = cdist(X, X)
    model = lowfold.ClassicalMDS(2, metric="precomputed").fit(D)
    Y = model.embedding_
    left = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[2:]
    assert np.isclose(model.strain_, 2 * len(X) * (left**2).sum())
    assert np.isclose(model.strain_, (D**2 - cdist(Y, Y) ** 2).sum())


def test_new_points_by_their_distances() -> None:
    X, new = points(5), points(6, n=7)
    model = lowfold.ClassicalMDS(3, metric="precomputed").fit(cdist(X, X))
    placed = model.transform(cdist(new, X))
    assert np.allclose(cdist(placed, model.embedding_), cdist(new, X))


def test_repairs_are_told() -> None:
    X = points(7)
    D = cdist(X, X)
    lopsided = D.copy()
    lopsided[0, 1] *= 1.5
    with pytest.warns(RepairWarning, match="not symmetric"):
        model = lowfold.ClassicalMDS(2, metric="precomputed").fit(lopsided)
    mean = lowfold.ClassicalMDS(2, metric="precomputed").fit((lopsided + lopsided.T) / 2)
    assert np.allclose(model.embedding_, mean.embedding_)
    with pytest.warns(RepairWarning, match="itself is not zero"):
        lowfold.ClassicalMDS(2, metric="precomputed").fit(D + np.eye(len(D)))


def test_what_cannot_be_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="square"):
        lowfold.ClassicalMDS(metric="precomputed").fit(np.ones((4, 5)))
    D = cdist(points(8), points(8))
    D[2, 3] = D[3, 2] = np.nan
    with pytest.raises(ValueError, match="points 2 and 3 is nan"):
        lowfold.ClassicalMDS(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="0 or more"):
        lowfold.ClassicalMDS(metric="precomputed").fit(-np.ones((4, 4)))


def test_not_euclidean_and_the_additive_constant() -> None:
    cycle = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)
    assert not lowfold.spectral.is_euclidean(cycle)
    with pytest.warns(AccuracyWarning, match="not positive semidefinite"):
        model = lowfold.ClassicalMDS(3, metric="precomputed").fit(cycle)
    assert model.negative_energy_ == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    D = rng.random((12, 12)) + 0.5
    D = np.triu(D, 1) + np.triu(D, 1).T
    shifted = lowfold.ClassicalMDS(10, metric="precomputed", additive_constant=True).fit(D)
    off = shifted.shift_ * (1 - np.eye(12))
    Y = shifted.embedding_
    assert np.allclose(cdist(Y, Y), D + off, atol=1e-6)
    assert not lowfold.spectral.is_euclidean(D + 0.99 * off)
    with pytest.raises(ValueError, match="additive constant"):
        shifted.transform(D[:2] + 0.1)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_added_to_the_squares_keeps_the_directions(seed: int) -> None:
    D = np.random.default_rng(seed).random((15, 15)) + 0.5
    D = np.triu(D, 1) + np.triu(D, 1).T
    model = lowfold.ClassicalMDS(13, metric="precomputed", additive_constant="squares").fit(
        D
    )  # n - 2 dimensions hold it
    squares = D**2 + model.shift_ * (1 - np.eye(15))
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), np.sqrt(squares), atol=1e-6)
    assert not lowfold.spectral.is_euclidean(np.sqrt(D**2 + 0.99 * model.shift_ * (1 - np.eye(15))))
    H = np.eye(15) - 1 / 15
    values = np.sort(np.linalg.eigvalsh(-0.5 * H @ D**2 @ H))
    assert model.shift_ == pytest.approx(-2 * values[0])
    np.testing.assert_allclose(model.eigenvalues_[:3], values[::-1][:3] + model.shift_ / 2, rtol=1e-8)
    np.testing.assert_allclose(model.operator().dense(), -0.5 * H @ squares @ H, atol=1e-10)
    with pytest.raises(ValueError, match="additive constant"):
        model.transform(D[:2] + 0.1)


def test_intrinsic_configuration_dimension() -> None:
    for d in (1, 2, 4):
        X = points(d, d=d)
        assert lowfold.spectral.configuration_dimension(cdist(X, X)) == d


def test_a_map_of_cities_from_great_circle_distances() -> None:
    degrees = np.array([[51.51, -0.13], [53.48, -2.24], [55.95, -3.19], [51.48, -3.18], [52.49, -1.89], [54.97, -1.61]])
    phi, lam = np.radians(degrees).T
    cosine = np.sin(phi)[:, None] * np.sin(phi) + np.cos(phi)[:, None] * np.cos(phi) * np.cos(lam[:, None] - lam)
    D = 6371 * np.arccos(np.clip(cosine, -1, 1))
    np.fill_diagonal(D, 0)
    Y = lowfold.ClassicalMDS(2, metric="precomputed").fit_transform(D)
    assert np.abs(cdist(Y, Y) - D).max() < 1.0  # kilometres
