"""Shortcuts: found where they are, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold import datasets
from lowfold._core.run import Run
from lowfold.graph._detours import mth_lengths
from lowfold.graph._search import nearest
from lowfold.graph._shortcuts import HINTS, find_shortcuts, without_neighbors
from lowfold.graph._source import Points
from lowfold.graph._stars import stars
from lowfold.graph._types import Graph
from lowfold.metrics._resolve import resolve_metric


def _neighbors(X, k):
    return nearest(Points(np.ascontiguousarray(X), resolve_metric("euclidean", None, None)), k)


def _truth(data, graph):
    """Edges whose ends are more than three times farther apart along the surface."""
    edges = graph.edges()
    lengths = np.linalg.norm(data.X[edges[:, 0]] - data.X[edges[:, 1]], axis=1)
    return {tuple(e) for e in edges[data.geodesic(edges[:, 0], edges[:, 1]) > 3 * lengths].tolist()}


@pytest.mark.parametrize("k", [15, 25])
def test_swiss_roll_all_and_only_the_shortcuts(k):
    seen = 0
    for seed in range(40, 46):
        roll = datasets.swiss_roll(1000, random_state=seed)
        graph = _neighbors(roll.X, k).union()
        found = find_shortcuts(graph, roll.X)
        truth = _truth(roll, graph)
        assert {tuple(e) for e in found.edges.tolist()} == truth
        seen += len(truth)
    assert seen > 0


@pytest.mark.parametrize(
    ("name", "n", "seed", "k"),
    [("swiss_hole", 600, 1018, 10), ("swiss_hole", 600, 1025, 12), ("swiss_roll", 600, 1025, 10)],
)
def test_a_point_with_many_neighbours_on_another_sheet(name, n, seed, k):
    """Its edges across share neighbours, so that none of them is doubtful alone; all of them, and no others."""
    data = getattr(datasets, name)(n, random_state=seed)
    graph = _neighbors(data.X, k).union()
    T = data.coordinates
    edges = graph.edges()
    along = np.linalg.norm(T[edges[:, 0]] - T[edges[:, 1]], axis=1)
    straight = np.linalg.norm(data.X[edges[:, 0]] - data.X[edges[:, 1]], axis=1)
    truth = {tuple(e) for e in edges[along > 3 * straight].tolist()}
    assert len(truth) > 3
    assert {tuple(e) for e in find_shortcuts(graph, data.X).edges.tolist()} == truth


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_noise_makes_no_stars(seed):
    rng = np.random.default_rng(seed)
    P = rng.random((500, 2))
    for X in (
        np.column_stack([2 * P, 0.04 * rng.standard_normal(500)]),
        np.column_stack([np.cos(3 * P[:, 0]), np.sin(3 * P[:, 0]), P[:, 1]]) + 0.03 * rng.standard_normal((500, 3)),
    ):
        graph = _neighbors(X, 8).union()
        assert len(stars(graph, X, 2, mth_lengths(graph, graph.n_edges // graph.n)[0], Run())) == 0


@pytest.mark.parametrize(
    "name", ["s_curve", "square", "swiss_hole", "punched_sphere", "cylinder", "circle", "saddle", "moebius_strip"]
)
def test_clean_surfaces_have_none(name):
    for seed in range(3):
        data = getattr(datasets, name)(1500, random_state=seed)
        assert len(find_shortcuts(_neighbors(data.X, 10).union(), data.X)) == 0


@pytest.mark.parametrize("seed", [4, 5, 6, 7])
def test_noisy_sheets_in_many_columns_have_none(seed):
    """Among thousands of edges some are doubtful, steep and without a short way by noise alone."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, 3000)
    sheet = np.column_stack([np.cos(angle), np.sin(angle), rng.uniform(0, 3, 3000)])
    turned = sheet @ np.linalg.qr(rng.normal(size=(60, 60)))[0][:3]
    X = turned + 0.0045 * rng.normal(size=turned.shape)
    assert len(find_shortcuts(_neighbors(X, 10).union(), X)) == 0


def test_holes_and_gaps_are_none():
    rng = np.random.default_rng(5)
    flat = rng.random((4000, 2)) * [3, 1]
    centres, radii = np.array([[0.5, 0.5], [1.2, 0.3], [2.0, 0.6]]), np.array([0.3, 0.2, 0.25])
    plate = flat[(np.linalg.norm(flat[:, None] - centres, axis=2) > radii).all(axis=1)][:1500]
    bent = np.column_stack([plate, plate[:, 0] ** 2 / 4])
    assert len(find_shortcuts(_neighbors(bent, 10).union(), bent)) == 0


def test_one_edge_across_a_ring_by_distances_alone():
    n = 60
    ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    wider = np.column_stack([np.arange(n), (np.arange(n) + 2) % n])
    graph = Graph.from_edges(n, np.vstack([ring, wider, [[5, 35]]]), np.r_[np.ones(n), np.full(n, 2.0), 2.5])
    assert find_shortcuts(graph).edges.tolist() == [[5, 35]]


def test_an_edge_that_alone_holds_pieces_together_is_none():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((80, 2)), rng.random((80, 2)) + np.array([9.0, 0.0])])
    graph = _neighbors(X, 8).union().with_edges([[0, 80]], [8.0])
    assert len(find_shortcuts(graph, np.column_stack([X, np.zeros(160)]))) == 0


def test_empty_graph():
    assert len(find_shortcuts(Graph.from_edges(3, np.empty((0, 2))))) == 0


def test_taken_out_of_neighborhoods_in_either_direction():
    X = np.random.default_rng(1).random((50, 2))
    near = _neighbors(X, 5)
    gone = near.union().edges()[::7]
    left = without_neighbors(near, gone)
    edges = {tuple(e) for e in near.union().edges().tolist()}
    assert {tuple(e) for e in left.union().edges().tolist()} == edges - {tuple(e) for e in gone.tolist()}


def _monkey(n, rng):
    P = rng.uniform(-1, 1, (n, 2))
    return np.column_stack([P, P[:, 0] ** 3 - 3 * P[:, 0] * P[:, 1] ** 2])


def _c(n, rng):
    t, r = rng.uniform(0.8, 5.5, n), np.sqrt(rng.uniform(0.36, 1, n))
    return np.column_stack([r * np.cos(t), r * np.sin(t), 0.2 * t])


def _uneven(n, rng):
    u, v = np.minimum(rng.exponential(0.5, n), 3), rng.random(n)
    return np.column_stack([np.sin(u), v, np.cos(u)])


def _catenoid(n, rng):
    v, t = rng.uniform(-1.2, 1.2, n), rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cosh(v) * np.cos(t), np.cosh(v) * np.sin(t), v])


@pytest.mark.parametrize("make", [_monkey, _c, _uneven, _catenoid])
@pytest.mark.parametrize("k", [8, 15])
def test_boundaries_and_uneven_density_are_none(make, k):
    for seed in (300, 301, 302):
        X = make(600, np.random.default_rng(seed))
        assert len(find_shortcuts(_neighbors(X, k).union(), X)) == 0


def _told(X, T, k):
    """Numbers of shortcuts, of those found, and of other edges found; T are coordinates that keep lengths."""
    graph = _neighbors(X, k).union()
    edges = graph.edges()
    length, along = (np.linalg.norm(Z[edges[:, 0]] - Z[edges[:, 1]], axis=1) for Z in (X, T))
    true = {tuple(e) for e in edges[along > 3 * np.maximum(length, np.median(length))].tolist()}
    found = {tuple(e) for e in find_shortcuts(graph, X).edges.tolist()}
    return len(true), len(found & true), len(found - true)


@pytest.mark.parametrize(("wide", "k"), [(1.0, 15), (2.0, 15), (2.0, 20)])
def test_bundles_of_shortcuts_are_found_whole(wide, k):
    """The height stretched: points are sparser, and hundreds of edges lead to the next turn side by side."""
    for seed in (70, 71, 72):
        roll = datasets.swiss_roll(900, random_state=seed)
        true, found, false = _told(roll.X * [1.0, wide, 1.0], roll.coordinates * [1.0, wide], k)
        assert true > 0
        assert found >= 0.97 * true
        assert false == 0


def _hairpin(n, gap, length, rng):
    """Two sheets one above the other that a half turn joins: beside it edges across are short, and no shortcuts."""
    s, h = rng.random(n) * (2 * length + np.pi * gap / 2), 3 * rng.random(n)
    a = np.clip((s - length) * 2 / gap, 0.0, np.pi)
    on_second = np.maximum(s - length - np.pi * gap / 2, 0.0)
    X = np.column_stack([np.minimum(s, length) + gap / 2 * np.sin(a) - on_second, gap / 2 * (1 - np.cos(a)), h])
    return X, np.column_stack([s, h])


@pytest.mark.parametrize("seed", [80, 81])
def test_edges_beside_a_bend_do_not_hide_those_behind(seed):
    true, found, false = _told(*_hairpin(1500, 0.4, 4.0, np.random.default_rng(seed)), 20)
    assert true > 100
    assert found >= 0.9 * true
    assert false == 0


@pytest.mark.parametrize("seed", [1, 7])
def test_an_edge_with_a_short_way_over_edges_that_cross_gaps_is_none(seed):
    """A wavy sheet with noise a sixth of its edges: some are long ways only while those across gaps are left out."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, 1, (2, 1000))
    X = np.column_stack([x, y, 0.1 * np.sin(6 * np.pi * x)]) + rng.normal(0, 0.007, (1000, 3))
    assert len(find_shortcuts(_neighbors(X, 8).union(), X)) == 0


def _thinning_roll(n, seed):
    """A roll whose points grow few towards both sides, where the next winding is as near as neighbours."""
    rng = np.random.default_rng(seed)
    t, y = 1.5 * np.pi * np.sqrt(1 + 8 * rng.random(n)), 14 * rng.standard_normal(n)
    along = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return np.column_stack([t * np.cos(t), y, t * np.sin(t)]), np.column_stack([along, y])


@pytest.mark.parametrize(("seed", "k"), [(66, 8), (66, 10), (70, 8), (73, 8), (74, 10)])
def test_small_bundles_where_a_roll_grows_thin_are_told(seed, k):
    true, found, false = _told(*_thinning_roll(900, seed), k)
    assert true > 50
    assert found > 5
    assert false == 0


def test_shortcuts_that_may_be_left_are_counted():
    X, _ = _thinning_roll(900, 66)
    assert find_shortcuts(_neighbors(X, 10).union(), X).hints >= HINTS
    roll = datasets.swiss_roll(1000, random_state=40)
    assert find_shortcuts(_neighbors(roll.X, 8).union(), roll.X).hints == 0
