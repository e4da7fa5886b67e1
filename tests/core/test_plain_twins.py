"""Loops and their twins in NumPy give the same results, to the bit: which one ran must not show."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lowfold._core import jit
from lowfold._core.jit import compiled, loops_for
from lowfold.datasets import swiss_roll
from lowfold.graph import _plane_plain, _search_plain, _shortcut_plain, _union_plain
from lowfold.graph._search import nearest, sorted_rows
from lowfold.graph._shortcuts import find_shortcuts
from lowfold.graph._source import Points
from lowfold.graph._types import Neighbors
from lowfold.kernels._alignment import Alignment, align
from lowfold.kernels._patches import Patches
from lowfold.metrics._resolve import resolve_metric

PLANES, SEARCH, SHORTCUTS, UNION, ALIGN = (
    "lowfold.graph._plane_loops",
    "lowfold.graph._search_loops",
    "lowfold.graph._shortcut_loops",
    "lowfold.graph._union_loops",
    "lowfold.kernels._alignment_loops",
)


def lattice(seed: int, dtype: type = np.float64) -> np.ndarray:
    """Points with many equal distances, and some repeated."""
    return np.random.default_rng(seed).integers(0, 6, size=(150, 3)).astype(dtype)


def points(seed: int, D: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(200, D))


def source(X: np.ndarray) -> Points:
    return Points(X, resolve_metric("euclidean", None, X))


@pytest.fixture(params=["loops", "plain"])
def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small work by the loops, or by their twins."""
    loaded = {name: compiled(name) for name in (SEARCH, SHORTCUTS, ALIGN)}
    monkeypatch.setattr(jit, "_loaded", loaded if request.param == "loops" else {})
    return str(request.param)


def test_the_twin_is_taken_for_few_points_only(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = compiled(SEARCH)
    monkeypatch.setattr(jit, "_loaded", {})
    monkeypatch.setattr(jit, "_spared", Counter())  # of the tests before
    assert loops_for(SEARCH, jit.SMALL) is _search_plain
    assert loops_for(SHORTCUTS, 3) is _shortcut_plain
    monkeypatch.setattr(jit, "_loaded", {SEARCH: loaded})
    assert loops_for(SEARCH, 3) is loaded  # nothing is saved any more
    monkeypatch.setattr(jit, "_loaded", {})
    monkeypatch.setattr(jit, "_spared", Counter({SEARCH: jit.PATIENCE}))
    assert loops_for(SEARCH, 3) is not _search_plain  # many small tasks are worth loading what is compiled


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("make", [lattice, points])
def test_distances_and_nearest_rows(make, seed: int) -> None:
    loops, X = compiled(SEARCH), make(seed)
    own = np.arange(len(X))
    index = np.random.default_rng(seed).integers(0, len(X), size=(len(X), 7))
    pairs = np.random.default_rng(seed).integers(0, len(X), size=(2, 500))
    found = {}
    for module in (loops, _search_plain):
        some, flat = np.empty(index.shape), np.empty(500)
        module.candidate_distances(X, X, index, some)
        module.pair_distances(X, X, *pairs, flat)
        squared, near = np.empty((len(X), 9)), np.empty((len(X), 9), dtype=np.int64)
        module.exact_rows(X, X, own, own, 9, squared, near)
        block = np.round(np.abs(X @ X.T), 1)
        block[3, 5] = np.nan
        keys, items = np.full((len(X), 6), np.inf), np.full((len(X), 6), 2 * len(X))
        module.keep_nearest(block[:, :70], 0, own, keys, items)
        module.keep_nearest(block[:, 70:], 70, own, keys, items)
        room = np.empty(40, np.int64), np.empty(40, np.int64)
        count = module.within(block, np.full(len(X), 1.0), 0, own, *room)
        found[module] = some, flat, *sorted_rows(squared, near), *sorted_rows(keys, items), *room, np.array(count)
    for first, second in zip(*found.values(), strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("D", [3, 30])
@pytest.mark.parametrize("seed", [0, 1])
def test_neighbours_are_the_same(route: str, seed: int, D: int) -> None:
    X = np.vstack([points(seed, D), points(seed, D)[:5]])  # repeated points too
    near = nearest(source(X), 10)
    d = np.zeros((len(X), len(X)))
    for f in range(D):
        d += (X[:, None, f] - X[None, :, f]) ** 2
    np.fill_diagonal(d, np.inf)
    truth = np.argsort(d, axis=1, kind="stable")[:, :10]
    assert np.array_equal(near.indices.reshape(-1, 10), truth)
    assert np.array_equal(near.distances.reshape(-1, 10), np.sqrt(np.take_along_axis(d, truth, 1)))


@pytest.mark.parametrize("make", [lattice, points])
@pytest.mark.parametrize("seed", [0, 1])
def test_loops_of_shortcuts(make, seed: int) -> None:
    graph = nearest(source(make(seed)), 8).union()
    rng = np.random.default_rng(seed)
    kept = rng.random(len(graph.indices))
    _shortcut_plain.mirror(graph.indptr, graph.indices, kept)
    mask = kept < 0.8
    entries = np.sort(rng.choice(len(graph.indices), 60, replace=False))
    tails, heads = graph.rows()[entries].astype(np.int64), graph.indices[entries].astype(np.int64)
    reach = 3 * graph.lengths[entries]
    found = {}
    for module in (compiled(SHORTCUTS), _shortcut_plain):
        share, where = np.zeros(len(graph.indices)), np.empty(60, dtype=np.int64)
        rows = graph.indptr, graph.indices, graph.lengths
        lengths = np.empty((2, graph.n))
        module.mth_lengths(graph.indptr, graph.lengths, np.array([5, 3]), lengths)
        module.shared_neighbors(*rows, 20, 120, 0.35, lengths[1], share)
        low, long = np.zeros((3, len(share) // 2), dtype=np.int64), np.zeros(len(share), dtype=np.int64)
        n_low = module.low_entries(graph.indptr, graph.indices, share, 0.35, *low)
        module.mirror(graph.indptr, graph.indices, share)
        times = np.zeros(len(share))
        pieces = np.empty(graph.n, dtype=np.int64)
        module.labels(graph.indptr, graph.indices, kept < 0.2, pieces)
        n_long = module.long_edges(*rows, lengths[0], 2, 1.2, long, times)
        module.places(graph.indptr, graph.indices, heads, tails, where)
        means, ways = np.empty((60, 2)), np.empty(60, dtype=bool)
        module.mean_lengths(graph.indptr, graph.lengths, np.column_stack([tails, heads]), means)
        module.detours(graph.indptr, graph.indices, graph.lengths, mask, tails, heads, reach, 4000, ways)
        found[module] = share, lengths, low[:, :n_low], long[:n_long], times, where, means, ways, pieces
        assert min(n_low, n_long, len(np.unique(pieces))) > 5
        assert np.array_equal(graph.indices[low[1, :n_low]], low[2, :n_low])  # (j, i) of the entries (i, j)
    for first, second in zip(*found.values(), strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("X", [lattice(0), lattice(1, np.float32), points(2, 2), points(3, 30), points(4, 10)[:, :1]])
@pytest.mark.parametrize("d", [1, 2])
def test_planes_of_neighbours(X: np.ndarray, d: int) -> None:
    """With more columns than neighbours and with fewer, repeated points, rows shorter than asked for, and a line."""
    graph = nearest(source(X), 6).union()
    vertices = np.arange(3, len(X))
    tails = graph.rows()[graph.indptr[3] :]
    found = []
    for module in (compiled(PLANES), _plane_plain):
        entries, counts = np.zeros((len(vertices), 10), dtype=np.int64), np.empty(len(vertices), dtype=np.int64)
        module.nearest_entries(graph.indptr, graph.lengths, vertices, entries, counts)
        planes = np.empty((len(vertices), min(d, X.shape[1]), X.shape[1]))
        length, height = np.empty((2, *entries.shape))
        near = graph.indices[entries].astype(np.int64)
        module.near_planes(X, vertices, near, counts, planes, length, height)
        lengths, heights = np.empty((2, len(tails)))
        module.heights(X, tails, graph.indices[graph.indptr[3] :], planes, tails - 3, lengths, heights)
        found.append([entries, counts, planes, length, height, lengths, heights])
    assert counts.min() < 10
    for first, second in zip(*found, strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("make", [lattice, points])
def test_unions_are_the_same(make) -> None:
    """Repeated points, whose edges have no length, and two lengths of one edge included."""
    near = nearest(source(make(3)), 8)
    uneven = near.distances * np.random.default_rng(3).uniform(1.0, 2.0, len(near.distances))
    for each in (near, Neighbors(near.indptr, near.indices, uneven, near.n)):
        rows = each.indptr, each.indices, each.distances
        for first, second in zip(compiled(UNION).union(*rows), _union_plain.union(*rows), strict=True):
            assert np.array_equal(first, second)


def test_shortcuts_and_kernel_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X = swiss_roll(1000, random_state=1).X
    near, rng = nearest(source(X), 15), np.random.default_rng(5)
    patches = Patches.around(near, include_self=True)
    factor = rng.normal(size=(len(patches.members), 3)) / 4
    loaded = {name: compiled(name) for name in (SHORTCUTS, PLANES, ALIGN)}
    found = []
    for known in (loaded, {}):
        monkeypatch.setattr(jit, "_loaded", dict(known))
        kernels = [align(Alignment(patches, factor, complement)).matrix for complement in (False, True)]
        edges = find_shortcuts(near.union(), X).edges
        found.append([edges, *[part for K in kernels for part in (K.indptr, K.indices, K.data)]])
    assert len(found[0][0]) > 0
    for first, second in zip(*found, strict=True):
        assert np.array_equal(first, second)


def test_small_tasks_wait_for_loops_only_when_there_were_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_spared", Counter())
    monkeypatch.setattr(jit, "_loaded", {})
    monkeypatch.setattr(jit, "ready", lambda module: True)
    assert [jit.spares("some._loops", 2) for _ in range(4)] == [True, True, False, False]
    monkeypatch.setattr(jit, "ready", lambda module: False)
    assert jit.spares("some._loops", 0), "they would have to be compiled"
    monkeypatch.setattr(jit, "_loaded", {"some._loops": None})
    assert not jit.spares("some._loops", 10)
