"""A warning points at the line of the user who caused it, from whatever depth it comes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import lowfold
from lowfold._core.errors import AccuracyWarning, DisconnectedWarning, LowfoldWarning, RepairWarning
from lowfold._core.operators import DenseOperator
from lowfold._core.warn import warn
from lowfold.spectral import largest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lowfold"
HERE = Path(__file__).read_text(encoding="utf-8").splitlines()

RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(20, 3)), RNG.normal(size=(20, 3)) + 50.0])
LOPSIDED = np.abs(RNG.normal(size=(12, 12)))
np.fill_diagonal(LOPSIDED, 0.0)
CROSS = np.concatenate([np.eye(3), -np.eye(3)])  # three equal principal axes

CALLS: dict[str, tuple[type[LowfoldWarning], Callable[[], Any]]] = {
    "a graph in pieces": (DisconnectedWarning, lambda: lowfold.Isomap(n_neighbors=4).fit(BLOBS)),
    "patches in pieces": (DisconnectedWarning, lambda: lowfold.LTSA(n_neighbors=6).fit_transform(BLOBS)),
    "a dissimilarity": (RepairWarning, lambda: lowfold.ClassicalMDS(metric="precomputed").fit(LOPSIDED)),
    "a stress": (RepairWarning, lambda: lowfold.MetricMDS(metric="precomputed").fit(LOPSIDED)),
    "steps": (AccuracyWarning, lambda: lowfold.EMPCA(2, max_iter=1).fit(BLOBS)),
    "a pipeline": (AccuracyWarning, lambda: make_pipeline(lowfold.PCA(2)).fit_transform(CROSS)),
    "a function": (AccuracyWarning, lambda: largest(DenseOperator(np.eye(4)), 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_points_at_the_line_of_the_call(name: str) -> None:
    category, call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (first,) = [item for item in caught if item.category is category]
    assert first.filename == __file__
    assert name in HERE[first.lineno - 1]


def test_it_is_told_once_per_line_of_the_user() -> None:
    code = compile("def inner(): warn('words', category)", "inner.py", "exec")
    names: dict[str, Any] = {"__name__": "lowfold.inner", "warn": warn, "category": RepairWarning}
    exec(code, names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            names["inner"]()
        names["inner"]()
    assert len(caught) == 2


def test_where_every_line_is_inside_it_still_warns() -> None:
    code = compile("warn('words', category)", "inner.py", "exec")
    with pytest.warns(RepairWarning, match="words"):
        exec(code, {"__name__": "lowfold.inner", "warn": warn, "category": RepairWarning})


def test_no_depth_is_counted_by_hand() -> None:
    counting = [path.name for path in SOURCE.rglob("*.py") if "warnings.warn(" in path.read_text(encoding="utf-8")]
    assert not counting


def test_kinds_are_public_and_can_be_filtered() -> None:
    from lowfold import errors
    from lowfold._core import errors as home

    for name in errors.__all__:
        assert getattr(errors, name) is getattr(home, name)
        assert issubclass(getattr(errors, name), (errors.LowfoldError, errors.LowfoldWarning))
    pieces = np.concatenate([np.random.default_rng(s).random((20, 2)) + 50 * s for s in (0, 1)])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=errors.DisconnectedWarning)
        with pytest.raises(errors.DisconnectedWarning):
            lowfold.Isomap(1, n_neighbors=4).fit(pieces)
        warnings.filterwarnings("ignore", category=errors.DisconnectedWarning)
        lowfold.Isomap(1, n_neighbors=4).fit(pieces)


def test_code_without_a_module_hears_it_too() -> None:
    with pytest.warns(RepairWarning, match="mended"):
        exec("tell('mended', kind)", {"tell": warn, "kind": RepairWarning})
