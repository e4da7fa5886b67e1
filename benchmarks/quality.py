"""How right an answer is, by formulas that belong to none of the packages compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from data import Data
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def procrustes_error(Y: Floats, truth: Floats) -> float:
    """min ||truth - (a Y R + b)|| / ||truth - mean|| over rotations and reflections R, scales a and shifts b."""
    A, B = Y - Y.mean(axis=0), truth - truth.mean(axis=0)
    A, B = A / np.linalg.norm(A), B / np.linalg.norm(B)
    overlap = np.linalg.svd(A.T @ B, compute_uv=False).sum()
    return float(np.sqrt(max(0.0, 1.0 - overlap**2)))


def affine_r2(Y: Floats, truth: Floats) -> float:
    """R^2 of the best affine map from Y to the true coordinates."""
    A, B = Y - Y.mean(axis=0), truth - truth.mean(axis=0)
    left = B - A @ np.linalg.lstsq(A, B, rcond=None)[0]
    return float(1.0 - (left**2).sum() / (B**2).sum())


def embedding(data: Data, model: Any) -> dict[str, float]:
    """Procrustes error and affine R^2 against the true coordinates, and the residual that the model reports."""
    assert data.truth is not None
    Y = np.asarray(model.embedding_, dtype=np.float64)
    found = {"procrustes": procrustes_error(Y, data.truth), "affine_r2": affine_r2(Y, data.truth)}
    if hasattr(model, "residual_"):
        found["residual"] = float(model.residual_)
    return found


def strip_harmonics(data: Data, model: Any) -> dict[str, float]:
    """Residual of L f = lambda D f on the model's own graph `W_`, over the gap to the next eigenvalue.

    On a strip more than three times as long as wide the first eigenvalues are 1 : 4 : 9, so the gap after the second is
    5/4 of the second. Each column is judged by its own Rayleigh quotient.
    """
    F = np.asarray(model.embedding_, dtype=np.float64)
    W = model.W_
    degrees = np.asarray(W.sum(axis=1)).ravel()
    U = F * np.sqrt(degrees)[:, None]
    U /= np.linalg.norm(U, axis=0)
    scaled = U / np.sqrt(degrees)[:, None]
    LU = U - (W @ scaled) / np.sqrt(degrees)[:, None]
    values = (U * LU).sum(axis=0)
    residuals = np.linalg.norm(LU - U * values, axis=0)
    overlap = abs(float(U[:, 0] @ U[:, 1]))
    return {
        "residual": float(residuals.max() / (1.25 * values.max())),
        "ratio_2_1": float(values[1] / values[0]),
        "overlap": overlap,
    }


def neighbours(data: Data, found: Any) -> dict[str, float]:
    """Share of the true neighbours found and the largest relative error of their distances, on 200 rows."""
    index, distance = found
    rows = np.random.default_rng(1).choice(len(data.X), min(200, len(data.X)), replace=False)
    X = data.X.astype(np.float64)
    if data.options.get("metric") == "cosine":
        X /= np.linalg.norm(X, axis=1)[:, None]
    k = index.shape[1]
    share, error = 0.0, 0.0
    for r in rows:
        d = np.sqrt(((X - X[r]) ** 2).sum(axis=1))
        d[r] = np.inf
        nearest = np.argpartition(d, k)[:k]
        share += len(np.intersect1d(nearest, index[r])) / k / len(rows)
        if distance is not None:
            true = np.sort(d[nearest])
            error = max(error, float(np.abs(np.sort(distance[r]) / true - 1).max()))
    return {"recall": share, "distance_error": error}
