"""Fast anisotropic transformation, Wang (2012), Section 15.3, doi:10.1007/978-3-642-27497-8: a few columns of the
kernel, or random combinations of them, span a space in which its leading eigenvectors are looked for.

K --m columns--> K_m --QR--> Q --> K Q = U S W' --> eigenvectors of K on the span of the first columns of U
"""

from __future__ import annotations

import numpy as np

from lowfold._core.memory import require
from lowfold._core.operators import ColumnOperator, Operator
from lowfold._core.types import Floats, Ints
from lowfold.spectral._krylov import Ritz, orthonormalise, remove

MODES = ("greedy", "interpolative", "projective")  # GAT, I-RAT, P-RAT
EXTRA = 20  # columns beyond those asked for: the book's wrap dimension is k + 20
SPARE = 2  # singular vectors kept beyond those that seem to be needed, for the order of close values


def wrapped(op: Operator, k: int, mode: str, *, null: Floats, rng: np.random.Generator) -> Ritz:
    """The k leading eigenpairs by three products with k + 20 columns or fewer. Good where the spectrum falls fast, as a
    geodesic kernel's does; a walk on a sparse graph has hundreds of eigenvalues near 1, and defeats it.

    The vectors are those of K Q, a product better than those of Q. Singular values are |eigenvalues|, and negative ones
    would stand among the leading: so many vectors are kept that k positive ones are among them.
    """
    m = min(k + EXTRA, op.n - null.shape[1])
    Q = orthonormalise(sketch(op, m, mode, rng), [null])
    if Q.shape[1] < k:  # fewer independent columns than pairs: the rest belongs to the eigenvalue 0
        more = orthonormalise(rng.standard_normal((op.n, m - Q.shape[1])), [null, Q])
        Q = np.hstack([Q, more])
    B = remove(op.apply(Q), null)
    T = Q.T @ B
    theta = np.linalg.eigvalsh((T + T.T) / 2)[::-1]
    U = np.linalg.svd(B, full_matrices=False)[0]
    needed = int((np.abs(theta) >= theta[k - 1]).sum()) + SPARE if theta[k - 1] > 0 else U.shape[1]
    V = orthonormalise(U[:, :needed], [null])
    T = V.T @ op.apply(np.ascontiguousarray(V))
    values, S = np.linalg.eigh((T + T.T) / 2)
    return Ritz(values[::-1][:k], (V @ S[:, ::-1])[:, :k], 3, True)


def sketch(op: Operator, m: int, mode: str, rng: np.random.Generator) -> Floats:
    """K_m (n, m): the m longest columns, m random ones, or K R with a Gaussian R."""
    if mode == "projective":
        return op.apply(rng.standard_normal((op.n, m)))
    if mode == "interpolative":
        return columns_of(op, np.sort(rng.choice(op.n, m, replace=False)))
    return columns_of(op, longest(op, m))


def longest(op: Operator, m: int) -> Ints:
    """The m columns of the largest norms; of an operator that does not show its columns, the whole matrix is made."""
    if isinstance(op, ColumnOperator):
        squares = op.column_squares()
    else:
        require(8.0 * op.n**2, f"the longest of {op.n} columns", "use solver='prat', which needs products only")
        squares = np.square(op.dense()).sum(axis=0)
    return np.sort(np.argsort(-squares, kind="stable")[:m])


def columns_of(op: Operator, index: Ints) -> Floats:
    """Columns of the operator, or the products with unit vectors that they are."""
    if isinstance(op, ColumnOperator):
        return op.columns(index)
    unit = np.zeros((op.n, len(index)))
    unit[index, np.arange(len(index))] = 1.0
    return op.apply(unit)
