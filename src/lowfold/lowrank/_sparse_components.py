"""Components with few loadings: a dictionary for the columns of the data.

    minimise 1/2 ||X - Y C||_F^2 + alpha ||C||_1 over C (k, D) and Y (n, k) with columns of at most unit length

One side at a time, by coordinates: all D entries of a row of C take the same step, so that a sweep is a few products of
matrices with k rows, however many features there are; then the atoms of Y as Mairal, Bach, Ponce & Sapiro (2009),
doi:10.1145/1553374.1553463, turn them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.parallel import Progress
from lowfold._core.types import Floats
from lowfold._core.watch import unheard

SWEEPS = 100  # over the loadings between two looks at the atoms, at most: they start from the last ones
SETTLED = 1e-9  # of the largest loading: a sweep that moves none by more has found them
UNUSED = 1e-6  # squared length of loadings below which an atom stays as it is


@dataclass(frozen=True, eq=False)
class SparseComponents:
    """C (k, D) of unit rows, the steps taken, and whether the cost had come to rest."""

    C: Floats
    steps: int
    settled: bool


def sparse_components(
    X: Floats, k: int, *, alpha: float, tol: float, max_iter: int, progress: Progress = unheard
) -> SparseComponents:
    """The components of centred rows, beginning with their principal axes."""
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    Y, C = U[:, :k] * S[:k], np.zeros((k, X.shape[1]))
    product, gram = Y.T @ X, Y.T @ Y
    energy, cost, settled, step = float(np.vdot(X, X)), np.inf, False, 0
    while step < max_iter and not settled:
        step += 1
        _sparsen(C, product, gram, alpha)
        inner = C @ C.T
        _turn(Y, X @ C.T, inner)
        product, gram = Y.T @ X, Y.T @ Y
        misfit = energy - 2.0 * float(np.vdot(product, C)) + float(np.vdot(gram, inner))
        before, cost = cost, 0.5 * misfit + alpha * float(np.abs(C).sum())
        settled = before - cost <= tol * cost
        progress(step / max_iter)
    return SparseComponents(_unit(C), step, settled)


def _unit(C: Floats) -> Floats:
    """Rows of unit length, or 0, whose largest loading is positive."""
    length = np.linalg.norm(C, axis=1, keepdims=True)
    largest = np.take_along_axis(C, np.abs(C).argmax(axis=1)[:, None], axis=1)
    return np.asarray(C / np.where(length > 0, np.copysign(length, largest), 1.0))


def _sparsen(C: Floats, product: Floats, gram: Floats, alpha: float) -> None:
    """The loadings of given atoms, by coordinates, in place; product = Y'X, gram = Y'Y."""
    for _ in range(SWEEPS):
        moved = 0.0
        for j in np.flatnonzero(gram.diagonal() > 0):
            free = product[j] - gram[j] @ C + gram[j, j] * C[j]
            new = np.sign(free) * np.maximum(np.abs(free) - alpha, 0.0) / gram[j, j]
            moved = max(moved, float(np.abs(new - C[j]).max()))
            C[j] = new
        if moved <= SETTLED * float(np.abs(C).max()):
            return


def _turn(Y: Floats, target: Floats, inner: Floats) -> None:
    """The atoms of given loadings, one after the other, in place; target = X C', inner = C C'."""
    for j in np.flatnonzero(inner.diagonal() > UNUSED):
        Y[:, j] += (target[:, j] - Y @ inner[:, j]) / inner[j, j]
        Y[:, j] /= max(float(np.linalg.norm(Y[:, j])), 1.0)
