from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.lowrank.matrices import kahan, with_singular_values

from lowfold import lowrank
from lowfold._core.errors import InvalidInput


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_largest_volume_have_all_four_properties(seed):
    """Theorem 15.1 by brute force."""
    A = np.random.default_rng(seed).standard_normal((7, 8))
    k, n = 3, 8
    J = max(combinations(range(n), k), key=lambda J: np.linalg.det(A[:, J].T @ A[:, J]))
    # The k x n coefficients of least residual: least squares on the columns chosen.
    P = np.linalg.lstsq(A[:, J], A, rcond=None)[0]
    sigma = np.linalg.svd(A, compute_uv=False)
    assert np.allclose(P[:, J], np.eye(k))
    assert np.abs(P).max() <= 1 + 1e-9
    assert np.linalg.norm(P, 2) <= np.sqrt(k * (n - k) + 1)
    assert np.linalg.svd(P, compute_uv=False)[-1] >= 1 - 1e-12
    assert np.linalg.norm(A[:, J] @ P - A, 2) <= np.sqrt(k * (n - k) + 1) * sigma[k]


@pytest.mark.parametrize("oversampling", [None, 20])
@pytest.mark.parametrize(
    "A",
    [
        np.random.default_rng(0).standard_normal((60, 45)),
        with_singular_values(0.7 ** np.arange(40), 50, 40),
        with_singular_values(1 / np.arange(1, 31), 40, 60),
        kahan(30),
    ],
    ids=["random", "decaying", "wide", "kahan"],
)
def test_bounds_of_the_computed_decomposition(A, oversampling):
    n = A.shape[1]
    sigma = np.linalg.svd(A, compute_uv=False)
    for k in (1, 6, 15):
        found = lowrank.interpolative(A, k, oversampling=oversampling)
        c = np.sqrt(4 * k * (n - k) + 1)
        assert np.array_equal(found.B, A[:, found.columns])
        assert np.allclose(found.P[:, found.columns], np.eye(k))
        assert np.abs(found.P).max() <= 2 + 1e-9
        s = np.linalg.svd(found.P, compute_uv=False)
        assert s[-1] >= 1 - 1e-9
        assert s[0] <= c
        if oversampling is None:
            assert np.linalg.norm(A - found.dense(), 2) <= c * sigma[k]
        elif k + 20 < min(A.shape):
            bound = lowrank.error_bound(*A.shape, k)
            assert np.linalg.norm(A - found.dense(), 2) <= bound.xi * sigma[k]


def test_all_columns_give_the_matrix_back():
    A = np.random.default_rng(4).standard_normal((9, 6))
    assert np.allclose(lowrank.interpolative(A, 6).dense(), A)
    assert np.allclose(lowrank.interpolative(A.T, 6).dense(), A.T)


def test_the_printed_product_with_the_transpose_is_no_approximation():
    A = with_singular_values(0.3 ** np.arange(12), 30, 25)
    found = lowrank.interpolative(A, 6)
    assert np.linalg.norm(A - found.dense(), 2) < 0.02 * np.linalg.norm(A, 2)
    assert np.linalg.norm(A - A @ found.P.T @ found.P, 2) > 0.5 * np.linalg.norm(A, 2)


@pytest.mark.parametrize("oversampling", [None, 10])
@pytest.mark.parametrize("eps", [0.2, 1e-3, 1e-8])
def test_the_fewest_columns_for_a_given_error(eps, oversampling):
    A = with_singular_values(0.6 ** np.arange(50), 80, 60, seed=7)
    found = lowrank.interpolative(A, eps=eps, oversampling=oversampling)
    size = np.linalg.norm(A, 2)
    assert np.linalg.norm(A - found.dense(), 2) <= eps * size
    fewer = lowrank.interpolative(A, found.k - 1, oversampling=oversampling)
    assert np.linalg.norm(A - fewer.dense(), 2) > eps * size
    sigma = np.linalg.svd(A, compute_uv=False)
    assert found.k >= (sigma > eps * size).sum()


@pytest.mark.parametrize("seed", range(5))
def test_randomized_error_stays_below_the_theorems(seed):
    """Theorems 15.5 and 15.6; the bounds are generous: the error is about twice sigma_(k+1)."""
    m, n, k = 120, 90, 10
    sigma = 1.0 / np.arange(1, n + 1)
    A = with_singular_values(sigma, m, n, seed)
    error = np.linalg.norm(A - lowrank.interpolative(A, k, oversampling=20, random_state=seed).dense(), 2)
    assert error <= 6 * sigma[k]
    assert error <= lowrank.error_bound(m, n, k).xi * sigma[k]
    decay = lowrank.error_bound(m, n, k, j=20)
    assert error <= decay.xi * sigma[k] + decay.eta * sigma[k + 20]


def test_randomized_is_exact_at_the_rank_and_repeatable():
    A = with_singular_values([3.0, 2.0, 1.0], 50, 40)
    assert np.allclose(lowrank.interpolative(A, 3, oversampling=20, random_state=4).dense(), A)
    first = lowrank.interpolative(A, 2, oversampling=5, random_state=1)
    assert np.array_equal(first.P, lowrank.interpolative(A, 2, oversampling=5, random_state=1).P)


def test_arguments_in_words():
    for kwargs in (dict(), dict(k=2, eps=0.1)):
        with pytest.raises(InvalidInput, match="either k"):
            lowrank.interpolative(np.eye(4), **kwargs)
    with pytest.raises(InvalidInput, match="above 0"):
        lowrank.interpolative(np.eye(4), eps=0.0)
    with pytest.raises(InvalidInput, match="oversampling"):
        lowrank.interpolative(np.eye(4), 2, oversampling=-1)
