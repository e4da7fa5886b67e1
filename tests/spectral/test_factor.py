"""The size of a factor is counted before it is made."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from lowfold._core.config import config_context
from lowfold._core.errors import SolverFailed
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.datasets._graphs import grid_graph
from lowfold.graph import Graph, Weights, laplacian
from lowfold.spectral import smallest
from lowfold.spectral._factor import count_fill, factorise


@pytest.fixture(autouse=True)
def _own_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrices here are small, and are to be factored by what large ones are."""
    monkeypatch.setattr("lowfold.spectral._factor.SMALL", 0)


def grid(*sides: int) -> sp.csr_array:
    example = grid_graph(*sides)
    return laplacian(Weights.unit(Graph.from_edges(example.n, example.edges))).matrix


@pytest.mark.parametrize("sides", [(60, 70), (4000, 1), (15, 16, 17)])
def test_the_count_is_an_upper_bound_of_what_superlu_stores_in_that_order(sides: tuple[int, ...]) -> None:
    A = grid(*sides)
    n = A.shape[0]
    fill = count_fill(A)
    assert fill.tree is not None
    order = fill.tree.order
    assert sorted(order.tolist()) == list(range(n))
    permuted = sp.csc_array((A + sp.eye_array(n))[order][:, order])
    lu = splu(permuted, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    assert lu.L.nnz <= fill.entries <= (4 if 1 in sides else 2) * lu.L.nnz  # leaves are stored as full squares
    assert fill.feasible
    assert fill.bytes >= 8 * fill.entries


@pytest.mark.parametrize("seed", range(3))
def test_fronts_hold_every_entry_of_symbolic_elimination(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowfold.graph._dissection.LEAF", (2, 4))
    B = sp.random_array((60, 60), density=0.03, rng=np.random.default_rng(seed))
    A = sp.csr_array(B + B.T + sp.eye_array(60))
    tree = count_fill(A).tree
    assert tree is not None
    held = np.zeros((60, 60), dtype=bool)
    for node in range(len(tree.start)):
        own = np.arange(tree.start[node], tree.stop[node])
        below = tree.rows[tree.pointer[node] : tree.pointer[node + 1]]
        assert (np.diff(below) > 0).all()
        held[np.ix_(own, np.concatenate([own, below]))] = True
    pattern = (A.toarray() != 0)[np.ix_(tree.order, tree.order)]
    for j in range(60):
        below = np.flatnonzero(pattern[j + 1 :, j]) + j + 1
        pattern[np.ix_(below, below)] = True
        assert held[j, below].all()


def test_a_factor_beyond_the_budget_is_not_feasible() -> None:
    A = grid(100, 120)
    assert count_fill(A).feasible
    with config_context(memory="2MB"):
        assert not count_fill(A).feasible


def expander(n: int, degree: int) -> sp.csr_array:
    rng = np.random.default_rng(0)
    edges = np.column_stack([np.tile(np.arange(n), degree // 2), rng.integers(n, size=n * degree // 2)])
    edges = edges[edges[:, 0] != edges[:, 1]]
    return laplacian(Weights.unit(Graph.from_edges(n, edges))).matrix


def test_a_huge_fill_is_refused_without_being_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    A = expander(6_000, 12)
    fill = count_fill(A)
    assert fill.entries > 5e6
    monkeypatch.setattr("lowfold.spectral._factor.cholesky", lambda *a, **k: pytest.fail("it was tried"))
    with config_context(memory="100MB"):
        assert not fill.feasible
        with pytest.raises(SolverFailed, match="factor would"):
            smallest(SparseOperator(A, psd=True), 2, null=np.ones((6_000, 1)), run=Run(solver="shift_invert"))


def shapes() -> dict[str, sp.csr_array]:
    """Patterns that a dissection meets: a surface, a solid, a line, pieces, hubs, full, diagonal, a single row."""
    rng = np.random.default_rng(3)
    star = sp.csr_array((np.ones(999), (np.zeros(999, int), np.arange(1, 1000))), shape=(1000, 1000))
    wild = sp.random_array((900, 900), density=0.004, rng=rng)
    return {
        "surface": grid(70, 80),
        "solid": grid(14, 15, 16),
        "line": grid(3000, 1),
        "pieces": sp.csr_array(sp.block_diag([grid(20, 30), grid(7, 1), grid(9, 9, 9)])),
        "hub": laplacian_of(sp.csr_array(star + star.T)),
        "random": laplacian_of(sp.csr_array(abs(wild) + abs(wild).T)),
        "full": sp.csr_array(np.cov(rng.normal(size=(150, 300)))),
        "diagonal": sp.csr_array(sp.diags_array(np.arange(1.0, 200.0))),
        "one": sp.csr_array(np.array([[2.0]])),
    }


def laplacian_of(W: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


@pytest.mark.parametrize("branches", [1, 32, 10**6])
@pytest.mark.parametrize("name", shapes())
def test_factorise_solves_the_shifted_system(name: str, branches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With everything in one branch, as usual, and with every node in the trunk."""
    monkeypatch.setattr("lowfold.graph._dissection.BRANCHES", branches)
    A = shapes()[name]
    solve = factorise(A, 0.3, count_fill(A))
    b = np.random.default_rng(0).normal(size=(A.shape[0], 2))
    x = solve(b)
    np.testing.assert_allclose(A @ x + 0.3 * x, b, atol=1e-11)
    np.testing.assert_allclose(solve(b[:, 0]), x[:, 0], atol=1e-13)


def test_one_thread_and_two_give_the_same_bits() -> None:
    A = shapes()["surface"]
    b = np.random.default_rng(0).normal(size=(A.shape[0], 3))
    one = factorise(A, 1e-9, count_fill(A), n_jobs=1)(b)
    two = factorise(A, 1e-9, count_fill(A), n_jobs=2)(b)
    assert (one == two).all()


@pytest.mark.parametrize("shift", [1e-11, 1e-14, 1e-18])
def test_a_nearly_singular_matrix_is_inverted_off_its_null_space(shift: float) -> None:
    A = grid(60, 70)
    x = np.random.default_rng(1).normal(size=(A.shape[0], 2))
    x -= x.mean(axis=0)
    found = factorise(A, shift, count_fill(A))(A @ x)
    np.testing.assert_allclose(found - found.mean(axis=0), x, atol=1e-8)


def test_superlu_solves_what_the_fronts_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(20, 30)
    b = np.random.default_rng(0).normal(size=(600, 3))
    own = factorise(A, 1e-3, count_fill(A))(b)
    monkeypatch.setattr("lowfold.spectral._factor.SMALL", 2_000)
    fill = count_fill(A)
    assert fill.tree is None
    assert fill.feasible
    assert np.allclose(factorise(A, 1e-3, fill)(b), own, rtol=1e-9)
    with config_context(memory="2MB"), pytest.raises(SolverFailed, match="too many"):
        factorise(A, 1e-3, count_fill(A))
