"""The linear-Gaussian model x = mean + W z + noise and its EM steps, with and without missing values.

z ~ N(0, I_d), noise ~ N(0, s I_D): Roweis (1998), "EM algorithms for PCA and SPCA"; Tipping & Bishop (1999),
doi:10.1111/1467-9868.00196. s = 0 is plain PCA. A missing value is NaN; everything is conditioned on what was observed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowfold._core.operators import Operator
from lowfold._core.parallel import block_slices, run_blocks
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats, Floats

# Numbers of a block, 4 MB, and its rows at least; groups of blocks, each with sums of its own, fixed so that threads
# change no bit.
BLOCK, LEAST_ROWS, GROUPS = 2**19, 64, 8
FLOOR = 1e-12  # smallest noise variance, as a share of the mean variance of a feature


@dataclass(frozen=True, eq=False)
class Latent:
    """mean (D,), W (D, d) and the noise variance s; s = 0 means none."""

    mean: Floats
    W: Floats
    noise: float


@dataclass(frozen=True, eq=False)
class Posterior:
    """z (m, d) and covariance (m, d, d) of the latent variables of m rows, and the rows' log-likelihood."""

    z: Floats
    covariance: Floats
    log_likelihood: Floats


def posterior(model: Latent, X: AnyFloats) -> Posterior:
    """p(z | observed part of x) = N(A^-1 W_o'(x_o - mean_o), s A^-1) with A = s I + W_o'W_o, for each row."""
    D, d = model.W.shape
    seen = ~np.isnan(X)
    centred = np.where(seen, np.subtract(X, model.mean, dtype=np.float64), 0.0)
    outer = (model.W[:, :, None] * model.W[:, None, :]).reshape(D, d * d)
    A = (seen.astype(np.float64) @ outer).reshape(-1, d, d)
    b = centred @ model.W
    if model.noise == 0.0:
        inverse = np.asarray(np.linalg.pinv(A, hermitian=True))
        z = (inverse @ b[:, :, None])[:, :, 0]
        return Posterior(z, np.zeros_like(A), np.full(len(X), np.nan))
    A += model.noise * np.eye(d)
    inverse = np.asarray(np.linalg.inv(A), dtype=np.float64)
    z = (inverse @ b[:, :, None])[:, :, 0]
    count = seen.sum(axis=1)
    log_det = (count - d) * np.log(model.noise) + np.linalg.slogdet(A)[1]
    quadratic = (np.square(centred).sum(axis=1) - (b * z).sum(axis=1)) / model.noise
    return Posterior(z, inverse * np.float64(model.noise), -0.5 * (count * np.log(2 * np.pi) + log_det + quadratic))


Sums = tuple[Floats, Floats, Floats, float, float, float, int]
"""Of the E step over rows: moments of z for every feature, products with the data, moments of z, squares, observed
values, log-likelihood, rows."""


def expected_sums(model: Latent, X: AnyFloats, run: Run) -> Sums:
    """The E step: all that the M step needs of the rows, in sums."""
    n, D = X.shape
    d = model.W.shape[1]
    parts = block_slices(n, max(LEAST_ROWS, BLOCK // max(D, (d + 1) ** 2)))
    groups = min(GROUPS, len(parts))
    H = np.zeros((groups, D, (d + 1) ** 2))
    r = np.zeros((groups, D, d + 1))
    Z = np.zeros((groups, (d + 1) ** 2))
    square, count, likelihood = np.zeros(groups), np.zeros(groups), np.zeros(groups)

    def work(g: int) -> None:
        for part in parts[g::groups]:
            block = X[part]
            seen = ~np.isnan(block)
            centred = np.where(seen, np.subtract(block, model.mean, dtype=np.float64), 0.0)
            hidden = posterior(model, block)
            z = np.hstack([hidden.z, np.ones((len(block), 1))])
            zz = z[:, :, None] * z[:, None, :]
            zz[:, :d, :d] += hidden.covariance
            H[g] += seen.T.astype(np.float64) @ zz.reshape(len(block), -1)
            r[g] += centred.T @ z
            Z[g] += zz.reshape(len(block), -1).sum(axis=0)
            square[g] += np.square(centred).sum()
            count[g] += seen.sum()
            likelihood[g] += hidden.log_likelihood.sum()

    run_blocks(work, groups, n_jobs=run.n_jobs)
    sums = (H.sum(axis=0), r.sum(axis=0), Z.sum(axis=0))
    return (*sums, float(square.sum()), float(count.sum()), float(likelihood.sum()), n)


def maximised(model: Latent, sums: Sums, floor: float) -> Latent:
    """The M step, from the sums of the E step.

    M-step for feature j over the rows that have it, with z~ = (z, 1):
    (w_j, mean_j) = [sum E z~z~']^-1 [sum x_ij E z~], and s = mean of E (x_ij - w_j'z - mean_j)^2 over what was
    observed. Then the latent variables are brought back to N(0, I) by W <- W C, C C' = their covariance over all rows
    (parameter expansion, Liu, Rubin & Wu 1998, doi:10.1093/biomet/85.4.755): without it the length of W creeps where
    noise is small.
    """
    H, right, Z, square, count, _, n = sums
    D, d = model.W.shape
    moments = H.reshape(D, d + 1, d + 1)
    new = (np.linalg.pinv(moments, hermitian=True) @ right[:, :, None])[:, :, 0]
    noise = model.noise
    if noise > 0.0:
        noise = max(float((square - (new * right).sum()) / count), floor)
    mean, W = model.mean + new[:, d], new[:, :d]
    if noise > 0.0:
        latent = Z.reshape(d + 1, d + 1) / n
        middle = latent[:d, d]
        C = np.linalg.cholesky(latent[:d, :d] - np.outer(middle, middle))
        mean, W = mean + W @ middle, W @ C
    return Latent(mean, W, noise)


def complete_em_step(model: Latent, S: Operator, total: float, floor: float) -> tuple[Latent, float]:
    """The same where nothing is missing: everything depends on S = Xc'Xc / n, which is only multiplied with W.

    No noise: span(W) <- span(S W), a step of simultaneous power iteration. With noise (Tipping & Bishop, eqs. 29-30):
    W~ = S W (s I + A^-1 W'S W)^-1, s~ = (tr S - tr(S W A^-1 W~')) / D, A = W'W + s I. Log-likelihood per row.
    """
    W, s = model.W, model.noise
    D, d = W.shape
    SW = S.apply(W)
    if s == 0.0:
        Q, _ = np.linalg.qr(SW)
        return Latent(model.mean, np.asarray(Q), 0.0), float("nan")
    A = W.T @ W + s * np.eye(d)
    inner = np.linalg.solve(A, W.T @ SW)
    new = np.asarray(np.linalg.solve((s * np.eye(d) + inner).T, SW.T).T, dtype=np.float64)
    noise = max((total - float((np.linalg.solve(A, new.T).T * SW).sum())) / D, floor)
    log_det = (D - d) * np.log(s) + np.linalg.slogdet(A)[1]
    likelihood = -0.5 * (D * np.log(2 * np.pi) + log_det + (total - np.trace(inner)) / s)
    return Latent(model.mean, new, noise), float(likelihood)


def closed_form(values: NDArray[np.float64], V: Floats, total: float, mean: Floats) -> Latent:
    """The maximum of the likelihood: W = V (Lambda - s I)^(1/2), s = the mean of the eigenvalues of S left out."""
    D, d = V.shape
    s = max((total - float(values.sum())) / max(D - d, 1), FLOOR * total / D)
    return Latent(mean, V * np.sqrt(np.maximum(values - s, 0.0)), s)


def filled(model: Latent, X: AnyFloats) -> Floats:
    """X with each missing value replaced by its expectation given what was observed of its row."""
    hidden = posterior(model, X)
    return np.where(np.isnan(X), hidden.z @ model.W.T + model.mean, X.astype(np.float64, copy=False))
