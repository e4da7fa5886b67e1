"""Landmark unfolding: every point is a fixed combination of landmarks, Y = Q U, and only U'U = L is solved for.

Weinberger, Packer & Saul (2005), AISTATS; Wang (2012), Section 9.4, eqs. (9.21)-(9.30).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array

from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.memory import require
from lowfold._core.stacks import equal_rows, stacked_eigh
from lowfold._core.types import Floats, Ints
from lowfold.graph._source import Source
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._lle import applied_reg, gram_weights
from lowfold.kernels._patches import geometry_of
from lowfold.sdp._program import Form, RankOne, complement

# Of the mean eigenvalue of the pairs' sum g g': a direction with less is loose. Surfaces have 1e-3; tables in two
# clouds 1e-5 or more where a pair joins these, and 1e-7 or less where none does: they are then 10^4 spreads apart.
LOOSE = 1e-6
WELL = 0.5  # of the most that any edge holds a loose direction: among these the shortest is as good, and the surest


def reconstruction_weights(
    source: Source, neighbors: Neighbors, *, reg: float = 1e-3, kind: str = "affine"
) -> csr_array:
    """W (n, n): row i holds the weights, summing to 1, with which the neighbours of x_i come nearest to it.

    `kind` is "affine" or "convex" (weights of at least 0); `reg` is the ridge where k exceeds the dimension, else 0.
    """
    geometry = geometry_of(source, neighbors)
    rows, columns, values = [], [], []
    for chosen, k in equal_rows(neighbors.counts, geometry.cost):
        index = neighbors.indices[neighbors.indptr[chosen][:, None] + np.arange(k)]
        ridge = applied_reg(reg, "k>D", k, geometry.n_features, 0)
        w = gram_weights(geometry.spokes(chosen, index), reg=ridge, kind=kind)
        rows.append(np.repeat(chosen, k))
        columns.append(index.ravel())
        values.append(w.ravel())
    n = neighbors.n
    index_pair = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.concatenate(values), index_pair), shape=(n, n))


def landmark_transform(W: csr_array, landmarks: Ints, *, kind: Literal["lsq", "direct"] = "lsq") -> Floats:
    """Q (n, m) with Q[landmarks] = I, rows summing to 1, in the original order of the points.

    "lsq" minimises ||(I - W) Y|| over the other points: Q_u = -Phi_uu^-1 Phi_ul with Phi = (I - W)'(I - W).
    "direct" demands that every other point is rebuilt exactly, Q_u = (I - W_uu)^-1 W_ul; with weights of both signs it
    is ill-conditioned.
    """
    n, m = int(W.shape[0]), len(landmarks)
    if len(np.unique(landmarks)) != m or m == 0 or landmarks.min() < 0 or landmarks.max() >= n:
        raise InvalidInput(f"landmarks must be different row numbers from 0 to {n - 1}; got {m} of them")
    lost = unreached(W, landmarks)
    if len(lost):
        raise InvalidInput(
            f"{len(lost)} points (such as {lost[0]}) refer only to each other and lead to no landmark; "
            "choose landmarks in every part, or use more neighbours"
        )
    require(3 * 8.0 * n * m, f"the transformation from {m} landmarks to {n} points", "use fewer landmarks")
    other = np.setdiff1d(np.arange(n), landmarks)
    Q = np.zeros((n, m))
    Q[landmarks, np.arange(m)] = 1.0
    if len(other) == 0:
        return Q
    residual = csr_array(eye_array(n, format="csr") - W)
    if kind == "direct":
        A, B = residual[other][:, other], -residual[other][:, landmarks]
    else:
        tall = csc_array(residual)
        A, B = tall[:, other].T @ tall[:, other], -(tall[:, other].T @ tall[:, landmarks])
    from scipy.sparse.linalg import splu

    try:
        Q[other] = splu(csc_array(A)).solve(np.ascontiguousarray(B.toarray()))
    except RuntimeError as error:
        raise SolverFailed(
            f"the landmark transformation is singular ({error}); use 'lsq', other landmarks or more neighbours"
        ) from error
    return np.asarray(Q / Q.sum(axis=1, keepdims=True))


def unreached(W: csr_array, landmarks: Ints) -> Ints:
    """Points from which no landmark is reached along weights: their set refers only to itself."""
    from scipy.sparse.csgraph import breadth_first_order

    n = int(W.shape[0])
    rows = np.concatenate([np.full(len(landmarks), n), W.indices])
    columns = np.concatenate([landmarks, np.repeat(np.arange(n), np.diff(W.indptr))])
    reverse = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    reached = breadth_first_order(reverse, n, return_predecessors=False)
    return np.asarray(np.setdiff1d(np.arange(n), reached), dtype=np.int64)


def holding_pairs(Q: Floats, pairs: Ints, graph: Graph) -> Ints:
    """The pairs, and edges of the graph without which a group of landmarks could go anywhere.

    A group whose points are rebuilt by each other alone hangs on the others by edges that need not be in any landmark's
    neighbourhood. While a direction u of the landmarks is loose, the shortest of the edges that hold it well is added.
    """
    m, edges = Q.shape[1], graph.edges()
    edges = edges[np.argsort(graph.lengths[graph.rows() < graph.indices], kind="stable")]
    G = Q[pairs[:, 0]] - Q[pairs[:, 1]]
    B = G.T @ G
    size = float(np.trace(B)) / m
    for _ in range(m):
        values, U = stacked_eigh(B + size / m)  # the constant, which no pair tells, is not looked at
        if values[0] > LOOSE * size:
            break
        along = Q @ U[:, 0]
        held = np.abs(along[edges[:, 0]] - along[edges[:, 1]])
        i, j = edges[np.argmax(held >= WELL * held.max())]
        pairs = np.unique(np.vstack([pairs, [[i, j]]]), axis=0)
        B = B + np.outer(Q[i] - Q[j], Q[i] - Q[j])
    return pairs


def landmark_program(Q: Floats, pairs: Ints, squared: Floats, *, form: Form, nu: float) -> tuple[RankOne, Floats]:
    """The program in L (m, m) and the basis V with L = V L' V'. Centring 1'Q L Q'1 = 0 means L (Q'1) = 0."""
    m = Q.shape[1]
    total = Q.sum(axis=0)
    V = complement(total) if m > 1 else np.ones((1, 0))
    R = Q @ V
    return RankOne(R.T @ R, R[pairs[:, 0]] - R[pairs[:, 1]], squared, form, nu), V
