"""Stages are kept by the content of their inputs."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import lowfold
from lowfold._core.stages import StageCache, keeping, stage_key


def stages_of(caplog: pytest.LogCaptureFixture) -> list[tuple[str, bool]]:
    """(stage, whether it was kept) of everything that ended."""
    ended = [r for r in caplog.records if hasattr(r, "seconds") or hasattr(r, "kept")]
    caplog.clear()
    return [(r.stage, hasattr(r, "kept")) for r in ended]


def test_neighbours_are_searched_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="lowfold")
    X = lowfold.datasets.swiss_roll(300, random_state=0).X
    plain = lowfold.DiffusionMaps(2, n_neighbors=9, t=2, alpha=0.5).fit(X).embedding_
    caplog.clear()
    with keeping(StageCache(tmp_path)):
        lowfold.DiffusionMaps(2, n_neighbors=9).fit(X)
        assert ("neighbours", False) in stages_of(caplog)
        for params in ({"t": 2.0, "alpha": 0.5}, {"n_components": 3}, {"scale": 4.0}):
            kept = lowfold.DiffusionMaps(**{"n_components": 2, "n_neighbors": 9, **params}).fit(X)
            assert ("neighbours", True) in stages_of(caplog), params
            if "t" in params:
                assert np.array_equal(kept.embedding_, plain)
        for other in (
            lowfold.DiffusionMaps(2, n_neighbors=8).fit(X),
            lowfold.DiffusionMaps(2, n_neighbors=9).fit(X + 1),
        ):
            assert other is not None
            assert ("neighbours", True) not in stages_of(caplog)


def test_outside_nothing_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="lowfold")
    X = lowfold.datasets.swiss_roll(100, random_state=0).X
    with keeping(StageCache(tmp_path)):
        lowfold.Isomap(2).fit(X)
    caplog.clear()
    lowfold.Isomap(2).fit(X)
    assert not any(kept for _, kept in stages_of(caplog))


def test_keys_follow_the_content() -> None:
    X = np.arange(6.0).reshape(2, 3)
    assert stage_key("a", X, 1) == stage_key("a", X.copy(order="F"), 1)
    different = {stage_key("a", X, 1), stage_key("b", X, 1), stage_key("a", X, 2), stage_key("a", X.T, 1)}
    different |= {stage_key("a", X.astype(np.float32), 1), stage_key("a", X.ravel(), 1), stage_key("a", X, 1.0)}
    assert len(different) == 7


def test_the_oldest_go_when_the_folder_is_full(tmp_path: Path) -> None:
    stages = StageCache(tmp_path, limit=3000)
    for number in range(5):
        stages.get(f"stage-{number}", lambda: np.zeros(100))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 3000
    assert (tmp_path / "stage-4.pickle").exists()
    assert not (tmp_path / "stage-0.pickle").exists()
