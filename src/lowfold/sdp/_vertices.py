"""A preconditioner for factors of many columns: the Hessian's r x r block of every point, and the smoothest motions.

The springs at a point hold the directions u_e = y_i - y_j of its pairs and no others. In many columns most directions
are free, which a Laplacian that all columns share does not know: digits take twice the steps with it. What many points
do together is beyond blocks; for that the bottom eigenvectors of the Laplacian of the springs are added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.operators import SparseOperator
from lowfold._core.parallel import STACKED
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold.sdp._edges import Edges
from lowfold.sdp._newton import Precondition
from lowfold.sdp._repair import DENSE_POINTS
from lowfold.spectral._doors import smallest

# Of the mean degree of L_w: the least that a point's block has along free directions. The Hessian there is
# 2 (L_w - I), which may be 0 or below.
FREE = 0.05
# Motions of many points at once, and the share of their Newton step that is added, since the blocks give a part of it.
# Five far clusters do not find their places without them; with 100, or with all of the step, digits take more steps.
SMOOTH, PART = 20, 0.3
ROUGHLY = 1e-2  # asked of these motions, which only precondition
# Of what descends by these blocks: float32 takes half the time. Differences are taken before they are squared, so that
# squared distances keep six digits; the weights that a minimisation leaves are measured again in float64.
SINGLE = np.float32


@dataclass(frozen=True, eq=False)
class Vertices:
    """Points of similar degree together: `points` (b,) and their `pairs` (b, k), filled up with m; V (n, SMOOTH)."""

    edges: Edges
    groups: list[tuple[Ints, Ints]]
    V: Floats


def vertices_of(edges: Edges, squared: Floats, columns: int, run: Run) -> Vertices:
    """Groups whose differences in so many columns fit into a block, and the smoothest motions."""
    n, m = edges.n, edges.m
    ends = np.concatenate([edges.i, edges.j])
    by_point = np.argsort(ends, kind="stable")
    pairs, first = by_point % m, np.searchsorted(ends[by_point], np.arange(n + 1))
    degree = np.diff(first)
    order = np.argsort(degree, kind="stable")
    most = max(1, STACKED // (columns * int(degree.max())))
    groups = []
    for start in range(0, n, most):
        points = order[start : start + most]
        place = first[points][:, None] + np.arange(int(degree[points].max()))
        inside = place < first[points + 1][:, None]
        groups.append((points, np.where(inside, pairs[np.minimum(place, 2 * m - 1)], m)))
    operator = SparseOperator(edges.laplacian(squared), psd=True, laplacian=True)
    asked = Run(solver="dense" if n <= DENSE_POINTS else "auto", tol=ROUGHLY, n_jobs=run.n_jobs)
    found = smallest(operator, min(SMOOTH, n - 1), null=np.ones((n, 1)), negligible=np.inf, run=asked)
    return Vertices(edges, groups, found.vectors)


def vertex_blocks(vertices: Vertices, Y: Floats, w: Floats, rho: float) -> Precondition:
    """R -> B^-1 R + PART V (V'LV)^-1 V'R, L with the springs' weights where they stretch alike in all columns."""
    edges, r = vertices.edges, Y.shape[1]
    U = np.zeros((edges.m + 1, r), SINGLE)
    U[:-1] = edges.differences(Y)
    degree = edges.degrees(w)
    free = np.maximum(2.0 * degree - 2.0, 2.0 * FREE * float(np.abs(degree).mean())).astype(SINGLE)
    inverse = np.empty((edges.n, r, r), SINGLE)
    on = np.arange(r)
    for points, pairs in vertices.groups:
        u = U[pairs]
        B = SINGLE(4.0 * rho) * np.matmul(u.transpose(0, 2, 1), u)
        B[:, on, on] += free[points, None]
        inverse[points] = np.linalg.inv(B)
    alike = edges.laplacian(2.0 * np.maximum(w, 0.0) + (4.0 * rho / r) * edges.squares(Y))
    V = vertices.V.astype(SINGLE)
    scaled = (vertices.V * (PART / np.einsum("nk,nk->k", vertices.V, alike @ vertices.V))).astype(SINGLE)

    def precondition(R: Floats) -> Floats:
        out = np.matmul(inverse, R[:, :, None])[:, :, 0] + scaled @ (V.T @ R)
        return np.asarray(out - out.mean(axis=0))

    return precondition
