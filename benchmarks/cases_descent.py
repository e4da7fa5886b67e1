"""Metric and nonmetric MDS by majorisation, and t-SNE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target

STEPS = 500  # of t-SNE; up to step 250 P is exaggerated and the divergence says nothing

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
        note="all pairs on both sides, 500 steps",
    ),
    Case(
        name="tsne-default-2k",
        group="tsne-default",
        n=2_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_default"), Side("sklearn", "sklearn_default")),
        check="divergence_of_neighbors",
        options={"columns": 20},
        target=Target(speedup=1),
        warm=1_100,
        note="both as they come: neighbours, scikit-learn's repulsion by a tree; KL of one and the same P, all pairs",
    ),
    Case(
        name="nonmetric-mds-1k",
        group="nonmetric-mds",
        n=1_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_nonmetric"), Side("sklearn", "sklearn_nonmetric")),
        check="rank_agreement",
        options={"columns": 20},
        target=Target(speedup=3),
        note="both from a classical start; scikit-learn's takes the distances, lowfold's their ranks",
    ),
    Case(
        name="tsne-fft-20k",
        group="tsne-fft",
        n=20_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_fft"), Side("openTSNE", "opentsne_fft")),
        check="divergence",
        options={"columns": 20},
        warm=2_500,
        repeat=1,
        timeout=600,
        note="openTSNE's own class; its search for neighbours is approximate, lowfold's exact",
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


def lowfold_default(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.TSNE(2, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_default(data: Data) -> Callable[[], Any]:
    from sklearn.manifold import TSNE

    model = TSNE(2, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def divergence_of_neighbors(data: Data, model: Any) -> dict[str, float]:
    """KL(P || Q) with P of scikit-learn's 91 nearest neighbours at perplexity 30, and Q of all pairs."""
    from scipy.spatial.distance import pdist
    from sklearn.manifold._t_sne import _joint_probabilities_nn
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=min(91, len(data.X) - 1)).fit(data.X).kneighbors_graph(mode="distance")
    near.data **= 2
    P = _joint_probabilities_nn(near, 30.0, 0).tocoo()
    Y = np.asarray(model.embedding_, dtype=np.float64)
    mass = 2 * (1 / (1 + pdist(Y, "sqeuclidean"))).sum()
    log_q = -np.log1p(np.square(Y[P.row] - Y[P.col]).sum(axis=1)) - np.log(mass)
    some = P.data > 0
    return {"kl": float((P.data[some] * (np.log(P.data[some]) - log_q[some])).sum())}


def lowfold_fft(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.TSNE(2, method="fft", perplexity=30, max_iter=STEPS, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def opentsne_fft(data: Data) -> Callable[[], Any]:
    from types import SimpleNamespace

    from openTSNE import TSNE

    model = TSNE(2, perplexity=30, n_iter=STEPS - 250, negative_gradient_method="fft", n_jobs=THREADS, random_state=0)

    def call() -> Any:
        found = model.fit(data.X)
        return SimpleNamespace(embedding_=np.asarray(found), kl_divergence_=found.kl_divergence)

    return call


def lowfold_nonmetric(data: Data) -> Callable[[], Any]:
    import lowfold

    model = lowfold.NonmetricMDS(2, n_jobs=THREADS)
    return lambda: model.fit(data.X)


def sklearn_nonmetric(data: Data) -> Callable[[], Any]:
    from sklearn.manifold import MDS

    model = MDS(2, metric_mds=False, n_init=1, init="classical_mds", n_jobs=THREADS)
    return lambda: model.fit(data.X.astype(np.float64))


def rank_agreement(data: Data, model: Any) -> dict[str, float]:
    """1 - Spearman's correlation of dissimilarities and distances, over the pairs of at most 1,000 points."""
    from scipy.spatial.distance import pdist
    from scipy.stats import spearmanr

    rows = np.linspace(0, len(data.X) - 1, min(1_000, len(data.X))).astype(int)
    delta, d = pdist(data.X[rows].astype(np.float64)), pdist(np.asarray(model.embedding_)[rows])
    return {"disorder": float(1 - spearmanr(delta, d).statistic)}


def stress(data: Data, model: Any) -> dict[str, float]:
    """sqrt(sum (delta - d)^2 / sum d^2) over the pairs of at most 2,000 points."""
    from scipy.spatial.distance import pdist

    rows = np.linspace(0, len(data.X) - 1, min(2_000, len(data.X))).astype(int)
    delta, d = pdist(data.X[rows].astype(np.float64)), pdist(np.asarray(model.embedding_)[rows])
    return {"stress": float(np.sqrt(((delta - d) ** 2).sum() / (d**2).sum()))}


def divergence(data: Data, model: Any) -> dict[str, float]:
    """The divergence that the model reports; both define it alike."""
    return {"kl": float(model.kl_divergence_)}
