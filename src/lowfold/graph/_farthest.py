"""The farthest points of a set, one after the other, without looking at all points for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lowfold._core.types import AnyFloats, Floats, Ints

PLAIN = 64  # landmarks for which all points are looked at; then at each doubling it is asked whether a part suffices
WORTH = 0.25  # of the points: gathering so many takes as long as looking at all in their order
NARROW = 32  # columns up to which differences are squared, with all digits; products read more columns faster
SLACK = 1 + 1e-5  # rounding of distances in float32 must not hide a point that comes nearer


Squares = Callable[["slice | Ints", int], AnyFloats]


def farthest_points(F: AnyFloats, first: int, m: int, progress: Callable[[float], None]) -> Ints:
    """`first`, then m - 1 times the point farthest from all before it, Gonzalez (1985), Theor. Comput. Sci. 38.

    Points are held with the nearest of those before. A new one p can only take points from a centre c with
    |p - c| < 2 r_c, r_c the distance of its farthest point, by the triangle inequality: in few dimensions m points
    among n take about n log m distances instead of n m.
    """
    chosen = np.empty(m, dtype=np.int64)
    chosen[0] = first
    squares = _squares_to(F)
    nearest, owner = np.full(len(F), np.inf, F.dtype), np.zeros(len(F), dtype=np.int32)
    asked = PLAIN
    for i in range(1, m):
        d = squares(slice(None), chosen[i - 1])
        closer = d < nearest
        nearest[closer], owner[closer] = d[closer], i - 1
        chosen[i] = np.argmax(nearest)
        progress(i / m)
        if nearest[chosen[i]] == 0:  # only copies are left
            return _with_copies(chosen, i, len(F))
        if i == asked:
            asked *= 2
            held = _Held(squares, chosen, i, nearest, owner)
            if held.looked_at() < WORTH * len(F):
                return held.finish(progress)
    return chosen


def _squares_to(F: AnyFloats) -> Squares:
    """Squared distances of some points to point p; exactly 0 at p."""
    norms = None if F.shape[1] <= NARROW else np.einsum("ij,ij->i", F, F)

    def squares(rows: slice | Ints, p: int) -> AnyFloats:
        if norms is None:
            D = F[rows] - F[p]
            return np.asarray(np.einsum("ij,ij->i", D, D))
        d = norms[rows] + norms[p] - 2 * (F[rows] @ F[p])
        d[np.arange(len(F))[rows] == p] = 0.0
        return np.asarray(np.maximum(d, 0.0))

    return squares


def _with_copies(chosen: Ints, i: int, n: int) -> Ints:
    chosen[i:] = np.setdiff1d(np.arange(n), chosen[:i])[: len(chosen) - i]
    return chosen


class _Held:
    """The points of every centre: chosen[:i] are centres, chosen[i] is the next one."""

    def __init__(self, squares: Squares, chosen: Ints, i: int, nearest: AnyFloats, owner: NDArray[np.int32]) -> None:
        self.squares, self.chosen, self.i, self.nearest = squares, chosen, i, nearest
        ends = np.cumsum(np.bincount(owner, minlength=i))
        self.members = np.split(np.argsort(owner, kind="stable"), ends[:-1])
        self.radius: Floats = np.zeros(len(chosen))
        self.farthest = np.zeros(len(chosen), dtype=np.int64)
        for c in range(i):
            self._measure(c)

    def _measure(self, c: int) -> None:
        rows = self.members[c]
        if len(rows):
            self.farthest[c] = rows[np.argmax(self.nearest[rows])]
            self.radius[c] = self.nearest[self.farthest[c]]
        else:
            self.radius[c] = 0.0

    def _near(self) -> Ints:
        """Centres that may lose points to the next one."""
        d = self.squares(self.chosen[: self.i], self.chosen[self.i])
        return np.flatnonzero(d < 4 * self.radius[: self.i] * SLACK)

    def looked_at(self) -> int:
        """Points that the next centre has to look at."""
        return sum(len(self.members[c]) for c in self._near())

    def _take(self) -> None:
        """The next centre takes its points."""
        taken = []
        for c in self._near():
            rows = self.members[c]
            d = self.squares(rows, self.chosen[self.i])
            closer = d < self.nearest[rows]
            if closer.any():
                taken.append(rows[closer])
                self.nearest[taken[-1]] = d[closer]
                self.members[c] = rows[~closer]
                self._measure(c)
        self.members.append(np.sort(np.concatenate(taken)))  # of equals the first is the farthest
        self._measure(self.i)
        self.i += 1

    def finish(self, progress: Callable[[float], None]) -> Ints:
        """All that were asked for."""
        m = len(self.chosen)
        while self.i < m - 1:
            self._take()
            largest = self.radius[: self.i].max()
            if largest == 0:
                return _with_copies(self.chosen, self.i, len(self.nearest))
            self.chosen[self.i] = self.farthest[: self.i][self.radius[: self.i] == largest].min()
            progress(self.i / m)
        return self.chosen
