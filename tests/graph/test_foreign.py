"""Graphs of NetworkX and of SciPy in the place of lowfold's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import lowfold
from lowfold._core.errors import InvalidInput
from lowfold.graph import (
    Graph,
    Weights,
    as_graph,
    choose_landmarks,
    components,
    geodesics,
    laplacian,
    normalized_laplacian,
    random_walk,
)
from lowfold.graph._components import is_connected
from lowfold.kernels import gaussian

nx = pytest.importorskip("networkx")


def grid(seed: int = 0) -> object:
    rng = np.random.default_rng(seed)
    G = nx.grid_2d_graph(6, 7)
    for _, _, data in G.edges(data=True):
        data["length"] = rng.uniform(0.5, 2.0)
    return G


def test_networkx_gives_the_same_shortest_paths() -> None:
    G = grid()
    assert np.allclose(geodesics(G), nx.floyd_warshall_numpy(G, weight="length"))
    S = nx.to_scipy_sparse_array(G, weight="length")
    assert np.allclose(geodesics(S), geodesics(G))


def test_its_laplacian_and_components() -> None:
    G = grid()
    assert np.allclose(laplacian(Weights.unit(G)).dense(), nx.laplacian_matrix(G, weight=None).toarray())
    assert is_connected(G)
    G.remove_nodes_from([(2, j) for j in range(7)])
    assert np.bincount(components(G)).tolist() == [21, 14]


@pytest.mark.parametrize("function", [laplacian, normalized_laplacian, random_walk])
def test_a_graph_without_weights_is_answered_with_how_to_weigh_it(function) -> None:
    for graph in (grid(), nx.to_scipy_sparse_array(grid()), as_graph(grid())):
        with pytest.raises(InvalidInput, match=r"Weights\.unit"):
            function(graph)
        function(Weights.unit(graph))


def test_weights_and_landmarks_of_foreign_graphs() -> None:
    G = grid()
    own = as_graph(G)
    for graph in (G, nx.to_scipy_sparse_array(G, weight="length")):
        assert np.array_equal(gaussian(graph, scale=2.0).values, gaussian(own, scale=2.0).values)
        assert np.array_equal(choose_landmarks(graph, 5), choose_landmarks(own, 5))


def test_lengths_are_length_then_weight_then_one() -> None:
    G = nx.path_graph(3)
    assert as_graph(G).lengths.tolist() == [1.0] * 4
    nx.set_edge_attributes(G, 3.0, "weight")
    assert as_graph(G).lengths.tolist() == [3.0] * 4
    nx.set_edge_attributes(G, 2.0, "length")
    assert as_graph(G).lengths.tolist() == [2.0] * 4
    G.add_edge(0, 2)
    with pytest.raises(InvalidInput, match="some edges"):
        as_graph(G)


def test_directions_parallel_edges_and_loops() -> None:
    D = nx.MultiDiGraph()
    D.add_weighted_edges_from([("a", "b", 3.0), ("b", "a", 2.0), ("a", "b", 5.0), ("b", "b", 1.0), ("b", "c", 4.0)])
    found = as_graph(D)
    assert found.edges().tolist() == [[0, 1], [1, 2]]
    assert geodesics(found)[0].tolist() == [0.0, 2.0, 6.0]


def test_a_stored_zero_of_a_matrix_is_an_edge_of_no_length() -> None:
    A = coo_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3))
    assert geodesics(csr_array(A))[0].tolist() == [0.0, 0.0, 2.0]


@pytest.mark.parametrize("name", ["Isomap", "LaplacianEigenmaps", "DiffusionMaps", "SpectralClustering"])
def test_methods_take_networkx_as_their_own_graph(name: str) -> None:
    G = grid(3)
    own = as_graph(G)
    assert isinstance(own, Graph)
    make = getattr(lowfold, name)
    a, b = make(2).fit(G), make(2).fit(own)
    assert np.array_equal(a.embedding_, b.embedding_)
    assert float(lowfold.quality.stress(G, a.embedding_)) == float(lowfold.quality.stress(own, b.embedding_))


def test_anything_else_is_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="NetworkX graph"):
        components([[0, 1], [1, 0]])
    with pytest.raises(InvalidInput, match="square"):
        components(csr_array(np.ones((2, 3))))
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, "far", "length")
    with pytest.raises(InvalidInput, match="numbers"):
        as_graph(G)
