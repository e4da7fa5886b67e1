"""Multiscale SVD: which singular values of a growing ball grow like a plane, like curvature, or not at all.

Little, Jung & Maggioni (2009), AAAI Fall Symposium; Wang (2012), Section 1.4.4. The local matrix has to be
centred and divided by the root of the number of points, else "linear growth" does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowfold._core.limits import Int, check_limits
from lowfold._core.parallel import block_seeds, run_blocks, single_threaded_blas
from lowfold._core.random import generator
from lowfold._core.stacks import singular_values
from lowfold._core.types import Floats, Ints
from lowfold.dimension._estimate import Estimate, cannot_tell, half_samples, sampled, slope
from lowfold.dimension._linear import require_range
from lowfold.dimension._read import distinct, only, read_source
from lowfold.dimension._scales import by_scale
from lowfold.graph._source import Points

N_RADII = 10  # of the balls, evenly spaced in their logarithm
TANGENT, CURVATURE = 0.5, 1.5  # exponents of growth that separate noise, tangent and curvature
FEWEST = 64  # points: the largest of ten balls has to hold several times as many as the smallest
CENTERS = 40  # balls about so many points in a half sample
# Points in the smallest ball and in the largest: so many, or one in so many of all where that is more.
SMALL, SMALL_PART, LARGE, LARGE_PART = 16, 100, 48, 10
NARROW = 1.2  # radii that differ by less than this factor show no growth
MOST = 256  # points of one ball
NOTHING = 1e-9  # singular values below this share of the largest are rounding


@dataclass(frozen=True, eq=False, repr=False)
class MultiscaleEstimate(Estimate):
    """An `Estimate` with the spectra it rests on.

    spectra    (radii, m) root mean square over centres of the i-th singular value in a ball of each radius
    exponents  (m,) growth sigma_i ~ r^exponent
    labels     (m,) "tangent", "curvature", "noise", or "nothing" where the value is zero
    """

    spectra: Floats | None = None
    exponents: Floats | None = None
    labels: tuple[str, ...] = ()


def multiscale_svd(
    X: Any,
    *,
    radii: tuple[float, float] | None = None,
    max_centers: int = 100,
    n_resamples: int = 10,
    random_state: object = 0,
    n_jobs: int | None = None,
) -> MultiscaleEstimate:
    """Number of singular values that grow linearly with the radius of a ball about a point.

    In the ball B(z, r) let sigma_i(r) be the singular values of the centred points over the root of their number:
    sigma ~ r along tangents (exponent 0.5 to 1.5, all of about one size), ~ r^2 along curvature (above 1.5, or much
    smaller than the tangents), constant for noise (below 0.5).
    Tolerates noise that is smaller than the radii; needs few points per dimension, but at least two in the smallest
    ball for each. Local: the count from the spectra of one centre alone, NaN at points that are no centre. Repeated
    points are left out.

    Parameters
    ----------
    X : points, Euclidean.
    radii : (low, high) or None. None: where balls hold on average max(16, n / 100) to max(48, n / 10) points.
    max_centers : balls are taken about at most so many points, drawn at random.
    n_resamples : estimates on random halves for the interval; 0 for none.
    """
    values = {"max_centers": max_centers, "n_resamples": n_resamples}
    check_limits("multiscale_svd", values, {"max_centers": (Int(1),), "n_resamples": (Int(0),)})
    require_range("radii", radii)
    source = read_source(X, "euclidean", None)
    assert isinstance(source, Points)
    rng = generator(random_state)
    kept, note = sampled(distinct(source), source.n, source.n, rng)
    points = np.asarray(source.X[kept], dtype=np.float64)
    n = len(points)
    if n < FEWEST:
        reason = f"{n} different points are too few; at least {FEWEST}"
        return MultiscaleEstimate("multiscale_svd", float("nan"), reason=reason)
    centers = np.sort(rng.choice(n, min(n, max_centers), replace=False))
    with single_threaded_blas():
        low, high = _range(points, centers) if radii is None else radii
        if not 0 < low < high:
            return MultiscaleEstimate(**vars(cannot_tell("multiscale_svd", f"no range of scales: {low:g} to {high:g}")))
        grid = np.geomspace(low, high, N_RADII)
        squares = _spectra(points, centers, grid, rng, n_jobs)
        spectra = np.sqrt(np.nanmean(squares, axis=0)) if np.isfinite(squares).any(axis=0).all() else None
        if spectra is None:
            return MultiscaleEstimate("multiscale_svd", float("nan"), reason="balls of the smallest radius are empty")
        fewest = _fewest(points, centers, low)
        exponents, labels = _growth(grid, spectra, fewest)
        value = float(labels.count("tangent"))

        def on_half(rows: Ints) -> float:
            half = points[rows]
            about = np.arange(0, len(half), max(1, len(half) // CENTERS))
            some = _spectra(half, about, grid, rng, n_jobs)
            if not np.isfinite(some).any(axis=0).all():
                return float("nan")
            inside = _fewest(half, about, low)
            return float(_growth(grid, np.sqrt(np.nanmean(some, axis=0)), inside)[1].count("tangent"))

        interval = half_samples(on_half, n, value, n_resamples, rng, whole=True)
    local = np.full(source.n, np.nan)
    for i, center in enumerate(centers):
        if np.isfinite(squares[i]).all():
            local[kept[center]] = _growth(grid, np.sqrt(squares[i]), fewest)[1].count("tangent")
    found = MultiscaleEstimate(
        "multiscale_svd",
        value,
        interval,
        used=(float(low), float(high)),
        scales=grid,
        curve=spectra[:, 0],
        axes=("radius r", "largest singular value"),
        log=True,
        local=local,
        note=note,
        spectra=spectra,
        exponents=exponents,
        labels=labels,
    )
    against = _against(value, high / low, fewest)
    if against is not None:
        return replace(found, value=float("nan"), interval=None, reason=against)
    # all of its balls have to agree, so that the smallest are what it rests on
    return by_scale(found, only(source, kept), float(low), rng)


def _against(value: float, factor: float, fewest: int) -> str | None:
    """Why `value` directions cannot be told from balls of radius r to factor r, the smallest of `fewest` points."""
    if value == 0:
        return "no singular value grows linearly: noise as large as the radii, or radii beyond the size of the data"
    if factor < NARROW:
        return f"balls of few and of many points have radii r and {factor:.2f} r: too close to tell growth"
    if value > fewest / 2:
        return f"balls of {fewest} points are too small to tell {value:g} directions"
    return None


def _fewest(points: Floats, centers: Ints, radius: float) -> int:
    """Median number of points in balls about the centres."""
    return int(np.median([(_distances(points, int(c)) <= radius).sum() for c in centers]))


def _distances(points: Floats, center: int) -> Floats:
    return np.asarray(np.linalg.norm(points - points[center], axis=1))


def _range(points: Floats, centers: Ints) -> tuple[float, float]:
    """Median over centres of the distances within which max(16, n / 100) and max(48, n / 10) points lie."""
    n = len(points)
    few, many = max(SMALL, n // SMALL_PART), min(max(LARGE, n // LARGE_PART), n - 1)
    found = [np.partition(_distances(points, int(c)), (few, many))[[few, many]] for c in centers]
    low, high = np.median(found, axis=0)
    return float(low), float(high)


def _spectra(points: Floats, centers: Ints, grid: Floats, rng: np.random.Generator, n_jobs: int | None) -> Floats:
    """(centres, radii, m) squared singular values of centred balls over their number of points; NaN below 3 points.

    From every ball about a centre as many points are drawn as the smallest holds: the smaller singular values grow with
    the number of points alone, which would pass for growth with the radius.
    """
    seeds = block_seeds(rng, len(centers))
    width = min(points.shape[1], len(points))
    out = np.full((len(centers), len(grid), width), np.nan)

    def work(i: int) -> None:
        distance = _distances(points, int(centers[i]))
        fewest = min(int((distance <= grid[0]).sum()), MOST)
        if fewest < 3:
            return
        for r, radius in enumerate(grid):
            ball = points[seeds[i].permutation(np.flatnonzero(distance <= radius))[:fewest]]
            s = singular_values(ball - ball.mean(axis=0)) ** 2 / len(ball)
            out[i, r, : len(s)] = s
            out[i, r, len(s) :] = 0.0

    run_blocks(work, len(centers), n_jobs=n_jobs)
    return out


def _growth(grid: Floats, spectra: Floats, fewest: int) -> tuple[Floats, tuple[str, ...]]:
    """Exponents of growth and what they mean, one per singular value, from balls of at least `fewest` points.

    Where some values do not grow, the largest of those is the noise: it is also in the values that do grow, sigma^2 =
    noise^2 + (c r^p)^2, and is taken out of them before the exponent p is fitted.
    """
    exponents = np.array([_exponent(grid, sigma, spectra[:, 0]) for sigma in spectra.T])
    still = np.flatnonzero(exponents <= TANGENT)
    if len(still) and still[0] > 0:
        floor = spectra[:, still[0]] ** 2
        for i in range(still[0]):
            above = spectra[:, i] ** 2 > 1.5 * floor
            if above.sum() >= 3:
                clean = np.sqrt(spectra[above, i] ** 2 - floor[above])
                exponents[i] = slope(np.log(grid[above]), np.log(clean))
    upper = slice(len(grid) // 2, None)
    size = np.mean(spectra[upper] / spectra[upper, :1], axis=0)
    return exponents, tuple(_label(p, q, i + 1, fewest) for i, (p, q) in enumerate(zip(exponents, size)))


def _exponent(grid: Floats, sigma: Floats, largest: Floats) -> float:
    """Slope of log sigma over log r; NaN where sigma is zero."""
    seen = sigma > NOTHING * largest
    if seen.sum() < max(3, len(grid) // 2):
        return float("nan")
    return slope(np.log(grid[seen]), np.log(sigma[seen]))


def _label(exponent: float, size: float, d: int, m: int) -> str:
    """What a singular value is that grows like r^exponent and is `size` of the largest, the d-th of balls of m points.

    Tangents are alike in size: m points of a ball in d dimensions have singular values within (1 - c) / (1 + c), c^2 =
    d / m, of each other (Marchenko & Pastur 1967, doi:10.1070/SM1967v001n04ABEH001994). One that is less than half of
    that is curvature that noise makes grow slowly.
    """
    if np.isnan(exponent):
        return "nothing"
    c = np.sqrt(min(d / max(m, 1), 1.0))
    if TANGENT < exponent <= CURVATURE and size < 0.5 * (1 - c) / (1 + c):
        return "curvature"
    return "curvature" if exponent > CURVATURE else "tangent" if exponent > TANGENT else "noise"
