"""Two subspace methods written once for all solvers: block Krylov and block Davidson.

Both work on the orthogonal complement of known vectors, keep a full orthonormal basis, restart thickly, and stop on the
gap-relative residual ||B v - theta v|| / gap, which bounds the angle to the truth. Arrays may be those of any library
that NumPy's functions dispatch to: with CuPy's everything stays on the GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from lowfold._core.types import Floats
from lowfold._cuda._device import on_host

Apply = Callable[[Floats], Floats]


PATIENCE = 40  # multiplications without progress: rounding in the operator has been reached
PROGRESS = 0.9  # of the best residual so far: one that fell by less has not moved
# Lengths of what is left of a unit column in the two rounds of orthogonalisation. In the first, only rounding is
# dropped; the rest is scaled to length one, so that one which shrinks again, to the second, lay in the span but for
# rounding.
LOST = (1e-12, 1e-3)
SAME = 1e-14  # of a Gram matrix's largest eigenvalue, whose rounding is 1e-16: the square of an agreement to 1e-7
# The smallest gap that the stopping rule uses, as a share of the largest value: `tol`, 1e-6, of such a gap is 1e-12 of
# the value, little above the rounding of a product.
CLOSE = 1e-6
PRODUCT = 16 * np.finfo(float).eps  # of the largest value: residuals of products with a block are not smaller
# The neighbour only measures the gap, which has to be known to a tenth; a column is worked on until it is better than
# what is asked of it by the second figure, so that the test does not fail by a hair for lack of work.
NEIGHBOR, NEIGHBOR_WORKED = 0.1, 0.03
WORKED = 0.3  # of `tol`, for the wanted columns
# Of Davidson's basis: before a restart, and after; more saves products and costs orthogonalisation.
MOST_BLOCKS, KEPT_BLOCKS = 6, 2


@dataclass(frozen=True, eq=False)
class Ritz:
    """Approximate eigenpairs, leading first, with the number of block multiplications they took.

    `products` are A V where the method has them: an operator that costs a pass over all pairs is not asked again.
    `residuals` are ||A v - theta v|| off the known vectors, where they were measured on a device.
    """

    values: Floats
    vectors: Floats
    iterations: int
    converged: bool
    products: Floats | None = None
    residuals: Floats | None = None


def remove(V: Floats, Q: Floats) -> Floats:
    """V without its part in the span of the orthonormal columns of Q."""
    return V - Q @ (Q.T @ V) if Q.shape[1] else V


def column_lengths(V: Floats) -> Floats:
    """Of every column; on a device by a product, many times quicker there than a sum along long columns."""
    lengths = np.linalg.norm(V, axis=0) if isinstance(V, np.ndarray) else np.sqrt(np.diagonal(V.T @ V))
    return cast("Floats", lengths)


def orthonormalise(V: Floats, against: list[Floats]) -> Floats:
    """Orthonormal basis of V's part orthogonal to all of `against`; directions lost to rounding are dropped.

    Twice is enough: what the first round leaves of `against` is of the size of rounding errors, relative to columns
    that were scaled in between.
    """
    scale = column_lengths(V)
    V = V[:, scale > 0] / scale[scale > 0]
    for smallest in LOST:
        for Q in against:
            V = remove(V, Q)
        V = _orthonormal_columns(V, smallest)
    return V


def _orthonormal_columns(V: Floats, smallest: float) -> Floats:
    """V R^-1 by the Gram matrix V'V of columns scaled to length one; columns no longer than `smallest` are dropped.

    Directions in which the scaled columns agree to 1e-7 are dropped too: their Gram matrix cannot tell them apart.
    """
    lengths = column_lengths(V)
    kept = lengths > smallest
    if not kept.any():
        return V[:, :0]
    V = V[:, kept] / lengths[kept]
    values, U = _small_eigh(V.T @ V)
    good = values > SAME * values[-1]
    return cast("Floats", V @ (U[:, good] / np.sqrt(values[good])))


def _small_eigh(T: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and vectors of a small matrix; that of a device visits the host, where such a one is faster."""
    if isinstance(T, np.ndarray):
        return np.linalg.eigh(T)
    values, U = np.linalg.eigh(on_host(T))
    return np.asarray(values, like=T), np.asarray(U, like=T)


class _Basis:
    """An orthonormal basis V that grows by blocks, with A V and T = V' A V; nothing is copied when it grows."""

    def __init__(self, like: Floats, room: int) -> None:
        n = len(like)
        self._V, self._AV = (np.empty((n, room), order="F", like=like) for _ in range(2))
        self._T = np.zeros((room, room), like=like)
        self.size = 0

    @property
    def V(self) -> Floats:
        return self._V[:, : self.size]

    @property
    def AV(self) -> Floats:
        return self._AV[:, : self.size]

    def add(self, block: Floats, product: Floats) -> None:
        """Append orthonormal columns and what A makes of them."""
        old, new = self.size, self.size + block.shape[1]
        self._V[:, old:new], self._AV[:, old:new] = block, product
        self.size = new
        # Both triangles: distances rounded to float32 are symmetric to their last digit only.
        corner = (self.V.T @ product + self.AV.T @ block) / 2
        self._T[:new, old:new], self._T[old:new, :new] = corner, corner.T

    def ritz(self) -> tuple[Floats, Floats]:
        """Eigenvalues of T, ascending, and their vectors in the basis."""
        return _small_eigh(self._T[: self.size, : self.size])

    def restart(self, theta: Floats, S: Floats) -> None:
        """Keep only the Ritz vectors V S, whose T is diag(theta)."""
        old, self.size = self.size, S.shape[1]
        for held in (self._V, self._AV):  # one after the other: for many points each product is much memory
            held[:, : self.size] = held[:, :old] @ S
        self._T[: self.size, : self.size] = np.diag(theta)


def block_krylov(
    apply: Apply, start: Floats, k: int, *, null: Floats, tol: float, max_basis: int, max_iter: int = 300
) -> Ritz:
    """The k leading (largest algebraic) eigenpairs of the symmetric `apply` on the complement of `null`.

    `start` is an (n, b) block; b should exceed k by one or two. The basis grows by one block per multiplication; beyond
    `max_basis` columns it is restarted with its best Ritz vectors.
    """
    n, b = start.shape
    room = n - null.shape[1]
    basis = _Basis(start, min(room, max_basis) + b)
    block = orthonormalise(start, [null])
    ritz = Ritz(np.empty(0), np.empty((n, 0)), 0, False)
    best, best_at = np.inf, 0
    for iteration in range(1, max_iter + 1):
        product = remove(apply(block), null)
        basis.add(block, product)
        theta, S = basis.ritz()
        theta, S = theta[::-1], S[:, ::-1]
        m = basis.size
        count = min(k, m)
        X = basis.V @ S[:, :count]
        AX = basis.AV @ S[:, :count]
        residuals = column_lengths(AX - X * theta[:count])
        converged = m >= room or (m > k and small_enough(residuals, theta, k, tol))
        ritz = Ritz(theta[:count], X, iteration, converged, AX)
        worst = float(residuals.max())
        best, best_at = (worst, iteration) if worst < PROGRESS * best else (best, best_at)
        if converged or iteration - best_at > PATIENCE:
            return ritz
        # Orthogonal to the whole basis, before a restart cuts it: only then does the new block span the residuals of
        # the Ritz vectors that are kept, and the space stays a Krylov space.
        width, block = block.shape[1], orthonormalise(product, [null, basis.V])
        if m + width > max_basis:
            keep = min(m, k + 2 * b)
            basis.restart(theta[:keep], S[:, :keep])
        if block.shape[1] == 0:  # an invariant subspace: go on in a direction it does not contain
            if m > k:
                return Ritz(ritz.values, ritz.vectors, iteration, True, AX)
            block = orthonormalise(np.asarray(_fixed_block(n, 1, seed=iteration), like=start), [null, basis.V])
    return ritz


def block_davidson(
    apply: Apply, precondition: Apply, start: Floats, k: int, *, null: Floats, tol: float, max_iter: int = 200
) -> Ritz:
    """The k smallest eigenpairs of the symmetric `apply`, with W = precondition(residual) as new directions."""
    n = start.shape[0]
    block = orthonormalise(start, [null])
    width = block.shape[1]
    basis = _Basis(start, MOST_BLOCKS * width)
    ritz = Ritz(np.empty(0), np.empty((n, 0)), 0, False)
    for iteration in range(1, max_iter + 1):
        basis.add(block, remove(apply(np.ascontiguousarray(block)), null))
        del block  # the basis has it
        theta, S = basis.ritz()
        X = basis.V @ S[:, :width]
        R = basis.AV @ S[:, :width] - X * theta[:width]
        residuals = np.linalg.norm(R, axis=0)
        count = min(k, width)
        converged = basis.size >= n - null.shape[1] or small_enough(residuals[:count], -theta, k, tol)
        ritz = Ritz(theta[:count], X[:, :count], iteration, converged)
        if converged:
            return ritz
        if basis.size + width > MOST_BLOCKS * width:
            kept = KEPT_BLOCKS * width
            basis.restart(theta[:kept], S[:, :kept])
        # The neighbour and the guard column are refined only until the gap is known.
        gap = _gaps(-theta, k)[-1]
        active = residuals > np.where(np.arange(width) < max(k - 1, 1), WORKED * tol, NEIGHBOR_WORKED) * gap
        block = orthonormalise(precondition(np.ascontiguousarray(R[:, active])), [null, basis.V])
        if block.shape[1] == 0:
            return ritz
    return ritz


def _gaps(theta: Floats, k: int) -> Floats:
    """Distance from each of the first k - 1 values to the k-th, the neighbour that is computed to measure the gap.

    Values closer than 1e-6 of their own size count as one: no solver can separate them, and the door says so.
    """
    last = min(k, len(theta)) - 1
    wanted = theta[: max(last, 1)]
    gaps = np.abs(wanted - theta[last]) if last > 0 else np.abs(wanted)
    return cast("Floats", np.maximum(gaps, CLOSE * np.abs(theta[: last + 1]).max()))


def small_enough(residuals: Floats, theta: Floats, k: int, tol: float) -> bool:
    """Gap-relative convergence of the wanted pairs, with the neighbour known to a tenth of the gap."""
    floor = PRODUCT * float(np.abs(theta).max())
    gaps = _gaps(theta, k)
    wanted = bool(np.all(residuals[: len(gaps)] <= np.maximum(tol * gaps, floor)))
    return wanted and bool(residuals[min(k, len(residuals)) - 1] <= max(NEIGHBOR * gaps[-1], floor))


def _fixed_block(n: int, b: int, *, seed: int = 0) -> Floats:
    """A block of Gaussian columns that is the same in every process."""
    return np.random.default_rng([seed, b]).normal(size=(n, b))
