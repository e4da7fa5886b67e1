"""Symmetric matrices as vectors: svec(A) . svec(B) = <A, B>."""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats, Ints


def triangle(q: int) -> tuple[Ints, Ints]:
    """Indices of the upper triangle, column after column, as Clarabel wants them."""
    j, i = np.tril_indices(q)
    return i.astype(np.int64), j.astype(np.int64)


def scales(q: int) -> Floats:
    """1 on the diagonal, sqrt 2 off it, in the order of `triangle`."""
    i, j = triangle(q)
    return np.where(i == j, 1.0, np.sqrt(2.0))


def svec(M: Floats) -> Floats:
    """The upper triangle, off-diagonal entries times sqrt 2."""
    return np.asarray(M[triangle(len(M))] * scales(len(M)))


def svec_rows(G: Floats) -> Floats:
    """svec(g_e g_e') in row e."""
    i, j = triangle(G.shape[1])
    return np.asarray(G[:, i] * G[:, j] * scales(G.shape[1]))


def smat(x: Floats, q: int) -> Floats:
    """The symmetric q x q matrix whose svec is x."""
    M = np.zeros((q, q))
    M[triangle(q)] = x / scales(q)
    return M + np.triu(M, 1).T


def svec_kron(S: Floats) -> Floats:
    """The matrix of D -> S D S on svec: the Hessian of -log det.

    Column j of the triangle has rows (S_ik S_jl + S_il S_jk) / 2 for i <= j: products of rows that are gathered once,
    less than a third of the time of gathering every entry.
    """
    i, j = triangle(len(S))
    scale = scales(len(S))
    Si, Sj = S[:, i], S[:, j]
    out = np.empty((len(i), len(i)))
    spare = np.empty_like(Si)
    first = 0
    for column in range(len(S)):
        part, more = out[first : first + column + 1], spare[: column + 1]
        np.multiply(Si[: column + 1], 0.5 * scale * Sj[column], out=part)
        np.multiply(Sj[: column + 1], 0.5 * scale * Si[column], out=more)
        part += more
        part[:column] *= np.sqrt(2.0)
        first += column + 1
    return out
