"""Components against hand examples and SciPy; bridges against the minimum spanning tree; enlarging until connected."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from lowfold._core.errors import Disconnected, InvalidInput
from lowfold.graph import Graph, Neighbors, Points, components, nearest
from lowfold.graph._components import closed_classes, is_connected, strong_components
from lowfold.graph._connect import connecting_k, enlarge, find_bridges
from lowfold.graph._consistency import check_consistency, local_dimensions
from lowfold.graph._source import Measured, Pairs, Source, read_matrix
from lowfold.metrics._resolve import resolve_metric


def points(X: np.ndarray) -> Points:
    return Points(X, resolve_metric("euclidean", None, X))


def digraph(*rows: list[int]) -> Neighbors:
    return Neighbors.from_lists(list(rows), [[1.0] * len(row) for row in rows])


def test_components_by_hand() -> None:
    G = Graph.from_edges(7, [[5, 6], [1, 2], [2, 4]], [1.0, 0.0, 1.0])
    assert components(G).tolist() == [2, 0, 0, 3, 0, 1, 1]  # largest first, then by first vertex; zero length joins
    assert not is_connected(G)
    assert is_connected(Graph.from_edges(1, []))
    # 1 -> 2, 1 -> 3, 2 <-> 3: weakly connected though nothing leads to the first
    N = digraph([1, 2], [2], [1])
    assert is_connected(N)
    assert strong_components(N).tolist() == [1, 0, 0]
    assert [c.tolist() for c in closed_classes(N)] == [[1, 2]]
    # two closed pairs and a point that can go to both
    two = digraph([1], [0], [3], [2], [0, 2])
    assert [c.tolist() for c in closed_classes(two)] == [[0, 1], [2, 3]]
    assert is_connected(two)
    assert [c.tolist() for c in closed_classes(digraph([1], [2], [0]))] == [[0, 1, 2]]
    assert [c.tolist() for c in closed_classes(digraph([], [0]))] == [[0]]


@pytest.mark.parametrize("seed", range(6))
def test_components_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.random((30, 30)) < 0.035
    np.fill_diagonal(A, False)
    N = digraph(*[np.flatnonzero(row).tolist() for row in A])
    for connection, ours in (("weak", components(N)), ("strong", strong_components(N))):
        count, labels = connected_components(sp.csr_array(A), directed=True, connection=connection)
        assert ours.max() + 1 == count
        assert len(set(zip(ours.tolist(), labels.tolist(), strict=True))) == count
        assert (np.diff(np.bincount(ours)) <= 0).all()
    closed = [set(c.tolist()) for c in closed_classes(N)]
    strong = strong_components(N)
    for c in range(strong.max() + 1):
        members = np.flatnonzero(strong == c)
        leaves = A[members].any(axis=0)
        leaves[members] = False
        assert (set(members.tolist()) in closed) == (not leaves.any())


def spanning_length(D: np.ndarray, labels: np.ndarray) -> float:
    """Total length of the shortest edges that join the components: Kruskal on D with free edges inside them."""
    n = len(D)
    merged = list(labels)
    total = 0.0
    measured = [(i, j) for i in range(n) for j in range(i) if np.isfinite(D[i, j])]
    for i, j in sorted(measured, key=lambda e: D[e]):
        if merged[i] != merged[j]:
            total += D[i, j]
            old, new = merged[i], merged[j]
            merged = [new if label == old else label for label in merged]
    assert len(set(merged)) == 1
    return total


def check_bridges(source: Source, D: np.ndarray, labels: np.ndarray) -> None:
    bridges = find_bridges(source, labels)
    assert len(bridges) == labels.max()
    inside = [[i, j] for i in range(len(D)) for j in range(i) if labels[i] == labels[j]]
    joined = Graph.from_edges(len(D), np.array(inside + bridges.edges.tolist()).reshape(-1, 2))
    assert is_connected(joined)
    np.testing.assert_allclose(bridges.lengths, D[bridges.edges[:, 0], bridges.edges[:, 1]], rtol=1e-12)
    np.testing.assert_allclose(bridges.lengths.sum(), spanning_length(D, labels), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [2, 3, 9, 30])
def test_bridges_are_the_shortest_tree_from_points_and_from_matrices(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    labels = np.unique(rng.integers(count, size=60), return_inverse=True)[1]
    D = cdist(X, X)
    check_bridges(points(X), D, labels)
    check_bridges(Pairs(D), D, labels)
    masked = np.where(np.triu(rng.random((60, 60)) < 0.3, 1), np.nan, D)
    masked = np.where(np.isnan(masked) | np.isnan(masked.T), np.nan, D)
    check_bridges(Pairs(masked), masked, labels)
    rows, columns = np.nonzero(np.triu(np.isfinite(masked), 1))  # each pair measured one way only
    half = sp.coo_array((masked[rows, columns], (rows, columns)), shape=(60, 60))
    check_bridges(read_matrix(half, "precomputed"), masked, labels)


def test_bridges_with_ties_on_a_lattice_and_between_large_components() -> None:
    X = np.array([[i, j] for i in range(6) for j in range(6)], dtype=float)
    check_bridges(points(X), cdist(X, X), np.arange(36))
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(size=(90, 2)), rng.normal(size=(80, 2)) + 20, rng.normal(size=(5, 2)) - 30])
    labels = np.repeat([0, 1, 2], [90, 80, 5])
    check_bridges(points(Y), cdist(Y, Y), labels)
    X = rng.normal(size=(300, 3))
    tree = minimum_spanning_tree(cdist(X, X)).sum()
    np.testing.assert_allclose(find_bridges(points(X), np.arange(300)).lengths.sum(), tree)


def test_nothing_to_join_and_nothing_to_join_with() -> None:
    assert len(find_bridges(points(np.eye(3)), np.zeros(3, dtype=int))) == 0
    D = np.full((4, 4), np.nan)
    D[0, 1] = D[1, 0] = D[2, 3] = D[3, 2] = 1.0
    labels = np.array([0, 0, 1, 1])
    rows, columns = np.nonzero(np.isfinite(D))
    sparse = read_matrix(sp.coo_array((D[rows, columns], (rows, columns)), shape=(4, 4)), "precomputed")
    for source in (Pairs(D), Pairs(np.where(np.isnan(D), np.inf, D)), sparse):
        with pytest.raises(Disconnected, match="2 components and no pair between them was measured"):
            find_bridges(source, labels)


@pytest.mark.parametrize("seed", range(4))
def test_connecting_k_is_the_smallest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(12, 2)), rng.normal(size=(9, 2)) + 8])
    source = points(X)
    truth = next(k for k in range(1, 21) if is_connected(nearest(source, k)))
    assert connecting_k(source, 3) == truth
    assert connecting_k(source, truth) == truth
    assert connecting_k(source, 1, most=2) is None


@pytest.mark.parametrize("seed", range(4))
def test_enlarge_by_one_neighbour_at_a_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(8, 2)), rng.normal(size=(10, 2)) + 15])
    graph, k = enlarge(points(X))
    assert is_connected(graph)
    assert k == next(k for k in range(3, 18) if is_connected(nearest(points(X), k)))
    np.testing.assert_array_equal(graph.indices, nearest(points(X), int(k)).union().indices)
    once, k = enlarge(points(X[:8]), n_neighbors=7)
    assert k == 7
    assert once.n_edges == 28
    whole, radius = enlarge(points(X), radius=0.5)
    assert is_connected(whole)
    assert radius >= find_bridges(points(X), np.arange(18)).lengths.max() > radius / 1.1
    steps = np.log(radius / 0.5) / np.log(1.1)
    assert abs(steps - round(steps)) < 1e-9
    same, radius = enlarge(points(X), radius=1000.0)
    assert radius == 1000.0
    assert same.n_edges == 18 * 17 // 2


def test_enlarge_stops_where_no_measurement_connects() -> None:
    D = np.full((6, 6), np.nan)
    D[:3, :3] = D[3:, 3:] = 1.0
    np.fill_diagonal(D, 0.0)
    with pytest.raises(Disconnected):
        enlarge(Pairs(D))
    with pytest.raises(Disconnected):
        enlarge(Pairs(D), radius=0.1)
    with pytest.raises(InvalidInput, match="radius"):
        enlarge(Pairs(D), radius=0.0)
    with pytest.raises(Disconnected):
        enlarge(Measured(nearest(Pairs(D), 2)))


def test_collinear_neighbours_are_flagged() -> None:
    line = np.column_stack([np.arange(10.0), np.zeros(10), np.zeros(10)])
    sheet = np.array([[i, j, 30.0] for i in range(4) for j in range(4)], dtype=float)
    X = np.concatenate([line, sheet]) + 100.0  # raw vectors would span one direction more than their differences
    N = nearest(points(X), 4)
    dims = local_dimensions(points(X), N)
    assert (dims[:10] == 1).all()
    assert (dims[10:] == 2).all()
    report = check_consistency(points(X), N, 2)
    np.testing.assert_array_equal(report.flat_points, np.arange(10))
    assert report.n_components == 2
    assert report.component_sizes.tolist() == [16, 10]
    assert "2 components" in str(report)
    same = np.zeros((6, 2))
    assert (local_dimensions(points(same), nearest(points(same), 3)) == 0).all()
