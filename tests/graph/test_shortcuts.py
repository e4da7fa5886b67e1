"""The consistency report finds the shortcuts that ruin a Swiss roll, and nothing on a graph that is right."""

from __future__ import annotations

import numpy as np
import pytest

from lowfold.datasets import swiss_roll
from lowfold.graph import consistency, find_neighbors


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_shortcuts_between_sheets_are_found(seed: int) -> None:
    roll = swiss_roll(1000, random_state=seed)
    assert len(consistency(roll.X, 8).shortcuts) == 0
    edges = find_neighbors(roll.X, 15).union().edges()
    straight = np.linalg.norm(roll.X[edges[:, 0]] - roll.X[edges[:, 1]], axis=1)
    along = np.linalg.norm(roll.coordinates[edges[:, 0]] - roll.coordinates[edges[:, 1]], axis=1)
    truth = {tuple(edge) for edge in edges[along > 3 * straight].tolist()}
    found = {tuple(edge) for edge in consistency(roll.X, 15).shortcuts.tolist()}
    assert truth
    assert found == truth


def test_flat_points_and_pieces_are_reported() -> None:
    line = np.column_stack([np.arange(20.0), np.zeros(20), np.zeros(20)])
    report = consistency(line, 3, n_components=2)
    assert len(report.flat_points) == 20
    assert report.n_components == 1
    assert "20 points" in str(report)
    two = np.vstack([line, line + 1000])
    assert consistency(two, 3, n_components=1).component_sizes.tolist() == [20, 20]
