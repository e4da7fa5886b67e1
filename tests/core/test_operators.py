"""Operators against the dense formulas they stand for, and stacks of small problems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.operators import CentredGram, DenseOperator, Operator, SparseOperator, multiply
from lowfold._core.stacks import singular_values, stacked_eigh, stacked_eigvalsh, stacked_svd


def centring(n: int) -> np.ndarray:
    return np.eye(n) - np.full((n, n), 1 / n)


def distances(n: int, seed: int) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return cdist(X, X)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
@pytest.mark.parametrize("shift", [0.0, 1.7])
@pytest.mark.parametrize("seed", [0, 1])
def test_centred_gram_is_minus_half_h_d2_h(n: int, shift: float, seed: int) -> None:
    D = distances(n, seed)
    H = centring(n)
    shifted = D + shift * (1 - np.eye(n))
    truth = -0.5 * H @ shifted**2 @ H
    op = CentredGram(D, shift=shift)
    V = np.random.default_rng(seed).normal(size=(n, 4))
    np.testing.assert_allclose(op.dense(), truth, atol=1e-12)
    np.testing.assert_allclose(op.apply(V), truth @ V, atol=1e-11)
    np.testing.assert_allclose(op.apply(np.ones((n, 1))), 0.0, atol=1e-12)
    np.testing.assert_allclose(op.trace(), np.trace(truth), atol=1e-11)
    np.testing.assert_allclose(op.row_means(), (shifted**2).mean(axis=1), atol=1e-12)
    # Wang (2012), eq. (8.7): three ways to the shifted kernel
    Dc, Sc = H @ D @ H, H @ D**2 @ H
    np.testing.assert_allclose(op.dense(), 0.5 * (shift**2 * H - 2 * shift * Dc - Sc), atol=1e-11)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_centred_gram_of_squares_and_of_inner_products(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(30, 4)) + 5.0
    H, D = centring(30), cdist(X, X)
    truth = H @ X @ X.T @ H  # Young and Householder: -1/2 H D2 H is the Gram matrix of the centred points
    for op in (CentredGram(D), CentredGram(D**2, squared=True), CentredGram(X @ X.T, gram=True)):
        V = np.random.default_rng(seed).normal(size=(30, 2))
        np.testing.assert_allclose(op.dense(), truth, atol=1e-10)
        np.testing.assert_allclose(op.apply(V), truth @ V, atol=1e-10)
        np.testing.assert_allclose(op.trace(), np.trace(truth), atol=1e-10)
    S = D**2
    np.testing.assert_allclose(CentredGram(D).trace(), S.sum() / 60, rtol=1e-12)  # tr G = (1/2n) sum s_ij


def test_trace_is_right_for_any_diagonal() -> None:
    D = distances(12, 3) + np.diag(np.arange(12.0))
    for op in (CentredGram(D), CentredGram(D, squared=True), CentredGram(D, gram=True), CentredGram(D, shift=0.3)):
        np.testing.assert_allclose(op.trace(), np.trace(op.dense()), rtol=1e-12)


def test_float32_storage_costs_one_rounding_of_each_distance() -> None:
    D = distances(80, 0)
    V = np.random.default_rng(1).normal(size=(80, 3))
    stored = D.astype(np.float32)
    exact = CentredGram(stored.astype(np.float64))
    np.testing.assert_array_equal(CentredGram(stored).apply(V), exact.apply(V))
    assert CentredGram(stored).apply(V).dtype == np.float64
    K = (D @ D).astype(np.float32)
    np.testing.assert_array_equal(DenseOperator(K).apply(V), DenseOperator(K.astype(np.float64)).apply(V))
    assert stored.dtype == np.float32


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_and_threads_do_not_change_a_product(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    A = random_array((900, 900), density=0.2, rng=rng, format="csr")
    A = csr_array(A + A.T)
    V = rng.normal(size=(900, 5))
    assert A.nnz * 5 > 500_000  # the blocked way
    np.testing.assert_allclose(multiply(A, V, n_jobs=n_jobs), A @ V, rtol=1e-14, atol=1e-12)
    np.testing.assert_array_equal(multiply(A, V, n_jobs=n_jobs), multiply(A, V, n_jobs=3 - n_jobs))
    D = A.toarray()
    np.testing.assert_array_equal(
        DenseOperator(D, n_jobs=n_jobs).apply(V), DenseOperator(D, n_jobs=3 - n_jobs).apply(V)
    )
    np.testing.assert_allclose(DenseOperator(D, n_jobs=n_jobs).apply(V), D @ V, atol=1e-10)


def test_flipped_is_bound_minus_a_and_psd() -> None:
    rng = np.random.default_rng(2)
    W = random_array((40, 40), density=0.3, rng=rng)
    W = csr_array(W + W.T)
    s = 1 / np.sqrt(W.sum(axis=1))
    op = SparseOperator(W).scaled(s)
    np.testing.assert_allclose(op.dense(), s[:, None] * W.toarray() * s, atol=1e-15)
    assert op.bound is None
    markov = SparseOperator(op.matrix, bound=1.0)
    flipped = markov.flipped()
    np.testing.assert_allclose(flipped.dense(), np.eye(40) - op.dense(), atol=1e-15)
    assert flipped.psd
    assert flipped.laplacian
    assert np.linalg.eigvalsh(flipped.dense())[0] > -1e-12
    assert not SparseOperator(csr_array(-W), bound=1.0).flipped().laplacian
    with pytest.raises(InvalidInput, match="bound"):
        op.flipped()
    for operator in (op, DenseOperator(np.eye(2)), CentredGram(np.zeros((2, 2)))):
        assert isinstance(operator, Operator)


def test_stacks_solve_every_member() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 4, 4))
    S = A + A.transpose(0, 2, 1)
    values, vectors = stacked_eigh(S)
    np.testing.assert_allclose(S @ vectors, vectors * values[:, None], atol=1e-12)
    np.testing.assert_allclose(stacked_eigvalsh(S), values, atol=1e-12)
    B = rng.normal(size=(6, 5, 3))
    U, s, Vt = stacked_svd(B)
    assert U.shape == (6, 5, 3)
    np.testing.assert_allclose((U * s[:, None]) @ Vt, B, atol=1e-12)
    np.testing.assert_allclose(singular_values(B), s, atol=1e-12)
    bad = np.full((1, 3, 3), np.nan)
    for solve in (stacked_eigh, stacked_eigvalsh, stacked_svd, singular_values):
        with pytest.raises(SolverFailed, match="small"):
            solve(bad)
