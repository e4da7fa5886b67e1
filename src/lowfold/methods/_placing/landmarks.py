"""A model of landmarks that stands for all points: the others are placed as new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._source import Source
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Extension, Fit, Inverse, Looks, Queries, Trained, known_source
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.place import count, neighbors_of, rows_of, take


@dataclass(frozen=True, eq=False)
class ThroughLandmarks(Extension):
    """The landmarks' own extension, for every point that is not one of them."""

    trained: Trained
    extend: Extension
    landmarks: Ints
    looks: ClassVar[Looks] = "nearest"

    @property
    def recognise(self) -> bool:  # type: ignore[override]
        """As the landmarks' extension says."""
        return self.extend.recognise

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        if not isinstance(queries, np.ndarray):
            queries = take(queries, np.arange(count(queries)), self.landmarks)
        return self.extend.place(self.trained, queries, neighbors_of(self.trained, queries, run), run)


@dataclass(frozen=True, eq=False)
class BackThroughLandmarks:
    """The landmarks' own way back: what it keeps belongs to them."""

    trained: Trained
    invert: Inverse

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> AnyFloats:
        return self.invert.restore(self.trained, coordinates, run)


def placed_through(fit: Fit, landmarks: Trained, chosen: Ints, source: Source | None, n: int, run: Run) -> Fit:
    """The landmarks' fit with all n points placed by it."""
    through = ThroughLandmarks(landmarks, fit.extend, chosen)
    Y = np.empty((n, fit.coordinates.shape[1]))
    Y[chosen] = fit.coordinates
    others = np.setdiff1d(np.arange(n), chosen)
    if len(others):
        nothing = Neighbors(np.zeros(len(others) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0), n)
        Y[others] = through.place(landmarks, rows_of(known_source(source), others), nothing, run)
    invert = fit.invert if isinstance(fit.invert, Barycentric) else BackThroughLandmarks(landmarks, fit.invert)
    extra = {**fit.extra, "landmarks_": chosen}
    if fit.graph is not None:
        extra["graph_"] = fit.graph  # not one of all points
    return replace(fit, coordinates=Y, graph=None, extend=through, invert=invert, extra=extra)
