"""Nonnegative factors, min ||X - W H||_F with W >= 0 and H >= 0: exact steps for one column after the other.

W and H are lowered in turn (Cichocki & Phan 2009, doi:10.1587/transfun.E92.A.708), by several sweeps for every product
with X, which costs more than they do (Gillis & Glineur 2012, doi:10.1162/NECO_a_00256). Each result is carried on
beyond itself by a share of the step that led to it; the share grows while the error falls, and is cut where it rises
(Ang & Gillis 2019, doi:10.1162/neco_a_01157). That takes a few times fewer steps than plain coordinate descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowfold._core.parallel import Progress, block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats
from lowfold._core.watch import lowered
from lowfold.lowrank._scatter import grouped_sum

SWEEPS = 3
ROWS = 4096  # of X, whose coordinates are swept together: they stay in the cache
LOOK = 5  # steps over which the error has to fall
# Times tol, of the squares of X. Tables of few columns (wine, cancer) are then at 0.1 to 0.35 of the error where
# scikit-learn stops, after a quarter of the steps that the last tenth takes; rows that factor exactly below its error.
FLAT = 2e-4
# The share of a step: at first, times what it grows after each, and its bound, which is the last that was cut, and
# grows itself; and what it is divided by where the error rises. All as in the article.
BETA, GROWTH, BOUND_GROWTH, CUT = 0.5, 1.01, 1.005, 1.5


@dataclass(frozen=True)
class Penalty:
    """l1 |A| + l2 / 2 |A|^2 of a factor A >= 0."""

    l1: float = 0.0
    l2: float = 0.0

    def twice(self, A: Floats) -> float:
        return 2 * self.l1 * float(A.sum()) + self.l2 * float(np.vdot(A, A)) if self != FREE else 0.0

    def square(self, Q: Floats) -> Floats:
        """Q of the gradient Q A - R with this penalty."""
        return Q + self.l2 * np.eye(len(Q)) if self.l2 else Q


FREE = Penalty()


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The rows of X in blocks, and the sum of their squares."""

    parts: list[slice]
    rows: list[Any]
    square: float

    @classmethod
    def of(cls, X: Any) -> _Blocks:
        parts = block_slices(X.shape[0], ROWS)
        values = X.data if hasattr(X, "tocsr") else X
        return cls(parts, [X[part] for part in parts], float(np.square(values).sum()))


def nonnegative_factors(
    X: Any,
    W: Floats,
    H: Floats,
    *,
    penalties: tuple[Penalty, Penalty] = (FREE, FREE),
    tol: float,
    max_iter: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, int]:
    """W (n, k), H (k, D) and the steps taken, from a start; X (n, D) is a float64 array or a sparse matrix.

    `penalties` of W and of H are lowered with half the squared error.

    Ends when the squared error falls by less in a step, mean of five, than the share `tol` of it, or than FLAT of that
    share of all squares: rows that factor nearly exactly fall on and on, from a thousandth of the data to less.
    """
    rows, (of_W, of_H) = _Blocks.of(X), penalties
    # A plain step before all: from a start, which is far off, to be carried on beyond leads to poorer minima.
    W, _, WtX, WtW = _coordinates(rows, np.ascontiguousarray(W.T), W.T, H, of_W, 0.0, n_jobs, sweeps=1)
    H = swept(H, of_H.square(WtW), WtX - of_H.l1, 1)
    beyond_W, beyond_H = W, H
    beta, bound = BETA, 1.0
    errors: list[float] = []
    for step in range(2, max_iter + 1):
        new_W, beyond_W, YtX, YtY = _coordinates(rows, beyond_W, W, beyond_H, of_W, beta, n_jobs)
        new_H = swept(beyond_H, of_H.square(YtY), YtX - of_H.l1, SWEEPS)
        error = rows.square - 2 * float((YtX * new_H).sum()) + float((YtY * (new_H @ new_H.T)).sum())
        error += of_W.twice(beyond_W) + of_H.twice(new_H)
        if error <= ROUNDING * rows.square:
            return new_W.T, new_H, step
        if errors and error > errors[-1]:  # from here again, less far; near the end rounding alone lets it rise
            beyond_W, beyond_H, error = W, H, errors[-1]
            bound, beta = beta, beta / CUT
        else:
            beyond_H = np.maximum(new_H + beta * (new_H - H), 0.0)
            bound = min(1.0, BOUND_GROWTH * bound)
            beta = min(bound, GROWTH * beta)
            W, H = new_W, new_H
        errors.append(error)
        lowered(error)
        if progress is not None:
            progress(step / max_iter)
        if len(errors) > LOOK and errors[-1 - LOOK] - error <= LOOK * tol * max(error, FLAT * rows.square):
            return W.T, H, step
    return W.T, H, max_iter


def _coordinates(
    rows: _Blocks,
    start: Floats,
    W: Floats,
    H: Floats,
    penalty: Penalty,
    beta: float,
    n_jobs: int | None,
    sweeps: int = SWEEPS,
) -> tuple[Floats, Floats, Floats, Floats]:
    """W lowered from `start`, Y beyond it by `beta` of the way from the old W, Y'X and Y'Y."""
    k, D = H.shape
    Q, new, Y = penalty.square(H @ H.T), np.empty_like(W), np.empty_like(W)

    def term(part: slice) -> Floats:
        X = rows.rows[part.start // ROWS]
        here = swept(start[:, part], Q, np.ascontiguousarray((X @ H.T).T) - penalty.l1, sweeps)
        beyond = here + beta * (here - W[:, part])
        new[:, part], Y[:, part] = here, np.maximum(beyond, 0.0, out=beyond)
        return np.hstack([(X.T @ beyond.T).T, beyond @ beyond.T])

    sums = grouped_sum(W.shape[1], rows.parts, term, (k, D + k), n_jobs)
    return new, Y, sums[:, :D], sums[:, D:]


def swept(A: Floats, Q: Floats, R: Floats, sweeps: int) -> Floats:
    """A >= 0 with gradient Q A - R lowered: its rows in turn are set to their exact minimum, `sweeps` times."""
    A = A.copy()
    A[(np.diag(Q) == 0) & (R < 0).all(axis=1)] = 0.0  # of a part that is gone: its penalty alone is left
    alive = np.flatnonzero(np.diag(Q) > 0)
    curved = Q[alive, alive][:, None]
    others, alone = Q[alive] / curved, R[alive] / curved
    others[np.arange(len(alive)), alive] = 0.0  # a_c = max(0, (r_c - sum of q_cj a_j over the others) / q_cc)
    for _ in range(sweeps):
        for c, row, least in zip(alive, others, alone, strict=True):
            np.maximum(least - row @ A, 0.0, out=A[c])
    return A


def gradient_left(H: Floats, YtY: Floats, YtX: Floats) -> float:
    """The gradient in H as far as H >= 0 lets it act, over the largest entry of Y'X."""
    G = YtY @ H - YtX
    free = np.where(H > 0, np.abs(G), np.maximum(-G, 0.0))
    return float(free.max()) / max(float(np.abs(YtX).max()), np.finfo(float).tiny)
