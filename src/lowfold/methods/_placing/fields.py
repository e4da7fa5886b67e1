"""New points of vector diffusion maps: their tangent basis, transports to their neighbours, and Nystrom on vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.graph._types import Neighbors
from lowfold.kernels._connection import align, local_pca
from lowfold.methods._fit import Extension, Looks, Queries, Trained, feature_rows
from lowfold.methods._placing.walks import query_edges

NOISE = 1e-11  # of the largest feature, a product of two fields that are each known to 1e-6 or better
TINY = 1e-8  # eigenvalue, of at most 1, by which a field is divided to reach a new point: below, that divides noise


def pair_order(values: Floats, t: float, count: int) -> NDArray[np.int64]:
    """The first `count` pairs (k, m), k <= m, in descending order of |lambda_k lambda_m|^t; ties by (k, m)."""
    k, m = np.triu_indices(len(values))
    size = np.abs(values[k] * values[m]) ** t
    order = np.lexsort((m, k, -size))[:count]
    return np.column_stack([k[order], m[order]]).astype(np.int64)


def vector_features(fields: Floats, values: Floats, pairs: NDArray[np.int64], t: float) -> Floats:
    """(lambda_k lambda_m)^t <phi_k(i), phi_m(i)> for each pair, times sqrt(2) where k < m, so that each counts twice.

    `fields` is (n, d, eigenvectors). No choice of tangent bases changes these numbers.
    """
    k, m = pairs[:, 0], pairs[:, 1]
    inner = np.einsum("ndk,ndk->nk", fields[:, :, k], fields[:, :, m])
    return np.asarray(inner * (values[k] * values[m]) ** t * np.where(k < m, np.sqrt(2.0), 1.0))


def without_noise(features: Floats) -> Floats:
    """Columns of rounding errors as zeros: fields that are perpendicular everywhere have a feature of 0."""
    size = np.abs(features).max(axis=0, initial=0.0)
    return np.where(size > NOISE * size.max(initial=0.0), features, 0.0)


class VectorRows(NamedTuple):
    """S-bar(x, j) of new points: blocks (edges, d, d) along `edges`, and their degrees."""

    edges: Neighbors
    blocks: Floats
    degrees: Floats


@dataclass(frozen=True, eq=False)
class VectorRow(Extension):
    """phi_k(x) = sum_j S-bar(x, j) phi_k(j) / lambda_k with the new point's own tangent basis, then the features."""

    scale: float
    pca_scale: float
    alpha: float
    t: float
    densities: Floats
    degrees: Floats
    bases: Floats
    values: Floats
    fields: Floats
    pairs: NDArray[np.int64]
    symmetrize: str
    kth_distance: Floats | None
    walk: bool = False  # features are divided by the degree of a point over the mean one
    looks: ClassVar[Looks] = "neighbors"

    def place(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> Floats:
        rows = self.rows(trained, queries, found, run)
        used = np.unique(self.pairs)
        small = used[np.abs(self.values[used]) <= TINY]
        if len(small):
            raise InvalidInput(
                f"eigenvector {small[0] + 1} cannot be extended to new points: its eigenvalue is nearly zero; use "
                "fewer n_components"
            )
        near = self.fields.take(rows.edges.indices, axis=0)  # in C order, whatever that of the fields: the same bits
        carried = np.einsum("eab,ebk->eak", rows.blocks, near)
        phi = np.zeros((found.n, *self.fields.shape[1:]))
        np.add.at(phi, rows.edges.rows(), carried)
        safe = np.where(np.abs(self.values) > TINY, self.values, 1.0)
        out = vector_features(phi / safe, self.values, self.pairs, self.t)
        out[:, ~trained.coordinates.any(axis=0)] = 0.0
        return out * (self.degrees.mean() / rows.degrees)[:, None] if self.walk else out

    def rows(self, trained: Trained, queries: Queries, found: Neighbors, run: Run) -> VectorRows:
        """The new points' blocks of S-bar."""
        source = trained.points
        F, Q = source.features(), source.features(feature_rows(queries))
        own = local_pca(F, found, self.pca_scale, self.bases.shape[2], queries=Q, run=run).bases
        edges = query_edges(trained, queries, found, self.kth_distance, self.symmetrize, run)
        i, j = edges.rows(), edges.indices
        transport, _ = align(own[i], self.bases[j])
        w = np.exp(-(edges.distances**2) / self.scale)
        q = np.bincount(i, w, minlength=edges.n)
        if not (q > 0).all():
            raise InvalidInput(
                f"row {np.flatnonzero(~(q > 0))[0]} of the new points is too far from all training points for this "
                "scale; use a larger one, or leave this row out"
            )
        w = w * q[i] ** -self.alpha * self.densities[j] ** -self.alpha
        d: Floats = np.bincount(i, w, minlength=edges.n).astype(np.float64)
        return VectorRows(edges, (w / np.sqrt(d[i] * self.degrees[j]))[:, None, None] * transport, d)
