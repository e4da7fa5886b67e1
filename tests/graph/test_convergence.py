"""Graph distances approach geodesic distances: Wang (2012), Theorems 8.2 and 8.3, and the asymptotic statement."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold import datasets
from lowfold.graph import Graph, Points, geodesics, nearest, within_radius
from lowfold.metrics._resolve import resolve_metric


def points(X: np.ndarray) -> Points:
    return Points(X, resolve_metric("euclidean", None, X))


def ratios(n: int, k: int, seed: int) -> tuple[float, np.ndarray]:
    """Correlation of graph distance with the true one on a Swiss roll, and their quotients for pairs not very close."""
    roll = datasets.swiss_roll(n, random_state=seed)
    d_graph = geodesics(nearest(points(roll.X), k).union())
    upper = np.triu_indices(n, 1)
    a, b = d_graph[upper], roll.geodesic(*upper)
    far = b > np.median(b)
    return float(np.corrcoef(a, b)[0, 1]), a[far] / b[far]


@pytest.mark.parametrize("seed", [0, 1])
def test_graph_distance_correlates_with_the_geodesic(seed: int) -> None:
    correlation, quotient = ratios(1000, 10, seed)
    assert correlation > 0.999
    assert quotient.min() > 0.95
    assert quotient.max() < 1.25


@pytest.mark.slow
def test_quotients_tighten_with_more_points() -> None:
    # fewer points than 800 leave short circuits between the layers
    errors = [np.quantile(np.abs(ratios(n, 10, 0)[1] - 1), 0.95) for n in (400, 800, 2500)]
    assert errors[0] > 0.5
    assert errors[0] > errors[1] > errors[2] > 0


def arc(n: int, gap: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(gap, 2 * np.pi - gap, n)
    return np.column_stack([np.cos(t), np.sin(t)]), np.abs(t[:, None] - t)


@pytest.mark.parametrize(("n", "eps"), [(400, 0.3), (200, 0.5)])
def test_bounds_on_an_arc_of_the_unit_circle(n: int, eps: float) -> None:
    X, d_true = arc(n)
    delta = d_true[0, 1] / 2
    s0, r0 = 2 * np.sin(0.6), 1.0
    graph = within_radius(points(X), eps).union()
    longest = graph.lengths.max()
    assert longest < s0
    lambda_1, lambda_2 = (longest * np.pi / (2 * r0)) ** 2 / 24, 4 * delta / eps
    assert lambda_1 < 1
    assert lambda_2 < 1
    upper = np.triu_indices(n, 1)
    quotient = geodesics(graph)[upper] / d_true[upper]
    assert quotient.min() >= 1 - lambda_1 - 1e-11
    assert quotient.max() <= 1 + lambda_2
    # lengths of edges measured along the manifold: d_M <= d_S <= (1 + 4 delta / eps) d_M
    edges = graph.edges()
    along = Graph.from_edges(n, edges, d_true[edges[:, 0], edges[:, 1]])
    quotient = geodesics(along)[upper] / d_true[upper]
    assert quotient.min() >= 1 - 1e-11  # lengths are rounded to whole units, 2^-53 of n longest edges
    assert quotient.max() <= 1 + lambda_2


def test_graph_distance_is_a_metric_and_never_below_the_chord() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    chord = np.linalg.norm(X[:, None] - X, axis=-1)
    D = geodesics(nearest(points(X), 8).union())
    assert (chord - 1e-12 <= D).all()
    np.testing.assert_allclose(D, D.T, rtol=1e-14)  # sums from either end
    assert (D[:, None, :] <= D[:, :, None] + D[None] + 1e-12).all()
    complete = geodesics(nearest(points(X), 59).union())
    np.testing.assert_allclose(complete, chord, atol=1e-12)
    np.testing.assert_allclose(geodesics(nearest(points(X), 8).union(), method="floyd_warshall"), D, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_undirected_first_is_below_the_minimum_of_both_directions(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 2))
    N = nearest(points(X), 4)
    directed = geodesics(N)
    later = np.minimum(directed, directed.T)
    assert (geodesics(N.union()) <= later + 1e-12).all()
