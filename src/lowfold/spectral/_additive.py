"""The smallest additive constant as one eigenproblem that is quadratic in it, on a space that grows with it.

tau = max over centred unit z of the larger root of z' G_tau z, G_tau = G + tau C + tau^2 / 2: every z gives a lower
bound, so no eigenvector has to be exact before the constant may rise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lowfold._core import errors
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold._cuda._device import on_host
from lowfold.spectral._krylov import column_lengths, orthonormalise, remove

WIDTH = 6  # columns of a block: it finds as many copies of a multiple eigenvalue
MOST, KEPT = 12 * WIDTH, 3 * WIDTH  # columns of the space before a restart, and after
STEPS = 300  # blocks; surfaces and graphs of 450 to 2,000 points take 10 to 60
ACCURACY = 1e-9  # of the constant: asked of the last rise, and of the estimate of what is left
# Of `tol`, where the constant is tiny: distances that are nearly Euclidean have many eigenvalues next to 0, and a
# hundredth would take ten times the steps.
WITHIN = 0.1

Products = Callable[[Floats], tuple[Floats, Floats]]


class _Space:
    """An orthonormal basis V with G V and C V, and both matrices on it."""

    def __init__(self, V: Floats, products: tuple[Floats, Floats]) -> None:
        self.V, (self.G, self.C) = V, products
        self.on_it = tuple(_symmetric(on_host(V.T @ P)) for P in products)

    def grown(self, block: Floats, products: tuple[Floats, Floats]) -> _Space:
        """With some more columns."""
        G, C = (np.concatenate(pair, axis=1) for pair in zip((self.G, self.C), products))
        return _Space(np.concatenate([self.V, block], axis=1), (G, C))

    def cut(self, S: Floats) -> _Space:
        """Its part V S."""
        S = np.asarray(S, like=self.V)
        return _Space(self.V @ S, (self.G @ S, self.C @ S))

    def left(self, tau: float, theta: Floats, S: Floats) -> Floats:
        """What is left of G_tau v - theta v for the vectors V S."""
        S, scale = np.asarray(S, like=self.V), np.asarray(tau**2 / 2 - theta, like=self.V)
        return self.G @ S + tau * (self.C @ S) + (self.V @ S) * scale

    def lowest(self, tau: float) -> tuple[Floats, Floats]:
        """Eigenvalues of G_tau on the space, ascending, and their vectors."""
        G, C = self.on_it
        return np.linalg.eigh(G + tau * C + tau**2 / 2 * np.eye(len(G)))


class _Look(NamedTuple):
    """The lowest vector at one constant: the constant it asks for, and what the space may have missed."""

    root: float
    slope: float  # of z' G_tau z at the root
    missed: float  # estimate of how far the smallest eigenvalue of G_tau is below that of the space


def _symmetric(T: Floats) -> Floats:
    return (T + T.T) / 2


def _look(space: _Space, z: Floats, theta: Floats, residuals: Floats) -> _Look:
    """An eigenvalue is within its residual r, and within r^2 / gap where the neighbour is known well enough."""
    g, c = (float(z @ T @ z) for T in space.on_it)
    slope = float(np.sqrt(max(c * c - 2 * g, 0.0)))
    r = float(residuals[0])
    gap = float(theta[1] - theta[0] - residuals[1]) if len(residuals) > 1 else 0.0
    return _Look(slope - c, slope, r * r / gap if gap > r else r)


def additive_constant(products: Products, start: Floats, null: Floats, tol: float) -> float:
    """The smallest tau >= 0 for which G_tau is psd on the complement of `null`; 0.0 where G is, to `tol` of its norm.

    `products` of a block are G V and C V. The space grows by the residuals of its lowest vectors at the constant
    reached, which makes it a block Krylov space once that no longer moves.
    """

    def multiplied(V: Floats) -> tuple[Floats, Floats]:
        G, C = products(V)
        return remove(G, null), remove(C, null)

    room = len(start) - null.shape[1]
    block = orthonormalise(start, [null])
    space = _Space(block, multiplied(block))
    tau, size = 0.0, float(np.finfo(float).tiny)
    for _ in range(STEPS):
        theta, S = space.lowest(tau)
        size = max(size, float(abs(theta[-1])))
        R = space.left(tau, theta[:WIDTH], S[:, :WIDTH])
        look = _look(space, S[:, 0], theta, on_host(column_lengths(R)))
        missed = look.missed if len(theta) < room else 0.0
        before, tau = tau, max(tau, look.root)
        if before == 0.0 and theta[0] >= -tol * size:
            tau = 0.0
            if missed <= tol * size:
                return tau
        elif max((tau - before) * look.slope, missed) <= max(ACCURACY * tau * look.slope, WITHIN * tol * size):
            return tau
        block = orthonormalise(R, [null, space.V])
        if len(theta) + WIDTH > MOST:
            space = space.cut(S[:, :KEPT])
        if block.shape[1]:  # else an invariant space: only the constant still moves
            space = space.grown(block, multiplied(block))
    _warn_unfinished(tau, missed / look.slope if look.slope else missed)
    return tau


def _warn_unfinished(tau: float, missed: float) -> None:
    warn(
        f"the smallest constant is {tau:.6g}, and may be larger by {missed:.1g}: {STEPS} steps were not enough; "
        "the methods of Isomap take a bound of it (shift='bound'), ClassicalMDS that of squares "
        "(additive_constant='squares')",
        errors.AccuracyWarning,
    )
