"""The bottom of alignment kernels whose factor fills up: data of high intrinsic dimension.

Such kernels behave like a squared Laplacian: condition numbers of 1e6 to 1e9, off-diagonal entries of both signs. A
block Davidson iteration is preconditioned by two levels of the kernel itself: Chebyshev smoothing, and an exact solve
on aggregates of strongly coupled points (smoothed aggregation, Vanek, Mandel & Brezina 1996, doi:10.1007/BF02238511).
Inside an aggregate such a kernel nearly annihilates more than constants: locally linear functions, for one. They are
found by smoothing random vectors (adaptive aggregation, Brezina et al. 2005, doi:10.1137/050626272). A Chebyshev filter
at the end removes what is left of the far end of the spectrum, which is harmless to the angle but would dominate the
residual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from lowfold._core.jit import compiled
from lowfold._core.memory import require
from lowfold._core.operators import multiply
from lowfold._core.parallel import block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.spectral._krylov import Ritz, _fixed_block, orthonormalise, remove
from lowfold.spectral._multilevel import narrow

STRONG = 0.3  # couplings of at least this share of a row's largest join its aggregate
MOST_COARSE = 8_000  # a dense factor of so many rows takes half a gigabyte
LOCAL = 12  # functions on each aggregate: the constant and smoothed random vectors
SWEEPS = 20  # of smoothing for them
STRIP = 64  # rows of the coarse matrix that are made at once
RATIO = 30.0  # smoothing damps the spectrum above 1/30 of its end
WEAKEST = 1e-3  # of the median diagonal entry: a point that no patch leans on has less, and 1 / diagonal would explode
# Couplings below this share of a row's largest join nobody; without an end the halving would go on for ever.
WEAK = 1e-3
ALIKE = 1e-4  # of an aggregate's largest eigenvalue: functions that agree there to a hundredth, its root, are one
# Of the coarse kernel's largest diagonal entry: the constants are in its null space, where rounding alone decides the
# sign of a pivot. Below the bottom eigenvalues, at 1e-9 of the norm in the worst of such kernels.
RIDGE = 1e-11
EXCEEDED = 1.01  # times the estimate: a Chebyshev polynomial grows fast beyond the end that it was told, not within
# The stop of the iteration. The filter and a last Rayleigh-Ritz step follow, so the wanted angles are not asked to be
# finer than FINE: their estimate by a preconditioner is itself not exact.
FINE = 1e-5
NEIGHBOR = 0.3  # angle of the neighbour, which only measures the gap
SMALL_RESIDUAL = 0.1  # of the gap; what the filter is left to take off
MOST_BLOCKS, KEPT_BLOCKS = 8, 3  # a basis is restarted before it has more blocks than the first, with the second
# Times the last wanted eigenvalue, where the filter begins: nearer, its degree and its time grow like the root;
# farther, it leaves more of the far end in the residual.
CUT = 20.0


@dataclass(frozen=True, eq=False)
class TwoLevels:
    """`precondition` approximates K^-1 off the constants; `start` gives bottom vectors of the coarse K."""

    precondition: Callable[[Floats], Floats]
    start: Callable[[int], Floats]
    top: float  # the largest eigenvalue of D^-1 K, from a few power steps
    inverse: Floats  # 1 / diagonal


def bottom_by_levels(matrix: csr_array, k: int, null: Floats, *, tol: float, max_iter: int = 600) -> Ritz:
    """The k smallest eigenpairs of a sparse psd matrix on the complement of the orthonormal columns `null`."""
    levels = two_levels(matrix, null)
    ritz = _davidson(matrix, levels, k, null, tol, max_iter)
    filtered = chebyshev_filter(matrix, ritz.vectors, cut=CUT * float(abs(ritz.values[-1])))
    basis = orthonormalise(remove(filtered, null), [null])
    T = basis.T @ multiply(matrix, basis)
    values, S = np.linalg.eigh((T + T.T) / 2)
    return Ritz(values[:k], np.ascontiguousarray((basis @ S)[:, :k]), ritz.iterations, ritz.converged)


def two_levels(matrix: csr_array, null: Floats) -> TwoLevels:
    """Aggregates, smoothed prolongation, dense coarse factor."""
    diagonal = matrix.diagonal()
    inverse = 1.0 / np.maximum(diagonal, WEAKEST * float(np.median(diagonal)))
    top = _largest(matrix, inverse)
    label, count = _aggregates(matrix, MOST_COARSE // LOCAL)
    rows = LOCAL * count
    require(8.0 * rows * rows, f"a coarse kernel of {rows} rows", "use solver='shift_invert', or landmarks")
    tentative = _local_bases(_smooth_functions(matrix, inverse, top), label, count)
    step = diags_array(4.0 / 3.0 / top * inverse, format="csr")
    prolong = csr_array(tentative - step @ csr_array(matrix @ tentative))
    restrict = csr_array(prolong.T)
    coarse = _coarse(restrict, matrix, prolong)  # symmetric up to rounding: half of it is read
    coarse[np.diag_indices(len(coarse))] += RIDGE * coarse.diagonal().max()
    # The transpose is in the order of LAPACK, which then needs no copy.
    factor = scipy.linalg.cho_factor(coarse.T, lower=True, overwrite_a=True, check_finite=False)

    def solve(B: Floats) -> Floats:
        return np.asarray(scipy.linalg.cho_solve(factor, B, check_finite=False))

    def precondition(R: Floats) -> Floats:
        R = remove(R, null)
        X = _smooth(matrix, inverse, top, R)
        X += np.asarray(prolong @ solve(np.asarray(restrict @ (R - multiply(matrix, X)))))
        X += _smooth(matrix, inverse, top, R - multiply(matrix, X))
        return X

    def start(width: int) -> Floats:
        U = _fixed_block(len(coarse), width)
        for _ in range(4):  # inverse iteration on the aggregates
            U, _ = np.linalg.qr(solve(U))
        return np.asarray(prolong @ U)

    return TwoLevels(precondition, start, top, inverse)


def _coarse(restrict: csr_array, matrix: csr_array, prolong: csr_array) -> Floats:
    """P' K P, dense. P' K is nearly full, so that only a strip of it is there at a time."""
    out = np.empty((int(restrict.shape[0]), int(prolong.shape[1])))
    for part in block_slices(len(out), STRIP):
        out[part] = csr_array(csr_array(restrict[part] @ matrix) @ prolong).toarray()
    return out


def _largest(matrix: csr_array, inverse: Floats, *, steps: int = 20) -> float:
    """The largest eigenvalue of D^-1 K, slightly exceeded: Lanczos on its symmetric form, plus the last residual."""
    half = np.sqrt(inverse)[:, None]
    v, before = _fixed_block(int(matrix.shape[0]), 1), np.zeros((int(matrix.shape[0]), 1))
    v /= np.linalg.norm(v)
    alpha, beta = [], [0.0]
    for _ in range(steps):
        w = half * (matrix @ (half * v)) - beta[-1] * before
        alpha.append(float((w * v).sum()))
        w -= alpha[-1] * v
        beta.append(float(np.linalg.norm(w)))
        if beta[-1] <= ROUNDING * abs(alpha[0]):
            break
        before, v = v, w / beta[-1]
    theta, S = scipy.linalg.eigh_tridiagonal(alpha, beta[1:-1])
    return EXCEEDED * float(theta[-1] + beta[-1] * abs(S[-1, -1]))


def _smooth_functions(matrix: csr_array, inverse: Floats, top: float) -> Floats:
    """The constant and smoothed random vectors, all of mean square 1."""
    n = int(matrix.shape[0])
    B = _fixed_block(n, LOCAL)
    for _ in range(SWEEPS):
        B -= _smooth(matrix, inverse, top, multiply(matrix, B))
    B[:, 0] = 1.0
    scaled: Floats = B * (np.sqrt(n) / np.linalg.norm(B, axis=0))
    return scaled


def _local_bases(B: Floats, label: NDArray[np.int64], count: int) -> csr_array:
    """Columns that are orthonormal on each aggregate and span what the columns of B are there."""
    n, width = B.shape
    order = np.argsort(label, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=count))])[:-1]
    gram = np.add.reduceat(B[order][:, :, None] * B[order][:, None, :], start, axis=0)
    values, vectors = stacked_eigh(gram)
    kept = values > ALIKE * values[:, -1:]
    scaled = np.where(kept[:, None, :], vectors / np.sqrt(np.where(kept, values, 1.0))[:, None, :], 0.0)
    entries = np.einsum("ij,ijk->ik", B, scaled[label])
    column = np.cumsum(kept.ravel()).reshape(count, width) - 1
    here = kept[label]
    indptr = np.concatenate([[0], np.cumsum(here.sum(axis=1))])
    return csr_array((entries[here], column[label][here], indptr), shape=(n, int(kept.sum())))


def _aggregates(matrix: csr_array, most: int) -> tuple[NDArray[np.int64], int]:
    """Groups of strongly coupled points; weaker couplings count where there would be too many groups."""
    n = int(matrix.shape[0])
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    size = np.where(rows == matrix.indices, 0.0, np.abs(matrix.data))
    largest = np.zeros(n)
    np.maximum.at(largest, rows, size)
    loops = compiled("lowfold.spectral._order_loops")
    share = STRONG
    while True:
        kept = (size >= share * largest[rows]) & (size > 0)
        strong = csr_array((np.ones(int(kept.sum())), (rows[kept], matrix.indices[kept])), shape=(n, n))
        strong = csr_array(strong + strong.T)
        label, count = loops.aggregate(narrow(strong.indptr), narrow(strong.indices))
        if count <= most or share < WEAK:
            return label, int(count)
        share *= 0.5


def _smooth(matrix: csr_array, inverse: Floats, top: float, R: Floats, *, degree: int = 4) -> Floats:
    """Chebyshev iteration for K X = R on the part [top / RATIO, top] of the spectrum of D^-1 K, from zero."""
    low, high = top / RATIO, top
    centre, half = (high + low) / 2, (high - low) / 2
    scale = inverse[:, None]
    D = scale * R / centre
    X = D.copy()
    alpha = 1.0 / centre
    for i in range(degree - 1):
        beta = (half * alpha) ** 2 / (2.0 if i == 0 else 4.0)
        alpha = 1.0 / (centre - beta / alpha)
        D = alpha * scale * (R - multiply(matrix, X)) + beta * D
        X += D
    return X


def _davidson(matrix: csr_array, levels: TwoLevels, k: int, null: Floats, tol: float, max_iter: int) -> Ritz:
    """Davidson iteration that stops on the size of the preconditioned residual, an estimate of the angle itself."""
    n = int(matrix.shape[0])
    V = orthonormalise(levels.start(k + 2), [null])
    width, AV, new = V.shape[1], np.empty((n, 0)), V
    ritz = Ritz(np.empty(0), np.empty((n, 0)), 0, False)
    for iteration in range(1, max_iter + 1):
        AV = np.hstack([AV, remove(multiply(matrix, np.ascontiguousarray(new)), null)])
        T = V.T @ AV
        theta, S = np.linalg.eigh((T + T.T) / 2)
        block = min(width, V.shape[1])
        X, AX = V @ S[:, :block], AV @ S[:, :block]
        correction = remove(levels.precondition(AX - X * theta[:block]), null)
        angles = np.linalg.norm(correction, axis=0)
        wanted = max(k - 1, 1)  # the last one only measures the gap
        residual = np.linalg.norm(AX - X * theta[:block], axis=0)[:wanted]
        small = residual <= SMALL_RESIDUAL * (theta[k - 1] - theta[:wanted])  # the filter at the end takes off the rest
        converged = bool((angles[:wanted] <= max(tol, FINE)).all() and angles[k - 1] <= NEIGHBOR and small.all())
        ritz = Ritz(theta[:block], X, iteration, converged)
        if converged:
            break
        if V.shape[1] + block > MOST_BLOCKS * width:
            kept = KEPT_BLOCKS * width
            V, AV = V @ S[:, :kept], AV @ S[:, :kept]
        new = orthonormalise(correction, [null, V])
        if new.shape[1] == 0:
            break
        V = np.hstack([V, new])
    return ritz


def chebyshev_filter(matrix: csr_array, V: Floats, *, cut: float, most: int = 1500) -> Floats:
    """T_m((c - K) / h) V, normalised at 0: keeps what lies near the bottom, damps all above `cut`.

    The degree is three times the square root of the condition above the cut: a damping by four hundred.
    """
    end = float(abs(matrix).sum(axis=1).max())
    cut = min(cut, 0.5 * end)
    degree = int(min(most, 3.0 * np.sqrt(end / cut)))
    centre, half = (end + cut) / 2, (end - cut) / 2
    sigma = first = half / centre
    before = V
    now = (V * centre - multiply(matrix, np.ascontiguousarray(V))) / centre
    for _ in range(degree - 1):
        following = 1.0 / (2.0 / first - sigma)
        after = 2.0 * following / half * (centre * now - multiply(matrix, now)) - sigma * following * before
        before, now, sigma = now, after, following
    return now
