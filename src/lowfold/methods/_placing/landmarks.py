"""A model of landmarks that stands for all points: the others are placed as new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._block_search import plain_run
from lowfold.graph._source import Blocks, Source
from lowfold.graph._types import Neighbors
from lowfold.methods._fit import Extension, Fit, Inverse, Looks, Queries, Trained, known_source
from lowfold.methods._placing.back import with_inverse
from lowfold.methods._placing.maps import Barycentric
from lowfold.methods._placing.place import PLACED, count, looked_up, place, rows_of, take


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
        return self.extend.place(self.trained, queries, looked_up(self.extend, self.trained, queries, run), run)


@dataclass(frozen=True, eq=False)
class BackThroughLandmarks:
    """The landmarks' own way back: what it keeps belongs to them."""

    trained: Trained
    invert: Inverse

    def restore(self, trained: Trained, coordinates: Floats, run: Run) -> AnyFloats:
        return self.invert.restore(self.trained, coordinates, run)


@dataclass(frozen=True, eq=False)
class LandmarkModel(Extension):
    """The model of the landmarks alone, where the other rows stay in blocks: a new point is a landmark, or placed."""

    trained: Trained
    extend: Extension
    looks: ClassVar[Looks] = "nowhere"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        natural, same, _ = place(self.extend, self.trained, queries, run)
        known = same >= 0
        natural[known] = self.trained.coordinates[same[known]]
        return natural


def _placed_block(block: AnyFloats, start: int, model: LandmarkModel, run: Run) -> Floats:
    nothing = Neighbors(np.zeros(len(block) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0), 0)
    return model.place(model.trained, block, nothing, run)


def placed_in_blocks(fit: Fit, landmarks: Trained, chosen: Ints, source: Blocks, run: Run) -> Fit:
    """The landmarks' fit with all rows placed by it, block by block; the model keeps the landmarks alone."""
    fit = with_inverse(fit, landmarks.source, run)
    model = LandmarkModel(landmarks, fit.extend)
    Y = np.concatenate(list(source.rows.map(_placed_block, model, plain_run(run, source.rows.jobs))))
    Y[chosen] = fit.coordinates
    extra = {**fit.extra, "landmarks_": chosen}
    if fit.graph is not None:
        extra["graph_"] = fit.graph  # not one of all points
    back = BackThroughLandmarks(landmarks, fit.invert)
    return replace(fit, coordinates=Y, graph=None, extend=model, invert=back, extra=extra, keeps_rows=False)


def placed_through(fit: Fit, landmarks: Trained, chosen: Ints, source: Source | None, n: int, run: Run) -> Fit:
    """The landmarks' fit with all n points placed by it."""
    if isinstance(source, Blocks):
        return placed_in_blocks(fit, landmarks, chosen, source, run)
    through = ThroughLandmarks(landmarks, fit.extend, chosen)
    Y = np.empty((n, fit.coordinates.shape[1]))
    Y[chosen] = fit.coordinates
    others = np.setdiff1d(np.arange(n), chosen)
    for part in block_slices(len(others), PLACED):
        some = others[part]
        nothing = Neighbors(np.zeros(len(some) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0), n)
        Y[some] = through.place(landmarks, rows_of(known_source(source), some), nothing, run)
    invert = fit.invert if isinstance(fit.invert, Barycentric) else BackThroughLandmarks(landmarks, fit.invert)
    extra = {**fit.extra, "landmarks_": chosen}
    if fit.graph is not None:
        extra["graph_"] = fit.graph  # not one of all points
    return replace(fit, coordinates=Y, graph=None, extend=through, invert=invert, extra=extra)
