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
from lowfold._core.types import AnyFloats, Floats

# Of a panel: with some hundred columns in float32 it stays in the second cache, and steps of 1,000 points take 10% to
# 15% less than with half or twice as many. Threads only wait for each other here.
ROWS = 200
# Squared norms up to which squared distances in float32 err by 1e-3 at most, beside the 1 that is added to them, and
# gradients by 5e-5; beyond, they are made in float64. The layouts of Gaussian weights stay far below.
NEAR = 4_000.0
LEAST = -80.0  # exponents: below, float32 comes near numbers that it does not hold with all digits, and slow ones
LONELY = 1e-26  # the mass of a point that is so far from all others that its shares of them are not in float32


@dataclass(frozen=True, eq=False)
class Panels:
    """P (n, n), symmetric, and sums over its pairs; of one descent, whose steps share the arrays.

    `single`: weights and their sums in float32, for gradients; they err by 5e-5 or less of their size.
    """

    P: Floats
    single: bool = False

    @property
    def _dtype(self) -> type[np.floating]:
        return np.float32 if self.single else np.float64

    @cached_property
    def _parts(self) -> list[slice]:
        return block_slices(len(self.P), ROWS)

    @cached_property
    def _shares(self) -> list[AnyFloats]:
        """P in panels, without subnormal numbers: a tenth of 1,000 points' pairs made a step 2.4 times as long."""
        shares = [np.ascontiguousarray(self.P[part, part.start :], dtype=self._dtype) for part in self._parts]
        return [np.where(share < np.finfo(self._dtype).tiny, self._dtype(0), share) for share in shares]

    @cached_property
    def _exact(self) -> Panels:
        return Panels(self.P)

    @cached_property
    def _masses(self) -> Floats:
        return np.asarray(self.P.sum(axis=1, keepdims=True))

    @cached_property
    def _weights(self) -> list[AnyFloats]:
        n = len(self.P)
        return [np.empty((part.stop - part.start, n - part.start), self._dtype) for part in self._parts]

    @cached_property
    def _diagonals(self) -> list[AnyFloats]:
        """Of the weights, views that can be written to."""
        return [w.reshape(-1)[: len(w) * w.shape[1] : w.shape[1] + 1] for w in self._weights]

    @cached_property
    def _held(self) -> Floats:
        return np.empty(ROWS * len(self.P))

    @cached_property
    def _spare(self) -> list[AnyFloats]:
        """One array in the shape of each panel."""
        return [self._held.view(self._dtype)[: w.size].reshape(w.shape) for w in self._weights]

    def student(self, Y: Floats, exaggeration: float) -> Floats:
        """sum_j (e p_ij - q_ij) w_ij (y_i - y_j) with w = 1 / (1 + d^2) and q = w / sum w."""
        self._weigh(Y, _student, 1.0)
        less = 1.0 / self._total()

        def coefficients(b: int) -> AnyFloats:
            w, out = self._weights[b], self._spare[b]
            np.multiply(self._shares[b], w.dtype.type(exaggeration / less), out=out)
            out -= w
            out *= w
            return out

        total = less * self._products(coefficients, np.hstack([Y, np.ones((len(Y), 1))]))
        return Y * total[:, -1:] - total[:, :-1]

    def student_cost(self, Y: Floats) -> tuple[float, float]:
        """sum_ij p_ij log(1 + d_ij^2) and sum_ij w_ij."""
        self._weigh(Y, _student, 1.0)
        total, cost = self._total(), 0.0
        for share, w, diagonal, logs in zip(self._shares, self._weights, self._diagonals, self._spare):
            diagonal[:] = 1.0  # its logarithm is 0
            np.log(w, out=logs)
            logs *= share
            cost -= float(logs[:, : len(logs)].sum() + 2.0 * logs[:, len(logs) :].sum())
        return cost, total

    def gaussian(self, Y: Floats, exaggeration: float, *, joint: bool) -> Floats:
        """sum_j (e p_ij - (a_i + a_j) w_ij) (y_i - y_j), w = exp(-d^2), a_i = 1 / sum_j w_ij, or half the joint."""
        self._weigh(Y, _gaussian, -1.0)
        sums, d = self._sums()[:, None], Y.shape[1]
        if self.single and not joint and float(sums.min()) < LONELY:
            return self._exact.gaussian(Y, exaggeration, joint=joint)
        mass = np.maximum(sums, NO_DIVISOR)
        if joint:
            push = (sums * Y - self._products(self._weights.__getitem__, Y)) / mass.sum()
        else:
            a = 1.0 / mass
            got = self._products(self._weights.__getitem__, np.hstack([Y, a, a * Y]))
            push = (a * sums + got[:, d : d + 1]) * Y - a * got[:, :d] - got[:, d + 1 :]
        return np.asarray(exaggeration * self._pull(Y) - push)

    def gaussian_cost(self, Y: Floats) -> tuple[float, Floats]:
        """sum_ij p_ij d_ij^2 and sum_j w_ij of each point."""
        self._weigh(Y, _gaussian, -1.0)
        return 2.0 * float((Y * self._pull(Y)).sum()), np.maximum(self._sums(), NO_DIVISOR)

    def _pull(self, Y: Floats) -> Floats:
        return np.asarray(Y * self._masses - self._products(self._shares.__getitem__, Y))

    def _weigh(self, Y: Floats, weigh: Callable[[AnyFloats], None], sign: float) -> None:
        """Fill the panels with weights of 1 + d^2, or of -d^2, with 0 on the diagonal."""
        squares, ones = np.einsum("ik,ik->i", Y, Y)[:, None], np.ones((len(Y), 1))
        A = sign * np.hstack([Y, squares + max(sign, 0.0), ones])
        B = np.hstack([-2.0 * Y, ones, squares])
        straight = not self.single or float(squares.max()) <= NEAR
        if straight:
            A, B = A.astype(self._dtype, copy=False), B.astype(self._dtype, copy=False)
        for part, w, diagonal in zip(self._parts, self._weights, self._diagonals):
            made = w if straight else self._held[: w.size].reshape(w.shape)
            np.matmul(A[part], B[part.start :].T, out=made)
            if made is not w:
                w[...] = made
            weigh(w)
            diagonal[:] = 0.0

    def _total(self) -> float:
        """The sum of all weights."""
        total = sum(2.0 * float(w.sum()) - float(w[:, : len(w)].sum()) for w in self._weights)
        return max(total, NO_DIVISOR)

    def _sums(self) -> Floats:
        """The sums of each point's weights."""
        one, sums = np.ones(len(self.P), self._dtype), np.zeros(len(self.P))
        for part, w in zip(self._parts, self._weights):
            sums[part] += w @ one[part.start :]
            sums[part.stop :] += one[part] @ w[:, len(w) :]
        return sums

    def _products(self, coefficients: Callable[[int], AnyFloats], E: Floats) -> Floats:
        """C E for a symmetric C in panels, column by column: for few of them BLAS takes half the time so."""
        columns = np.ascontiguousarray(E.T, dtype=self._dtype)
        sums = np.zeros(columns.shape)
        for b, part in enumerate(self._parts):
            C = coefficients(b)
            for k, e in enumerate(columns):
                sums[k, part] += C @ e[part.start :]
                sums[k, part.stop :] += e[part] @ C[:, len(C) :]
        return sums.T


def _student(w: AnyFloats) -> None:
    np.divide(w.dtype.type(1), w, out=w)


def _gaussian(w: AnyFloats) -> None:
    if w.dtype == np.float32:
        np.maximum(w, np.full(w.shape[1], LEAST, w.dtype), out=w)  # NumPy takes twice as long for a number
    np.exp(w, out=w)
