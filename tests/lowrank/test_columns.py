from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
from scipy.stats import chisquare
from tests.lowrank.matrices import with_eigenvalues, with_singular_values

from lowfold import lowrank
from lowfold._core.errors import AccuracyWarning, InvalidInput
from lowfold.lowrank._columns import log_symmetric_polynomials


def schur(G, J):
    rest = np.setdiff1d(np.arange(len(G)), J)
    return G[np.ix_(rest, rest)] - G[np.ix_(rest, J)] @ np.linalg.solve(G[np.ix_(J, J)], G[np.ix_(J, rest)])


@pytest.mark.parametrize("make", [lowrank.nystrom_approximation, lowrank.nystrom_orthogonal])
def test_nystrom_errs_by_the_schur_complement(make):
    G = with_eigenvalues(0.6 ** np.arange(20), 20)
    J = np.array([3, 7, 11, 0])
    found = make(G, J)
    left = G - found.dense()
    assert np.allclose(left[J], 0, atol=1e-10)
    assert np.linalg.eigvalsh(left)[0] > -1e-10
    assert np.linalg.norm(left, 2) == pytest.approx(np.linalg.norm(schur(G, J), 2), rel=1e-8)
    if found.orthogonal:
        assert np.allclose(found.V.T @ found.V, np.eye(4), atol=1e-9)
        assert np.all(np.diff(found.values) <= 0)


def test_nystrom_is_exact_at_the_rank_of_the_block():
    G = with_eigenvalues([4.0, 2.0, 1.0], 15, 2)
    for make in (lowrank.nystrom_approximation, lowrank.nystrom_orthogonal):
        assert np.allclose(make(G, [0, 5, 9]).dense(), G)
    assert np.allclose(lowrank.nystrom_orthogonal(G, [0, 5, 9]).values, [4, 2, 1])


def test_extended_vectors_continue_those_of_the_block():
    G = with_eigenvalues(0.5 ** np.arange(10), 10, 1)
    found = lowrank.nystrom_approximation(G, [1, 4])
    assert np.allclose(found.V[[1, 4]].T @ found.V[[1, 4]], np.eye(2))
    assert np.allclose(G[:, [1, 4]] @ found.V[[1, 4]], found.V * found.values)


def test_a_singular_block_is_told():
    G = with_eigenvalues([4.0, 2.0], 10)
    with pytest.warns(AccuracyWarning, match="4 columns span 2 directions"):
        assert np.allclose(lowrank.nystrom_approximation(G, [0, 1, 2, 3]).dense(), G)
    with pytest.raises(InvalidInput, match="no positive eigenvalue"):
        lowrank.nystrom_approximation(np.zeros((3, 3)), [0])
    for bad in ([0, 0], [10], [-1], [0.5], []):
        with pytest.raises(InvalidInput, match="columns"):
            lowrank.nystrom_approximation(G, bad)


@pytest.mark.parametrize("seed", range(3))
def test_weights_minimise_over_the_columns_of_the_square_root(seed):
    """Theorem 15.4 with the inverse; it needs A = G^1/2."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((8, 8))
    G = B @ B.T
    J = np.array([0, 2, 5])
    w = lowrank.optimal_weights(G, J)
    A = np.real(scipy.linalg.sqrtm(G))
    terms = np.stack([np.outer(A[:, j], A[:, j]).ravel() for j in J], axis=1)
    assert np.allclose(w, np.linalg.lstsq(terms, G.ravel(), rcond=None)[0])
    error = np.linalg.norm(G.ravel() - terms @ w) ** 2
    Q, rest = G**2, np.setdiff1d(np.arange(8), J)
    Y, Z = Q[np.ix_(J, rest)], Q[np.ix_(rest, rest)]
    assert error == pytest.approx((Z - Y.T @ np.linalg.solve(Q[np.ix_(J, J)], Y)).sum())
    assert (Z - Y.T @ Q[np.ix_(J, J)] @ Y).sum() < 0  # as printed, without the inverse
    L = np.linalg.cholesky(G)
    terms = np.stack([np.outer(L[:, j], L[:, j]).ravel() for j in J], axis=1)
    assert not np.allclose(np.linalg.norm(G.ravel() - terms @ w) ** 2, error, rtol=0.1)


def test_greedy_is_exact_at_the_rank_and_never_better_than_the_best():
    G = with_eigenvalues([4.0, 2.0, 1.0], 20)
    assert np.allclose(lowrank.greedy(G, 3).dense(), G)
    G = with_eigenvalues(0.7 ** np.arange(20), 20)
    found = lowrank.greedy(G, 5)
    assert min(lowrank.approximation_error(G, found.dense(), 5)) >= 1
    assert np.linalg.eigvalsh(found.dense())[0] > -1e-12
    norms = np.linalg.norm(G, axis=0)
    assert set(found.columns) == set(np.argsort(-norms)[:5])
    drawn = lowrank.greedy(G, 5, columns=lowrank.sample_kdpp(G, 5, random_state=0))
    assert min(lowrank.approximation_error(G, drawn.dense(), 5)) >= 1


def test_weights_change_nothing_but_where_one_is_zero():
    G = with_eigenvalues(0.7 ** np.arange(12), 12)
    found = lowrank.greedy(G, 4)
    Q, _ = np.linalg.qr(G[:, found.columns])
    assert np.allclose(found.dense(), Q @ Q.T @ G @ Q @ Q.T)


def test_repeated_columns_of_greedy_lower_the_rank():
    G = np.ones((4, 4))
    found = lowrank.greedy(G, 2)
    assert found.U.shape[1] == 1
    assert np.allclose(found.dense(), G)


def subsets(G, k):
    found = list(combinations(range(len(G)), k))
    return found, np.array([np.linalg.det(G[np.ix_(J, J)]) for J in found])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_subsets_come_as_often_as_their_determinants_say(k):
    rng = np.random.default_rng(k)
    B = rng.standard_normal((6, 5))
    G = B @ B.T  # rank 5: some laws are degenerate
    found, det = subsets(G, k)
    number = {J: i for i, J in enumerate(found)}
    draws = 3000
    counts = np.zeros(len(found))
    for _ in range(draws):
        counts[number[tuple(lowrank.sample_kdpp(G, k, random_state=rng))]] += 1
    expected = draws * det / det.sum()
    usual = expected > 5
    assert counts[expected < 1e-9].sum() == 0
    observed = np.append(counts[usual], counts[~usual].sum())
    wanted = np.append(expected[usual], expected[~usual].sum())
    keep = wanted > 0
    assert chisquare(observed[keep], wanted[keep] * observed[keep].sum() / wanted[keep].sum()).pvalue > 1e-3


def test_expected_nystrom_error_of_determinantal_columns():
    """Theorem 15.9, and its exact form for the trace: (k + 1) e_(k+1) / e_k."""
    rng = np.random.default_rng(0)
    B = rng.standard_normal((8, 8))
    G = B @ B.T
    k = 3
    values = np.linalg.eigvalsh(G)[::-1]
    found, det = subsets(G, k)
    p = det / det.sum()
    E = np.exp(log_symmetric_polynomials(values, k + 1)[:, -1])
    assert det.sum() == pytest.approx(E[k])
    errors = [G - lowrank.nystrom_approximation(G, J).dense() for J in found]
    trace = p @ [np.trace(e) for e in errors]
    frobenius = p @ [np.linalg.norm(e) for e in errors]
    assert trace == pytest.approx((k + 1) * E[k + 1] / E[k])
    assert frobenius <= (k + 1) * values[k:].sum()


def test_determinantal_samples_of_larger_matrices():
    G = with_eigenvalues(0.9 ** np.arange(200), 200)
    for seed in range(3):
        J = lowrank.sample_kdpp(G, 30, random_state=seed)
        assert len(set(J.tolist())) == 30
        assert np.array_equal(J, lowrank.sample_kdpp(G, 30, random_state=seed))
    assert np.array_equal(lowrank.sample_kdpp(np.eye(5), 5, random_state=0), np.arange(5))
    with pytest.raises(InvalidInput, match="rank 2"):
        lowrank.sample_kdpp(with_eigenvalues([1.0, 1.0], 6), 3)
    with pytest.raises(InvalidInput, match="semidefinite"):
        lowrank.sample_kdpp(np.diag([1.0, -1.0]), 1)


@pytest.mark.parametrize("seed", range(4))
def test_randomized_svd_of_the_book(seed):
    m, n, k = 120, 90, 10
    sigma = 1 / np.arange(1, n + 1)
    A = with_singular_values(sigma, m, n, seed)
    found = lowrank.randomized_svd(A, k, truncate_first=True, random_state=seed)
    assert np.allclose(found.U.T @ found.U, np.eye(k))
    assert np.allclose(found.V.T @ found.V, np.eye(k))
    assert np.allclose(found.dense(), A @ found.V @ found.V.T)  # Q and V span the same
    assert np.all(found.s <= sigma[:k] * (1 + 1e-12))
    error = np.linalg.norm(A - found.dense(), 2)
    assert error <= 2.5 * sigma[k]
    assert error <= lowrank.error_bound(m, n, k, kind="svd").xi * sigma[k]
    decay = lowrank.error_bound(m, n, k, kind="svd", j=15)
    assert error <= decay.xi * sigma[k] + decay.eta * sigma[k + 15]
    late = lowrank.randomized_svd(A, k, random_state=seed)
    assert np.all(late.s <= sigma[:k] * (1 + 1e-12))
    assert np.linalg.norm(A - late.dense(), 2) <= 1.6 * sigma[k]


def test_randomized_svd_is_exact_at_the_rank_and_sharper_with_power_steps():
    A = with_singular_values([3.0, 2.0, 1.0], 40, 60)
    for first in (False, True):
        assert np.allclose(lowrank.randomized_svd(A, 3, truncate_first=first).dense(), A)
    A = with_singular_values(1 / np.arange(1, 41) ** 0.5, 60, 40)
    for first in (False, True):
        errors = [
            lowrank.approximation_error(A, lowrank.randomized_svd(A, 5, n_iter=q, truncate_first=first).dense(), 5)[0]
            for q in (0, 4)
        ]
        assert errors[1] < errors[0]
        assert errors[1] < 1.05
    with pytest.raises(InvalidInput, match="0 or more"):
        lowrank.randomized_svd(A, 5, n_iter=-1)


def test_a_subspace_drawn_without_the_data_is_useless():
    A = with_singular_values(10.0 ** -np.arange(0, 21, dtype=float), 200, 100)
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((200, 20)))
    assert np.linalg.norm(A - Q @ (Q.T @ A), 2) > 0.5
    assert np.linalg.norm(A - lowrank.randomized_svd(A, 20, truncate_first=True).dense(), 2) < 1e-10
