"""The two-level solver for alignment kernels of high intrinsic dimension, against dense eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest

import lowfold
from lowfold._core.parallel import single_threaded_blas
from lowfold.spectral._alignment_solver import bottom_by_levels, chebyshev_filter


@pytest.mark.parametrize("name", ["LTSA", "HessianLLE"])
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_dense_eigenvectors(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 12)) * np.linspace(2.0, 0.7, 12)
    K = getattr(lowfold, name)(2, n_neighbors=12).fit(X).kernel().matrix
    values, vectors = np.linalg.eigh(K.toarray())
    null = np.full((900, 1), 900**-0.5)
    with single_threaded_blas():
        found = bottom_by_levels(K, 3, null, tol=1e-6)
    assert np.allclose(found.values[:2], values[1:3], rtol=1e-3)
    lost = found.vectors[:, :2] - vectors[:, 1:3] @ (vectors[:, 1:3].T @ found.vectors[:, :2])
    assert np.linalg.norm(lost) < 1e-2


def test_the_filter_keeps_the_bottom() -> None:
    from scipy.sparse import csr_array, diags_array

    spectrum = np.concatenate([[1e-4, 2e-4], np.linspace(0.5, 4.0, 198)])
    V = np.ones((200, 1))
    kept = chebyshev_filter(csr_array(diags_array(spectrum)), V, cut=0.4)
    assert np.abs(kept[:2] - 1).max() < 0.05
    assert np.abs(kept[2:]).max() < 0.02
