"""Points around a point along edges stay on its sheet, where the nearest ones do not."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold.graph import find_neighbors
from lowfold.graph._around import around


def test_a_path_by_hand() -> None:
    near = find_neighbors(np.array([[0.0], [1.0], [2.1], [3.3], [4.6]]), 2)
    assert around(near, np.array([0, 2]), 4).tolist() == [[0, 1, 2, 3], [2, 1, 3, 0]]


@pytest.mark.parametrize("seed", [0, 1])
def test_two_sheets_that_no_edge_joins(seed: int) -> None:
    """Grids of spacing 1 that are 1.8 apart: 4 neighbours lie on the own sheet, the nearest 20 do not."""
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    grid += 0.05 * np.random.default_rng(seed).random(grid.shape)
    sheet = np.repeat([0, 1], len(grid))
    X = np.column_stack([np.vstack([grid, grid]), 1.8 * sheet])
    inner = np.flatnonzero((np.abs(X[:, :2] - 7) < 5).all(axis=1))
    found = around(find_neighbors(X, 4), inner, 9)
    assert (sheet[found] == sheet[inner][:, None]).all()
    nearest = find_neighbors(X, 20).indices.reshape(len(X), 20)[inner]
    assert (sheet[nearest] != sheet[inner][:, None]).any(axis=1).all()


@pytest.mark.parametrize("k", [6, 9, 25])
def test_the_nearest_by_one_or_two_edges(k: int) -> None:
    """However many neighbours there are, most of which are too far to be looked at."""
    X = np.random.default_rng(k).random((80, 2)) * [3.0, 1.0]
    near, rows = find_neighbors(X, k), np.arange(0, 80, 7)
    D = np.full((80, 80), np.inf)
    D[near.rows(), near.indices] = near.distances
    np.fill_diagonal(D, 0.0)
    two = (D[rows][:, :, None] + D[None]).min(axis=1)
    found = around(near, rows, 9)
    assert found.shape == (len(rows), 9)
    assert np.array_equal(found, np.argsort(two, axis=1, kind="stable")[:, :9])
