"""The sums of neighbour embeddings over all pairs of few points, by NumPy alone: nothing has to be compiled.

Panels of rows with the columns from their own on, so that every weight is made once; their arrays are kept from step to
step, because a fresh one costs more than what is written to it. Squared distances come from products: what cancels is
small against 1, to which they are added or whose logarithm they are. sum_j c_ij (y_i - y_j) is
y_i sum_j c_ij - sum_j c_ij y_j, of a layout that is centred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lowfold._core.parallel import block_slices
from lowfold._core.rounding import NO_DIVISOR
from lowfold._core.types import Floats

ROWS = 128  # of a panel: with some hundred columns it stays in the second cache. Threads only wait for each other here.


@dataclass(frozen=True, eq=False)
class Panels:
    """P (n, n), symmetric, and sums over its pairs; of one descent, whose steps share the arrays."""

    P: Floats

    @cached_property
    def _parts(self) -> list[slice]:
        return block_slices(len(self.P), ROWS)

    @cached_property
    def _masses(self) -> Floats:
        return np.asarray(self.P.sum(axis=1, keepdims=True))

    @cached_property
    def _weights(self) -> list[Floats]:
        n = len(self.P)
        return [np.empty((part.stop - part.start, n - part.start)) for part in self._parts]

    @cached_property
    def _spare(self) -> list[Floats]:
        return [np.empty_like(w) for w in self._weights]

    def student(self, Y: Floats, exaggeration: float) -> Floats:
        """sum_j (e p_ij - q_ij) w_ij (y_i - y_j) with w = 1 / (1 + d^2) and q = w / sum w."""
        less = 1.0 / max(float(self._weigh(Y, _student).sum()), NO_DIVISOR)

        def coefficients(b: int) -> Floats:
            w, out, part = self._weights[b], self._spare[b], self._parts[b]
            np.multiply(self.P[part, part.start :], exaggeration / less, out=out)
            out -= w
            out *= w
            return out

        total = less * self._products(coefficients, np.hstack([Y, np.ones((len(Y), 1))]))
        return Y * total[:, -1:] - total[:, :-1]

    def student_cost(self, Y: Floats) -> tuple[float, float]:
        """sum_ij p_ij log(1 + d_ij^2) and sum_ij w_ij."""
        masses, cost = self._weigh(Y, _student), 0.0
        for part, w, logs in zip(self._parts, self._weights, self._spare):
            np.fill_diagonal(w, 1.0)  # its logarithm is 0
            np.log(w, out=logs)
            logs *= self.P[part, part.start :]
            cost -= float(logs[:, : len(logs)].sum() + 2.0 * logs[:, len(logs) :].sum())
        return cost, max(float(masses.sum()), NO_DIVISOR)

    def gaussian(self, Y: Floats, exaggeration: float, *, joint: bool) -> Floats:
        """sum_j (e p_ij - (a_i + a_j) w_ij) (y_i - y_j), w = exp(-d^2), a_i = 1 / sum_j w_ij, or half the joint."""
        sums = self._weigh(Y, _gaussian)[:, None]
        mass = np.maximum(sums, NO_DIVISOR)
        a = np.full_like(mass, 0.5 / mass.sum()) if joint else 1.0 / mass
        got, d = self._products(self._weights.__getitem__, np.hstack([Y, a, a * Y])), Y.shape[1]
        push = (a * sums + got[:, d : d + 1]) * Y - a * got[:, :d] - got[:, d + 1 :]
        return exaggeration * self._pull(Y) - push

    def gaussian_cost(self, Y: Floats) -> tuple[float, Floats]:
        """sum_ij p_ij d_ij^2 and sum_j w_ij of each point."""
        return 2.0 * float((Y * self._pull(Y)).sum()), np.maximum(self._weigh(Y, _gaussian), NO_DIVISOR)

    def _pull(self, Y: Floats) -> Floats:
        return np.asarray(Y * self._masses - self.P @ Y)

    def _weigh(self, Y: Floats, weigh: Callable[[Floats], None]) -> Floats:
        """Fill the panels with weights of 1 + d^2, 0 on the diagonal; the sums of each point."""
        squares, ones = np.einsum("ik,ik->i", Y, Y)[:, None], np.ones((len(Y), 1))
        A, B = np.hstack([Y, squares + 1.0, ones]), np.hstack([-2.0 * Y, ones, squares])
        sums = np.zeros(len(Y))
        for part, w in zip(self._parts, self._weights):
            np.matmul(A[part], B[part.start :].T, out=w)
            weigh(w)
            np.fill_diagonal(w, 0.0)
            sums[part] += w.sum(axis=1)
            sums[part.stop :] += w[:, len(w) :].sum(axis=0)
        return sums

    def _products(self, coefficients: Callable[[int], Floats], E: Floats) -> Floats:
        """C E for a symmetric C in panels."""
        sums = np.zeros(E.shape)
        for b, part in enumerate(self._parts):
            C = coefficients(b)
            sums[part] += C @ E[part.start :]
            sums[part.stop :] += C[:, len(C) :].T @ E[part]
        return sums


def _student(w: Floats) -> None:
    np.divide(1.0, w, out=w)


def _gaussian(w: Floats) -> None:
    np.maximum(w, 1.0, out=w)  # of points at one place rounding leaves less
    np.exp(np.subtract(1.0, w, out=w), out=w)
