"""Measures of embeddings against ZADU and scikit-learn: ranks, distances, all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from data import Data
from harness import THREADS, Case, Side, Target
from numpy.typing import NDArray

from lowfold.quality._pairs import pair_sums
from lowfold.quality._ranks import neighbor_ranks

K = 20  # neighbours of the rank measures
RANKS = (Side("lowfold", "lowfold_ranks"), Side("zadu", "zadu_ranks"))

CASES = (
    Case(
        name="ranks-5k",
        group="quality-ranks",
        n=5_000,
        data="curved_sheet",
        sides=(*RANKS, Side("sklearn", "sklearn_ranks")),
        check="ranks_right",
        options={"columns": 50},
        target=Target(speedup=1, over=("zadu",), at_most={"trust_off": 0.03}),
        note="trustworthiness, continuity, MRRE and LCMC at k = 20; scikit-learn has the first two only",
    ),
    Case(
        name="ranks-10k",
        group="quality-ranks",
        n=10_000,
        data="curved_sheet",
        sides=(*RANKS, Side("sklearn", "sklearn_ranks")),
        check="ranks_right",
        options={"columns": 50},
        target=Target(speedup=1, over=("zadu",), at_most={"trust_off": 0.03}),
    ),
    Case(
        name="pairs-5k",
        group="quality-pairs",
        n=5_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_pairs"), Side("zadu", "zadu_pairs")),
        check="pairs_right",
        options={"columns": 50},
        target=Target(speedup=1),
        note="stress, scaled stress and Pearson's correlation of all distances",
    ),
    Case(
        name="pairs-10k",
        group="quality-pairs",
        n=10_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_pairs"), Side("zadu", "zadu_pairs")),
        check="pairs_right",
        options={"columns": 50},
        target=Target(speedup=1),
    ),
    Case(
        name="summary-50k",
        group="quality-summary",
        n=50_000,
        data="curved_sheet",
        sides=(Side("lowfold", "lowfold_summary"),),
        check="summary_right",
        options={"columns": 50},
        target=Target(memory=8e9),
        warm=3_200,
        repeat=1,
        timeout=900,
        note="every measure, exact, in blocks; neighbourhoods of every size included",
    ),
)


def picture(data: Data) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The data and an embedding of them that is neither perfect nor random: two columns with noise."""
    X = np.ascontiguousarray(data.X, dtype=np.float64)
    return X, X[:, :2] + np.random.default_rng(1).normal(size=(len(X), 2))


def lowfold_ranks(data: Data) -> Callable[[], Any]:

    X, Y = picture(data)

    def call() -> dict[str, float]:
        ranks = neighbor_ranks(X, Y, K, n_jobs=THREADS)
        scores = ranks.trustworthiness(), ranks.continuity(), ranks.mrre(), ranks.mrre("data"), ranks.lcmc()
        return dict(zip(("trust", "continuity", "mrre", "mrre_data", "lcmc"), map(float, scores)))

    return call


def zadu_ranks(data: Data) -> Callable[[], Any]:
    from zadu import ZADU

    X, Y = picture(data)
    spec = [{"id": name, "params": {"k": K}} for name in ("tnc", "mrre", "lcmc")]

    def call() -> dict[str, float]:
        trust, rank, shared = ZADU(spec, X).measure(Y)
        return {"trust": trust["trustworthiness"], "continuity": trust["continuity"], "lcmc": shared["lcmc"], **rank}

    return call


def sklearn_ranks(data: Data) -> Callable[[], Any]:
    from sklearn.manifold import trustworthiness

    X, Y = picture(data)
    return lambda: {
        "trust": float(trustworthiness(X, Y, n_neighbors=K)),
        "continuity": float(trustworthiness(Y, X, n_neighbors=K)),
    }


def lowfold_pairs(data: Data) -> Callable[[], Any]:

    X, Y = picture(data)

    def call() -> dict[str, float]:
        sums = pair_sums(X, Y, n_jobs=THREADS)
        return {
            "stress": sums.stress().value,
            "scaled_stress": sums.stress(scaled=True).value,
            "pearson": sums.pearson().value,
        }

    return call


def zadu_pairs(data: Data) -> Callable[[], Any]:
    from zadu import ZADU

    X, Y = picture(data)
    spec = [{"id": name, "params": {}} for name in ("stress", "scale_normalized_stress", "pr")]

    def call() -> dict[str, float]:
        stress, scaled, pearson = ZADU(spec, X).measure(Y)
        return {
            "stress": stress["stress"],
            "scaled_stress": scaled["scale_normalized_stress"],
            "pearson": pearson["pearson_r"],
        }

    return call


def lowfold_summary(data: Data) -> Callable[[], Any]:
    from lowfold import quality

    X, Y = picture(data)
    return lambda: quality.summary(X, Y, n_neighbors=K, n_jobs=THREADS)


def _trust(data: Data, rows: int = 200) -> float:
    """Trustworthiness by its definition, from some rows, all points ranked by a sort."""
    X, Y = picture(data)
    n = len(X)
    kept = []
    for i in np.random.default_rng(2).choice(n, min(rows, n), replace=False):
        order = [np.argsort(((A - A[i]) ** 2).sum(axis=1), kind="stable") for A in (X, Y)]
        rank = np.empty(n, dtype=np.int64)
        rank[order[0]] = np.arange(n)
        near = order[1][order[1] != i][:K]
        kept.append(1 - 2 * np.maximum(rank[near] - K, 0).sum() / (K * (2 * n - 3 * K - 1)))
    return float(np.mean(kept))


def ranks_right(data: Data, found: dict[str, float]) -> dict[str, float]:
    """The values, and how far trustworthiness is from its definition on 200 rows: a few standard errors of the rows."""
    return {**found, "trust_off": abs(found["trust"] - _trust(data))}


def pairs_right(data: Data, found: dict[str, float]) -> dict[str, float]:
    """The values themselves: both sides have the same definitions."""
    return found


def summary_right(data: Data, found: Any) -> dict[str, float]:
    """Values, and how far trustworthiness is from its definition on 200 rows."""
    values = {name: found[name].value for name in ("trustworthiness", "continuity", "r_nx_area", "pearson", "stress")}
    return {**values, "trust_off": abs(values["trustworthiness"] - _trust(data))}
