"""What the tests of the alignment methods share."""

from __future__ import annotations

import numpy as np


def explained(truth: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Share of each true coordinate's variance that an affine map of Y explains."""
    A = np.column_stack([np.ones(len(Y)), Y])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return 1 - (rest**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)


def angle(A: np.ndarray, B: np.ndarray) -> float:
    """Sine of the largest angle between two subspaces."""
    Q, R = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return float(np.linalg.norm(Q - R @ (R.T @ Q), 2))


def plane(n: int, D: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of an affine plane in R^D, and their plane coordinates."""
    rng = np.random.default_rng(seed)
    T = rng.random((n, 2))
    frame = np.linalg.qr(rng.normal(size=(D, 2)))[0]
    return T @ frame.T + rng.normal(size=D), T


def nullity(K: np.ndarray, tol: float = 1e-9) -> int:
    return int((np.linalg.eigvalsh(K) < tol * np.abs(K).max()).sum())


def two_planes(n: int = 60, seed: int = 0, tilt: float = 0.4) -> np.ndarray:
    """Two separated pieces of planes in R^3, the second turned by `tilt` out of the first's plane."""
    rng = np.random.default_rng(seed)
    A, B = rng.random((n, 2)), rng.random((n, 2))
    first = np.column_stack([A, np.zeros(n)])
    second = np.column_stack([4 + B[:, 0] * np.cos(tilt), B[:, 1], B[:, 0] * np.sin(tilt)])
    return np.vstack([first, second])
