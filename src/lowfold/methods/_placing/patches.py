"""Where new points go in LLE, LTSA and Hessian LLE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowfold._core.run import Run
from lowfold._core.stacks import equal_rows
from lowfold._core.types import Floats
from lowfold.graph._source import Measured, Pairs
from lowfold.graph._types import Neighbors
from lowfold.kernels._lle import applied_reg, gram_weights
from lowfold.kernels._patches import geometry_of
from lowfold.kernels._tangent import tangents
from lowfold.methods._fit import Extension, Looks, Queries, Trained


@dataclass(frozen=True, eq=False)
class ReconstructionRow(Extension):
    """LLE: the weights that rebuild a new point from its nearest training points, applied to their coordinates."""

    reg: float
    reg_when: str
    kind: str
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        geometry = geometry_of(trained.source, found)
        Y = trained.coordinates
        out = np.empty((found.n, Y.shape[1]))
        for now, index in blocks_of_rows(found, geometry.cost):
            C = geometry.spokes(query_rows(queries, now), index)
            reg = applied_reg(self.reg, self.reg_when, C.shape[1], geometry.n_features, Y.shape[1])
            out[now] = np.einsum("mk,mkd->md", gram_weights(C, reg=reg, kind=self.kind), Y[index])
        return out


@dataclass(frozen=True, eq=False)
class PatchMap(Extension):
    """LTSA, Hessian LLE: the affine map from tangent coordinates to the embedding, fitted on the nearest point's patch.

    y = mean(Y) + Yc' V S^-2 V' (Xc (x - mean)) with the patch Xc = V S U'. Nystrom would divide by eigenvalues near
    zero.
    """

    indptr: NDArray[np.int64]
    members: NDArray[np.int32]
    looks: ClassVar[Looks] = "nearest"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        Y = trained.coordinates
        d = Y.shape[1]
        near = found.indices[found.indptr[:-1]].astype(np.int64)
        sizes = np.diff(self.indptr)[near]
        starts = self.indptr[:-1][near]
        out = Y[near].copy()  # a point without a patch of its own lends its place
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        flat = self.members[np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], sizes)]
        patches = Neighbors(indptr, flat, np.zeros(len(flat)), found.n_points)
        geometry = geometry_of(trained.source, patches)
        for now, index in blocks_of_rows(patches, geometry.cost):
            if index.shape[1] < 2:
                continue
            local = tangents(geometry.centred(index), d)
            inverse = np.where(local.sigma > 0, 1.0 / np.where(local.sigma > 0, local.sigma, 1.0) ** 2, 0.0)
            along = local.V.transpose(0, 2, 1) @ geometry.project(query_rows(queries, now), index)[:, :, None]
            slope = local.V.transpose(0, 2, 1) @ Y[index]
            out[now] = Y[index].mean(axis=1) + ((inverse * along[:, :, 0])[:, None, :] @ slope)[:, 0]
        return out


def query_rows(queries: Queries, rows: NDArray[np.int64]) -> NDArray[np.floating] | Neighbors:
    """Some of the new points: rows of features, of distances to the training points, or of those that were measured."""
    if isinstance(queries, Measured):
        return queries.pairs.take(rows)
    return (queries.distances if isinstance(queries, Pairs) else queries)[rows]


def blocks_of_rows(found: Neighbors, cost: int) -> Any:
    """Rows with the same number of neighbours, in blocks: (rows, indices (m, k))."""
    for now, k in equal_rows(found.counts, cost):
        yield now, found.indices[found.indptr[now][:, None] + np.arange(k)].astype(np.int64)
