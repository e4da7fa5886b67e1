"""Images brought to one light, each by itself. Wang (2012), Section 5.3.2, names the ways; recipes are the cited ones'.

A picture is reflectance times illumination, f = log I = log R + log L, and light changes slowly from place to place:
what is left of f without its large scales is nearly free of the light.

"quotient"   I over its blurred self, the self-quotient image, Wang, Li & Wang (2004)
"wavelet"    f without the coarsest coefficients of its wavelet transform
"variation"  f - u with u = argmin sum |grad u| + weight |f - u|, log total variation, Chen et al. (2006)
"""

from __future__ import annotations

import numpy as np

from lowfold._core.extras import load_extra
from lowfold._core.rounding import ROUNDING
from lowfold._core.types import Floats

FINE = ("quotient", "wavelet", "variation")
LIGHTS = ("as_is", "contrast", "histogram", *FINE)

DARK = 1 / 256  # of the brightest pixel: added before the logarithm, one step of an image in bytes
LARGE = 8  # pixels of the shorter side over this is where a detail ends and light begins
STEPS = 200  # of the descent over u: a disc of half the reach is then found to a hundredth, near the reach to a tenth
STEP = 0.35  # of both steps; their product times |grad|^2 <= 8 must stay below 1


def even_light(X: Floats, light: str, shape: tuple[int, ...] | None = None) -> Floats:
    """Rows of pixels in one of the LIGHTS; the last three look at the places of pixels and need the shape of an image.

    >>> even_light(np.array([[1.0, 3.0], [5.0, 5.0]]), "contrast").tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    >>> even_light(np.array([[7.0, 9.0, 9.0, 200.0]]), "histogram").tolist()
    [[0.125, 0.5, 0.5, 0.875]]
    """
    if light == "as_is":
        return X
    if light == "contrast":
        return _contrast(X)
    if light == "histogram":
        return np.array([_ranks(row) for row in X])
    images = X.reshape(len(X), *(shape or ()))
    made = {"quotient": _quotient, "wavelet": _without_coarse, "variation": _small_scales}[light](images)
    return _contrast(made.reshape(X.shape))


def _contrast(X: Floats) -> Floats:
    """Mean 0 and variance 1; a row of one grey becomes zeros."""
    centred = X - X.mean(axis=1, keepdims=True)
    size = np.sqrt(np.mean(centred**2, axis=1, keepdims=True))
    flat = size <= ROUNDING * np.abs(X).max(axis=1, keepdims=True)  # rounding of the mean, not contrast
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, size))


def _ranks(row: Floats) -> Floats:
    """Mid-rank of every pixel over the number of pixels: equal greys stay equal."""
    _, place, count = np.unique(row, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count
    return np.asarray((below + count / 2)[place] / len(row))


def _bright(images: Floats) -> Floats:
    """Positive greys: from the darkest on, and a little more, since a logarithm follows."""
    sides = tuple(range(1, images.ndim))
    lifted = images - np.minimum(images.min(axis=sides, keepdims=True), 0.0)
    top = lifted.max(axis=sides, keepdims=True)
    return np.asarray(lifted + DARK * np.where(top > 0, top, 1.0))


def _reach(images: Floats) -> int:
    return max(1, min(int(side) for side in images.shape[1:3]) // LARGE)


def _quotient(images: Floats) -> Floats:
    from scipy.ndimage import gaussian_filter1d

    blurred = bright = _bright(images)
    for axis in (1, 2):
        blurred = gaussian_filter1d(blurred, _reach(images), axis=axis, mode="nearest")
    return np.asarray(np.log(bright / blurred))


def _without_coarse(images: Floats) -> Floats:
    """Haar coefficients of blocks larger than the reach set to zero, those of details kept."""
    pywt = load_extra("pywt", "wavelets", "light='wavelet'")
    level = int(np.log2(_reach(images))) + 1
    parts = pywt.wavedec2(np.log(_bright(images)), "haar", mode="symmetric", level=level, axes=(1, 2))
    parts[0] = np.zeros_like(parts[0])
    whole = pywt.waverec2(parts, "haar", mode="symmetric", axes=(1, 2))
    return np.asarray(whole[:, : images.shape[1], : images.shape[2]])


def _small_scales(images: Floats) -> Floats:
    """f - u by the primal-dual steps of Chambolle & Pock (2011); a disc of radius r stays in f - u where weight < 2/r.

    p is the dual field, |p| <= 1, u the large scales, v twice the last u minus the one before.
    """
    f = np.log(_bright(images))
    weight = 2.0 / _reach(images)
    u, v = f.copy(), f.copy()
    p = np.zeros((2, *f.shape))
    for _ in range(STEPS):
        p += STEP * _gradient(v)
        p /= np.maximum(1.0, np.sqrt((p**2).sum(axis=0)))
        w = u + STEP * _divergence(p) - f
        fresh = f + np.sign(w) * np.maximum(np.abs(w) - STEP * weight, 0.0)
        v, u = 2 * fresh - u, fresh
    return np.asarray(f - u)


def _gradient(u: Floats) -> Floats:
    """Differences to the next pixel down and right, zero at the end."""
    g = np.zeros((2, *u.shape))
    g[0, :, :-1] = np.diff(u, axis=1)
    g[1, :, :, :-1] = np.diff(u, axis=2)
    return g


def _divergence(p: Floats) -> Floats:
    """Minus the transpose of `_gradient`."""
    out = np.zeros(p.shape[1:])
    out[:, :-1] += p[0, :, :-1]
    out[:, 1:] -= p[0, :, :-1]
    out[:, :, :-1] += p[1, :, :, :-1]
    out[:, :, 1:] -= p[1, :, :, :-1]
    return out
