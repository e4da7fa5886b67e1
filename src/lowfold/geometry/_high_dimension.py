"""Facts about spaces of many dimensions, in closed form: why distances stop telling points apart.

Wang (2012), Section 1.2, doi:10.1007/978-3-642-27497-8; Levada (2020), Section 1. Two printed values are corrected: a
ball of ten dimensions has 0.35 of its volume within the radius 0.9, not sqrt(0.9), and the Gaussian tail of ten
dimensions beyond radius 2 is 0.947347, which the table cuts off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincc, gammaln

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats

GAUSSIAN_TAIL_DIMENSIONS = (1, 2, 5, 10, 20, 100)


def ball_volume(D: ArrayLike, radius: ArrayLike = 1.0) -> Floats:
    """pi^(D/2) r^D / Gamma(D/2 + 1).

    >>> float(np.round(ball_volume(3), 6))
    4.18879
    """
    D = _dimensions(D)
    return np.asarray(np.exp(0.5 * D * np.log(np.pi) - gammaln(0.5 * D + 1)) * np.power(radius, D))


def sphere_area(D: ArrayLike, radius: ArrayLike = 1.0) -> Floats:
    """Surface of the ball in R^D: 2 pi^(D/2) r^(D-1) / Gamma(D/2)."""
    D = _dimensions(D)
    return np.asarray(2 * np.exp(0.5 * D * np.log(np.pi) - gammaln(0.5 * D)) * np.power(radius, D - 1))


def ball_in_cube(D: ArrayLike) -> Floats:
    """Share of a cube that the ball inside it fills: ball_volume(D, r) / (2r)^D, which falls to 0.

    >>> ball_in_cube([1, 2, 10]).round(6).tolist()
    [1.0, 0.785398, 0.00249]
    """
    D = _dimensions(D)
    return np.asarray(np.exp(0.5 * D * np.log(np.pi) - gammaln(0.5 * D + 1) - D * np.log(2.0)))


def shell_share(D: ArrayLike, thickness: float) -> Floats:
    """Share of a unit ball's volume in its outer shell of the given thickness: 1 - (1 - t)^D, which rises to 1.

    >>> float(shell_share(10, 0.1).round(4))
    0.6513
    """
    if not 0 <= thickness <= 1:
        raise InvalidInput(f"thickness must be between 0 and 1, a share of the radius; got {thickness!r}")
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(_dimensions(D) * np.log1p(-thickness)))


def gaussian_ball_mass(D: ArrayLike, radius: ArrayLike) -> Floats:
    """P(|x| <= r) for x ~ N(0, I_D): the chi-square distribution at r^2.

    >>> float(gaussian_ball_mass(10, 1.0).round(6))
    0.000172
    """
    return np.asarray(gammainc(0.5 * _dimensions(D), 0.5 * np.square(radius)))


def gaussian_tail(D: ArrayLike, radius: ArrayLike = 2.0) -> Floats:
    """P(|x| >= r) for x ~ N(0, I_D). The table of the text is radius 2 at `GAUSSIAN_TAIL_DIMENSIONS`.

    >>> gaussian_tail(GAUSSIAN_TAIL_DIMENSIONS).round(5).tolist()
    [0.0455, 0.13534, 0.54942, 0.94735, 0.99995, 1.0]
    """
    return np.asarray(gammaincc(0.5 * _dimensions(D), 0.5 * np.square(radius)))


def diagonal_cosine(D: ArrayLike) -> Floats:
    """Cosine between a diagonal (+-1, ..., +-1) of the cube and an axis: 1 / sqrt(D), so they become orthogonal."""
    return np.asarray(1 / np.sqrt(_dimensions(D)))


def grid_points(D: int, per_axis: int = 10) -> int:
    """Points of a grid with `per_axis` on each of D axes: what a fixed accuracy costs."""
    return int(int(per_axis) ** int(D))


class NormMoments(NamedTuple):
    """Mean and variance of |x|, up to O(1/D) and O(1/sqrt(D))."""

    mean: float
    variance: float

    def deviation_bound(self, eps: float) -> float:
        """Chebyshev: P(| |x| - mean | >= eps) <= variance / eps^2, whatever the dimension."""
        return min(1.0, self.variance / eps**2)


def norm_moments(D: int, mean: float, variance: float, third: float, fourth: float) -> NormMoments:
    """The norm of D independent, identically distributed components with the given mean and central moments.

    a = m^2 + m2, b = (4 m^2 m2 - m2^2 + 4 m m3 + m4) / (4 a): the mean is sqrt(a D - b), the variance b, free of D.

    >>> norm_moments(400, 0.0, 1.0, 0.0, 3.0)  # N(0, 1)
    NormMoments(mean=19.987, variance=0.5)
    """
    a = mean**2 + variance
    if a <= 0:
        raise InvalidInput("the components must not all be zero; mean and variance are 0")
    b = (4 * mean**2 * variance - variance**2 + 4 * mean * third + fourth) / (4 * a)
    return NormMoments(float(np.sqrt(max(a * D - b, 0.0))), float(b))


def classifier_parameters(D: int, n_classes: int = 2) -> dict[str, int]:
    """Numbers that a classifier has to learn: nearest mean c D; Gaussian with its own covariance for each class
    c (D + D (D + 1) / 2) + c - 1. Sample sizes grow with them: linearly and quadratically in D.
    """
    quadratic = n_classes * (D + D * (D + 1) // 2) + n_classes - 1
    return {"nearest_mean": n_classes * D, "gaussian": quadratic}


def trunk_error(D: int, n_samples: int | None = None) -> float:
    """Error of the nearest mean classifier on Trunk's two classes N(+-m, I), m_i = 1 / sqrt(i), equally likely.

    With known means it is Phi(-|m|), which falls to 0 with every further feature; with m estimated from n_samples
    (Trunk 1979, doi:10.1109/TPAMI.1979.4766926) Phi(-theta), theta = H / sqrt((1 + 1/n) H + D / n) with H = |m|^2,
    which rises to 1/2: from some D on more features do harm.
    """
    from scipy.special import ndtr

    H = float(np.sum(1 / np.arange(1, D + 1)))
    theta = np.sqrt(H) if n_samples is None else H / np.sqrt((1 + 1 / n_samples) * H + D / n_samples)
    return float(ndtr(-theta))


def _dimensions(D: ArrayLike) -> Floats:
    array = np.asarray(D, dtype=np.float64)
    if np.any(~(array >= 1)):
        raise InvalidInput(f"the dimension must be at least 1; got {np.asarray(D).tolist()}")
    return array
