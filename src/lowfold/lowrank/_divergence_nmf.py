"""Nonnegative factors for the beta divergences, by multiplicative updates that never raise them.

V = W H;   W <- W o ((X o V^(beta - 2)) H' / (V^(beta - 1) H' + penalties))^gamma,   and the same for H, transposed

Fevotte & Idier (2011), doi:10.1162/NECO_a_00168. beta = 1 is Kullback and Leibler's, 0 Itakura and Saito's, 2 squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.parallel import Progress, block_slices, run_blocks
from lowfold._core.types import Floats
from lowfold._core.watch import lowered
from lowfold.lowrank._nmf import FREE, Penalty
from lowfold.lowrank._scatter import grouped_sum

LEAST = float(np.finfo(np.float32).eps)  # of V, whose negative powers are taken; as in scikit-learn
GONE = float(np.finfo(np.float64).eps)  # of factors, where beta is 1 or less: their powers would overflow
LOOK = 10  # steps between two looks at the divergence, which cost as much as a step
ENTRIES = 2**20  # of V at a time: they stay in the cache


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of X in blocks; sparse ones stay so where only their entries above 0 count (beta = 1)."""

    X: Any
    beta: float
    parts: list[slice]

    @classmethod
    def of(cls, X: Any, beta: float) -> _Rows:
        return cls(csr_array(X) if _sparse(X) else X, beta, block_slices(X.shape[0], max(1, ENTRIES // X.shape[1])))

    def block(self, part: slice) -> Any:
        rows = self.X[part]
        return rows.toarray() if _sparse(rows) and self.beta != 1 else rows

    def sides(self, part: slice, W: Floats, H: Floats) -> tuple[Any, Floats | None]:
        """X o V^(beta - 2) and V^(beta - 1) of these rows; of the second None where it is 1 everywhere."""
        X = self.block(part)
        if self.beta == 1:
            return _over(X, W[part], H), None
        V = np.maximum(W[part] @ H, LEAST)
        return X * V ** (self.beta - 2), V ** (self.beta - 1)


def _sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def divergent_factors(
    X: Any,
    W: Floats,
    H: Floats,
    beta: float,
    *,
    penalties: tuple[Penalty, Penalty] = (FREE, FREE),
    tol: float,
    max_iter: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, int]:
    """W (n, k), H (k, D) and the steps taken, from a start; X (n, D) is an array or sparse, its largest value near 1.

    Ends when the root of what is lowered fell, in ten steps, by less than `tol` of the first: scikit-learn's rule, but
    for the penalties, which count here: where they are lowered, the divergence alone may rise.
    """
    rows = _Rows.of(X, beta)
    first = previous = _lowered_to(rows, W, H, penalties)
    for step in range(1, max_iter + 1):
        W = _updated_rows(rows, W, H, penalties[0], n_jobs)
        H = _updated_parts(rows, W, H, penalties[1], n_jobs)
        if progress is not None:
            progress(step / max_iter)
        if step % LOOK == 0:
            error = _lowered_to(rows, W, H, penalties)
            lowered(error)
            if previous - error <= tol * first:
                return W, H, step
            previous = error
    return W, H, max_iter


def divergence(X: Any, W: Floats, H: Floats, beta: float) -> float:
    """The root of twice the divergence of W H from X."""
    return _lowered_to(_Rows.of(X, beta), W, H, (FREE, FREE))


def divergent_rows(X: Any, H: Floats, beta: float, *, penalty: Penalty, steps: int, n_jobs: int | None) -> Floats:
    """The coordinates of every row for given parts, by so many updates; each row starts from its own size."""
    total, sums = float(H.sum()), np.asarray(X.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    W = np.repeat(sums / (total if total > 0 else 1.0), len(H), axis=1)
    rows = _Rows.of(X, beta)
    for _ in range(steps):
        W = _updated_rows(rows, W, H, penalty, n_jobs)
    return W


def _updated_rows(rows: _Rows, W: Floats, H: Floats, penalty: Penalty, n_jobs: int | None) -> Floats:
    out = np.empty_like(W)

    def work(b: int) -> None:
        part = rows.parts[b]
        N, P = rows.sides(part, W, H)
        below = H.sum(axis=1) if P is None else P @ H.T
        out[part] = _times(W[part], N @ H.T, below, penalty, rows.beta)

    run_blocks(work, len(rows.parts), n_jobs=n_jobs)
    return out


def _updated_parts(rows: _Rows, W: Floats, H: Floats, penalty: Penalty, n_jobs: int | None) -> Floats:
    k, D = H.shape

    def term(part: slice) -> Floats:
        N, P = rows.sides(part, W, H)
        below = np.repeat(W[part].sum(axis=0)[:, None], D, axis=1) if P is None else W[part].T @ P
        return np.vstack([W[part].T @ N, below])

    sums = grouped_sum(len(W), rows.parts, term, (2 * k, D), n_jobs)
    return _times(H, sums[:k], sums[k:], penalty, rows.beta)


def _times(A: Floats, above: Floats, below: Floats, penalty: Penalty, beta: float) -> Floats:
    """A after an update; the exponent is the one below which no update raises the divergence."""
    gamma = 1 / (2 - beta) if beta < 1 else 1 / (beta - 1) if beta > 2 else 1.0
    below = below + penalty.l1 + penalty.l2 * A
    A = A * (above / np.where(below > 0, below, LEAST)) ** gamma
    return np.where(A < GONE, 0.0, A) if beta <= 1 else A


def _over(X: Any, W: Floats, H: Floats) -> Any:
    """X / (W H); of sparse X at its entries alone."""
    if not _sparse(X):
        return X / np.maximum(W @ H, LEAST)
    return csr_array((X.data / np.maximum(_at_entries(X, W, H), LEAST), X.indices, X.indptr), shape=X.shape)


def _at_entries(X: csr_array, W: Floats, H: Floats) -> Floats:
    i, Ht = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), np.ascontiguousarray(H.T)
    out = np.empty(X.nnz)
    for part in block_slices(X.nnz, max(1, ENTRIES // len(H))):
        out[part] = np.einsum("ek,ek->e", W[i[part]], Ht[X.indices[part]])
    return out


def _lowered_to(rows: _Rows, W: Floats, H: Floats, penalties: tuple[Penalty, Penalty]) -> float:
    total = float(W.sum(axis=0) @ H.sum(axis=1)) if rows.beta == 1 else 0.0
    total += sum(_divergence_of(rows.block(part), W[part], H, rows.beta) for part in rows.parts)
    return float(np.sqrt(max(2 * total + penalties[0].twice(W) + penalties[1].twice(H), 0.0)))


def _divergence_of(X: Any, W: Floats, H: Floats, beta: float) -> float:
    """Of some rows; with beta = 1 the sum of V is left out, which needs no V."""
    if beta == 1:
        from scipy.special import xlogy

        x, v = (X.data, _at_entries(X, W, H)) if _sparse(X) else (X, W @ H)
        return float((xlogy(x, x) - xlogy(x, np.maximum(v, LEAST)) - x).sum())
    V = np.maximum(W @ H, LEAST)
    if beta == 0:
        return float((X / V - np.log(X / V) - 1).sum())
    return float((X**beta + (beta - 1) * V**beta - beta * X * V ** (beta - 1)).sum()) / (beta * (beta - 1))
