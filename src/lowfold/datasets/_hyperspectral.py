"""A synthetic hyperspectral cube whose materials are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowfold._core.errors import InvalidInput
from lowfold._core.random import RandomState, generator
from lowfold._core.types import Floats
from lowfold.datasets._sampling import check_between, check_count, check_counts, check_noise, noisy
from lowfold.datasets._types import Dataset

RANGE_NM = (400.0, 2500.0)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HyperspectralScene(Dataset):
    """A picture with a spectrum in every raster cell: row i of X is the spectrum of cell i, cells in row order.

    Besides what every `Dataset` has: `raster_shape` (height, width), `wavelengths` (bands,) in nanometres and `spectra`
    (materials, bands) of the pure materials. `parameters` are the abundances (n, materials), the share of each material
    in a cell, and `labels` the most abundant one.
    """

    raster_shape: tuple[int, int]
    wavelengths: Floats
    spectra: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        for array in (self.wavelengths, self.spectra):
            array.setflags(write=False)

    @property
    def cube(self) -> Floats:
        """(height, width, bands): cube[y, x] is a spectrum, cube[:, :, b] a band image."""
        return self.X.reshape(*self.raster_shape, -1)


def hyperspectral_cube(
    n: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    shape: tuple[int, int] | None = None,
    bands: int = 100,
    materials: int = 3,
    mixing: float = 0.05,
    shading: float = 0.1,
) -> HyperspectralScene:
    """A scene of `materials` regions, x = brightness * (abundances @ spectra) + noise in each of n raster cells.

    Parameters
    ----------
    n : number of raster cells.
    noise : standard deviation of Gaussian noise in every band; reflectances are in [0, 1] before it.
    random_state : None, int, Generator or RandomState.
    shape : (height, width) with height * width = n; None means the pair nearest to a square.
    bands : number of bands, from 400 to 2500 nm.
    materials : number of materials; each has a smooth spectrum, a slope with absorption bands.
    mixing : width of the zone between regions where cells hold both materials, as a share of the picture; 0 for none.
    shading : brightness falls by this share from one corner to the other, which changes no material.
    """
    n, noise = check_count(n), check_noise(noise)
    bands, materials = check_count(bands, "bands"), check_count(materials, "materials")
    mixing, shading = check_between(mixing, "mixing", 0, 1), check_between(shading, "shading", 0, 1)
    height, width = _raster(n, shape)
    rng = generator(random_state)
    wavelengths = np.linspace(*RANGE_NM, bands)
    spectra = _spectra(rng, materials, bands)
    cells = np.stack(np.meshgrid(_middles(height), _middles(width), indexing="ij"), axis=-1).reshape(n, 2)
    abundances = _abundances(rng, cells, materials, mixing)
    brightness = 1 - shading * cells.mean(axis=1, keepdims=True)
    return HyperspectralScene(
        name="hyperspectral_cube",
        X=noisy(brightness * (abundances @ spectra), noise, rng),
        parameters=abundances,
        color=abundances.argmax(axis=1).astype(np.float64),
        # Everything is a function of the place in the picture, which has two coordinates.
        intrinsic_dim=min(2, (materials - 1 if mixing > 0 else 0) + int(shading > 0)),
        is_simple=True,
        labels=abundances.argmax(axis=1),
        raster_shape=(height, width),
        wavelengths=wavelengths,
        spectra=spectra,
    )


def _raster(n: int, shape: tuple[int, int] | None) -> tuple[int, int]:
    if shape is None:
        height = max(side for side in range(1, int(n**0.5) + 1) if n % side == 0)
        return height, n // height
    height, width = check_counts(shape, "shape", 1, 2)
    if height * width != n:
        raise InvalidInput(f"shape must be (height, width) with height * width = n = {n}; got {shape!r}")
    return height, width


def _middles(count: int) -> Floats:
    return (np.arange(count) + 0.5) / count


def _spectra(rng: np.random.Generator, materials: int, bands: int) -> Floats:
    """(materials, bands) reflectances in [0.05, 0.95]: a slope for each material, minus four absorption bands."""
    z = np.linspace(0.0, 1.0, bands)
    # Levels and band positions are spread over the materials before they are jittered, so that no two come out alike.
    order = (np.arange(materials) + 0.5) / materials
    level = 0.45 + 0.4 * order + 0.02 * rng.standard_normal(materials)
    slope = 0.5 * (rng.permutation(order) - 0.5)
    spectra = level[:, None] + slope[:, None] * (z - 0.5)
    for step in range(4):
        place = (rng.permutation(order) + step + 0.2 * rng.standard_normal(materials)) / 4
        depth, spread = rng.uniform(0.1, 0.35, materials), rng.uniform(0.02, 0.08, materials)
        spectra -= depth[:, None] * np.exp(-(((z - place[:, None]) / spread[:, None]) ** 2) / 2)
    return np.clip(spectra, 0.05, 0.95)


def _abundances(rng: np.random.Generator, cells: Floats, materials: int, mixing: float) -> Floats:
    """(n, materials) shares: each material owns the cells nearest to its two sites, blended across borders."""
    sites = rng.random((materials, 2, 2))
    away = np.linalg.norm(cells[:, None, None, :] - sites[None], axis=3).min(axis=2)
    away -= away.min(axis=1, keepdims=True)
    if mixing == 0:
        return np.asarray(np.eye(materials)[away.argmin(axis=1)])
    share = np.exp(-4 * away / mixing)
    return np.asarray(share / share.sum(axis=1, keepdims=True))
