"""The matrix facts that the methods rest on, as properties of our own functions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowfold
from lowfold import dimension
from lowfold._core.operators import DenseOperator
from lowfold.kernels._functions import Mercer
from lowfold.lowrank import principal_axes
from lowfold.spectral import largest, smallest
from lowfold.spectral._doors import top_singular

SEEDS = st.integers(0, 10_000)


def frame(rng: np.random.Generator, D: int, k: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(D, k)))[0]


def symmetric(rng: np.random.Generator, D: int) -> np.ndarray:
    A = rng.normal(size=(D, D))
    return A + A.T


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n=st.integers(4, 12), D=st.integers(4, 12), k=st.integers(1, 3))
def test_eckart_young(seed: int, n: int, D: int, k: int) -> None:
    """The first k singular triplets are the best matrix of rank k: spectral error sigma_(k+1), Frobenius sqrt of the
    rest.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    U, s, V, _ = top_singular(X, k)
    best = X - U * s @ V.T
    sigma = np.linalg.svd(X, compute_uv=False)
    assert np.isclose(np.linalg.norm(best), np.sqrt((sigma[k:] ** 2).sum()))
    assert np.isclose(np.linalg.norm(best, 2), sigma[k])
    for _ in range(5):
        other = rng.normal(size=(n, k)) @ rng.normal(size=(k, D))
        other *= (other * X).sum() / np.square(other).sum()  # at its best length
        assert np.linalg.norm(X - other) >= np.linalg.norm(best) - 1e-9
        assert np.linalg.norm(X - other, 2) >= sigma[k] - 1e-9


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, D=st.integers(3, 10), data=st.data())
def test_courant_fischer(seed: int, D: int, data: st.DataObject) -> None:
    """lambda_k = max over k-frames of the least, = min over (D-k+1)-frames of the largest eigenvalue of V'AV."""
    k = data.draw(st.integers(1, D - 1))
    rng = np.random.default_rng(seed)
    A = symmetric(rng, D)
    top, low = largest(DenseOperator(A), k, negligible=np.inf), smallest(DenseOperator(A), D - k + 1, negligible=np.inf)
    value = top.values[-1]
    assert np.isclose(np.linalg.eigvalsh(top.vectors.T @ A @ top.vectors)[0], value)
    assert np.isclose(np.linalg.eigvalsh(low.vectors.T @ A @ low.vectors)[-1], value)
    for _ in range(5):
        V, W = frame(rng, D, k), frame(rng, D, D - k + 1)
        assert np.linalg.eigvalsh(V.T @ A @ V)[0] <= value + 1e-9
        assert np.linalg.eigvalsh(W.T @ A @ W)[-1] >= value - 1e-9


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, D=st.integers(3, 10), data=st.data())
def test_ky_fan(seed: int, D: int, data: st.DataObject) -> None:
    """max tr V'AV = sum of the k largest, min = sum of the k smallest; sums of singular values obey the triangle
    inequality.
    """
    k = data.draw(st.integers(1, D - 1))
    rng = np.random.default_rng(seed)
    A, B = symmetric(rng, D), rng.normal(size=(D, D))
    high = largest(DenseOperator(A), k, negligible=np.inf).values.sum()
    low = smallest(DenseOperator(A), k, negligible=np.inf).values.sum()
    for _ in range(5):
        V = frame(rng, D, k)
        assert low - 1e-9 <= np.trace(V.T @ A @ V) <= high + 1e-9

    def norm(M: np.ndarray) -> float:
        return float(top_singular(M, k)[1].sum())

    assert norm(A + B) <= norm(A) + norm(B) + 1e-9


@pytest.mark.parametrize(("D", "d"), [(3, 1), (5, 2), (6, 4)])
@pytest.mark.parametrize("unit", [0.0, 1j])
def test_dimension_of_the_stiefel_manifold(D: int, d: int, unit: complex) -> None:
    """Frames near one frame differ in D d - d (d + 1) / 2 directions (real), 2 D d - d^2 (complex), says `linear`."""
    rng = np.random.default_rng(0)

    def near(V: np.ndarray, size: float) -> np.ndarray:
        """The frame next to V + noise: its polar factor."""
        U, _, Wt = np.linalg.svd(V + size * (rng.normal(size=(D, d)) + unit * rng.normal(size=(D, d))))
        return np.asarray(U[:, :d] @ Wt)

    V = near(np.zeros((D, d)), 1.0)
    frames = np.array([near(V, 1e-3).ravel() for _ in range(400)])
    found = dimension.linear(np.hstack([frames.real, frames.imag] if unit else [frames]), rule="gap", n_resamples=0)
    assert found.value == (2 * D * d - d * d if unit else D * d - d * (d + 1) // 2)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 20), kernel=st.sampled_from(["linear", "poly", "rbf", "laplacian", "cosine"]))
def test_named_kernels_have_psd_gram_matrices(seed: int, n: int, kernel: str) -> None:
    X = np.random.default_rng(seed).normal(size=(n, 3))
    K = Mercer(kernel, 0.7, 3, 0.5)(X, X)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-10 * max(values[-1], 1)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 15))
def test_a_gaussian_gram_matrix_of_distinct_points_has_full_rank(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.permutation(np.arange(40.0))[:n, None] + 0.2 * rng.random((n, 1))  # never nearer than 0.8
    K = Mercer("rbf", 1.0)(X, X)
    assert np.linalg.eigvalsh(K)[0] > 1e-3
    twice = Mercer("rbf", 1.0)(np.vstack([X, X[:1]]), np.vstack([X, X[:1]]))
    assert np.linalg.matrix_rank(twice, tol=1e-6) == n


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n=st.integers(3, 12), D=st.integers(2, 12))
def test_gram_and_covariance_have_the_same_spectrum(seed: int, n: int, D: int) -> None:
    """X'X (Xv) = lambda (Xv): the dual route, directions divided by sqrt(lambda); at most n - 1 after centring."""
    X = np.random.default_rng(seed).normal(size=(n, D))
    mean = X.mean(axis=0)
    k = min(n - 1, D)
    runs = [lowfold._core.run.Run(solver=solver) for solver in ("covariance", "gram", "svd")]
    axes = [principal_axes(X, mean, k, run=run) for run in runs]
    for other in axes[1:]:
        assert np.allclose(other.pairs.values, axes[0].pairs.values, atol=1e-9)
        assert np.allclose(other.V @ other.V.T, axes[0].V @ axes[0].V.T, atol=1e-5)
        assert np.isclose(other.total, axes[0].total)
    assert np.isclose(axes[0].pairs.values.sum(), axes[0].total)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_new_point_at_the_mean_changes_no_axis(seed: int) -> None:
    """Out of sample equals refitting where mean and directions do not change."""
    X = np.random.default_rng(seed).normal(size=(30, 4)) * [4, 3, 2, 1]
    model = lowfold.PCA(2).fit(X)
    again = lowfold.PCA(2).fit(np.vstack([X, X.mean(axis=0)]))
    assert np.allclose(again.transform(X), model.embedding_)
    features = lowfold.lowrank.veronese(X, 2, weighted=True)
    centre = np.linalg.lstsq(features.T, features.mean(axis=0), rcond=None)[0]
    K = features @ features.T
    row = K @ centre  # k(x, .) of a point whose feature vector is the mean
    fitted = lowfold.KernelPCA(2, kernel="precomputed").fit(K)
    assert np.allclose(fitted.transform(row[None]), 0, atol=1e-8)
