"""Hyperspectral cubes: cube in, cube out. Wang (2012), Sections 5.3.3 and 14.4.

spectra of the used cells --one pass, or a sample of cells--> a map --block after block--> features of every cell

PCA centred by pixels or by bands; minimum noise fraction, Green, Berman, Switzer & Craig (1988), doi:10.1109/36.3001;
anomalies, Reed & Yu (1990), doi:10.1109/29.60107; any other method of lowfold, fitted on a sample and extended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowfold._core.brief import brief
from lowfold._core.errors import InvalidInput
from lowfold._core.limits import Choice, Int, Limits, check_limits
from lowfold._core.memory import require
from lowfold._core.random import generator
from lowfold._core.run import Run
from lowfold._core.stacks import stacked_eigh
from lowfold._core.types import Floats
from lowfold.apps._cube import Cube
from lowfold.apps._models import model_of
from lowfold.datasets._write_envi import write_envi
from lowfold.lowrank._streaming import Moments
from lowfold.methods.spectral_clustering import k_means
from lowfold.metrics._pairwise import pairwise

LINEAR = ("pca", "mnf")
CENTERS = ("pixels", "bands")
NOISELESS = 1e-10  # noise variances below this share of the largest are taken as this: a copied band has none
SINGULAR = 1e-12  # the same of variances, where a covariance is inverted
RGB_NM = (660.0, 550.0, 470.0)  # what red, green and blue look like to the eye
STRETCH = (0.02, 0.98)  # quantiles of a channel that become black and white
SHOWN = 100_000  # cells from which quantiles are taken
PLACED = 2048  # cells placed at one time: a method may hold a row as long as the sample for each of them

LIMITS: Limits = {"n_components": (Int(1),), "center": (Choice(CENTERS),), "sample": (Int(10),)}


@dataclass(frozen=True, eq=False)
class Features:
    """A cube of features, and the map that made them.

    cube       (lines, samples, d); cells that were not used are NaN
    values     of a linear map: variances (pca), signal-to-noise ratios (mnf); else the model's eigenvalues, or empty
    mean       (bands,) spectrum taken off every cell; zeros with center="bands", where every cell's own mean is
    weights    (d, bands) of a linear map: features = weights @ (spectrum - mean); else None
    back       (d, bands): spectrum = mean + features @ back, exact with all components; else None
    model      the fitted method, where one was used
    """

    cube: Cube
    values: Floats
    mean: Floats | None = None
    weights: Floats | None = None
    back: Floats | None = None
    model: Any = None
    source: Cube | None = None
    center: str = "pixels"

    __repr__ = brief

    def restore(self, path: str | Path | None = None, *, overwrite: bool = False) -> Cube:
        """The cube as its features tell it: noise that they do not hold is gone. Bad bands are NaN.

        With `path` it is written there as ENVI, block by block, for cubes that do not fit into memory.
        """
        if self.back is None or self.mean is None or self.source is None:
            raise InvalidInput("only the features of a linear map, pca or mnf, lead back to spectra")
        if path is not None:
            self.source.write_blocks(path, self._restored(), description="restored by lowfold", overwrite=overwrite)
            return Cube.read(path)
        lines, samples, bands = self.source.shape
        require(4.0 * lines * samples * bands, "the restored cube", "give path=, and it is written block by block")
        return replace(self.source, values=np.concatenate(list(self._restored())))

    def _restored(self) -> Iterator[NDArray[np.float32]]:
        mean, back, source = self.mean, self.back, self.source
        assert mean is not None
        assert back is not None
        assert source is not None
        for part, used, rows in source.blocks():
            own = rows[used].mean(axis=1, keepdims=True) if self.center == "bands" else 0.0
            made = np.full(rows.shape, np.nan, dtype=np.float32)
            made[used] = mean + own + np.asarray(self.cube.values[part], dtype=np.float64)[used] @ back
            out = np.full((*rows.shape[:2], source.shape[2]), np.nan, dtype=np.float32)
            out[:, :, source.good_bands] = made
            yield out


def cube_features(
    cube: Cube,
    method: Any = "pca",
    n_components: int = 6,
    *,
    center: str = "pixels",
    sample: int = 5000,
    path: str | Path | None = None,
    overwrite: bool = False,
    random_state: Any = 0,
    **parameters: Any,
) -> Features:
    """Features of every cell.

    Parameters
    ----------
    cube : Cube, or an array (lines, samples, bands).
    method : "pca", "mnf" (minimum noise fraction: ordered by signal to noise), "diffusion" (DiffusionMaps with angles
        between spectra, which shading does not change), or any method of lowfold by name or as a model.
    n_components : int, features per cell.
    center : {"pixels", "bands"}, for "pca"
        Subtract the mean spectrum, as usual; or from every cell its own mean over the bands, as Wang (2012), (5.13).
    sample : int, cells that a method other than "pca" and "mnf" is fitted on; the others are placed as new points.
    path : where to write the features as ENVI, for cubes whose features do not fit into memory.
    parameters : of the method, where it is a name.

    Examples
    --------
    >>> import lowfold
    >>> scene = lowfold.datasets.hyperspectral_cube(600, noise=0.01, random_state=0)
    >>> found = lowfold.apps.cube_features(scene.cube, "mnf", 3)
    >>> found.cube.shape, bool(found.values[0] > found.values[1])
    ((24, 25, 3), True)
    """
    cube = cube if isinstance(cube, Cube) else Cube(np.asarray(cube))
    check_limits("cube_features", {"n_components": n_components, "center": center, "sample": sample}, LIMITS)
    name = method.strip().lower() if isinstance(method, str) else ""
    if center == "bands" and name != "pca":
        raise InvalidInput(f"center='bands' belongs to method='pca'; got {method!r}")
    if name in LINEAR:
        if parameters:
            raise InvalidInput(f"{name!r} has no further parameters; got {', '.join(parameters)}")
        found = _linear(cube, name, n_components, center)
        apply = _linear_map(found, center)
    else:
        if name == "diffusion":
            method, parameters = "DiffusionMaps", {"metric": "angular"} | parameters
        model = model_of(method, n_components, parameters).fit(_sampled(cube, sample, random_state))
        values = np.asarray(getattr(model, "eigenvalues_", np.empty(0)), dtype=np.float64)
        found = Features(cube, values, model=model)
        apply = _in_parts(model.transform)
    return replace(found, cube=_mapped(cube, apply, n_components, path, overwrite), source=cube)


def anomaly_map(cube: Cube | Features) -> Floats:
    """(lines, samples): squared Mahalanobis distance of every cell to the mean of all, NaN where not used.

    Of Gaussian cells it is chi-squared with as many degrees of freedom as there are bands; small bright things that no
    leading component shows stand out.
    """
    cube = cube.cube if isinstance(cube, Features) else cube
    seen = _moments(cube)
    if seen.count < 2:
        raise InvalidInput(f"an anomaly map needs at least 2 cells with data; there are {seen.count}")
    variances, V = stacked_eigh(seen.scatter() / (seen.count - 1))
    root = np.sqrt(np.maximum(variances, SINGULAR * max(float(variances[-1]), np.finfo(float).tiny)))
    out = np.full(cube.shape[:2], np.nan)
    for part, used, rows in cube.blocks():
        out[part][used] = np.sum(((rows[used] - seen.mean) @ V / root) ** 2, axis=1)
    return out


def cluster_map(
    cube: Cube | Features, n_clusters: int, *, sample: int = 20_000, n_init: int = 10, random_state: Any = 0
) -> NDArray[np.int64]:
    """(lines, samples): the cluster of every cell, -1 where not used; k-means on a sample, others by nearest centre."""
    check_limits("cluster_map", {"n_clusters": n_clusters}, {"n_clusters": (Int(1),)})
    cube = cube.cube if isinstance(cube, Features) else cube
    rows = _sampled(cube, sample, random_state)
    centers = k_means(rows, n_clusters, n_init, Run(rng=generator(random_state)))[1]
    out = np.full(cube.shape[:2], -1, dtype=np.int64)
    for part, used, block in cube.blocks():
        out[part][used] = np.argmin(pairwise(block[used], centers), axis=1) if used.any() else -1
    return out


def false_colour(cube: Cube | Features, bands: tuple[int, int, int] | None = None) -> NDArray[np.uint8]:
    """(lines, samples, 3) red, green, blue from 0 to 255; black where not used.

    `bands` are three numbers from 0. None is: of features the first three (one or two: grey), of spectra the bands
    nearest to 660, 550 and 470 nm where the wavelengths cover them, else three spread over the range.
    """
    cube = cube.cube if isinstance(cube, Features) else cube
    chosen = _shown_bands(cube) if bands is None else tuple(int(b) for b in bands)
    if not 1 <= len(chosen) <= 3 or not all(0 <= b < cube.shape[2] for b in chosen):
        raise InvalidInput(f"bands must be up to three of 0..{cube.shape[2] - 1}; got {bands}")
    picked = replace(
        cube, values=cube.values[:, :, list(chosen)], names=[cube.names[b] for b in chosen], good_bands=None
    )
    rows = _sampled(picked, SHOWN, 0)
    low, high = np.quantile(rows, STRETCH, axis=0)
    spread = np.where(high > low, high - low, 1.0)
    out = np.zeros((*cube.shape[:2], len(chosen)), dtype=np.uint8)
    for part, used, block in picked.blocks():
        out[part][used] = np.clip(255 * (block[used] - low) / spread, 0, 255).round()
    return out if len(chosen) == 3 else np.repeat(out[:, :, :1], 3, axis=2)


# Linear maps --------------------------------------------------------------------------------------------------------


def _moments(cube: Cube) -> Moments:
    """Count, mean and scatter of the used cells, one pass."""
    seen = Moments.none(int(cube.good_bands.sum()), squared=True)  # type: ignore[union-attr]
    for rows in cube.rows():
        seen = seen.add(rows)
    return seen


def _linear(cube: Cube, name: str, d: int, center: str) -> Features:
    bands = int(cube.good_bands.sum())  # type: ignore[union-attr]
    if d > bands:
        raise InvalidInput(f"n_components must be at most {bands}, the number of bands used; got {d}")
    if center == "bands":
        C, count = _band_centred(cube, bands)
        mean = np.zeros(bands)
    else:
        seen = _moments(cube)
        count, mean, C = seen.count, seen.mean, seen.scatter() / max(seen.count - 1, 1)
    if count < 2:
        raise InvalidInput(f"features need at least 2 cells with data; there are {count}")
    if name == "pca":
        values, V = stacked_eigh(C)
        W = _signed(V[:, ::-1][:, :d].T)
        return Features(cube, values[::-1][:d], mean, W, W, center=center)
    noise, E = stacked_eigh(_noise(cube, bands))
    root = np.sqrt(np.maximum(noise, NOISELESS * max(float(noise[-1]), np.finfo(float).tiny)))
    values, Q = stacked_eigh((E / root).T @ C @ (E / root))  # variances where noise has variance 1
    Q = Q[:, ::-1][:, :d]
    weights = ((E / root) @ Q).T
    signs = np.where(weights[np.arange(d), np.abs(weights).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    return Features(cube, values[::-1][:d] - 1.0, mean, signs * weights, signs * (Q.T @ (E * root).T))


def _signed(W: Floats) -> Floats:
    """Rows with their largest entry positive."""
    return np.asarray(W * np.where(W[np.arange(len(W)), np.abs(W).argmax(axis=1)] < 0, -1.0, 1.0)[:, None])


def _band_centred(cube: Cube, bands: int) -> tuple[Floats, int]:
    """C = (1/n) P~ P~', P~ the band images minus their mean image; it annihilates the vector of ones."""
    C, count = np.zeros((bands, bands)), 0
    for rows in cube.rows():
        rows = rows - rows.mean(axis=1, keepdims=True)
        C += rows.T @ rows
        count += len(rows)
    return C / max(count, 1), count


def _noise(cube: Cube, bands: int) -> Floats:
    """Covariance of the noise from neighbouring cells of a line, half that of their differences."""
    N, count = np.zeros((bands, bands)), 0
    for _, used, rows in cube.blocks():
        both = used[:, 1:] & used[:, :-1]
        steps = (rows[:, 1:] - rows[:, :-1])[both]
        N += steps.T @ steps
        count += len(steps)
    if count < bands:
        raise InvalidInput(
            f"noise is estimated from neighbouring cells of a line; there are {count} such pairs for {bands} bands"
        )
    return N / (2 * count)


def _linear_map(found: Features, center: str) -> Callable[[Floats], Floats]:
    mean, weights = found.mean, found.weights
    assert mean is not None
    assert weights is not None

    def apply(rows: Floats) -> Floats:
        own = rows.mean(axis=1, keepdims=True) if center == "bands" else 0.0
        return np.asarray((rows - own - mean) @ weights.T)

    return apply


def _in_parts(transform: Callable[[Floats], Any]) -> Callable[[Floats], Floats]:
    """The answer for a cell does not depend on the others, so that few of them can be placed at a time."""
    return lambda rows: np.concatenate(
        [np.asarray(transform(rows[start : start + PLACED])) for start in range(0, len(rows), PLACED)]
    )


# Cells --------------------------------------------------------------------------------------------------------------


def _sampled(cube: Cube, most: int, random_state: Any) -> Floats:
    """At most so many used cells, evenly at random, in their order."""
    counts = [int(used.sum()) for _, used, _ in cube.blocks()]
    total = sum(counts)
    if total == 0:
        raise InvalidInput("no cell has data in all bands used; look at bad bands, the mask and the ignored value")
    chosen = np.sort(generator(random_state).choice(total, min(most, total), replace=False))
    parts, before = [], 0
    for rows in cube.rows():
        inside = chosen[(chosen >= before) & (chosen < before + len(rows))] - before
        parts.append(rows[inside])
        before += len(rows)
    return np.concatenate(parts)


def _mapped(cube: Cube, apply: Callable[[Floats], Any], d: int, path: str | Path | None, overwrite: bool) -> Cube:
    """The map applied to every used cell, in memory or written to `path`."""
    lines, samples, _ = cube.shape

    def blocks() -> Iterator[NDArray[np.float32]]:
        for part, used, rows in cube.blocks():
            out = np.full((part.stop - part.start, samples, d), np.nan, dtype=np.float32)
            if used.any():
                out[used] = apply(rows[used])
            yield out

    names = [f"feature{i + 1}" for i in range(d)]
    if path is not None:
        shape = (lines, samples, d)
        filled = (np.where(np.isnan(block), -9999.0, block) for block in blocks())
        write_envi(path, filled, shape, names=names, header=cube.header, ignore=-9999.0, overwrite=overwrite)
        return Cube.read(path)
    require(4.0 * lines * samples * d, "the features", "give path=, and they are written block by block")
    values = np.concatenate(list(blocks()))
    return Cube(values, names, header=cube.header)


def _shown_bands(cube: Cube) -> tuple[int, ...]:
    waves, bands = cube.wavelengths, cube.shape[2]
    if bands < 3:
        return (0,)
    if waves is None:
        return (0, 1, 2) if cube.names[0].startswith("feature") else (bands - 1, bands // 2, 0)
    unit = 1000.0 if waves.max() < 100 else 1.0  # micrometres
    if waves.min() * unit <= RGB_NM[2] and waves.max() * unit >= RGB_NM[0]:
        return tuple(int(np.abs(waves * unit - w).argmin()) for w in RGB_NM)
    return bands - 1, bands // 2, 0
