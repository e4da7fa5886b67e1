"""Inner products inside patches of points that are far apart: coordinates along the surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._sheet import chart
from lowfold.graph._source import Sheet


@dataclass(frozen=True, eq=False)
class Developed:
    """Geometry of a `Sheet`: each patch is laid flat from its first member, or from its centre.

    New points go by the plane of the nearest knot and are in no patch (`PlaneMap`).
    """

    sheet: Sheet
    cost: int = 4

    @property
    def n_features(self) -> int:
        return int(self.sheet.tangents.shape[2])

    def centred(self, index: NDArray[np.integer]) -> Floats:
        t = chart(self.sheet, index[:, 0].astype(np.int64), index.astype(np.int64), Run(n_jobs=1))
        return np.asarray(t - t.mean(axis=1, keepdims=True))

    def spokes(self, centre: object, index: NDArray[np.integer]) -> Floats:
        if not isinstance(centre, np.ndarray) or centre.dtype.kind not in "iu":
            raise InvalidInput("new points are in no patch of a surface known by its landmarks")
        Z = chart(self.sheet, centre.astype(np.int64), index.astype(np.int64), Run(n_jobs=1))
        return np.asarray(Z @ Z.transpose(0, 2, 1))

    def project(self, queries: object, index: NDArray[np.integer]) -> Floats:
        raise InvalidInput("new points are in no patch of a surface known by its landmarks")
