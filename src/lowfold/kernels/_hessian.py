"""Local Hessian estimators: quadratic functions of the tangent coordinates, affine ones taken out.

Donoho & Grimes (2003), doi:10.1073/pnas.1031596100; Wang (2012), Section 13.2, doi:10.1007/978-3-642-27497-8.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.parallel import run_blocks
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold.kernels._alignment import Alignment
from lowfold.kernels._patches import Geometry, Patches
from lowfold.kernels._tangent import affine_basis, orthonormal_columns, tangents


def quadratic_dimension(d: int) -> int:
    """d_q = 1 + d + d(d + 1)/2: the dimension of quadratic functions of d variables, the fewest points of a patch.

    >>> [quadratic_dimension(d) for d in (1, 2, 3)]
    [3, 6, 10]
    """
    return (d + 1) * (d + 2) // 2


def hessian_rows(V: Floats) -> Floats:
    """Q (m, K, d(d+1)/2): columns v_a * v_b, a <= b, made orthonormal after [1/sqrt(K), V] by Gram-Schmidt.

    Q'f estimates the second derivatives of f: it is 0 for every affine function of the coordinates V. Columns that
    depend on those before (a patch with fewer points than d_q, or on a curve) are zero.
    """
    d = V.shape[2]
    products = np.concatenate([V[:, :, a : a + 1] * V[:, :, a:] for a in range(d)], axis=2)
    return orthonormal_columns(products, affine_basis(V))


def hessian_alignment(patches: Patches, geometry: Geometry, d: int, run: Run) -> tuple[Alignment, Floats]:
    """W_i = Q_i Q_i', a projector of rank d(d+1)/2; and the singular values left out of each patch, summed.

    Wang (2012), eqs. (13.12) and (13.13). The rows Q_i' stacked over the patches are the operator H with K = H'H of
    Donoho & Grimes (`Alignment.stacked`).
    """
    if run.device != "cpu":
        from lowfold.kernels._on_device import hessians_on_device

        with run.stage("local Hessians on the device"):
            found = hessians_on_device(patches, geometry, d, run)
        if found is not None:  # all patches have one size, so that none is of twins
            return Alignment(patches, found[0], affine=True), found[1]
    Q = np.zeros((len(patches.members), d * (d + 1) // 2))
    rest = np.zeros(patches.n)
    blocks = list(patches.groups(max(geometry.cost, quadratic_dimension(d))))

    def work(b: int) -> None:
        rows, index, places = blocks[b]
        local = tangents(geometry.centred(index), d)
        Q[places] = hessian_rows(local.V)
        rest[rows] = local.rest

    with run.stage("local Hessians") as progress:
        run_blocks(work, len(blocks), n_jobs=run.n_jobs, progress=progress)
    # Twins have no second derivative, but one place: (y_j - y_r)^2 / 2.
    pair = patches.indptr[:-1][patches.twin]
    Q[pair, 0], Q[pair + 1, 0] = np.sqrt(0.5), -np.sqrt(0.5)
    return Alignment(patches, Q, affine=True), rest
