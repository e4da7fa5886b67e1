"""Patches across a gap: two pieces laid side by side in one set of flat coordinates.

Principal components of both sides together would see the gap first and flatten the sides; so each side keeps its own
tangent coordinates, the second is turned to fit the first, and the gap keeps its length. Functions that are affine in
these coordinates are affine on each side: two separated planes and one such patch have exactly d + 1 null vectors.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.run import Run
from lowfold._core.stacks import stacked_svd
from lowfold._core.types import Floats, Ints
from lowfold.graph._connect import Bridges
from lowfold.graph._types import Graph, Neighbors
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.kernels._tangent import affine_basis, orthonormal_columns, tangents

# Of the gap: a gap with less along the sides' planes stands upright on both, and has no direction in them.
ACROSS = 1e-9
# Of a bridge's patch beside reconstruction weights. Those leave smooth functions an energy of 1e-8 to 1e-4 a point, and
# a patch of weight 1 is a rigid plate to them: pieces were laid over each other (accuracy of neighbours on faces 0.62,
# with this 0.80). Much less would shrink each piece to a point.
LOOSE = 1e-6


def laid_flat(P: Floats, split: int, d: int) -> Floats:
    """Flat coordinates (K, d) of rows P (K, p): rows before `split` are one side, the rest the other."""
    sides, frames, middles = [], [], []
    for part in (P[:split], P[split:]):
        middle = part.mean(axis=0)
        local = tangents((part - middle)[None], d)
        theta = local.V[0] * local.sigma[0]
        inverse = np.where(local.sigma[0] > 0, 1.0 / np.where(local.sigma[0] > 0, local.sigma[0], 1.0), 0.0)
        sides.append(theta)
        frames.append((part - middle).T @ (local.V[0] * inverse))  # orthonormal or zero columns
        middles.append(middle)
    left, _, right = stacked_svd(frames[0].T @ frames[1])
    turn = left @ right  # the rotation that brings the second frame nearest to the first
    gap = middles[1] - middles[0]
    direction = frames[0].T @ gap + turn @ (frames[1].T @ gap)
    size = np.linalg.norm(direction)
    direction = direction / size if size > ACROSS * np.linalg.norm(gap) else np.eye(d)[0]
    return np.concatenate([sides[0], sides[1] @ turn.T + np.linalg.norm(gap) * direction])


def bridge_alignment(
    bridges: Bridges, neighbors: Neighbors, labels: Ints, geometry: Geometry, d: int, run: Run
) -> Alignment:
    """One patch per bridge: each end with its neighbours in its own piece, unfolded. W = I - G G'."""
    members: list[Ints] = []
    factors: list[Floats] = []
    graph = neighbors.union()
    for i, j in bridges.edges:
        one, other = (_side(int(end), graph, labels, d + 2) for end in (i, j))
        index = np.concatenate([one, other])
        theta = laid_flat(geometry.centred(index[None])[0], len(one), d)
        theta = orthonormal_columns((theta - theta.mean(axis=0))[None], None)
        members.append(index)
        factors.append(affine_basis(theta)[0])
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in members])])
    flat = np.concatenate(members).astype(np.int32)
    patches = Patches(indptr, flat, neighbors.n_points, np.zeros(len(members), dtype=bool))
    return Alignment(patches, np.concatenate(factors), complement=True, affine=True)


def _side(end: int, graph: Graph, labels: Ints, least: int) -> Ints:
    """A bridge's end and the points around it in its piece: ring after ring, until there are `least` or no more."""
    inside = np.array([end])
    while True:
        ring = np.unique(np.concatenate([graph.row(int(i))[0] for i in inside])).astype(np.int64)
        ring = np.setdiff1d(ring[labels[ring] == labels[end]], inside)
        inside = np.concatenate([inside, ring])
        if len(inside) >= least or len(ring) == 0:
            return inside
