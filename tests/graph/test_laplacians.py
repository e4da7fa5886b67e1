"""Weights, Laplacians, walks and heat on graphs: identities and bounds, Wang (2012), Section 3.2."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.csgraph

from lowfold._core.errors import InvalidInput
from lowfold.datasets._graphs import GraphExample, complete_graph, path_graph, ring_graph
from lowfold.graph import Graph, Weights, components, geodesics, laplacian, normalized_laplacian, random_walk
from lowfold.graph._components import is_connected
from lowfold.graph._weights import contract, heat_kernel, laplacian_factor


def random_graph(n: int, p: float, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    return Graph.from_edges(n, np.argwhere(np.triu(rng.random((n, n)) < p, 1)))


def weighted(graph: Graph, seed: int, *, loops: bool = False) -> Weights:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((graph.n, graph.n)), 1) + 0.01
    W = np.triu(W, 1) + np.triu(W, 1).T
    return Weights(graph, W[graph.rows(), graph.indices], rng.random(graph.n) * loops)


SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("p", [0.05, 0.3])
@pytest.mark.parametrize("loops", [False, True])
def test_laplacian_identities(seed: int, p: float, loops: bool) -> None:
    w = weighted(random_graph(20, p, seed), seed, loops=loops)
    W = w.matrix().toarray()
    d = W.sum(axis=1)
    np.testing.assert_allclose(w.volumes(), d, atol=1e-14)
    L = laplacian(w).dense()
    np.testing.assert_allclose(L, np.diag(d) - W, atol=1e-14)
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-13)
    bare = Weights(w.graph, w.values, np.zeros(20))
    np.testing.assert_allclose(L, laplacian(bare).dense(), atol=1e-14)  # self-loops change D, not L
    f = np.random.default_rng(seed).normal(size=(20, 3))
    squares = ((f[:, None] - f) ** 2).sum(axis=-1)
    np.testing.assert_allclose(np.trace(f.T @ L @ f), 0.5 * (W * squares).sum())
    s = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    N = normalized_laplacian(w).dense()
    np.testing.assert_allclose(N, s[:, None] * L * s, atol=1e-14)
    np.testing.assert_allclose(np.diagonal(N), np.where(d > 0, 1 - w.loops / np.where(d > 0, d, 1), 0), atol=1e-14)
    np.testing.assert_allclose(N @ np.sqrt(d), 0.0, atol=1e-13)
    np.testing.assert_allclose(N, N.T, atol=1e-15)
    for normalized, truth in ((True, N), (False, L)):
        S = laplacian_factor(w, normalized=normalized)
        assert S.shape == (w.graph.n_edges, 20)
        np.testing.assert_allclose((S.T @ S).toarray(), truth, atol=1e-13)
    if not loops:
        theirs = scipy.sparse.csgraph.laplacian(W, normed=True)
        np.testing.assert_allclose(N, theirs, atol=1e-13)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("p", [0.06, 0.2, 0.6])
def test_spectral_bounds_of_simple_graphs(seed: int, p: float) -> None:
    n = 14
    graph = random_graph(n, p, 100 * seed + int(100 * p))
    w = Weights.unit(graph)
    values, vectors = np.linalg.eigh(normalized_laplacian(w).dense())
    d = w.volumes()
    isolated = int((d == 0).sum())
    assert abs(values.sum() - (n - isolated)) < 1e-10
    assert values[-1] <= 2 + 1e-12
    zeros = int((values < 1e-10).sum())
    assert zeros == components(graph).max() + 1
    assert (values[1] > 1e-10) == is_connected(graph)
    assert values[1] <= 1 + 1e-12  # not complete
    if isolated == 0:
        assert values[-1] >= n / (n - 1) - 1e-12
        # the spectrum of the random-walk operator, and of the pencil (L, D), is the same
        walk = np.sort(np.linalg.eigvals(np.eye(n) - random_walk(w).toarray()).real)
        np.testing.assert_allclose(walk, values, atol=1e-9)
        pencil = scipy.linalg.eigh(laplacian(w).dense(), np.diag(d), eigvals_only=True)
        np.testing.assert_allclose(pencil, values, atol=1e-10)
        f = vectors / np.sqrt(d)[:, None]  # harmonic eigenfunctions: sum over neighbours of f(i) - f(j) = lambda d f
        np.testing.assert_allclose(laplacian(w).dense() @ f, f * values * d[:, None], atol=1e-12)
    if is_connected(graph):
        diameter = geodesics(graph).max()
        assert values[1] >= 1 / (diameter * w.volume())


@pytest.mark.parametrize("n", [3, 4, 9])
def test_two_is_reached_by_bipartite_graphs_only_and_complete_graphs_have_one_value(n: int) -> None:
    def spectrum(example: GraphExample) -> np.ndarray:
        return np.linalg.eigvalsh(
            normalized_laplacian(Weights.unit(Graph.from_edges(example.n, example.edges))).dense()
        )

    np.testing.assert_allclose(spectrum(complete_graph(n))[1:], n / (n - 1))
    assert abs(spectrum(path_graph(n))[-1] - 2) < 1e-12
    assert (abs(spectrum(ring_graph(n))[-1] - 2) < 1e-12) == (n % 2 == 0)


@pytest.mark.parametrize("seed", range(10))
def test_contraction_cannot_lower_the_first_eigenvalue(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w = weighted(random_graph(12, 0.4, seed), seed, loops=bool(seed % 2))
    while w.n > 2:
        u, v = (int(i) for i in rng.choice(w.n, 2, replace=False))
        merged = contract(w, u, v)
        W, M = w.matrix().toarray(), merged.matrix().toarray()
        keep = np.delete(np.arange(w.n), v)
        place = keep.tolist().index(u)
        assert abs(M[place, place] - (W[u, u] + W[v, v] + 2 * W[u, v])) < 1e-12
        for a, x in enumerate(keep):
            if a != place:
                assert abs(M[a, place] - (W[x, u] + W[x, v])) < 1e-12
        assert abs(merged.volume() - w.volume()) < 1e-10
        before, after = (np.linalg.eigvalsh(normalized_laplacian(x).dense())[1] for x in (w, merged))
        assert after >= before - 1e-12
        w = merged
    with pytest.raises(InvalidInput, match="two different vertices"):
        contract(w, 1, 1)
    with pytest.raises(InvalidInput, match="two different vertices"):
        contract(w, 0, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_volumes_and_cuts(seed: int) -> None:
    w = weighted(random_graph(15, 0.3, seed), seed, loops=True)
    C = np.random.default_rng(seed).choice(15, 6, replace=False)
    W = w.matrix().toarray()
    inside = W[np.ix_(C, C)].sum()
    assert abs(w.volume(C) - (inside + w.cut(C))) < 1e-12
    assert w.cut(np.arange(15)) == 0
    assert abs(w.cut(C) - w.cut(np.setdiff1d(np.arange(15), C))) < 1e-12
    unit = Weights.unit(w.graph)
    assert unit.volume() == 2 * w.graph.n_edges
    with pytest.raises(InvalidInput, match="one value per entry"):
        Weights(w.graph, w.values[:-1], w.loops)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_walk_is_reversible(seed: int) -> None:
    w = weighted(random_graph(15, 0.15, seed), seed)
    P, d = random_walk(w).toarray(), w.volumes()
    np.testing.assert_allclose(P.sum(axis=1), (d > 0).astype(float), atol=1e-14)
    np.testing.assert_allclose(d[:, None] * P, (d[:, None] * P).T, atol=1e-14)
    np.testing.assert_allclose(d @ P, d, atol=1e-13)


def test_walk_frequencies_approach_the_power_of_p() -> None:
    w = weighted(Graph.from_edges(5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 2]]), 1)
    P = random_walk(w).toarray()
    rng = np.random.default_rng(0)
    at = np.zeros(20_000, dtype=int)
    for _ in range(3):
        at = (P[at].cumsum(axis=1) < rng.random((len(at), 1))).sum(axis=1)
    np.testing.assert_allclose(np.bincount(at, minlength=5) / len(at), np.linalg.matrix_power(P, 3)[0], atol=0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_heat_kernel(seed: int) -> None:
    w = weighted(random_graph(12, 0.25, seed), seed, loops=bool(seed % 2))
    H = {t: heat_kernel(w, t) for t in (0.0, 0.3, 0.7, 1.0)}
    np.testing.assert_allclose(H[0.0], np.eye(12), atol=1e-15)
    np.testing.assert_allclose(H[0.3] @ H[0.7], H[1.0], atol=1e-13)
    values, vectors = np.linalg.eigh(normalized_laplacian(w).dense())
    np.testing.assert_allclose(H[1.0], (vectors * np.exp(-values)) @ vectors.T, atol=1e-13)
    np.testing.assert_allclose(H[1.0] @ np.sqrt(w.volumes()), np.sqrt(w.volumes()), atol=1e-12)
    traces = [np.trace(H[t]) for t in (0.0, 0.3, 0.7, 1.0)]
    assert traces == sorted(traces, reverse=True)


def test_courant_fischer_on_the_complement_of_the_trivial_vector() -> None:
    w = weighted(random_graph(12, 0.6, 3), 3)
    L, d = laplacian(w).dense(), w.volumes()
    first = np.linalg.eigvalsh(normalized_laplacian(w).dense())[1]
    f = np.random.default_rng(0).normal(size=(12, 500))
    f -= (d @ f) / d.sum()  # orthogonal to the constant in the D inner product
    quotients = np.einsum("ik,ij,jk->k", f, L, f) / (d @ f**2)
    assert quotients.min() >= first - 1e-12
