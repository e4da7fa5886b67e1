"""Whether an embedding is a chart of the data: do points that are near in it lie side by side along the data?

A picture may fold, or lose a direction, without a coordinate that repeats another: a helicoid laid over itself, fields
of a roll that tell its length twice. Then the nearest points of the picture are far apart along the data, and their
local linear regression misses where a point is. The data's own neighbourhoods say what far is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lowfold._core.parallel import COPIED, block_slices
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import AnyFloats, Floats, Ints
from lowfold.graph._around import around
from lowfold.graph._local_planes import directions_of_products
from lowfold.graph._shortcuts import without_neighbors
from lowfold.graph._source import euclidean_rows
from lowfold.methods._fit import Connected

PATCHES = 500  # neighbourhoods that are looked at
PATCH = 20  # points of each
# Of the variance of neighbourhoods in d directions: less, and the data are no surface with d coordinates; that it may
# be a noisy one is enough to ask whether its points are side by side
FLAT, NEARLY_FLAT = 0.9, 0.8
NO_EXTENT = 1e-6  # of the mean, or the largest: a patch with less has no extent, and no say
LOOKED_AT = 200  # points of which it is asked whether an embedding misses them: the share is known to 0.03
# Points of an embedding among which those near one are looked for, so that the share does not depend on how many there
# are, and those near one that the regression rests on
AMONG, NEAR = 500, 15
RIDGE = 0.03  # of the variance of the coordinates around a point: a direction with less is hardly seen
# Share of the points that are missed by more than the size of a patch from which on something is lost: on surfaces of
# 200 to 3,000 points, noise up to 0.8 of their spacing, 3 of 109 fits that were right (R^2 of the worse coordinate
# above 0.85) had more, and 39 of 59 that nothing else was said of
LOST = 0.12
# Mean square of what is missed, in sizes of a patch, and its growth with the share of a patch's variance that noise
# holds, from which on a direction is hardly seen: a patch of a strip ten times as long as wide has half of its width,
# and few points miss more. On strips, rolls and S-curves, with noise up to 0.8 of their spacing, 2 of 197 fits that
# were right had more, on arcs, knotted ribbons, pipes and hills 5 to 8 of 289; of the 11 and 13 that were not, and of
# which nothing else was said, 9 to 10 and 12.
UNSEEN, UNSEEN_BY_NOISE = 0.13, 1.5
MOST = 4.0  # sizes of a patch, squared
SEEN = 1e-9  # of the longest direction of an embedding, squared: a shorter one is rounding
FEWEST = 200  # points: of fewer a patch is a tenth of the data
WIDEST = 3  # directions: patches of more would need more points


def patches_of(data: Connected, most: int = PATCHES) -> Ints:
    """(patches, points) indices: some points and those around them along the edges, without shortcuts, which say
    nothing about gradients even where they are left in the graph.
    """
    near = without_neighbors(data.neighbors, data.shortcuts) if len(data.shortcuts) else data.neighbors
    return around(near, _some(data.n, most), PATCH)


def _some(n: int, most: int) -> Ints:
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)


def extents_of(data: Connected, patches: Ints) -> Floats | None:
    """How far the points of every patch are from their middle; None without points."""
    X = euclidean_rows(data.source)
    if X is None:
        return None
    parts = block_slices(len(patches), max(1, COPIED // (patches.shape[1] * X.shape[1])))
    rows = (X[patches[part]].astype(np.float64, copy=False) for part in parts)
    return np.concatenate([np.sqrt(P.var(axis=1).sum(axis=1)) for P in rows])


def planes_of(X: AnyFloats, patches: Ints, d: int) -> tuple[Floats, Floats]:
    """(patches, D, d) directions in which the points of every patch differ most, and all variances, descending."""
    parts = block_slices(len(patches), max(1, COPIED // (patches.shape[1] * X.shape[1])))
    P = (X[patches[part]].astype(np.float64, copy=False) for part in parts)
    found = [directions_of_products(p - p.mean(axis=1, keepdims=True), d) for p in P]
    return np.concatenate([T for T, _ in found]), np.concatenate([s for _, s in found]) ** 2 / patches.shape[1]


def is_surface(variances: Floats, d: int, flat: float = FLAT) -> bool:
    """Whether patches lie in d directions, as those of a surface do."""
    return bool(np.median(variances[:, :d].sum(axis=1)) > flat * np.median(variances.sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Spots:
    """Where an embedding is compared with its data: neighbourhoods (p, k), their planes (p, D, d) and sizes (p,); the
    points `among` which those near one in the embedding are looked for, as rows X, and how much farther apart these are
    than all points.
    """

    patches: Ints
    planes: Floats
    sizes: Floats
    among: Ints
    X: Floats
    apart: float
    noise: float


def spots_of(data: Connected, d: int) -> Spots | None:
    """None of few points or many directions, without points, of pieces, and of data that are no surface of d."""
    X = euclidean_rows(data.source)
    if X is None or d > min(WIDEST, X.shape[1]) or data.n < FEWEST or len(data.bridges):
        return None
    patches = patches_of(data, LOOKED_AT)
    planes, variances = planes_of(X, patches, d)
    sizes = np.sqrt(variances.sum(axis=1))
    wide = sizes > NO_EXTENT * sizes.max()  # points repeated many times are no patch
    if wide.mean() * data.n < FEWEST or not is_surface(variances[wide], d, NEARLY_FLAT):
        return None
    among = np.union1d(patches[wide, 0], _some(data.n, AMONG))
    apart = float((data.n / len(among)) ** (1 / d))
    noise = 1.0 - float(np.median(variances[wide, :d].sum(axis=1) / variances[wide].sum(axis=1)))
    return Spots(patches[wide], planes[wide], sizes[wide], among, X[among].astype(np.float64), apart, noise)


class Lost(NamedTuple):
    """Share of the points that an embedding misses, the mean square of that, and the one that noise may explain."""

    share: float
    square: float
    usual: float


def lost(Y: Floats, data: Connected) -> Lost | None:
    """What an embedding misses; None where that cannot be told."""
    spots = spots_of(data, Y.shape[1]) if np.isfinite(Y).all() else None
    if spots is None:
        return None
    missed = misses(Y, spots)
    return Lost(float((missed > 1).mean()), _mean_square(missed), UNSEEN + UNSEEN_BY_NOISE * spots.noise)


def lost_share(Y: Floats, data: Connected) -> float | None:
    """Share of the points that an embedding misses; None where that cannot be told."""
    found = lost(Y, data)
    return None if found is None else found.share


def mean_miss(Y: Floats, spots: Spots) -> float:
    """Mean square of what an embedding misses."""
    return _mean_square(misses(Y, spots))


def _mean_square(missed: Floats) -> float:
    """At most MOST of every point: beyond that it is somewhere else."""
    return float(np.minimum(missed**2, MOST).mean())


def misses(Y: Floats, spots: Spots) -> Floats:
    """How far points are, along the data, from where those near them in the embedding say, in sizes of their patches.

    Nearness is that of the linear map of Y which makes it, on average, as long as the data in every direction.
    """
    Z = Y[spots.among] @ _as_long(Y, spots.patches, spots.sizes)
    rows = np.searchsorted(spots.among, spots.patches[:, 0])
    return np.asarray(_missed(Z, spots.X, rows, spots.planes) / (spots.sizes * spots.apart))


def _as_long(Y: Floats, patches: Ints, sizes: Floats) -> Floats:
    """The linear map that makes Y, on average, as long as the data in every direction."""
    D = (Y[patches] - Y[patches].mean(axis=1, keepdims=True)) / sizes[:, None, None]
    values, vectors = stacked_eigh(np.einsum("pka,pkb->ab", D, D) / (len(D) * D.shape[1]))
    return np.asarray(vectors / np.sqrt(np.maximum(values, SEEN * values.max() + np.finfo(np.float64).tiny)))


def _missed(Z: Floats, X: Floats, rows: Ints, planes: Floats) -> Floats:
    """How far some rows of X, within their planes, are from what local linear regression of the others on Z says."""
    k = min(NEAR, len(Z) - 1)
    apart = (Z[rows] ** 2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * Z[rows] @ Z.T
    apart[np.arange(len(rows)), rows] = np.inf
    near = np.argpartition(apart, k - 1, axis=1)[:, :k]
    parts = block_slices(len(rows), max(1, COPIED // (k * X.shape[1])))
    V = np.concatenate([(X[near[part]] - X[rows[part], None]) @ planes[part] for part in parts])
    S = Z[near] - Z[rows, None]
    to_mean, mean = S.mean(axis=1, keepdims=True), V.mean(axis=1, keepdims=True)
    S = S - to_mean
    G = S.transpose(0, 2, 1) @ S
    G += (RIDGE * np.trace(G, axis1=1, axis2=2) + np.finfo(np.float64).tiny)[:, None, None] * np.eye(G.shape[1])
    slopes = np.linalg.solve(G, S.transpose(0, 2, 1) @ (V - mean))
    return np.asarray(np.linalg.norm((mean - to_mean @ slopes)[:, 0], axis=1))
