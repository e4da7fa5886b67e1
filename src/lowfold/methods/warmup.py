"""Compile beforehand what the first fit would compile: after installing, in an image, before a talk."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lowfold._core.errors import LowfoldWarning
from lowfold.methods.registry import REGISTRY, find, load

SIZES = (300, 2_100)  # points: below and above the sizes from which compiled loops are used
FEW = ("MVU", "LandmarkMVU", "SNE", "SymmetricSNE", "WeightedMDS", "ReplicatedMDS")  # the first size says it all
FEWEST = 60  # points that every method takes with its defaults


def warmup(methods: Iterable[str] | None = None, *, report: Callable[[str, float], None] | None = None) -> float:
    """Fit the methods named (all by default) to small data, so that their loops are compiled and in the cache.

    Returns the seconds it took; `report(method, seconds)` hears of each.
    """
    chosen = [entry.name for entry in REGISTRY] if methods is None else [find(name).name for name in methods]
    start = time.perf_counter()
    for name in chosen:
        before = time.perf_counter()
        _fit(name)
        if report is not None:
            report(name, time.perf_counter() - before)
    return time.perf_counter() - start


def _fit(name: str) -> None:
    cls = load(name)
    steps = {key: 5 for key in ("max_iter", "max_tries") if key in cls.parameters}
    for n in (FEWEST,) if name in FEW else SIZES:
        X = _data(name, n)
        y = np.arange(n) % 2 if cls.supervised else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowfoldWarning)
            model = cls(**steps).fit(X, y)
            if "matrices" not in find(name).inputs:
                model.transform(X[:3] + 0.01)


def _data(name: str, n: int) -> Any:
    rng = np.random.default_rng(0)
    t = rng.uniform(1.5 * np.pi, 4.5 * np.pi, size=n)
    X = np.column_stack([t * np.cos(t), 20 * rng.uniform(size=n), t * np.sin(t)]) + 20.0  # NMF wants no negative value
    if "matrices" in find(name).inputs:
        return np.stack([np.linalg.norm(X[:, None] - X, axis=2)] * 2)
    return X
