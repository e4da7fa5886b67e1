"""New points among embedded ones by descent over the new row only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.methods._descent import measured_columns
from lowfold.methods._fit import Extension, Looks, Queries, Trained
from lowfold.optimize._rows import place_rows, triangulate

NEVER = np.empty(0)


@dataclass(frozen=True, eq=False)
class StressRow(Extension):
    """Least stress over the new row: y minimises sum_j w_j (delta_j - d(y, y_j))^2, every other point held.

    Majorised from two starts, where squared distances would put it and the place of its nearest point; the better one
    counts. With a curve (`knots`, `heights`) dissimilarities are first led through it: the disparities of a nonmetric
    fit. Given weights belong to pairs of the fit, so new points weigh all pairs alike.
    """

    weights: str = "unit"
    small: float = 1.0
    p: float = 2.0
    knots: Floats = field(default_factory=lambda: NEVER)
    heights: Floats = field(default_factory=lambda: NEVER)
    recognise: bool = True
    looks: ClassVar[Looks] = "nearest"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        Y = trained.coordinates
        m = found.n
        out = np.empty((m, Y.shape[1]))
        parts = block_slices(m, 64)
        nearest = found.indices[found.indptr[:-1]]

        def work(b: int) -> None:
            out[parts[b]] = self._place(trained, queries, parts[b], Y[nearest[parts[b]]])

        run_blocks(work, len(parts), n_jobs=run.n_jobs)
        return out

    def _place(self, trained: Trained, queries: Queries, rows: slice, near: Floats) -> Floats:
        Y = trained.coordinates
        delta = measured_columns(queries, trained.source, rows)
        _refuse_unmeasured(delta, rows.start)
        if len(self.knots):
            delta = np.interp(delta, self.knots, self.heights)
        settings = {"weights": self.weights, "small": self.small, "p": self.p}
        first, first_stress = place_rows(delta, Y, triangulate(delta.T**2, Y), **settings)  # type: ignore[arg-type]
        second, second_stress = place_rows(delta, Y, near, **settings)  # type: ignore[arg-type]
        return np.where((second_stress < first_stress)[:, None], second, first)


def _refuse_unmeasured(delta: NDArray[np.floating], first: int) -> None:
    nothing = ~np.isfinite(delta).any(axis=0)
    if nothing.any():
        row = first + int(np.argmax(nothing))
        raise InvalidInput(f"row {row} of X has no measured dissimilarity to a training point; measure some")
