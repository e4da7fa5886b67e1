"""Closed-form spectra against dense eigenvalues."""

from math import comb

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.datasets._graphs import (
    complete_graph,
    grid_graph,
    hypercube_graph,
    path_graph,
    ring_graph,
    star_graph,
    torus_graph,
)

EXAMPLES = [
    *(path_graph(n) for n in (1, 2, 3, 10)),
    *(ring_graph(n) for n in (3, 4, 9, 10)),
    *(grid_graph(*sides) for sides in ((1,), (6,), (1, 5), (3, 4), (2, 2), (2, 1, 2), (2, 3, 4), (5, 5))),
    *(torus_graph(*sides) for sides in ((5,), (3, 4), (4, 4), (3, 4, 5))),
    *(complete_graph(n) for n in (1, 2, 7)),
    *(star_graph(n) for n in (2, 3, 8)),
    *(hypercube_graph(d) for d in (1, 2, 5)),
]


def adjacency(graph):
    A = np.zeros((graph.n, graph.n))
    A[graph.edges[:, 0], graph.edges[:, 1]] = 1
    return A + A.T


@pytest.mark.parametrize("graph", EXAMPLES, ids=lambda g: g.name)
def test_each_edge_is_given_once(graph):
    assert graph.edges.dtype == np.int64
    assert graph.edges.shape[1] == 2
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert len(np.unique(graph.edges, axis=0)) == len(graph.edges)
    np.testing.assert_array_equal(graph.degrees(), adjacency(graph).sum(axis=1))
    with pytest.raises(ValueError, match="read-only"):
        graph.edges[...] = 0


@pytest.mark.parametrize("graph", EXAMPLES, ids=lambda g: g.name)
def test_laplacian_spectrum(graph):
    A = adjacency(graph)
    L = np.diag(A.sum(axis=1)) - A
    values, vectors = graph.laplacian_eigenvalues(), graph.laplacian_eigenvectors()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(L), atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(graph.n), atol=1e-12)
    np.testing.assert_allclose(L @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("graph", [g for g in EXAMPLES if g.normalized_values is not None], ids=lambda g: g.name)
def test_normalized_spectrum(graph):
    A = adjacency(graph)
    d = A.sum(axis=1)
    root = np.where(d > 0, np.maximum(d, 1) ** -0.5, 0)
    N = np.diag((d > 0).astype(float)) - root[:, None] * A * root
    values = graph.normalized_eigenvalues()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(N), atol=1e-12)
    assert values.max() <= 2 + 1e-12
    assert values.sum() == pytest.approx((d > 0).sum())


def test_grids_without_a_closed_form_say_so():
    with pytest.raises(InvalidInput, match=r"grid_graph\(3, 4\) has no closed-form spectrum"):
        grid_graph(3, 4).normalized_eigenvalues()


def test_multiplicities():
    values, counts = np.unique(hypercube_graph(6).laplacian_eigenvalues(), return_counts=True)
    np.testing.assert_array_equal(values, 2.0 * np.arange(7))
    np.testing.assert_array_equal(counts, [comb(6, k) for k in range(7)])
    assert (complete_graph(9).laplacian_eigenvalues()[1:] == 9).all()


def test_small_eigenvalues_of_long_paths_keep_their_digits():
    # 2 - 2 cos(pi / n) loses half of its digits here; (pi / n)^2 (1 - (pi / n)^2 / 12) is exact to rounding.
    x = np.pi / 4000
    assert path_graph(4000).laplacian_eigenvalues()[1] == pytest.approx(x**2 * (1 - x**2 / 12), rel=1e-13)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (path_graph, (0,)),
        (path_graph, (2.5,)),
        (ring_graph, (2,)),
        (grid_graph, ()),
        (grid_graph, (3, 0)),
        (torus_graph, (3, 2)),
        (complete_graph, (0,)),
        (star_graph, (1,)),
        (hypercube_graph, (0,)),
    ],
)
def test_impossible_sizes_are_refused(make, arguments):
    with pytest.raises(InvalidInput, match="at least"):
        make(*arguments)
