"""Whether the dimension is a lower one farther away, as where noise fills small distances or a set is narrow."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import digamma

from lowfold._core.parallel import COPIED, single_threaded_blas
from lowfold._core.types import Floats
from lowfold.dimension._estimate import Estimate, edge_shortfall
from lowfold.dimension._read import distance_rows, typical_distance
from lowfold.graph._source import Pairs, Points

CENTERS = 200  # points about which neighbours are counted: means over them are within 5%, of the nearest shell
INNER = 2  # neighbours within the smallest shell; a shell reaches to twice as many, where the next one begins
SHELLS_PART = 3  # the largest shell has at most one in so many of the points
# Shells beyond this share of the median distance between points are left out: edges and bends decide there.
CLEAR = 0.5
# The least factor that counts as a fall. Of 260 samples of clean circles, spirals, rolls, spheres, cubes, tori,
# Gaussians, paraboloids and sheets of 1 to 10 dimensions none fell by more than 1.18.
FALL = 1.25
# A shell must be thinner as well: of a cluster points merely end, and those that are there lie in as many directions as
# before. Its directions are, in logarithms, at most so far on the way from the fewer dimensions to the more: noisy
# curves and surfaces were at 0.02 at most, clusters of 2 to 8 dimensions at 0.27 at least.
THIN = 0.13
SPREAD_CENTERS, SPREAD_POINTS = 40, 40  # centers whose shells are looked at for it, and points of each

E = TypeVar("E", bound=Estimate)


def by_scale(found: E, source: Points | Pairs, farthest: float, rng: np.random.Generator) -> E:
    """The estimate; its `reason` says where a lower dimension holds beyond `farthest`, the distance it rests on.

    Between its k-th and its 2k-th neighbour, at distances T_k and T_2k, a point of an even sample in d dimensions sees
    E log(T_2k / T_k) = (psi(2k) - psi(k)) / d, psi the digamma function.
    """
    fall = None if np.isnan(found.value) else _fall(source, farthest, rng)
    if fall is None or round(found.value) <= round(fall.lower):
        return found
    return _depends(found, f"{fall.lower:.2g} at distances of {fall.far:.2g}")


def by_nearer_scale(found: E, source: Points | Pairs, nearest: float, rng: np.random.Generator) -> E:
    """The same of an estimate that rests on distances from `nearest` on: where a higher dimension holds below them."""
    fall = None if np.isnan(found.value) else _fall(source, nearest, rng)
    if fall is None or round(fall.higher) <= round(found.value):
        return found
    return _depends(found, f"{fall.higher:.2g} at distances of {fall.near:.2g}")


def _depends(found: E, elsewhere: str) -> E:
    depends = f"depends on the scale: {elsewhere}; either noise fills what is nearer, or the set is narrow"
    return replace(found, reason=depends if found.reason is None else f"{found.reason}; {depends}")


class _Fall(NamedTuple):
    """The dimension near and far, and at which distances."""

    higher: float
    near: float
    lower: float
    far: float


def _fall(source: Points | Pairs, limit: float, rng: np.random.Generator) -> _Fall | None:
    """How the dimension falls beyond a distance; None where it does not, or where points merely end there."""
    inner, outer, seen = _shells(source, rng)
    typical = typical_distance(source, rng)
    beyond = (inner > limit) & (outer <= CLEAR * typical)
    beyond[:1] = False  # the smallest shell is what there is nearest to any estimate
    if not beyond.any():
        return None
    whole = seen / (1.0 - np.array([edge_shortfall(float(r), typical) for r in outer]))
    nearer = ~(inner > limit)
    nearer[0] = True
    near = int(np.argmax(np.where(nearer, whole, -np.inf)))
    far = int(np.argmin(np.where(beyond, whole, np.inf)))
    higher, lower = float(whole[near]), float(whole[far])
    if higher <= FALL * lower:
        return None
    if np.log(_directions(source, INNER << far, rng) / lower) > THIN * np.log(higher / lower):
        return None
    return _Fall(higher, float(outer[near]), lower, float(outer[far]))


def _directions(source: Points | Pairs, k: int, rng: np.random.Generator) -> float:
    """In how many directions the points spread that are k-th to 2k-th neighbours of one point, median over some.

    (sum of l)^2 / sum of l^2 of the eigenvalues l of their Gram matrix G, which need not be computed: trace and norm of
    G are known from distances. It is d where d of them are equal and the others zero.
    """
    seen = []
    for row in rng.choice(source.n, min(source.n, SPREAD_CENTERS), replace=False):
        order = np.argpartition(distance_rows(source, np.array([row]))[0], (k, 2 * k))
        shell = rng.permutation(order[k + 1 : 2 * k + 1])[:SPREAD_POINTS]
        D = distance_rows(source.subset(np.sort(shell)), np.arange(len(shell))) ** 2
        mean = D.mean(axis=0)
        G = -0.5 * (D - mean - mean[:, None] + mean.mean())
        size = float((G**2).sum())
        seen.append(float(np.trace(G)) ** 2 / size if size > 0 else 0.0)
    return max(float(np.median(seen)), 1.0)


def _shells(source: Points | Pairs, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Median inner and outer radius of each shell, and the dimension that is seen between them."""
    n = source.n
    inside: list[int] = []
    while 2 * SHELLS_PART * (INNER << len(inside)) <= n:
        inside.append(INNER << len(inside))
    if not inside:
        return np.empty(0), np.empty(0), np.empty(0)
    ranks = np.array([*inside, 2 * inside[-1]])
    rows = rng.choice(n, min(n, CENTERS), replace=False)
    at_once = max(1, COPIED // n)
    T = np.empty((len(rows), len(ranks)))
    with single_threaded_blas():
        for first in range(0, len(rows), at_once):
            some = rows[first : first + at_once]
            # rank 0 is the point itself, so that rank k is its k-th neighbour
            T[first : first + at_once] = np.partition(distance_rows(source, some), ranks, axis=1)[:, ranks]
    T = np.log(T[T[:, 0] > 0])
    rise = np.diff(T, axis=1).mean(axis=0)
    k = ranks[:-1]
    with np.errstate(divide="ignore"):
        seen = (digamma(2 * k) - digamma(k)) / rise
    radii = np.exp(np.median(T, axis=0))
    return radii[:-1], radii[1:], np.asarray(seen)
