"""The solvers behind the doors. Each declares its domain; each takes a standard problem A v = lambda v.

`smallest` end unless said otherwise; `null` is an orthonormal basis of the known vectors. All work in float64 and
return `wanted` pairs (the asked-for ones and the neighbour that measures the gap), from the asked-for end inwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array

from lowfold._core.errors import SolverFailed
from lowfold._core.extras import load_extra
from lowfold._core.memory import fits, require
from lowfold._core.operators import Operator, SparseOperator
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats
from lowfold.spectral._alignment_solver import bottom_by_levels
from lowfold.spectral._anisotropic import wrapped
from lowfold.spectral._factor import Fill, count_fill, factorise
from lowfold.spectral._krylov import Apply, Ritz, _fixed_block, block_davidson, block_krylov, orthonormalise, remove
from lowfold.spectral._multilevel import near_order, two_level

SMALL = 400  # points; below, LAPACK solves for everything before another solver has begun
INNER = 0.1  # of `tol`, asked of an iteration whose answer is judged by `tol` afterwards, on A itself
# Columns of a Krylov basis before a restart: for few pairs a restart would throw away most of its space.
LEAST_BASIS = 60
# Of the Chebyshev polynomial by which Krylov blocks of a sparse operator go on after a few plain steps, which say where
# the wanted end begins: of VectorDiffusionMaps 6 to 12 take a third of the time of plain blocks. Where what is cut off
# is less than INSIDE of the spectrum the wanted end stands out by itself, and a polynomial would hide its last pairs
# behind the rounding of the first.
DEGREE, PLAIN_STEPS, POLYNOMIAL_STEPS = 10, 5, 60
INSIDE = 0.5
# ARPACK's own tolerance is relative to the value, the door's to the gap, which is smaller by an unknown factor.
LANCZOS_TOL = 0.01
LANCZOS_BASIS = 24  # vectors at least; a smaller space restarts too often where one or two pairs are asked for
LANCZOS_STEPS, LANCZOS_WORK = 300, 20_000_000  # restarts at least; restarts times points, so that the time has an end
INVERTED_BASIS = 40  # as LEAST_BASIS, for an inverse, whose spectrum falls faster
AGGREGATED = 50  # points; of fewer the aggregates would be a handful, and the diagonal does
# Of the norm, under a diagonal entry, or of the largest entry, under one of the null vector: an isolated vertex has 0
# there, and is divided by it.
LEAST_DIAGONAL, LEAST_NULL = ROUNDING, 1e-8
AMG_SHIFT = 1e-10  # of the norm, added for the hierarchy: its coarsest level is factored, and holds the null vector
AMG_TOL = 1e-10  # of the norm, the residual asked of LOBPCG, which knows no gap; the door judges what comes
AMG_STEPS = 60  # an end for it: what is not good by then goes to the next solver
OVERSAMPLED, PASSES = 10, 6  # columns beyond those asked for, and passes with them, Halko, Martinsson & Tropp (2011)
LAST_RESORT = 5_000  # points up to which LAPACK, at about a minute, is better than a failure
# Points from which Davidson, linear in n, is tried on a Laplacian before a factor, whose fill grows faster than n.
TWO_LEVELS = 20_000
# Just above rounding: eigenvalues at the bottom of an alignment kernel fall like N^-2, to 1e-15 of its norm.
SHIFT = 1e-13


@dataclass(frozen=True, eq=False)
class Problem:
    """One end of the spectrum of a symmetric operator on the complement of `null`."""

    op: Operator
    wanted: int
    null: Floats
    tol: float
    largest: bool = False
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @property
    def n(self) -> int:
        return self.op.n

    def norm(self) -> float:
        """A cheap upper estimate of ||A||."""
        if self.op.bound is not None and self.op.psd:
            return float(self.op.bound)
        known = getattr(self.op, "norm", None)
        if known is not None:
            return float(known())
        if isinstance(self.op, SparseOperator):
            return float(abs(self.op.matrix).sum(axis=1).max(initial=0.0))
        probe = _fixed_block(self.n, 1)
        for _ in range(4):
            probe = self.op.apply(probe / max(np.linalg.norm(probe), np.finfo(float).tiny))
        return float(2 * np.linalg.norm(probe))

    def start(self, width: int) -> Floats:
        """A block to begin with: the operator's own guess of its leading end where it has one."""
        guess = getattr(self.op, "start", None)
        block = guess(width) if guess is not None and self.largest else None
        return _fixed_block(self.n, width) if block is None else block

    @cached_property
    def fill(self) -> Fill:
        """What factoring the operator would cost; counted once."""
        if not isinstance(self.op, SparseOperator):
            raise SolverFailed("only a sparse operator can be factored")
        return count_fill(self.op.matrix)


def dense(problem: Problem) -> Ritz:
    """All of the matrix, by LAPACK. Exact to rounding; cubic in n."""
    require(3 * 8.0 * problem.n**2, f"a dense eigenproblem of {problem.n} points", "use solver='auto'")
    A = problem.op.dense()
    Q = problem.null
    if Q.shape[1]:  # the known vectors are moved to the far end of the spectrum
        A -= Q @ (Q.T @ A)
        A -= (A @ Q) @ Q.T
        # Twice the bound of the spectrum: the bound itself can be an eigenvalue, and would mix with them.
        far = (2 * np.abs(A).sum(axis=1).max(initial=0.0) or 1.0) * (-1.0 if problem.largest else 1.0)
        A += far * (Q @ Q.T)
    n, k = problem.n, problem.wanted
    window = (n - k, n - 1) if problem.largest else (0, k - 1)
    A = (A + A.T) / 2
    try:
        values, vectors = scipy.linalg.eigh(A, subset_by_index=window, driver="evr")
        if len(values) < k:  # seen with nearly a multiple of the identity: the whole spectrum then
            values, vectors = scipy.linalg.eigh(A, driver="evd")
            values, vectors = values[window[0] : window[1] + 1], vectors[:, window[0] : window[1] + 1]
    except scipy.linalg.LinAlgError as error:
        raise SolverFailed(f"LAPACK found no eigenvectors ({error}); try solver='lanczos'") from error
    order = slice(None, None, -1) if problem.largest else slice(None)
    return Ritz(values[order], vectors[:, order], 1, True)


def lanczos(problem: Problem) -> Ritz:
    """ARPACK on the operator itself; either end. Slow at the bottom of a badly conditioned matrix."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

    n, k, Q = problem.n, problem.wanted, problem.null
    if k >= n:
        raise SolverFailed(f"lanczos finds fewer than all {n} pairs; use solver='dense'")
    far = problem.norm() * (-2.0 if problem.largest else 2.0)
    calls = 0

    def matvec(v: Floats) -> Floats:
        nonlocal calls
        calls += 1
        v = v.reshape(n, 1)
        inside = Q @ (Q.T @ v)
        w = problem.op.apply(v - inside)
        return np.asarray((w - Q @ (Q.T @ w) + far * inside)[:, 0])

    op = LinearOperator((n, n), matvec=matvec, dtype=np.float64)
    try:
        values, vectors = eigsh(
            op,
            k,
            which="LA" if problem.largest else "SA",
            tol=LANCZOS_TOL * problem.tol,
            ncv=min(n, max(2 * k + 10, LANCZOS_BASIS)),
            v0=remove(problem.start(1), Q)[:, 0],
            maxiter=max(LANCZOS_STEPS, LANCZOS_WORK // n),
        )
    except ArpackNoConvergence as error:
        if len(error.eigenvalues) < k:
            raise SolverFailed(f"Lanczos found {len(error.eigenvalues)} of {k} pairs; try another solver") from error
        values, vectors = error.eigenvalues.real, error.eigenvectors.real
    except ArpackError as error:
        raise SolverFailed(f"Lanczos failed ({error}); try another solver") from error
    order = np.argsort(-values if problem.largest else values)[:k]
    return Ritz(values[order], vectors[:, order], calls, True)


def shift_invert(problem: Problem) -> Ritz:
    """Block Krylov on (A + delta)^-1 with a sparse factor; the bottom of a sparse psd operator. Counted first."""
    op = problem.op
    if not isinstance(op, SparseOperator) or problem.largest or not op.psd:
        raise SolverFailed("shift_invert solves the bottom of sparse psd operators; use 'lanczos' or 'krylov'")
    delta = SHIFT * max(problem.norm(), np.finfo(float).tiny)
    factor = factorise(op.matrix, delta, problem.fill, n_jobs=op.n_jobs)
    k, Q = problem.wanted, problem.null

    def solve(V: Floats) -> Floats:
        return remove(factor(np.ascontiguousarray(remove(V, Q))), Q)

    ritz = block_krylov(
        solve,
        problem.start(min(k + 1, problem.n - Q.shape[1])),
        k,
        null=Q,
        tol=INNER * problem.tol,
        max_basis=max(12 * (k + 1), INVERTED_BASIS),
    )
    # One more inverse iteration: what is left of the far end of the spectrum, harmless to the angle, would dominate
    # the residual of A.
    return _rayleigh(problem, Ritz(ritz.values, solve(ritz.vectors), ritz.iterations + 1, ritz.converged))


def davidson(problem: Problem) -> Ritz:
    """Preconditioned block Davidson; two-level preconditioner for Laplacians, the diagonal for other operators."""
    op, k = problem.op, problem.wanted
    if not isinstance(op, SparseOperator) or problem.largest or not op.psd:
        raise SolverFailed("davidson solves the bottom of sparse psd operators; use 'lanczos' or 'krylov'")
    width = min(k + 1, problem.n - problem.null.shape[1])
    if not (op.laplacian and problem.null.shape[1] >= 1 and problem.n > AGGREGATED):
        scale = 1.0 / np.maximum(op.matrix.diagonal(), LEAST_DIAGONAL * problem.norm())
        start = problem.start(width)
        return block_davidson(op.apply, lambda R: scale[:, None] * R, start, k, null=problem.null, tol=problem.tol)
    order = near_order(op.matrix)
    matrix, null = csr_array(op.matrix[order][:, order]), problem.null[order]
    positive = np.sqrt((null**2).sum(axis=1))  # the positive null vector of all components together
    two = two_level(matrix, np.where(positive > 0, positive, positive.max() * LEAST_NULL), n_jobs=op.n_jobs)
    start = orthonormalise(two.start(problem.start(width)), [null])
    if start.shape[1] < width:  # few aggregates, as of a star: nothing but the null vector is left of some columns
        start = np.hstack([start, problem.start(width - start.shape[1])])
    apply = SparseOperator(matrix, n_jobs=op.n_jobs).apply
    ritz = block_davidson(apply, two.precondition, start, k, null=null, tol=problem.tol)
    vectors = np.empty_like(ritz.vectors)
    vectors[order] = ritz.vectors
    return Ritz(ritz.values, vectors, ritz.iterations, ritz.converged)


def levels(problem: Problem) -> Ritz:
    """Davidson with two levels of the kernel itself: the bottom of alignment kernels whose factor would fill up."""
    op = problem.op
    if not isinstance(op, SparseOperator) or problem.largest or not op.psd:
        raise SolverFailed("levels solves the bottom of sparse psd operators; use 'krylov'")
    return bottom_by_levels(op.matrix, problem.wanted, problem.null, tol=problem.tol)


def amg(problem: Problem) -> Ritz:
    """LOBPCG with pyamg's smoothed aggregation (extra `amg`); the bottom of a sparse psd operator."""
    op = problem.op
    if not isinstance(op, SparseOperator) or problem.largest or not op.psd:
        raise SolverFailed("amg solves the bottom of sparse psd operators; use 'lanczos' or 'krylov'")
    pyamg = load_extra("pyamg", "amg", "solver='amg'")
    import warnings

    from scipy.sparse import csr_matrix, eye_array
    from scipy.sparse.linalg import lobpcg

    norm = max(problem.norm(), np.finfo(float).tiny)
    shifted = csr_matrix(op.matrix + AMG_SHIFT * norm * eye_array(problem.n, format="csr"))
    near_null = problem.null[:, :1] if problem.null.shape[1] else np.ones((problem.n, 1))
    shifted.indices, shifted.indptr = shifted.indices.astype(np.int32), shifted.indptr.astype(np.int32)
    hierarchy = pyamg.smoothed_aggregation_solver(shifted, B=near_null)
    start = remove(problem.start(problem.wanted + 1), problem.null)
    with warnings.catch_warnings():  # lobpcg's own warning is replaced by the door's gap-relative residual
        warnings.simplefilter("ignore")
        values, vectors = lobpcg(
            op.matrix,
            start,
            M=hierarchy.aspreconditioner(),
            Y=problem.null if problem.null.shape[1] else None,
            largest=False,
            tol=AMG_TOL * norm,
            maxiter=AMG_STEPS,
        )
    order = np.argsort(values)[: problem.wanted]
    return Ritz(np.asarray(values[order]), np.asarray(vectors[:, order], dtype=np.float64), AMG_STEPS, True)


def too_few_for_amg(problem: Problem) -> bool:
    """LOBPCG wants five times as many dimensions as vectors; below, a dense solve is immediate."""
    return bool(problem.n - problem.null.shape[1] < 5 * (problem.wanted + 1))


def krylov(problem: Problem) -> Ritz:
    """Block Krylov on the operator itself: few passes over a dense or implicit operator, either end.

    A block finds as many copies of a multiple eigenvalue as it has columns; a single vector finds one.
    """
    k = problem.wanted
    width = min(k + 4, problem.n - problem.null.shape[1])
    sign = 1.0 if problem.largest else -1.0
    basis = max(12 * width, LEAST_BASIS)

    def apply(V: Floats) -> Floats:
        return sign * problem.op.apply(V)

    start, before = problem.start(width), 0
    if isinstance(problem.op, SparseOperator) and problem.op.matrix.nnz <= basis * problem.n:
        start, before = _by_polynomial(problem, apply, start, basis)
    ritz = block_krylov(apply, start, k, null=problem.null, tol=problem.tol, max_basis=basis)
    products = None if ritz.products is None else sign * ritz.products
    return Ritz(sign * ritz.values, ritz.vectors, before + ritz.iterations, ritz.converged, products)


def _by_polynomial(problem: Problem, apply: Apply, start: Floats, basis: int) -> tuple[Floats, int]:
    """A block near the leading vectors of `apply`, found by a Chebyshev polynomial of it; and the products it took.

    The polynomial stays within 1 on the rest of the spectrum and grows beyond, so that each block of the basis goes as
    far as several plain ones. For a sparse operator a product costs less than making its block orthogonal. The block
    stays as wide: as many copies of a multiple eigenvalue are found.
    """
    k, null = problem.wanted, problem.null
    first = block_krylov(
        apply, start, start.shape[1], null=null, tol=problem.tol, max_basis=basis, max_iter=PLAIN_STEPS
    )
    norm = problem.norm()
    low, cut = 0.0 if problem.op.psd and problem.largest else -norm, float(first.values[min(k, len(first.values)) - 1])
    if first.converged or len(first.values) <= k or cut - low < INSIDE * (float(first.values[0]) - low):
        return first.vectors, first.iterations
    middle, half = (cut + low) / 2, (cut - low) / 2

    def polynomial(V: Floats) -> Floats:
        before, now = V, (apply(V) - middle * V) / half
        for _ in range(DEGREE - 1):
            before, now = now, 2.0 * (apply(now) - middle * now) / half - before
        return now

    found = block_krylov(
        polynomial, first.vectors, k, null=null, tol=problem.tol, max_basis=basis, max_iter=POLYNOMIAL_STEPS
    )
    return found.vectors, first.iterations + DEGREE * found.iterations


def randomized(problem: Problem) -> Ritz:
    """Halko-Martinsson-Tropp with 7 passes and no test of convergence: a quick look at the leading end."""
    if not problem.largest:
        raise SolverFailed("randomized solves the leading end; use 'lanczos', 'shift_invert' or 'davidson'")
    k = problem.wanted
    width = min(k + OVERSAMPLED, problem.n - problem.null.shape[1])
    Q, _ = np.linalg.qr(remove(problem.start(width), problem.null))
    for _ in range(PASSES):
        Q, _ = np.linalg.qr(remove(problem.op.apply(Q), problem.null))
    T = Q.T @ remove(problem.op.apply(Q), problem.null)
    theta, S = np.linalg.eigh((T + T.T) / 2)
    return Ritz(theta[::-1][:k], (Q @ S[:, ::-1])[:, :k], PASSES + 1, True)


def gat(problem: Problem) -> Ritz:
    """Greedy anisotropic transformation: the longest columns of the operator span the space; see `wrapped`."""
    return _wrapped(problem, "greedy")


def irat(problem: Problem) -> Ritz:
    """Interpolative randomized anisotropic transformation: random columns of the operator; see `wrapped`."""
    return _wrapped(problem, "interpolative")


def prat(problem: Problem) -> Ritz:
    """Projective randomized anisotropic transformation: random combinations of its columns; see `wrapped`."""
    return _wrapped(problem, "projective")


def _wrapped(problem: Problem, mode: str) -> Ritz:
    if not problem.largest:
        raise SolverFailed("gat, irat and prat solve the leading end; use 'auto', 'shift_invert' or 'davidson'")
    return wrapped(problem.op, problem.wanted, mode, null=problem.null, rng=problem.rng)


def _rayleigh(problem: Problem, ritz: Ritz) -> Ritz:
    """Eigenvalues of A itself on the subspace that the inverse found, in ascending order."""
    V, _ = np.linalg.qr(ritz.vectors)
    T = V.T @ problem.op.apply(V)
    values, S = np.linalg.eigh((T + T.T) / 2)
    return Ritz(values, V @ S, ritz.iterations, ritz.converged)


SOLVERS: dict[str, Callable[[Problem], Ritz]] = {
    "dense": dense,
    "lanczos": lanczos,
    "shift_invert": shift_invert,
    "davidson": davidson,
    "levels": levels,
    "amg": amg,
    "krylov": krylov,
    "randomized": randomized,
    "gat": gat,
    "irat": irat,
    "prat": prat,
}
APPROXIMATE = ("randomized", "gat", "irat", "prat")  # a fixed number of passes, the leading end only, never by `auto`


WHOLE = 4_000  # points up to which LAPACK takes half a minute at most


def candidates(problem: Problem) -> list[str]:
    """Which solvers `auto` tries, best first; only core dependencies, only sizes, never the clock or free memory.

    - fewer than 400 points, or most of the spectrum asked for: dense
    - the bottom of a sparse graph Laplacian: davidson (two-level) from 20,000 points, shift_invert below; each is the
      other's second try
    - the bottom of another sparse psd operator: shift_invert where the counted factor is feasible, else levels
    - anything else (leading ends without a known bound, the bottom of dense or indefinite operators): krylov, then
      lanczos
    A dense solve is the last resort up to 5,000 points; for a whole matrix of up to 4,000 it is the second try, because
    lanczos may need minutes where krylov was not enough.
    """
    n, room = problem.n, problem.n - problem.null.shape[1]
    small_enough = n <= LAST_RESORT and fits(3 * 8.0 * n * n)
    if small_enough and (n < SMALL or 3 * problem.wanted > room):
        return ["dense"]
    if isinstance(problem.op, SparseOperator) and not problem.largest and problem.op.psd:
        if problem.op.laplacian and n >= TWO_LEVELS and problem.null.shape[1] >= 1:
            names = ["davidson", "shift_invert"]  # which counts its factor before it is made
        else:
            names = ["shift_invert", "davidson"] if problem.fill.feasible else ["levels", "davidson"]
    else:
        whole = small_enough and n <= WHOLE and not isinstance(problem.op, SparseOperator)
        names = ["krylov"] if whole else ["krylov", "lanczos"]
    return [*names, "dense"] if small_enough else names
