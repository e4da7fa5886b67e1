"""Measures from some of the points: their neighbourhoods alone, and how far the values may be off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lowfold._core.jit import compiled
from lowfold._core.parallel import block_slices
from lowfold._core.types import Floats, Ints
from lowfold.graph._types import Neighbors
from lowfold.quality._pairs import PairSums
from lowfold.quality._score import Score
from lowfold.quality._spaces import Space, row_step

GROUPS = 20  # of points that are left out in turn, for measures that are no mean over points
MEANS = ("trustworthiness", "continuity", "mrre", "mrre_data", "q_nx", "lcmc", "r_nx_area")
LOCAL = ("angles", "orientation", "riemannian_distortion")


def rows_near(space: Space, rows: Ints, k: int) -> Neighbors:
    """The k nearest of some points; the others have none."""
    loops = compiled("lowfold.quality._rank_loops")
    index, lengths = np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    for part in block_slices(len(rows), row_step(space.n)):
        D = space.rows(rows[part])
        loops.nearest_in_rows(D, rows[part], k, index[part])
        lengths[part] = np.take_along_axis(D, index[part], axis=1)
    counts = np.zeros(space.n, dtype=np.int64)
    counts[rows] = k
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Neighbors(indptr, index.ravel().astype(np.int32), lengths.ravel(), space.n)


def standard_errors(scores: Mapping[str, Score], sums: Floats, rows: Ints, n: int, scaled: bool) -> dict[str, float]:
    """By the spread over the points for means, by leaving out groups (jackknife) for measures of sums over pairs."""
    left = np.sqrt(1 - len(rows) / n)  # of a draw without replacement
    found = {}
    for name in (*MEANS, *LOCAL):
        points = scores[name].points if name in scores else None
        if points is not None:
            looked = points[rows]
            looked = looked[np.isfinite(looked)]
            found[name] = float(left * looked.std(ddof=1) / np.sqrt(len(looked))) if len(looked) > 1 else float("nan")
    of_sums: dict[str, Callable[[PairSums], Score]] = {
        "pearson": PairSums.pearson,
        "residual_variance": PairSums.residual_variance,
        "stress": lambda part: part.stress(scaled=scaled),
    }
    group = np.arange(len(rows)) % GROUPS
    for name, value in of_sums.items():
        if name in scores and len(rows) >= 2 * GROUPS:
            without = [value(PairSums.of(sums[:, group != g], n)).value for g in range(GROUPS)]
            found[name] = float(left * np.sqrt((GROUPS - 1) * np.var(without)))
    return found
