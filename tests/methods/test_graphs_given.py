"""Graphs as X: sparse matrices of lengths used whole, affinities, NetworkX."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.manifold import SpectralEmbedding

import lowfold
from lowfold._core.errors import InvalidInput, RepairWarning
from lowfold.graph import Graph, find_neighbors


def ring_of_hubs(seed: int = 0, n: int = 120) -> scipy.sparse.csr_array:
    """A connected graph whose degrees differ much: some vertices have more than 10 edges."""
    rng = np.random.default_rng(seed)
    i = np.concatenate([np.arange(n), rng.integers(0, 6, size=3 * n)])
    j = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, size=3 * n)])
    kept = i != j
    A = scipy.sparse.csr_array((np.ones(kept.sum()), (i[kept], j[kept])), shape=(n, n))
    A = scipy.sparse.csr_array(A + A.T)
    A.data[:] = rng.uniform(0.5, 2.0, size=A.nnz)
    return scipy.sparse.csr_array((A + A.T) / 2)


def subspace_gap(A: np.ndarray, B: np.ndarray) -> float:
    Q, R = (np.linalg.qr(Y - Y.mean(axis=0))[0] for Y in (A, B))
    return float(1 - np.linalg.svd(Q.T @ R)[1].min())


@pytest.mark.filterwarnings("ignore:coordinate . of .* tells 3 points or fewer")  # graphs drawn at random have such
@pytest.mark.parametrize("name", ["LaplacianEigenmaps", "Isomap", "SpectralClustering", "DiffusionMaps"])
def test_a_sparse_graph_is_used_whole(name: str) -> None:
    A = ring_of_hubs()
    i, j = A.nonzero()
    graph = Graph.from_edges(A.shape[0], np.column_stack([i, j]), A.data)
    size = {} if name == "SpectralClustering" else {"n_components": 2}
    given = getattr(lowfold, name)(metric="precomputed", **size).fit(A)
    assert given.graph_.n_edges == A.nnz // 2
    assert np.allclose(given.embedding_, getattr(lowfold, name)(**size).fit(graph).embedding_)
    trimmed = getattr(lowfold, name)(metric="precomputed", n_neighbors=3, **size).fit(A)
    assert trimmed.graph_.n_edges < A.nnz // 2


def test_new_points_of_a_whole_graph_use_all_their_edges() -> None:
    X = np.random.default_rng(0).uniform(size=(200, 2))
    N = find_neighbors(X, radius=0.25)
    model = lowfold.LaplacianEigenmaps(2, metric="precomputed", scale="mean").fit(N.to_scipy())
    points = lowfold.LaplacianEigenmaps(2, radius=0.25, scale=model.scale_).fit(X)
    new = np.random.default_rng(1).uniform(0.2, 0.8, size=(10, 2))
    D = np.linalg.norm(new[:, None] - X, axis=2)
    rows = scipy.sparse.csr_array(np.where(D <= 0.25, D, 0.0))
    assert np.allclose(model.embedding_, points.embedding_, atol=1e-8)
    assert np.allclose(model.transform(rows), points.transform(new), atol=1e-6)


@pytest.mark.filterwarnings("ignore:coordinate . of .* tells 3 points or fewer")  # graphs drawn at random have such
@pytest.mark.parametrize("dense", [True, False])
def test_affinities_are_weights(dense: bool) -> None:
    W = ring_of_hubs(1)
    ours = lowfold.LaplacianEigenmaps(3, metric="precomputed_affinity").fit(W.toarray() if dense else W)
    theirs = SpectralEmbedding(3, affinity="precomputed", random_state=0).fit_transform(W.toarray())
    assert subspace_gap(ours.embedding_, theirs) < 1e-6
    assert np.allclose(ours.degrees_, W.sum(axis=1))
    L = np.diag(W.sum(axis=1)) - W.toarray()
    F = ours.embedding_
    assert np.allclose(L @ F, np.diag(W.sum(axis=1)) @ F * ours.eigenvalues_, atol=1e-8)


@pytest.mark.filterwarnings("ignore:coordinate . of .* tells 3 points or fewer")  # graphs drawn at random have such
def test_new_affinities_place_new_points() -> None:
    W = ring_of_hubs(2)
    model = lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit(W)
    assert np.allclose(model.transform(W[:5]), model.embedding_[:5], atol=1e-8)


def test_affinities_cluster() -> None:
    labels = np.repeat([0, 1], 30)
    W = np.where(labels[:, None] == labels, 1.0, 0.01)
    found = lowfold.SpectralClustering(2, metric="precomputed_affinity").fit_predict(W)
    assert len(set(found[:30])) == len(set(found[30:])) == 1
    assert found[0] != found[-1]


def test_affinities_that_cannot_be_are_told() -> None:
    W = ring_of_hubs().toarray()
    W[0, 1] += 1
    with pytest.warns(RepairWarning, match="affinities are not symmetric"):
        lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit(W)
    with pytest.raises(InvalidInput, match="affinities must be finite and 0 or more"):
        lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity").fit(-W)
    with pytest.raises(InvalidInput, match="metric of Isomap must be"):
        lowfold.Isomap(2, metric="precomputed_affinity").fit(W)


def test_affinities_passed_as_distances_are_told() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    with pytest.warns(RepairWarning, match="looks like affinities"):
        lowfold.LaplacianEigenmaps(2, metric="precomputed").fit(np.exp(-(D**2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowfold.LaplacianEigenmaps(2, metric="precomputed").fit(D)


@pytest.mark.filterwarnings("ignore::lowfold.errors.AccuracyWarning")  # such distances say little
def test_dense_edges_passed_as_distances_are_told() -> None:
    with pytest.warns(RepairWarning, match=r"points 0 and 2 are at distance 0, .* zeros are distances here"):
        lowfold.Isomap(2, metric="precomputed").fit(ring_of_hubs().toarray())
    X = np.random.default_rng(0).normal(size=(20, 2)).repeat(3, axis=0)  # repeated points have zeros rightly
    D = np.linalg.norm(X[:, None] - X, axis=2)
    D[4, 9] = D[9, 4] = 0.0  # and single mistakes are no graph
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RepairWarning)
        lowfold.ClassicalMDS(2, metric="precomputed").fit(D)


@pytest.mark.extra("networkx")
def test_graphs_of_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    G.add_nodes_from("abcdef")
    G.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 2.0), ("c", "d", 1.0), ("d", "e", 1.0), ("e", "f", 3.0)])
    Y = lowfold.Isomap(1).fit_transform(G).ravel()
    assert np.allclose(np.abs(np.diff(Y)), [1, 2, 1, 1, 3])
    W = networkx.to_scipy_sparse_array(G)
    ours = lowfold.LaplacianEigenmaps(2, metric="precomputed_affinity")
    assert np.allclose(ours.fit_transform(G), ours.fit_transform(W))
    with pytest.raises(InvalidInput, match="needs the points themselves"):
        lowfold.PCA(1).fit(G)


def test_a_sparse_graph_read_as_rows_is_told() -> None:
    ring = lowfold.graph.Graph.from_edges(30, [[i, (i + 1) % 30] for i in range(30)]).to_scipy()
    with pytest.warns(RepairWarning, match="if it is a graph, pass metric='precomputed'"):
        lowfold.LaplacianEigenmaps(2, n_neighbors=5, on_shortcut="ignore").fit(ring)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepairWarning)
        lowfold.LaplacianEigenmaps(2, metric="precomputed", weights="binary").fit(ring)
