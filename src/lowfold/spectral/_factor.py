"""Sparse factorisations, counted before they are made.

A symmetric matrix is ordered, its elimination tree is walked, and the size of the factor is known before a byte of it
is allocated. Small factors use SuperLU in symmetric mode with its minimum-degree order; large ones use the nested
dissection that was counted, so that the count holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array

from lowfold._core.config import get_config
from lowfold._core.errors import SolverFailed
from lowfold._core.jit import kernels

Floats = NDArray[np.float64]

SMALL = 3_000  # a factor of so few rows fits whatever its pattern
SURE = 1e8  # an upper estimate of so few entries needs no exact count
DIRECT_FLOPS = 1e12  # beyond this SuperLU, at about 3 GFlop/s, takes longer than the iterative solvers
SHARE = 0.8  # of the memory budget may go into one factor
BYTES_PER_ENTRY = 24.0  # L and U, a float64 and an int32 each
_LEAF = 64


@dataclass(frozen=True, eq=False)
class Fill:
    """What a factorisation will cost: entries of L, bytes of L and U, floating-point operations.

    `order` is the elimination order that was counted exactly; None where an upper estimate was enough.
    """

    entries: float
    flops: float
    order: NDArray[np.int64] | None = None

    @property
    def bytes(self) -> float:
        return self.entries * BYTES_PER_ENTRY

    @property
    def feasible(self) -> bool:
        """Within SuperLU's 32-bit indices, most of the memory budget, and a sensible time."""
        return self.entries < 2**31 - 1 and self.bytes < SHARE * get_config().memory and self.flops < DIRECT_FLOPS


def _pattern(matrix: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


def count_fill(matrix: csr_array) -> Fill:
    """The size of the factor: an upper estimate where that is small, else exact, in nested-dissection order."""
    n = int(matrix.shape[0])
    if n <= SMALL:
        return Fill(entries=n * (n + 1) / 2, flops=n**3 / 3)
    estimate = _on_aggregates(matrix)
    return estimate if estimate.entries <= SURE and estimate.feasible else exact_fill(matrix)


def _on_aggregates(matrix: csr_array) -> Fill:
    """An upper estimate, counted on the graph of aggregates (about a tenth of the vertices).

    Each aggregate is eliminated as one block, so that every entry of its rows counts as filled: the true factor of the
    same order is smaller, by a factor of five on a surface.
    """
    n = int(matrix.shape[0])
    loops = kernels("lowfold.spectral._order_kernels")
    label, count = loops.aggregate(*_pattern(matrix))
    member = csr_array((np.ones(n), (np.arange(n), label)), shape=(n, count))
    pattern = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    coarse = csr_array(member.T @ (pattern @ member))
    weight = np.bincount(label, minlength=count)
    order = loops.nested_dissection(*_pattern(coarse), 8)
    ordered = csr_array(coarse[order][:, order])
    counts = loops.column_counts(*_pattern(ordered), weight[order], np.inf).astype(np.float64)
    return Fill(entries=float((counts * weight[order]).sum()), flops=float((counts**2 * weight[order]).sum()))


def exact_fill(matrix: csr_array) -> Fill:
    """The size of the factor in the nested-dissection order, with that order. Counting stops where it cannot fit."""
    loops = kernels("lowfold.spectral._order_kernels")
    order = loops.nested_dissection(*_pattern(matrix), _LEAF)
    ordered = csr_array(matrix[order][:, order])
    limit = min(2.0**31, SHARE * get_config().memory / BYTES_PER_ENTRY)
    counts = loops.column_counts(*_pattern(ordered), np.ones(len(order), np.int64), limit).astype(np.float64)
    return Fill(entries=float(counts.sum()), flops=float((counts**2).sum()), order=order)


def factorise(matrix: csr_array, shift: float, fill: Fill) -> Callable[[Floats], Floats]:
    """A function b -> (A + shift I)^-1 b for a symmetric positive semidefinite A; shift > 0."""
    from scipy.sparse.linalg import splu

    if not fill.feasible:
        raise SolverFailed(f"the factor would have {fill.entries:.2g} entries or more; use another solver")
    shifted = csc_array(matrix + shift * eye_array(int(matrix.shape[0]), format="csr"))
    order = fill.order
    if order is not None:
        shifted = csc_array(shifted[order][:, order])
    try:
        lu = splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A" if order is None else "NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except (RuntimeError, MemoryError) as error:
        raise SolverFailed(f"the sparse factorisation failed ({error}); use solver='davidson' or 'lanczos'") from error
    if order is None:
        return lambda b: np.asarray(lu.solve(b))

    def solve(b: Floats) -> Floats:
        x = np.empty_like(b)
        x[order] = lu.solve(np.ascontiguousarray(b[order]))
        return x

    return solve
