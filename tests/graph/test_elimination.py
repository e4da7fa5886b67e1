"""Elimination in the (min, +) algebra: fixed point, the choice by counting, and products without the matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

import lowfold
from lowfold._core.errors import MemoryBudgetExceeded
from lowfold._core.operators import CentredGram
from lowfold._core.rows import fold_tree
from lowfold._core.run import Run
from lowfold.graph import Graph, geodesics
from lowfold.graph._apart import FrontsApart, Slabs
from lowfold.graph._geodesic_gram import GeodesicGram
from lowfold.graph._geodesics import all_geodesics
from lowfold.graph._minplus import PathFactor, count_work, worthwhile
from lowfold.graph._path_task import Rows, units_of
from lowfold.graph._paths import path_factor
from lowfold.graph._units import FAR, float_units, integer_units


def neighbours(X, k=8):
    distances, index = KDTree(X).query(X, k + 1)
    pairs = np.column_stack([np.repeat(np.arange(len(X)), k), index[:, 1:].ravel()])
    return Graph.from_edges(len(X), pairs, distances[:, 1:].ravel())


def sheet(n, seed=0):
    return neighbours(np.random.default_rng(seed).random((n, 2)) * [3, 1])


def factor_of(graph, dtype=np.float64):
    factor = path_factor(graph.indptr, graph.indices, graph.lengths, dtype=dtype)
    assert factor is not None
    return factor


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_what_is_said(seed, dtype):
    graph = sheet(900, seed)
    D, exact = geodesics(graph, dtype=dtype, method="eliminate"), dijkstra(graph.to_scipy())
    assert_array_equal(D, D.T)
    edges = 200  # more than any shortest path has here
    unit = 2e-9 * exact.max() if dtype == np.float32 else 2.0**-53 * 901 * graph.lengths.max()
    assert (np.abs(D - exact) <= edges * unit + np.finfo(dtype).eps * exact).all()


@pytest.mark.parametrize("branches", [1, 2, 1000])
@pytest.mark.parametrize("leaf", [2, 16])
def test_the_cut_of_the_work_changes_no_bit(branches, leaf, monkeypatch):
    graph = sheet(500)
    plain = geodesics(graph, dtype=np.float32, method="sweep")
    monkeypatch.setattr("lowfold.graph._dissection.BRANCHES", branches)
    monkeypatch.setattr("lowfold.graph._dissection.LEAF", (leaf, leaf))
    for n_jobs in (1, 2):
        found = geodesics(graph, dtype=np.float32, method="eliminate", run=Run(n_jobs=n_jobs))
        assert_array_equal(found, plain)


def test_elimination_is_chosen_where_its_counted_work_is_less():
    flat = sheet(2500)
    size = float_units(2501, 1.0).dtype.itemsize
    tree = worthwhile(flat.indptr, flat.indices, 2500, size, any_cost=False)
    assert tree is not None
    assert count_work(tree).row < 60 * 2500
    too_few = 70  # rows to pay for the fronts
    assert worthwhile(flat.indptr, flat.indices, too_few, size, any_cost=False) is None
    many = neighbours(np.random.default_rng(0).normal(size=(2500, 15)))
    assert worthwhile(many.indptr, many.indices, 2500, size, any_cost=False) is None


def test_geodesics_are_made_again_where_that_is_quicker(monkeypatch):
    monkeypatch.setattr("lowfold.graph._geodesics.AGAIN_FROM", 2000)
    flat, solid = sheet(2500), neighbours(np.random.default_rng(0).random((2500, 5)))
    assert isinstance(all_geodesics(flat), PathFactor)
    assert isinstance(all_geodesics(flat, few_products=False), np.ndarray)
    assert isinstance(all_geodesics(flat, method="sweep"), np.ndarray)
    assert isinstance(all_geodesics(solid), np.ndarray)


def test_integers_count_distances_unless_lengths_differ_too_much():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    near = neighbours(X)
    edges, lengths = near.edges(), near.lengths[near.rows() < near.indices]
    both = np.vstack([edges, edges + 200, [[0, 200]]])  # twice the same, and one long edge between them
    far = Graph.from_edges(400, both, np.concatenate([lengths, lengths, [1e8]]))
    for graph, kind in ((near, "i"), (far, "f")):
        edges = Rows(graph.indptr, graph.indices, graph.lengths)
        assert units_of(edges, np.zeros(0), np.dtype(np.float32), True).dtype.kind == kind
    split = Graph.from_edges(4, [[0, 1], [2, 3]], [1e-7, 1e7])
    unit = 2.0**-52 * 5 * 1e7  # of float64 sums: no length changes by more than half of it
    assert_allclose(geodesics(split, dtype=np.float32, method="eliminate")[0], [0, 1e-7, np.inf, np.inf], atol=unit)


def test_units_hold_every_sum():
    units = integer_units(1000, 7.3, 0.1)
    assert 7.3 / units.unit + 1000 < FAR
    assert 7.3 / units.unit > FAR / 2 - 2000
    assert units.of(np.array([0.0, np.inf]))[1] == units.far
    assert integer_units(10, 1.0, 1e-9) is None
    assert integer_units(10, 0.0, 1.0).unit == 1.0
    assert float_units(10, 0.0).unit == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shift", "power"), [(0.0, 2), (0.7, 2), (0.0, 1)])
def test_products_without_the_matrix(dtype, shift, power):
    graph = sheet(1130)
    D = geodesics(graph, dtype=np.float64, method="dijkstra")
    held = CentredGram(D, squared=power == 1, shift=shift)
    V = np.random.default_rng(1).normal(size=(1130, 3))
    for n_jobs in (1, 2):
        free = GeodesicGram(factor_of(graph, dtype), power=power, shift=shift, n_jobs=n_jobs)
        close = 1e-6 if dtype == np.float32 else 1e-11
        size = np.abs(held.apply(V)).max()
        assert_allclose(free.apply(V), held.apply(V), atol=close * size)
        assert_array_equal(free.apply(V), free.apply(V))
        assert_allclose(free.row_means(), held.row_means(), rtol=close)
        assert_allclose(free.trace(), held.trace(), rtol=close)
        some = np.array([3, 1129, 0])
        assert_allclose(free.rows(some), held.rows(some), atol=close * D.max() ** 2)
    assert_allclose(free.dense(), held.dense(), atol=100 * close * D.max() ** 2)


def test_threads_change_no_bit_of_a_product():
    factor, V = factor_of(sheet(700), np.float32), np.random.default_rng(1).normal(size=(700, 9))
    one, two = (GeodesicGram(factor, n_jobs=n_jobs).apply(V) for n_jobs in (1, 2))
    assert_array_equal(one, two)


def test_start_is_near_the_leading_eigenvectors():
    graph = sheet(1100)
    G = GeodesicGram(factor_of(graph))
    values, vectors = np.linalg.eigh(G.dense())
    Q, _ = np.linalg.qr(G.start(6) - G.start(6).mean(axis=0))
    assert np.linalg.norm(Q.T @ vectors[:, -2:], axis=0).min() > 0.999
    assert values[-1] > 0


@pytest.mark.parametrize("method", ["Isomap", "KernelIsomap", "ConformalIsomap"])
def test_isomap_beyond_the_budget_is_the_same(method):
    X = lowfold.datasets.swiss_roll(1200, random_state=3).X
    make = getattr(lowfold, method)
    held = make(2, n_neighbors=10).fit(X)
    with lowfold.config_context(memory=10_000_000):
        assert isinstance(all_geodesics(held.graph_), PathFactor)
        free = make(2, n_neighbors=10).fit(X)
        assert isinstance(free.operator(), GeodesicGram)
    assert_allclose(free.eigenvalues_, held.eigenvalues_, rtol=1e-9)
    assert_allclose(free.shift_, held.shift_, rtol=1e-6)
    assert_allclose(free.embedding_, held.embedding_, atol=1e-5 * np.abs(held.embedding_).max())
    assert_allclose(free.reconstruction_error_, held.reconstruction_error_, rtol=1e-6)


def test_many_dimensions_beyond_the_budget_are_told():
    graph = neighbours(np.random.default_rng(0).normal(size=(1500, 12)), 10)
    with lowfold.config_context(memory=6_000_000), pytest.raises(MemoryBudgetExceeded, match="landmarks"):
        all_geodesics(graph)


class Nearby:
    """Workers of `_apart` that are this process."""

    room = 1e9

    def sent(self, value):
        return value

    def each(self, f, items, *shared):
        return [f(*item, *shared) for item in items]

    def merged(self, f, items, merge, *shared):
        return fold_tree(iter(self.each(f, items, *shared)), merge)

    staying = each


@pytest.mark.parametrize(("few_products", "kind"), [(True, FrontsApart), (False, Slabs)])
def test_products_with_what_workers_hold(monkeypatch, few_products, kind):
    monkeypatch.setattr("lowfold.graph._apart.SLAB_BYTES", 1_000_000)
    graph = sheet(1130)
    apart = all_geodesics(graph, few_products=few_products, workers=Nearby())
    assert isinstance(apart, kind)
    D = geodesics(graph, dtype=np.float64, method="dijkstra")
    V = np.random.default_rng(1).normal(size=(1130, 3))
    for shift, power in ((0.0, 2), (0.7, 2), (0.0, 1)):
        here, there = CentredGram(D, squared=power == 1, shift=shift), GeodesicGram(apart, power=power, shift=shift)
        assert_allclose(there.apply(V), here.apply(V), atol=1e-9 * np.abs(here.apply(V)).max())
        assert_allclose(there.row_means(), here.row_means())
        some = np.array([1129, 3, 700])
        assert_allclose(there.rows(some), here.rows(some), atol=1e-9 * D.max() ** 2)


def test_workers_without_room_are_told():
    solid = neighbours(np.random.default_rng(0).random((1500, 8)))
    small = Nearby()
    small.room = 1e7
    fits_nowhere = pytest.raises(MemoryBudgetExceeded, match=r"the workers have room for 5\.0 MB")
    with fits_nowhere, lowfold.config_context(memory=1_000_000):  # nor do the fronts fit
        all_geodesics(solid, workers=small)
