"""What all questions about a data set look at: a sample, its neighbours, patches and geodesics, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._components import components, is_connected
from lowfold.graph._connect import connecting_k
from lowfold.graph._foreign import known_graph
from lowfold.graph._geodesics import geodesics
from lowfold.graph._neighborhoods import default_neighbors
from lowfold.graph._reading import read_complete
from lowfold.graph._search import nearest, trim
from lowfold.graph._source import Pairs, Points
from lowfold.graph._types import Graph, Neighbors
from lowfold.metrics._metric import Metric
from lowfold.metrics._resolve import resolve_metric
from lowfold.quality._residuals import between, classical, residual
from lowfold.quality._shape import (
    TELLING,
    Scales,
    Tangents,
    noise_level,
    off_plane,
    principal_patches,
    scales,
    tangents,
)
from lowfold.quality._spaces import GAPS
from lowfold.quality._topology import without_steep_edges

FEWEST = 50  # points below which nothing but the number of pieces is told
CENTERS = 400  # patches looked at
PANEL = 500  # rows of geodesics held at once: 16 MB of 4,000 points
LANDMARKS = 400  # points between which geodesics are compared
WIDE = 96  # neighbours searched
BASE = 10  # neighbours of the graph that longer edges are compared with
DETOUR = 3.5  # an edge whose ends are so many times farther apart along the data is a shortcut
BLURRED = 0.1  # share of steep edges beyond which noise hides the tangent planes
# Far geodesics so many times shorter than with 0.6 k neighbours, for 1% of the far pairs: perhaps shortcuts; and for a
# tenth of them: surely. A gap that fewer neighbours leave lengthens the ways of a few pairs: of samples of 250 to 1,000
# points of planes, spheres, cylinders and cubes without shortcuts every seventh had the first, one of 80 the second.
SHRUNK, WIDELY_SHRUNK = 1.6, 1.45
# Noise in all directions over the distance to neighbour k, beyond which it lifts edges off the tangent planes that are
# no shortcuts, and what counts as one then, instead of DETOUR and SHRUNK: ways around the gaps that such edges leave
# are 3.5 to 6.5 times as long. On planes, cubes, cylinders, spheres, strips, saddles and rolls without any, in 10 to
# 100 columns with noise, 47 of 238 were said to have shortcuts; all 42 rolls and folds that had some still are.
THICK = 0.1
THICK_DETOUR, THICK_SHRUNK = 7.0, 2.0
WIDEST, PART = 24, 8  # neighbours of the largest patch: so many, or one point in so many where that is more
GROWTH = 20  # neighbours by which the growth of balls is measured, Levina & Bickel's upper end
NOISE = 0.05  # of the distance to neighbour k, above which patches are taken larger
MINOR = 0.2  # share of a patch's variance up to which noise, known to a few tenths, does not blur its tangents
FEWER = 0.6  # of the neighbours, for the graph that geodesics are compared with
SEEN = 0.9  # share of pairs that the sparser graph must still join
SAME = (
    "wide",
    "index",
    "distances",
    "centers",
    "landmarks",
    "scales",
    "tangents",
    "straight",
)  # what no dimension changes
SHY = 1.5  # growth of distances tells too few dimensions: 13 of a cube of 20 with 1,000 points
CLEAR = 1.5  # ratio of variances between tangents and the rest below which no dimension stands out


@dataclass(frozen=True)
class Pieces:
    """Components of the neighbourhood graph, and the number of neighbours that would join them, if any does."""

    sizes: tuple[int, ...]
    connecting: int | None


@dataclass(eq=False)
class NeighborhoodView:
    """One connected piece of the data, seen through its neighbourhoods. Everything else is computed when asked for."""

    source: Points | Pairs
    k: int
    given_d: int | None
    rng: np.random.Generator
    run: Run

    @property
    def n(self) -> int:
        return self.source.n

    @property
    def X(self) -> Floats | None:
        """Coordinates in which the distances are Euclidean, or None where there are distances only."""
        return np.asarray(self.source.X, dtype=np.float64) if isinstance(self.source, Points) else None

    # Neighbourhoods -------------------------------------------------------------------------------------------------

    @cached_property
    def wide(self) -> Neighbors:
        return nearest(self.source, min(self.n - 1, max(self.k, WIDE)), run=self.run)

    def neighbors(self, k: int) -> Neighbors:
        return trim(self.wide, np.full(self.n, k))

    @cached_property
    def index(self) -> Ints:
        return self.wide.indices.reshape(self.n, -1).astype(np.int64)

    @cached_property
    def distances(self) -> Floats:
        return self.wide.distances.reshape(self.n, -1)

    @cached_property
    def centers(self) -> Ints:
        return np.sort(self.rng.choice(self.n, min(self.n, CENTERS), replace=False))

    @cached_property
    def landmarks(self) -> Ints:
        return np.sort(self.rng.choice(self.n, min(self.n, LANDMARKS), replace=False))

    # Local shape ----------------------------------------------------------------------------------------------------

    @cached_property
    def scales(self) -> Scales | None:
        if self.X is None:
            return None
        most = min(self.index.shape[1], max(WIDEST, self.n // PART))
        return scales(self.X, self.centers, self.index[self.centers, :most], self.distances[self.centers, :most])

    @cached_property
    def tangents(self) -> Tangents | None:
        return None if self.scales is None else tangents(self.scales)

    @cached_property
    def clear(self) -> bool:
        """Whether the dimension was given, or stands out, or is that of the whole space."""
        if self.given_d is not None or self.tangents is None:
            return True
        return self.tangents.fewest == self.tangents.most and self.tangents.gap >= CLEAR

    @cached_property
    def d(self) -> int:
        """Given, or the number of tangent directions; by the growth of distances where these are all there is."""
        if self.given_d is not None:
            return self.given_d
        if self.tangents is not None and self.clear:
            return max(1, self.tangents.fewest)
        grown = max(1, round(self.growth_dimension()))
        return grown if self.X is None else min(grown, self.X.shape[1])

    @cached_property
    def dimensions(self) -> tuple[int, int]:
        """The least and the most that the dimension may be: by tangent directions at all sizes, and by growth."""
        if self.clear or self.scales is None or self.tangents is None:
            return self.d, self.d
        most = min(self.tangents.most, int(np.ceil(SHY * self.d)), self.scales.D)
        return min(self.d, max(1, self.tangents.fewest)), max(self.d, most)

    def at(self, d: int) -> NeighborhoodView:
        """The same data taken to have dimension d."""
        other = replace(self, given_d=d)
        other.__dict__.update({name: self.__dict__[name] for name in SAME if name in self.__dict__})
        return other

    def growth_dimension(self) -> float:
        """Maximum likelihood, Levina & Bickel (2004), averaged as 1/d: 1 / mean log(r_k / r_j) over j < k = 20."""
        k = min(GROWTH, self.distances.shape[1])
        r = np.maximum(self.distances[:, :k], np.finfo(np.float64).tiny)
        inside = r[:, 0] > 0
        logs = np.log(r[inside, -1:] / r[inside, :-1]).sum(axis=1) / max(1, k - 2)
        return float(1 / logs.mean()) if len(logs) and logs.mean() > 0 else 1.0

    @cached_property
    def noise(self) -> float:
        """Standard deviation of the noise along one direction, NaN where it cannot be told."""
        return float("nan") if self.scales is None else noise_level(self.scales, self.d)

    @cached_property
    def is_noisy(self) -> bool:
        """Whether noise is more than a twentieth of the distance to neighbour k."""
        return bool(self.noise > NOISE * np.median(self.distances[:, self.k - 1]))

    @cached_property
    def is_thick(self) -> bool:
        """Whether noise, in all directions off the tangents, lifts edges off the tangent planes."""
        if self.scales is None:
            return False
        return bool(self.noise * np.sqrt(self.scales.D - self.d) > THICK * np.median(self.distances[:, self.k - 1]))

    @property
    def detour(self) -> float:
        """An edge whose ends are so many times farther apart along the data is a shortcut."""
        return THICK_DETOUR if self.is_thick else DETOUR

    @property
    def shrunk(self) -> float:
        """Far geodesics so many times shorter than with fewer neighbours may take shortcuts."""
        return THICK_SHRUNK if self.is_thick else SHRUNK

    @cached_property
    def plane(self) -> tuple[Floats, float]:
        """Coordinates of the landmarks in the best plane, and the share of their variance that is off it."""
        return classical(self.straight, self.d, self.run)

    @cached_property
    def tilt(self) -> float:
        """Share of the variance of small patches, noise aside, that is off the best plane of the whole.

        Of the smallest patches in which noise is minor; NaN where there are none, and for distances.
        """
        if self.X is None or self.scales is None or self.d >= self.scales.D:
            return float("nan")
        noise = 0.0 if np.isnan(self.noise) else (self.scales.D - self.d) * self.noise**2
        for k, spectra in zip(self.scales.sizes, self.scales.spectra):
            whole = float(spectra.sum(axis=1).mean())
            if k >= TELLING * self.d and noise < MINOR * whole:
                there = self.X[self.landmarks]
                axes = (there - there.mean(axis=0)).T @ self.plane[0]  # orthogonal: of a singular value decomposition
                axes /= np.maximum(np.linalg.norm(axes, axis=0), NO_DIVISOR)
                off = off_plane(self.X, self.centers, self.index[self.centers, :k], axes)
                return max(0.0, float(off.mean()) - noise) / whole
        return float("nan")

    def patch_size(self) -> int:
        """Neighbours for quadratic fits in halves of a patch: four for each coefficient; for noisy data, in quarters,
        as many as there are this side of a shortcut.
        """
        least = (8 if self.is_noisy else 4) * (1 + self.d + self.d * (self.d + 1) // 2)
        return max(least, min(self.safe, self.n // PART)) if self.is_noisy else least

    @cached_property
    def patches(self) -> Floats | None:
        """Principal coordinates of patches about the centres; None without coordinates or with too few points."""
        k = self.patch_size()
        if self.X is None or k > self.index.shape[1] or 3 * k > self.n or self.d > self.X.shape[1]:
            return None
        return principal_patches(self.X, self.centers, self.index[self.centers, :k], self.d)

    # Paths ----------------------------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> tuple[Graph, float]:
        """Graph of few neighbours without steep edges, and their share; with too many, or no planes, all edges stay."""
        found = self.neighbors(min(self.k, max(BASE, 4 * self.d)))
        if not isinstance(self.source, Points) or self.d >= self.source.X.shape[1]:
            return found.union(), 0.0
        graph, share = without_steep_edges(self.source, found, self.d)
        return (graph, share) if share <= BLURRED else (found.union(), share)

    @cached_property
    def detours(self) -> Floats:
        """(n, neighbours): how much longer the way to each neighbour is along the base graph."""
        ratio = np.empty_like(self.distances)
        for part in block_slices(self.n, PANEL):
            rows = np.arange(part.start, part.stop)
            along = geodesics(self.base[0], rows, dtype=np.float64, run=self.run)
            straight = np.maximum(self.distances[rows], np.finfo(np.float64).tiny)
            ratio[rows] = np.take_along_axis(along, self.index[rows], axis=1) / straight
        return np.where(np.isfinite(ratio), ratio, 1.0)

    @cached_property
    def shortcuts(self) -> int:
        """Edges i -> j of the k-neighbour graph that are shortcuts."""
        return int((self.detours[:, : self.k] > self.detour).sum())

    @cached_property
    def safe(self) -> int:
        """Neighbours of every point before the first shortcut."""
        first = np.flatnonzero((self.detours > self.detour).any(axis=0))
        return int(first[0]) if len(first) else int(self.detours.shape[1])

    @cached_property
    def fewer(self) -> int:
        """Neighbours of a sparser graph whose geodesics are compared with those of k neighbours."""
        return max(self.d + 1, round(FEWER * self.k))

    @cached_property
    def shrinkings(self) -> tuple[float, float]:
        """By which factor far geodesics are shorter with k neighbours than with `fewer`: 99% and 90% of them at most.

        NaN for curves, which are open with few neighbours wherever the sample has a gap, and for graphs in pieces.
        """
        if self.d == 1 or self.fewer >= self.k:
            return float("nan"), float("nan")
        sparse = self.paths(self.neighbors(self.fewer).union(), self.landmarks)
        dense = self.paths(self.neighbors(self.k).union(), self.landmarks)
        seen = np.isfinite(sparse) & (dense > 0)
        if seen.mean() < SEEN:
            return float("nan"), float("nan")
        far = seen & (sparse > np.median(sparse[seen]))
        if not far.any():
            return float("nan"), float("nan")
        worst, many = np.quantile(sparse[far] / dense[far], (0.99, 0.9))
        return float(worst), float(many)

    @property
    def shrinking(self) -> float:
        """That factor for all but the worst hundredth of the far pairs."""
        return self.shrinkings[0]

    @property
    def is_shrunk(self) -> bool:
        """Whether so many far geodesics are so much shorter that no gap of the sparser graph explains it."""
        return self.shrinkings[1] > WIDELY_SHRUNK

    @cached_property
    def graph(self) -> Graph:
        """The graph of k neighbours; a sparser one where that has shortcuts."""
        if self.shortcuts:
            return self.base[0]
        sparse = self.neighbors(self.fewer).union()
        if self.is_shrunk and is_connected(sparse):
            return sparse
        return self.neighbors(self.k).union()

    @cached_property
    def along(self) -> Floats:
        """Geodesic distances among the landmarks."""
        return self.paths(self.graph, self.landmarks)

    def paths(self, graph: Graph, rows: Ints) -> Floats:
        D = np.asarray(geodesics(graph, rows, rows, dtype=np.float64, run=self.run))
        return (D + D.T) / 2

    @cached_property
    def straight(self) -> Floats:
        """Distances of the data among the landmarks."""
        if isinstance(self.source, Pairs):
            return np.asarray(self.source.distances[np.ix_(self.landmarks, self.landmarks)], dtype=np.float64)
        return self.source.rows(self.source.X[self.landmarks], self.landmarks)


def isomap_residual(view: NeighborhoodView) -> float:
    """Isomap's residual variance: 1 - R^2 between geodesics and their classical MDS in d dimensions."""
    return residual(view.along, between(classical(view.along, view.d, view.run)[0]))


def look(
    X: Any,
    n_neighbors: int | None,
    n_components: int | None,
    metric: str | Callable[..., Any] | Metric,
    metric_params: Mapping[str, Any] | None,
    max_points: int,
    rng: np.random.Generator,
    run: Run,
) -> tuple[NeighborhoodView, Pieces, int, int]:
    """The largest piece of a sample of the data, the pieces, the points given and the points looked at."""
    source = _source(X, metric, metric_params)
    given = source.n
    if given < 3:
        raise InvalidInput(f"X must have at least 3 points to be diagnosed; got {given}")
    if given > max_points:
        source = source.subset(np.sort(rng.choice(given, max_points, replace=False)))
    used = source.n
    source = _distinct(source)
    if source.n < 3:
        raise InvalidInput(f"X must have at least 3 different points to be diagnosed; got {source.n}")
    k = default_neighbors(source.n) if n_neighbors is None else n_neighbors
    if k > source.n - 1:
        raise InvalidInput(f"n_neighbors must be at most {source.n - 1} for {source.n} different points; got {k}")
    labels = components(nearest(source, k, run=run))
    sizes = tuple(int(size) for size in np.bincount(labels))
    pieces = Pieces(sizes, k if len(sizes) == 1 else connecting_k(source, k, run=run))
    if len(sizes) > 1:
        source = source.subset(np.flatnonzero(labels == 0))
    return NeighborhoodView(source, min(k, source.n - 1), n_components, rng, run), pieces, given, used


def _source(X: Any, metric: Any, metric_params: Mapping[str, Any] | None) -> Points | Pairs:
    """Points with the Euclidean metric wherever the metric allows it, else distances."""
    X = known_graph(X)
    if isinstance(X, (Graph, Neighbors)):
        raise InvalidInput("X must be points or a matrix of distances; a graph does not tell what it was made of")
    source = read_complete(X, metric, metric_params, way_out=GAPS)
    if isinstance(source, Pairs) or source.metric.feature_map is None:
        return source
    features = source.features()
    return Points(features, resolve_metric("euclidean", None, features))


def _distinct(source: Points | Pairs) -> Points | Pairs:
    """Repeated points once: they say nothing of the shape, and all their neighbours are themselves."""
    if isinstance(source, Pairs):
        return source
    first = np.sort(np.unique(source.X, axis=0, return_index=True)[1])
    return source if len(first) == source.n else source.subset(first)
