from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.lowrank.matrices import with_eigenvalues, with_singular_values

import lowfold
from lowfold import lowrank
from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.operators import CentredGram, ColumnOperator, DenseOperator, SparseOperator
from lowfold._core.run import Run
from lowfold.kernels._functions import mercer_kernel
from lowfold.kernels._kernel_operator import kernel_operator
from lowfold.lowrank._fat import _Applied
from lowfold.spectral import largest, smallest

MODES = ("greedy", "interpolative", "projective")


def gram(n=1000, r=50, seed=0):
    R = np.random.default_rng(seed).standard_normal((n, r))
    return R @ R.T


@lru_cache
def example():
    G = gram()
    return G, *np.linalg.eigh(G)


@pytest.mark.parametrize("mode", MODES)
def test_the_documented_example(mode):
    """R = randn(1000, 50), G = R R', m = 25, k = 5."""
    G, values, V = example()
    found = lowrank.fat(G, 5, 25, mode)
    assert found.mode == mode
    assert np.allclose(found.Y.T @ found.Y, np.eye(5))
    assert np.all(found.values <= values[::-1][:5] * (1 + 1e-9))
    assert np.all(found.values >= 0.75 * values[::-1][:5])
    exact = lowrank.fat(G, 5, 60, mode)  # 60 columns hold all of rank 50
    assert np.allclose(exact.values, values[::-1][:5])
    assert lowrank.subspace_distance(exact.Y, V[:, -5:]) < 1e-6


@pytest.mark.parametrize("mode", MODES)
def test_all_columns_give_the_eigenvectors(mode):
    G = with_eigenvalues(0.7 ** np.arange(30), 30)
    found = lowrank.fat(G, 4, 30, mode, always=True)
    values, V = np.linalg.eigh(G)
    assert found.mode == mode
    assert np.allclose(found.values, values[::-1][:4])
    assert lowrank.deviation(V[:, ::-1][:, :4], found.Y) < 1e-8


def test_where_nothing_would_be_saved_it_is_an_svd():
    G = with_eigenvalues(0.7 ** np.arange(36), 36)
    found = lowrank.fat(G, 1, 21)
    assert found.mode == "svd"
    assert found.values[0] == pytest.approx(1.0)
    assert lowrank.fat(G, 1, 21, always=True).mode == "greedy"
    assert lowrank.fat(G, 1, 17).mode == "greedy"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(120, 90), (70, 200)])
def test_rectangular_input(mode, shape):
    A = with_singular_values(0.5 ** np.arange(40), *shape)
    found = lowrank.fat(A, 3, mode=mode)
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    assert found.Y.shape == (shape[0], 3)
    assert found.m == 23
    assert np.allclose(found.values, s[:3], rtol=1e-3)
    assert lowrank.deviation(U[:, :3], found.Y) < 1e-2


@pytest.mark.parametrize("kind", ["gaussian", "sign", "sparse"])
def test_three_random_kinds_and_more_columns_are_better(kind):
    G = with_eigenvalues(1 / np.arange(1, 201), 200)
    V = np.linalg.eigh(G)[1][:, ::-1][:, :3]

    def mean_deviation(m):
        runs = [lowrank.fat(G, 3, m, "projective", kind=kind, random_state=seed) for seed in range(8)]
        return np.mean([lowrank.subspace_distance(V, found.Y) for found in runs])

    few, many = mean_deviation(10), mean_deviation(60)
    assert many < 0.5 * few
    assert few < 0.5
    first = lowrank.fat(G, 3, 10, "projective", kind=kind, random_state=1)
    assert np.array_equal(first.Y, lowrank.fat(G, 3, 10, "projective", kind=kind, random_state=1).Y)


def test_exactly_m_columns_are_drawn():
    drawn = []

    class Seen(DenseOperator):
        def columns(self, index):
            drawn.append(index)
            return super().columns(index)

    op = Seen(gram(60, 60))
    for seed in range(5):
        lowrank.fat(op, 2, 10, "interpolative", random_state=seed)
    assert all(len(set(index.tolist())) == 10 for index in drawn)
    assert len({tuple(index) for index in drawn}) == 5


def test_kernel_distances_are_those_of_the_cholesky_columns():
    K = with_eigenvalues(0.8 ** np.arange(12), 12)
    L = np.linalg.cholesky(K)
    d2 = np.diagonal(K)[:, None] + np.diagonal(K)[None, :] - 2 * K
    assert np.allclose(d2, np.square(L[:, None] - L[None, :]).sum(axis=-1))


def test_a_markov_kernel_is_divided_by_its_first_vector():
    X = lowfold.datasets.s_curve(200, random_state=0).X
    model = lowfold.DiffusionMaps(2, threshold=0.0, scale=0.3, t=0).fit(X)
    S = model.kernel().dense()
    found = lowrank.fat(S, 2, 80, "projective", markov=True, power=4)
    assert lowrank.deviation(model.right_vectors_, found.Y) < 0.05
    assert found.values[0] == pytest.approx(model.eigenvalues_[0], rel=1e-3)


def walk_kernel(n):
    X = lowfold.datasets.s_curve(n, random_state=0).X
    return lowfold.DiffusionMaps(2, n_neighbors=10).fit(X)


def test_sparse_walks_defeat_it_and_powers_help():
    model = walk_kernel(420)
    S = model.kernel()
    V = np.linalg.eigh(S.dense())[1][:, ::-1][:, :3]
    plain = lowrank.subspace_distance(V, lowrank.fat(S, 3, mode="projective").Y)
    helped = lowrank.subspace_distance(V, lowrank.fat(S, 3, mode="projective", power=60).Y)
    assert plain > 0.9
    assert helped < 0.02


@pytest.mark.parametrize("mode", MODES)
def test_alignment_kernels_by_the_inverse_not_by_the_shift(mode):
    X = lowfold.datasets.s_curve(300, random_state=1).X
    K = lowfold.HessianLLE(2, n_neighbors=12).fit(X).kernel()
    truth = np.linalg.eigh(K.dense())[1][:, :3]
    for kernel in (K, K.dense()):
        inverse = lowrank.fat(lowrank.as_max_kernel(kernel, "inverse", eps=1e-8), 3, mode=mode)
        assert lowrank.subspace_distance(truth, inverse.Y) < 1e-4
    shift = lowrank.fat(lowrank.as_max_kernel(K, "shift"), 3, mode=mode)
    assert lowrank.subspace_distance(truth, shift.Y) > 0.9


def test_the_three_conversions_have_the_same_vectors_in_opposite_order():
    K = with_eigenvalues([4.0, 3.0, 1.0, 0.5], 4)
    values, V = np.linalg.eigh(K)
    for how in ("inverse", "shift", "power"):
        new, W = np.linalg.eigh(lowrank.as_max_kernel(K, how).dense())
        assert np.all(np.diff(new) > -1e-12)
        if how != "power":  # whose top values differ by less than rounding where the base is small
            assert np.allclose(np.abs(W.T @ V[:, ::-1]), np.eye(4), atol=1e-6)
    assert np.allclose(lowrank.as_max_kernel(K, "power", power=2).dense(), V * (1 - values / 4) ** 2 @ V.T)
    for kwargs in (dict(how="other"), dict(how="power", power=0), dict(eps=0.0)):
        with pytest.raises(InvalidInput):
            lowrank.as_max_kernel(K, **kwargs)


def test_deviation():
    Y = np.random.default_rng(0).standard_normal((30, 3))
    assert lowrank.deviation(Y, Y) == 0
    assert lowrank.deviation(Y, -2 * Y * [1, -3, 5]) < 1e-12
    Z = np.random.default_rng(1).standard_normal((30, 3))
    assert 0 < lowrank.deviation(Y, Z) <= 2 * np.sqrt(3)
    with pytest.raises(InvalidInput, match="same shape"):
        lowrank.deviation(Y, Z[:, :2])


@pytest.mark.parametrize("kwargs", [dict(mode="other"), dict(kind="other"), dict(power=0), dict(m=2), dict(m=2000)])
def test_choices_in_words(kwargs):
    with pytest.raises(InvalidInput):
        lowrank.fat(gram(40), 3, **kwargs)


# The solvers ---------------------------------------------------------------------------------------------------------


def operators():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    D = np.linalg.norm(X[:, None] - X[None, :], axis=-1)
    B = rng.standard_normal((60, 60))
    yield DenseOperator(B + B.T)
    yield SparseOperator(csr_array(np.where(np.abs(B + B.T) > 2, B + B.T, 0)))
    yield CentredGram(D)
    yield CentredGram(D.astype(np.float32), shift=0.3)
    yield CentredGram(D**2, squared=True)
    yield CentredGram(X @ X.T, gram=True)
    for center in (True, False):
        yield kernel_operator(X, mercer_kernel("rbf", 3, gamma=0.5), center=center)


@pytest.mark.parametrize("op", list(operators()), ids=lambda op: type(op).__name__)
def test_operators_show_their_columns(op):
    assert isinstance(op, ColumnOperator)
    A, J = op.dense(), np.array([5, 0, 41])
    assert np.allclose(op.columns(J), A[:, J], atol=1e-6)
    assert np.allclose(op.column_squares(), np.square(A).sum(axis=0), rtol=1e-5)
    assert np.allclose(op.diagonal(), np.diagonal(A), atol=1e-6)


def test_columns_of_large_kernel_operators():
    X = np.random.default_rng(1).standard_normal((1500, 4))
    op = kernel_operator(X, mercer_kernel("rbf", 4), center=True)
    A = op.dense()
    assert np.allclose(op.column_squares(), np.square(A).sum(axis=0))
    assert np.allclose(op.columns(np.array([3, 1400])), A[:, [3, 1400]])
    found = lowrank.pivoted_cholesky(op, 12)
    assert found.error == pytest.approx(np.trace(A - found.dense()))


@pytest.mark.parametrize("solver", ["gat", "irat", "prat"])
def test_solvers_find_fast_spectra(solver):
    G = with_eigenvalues(0.6 ** np.arange(40), 300)
    values, V = np.linalg.eigh(G)
    for op in (DenseOperator(G), _Applied(300, lambda W: G @ W, psd=False)):
        pairs = largest(op, 3, run=Run(solver=solver))
        assert np.allclose(pairs.values, values[::-1][:3], rtol=1e-6)
        assert pairs.residual < 1e-3
        assert lowrank.subspace_distance(V[:, -3:], pairs.vectors) < 1e-3
        assert pairs.solver == solver
        assert pairs.iterations == 3


@pytest.mark.parametrize("solver", ["gat", "irat", "prat"])
def test_solvers_want_algebraic_ends(solver):
    """Negative eigenvalues larger in size than the positive ones: singular values alone would return them."""
    values = np.concatenate([-5 * 0.8 ** np.arange(8), 3 * 0.5 ** np.arange(12)])
    A = with_eigenvalues(values, 200)
    pairs = largest(DenseOperator(A), 3, run=Run(solver=solver))
    assert np.allclose(pairs.values, [3, 1.5, 0.75], rtol=1e-6)
    low = with_eigenvalues([4.0, 2.0], 50)  # rank 2, five asked for
    assert np.allclose(largest(DenseOperator(low), 5, negligible=1.0, run=Run(solver=solver)).values[:2], [4, 2])


@pytest.mark.parametrize("solver", ["gat", "irat", "prat"])
def test_the_other_end_is_refused(solver):
    with pytest.raises(SolverFailed, match="leading end"):
        smallest(DenseOperator(np.eye(5)), 2, run=Run(solver=solver))
