"""Metric MDS by majorisation, and t-SNE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target

STEPS = 250  # of t-SNE: enough to compare the time of a step, and what it reaches

CASES = (
    Case(
        name="metric-mds-2k",
        group="metric-mds",
        n=2_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_mds"), Side("sklearn", "sklearn_mds")),
        check="stress",
        options={"columns": 20},
        target=Target(speedup=3),
        note="both from the classical start, tolerance 1e-6; the stress is in the check",
    ),
    Case(
        name="metric-mds-20k",
        group="metric-mds",
        n=20_000,
        data="curved_sheet",
        sides=(
            Side("lowfold", "lowfold_mds"),
            Side("sklearn", "sklearn_mds", skip="six float64 matrices of 3.2 GB at once, hours of time"),
        ),
        check="stress",
        options={"columns": 20},
        target=Target(memory=2.6e9),
        warm=5_500,
        repeat=1,
        timeout=600,
        note="one float32 matrix of distances and no second one",
    ),
    Case(
        name="tsne-2k",
        group="tsne",
        n=2_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_tsne"), Side("sklearn", "sklearn_tsne")),
        check="divergence",
        options={"columns": 20},
        target=Target(speedup=3),
        note="all pairs on both sides, 250 steps",
    ),
)


def lowfold_mds(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.MetricMDS(2, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_mds(data: Data) -> Callable[[], Any]:
    from sklearn.manifold import MDS

    model = MDS(2, n_init=1, init="classical_mds", n_jobs=THREADS)
    return lambda: model.fit(data.X.astype(np.float64))


def lowfold_tsne(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.TSNE(2, method="exact", max_iter=STEPS, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_tsne(data: Data) -> Callable[[], Any]:
    from sklearn.manifold import TSNE

    model = TSNE(2, method="exact", max_iter=STEPS, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def stress(data: Data, model: Any) -> dict[str, float]:
    """sqrt(sum (delta - d)^2 / sum d^2) over the pairs of at most 2,000 points."""
    from scipy.spatial.distance import pdist

    rows = np.linspace(0, len(data.X) - 1, min(2_000, len(data.X))).astype(int)
    delta, d = pdist(data.X[rows].astype(np.float64)), pdist(np.asarray(model.embedding_)[rows])
    return {"stress": float(np.sqrt(((delta - d) ** 2).sum() / (d**2).sum()))}


def divergence(data: Data, model: Any) -> dict[str, float]:
    """The divergence that the model reports; both define it alike."""
    return {"kl": float(model.kl_divergence_)}
