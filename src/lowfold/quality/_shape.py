"""The local shape of data: dimension, noise, curvature and boundary, from patches of nearest neighbours.

A patch is a point with its k nearest neighbours, in its own principal coordinates. Along the d tangent directions the
variance grows as r^2 with the radius r of the patch, by curvature as r^4, by noise not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.parallel import TABLED, block_slices
from lowfold._core.rounding import ROUNDING
from lowfold._core.stacks import stacked_eigh, stacked_eigvalsh
from lowfold._core.types import AnyInts, Floats

SMALLEST, SIZES = 12, 6  # neighbours of the smallest patch that still tells a few directions; sizes looked at
# Of the variance along the first direction: what rounding of the points leaves; a noise of less than TOLD times that is
# none.
NOTHING, TOLD = 1e-14, 10
HIDDEN = 0.65  # share of the variance of noise that the smallest patches of a plane do not show, at most
RIDGE = 1e-10  # of the number of points: far below the data, it keeps patches on a line from dividing by zero
# Neighbours for each direction below which a patch tells nothing: the allowance for a sample is then so wide that noise
# of a sixth of the tangents counts.
TELLING = 3
# Share of the sizes that must show a number of directions: the fewest, where smaller patches are full of noise; more,
# where the largest patches are wider than a ring or strip.
HELD_BY_FEWEST, HELD = 0.6, 0.81
BEHIND = 0.1  # a neighbour this share of the patch's radius behind a point makes it an inner point


def _patches(X: Floats, centers: AnyInts, index: AnyInts) -> Iterator[tuple[slice, Floats]]:
    """Blocks of patches (m, k + 1, D), the centre first, mean taken off."""
    k = index.shape[1] + 1
    for part in block_slices(len(centers), max(1, TABLED // int(k * max(k, X.shape[1])))):
        A = X[np.concatenate([centers[part][:, None], index[part]], axis=1)]
        yield part, A - A.mean(axis=1, keepdims=True)


def _spectra(X: Floats, centers: AnyInts, index: AnyInts) -> Floats:
    """(centres, m) variances along the principal directions of each patch, descending."""
    k, D = index.shape[1], X.shape[1]
    out = np.zeros((len(centers), min(k + 1, D)))
    for part, A in _patches(X, centers, index):
        B = A.transpose(0, 2, 1)
        values = stacked_eigvalsh(B @ A if k + 1 > D else A @ B)[:, ::-1]
        out[part] = np.maximum(values[:, : out.shape[1]], 0.0) / k
    return out


@dataclass(frozen=True, eq=False)
class Scales:
    """Spectra of patches of growing size.

    sizes    (m,) neighbours of a patch
    radii    (m,) median distance to the last of them
    spectra  for each size (centres, m) variances of the patches along their principal directions, descending
    D        number of columns of the data
    """

    sizes: AnyInts
    radii: Floats
    spectra: tuple[Floats, ...]
    D: int

    __repr__ = brief


def scales(X: Floats, centers: AnyInts, index: AnyInts, distances: Floats) -> Scales:
    """Spectra at up to six sizes from 12 neighbours to as many as `index` has."""
    most = index.shape[1]
    sizes = np.unique(np.geomspace(min(SMALLEST, most), most, SIZES).round().astype(np.int64))
    spectra = tuple(_spectra(X, centers, index[:, :k]) for k in sizes)
    return Scales(sizes, np.array([np.median(distances[:, k - 1]) for k in sizes]), spectra, X.shape[1])


@dataclass(frozen=True)
class Tangents:
    """How many tangent directions there are, at least and at most, and how sharply they end.

    gap   the variance of the last of the fewest over that of the next direction; inf where these are all, 0 where no
          patch has neighbours enough to tell
    """

    fewest: int
    most: int
    gap: float


def tangents(found: Scales) -> Tangents:
    """The tangent directions, read from small patches to large ones.

    Where larger patches show more directions, the data have turned within them: curvature, which is none. Where they
    show fewer, what small patches had shown is as thin as a patch, noise or the width of a strip: a number counts that
    most sizes show.
    """
    counts = tangent_counts(found)
    if found.spectra[-1].mean(axis=0)[0] <= 0:
        return Tangents(0, 0, np.inf)
    told = [i for i, (k, d) in enumerate(zip(found.sizes, counts)) if k >= TELLING * d]
    if not told:
        return Tangents(min(counts), max(counts), 0.0)
    fewest = min(counts[i] for i in told)
    first = next(i for i in told if counts[i] == fewest)
    read = [i for i in told if i < first or counts[i] == fewest]  # from there on more would be curvature
    usual, held = Counter(counts[i] for i in read).most_common(1)[0]
    if held >= (HELD_BY_FEWEST if usual == fewest else HELD) * len(read):
        gap = max(_gap(found.spectra[i].mean(axis=0), usual) for i in read if counts[i] == usual)
        return Tangents(usual, usual, gap)
    return Tangents(fewest, max(counts[i] for i in read), 0.0)


def _gap(values: Floats, d: int) -> float:
    return float(values[d - 1] / max(values[d], ROUNDING * values[0])) if d < len(values) else np.inf


def tangent_counts(found: Scales) -> list[int]:
    """Directions that count at every size.

    They do while their variance is at least half of what the smallest of so many equal ones would have in a sample of k
    points, ((1 - sqrt(i / k)) / (1 + sqrt(i / k)))^2 of the largest (Marchenko & Pastur 1967,
    doi:10.1070/SM1967v001n04ABEH001994).
    """
    counts = []
    for k, patches in zip(found.sizes, found.spectra):
        values = patches.mean(axis=0)
        root = np.sqrt(np.arange(1, len(values) + 1) / (k + 1))
        wide = values >= 0.5 * (np.maximum(1 - root, 0.0) / (1 + root)) ** 2 * values[0]
        counts.append(len(values) if wide.all() else max(1, int(np.argmin(wide))))
    return counts


def noise_level(found: Scales, d: int) -> float:
    """Standard deviation sigma of the noise along one direction: the variance off the tangents that stays at radius 0.

    The mean variance of the D - d directions off the tangents, k / (k - d) times because d were fitted, is sigma^2 + c
    r^4, less a share of sigma^2 that falls as 1 / r^2 where noise is as large as small patches: there a point's nearest
    have noise like its own, and the largest of it passes for a tangent. The median over the patches, which the few on
    several sheets do not move, is fitted by least squares of relative errors, none below zero. NaN where there is no
    direction left.
    """
    from scipy.optimize import nnls

    used = [i for i, k in enumerate(found.sizes) if k > 2 * d]
    if d >= found.D or len(used) < 2 or not found.spectra[0][:, 0].any():
        return float("nan")
    off = np.array([np.median(found.spectra[i][:, d:].sum(axis=1)) / (found.D - d) for i in used])
    off *= np.array([found.sizes[i] / (found.sizes[i] - d) for i in used])
    tiny = NOTHING * float(np.median(found.spectra[0][:, 0]))
    r = found.radii[used]
    model = np.column_stack([np.ones(len(used)), 1 - HIDDEN * (r[0] / r) ** 2, (r / r[-1]) ** 4])
    variance = nnls(model / (off + tiny)[:, None], np.ones(len(used)))[0][:2].sum()
    return float(np.sqrt(variance)) if variance > TOLD * tiny else 0.0


def off_plane(X: Floats, centers: AnyInts, index: AnyInts, U: Floats) -> Floats:
    """(centres,) variance of each patch off the plane that the orthonormal columns of U span."""
    out = np.zeros(len(centers))
    for part, A in _patches(X, centers, index):
        out[part] = ((A**2).sum(axis=(1, 2)) - ((A @ U) ** 2).sum(axis=(1, 2))) / index.shape[1]
    return np.maximum(out, 0.0)


def principal_patches(X: Floats, centers: AnyInts, index: AnyInts, d: int, *, normals: int = 20) -> Floats:
    """(m, k + 1, d + q) principal coordinates of patches, the centre first; q <= `normals` of them off the tangents."""
    k, D = index.shape[1] + 1, X.shape[1]
    width = min(D, k - 1, d + normals)
    out = np.zeros((len(centers), k, width))
    for part, A in _patches(X, centers, index):
        B = A.transpose(0, 2, 1)
        if k > D:
            out[part] = A @ stacked_eigh(B @ A)[1][:, :, ::-1][:, :, :width]
        else:
            values, vectors = stacked_eigh(A @ B)
            out[part] = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None])[:, :, ::-1][:, :, :width]
    return out


def second_forms(P: Floats, d: int) -> Floats:
    """(m, d(d+1)/2, q) second fundamental form of each patch: w = a + B u + 1/2 sum II_ab u_a u_b by least squares."""
    u, w = P[:, :, :d], P[:, :, d:]
    size = np.sqrt((u**2).sum(axis=2).mean(axis=1))[:, None, None]
    size = np.where(size > 0, size, 1.0)
    u = u / size
    a, b = np.triu_indices(d)
    squares = u[:, :, a] * u[:, :, b] * np.where(a == b, 0.5, 1.0)
    Q = np.concatenate([np.ones_like(u[:, :, :1]), u, squares], axis=2)
    normal = Q.transpose(0, 2, 1)
    gram = normal @ Q + RIDGE * Q.shape[1] * np.eye(Q.shape[2])
    return np.asarray(np.linalg.solve(gram, normal @ w)[:, 1 + d :] / size**2)


def sectional_curvatures(first: Floats, second: Floats, d: int) -> Floats:
    """(m, d(d-1)/2) Gauss's equation, K_ab = <II_aa, II_bb> - |II_ab|^2, each product of one estimate with another.

    Noise is independent in two estimates from different points, so that it cancels on average.
    """
    row = {pair: i for i, pair in enumerate(zip(*(x.tolist() for x in np.triu_indices(d))))}
    found = []
    for a, b in combinations(range(d), 2):
        p, q, r = row[a, a], row[b, b], row[a, b]
        across = (first[:, p] * second[:, q] + second[:, p] * first[:, q]).sum(axis=1) / 2
        found.append(across - (first[:, r] * second[:, r]).sum(axis=1))
    return np.stack(found, axis=1)


def squared_curvature(P: Floats, d: int, *, noisy: bool) -> Floats:
    """(m,) product of two estimates of the sectional curvatures of each patch: K^2 on average.

    From the two halves of the patch; for noisy data, where a half alone is biased, from two pairs of its quarters.
    """
    parts = [second_forms(P[:, start :: 4 if noisy else 2], d) for start in range(4 if noisy else 2)]
    first, second = ((parts[0], parts[1]), (parts[2], parts[3])) if noisy else ((parts[0],) * 2, (parts[1],) * 2)
    products = sectional_curvatures(*first, d) * sectional_curvatures(*second, d)
    return np.asarray(products.mean(axis=1))


def squared_bends(P: Floats, d: int) -> Floats:
    """(m,) squared Frobenius norm of II, which bounds the largest |II(v, v)|, |v| = 1; from halves, as above."""
    first, second = (second_forms(P[:, start::2], d) for start in (0, 1))
    a, b = np.triu_indices(d)
    return np.asarray((np.where(a == b, 1.0, 2.0)[:, None] * first * second).sum(axis=(1, 2)))


def edge_points(P: Floats, d: int) -> NDArray[np.bool_]:
    """(m,) whether all neighbours lie on one side of the point in its tangent plane.

    The side is that of their mean; one neighbour farther behind than a tenth of the radius makes an inner point.
    """
    u = P[:, 1:, :d] - P[:, :1, :d]
    radius = np.sqrt((u**2).sum(axis=2)).max(axis=1)
    mean = u.mean(axis=1)
    off = np.linalg.norm(mean, axis=1)
    ahead = np.einsum("mkd,md->mk", u, mean / np.maximum(off, np.finfo(np.float64).tiny)[:, None])
    # neighbours whose mean is the point itself, as on an even circle, are on no side
    return np.asarray((ahead.min(axis=1) > -BEHIND * radius) & (off > ROUNDING * radius))
