"""Neighbourhoods that lost shortcuts are full again, by points that are near along the data."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold import datasets
from lowfold._core.run import Run
from lowfold.graph._refill import cleared
from lowfold.graph._search import nearest
from lowfold.graph._shortcuts import find_shortcuts
from lowfold.graph._source import Pairs, Points
from lowfold.metrics._resolve import resolve_metric


def _points(X):
    return Points(np.ascontiguousarray(X), resolve_metric("euclidean", None, None))


def _cleared(source, k, *, fill=True, d=2):
    near = nearest(source, k)
    X = source.X if isinstance(source, Points) else None
    gone = find_shortcuts(near.union(), X, d=d).edges
    left, all_gone = cleared(source, near, gone, d, Run(), symmetrize="union", fill=fill)
    return left, all_gone.edges, gone


def _stretch(T, near):
    """How many times farther along the data a neighbour is than through space."""
    return np.linalg.norm(T[near.rows()] - T[near.indices], axis=1) / near.distances


@pytest.mark.parametrize("seed", [41, 42, 43])
def test_as_many_neighbours_as_before_and_none_across(seed):
    roll = datasets.swiss_roll(900, random_state=seed)
    X, T = roll.X * [1.0, 2.0, 1.0], roll.coordinates * [1.0, 2.0]
    left, gone, first = _cleared(_points(X), 15)
    assert len(gone) >= len(first) > 20
    assert left.k == 15
    assert _stretch(T, left).max() < 1.5
    sorted_rows = left.distances.reshape(900, 15)
    assert (np.diff(sorted_rows, axis=1) >= 0).all()
    assert np.allclose(left.distances, np.linalg.norm(X[left.rows()] - X[left.indices], axis=1))
    bare, _, _ = _cleared(_points(X), 15, fill=False)
    assert bare.counts.min() < 15
    assert {*zip(bare.rows(), bare.indices, strict=True)} <= {*zip(left.rows(), left.indices, strict=True)}


def test_distances_alone_are_filled_up_too():
    n = 120
    angle = 2 * np.pi * np.arange(n) / n
    D = np.abs(np.subtract.outer(angle, angle))
    D = np.minimum(D, 2 * np.pi - D)
    D[5, 65] = D[65, 5] = 0.14  # farther than the four nearest, which are never doubted
    left, gone, _ = _cleared(Pairs(D), 6, d=1)
    assert gone.tolist() == [[5, 65]]
    assert left.k == 6
    assert sorted(left.row(5)[0].tolist()) == [2, 3, 4, 6, 7, 8]


def test_a_repeated_point_is_not_filled_in():
    roll = datasets.swiss_roll(900, random_state=41)
    X = roll.X * [1.0, 2.0, 1.0]
    _, gone, _ = _cleared(_points(X), 15)
    X[::9] = X[1::9]
    left, _, _ = _cleared(_points(X), 15)
    assert len(np.unique(left.rows() * 900 + left.indices)) == len(left.indices)
    assert left.counts.max() == 15
    assert len(gone) > 0
