"""Block Krylov of sparse operators finds every copy of a multiple eigenvalue, with a polynomial too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, kron

from lowfold._core.operators import SparseOperator
from lowfold._core.run import Run
from lowfold.spectral import largest, smallest

# k cuts through copies, where no gap is
pytestmark = pytest.mark.filterwarnings("ignore::lowfold.errors.AccuracyWarning")


def ring(n: int) -> csr_array:
    """Half the sum of both neighbours on a ring: eigenvalues cos(2 pi j / n)."""
    i = np.arange(n)
    return csr_array((np.full(2 * n, 0.5), (np.tile(i, 2), np.concatenate([i - 1, i + 1]) % n)), shape=(n, n))


@pytest.mark.parametrize("k", [6, 20])
@pytest.mark.parametrize("copies", [1, 3, 8])
def test_krylov_finds_every_copy_at_both_ends(copies: int, k: int) -> None:
    A = csr_array(kron(ring(150), eye_array(copies)))
    values = np.sort(np.repeat(np.cos(2 * np.pi * np.arange(150) / 150), copies))
    run = Run(solver="krylov")
    top = largest(SparseOperator(A, bound=1.0, psd=False), k, run=run)
    assert np.allclose(top.values, values[::-1][:k], atol=1e-12)
    bottom = smallest(SparseOperator(A, psd=False), k, run=run)
    assert np.allclose(bottom.values, values[:k], atol=1e-12)
    for found in (top, bottom):
        V = found.vectors
        assert np.allclose(V.T @ V, np.eye(k), atol=1e-10)
        assert np.abs(A @ V - V * found.values).max() < 1e-6


@pytest.mark.parametrize("psd", [True, False])
def test_an_end_that_stands_out_and_a_multiple_of_the_identity_need_no_polynomial(psd: bool) -> None:
    values = np.concatenate([np.full(1, 1e6), np.full(2, 1e3), np.linspace(0.0, 1e-3, 497)])
    A = SparseOperator(csr_array(np.diag(values)), psd=psd)
    assert np.allclose(largest(A, 3, run=Run(solver="krylov")).values, [1e6, 1e3, 1e3], rtol=1e-12)
    same = SparseOperator(csr_array(2.0 * eye_array(500)), psd=psd)
    assert np.allclose(largest(same, 4, run=Run(solver="krylov")).values, 2.0)
