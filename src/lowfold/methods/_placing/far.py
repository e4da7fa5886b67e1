"""New points far from all training points: what is said of them cannot be known, and often a scaling was forgotten."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from lowfold._core import errors
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.graph._search import nearest
from lowfold.graph._source import Pairs, Points
from lowfold.methods._fit import Trained

# Times the largest gap between a training point and its nearest other one. New rows of 39 tables, images and samples
# with heavy tails reached 5 at most, but for single rows of sets in one or two dimensions (10); a grid that is laid
# around tight clusters, as for a picture, 8.
FAR = 10.0
MANY = 0.05  # of the new points: fewer are outliers, such as training data have too
SAMPLE = 256  # training points whose gaps are looked at

_gaps: WeakKeyDictionary[Trained, float] = WeakKeyDictionary()


def tell_far(name: str, trained: Trained, away: Floats, run: Run) -> None:
    """Warn where many of the new points, `away` from their nearest training point, have none near."""
    if len(away) == 0 or not np.isfinite(away).any():
        return
    if trained not in _gaps:
        _gaps[trained] = _largest_gap(trained, run)
    gap = _gaps[trained]
    far = int((away > FAR * gap).sum())
    if gap > 0 and far > MANY * len(away):
        warn(
            f"{far} of {len(away)} new points are far from all that {name} was fitted on: up to "
            f"{np.nanmax(away) / gap:.2g} times the largest gap between a training point (of a sample) and its nearest "
            "other; their places are guesses. Were they scaled, and their columns ordered, as the training data?",
            errors.AccuracyWarning,
        )


def _largest_gap(trained: Trained, run: Run) -> float:
    """The largest distance of a training point to its nearest other, among a sample; 0 where that is not known."""
    source, graph = trained.source, trained.graph
    if not isinstance(source, (Points, Pairs)) or source.n < 2:
        return 0.0
    rows = np.linspace(0, source.n - 1, min(SAMPLE, source.n)).astype(np.int64)
    if isinstance(source, Pairs):
        D = np.array(source.distances[rows], dtype=np.float64)
        D[np.arange(len(rows)), rows] = np.inf
        return float(D.min(axis=1).max())
    if graph is None or graph.n != source.n:  # of landmarks alone
        return float(nearest(source, 2, queries=source.X[rows], run=run).distances[1::2].max())
    # not its own lengths, which a method may have changed
    near = ((i, graph.indices[graph.indptr[i] : graph.indptr[i + 1]].astype(np.int64)) for i in rows)
    return max((float(source.rows(source.X[[i]], others).min()) for i, others in near if len(others)), default=0.0)
