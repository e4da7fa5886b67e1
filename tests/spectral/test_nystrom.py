"""The Nystrom extension."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lowfold._core.errors import InvalidInput
from lowfold.spectral import nystrom


def test_nystrom_gives_back_the_training_rows() -> None:
    rng = np.random.default_rng(0)
    B = rng.random((12, 12))
    K = B @ B.T
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(nystrom(K, vectors, values), vectors, atol=1e-10)
    np.testing.assert_allclose(nystrom(sp.csr_array(K[:2]), vectors, values), vectors[:2], atol=1e-10)
    with pytest.raises(InvalidInput, match="component 2 cannot be extended"):
        nystrom(K, vectors, np.array([1.0, 1e-12, 1.0]))
