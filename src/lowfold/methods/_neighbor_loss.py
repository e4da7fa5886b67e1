"""Divergences that neighbour embeddings lower, at any embedding, with the share of every point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.parallel import block_slices
from lowfold._core.types import Floats
from lowfold.methods._fit import Data
from lowfold.methods._losses import Loss
from lowfold.methods._neighbor_affinity import resolve_perplexity, squared_rows
from lowfold.optimize._loss_formulas import LossValue, best_scale, divergence_points, weight_mass
from lowfold.optimize._neighbor import tails
from lowfold.optimize._perplexity import row_bandwidths, row_probabilities

BLOCK = 256  # rows of probabilities at once: a few MB for thousands of points


def joint_divergence(model: Any, data: Data, scaled: bool) -> Loss:
    """KL(P || Q); points: sum_j p_ij log(p_ij / q_ij), which adds up to it."""
    return _divergence(model, data, scaled, _joint_points)


def row_divergence(model: Any, data: Data, scaled: bool) -> Loss:
    """sum_i KL(P_i || Q_i); points: their own terms."""
    return _divergence(model, data, scaled, _row_points)


def _divergence(model: Any, data: Data, scaled: bool, shares: Callable[[Any, Data, Any, Floats], Floats]) -> Loss:
    run = model._run()
    P = model._affinities(data, resolve_perplexity(model.perplexity, data.n), run)
    cost = model._cost(P, run)

    def loss(Y: Floats) -> LossValue:
        if scaled:
            size = float(np.sqrt(((Y - Y.mean(axis=0)) ** 2).mean())) or 1.0
            Y = Y / size
            Y = best_scale(lambda s: float(cost.value(np.ascontiguousarray(s * Y)))) * Y
        Y = np.ascontiguousarray(Y)
        return LossValue(float(cost.value(Y)), shares(model, data, P, Y))

    return loss


def _joint_points(model: Any, data: Data, P: Any, Y: Floats) -> Floats:
    power, root = tails(model.dof) if model.student else (0.0, 1.0)
    Y = Y / root
    mass = float(weight_mass(Y, power).sum())
    if isinstance(getattr(P, "matrix", None), csr_array):
        return divergence_points(P.matrix, Y, power, 0, mass)
    out = np.empty(len(Y))
    for part in block_slices(len(Y), BLOCK):
        block, first = P.columns(part)
        p = np.ascontiguousarray(block[:, first : first + part.stop - part.start].T)
        out[part] = divergence_points(p, Y, power, part.start, mass)
    return out


def _row_points(model: Any, data: Data, P: Any, Y: Floats) -> Floats:
    mass, rows = weight_mass(Y, 0.0), squared_rows(data)
    perplexity = resolve_perplexity(model.perplexity, len(Y))
    out = np.empty(len(Y))
    for part in block_slices(len(Y), BLOCK):
        squared = rows(part)
        p = row_probabilities(squared, row_bandwidths(squared, perplexity))
        own = np.log(mass[part]) * p.sum(axis=1)
        out[part] = divergence_points(p, Y, 0.0, part.start, 1.0) + own
    return out
