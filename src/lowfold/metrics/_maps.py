"""Feature maps: most distances of Wang (2012), Section 3.1.1, are Euclidean after one of these.

Each map takes rows X (n, D) to features F (n, p), keeps float32, and treats every row by itself. A neighbour search
that is fast for the Euclidean distance is therefore as fast for all of them. Module-level functions, so that
a metric can be pickled.
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # its parts load when they are used
from numpy.typing import NDArray

from lowfold._core.errors import InvalidInput
from lowfold._core.extras import load_extra
from lowfold._core.types import AnyFloats
from lowfold.metrics._points import scale_exponents

BLOCK_ROWS = 4096


def identity(X: AnyFloats) -> AnyFloats:
    """x -> x."""
    return X


def require_directions(X: AnyFloats) -> None:
    """Raise InvalidInput that names the first row of zeros."""
    nonzero = X.any(axis=1)
    if not nonzero.all():
        raise InvalidInput(
            f"row {int(np.flatnonzero(~nonzero)[0])} is zero, and a zero vector has no direction; angular and cosine "
            "distance need non-zero rows: drop it or use metric='euclidean'"
        )


def require_variation(X: AnyFloats) -> None:
    """Raise InvalidInput that names the first constant row."""
    constant = X.max(axis=1) == X.min(axis=1)
    if constant.any():
        raise InvalidInput(
            f"row {int(np.flatnonzero(constant)[0])} is constant, so its correlation is undefined: "
            "drop it or use metric='euclidean'"
        )


def require_columns(X: AnyFloats, least: int, metric: str) -> None:
    """Raise InvalidInput when rows are too short for a metric that was made for longer ones."""
    if X.shape[1] < least:
        raise InvalidInput(f"metric {metric!r} was made for rows of at least {least} values; got {X.shape[1]} columns")


def normalized(X: AnyFloats) -> AnyFloats:
    """x -> x / ||x||. A row of zeros has no direction and is refused by its number."""
    require_directions(X)
    scaled = np.ldexp(X, -scale_exponents(X)[:, None])
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(X.dtype, copy=False)


def standardized(X: AnyFloats) -> AnyFloats:
    """x -> (x - mean(x)) / ||x - mean(x)||. A constant row correlates with nothing and is refused by its number."""
    require_variation(X)
    scaled = np.ldexp(X, -scale_exponents(X)[:, None])
    return normalized(scaled - scaled.mean(axis=1, keepdims=True))


def fourier_lowpass(X: AnyFloats, *, n_terms: int, band: str) -> AnyFloats:
    """x -> the first `n_terms` coefficients of the unitary FFT, real and imaginary parts side by side.

    band="first" takes bins 0..s-1 as printed; band="symmetric" takes bins in the order 0, 1, -1, 2, -2, ..., the true
    low-pass. A real signal has |F_k| = |F_-k|, so the bin k >= 1 stands for both with weight sqrt(2) when both are in.
    With s = D both are an isometry.
    """
    require_columns(X, n_terms, "fourier")
    if band == "first":
        F = scipy.fft.fft(X, axis=1, norm="ortho")[:, :n_terms]
    else:
        k = np.arange(n_terms // 2 + 1)
        count = np.where(k == 0, 1, np.where(2 * k + 1 <= n_terms, 2, 1))
        F = scipy.fft.rfft(X, axis=1, norm="ortho")[:, : len(k)] * np.sqrt(count).astype(X.dtype)
    return np.concatenate([F.real, F.imag], axis=1)


def fourier_phases(X: AnyFloats, *, n_terms: int, threshold: float) -> AnyFloats:
    """x -> arg F_0 .. arg F_{s-1} in (-pi, pi]; a coefficient below `threshold` times the row's largest has phase 0.

    Without the threshold the phase of a coefficient that is zero up to rounding would be noise.
    """
    require_columns(X, n_terms, "fourier_phase")
    F = scipy.fft.rfft(X, axis=1) if n_terms <= X.shape[1] // 2 + 1 else scipy.fft.fft(X, axis=1)
    magnitude = np.abs(F)
    phases = np.angle(F)
    phases[magnitude <= threshold * magnitude.max(axis=1, keepdims=True)] = 0
    return phases[:, :n_terms]


def fourier_phase_steps(X: AnyFloats, *, n_terms: int, threshold: float) -> AnyFloats:
    """x -> the s differences arg F_{i+1} - arg F_i of the first s + 1 phases."""
    return np.diff(fourier_phases(X, n_terms=n_terms + 1, threshold=threshold), axis=1)


def derivative(X: AnyFloats, *, order: int, operator: str, shape: tuple[int, ...] | None) -> AnyFloats:
    """x -> its differences of the given order; for images (`shape`) along rows and along columns, side by side.

    "forward" is x_{i+1} - x_i, "central" is (x_{i+2} - x_i) / 2.
    """
    n = len(X)
    if shape and math.prod(shape) != X.shape[1]:
        raise InvalidInput(f"metric 'derivative' was made for images of shape {shape}; got {X.shape[1]} columns")
    images = X.reshape(n, *shape) if shape else X
    axes = (1, 2) if shape else (1,)
    return np.concatenate([_difference(images, order, operator, axis).reshape(n, -1) for axis in axes], axis=1)


def _difference(X: AnyFloats, order: int, operator: str, axis: int) -> AnyFloats:
    if operator == "forward":
        return np.diff(X, n=order, axis=axis)
    for _ in range(order):
        X = np.moveaxis(X, axis, -1)
        X = np.moveaxis((X[..., 2:] - X[..., :-2]) / 2, -1, axis)
    return X


def wavelet_bands(X: AnyFloats, *, wavelet: str, level: int, details: int) -> AnyFloats:
    """x -> the approximation of a `level`-fold orthonormal DWT and its `details` coarsest detail bands.

    Rows are padded with zeros to a multiple of 2^level, which changes no distance and makes the periodic transform
    orthonormal at any length: with details = level the map is an isometry.
    """
    pywt = load_extra("pywt", "wavelets", "metric='wavelet'")
    padding = -X.shape[1] % 2**level
    padded = np.pad(X, ((0, 0), (0, padding)))
    approximation, bands = padded, []
    for _ in range(level):
        approximation, detail = pywt.dwt(approximation, wavelet, mode="periodization", axis=1)
        bands.append(detail)
    return np.concatenate([approximation, *bands[::-1][:details]], axis=1).astype(X.dtype, copy=False)


def whitened(X: AnyFloats, *, root: NDArray[np.float64]) -> AnyFloats:
    """x -> L^-1 x with M = L L', so that ||L^-1 (x - a)||^2 = (x - a)' M^-1 (x - a); solved in float64 by blocks."""
    if X.shape[1] != len(root):
        raise InvalidInput(f"metric 'mahalanobis' was made for rows of {len(root)} values; got {X.shape[1]} columns")
    F = np.empty(X.shape, dtype=X.dtype)
    for start in range(0, len(X), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        F[rows] = scipy.linalg.solve_triangular(root, X[rows].astype(np.float64).T, lower=True).T
    return F


def half_square(d: AnyFloats) -> AnyFloats:
    """d -> d^2 / 2: angular distance to cosine distance, 1 - cos(theta) = (2 sin(theta / 2))^2 / 2."""
    return d * d / 2


def root_of_double(d: AnyFloats) -> AnyFloats:
    """The inverse of `half_square`."""
    return np.sqrt(2 * np.asarray(d))


def square(d: AnyFloats) -> AnyFloats:
    """d -> d^2."""
    return d * d


def root(d: AnyFloats) -> AnyFloats:
    """The inverse of `square`."""
    return np.sqrt(d)
