"""Where new points go among landmarks of a surface: by the plane of the nearest knot, seen from its landmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._search import nearest
from lowfold.graph._sheet import homes, in_plane
from lowfold.graph._source import Points, Sheet
from lowfold.graph._types import Neighbors
from lowfold.kernels._patches import Patches, geometry_of
from lowfold.methods._fit import Connected, Extension, Looks, Queries, Trained, feature_rows
from lowfold.metrics._resolve import resolve_metric

RANK = 1e-10  # of a patch's extent: directions below have no slope
LEANING = 0.5  # share of a query's distance off a knot's plane, above which the next knot is asked
ASKED = 4  # knots from which a query's own is taken


@dataclass(frozen=True, eq=False)
class PlaneMap(Extension):
    """y = at_i + t slope_i for the shadow t of a new point on the plane of the nearest knot i."""

    knots: Floats
    tangents: Floats
    at: Floats
    slope: Floats
    looks: ClassVar[Looks] = "nearest"  # a landmark is recognised: its knot lies on the surface, where it need not

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        Q = trained.points.features(feature_rows(queries))
        knots = Points(self.knots, resolve_metric("euclidean", None, self.knots))
        width = min(len(self.knots), ASKED)
        near = nearest(knots, width, queries=Q, search=trained.search, run=run)
        index, distance = near.indices.reshape(-1, width).astype(np.int64), near.distances.reshape(-1, width)
        base, t = self._upright(Q, index, distance)
        return np.asarray(self.at[base] + np.einsum("md,mde->me", t, self.slope[base]))

    def _upright(self, Q: AnyFloats, index: Ints, distance: Floats) -> tuple[Ints, Floats]:
        """The first knot of each query off whose plane it does not lie, the nearest where there is none; its shadow."""
        base = index[:, 0].copy()
        t = in_plane(self.knots, self.tangents, Q, base)
        leans = np.flatnonzero(_off(t, distance[:, 0]))
        for c in range(1, index.shape[1]):
            shadow = in_plane(self.knots, self.tangents, Q[leans], index[leans, c])
            still = _off(shadow, distance[leans, c])
            better = leans[~still]
            base[better], t[better] = index[better, c], shadow[~still]
            leans = leans[still]
        return base, t


def _off(t: Floats, distance: Floats) -> NDArray[np.bool_]:
    """Whether a query leans: most of its distance is off the plane."""
    return np.asarray(distance**2 - np.square(t).sum(axis=1) > (LEANING * distance) ** 2)


def plane_map(data: Connected, Y: Floats) -> PlaneMap | None:
    """The affine maps of the patches, from the planes of all knots; None where the points are not on a `Sheet`."""
    sheet = data.source
    if not isinstance(sheet, Sheet):
        return None
    patches, geometry = Patches.around(data.neighbors), geometry_of(sheet, data.neighbors)
    slope = np.zeros((len(Y), geometry.n_features, Y.shape[1]))
    for rows, index, _ in patches.groups(geometry.cost):
        slope[rows] = np.linalg.pinv(geometry.centred(index), rcond=RANK) @ Y[index]
    home, position, turn = homes(sheet)
    held = home >= 0
    home, position, turn = home[held], position[held], turn[held]
    at = Y[home] + np.einsum("md,mde->me", position, slope[home])
    return PlaneMap(sheet.knots[held], sheet.tangents[held], at, turn.transpose(0, 2, 1) @ slope[home])
