"""Nystrom: an eigenvector's value at a new point is its kernel row times the eigenvector, over the eigenvalue."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse

from lowfold._core.errors import InvalidInput
from lowfold._core.types import Floats

TINY = 1e-8  # below this share of the row's weight the quotient is noise


def nystrom(rows: csr_array | Floats, vectors: Floats, denominators: Floats) -> Floats:
    """psi(x) = sum_j K(x, j) psi_j / denominator(x), for each new x (rows) and each eigenvector (columns).

    `denominators` is (m, d) or (d,): the eigenvalue, plus whatever the method moves to that side. A denominator that is
    tiny against the row's own weight is refused in words: the extension would be noise.
    """
    product = np.asarray(rows @ vectors)
    size = csr_array((np.abs(rows.data), rows.indices, rows.indptr), rows.shape) if issparse(rows) else np.abs(rows)
    weight = np.asarray(size @ np.ones((vectors.shape[0], 1)))
    denominators = np.broadcast_to(denominators, product.shape)
    bad = np.argwhere(np.abs(denominators) <= TINY * weight)
    if len(bad):
        row, component = (int(index) for index in bad[0])
        raise InvalidInput(
            f"component {component + 1} cannot be extended to new points (row {row}): its eigenvalue of the smoothing "
            "kernel is nearly zero, so the extension would divide by noise; use fewer n_components"
        )
    return product / denominators
