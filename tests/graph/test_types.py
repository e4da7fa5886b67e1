"""`Neighbors` and `Graph`: small examples worked by hand, and what every one of them keeps."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold._core.errors import InvalidInput
from lowfold.graph import Graph, Neighbors, Points, nearest
from lowfold.metrics._resolve import resolve_metric


def points(X: np.ndarray) -> Points:
    return Points(X, resolve_metric("euclidean", None, X))


def as_matrix(graph: Graph) -> np.ndarray:
    """Lengths as a dense matrix, NaN where there is no edge: a stored zero is an edge."""
    A = np.full((graph.n, graph.n), np.nan)
    A[graph.rows(), graph.indices] = graph.lengths
    return A


def check_graph(graph: Graph) -> None:
    A = as_matrix(graph)
    np.testing.assert_array_equal(A, A.T)
    assert np.isnan(np.diagonal(A)).all()
    for i in range(graph.n):
        assert (np.diff(graph.row(i)[0]) > 0).all()
    assert graph.degrees().sum() == 2 * graph.n_edges
    assert graph.edges().shape == (graph.n_edges, 2)
    for array in (graph.indptr, graph.indices, graph.lengths):
        assert not array.flags.writeable


# Six points of which j = 1 is among the three nearest of i = 0, but not the reverse (Wang 2012, Fig. 3.1).
SIX = np.array([[0.0, 0.0], [2.0, 0.0], [1.2, 0.9], [1.2, -0.9], [3.0, 0.0], [-9.0, 9.0]])


def test_three_nearest_are_not_symmetric() -> None:
    N = nearest(points(SIX), 3)
    assert set(N.row(0)[0].tolist()) == {1, 2, 3}
    assert set(N.row(1)[0].tolist()) == {2, 3, 4}
    assert N.k == 3
    union, mutual = N.union(), N.mutual()
    assert [0, 1] in union.edges().tolist()
    assert [0, 1] not in mutual.edges().tolist()
    assert len(mutual.row(5)[0]) == 0  # nobody's neighbour
    assert len(union.row(5)[0]) == 3
    for graph in (union, mutual, N.average()):
        check_graph(graph)


def test_union_mutual_average_by_hand() -> None:
    # 0 -> 1 (both ways, 3), 0 -> 2 (one way, 4), 2 -> 3 coincide (one way, 0)
    N = Neighbors.from_lists([[2, 1], [0], [3], []], [[4.0, 3.0], [3.0], [0.0], []])
    assert N.indices.tolist() == [1, 2, 0, 3]
    assert N.counts.tolist() == [2, 1, 1, 0]
    assert N.k is None
    nan = np.nan
    union = [[nan, 3, 4, nan], [3, nan, nan, nan], [4, nan, nan, 0], [nan, nan, 0, nan]]
    np.testing.assert_array_equal(as_matrix(N.union()), union)
    mutual = [[nan, 3, nan, nan], [3, nan, nan, nan], [nan] * 4, [nan] * 4]
    np.testing.assert_array_equal(as_matrix(N.mutual()), mutual)
    average = np.array(union) / [[1, 1, np.sqrt(2), 1], [1] * 4, [np.sqrt(2), 1, 1, 1], [1] * 4]
    np.testing.assert_allclose(as_matrix(N.average()), average)


@pytest.mark.parametrize("seed", range(4))
def test_symmetrising_against_entrywise_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    X[:5] = X[5]  # coincident points: edges of length zero
    N = nearest(points(X), 4)
    A = np.zeros((40, 40), dtype=bool)
    A[N.rows(), N.indices] = True
    D = np.linalg.norm(X[:, None] - X, axis=-1)
    for graph, mask in ((N.union(), A | A.T), (N.mutual(), A & A.T)):
        check_graph(graph)
        np.testing.assert_array_equal(~np.isnan(as_matrix(graph)), mask)
        np.testing.assert_allclose(as_matrix(graph)[mask], D[mask], atol=1e-15)
    assert (N.union().lengths == 0).sum() >= 20
    assert N.union().to_scipy().nnz == 2 * N.union().n_edges


def test_unequal_lengths_of_the_two_directions_take_the_shorter() -> None:
    N = Neighbors.from_lists([[1], [0]], [[2.0], [5.0]])
    assert N.union().lengths.tolist() == [2.0, 2.0] == N.mutual().lengths.tolist()
    np.testing.assert_allclose(N.average().lengths, np.sqrt((4 + 25) / 2))


def test_rows_can_be_taken_restricted_and_read() -> None:
    N = nearest(points(SIX), 3)
    part = N.take([4, 0])
    assert part.n == 2
    assert part.n_points == 6
    np.testing.assert_array_equal(part.row(1)[0], N.row(0)[0])
    assert N.kth_distance().tolist() == [N.row(i)[1][-1] for i in range(6)]
    kept = np.array([3, 1, 0])
    small = N.restrict(kept)
    for a, i in enumerate(kept):
        inside = [kept.tolist().index(j) for j in N.row(int(i))[0].tolist() if j in kept]
        assert small.row(a)[0].tolist() == inside
    with pytest.raises(InvalidInput, match="queries"):
        part.union()
    assert not N.indices.flags.writeable
    before = N.indices.copy()
    for matrix in (N.union().to_scipy(), N.mutual().to_scipy(), N.to_scipy()):
        matrix.sort_indices()
        matrix.data *= 2  # a copy: nothing of it reaches the neighbourhoods
    np.testing.assert_array_equal(N.indices, before)


def test_graph_from_edges_subgraph_and_more_edges() -> None:
    G = Graph.from_edges(5, [[3, 1], [1, 3], [0, 1], [4, 0]], [2.0, 1.5, 0.0, 3.0])
    check_graph(G)
    assert G.edges().tolist() == [[0, 1], [0, 4], [1, 3]]
    assert G.lengths.tolist() == [0.0, 3.0, 0.0, 1.5, 1.5, 3.0]
    more = G.with_edges([[2, 4]], [7.0])
    check_graph(more)
    assert more.n_edges == 4
    sub = more.subgraph(np.array([4, 2, 0]))
    check_graph(sub)
    assert sub.edges().tolist() == [[0, 1], [0, 2]]
    assert sub.row(0)[1].tolist() == [7.0, 3.0]
    back = more.neighbors().union()
    np.testing.assert_array_equal(as_matrix(back), as_matrix(more))
    for i in range(5):
        j, d = more.neighbors().row(i)
        assert sorted(zip(d.tolist(), j.tolist(), strict=True)) == list(zip(d.tolist(), j.tolist(), strict=True))
    empty = Graph.from_edges(3, np.empty((0, 2)))
    assert empty.n_edges == 0
    assert empty.n == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Graph.from_edges(3, [[0, 3]]), "0..2"),
        (lambda: Graph.from_edges(3, [[1, 1]]), "itself"),
        (lambda: Graph.from_edges(3, [[0, 1]], [1.0, 2.0]), "one entry per edge"),
        (lambda: Graph.from_edges(3, [[0, 1]], [-1.0]), "0 or more"),
        (lambda: Graph.from_edges(3, [[0, 1]], [np.nan]), "NaN"),
        (lambda: Neighbors.from_lists([[0]], [[1.0]]), "own neighbour"),
        (lambda: Neighbors(np.array([0, 2]), np.array([1]), np.array([1.0]), 2), "promises 2"),
        (lambda: Neighbors(np.array([1, 1]), np.array([1]), np.array([1.0]), 2), "start at 0"),
        (lambda: Neighbors(np.array([0, 1]), np.array([-1]), np.array([1.0]), 2), "0..1"),
    ],
)
def test_what_cannot_be_a_graph_is_refused_in_words(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput, match=words):
        make()


def test_what_users_build_by_hand_is_checked() -> None:
    good = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 3.0])
    good.check()
    with pytest.raises(ValueError, match="both rows"):
        Graph(np.array([0, 1, 1]), np.array([1]), np.array([1.0])).check()
    with pytest.raises(ValueError, match="same length"):
        Graph(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 2.0])).check()
    with pytest.raises(ValueError, match="self-edges"):
        Graph(np.array([0, 1, 2]), np.array([0, 1]), np.array([1.0, 1.0])).check()
    with pytest.raises(ValueError, match="own neighbour"):
        Neighbors(np.array([0, 1, 2]), np.array([0, 0]), np.array([1.0, 1.0]), 2).check()
    with pytest.raises(ValueError, match="sorted by distance"):
        Neighbors(np.array([0, 2, 2, 2]), np.array([1, 2]), np.array([2.0, 1.0]), 3).check()
