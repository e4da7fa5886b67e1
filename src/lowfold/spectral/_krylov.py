"""Two subspace methods written once for all solvers: block Krylov and block Davidson.

Both work on the orthogonal complement of known vectors, keep a full orthonormal basis, restart thickly, and stop on the
gap-relative residual ||B v - theta v|| / gap, which bounds the angle to the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Apply = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Ritz:
    """Approximate eigenpairs, leading first, with the number of block multiplications they took."""

    values: Floats
    vectors: Floats
    iterations: int
    converged: bool


def remove(V: Floats, Q: Floats) -> Floats:
    """V without its part in the span of the orthonormal columns of Q."""
    return V - Q @ (Q.T @ V) if Q.shape[1] else V


def orthonormalise(V: Floats, against: list[Floats]) -> Floats:
    """Orthonormal basis of V's part orthogonal to all of `against`; directions lost to rounding are dropped."""
    scale = np.linalg.norm(V, axis=0)
    V = V[:, scale > 0] / scale[scale > 0]
    for _ in range(2):  # twice is enough
        for Q in against:
            V = remove(V, Q)
    if V.shape[1] == 0:
        return V
    basis, R, _ = scipy.linalg.qr(V, mode="economic", pivoting=True)
    kept = np.abs(np.diag(R)) > 1e-12
    basis = basis[:, kept]
    for Q in against:
        basis = remove(basis, Q)
    norms = np.linalg.norm(basis, axis=0)
    return np.asarray(basis / np.where(norms > 0, norms, 1.0))


def block_krylov(
    apply: Apply, start: Floats, k: int, *, null: Floats, tol: float, max_basis: int, max_iter: int = 300
) -> Ritz:
    """The k leading (largest algebraic) eigenpairs of the symmetric `apply` on the complement of `null`.

    `start` is an (n, b) block; b should exceed k by one or two. The basis grows by one block per multiplication; beyond
    `max_basis` columns it is restarted with its best Ritz vectors.
    """
    n = start.shape[0]
    V = orthonormalise(start, [null])
    block, AV = V, np.empty((n, 0))
    ritz = Ritz(np.empty(0), np.empty((n, 0)), 0, False)
    for iteration in range(1, max_iter + 1):
        AV = np.hstack([AV, remove(apply(block), null)])
        T = V.T @ AV
        theta, S = np.linalg.eigh((T + T.T) / 2)
        theta, S = theta[::-1], S[:, ::-1]
        m = V.shape[1]
        count = min(k, m)
        residuals = np.linalg.norm(AV @ S[:, :count] - (V @ S[:, :count]) * theta[:count], axis=0)
        room = n - null.shape[1]
        converged = m >= room or (m > k and _small(residuals, theta, k, tol))
        ritz = Ritz(theta[:count], V @ S[:, :count], iteration, converged)
        if converged:
            return ritz
        if m + block.shape[1] > max_basis:
            keep = min(m, k + 2 * start.shape[1])
            last = AV[:, m - block.shape[1] :]
            V, AV = V @ S[:, :keep], AV @ S[:, :keep]
            new = orthonormalise(last, [null, V])
        else:
            new = orthonormalise(AV[:, m - block.shape[1] :], [null, V])
        if new.shape[1] == 0:  # an invariant subspace: go on in a direction it does not contain
            if m > k:
                return Ritz(ritz.values, ritz.vectors, iteration, True)
            new = orthonormalise(_fixed_block(n, 1, seed=iteration), [null, V])
        V, block = np.hstack([V, new]), new
    return ritz


def block_davidson(
    apply: Apply, precondition: Apply, start: Floats, k: int, *, null: Floats, tol: float, max_iter: int = 200
) -> Ritz:
    """The k smallest eigenpairs of the symmetric `apply`, with W = precondition(residual) as new directions."""
    n = start.shape[0]
    V = orthonormalise(start, [null])
    width, AV, new = V.shape[1], np.empty((n, 0)), V
    ritz = Ritz(np.empty(0), np.empty((n, 0)), 0, False)
    for iteration in range(1, max_iter + 1):
        AV = np.hstack([AV, remove(apply(new), null)])
        T = V.T @ AV
        theta, S = np.linalg.eigh((T + T.T) / 2)
        block = min(width, V.shape[1])
        X, AX = V @ S[:, :block], AV @ S[:, :block]
        R = AX - X * theta[:block]
        residuals = np.linalg.norm(R, axis=0)
        count = min(k, block)
        converged = V.shape[1] >= n - null.shape[1] or _small(residuals[:count], -theta, k, tol)
        ritz = Ritz(theta[:count], X[:, :count], iteration, converged)
        if converged:
            return ritz
        if V.shape[1] + block > 6 * width:
            keep = 2 * width
            V, AV = V @ S[:, :keep], AV @ S[:, :keep]
        active = residuals > 0.3 * tol * _gaps(-theta, k)[-1]
        new = orthonormalise(remove(precondition(R[:, active]), null), [null, V])
        if new.shape[1] == 0:
            return ritz
        V = np.hstack([V, new])
    return ritz


def _gaps(theta: Floats, k: int) -> Floats:
    """Distance from each of the first k - 1 values to the k-th, the neighbour that is computed to measure the gap.

    Values closer than 1e-6 of their own size count as one: no solver can separate them, and the door says so.
    """
    last = min(k, len(theta)) - 1
    wanted = theta[: max(last, 1)]
    gaps = np.abs(wanted - theta[last]) if last > 0 else np.abs(wanted)
    return np.maximum(gaps, 1e-6 * np.abs(theta[: last + 1]).max())


def _small(residuals: Floats, theta: Floats, k: int, tol: float) -> bool:
    """Gap-relative convergence of the wanted pairs, with the neighbour known to a tenth of the gap."""
    floor = 16 * np.finfo(float).eps * float(np.abs(theta).max())
    gaps = _gaps(theta, k)
    wanted = bool(np.all(residuals[: len(gaps)] <= np.maximum(tol * gaps, floor)))
    return wanted and bool(residuals[min(k, len(residuals)) - 1] <= max(0.1 * gaps[-1], floor))


def _fixed_block(n: int, b: int, *, seed: int = 0) -> Floats:
    """A block of Gaussian columns that is the same in every process."""
    return np.random.default_rng([seed, b]).normal(size=(n, b))
