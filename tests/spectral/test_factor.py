"""The size of a factor is counted before it is made."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from lowfold import datasets
from lowfold._core.config import config_context
from lowfold._core.errors import SolverFailed
from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.graph import Graph, Weights, laplacian
from lowfold.spectral import count_fill, smallest
from lowfold.spectral._factor import exact_fill, factorise


def grid(*sides: int) -> sp.csr_array:
    example = datasets.grid_graph(*sides)
    return laplacian(Weights.unit(Graph.from_edges(example.n, example.edges))).matrix


@pytest.mark.parametrize("sides", [(60, 70), (4000, 1), (15, 16, 17)])
def test_the_count_is_an_upper_bound_of_what_superlu_stores(sides: tuple[int, ...]) -> None:
    A = grid(*sides)
    n = A.shape[0]
    estimate = count_fill(A)
    exact = exact_fill(A)
    order = exact.order
    assert order is not None
    assert sorted(order.tolist()) == list(range(n))
    permuted = sp.csc_array((A + sp.eye_array(n))[order][:, order])
    lu = splu(permuted, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    assert lu.L.nnz <= exact.entries <= 1.5 * lu.L.nnz
    assert lu.L.nnz <= estimate.entries <= 12 * lu.L.nnz
    assert estimate.feasible
    assert estimate.bytes >= 12 * lu.L.nnz


@pytest.mark.parametrize("seed", range(3))
def test_exact_count_against_symbolic_elimination(seed: int) -> None:
    B = sp.random_array((60, 60), density=0.03, rng=np.random.default_rng(seed))
    A = sp.csr_array(B + B.T + sp.eye_array(60))
    fill = exact_fill(A)
    order = fill.order
    pattern = (A.toarray() != 0)[np.ix_(order, order)]
    entries = 0
    for j in range(60):
        below = np.flatnonzero(pattern[j + 1 :, j]) + j + 1
        entries += 1 + len(below)
        pattern[np.ix_(below, below)] = True
    assert fill.entries == entries


def test_a_surface_is_counted_exactly_where_the_estimate_is_too_high(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(100, 120)
    rough = count_fill(A)
    assert rough.order is None
    monkeypatch.setattr("lowfold.spectral._factor.SURE", 0)
    fine = count_fill(A)
    assert fine.order is not None
    assert fine.feasible
    assert fine.entries < rough.entries
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
    monkeypatch.setattr("scipy.sparse.linalg.splu", lambda *a, **k: pytest.fail("it was tried"))
    with config_context(memory="100MB"):
        assert not fill.feasible
        with pytest.raises(SolverFailed, match="factor would have"):
            smallest(SparseOperator(A, psd=True), 2, null=np.ones((6_000, 1)), run=Run(solver="shift_invert"))


@pytest.mark.parametrize("reordered", [False, True])
def test_factorise_solves_the_shifted_system(reordered: bool) -> None:
    A = grid(20, 30)
    fill = count_fill(A)
    if reordered:
        fill = exact_fill(A)
    solve = factorise(A, 0.3, fill)
    b = np.random.default_rng(0).normal(size=(600, 2))
    np.testing.assert_allclose(A @ solve(b) + 0.3 * solve(b), b, atol=1e-11)
