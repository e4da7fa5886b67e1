"""Embeddings are ranked by neighbours along the data, and a sample says that it is one, and how far it may be off."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold import datasets, quality
from lowfold.graph import find_neighbors
from lowfold.graph._edge_map import edge_map
from lowfold.select._compare_measure import Yardstick, measure


def _strip(seed, n=400, ratio=12.0):
    P = np.random.default_rng(seed).random((n, 2)) * [ratio, 1.0]
    return np.column_stack([2 * np.sin(P[:, 0] / 2), P[:, 1], 2 * np.cos(P[:, 0] / 2)]), P


def _area(X, Y):
    return measure(Y, Yardstick(X, "euclidean", 10, 5000, None, None, 0)).values["geodesic_area"]


@pytest.mark.parametrize("seed", range(3))
def test_a_perfect_chart_of_a_long_strip_comes_first(seed):
    X, P = _strip(seed)
    unit = P / P.std(axis=0)  # as the alignment methods give it
    t = P[:, 0] / 12 * np.pi
    collapsed = np.column_stack([np.cos(t), np.cos(2 * t)])  # the second coordinate repeats the first
    chart, isometric, folded = _area(X, unit), _area(X, P), _area(X, collapsed)
    assert chart == pytest.approx(isometric, abs=0.02)
    assert chart > folded + 0.1
    assert chart > _area(X, X[:, :2]) + 0.05  # PCA's view, sheets over each other


def test_the_linear_map_gives_edges_their_lengths():
    P = np.random.default_rng(7).random((200, 2))
    graph = find_neighbors(P, 6).union()
    bent = P @ np.array([[5.0, 1.0], [0.0, 0.1]])
    Z = bent @ edge_map(bent, graph)
    edges = graph.edges()
    assert np.linalg.norm(Z[edges[:, 0]] - Z[edges[:, 1]], axis=1) == pytest.approx(
        np.linalg.norm(P[edges[:, 0]] - P[edges[:, 1]], axis=1)
    )


@pytest.mark.parametrize("seed", range(3))
def test_two_points_that_nearly_coincide_do_not_spoil_the_map(seed):
    X, P = _strip(seed)
    X[1], P[1] = X[0], P[0]
    X[1, 1] += 1e-3
    apart = P / P.std(axis=0)
    apart[1] += 0.05  # where all else is right
    assert _area(X, apart) == pytest.approx(_area(X, P), abs=0.02)


def test_standard_errors_are_those_of_the_draw():
    X = datasets.swiss_roll(900, random_state=5).X
    Y = X[:, [0, 2]]
    whole = quality.summary(X, Y)
    assert not whole.errors
    off = {name: [] for name in ("trustworthiness", "continuity", "r_nx_area", "pearson", "stress", "angles")}
    for seed in range(12):
        part = quality.summary(X, Y, max_points=150, random_state=seed)
        for name, values in off.items():
            assert part.errors[name] > 0
            values.append((part[name].value - whole[name].value) / part.errors[name])
    for name, values in off.items():
        assert 0.4 < np.std(values) < 2.0, name
        assert np.abs(np.mean(values)) < 1.0, name


def test_a_sample_has_the_neighbourhoods_of_all_points():
    X = np.random.default_rng(3).random((300, 3))
    Y = X[:, :2]
    some = quality.summary(X, Y, max_points=299)
    whole = quality.summary(X, Y)
    seen = some["angles"].points[some.rows]
    assert seen == pytest.approx(whole["angles"].points[some.rows])


def test_very_many_points_are_measured_from_few_and_it_is_said():
    from lowfold.select._compare_types import Comparison, Row

    X = np.random.default_rng(1).random((700, 2))
    against = Yardstick(X, "euclidean", 8, 100, None, None, 0)
    row = Row("PCA", "PCA", "done", embedding=X, quality=measure(X, against))
    found = Comparison((row,), X, None, None, None, {}, {"measured_points": against.measured}, {}, None)
    assert "measured from 100 of 700 points" in str(found)
    assert "trustworthiness 0" in found.sampling()
    assert Yardstick(np.empty((200_000, 3)), "euclidean", 8, 5000, None, None, 0).measured == 200
