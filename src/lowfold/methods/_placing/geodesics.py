"""New points of Isomap and its variants: geodesics to all points or to landmarks, conformal or plain, shifted too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import fits
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._geodesics import geodesic_table, seeded_geodesics, tabled_geodesics
from lowfold.graph._paths import Table
from lowfold.graph._types import Graph, Neighbors
from lowfold.methods._fit import Extension, Looks, Queries, Trained
from lowfold.methods._placing.maps import gram_coordinates

ROWS = 30_000_000  # geodesics of a block of new points, 240 MB: each block prepares the graph's batches anew
HELD = 1 / 8  # of the budget: geodesics from all points to the landmarks that a model may keep for the next new points
MADE_BY_SHIFT = 1e-8  # of the eigenvalue: what the shift leaves of it is the rounding of the difference


@dataclass(frozen=True, eq=False)
class LandmarkRow(Extension):
    """Geodesics from the new point through its neighbours, to the landmarks (all points if None), then as classical
    MDS.

    `factors` are the mean neighbour distances of conformal lengths; `shift` is the constant added to every geodesic.
    """

    row_means: Floats
    values: Floats
    vectors: Floats
    shift: float = 0.0
    landmarks: NDArray[np.int64] | None = None
    factors: Floats | None = None
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        graph, found = trained.edges, self.lengths(found)
        if self.landmarks is not None:
            return self.coordinates(_to_landmarks(self, self.landmarks, graph, found, run))
        out = np.empty((found.n, len(self.values)))
        for part in block_slices(found.n, max(1, ROWS // graph.n)):
            rows = seeded_geodesics(graph, found.take(np.arange(part.start, part.stop)), run=run)
            out[part] = self.coordinates(rows)
        return out

    def coordinates(self, rows: NDArray[np.floating]) -> Floats:
        """From geodesics of points (rows) to landmarks (columns).

        A shift tau adds 1/2 tau^2 H to the Gram matrix, a bump on its diagonal that no new point meets. Without it the
        kernel is continuous: squares d^2 + 2 tau d, the same eigenvectors, eigenvalues lambda - tau^2 / 2.
        """
        D = rows.astype(np.float64)
        tau, n = self.shift, len(self.row_means)
        if tau == 0:
            return gram_coordinates(D**2, self.row_means, self.values, self.vectors)
        means = self.row_means - tau**2 * (n - 1) / n
        bare = self.values - 0.5 * tau**2
        lost = np.flatnonzero((bare <= MADE_BY_SHIFT * self.values) & (self.values > 0))
        if len(lost):
            raise InvalidInput(
                f"component {lost[0] + 1} cannot be extended to new points: the shift of {tau:.4g} alone makes its "
                "eigenvalue; "
                "use fewer n_components, or no shift"
            )
        stretch = np.where(self.values > 0, self.values / np.where(bare > 0, bare, 1.0), 0.0)
        return gram_coordinates(D**2 + 2 * tau * D, means, self.values, self.vectors) * stretch

    def lengths(self, found: Neighbors) -> Neighbors:
        """Edges from new points to their neighbours, in the graph's own units."""
        if self.factors is None:
            return found
        mean = np.bincount(found.rows(), found.distances, minlength=found.n) / np.maximum(found.counts, 1)
        mean = np.where(mean > 0, mean, self.factors.min())
        product = mean[found.rows()] * self.factors[found.indices]
        return Neighbors(found.indptr, found.indices, found.distances / np.sqrt(product), found.n_points, found.recall)


_tables: WeakKeyDictionary[LandmarkRow, Table] = WeakKeyDictionary()


def _to_landmarks(
    row: LandmarkRow, landmarks: NDArray[np.int64], graph: Graph, found: Neighbors, run: Run
) -> NDArray[np.floating]:
    """Geodesics of new points to the landmarks. A table of those of all points is made for the first points that are
    more than the landmarks, and serves all later ones: a stream of blocks searches once.
    """
    table = _tables.get(row)
    worth = found.n >= len(landmarks) and run.device == "cpu"
    if table is None and worth and fits(8.0 * graph.n * len(landmarks), share=HELD):
        table = _tables[row] = geodesic_table(graph, landmarks, run=run)
    if table is None:
        return seeded_geodesics(graph, found, landmarks, run=run)
    return tabled_geodesics(table, found, run=run)


def triangulate(rows: NDArray[np.floating], row: LandmarkRow, run: Run) -> Floats:
    """Coordinates of all points from the landmarks' geodesics (landmarks, n); exact at the landmarks themselves."""
    n = rows.shape[1]
    out = np.empty((n, len(row.values)))
    parts = block_slices(n, 4096)

    def work(i: int) -> None:
        out[parts[i]] = row.coordinates(rows[:, parts[i]].T)

    run_blocks(work, len(parts), n_jobs=run.n_jobs)
    return out
