"""Centred Gram operators of distance matrices: the kernel of classical MDS and of Isomap."""

from __future__ import annotations

from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from lowfold._core.operators import CentredGram
from lowfold._core.run import Run
from lowfold._core.types import AnyFloats
from lowfold._cuda._gram import DeviceGram, DeviceMatrix, DevicePanels
from lowfold.graph._geodesic_gram import GeodesicGram, Unheld


@overload
def centred_gram(
    distances: AnyFloats, *, shift: float = ..., power: int = ..., run: Run | None = ...
) -> CentredGram: ...
@overload
def centred_gram(
    distances: AnyFloats | Unheld, *, shift: float = ..., power: int = ..., run: Run | None = ...
) -> CentredGram | GeodesicGram: ...
def centred_gram(
    distances: AnyFloats | Unheld, *, shift: float = 0.0, power: int = 2, run: Run | None = None
) -> CentredGram | GeodesicGram:
    """G = -1/2 H (D o D) H, which annihilates the constant vector; psd exactly when D is Euclidean.

    `shift` is added to every distance but those on the diagonal; power=1 is -1/2 H D H. Geodesics may come as the
    fronts that `all_geodesics` gives for a matrix too large to hold; on a device or with workers they stay there.
    """
    n_jobs = None if run is None else run.n_jobs
    if isinstance(distances, (DeviceMatrix, DevicePanels)):
        return cast("CentredGram", DeviceGram(distances, power=power, shift=shift))  # the same face, on the device
    if isinstance(distances, np.ndarray):
        return CentredGram(distances, squared=power == 1, shift=shift, n_jobs=n_jobs)
    return GeodesicGram(distances, power=power, shift=shift, n_jobs=n_jobs)


def centred_similarity(S: NDArray[np.floating], *, run: Run | None = None) -> CentredGram:
    """H S H for a matrix of similarities (inner products, a kernel)."""
    return CentredGram(S, gram=True, n_jobs=None if run is None else run.n_jobs)
