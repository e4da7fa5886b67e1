from __future__ import annotations

import math

import numpy as np
import pytest
from tests.lowrank.matrices import with_singular_values

from lowfold import lowrank
from lowfold._core.errors import InvalidInput
from lowfold.lowrank import jl_min_dim
from lowfold.lowrank._errors import failure_probability, too_large, too_small


@pytest.mark.parametrize("seed", range(4))
def test_no_rank_d_matrix_beats_the_truncated_svd(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((9, 7))
    U, s, Vt = np.linalg.svd(A)
    for d in range(1, 7):
        best = (U[:, :d] * s[:d]) @ Vt[:d]
        assert lowrank.approximation_error(A, best, d) == pytest.approx((1, 1))
        assert np.linalg.norm(A - best, 2) == pytest.approx(s[d])
        other = rng.standard_normal((9, d)) @ rng.standard_normal((d, 7))
        assert min(lowrank.approximation_error(A, other, d)) >= 1


def test_exact_rank_leaves_no_ratio_but_one_or_infinity():
    A = with_singular_values([3.0, 1.0], 6, 5)
    assert lowrank.approximation_error(A, A, 2) == (1.0, 1.0)
    assert lowrank.approximation_error(A, 0.9 * A, 2) == (math.inf, math.inf)


def test_the_spectral_constant_one_does_not_determine_the_approximation():
    A = np.diag([4.0, 2.0])
    assert lowrank.approximation_error(A, np.diag([3.0, 0.0]), 1).spectral == pytest.approx(1.0)
    assert lowrank.approximation_error(A, np.diag([3.0, 0.0]), 1).frobenius > 1


def test_subspace_distance_is_the_sine_of_the_largest_angle():
    rng = np.random.default_rng(1)
    U, V = np.linalg.qr(rng.standard_normal((8, 3)))[0], np.linalg.qr(rng.standard_normal((8, 3)))[0]
    assert lowrank.subspace_distance(U, V) == pytest.approx(np.linalg.norm(U - V @ (V.T @ U), 2))
    assert lowrank.subspace_distance(U, V) == pytest.approx(lowrank.subspace_distance(V, U))
    assert lowrank.subspace_distance(U, 2 * U[:, ::-1]) < 1e-12
    assert lowrank.subspace_distance(np.eye(4)[:, :2], np.eye(4)[:, 2:]) == pytest.approx(1)
    with pytest.raises(InvalidInput, match="one dimension"):
        lowrank.subspace_distance(U, V[:, :2])


def test_a_badly_conditioned_factor_reveals_nothing():
    U, s, Vt = np.linalg.svd(np.random.default_rng(0).standard_normal((6, 6)))
    assert lowrank.is_rank_revealing(U, s, Vt.T)
    assert not lowrank.is_rank_revealing(U, s[::-1], Vt.T)
    assert not lowrank.is_rank_revealing(U, -s[::-1], Vt.T)
    X = U.copy()
    X[:, 0] = X[:, 1] + 1e-6 * X[:, 0]
    assert not lowrank.is_rank_revealing(X, s, Vt.T)


def test_constants_of_the_corollaries():
    # beta = 9/16 stands for the square: at beta itself the printed 1e-17 would be 3.5e-15.
    assert too_small(25, 5, 9 / 16) == pytest.approx(8.3e-18, rel=0.02)
    assert too_small(25, 5, (9 / 16) ** 2) == pytest.approx(3.5e-15, rel=0.02)
    for m, n, k in [(100, 80, 3), (500, 400, 20), (10_000, 9_000, 50), (60, 60, 30)]:
        bound = lowrank.error_bound(m, n, k)
        assert bound.xi < 10 * math.sqrt(k * (k + 20) * m * n)
        assert bound.probability >= 1 - 1e-15
        assert lowrank.error_bound(m, n, k, kind="svd").xi < 10 * math.sqrt((k + 20) * m)
    assert failure_probability(100, 5, 25, 9 / 16, 5.0) < 1e-17


def test_largest_and_smallest_singular_values_of_gaussian_matrices():
    rng = np.random.default_rng(3)
    trials = 4000
    G = rng.standard_normal((trials, 8, 5))
    s = np.linalg.svd(G, compute_uv=False)
    assert (s[:, 0] <= math.sqrt(2 * 8 * 1.6)).mean() >= 1 - too_large(8, 1.6)
    for beta in (1.0, 4.0, 16.0):
        share = (s[:, -1] >= 1 / math.sqrt(8 * beta)).mean()
        assert share >= 1 - too_small(8, 5, beta) - 3 * math.sqrt(too_small(8, 5, beta) / trials)
    # The printed pair, 1 / sqrt(l beta) with p~ at beta instead of its root, is violated.
    assert (s[:, -1] >= 1 / math.sqrt(8 * 2.0)).mean() < 1 - too_small(8, 5, 4.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_left_inverse_of_the_proofs(seed):
    """F = U [G1^-; 0] with G U = [G1 | G2]: ||F G A - A|| <= sigma_(k+1) sqrt(2 l m b g + 1), and its decay form."""
    m, n, k, l, j, b, g = 40, 30, 4, 24, 6, 9 / 16, 5.0  # noqa: E741
    sigma = 1.0 / np.arange(1, 31) ** 2
    A = with_singular_values(sigma, m, n, seed)
    U = np.linalg.svd(A)[0]
    G = np.random.default_rng(seed + 10).standard_normal((l, m))
    F = U @ np.vstack([np.linalg.pinv((G @ U)[:, :k]), np.zeros((m - k, l))])
    error = np.linalg.norm(F @ G @ A - A, 2)
    assert error <= sigma[k] * math.sqrt(2 * l * m * b * g + 1)
    m1, m2 = max(m - k - j, l), max(j, l)
    assert error <= sigma[k] * math.sqrt(2 * l * m2 * b * g + 1) + sigma[k + j] * math.sqrt(2 * l * m1 * b * g + 1)
    R = G @ A
    Q = np.linalg.svd(R)[2][:k].T
    assert np.linalg.norm(F @ (R - R @ Q @ Q.T), 2) <= math.sqrt(2 * l * m * b * g) * sigma[k]
    assert np.linalg.norm(F, 2) <= math.sqrt(l * b)
    left = A - A @ Q @ Q.T
    right = (A - F @ R + F @ R - F @ R @ Q @ Q.T) @ (np.eye(n) - Q @ Q.T)
    assert np.allclose(left, right)


@pytest.mark.parametrize("kwargs", [dict(l=3), dict(l=200), dict(beta=0.0), dict(gamma=1.0), dict(j=0), dict(j=90)])
def test_sizes_outside_the_theorems_are_refused(kwargs):
    with pytest.raises(InvalidInput):
        lowrank.error_bound(100, 80, 5, **kwargs)


def test_random_projections_would_need_hundreds_of_dimensions():
    assert jl_min_dim(10_000, 0.5) == 443  # the text's 331 belongs to a factor 3 instead of 4
