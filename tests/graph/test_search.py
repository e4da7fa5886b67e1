"""The neighbour search against brute force: all backends the same bits, ties by index, any source."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold.graph import Neighbors, Points, find_neighbors, nearest
from lowfold.graph._neighborhoods import default_neighbors, neighborhoods, query_neighborhoods
from lowfold.graph._search import select_search
from lowfold.graph._source import Measured, Pairs, read_matrix
from lowfold.metrics._resolve import resolve_metric

EXACT = ("kdtree", "brute")


def points(X: np.ndarray, metric: object = "euclidean", **params: object) -> Points:
    return Points(X, resolve_metric(metric, params or None, X))  # type: ignore[arg-type]


def by_loops(X: np.ndarray, k: int, Q: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Every squared distance by direct differences in float64, sorted by (distance, index)."""
    A = X.astype(np.float64)
    B = A if Q is None else Q.astype(np.float64)
    index = np.empty((len(B), k), dtype=int)
    distance = np.empty((len(B), k))
    for i, x in enumerate(B):
        d = np.zeros(len(A))
        for f in range(A.shape[1]):
            d += (x[f] - A[:, f]) ** 2
        order = np.lexsort((np.arange(len(A)), np.sqrt(d), d))
        order = order[order != i] if Q is None else order
        index[i], distance[i] = order[:k], np.sqrt(d[order[:k]])
    return index, distance


def check_rows(N: Neighbors, *, queries: bool = False) -> None:
    for i in range(N.n):
        j, d = N.row(i)
        assert queries or i not in j
        assert len(set(j.tolist())) == len(j)
        assert (np.lexsort((j, d)) == np.arange(len(j))).all()


@pytest.mark.parametrize("search", EXACT)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "D", "k"), [(90, 1, 5), (90, 3, 7), (70, 8, 4), (90, 50, 6), (12, 2, 11), (2, 2, 1)])
def test_exact_backends_equal_brute_force_to_the_last_bit(search: str, dtype: type, n: int, D: int, k: int) -> None:
    X = np.random.default_rng(D).normal(size=(n, D)).astype(dtype)
    N = nearest(points(X), k, search=search)
    index, distance = by_loops(X, k)
    np.testing.assert_array_equal(N.indices.reshape(n, k), index)
    np.testing.assert_array_equal(N.distances.reshape(n, k), distance)
    assert N.recall == 1.0
    check_rows(N)
    Q = np.random.default_rng(99).normal(size=(9, D)).astype(dtype)
    found = nearest(points(X), min(k, n), queries=Q, search=search)
    np.testing.assert_array_equal(found.indices.reshape(9, -1), by_loops(X, k, Q)[0])
    assert found.n_points == n


@pytest.mark.parametrize("scale", [1.0, 0.1, 1 / 3])
@pytest.mark.parametrize(("side", "D"), [(30, 1), (9, 2), (5, 3), (3, 4), (3, 5)])
def test_ties_on_a_lattice_go_by_index_in_every_backend(side: int, D: int, scale: float) -> None:
    X = scale * np.array(list(itertools.product(range(side), repeat=D)), dtype=float)
    for k in (1, 3, 5, 2 * D + 1):
        tree, brute = (nearest(points(X), k, search=search) for search in EXACT)
        np.testing.assert_array_equal(tree.indices, brute.indices)
        np.testing.assert_array_equal(tree.distances, brute.distances)
        check_rows(tree)
        if scale == 1.0:
            np.testing.assert_array_equal(tree.indices.reshape(len(X), k), by_loops(X, k)[0])


@pytest.mark.parametrize("search", EXACT)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_coincident_points_have_distance_exactly_zero(search: str, dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(dtype) + dtype(1000)
    X[50:] = X[:50]
    N = nearest(points(X), 3, search=search)
    assert (N.distances.reshape(100, 3)[:, 0] == 0).all()
    np.testing.assert_array_equal(N.indices.reshape(100, 3)[:, 0], np.r_[50:100, :50])
    found = nearest(points(X), 1, queries=X[50:60], search=search)
    np.testing.assert_array_equal(found.indices, np.arange(10))  # the first of the two by index
    assert (found.distances == 0).all()


@pytest.mark.parametrize("search", EXACT)
def test_twenty_identical_rows(search: str) -> None:
    X = np.ones((20, 4))
    for k in (1, 5, 19):
        N = nearest(points(X), k, search=search)
        assert (N.distances == 0).all()
        for i in range(20):
            np.testing.assert_array_equal(N.row(i)[0], np.delete(np.arange(20), i)[:k])


@pytest.mark.parametrize("search", EXACT)
@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_an_offset_common_to_all_points_changes_nothing(search: str, offset: float) -> None:
    X = np.round(np.random.default_rng(1).normal(size=(150, 5)) * 64) / 64  # exact after adding the offset
    near, far = nearest(points(X), 6, search=search), nearest(points(X + offset), 6, search=search)
    np.testing.assert_array_equal(near.indices, far.indices)
    np.testing.assert_array_equal(near.distances, far.distances)


@pytest.mark.parametrize("search", EXACT)
@pytest.mark.parametrize(("dtype", "factor"), [(np.float64, 2.0**700), (np.float64, 2.0**-800), (np.float32, 2.0**90)])
def test_huge_and_tiny_values_are_only_a_scale(search: str, dtype: type, factor: float) -> None:
    X = np.random.default_rng(3).normal(size=(80, 3)).astype(dtype)
    usual, scaled = nearest(points(X), 4, search=search), nearest(points(X * dtype(factor)), 4, search=search)
    np.testing.assert_array_equal(usual.indices, scaled.indices)
    np.testing.assert_array_equal(usual.distances * factor, scaled.distances)


def test_threads_change_nothing_and_inputs_stay_as_they_were() -> None:
    X = np.random.default_rng(4).normal(size=(2500, 15)).astype(np.float32)
    before = X.copy()
    one, two = (nearest(points(X), 5, run=Run(n_jobs=j)) for j in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)
    np.testing.assert_array_equal(X, before)
    assert select_search(2500, 15) == "brute"
    assert select_search(2500, 3) == "kdtree"
    assert select_search(1000, 3) == "brute"


@pytest.mark.parametrize(
    ("metric", "params", "reference"),
    [
        ("cosine", {}, "cosine"),
        ("correlation", {}, "correlation"),
        ("mahalanobis", {}, "mahalanobis"),
        ("minkowski", {"p": 3}, "minkowski"),
        ("template", {}, "chebyshev"),
    ],
)
def test_metrics_against_full_matrices(metric: str, params: dict[str, object], reference: str) -> None:
    X = np.random.default_rng(5).normal(size=(120, 6)) + 0.5
    extra = {"VI": np.linalg.inv(np.cov(X.T))} if reference == "mahalanobis" else params
    D = cdist(X, X, reference, **extra)
    N = nearest(points(X, metric, **params), 6)
    ratio = N.distances / D[N.rows(), N.indices]
    assert np.ptp(ratio) < 1e-6  # Mahalanobis may divide the covariance by n or by n - 1
    assert abs(ratio[0] - 1) < 0.01
    np.fill_diagonal(D, np.inf)
    truth = np.argsort(D, axis=1, kind="stable")[:, :6]
    np.testing.assert_array_equal(N.indices.reshape(120, 6), truth)
    check_rows(N)


def test_callable_metric_and_precomputed_agree() -> None:
    X = np.random.default_rng(6).normal(size=(40, 3))

    def manhattan(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.abs(a - b).sum())

    D = cdist(X, X, "cityblock")
    called, given = nearest(points(X, manhattan), 5), nearest(Pairs(D), 5)
    np.testing.assert_array_equal(called.indices, given.indices)
    np.testing.assert_allclose(called.distances, given.distances, rtol=1e-14)
    check_rows(given)


def test_nan_is_unmeasured_inf_is_no_path_and_zero_is_a_distance() -> None:
    nan, inf = np.nan, np.inf
    D = np.array([[0, 0, nan, 3], [0, 0, inf, 1], [nan, inf, 0, nan], [3, 1, nan, 0]], dtype=float)
    N = nearest(read_matrix(D, "precomputed"), 2)
    assert [N.row(i)[0].tolist() for i in range(4)] == [[1, 3], [0, 3], [], [1, 0]]
    assert N.row(0)[1].tolist() == [0, 3]
    squared = nearest(read_matrix(D**2, "precomputed_squared"), 2)
    np.testing.assert_allclose(squared.distances, N.distances)
    rows, columns = np.nonzero(np.isfinite(D))
    S = sp.coo_array((D[rows, columns], (rows, columns)), shape=(4, 4)).tocsr()
    assert S.nnz == 10  # stored zeros, the diagonal among them
    stored = (S.data.copy(), S.indices.copy())
    sparse = nearest(read_matrix(S, "precomputed"), 2)
    np.testing.assert_array_equal(sparse.indices, N.indices)
    np.testing.assert_array_equal(sparse.distances, N.distances)
    np.testing.assert_array_equal(stored[0], S.data)
    np.testing.assert_array_equal(stored[1], S.indices)


def test_reading_a_sparse_matrix_leaves_it_as_it_was() -> None:
    S = sp.csr_array((np.array([2.0, 1.0, 2.0, 1.0]), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    read_matrix(S, "precomputed")
    assert S.indices.tolist() == [2, 1, 0, 0]


def test_similarities_become_distances() -> None:
    X = np.random.default_rng(7).normal(size=(15, 3))
    found = nearest(read_matrix(X @ X.T, "precomputed_similarity"), 4)
    truth = nearest(points(X), 4)
    np.testing.assert_array_equal(found.indices, truth.indices)
    np.testing.assert_allclose(found.distances, truth.distances, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: read_matrix(np.ones((2, 3)), "precomputed"), "square"),
        (lambda: read_matrix(np.array([[0, -1.0], [-1, 0]]), "precomputed"), "0 or more"),
        (lambda: read_matrix(sp.csr_array([[0, -1.0], [-1, 0]]), "precomputed"), "0 or more"),
        (lambda: read_matrix(sp.eye_array(3).tocsr(), "precomputed_similarity"), "dense"),
        (lambda: read_matrix(np.ones((2, 3)), "precomputed_similarity", square=False), "similarities"),
        (lambda: nearest(points(np.eye(4)), 4), "1..3"),
        (lambda: nearest(points(np.eye(4)), 0), "1..3"),
        (lambda: nearest(points(np.eye(4)), 2, search="magic"), "search must be one of"),
        (lambda: neighborhoods(points(np.eye(4)), n_neighbors=4), "at most 3"),
        (lambda: neighborhoods(points(np.eye(4)), n_neighbors=np.array([1, 2])), "one per point"),
        (lambda: query_neighborhoods(points(np.eye(4)), np.full((2, 4), 9.0), radius=1.0), "row 0 of the new points"),
    ],
)
def test_bad_questions_get_words(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput, match=words):
        make()


def test_neighborhoods_by_k_per_point_radius_and_both() -> None:
    X = np.random.default_rng(8).normal(size=(60, 2))
    X[0] = 50.0  # an outlier
    source = points(X)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    k = np.arange(60) % 5 + 1
    N = neighborhoods(source, n_neighbors=k)
    np.testing.assert_array_equal(N.counts, k)
    full = neighborhoods(source, n_neighbors=5)
    for i in range(60):
        np.testing.assert_array_equal(N.row(i)[0], full.row(i)[0][: k[i]])
    ball = neighborhoods(source, radius=0.5)
    np.testing.assert_array_equal(ball.counts, (D <= 0.5).sum(axis=1))
    both = neighborhoods(source, n_neighbors=4, radius=0.5)
    np.testing.assert_array_equal(both.counts, np.minimum(4, (D <= 0.5).sum(axis=1)))
    assert both.counts[0] == 0  # the outlier has nobody
    assert full.counts[0] == 5
    assert neighborhoods(source).k == 10 == default_neighbors(60)
    assert neighborhoods(points(X[:4])).k == 3 == default_neighbors(4)
    scaled = neighborhoods(points(8 * X), radius=4.0)
    np.testing.assert_array_equal(scaled.indices, ball.indices)


def test_queries_see_measured_pairs_only() -> None:
    D = np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, 0.0]])
    source = Pairs(np.zeros((3, 3)))
    found = query_neighborhoods(source, Pairs(D), n_neighbors=2)
    assert [found.row(i)[0].tolist() for i in range(2)] == [[0, 2], [2]]
    sparse = read_matrix(sp.csr_array(np.array([[1.0, 0, 2.0]])), "precomputed", square=False)
    base = Measured(Neighbors.from_lists([[1], [0], [0]], [[1.0], [1.0], [1.0]]))
    assert query_neighborhoods(base, sparse, n_neighbors=1).indices.tolist() == [0]


@pytest.mark.extra("faiss")
def test_approximate_search_says_its_recall() -> None:
    pytest.importorskip("faiss")
    X = np.random.default_rng(9).normal(size=(1500, 10)).astype(np.float32)
    X[1400:] = X[:100]
    truth, found = nearest(points(X), 8), nearest(points(X), 8, search="faiss")
    check_rows(found)
    assert found.k == 8
    hits = [len(np.intersect1d(truth.row(i)[0], found.row(i)[0])) / 8 for i in range(1500)]
    assert found.recall > 0.9
    assert abs(np.mean(hits) - found.recall) < 0.05
    common = np.flatnonzero(np.array(hits) == 1)
    np.testing.assert_array_equal(found.row(common[0])[1], truth.row(common[0])[1])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_have_the_neighbours_of_the_same_dense_ones(metric: str) -> None:
    X = sp.random_array((80, 300), density=0.1, rng=np.random.default_rng(3), format="csr")
    sparse, dense = (find_neighbors(rows, 5, metric=metric) for rows in (X, X.toarray()))
    assert np.array_equal(sparse.indices, dense.indices)
    assert np.allclose(sparse.distances, dense.distances, rtol=1e-12)


def test_sparse_rows_are_checked() -> None:
    X = sp.csr_array(np.eye(4))
    X.data[2] = np.nan
    with pytest.raises(InvalidInput, match="1 values that are NaN"):
        find_neighbors(X, 2)
    with pytest.raises(InvalidInput, match="'euclidean' or 'cosine'"):
        find_neighbors(sp.csr_array(np.eye(4)), 2, metric="manhattan")
