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

SWEEPS, SWEEPS_H = 2, 3  # of W, and of H, which has fewer numbers
ROWS = 4096  # of X, whose coordinates are swept together: they stay in the cache
LOOK = 5  # steps over which the error has to fall
# Times tol, of the squares of X. Tables of few columns (wine, cancer) are then at 0.1 to 0.35 of the error where
# scikit-learn stops, after a quarter of the steps that the last tenth takes; rows that factor exactly below its error.
FLAT = 2e-3
# The share of a step: at first, times what it grows after each, and its bound, which is the last that was cut, and
# grows itself; and what it is divided by where the error rises: within what the article tries.
BETA, GROWTH, BOUND_GROWTH, CUT = 0.5, 1.05, 1.01, 1.5


@dataclass(frozen=True)
class Penalty:
    """l1 |A| + l2 / 2 |A|^2 of a factor A >= 0."""

    l1: float = 0.0
    l2: float = 0.0

    def twice(self, A: Floats) -> float:
        return 2 * self.l1 * float(A.sum()) + self.l2 * float(np.vdot(A, A)) if self.l1 or self.l2 else 0.0

    def slope(self, R: Floats) -> Floats:
        """R of the gradient Q A - R with this penalty."""
        return R - self.l1 if self.l1 else R

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
        rows = [X] if len(parts) == 1 else [X[part] for part in parts]
        return cls(parts, rows, float(np.vdot(values, values)))


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
    W, _, WtX, WtW = _coordinates(rows, np.ascontiguousarray(W.T), W.T, H, of_W, 0.0, n_jobs, 1)
    H = swept(H, of_H.square(WtW), of_H.slope(WtX), 1)
    at = W, H, W, H  # what was reached, and where it was carried on to
    best, beta, share, bound = (W, H), BETA, BETA, 1.0
    errors: list[float] = []
    step = 1
    for step in range(2, max_iter + 1):
        W, H, beyond_W, beyond_H = at
        new_W, Y, YtX, YtY = _coordinates(rows, beyond_W, W, beyond_H, of_W, share, n_jobs, SWEEPS)
        new_H = swept(beyond_H, of_H.square(YtY), of_H.slope(YtX), SWEEPS_H)
        error = rows.square - 2 * float(np.vdot(YtX, new_H)) + float(np.vdot(YtY, new_H @ new_H.T))
        error += of_W.twice(Y) + of_H.twice(new_H)
        if error <= ROUNDING * rows.square:
            return Y.T, new_H, step
        if errors and error > errors[-1]:  # from the best again by a plain step, which cannot rise but by rounding
            at, error = (*best, *best), errors[-1]
            bound, beta, share = beta, beta / CUT, 0.0
        else:
            at, best = (new_W, new_H, Y, _carried(new_H, H, share)), (Y, new_H)
            bound = min(1.0, BOUND_GROWTH * bound)
            beta = share = min(bound, GROWTH * beta)
        errors.append(error)
        lowered(error)
        if progress is not None:
            progress(step / max_iter)
        if len(errors) > LOOK and errors[-1 - LOOK] - error <= LOOK * tol * max(error, FLAT * rows.square):
            break
    return best[0].T, best[1], step


def _coordinates(
    rows: _Blocks,
    start: Floats,
    W: Floats,
    H: Floats,
    penalty: Penalty,
    beta: float,
    n_jobs: int | None,
    sweeps: int,
) -> tuple[Floats, Floats, Floats, Floats]:
    """W lowered from `start`, Y beyond it by `beta` of the way from the old W, Y'X and Y'Y."""
    Q = penalty.square(H.dot(H.T))
    if len(rows.rows) == 1:
        return _of_block(rows.rows[0], start, W, H, Q, penalty, beta, sweeps)
    new, Y = np.empty_like(W), np.empty_like(W)

    def term(part: slice) -> Floats:
        X, columns = rows.rows[part.start // ROWS], (slice(None), part)
        new[columns], Y[columns], *sums = _of_block(X, start[columns], W[columns], H, Q, penalty, beta, sweeps)
        return np.hstack(sums)

    k, D = H.shape
    sums = grouped_sum(W.shape[1], rows.parts, term, (k, D + k), n_jobs)
    return new, Y, sums[:, :D], sums[:, D:]


def _of_block(
    X: Any, start: Floats, W: Floats, H: Floats, Q: Floats, penalty: Penalty, beta: float, sweeps: int
) -> tuple[Floats, Floats, Floats, Floats]:
    sparse = hasattr(X, "tocsr")
    R = np.ascontiguousarray((X @ H.T).T) if sparse else H.dot(X.T)
    new = swept(start, Q, penalty.slope(R), sweeps)
    Y = _carried(new, W, beta)
    return new, Y, (X.T @ Y.T).T if sparse else Y.dot(X), Y.dot(Y.T)


def _carried(new: Floats, old: Floats, beta: float) -> Floats:
    """`new` and `beta` of the way to it from `old` further, as far as nothing is negative."""
    beyond = new - old
    beyond *= beta
    beyond += new
    return np.maximum(beyond, 0.0, out=beyond)


def swept(A: Floats, Q: Floats, R: Floats, sweeps: int) -> Floats:
    """A >= 0 with gradient Q A - R lowered: its rows in turn are set to their exact minimum, `sweeps` times."""
    A, curved = A.copy(), Q.diagonal()[:, None]
    parts: Any = range(len(A))
    if not curved.all():
        A[(curved[:, 0] == 0) & (R < 0).all(axis=1)] = 0.0  # of a part that is gone: its penalty alone is left
        parts, curved = np.flatnonzero(curved), np.where(curved > 0, curved, 1.0)
    others, alone, rest = Q / curved, R / curved, np.empty(A.shape[1])
    others.ravel()[:: len(A) + 1] = 0.0  # a_c = max(0, (r_c - sum of q_cj a_j over the others) / q_cc)
    turns = [(others[c].dot, alone[c], A[c]) for c in parts]
    subtract, maximum = np.subtract, np.maximum
    for _ in range(sweeps):
        for weighted, least, a in turns:
            maximum(subtract(least, weighted(A, rest), rest), 0.0, out=a)
    return A


def gradient_left(H: Floats, YtY: Floats, YtX: Floats) -> float:
    """The gradient in H as far as H >= 0 lets it act, over the largest entry of Y'X."""
    G = YtY @ H - YtX
    free = np.where(H > 0, np.abs(G), np.maximum(-G, 0.0))
    return float(free.max()) / max(float(np.abs(YtX).max()), np.finfo(float).tiny)
