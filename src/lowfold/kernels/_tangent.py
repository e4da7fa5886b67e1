"""Local tangent coordinates and what is left when affine functions are taken out of a patch.

Zhang & Zha (2004), doi:10.1137/S1064827502419154; Wang (2012), Section 11.2, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.parallel import run_blocks
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._patches import RANK_TOL, Geometry, Patches


@dataclass(frozen=True, eq=False)
class Tangents:
    """Local principal components of a stack of patches X_i H = U Sigma V'.

    V      (m, K, d) orthonormal columns, orthogonal to the ones; a column that the patch does not span is zero
    sigma  (m, d) singular values, zero with such a column
    rest   (m,) sum of the singular values beyond the d-th: how far the patch is from flat
    """

    V: Floats
    sigma: Floats
    rest: Floats


def tangents(P: Floats, d: int) -> Tangents:
    """Leading singular vectors of centred patches P (m, K, p), through the smaller of P P' and P' P."""
    m, K, p = P.shape
    small = P.transpose(0, 2, 1) @ P if p < K else P @ P.transpose(0, 2, 1)
    values, U = stacked_eigh(small)
    s = np.sqrt(np.maximum(values[:, ::-1], 0.0))
    width = min(d, s.shape[1])
    top = U[:, :, ::-1][:, :, :width]
    sigma = np.zeros((m, d))
    sigma[:, :width] = np.where(s[:, :width] > RANK_TOL * s[:, :1], s[:, :width], 0.0)
    V = np.zeros((m, K, d))
    if p < K:
        scale = np.where(sigma[:, :width] > 0, 1.0 / np.where(sigma[:, :width] > 0, sigma[:, :width], 1.0), 0.0)
        V[:, :, :width] = (P @ top) * scale[:, None, :]
    else:
        V[:, :, :width] = top * (sigma[:, None, :width] > 0)
    V = orthonormal_columns(V - V.mean(axis=1, keepdims=True), None)
    return Tangents(V, sigma, s[:, d:].sum(axis=1))


def orthonormal_columns(A: Floats, against: Floats | None, *, tol: float = 1e-8) -> Floats:
    """Gram-Schmidt on the columns of a stack (m, K, r), twice, first against given orthonormal columns.

    A column that depends on those before it becomes zero, so that A A' stays a projector.
    """
    Q = np.zeros_like(A)
    for c in range(A.shape[2]):
        v = A[:, :, c : c + 1]
        size = np.linalg.norm(v, axis=1, keepdims=True)
        v = v / np.where(size > 0, size, 1.0)
        for _ in range(2):
            if against is not None:
                v = v - against @ (against.transpose(0, 2, 1) @ v)
            if c:
                v = v - Q[:, :, :c] @ (Q[:, :, :c].transpose(0, 2, 1) @ v)
        left = np.linalg.norm(v, axis=1, keepdims=True)
        Q[:, :, c : c + 1] = np.where(left > tol, v / np.where(left > 0, left, 1.0), 0.0)
    return Q


def affine_basis(V: Floats) -> Floats:
    """G = [1 / sqrt(K), V]: orthonormal columns that span the affine functions of the local coordinates."""
    m, K, _ = V.shape
    return np.concatenate([np.full((m, K, 1), 1.0 / np.sqrt(K)), V], axis=2)


def tangent_alignment(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Alignment, Floats]:
    """W_i = I - G_i G_i': the alignment of LTSA, and the singular values left out of each patch, summed.

    Wang (2012), Section 11.2.3, eq. (11.17); the printed 1/k in G must be 1/sqrt(k).
    """
    if run.device != "cpu":
        from lowfold.kernels._on_device import tangents_on_device

        with run.stage("local tangents on the device"):
            found = tangents_on_device(patches, geometry, d, run)
        if found is not None:
            return Alignment(patches, found[0], complement=True, affine=True), found[1]
    G = np.zeros((len(patches.members), d + 1))
    rest = np.zeros(patches.n)
    blocks = list(patches.groups(geometry.cost))

    def work(b: int) -> None:
        rows, index, places = blocks[b]
        local = tangents(geometry.centred(index), d)
        G[places] = affine_basis(local.V)
        rest[rows] = local.rest

    with run.stage("local tangents") as progress:
        run_blocks(work, len(blocks), n_jobs=run.n_jobs, progress=progress)
    return Alignment(patches, G, complement=True, affine=True), rest
