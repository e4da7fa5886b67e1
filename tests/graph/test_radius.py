"""Neighbours within a distance: the closed ball, one radius per point, reverse neighbours."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from lowfold._core.config import config_context
from lowfold._core.errors import MemoryBudgetExceeded
from lowfold.graph import Neighbors, Points, nearest, within_radius
from lowfold.graph._source import Pairs, read_matrix
from lowfold.metrics._resolve import resolve_metric


def points(X: np.ndarray, metric: str = "euclidean", **params: object) -> Points:
    return Points(X, resolve_metric(metric, params or None, X))


def listed(N: Neighbors) -> set[tuple[int, int]]:
    return set(zip(N.rows().tolist(), N.indices.tolist(), strict=True))


@pytest.mark.parametrize(("n", "D"), [(40, 2), (200, 3), (150, 20)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_pairs_within_and_no_other(n: int, D: int, dtype: type) -> None:
    X = np.random.default_rng(n).normal(size=(n, D)).astype(dtype)
    distance = cdist(X.astype(float), X.astype(float))
    radius = float(np.quantile(distance, 0.1))
    N = within_radius(points(X), radius)
    truth = (distance <= radius) & ~np.eye(n, dtype=bool)
    assert listed(N) == set(zip(*map(np.ndarray.tolist, np.nonzero(truth)), strict=True))
    np.testing.assert_allclose(N.distances, distance[N.rows(), N.indices], rtol=1e-13)
    for i in range(n):
        j, d = N.row(i)
        assert (np.lexsort((j, d)) == np.arange(len(j))).all()


@pytest.mark.parametrize("n", [5, 100])  # both backends
def test_the_ball_is_closed_and_coincident_points_are_in_it(n: int) -> None:
    X = np.arange(n, dtype=float)[:, None]
    N = within_radius(points(X), 2.0)
    assert N.row(2)[0].tolist() == [1, 3, 0, 4]
    assert within_radius(points(X), np.nextafter(1.0, 0)).counts.sum() == 0
    twice = within_radius(points(np.zeros((n, 2))), 0.0)
    assert (twice.counts == n - 1).all()


@pytest.mark.parametrize("D", [1, 2, 3, 5, 8, 12, 13, 20, 50])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reverse_neighbours_are_exactly_the_rows_that_list_the_point(D: int, dtype: type) -> None:
    X = np.random.default_rng(D).normal(size=(200, D)).astype(dtype)
    for search in ("kdtree", "brute"):
        N = nearest(points(X), 6, search=search)
        back = within_radius(points(X), N.kth_distance())
        assert listed(back) == {(j, i) for i, j in listed(N)}
    queries = within_radius(points(X), N.kth_distance(), queries=X[:30])
    assert {(i, j) for i, j in listed(queries) if i != j} == {(i, j) for i, j in listed(back) if i < 30}
    assert {(i, i) for i in range(30)} <= listed(queries)  # a point is within any radius of itself


@pytest.mark.parametrize(("metric", "params"), [("cosine", {}), ("template", {}), ("minkowski", {"p": 3})])
def test_reverse_neighbours_in_other_metrics(metric: str, params: dict[str, object]) -> None:
    X = np.random.default_rng(0).normal(size=(120, 5))
    N = nearest(points(X, metric, **params), 5)
    back = within_radius(points(X, metric, **params), N.kth_distance())
    assert listed(back) == {(j, i) for i, j in listed(N)}


def test_precomputed_dense_and_sparse() -> None:
    D = np.array([[0, 0, np.nan, 3], [0, 0, np.inf, 1], [np.nan, np.inf, 0, 2], [3, 1, 2, 0]])
    expected = {(0, 1), (1, 0), (1, 3), (3, 1), (2, 3), (3, 2)}
    assert listed(within_radius(Pairs(D), 2.0)) == expected
    rows, columns = np.nonzero(np.isfinite(D))
    S = sp.coo_array((D[rows, columns], (rows, columns)), shape=(4, 4))
    assert listed(within_radius(read_matrix(S, "precomputed"), 2.0)) == expected
    per_point = within_radius(Pairs(D), np.array([0.0, 1.0, 0.0, 0.0]))
    assert listed(per_point) == {(1, 0), (0, 1), (3, 1)}


def test_too_many_pairs_for_the_budget_are_refused_before_they_are_listed() -> None:
    X = np.random.default_rng(1).normal(size=(2000, 2))
    with config_context(memory="1MB"), pytest.raises(MemoryBudgetExceeded, match="smaller radius"):
        within_radius(points(X), 100.0)


def test_closed_ball_and_the_open_one():
    """On the grid of whole numbers points lie at the radius exactly."""
    grid = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    from lowfold.graph import find_neighbors

    middle = 12
    closed = find_neighbors(grid, radius=2.0)
    opened = find_neighbors(grid, radius=np.nextafter(2.0, 0))
    D = np.linalg.norm(grid - grid[middle], axis=1)
    assert closed.counts[middle] == ((D > 0) & (D <= 2)).sum() == 12
    assert opened.counts[middle] == ((D > 0) & (D < 2)).sum() == 8


def test_the_radius_alone_decides_and_together_both_do():
    grid = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    from lowfold.graph import find_neighbors

    assert find_neighbors(grid, radius=1.0).counts.max() == 4
    assert find_neighbors(grid, 3, radius=1.0).counts.max() == 3
    assert find_neighbors(grid, 3, radius=1.0).counts.min() == 2  # corners have no more within it
