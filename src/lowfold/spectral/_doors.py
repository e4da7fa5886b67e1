"""The one door to N-sized eigenproblems: `largest`, `smallest`, `top_singular`.

A v = lambda M v at an ALGEBRAIC end, on the complement of the known vectors `null`. Nothing trivial is ever returned
and nothing is dropped by a tolerance: what is known is taken out before solving. One pair more than asked for is
computed, so that the residual can be divided by the gap it has to be judged by.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from lowfold._core import errors
from lowfold._core.errors import InvalidInput, SolverFailed
from lowfold._core.operators import CentredGram, DenseOperator, Operator, SparseOperator
from lowfold._core.run import Run
from lowfold._core.types import Floats
from lowfold._core.warn import warn
from lowfold.spectral._krylov import Ritz
from lowfold.spectral._solvers import APPROXIMATE, SMALL, SOLVERS, Problem, candidates, too_few_for_amg
from lowfold.spectral._types import COINCIDE, POOR, Eigenpairs, fix_signs

log = logging.getLogger("lowfold")

ROUGH = 0.1  # above this even a solver that was asked for a quick look has not found the directions
PRODUCT = 4 * np.finfo(float).eps  # of the norm: the error of one product with A, which no solver gets below


def smallest(
    op: Operator,
    k: int,
    *,
    mass: Floats | None = None,
    null: Floats | None = None,
    negligible: float = 0.0,
    run: Run | None = None,
) -> Eigenpairs:
    """The k smallest eigenpairs, ascending, of A v = lambda M v; `mass` is the diagonal of M (positive).

    No warning is given about the last pair when its eigenvalue is at most `negligible` times the largest of them: the
    caller multiplies that vector by (nearly) zero, so it does not matter which one it is.
    """
    return _solve(op, k, mass, null, run or Run(), negligible, largest=False)


def largest(
    op: Operator,
    k: int,
    *,
    mass: Floats | None = None,
    null: Floats | None = None,
    negligible: float = 0.0,
    run: Run | None = None,
) -> Eigenpairs:
    """The k largest eigenpairs, descending.

    With a known `bound` of the spectrum, bound - A is solved from the bottom: the gap at the leading end of a Markov
    operator is O(1/N), and shift-invert does not mind.
    """
    return _solve(op, k, mass, null, run or Run(), negligible, largest=True)


def top_singular(
    X: NDArray[np.floating], k: int, *, run: Run | None = None
) -> tuple[Floats, Floats, Floats, Eigenpairs]:
    """U, s, V of the k leading singular triplets of X (n, D), through the smaller Gram matrix in float64.

    Singular values below about 1e-8 of the largest lose their digits in a Gram matrix; a dense SVD keeps them.
    """
    n, D = X.shape
    tall = n >= D
    A = X.astype(np.float64, copy=False)
    gram = A.T @ A if tall else A @ A.T
    pairs = largest(DenseOperator(gram, psd=True), k, run=run)
    s = np.sqrt(np.maximum(pairs.values, 0.0))
    safe = np.where(s > 0, s, 1.0)
    other = (A if tall else A.T) @ pairs.vectors / safe
    U, V = (other, pairs.vectors) if tall else (pairs.vectors, other)
    return U, s, V, pairs


def select_solver(
    op: Operator, k: int, *, end: str = "smallest", mass: Floats | None = None, null: Floats | None = None
) -> list[str]:
    """What `solver="auto"` would try for this problem, best first. The rules are in `candidates`."""
    problem, _, _ = _standard(op, k, mass, null, Run(), largest=end == "largest")
    return candidates(problem)


def _standard(
    op: Operator, k: int, mass: Floats | None, null: Floats | None, run: Run, *, largest: bool
) -> tuple[Problem, Floats | None, float | None]:
    """The equivalent standard problem, the scaling M^-1/2 that leads back, the bound if the spectrum was flipped."""
    n = op.n
    scale = None
    if mass is not None:
        if np.any(~(mass > 0)):
            raise InvalidInput("mass must be positive; an isolated vertex has degree 0 and no place in this problem")
        scale = 1.0 / np.sqrt(mass)
        op = _scaled(op, scale)
    known = np.empty((n, 0)) if null is None else np.asarray(null, dtype=np.float64).reshape(n, -1)
    if scale is not None and known.shape[1]:
        known = known / scale[:, None]  # M^1/2 v: orthogonality in M becomes plain orthogonality
    if known.shape[1]:
        known = known / np.linalg.norm(known) if known.shape[1] == 1 else np.linalg.qr(known)[0]
    room = n - known.shape[1]
    if not 1 <= k <= room:
        raise InvalidInput(
            f"{k} eigenvectors were asked for, but {n} points have only {room} beyond the {known.shape[1]} trivial; "
            f"use n_components of at most {room}"
        )
    flipped = None
    # The approximate solvers know the leading end only, and are named by those who want a quick look at it.
    if (
        largest
        and isinstance(op, SparseOperator)
        and op.bound is not None
        and n >= SMALL
        and run.solver not in APPROXIMATE
    ):
        flipped, op, largest = op.bound, op.flipped(), False
    return Problem(op, min(k + 1, room), known, run.tol, largest, run.rng), scale, flipped


def _scaled(op: Operator, s: Floats) -> Operator:
    if isinstance(op, SparseOperator):
        return op.scaled(s)
    if isinstance(op, CentredGram):
        raise InvalidInput("a centred Gram operator has no mass; scale the distances instead")
    return DenseOperator(op.dense() * s[:, None] * s[None, :], psd=op.psd)


def _solve(
    op: Operator, k: int, mass: Floats | None, null: Floats | None, run: Run, negligible: float, *, largest: bool
) -> Eigenpairs:
    problem, scale, flipped = _standard(op, k, mass, null, run, largest=largest)
    if run.solver != "auto" and run.solver not in SOLVERS:
        raise InvalidInput(f"solver must be 'auto' or one of {', '.join(SOLVERS)}; got {run.solver!r}")
    best: Eigenpairs | None = None
    failures = []
    for name, solve, asked in _tries(problem, run):
        with run.stage(f"eigenvectors ({name})"):
            try:
                pairs = _judge(asked, solve(asked), k, name)
            except SolverFailed as error:
                failures.append(f"{name}: {error}")
                log.info("solver %s failed: %s", name, error)
                continue
        if best is None or pairs.residual < best.residual:
            best = pairs
        if best.residual <= POOR or best.residual * best.gap <= PRODUCT * asked.norm():
            break
    if best is None:
        raise SolverFailed("no solver reached an answer: " + "; ".join(failures))
    if abs(best.values[-1]) > negligible * np.abs(best.values).max():
        warn_if_poor(best)
    values = best.values if flipped is None else flipped - best.values
    vectors = best.vectors if scale is None else best.vectors * scale[:, None]
    return Eigenpairs(values, fix_signs(vectors), best.residual, best.gap, best.solver, best.iterations)


def _tries(problem: Problem, run: Run) -> Iterator[tuple[str, Callable[[Problem], Ritz], Problem]]:
    """Solvers in the order of trying, each with its problem: on the run's device where it has one, then on the CPU."""
    if run.device != "cpu":
        from lowfold.spectral._on_device import tries_on_device

        yield from tries_on_device(problem, run)
    names = candidates(problem) if run.solver == "auto" else [run.solver]
    if names == ["amg"] and too_few_for_amg(problem):
        names = ["dense"]
    for name in names[:3]:
        yield name, SOLVERS[name], problem


def _judge(problem: Problem, ritz: Ritz, k: int, name: str) -> Eigenpairs:
    """Gap-relative residual of the asked-for pairs; the neighbour computed with them measures the gap."""
    if len(ritz.values) < min(k, problem.wanted):
        raise SolverFailed(f"only {len(ritz.values)} of {k} eigenvectors were found")
    values, vectors = ritz.values[:k], ritz.vectors[:, :k]
    if not (np.isfinite(values).all() and np.isfinite(vectors).all()):
        raise SolverFailed("the eigenvectors are not finite")
    residuals = _residuals(problem, values, vectors, ritz.products) if ritz.residuals is None else ritz.residuals[:k]
    if len(ritz.values) <= k:
        return Eigenpairs(values, vectors, 0.0, float("inf"), name, ritz.iterations)
    distances = np.abs(values - ritz.values[k])
    size = max(float(np.abs(ritz.values[: k + 1]).max()), np.finfo(float).tiny)
    gap = float(distances[-1])
    if gap <= COINCIDE * size:
        gap = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(residuals > 0, residuals / np.maximum(distances, COINCIDE * size), 0.0)
    return Eigenpairs(values, vectors, float(relative.max()), gap, name, ritz.iterations)


def _residuals(problem: Problem, values: Floats, vectors: Floats, products: Floats | None) -> Floats:
    """||A v - theta v|| off the known vectors."""
    if products is None:
        products = problem.op.apply(np.ascontiguousarray(vectors))
    product = products[:, : len(values)]
    product = product - problem.null @ (problem.null.T @ product)
    return np.asarray(np.linalg.norm(product - vectors * values, axis=0))


def warn_if_poor(pairs: Eigenpairs) -> None:
    """Say that the last direction is not determined, or not known well."""
    k = len(pairs.values)
    if pairs.gap == 0.0:
        warn(
            f"eigenvalues {k} and {k + 1} coincide ({pairs.values[-1]:.6g}): which {k} directions come out is not "
            f"determined by the data; ask for another n_components",
            errors.AccuracyWarning,
        )
    elif pairs.residual > ROUGH and pairs.solver in APPROXIMATE:
        warn(
            f"the approximate solver {pairs.solver} has not found the eigenvectors: gap-relative residual "
            f"{pairs.residual:.2g}. The spectrum falls too slowly for {pairs.iterations} passes; use solver='auto'",
            errors.AccuracyWarning,
        )
    elif pairs.residual > POOR and pairs.solver not in APPROXIMATE:
        warn(
            f"the eigenvectors are known to {pairs.residual:.1g} only (gap-relative residual, solver {pairs.solver}); "
            f"try another n_components, a larger n_neighbors, or name a solver",
            errors.AccuracyWarning,
        )
