"""Centred Gram operators of distance matrices: the kernel of classical MDS and of Isomap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowfold._core.operators import CentredGram
from lowfold._core.run import Run


def centred_gram(distances: NDArray[np.floating], *, shift: float = 0.0, run: Run | None = None) -> CentredGram:
    """G = -1/2 H (D o D) H, which annihilates the constant vector; psd exactly when D is Euclidean.

    `shift` is added to every distance but those on the diagonal.
    """
    return CentredGram(distances, shift=shift, n_jobs=None if run is None else run.n_jobs)


def centred_similarity(S: NDArray[np.floating], *, run: Run | None = None) -> CentredGram:
    """H S H for a matrix of similarities (inner products, a kernel)."""
    return CentredGram(S, gram=True, n_jobs=None if run is None else run.n_jobs)
