"""How many principal components: a number, all, a share of the variance, or Minka's evidence; and their density."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats
from lowfold.lowrank._principal import Axes

TINY = np.finfo(float).tiny
ROUNDED = 1e-13  # of the largest variance: less is rounding of a direction that the data do not have


def components_to_compute(asked: int | float | str | None, n: int, D: int) -> int:
    """A number as it is; all where the spectrum decides."""
    return int(asked) if isinstance(asked, (int, np.integer)) else min(n, D)


def components_to_keep(asked: int | float | str | None, axes: Axes, n: int, D: int) -> int:
    """None keeps all; a share below 1 the fewest that hold more than it; "mle" what the evidence favours."""
    values = axes.pairs.values
    if isinstance(asked, str):
        return minka_dimension(values, n, D)
    if asked is None or isinstance(asked, (int, np.integer)):
        return len(values)
    share = np.cumsum(values) / max(axes.total, TINY)
    return min(int(np.searchsorted(share, asked, side="right")) + 1, len(values))


def truncated(axes: Axes, k: int) -> Axes:
    """The first k axes; the gap is to the next of them."""
    values = axes.pairs.values
    if k == len(values):
        return axes
    pairs = replace(
        axes.pairs, values=values[:k], vectors=axes.pairs.vectors[:, :k], gap=float(values[k - 1] - values[k])
    )
    return Axes(axes.V[:, :k], pairs, axes.total, None if axes.scores is None else axes.scores[:, :k])


def minka_dimension(values: Floats, n: int, D: int) -> int:
    """The dimension of the largest evidence under probabilistic PCA; Minka (2000), Automatic choice of dimensionality.

    `values` are all variances, descending; Laplace's approximation, equation (77) there.
    """
    if n < D:
        raise InvalidInput(
            f'n_components="mle" needs at least as many points as features; got n_samples = {n}, n_features = {D}: '
            "use a share of the variance, n_components=0.95"
        )
    floor = np.finfo(float).eps * max(float(values[0]), TINY)
    rank = max(1, int((values > ROUNDED * values[0]).sum()))  # repeated columns add none
    evidence = [_log_evidence(np.maximum(values, floor), k, n) for k in range(1, min(D, rank + 1))]
    return int(np.argmax(evidence)) + 1 if evidence else 1


def _log_evidence(values: Floats, k: int, n: int) -> float:
    from scipy.special import gammaln

    D = len(values)
    noise = float(values[k:].mean())
    free = (D - np.arange(k)) / 2
    log_prior = -k * np.log(2.0) + float((gammaln(free) - np.log(np.pi) * free).sum())
    log_fit = -n / 2 * float(np.log(values[:k]).sum()) - n * (D - k) / 2 * np.log(noise)
    m = D * k - k * (k + 1) / 2
    rest = np.concatenate([values[:k], np.full(D - k, noise)])
    i, j = np.triu_indices(D, 1)
    i, j = i[i < k], j[i < k]
    spread = np.maximum(values[i] - values[j], np.finfo(float).eps * values[0])
    inverse = np.maximum(1 / rest[j] - 1 / rest[i], TINY)
    log_curvature = float((np.log(inverse) + np.log(spread) + np.log(n)).sum())
    return float(log_prior + log_fit + (m + k) / 2 * np.log(2 * np.pi) - log_curvature / 2 - k / 2 * np.log(n))


def log_density(centred_scores: Floats, squares: Floats, values: Floats, noise: float, D: int) -> Floats:
    """Log of the Gaussian with variances `values` along the components and `noise` in all other directions.

    `centred_scores` are V'(x - mean), `squares` |x - mean|^2.
    """
    k = len(values)
    if k < D and not noise > 0:
        raise InvalidInput(f"the data have no variance beyond {k} components, so they have no density; keep fewer")
    along = (centred_scores**2 / np.maximum(values, TINY)).sum(axis=1)
    beyond = np.maximum(squares - (centred_scores**2).sum(axis=1), 0.0) / noise if k < D else 0.0
    log_size = float(np.log(np.maximum(values, TINY)).sum()) + (D - k) * (np.log(noise) if k < D else 0.0)
    return np.asarray(-0.5 * (along + beyond + log_size + D * np.log(2 * np.pi)))
