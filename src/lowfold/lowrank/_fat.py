"""Fast anisotropic transformation, literally as in Wang (2012), Section 15.3, doi:10.1007/978-3-642-27497-8; with
exactly m columns where the printed code draws m on average, and input of any shape where its product does not fit.

The solvers "gat", "irat" and "prat" of the methods are the same idea with eigenvalues of the right sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.operators import DenseOperator, Operator, SparseOperator
from lowfold._core.random import generator
from lowfold._core.types import Floats
from lowfold.lowrank._check import matrix, rank, symmetric
from lowfold.lowrank._random_projection import RANDOM_KINDS, random_entries
from lowfold.spectral._anisotropic import EXTRA, MODES, columns_of, longest
from lowfold.spectral._doors import largest
from lowfold.spectral._factor import count_fill, factorise

RIDGE = 1e-8  # of the norm: the bottom of an alignment kernel lies at 1e-9 of it and below, the rounding at 1e-16
STEPS = 50  # factors of the power conversion; with 50 a walk's leading eigenvectors come out to 0.005, with 20 to 0.3


@dataclass(frozen=True, eq=False)
class FAT:
    """Y (n, k) with orthonormal columns, not scaled by the values; `mode` says what was done ("svd" where m columns
    would not have saved anything), m how many columns it was made of.
    """

    Y: Floats
    values: Floats
    mode: str
    m: int


def fat(
    G: Any,
    k: int,
    m: int | None = None,
    mode: Literal["greedy", "interpolative", "projective"] = "greedy",
    *,
    kind: str = "gaussian",
    power: int = 1,
    markov: bool = False,
    always: bool = False,
    random_state: object = 0,
) -> FAT:
    """The k leading eigenvectors of a symmetric G, or left singular vectors of a rectangular one, from m columns.

    m is k + 20 by default. "greedy" takes the longest columns (GAT), "interpolative" random ones (I-RAT),
    "projective" random combinations of the `kind` "gaussian", "sign" or "sparse" (P-RAT). Only where 2 m is below the
    number of columns; else, unless `always`, a truncated SVD. `power` repeats the product with G before the space is
    taken, for spectra that fall slowly. `markov` divides the vectors by the first one, which is left out.

    Values are singular values: an indefinite kernel shows its negative eigenvalues by their size.

    >>> R = np.random.default_rng(0).standard_normal((300, 5))
    >>> found = fat(R @ R.T, 2)
    >>> found.mode, found.m, found.Y.shape
    ('greedy', 22, (300, 2))
    """
    _check_choices(mode, kind, power)
    A = G if isinstance(G, Operator) else _square_or_not(G)
    rows, columns = A.shape if isinstance(A, np.ndarray) else (A.n, A.n)
    kept = rank(k, min(rows, columns) - markov) + markov
    m = min(kept + EXTRA - markov, columns) if m is None else rank(m, columns, "m")
    if m < kept:
        raise InvalidInput(f"m must be at least {kept}, as many columns as vectors are asked for; got {m}")
    if 2 * m >= columns and not always:
        Y, values = _svd(A, kept)
        mode_done = "svd"
    else:
        Y, values = _transformed(A, kept, m, mode, kind, power, generator(random_state))
        mode_done = str(mode)
    if markov:
        return FAT(Y[:, 1:] / Y[:, :1], values[1:], mode_done, m)
    return FAT(Y, values, mode_done, m)


def _square_or_not(G: ArrayLike) -> Operator | Floats:
    """A symmetric array as an operator; a rectangular one as it is."""
    shape = np.shape(G)
    return DenseOperator(symmetric(G)) if len(shape) == 2 and shape[0] == shape[1] else matrix(G, "G")


def _check_choices(mode: str, kind: str, power: int) -> None:
    if mode not in MODES:
        raise InvalidInput(f"mode must be one of {', '.join(map(repr, MODES))}; got {mode!r}")
    if kind not in RANDOM_KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(map(repr, RANDOM_KINDS))}; got {kind!r}")
    if int(power) != power or power < 1:
        raise InvalidInput(f"power must be an integer of at least 1; got {power!r}")


def _svd(A: Operator | Floats, k: int) -> tuple[Floats, Floats]:
    if not isinstance(A, np.ndarray):
        require(16.0 * A.n**2, f"the SVD of {A.n} columns", "choose a smaller m")
        A = A.dense()
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, :k], s[:k]


def _transformed(
    A: Operator | Floats, k: int, m: int, mode: str, kind: str, power: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    if isinstance(A, np.ndarray):  # Q' A = U S W' and Y = Q U
        Q = np.linalg.qr(_columns(A, m, mode, kind, rng))[0]
        for _ in range(power - 1):
            Q = np.linalg.qr(A @ (A.T @ Q))[0]
        U, s, _ = np.linalg.svd(Q.T @ A, full_matrices=False)
        return np.asarray(Q @ U[:, :k]), s[:k]
    Q = np.linalg.qr(_operator_columns(A, m, mode, kind, rng))[0]
    for _ in range(power - 1):
        Q = np.linalg.qr(A.apply(Q))[0]
    U, s, _ = np.linalg.svd(A.apply(Q), full_matrices=False)
    return U[:, :k], s[:k]


def _columns(A: Floats, m: int, mode: str, kind: str, rng: np.random.Generator) -> Floats:
    n = A.shape[1]
    if mode == "projective":
        return np.asarray(A @ random_entries(kind, m, n, random_state=rng).dense())
    if mode == "interpolative":
        return A[:, np.sort(rng.choice(n, m, replace=False))]
    return A[:, np.sort(np.argsort(-np.square(A).sum(axis=0), kind="stable")[:m])]


def _operator_columns(op: Operator, m: int, mode: str, kind: str, rng: np.random.Generator) -> Floats:
    if mode == "projective":
        return op.apply(np.asarray(random_entries(kind, m, op.n, random_state=rng).dense(), dtype=np.float64))
    index = longest(op, m) if mode == "greedy" else np.sort(rng.choice(op.n, m, replace=False))
    return columns_of(op, index)


@dataclass(frozen=True, eq=False)
class _Applied:
    """An operator known by its product alone."""

    n: int
    function: Any
    bound: float | None = None
    psd: bool = True

    def apply(self, V: Floats) -> Floats:
        return np.asarray(self.function(V), dtype=np.float64)

    def dense(self) -> Floats:
        return self.apply(np.eye(self.n))


def as_max_kernel(
    K: Any, how: Literal["inverse", "power", "shift"] = "inverse", *, eps: float | None = None, power: int = STEPS
) -> Operator:
    """A kernel whose leading eigenvectors are the bottom ones of the psd K (LLE, LTSA, Hessian LLE, Laplacians).

    "inverse" (K + eps I)^-1, eps 1e-8 of the norm by default, by one factorisation; "power" (I - K / ||K||)^power, by
    so many products; "shift" ||K|| I - K, in which what is looked for lies within 1e-9 of everything else: it is here
    because texts name it, and no approximate method finds it.

    >>> round(float(as_max_kernel(np.diag([1.0, 4.0]), eps=1e-12).dense()[0, 0]), 6)
    1.0
    """
    op = K if isinstance(K, Operator) else DenseOperator(symmetric(K, "K"), psd=True)
    if how not in ("inverse", "power", "shift"):
        raise InvalidInput(f"how must be 'inverse', 'power' or 'shift'; got {how!r}")
    if how == "power" and (int(power) != power or power < 1):
        raise InvalidInput(f"power must be an integer of at least 1; got {power!r}")
    top = float(largest(op, 1, negligible=1.0).values[0])
    if how == "inverse":
        return _Applied(op.n, _solver(op, RIDGE * top if eps is None else float(eps)))
    if how == "shift":
        return _Applied(op.n, lambda V: top * V - op.apply(V), bound=top)

    def repeated(V: Floats) -> Floats:
        for _ in range(power):
            V = V - op.apply(V) / top
        return V

    return _Applied(op.n, repeated, bound=1.0)


def _solver(op: Operator, eps: float) -> Any:
    if not eps > 0:
        raise InvalidInput(f"eps must be above 0: K itself is singular; got {eps!r}")
    if isinstance(op, SparseOperator):
        return factorise(op.matrix, eps, count_fill(op.matrix), n_jobs=op.n_jobs)
    require(16.0 * op.n**2, f"the inverse of a dense kernel of {op.n} points", "pass a sparse operator")
    factor = scipy.linalg.cho_factor(op.dense() + eps * np.eye(op.n))
    return lambda V: scipy.linalg.cho_solve(factor, V)


def deviation(Y0: ArrayLike, Y: ArrayLike) -> float:
    """Spectral norm of the difference of two embeddings after columns are scaled to length 1 and signs agree: 0 for the
    same axes, at most sqrt(2 d).

    Columns of nearly equal eigenvalues may turn in their plane without harm; `subspace_distance` does not mind.

    >>> deviation([[1.0], [2.0]], [[-2.0], [-4.0]])
    0.0
    """
    A, B = matrix(Y0, "Y0"), matrix(Y, "Y")
    if A.shape != B.shape:
        raise InvalidInput(f"embeddings of the same shape are compared; got {A.shape} and {B.shape}")
    A, B = _unit_columns(A), _unit_columns(B)
    signs = np.where(np.einsum("ij,ij->j", A, B) < 0, -1.0, 1.0)
    return float(np.linalg.norm(A - B * signs, 2))


def _unit_columns(Y: Floats) -> Floats:
    size = np.linalg.norm(Y, axis=0)
    return np.asarray(Y / np.where(size > 0, size, 1.0))
