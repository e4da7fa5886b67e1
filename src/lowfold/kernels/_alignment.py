"""Alignment kernels: K = sum_i S_i' W_i S_i, patch matrices accumulated at the places of their members.

Every alignment method has W_i = B_i B_i' (LLE, Hessian LLE) or W_i = I - B_i B_i' (LTSA) with few columns in B_i, so
B is kept, N K r numbers, and the sum is merged row by row: no N K^2 triplets are ever stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lowfold._core.jit import SMALL, loops_for
from lowfold._core.operators import SparseOperator
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import Floats, Ints
from lowfold._cuda._device import on_host
from lowfold.kernels._patches import Patches

FEW_PRODUCTS = 1e6  # of members of patches: 40 MB, and a tenth of a second to sort
LEAST_ROWS, MOST_BLOCKS = 2048, 64  # rows of a block at least, to outlast handing it out; blocks at most


@dataclass(frozen=True, eq=False)
class Alignment:
    """Patches with their factors: `factor` (entries, r) has one row per member of every patch.

    W_i = B_i B_i', or I - B_i B_i' with `complement=True` (B_i then has orthonormal or zero columns). `affine` says
    that affine functions of a patch's own coordinates have no energy at all. A factor that was made on a device stays
    there.
    """

    patches: Patches
    factor: Floats
    complement: bool = False
    affine: bool = False

    def local(self, i: int) -> Floats:
        """W_i, dense."""
        part = slice(self.patches.indptr[i], self.patches.indptr[i + 1])
        B = self.factor[part]
        W = B @ B.T
        return np.eye(len(B)) - W if self.complement else W

    def stacked(self) -> csr_array:
        """The tall matrix H with H'H = K for W_i = B_i B_i': one row per patch and column of B."""
        n, r = self.patches.n, self.factor.shape[1]
        patch = np.repeat(np.arange(n), self.patches.sizes)
        rows = (patch[:, None] * r + np.arange(r)).ravel()
        columns = np.repeat(self.patches.members, r)
        return csr_array((self.factor.ravel(), (rows, columns)), shape=(n * r, self.patches.n_points))


def align(alignment: Alignment, *, run: Run | None = None) -> SparseOperator:
    """K = sum_i S_i' W_i S_i; symmetric to the bit, positive semidefinite.

    Both K_ab and K_ba add the same products in the order of the patches, so no symmetrising is needed.
    """
    run = run or Run()
    if run.device != "cpu":
        from lowfold.kernels._on_device import align_on_device

        with run.stage("alignment kernel on the device"):
            found = align_on_device(alignment.patches, alignment.factor, alignment.complement, run)
        if found is not None:
            return found
    with run.stage("alignment kernel"):
        values, columns, pointers = _merged(alignment, run)
    n = alignment.patches.n_points
    # SciPy would widen the indices to the type of the pointers.
    narrow = pointers if pointers[-1] > np.iinfo(np.int32).max else pointers.astype(np.int32)
    return SparseOperator(csr_array((values, columns, narrow), shape=(n, n)), psd=True, n_jobs=run.n_jobs)


def _merged(alignment: Alignment, run: Run) -> tuple[Floats, Ints, Ints]:
    """Values, columns and pointers of the sum, row by row."""
    patches = alignment.patches
    n = patches.n_points
    products = float(np.square(patches.sizes, dtype=np.float64).sum())  # all of them are held by the twin
    loops = loops_for("lowfold.kernels._alignment_loops", n if products <= FEW_PRODUCTS else SMALL + 1)
    indptr, members = patches.indptr, patches.members
    factor = np.ascontiguousarray(on_host(alignment.factor))
    if hasattr(loops, "merged"):
        return loops.merged(indptr, members, factor, alignment.complement, n)  # type: ignore[no-any-return]
    start, owner, entry = loops.containing(indptr, members, n)
    order = loops.walk(indptr, members, n)
    counts = np.zeros(n, dtype=np.int64)
    blocks = block_slices(n, max(LEAST_ROWS, -(-n // MOST_BLOCKS)))

    def count(b: int) -> None:
        loops.count_columns(blocks[b].start, blocks[b].stop, order, indptr, members, start, owner, counts)

    def fill(b: int) -> None:
        loops.fill_rows(
            blocks[b].start,
            blocks[b].stop,
            order,
            indptr,
            members,
            factor,
            alignment.complement,
            start,
            owner,
            entry,
            pointers,
            columns,
            values,
        )

    run_blocks(count, len(blocks), n_jobs=run.n_jobs)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    columns, values = np.empty(pointers[-1], dtype=np.int32), np.empty(pointers[-1])
    run_blocks(fill, len(blocks), n_jobs=run.n_jobs)
    return values, columns, pointers


def kernel_sum(first: SparseOperator, second: SparseOperator, weight: float = 1.0) -> SparseOperator:
    """The sum of two alignment kernels, the second `weight` times."""
    return SparseOperator(csr_array(first.matrix + weight * second.matrix), psd=True, n_jobs=first.n_jobs)
