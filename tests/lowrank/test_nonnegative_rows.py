"""Least squares with y >= 0 for many rows at once, beside SciPy's for one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from lowfold.lowrank._nonnegative_rows import nonnegative_rows


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("m", "k"), [(5, 5), (40, 8), (3, 1)])
def test_the_same_as_one_by_one(m: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.random((m, k)) ** 2 * 10.0 ** rng.uniform(-3, 3, k)  # columns of very different size
    B = rng.normal(size=(60, m)) + 2 * rng.random((60, m))
    expected = np.array([nnls(A, b)[0] for b in B])
    guess = (expected > 0) ^ (rng.random((60, k)) < 0.05)
    Y, settled = nonnegative_rows(A, B, guess)
    assert settled.mean() > 0.8
    assert np.allclose(Y[settled], expected[settled], rtol=1e-8, atol=1e-10 * np.abs(expected).max(axis=0))


@pytest.mark.parametrize("A", [np.ones((4, 2)), np.eye(3, 5), np.zeros((3, 2))])
def test_columns_that_depend_on_each_other_are_left_to_others(A: np.ndarray) -> None:
    assert not nonnegative_rows(A, np.ones((6, len(A))), np.ones((6, A.shape[1]), dtype=bool))[1].any()
