"""Exact diffusion distances between arbitrary points, by walking: no eigenvectors are left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator, Operator
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.types import Floats
from lowfold.graph._search import nearest
from lowfold.kernels._diffusion import Walk
from lowfold.methods._estimator import check_fitted
from lowfold.methods._placing.place import neighbors_of, take
from lowfold.methods._placing.walks import DiffusionRow
from lowfold.metrics._pairwise import pairwise


def diffusion_distances(model: Any, A: Any, B: Any = None) -> Floats:
    """D_t^2(x, y) = sum_r (p_t(x, r) - p_t(y, r))^2 / phi_0(r), or a_t(x, x) + a_t(y, y) - 2 a_t(x, y).

    With S(x, .) the point's row of the symmetric kernel, p_t(x, .) phi_0^-1/2 = sqrt(vol / d_x) S(x, .) S^(t-1); the
    symmetric kernel's a_t(x, y) = S(x, .) S^(t-2) S(., y).
    """
    check_fitted(model)
    t, least = model.t, 2 if model.convention == "symmetric" else 1
    if t != int(t) or t < least:
        raise InvalidInput(
            f"kind='diffusion' walks t steps and needs a whole t of at least {least} for this convention; got t={t:g}. "
            "kind='embedding' takes any t, with the coordinates that were kept"
        )
    if not isinstance(model._extend, DiffusionRow):
        raise InvalidInput(
            "kind='diffusion' needs one connected model of all points, without landmarks; use kind='embedding'"
        )
    with single_threaded_blas():
        walk = model.walk()
        first = _walked(model, walk, A, int(t))
        second = first if B is None else _walked(model, walk, B, int(t))
        if model.convention != "symmetric" or t % 2 == 0:
            return np.asarray(pairwise(first, None if B is None else second), dtype=np.float64)
        return _odd(walk.operator, first, second)


def _odd(S: Operator, first: Floats, second: Floats) -> Floats:
    """Half a step is missing on each side: (r_x - r_y)' S (r_x - r_y)."""
    left, right = S.apply(np.ascontiguousarray(first.T)), S.apply(np.ascontiguousarray(second.T))
    own = np.einsum("ij,ji->i", first, left)[:, None] + np.einsum("ij,ji->i", second, right)[None, :]
    return np.asarray(np.sqrt(np.maximum(own - 2 * first @ right, 0.0)))


def _walked(model: Any, walk: Walk, X: Any, t: int) -> Floats:
    """One row per point: its distribution after the walk, in coordinates where Euclidean distance is the answer."""
    rows, degrees = _first_step(model, walk, X)
    steps = t // 2 - 1 if model.convention == "symmetric" else t - 1
    R = np.ascontiguousarray(rows.T)
    for _ in range(steps):
        R = walk.operator.apply(R)
    if model.convention == "symmetric":
        return np.ascontiguousarray(R.T)
    volume = walk.degrees.sum() if model.convention == "markov" else 1.0
    return np.ascontiguousarray(R.T * np.sqrt(volume / degrees)[:, None])


def _first_step(model: Any, walk: Walk, X: Any) -> tuple[Floats, Floats]:
    """S(x, .), one dense row per point, and d_x: the stored row at a training point, the extension's row elsewhere."""
    trained, run, S = model._trained, model._run(), walk.operator
    queries = model.reader.queries(model, X)
    near = nearest(trained.source, 1, queries=queries, search=trained.search, run=run)
    m, at = near.n, near.indices.astype(np.int64)
    known = (near.distances == 0) & model._extend.recognise
    require(3 * 8.0 * m * S.n, "walks from these points", "ask for fewer points at a time")
    rows, degrees = np.empty((m, S.n)), walk.degrees[at]
    own = S.matrix[at[known]]
    rows[known] = own if isinstance(S, DenseOperator) else own.toarray()
    new = np.flatnonzero(~known)
    if len(new) == 0:
        return rows, degrees
    if model.weights == "variable":
        raise InvalidInput(
            "kind='diffusion' knows training points alone with weights='variable': at a new one the walk waits; use "
            "kind='embedding'"
        )
    part = take(queries, new)
    found = neighbors_of(trained, part, run)
    K = model._extend.rows(trained, part, found, run)
    degrees[new] = K.degrees
    scale = K.densities**-model.alpha / np.sqrt(K.degrees)
    rows[new] = K.rows.toarray() * scale[:, None] / np.sqrt(walk.degrees)
    return rows, degrees
