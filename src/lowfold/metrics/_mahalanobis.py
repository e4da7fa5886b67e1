"""The matrix of a directionally weighted distance, Wang (2012), Section 3.1.1, eqs. (3.1) and (3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import AnyFloats, Floats

ASYMMETRY = 1e-10  # of an entry: a product B B' in float64 is uneven by less
BLOCK_ROWS = 4096  # float32 data are widened a block at a time


def covariance_root(params: Mapping[str, Any], X: AnyFloats | None) -> tuple[Floats, Floats]:
    """(M, L) with M = L L', L lower triangular, so that d^2 = (x - a)' M^-1 (x - a) = ||L^-1 (x - a)||^2."""
    D = None if X is None else X.shape[1]
    if "M" in params:
        if "basis" in params or "weights" in params or params.get("reg"):
            raise InvalidInput("metric_params: give M, or basis and weights, or reg, not several of them")
        M = _square(params["M"], "M", D)
        came = "metric_params: M"
    elif "basis" in params or "weights" in params:
        M = weighted_basis(params, D)
        came = "metric_params: basis diag(1/weights) basis'"
    elif X is None:
        raise InvalidInput("metric 'mahalanobis' without data needs metric_params M, or basis and weights")
    else:
        M = _covariance(X, float(params.get("reg", 0.0)))
        came = "the covariance of the data"
    return M, _root(M, came)


def weighted_basis(params: Mapping[str, Any], D: int | None) -> Floats:
    """M = B diag(1/lambda) B', for which (x-a)' M^-1 (x-a) = [B^-1 (x-a)]' diag(lambda) [B^-1 (x-a)]."""
    if "basis" not in params or "weights" not in params:
        raise InvalidInput("metric_params: basis and weights of mahalanobis must be given together")
    B = _square(params["basis"], "basis", D)
    weights = numbers_of(params["weights"], "weights")
    if weights.shape != (len(B),) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise InvalidInput(f"metric_params: weights must be {len(B)} positive numbers; got {params['weights']!r}")
    if np.linalg.cond(B) > 1 / np.finfo(float).eps:
        raise InvalidInput("metric_params: basis is singular; its columns must be linearly independent")
    M = (B / weights) @ B.T
    return (M + M.T) / 2


def _covariance(X: AnyFloats, reg: float) -> Floats:
    if not reg >= 0:
        raise InvalidInput(f"metric_params: reg of mahalanobis must be at least 0; got {reg}")
    if len(X) < 2:
        raise InvalidInput("metric 'mahalanobis' needs two rows or more to find a covariance; give M instead")
    mean = X.mean(axis=0, dtype=np.float64)
    C = np.zeros((len(mean), len(mean)))
    for rows in block_slices(len(X), BLOCK_ROWS):
        centred = X[rows] - mean
        C += centred.T @ centred
    C /= len(X) - 1
    return np.asarray(C + reg * np.trace(C) / len(C) * np.eye(len(C)))


def numbers_of(values: object, name: str) -> Floats:
    """The values of a parameter as an array, its own."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"metric_params: {name} must be an array of numbers; got {values!r}") from None


def _square(M: object, name: str, D: int | None) -> Floats:
    matrix = numbers_of(M, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or D not in (None, len(matrix)):
        wanted = "(D, D)" if D is None else f"({D}, {D}), D the columns of X"
        raise InvalidInput(f"metric_params: {name} must be a matrix of shape {wanted}; got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InvalidInput(f"metric_params: {name} holds NaN or infinity")
    return matrix


def _root(M: Floats, came: str) -> Floats:
    if not np.allclose(M, M.T, rtol=ASYMMETRY, atol=ROUNDING * np.abs(M).max()):
        raise InvalidInput(f"{came} must be symmetric for mahalanobis")
    way_out = "drop constant or dependent columns, use more rows than columns, or pass metric_params={'reg': 0.01}"
    try:
        L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise InvalidInput(f"{came} is not positive definite, as mahalanobis needs; {way_out}") from None
    # the square of a pivot is what the columns before leave of a variance: rounding alone when the matrix is singular
    left = np.diagonal(L) ** 2 / np.diagonal(M)
    worst = int(left.argmin())
    if left[worst] <= 8 * len(M) * np.finfo(float).eps:
        raise InvalidInput(
            f"{came} is not positive definite, as mahalanobis needs: column {worst} depends on those before; {way_out}"
        )
    return L
