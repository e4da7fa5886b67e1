"""A few leading principal axes of many rows: the covariance of a sample, made right by passes over all rows.

A = C_s of a sample, V its leading vectors. A pass gives C V, and A is changed by the symmetric matrix of rank 2b after
which A V = C V (Powell's symmetric Broyden update, 1970). What is left of the error E = C - A acts off V alone, so that
every pass multiplies the residual by about |E| / (distance of the wanted values from those left out): a few passes of
n D b operations instead of one of n D^2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.lowrank._scatter import Scatter, grouped_sum
from lowfold.spectral._krylov import orthonormalise
from lowfold.spectral._types import Eigenpairs, fix_signs

LEAST = 2**22  # values of X from which a sample is worth its overhead
GUARD = 6  # columns beyond those asked for: the first value left out is then farther away, and a pass costs the same
NARROW = 40  # columns of X for each column of a pass, at least: a skinny product has a fraction of a square one's speed
PER_COLUMN, SHARE = 5, 16  # rows of the sample: for each column of X at least, and one in so many
WHOLE = 4  # a sample of more than one row in so many saves nothing
RUN = 16  # neighbouring rows that are drawn together: they are read together
PASSES = 6  # that cost as much as the matrix itself
DIGITS = 1e-6  # residuals below this are not told by products in float32
# Share of each first vector that is a random direction. One that the sample does not know, orthogonal to all that it
# does, would stay unseen by every product.
LEAN = 1e-2
DEPTH, SWEEPS = 4, 20  # blocks of a Krylov space of A, and how often it is begun anew
INNER = 0.03  # of the residual in C that is expected next: vectors of A need not be better than that

Found = tuple[Eigenpairs, float, Floats]
Top = tuple[Floats, Floats]  # leading values and vectors of A


def sampled_axes(scatter: Scatter, k: int, run: Run) -> Found | None:
    """Leading eigenpairs of Xc'Xc / divisor, good to `run.tol`, its trace and the scores; None where C is cheaper."""
    n, D = scatter.X.shape
    b, m = k + GUARD, max(PER_COLUMN * D, n // SHARE)
    if scatter.X.size < LEAST or NARROW * b > D or WHOLE * m > n or scatter.weights is not None:
        return None
    A = _sample(scatter, m)
    if not np.isfinite(A).all():
        return None
    first = np.random.default_rng(0).normal(size=(D, b))
    values, V = _leading(A, first, k, INNER)
    rate = _foretold(values, float(np.trace(A)), k, m)
    if not _arrives(rate, rate, PASSES, run.tol):
        return None
    lean = np.linalg.qr(V + LEAN / np.sqrt(D) * first)[0]
    return _corrected(scatter, A, (values, lean), k, rate, run)


def _sample(scatter: Scatter, m: int) -> Floats:
    """The covariance of about m rows, drawn in runs, about the mean of all."""
    n = scatter.X.shape[0]
    runs = np.sort(np.random.default_rng(0).choice(n // RUN, m // RUN, replace=False))
    rows = scatter.X[(RUN * runs[:, None] + np.arange(RUN)).ravel()]
    some = replace(scatter, X=rows, divisor=scatter.divisor * len(rows) / n)
    return some.dense_single() if rows.dtype == np.float32 else some.dense()


def _foretold(values: Floats, total: float, k: int, m: int) -> float:
    """|E| / distance: of Gaussian rows |E v|^2 is about trace(C) v'Cv / m, here in a direction that is left out."""
    apart = float(values[k - 1] - values[-1])
    return 2.0 * float(np.sqrt(max(values[-1], 0.0) * total / m)) / apart if apart > 0 else np.inf


def _arrives(residual: float, rate: float, passes: int, tol: float) -> bool:
    return bool(rate < 1 and residual * rate**passes <= tol)


def _leading(A: Floats, V: Floats, k: int, tol: float) -> Top:
    """Leading Ritz values and vectors of A, as many as V has columns; of the first k the residual is `tol`."""
    b = V.shape[1]
    values = np.empty(0)
    for _ in range(SWEEPS):
        blocks = [orthonormalise(V, [])]
        products = [A @ blocks[0]]
        for _ in range(DEPTH - 1):
            blocks.append(orthonormalise(products[-1], blocks))
            products.append(A @ blocks[-1])
        Q, AQ = np.hstack(blocks), np.hstack(products)
        values, S = stacked_eigh(Q.T @ AQ)
        values, S = values[::-1][:b], S[:, ::-1][:, :b]
        V = Q @ S
        if _residual(AQ @ S, V, values, float(values[k]), k) <= tol:
            break
    return values, V


def _residual(CV: Floats, V: Floats, values: Floats, after: float, k: int) -> float:
    """max ||C v - lambda v|| / (lambda - the first value after the k wanted), of those."""
    away = np.linalg.norm(CV[:, :k] - V[:, :k] * values[:k], axis=0)
    return float((away / np.maximum(values[:k] - after, np.finfo(float).tiny)).max())


def _corrected(scatter: Scatter, A: Floats, top: Top, k: int, rate: float, run: Run) -> Found | None:
    """Passes over all rows until the residual is `run.tol`: in the precision of X, but the last in float64."""
    residual, total = np.inf, 0.0
    for step in range(1, PASSES + 1):
        after, V, before, scores = float(top[0][k]), top[1], residual, None
        if residual * rate <= max(run.tol, DIGITS):
            V = V[:, :k]
            scores, CV = scatter.scores_and_product(V)
        else:
            V, CV, total = _pass(scatter, V, total)
            if not np.isfinite(CV).all():
                return None
        values, turn = stacked_eigh((V.T @ CV + CV.T @ V) / 2)
        values, turn = values[::-1], turn[:, ::-1]
        residual = _residual(CV @ turn, V @ turn, values, after, k)
        if scores is not None and residual <= run.tol:
            vectors, turn = signed(V, turn)
            pairs = Eigenpairs(values, vectors, residual, float(values[-1]) - after, "sample", step)
            return pairs, total, scores @ turn
        rate = residual / before if step > 1 else rate
        if not _arrives(residual, rate, PASSES - step, run.tol):
            return None
        error = CV - A @ V
        A += np.hstack([error, V]) @ np.hstack([V, error - V @ (V.T @ error)]).T
        top = _leading(A, top[1], k, INNER * max(rate * residual, run.tol))
    return None


def _pass(scatter: Scatter, V: Floats, total: float) -> tuple[Floats, Floats, float]:
    """V as it was multiplied, C V, and the trace of C where it is not known yet; products in the precision of X."""
    X = scatter.X
    n, D = X.shape
    mean, U = scatter.mean.astype(X.dtype), V.astype(X.dtype)
    lacks, V = scatter.mean - mean, U.astype(np.float64)

    def term(part: slice) -> Floats:
        sums = np.zeros((D, V.shape[1] + 1))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # values beyond 1e19: the caller looks
            block = X[part] - mean
            sums[:, :-1] = block.T @ (block @ U)
            if not total:
                sums[:, -1] = np.ones(len(block), dtype=X.dtype) @ np.square(block, out=block)
        return sums

    sums = grouped_sum(n, scatter._parts(), term, (D, V.shape[1] + 1), scatter.n_jobs)
    CV = (sums[:, :-1] - n * np.outer(lacks, lacks @ V)) / scatter.divisor
    return V, CV, total or float(sums[:, -1].sum() - n * lacks @ lacks) / scatter.divisor


def signed(V: Floats, turn: Floats) -> tuple[Floats, Floats]:
    """V turned, with the signs that eigenvectors have here, and the turn that makes them."""
    turned = V @ turn
    fixed = fix_signs(turned)
    return fixed, turn * np.where((fixed * turned).sum(axis=0) < 0, -1.0, 1.0)
