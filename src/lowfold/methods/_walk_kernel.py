"""The kernel of a walk: which pairs it joins, and how wide it is at every point.

asked --joins--> all pairs | those above a threshold | those within one reach | neighbours
asked --profile--> k(x, y), with its scales
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.graph._neighborhoods import default_neighbors
from lowfold.graph._radius import within_radius
from lowfold.graph._reach import common_reach, on_curve, own_reach, regular_reach
from lowfold.graph._search import nearest
from lowfold.graph._source import Blocks, Measured, Pairs, Points, Source
from lowfold.graph._types import Graph
from lowfold.kernels._diffusion import DECAY, LOCAL, SCALES, Profile, common_width, local_scales, std_scale
from lowfold.methods._fit import Connected
from lowfold.methods._neighborhood import Always, Hangs
from lowfold.methods._walk_measure import joined_within, nearest_count, variable
from lowfold.methods._weight_graph import ByThreshold, joined_by_weight

ROUNDED = 1 + 1e-9  # a distance that was divided and multiplied again
NEIGHBOR_OF_SCALE = 7  # whose distance is a point's own scale, Zelnik-Manor & Perona (2004)

Weighting = Literal["heat", "binary", "self_tuning", "variable", "precomputed"] | Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class WalkKernel:
    """What was asked of the kernel of a walk: parameters of `DiffusionMaps`, under their names."""

    weights: Weighting
    scale: float | str
    tuning: int | None
    alpha: float
    bandwidth: float
    tangent_dim: int | None
    density: Any
    n_neighbors: int | Ints | None
    radius: float | None
    threshold: float | None
    search: str
    symmetrize: str
    on_shortcut: str

    @classmethod
    def of(cls, method: Any) -> Self:
        """The parameters of a method."""
        return cls(**{field.name: getattr(method, field.name) for field in fields(cls)})

    # Which pairs are joined -----------------------------------------------------------------------------------------

    @property
    def joins(self) -> Literal["all", "threshold", "reach", "neighbors"]:
        """The rule that joins pairs; "reach" is that of the automatic scale."""
        if self.weights == "precomputed" or (self.threshold is not None and self.threshold == 0):
            return "all"
        if self.threshold is not None:
            return "threshold"
        if self.n_neighbors is not None or self.radius is not None:
            return "neighbors"
        if self.weights == "variable":
            return "reach"
        wanted = self.weights != "binary" and self.alpha != 0  # with alpha = 0 the density is to stay
        wanted = wanted and self.search != "faiss"  # all pairs within a reach take the exact search
        return "reach" if wanted and self.widened else "neighbors"

    @property
    def widened(self) -> bool:
        """Whether the automatic scale is widened at sparse points: not where a radius or threshold ends them all."""
        ended = self.radius is not None or (self.threshold is not None and self.threshold > 0)
        return self.weights not in (*LOCAL, "precomputed") and self.scale == "auto" and not ended

    def is_complete(self, source: Source | None) -> bool:
        """Whether all pairs of a dense source are joined, so that no graph is kept."""
        return self.joins == "all" and isinstance(source, (Points, Pairs))

    def has_one_reach(self, data: Connected) -> bool:
        """Whether all pairs within the automatic reach are joined, or all there are; not where shortcuts were left out,
        which would come back with it.
        """
        return self._joins_reach(data.source) and self._has_all(data)

    def is_along_a_curve(self, data: Connected) -> bool:
        """Whether points have neighbours as those of a curve are."""
        return on_curve(data.neighbors, self.neighbor_of_scale(data))

    def hangs(self) -> Hangs | None:
        """What must hang together, beside the graph of neighbours."""
        if self.joins == "all":
            return Always()
        return ByThreshold(lambda near, run: self.profile(near, run).scale) if self.joins == "threshold" else None

    def above_threshold(self, near: Connected, run: Run) -> Graph:
        """All pairs with a weight of at least the threshold."""
        return joined_by_weight(near, self._reach_of_threshold(self.profile(near, run).scale), run)

    def within_reach(self, near: Connected, run: Run) -> Graph | None:
        """All pairs nearer than the reach of one of them; a sparse matrix is a graph already, and used whole."""
        profile = self.profile(near, run)
        if profile.local is None or near.source is None or isinstance(near.source, Measured):
            return None
        if profile.weights == "variable":
            return joined_within(near.source, common_width(profile.scale), profile.local, run)
        return within_radius(near.source, _reaches(profile), run=run).union()

    def query_reach(self, data: Connected, profile: Profile) -> tuple[float | None, Floats | None]:
        """How far a new point looks for its edges, None for its neighbours; and how far every training point does."""
        widened = self.joins == "reach" and profile.local is not None and self._has_all(data)
        widened = widened and not isinstance(data.source, Measured)
        kth = _reaches(profile) if widened else data.kth_distance
        if self.joins == "all":
            return np.inf, kth
        if widened and profile.weights == "variable":
            return common_width(profile.scale), kth
        return None if self.threshold is None else self._reach_of_threshold(profile.scale), kth

    def _joins_reach(self, source: Source | None) -> bool:
        known = isinstance(source, (Points, Pairs, Blocks))  # all pairs, that is
        return (self.joins == "reach" or (self.joins == "all" and self.widened)) and known

    def _has_all(self, data: Connected) -> bool:
        return self.on_shortcut != "remove" or len(data.shortcuts) == 0

    def _reach_of_threshold(self, scale: float) -> float:
        """Distance at which exp(-d^2 / scale) falls to the threshold."""
        return float(np.sqrt(-scale * np.log(self.threshold))) if self.threshold else np.inf

    # How wide it is -------------------------------------------------------------------------------------------------

    def profile(self, data: Connected, run: Run) -> Profile:
        """k(x, y) with its scales. Bridges between components are no neighbours and have no say in the scale."""
        if self.weights == "self_tuning":
            factor = 1.0 if self.scale == "auto" else float(self.scale)
            return Profile("self_tuning", factor, self._own_scales(data, run))
        if self.weights == "variable":
            return variable(self, data, _usual(data), run)
        if self.weights == "precomputed":
            return Profile("precomputed", 1.0)
        if self.scale == "std":
            return Profile(self.weights, std_scale(data.points().X))
        if not isinstance(self.scale, str):
            return Profile(self.weights, float(self.scale))
        if self.scale == "auto" and self.weights != "binary":
            return self._automatic(data)
        by_neighbors = data.found is None or self.threshold is None
        near = data.unbridged if by_neighbors else getattr(data.found, self.symmetrize)()
        return Profile(self.weights, SCALES["mean" if self.scale == "auto" else self.scale](near))

    def neighbor_of_scale(self, data: Connected) -> int:
        """The neighbour that a point's own scale is taken from."""
        if self.tuning is not None:
            return int(self.tuning)
        if self.weights == "variable":
            return nearest_count(self, data.n)
        return min(NEIGHBOR_OF_SCALE, data.n - 1) if self.weights == "self_tuning" else _usual(data)

    def _automatic(self, data: Connected) -> Profile:
        """One scale, wider at points whose neighbours are farther than the reach."""
        k = self.neighbor_of_scale(data)
        t = own_reach(data.neighbors, k)
        one = self._joins_reach(data.source)
        reach = common_reach(data.source, data.neighbors, k) if one else regular_reach(t)
        return Profile(self.weights, reach**2 / DECAY, np.maximum(1.0, t / reach) if self.widened else None)

    def _own_scales(self, data: Connected, run: Run) -> Floats:
        m = self.neighbor_of_scale(data)
        near = data.neighbors
        if near.counts.min() < m and data.source is not None:
            near = nearest(data.source, min(m, data.n - 1), search=self.search, run=run)
        fewest = int(near.counts.min())
        if fewest < m:
            raise InvalidInput(f"tuning must be at most {fewest}, the smallest number of known neighbours; got {m}")
        return local_scales(near, m)


def _reaches(profile: Profile) -> Floats:
    """How far every point reaches; its k-th neighbour, at that distance but for rounding, belongs to it."""
    return np.asarray(common_width(profile.scale) * np.asarray(profile.local) * ROUNDED)


def _usual(data: Connected) -> int:
    """The neighbours asked for, or the default."""
    given = default_neighbors(data.n) if data.n_neighbors is None else int(np.median(data.n_neighbors))
    return min(given, data.n - 1)


def by_neighbors_alone(model: Any) -> str:
    """What keeps a walk from being made block by block, in words; nothing where neighbours are all that it needs."""
    if model.density is not None or model.target is not None or model.weights == "variable":
        return "density, target and weights='variable' look at all rows; leave them out, or set landmarks"
    if WalkKernel.of(model).joins == "all":
        return "threshold=0 and given weights join all pairs; leave them out, or set landmarks"
    return 'scale="std" looks at all rows; give a number, or "auto"' if model.scale == "std" else ""
