"""Passes over graphs on a device against the CPU: pieces, steps, shortcuts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import lowfold
from lowfold import config_context
from lowfold._core.run import Run
from lowfold._cuda import _pieces
from lowfold._cuda._device import holding
from lowfold.graph import _shortcuts
from lowfold.graph._build import find_neighbors
from lowfold.graph._components import all_reach_one, components
from lowfold.graph._detours import mth_lengths
from lowfold.graph._types import Neighbors
from lowfold.methods._closed_classes import closed_class_labels


def _noisy(n, seed, k=9):
    roll = lowfold.datasets.swiss_roll(n, random_state=seed)
    return find_neighbors(roll.X + np.random.default_rng(seed).normal(scale=0.6, size=roll.X.shape), k)


def _pattern(graph):
    ones = np.ones(len(graph.indices))
    return csr_array((ones, graph.indices, graph.indptr.astype(np.int32)), shape=(graph.n, graph.n), copy=True)


@pytest.mark.parametrize("seed", [1, 2])
def test_pieces_of_a_graph_with_edges_left_out(device, seed):
    xp, G = device.xp, _noisy(150, seed, 3).union()
    kept = np.random.default_rng(seed).random(len(G.indices)) < 0.5
    A = _pattern(G)
    A.data[:] = np.minimum(kept, kept[np.lexsort((G.rows(), G.indices))])
    kept = A.data > 0
    A.eliminate_zeros()
    found = device.get(_pieces.piece_labels(device, xp.asarray(G.indptr), xp.asarray(G.indices), xp.asarray(kept)))
    count, expected = connected_components(A, directed=False)
    assert count > 3
    first = np.full(count, G.n)
    np.minimum.at(first, expected, np.arange(G.n))
    np.testing.assert_array_equal(found, first[expected])


def test_steps_from_some_vertices(device):
    xp, N = device.xp, _noisy(140, 3, 4)
    sources = np.array([5, 0, 77])
    found = device.get(_pieces.steps_from(device, xp.asarray(N.indptr), xp.asarray(N.indices), sources))[:, :3]
    np.testing.assert_array_equal(found, dijkstra(_pattern(N).T, indices=sources).T)  # along the arcs to the sources


def test_components_and_closed_classes_follow_the_device(on_device):
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 2)), 50 + np.random.default_rng(1).random((60, 2))])
    cpu = find_neighbors(X, 5)
    with config_context(device="cuda"):
        twin = find_neighbors(X, 5)
    assert holding(twin.indices) is on_device
    np.testing.assert_array_equal(components(twin.union()), components(cpu.union()))
    assert components(twin.union()).max() == 1
    np.testing.assert_array_equal(closed_class_labels(twin), closed_class_labels(cpu))
    with config_context(device="cuda"):
        one = find_neighbors(X[:40], 8)
    plain = Neighbors(one.indptr, one.indices.copy(), one.distances, one.n_points)
    assert not all_reach_one(plain)
    np.testing.assert_array_equal(closed_class_labels(one), closed_class_labels(plain))


@pytest.mark.parametrize(("k", "seed"), [(7, 4), (16, 5)])
def test_the_same_doubts_and_the_same_shortcuts(on_device, k, seed):
    roll = lowfold.datasets.swiss_roll(400, random_state=seed).X
    X = roll + np.random.default_rng(seed).normal(scale=0.8, size=roll.shape)
    G = find_neighbors(X, k).union()
    cpu, twin = Run(device="cpu"), Run(device="cuda")
    spared = mth_lengths(G, _shortcuts.SPARED)[0]
    for expected, found in zip(_shortcuts._doubts(G, spared, cpu), _shortcuts._doubts(G, spared, twin), strict=True):
        np.testing.assert_array_equal(found, expected)
    expected = _shortcuts.find_shortcuts(G, X, run=cpu)
    found = _shortcuts.find_shortcuts(G, X, run=twin)
    np.testing.assert_array_equal(found.edges, expected.edges)
    assert found.tested == expected.tested > 0
