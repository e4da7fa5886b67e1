from __future__ import annotations

import numpy as np
import pytest
from tests.lowrank.matrices import gap_matrix, with_eigenvalues

from lowfold import lowrank
from lowfold._core.errors import InvalidInput

TAU = 1e-2
ULVS = {"ulv": lowrank.ulv, "warm": lowrank.lulv_warm, "cold": lowrank.lulv_cold}


def check(found, A, d):
    assert np.allclose(found.dense(), A, atol=1e-12)
    assert found.d == d
    r = found.L.shape[0]
    assert np.allclose(found.U.T @ found.U, np.eye(r), atol=1e-12)
    assert np.allclose(found.V.T @ found.V, np.eye(A.shape[1]), atol=1e-12)
    assert np.allclose(np.triu(found.L[:d], 1), 0, atol=1e-13)
    if r == A.shape[1]:
        assert np.allclose(np.triu(found.L, 1), 0, atol=1e-13)


@pytest.mark.parametrize("name", ULVS)
@pytest.mark.parametrize(("m", "n", "d"), [(40, 25, 4), (70, 60, 3), (25, 25, 24), (20, 12, 1)])
def test_ulv_rebuilds_and_reveals(name, m, n, d):
    A, sigma = gap_matrix(m, n, d, 1e-4)
    found = ULVS[name](A, TAU)
    check(found, A, d)
    below = np.linalg.norm(found.L[d:], 2)
    assert below <= 5 * sigma[d] + 1e-14
    assert np.linalg.svd(found.L[:d, :d], compute_uv=False)[-1] >= 0.9 * sigma[d - 1]
    svd = found.svd()
    assert np.allclose(svd.s, sigma[:d], rtol=1e-3)
    assert np.linalg.norm(svd.dense() - A, 2) <= 5 * sigma[d]


def test_urv_rebuilds_and_reveals():
    A, sigma = gap_matrix(40, 25, 4, 1e-4)
    found = lowrank.urv(A, TAU)
    assert np.allclose(found.dense(), A)
    assert found.d == 4
    assert np.allclose(np.tril(found.R, -1), 0)
    assert np.linalg.norm(found.R[:, 4:], 2) <= 3 * sigma[4]
    assert np.allclose(found.svd().s, sigma[:4], rtol=1e-3)


def test_warm_and_cold_agree():
    A, sigma = gap_matrix(90, 70, 5, 1e-3, seed=3)
    warm, cold = lowrank.lulv_warm(A, TAU), lowrank.lulv_cold(A, TAU)
    assert warm.d == cold.d == 5
    d = 5
    assert np.linalg.norm(warm.L[d:, d:], 2) == pytest.approx(sigma[d], rel=1e-6)
    assert np.linalg.norm(cold.L[d:, d:], 2) == pytest.approx(sigma[d], rel=1e-6)
    assert lowrank.subspace_distance(warm.V[:, :d], cold.V[:, :d]) < 1e-6


def test_a_large_gap_makes_the_three_truncations_equal():
    A, sigma = gap_matrix(50, 30, 3, 1e-4)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    best = (U[:, :3] * s[:3]) @ Vt[:3]
    for found in (lowrank.ulv(A, TAU), lowrank.urv(A, TAU), lowrank.lulv_warm(A, TAU)):
        assert np.linalg.norm(found.dense(3) - best, 2) <= 2 * sigma[3]


@pytest.mark.parametrize("name", ULVS)
def test_full_rank_and_no_rank(name):
    A = np.random.default_rng(0).standard_normal((20, 8))
    check(ULVS[name](A, 1e-6), A, 8)
    assert ULVS[name](A, 1e3).d == 0
    assert ULVS[name](np.zeros((5, 3)), 0.0).d == 0


@pytest.mark.parametrize("seed", range(40))
def test_the_six_inequalities_of_the_subspace_theorem(seed):
    """Triangular factors with off-diagonal blocks of any size, as long as the gap condition holds."""
    rng = np.random.default_rng(seed)
    d, n, m = 3, 8, 10
    size = 10.0 ** rng.uniform(-4, 0)
    R = np.triu(rng.standard_normal((n, n)))
    R[:d, :d] += 3 * np.diag(np.sign(np.diagonal(R)[:d]))
    R[:d, d:] *= size
    R[d:, d:] *= 0.3 * rng.random()
    Uo, Vo = np.linalg.qr(rng.standard_normal((m, n)))[0], np.linalg.qr(rng.standard_normal((n, n)))[0]
    for T, lower in ((R, False), (R.T, True)):
        U, _, Vt = np.linalg.svd(Uo @ T @ Vo.T, full_matrices=False)
        sd = np.linalg.svd(T[:d, :d], compute_uv=False)[-1]
        off = np.linalg.norm(T[d:, :d] if lower else T[:d, d:], 2)
        rest = np.linalg.norm(T[d:, d:], 2)
        if not sd > rest:
            continue
        du, dv = lowrank.subspace_distance(U[:, :d], Uo[:, :d]), lowrank.subspace_distance(Vt[:d].T, Vo[:, :d])
        near, far = (dv, du) if lower else (du, dv)
        slack = 1e-12
        assert near <= off * rest / (sd**2 - rest**2) + slack
        assert far <= sd * off / (sd**2 - rest**2) + slack
        assert off / (2 * np.linalg.norm(T, 2)) <= far + slack


@pytest.mark.parametrize("name", ULVS)
def test_inserting_and_deleting_equal_a_fresh_factorisation(name):
    rng = np.random.default_rng(5)
    A, _ = gap_matrix(30, 14, 3, 1e-4, seed=5)
    found = ULVS[name](A, TAU)
    row, column = rng.standard_normal(14), rng.standard_normal(31)
    A = np.vstack([A, row])
    found = found.insert_row(row)
    check(found, A, lowrank.lulv_warm(A, TAU).d)
    assert found.d == 4
    A = np.column_stack([A, column])
    found = found.insert_column(column)
    check(found, A, 5)
    A = np.delete(A, 30, axis=0)
    found = found.delete_row(30)  # the row that had raised the rank
    check(found, A, lowrank.lulv_warm(A, TAU).d)
    assert found.d == 4
    assert np.linalg.norm(found.L[found.d :], 2) < 1e-3


def test_rows_that_bring_nothing_new_keep_the_rank():
    A, _ = gap_matrix(30, 14, 3, 1e-4, seed=6)
    found = lowrank.lulv_warm(A, TAU)
    inside = A[0] + A[1]
    check(found.insert_row(inside), np.vstack([A, inside]), 3)
    column = A @ np.ones(14)  # lies in the columns so far: no new direction of U
    check(found.insert_column(column), np.column_stack([A, column]), 3)
    alone = np.zeros((6, 3))
    alone[:3] = np.diag([3.0, 2.0, 1.0])
    check(lowrank.lulv_warm(alone, TAU).delete_row(0), alone[1:], 2)  # a row of U that is a unit vector


def test_many_updates_do_not_drift():
    rng = np.random.default_rng(8)
    A, _ = gap_matrix(25, 10, 2, 1e-5, seed=8)
    found = lowrank.lulv_warm(A, TAU)
    for step in range(30):
        row = rng.standard_normal(2) @ A[:2] + 1e-6 * rng.standard_normal(10)
        A = np.vstack([A, row])
        found = found.insert_row(row)
        if step % 2:
            A, found = A[1:], found.delete_row(0)
    check(found, A, 2)


def test_utv_in_words():
    with pytest.raises(InvalidInput, match=r"decompose A\.T"):
        lowrank.ulv(np.ones((2, 3)), 1.0)
    with pytest.raises(InvalidInput, match="tau must be 0 or more"):
        lowrank.lulv_warm(np.eye(3), -1.0)
    found = lowrank.lulv_warm(np.eye(3), 0.1)
    with pytest.raises(InvalidInput, match="no room"):
        found.insert_column(np.ones(3))
    with pytest.raises(InvalidInput, match="wide"):
        found.delete_row(0)
    with pytest.raises(InvalidInput, match="3 numbers"):
        found.insert_row(np.ones(4))
    with pytest.raises(InvalidInput, match=r"0\.\.4"):
        lowrank.lulv_warm(np.ones((5, 3)), 0.1).delete_row(5)


@pytest.mark.parametrize("n", [12, 60])
@pytest.mark.parametrize("seed", range(3))
def test_vsv_of_an_indefinite_matrix(n, seed):
    noise = 1e-4 * np.random.default_rng(seed).uniform(-1, 1, n - 3)
    values = np.concatenate([[9.0, -7.0, 5.0], noise])
    A = with_eigenvalues(values, n, seed)
    found = lowrank.vsv(A, 1e-2)
    assert found.d == 3
    assert np.allclose(found.dense(), A, atol=1e-12)
    assert np.allclose(found.V.T @ found.V, np.eye(n))
    assert np.allclose(np.triu(found.L, 1), 0)
    S = found.S
    assert np.allclose(np.linalg.eigvalsh(S[:3, :3]), [-7, 5, 9], atol=1e-6)
    assert np.linalg.norm(S[3:, 3:], 2) <= 1.01e-4
    assert np.linalg.norm(S[:3, 3:], 2) <= 1e-4
    assert (np.linalg.eigvalsh(found.omega) < 0).sum() == (values < 0).sum()
    assert np.allclose(found.omega @ found.omega, np.eye(n))
    # The printed form drops the negative eigenvalue only if the order is by size, not by |size|.
    assert np.linalg.norm(A - found.dense(3), 2) <= 2e-4


def test_vsv_of_a_definite_matrix_agrees_and_has_no_omega():
    A = with_eigenvalues([4.0, 3.0, 1e-5, 1e-6], 40, 2)
    found, other = lowrank.vsv(A, 1e-2, definite=True), lowrank.vsv(A, 1e-2)
    assert found.omega is None
    assert found.d == other.d == 2
    assert np.allclose(found.dense(), A, atol=1e-12)
    assert np.allclose(found.dense(2), other.dense(2), atol=1e-6)
    assert lowrank.vsv(np.eye(5), 0.1, definite=True).d == 5
    assert lowrank.vsv(np.zeros((4, 4)), 0.1).d == 0
    with pytest.raises(InvalidInput, match="positive semidefinite"):
        lowrank.vsv(np.diag([1.0, -1.0]), 0.1, definite=True)
