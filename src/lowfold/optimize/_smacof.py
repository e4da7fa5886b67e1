"""Stress by majorisation (SMACOF), de Leeuw (1977); de Leeuw & Heiser (1980); Borg & Groenen (2005), Chapter 8."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from lowfold._core.parallel import Progress
from lowfold._core.types import Floats
from lowfold._core.watch import lowered
from lowfold.optimize._momentum import Callback
from lowfold.optimize._stress import Sums, Terms

SUFFICIENT = 1e-4  # share of the predicted fall that a step must reach (Armijo); Nocedal & Wright (2006), Section 3.1
# Cosine between a move and the change of the gradient: below, it tells no positive curvature but rounding, and the
# inverse Hessian built from it would not be positive definite.
CURVED = 1e-10
MEMORY = 10  # moves that the curvature is learned from


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a descent ended: configuration, its sums, the value before each step, and whether it stood still."""

    Y: Floats
    value: float
    history: Floats
    converged: bool
    sums: Sums | None = None

    @property
    def n_iter(self) -> int:
        return len(self.history)


def majorise(
    terms: Terms,
    Y: Floats,
    *,
    max_iter: int = 300,
    tol: float = 1e-6,
    progress: Progress | None = None,
    callback: Callback | None = None,
) -> Minimum:
    """Minimise raw stress from Y. It never rises.

    The Guttman transform G = V^+ B(Y) Y minimises a quadratic that lies above stress and touches it at Y; the first
    step goes there. Y - G is V^+ times half the gradient, the steepest way in the metric of V. Further steps correct it
    by the curvature of the last ten (limited-memory quasi-Newton, Liu & Nocedal 1989, doi:10.1007/BF01589116); one
    that does not lower stress enough is replaced by 2 G - Y, at the height of Y on the quadratic above, which cannot
    raise it (de Leeuw & Heiser 1980). Ends when two steps running lower stress by less than `tol` times the sum of
    squared distances, or when `callback` returns True.
    """
    Y = np.array(Y, dtype=np.float64)
    Y -= Y.mean(axis=0)
    sums = terms.sums(Y)
    history, small, memory = [sums.scaled_raw], 0, _Curvature()
    Y, VY = terms.solve(sums.BY), sums.BY
    sums = terms.sums(Y)
    at = _Place(Y, VY, sums, terms.solve(sums.BY))
    converged = False
    for t in range(1, max_iter):
        if progress is not None:
            progress(t / max_iter)
        lowered(at.value)
        small = small + 1 if history[-1] - at.value <= tol * at.squares else 0
        if small == 2 or (t == 1 and at.value <= tol**2 * at.squares):
            converged = True
            break
        if callback is not None and callback(t, at.value, at.Y.copy()) is True:
            break
        history.append(at.value)
        following = _step(terms, at, memory)
        if following.value > at.value:  # rounding is all that is left
            converged = True
            break
        memory.learn(at, following)
        at = following
    Y = at.Y * at.sums.scale
    return Minimum(Y, at.sums.scaled_raw, np.array(history), converged, terms.sums(Y))


@dataclass(frozen=True, eq=False)
class _Place:
    """A configuration Y with V Y, its sums and its Guttman transform G."""

    Y: Floats
    VY: Floats
    sums: Sums
    G: Floats

    @property
    def value(self) -> float:
        return self.sums.raw

    @property
    def squares(self) -> float:
        return float(self.sums.eta.sum()) / 2

    @property
    def gradient(self) -> Floats:
        return 2.0 * (self.VY - self.sums.BY)

    @property
    def steepest(self) -> Floats:
        """V^+ times the gradient."""
        return 2.0 * (self.Y - self.G)


def _step(terms: Terms, at: _Place, memory: _Curvature) -> _Place:
    move, V_move = memory.direction(at)
    slope = float((at.gradient * move).sum())
    if slope < 0:
        Y = at.Y + move
        sums = terms.sums(Y)
        if sums.raw <= at.value + SUFFICIENT * slope:
            return _Place(Y, at.VY + V_move, sums, terms.solve(sums.BY))
    memory.pairs.clear()
    Y = 2.0 * at.G - at.Y
    sums = terms.sums(Y)
    return _Place(Y, 2.0 * at.sums.BY - at.VY, sums, terms.solve(sums.BY))


@dataclass(eq=False)
class _Curvature:
    """The last moves s with V s, and the changes y of the gradient with V^+ y: H y = s approximately."""

    pairs: deque[tuple[Floats, Floats, Floats, Floats]] = field(default_factory=lambda: deque(maxlen=MEMORY))

    def learn(self, old: _Place, new: _Place) -> None:
        s, y = new.Y - old.Y, new.gradient - old.gradient
        if (s * y).sum() > CURVED * np.linalg.norm(s) * np.linalg.norm(y):
            self.pairs.append((s, new.VY - old.VY, y, new.steepest - old.steepest))

    def direction(self, at: _Place) -> tuple[Floats, Floats]:
        """-H times the gradient, by the two-loop recursion, and V times it."""
        q, z = at.gradient, at.steepest
        shares = []
        for s, _, y, Py in reversed(self.pairs):
            a = float((s * q).sum() / (s * y).sum())
            q, z = q - a * y, z - a * Py
            shares.append(a)
        if self.pairs:
            s, _, y, Py = self.pairs[-1]
            size = float((s * y).sum() / (y * Py).sum())
            q, z = size * q, size * z
        for (s, Vs, y, _), a in zip(self.pairs, reversed(shares), strict=True):
            b = float((y * z).sum() / (s * y).sum())
            z, q = z + (a - b) * s, q + (a - b) * Vs
        return -z, -q
