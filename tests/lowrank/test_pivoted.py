from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from tests.lowrank.matrices import kahan, with_eigenvalues, with_singular_values

from lowfold import lowrank
from lowfold._core.errors import InvalidInput

CASES = {
    "random": np.random.default_rng(0).standard_normal((30, 22)),
    "wide": np.random.default_rng(1).standard_normal((12, 25)),
    "decaying": with_singular_values(0.5 ** np.arange(20), 25, 20),
    "polynomial": with_singular_values(1.0 / np.arange(1, 21) ** 2, 20, 20, seed=5),
    "kahan": kahan(20),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("f", [1.1, 2.0])
def test_strong_qr_keeps_its_bounds(name, f):
    A = CASES[name]
    n = A.shape[1]
    sigma = np.linalg.svd(A, compute_uv=False)
    for k in (1, 5, 11):
        found = lowrank.rrqr(A, k, f)
        assert np.allclose(found.dense(), A)
        assert np.allclose(found.Q.T @ found.Q, np.eye(min(A.shape)))
        assert np.allclose(np.tril(found.R, -1), 0)
        q = np.sqrt(1 + f**2 * k * (n - k))
        inner = np.linalg.svd(found.R[:k, :k], compute_uv=False)
        outer = np.linalg.svd(found.R[k:, k:], compute_uv=False)
        assert np.all(inner >= sigma[:k] / q * (1 - 1e-9))
        assert np.all(outer <= sigma[k : k + len(outer)] * q * (1 + 1e-9) + 1e-14)
        P = found.coefficients()
        assert np.abs(P).max() <= f * (1 + 1e-9)
        assert np.allclose(A - A[:, found.columns[:k]] @ P, A - found.dense(k), atol=1e-10)


def test_pivoting_alone_fails_on_kahans_matrix():
    n = 60
    A = kahan(n, theta=1.2)
    k = n - 1
    sigma = np.linalg.svd(A, compute_uv=False)
    # Scaled a little so that plain pivoting makes no exchange at all, whatever rounding does.
    A = A * (1 - 1e-10) ** np.arange(n)
    R = scipy.linalg.qr(A, mode="r", pivoting=True)[0]
    plain = sigma[k - 1] / np.linalg.svd(R[:k, :k], compute_uv=False)[-1]
    found = lowrank.rrqr(A, k, 1.01)
    strong = sigma[k - 1] / np.linalg.svd(found.R[:k, :k], compute_uv=False)[-1]
    assert plain > 1e5
    assert strong <= np.sqrt(1 + 1.01**2 * k) + 1e-6
    assert found.exchanges >= 1
    assert np.allclose(found.dense(), A)


@pytest.mark.parametrize("name", CASES)
def test_rank_revealing_lu(name):
    A = CASES[name]
    m, n = A.shape
    sigma = np.linalg.svd(A, compute_uv=False)
    for k in (1, 4, 10):
        found = lowrank.rrlu(A, k)
        assert np.allclose(found.dense(), A)
        assert np.linalg.matrix_rank(found.dense(whole=False)) == k
        L11, U11 = found.L[:k], found.U[:, :k]
        assert np.allclose(L11, np.tril(L11))
        assert np.allclose(np.diagonal(L11), 1)
        assert np.allclose(U11, np.triu(U11))
        q = np.sqrt((1 + 4 * k * (n - k)) * (1 + 4 * k * (m - k)))
        assert np.linalg.norm(found.S, 2) <= q * sigma[k] * (1 + 1e-9)
        assert np.linalg.svd(L11 @ U11, compute_uv=False)[-1] >= sigma[k - 1] / q


def test_lu_of_too_low_a_rank_is_refused():
    with pytest.raises(InvalidInput, match="rank below"):
        lowrank.rrlu(np.diag([1.0, 1.0, 0.0]), 3)


@pytest.mark.parametrize("k", [3, 8, 30, None])
def test_cholesky_leaves_what_its_pivots_say(k):
    G = with_eigenvalues(0.6 ** np.arange(40), 40)
    found = lowrank.pivoted_cholesky(G, k)
    left = G - found.dense()
    assert np.allclose(np.diagonal(left), found.remaining, atol=1e-13)
    assert found.error == pytest.approx(np.trace(left), abs=1e-12)
    assert np.linalg.eigvalsh(left)[0] > -1e-13
    assert len(set(found.pivots.tolist())) == len(found.pivots) == found.L.shape[1]


def test_cholesky_of_columns_lapack_and_a_function_agree():
    G = with_eigenvalues(0.5 ** np.arange(30), 30, seed=2)
    seen = []

    def column(i):
        seen.append(i)
        return G[:, i]

    by_function = lowrank.pivoted_cholesky(column, 10, diagonal=np.diagonal(G))
    assert seen == by_function.pivots.tolist()
    whole = lowrank.pivoted_cholesky(G, 10)
    assert whole.pivots.tolist() == by_function.pivots.tolist()
    assert np.allclose(whole.dense(), by_function.dense())
    few = lowrank.pivoted_cholesky(G, 5)  # by columns, below a quarter of n
    assert few.pivots.tolist() == whole.pivots[:5].tolist()


def test_cholesky_is_exact_at_the_rank_and_stops_there():
    G = with_eigenvalues([5.0, 2.0, 1.0], 25, seed=3)
    for found in (lowrank.pivoted_cholesky(G), lowrank.pivoted_cholesky(G, 5, tol=1e-10)):
        assert found.L.shape[1] == 3
        assert np.allclose(found.dense(), G)
    loose = lowrank.pivoted_cholesky(with_eigenvalues(0.1 ** np.arange(9), 25), tol=1e-3)
    assert loose.remaining.max() <= 1e-3 * 25


def test_cholesky_refuses_an_indefinite_matrix():
    with pytest.raises(InvalidInput, match="positive semidefinite"):
        lowrank.pivoted_cholesky(np.diag([1.0, -1.0]))
    with pytest.raises(InvalidInput, match="diagonal="):
        lowrank.pivoted_cholesky(lambda i: np.eye(3)[i], 2)


@pytest.mark.parametrize("k", [0, 23, 1.5, True])
def test_ranks_outside_the_matrix_are_refused(k):
    with pytest.raises(InvalidInput, match="from 1 to 22"):
        lowrank.rrqr(CASES["random"], k)


def test_input_in_words():
    with pytest.raises(InvalidInput, match="NaN or inf"):
        lowrank.rrqr([[np.nan, 1.0]], 1)
    with pytest.raises(InvalidInput, match="matrix with rows"):
        lowrank.rrqr([1.0, 2.0], 1)
    with pytest.raises(InvalidInput, match="symmetric"):
        lowrank.pivoted_cholesky([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(InvalidInput, match="above 1"):
        lowrank.rrqr(np.eye(3), 2, f=1.0)
