"""The doors on graphs whose spectra are known: every solver inside its domain, against closed forms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lowfold._core.errors import AccuracyWarning
from lowfold._core.operators import DenseOperator, SparseOperator
from lowfold._core.run import Run
from lowfold.datasets._graphs import (
    GraphExample,
    complete_graph,
    grid_graph,
    hypercube_graph,
    path_graph,
    ring_graph,
    star_graph,
    torus_graph,
)
from lowfold.graph import Graph, Weights, laplacian, normalized_laplacian
from lowfold.spectral import largest, smallest
from lowfold.spectral._types import Eigenpairs

BOTTOM = ("dense", "lanczos", "shift_invert", "davidson", "amg")
EXAMPLES = {
    "path": path_graph(200),
    "ring": ring_graph(301),
    "grid": grid_graph(17, 20),
    "cube": grid_graph(8, 9, 7),
    "torus": torus_graph(15, 20),
    "complete": complete_graph(60),
    "star": star_graph(520),
    "hypercube": hypercube_graph(8),
}


def weights(example: GraphExample) -> Weights:
    return Weights.unit(Graph.from_edges(example.n, example.edges))


def wanted(values: np.ndarray, least: int) -> int:
    """At least so many of the nontrivial ascending values that no multiple eigenvalue is cut."""
    k = least
    while k < len(values) - 1 and values[k + 1] - values[k] < 1e-9:
        k += 1
    return k


def check_pairs(pairs: Eigenpairs, A: np.ndarray, truth: np.ndarray, tol: float = 1e-8) -> None:
    np.testing.assert_allclose(pairs.values, truth, atol=tol, rtol=0)
    V = pairs.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-7)
    np.testing.assert_allclose(A @ V, V * pairs.values, atol=1e-5)
    top = np.abs(V).max(axis=0)
    for column, size in zip(V.T, top, strict=True):  # the first of the nearly largest entries is positive
        assert column[np.flatnonzero(np.abs(column) >= size * (1 - 1e-6))[0]] > 0


@pytest.mark.parametrize("solver", BOTTOM)
@pytest.mark.parametrize("name", EXAMPLES)
def test_bottom_of_known_laplacians(name: str, solver: str) -> None:
    if solver == "amg":
        pytest.importorskip("pyamg")
    example = EXAMPLES[name]
    values = example.laplacian_eigenvalues()
    k = wanted(values, 4)
    if k > 50:  # the wanted set is one huge multiple eigenvalue: any part of it is as good
        k = 4
    op = laplacian(weights(example))
    with warnings.catch_warnings():
        if k + 1 < len(values) and values[k + 1] - values[k] < 1e-9:
            warnings.simplefilter("ignore", AccuracyWarning)
        pairs = smallest(op, k, null=np.ones((example.n, 1)), run=Run(solver=solver, tol=1e-8))
    assert pairs.solver == solver
    check_pairs(pairs, op.dense(), values[1 : k + 1])
    np.testing.assert_allclose(pairs.vectors.sum(axis=0), 0.0, atol=1e-9)
    if k + 1 < len(values) and values[k + 1] - values[k] > 1e-9:
        truth = example.laplacian_eigenvectors()[:, 1 : k + 1]
        np.testing.assert_allclose(pairs.vectors @ pairs.vectors.T, truth @ truth.T, atol=2e-6)
        assert abs(pairs.gap - (values[k + 1] - values[k])) < 1e-2 * (values[k + 1] - values[k])
        assert pairs.residual < 1e-6


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        *[(name, solver) for name in ("path", "grid", "torus", "hypercube") for solver in ("dense", "krylov")],
        ("path", "lanczos"),  # a single vector sees one direction of a multiple eigenvalue: simple ones only
        ("grid", "lanczos"),
    ],
)
def test_top_of_known_laplacians(name: str, solver: str) -> None:
    example = EXAMPLES[name]
    values = example.laplacian_eigenvalues()[::-1]
    k = wanted(np.r_[np.inf, -values], 3)
    op = laplacian(weights(example))
    for operator in (op, DenseOperator(op.dense(), psd=True)):
        pairs = largest(operator, k, run=Run(solver=solver, tol=1e-8))
        check_pairs(pairs, op.dense(), values[:k])


@pytest.mark.parametrize("name", ["path", "ring", "torus", "complete", "star", "hypercube"])
def test_normalised_spectra_in_both_forms(name: str) -> None:
    example = EXAMPLES[name]
    values = example.normalized_eigenvalues()
    k = min(wanted(values, 3), 40)
    w = weights(example)
    d = w.volumes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        standard = smallest(normalized_laplacian(w), k, null=np.sqrt(d)[:, None])
        general = smallest(laplacian(w), k, mass=d, null=np.ones((example.n, 1)))
    np.testing.assert_allclose(standard.values, values[1 : k + 1], atol=1e-8)
    np.testing.assert_allclose(general.values, values[1 : k + 1], atol=1e-8)
    F = general.vectors
    np.testing.assert_allclose(F.T @ (d[:, None] * F), np.eye(k), atol=1e-9)
    np.testing.assert_allclose(d @ F, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.trace(F.T @ laplacian(w).dense() @ F), values[1 : k + 1].sum(), atol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "shift_invert", "davidson"])
def test_three_thousand_vertices(solver: str) -> None:
    example = grid_graph(50, 61)
    values = example.laplacian_eigenvalues()
    op = laplacian(weights(example))
    pairs = smallest(op, 5, null=np.ones((example.n, 1)), run=Run(solver=solver))
    np.testing.assert_allclose(pairs.values, values[1:6], atol=1e-8)
    assert pairs.residual < 1e-3


@pytest.mark.parametrize("n", [60, 900])
def test_the_markov_operator_is_solved_from_the_bottom_of_one_minus_it(n: int) -> None:
    example = ring_graph(n)
    w = weights(example)
    S = SparseOperator(w.matrix() / 2, bound=1.0)
    pairs = largest(S, 4, null=np.ones((n, 1)))
    m = np.array([1, 1, 2, 2])
    np.testing.assert_allclose(pairs.values, np.cos(2 * np.pi * m / n), atol=1e-10)
    np.testing.assert_allclose(pairs.gap, np.cos(4 * np.pi / n) - np.cos(6 * np.pi / n), rtol=1e-3)
    check_pairs(pairs, S.dense(), np.cos(2 * np.pi * m / n))


@pytest.mark.parametrize("solver", BOTTOM)
@pytest.mark.parametrize("sizes", [(150, 90, 61), (300, 300, 20)])
def test_several_components_return_none_of_their_null_vectors(solver: str, sizes: tuple[int, ...]) -> None:
    if solver == "amg":
        pytest.importorskip("pyamg")
    starts = np.cumsum([0, *sizes])
    edges = np.concatenate([path_graph(m).edges + a for m, a in zip(sizes, starts[:-1], strict=True)])
    op = laplacian(Weights.unit(Graph.from_edges(int(starts[-1]), edges)))
    null = np.zeros((op.n, 3))
    for c in range(3):
        null[starts[c] : starts[c + 1], c] = c + 1.0
    truth = np.sort(np.concatenate([path_graph(m).laplacian_eigenvalues()[1:] for m in sizes]))
    k = wanted(np.r_[0, truth], 3)
    with warnings.catch_warnings():
        if solver == "amg":  # stops after a fixed number of steps and says what the answer is worth
            warnings.simplefilter("ignore", AccuracyWarning)
        pairs = smallest(op, k, null=null, run=Run(solver=solver, tol=1e-8))
    np.testing.assert_allclose(pairs.values, truth[:k], atol=1e-8)
    assert pairs.values[0] > 1e-5
    np.testing.assert_allclose(null.T @ pairs.vectors, 0.0, atol=1e-8)
