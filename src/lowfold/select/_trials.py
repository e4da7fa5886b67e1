"""Fitting a method again and again to subsamples, and measuring each embedding against the same geodesics."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput, LowfoldError
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._components import components, is_connected
from lowfold.graph._edge_map import edge_map
from lowfold.graph._reading import is_precomputed
from lowfold.graph._search import nearest
from lowfold.graph._source import Pairs, Points
from lowfold.graph._types import Graph
from lowfold.quality._geodesic_rank import reference_graph
from lowfold.quality._neighborhood_view import BASE, FEWEST, NeighborhoodView, _source
from lowfold.quality._ranks import NeighborRanks, neighbor_ranks
from lowfold.select._candidates import Grid
from lowfold.select._types import Curve
from lowfold.spectral._held import held_columns
from lowfold.spectral._types import REPEATED

MEASURE = "mean of geodesic trustworthiness and continuity, up to a linear map"
MARGIN = 0.005  # by which another candidate must be better than the default, on every subsample
RANKS = 12  # neighbours whose ranks are compared
SPARSE = 8  # neighbours of the graph that is the reference
# Of an embedding in which a coordinate repeats the earlier ones or holds a few points: neighbours alone do not show it
LOST_WORTH = 0.5
# Of what neighbours lose, in the picture or up to a linear map: a choice whose picture shows them worse must leave at
# most so much. Independent coordinates left 0.3 to 0.6 on most sheets of 5:1 and 8:1, 0.6 to 7 on tables.
MENDED = 0.6
# Of trustworthiness that a picture may lose for that: spirals of 9:1 lost 0.03, a table with one large column 0.05.
LOSS = 0.04
WHOLE = 4000  # points of which the graphs are looked at for pieces and shortcuts


@dataclass(eq=False)
class Sample:
    """One subsample: its rows, what neighbours are searched in, and the graph that is the reference."""

    X: Any
    y: Any
    source: Points | Pairs
    view: NeighborhoodView | None = None
    reference: Graph | None = None
    pieces: Ints | None = None  # of the reference, before bridges joined them


@dataclass(eq=False)
class Trials:
    """Subsamples of one data set, and what a model is worth on them; the whole tells which graphs can be used."""

    samples: list[Sample]
    whole: Sample
    n_given: int
    columns: int
    n_jobs: int | None
    d: int = 1

    @property
    def n(self) -> int:
        """Points of a subsample."""
        return self.samples[0].source.n

    @classmethod
    def draw(
        cls, X: Any, y: Any, model: Any, times: int, limit: int, rng: np.random.Generator, n_jobs: int | None
    ) -> Trials:
        """Subsamples of 80% of the points, or of `limit`."""
        n = len(X)
        if n < 10:
            raise InvalidInput(f"X must have at least 10 points to choose by subsamples; got {n}")
        labels = None if y is None else np.asarray(y)
        if labels is not None and len(labels) != n:
            raise InvalidInput(f"X and y must have one row per point; got {n} and {len(labels)} rows")
        if labels is None and model.__sklearn_tags__().target_tags.required:
            raise InvalidInput(f"{type(model).__name__} needs labels; pass them as y=")
        metric, params = getattr(model, "metric", "euclidean"), getattr(model, "metric_params", None)
        matrix = is_precomputed(metric)

        def sample(size: int) -> Sample:
            rows = np.sort(rng.choice(n, size, replace=False))
            part = X[np.ix_(rows, rows)] if matrix else X[rows]
            flat = part if matrix else part.reshape(len(rows), -1)
            return Sample(part, None if labels is None else labels[rows], _source(flat, metric, params))

        samples = [sample(min(limit, max(8, round(0.8 * n)))) for _ in range(times)]
        columns = n - 1 if matrix else int(np.prod(X.shape[1:]))
        return cls(samples, sample(min(n, WHOLE)), n, columns, n_jobs)

    def words(self) -> str:
        """What everything rests on."""
        return f"{len(self.samples)} subsamples of {self.n} of the {self.n_given} points"

    def coordinates(self) -> list[Any]:
        """The subsamples as coordinates, for estimators of dimension; none where there are distances only."""
        return [s.source.X for s in self.samples if isinstance(s.source, Points)]

    def settle(self, d: int) -> None:
        """Take d as the dimension, and make the reference graphs."""
        run = Run(n_jobs=self.n_jobs)
        self.d = d
        for sample in (*self.samples, self.whole):
            fewest = max(BASE, 4 * self.d) if sample is self.whole else max(SPARSE, 2 * self.d + 2)
            k = min(sample.source.n - 1, fewest)
            sample.view = NeighborhoodView(sample.source, k, self.d, np.random.default_rng(0), run)
            sample.reference, sample.pieces = reference_graph(sample.view, run)

    def fitted_value(self, model: Any, attribute: str) -> float | None:
        """Mean over subsamples of a number that the method sets by its own rule."""
        found = []
        for sample in self.samples:
            fitted = _fit(model, sample)
            value = getattr(fitted, attribute, None)
            if value is not None and np.isfinite(value) and value > 0:
                found.append(float(value))
        return float(np.mean(found)) if found else None

    def worse_shown(self, chosen: Any, usual: Any) -> tuple[float, float] | None:
        """Mean trustworthiness of two models' embeddings as they are, where that of the first is lower for nothing: on
        every subsample, by a margin on average, and without telling more up to a linear map, or by more than LOSS.

        Up to a linear map a coordinate that tells nothing costs nothing; a picture shows it as large as the others. The
        width of a long sheet is shown too large as well, but there neighbours are found by it.
        """
        shown, told = (np.full((2, len(self.samples)), np.nan) for _ in range(2))
        for j, sample in enumerate(self.samples):
            for i, model in enumerate((chosen, usual)):
                fitted = _fit(model, sample)
                ranks = _ranks(fitted, sample, self.n_jobs, mapped=False)
                shown[i, j] = np.nan if ranks is None else ranks.trustworthiness().value
                told[i, j] = np.fmax(_kept(ranks), _kept(_ranks(fitted, sample, self.n_jobs, mapped=True)))
        new, old = shown.mean(axis=1)
        lower = new < old - MARGIN and bool((shown[0] < shown[1]).all())
        left, before = 1 - told.mean(axis=1)
        mended = left < MENDED * before and new > old - LOSS
        return (float(new), float(old)) if lower and not mended else None

    def curve(self, model: Any, name: str, grid: Grid) -> Curve:
        """The measure for every candidate on every subsample, and the best that is eligible.

        The default of the method stays unless another beats it on every subsample. Where it is not among the
        candidates, of numbers of neighbours as good as the best, within its spread, the largest: with more neighbours
        all that is averaged over them is steadier, and what speaks against too many is checked before.
        """
        refused: dict[Any, str] = {}
        scores = np.full((len(grid.values), len(self.samples)), np.nan)
        for i, value in enumerate(grid.values):
            if name == "n_neighbors" and (why := self._unfit(int(value))):
                refused[value] = why
            own = grid.ruled and value == grid.usual
            trial = model if own else type(model)(**{**model.get_params(deep=False), name: value})
            for j, sample in enumerate(self.samples):
                scores[i, j] = _worth(trial, sample, self.n_jobs)
        failed = np.isnan(scores).all(axis=1)
        for value in np.array(grid.values)[failed].tolist():
            refused.setdefault(value, "the method could not be fitted with it, or its result not measured")
        counted = np.where(failed[:, None], 0.0, scores)
        mean, spread = np.nanmean(counted, axis=1), np.nanstd(counted, axis=1)
        mean[failed], spread[failed] = np.nan, np.nan
        allowed = np.array([value not in refused for value in grid.values])
        usual = grid.values.index(grid.usual) if grid.usual in grid.values else None
        chosen = grid.values[_best(counted, allowed, failed, usual, most=name == "n_neighbors")]
        if allowed.any():
            refused.pop(chosen, None)
        return Curve(name, grid.values, mean, spread, chosen, MEASURE, refused)

    def _unfit(self, k: int) -> str:
        """Why a graph of k neighbours should not be used; "" where nothing speaks against it."""
        return _against(self.whole, k)


def _best(
    scores: Floats, allowed: NDArray[np.bool_], failed: NDArray[np.bool_], usual: int | None, *, most: bool
) -> int:
    """The usual one unless the best that is eligible beats it; where it is not eligible itself, unless another is
    better on average: a few shortcuts may harm less than fewer neighbours, and the measure sees what they do. Where
    there is none, with `most` the largest within the spread of the best; else the first that could be fitted.
    """
    if not allowed.any():
        return int(np.argmin(failed)) if usual is None or failed[usual] else usual
    mean = np.where(allowed & ~failed, np.nan_to_num(scores).mean(axis=1), -np.inf)
    best, floor = int(np.argmax(mean)), -np.inf
    if usual is not None and not failed[usual]:
        if allowed[usual]:
            return best if _beats(scores[best], scores[usual]) else usual
        floor = float(np.nan_to_num(scores[usual]).mean())
        if mean[best] <= floor:
            return usual
    near = (mean >= mean[best] - np.nanstd(scores[best])) & (mean > floor)
    return int(np.flatnonzero(near)[-1]) if most else best


def _beats(new: Floats, old: Floats) -> bool:
    """Whether one candidate is better than another on every subsample, by the margin and by its own spread.

    The subsamples are the same for both. The spread of the old one does not count for it: a default that loses a
    coordinate on every third subsample is no better for being so uneven. A subsample that could not be measured is
    worth nothing.
    """
    return bool((np.nan_to_num(new) - np.nan_to_num(old)).min() > max(MARGIN, float(np.nanstd(new))))


def _fit(model: Any, sample: Sample) -> Any | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(sample.X, sample.y)
        except (LowfoldError, MemoryError, np.linalg.LinAlgError):
            return None


def _kept(ranks: NeighborRanks | None) -> float:
    """What `MEASURE` says; NaN where nothing was measured."""
    return float("nan") if ranks is None else (ranks.trustworthiness().value + ranks.continuity().value) / 2


def _worth(model: Any, sample: Sample, n_jobs: int | None) -> float:
    fitted = _fit(model, sample)
    ranks = _ranks(fitted, sample, n_jobs, mapped=True)
    if fitted is None or ranks is None:
        return float("nan")
    worth = _kept(ranks)
    told = getattr(fitted, "dependence_", None)
    lost = told is not None and (np.max(told, initial=0.0) > REPEATED or len(held_columns(fitted.embedding_)) > 0)
    return worth * (LOST_WORTH if lost else 1.0)


def _ranks(fitted: Any, sample: Sample, n_jobs: int | None, *, mapped: bool) -> NeighborRanks | None:
    """Of geodesic neighbours, after the linear map that fits edges or as the embedding is; None without any."""
    Y = None if fitted is None else np.asarray(fitted.embedding_, dtype=np.float64)
    if Y is None or not np.isfinite(Y).all():
        return None
    assert sample.reference is not None
    Z = Y @ edge_map(Y, sample.reference) if mapped else Y
    try:
        return neighbor_ranks(sample.reference, Z, min(RANKS, (len(Y) - 1) // 2), n_jobs=n_jobs)
    except LowfoldError:  # values of 1e89 have no ranks: it counts as one that could not be fitted
        return None


def _against(sample: Sample, k: int) -> str:
    view = sample.view
    assert view is not None
    if k > view.n - 1:
        return f"{view.n} points have only {view.n - 1} others"
    graph = (view.neighbors(k) if k <= view.wide.counts.max() else nearest(view.source, k, run=view.run)).union()
    if not is_connected(graph):
        return f"its graph is in {int(components(graph).max()) + 1} pieces"
    if view.n < FEWEST:
        return ""
    if k > view.safe:
        return f"it has shortcuts, from neighbour {view.safe + 1} on"
    factor = _shorter(sample, graph)
    return f"it has shortcuts: far geodesics are {factor:.1f} times shorter" if factor > view.shrunk else ""


def _shorter(sample: Sample, graph: Graph) -> float:
    """By which factor far geodesics are shorter than those of the reference, for 99% of the pairs; 1 for curves."""
    view = sample.view
    assert view is not None
    assert sample.reference is not None
    if view.d == 1:
        return 1.0
    sparse, dense = view.paths(sample.reference, view.landmarks), view.paths(graph, view.landmarks)
    assert sample.pieces is not None
    own = sample.pieces[view.landmarks]
    far = (sparse > np.median(sparse)) & (dense > 0) & (own[:, None] == own)
    return float(np.quantile(sparse[far] / dense[far], 0.99)) if far.any() else 1.0
