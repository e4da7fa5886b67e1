"""Farthest points one after the other, beside the plain rule."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold.graph._farthest import farthest_points


def plain(F: np.ndarray, first: int, m: int) -> list[int]:
    """Every point looked at for every landmark; of equals the first, and copies last."""
    chosen, nearest = [first], np.full(len(F), np.inf)
    while len(chosen) < m:
        nearest = np.minimum(nearest, np.square(F - F[chosen[-1]]).sum(axis=1))
        far = int(np.argmax(nearest))
        chosen.append(far if nearest[far] > 0 else int(np.setdiff1d(np.arange(len(F)), chosen)[0]))
    return chosen


def sets() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    grid = np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), axis=-1).reshape(-1, 2)
    return {
        "roll": lowfold.datasets.swiss_roll(3000, random_state=11).X,
        "single": lowfold.datasets.swiss_roll(3000, random_state=12).X.astype(np.float32),
        "cube": rng.random((1500, 10)),
        "wide": rng.normal(size=(600, 3)) @ rng.normal(size=(3, 60)),
        "copies": np.repeat(rng.integers(-9, 9, (150, 2)).astype(float), 5, axis=0),
        "grid": grid,
        "line": np.arange(2000.0)[:, None],
    }


@pytest.mark.parametrize("name", sets())
def test_the_same_points_as_by_looking_at_all(name: str) -> None:
    F = sets()[name]
    found = farthest_points(F, 7, 400, lambda share: None)
    assert len(set(found)) == 400
    assert list(found) == plain(F, 7, 400)


def test_few_distances_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 landmarks of 20,000 points on a surface: 20 million distances by the plain rule."""
    F = lowfold.datasets.swiss_roll(20_000, random_state=13).X
    looked, einsum = [], np.einsum
    monkeypatch.setattr(
        "lowfold.graph._farthest.np.einsum", lambda *given: looked.append(len(given[1])) or einsum(*given)
    )
    farthest_points(F, 0, 1000, lambda share: None)
    assert sum(looked) < 4_000_000
