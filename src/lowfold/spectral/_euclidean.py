"""Is a matrix of dissimilarities Euclidean, in how many dimensions, and which constant would make it so?"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from lowfold._core.errors import InvalidInput
from lowfold._core.memory import require
from lowfold._core.operators import CentredGram
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigvalsh
from lowfold._core.types import AnyFloats, Floats
from lowfold._cuda._gram import DeviceMatrix, DevicePanels
from lowfold.graph._geodesic_gram import Unheld
from lowfold.kernels._gram import centred_gram
from lowfold.spectral._additive import WIDTH, Products, additive_constant
from lowfold.spectral._doors import smallest
from lowfold.spectral._krylov import _fixed_block
from lowfold.spectral._solvers import SMALL


def _square(D: ArrayLike) -> Floats:
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise InvalidInput(f"D must be a square matrix of distances; got shape {D.shape}")
    if not np.isfinite(D).all():
        raise InvalidInput("D must be finite: every pair measured, every path found; it holds NaN or inf")
    return D


def is_euclidean(D: ArrayLike, *, tol: float = 1e-9) -> bool:
    """Whether D holds the distances of some points: symmetric, zero diagonal, -1/2 H (D o D) H psd (Young-Householder).

    `tol` is relative to the largest eigenvalue.

    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])  # path lengths round a 4-cycle
    >>> is_euclidean(square)
    False
    """
    D = _square(D)
    size = max(D.max(initial=0.0), np.finfo(float).tiny)
    if np.any(D < 0) or np.any(np.diagonal(D) != 0) or np.abs(D - D.T).max(initial=0.0) > tol * size:
        return False
    values = _spectrum(D)
    return bool(values[0] >= -tol * max(values[-1], np.finfo(float).tiny))


def configuration_dimension(D: ArrayLike, *, tol: float = 1e-9) -> int:
    """The smallest number of dimensions in which Euclidean D can be realised: the rank of its centred Gram matrix."""
    values = _spectrum(_square(D))
    return int((values > tol * max(values[-1], np.finfo(float).tiny)).sum())


def _spectrum(D: Floats) -> Floats:
    n = len(D)
    require(4 * 8.0 * n * n, f"the full spectrum of {n} points", "test a random subset of the points")
    return np.asarray(stacked_eigvalsh(CentredGram(D).dense()))


def minimal_shift(D: AnyFloats | Unheld, *, run: Run | None = None, tol: float = 1e-9) -> float:
    """The smallest constant tau for which D + tau (off the diagonal) is Euclidean; 0.0 where D already is (Cailliez).

    G_tau = 1/2 (tau^2 H - 2 tau H D H - H (D o D) H) must be psd, see `additive_constant`. `tol` is relative to the
    largest eigenvalue.
    """
    run = run or Run()
    D = _on_device(D, run)
    n = centred_gram(D).n
    start, null = _fixed_block(n, WIDTH), np.full((n, 1), n**-0.5)
    if isinstance(D, (DeviceMatrix, DevicePanels)):
        start, null = D.device.put(start), D.device.put(null)
    with run.stage("additive constant"):
        return additive_constant(_products(D, run), start, null, tol)


def shift_bound(D: AnyFloats | Unheld) -> float:
    """An upper bound of the minimal shift: sqrt(mu^2 - lambda) - mu.

    lambda is the smallest eigenvalue of -H (D o D) H, mu that of -H D H.
    """
    gram = centred_gram(D)
    ones = np.ones((gram.n, 1))
    lam = 2.0 * float(smallest(gram, 1, null=ones, negligible=1.0).values[0])
    mu = 2.0 * float(smallest(centred_gram(D, power=1), 1, null=ones, negligible=1.0).values[0])
    lam, mu = min(lam, 0.0), min(mu, 0.0)
    return float(np.sqrt(mu * mu - lam) - mu)


def minimal_square_shift(D: AnyFloats, *, run: Run | None = None) -> float:
    """The smallest constant c for which sqrt(D o D + c), off the diagonal, is Euclidean (Lingoes): -2 lambda.

    lambda is the smallest eigenvalue of G = -1/2 H (D o D) H; c adds c/2 to all of them but that of the constant.
    """
    gram = centred_gram(D, run=run)
    least = smallest(gram, 1, null=np.ones((gram.n, 1)), negligible=1.0, run=Run(tol=(run or Run()).tol))
    return max(0.0, -2.0 * float(least.values[0]))


def _on_device(D: AnyFloats | Unheld, run: Run) -> AnyFloats | Unheld:
    """A matrix of more than a few points on the run's device, where it has one with room for it."""
    if run.device == "cpu" or not isinstance(D, np.ndarray) or len(D) < SMALL:
        return D
    from lowfold.spectral._on_device import distances_on_device

    return cast("AnyFloats | Unheld", distances_on_device(D, run))


def _products(D: AnyFloats | Unheld, run: Run) -> Products:
    """V -> -1/2 H (D o D) V, -H D V for centred V; on a device not centred, which the caller does."""
    if isinstance(D, (DeviceMatrix, DevicePanels)):
        return lambda V: (-0.5 * D.times(V, square=True), -D.times(V, square=False))
    squares, plain = centred_gram(D, run=run), centred_gram(D, power=1, run=run)
    return lambda V: (squares.apply(V), 2.0 * plain.apply(V))
