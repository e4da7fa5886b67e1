"""Where nonnegative factors start: Boutsidis & Gallopoulos (2008), doi:10.1016/j.patcog.2007.09.010.

Every singular pair (u, v) of X is cut to its positive or to its negative entries, whichever keep more of it: the best
nonnegative pair of rank one that its signs allow. Zeros stay zero in some descents, so they may be filled by the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowfold._core.run import Run
from lowfold._core.sparse_rows import SparseRows
from lowfold._core.types import Floats
from lowfold.lowrank._principal import principal_axes
from lowfold.lowrank._sparse_axes import sparse_axes

NONE = np.finfo(float).tiny  # the length of a pair that is not there


def nonnegative_start(X: Any, k: int, kind: str, run: Run) -> tuple[Floats, Floats]:
    """W (n, k) and H (k, D), >= 0, for an array or SparseRows X: "random", "nndsvd", or "nndsvda", filled up."""
    n, D = X.shape
    A = X.csr if isinstance(X, SparseRows) else X
    mean = float(A.sum()) / (n * D)
    if kind == "random":
        size = np.sqrt(mean / k)
        return size * np.abs(run.rng.standard_normal((n, k))), size * np.abs(run.rng.standard_normal((k, D)))
    axes = (sparse_axes if isinstance(X, SparseRows) else principal_axes)(X, np.zeros(D), k, run=run)
    W, H = _cut(np.asarray(A @ axes.V), axes.V)
    if kind == "nndsvda":
        W, H = np.where(W > 0, W, mean), np.where(H > 0, H, mean)
    return W, H


def _cut(US: Floats, V: Floats) -> tuple[Floats, Floats]:
    """From s u and v, column by column: sqrt(s) times the better half of u v', shared evenly by both."""
    s = np.linalg.norm(US, axis=0)
    halves = [(np.maximum(sign * US, 0.0), np.maximum(sign * V, 0.0)) for sign in (1.0, -1.0)]
    sizes = [np.linalg.norm(x, axis=0) * np.linalg.norm(y, axis=0) for x, y in halves]
    (x, y), (x_n, y_n) = halves
    x, y = (np.where(sizes[0] >= sizes[1], a, b) for a, b in ((x, x_n), (y, y_n)))
    root = np.sqrt(np.maximum(*sizes) * (s > NONE))
    unit_x, unit_y = (a / np.maximum(np.linalg.norm(a, axis=0), NONE) for a in (x, y))
    return unit_x * root, (unit_y * root).T
