"""Isotonic regression, Kruskal (1964), doi:10.1007/BF02289694, and nonmetric stress, doi:10.1007/BF02289565."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.jit import compiled
from lowfold._core.parallel import Progress
from lowfold._core.types import Floats
from lowfold._core.watch import lowered
from lowfold.optimize._momentum import Callback
from lowfold.optimize._smacof import Minimum
from lowfold.optimize._stress import FEW, LOOPS, EdgeTerms

# Passes over all blocks in NumPy: 500,000 numbers of noise take 21, and half as long again as SciPy's loop, whose
# package takes a fifth of a second to load. It gets what takes more passes: a cliff moves up one block in each.
PASSES = 30
# Values in rising runs pool two at the end of a run in each pass, so that long runs exceed all passes: from so many on
# the loop is asked at once. Fewer take less time in passes than its package takes to load.
LONG_RUNS = 20_000
BELOW = 0.999  # the largest distance as part of a key, whose whole part is the run


def isotonic(y: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """The non-decreasing sequence f that minimises sum_e w_e (f_e - y_e)^2, by pooling adjacent violators.

    >>> isotonic([1.0, 3.0, 2.0, 4.0]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    values = np.ascontiguousarray(y, dtype=np.float64)
    mass = np.ones_like(values) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if values.ndim != 1 or mass.shape != values.shape:
        raise InvalidInput(f"y and weights must be vectors of one length; got shapes {values.shape} and {mass.shape}")
    if not (mass > 0).all():
        raise InvalidInput(f"weights of an isotonic regression must be above 0; the smallest is {mass.min():g}")
    if len(values) <= FEW**2 // 2:
        return _pooled(values, None if weights is None else mass)
    out = np.empty_like(values)
    compiled(LOOPS).pool_adjacent_violators(values, mass, out)  # half of SciPy's time
    return out


def _pooled(values: Floats, mass: Floats | None) -> Floats:
    """The same by NumPy: every run of blocks that falls is one block of the answer, so all runs are pooled at once.

    Without `mass` every value counts as much.
    """
    n = len(values)
    sums, starts = values if mass is None else mass * values, np.arange(n)
    mean, blocks = values, mass
    for _ in range(PASSES):
        rises = mean[1:] > mean[:-1]
        if rises.all():
            return np.repeat(mean, np.diff(starts, append=n))
        first = np.flatnonzero(np.concatenate([[True], rises]))
        sums, starts = np.add.reduceat(sums, first), starts[first]
        blocks = None if blocks is None else np.add.reduceat(blocks, first)
        mean = sums / (np.diff(starts, append=n) if blocks is None else blocks)
    return _by_loop(values, mass)


def _by_loop(values: Floats, mass: Floats | None) -> Floats:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=mass).x)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pairs in the order of their dissimilarity; `starts` marks where a new value begins.

    ties="primary": equal dissimilarities may get different disparities (any order among them is allowed);
    ties="secondary": they get equal ones.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    ties: str
    listed: bool = False  # the pairs stand in this order already

    @classmethod
    def of(cls, delta: Floats, ties: str) -> Ranking:
        order = np.argsort(delta, kind="stable")
        ranked = delta[order]
        starts = np.flatnonzero(np.concatenate([[True], ranked[1:] > ranked[:-1]]))
        return cls(order, starts, ties)

    def in_order(self) -> Ranking:
        """The ranking of the same pairs listed by their dissimilarity."""
        return replace(self, order=np.arange(len(self.order)), listed=True)

    def ranks(self) -> Floats:
        """1 to the number of pairs, in the order of the ranking; tied pairs have their mean rank."""
        counts = np.diff(self.starts, append=len(self.order))
        return np.repeat(self.starts + (counts + 1) / 2, counts)

    @property
    def tied(self) -> bool:
        return len(self.starts) < len(self.order)

    def disparities(self, distances: Floats) -> Floats:
        """The values nearest to `distances` that rise with the dissimilarities."""
        if self.listed:
            return self._fitted(distances)
        out = np.empty_like(distances)
        out[self.order] = self._fitted(distances[self.order])
        return out

    def _fitted(self, ranked: Floats) -> Floats:
        if not self.tied:
            return isotonic(ranked)
        counts = np.diff(self.starts, append=len(ranked))
        if self.ties == "secondary":
            return np.repeat(isotonic(np.add.reduceat(ranked, self.starts) / counts, counts), counts)
        return _held_between(ranked, self.starts, counts)


def _held_between(ranked: Floats, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
    """The fit where each run of equal dissimilarities may stand in any order: its own rises, so that none pool inside.

    What pools reaches in from the runs before and after: the lowest distances get one level, the highest another, and
    those between stay. So the fit is the distance held between the first and the last value of its run's rising order,
    which a sort of values shows: it takes a third of one that also tells where each came from. The run and the distance
    are one key, whose last digits are lost: levels are off by up to 1e-16 of the largest distance, times the runs.
    """
    group = np.repeat(np.arange(len(counts), dtype=np.float64), counts)
    top = float(ranked.max(initial=0.0))
    if top == 0.0:
        return np.zeros_like(ranked)
    rising = ranked * (BELOW / top)
    rising += group
    rising.sort()
    rising -= group
    rising *= top / BELOW
    long = LONG_RUNS <= len(ranked) <= FEW**2 // 2
    fitted = _by_loop(rising, None) if long else isotonic(rising)
    held = np.maximum(ranked, np.repeat(fitted[starts], counts))
    np.minimum(held, np.repeat(fitted[starts + counts - 1], counts), out=held)
    return held


def majorise_ordinal(
    terms: EdgeTerms,
    ranking: Ranking,
    Y: Floats,
    *,
    max_iter: int,
    tol: float,
    progress: Progress | None = None,
    callback: Callback | None = None,
) -> tuple[Minimum, Floats]:
    """Minimise Kruskal's stress-1, sqrt(sum (d - dhat)^2 / sum d^2), from Y; and the disparities dhat at the end.

    In turn: dhat = isotonic regression of the distances on the ranks, scaled to sum dhat^2 = number of pairs; then one
    majorisation step towards dhat. Stress-1 is the sine of the angle between the distances and the cone of monotone
    vectors; neither step raises it. Ends when its square falls by less than `tol` in a step, or when `callback` returns
    True. Pairs listed in the order of `ranking` take half the time.
    """
    pairs = len(terms.i)
    Y = Y - Y.mean(axis=0)
    history: list[float] = []
    converged = False
    for t in range(max_iter + 1):
        d = terms.distances(Y)
        dhat = ranking.disparities(d)
        squares, fitted = float(d @ d), float(dhat @ dhat)
        residual = d - dhat
        value = float(residual @ residual) / squares if squares > 0 else 0.0
        if history and history[-1] ** 2 - value <= tol:
            converged = True
        history.append(np.sqrt(value))
        if converged or t == max_iter or fitted == 0.0:
            break
        if callback is not None and t and callback(t, float(history[-1]), Y.copy()) is True:
            break
        size = np.sqrt(pairs / fitted)
        scale = size * float(dhat @ d) / squares if squares > 0 else 1.0
        Y = 2.0 * terms.solve(size * terms.pull(np.divide(dhat, d, out=np.zeros_like(d), where=d > 0), Y)) - scale * Y
        if progress is not None:
            progress((t + 1) / max_iter)
        lowered(float(history[-1]))
    return Minimum(Y, history[-1], np.array(history), converged), dhat
