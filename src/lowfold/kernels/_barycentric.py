"""Barycentric weights: the combination of neighbours that comes nearest to a point, weights summing to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import SolverFailed
from lowfold._core.parallel import STACKED, block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats

WILD = 4.0  # sum of absolute weights, which multiplies what they are applied to; 1 inside the hull


def barycentric_weights(x: NDArray[np.floating], Z: NDArray[np.floating], *, reg: float = 1e-3) -> Floats:
    """w (m, k) minimising ||x_i - sum_j w_ij Z_ij||^2 + reg tr(C_i) ||w_i||^2 with sum_j w_ij = 1.

    x is (m, D), Z (m, k, D) holds each point's neighbours, C_i is the Gram matrix of the differences Z_ij - x_i. A
    point that coincides with a neighbour takes weight 1 on it, whatever `reg`.
    """
    m, k, D = Z.shape
    weights = np.empty((m, k))
    eye = np.eye(k)
    for part in block_slices(m, max(1, STACKED // (k * max(k, D)))):
        V = Z[part].astype(np.float64) - x[part].astype(np.float64)[:, None, :]
        zero = ~np.asarray(V.any(axis=2), dtype=bool)
        hit = zero.any(axis=1)
        C = V @ V.transpose(0, 2, 1)
        C += (reg * np.trace(C, axis1=1, axis2=2))[:, None, None] * eye
        C[hit] = eye  # their weights are known; with reg = 0 their C is singular
        try:
            w = np.linalg.solve(C, np.ones((len(C), k, 1)))[:, :, 0]
        except np.linalg.LinAlgError as error:
            raise SolverFailed(f"the weights of {k} neighbours are not unique; use reg above 0") from error
        weights[part] = w / w.sum(axis=1, keepdims=True)
        own = np.zeros((int(hit.sum()), k))
        own[np.arange(len(own)), np.argmax(zero[hit], axis=1)] = 1.0
        weights[part][hit] = own
    return weights


def held_weights(x: NDArray[np.floating], Z: NDArray[np.floating], *, reg: float, rounding: float = 0.0) -> Floats:
    """`barycentric_weights` whose ridge is ten times larger, and again, at points where they extrapolate wildly.

    A point within `rounding`, a share of its largest coordinate, of a neighbour takes weight 1 on it.

    Neighbours that nearly lie on a line, or nearly coincide, give a point beside them weights of any size; what these
    are applied to is then multiplied as much.
    """
    w = barycentric_weights(x, Z, reg=reg)
    wild = np.flatnonzero(np.abs(w).sum(axis=1) > WILD)
    while len(wild) and reg < 1:
        reg = max(10 * reg, ROUNDING)  # 0, which a file may hold, would never grow
        w[wild] = barycentric_weights(x[wild], Z[wild], reg=reg)
        wild = wild[np.abs(w[wild]).sum(axis=1) > WILD]
    if rounding:
        away = np.abs(Z - x[:, None, :]).max(axis=2)
        same = np.flatnonzero(away.min(axis=1) <= rounding * np.abs(x).max(axis=1))
        w[same] = 0.0
        w[same, np.argmin(away[same], axis=1)] = 1.0
    return w
