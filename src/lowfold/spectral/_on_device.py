"""Eigenproblems on a device: the same block Krylov method on the device's arrays, a factor made there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.errors import MemoryBudgetExceeded, SolverFailed
from lowfold._core.operators import CentredGram, DenseOperator, SparseOperator
from lowfold._core.run import Run
from lowfold._cuda._cholesky import factor_tree, factorise
from lowfold._cuda._device import Array, Device, active, on_cpu
from lowfold._cuda._gram import DeviceDense, DeviceGram, DeviceMatrix
from lowfold._cuda._minplus import padded
from lowfold._cuda._sparse import DeviceSparse
from lowfold.spectral._krylov import Ritz, block_krylov, column_lengths, orthonormalise, remove, small_enough
from lowfold.spectral._solvers import INNER, LEAST_BASIS, SHIFT, SMALL, Problem

Try = tuple[str, Callable[[Problem], Ritz], Problem]
MOST_WORK = 2e14  # multiplications of a factor; beyond, the iterative solvers of the CPU are faster
WIDTH = 8  # columns that the kernels take at a time
# Products before the CPU is asked: with a sparse matrix, where it would take longer for each, and with all pairs.
STEPS, FEW_STEPS = 1000, 300


def tries_on_device(problem: Problem, run: Run) -> Iterator[Try]:
    """What to try on the run's device, best first; nothing where it has none or the problem is small."""
    device = active(run)
    if device is None or (problem.n < SMALL and run.solver == "auto"):
        return
    op = problem.op
    bottom = isinstance(op, SparseOperator) and op.psd and not problem.largest
    name = ("shift_invert" if bottom else "krylov") if run.solver == "auto" else run.solver
    solve = {"shift_invert": shift_invert_on_device, "krylov": krylov_on_device}.get(name)
    if solve is None or (name == "shift_invert" and not bottom):
        on_cpu(f"solver {name}", "it has no twin on the device")
        return
    moved = _moved(op, device)
    if moved is None:
        on_cpu("an eigenproblem", f"{type(op).__name__} has no twin on the device, or does not fit there")
        return
    there = replace(problem, op=moved)
    yield name, solve, there
    if name == "shift_invert" and run.solver == "auto":
        yield "krylov", krylov_on_device, there  # where the first has failed: its factor was too large


def _moved(op: Any, device: Device) -> Any:
    """The operator on the device; None where there is no twin or no room."""
    if getattr(op, "device", None) is device:
        return op
    if isinstance(op, SparseOperator):
        return sparse_on(device, op)
    try:
        if isinstance(op, CentredGram) and not (op.squared or op.gram):
            return DeviceGram(matrix_on(device, op.distances), shift=op.shift)
        if isinstance(op, DenseOperator):
            device.require(8.0 * op.n**2, f"a matrix of {op.n} x {op.n}", "")
            return DeviceDense(device, device.put(op.matrix, np.float64), psd=op.psd)
    except MemoryBudgetExceeded:
        return None
    return None


def sparse_on(device: Device, op: SparseOperator) -> DeviceSparse:
    """The matrix of a sparse operator on the device."""
    A = op.matrix
    indptr, indices = device.put(A.indptr, np.int64), device.put(A.indices, np.int32)
    return DeviceSparse(device, indptr, indices, device.put(A.data, np.float64), psd=op.psd, bound=op.bound)


def matrix_on(device: Device, distances: NDArray[np.floating]) -> DeviceMatrix:
    """A matrix of distances on the device, its rows filled up with zeros."""
    n, xp = len(distances), device.xp
    device.require(distances.dtype.itemsize * n * padded(n), f"a matrix of {n} x {n} distances", "")
    D = xp.zeros((n, padded(n)), distances.dtype)
    D[:, :n] = device.put(distances)
    return DeviceMatrix(device, D, xp.arange(n))


def distances_on_device(distances: NDArray[np.floating], run: Run) -> Any:
    """The matrix on the run's device; as it is where there is no device or no room."""
    device = active(run)
    moved = None if device is None else _moved(CentredGram(distances), device)
    return distances if moved is None else moved.distances


def krylov_on_device(problem: Problem) -> Ritz:
    """`krylov` with every vector on the device; one column of eight is left for the row means of a Gram operator."""
    op: Any = problem.op
    sign = 1.0 if problem.largest else -1.0
    k = problem.wanted
    width = min(max(k + 4, WIDTH - 1), problem.n - problem.null.shape[1])
    steps = STEPS if isinstance(op, DeviceSparse) else FEW_STEPS
    return _krylov(op.device, problem, lambda V: sign * op.apply(V), width, problem.tol, 12 * width, sign, steps=steps)


def shift_invert_on_device(problem: Problem) -> Ritz:
    """`shift_invert` with the factor on the device; eigenvalues and residual are those of A itself, in float64."""
    op: Any = problem.op
    device, k = op.device, problem.wanted
    tree, off = factor_tree(op)
    if tree.work() > MOST_WORK:
        raise SolverFailed(f"the factor would take {tree.work():.2g} multiplications; another solver is faster")
    try:
        factor = factorise(op, off, SHIFT * max(op.norm(), np.finfo(float).tiny), tree)
    except MemoryBudgetExceeded as error:
        raise SolverFailed(str(error)) from error
    Q = device.put(problem.null)

    def solve(V: Array) -> Array:
        return remove(factor.solve(remove(V, Q)), Q)

    width = min(max(k + 1, WIDTH), problem.n - problem.null.shape[1])
    found = _krylov(device, problem, solve, width, INNER * problem.tol, 6 * width, 1.0, raw=True)
    # One more inverse iteration, then Rayleigh and Ritz with A: see `shift_invert`.
    V, _ = np.linalg.qr(solve(found.vectors))
    ritz = _rayleigh(op, V, found)
    if not small_enough(_residuals(ritz, Q), ritz.values, k, problem.tol):  # rounding has mixed the far end in
        V = orthonormalise(ritz.vectors - solve(_left(ritz, Q)), [Q])
        ritz = _rayleigh(op, V, ritz)
    return _fetched(device, ritz, Q)


def _rayleigh(op: DeviceSparse, V: Array, before: Ritz) -> Ritz:
    """Eigenpairs of A on the span of V, smallest first."""
    AV = op.apply_twice_as_precisely(V)
    T = V.T @ AV
    values, S = np.linalg.eigh((T + T.T) / 2)
    return Ritz(values, V @ S, before.iterations + 1, before.converged, AV @ S)


def _left(ritz: Ritz, null: Array) -> Array:
    """A V - V diag(values) off the known vectors."""
    assert ritz.products is not None
    return remove(ritz.products, null) - ritz.vectors * ritz.values


def _residuals(ritz: Ritz, null: Array) -> Array:
    return column_lengths(_left(ritz, null))


def _fetched(device: Device, ritz: Ritz, null: Array) -> Ritz:
    """Eigenpairs on the host, with residuals measured on the device."""
    residuals = None
    if ritz.products is not None:
        residuals = device.get(_residuals(ritz, null))
    values, vectors = device.get(ritz.values), device.get(ritz.vectors)
    return Ritz(values, vectors, ritz.iterations, ritz.converged, residuals=residuals)


def scattered(device: Device, n: int, width: int) -> Array:
    """A block of numbers in (-1/2, 1/2) that is the same every time: Steele, Lea & Flood's mixing of 64 bits."""
    x = device.xp.arange(n * width, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    return ((x >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5).reshape(n, width)


def _krylov(
    device: Device, problem: Problem, apply: Any, width: int, tol: float, max_basis: int, sign: float,
    *, raw: bool = False, steps: int = FEW_STEPS,
) -> Ritz:  # fmt: skip
    """Leading eigenpairs of `apply` times `sign`, on the host; those of another operator than A stay `raw`."""
    guess = getattr(problem.op, "start", None)
    block = guess(width) if guess is not None and problem.largest else None
    start = scattered(device, problem.n, width) if block is None else device.put(block)
    ritz = block_krylov(
        apply, start, problem.wanted, null=device.put(problem.null), tol=tol,
        max_basis=max(max_basis, LEAST_BASIS), max_iter=steps,
    )  # fmt: skip
    products = None if ritz.products is None else sign * ritz.products
    found = Ritz(sign * ritz.values, ritz.vectors, ritz.iterations, ritz.converged, products)
    return found if raw else _fetched(device, found, device.put(problem.null))


__all__ = ["distances_on_device", "sparse_on", "tries_on_device"]
