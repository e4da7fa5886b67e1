"""Independent components of whitened data: FastICA, extended Infomax, and mutual information by entropies of spacings.

Hyvaerinen & Oja (2000), doi:10.1016/S0893-6080(00)00026-5; Lee, Girolami & Sejnowski (1999),
doi:10.1162/089976699300016719; Learned-Miller & Fisher (2003), JMLR 4:1271-1295.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.parallel import Progress
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats
from lowfold._core.watch import unheard

# The step of Infomax: at most RATE, where the natural gradient is still stable; less after a gradient that grew, and a
# little more after each that did not.
RATE, SLOWER, FASTER = 0.5, 0.7, 1.02
NO_GAIN = 1e-10  # nats: entropies of a turned pair are sums over all rows, and differ by rounding


def spacing_entropy(u: ArrayLike) -> Floats:
    """Entropy of each row of u (in nats) from the spacings of its sorted values:
    H = mean_i log((n + 1) / m (u_(i+m) - u_(i))), m = sqrt(n).
    """
    rows = np.sort(np.atleast_2d(np.asarray(u, dtype=np.float64)), axis=1)
    n = rows.shape[1]
    if n < 4:
        raise InvalidInput(f"an entropy needs at least 4 values; got {n}")
    m = int(np.sqrt(n))
    gaps = np.maximum(rows[:, m:] - rows[:, :-m], ROUNDING * max(float(np.ptp(rows)), np.finfo(float).tiny))
    return np.asarray(np.log((n + 1) / m * gaps).mean(axis=1))


def gaussian_mutual_information(X: ArrayLike) -> float:
    """Mutual information of the columns if they were Gaussian: -1/2 log det of their correlations; two of them with
    correlation r have -1/2 log(1 - r^2).
    """
    C = np.corrcoef(np.asarray(X, dtype=np.float64), rowvar=False)
    return float(-0.5 * np.linalg.slogdet(C)[1])


def fast_ica(
    Z: Floats, start: Floats, contrast: str, *, max_iter: int, tol: float, progress: Progress = unheard
) -> tuple[Floats, int, bool]:
    """W (d, d) orthogonal by fixed-point steps for all sources at once: W <- polar(E[g(u) z'] - diag(E[g'(u)]) W).

    At rest when no source turned by more than `tol` (1 - cosine) in a step. Also the steps, and whether it came to it.
    """
    n, W, slopes = len(Z), _polar(start), CONTRASTS[contrast]
    for step in range(1, max_iter + 1):
        g, slope = slopes(Z @ W.T)
        new = _polar(g.T @ Z / n - slope.mean(axis=0)[:, None] * W)
        turned = float(np.abs(np.abs((new * W).sum(axis=1)) - 1).max())
        W = new
        if turned < tol:
            return W, step, True
        progress(step / max_iter)
    return W, max_iter, False


def _polar(W: Floats) -> Floats:
    """The orthogonal matrix nearest to W."""
    U, _, Vt = np.linalg.svd(W)
    return np.asarray(U @ Vt)


def _logcosh(u: Floats) -> tuple[Floats, Floats]:
    t = np.tanh(u)
    return t, 1 - t**2


def _exp(u: Floats) -> tuple[Floats, Floats]:
    e = np.exp(-(u**2) / 2)
    return u * e, (1 - u**2) * e


def _cube(u: Floats) -> tuple[Floats, Floats]:
    return u**3, 3 * u**2


CONTRASTS = {"logcosh": _logcosh, "exp": _exp, "cube": _cube}  # u -> g(u) and g'(u), g the slope of the contrast


def infomax(Z: Floats, *, max_iter: int, tol: float, progress: Progress = unheard) -> tuple[Floats, int, bool]:
    """W (d, d) by natural gradient: dW = (I - K tanh(u) u' - u u') W over all rows, u = W z.

    K = diag(+-1) follows the sign of E[sech^2 u] E[u^2] - E[u tanh u]: +1 for sources with heavy tails, -1 for light
    ones. The step shrinks when the gradient grows. Also the steps taken, and whether it came to rest.
    """
    n, d = Z.shape
    W, rate, former = np.eye(d), RATE, np.inf
    for step in range(1, max_iter + 1):
        U = Z @ W.T
        T = np.tanh(U)
        k = np.sign((1 - T**2).mean(axis=0) * (U**2).mean(axis=0) - (U * T).mean(axis=0))
        G = np.eye(d) - (k * T).T @ U / n - U.T @ U / n
        size = float(np.abs(G).max())
        if size <= tol:
            return W, step, True
        rate = rate * SLOWER if size > former else min(rate * FASTER, RATE)
        former = size
        W = W + rate * G @ W
        progress(step / max_iter)
    return W, max_iter, False


def least_dependent(
    Z: Floats, *, angles: int = 150, max_iter: int = 20, progress: Progress = unheard
) -> tuple[Floats, int, bool]:
    """The rotation W of whitened Z with the least sum of marginal entropies: mutual information up to a constant.

    Pairs of axes are turned in rounds, each by the best of `angles` angles in [0, pi/2) and once more ten times finer;
    until no angle gains anything.
    """
    d = Z.shape[1]
    W = np.eye(d)
    for step in range(1, max_iter + 1):
        moved = False
        progress((step - 1) / max_iter)
        for i in range(d - 1):
            for j in range(i + 1, d):
                pair = Z @ W[[i, j]].T
                coarse = np.linspace(0.0, np.pi / 2, angles, endpoint=False)
                best = coarse[np.argmin(_turned_entropy(pair, coarse))]
                fine = np.asarray(best + np.linspace(-1, 1, 21) * (np.pi / 2 / angles), dtype=np.float64)
                theta = float(fine[np.argmin(_turned_entropy(pair, fine))])
                gain = _turned_entropy(pair, np.array([0.0, theta]))
                if gain[1] < gain[0] - NO_GAIN:
                    c, s = np.cos(theta), np.sin(theta)
                    W[[i, j]] = np.array([[c, s], [-s, c]]) @ W[[i, j]]
                    moved = True
        if not moved:
            return W, step, True
    return W, max_iter, False


def _turned_entropy(pair: Floats, angles: Floats) -> Floats:
    """Sum of the two marginal entropies after a turn, for each angle."""
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    first, second = c * pair[:, 0] + s * pair[:, 1], c * pair[:, 1] - s * pair[:, 0]
    return spacing_entropy(first) + spacing_entropy(second)
