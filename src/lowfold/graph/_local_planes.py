"""Tangent planes by local PCA, and neighbours that lie in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.parallel import STACKED, block_slices, run_blocks
from lowfold._core.rounding import ROUNDING
from lowfold._core.run import Run
from lowfold._core.stacks import spokes, stacked_eigh, stacked_svd
from lowfold._core.types import AnyFloats, Floats
from lowfold.graph._types import Neighbors

# Sine of about 17 degrees, at which a neighbour's say is halved: the plane of a curved surface is left by less within a
# neighbourhood, and another sheet by more.
TILTED = 0.3
ABOVE = 3  # times the median height: on noisy data all neighbours stand above the plane, and only one far above is out
# Neighbours for every direction of a plane: one through the nearer half of them has no height there, and all else would
# seem to lie on another sheet. Surfaces have few neighbours and keep their two directions.
SPARED, SURFACE = 4, 2
# Of the largest singular value: a direction with less is lost in the rounding of inner products, which cost a tenth of
# a decomposition where there are more columns than neighbours.
WEAK = 1e-4


@dataclass(frozen=True, eq=False)
class Padded:
    """Ragged rows as rectangles: index (m, k) into the points, distance (m, k), and which entries are real."""

    index: NDArray[np.int64]
    distance: Floats
    real: NDArray[np.bool_]


def padded(neighbors: Neighbors) -> Padded:
    """Rows filled up with their own first entry, marked as not real."""
    counts, k = neighbors.counts, int(neighbors.counts.max(initial=1))
    place = np.minimum(np.arange(k)[None, :], np.maximum(counts - 1, 0)[:, None])
    flat = np.minimum(neighbors.indptr[:-1, None] + place, max(len(neighbors.indices) - 1, 0))
    real = np.arange(k)[None, :] < counts[:, None]
    return Padded(neighbors.indices[flat].astype(np.int64), neighbors.distances[flat], real)


def principal_directions(V: Floats, d: int) -> tuple[Floats, Floats]:
    """Leading singular directions (m, D, d) and all singular values, descending, of a stack V (m, k, D)."""
    directions, s = directions_of_products(V, d)
    weak = np.flatnonzero(~(s[:, directions.shape[2] - 1] > WEAK * s[:, 0]))
    if V.shape[1] < V.shape[2] and len(weak):
        _, s[weak], Vt = stacked_svd(V[weak])
        directions[weak] = Vt[:, :d].transpose(0, 2, 1)
    return directions, s


def directions_of_products(V: Floats, d: int) -> tuple[Floats, Floats]:
    """The same by inner products, of columns or of rows, whichever are fewer; of rows, weak ones are mere rounding."""
    k, D = V.shape[1:]
    Vt = V.transpose(0, 2, 1)
    values, U = stacked_eigh(Vt @ V if k >= D else V @ Vt)
    s, U = np.sqrt(np.maximum(values[:, ::-1], 0.0)), U[:, :, ::-1][:, :, :d]
    if k >= D:
        return np.ascontiguousarray(U), s
    return Vt @ (U / np.where(s > 0, s, 1.0)[:, None, :d]), s


def robust_planes(
    V: Floats, distance: Floats, real: NDArray[np.bool_], d: int, *, rounds: int = 5
) -> tuple[Floats, Floats]:
    """Bases (m, D, d) of the planes through each point that most of its neighbours lie in, and their heights above it.

    Directions V_j / |V_j| are fitted by least squares, first those of the nearer half, then all with weights
    1 / (1 + (sine / 0.3)^4), the sine of their angle to the plane: a neighbour on another sheet loses its say.
    """
    k, D = V.shape[1:]
    length = np.where(distance > 0, distance, 1.0)
    unit = V / length[:, :, None]
    if k < D:
        unit, basis = in_own_span(unit)
    near = np.arange(k)[None, :] < np.maximum(d + 1, np.ceil(real.sum(axis=1) / 2))[:, None]
    w = (near & real).astype(np.float64)
    for _ in range(rounds):
        T, _ = principal_directions(unit * np.sqrt(w)[:, :, None], d)
        inside = np.einsum("mkd,mkd->mk", unit @ T, unit @ T)
        sine = np.sqrt(np.clip(1.0 - inside, 0.0, 1.0))
        w = real / (1.0 + (sine / TILTED) ** 4)
    return (basis @ T if k < D else T), sine * distance


def in_own_span(V: Floats) -> tuple[Floats, Floats]:
    """Coordinates (m, k, k) of rows V (m, k, D) in an orthonormal basis (m, D, k) of what they span, by their products.

    Directions lost in the rounding of the products have zero columns.
    """
    values, U = stacked_eigh(V @ V.transpose(0, 2, 1))
    occurs = values > ROUNDING * values[:, -1:]
    size = np.sqrt(np.where(occurs, values, 0.0))
    inverse = np.where(occurs, 1.0 / np.where(occurs, size, 1.0), 0.0)
    return U * size[:, None, :], V.transpose(0, 2, 1) @ (U * inverse[:, None, :])


def medians(height: Floats, real: NDArray[np.bool_]) -> Floats:
    """Median of the real entries of each row, the lower one of two; 0 for a row without any."""
    ordered = np.sort(np.where(real, height, np.inf), axis=1)
    middle = ordered[np.arange(len(ordered)), np.maximum(real.sum(axis=1) - 1, 0) // 2]
    return np.where(np.isfinite(middle), middle, 0.0)


def plane_dimension(d: int, D: int, k: int) -> int:
    """Directions of a plane through k neighbours in D dimensions, d at most."""
    return min(d, D, max(SURFACE, k // SPARED))


def linear_neighbors(
    X: AnyFloats,
    neighbors: Neighbors,
    d: int,
    *,
    linearity: float = 0.7,
    run: Run | None = None,
) -> Neighbors:
    """The neighbours that lie in the local planes of both ends of their edge, after Saxena, Gupta & Mukerjee (2004).

    An edge is dropped when, at either end, it rises from the d-dimensional plane of that end's neighbours by more than
    `linearity` times its length and by more than three times the median height there: such an edge leads across a fold.
    """
    run = run or Run()
    pad = padded(neighbors)
    m, D = neighbors.n, X.shape[1]
    d = plane_dimension(d, D, int(np.median(neighbors.counts)))
    planes, noise, out = np.empty((m, D, d)), np.empty(m), np.zeros(pad.real.shape, dtype=bool)
    lengths = np.empty(pad.real.shape)  # in the metric's features, where planes are; the metric may end in another unit
    parts = block_slices(m, max(1, STACKED // (pad.index.shape[1] * D)))

    def differences(part: slice) -> Floats:
        return spokes(X, pad.index[part], X[part])

    def too_high(height: Floats, level: Floats, part: slice) -> NDArray[np.bool_]:
        return (height > linearity * lengths[part]) & (height > ABOVE * level)

    def fit(i: int) -> None:
        part = parts[i]
        V = differences(part)
        planes[part], height = robust_planes(V, np.linalg.norm(V, axis=2), pad.real[part], d)
        noise[part] = medians(height, pad.real[part])
        lengths[part] = np.linalg.norm(V, axis=2)
        out[part] = too_high(height, noise[part][:, None], part)

    def other_end(i: int) -> None:
        part = parts[i]
        V, there = differences(part), pad.index[part]
        inside = np.einsum("mkd,mkdc->mkc", V, planes[there])
        height = np.sqrt(np.maximum(lengths[part] ** 2 - (inside**2).sum(axis=2), 0.0))
        out[part] |= too_high(height, noise[there], part)

    run_blocks(fit, len(parts), n_jobs=run.n_jobs)
    run_blocks(other_end, len(parts), n_jobs=run.n_jobs)
    kept = ~out[pad.real]
    counts = np.bincount(neighbors.rows()[kept], minlength=m)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Neighbors(indptr, neighbors.indices[kept], neighbors.distances[kept], neighbors.n_points, neighbors.recall)


__all__ = [
    "Padded",
    "directions_of_products",
    "in_own_span",
    "linear_neighbors",
    "medians",
    "padded",
    "plane_dimension",
    "principal_directions",
    "robust_planes",
]
