"""Sets in several pieces: linked spheres, unions of subspaces, Gaussian clouds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.random import RandomState, generator
from lowfold._core.types import Floats
from lowfold.datasets._sampling import (
    check_count,
    check_counts,
    check_noise,
    check_numbers,
    check_positive,
    noisy,
    split,
)
from lowfold.datasets._types import Dataset

CENTERS = ((0.0, 0.0, 0.0), (4.0, 2.0, 1.0), (7.0, -1.0, 3.0))
TOY_CENTERS = ((-0.5, -0.2), (0.0, 0.6), (0.5, 0.0))


def cluster_3d(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    centers: Sequence[Sequence[float]] = CENTERS,
    radius: float = 1.0,
    solid: bool = False,
    points_per_segment: int | None = None,
) -> Dataset:
    """Three separate spheres, each joined to the next by a line segment: not a smooth surface.

    Wang (2012), Section 1.5.4, Fig. 1.7, which gives no sizes. The segments run from surface to surface and carry
    equally spaced points; the rest of the n points is shared equally by the spheres. `labels` are 0 on the segments and
    1, 2, 3 on the spheres.

    Parameters
    ----------
    n, noise, random_state : as in `swiss_roll`.
    centers : (c, 3) centres of the spheres, in the order in which they are joined.
    radius : of every sphere; neighbouring centres must be more than twice this apart.
    solid : fill the balls instead of covering the spheres.
    points_per_segment : None means 9, or n // 6 where that is fewer.
    """
    n, noise, radius = check_count(n), check_noise(noise), check_positive(radius, "radius")
    middle = _check_centers(centers, radius)
    joints = len(middle) - 1
    if points_per_segment is None:
        points_per_segment = min(9, n // 6)
    per_segment = check_count(points_per_segment, "points_per_segment", 0)
    if joints * per_segment > n:
        raise InvalidInput(
            f"points_per_segment = {per_segment} on {joints} segments is more than n = {n}; lower it or raise n"
        )
    rng = generator(random_state)
    segments = [_segment(a, b, radius, per_segment) for a, b in pairwise(middle)]
    which = split(n - joints * per_segment, len(middle))
    direction = rng.standard_normal((len(which), 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    depth = np.cbrt(rng.random((len(which), 1))) if solid else 1.0
    clean = np.vstack([middle[which] + radius * depth * direction, *segments])
    labels = np.concatenate([which + 1, np.zeros(joints * per_segment, dtype=np.int64)])
    return Dataset(
        name="cluster_3d",
        X=noisy(clean, noise, rng),
        parameters=clean,
        color=labels.astype(np.float64),
        intrinsic_dim=3 if solid else 2,
        is_simple=False,
        labels=labels,
    )


def union_of_subspaces(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    dims: Sequence[int] = (2, 1),
    ambient_dim: int = 3,
) -> Dataset:
    """Random linear subspaces of R^ambient_dim of the given dimensions, with normal points on each.

    `labels` say which subspace; `parameters` are the coefficients in its orthonormal basis, filled up with zeros.
    """
    n, noise = check_count(n), check_noise(noise)
    ambient_dim = check_count(ambient_dim, "ambient_dim")
    sizes = check_counts(dims, "dims", 1)
    if max(sizes) > ambient_dim:
        raise InvalidInput(f"dims must be dimensions of at most ambient_dim = {ambient_dim}; got {dims!r}")
    rng = generator(random_state)
    bases = [np.linalg.qr(rng.standard_normal((ambient_dim, d)))[0] for d in sizes]
    labels = split(n, len(sizes))
    used = np.arange(max(sizes)) < np.array(sizes)[labels][:, None]
    parameters = np.where(used, rng.standard_normal((n, max(sizes))), 0.0)
    clean = np.vstack([parameters[labels == i, :d] @ bases[i].T for i, d in enumerate(sizes)])
    return Dataset(
        name="union_of_subspaces",
        X=noisy(clean, noise, rng),
        parameters=parameters,
        color=labels.astype(np.float64),
        intrinsic_dim=max(sizes),
        is_simple=False,
        labels=labels,
    )


def kernel_pca_toy(n: int, *, noise: float = 0.0, random_state: RandomState = None, spread: float = 0.1) -> Dataset:
    """Three Gaussian clouds in the plane, at (-0.5, -0.2), (0, 0.6), (0.5, 0), of standard deviation `spread`.

    The toy data of Schoelkopf, Smola and Mueller (1998), doi:10.1162/089976698300017467, with n = 90: the first two
    kernel principal components of exp(-|x - y|^2 / 0.1) separate the clouds, the next ones split each of them.
    """
    n, noise, spread = check_count(n), check_noise(noise), check_positive(spread, "spread")
    rng = generator(random_state)
    labels = split(n, len(TOY_CENTERS))
    clean = np.array(TOY_CENTERS)[labels] + spread * rng.standard_normal((n, 2))
    return Dataset(
        name="kernel_pca_toy",
        X=noisy(clean, noise, rng),
        parameters=clean,
        color=labels.astype(np.float64),
        intrinsic_dim=2,
        is_simple=False,
        labels=labels,
    )


def _check_centers(centers: Sequence[Sequence[float]], radius: float) -> Floats:
    middle = check_numbers(centers, "centers")
    if middle.ndim != 2 or middle.shape[1] != 3 or len(middle) == 0:
        raise InvalidInput(f"centers must be rows of three numbers; got {centers!r}")
    gaps = np.linalg.norm(middle[:, None] - middle[None, :], axis=2)[np.triu_indices(len(middle), 1)]
    if len(gaps) and gaps.min() <= 2 * radius:
        raise InvalidInput(f"centers must be more than 2 radius = {2 * radius:g} apart; the nearest are {gaps.min():g}")
    return middle


def _segment(a: Floats, b: Floats, radius: float, count: int) -> Floats:
    """`count` equally spaced points strictly between the spheres around a and b."""
    length = float(np.linalg.norm(b - a))
    share = radius + (length - 2 * radius) * np.arange(1, count + 1) / (count + 1)
    return a + np.multiply.outer(share, (b - a) / length)
