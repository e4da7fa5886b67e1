"""Robust PCA: outlying rows, and gross errors in single entries."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold.lowrank import low_rank_plus_sparse
from lowfold.lowrank._robust import geometric_median, l1_directions


def angle(V: np.ndarray, W: np.ndarray) -> float:
    """Sine of the largest angle between two spans, columns orthonormal."""
    return float(np.linalg.norm(V - W @ (W.T @ V), 2))


def planted(seed: int, n: int = 200, D: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(D, 3)))[0]
    return (rng.normal(size=(n, 3)) * [5, 4, 3]) @ V.T + 1, V


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_percent_of_gross_errors_change_nothing(seed: int) -> None:
    clean, V = planted(seed, 200, 100)
    rng = np.random.default_rng(seed + 50)
    wrong = np.where(
        rng.random(clean.shape) < 0.1, rng.choice([-1, 1], clean.shape) * rng.uniform(5, 20, clean.shape), 0
    )
    model = lowfold.RobustPCA(3, method="low_rank").fit(clean + wrong)
    assert angle(V, model.components_.T) < 1e-4
    assert angle(V, lowfold.PCA(3).fit(clean + wrong).components_.T) > 0.5
    assert np.abs(model.sparse_.toarray() - wrong).max() < 1e-3
    assert np.abs(model.inverse_transform(model.embedding_) - clean).max() < 1e-3
    assert model.rank_ <= 4  # the mean is one of them
    new, gross = clean[:5] + 0, np.zeros((5, 100))
    gross[:, ::13] = 50
    assert np.allclose(model.transform(new + gross), model.transform(new), atol=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_low_rank_plus_sparse_adds_up(seed: int) -> None:
    clean = planted(seed, 60, 30)[0]
    rng = np.random.default_rng(seed)
    X = clean + np.where(rng.random(clean.shape) < 0.05, 30.0, 0)
    split = low_rank_plus_sparse(X)
    assert split.residual < 1e-6
    assert np.allclose(split.L + split.S, X, atol=1e-4)
    everything = low_rank_plus_sparse(X, penalty=10.0)
    assert np.abs(everything.S).max() < 1e-6  # a dear S stays empty
    assert np.allclose(low_rank_plus_sparse(np.zeros((4, 3))).L, 0)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("method", ["pursuit", "l1", "covariance"])
def test_a_few_outlying_rows_turn_less_than_pca(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)) * [5, 1, 0.5, 0.5]
    X[:4, 1] += 60
    axis = np.eye(4)[:, :1]
    robust = lowfold.RobustPCA(1, method=method).fit(X)
    assert angle(axis, robust.components_.T) < 0.35 < 0.7 < angle(axis, lowfold.PCA(1).fit(X).components_.T)


@pytest.mark.parametrize("method", ["pursuit", "l1", "covariance"])
def test_without_outliers_a_gaussian_gives_the_axes_and_variances_of_pca(method: str) -> None:
    X = np.random.default_rng(5).normal(size=(6000, 3)) * [4, 2, 1] + 9
    model = lowfold.RobustPCA(3, method=method).fit(X)
    assert np.allclose(np.abs(model.components_), np.eye(3), atol=0.08)
    assert np.allclose(model.eigenvalues_, [16, 4, 1], rtol=0.12)
    assert np.allclose(model.components_ @ model.components_.T, np.eye(3))
    assert np.allclose(model.mean_, 9, atol=0.2)
    assert np.allclose(np.linalg.eigvalsh(model.kernel().dense())[::-1], model.eigenvalues_)


def contaminated(seed: int, kind: str, share: float, n: int = 300, D: int = 20) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows about a 3-dimensional subspace, the first of them gone a hundred times as far; the subspace; how many."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(D, 4)))[0]
    X = (rng.normal(size=(n, 3)) * [5, 4, 3]) @ V[:, :3].T + 0.3 * rng.normal(size=(n, D)) + 1
    m = int(share * n)
    if kind == "cloud":
        X[:m] = 500 * rng.normal(size=(m, D)) / np.sqrt(D)
    else:
        sides = rng.choice([-1, 1], m) if kind == "line" else np.ones(m)
        X[:m] += 500 * np.outer(sides * rng.uniform(0.5, 1, m), V[:, 3])
    return X, V[:, :3], m


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["line", "side", "cloud"])
@pytest.mark.parametrize("share", [0.2, 0.4])
def test_a_large_share_of_rows_a_hundred_times_as_far_away(seed: int, kind: str, share: float) -> None:
    X, V, m = contaminated(seed, kind, share)
    model = lowfold.RobustPCA(3).fit(X)
    alone = lowfold.PCA(3).fit(X[m:]).components_.T
    assert angle(V, model.components_.T) < angle(V, alone) + 0.01 < 0.06  # 3.4 degrees
    assert angle(V, lowfold.PCA(3).fit(X).components_.T) > np.sin(np.pi / 4)
    assert model.outliers_[:m].all()
    assert model.outliers_[m:].mean() < 0.08
    assert np.allclose(model.eigenvalues_, lowfold.PCA(3).fit(X[m:]).eigenvalues_, rtol=0.15)


def test_a_majority_in_a_plane_is_found_exactly() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 6))
    X[:60, 2:] = 0.0
    model = lowfold.RobustPCA(2).fit(X)
    assert angle(np.eye(6)[:, :2], model.components_.T) < 1e-12
    assert model.outliers_[60:].all()


def test_many_rows_are_measured_on_some_of_them() -> None:
    X, V, m = contaminated(5, "line", 0.3, n=12_000, D=6)
    model = lowfold.RobustPCA(3).fit(X)
    assert angle(V, model.components_.T) < 0.01
    assert model.outliers_[:m].all()
    again = lowfold.RobustPCA(3).fit(X)
    assert np.array_equal(model.embedding_, again.embedding_)


def test_l1_directions_beat_random_ones() -> None:
    rng = np.random.default_rng(6)
    A = rng.standard_t(2, size=(80, 5))
    W = l1_directions(A, 2)
    best = np.abs(A @ W[:, 0]).sum()
    for _ in range(200):
        w = rng.normal(size=5)
        assert np.abs(A @ w).sum() / np.linalg.norm(w) <= best * 1.02
    assert np.allclose(W.T @ W, np.eye(2))
    again = np.where(A @ W[:, 0] < 0, -1.0, 1.0) @ A
    assert np.allclose(again / np.linalg.norm(again), W[:, 0])  # a fixed point


def test_the_median_minimises_the_sum_of_distances() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(51, 3))
    X[:20] += 1000
    m = geometric_median(X)
    best = np.linalg.norm(X - m, axis=1).sum()
    assert np.linalg.norm(m) < 10
    for _ in range(50):
        assert np.linalg.norm(X - m - 0.1 * rng.normal(size=3), axis=1).sum() >= best
    assert np.allclose(geometric_median(np.ones((5, 2))), 1)


def test_a_penalty_belongs_to_low_rank() -> None:
    with pytest.raises(ValueError, match="penalty of RobustPCA belongs"):
        lowfold.RobustPCA(2, penalty=1.0).fit(np.random.default_rng(0).normal(size=(20, 3)))
