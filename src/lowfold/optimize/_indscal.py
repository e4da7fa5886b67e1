"""Individual differences scaling, Carroll & Chang (1970), doi:10.1007/BF02310791: B_k = X diag(w_k) X' for all k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.brief import brief
from lowfold._core.rounding import NO_DIVISOR, ROUNDING
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats

DEPENDENT = 1e-14  # of the largest eigenvalue of a matrix of squared inner products: rounding


@dataclass(frozen=True, eq=False)
class Individual:
    """Common space X (n, d), weights (m, d) with mean 1 in every column, and the share of sum_k ||B_k||^2 explained."""

    X: Floats
    weights: Floats
    explained: Floats
    history: Floats

    __repr__ = brief


def individual_scaling(B: Floats, X: Floats, *, max_iter: int = 500, tol: float = 1e-10) -> Individual:
    """Minimise sum_k ||B_k - X diag(w_k) X'||^2 with w >= 0; B (m, n, n) symmetric, mean_k B_k nearly X X'.

    In such coordinates every X^+ B_k X^+' is R' diag(w_k) R with one rotation R, so that jointly diagonalising these d
    x d matrices gives the answer where the model is exact. Alternating least squares (left factor, right factor,
    weights) then polishes it, until the share explained rises by less than `tol`.
    """
    size = np.array([float(np.vdot(Bk, Bk)) for Bk in B])
    total = float(size.sum()) or 1.0
    inner = np.linalg.pinv(X)
    X = X @ joint_diagonaliser(np.asarray(inner @ np.asarray(B @ inner.T)))
    BX = B @ X
    (W, _), history = _weights(BX, X), []
    best = np.inf
    for _ in range(max_iter):
        candidate = _balanced(_factor(BX, X, W), X)
        candidate_BX = B @ candidate
        candidate_W, gained = _weights(candidate_BX, candidate)
        loss = float((size - gained).sum()) / total
        if loss > best:
            break
        X, W, BX = candidate, candidate_W, candidate_BX
        history.append(1.0 - loss)
        if best - loss <= tol:
            break
        best = loss
    mean = W.mean(axis=0)
    mean = np.where(mean > 0, mean, 1.0)
    X, W = X * np.sqrt(mean), W / mean
    order = np.argsort(-np.einsum("nd,nd->d", X, X), kind="stable")
    X, W = X[:, order], W[:, order]
    losses = _losses(B, X, W)
    return Individual(X, W, 1.0 - losses / np.where(size > 0, size, 1.0), np.array(history))


def _factor(BZ: Floats, Z: Floats, W: Floats) -> Floats:
    """The left factor A that minimises sum_k ||B_k - A diag(w_k) Z'||^2, from all B_k Z."""
    gram = (Z.T @ Z) * (W.T @ W)
    right = (BZ * W[:, None, :]).sum(axis=0)
    return np.asarray(np.linalg.lstsq(gram, right.T, rcond=ROUNDING)[0].T)


def _balanced(A: Floats, Z: Floats) -> Floats:
    """The mean of both factors; they differ in scale only where the fit is good."""
    a, z = np.linalg.norm(A, axis=0), np.linalg.norm(Z, axis=0)
    scale = np.where(a > 0, z / np.where(a > 0, a, 1.0), 1.0)
    return np.asarray((A * scale + Z) / 2)


def _weights(BX: Floats, X: Floats) -> tuple[Floats, Floats]:
    """w_k >= 0 that minimises ||B_k - X diag(w_k) X'||^2, and by how much that is below ||B_k||^2, from all B_k X."""
    gram = (X.T @ X) ** 2
    right = np.einsum("kia,ia->ka", BX, X)
    values, vectors = stacked_eigh(gram)
    kept = values > DEPENDENT * max(float(values.max(initial=0.0)), NO_DIVISOR)
    W = right @ (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    if not (W >= 0).all():
        from scipy.optimize import nnls

        root = np.sqrt(np.where(kept, values, 0.0))[:, None] * vectors.T
        target = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)[:, None] * (vectors.T @ right.T)
        W = np.stack([nnls(root, column)[0] for column in target.T])
    return W, 2.0 * np.sum(W * right, axis=1) - np.einsum("ka,ab,kb->k", W, gram, W)


def _losses(B: Floats, X: Floats, W: Floats) -> Floats:
    return np.array([float(((Bk - (X * w) @ X.T) ** 2).sum()) for Bk, w in zip(B, W)])


def joint_diagonaliser(C: Floats, *, sweeps: int = 100) -> Floats:
    """The rotation R for which R' C_k R are as diagonal as they can be, by Jacobi rotations of pairs of axes.

    Each rotation has the angle that maximises the sum of squared diagonals, Cardoso & Souloumiac (1996),
    doi:10.1137/S0895479893259546.
    """
    C = (C + np.swapaxes(C, 1, 2)) / 2
    d = C.shape[1]
    R = np.eye(d)
    for _ in range(sweeps):
        turned = 0.0
        for p in range(d - 1):
            for q in range(p + 1, d):
                h = np.stack([C[:, p, p] - C[:, q, q], 2.0 * C[:, p, q]])
                on, off = float(h[0] @ h[0] - h[1] @ h[1]), 2.0 * float(h[0] @ h[1])
                angle = 0.25 * np.arctan2(off, on)
                c, s = np.cos(angle), np.sin(angle)
                J = np.eye(d)
                J[p, p], J[q, q], J[p, q], J[q, p] = c, c, -s, s
                C = J.T @ C @ J
                R = R @ J
                turned = max(turned, abs(s))
        if turned < ROUNDING:
            break
    return R
