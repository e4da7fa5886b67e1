"""Approximations of a psd matrix from some of its columns: Nystrom, greedy, and determinantal samples.

Williams & Seeger (2001); Fowlkes et al. (2004), doi:10.1109/TPAMI.2004.1262185 (orthogonal Nystrom); Belabbas & Wolfe
(2009), doi:10.1073/pnas.0810600105 (greedy weights, determinantal columns); Kulesza & Taskar (2012),
doi:10.1561/2200000044 (sampling); Wang (2012), Chapter 15, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lowfold._core import errors
from lowfold._core.errors import InvalidInput
from lowfold._core.random import generator
from lowfold._core.types import Floats, Ints
from lowfold._core.warn import warn
from lowfold.lowrank._check import rank, symmetric
from lowfold.lowrank._results import Compressed, Nystrom

NOT_PSD = 1e-8  # of the largest eigenvalue, below 0: more than rounding of a product of factors leaves
SINGULAR = 1e-12  # share of the largest eigenvalue below which a direction of the sampled block has no digits


def nystrom_approximation(G: Any, columns: ArrayLike) -> Nystrom:
    """G ~ G_J G_JJ^-1 G_J' from the columns J of a psd matrix; equal to G on these rows and columns.

    V holds Nystrom's extended eigenvectors [U; B' U Sigma^-1] of the block G_JJ = U Sigma U', which are not orthogonal.
    Of an operator with `columns` only these are computed. A singular block is inverted where it can be, and said.

    >>> G = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    >>> bool(np.allclose(nystrom_approximation(G, [1]).dense(), G))
    True
    """
    J, C = _sampled(G, columns)
    sigma, U = _block_eigen(C[J])
    return Nystrom(sigma, C @ (U / sigma), J, False)


def nystrom_orthogonal(G: Any, columns: ArrayLike) -> Nystrom:
    """The same approximation as `nystrom_approximation`, with orthonormal vectors and the eigenvalues that go with it:
    V = [A; B'] A^-1/2 U Lambda^-1/2 where A + A^-1/2 B B' A^-1/2 = U Lambda U'.

    >>> found = nystrom_orthogonal(np.diag([3.0, 2.0, 1.0]), [0, 1])
    >>> found.values.tolist()
    [3.0, 2.0]
    """
    J, C = _sampled(G, columns)
    sigma, U = _block_eigen(C[J])
    F = C @ (U / np.sqrt(sigma))  # F F' is the approximation, F' F has its eigenvalues
    values, W = np.linalg.eigh(F.T @ F)
    values, W = values[::-1], W[:, ::-1]
    kept = values > SINGULAR * values[0]
    return Nystrom(values[kept], F @ (W[:, kept] / np.sqrt(values[kept])), J, True)


def _sampled(G: Any, columns: ArrayLike) -> tuple[Ints, Floats]:
    J = np.atleast_1d(np.asarray(columns))
    n = int(G.n) if hasattr(G, "columns") else len(G)
    if J.dtype.kind not in "iu" or J.ndim != 1 or len(J) == 0 or J.min() < 0 or J.max() >= n:
        raise InvalidInput(f"columns must be indices from 0 to {n - 1}; got {columns!r}")
    if len(np.unique(J)) != len(J):
        raise InvalidInput("columns names one twice; each index may occur once")
    J = J.astype(np.int64)
    C = G.columns(J) if hasattr(G, "columns") else symmetric(G)[:, J]
    return J, np.asarray(C, dtype=np.float64)


def _block_eigen(A: Floats) -> tuple[Floats, Floats]:
    """Positive eigenvalues, descending, and vectors of the sampled block."""
    values, U = np.linalg.eigh((A + A.T) / 2)
    values, U = values[::-1], U[:, ::-1]
    kept = values > SINGULAR * max(float(values[0]), 0.0)
    if not kept.any():
        raise InvalidInput("the sampled block has no positive eigenvalue: G is zero there, or not semidefinite")
    if not kept.all():
        warn(
            f"the sampled block is singular: {len(kept)} columns span {int(kept.sum())} directions only, so the others "
            "say nothing; take columns that differ more (sample_kdpp, pivoted_cholesky), or fewer",
            errors.AccuracyWarning,
        )
    return values[kept], U[:, kept]


def optimal_weights(G: ArrayLike, columns: ArrayLike) -> Floats:
    """w that minimises ||G - sum_j w_j a_j a_j'||_F over the columns a_j of A = G^1/2: Q_JJ w = r, Q = G o G,
    r_l = sum_j Q_lj.

    The formula needs A'A = AA' = G, so the square root; with a Cholesky factor it does not hold.

    >>> optimal_weights(np.eye(3), [0, 2]).tolist()
    [1.0, 1.0]
    """
    G = symmetric(G)
    J, _ = _sampled(G, columns)
    Q = np.square(G[J])
    return np.asarray(scipy.linalg.lstsq(Q[:, J], Q.sum(axis=1), cond=SINGULAR)[0])


def greedy(G: ArrayLike, k: int, *, columns: ArrayLike | None = None) -> Compressed:
    """G ~ U U' G U U' with U an orthonormal basis of k columns of G: those of the largest norms, or `columns`.

    With `columns=sample_kdpp(G, k)` it is the book's randomized form. Only the span of the columns matters: the optimal
    weights are reported, and change nothing but where one of them is 0. Exact where G has rank k.

    >>> greedy(np.diag([1.0, 3.0, 2.0]), 2).columns.tolist()
    [1, 2]
    """
    G = symmetric(G)
    k = rank(k, len(G))
    if columns is None:
        J = np.argsort(-np.square(G).sum(axis=0), kind="stable")[:k].astype(np.int64)
    else:
        J, _ = _sampled(G, columns)
    w = optimal_weights(G, J)
    U, s, _ = np.linalg.svd(G[:, J] * w, full_matrices=False)
    U = U[:, s > SINGULAR * s[0]]
    return Compressed(U, U.T @ G @ U, J, w)


def sample_kdpp(G: ArrayLike, k: int, *, random_state: object = None) -> Ints:
    """k indices J drawn with probability det(G_JJ) / sum_(|L|=k) det(G_LL): columns that differ. Exact, of order n^3.

    >>> sorted(sample_kdpp(np.diag([1.0, 1.0, 0.0]), 2, random_state=0).tolist())
    [0, 1]
    """
    G = symmetric(G)
    n = len(G)
    k = rank(k, n)
    rng = generator(random_state)
    values, V = np.linalg.eigh(G)
    if values[0] < -NOT_PSD * max(float(values[-1]), 0.0) or values[-1] <= 0:
        raise InvalidInput(f"G must be positive semidefinite for determinants to be a law; got {values[0]:.3g}")
    values = np.where(values > n * np.finfo(float).eps * values[-1], values, 0.0)
    if int((values > 0).sum()) < k:
        raise InvalidInput(f"G has rank {int((values > 0).sum())}: no {k} columns are independent; ask for fewer")
    return _project(V[:, _eigenvectors(values, k, rng)], rng)


def log_symmetric_polynomials(values: Floats, k: int) -> Floats:
    """log e_l of the first i values, l = 0..k, i = 0..n: e_l(1..i) = e_l(1..i-1) + value_i e_(l-1)(1..i-1)."""
    E = np.full((k + 1, len(values) + 1), -np.inf)
    E[0] = 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    for i, log in enumerate(logs):
        E[1:, i + 1] = np.logaddexp(E[1:, i], log + E[:-1, i])
    return E


def _eigenvectors(values: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Which k eigenvectors span the elementary law that is sampled from."""
    E = log_symmetric_polynomials(values, k)
    chosen: list[int] = []
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    for i in range(len(values), 0, -1):
        left = k - len(chosen)
        if left == 0:
            break
        if np.log(rng.random()) < logs[i - 1] + E[left - 1, i - 1] - E[left, i]:
            chosen.append(i - 1)
    return np.array(chosen, dtype=np.int64)


def _project(V: Floats, rng: np.random.Generator) -> Ints:
    """One point after the other, with probability of the squared length that V's rows have left beyond the former."""
    n, k = V.shape
    left = np.square(V).sum(axis=1)
    Q = np.zeros((k, k))
    chosen = np.empty(k, dtype=np.int64)
    for t in range(k):
        weight = np.maximum(left, 0.0)
        weight[chosen[:t]] = 0.0
        i = chosen[t] = rng.choice(n, p=weight / weight.sum())
        q = V[i] - Q[:t].T @ (Q[:t] @ V[i])
        Q[t] = q / np.linalg.norm(q)
        left -= np.square(V @ Q[t])
    return np.sort(chosen)
