"""Vector diffusion distances between arbitrary points, with all eigenvectors: powers of S-bar applied to their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.parallel import single_threaded_blas
from lowfold._core.types import Floats
from lowfold.graph._search import nearest
from lowfold.methods._estimator import check_fitted
from lowfold.methods._fit import feature_rows
from lowfold.methods._placing.place import neighbors_of


def vector_distances(model: Any, A: Any, B: Any = None) -> Floats:
    """d^2(x, y) = |K(x, x)|^2 + |K(y, y)|^2 - 2 |K(x, y)|^2 with K = S-bar^2t, Hilbert-Schmidt norms of d x d blocks.

    K(x, y) = R_x S-bar^(2t - 2 - 2s) R_y' with R_x = S-bar(x, .) S-bar^s; new points enter by their own blocks.
    """
    check_fitted(model)
    steps = 2 * model.t
    if steps != int(steps) or steps < 2:
        raise InvalidInput(f"kind='diffusion' walks 2t steps and needs a whole 2t of at least 2; got t={model.t:g}")
    half, odd = divmod(int(steps) - 2, 2)
    with single_threaded_blas():
        S = model.kernel()
        first = _walked(model, S, A, half)
        second = first if B is None else _walked(model, S, B, half)
        d = model.tangent_dim_
        other = S.apply(np.ascontiguousarray(second.T)).T if odd else second
        own = S.apply(np.ascontiguousarray(first.T)).T if odd else first
        K = _norms(first @ other.T, d)
        diagonal_a = _own_norms(first, own, d)
        diagonal_b = diagonal_a if B is None else _own_norms(second, other, d)
        squared = diagonal_a[:, None] + diagonal_b[None, :] - 2 * K
    if B is None:
        np.fill_diagonal(squared, 0.0)
    return np.sqrt(np.maximum(squared, 0.0))


def _norms(product: Floats, d: int) -> Floats:
    """Squared norms of the d x d blocks."""
    m, n = product.shape[0] // d, product.shape[1] // d
    return np.asarray((product.reshape(m, d, n, d) ** 2).sum(axis=(1, 3)))


def _own_norms(left: Floats, right: Floats, d: int) -> Floats:
    m = left.shape[0] // d
    blocks = left.reshape(m, d, -1) @ right.reshape(m, d, -1).transpose(0, 2, 1)
    return np.asarray((blocks**2).sum(axis=(1, 2)))


def _walked(model: Any, S: Any, X: Any, half: int) -> Floats:
    """R_x for every point, d rows each."""
    row, trained, run, d = model._row(), model._trained, model._run(), model.tangent_dim_
    queries = feature_rows(model.reader.queries(model, X))
    near = nearest(trained.source, 1, queries=queries, search=trained.search, run=run)
    m, at, known = near.n, near.indices.astype(np.int64), near.distances == 0
    require(3 * 8.0 * m * d * S.n, "walks from these points", "ask for fewer points at a time")
    out = np.zeros((m, d, S.n))
    mine = (at[known][:, None] * d + np.arange(d)).ravel()
    out[known] = S.matrix[mine].toarray().reshape(-1, d, S.n)
    new = np.flatnonzero(~known)
    if len(new):
        found = neighbors_of(trained, queries[new], run)
        rows = row.rows(trained, queries[new], found, run)
        part = np.zeros((len(new), d, S.n // d, d))
        part[rows.edges.rows(), :, rows.edges.indices, :] = rows.blocks
        out[new] = part.reshape(len(new), d, S.n)
    R = np.ascontiguousarray(out.reshape(m * d, S.n).T)
    for _ in range(half):
        R = S.apply(R)
    return np.ascontiguousarray(R.T)
